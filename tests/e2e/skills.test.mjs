// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium skills` (servers.md 8): discovery, activation and the protocol's skills extension, against real directories and the
// official clients that know the extension.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { LEGACY, MODERN, bin, node, npm, run, scenario, slack } from './harness.mjs';
import { MODES, connect } from './sdk.mjs';

const exec = promisify(execFile);
const md = (name, description = `about ${name}`, body = `Do ${name}.\n`) => `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
const sha256 = bytes => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Writes skills beneath the workspace: {directory: text of SKILL.md}; the workspace's path. */
function skills(place, dirs) {
    for (const [dir, text] of Object.entries(dirs)) place.write(`work/${dir}/SKILL.md`, text);
    return place.workspace;
}
const one = place => skills(place, { '.agents/skills/greet': md('greet') });
const activate = (s, name) => s.call('activate_skill', { name });
const refusal = async (s, args) => s.fails('activate_skill', args);

// --- the tool -------------------------------------------------------------------------------------------------------------
scenario('SK-5: one tool that names the skills, sorted, and never their bodies', async place => {
    const dir = skills(place, {
        '.agents/skills/zebra': md('zebra', '"stripes: many"', 'SECRET BODY\n'),
        '.claude/skills/ant': md('ant', '>\n  small\n  and busy'),
    });
    const s = await place.serve('skills', [dir]);
    assert.deepEqual([...s.tools.keys()], ['activate_skill']);
    const tool = s.tools.get('activate_skill');
    assert.deepEqual(tool.inputSchema, {
        type: 'object', properties: { name: { type: 'string', enum: ['ant', 'zebra'] } }, required: ['name'], additionalProperties: false,
    });
    assert.deepEqual(tool.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false });
    assert.match(tool.description, /\n\nAvailable skills:\n- ant: small and busy\n- zebra: stripes: many$/);
    assert.deepEqual(tool.outputSchema.required, ['name', 'description', 'skill_dir', 'instructions', 'resources']);
    assert.doesNotMatch(s.stdout, /SECRET BODY/);
});

scenario('SK-6 MCP-S10: the result in each revision: five members, their compact JSON, and a sentence', async place => {
    const dir = skills(place, { '.agents/skills/greet': md('greet', 'says hello', 'Say hello.\n\n- é\t"x"\n') });
    place.write('work/.agents/skills/greet/refs/b.md', 'b');
    place.write('work/.agents/skills/greet/a.txt', 'a');
    const want = {
        name: 'greet', description: 'says hello', skill_dir: path.join(dir, '.agents/skills/greet'),
        instructions: 'Say hello.\n\n- é\t"x"\n', resources: ['a.txt', 'refs/b.md'],
    };
    for (const revision of [...LEGACY, MODERN]) {
        const s = await place.serve('skills', [dir], { revision });
        const r = await activate(s, 'greet');
        assert.equal(r.isError, false);
        assert.deepEqual(r.content.map(c => c.text),
            [JSON.stringify(want), 'Activated greet. Instructions and resource paths are available in structured content.']);
        assert.deepEqual(r.structuredContent, revision < '2025-06-18' ? undefined : want);
    }
});

scenario('SK-7 SV-15 SV-17: what is wrong with the arguments is a tool error in the server\'s own words', async place => {
    const s = await place.serve('skills', [one(place)]);
    assert.equal(await refusal(s, undefined), 'missing arguments');
    assert.equal(await refusal(s, {}), 'missing arguments');
    assert.match(await refusal(s, { name: 'greet', extra: 1 }), /unknown field.*extra/);
    assert.match(await refusal(s, { nom: 'greet' }), /unknown field.*nom/);
    assert.match(await refusal(s, { name: 7 }), /name/);
    assert.equal(await refusal(s, { name: 'nobody' }), 'unknown skill: nobody');
    assert.equal(await refusal(s, { name: '../greet' }), 'unknown skill: ../greet');
    const unknown = await s.request('tools/call', { name: 'run_skill', arguments: {} });
    assert.deepEqual([unknown.error.code, unknown.error.message], [-32602, 'tool not found']);
    assert.equal((await activate(s, 'greet')).isError, false);
});

scenario('SK-7: the file is read again at each activation, and must still be what was registered', async place => {
    const s = await place.serve('skills', [one(place)]);
    const file = place.path('work/.agents/skills/greet/SKILL.md');
    fs.writeFileSync(file, md('greet', 'new words', 'New body.'));
    assert.deepEqual((({ description, instructions }) => ({ description, instructions }))((await activate(s, 'greet')).structuredContent),
        { description: 'new words', instructions: 'New body.' });
    fs.writeFileSync(file, md('other'));
    assert.equal(await refusal(s, { name: 'greet' }), 'registered SKILL.md name changed');
    fs.writeFileSync(file, '---\nname: greet\ndescription: [x\n---\n');
    assert.match(await refusal(s, { name: 'greet' }), /SKILL\.md: line \d+: /);
    fs.renameSync(file, place.path('work/.agents/skills/greet/moved.md'));
    fs.symlinkSync('moved.md', file);
    assert.equal(await refusal(s, { name: 'greet' }), 'registered SKILL.md changed location');
    fs.unlinkSync(file);
    place.write('work/elsewhere.md', md('greet'));
    fs.symlinkSync(place.path('work/elsewhere.md'), file);
    assert.equal(await refusal(s, { name: 'greet' }), 'registered SKILL.md changed location');
    fs.unlinkSync(file);
    fs.writeFileSync(file, md('greet'));
    assert.equal((await activate(s, 'greet')).isError, false);
    fs.renameSync(place.path('work/.agents/skills/greet'), place.path('work/greet'));
    fs.symlinkSync(place.path('work/greet'), place.path('work/.agents/skills/greet'));
    assert.equal(await refusal(s, { name: 'greet' }), 'registered SKILL.md changed location');
});

scenario('SK-2: BOM, CRLF, blanks behind the fences, and a body that comes back byte for byte', async place => {
    const body = '\r\n# T\r\n---\n \t\u0000\u2028\uFEFFx';
    const file = Buffer.from(`\uFEFF--- \r\nname: greet\r\ndescription: d\r\n---\t\r\n${body}`);
    place.write('work/.agents/skills/greet/SKILL.md', file.toString());
    const full = Buffer.concat([Buffer.from(md('full')), Buffer.alloc(1 << 20, 'x')]).subarray(0, 1 << 20);
    place.write('work/.agents/skills/full/SKILL.md', full);
    const s = await place.serve('skills', [place.workspace]);
    assert.equal((await activate(s, 'greet')).structuredContent.instructions, body);
    const long = await activate(s, 'full');
    assert.equal(long.structuredContent.instructions.length, (1 << 20) - md('full', undefined, '').length);
    fs.appendFileSync(place.path('work/.agents/skills/full/SKILL.md'), 'x');
    assert.match(await refusal(s, { name: 'full' }), /more than 1048576 bytes/);
});

scenario('SK-3 SK-4: odd but readable skills load; a colon in a plain description is the commonest of them', async place => {
    const dir = skills(place, {
        '.agents/skills/colon': md('colon', 'Use this: when it helps: always'),
        '.agents/skills/other-dir': md('named', 'd'),
        '.agents/skills/long': md('long', 'x'.repeat(1025)),
        '.agents/skills/extra': '---\nname: extra\ndescription: |-\n  two\n  lines\nlicense: MIT\ncompatibility: "any"\nmetadata: {a: [1, {b: c}]}\nallowed-tools:\n  - Bash # c\n---\n',
    });
    const s = await place.serve('skills', [dir]);
    assert.deepEqual(s.tools.get('activate_skill').inputSchema.properties.name.enum, ['colon', 'extra', 'long', 'named']);
    assert.equal((await activate(s, 'colon')).structuredContent.description, 'Use this: when it helps: always');
    assert.equal((await activate(s, 'extra')).structuredContent.description, 'two\nlines');
    assert.equal((await activate(s, 'long')).structuredContent.description.length, 1025);
    assert.match(s.stderr, /other-dir\/SKILL\.md: the name 'named' is not that of its directory/);
    assert.match(s.stderr, /long\/SKILL\.md: line 3: .*more than 1024 characters/);
    assert.equal(s.stderr.trim().split('\n').length, 2);
});

scenario('SK-1: roots in order, the first of a name wins, a malformed neighbour is named with its line, --user comes last', async place => {
    skills(place, {
        '.opencode/skills/same': md('same', 'third'), '.claude/skills/same': md('same', 'second'), '.agents/skills/same': md('same', 'first'),
        '.opencode/skills/only': md('only'), '.agents/skills/broken': '---\nname: broken\n\ndescription: ""\n---\n',
        '.agents/skills/deep/er': md('er'),
    });
    place.write('home/.agents/skills/same/SKILL.md', md('same', 'user'));
    place.write('home/.claude/skills/mine/SKILL.md', md('mine', 'of the user'));
    for (const [args, names] of [[[place.workspace], ['only', 'same']], [['--user', place.workspace], ['mine', 'only', 'same']]]) {
        const s = await place.serve('skills', args);
        assert.deepEqual(s.tools.get('activate_skill').inputSchema.properties.name.enum, names);
        assert.equal((await activate(s, 'same')).structuredContent.description, 'first');
        assert.match(s.stderr, /\.agents\/skills\/broken\/SKILL\.md: line 4: 'description'/);
        assert.equal(s.stderr.match(/left out, the skill 'same'/g).length, names.length);
    }
    const flags = await place.serve('skills', [], { args: ['--skills', '--user'] });       // SV-1: the directory is "."
    assert.deepEqual(flags.tools.get('activate_skill').inputSchema.properties.name.enum, ['mine', 'only', 'same']);
});

scenario('SK-1 SK-8: a link to a skill counts once under its own name; one that leads out of the workspace is left out', async place => {
    place.write('outside/SKILL.md', md('outside'));
    skills(place, { 'shared/tool': md('tool') });
    fs.mkdirSync(place.path('work/.agents/skills'), { recursive: true });
    fs.symlinkSync('../../shared/tool', place.path('work/.agents/skills/alias'));
    fs.symlinkSync('../../shared/tool', place.path('work/.agents/skills/tool'));
    fs.symlinkSync(place.path('outside'), place.path('work/.agents/skills/outside'));
    const s = await place.serve('skills', [place.workspace]);
    assert.deepEqual(s.tools.get('activate_skill').inputSchema.properties.name.enum, ['tool']);
    assert.equal((await activate(s, 'tool')).structuredContent.skill_dir, place.path('work/shared/tool'));
    assert.match(s.stderr, /skills\/outside: left out, it leads out of/);
});

scenario('SK-8: files once each by what they are, links out and links to nowhere refused', async place => {
    const dir = place.path('work/.agents/skills/greet');
    const s = await place.serve('skills', [one(place)]);
    const resources = async () => (await activate(s, 'greet')).structuredContent.resources;
    place.write('work/.agents/skills/greet/refs/a.md', 'a');
    place.write('work/.agents/skills/greet/refs/SKILL.md', 'not the skill\'s own');
    fs.symlinkSync('refs/a.md', path.join(dir, 'b-alias.md'));
    fs.symlinkSync('refs', path.join(dir, 'linked'));
    assert.deepEqual(await resources(), ['b-alias.md', 'refs/SKILL.md']);
    for (const [name, to, text] of [
        ['out', '/etc/passwd', /^resource target escapes skill directory: out$/],
        ['up', '..', /^resource target escapes skill directory: up$/],
        ['gone', 'nowhere', /gone/],
    ]) {
        fs.symlinkSync(to, path.join(dir, name));
        assert.match(await refusal(s, { name: 'greet' }), text);
        fs.unlinkSync(path.join(dir, name));
    }
    assert.deepEqual(await resources(), ['b-alias.md', 'refs/SKILL.md']);
});

scenario('SK-9: limits of count and depth fail the activation and nothing else', async place => {
    const s = await place.serve('skills', [one(place)]);
    const at = (...p) => path.join('work/.agents/skills/greet', ...p);
    for (let i = 0; i < 1000; i++) place.write(at('many', `${i}`), '');
    assert.equal((await activate(s, 'greet')).structuredContent.resources.length, 1000);
    place.write(at('one-more'), '');
    assert.equal(await refusal(s, { name: 'greet' }), 'resource count exceeds 1000');
    fs.rmSync(place.path(at('many')), { recursive: true });
    place.write(at('1/2/3/4/5/6/7/file'), '');
    assert.ok((await activate(s, 'greet')).structuredContent.resources.includes('1/2/3/4/5/6/7/file'));
    place.write(at('1/2/3/4/5/6/7/8/file'), '');
    assert.equal(await refusal(s, { name: 'greet' }), 'resource depth exceeds 8');
    fs.rmSync(place.path(at('1/2/3/4/5/6/7/8/file')));
    fs.mkdirSync(place.path(at('1/2/3/4/5/6/7/8/9')));
    assert.equal(await refusal(s, { name: 'greet' }), 'resource directory depth exceeds 8');
});

scenario('SV-7: "~" is the home directory, as no shell stands between an agent and its servers', async place => {
    place.write('home/work/.agents/skills/a/SKILL.md', md('a'));
    const s = await place.serve('skills', ['~/work']);
    assert.deepEqual(s.tools.get('activate_skill').inputSchema.properties.name.enum, ['a']);
});

scenario('SV-7: a workspace that is missing or no directory is an error on stderr, exit status 1', async place => {
    place.write('file', '');
    for (const dir of [place.path('missing'), place.path('file')]) {
        const r = await run(place, ['skills', dir]);
        assert.deepEqual([r.code, r.out], [1, '']);
        assert.match(r.err, /^Error: /);
    }
});

// --- the extension ----------------------------------------------------------------------------------------------------------
scenario('SK-30 SV-13: entries with digests and sizes, files, directories; a legacy client has none of it', async place => {
    const text = '---\nname: greet\ndescription: Use: it\nlicense: MIT\nmetadata:\n  version: "1.0"\n  n: 3\n  on: true\n---\nDo it.\n';
    const dir = skills(place, { '.agents/skills/greet': text, '.agents/skills/other': md('other') });
    const binary = Buffer.from([0, 1, 0xff, 0x0a]);
    place.write('work/.agents/skills/greet/refs/a b.md', '\uFEFFé\r\n');
    place.write('work/.agents/skills/greet/x.bin', binary);
    const s = await place.serve('skills', [dir], { revision: MODERN });
    assert.deepEqual(s.about.capabilities, {
        tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
    });
    const list = await s.result('skills/list');
    assert.deepEqual([list.ttlMs, list.cacheScope], [0, 'private']);
    assert.deepEqual(list.skills.map(k => k.uri), ['skill://greet/SKILL.md', 'skill://other/SKILL.md']);
    const files = [['SKILL.md', text], ['refs/a%20b.md', '\uFEFFé\r\n'], ['x.bin', binary]];
    assert.deepEqual(list.skills[0], {
        uri: 'skill://greet/SKILL.md',
        frontmatter: { name: 'greet', description: 'Use: it', license: 'MIT', metadata: { version: '1.0', n: 3, on: true } },
        resources: files.map(([p, bytes]) => ({ uri: `skill://greet/${p}`, digest: sha256(bytes), size: Buffer.byteLength(bytes) })),
    });
    assert.deepEqual((await s.result('skills/get', { uri: 'skill://greet/SKILL.md' })).skill, list.skills[0]);
    for (const [p, bytes] of files) {
        const { contents: [c], ttlMs, cacheScope } = await s.result('resources/read', { uri: `skill://greet/${p}` });
        assert.deepEqual([c.uri, ttlMs, cacheScope], [`skill://greet/${p}`, 0, 'private']);
        assert.deepEqual(c.text ?? Buffer.from(c.blob, 'base64'), bytes);
        assert.equal(c.mimeType, p.endsWith('.md') ? 'text/markdown' : undefined);
    }
    const top = await s.result('resources/directory/read', { uri: 'skill://greet' });
    assert.deepEqual(top.resources.map(r => [r.uri, r.name, r.mimeType, r.size]), [
        ['skill://greet/SKILL.md', 'SKILL.md', 'text/markdown', Buffer.byteLength(text)],
        ['skill://greet/refs', 'refs', 'inode/directory', undefined],
        ['skill://greet/x.bin', 'x.bin', undefined, 4],
    ]);
    const refs = await s.result('resources/directory/read', { uri: 'skill://greet/refs/' });
    assert.deepEqual(refs.resources.map(r => r.uri), ['skill://greet/refs/a%20b.md']);
    assert.deepEqual((await s.result('resources/list')).resources.map(r => [r.uri, r.name, r.mimeType]),
        [['skill://greet/SKILL.md', 'greet', 'text/markdown'], ['skill://other/SKILL.md', 'other', 'text/markdown']]);

    const legacy = await place.serve('skills', [dir]);
    assert.deepEqual(legacy.about.capabilities, { tools: {} });
    for (const method of ['skills/list', 'skills/get', 'resources/directory/read', 'resources/list', 'resources/read'])
        assert.equal((await legacy.request(method, { uri: 'skill://greet/SKILL.md' })).error.code, -32601);
});

