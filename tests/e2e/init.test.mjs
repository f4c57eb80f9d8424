// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium init`: which agents it finds, what it writes into config.toml and into agents' files (plugins.md SY-1, SY-2, CF-4).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { scenario } from './harness.mjs';
import { KEY, configure, events, files, symposium, terminal } from './agents.mjs';

const AGENTS = ['claude', 'codex', 'copilot', 'gemini', 'antigravity', 'goose', 'kiro', 'opencode', 'cursor', 'vscode', 'qwen', 'cline', 'pi'];
const agentsOf = place => [...place.read('symposium/config.toml').matchAll(/^name = "(\w+)"/gm)].map(m => m[1]);
const names = r => r.of('init')[0].agents;

// --- SY-1 ---------------------------------------------------------------------------------------------------------------
const places = {
    claude: 'home/.claude/', codex: 'home/.codex/', copilot: 'home/.copilot/', gemini: 'home/.gemini/settings.json', goose: 'home/.config/goose/',
    antigravity: 'home/.gemini/antigravity-cli/', kiro: 'home/.kiro/', opencode: 'home/.config/opencode/', cursor: 'home/.cursor/',
    vscode: 'home/.config/Code/User/', qwen: 'home/.qwen/', pi: 'home/.pi/',
};
const make = (place, where) => (where.endsWith('/') ? fs.mkdirSync(place.path(where), { recursive: true }) : place.write(where, '{}\n'));
for (const [agent, where] of Object.entries(places))
    scenario(`SY-1: ${agent} is found by ${where}, and no other agent is`, async place => {
        make(place, where);
        const r = await events(place, ['init']);
        assert.equal(r.code, 0, r.err);
        assert.deepEqual(names(r), [agent]);
        assert.deepEqual(agentsOf(place), [agent]);
    });

for (const [agent, env, where] of [['claude', 'CLAUDE_CONFIG_DIR', 'elsewhere/claude'], ['codex', 'CODEX_HOME', 'elsewhere/codex'],
    ['goose', 'XDG_CONFIG_HOME', 'elsewhere/goose'], ['opencode', 'XDG_CONFIG_HOME', 'elsewhere/opencode']])
    scenario(`SY-1 CF-6: ${agent} is found where ${env} points`, async place => {
        fs.mkdirSync(place.path(where), { recursive: true });
        const value = env === 'XDG_CONFIG_HOME' ? place.path('elsewhere') : place.path(where);
        assert.deepEqual(names(await events(place, ['init'], { env: { [env]: value } })), [agent]);
    });

scenario('SY-1: without any agent init says so, names those there are, and writes nothing', async place => {
    const before = files(place);
    const r = await symposium(place, ['init']);
    assert.equal(r.code, 1);
    for (const a of AGENTS) assert.match(r.err, new RegExp(`\\b${a}\\b`));
    assert.match(r.err, /symposium init --add-agent/);
    assert.deepEqual(files(place), before);
});

scenario('SY-1 SY-2: with nothing configured init takes all that are found; afterwards what is configured stays', async place => {
    for (const a of ['claude', 'kiro']) make(place, places[a]);
    assert.deepEqual(names(await events(place, ['init'])), ['claude', 'kiro']);
    make(place, places.codex);
    const r = await events(place, ['init']);
    assert.deepEqual([r.code, names(r)], [0, ['claude', 'kiro']], 'a new agent is for the user to add');
});

// --- SY-2, CF-4 -----------------------------------------------------------------------------------------------------------
scenario('SY-2 CF-4: agents are added and removed; comments, order, line ends and unknown keys of config.toml stay', async place => {
    const text = '# mine\r\nauto-sync = false   # so\r\nx-unknown = { a = 1 }\r\n\r\n[[agent]]\r\nname = "goose" # first\r\nextra = 7\r\n\r\n[mcp]\r\nread-only = true\r\n';
    place.write('symposium/config.toml', text);
    let r = await events(place, ['init', '--add-agent', 'claude', '--add-agent=codex']);
    assert.equal(r.code, 0, r.err);
    assert.deepEqual(names(r), ['goose', 'claude', 'codex']);
    const now = place.read('symposium/config.toml');
    for (const line of text.split('\r\n')) assert.ok(now.includes(`${line}\r\n`), line);
    assert.doesNotMatch(now, /[^\r]\n/, 'its line ends');
    r = await events(place, ['init', '--remove-agent', 'claude', '--remove-agent', 'codex']);
    assert.deepEqual(names(r), ['goose']);
    assert.equal(place.read('symposium/config.toml'), text, 'and it is to the byte what it was');
    assert.equal((await symposium(place, ['init', '--add-agent', 'goose'])).code, 0);
    assert.equal(place.read('symposium/config.toml'), text, 'nothing for what is there');
});

scenario('SY-2: an unknown agent, a contradiction and a wrong scope are errors that name what there is', async place => {
    const before = files(place);
    for (const [args, says] of [[['--add-agent', 'emacs'], /claude, codex, .*pi/], [['--remove-agent', 'emacs'], /claude, codex, .*pi/],
        [['--hook-scope', 'planet'], /global or project/], [['--add-agent', 'pi', '--remove-agent', 'pi'], /cannot be added and removed/], [['pi'], /unexpected argument/]]) {
        const r = await symposium(place, ['init', ...args]);
        assert.equal(r.code, 2, args.join(' '));
        assert.match(r.err, says);
    }
    assert.deepEqual(files(place), before);
});

