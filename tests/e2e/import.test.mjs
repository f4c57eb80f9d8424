// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium import`: MCP servers in agents' own files become one plugin, and come back (plugins.md SY-22). All forms of all files:
// tests/unit/sync/test_import*.c.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { basic, scenario } from './harness.mjs';
import { freePort, sdkServer } from './remote.mjs';
import { configure, events, files as all, symposium, terminal } from './agents.mjs';

const plugin = 'symposium/plugins/imported/SYMPOSIUM.toml';
const entry = ({ command, args }, more = {}) => ({ command, args, ...more });
const json = (servers, more = {}) => `${JSON.stringify({ ...more, mcpServers: servers }, null, 4)}\n`;
const files = place => Object.fromEntries(Object.entries(all(place)).filter(([f]) => !f.startsWith('peers/')));
const state = (r, name) => r.of('import-entry').filter(e => e.name === name).map(e => e.state).join();

/** Servers in three forms of file; {claude, goose, project} are peers that start, `dead` does not. */
function scattered(place) {
    configure(place);
    const of = Object.fromEntries(['claude', 'goose', 'project'].map(n => [n, entry(place.peer(`${n}-srv`, basic()))]));
    place.write('home/.claude.json', json({ 'claude-srv': of.claude, off: { command: 'x', disabled: true },
        web: { type: 'ws', url: 'wss://mcp.example' } }, { numStartups: 3 }));
    place.write('home/.config/goose/config.yaml', `# goose\nGOOSE_MODEL: m\nextensions:\n  goose-srv:   # mine\n    type: stdio\n    enabled: true\n`
        + `    cmd: ${of.goose.command}\n    args: [${of.goose.args.join(', ')}]\n  developer:\n    type: builtin\n    enabled: true\n`);
    place.write('work/.mcp.json', json({ 'project-srv': of.project }));
}

scenario('SY-22: --dry-run and a run without consent show what would move and change nothing', async place => {
    scattered(place);
    const before = files(place);
    const dry = await events(place, ['import', '--dry-run']);
    assert.equal(dry.code, 0, dry.err);
    for (const n of ['claude-srv', 'goose-srv', 'project-srv']) assert.equal(state(dry, n), 'moves');
    for (const n of ['off', 'web', 'developer']) assert.equal(state(dry, n), 'stays');
    const shown = await symposium(place, ['import', '--dry-run']);
    assert.match(shown.out, /claude-srv/);
    assert.match(shown.out, /stays: it is disabled/);
    assert.match(shown.out, /stays: its 'type' is neither stdio nor http nor sse/);
    const plain = await symposium(place, ['import']);
    assert.equal(plain.code, 1);
    assert.match(plain.err, /symposium import --yes/);
    assert.deepEqual(files(place), before);
});