scenario('SK-30: what does not exist, is no directory or lies outside is -32602, whatever its spelling', async place => {
    place.write('work/.agents/skills/secret.txt', 'no');
    place.write('work/.agents/skills/greet/refs/a.md', 'a');
    const s = await place.serve('skills', [one(place)], { revision: MODERN });
    fs.symlinkSync('../secret.txt', place.path('work/.agents/skills/greet/link'));
    fs.symlinkSync('/etc', place.path('work/.agents/skills/greet/etc'));
    const none = async (method, uri) => {
        const { error } = await s.request(method, { uri });
        assert.equal(error?.code, -32602, `${method} ${uri}`);
        if (typeof uri === 'string') assert.equal(error.data.uri, uri);
    };
    for (const uri of ['skill://nobody/SKILL.md', 'skill://greet', 'skill://greet/refs/a.md', 'file:///etc/passwd', '', undefined])
        await none('skills/get', uri);
    for (const uri of [
        'skill://greet/none', 'skill://greet/refs', 'skill://greet/refs/', 'skill://greet/../secret.txt', 'skill://greet/%2e%2e/secret.txt',
        'skill://greet/..%2Fsecret.txt', 'skill://greet/link', 'skill://greet/etc/passwd', 'skill://greet/refs/a.md%00', 'skill://greet//etc/passwd',
        'skill://greet/~/x', 'skill://nobody/x', `skill://greet/${'x'.repeat(30000)}`, 'file:///etc/passwd', 7,
    ]) await none('resources/read', uri);
    for (const uri of ['skill://greet/SKILL.md', 'skill://greet/etc', 'skill://greet/none', 'skill://nobody', 'skill://greet/..', undefined])
        await none('resources/directory/read', uri);
    assert.deepEqual((await s.result('resources/directory/read', { uri: 'skill://greet' })).resources.map(r => r.name), ['SKILL.md', 'refs']);
    for (const method of ['skills/list', 'resources/directory/read'])
        assert.equal((await s.request(method, { uri: 'skill://greet', cursor: '' })).error.code, -32602);
    assert.deepEqual((await s.result('skills/list')).skills.map(k => k.resources), ['dynamic']);
});

