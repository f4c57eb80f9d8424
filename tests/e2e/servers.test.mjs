// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Backing servers: the official ones in both eras, our fakes for what no official one does, and real programs from npm.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { MODERN, T, basic, node, npm, scenario, sanitized, slack, until, sleep } from './harness.mjs';

const FIXTURES = new URL('../fixtures/e2e/', import.meta.url).pathname;
const fixture = (name, ...args) => ({ command: node, args: [`${FIXTURES}${name}`, ...args] });

// --- official servers -----------------------------------------------------------------------------------------------------
const OFFICIAL = [
    ['v2 server, both eras', fixture('server-v2.mjs', 'serve'), true],
    ['v2 server, modern alone', fixture('server-v2.mjs', 'reject'), true],
    ['v1 server', fixture('server-v1.mjs'), false],
];
for (const [what, entry, modern] of OFFICIAL) {
    scenario(`MCP-C1 MCP-C3 MCP-C15: ${what} is listed, called, reported`, async place => {
        place.plugin('p', [{ name: 'srv', ...entry }]);
        const s = await place.open();
        assert.match(await s.list({ servers: ['srv'] }), /add\(params: \{[^]*a: number;[^]*b: number;/);
        const r = await s.execute(`const sum = await srv.add({a: 2, b: 3});
            let why; try { await srv.boom({}) } catch (e) { why = e.message }
            [sum, why, await srv.greet({name: "x"})]`);
        assert.deepEqual(r.value, [{ sum: 5 }, 'srv.boom: it went boom', 'hello x'], r.text);
        const asked = await s.execute('try { await srv.ask({}) } catch (e) { e.message }');
        assert.match(asked.value, modern ? /^srv\.ask: Cannot request input/ : /^srv\.ask: .*-32601/, 'MS-73: we declare nothing');
        await s.eof();
        const again = await place.open();
        assert.deepEqual((await again.execute('(await srv.add({a: 20, b: 22})).sum')).value, 42, 'MCP-C3: with the recorded era');
    });
}

scenario('MCP-C1: server-everything, legacy only, probed and used', async place => {
    place.plugin('p', [{ name: 'everything', command: node, args: [npm('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'] }]);
    const s = await place.open();
    const { value, text } = await s.execute(`const e = await everything.echo({message: "hi"});
        const sum = await everything.get_sum({a: 1, b: 2}); const structured = await everything.get_structured_content({location: "New York"});
        [e, sum, typeof structured.temperature]`);
    assert.deepEqual([value?.[0], value?.[2]], ['Echo: hi', 'number'], text);
    assert.match(value[1], /3/);
});

// --- what the probe meets -----------------------------------------------------------------------------------------------
const probe = steps => ({ on: { 'server/discover': steps } });
const PROBES = {
    'answers -32601': {},
    'answers -32602': probe([{ error: { code: -32602, message: 'Invalid params' } }]),
    'answers -32000': probe([{ error: { code: -32000, message: 'Server error' } }]),
    'answers -32001': probe([{ error: { code: -32001, message: 'Session not found' } }]),
    'answers -32020': probe([{ error: { code: -32020, message: 'Header mismatch' } }]),
    'answers garbage': probe([{ line: 'what?' }, { line: '{"jsonrpc":"2.0","id":$ID,"result":7}' }]),
    'answers an empty result': probe([{ result: {} }]),
    'answers -32022 with legacy versions only': probe([{
        error: { code: -32022, message: 'Unsupported', data: { supported: ['2025-11-25', '2025-06-18'], requested: MODERN } },
    }]),
    'answers a DiscoverResult with legacy versions only': probe([{ result: { supportedVersions: ['2025-11-25'], capabilities: {}, resultType: 'complete', ttlMs: 0, cacheScope: 'private' } }]),
};
for (const [what, script] of Object.entries(PROBES)) {
    scenario(`MCP-C1 MCP-C2: a server that ${what} to the probe is served as a legacy one`, async place => {
        place.peers({ srv: basic(script) });
        const s = await place.open();
        const { value, text } = await s.execute('await srv.echo({text: "x"})');
        assert.deepEqual(value, { text: 'x' }, text);
        assert.deepEqual(place.received('srv').map(m => m.method).slice(0, 4),
            ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'], 'MCP-C15');
        assert.equal(place.starts('srv'), 1, 'probed in place');
    });
}

scenario('MCP-C1 MS-54: a server that exits on the probe is started again, without counting an attempt', async place => {
    place.config({ mcp: { 'max-server-restarts': 0 } });
    place.peers({ srv: basic(probe([{ exit: 3 }])) });
    const s = await place.open();
    const { value, text } = await s.execute('await srv.echo({text: "x"})');
    assert.deepEqual(value, { text: 'x' }, text);
    assert.equal(place.starts('srv'), 2);
    const [, second] = place.pids('srv');
    assert.equal(place.received('srv').find(m => m.pid === second).method, 'initialize');
});

describe('slow probes', { concurrency: 2 }, () => {
    scenario('MCP-C1: a server that is silent on the probe gets initialize after 3 s on the same pipe', async place => {
        place.peers({ srv: basic(probe([])) });
        const s = await place.open();
        const from = performance.now();
        const { value, text } = await s.execute('await srv.echo({text: "x"})');
        assert.deepEqual(value, { text: 'x' }, text);
        assert.ok(performance.now() - from < 3500 * slack);
        assert.equal(place.starts('srv'), 1);
        await s.eof();
        const again = await place.open();
        const then = performance.now();
        await again.execute('await srv.echo({text: "x"})');
        assert.ok(performance.now() - then < 1000 * slack, 'MS-61 MCP-C3: the recorded era skips the probe');
    });

    scenario('MCP-C1 MCP-C2: a slow modern-only server answers the probe after initialize was sent', async place => {
        place.peers({ srv: basic({ era: 'modern', on: { 'server/discover': [{ sleep: 3300 }, { builtin: true }], initialize: [] } }) });
        const s = await place.open();
        const { value, text } = await s.execute('await srv.echo({text: "x"})');
        assert.deepEqual(value, { text: 'x' }, text);
        assert.ok(place.calls('srv')[0].params._meta, 'MCP-C4');
    });
});

scenario('MCP-C2: a modern server that names another modern version is not fallen back from', async place => {
    place.peers({
        srv: basic(probe([{ error: { code: -32022, message: 'Unsupported', data: { supported: ['2099-01-01'], requested: MODERN } } }])),
    });
    const s = await place.open();
    const r = await s.execute('await srv.echo({})');
    assert.equal(r.isError, true);
    assert.ok(!place.received('srv').some(m => m.method === 'initialize'));
});

scenario('MCP-C15: a server of an unknown legacy version is left alone', async place => {
    place.peers({ srv: basic({ versions: ['1999-01-01'] }) });
    const s = await place.open();
    const r = await s.execute('await srv.echo({})');
    assert.equal(r.isError, true);
    assert.match(r.text, /1999-01-01/);
    assert.equal(place.calls('srv').length, 0);
});

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    scenario(`MCP-C15: a server that speaks only ${version} is used in it`, async place => {
        place.peers({ srv: basic({ versions: [version] }) });
        const s = await place.open();
        assert.deepEqual((await s.execute('await srv.echo({text: "x"})')).value, { text: 'x' });
    });
}

// --- both eras in detail ---------------------------------------------------------------------------------------------------
scenario('MCP-C4 MCP-C18 MCP-C20 MS-74: a modern server sees the envelope on each request and one listen', async place => {
    place.peers({ srv: basic({ era: 'modern' }) });
    const s = await place.open();
    await s.execute('await srv.echo({}); await srv.echo({})');
    await until('a listen for tools', () => place.received('srv').some(m => m.method === 'subscriptions/listen'));
    for (const m of place.received('srv').filter(m => m.id !== undefined)) {
        assert.equal(m.params._meta['io.modelcontextprotocol/protocolVersion'], MODERN, m.method);
        assert.deepEqual(m.params._meta['io.modelcontextprotocol/clientCapabilities'], {}, m.method);
        assert.equal(m.params._meta['io.modelcontextprotocol/clientInfo'].name, 'symposium', m.method);
    }
    const listens = place.received('srv').filter(m => m.method === 'subscriptions/listen');
    assert.equal(listens.length, 1);
    assert.equal(listens[0].params.notifications.toolsListChanged, true);
    assert.equal(typeof place.received('srv')[0].id, 'string', 'the probe has a string id');
    assert.deepEqual(place.received('srv').filter(m => !m.method), []);
});

scenario('MS-73 MCP-C6: input_required with a state alone is retried with the exact state, then rounds end', async place => {
    const state = 'é "quoted" \\u0041 ' + 'x'.repeat(50);
    const required = more => [{ result: { resultType: 'input_required', ...more } }];
    place.peers({
        srv: basic({
            era: 'modern', tools: [T('endless'), T('asks'), T('nostate'), T('strange'), T('plain')],
            calls: {
                endless: required({ requestState: state }),
                asks: required({ inputRequests: { k: { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } } } }),
                nostate: required({}),
                strange: [{ result: { resultType: 'novel', content: [] } }],
                plain: [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}' }],
            },
        }),
    });
    const s = await place.open();
    const said = async tool => (await s.execute(`try { await srv.${tool}({a: 1}) } catch (e) { e.message }`)).value;
    assert.match(await said('endless'), /^srv\.endless: /);
    const rounds = place.calls('srv').filter(m => m.params.name === 'endless');
    assert.ok(rounds.length >= 10 && rounds.length <= 11, `${rounds.length} rounds`);
    assert.equal(new Set(rounds.map(m => m.id)).size, rounds.length, 'a new id each time');
    assert.equal(rounds[0].params.requestState, undefined);
    for (const m of rounds.slice(1)) {
        assert.equal(m.params.requestState, state);
        assert.deepEqual(m.params.arguments, { a: 1 });
        assert.equal(m.params._meta['io.modelcontextprotocol/protocolVersion'], MODERN);
    }
    assert.match(await said('asks'), /needs user input/);
    assert.equal(place.calls('srv').filter(m => m.params.name === 'asks').length, 1);
    assert.match(await said('nostate'), /^srv\.nostate: /);
    assert.match(await said('strange'), /^srv\.strange: /, 'MCP-C5: an unknown resultType is invalid');
    assert.equal(await said('plain'), 'fine', 'MCP-C5: an absent one is complete');
    assert.ok(place.calls('srv').filter(m => m.params.name !== 'endless').every(m => !('requestState' in m.params)), 'no leak');
});

scenario('MCP-C7 MS-19: pages are read until no cursor is left, the empty cursor passed on', async place => {
    place.peers({ srv: basic({ page: 2 }), odd: basic() });
    place.peers({
        srv: basic({ page: 2 }),
        odd: basic({
            on: { 'tools/list': [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}}],"nextCursor":""}}' }] },
        }),
    });
    const s = await place.open();
    const text = await s.list({ servers: ['srv', 'odd'], detail: 'signatures' });
    for (const t of ['echo', 'fail', 'hang', 'crash', 'slow', 'big']) assert.match(text, new RegExp(`\\b${t}\\(`));
    assert.match(text, /Problems:[^]*odd: /, 'a repeated cursor ends the list with a problem line');
    const cursors = place.received('odd').filter(m => m.method === 'tools/list').map(m => m.params?.cursor);
    assert.deepEqual(cursors.slice(0, 2), [undefined, '']);
    assert.ok(cursors.length <= 3);
});