scenario('SY-2: hooks and entry are registered at once for global scope, and only by sync for project scope', async place => {
    fs.mkdirSync(place.path('home/.claude'));
    let r = await events(place, ['init', '--add-agent', 'claude']);
    assert.equal(r.code, 0, r.err);
    assert.match(place.read('home/.claude.json'), /"symposium"/);
    assert.match(place.read('home/.claude/settings.json'), /symposium hook claude SessionStart|hook claude SessionStart/);
    await symposium(place, ['init', '--remove-agent', 'claude']);
    r = await events(place, ['init', '--add-agent', 'claude', '--hook-scope', 'project']);
    assert.equal(r.of('init')[0].hook_scope, 'project');
    assert.match(place.read('symposium/config.toml'), /hook-scope = "project"/);
    assert.doesNotMatch(place.read('home/.claude.json'), /symposium/);
    assert.doesNotMatch(place.read('home/.claude/settings.json'), /symposium/);
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.match(place.read('work/.mcp.json'), /"symposium"/);
    assert.match(place.read('work/.claude/settings.json'), /hook claude/);
});

scenario('SY-2: removing the last agent takes everything of ours out of the user\'s files, to the byte', async place => {
    place.write('home/.claude.json', '{\n  "mcpServers": {\n    "other": { "command": "x" } // mine\n  },\n  "hooks": 1\n}\n'.replace(' // mine', ''));
    place.write('home/.claude/settings.json', '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [ { "type": "command", "command": "mine" } ] }\n    ]\n  }\n}\n');
    const before = files(place);
    await symposium(place, ['init', '--add-agent', 'claude']);
    assert.notDeepEqual(files(place), before);
    const r = await symposium(place, ['init', '--remove-agent', 'claude']);
    assert.match(r.out, /No agent is configured any more/);
    const { 'symposium/config.toml': config, ...rest } = files(place);
    assert.deepEqual(rest, before);
    assert.equal(agentsOf(place).length, 0, config);
});

scenario('CF-4 CF-3: a config.toml that does not parse is refused with line and column, and nothing is written, by every writer', async place => {
    configure(place, { agents: ['claude'] });
    await symposium(place, ['init']);
    place.plugin('d', [], {});
    place.write('symposium/config.toml', 'auto-sync = true\n[plugins\nuse = []\n');
    const before = files(place);
    for (const args of [['init', '--add-agent', 'codex'], ['init', '--remove-agent', 'claude'], ['init'], ['use', 'd'], ['use', 'd', '--remove'], ['sync']]) {
        const r = await symposium(place, args);
        assert.equal(r.code, 1, args.join(' '));
        if (args[1] !== 'd') assert.match(r.err, /config\.toml.*(2|line 2)/s, args.join(' '));
        assert.deepEqual(files(place), before, `${args.join(' ')} wrote`);
    }
});

// --- on a terminal ----------------------------------------------------------------------------------------------------------
scenario('SY-2: on a terminal a multi-select with the found ones preselected', async place => {
    make(place, places.claude);
    make(place, places.kiro);
    let r = await terminal(place, ['init'], [[/Cline[^]*Pi/, KEY.enter]]);
    assert.equal(r.code, 0, r.out);
    assert.match(r.out, /\[x\] Claude Code {2}\(found here\)/);
    assert.match(r.out, /\[ \] Codex CLI/);
    assert.deepEqual(agentsOf(place), ['claude', 'kiro']);
    // The first row is Claude: off; the second, Codex, on.
    r = await terminal(place, ['init'], [[/Cline[^]*Pi/, KEY.space], [/\[ \] Claude/, KEY.down], [/> \[ \] Codex/, KEY.space], [/\[x\] Codex/, KEY.enter]]);
    assert.equal(r.code, 0, r.out);
    assert.deepEqual(agentsOf(place).sort(), ['codex', 'kiro']);
    assert.doesNotMatch(place.read('home/.claude.json'), /symposium/);
});

scenario('SY-2: escape and Ctrl-C in the multi-select change nothing', async place => {
    make(place, places.claude);
    const before = files(place);
    let r = await terminal(place, ['init'], [[/Pi/, KEY.escape]]);
    assert.equal(r.code, 1);
    assert.match(r.out, /Nothing was changed/);
    r = await terminal(place, ['init'], [[/Pi/, KEY.interrupt]]);
    assert.equal(r.code, 130);
    assert.deepEqual(files(place), before);
});

scenario('CL-2: init -q prints nothing but errors; --json is never a question', async place => {
    make(place, places.claude);
    const r = await symposium(place, ['init', '-q']);
    assert.deepEqual([r.code, r.out, r.err], [0, '', '']);
    const t = await terminal(place, ['--json', 'init']);
    assert.equal(t.code, 0);
    assert.deepEqual(JSON.parse(t.out).at(-1).agents, ['claude']);
});