scenario('SK-30: over 512 files or 16 MiB the resources are dynamic; a digest follows its file', async place => {
    const dir = skills(place, { '.agents/skills/many': md('many'), '.agents/skills/large': md('large'), '.agents/skills/fine': md('fine') });
    for (let i = 0; i < 511; i++) place.write(`work/.agents/skills/many/${i}.txt`, 'x');
    place.write('work/.agents/skills/large/a', Buffer.alloc((16 << 20) - md('large').length));
    const s = await place.serve('skills', [dir], { revision: MODERN });
    const kinds = async () => Object.fromEntries((await s.result('skills/list')).skills
        .map(k => [k.frontmatter.name, k.resources === 'dynamic' ? k.resources : k.resources.length]));
    assert.deepEqual(await kinds(), { fine: 1, large: 2, many: 512 });
    place.write('work/.agents/skills/many/511.txt', 'x');
    place.write('work/.agents/skills/large/b', 'x');
    assert.deepEqual(await kinds(), { fine: 1, large: 'dynamic', many: 'dynamic' });
    assert.match((await s.request('resources/read', { uri: 'skill://large/a' })).error.message, /more than \d+ bytes/);
    for (const body of ['one', 'two', 'six']) {
        fs.writeFileSync(place.path('work/.agents/skills/fine/SKILL.md'), md('fine', 'd', body));
        const { skill } = await s.result('skills/get', { uri: 'skill://fine/SKILL.md' });
        assert.equal(skill.resources[0].digest, sha256(md('fine', 'd', body)));
    }
});

