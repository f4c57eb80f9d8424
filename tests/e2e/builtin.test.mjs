// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `builtin = "filesystem"` and its like in [[mcp_servers]] (meta-server.md 1.1): our own image serves, under the rules of any other
// program of a manifest.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { MODERN, bin, commandOf, run, scenario, toml, until } from './harness.mjs';

const everyday = place => [
    { name: 'files', builtin: 'filesystem' }, { name: 'notes', builtin: 'memory', args: ['--memory-file', '${E2E_NOTES}'] },
    { name: 'sh', builtin: 'shell' }, { name: 'web', builtin: 'fetch' }, { name: 'skill', builtin: 'skills' },
];
const env = place => ({ E2E_NOTES: place.path('notes.jsonl') });

scenario('meta-server.md 1.1: a builtin is called from the command line, from scripts, and listed like any server', async place => {
    place.write('work/a.txt', 'first\nsecond\n');
    place.write('work/.agents/skills/greet/SKILL.md', '---\nname: greet\ndescription: says hello\n---\nSay hello.\n');
    place.plugin('everyday', everyday(place));
    const call = await run(place, ['call', 'files.read_text_file', 'path=a.txt', 'head=1'], { env: env(place) });
    assert.deepEqual([call.code, call.err], [0, ''], call.err);
    assert.match(call.out, /first/);
    assert.doesNotMatch(call.out, /second/);

    for (const revision of ['2025-11-25', MODERN]) {
        const s = await place.open({ env: env(place), revision });
        const r = await s.execute(`const [text, out] = await Promise.all([files.read_text_file({path: 'a.txt'}), sh.execute_command({program: 'echo', args: ['hi']})]);
            await notes.create_entities({entities: [{name: 'n', entityType: 't', observations: [out.stdout]}]});
            const graph = await notes.read_graph({}), skillText = await skill.activate_skill({name: 'greet'});
            ({ text: text.content ?? text, said: out.stdout, names: graph.entities.map(e => e.name), skill: skillText.name })`);
        assert.deepEqual(r.value, { text: 'first\nsecond\n', said: 'hi\n', names: ['n'], skill: 'greet' }, r.text);
        assert.match(await s.list(), /web:[^]*fetch/);
        const commands = s.tree().map(commandOf).filter(c => c.length && c[1] !== 'keeper' && c[1] !== 'worker').map(c => c.slice(0, 2).join(' '));
        for (const c of ['symposium filesystem', 'symposium memory', 'symposium shell', 'symposium skills']) assert.ok(commands.includes(c), commands.join('; '));
        await s.close();
    }
    assert.ok(fs.existsSync(place.path('notes.jsonl')));
});

scenario('meta-server.md 1.1: the builtin is the image that runs, also after the file was replaced', async place => {
    const copy = place.path('symposium-copy');
    fs.copyFileSync(bin, copy);
    fs.chmodSync(copy, 0o755);
    place.write('work/a.txt', 'text');
    place.plugin('everyday', [{ name: 'files', builtin: 'filesystem' }]);
    const s = await place.open({ program: copy });
    fs.unlinkSync(copy);
    fs.writeFileSync(copy, '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    const r = await s.execute(`(await files.get_file_info({path: 'a.txt'})).content ?? ''`);
    assert.match(String(r.value ?? r.text), /size: 4/);
});

scenario('PL-32: a builtin of an untrusted workspace does not run, and consent says what would', async place => {
    place.write('work/a.txt', 'text');
    place.write('work/SYMPOSIUM.toml', `\n[[mcp_servers]]\n${toml({ name: 'files', builtin: 'filesystem', args: ['--allow-root', '/'] })}`);
    const refused = await run(place, ['call', 'files.read_text_file', 'path=a.txt']);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /not trusted yet; run 'symposium trust'/);
    const shown = await run(place, ['trust', '--show']);
    assert.equal(shown.code, 1);
    assert.match(shown.out, /server files: symposium filesystem --allow-root \//);
    assert.equal((await run(place, ['trust', '--yes'])).code, 0);
    const called = await run(place, ['call', 'files.read_text_file', `path=${place.path('work/a.txt')}`]);
    assert.deepEqual([called.code, called.err], [0, '']);
    assert.match(called.out, /text/);
});

scenario('doctor starts a builtin as it starts any server, agents and symm too', async place => {
    place.plugin('everyday', [{ name: 'files', builtin: 'filesystem' }, { name: 'broken', builtin: 'filesystem', args: ['--bogus'] }, { name: 'team', builtin: 'agents' }, { name: 'tasks', builtin: 'symm' }]);
    const r = await run(place, ['doctor', '--json']);
    assert.equal(r.code, 1);
    const events = JSON.parse(r.out), problems = events.filter(e => e.type === 'problem').map(e => e.text).join('\n');
    assert.match(problems, /broken: start failed.*symposium filesystem --bogus/s);
    assert.deepEqual(events.filter(e => e.type === 'server').map(s => [s.name, s.state]).sort(), [['broken', 'failed'], ['files', 'ok'], ['tasks', 'ok'], ['team', 'ok']]);
    await until('nothing is left', () => place.survivors().length === 0);
});
