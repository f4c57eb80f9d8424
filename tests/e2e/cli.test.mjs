// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The commands for people (plugins.md 12): what they print on a terminal and in a pipe, their exit status, and that nothing of
// theirs survives, not even an interrupt.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { T, basic, bin, root, run, scenario, slack, until } from './harness.mjs';

/** A run on a terminal (util-linux' script): {code, out}, everything that the terminal was sent. */
const quote = s => `'${String(s).replaceAll("'", "'\\''")}'`;
const terminal = (place, args, { env = {}, ...rest } = {}) =>
    run(place, ['-qec', [bin, ...args].map(quote).join(' '), '/dev/null'],
        { program: 'script', env: { TERM: 'xterm', SHELL: '/bin/sh', ...env }, ...rest });

const typed = T('typed', {
    type: 'object',
    properties: {
        s: { type: 'string' }, n: { type: 'number' }, b: { type: 'boolean' },
        o: { type: 'object' }, a: { type: 'array' }, any: { description: 'no type' },
    },
});
const server = (more = {}) => ({
    tools: [
        typed, T('plain', undefined, { description: 'A text\nof two lines' }), T('read_file'), T('nested'), T('value'), T('bad'), T('slow'),
    ],
    ...more,
    calls: {
        typed: [{ echo: true }], plain: [{ text: 'line one\nline two' }], read_file: [{ text: 'read' }],
        nested: [{ result: { content: [], structuredContent: { content: 'first\nsecond' } } }],
        value: [{ result: { content: [], structuredContent: { a: [1, 2], b: null } } }],
        bad: [{ fail: 'it went wrong' }], slow: [], ...more.calls,
    },
});
const json = r => JSON.parse(r.out);
const type = (events, name) => events.filter(e => e.type === name);

// --- CL-2: the command line itself --------------------------------------------------------------------------------------
scenario('CL-2: a wrong command line is exit status 2, said on stderr alone', async place => {
    for (const args of [[], ['nonsense'], ['tools', '--nope'], ['call'], ['exec'], ['exec', 'a', 'b'], ['trust', 'x'], ['trust', '--show', '--remove'], ['doctor', 'x'],
        ['completion'], ['completion', 'fish'], ['sync', 'x'], ['init', 'x'], ['use'], ['search'], ['plugin'], ['plugin', 'x'], ['package-info'], ['status', '--update', 'x'], ['mcp-serve', '--update', 'check'], ['help', 'nonsense'], ['tools', '--query'], ['mcp-serve', 'x']]) {
        const r = await run(place, args);
        assert.deepEqual([r.code, r.out], [2, ''], args.join(' '));
        assert.notEqual(r.err, '');
    }
});