scenario('SV-14: a listing that hashes much delays no other request, and ends unanswered when it is cancelled', async place => {
    const dirs = {};
    for (let i = 0; i < 12; i++) dirs[`.agents/skills/s${i}`] = md(`s${i}`);
    const dir = skills(place, dirs);
    for (let i = 0; i < 12; i++) place.write(`work/.agents/skills/s${i}/data`, Buffer.alloc(15 << 20, i));
    const s = await place.serve('skills', [dir], { revision: MODERN });
    const asked = s.request('skills/list');
    asked.catch(() => {});
    s.notify('notifications/cancelled', { requestId: asked.id });
    for (let i = 0; i < 4; i++) assert.equal((await activate(s, 's3')).isError, false);
    const { value, slowest } = await s.pingWhile(s.result('skills/list', undefined, { ms: 20000 * slack }));
    assert.equal(value.skills.length, 12);
    assert.ok(slowest <= 20 * slack, `another request took ${slowest} ms`);
    assert.equal(s.messages.filter(x => x.m.id === asked.id).length, 0);
});

scenario('SK-30: the official skills client lists, gets, reads and verifies all of it', async place => {
    const dir = skills(place, {
        '.agents/skills/greet': '---\nname: greet\ndescription: >-\n  says\n  hello\nmetadata:\n  author: "me"\n  n: \'3\'\n---\nHello.\n',
        '.claude/skills/plain': md('plain'),
    });
    place.write('work/.agents/skills/greet/refs/q&a [1].md', 'é');
    place.write('work/.agents/skills/greet/x.bin', Buffer.from([0, 255]));
    const client = await connect('v2-pinned', { command: bin, args: ['skills', dir], env: place.env(), cwd: dir });
    try {
        const us = new SkillsClient(client);
        assert.ok(us.supported && us.directoryRead);
        const { skills: entries, invalid } = await us.list();
        assert.deepEqual([entries.map(k => k.frontmatter.name), invalid], [['greet', 'plain'], []]);
        const greet = (await us.get('skill://greet/SKILL.md')).skill;
        const manifest = await us.read(greet);
        assert.deepEqual([manifest.verified, manifest.body, manifest.frontmatter.description], [true, 'Hello.\n', 'says hello']);
        for (const { uri } of greet.resources) assert.equal((await us.read(greet, uri)).verified, true, uri);
        assert.equal((await us.read(greet, 'refs/q&a [1].md')).text, 'é');
        await assert.rejects(us.read(greet, '../plain/SKILL.md'));
        assert.deepEqual((await us.readDirectory('skill://greet/refs')).resources.map(r => r.name), ['q&a [1].md']);
    } finally { await client.close(); }
});