scenario('SY-22: servers move, each started once, every agent gets the one entry, and --undo leaves every file byte-identical', async place => {
    scattered(place);
    const before = files(place);
    const r = await events(place, ['import', '--yes']);
    assert.equal(r.code, 0, r.err + r.out);
    assert.equal(r.of('import')[0].moved, 3);
    for (const n of ['claude-srv', 'goose-srv', 'project-srv']) assert.equal(place.starts(n), 1, n);
    assert.match(place.read(plugin), /name = "claude-srv"/);
    assert.match(place.read(plugin), /name = "goose-srv"/);
    assert.match(place.read('work/SYMPOSIUM.toml'), /name = "project-srv"/);
    const claude = JSON.parse(place.read('home/.claude.json'));
    assert.deepEqual(Object.keys(claude.mcpServers).sort(), ['off', 'symposium', 'web']);
    assert.equal(claude.numStartups, 3);
    assert.doesNotMatch(place.read('home/.config/goose/config.yaml'), /goose-srv/);
    assert.match(place.read('home/.config/goose/config.yaml'), /mcp-serve/);
    assert.match(place.read('symposium/config.toml'), /name = "goose"/);

    const tools = await symposium(place, ['tools']);
    for (const n of ['claude', 'goose', 'project']) assert.match(tools.out, new RegExp(`${n}.srv`), tools.out + tools.err);

    const again = await symposium(place, ['import', '--yes']);
    assert.match(again.out, /No MCP server of an agent's file can be moved/);

    const back = await symposium(place, ['import', '--undo']);
    assert.equal(back.code, 0, back.err);
    assert.deepEqual(files(place), before);
    assert.equal((await symposium(place, ['import', '--undo'])).code, 1);
});

scenario('SY-22: a server that does not start stays where it is, and the rest moves; --no-check moves it', async place => {
    configure(place);
    place.write('home/.claude.json', json({ good: entry(place.peer('good', basic())), bad: { command: '/nonexistent/server' } }));
    const before = files(place);
    const r = await events(place, ['import', '--yes']);
    assert.equal(r.code, 1);
    assert.equal(state(r, 'good'), 'moves');
    assert.equal(state(r, 'bad'), 'stays');
    assert.match(place.read('home/.claude.json'), /nonexistent/);
    assert.doesNotMatch(place.read(plugin), /nonexistent/);
    assert.match(place.read(plugin), /"good"/);
    assert.equal((await symposium(place, ['import', '--undo'])).code, 0);
    assert.deepEqual(files(place), before);
    assert.equal((await symposium(place, ['import', '--yes', '--no-check'])).code, 0);
    assert.match(place.read(plugin), /nonexistent/);
});

scenario('SY-22: when no server starts nothing has changed', async place => {
    configure(place);
    place.write('home/.claude.json', json({ bad: { command: '/nonexistent/server' } }));
    const before = files(place);
    const r = await symposium(place, ['import', '--yes']);
    assert.equal(r.code, 1);
    assert.match(r.out + r.err, /does not start/);
    assert.deepEqual(files(place), before);
});

scenario('SY-22: a malformed file is named and left alone, the others are imported, exit status 1', async place => {
    configure(place);
    place.write('home/.cursor/mcp.json', '{ "mcpServers": {');
    place.write('home/.claude.json', json({ good: entry(place.peer('good', basic())) }));
    const r = await symposium(place, ['import', '--yes']);
    assert.equal(r.code, 1);
    assert.match(r.err, /\.cursor\/mcp\.json: line 1/);
    assert.equal(place.read('home/.cursor/mcp.json'), '{ "mcpServers": {');
    assert.match(place.read(plugin), /"good"/);
});

scenario('SY-22 PL-32: a project\'s manifest that was not trusted does not become so by an import', async place => {
    configure(place);
    place.write('work/SYMPOSIUM.toml', '[[mcp_servers]]\nname = "foreign"\ncommand = "/bin/false"\n');
    place.write('work/.mcp.json', json({ mine: entry(place.peer('mine', basic())) }));
    const r = await symposium(place, ['import', '--yes']);
    assert.match(r.out + r.err, /is not trusted yet; 'symposium trust'/);
    assert.match(place.read('work/SYMPOSIUM.toml'), /"foreign"[^]*"mine"/);
    assert.match((await symposium(place, ['tools'])).out, /not trusted yet/);
});

scenario('SY-22: on a terminal it asks; no leaves everything, and a secret of a project\'s file is asked about by itself', async place => {
    configure(place);
    place.write('work/.mcp.json', json({ keyed: entry(place.peer('keyed', basic()), { env: { API_KEY: 'abcdef-123456' } }) }));
    const before = files(place);
    await terminal(place, ['import'], [[/for all workspaces\? \[y\/N\]/, 'y\n'], [/Move them\? \[y\/N\]/, 'n\n']]);
    assert.deepEqual(files(place), before);
    const r = await terminal(place, ['import'], [[/for all workspaces\? \[y\/N\]/, 'y\n'], [/Move them\? \[y\/N\]/, 'y\n']]);
    assert.equal(r.code, 0, r.out);
    assert.match(place.read(plugin), /abcdef-123456/);
    assert.equal(fs.statSync(place.path(plugin)).mode & 0o777, 0o600);
    assert.equal(place.read('work/SYMPOSIUM.toml'), '');
});

scenario('SY-22: without a terminal a project\'s secret is skipped', async place => {
    configure(place);
    place.write('work/.mcp.json', json({ keyed: { command: 'x', env: { API_KEY: 'abcdef-123456' } } }));
    const before = files(place);
    const r = await events(place, ['import', '--yes']);
    assert.equal(r.code, 0, r.err);
    assert.equal(state(r, 'keyed'), 'stays');
    assert.deepEqual(files(place), before);
});

scenario('SY-22 MS-11: a name that another plugin has is not taken from it', async place => {
    configure(place);
    place.plugin('other', [place.peer('fs', basic())]);
    place.write('home/.claude.json', json({ fs: { command: 'another-fs' } }));
    const r = await events(place, ['import', '--yes', '--no-check']);
    assert.equal(r.code, 0, r.err);
    assert.equal(r.of('import-entry')[0].server, 'fs-2');
});

for (const [name, more] of [['[mcp] enabled = false', '\n[mcp]\nenabled = false\n'], ['a disabled plugin', null], ['user-plugins = false', null]])
    scenario(`SY-22: with ${name} nothing moves: no agent would have the servers`, async place => {
        configure(place, { more: more ?? '', plugins: name.includes('disabled') ? { disable: ['imported'] } : {} });
        if (name.startsWith('user')) place.write('symposium/config.toml', '[defaults]\nsymposium-recommendations = false\nuser-plugins = false\n');
        place.write('home/.claude.json', json({ fs: { command: 'x' } }));
        const before = files(place);
        const r = await symposium(place, ['import', '--yes', '--no-check']);
        assert.equal(r.code, 1);
        assert.match(r.err, /config\.toml/);
        assert.deepEqual(files(place), before);
    });

scenario('SY-22: odd names, layouts and a link all come back', async place => {
    configure(place);
    const names = ['a.b', 'with space', 'qu"ote', "apo'strophe", 'back\\slash', '-dash', 'ünï', '#', '[x]', '=', '0', '${X}'];
    place.write('home/real.json', json(Object.fromEntries(names.map(n => [n, { command: 'x', args: [n] }]))));
    fs.symlinkSync('real.json', place.path('home/.claude.json'));
    place.write('home/.codex/config.toml', names.map(n => `[mcp_servers.${JSON.stringify(n)}]\ncommand = "y"\n`).join('\n'));
    place.write('home/.config/goose/config.yaml', `extensions:\n${names.map(n => `  ${JSON.stringify(n)}:\n    type: stdio\n    cmd: z\n`).join('')}`);
    const before = files(place);
    const r = await events(place, ['import', '--yes', '--no-check']);
    assert.equal(r.code, 0, r.err + r.out);
    assert.equal(r.of('import')[0].moved, 3 * names.length);
    assert.ok(fs.lstatSync(place.path('home/.claude.json')).isSymbolicLink());
    const tools = await symposium(place, ['status']);
    assert.equal(tools.code, 0, tools.err);
    assert.equal((await symposium(place, ['import', '--undo'])).code, 0);
    assert.deepEqual(files(place), before);
});

scenario('SY-22 MS-63: servers with a URL move too, with their headers; one that nobody answers for stays', async place => {
    configure(place);
    const server = await sdkServer('v2', { REMOTE_TOKEN: place.canary });
    try {
        const claude = { mcpServers: { far: { type: 'http', url: server.url, headers: { Authorization: 'Bearer ${E2E_API_TOKEN}' } },
            gone: { type: 'http', url: `http://127.0.0.1:${await freePort()}/mcp` } } };
        place.write('home/.claude.json', JSON.stringify(claude));
        place.write('home/.codex/config.toml', `[mcp_servers.far]\nurl = "${server.url}"\nbearer_token_env_var = "E2E_API_TOKEN"\n`);
        const before = files(place), r = await events(place, ['import', '--yes']);
        assert.match(r.of('import-entry').find(e => e.name === 'gone').reason, /it does not start: .*127\.0\.0\.1/);
        assert.equal(r.of('import-entry').filter(e => e.name === 'far' && e.state === 'moves').length, 2, 'one server, in two files');
        assert.equal(place.read(plugin).match(/name = "far"/g).length, 1);
        assert.ok(!place.read(plugin).includes(place.canary));
        assert.match((await symposium(place, ['call', 'far.echo', 'text=moved'])).out, /moved/);
        assert.equal((await symposium(place, ['import', '--undo'])).code, 0);
        assert.deepEqual(files(place), before);
    } finally {
        await server.kill();
    }
});