scenario('CL-2: help is exit status 0, with an example for every command', async place => {
    const overview = await run(place, ['--help']);
    assert.equal(overview.code, 0);
    const commands = [...overview.out.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(m => m[1]).filter(c => !c.startsWith('-'));
    for (const c of ['init', 'sync', 'use', 'status', 'search', 'plugin', 'package-info', 'tools', 'call', 'exec', 'trust', 'doctor', 'completion', 'help', 'mcp-serve'])
        assert.ok(commands.includes(c), c);
    for (const c of commands) {
        const help = await run(place, [c, '--help']);
        assert.deepEqual([help.code, help.err], [0, ''], c);
        assert.match(help.out, /^usage: symposium /);
        assert.match(help.out, /\nExample:\n {2}/);
        assert.equal((await run(place, ['help', c])).out, help.out);
    }
    const listed = json(await run(place, ['help', '--json']));
    assert.deepEqual(listed.map(e => [e.type, e.name]), commands.map(c => ['command', c]));
    assert.deepEqual(listed.filter(e => e.audience === 'agents').map(e => e.name), ['mcp-serve', 'symm', 'filesystem', 'fetch', 'memory', 'shell', 'skills', 'agents']);
    for (const before of [[], ['-q'], ['--json']])
        assert.match((await run(place, [...before, '--version'])).out, /^symposium \d+\.\d+\.\d+\n$/);
});

scenario('CL-3: started as cargo-agents, with and without cargo\'s extra argument, it takes the same commands', async place => {
    fs.symlinkSync(bin, place.path('cargo-agents'));
    place.peers({ srv: server() });
    const program = place.path('cargo-agents');
    const want = await run(place, ['call', 'srv.plain']);
    for (const args of [['call', 'srv.plain'], ['agents', 'call', 'srv.plain'], ['agents', '-q', 'call', 'srv.plain']])
        assert.deepEqual(await run(place, args, { program }), want, args.join(' '));
    assert.equal((await run(place, ['agents', 'nonsense'], { program })).code, 2);
});

// --- tools --------------------------------------------------------------------------------------------------------------
scenario('CL-1: tools prints what list_tools prints', async place => {
    place.peers({ srv: server(), other: basic() });
    const s = await place.open();
    for (const [args, asked] of [
        [[], {}], [['srv'], { servers: ['srv'] }], [['--query', 'says again'], { query: 'says again' }],
        [['--full'], { detail: 'full' }], [['srv', 'other'], { servers: ['srv', 'other'] }], [['--query', 'read', '--full'], { query: 'read', detail: 'full' }],
    ]) {
        const r = await run(place, ['tools', ...args]);
        assert.deepEqual([r.code, r.out], [0, `${await s.list(asked)}\n`], args.join(' '));
    }
    const unknown = await run(place, ['tools', 'nobody']);
    assert.equal(unknown.code, 1);
    assert.match(unknown.out, /nobody: no such server/);
    place.plugin('unset', [{ ...place.peer('unset', basic()), env: { KEY: '${E2E_UNSET}' } }]);
    const refused = await run(place, ['tools', 'unset']);
    assert.match(refused.out + refused.err, /unset: .*'E2E_UNSET' is not set/);
    assert.doesNotMatch(refused.out + refused.err, /no such server/);
});

scenario('CL-2: tools --json is an array of tagged events: servers, tools, problems', async place => {
    place.peers({ srv: server() }).plugin('broken', [{ name: 'broken', command: '/nowhere/at/all' }]);
    const r = await run(place, ['tools', '--json']);
    const events = json(r);
    assert.deepEqual(type(events, 'server').map(s => [s.name, s.tools]), [['broken', null], ['srv', 7]]);
    assert.deepEqual(type(events, 'tool').map(t => t.name), ['typed', 'plain', 'read_file', 'nested', 'value', 'bad', 'slow']);
    assert.deepEqual(type(events, 'tool')[0].definition, typed);
    assert.ok(type(events, 'problem').some(p => p.text.startsWith('broken: ')), r.out);
    assert.deepEqual(type(json(await run(place, ['--json', 'tools', '--query', 'read file'])), 'tool').map(t => t.name), ['read_file']);
    assert.equal((await run(place, ['tools', 'broken'])).code, 1);
});

// --- call ---------------------------------------------------------------------------------------------------------------
scenario('CL-1: call converts values by the type of the schema', async place => {
    place.peers({ srv: server() });
    const r = await run(place, ['call', 'srv.typed', 's=42', 'n=1.5', 'b=true', 'o={"k":[1]}', 'a=["x"]', 'any=7', 'more=true']);
    assert.equal(r.code, 0, r.err);
    assert.deepEqual(place.calls('srv')[0].params.arguments,
        { s: '42', n: 1.5, b: true, o: { k: [1] }, a: ['x'], any: '7', more: 'true' });
    assert.deepEqual(place.calls('srv')[0].params.name, 'typed');
});

scenario('CL-1: a value that does not convert is exit status 2, naming key and type, and nothing is called', async place => {
    place.peers({ srv: server() });
    for (const [pair, message] of [
        ['n=many', /'n' must be a number/], ['b=yes', /'b' must be .*boolean/], ['o=[1]', /'o' must be a JSON object/],
        ['a=x', /'a' must be a JSON array/], ['nothing', /not key=value/],
    ]) {
        const r = await run(place, ['call', 'srv.typed', pair]);
        assert.deepEqual([r.code, r.out], [2, ''], pair);
        assert.match(r.err, message);
    }
    assert.equal(place.calls('srv').length, 0);
});

scenario('CL-1 CL-2: --json before an object is the arguments, alone it is the form of the output', async place => {
    place.peers({ srv: server() });
    assert.equal((await run(place, ['call', 'srv.typed', '--json', '{"n": 3, "deep": {"x": []}}', 's=y'])).code, 0);
    assert.deepEqual(place.calls('srv')[0].params.arguments, { n: 3, deep: { x: [] }, s: 'y' });
    assert.equal((await run(place, ['call', 'srv.typed', '--json={"n": 4}'])).code, 0);
    assert.deepEqual(place.calls('srv')[1].params.arguments, { n: 4 });
    const both = await run(place, ['call', 'srv.value', '--json', '{}', '--json']);
    assert.deepEqual(json(both), [{ type: 'result', server: 'srv', tool: 'value', is_error: false, value: { a: [1, 2], b: null } }]);
    assert.equal((await run(place, ['call', 'srv.typed', '--json', '{"n": 3', 's=y'])).code, 2);
});

scenario('CL-1 MS-45: the server is the longest prefix, the tool resolves as in scripts', async place => {
    place.plugin('p', [
        place.peer('git', { tools: [T('hub.go'), T('go')], calls: { '*': [{ text: 'short' }] } }),
        place.peer('git.hub', { tools: [T('go')], calls: { '*': [{ text: 'long' }] } }),
        place.peer('srv', server()),
    ]);
    for (const [target, said] of [['git.hub.go', 'long'], ['git_hub.go', 'long'], ['git.go', 'short'], ['git.hubGo', 'short'], ['srv.readFile', 'read']]) {
        const r = await run(place, ['call', target]);
        assert.deepEqual([r.code, r.out], [0, `${said}\n`], `${target}: ${r.err}`);
    }
    const none = await run(place, ['call', 'nobody.go']);
    assert.equal(none.code, 1);
    assert.match(none.err, /servers: git, git\.hub, srv/);
    const tool = await run(place, ['call', 'srv.read_fill']);
    assert.equal(tool.code, 1);
    assert.match(tool.err, /read_file/);
});

scenario('CL-1: an error result is exit status 1, on stderr; text is text and values are JSON', async place => {
    place.peers({ srv: server({ on: {} }) });
    const bad = await run(place, ['call', 'srv.bad']);
    assert.deepEqual([bad.code, bad.out, bad.err], [1, '', 'symposium: srv.bad: it went wrong\n']);
    assert.deepEqual(json(await run(place, ['--json', 'call', 'srv.bad'])),
        [{ type: 'result', server: 'srv', tool: 'bad', is_error: true, error: 'it went wrong' }]);
    assert.equal((await run(place, ['call', 'srv.plain'])).out, 'line one\nline two\n');
    assert.equal((await run(place, ['call', 'srv.value'])).out, '{"a":[1,2],"b":null}\n');
    assert.equal((await run(place, ['call', 'srv.nested'])).out, '{"content":"first\\nsecond"}\n');
});

scenario('CL-1: on a terminal a nested text is text, a value indented, and nothing of a server reaches the terminal raw', async place => {
    place.peers({ srv: server({ calls: { plain: [{ text: 'one\u001b]0;owned\u0007\ttwo\u202e' }] } }) });
    assert.match((await terminal(place, ['-q', 'call', 'srv.nested'])).out, /first\r\nsecond\r\n/);
    assert.match((await terminal(place, ['-q', 'call', 'srv.value'])).out, /\{\r\n {2}"a": \[\r\n {4}1,\r\n/);
    const plain = (await terminal(place, ['-q', 'call', 'srv.plain'])).out;
    assert.match(plain, /one\ttwo/);
    assert.ok(!/owned|\u202e|\u001b/.test(plain), JSON.stringify(plain));
});

// --- exec ---------------------------------------------------------------------------------------------------------------
scenario('CL-1: exec runs a file or stdin as execute does; the value is stdout, the rest stderr', async place => {
    place.peers({ srv: server() });
    const script = place.write('work/a.js', 'console.log("hello"); const v = await srv.value({}); ({ sum: v.a.length })');
    for (const r of [await run(place, ['exec', script]), await run(place, ['exec', '-'], { input: fs.readFileSync(script) })])
        assert.deepEqual([r.code, r.out, r.err], [0, '{"sum":2}\n', 'hello\n']);
    const events = json(await run(place, ['exec', '--json', script]));
    assert.deepEqual(type(events, 'result'), [{ type: 'result', is_error: false, value: { sum: 2 } }]);
    assert.deepEqual(type(events, 'console').map(e => e.text.trim()), ['hello']);
    assert.deepEqual(type(events, 'usage'), [{ type: 'usage', calls: 1, bytes_in: '{"a":[1,2],"b":null}'.length, bytes_out: '{"sum":2}'.length }]);
    const told = await run(place, ['-v', 'exec', script]);
    assert.match(told.err, /^1 call; 20 bytes of results stayed in the sandbox, 9 came back$/m);
});

scenario('CL-1: an error result of a script is exit status 1, whatever happened', async place => {
    place.config({ mcp: { 'script-timeout-secs': 2, 'tool-call-timeout-secs': 1, 'max-tool-calls': 2 } });
    place.peers({ srv: server() });
    for (const [source, said] of [
        ['throw new Error("no luck")', /script_error: (Error: )?no luck/], ['let x: number = 1', /did not parse as JavaScript/],
        ['for (;;);', /script_timeout/], ['await srv.bad({})', /srv\.bad: it went wrong/], ['for (let i = 0; i < 9; i++) await srv.plain({})', /tool_call_limit/],
    ]) {
        const r = await run(place, ['exec', '-'], { input: source });
        assert.deepEqual([r.code, r.out], [1, ''], source);
        assert.match(r.err, said);
    }
    const limit = await run(place, ['exec', '-'], { input: 'for (let i = 0; i < 9; i++) await srv.plain({})' });
    assert.match(limit.err, /^symposium: tool_call_limit: more than 2 calls \('max-tool-calls' in config\.toml\)$/m);
    const r = json(await run(place, ['exec', '--json', '-'], { input: 'console.log(1); throw new Error("x")' }));
    assert.equal(type(r, 'result')[0].error.error, 'script_error');
    assert.equal((await run(place, ['exec', 'no-such-file.js'])).code, 1);
});

scenario('CL-1: exec gives the whole value where an agent would get a piece of it', async place => {
    place.config({ mcp: { 'max-result-bytes': 100 } });
    place.peers({ srv: server() });
    const r = await run(place, ['exec', '-'], { input: '"x".repeat(200000)' });
    assert.equal(r.out.length, 200003, r.err);
});

scenario('CL-1: a value over 8 MiB is a failure, not half a JSON text', async place => {
    place.peers({ srv: server() });
    const input = '"x".repeat(9e6)', r = await run(place, ['exec', '-'], { input });
    assert.deepEqual([r.code, r.out], [1, '']);
    assert.match(r.err, /result_too_long: the value is 9000002 bytes of JSON, over 8 MiB/);
    const events = json(await run(place, ['exec', '--json', '-'], { input }));
    assert.deepEqual(type(events, 'result'), [{ type: 'result', is_error: true, error: { error: 'result_too_long', bytes: 9000002 } }]);
});

scenario('CL-1 MS-42: without servers exec says so, exit status 1', async place => {
    const r = await run(place, ['exec', '-'], { input: '1 + 1' });
    assert.equal(r.code, 1);
    assert.match(r.err, /No MCP servers apply to this workspace/);
});

// --- trust --------------------------------------------------------------------------------------------------------------
const own = place => {
    const { name, command, args } = place.peer('own', server());
    place.write('work/SYMPOSIUM.toml', `[[mcp_servers]]\nname = "${name}"\ncommand = "${command}"\nargs = ["${args[0]}", "two words"]\n\n`
        + '[[predicate]]\nname = "ready"\ncommand = { executable = "./ready.sh" }\n');
};

scenario('PL-32: trust shows what the workspace would run; consent is for these bytes, and can be taken back', async place => {
    own(place);
    assert.match((await run(place, ['tools'])).out, /own: this workspace is not trusted yet; run 'symposium trust'/);
    const shown = await run(place, ['trust', '--show']);
    assert.equal(shown.code, 1, 'consent is missing');
    assert.match(shown.out, /server own: \S+peer \S+own\.json 'two words'/);
    assert.match(shown.out, /predicate ready/);
    assert.equal(shown.err, '', 'what was asked for goes to stdout');
    const events = json(await run(place, ['trust', '--show', '--json']));
    assert.deepEqual(events.map(e => [e.type, e.path, e.trusted]), [['manifest', place.path('work/SYMPOSIUM.toml'), false]]);
    assert.match(events[0].runs.join('\n'), /server own: /);
    assert.equal((await run(place, ['call', 'own.plain'])).code, 1, 'showing is not consent');
    assert.equal(place.starts('own'), 0);

    assert.equal((await run(place, ['trust'])).code, 0);
    assert.equal((await run(place, ['trust', '--show'])).code, 0);
    assert.equal((await run(place, ['call', 'own.plain'])).out, 'line one\nline two\n');
    fs.appendFileSync(place.path('work/SYMPOSIUM.toml'), '# changed\n');
    assert.equal((await run(place, ['call', 'own.plain'])).code, 1, 'a changed manifest asks again');
    assert.equal((await run(place, ['trust', '--yes'])).code, 0);
    assert.equal((await run(place, ['call', 'own.plain'])).code, 0);
    assert.equal((await run(place, ['trust', '--remove'])).code, 0);
    const refused = await run(place, ['call', 'own.plain']);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /own: this workspace is not trusted yet/);
});

scenario('PL-32: an interactive command asks; yes is kept, anything else runs nothing', async place => {
    own(place);
    const no = await terminal(place, ['tools'], { input: '\n' });
    assert.match(no.out, /server own: [^]*Trust it\? \[y\/N\]/);
    assert.match(no.out, /own: this workspace is not trusted yet/);
    assert.equal(place.starts('own'), 0);
    const yes = await terminal(place, ['call', 'own.plain'], { input: 'y\n' });
    assert.match(yes.out, /Trust it\?[^]*line one/);
    assert.ok(!/Trust it/.test((await terminal(place, ['call', 'own.plain'])).out), 'asked once');
    assert.equal((await terminal(place, ['trust', '--remove'])).code, 0);
    assert.equal((await terminal(place, ['trust'], { input: 'n\n' })).code, 1);
});

scenario('PL-32: a workspace that runs nothing needs no consent', async place => {
    place.write('work/SYMPOSIUM.toml', 'name = "quiet"\n');
    const r = await run(place, ['trust']);
    assert.deepEqual([r.code, r.err], [0, '']);
    assert.match(r.out, /Nothing in this workspace runs a program/);
});

// --- doctor -------------------------------------------------------------------------------------------------------------
scenario('CL-1 PL-38: doctor shows workspace, plugins with state and reason, sandbox and servers, and is content', async place => {
    place.peers({ srv: server() }).plugin('gated', [place.peer('never', server())], { 'depends-on': ['serde'] });
    place.config({ plugins: { disable: ['refused'] } }).plugin('refused', [place.peer('refused', server())]);
    const r = await run(place, ['doctor', '--json']);
    const events = json(r);
    assert.equal(r.code, 0, r.out);
    assert.deepEqual(type(events, 'version').map(e => e.name), ['symposium']);
    assert.match(type(events, 'version')[0].detail, /^quickjs\S* \d.*; libuv \d/);
    assert.deepEqual(type(events, 'workspace').map(e => [e.name, e.detail]), [[place.workspace, 'it holds package.json']]);
    assert.deepEqual(type(events, 'plugin').map(p => [p.name, p.state, p.detail]), [
        ['gated', 'gated', 'its depends-on or predicates do not hold here [user-plugins]'],
        ['peers', 'active', 'registry user-plugins'],
        ['refused', 'declined', 'listed in [plugins] disable [user-plugins]'],
    ]);
    assert.deepEqual(type(events, 'server').map(s => [s.name, s.state, s.tools]), [['srv', 'ok', 7]]);
    assert.ok(type(events, 'server')[0].ms >= 0);
    assert.deepEqual(type(events, 'sandbox').map(l => l.name), ['seccomp', 'no-new-privs', 'Landlock', 'MDWE', 'pidfd', 'script']);
    assert.equal(type(events, 'sandbox').find(l => l.name === 'script').state, 'ok');
    assert.deepEqual(type(events, 'problem'), []);
    assert.equal(place.starts('srv'), 1);
    assert.equal((await run(place, ['doctor'])).code, 0);
    assert.equal(place.starts('srv'), 2, 'a cached list is no proof: every server is started');
});

scenario('CL-1 PL-38 CF-3: doctor says what to do about each problem, exit status 1', async place => {
    own(place);
    place.write('symposium/config.toml', '[mcp]\nno-such-key = 1\n');
    place.write('symposium/plugins/typo/SYMPOSIUM.toml', 'name = "typo"\ndepends = ["*"]\n');
    place.plugin('sleepy', [place.peer('sleepy', server())], {});
    place.plugin('p', [{ name: 'missing', command: 'no-such-program' }, place.peer('silent', { on: { 'server/discover': [], initialize: [] } }, { 'startup-timeout-secs': 1 })]);
    const r = await run(place, ['doctor', '--json']);
    assert.equal(r.code, 1);
    const events = json(r), problems = type(events, 'problem');
    const about = text => problems.find(p => p.text.includes(text)) ?? assert.fail(`no problem about ${text}: ${r.out}`);
    assert.match(about('no-such-key').advice, /correct the file/);
    assert.match(about('skipping ').advice, /correct that file/);
    assert.match(about('missing: start failed').advice, /install the program/);
    assert.match(about('silent: start failed').advice, /startup-timeout-secs/);
    assert.match(about('sleepy').text, /depends-on/);
    about('own: this workspace is not trusted yet; run \'symposium trust\'');
    assert.deepEqual(type(events, 'plugin').filter(p => p.state !== 'active').map(p => [p.name, p.state]), [['sleepy', 'dormant'], ['typo', 'error']]);
    assert.deepEqual(type(events, 'server').map(s => [s.name, s.state]), [['missing', 'failed'], ['silent', 'failed']]);
    const shown = await run(place, ['doctor']);
    assert.match(shown.out, /\n\d+\. missing: [^]*\n {3}-> install the program/);
});

scenario('CL-1 PL-38: doctor shows what is written down and does nothing here', async place => {
    const gated = (name, more) => ({ ...place.peer(name, server()), ...more });
    place.write('symposium/config.toml', '[defaults]\nsymposium-recommendations = false\n\n[plugins]\ndisable = ["no-such"]\nuse = ["absent"]\n\n[[registry]]\nname = "team"\npath = "nowhere"\n');
    place.plugin('p', [gated('srv', { 'disabled-tools': ['bad', 'worse'] }), gated('lib', { 'depends-on': ['serde', 'pip:react'], predicates: ['not(shell(true))'] })]);
    const r = await run(place, ['doctor', '--json']), events = json(r);
    assert.equal(r.code, 1);
    assert.deepEqual(type(events, 'server').map(s => [s.name, s.state]), [['srv', 'ok'], ['lib', 'gated']]);
    assert.equal(type(events, 'server')[1].detail, 'does not hold here: serde or pip:react, and not(shell(true))');
    assert.deepEqual(type(events, 'problem').map(p => p.text), ['[plugins] use: package absent: no package manager here knows it',
        `registry 'team': no directory '${place.path('symposium/nowhere')}'`]);
    assert.deepEqual(type(events, 'note').map(n => n.text), ["[plugins] disable names 'no-such', and there is no such plugin",
        "'pip:react' holds nowhere: no [[package-manager]] named 'pip'", "srv: disabled-tools names 'worse', which is no tool of this server"]);
    assert.equal(place.starts('lib'), 0);
});

scenario('CL-1 PM-8: doctor shows what a package manager found, and why one found nothing', async place => {
    fs.rmSync(place.path('work/package.json'));
    place.write('work/src/lib.rs', '');
    place.write('work/Cargo.toml', '[package]\nname = "app"\nversion = "0.1.0"\n\n[dependencies]\nserde = "1"\n');
    const good = await run(place, ['doctor', '--json']);
    assert.deepEqual([good.code, ...type(json(good), 'package-manager').map(p => [p.name, p.state, p.detail.split(' (')[0]])], [0, ['cargo', 'ok', '1 direct dependency']]);
    place.write('symposium/config.toml', '[[package-manager]]\nname = "cargo"\nexecutable = "/bin/false"\n');
    const bad = await run(place, ['doctor', '--json']);
    assert.equal(bad.code, 1, bad.out);
    assert.equal(type(json(bad), 'package-manager')[0].state, 'failed');
    assert.match(type(json(bad), 'problem')[0].text, /^package manager 'cargo': /);
    assert.match(type(json(bad), 'problem')[0].advice, /\[\[package-manager\]\]/);
});

// --- terminals ----------------------------------------------------------------------------------------------------------
scenario('CL-2: colour is for terminals, and NO_COLOR is honoured', async place => {
    place.peers({ srv: server() });
    await run(place, ['tools']);
    assert.match((await terminal(place, ['tools'])).out, /\u001b\[1msrv:\u001b\[0m/);
    assert.ok(!(await terminal(place, ['tools'], { env: { NO_COLOR: '1' } })).out.includes('\u001b['));
    assert.ok(!(await terminal(place, ['tools'], { env: { TERM: 'dumb' } })).out.includes('\u001b['));
    assert.ok(!(await run(place, ['tools'], { env: { TERM: 'xterm' } })).out.includes('\u001b'));
});

scenario('CL-2: a slow start shows one line on a terminal, erased before the answer; -q shows none', async place => {
    place.peers({ srv: server({ start_delay_ms: 1500 }) });
    const r = await terminal(place, ['call', 'srv.plain']);
    assert.match(r.out, /starting srv \(\d s\)\r\u001b\[K[^\n]*line one\r\n/);
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    assert.ok(!(await terminal(place, ['-q', 'call', 'srv.plain'])).out.includes('starting'));
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    assert.equal((await run(place, ['call', 'srv.plain'])).err, '');
});

scenario('CL-1 WK-8: an interrupt ends command, servers and script, and the shell sees the signal', async place => {
    place.plugin('p', [place.peer('srv', server({ ignore_term: true, ignore_eof: true })), place.peer('shy', { on: { 'server/discover': [], initialize: [] } })]);
    await run(place, ['tools', 'srv']);
    for (const [signal, args, input, arrived] of [
        ['SIGINT', ['call', 'srv.slow'], '', 'srv'], ['SIGTERM', ['exec', '-'], 'await srv.slow({})', 'srv'],
        ['SIGHUP', ['exec', '-'], 'await srv.plain({}); for (;;);', 'srv'], ['SIGINT', ['tools', 'shy'], '', 'shy'], ['SIGINT', ['doctor'], '', 'shy'],
        ['SIGTERM', ['call', 'shy.x'], '', 'shy'],
    ]) {
        const seen = () => (arrived === 'srv' ? place.calls('srv').length : place.starts('shy'));
        const before = seen();
        const r = run(place, args, { input });
        await until('it is under way', () => seen() > before);
        const from = performance.now();
        r.child.kill(signal);
        assert.equal((await r).signal, signal, args.join(' '));
        assert.ok(performance.now() - from < 1500 * slack, args.join(' '));
        await until('nothing survives', () => place.survivors().length === 0);
    }
});

// --- completion ---------------------------------------------------------------------------------------------------------
scenario('CL-2: completion works in bash', async place => {
    const script = `source <(${quote(bin)} completion bash)
        complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _symposium; echo "\${COMPREPLY[*]}"; }
        complete_words symposium 'do'; complete_words symposium --workspace /usr 'to'; complete_words symposium tools --f
        complete_words symposium completion ''; complete_words symposium exec a.; complete_words symposium help c
        complete_words symposium memory --memory-file a.; complete_words symposium filesystem d; complete_words symposium trust -`;
    place.write('work/a.js', '');
    place.write('work/dir/x', '');
    const r = await run(place, ['--norc', '-c', script], { program: 'bash' });
    assert.deepEqual(r.out.split('\n').slice(0, 8),
        ['doctor', 'tools', '--full', 'bash zsh', 'a.js', 'call completion', 'a.js', 'dir'], r.err);
    assert.match(r.out, /--remove --show --yes --workspace/);
});

const zsh = ['/bin/zsh', '/usr/bin/zsh'].find(f => fs.existsSync(f));
scenario('CL-2: completion works in zsh', { skip: zsh ? false : 'no zsh here' }, async place => {
    const script = `zmodload zsh/zpty; zpty z zsh -f -i
        await() { zpty -r z out "$1"; print -r -- $out }
        zpty -w z "PS1=; autoload -Uz compinit; compinit -u -D; source <(${bin} completion zsh); print re''ady"; await '*ready*'
        zpty -w -n z $'symposium \\t\\t'; await '*doctor*show what was found*'
        zpty -w -n z $'\\C-usymposium tools --\\t\\t'; await '*--full*TypeScript declarations*'
        zpty -w -n z $'\\C-usymposium completion \\t\\t'; await '*bash*zsh*'
        zpty -d z`;
    const r = await run(place, ['-f', '-c', script], { program: zsh });
    assert.match(r.out, /doctor +-- show what was found/);
    assert.match(r.out, /--full +-- TypeScript declarations/);
    assert.match(r.out, /bash +zsh/);
});

// --- files and ends -----------------------------------------------------------------------------------------------------
scenario('CF-2: --workspace stands for the directory it is started in', async place => {
    place.peers({ srv: server() });
    place.write('elsewhere/package.json', '{}');
    const r = json(await run(place, ['--workspace', place.path('elsewhere'), '--json', 'doctor'], { cwd: '/' }));
    assert.equal(type(r, 'workspace')[0].name, place.path('elsewhere'));
    const none = await run(place, ['tools', '--workspace', place.path('nowhere')]);
    assert.equal(none.code, 1);
    assert.match(none.err, /nowhere/);
});

scenario('CL-2: output that cannot be written is exit status 1', async place => {
    place.peers({ srv: server() });
    const r = await run(place, ['-c', `${quote(bin)} tools --json >/dev/full`], { program: 'sh' });
    assert.equal(r.code, 1);
    assert.match(r.err, /cannot write to stdout/);
    place.peers({ srv: server({ calls: { plain: [{ bloat: 3_000_000 }] } }) });
    const gone = await run(place, ['-c', `${quote(bin)} call srv.plain | head -c 3`], { program: 'sh' });
    assert.deepEqual([gone.code, gone.out.length, gone.err], [0, 3, ''], 'a reader that went away is told nothing');
});

scenario('CL-2: a closed standard stream is no descriptor for others: stdout fails, stdin is empty, stderr unheard', async place => {
    place.peers({ srv: server() });
    const closed = how => run(place, ['-c', `exec ${quote(bin)} ${how}`], { program: 'sh' });
    const noOut = await closed('call srv.plain >&-');
    assert.deepEqual([noOut.code, /cannot write to stdout/.test(noOut.err)], [1, true], noOut.err);
    assert.deepEqual([(await closed('call srv.plain 2>&-')).out, (await closed('call srv.plain <&-')).out], Array(2).fill('line one\nline two\n'));
    assert.deepEqual([(await closed('call srv.bad 2>&-')).code, (await closed('mcp-serve 2>&-')).code], [1, 0]);
});

scenario('CF-3: with the meta-server disabled the commands say so and doctor notes it', async place => {
    place.config({ mcp: { enabled: false } }).peers({ srv: server() });
    const r = await run(place, ['call', 'srv.plain']);
    assert.equal(r.code, 1);
    assert.match(r.err, /disabled in .*config\.toml/);
    assert.ok(type(json(await run(place, ['doctor', '--json'])), 'note').some(n => n.text.includes('enabled = false')));
});

// --- what the documents say ---------------------------------------------------------------------------------------------
const page = name => fs.readFileSync(path.join(root, 'docs', name), 'utf8');
/** The indented blocks of one section, as one script. */
const blocks = (text, section) => [...text.split(/^## /m).find(s => s.startsWith(section)).matchAll(/^```sh\n([^]*?)^```$/gm)]
    .map(m => m[1]).join('');

scenario('CL-1: the commands of the guide work as written', async place => {
    const shell = script => run(place, ['--norc', '-euc', script], {
        program: 'bash', env: { PATH: `${place.path('bin')}:${process.env.PATH}`, SYMPOSIUM_HOME: undefined },
    });
    fs.mkdirSync(place.path('bin'));
    fs.symlinkSync(bin, place.path('bin/symposium'));
    place.write('work/notes/a.md', 'TODO: rest\n');
    place.write('work/notes/b.md', 'done\n');
    const start = page('guide/getting-started.md');
    const plugin = await shell(blocks(start, '2.'));
    assert.equal(plugin.code, 0, plugin.err);
    const tried = await shell(blocks(start, '3.'));
    assert.equal(tried.code, 0, tried.err);
    assert.match(tried.out, /active +notes[^]*ok +fs +\d+ tools[^]*list_directory - [^]*declare const fs[^]*\[DIR\] notes[^]*\n2\n$/);
    fs.mkdirSync(place.path('home/.claude'));
    place.write('home/.symposium/config.toml', '[defaults]\nsymposium-recommendations = false\n');
    const written = await shell(blocks(start, '4.'));
    assert.equal(written.code, 0, written.err);
    assert.match(written.out, /claude: written .*\.claude\.json: MCP entry added[^]*In sync: 1 server, 0 skills/);
    place.write('work/todos.js', page('guide/scripts.md').split('\n\nSave it')[0].split('\n').filter(l => l.startsWith('    ')).join('\n'));
    const todos = await shell('symposium exec todos.js');
    assert.deepEqual([todos.code, todos.out], [0, '["a.md"]\n'], todos.err);
});

scenario('CL-1: every command in the documents exists, and every one that exists is in the reference', async place => {
    const { out } = await run(place, ['--help']);
    const exists = [...out.matchAll(/^ {2}([a-z][a-z-]+) {2}/gm)].map(m => m[1]).concat('hook');
    for (const name of ['guide/getting-started.md', 'guide/plugins.md', 'guide/writing-a-plugin.md', 'guide/scripts.md', 'guide/troubleshooting.md', 'reference/cli.md'])
        for (const [, command] of page(name).matchAll(/(?:^|`)\s*symposium (?:--?\w+ )*([a-z][a-z-]+)/gm))
            assert.ok(exists.includes(command), `${name}: ${command}`);
    for (const command of exists) assert.match(page('reference/cli.md'), new RegExp(`^## ${command}$`, 'm'));
});

scenario('CL-1: the limits in the reference are constants of the source', async () => {
    const source = ['src', 'pms'].flatMap(d => fs.readdirSync(path.join(root, d), { recursive: true }).filter(f => /\.[ch]$/.test(f))
        .map(f => fs.readFileSync(path.join(root, d, f), 'utf8'))).join('\n');
    for (const [, name] of page('reference/limits.md').matchAll(/`([A-Z][A-Z_]{3,})`/g))
        assert.ok(source.includes(`#define ${name} `), name);
});