const inspector = npm('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
scenario('SK-30: the inspector verifies every skill', async place => {
    const dir = skills(place, { '.agents/skills/greet': md('greet'), '.claude/skills/plain': md('plain') });
    place.write('work/.agents/skills/greet/refs/a.md', 'a');
    const config = place.write('inspector.json', JSON.stringify({
        mcpServers: { us: { command: bin, args: ['skills', dir], env: place.env(), protocolEra: 'modern' } },
    }));
    const { stdout } = await exec(node, [inspector, '--cli', '--config', config, '--server', 'us', '--format', 'json',
        '--method', 'skills/list', '--verify'], { env: { ...place.env(), MCP_INSPECTOR_SECRET_STORE: 'memory' } });
    const reports = stdout.trim().split('\n').map(l => JSON.parse(l));
    assert.deepEqual(reports.map(r => [r.name, r.ok, r.files.length]), [['greet', true, 2], ['plain', true, 1]]);
});

for (const mode of MODES) {
    scenario(`SK-5 SK-6: client ${mode} activates a skill`, async place => {
        const dir = one(place);
        const client = await connect(mode, { command: bin, args: ['skills', dir], env: place.env(), cwd: dir });
        try {
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map(t => t.name), ['activate_skill']);
            const r = await client.callTool({ name: 'activate_skill', arguments: { name: 'greet' } });
            assert.equal(r.structuredContent.instructions, 'Do greet.\n');
        } finally { await client.close(); }
    });
}