scenario('MCP-C9 MCP-C11: late answers, unknown notifications and unsolicited list_changed change nothing', async place => {
    place.peers({
        srv: basic({
            on: { 'notifications/initialized': [{ line: '{"jsonrpc":"2.0","method":"notifications/novel","params":{}}' },
                { line: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' }] },
            calls: { slow: [{ sleep: 1400 }, { text: 'late' }] },
        }),
    }, { srv: { 'tool-call-timeout-secs': 1 } });
    const s = await place.open();
    const r = await s.execute(`let why; try { await srv.slow({}) } catch (e) { why = e.message }
        const now = await srv.echo({text: "now"}); await new Promise(r => setTimeout(r, 600)); [why, now, await srv.echo({text: "then"})]`);
    assert.deepEqual(r.value, ['srv.slow: timed out after 1 s', { text: 'now' }, { text: 'then' }], r.text);
    assert.ok(place.received('srv').some(m => m.method === 'notifications/cancelled'), 'MCP-C12 MS-57');
    assert.equal(place.starts('srv'), 1);
});

scenario('MS-73 MCP-C15 SEC-30: requests of a legacy server are answered by us, never passed on', async place => {
    const ask = (id, method) => ({ line: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}` });
    place.peers({
        srv: basic({
            calls: { echo: [ask(0, 'ping'), ask('"s"', 'roots/list'), ask(2, 'sampling/createMessage'), ask(3, 'elicitation/create'), ask(4, 'x/y'), { sleep: 100 }, { echo: true }] },
        }),
    });
    const s = await place.open();
    assert.deepEqual((await s.execute('await srv.echo({text: "x"})')).value, { text: 'x' });
    await until('five answers', () => place.received('srv').filter(m => !m.method).length === 5);
    const answers = Object.fromEntries(place.received('srv').filter(m => !m.method).map(m => [m.id, m]));
    assert.deepEqual(answers[0].result, {});
    for (const id of ['s', 2, 3, 4]) assert.equal(answers[id].error.code, -32601);
    const init = place.received('srv').find(m => m.method === 'initialize');
    assert.deepEqual(init.params.capabilities, {}, 'no client capabilities are declared');
});

// --- real programs ------------------------------------------------------------------------------------------------------------
const real = (name, file, args = [], more = {}) => ({ name, command: node, args: [npm(file), ...args], ...more });
scenario('real servers from npm do real work through one script', { timeout: 60000 * slack }, async place => {
    place.write('work/notes/a.txt', 'first\nTODO one\n');
    place.write('work/notes/b.txt', 'nothing\n');
    place.config({ mcp: { 'server-startup-timeout-secs': sanitized ? 60 : 30 } });
    place.plugin('real', [
        real('files', '@modelcontextprotocol/server-filesystem/dist/index.js', ['notes']),
        real('memory', '@modelcontextprotocol/server-memory/dist/index.js', [], { env: { MEMORY_FILE_PATH: place.path('memory.jsonl') } }),
        real('thinking', '@modelcontextprotocol/server-sequential-thinking/dist/index.js', [], { env: { DISABLE_THOUGHT_LOGGING: 'true' } }),
    ]);
    const s = await place.open();
    const r = await s.execute(`
        const dir = ${JSON.stringify(place.path('work/notes'))};
        const listing = await files.list_directory({path: dir});
        const names = [...JSON.stringify(listing).matchAll(/[a-z]\\.txt/g)].map(m => m[0]);
        const texts = await Promise.all(names.map(n => files.read_text_file({path: dir + '/' + n})));
        const todo = names.filter((n, i) => JSON.stringify(texts[i]).includes('TODO'));
        await memory.create_entities({entities: [{name: 'N', entityType: 't', observations: todo}]});
        const graph = await memory.read_graph({});
        const thought = await thinking.sequentialthinking({thought: 'x', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1});
        return {todo, entity: graph.entities[0], n: thought.thoughtNumber};`, { ms: 60000 });
    assert.deepEqual(r.value, { todo: ['a.txt'], entity: { name: 'N', entityType: 't', observations: ['a.txt'] }, n: 1 }, r.text);
});
