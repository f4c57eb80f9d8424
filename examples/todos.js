// Which notes hold something to do? What they say never leaves the sandbox.
const dir = await fs.list_directory({ path: "notes" });
const names = dir.content.match(/\S+\.md/g);
const notes = await Promise.all(names.map(name => fs.read_text_file({ path: `notes/${name}` })));

names.filter((name, i) => notes[i].content.includes("TODO"))
