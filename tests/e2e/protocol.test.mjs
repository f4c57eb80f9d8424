// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The wire, by hand: what the official clients never send, in all five revisions. That each line we write is valid in its
// revision is checked when a session ends (harness.mjs).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { LEGACY, META, MODERN, Place, T, basic, scenario, slack, sleep, until } from './harness.mjs';
import { haveSchemas, problem, schemaDir } from './schema.mjs';

const code = (m, expected, what) => {
    assert.equal(m.error?.code, expected, `${what}: ${JSON.stringify(m)}`);
    return m.error;
};
const hello = (revision, id = 1) => ({
    jsonrpc: '2.0', id, method: 'initialize',
    params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'e2e', version: '1' } },
});
const noId = (s, from) => s.messages.slice(from).map(x => x.m).filter(m => m.id === undefined && m.error);

test('the official schemas are at hand and bite', { skip: haveSchemas ? false : `${schemaDir} is absent` }, () => {
    const examples = path.join(schemaDir, 'examples');
    let n = 0;
    for (const name of fs.readdirSync(examples)) {
        for (const f of fs.readdirSync(path.join(examples, name)).filter(f => f.endsWith('.json'))) {
            assert.equal(problem(MODERN, name, JSON.parse(fs.readFileSync(path.join(examples, name, f)))), undefined, f);
            n++;
        }
    }
    assert.ok(n > 80);
    for (const r of [...LEGACY, MODERN]) assert.ok(problem(r, 'ListToolsResult', { tools: [{ name: 1 }] }));
});

for (const revision of LEGACY) {
    scenario(`MCP-L1 MCP-L3 MCP-L4 MCP-L7 MS-4 MS-5 MS-6: the handshake and what follows in ${revision}`, async place => {
        place.peers({ alpha: basic() });
        const s = place.session();
        s.revision = revision;
        const init = (await s.request('initialize', hello(revision).params)).result;
        assert.equal(init.protocolVersion, revision);
        assert.equal(init.serverInfo.name, 'symposium');
        assert.equal(init.capabilities.tools.listChanged, true);
        assert.deepEqual(init.capabilities.resources, {});
        assert.match(init.instructions, /list_tools[^]*execute/);
        s.notify('notifications/initialized');
        assert.deepEqual(await s.result('ping'), {});

        const { tools } = await s.result('tools/list');
        assert.deepEqual(tools.map(t => t.name), ['list_tools', 'execute']);
        for (const t of tools) {
            assert.match(t.name, /^[A-Za-z0-9_-]{1,64}$/, 'MCP-S15');
            assert.equal('annotations' in t, revision >= '2025-03-26', `annotations in ${revision} (MCP-L4)`);
            for (const later of ['title', 'outputSchema', '_meta'])
                assert.ok(revision >= '2025-06-18' || !(later in t), `${later} in ${revision}`);
            assert.ok(revision >= '2025-11-25' || !('icons' in t));
        }
        if (revision >= '2025-03-26') {
            const [list, execute] = tools.map(t => t.annotations);
            assert.equal(list.readOnlyHint, true);
            assert.equal(list.openWorldHint, false);
            assert.equal(execute.readOnlyHint, false);
            assert.equal(execute.destructiveHint, true);
            assert.equal(execute.openWorldHint, true);
        }
        assert.deepEqual(await s.result('tools/list'), { tools }, 'MCP-S14: the same order each time');

        assert.equal((await s.execute('1 + 1')).value, 2);
        const { content } = await s.tool('execute', { script: 'await alpha.echo({text: "x"})' });
        assert.ok(Array.isArray(content), 'MCP-S7');
        assert.deepEqual((await s.result('resources/list')).resources, []);
        const { resourceTemplates } = await s.result('resources/templates/list');
        assert.equal(resourceTemplates[0].uriTemplate, 'symposium://results/{id}', 'MS-68');
        code(await s.request('resources/read', { uri: 'symposium://results/0' }), -32002, 'MCP-L7');
        code(await s.request('no/such'), -32601, 'MCP-S4');
        code(await s.request('prompts/list'), -32601, 'not advertised');
        code(await s.request('logging/setLevel', { level: 'info' }), -32601, 'not advertised');
    });
}

scenario('MCP-L1 MCP-L2: an unknown or modern version in initialize is answered with our latest legacy one', async place => {
    for (const [asked, answers] of [['1999-01-01', ['2025-11-25']], [MODERN, ['2025-11-25']], ['9999-12-31', ['2025-11-25']],
        ['2024-10-07', ['2024-10-07', '2024-11-05']]]) {
        const s = place.session();
        s.revision = '2025-11-25';
        const r = await s.request('initialize', hello(asked).params);
        assert.ok(answers.includes(r.result?.protocolVersion), `${asked}: ${JSON.stringify(r)}`);
        await s.close();
    }
});

scenario('MCP-S3 MCP-S4 MCP-S5 MCP-S6 MCP-S8: malformed lines, unknown messages, ids, notifications', async place => {
    const s = await place.open();
    const from = s.messages.length;
    s.raw('{"jsonrpc":"2.0","id":1,"method":');
    s.child.stdin.write(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d, 0x0a]));
    await until('two parse errors', () => noId(s, from).length === 2);
    for (const m of noId(s, from)) assert.equal(m.error.code, -32700);

    const bad = ['42', '"text"', '{}', '{"jsonrpc":"2.0"}', '{"id":5,"method":"ping"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}',
        '{"jsonrpc":"2.0","id":6,"method":7}'];
    bad.forEach(l => s.raw(l));
    await until('each invalid request is answered', () => s.messages.slice(from).filter(x => x.m.error?.code === -32600).length === bad.length);

    s.raw(`{"jsonrpc":"2.0","id":"deep","method":"ping","params":${'['.repeat(100000)}${']'.repeat(100000)}}`);
    await until('an answer to a line nested too deeply', () => s.messages.slice(from + 2 + bad.length).some(x => [-32700, -32600].includes(x.m.error?.code)));
    await s.ping();

    const before = s.messages.length;
    s.raw('');
    s.child.stdin.write('\r\n');
    s.notify('notifications/whatever', { a: 1 });
    s.notify('tools/list');
    s.notify('tools/call', { name: 'execute', arguments: { script: '1' } });
    s.notify('notifications/cancelled', { requestId: 'nobody' });
    s.raw('{"jsonrpc":"2.0","id":77,"result":{}}');
    s.raw('{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}');
    s.child.stdin.write('{"jsonrpc":"2.0","id":"crlf","method":"ping"}\r\n');
    await until('answer to the request after them', () => s.messages.some(x => x.m.id === 'crlf'));
    await s.ping();
    assert.equal(s.messages.length, before + 2, 'only the two requests were answered');

    s.revision = '2025-11-25';
    for (const id of ['"1"', '"x y"', '0', '-7', '31.0', '9007199254740993', '""']) {
        s.raw(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
        await until(`id ${id} comes back as it was`, () => s.messages.some(x => x.text.includes(`"id":${id},`) || x.text.includes(`"id":${id}}`)));
    }
    s.messages.forEach(x => { x.asked ??= { method: 'ping', revision: '2025-11-25' }; });
    assert.equal((await s.result('tools/call', { name: 'list_tools' })).isError ?? false, false, 'MCP-S8: absent arguments');
});

scenario('MCP-S1 MCP-S3: a thousand requests in one write, and one a byte at a time, are all answered', async place => {
    place.peers({ alpha: basic() });
    const s = await place.open();
    const ids = Array.from({ length: 1000 }, (_, i) => `n${i}`);
    ids.forEach(id => s.asked.set(JSON.stringify(id), { method: 'ping', revision: s.revision }));
    s.child.stdin.write(ids.map(id => `{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`).join(''));
    await until('all of them', () => ids.every(id => s.messages.some(x => x.m.id === id)) || undefined, 5000);
    s.child.stdin.setDefaultEncoding('utf8');
    s.asked.set('"slowly"', { method: 'tools/call', revision: s.revision });
    for (const b of Buffer.from('{"jsonrpc":"2.0","id":"slowly","method":"tools/call","params":{"name":"execute","arguments":{"script":"\'é€😀\'.length"}}}\n')) {
        s.child.stdin.write(Buffer.from([b]));
        await new Promise(setImmediate);
    }
    const m = await s.waitFor('its answer', x => x.id === 'slowly');
    assert.equal(m.result.content[0].text, '4');
});

scenario('MCP-S3: a line over 16 MiB is answered without id, and the next one is served', async place => {
    const s = await place.open();
    s.child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(17 << 20)}"}}\n`);
    await until('-32600 for the long line', () => s.messages.some(x => x.m.error?.code === -32600 && x.m.id === undefined), 5000);
    await s.ping();
    assert.ok(s.rss() < (64 << 20) * (slack >= 10 ? 8 : 1));
});

scenario('MS-7 MCP-S9: unknown tools and wrong arguments are errors that name the cure', async place => {
    place.peers({ alpha: basic() });
    for (const revision of ['2025-11-25', MODERN]) {
        const s = await place.open({ revision });
        const call = (name, args) => s.request('tools/call', { name, arguments: args });
        const unknown = code(await call('nope', {}), -32602, 'unknown tool');
        assert.match(unknown.message, /list_tools/);
        assert.match(unknown.message, /execute/);
        assert.match(code(await call('execute', {}), -32602, 'no script').message, /script/);
        assert.match(code(await call('execute', { script: 7 }), -32602, 'script is a number').message, /script/);
        for (const [key, value] of [['servers', 'x'], ['servers', [1]], ['tools', {}], ['pattern', 3], ['query', []], ['limit', 'x']])
            assert.match(code(await call('list_tools', { [key]: value }), -32602, key).message, new RegExp(key));
        assert.notEqual((await s.result('tools/call', { name: 'list_tools', arguments: { whatever: 1 } })).isError, true);
        assert.equal((await s.execute('3', { extra: {} })).value, 3);
        assert.equal((await s.tool('execute', { script: '4', unknown: true })).content[0].text, '4');
        code(await s.request('tools/call', {}), -32602, 'no name');
    }
});

scenario('MCP-S11: an invalid cursor is refused, the empty one too', async place => {
    const s = await place.open();
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list'])
        for (const cursor of ['zzz', ''])
            code(await s.request(method, { cursor }), -32602, `${method} ${JSON.stringify(cursor)}`);
});

// --- batches ------------------------------------------------------------------------------------------------------------
const batch = [{ jsonrpc: '2.0', id: 'b1', method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/x' },
    { jsonrpc: '2.0', id: 'b2', method: 'tools/list' }];
const expect = (s, m) => { s.asked.set(JSON.stringify(m.id), { method: m.method, revision: s.revision }); };

scenario('MCP-L6: batches are served in 2025-03-26', async place => {
    const s = await place.open({ revision: '2025-03-26' });
    batch.filter(m => m.id).forEach(m => expect(s, m));
    s.raw(JSON.stringify(batch));
    await until('both answers', () => ['b1', 'b2'].every(id => s.messages.some(x => x.m.id === id && x.m.result)));
    const from = s.messages.length;
    s.raw('[]');
    await until('an empty batch is one error', () => noId(s, from).length === 1);
    assert.equal(noId(s, from)[0].error.code, -32600);
    s.raw(JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/x' }, { jsonrpc: '2.0', id: 5, result: {} }]));
    const slow = { jsonrpc: '2.0', id: 'b3', method: 'tools/call', params: { name: 'list_tools' } };
    expect(s, slow);
    s.raw(JSON.stringify([slow]));
    await until('a batch of one', () => s.messages.some(x => x.m.id === 'b3'));
    assert.equal(s.messages.length, from + 2, 'a batch of notifications has no answer');
});

for (const revision of [...LEGACY.filter(r => r !== '2025-03-26'), MODERN]) {
    scenario(`MCP-L6: batches are refused in ${revision}`, async place => {
        const s = await place.open({ revision });
        await s.ping();
        const from = s.messages.length;
        s.raw(JSON.stringify(batch));
        await until('-32600', () => s.messages.slice(from).some(x => x.m.error?.code === -32600));
        await s.ping();
        assert.equal(s.messages.length, from + 2, 'and nothing of it is served');
    });
}

// --- modern -------------------------------------------------------------------------------------------------------------
scenario('MCP-M1 MCP-M5 MCP-M6 MS-4 MS-5: discover and the cacheable results', async place => {
    place.peers({ alpha: basic() });
    const s = await place.open({ revision: MODERN });
    const d = await s.result('server/discover');
    assert.deepEqual(d.supportedVersions, [MODERN]);
    assert.equal(d.capabilities.tools.listChanged, true);
    assert.match(d.instructions, /list_tools[^]*execute/);
    assert.equal(d._meta['io.modelcontextprotocol/serverInfo'].name, 'symposium');
    assert.ok(!('serverInfo' in d) && !('protocolVersion' in d));
    const big = await s.execute('"y".repeat(100000)');
    const uri = /symposium:\/\/results\/[0-9a-f]{32,}/.exec(big.text)?.[0];
    assert.ok(uri, 'MS-39: a note with the resource');
    const scopes = new Set();
    for (const [method, params] of [['server/discover'], ['tools/list'], ['resources/list'], ['resources/templates/list'],
        ['resources/read', { uri }]]) {
        const r = await s.result(method, params);
        assert.equal(r.resultType, 'complete');
        assert.equal(r.ttlMs, 0, method);
        assert.equal(r.cacheScope, 'private', method);
        assert.equal(r._meta?.['io.modelcontextprotocol/serverInfo']?.name, 'symposium', method);
        scopes.add(r.cacheScope);
    }
    const read = await s.result('resources/read', { uri });
    assert.equal(JSON.parse(read.contents[0].text).length, 100000, 'MS-68: the whole value');
    assert.equal(read.contents[0].mimeType, 'application/json');
    const missing = code(await s.request('resources/read', { uri: 'symposium://results/none' }), -32602, 'MCP-M15');
    assert.equal(missing.data?.uri, 'symposium://results/none');
});

scenario('MCP-M2: any modern request may come first, discover never', async place => {
    for (const [method, params] of [['tools/list'], ['tools/call', { name: 'execute', arguments: { script: '5' } }], ['resources/list']]) {
        const s = await place.open({ revision: MODERN });
        assert.equal((await s.result(method, params)).resultType, 'complete');
        await s.close();
    }
});

scenario('MCP-M3 MCP-M4: the envelope is demanded, clientInfo is not', async place => {
    const s = await place.open({ revision: MODERN });
    const ask = (_meta, method = 'tools/list') => s.send({ id: s.next++, method, params: { _meta } });
    const { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': caps } = META;
    const keys = { version: 'io.modelcontextprotocol/protocolVersion', caps: 'io.modelcontextprotocol/clientCapabilities' };
    assert.ok((await ask({ [keys.version]: version, [keys.caps]: caps })).result, 'clientInfo missing');
    for (const broken of [{ [keys.version]: version }, { [keys.version]: version, [keys.caps]: 7 }, { [keys.version]: version, [keys.caps]: [] },
        { [keys.version]: 7, [keys.caps]: {} }, { [keys.version]: null, [keys.caps]: {} }])
        code(await ask(broken), -32602, JSON.stringify(broken));
    for (const method of ['server/discover', 'subscriptions/listen'])
        assert.match(code(await s.send({ id: s.next++, method, params: {} }), -32602, method).message, /io\.modelcontextprotocol\/protocolVersion/);
    code(await s.send({ id: s.next++, method: 'tools/list' }), -32602, 'after modern requests only, the claim is missed');
    for (const requested of ['2025-11-25', '1999-01-01', '2027-01-01', '']) {
        const { data } = code(await ask({ ...META, [keys.version]: requested }), -32022, requested);
        assert.deepEqual(data, { supported: [MODERN], requested });
    }
});

scenario('MCP-M7 MCP-M11 MCP-M13 MCP-M15: methods and codes of the other era do not exist', async place => {
    const s = await place.open({ revision: MODERN });
    for (const [method, params] of [['initialize', hello('2025-11-25').params], ['ping'], ['logging/setLevel', { level: 'debug' }],
        ['resources/subscribe', { uri: 'a:b' }], ['resources/unsubscribe', { uri: 'a:b' }], ['roots/list'], ['prompts/list']])
        code(await s.request(method, params), -32601, method);
    await s.request('tools/list', { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } });
    assert.deepEqual(s.notifications('notifications/message'), []);
});

scenario('MCP-M16 MCP-M17: both eras on one pipe, no state between modern requests', async place => {
    const s = await place.open({ revision: MODERN });
    const caps = c => ({ _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': c } });
    const [a, b] = await Promise.all([s.result('tools/list', caps({ sampling: {}, elicitation: {} })), s.result('tools/list', caps({}))]);
    assert.deepEqual(a, b);
    await s.result('server/discover');
    s.revision = '2025-06-18';
    assert.equal((await s.send(hello('2025-06-18', 'i'))).result.protocolVersion, '2025-06-18');
    s.notify('notifications/initialized');
    assert.ok((await s.request('tools/list')).result);
    assert.equal((await s.request('server/discover', {}, { modern: true })).result.resultType, 'complete');
    assert.deepEqual(await s.result('ping'), {});
});

scenario('MCP-M17: requests before any handshake are served as the latest legacy revision', async place => {
    const s = place.session();
    s.revision = '2025-11-25';
    s.raw('{"jsonrpc":"2.0","id":"r","result":{}}');
    assert.equal((await s.result('tools/list')).tools.length, 2);
    assert.deepEqual(await s.result('ping'), {});
});

scenario('MCP-M12 MS-75: listen acknowledges, filters, tags, runs several at once, and stops silently', async place => {
    place.peers({ alpha: basic() });
    const s = await place.open({ revision: MODERN });
    const listen = (id, notifications) => { s.send({ id, method: 'subscriptions/listen', params: { notifications, _meta: META } }); };
    const tag = m => m.params?._meta?.['io.modelcontextprotocol/subscriptionId'];
    const ack = id => s.waitFor(`ack of ${id}`, m => m.method === 'notifications/subscriptions/acknowledged' && tag(m) === id);
    listen('listen:0', { toolsListChanged: true, promptsListChanged: true });
    listen(41, { toolsListChanged: true });
    listen('other', { resourcesListChanged: true });
    assert.deepEqual((await ack('listen:0')).params.notifications, { toolsListChanged: true }, 'what we cannot send is left out');
    assert.deepEqual((await ack(41)).params.notifications, { toolsListChanged: true });
    await ack('other');
    await s.ping();
    await s.result('tools/list');

    const first = s.messages.length;
    place.plugin('more', [place.peer('beta')]);
    await s.result('tools/list');
    const changed = id => s.messages.slice(first).filter(x => x.m.method === 'notifications/tools/list_changed' && tag(x.m) === id).length;
    await until('one copy for each that asked', () => changed('listen:0') === 1 && changed(41) === 1, 3000);
    assert.equal(changed('other') + changed(undefined), 0);

    s.notify('notifications/cancelled', { requestId: 41, _meta: META });
    await s.ping();
    await sleep(1000);          // at most one list_changed a second (MS-75)
    place.plugin('most', [place.peer('gamma')]);
    await s.result('tools/list');
    await until('the one that is left hears of it', () => changed('listen:0') === 2, 3000);
    assert.equal(changed(41), 1);
    assert.ok(!s.messages.some(x => x.m.id === 41), 'no answer to a cancelled listen');

    s.child.stdin.end();
    const closing = await s.waitFor('closing result', m => m.id === 'listen:0' && m.result);
    assert.equal(closing.result._meta['io.modelcontextprotocol/subscriptionId'], 'listen:0', 'MS-3');
});

// --- start and end ------------------------------------------------------------------------------------------------------
scenario('MS-1 MCP-S1: with --verbose stdout still holds nothing but messages', async place => {
    place.peers({ alpha: basic() });
    const s = await place.open({ args: ['mcp-serve', '--verbose'] });
    assert.equal((await s.execute('await alpha.echo({text: "a"})')).isError, false);
    await s.list();
});

describe('MS-3 MCP-S2: the end of input', { concurrency: 2 }, () => {
    scenario('MS-3: handshake, tools/list and end of input give exactly two lines and exit status 0', async place => {
        const s = place.session();
        s.revision = '2025-11-25';
        s.child.stdin.write(`${JSON.stringify(hello('2025-11-25'))}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`
            + '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n');
        expect(s, { id: 1, method: 'initialize' });
        expect(s, { id: 2, method: 'tools/list' });
        assert.equal((await s.eof()).code, 0);
        await s.closed;
        assert.deepEqual(s.stdout.trim().split('\n').map(l => JSON.parse(l).id), [1, 2]);
    });

    scenario('MS-3: idle, the exit takes at most 100 ms', async place => {
        for (const revision of ['2025-11-25', MODERN]) {
            const s = await place.open({ revision });
            await s.result('tools/list');
            const { code: status, ms } = await s.eof();
            assert.equal(status, 0);
            assert.ok(ms <= 100 * slack, `${ms} ms`);
        }
    });

    scenario('MS-3: what was accepted is answered after the end of input', async place => {
        place.peers({ alpha: basic() });
        const s = await place.open();
        await s.execute('await alpha.echo({})');
        const scripts = [s.execute('await alpha.slow({text: "late"})'), s.execute('await new Promise(r => setTimeout(r, 300)); 7')];
        const list = s.list({ query: 'echo' });
        await sleep(20);
        s.child.stdin.end();
        assert.deepEqual((await scripts[0]).value, { text: 'late' });
        assert.equal((await scripts[1]).value, 7);
        await list;
        assert.equal((await s.exited).code, 0);
    });

    scenario('MS-3: with stdout closed as well, everything is cancelled at once', async place => {
        place.peers({ alpha: basic() });
        const s = await place.open();
        await s.execute('await alpha.echo({})');
        s.send({ id: 'x', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await alpha.hang({})' } } });
        await until('the call is in flight', () => place.calls('alpha').length === 2);
        s.child.stdout.destroy();
        const { ms } = await s.eof();
        assert.ok(ms <= 1500 * slack, `${ms} ms`);
    });

    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
        scenario(`MS-3 MS-58: ${signal} cancels everything and ends us within 1.5 s`, async place => {
            place.peers({ alpha: basic(), stubborn: basic({ ignore_term: true, ignore_eof: true }) });
            const s = await place.open();
            await s.execute('await Promise.all([alpha.echo({}), stubborn.echo({})])');
            s.send({ id: 'x', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await alpha.hang({})' } } });
            s.send({ id: 'y', method: 'tools/call', params: { name: 'execute', arguments: { script: 'for (;;);' } } });
            await until('the call is in flight', () => place.calls('alpha').length === 2);
            const { ms } = await s.kill(signal);
            assert.ok(ms <= 1500 * (slack / 2), `${ms} ms`);
        });
    }
});

scenario('MS-2 MCP-S2: a discover probe, killed, leaves nothing and started nothing', async place => {
    place.peers({ alpha: basic() });
    const files = () => fs.readdirSync(place.dir, { recursive: true }).sort();
    const before = files();
    const s = await place.open({ revision: MODERN });
    await s.result('server/discover');
    assert.deepEqual(s.tree(), [], 'no worker is kept warm for a probe');
    s.child.kill('SIGKILL');
    await s.exited;
    s.exit.code = null;
    assert.deepEqual(files(), before, 'nothing was written');
    assert.equal(place.starts('alpha'), 0);
    const t = await place.open({ revision: MODERN });
    await t.result('tools/list');
    await until('a worker is ready after a real request', () => t.children().length > 0);
});

scenario('MCP-S13 MCP-S12: a cancelled request has no answer; initialize cannot be cancelled', async place => {
    place.peers({ alpha: basic() });
    const s = place.session();
    s.revision = '2025-11-25';
    s.child.stdin.write(`${JSON.stringify(hello('2025-11-25', 'i'))}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i"}}\n`);
    expect(s, { id: 'i', method: 'initialize' });
    await s.waitFor('answer to initialize', m => m.id === 'i');
    s.notify('notifications/initialized');
    s.send({ id: 'c', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await new Promise(r => setTimeout(r, 200))' } } });
    await sleep(50);
    s.notify('notifications/cancelled', { requestId: 'c', reason: 'enough' });
    await sleep(400);
    await s.ping();
    assert.ok(!s.messages.some(x => x.m.id === 'c'));
});

scenario('MS-9: our own tools/list is small and grows by the length of a name and 2', async place => {
    const bytes = async () => {
        const s = await place.open();
        const at = s.messages.length;
        const { tools } = await s.result('tools/list');
        const n = Buffer.byteLength(s.messages[at].text);
        await s.close();
        return { n, tools, execute: tools[1].description, list: tools[0].description };
    };
    const none = await bytes();
    assert.ok(none.n <= 1500, `${none.n} bytes`);
    assert.match(none.execute, /no servers apply/i);
    const name = i => `server-number-${String(i).padStart(3, '0')}`;
    const use = n => place.plugin('many', Array.from({ length: n }, (_, i) => ({ name: name(i), command: 'true' })));
    use(1);
    const one = await bytes();
    assert.match(one.execute, /Servers in scope: server[-_]number[-_]000\./);
    use(2);
    const two = await bytes();
    use(9);     // the number in the other description has one digit in both
    const nine = await bytes();
    assert.ok(nine.n - two.n <= 7 * (name(0).length + 2), `${two.n} -> ${nine.n}`);
    assert.match(nine.list, /\b9\b/);
    assert.doesNotMatch(nine.list, /server[-_]number/);
    use(300);
    const many = await bytes();
    for (const t of many.tools) assert.ok([...t.description].length <= 2000);
    assert.match(many.execute.slice(-200), /list_tools/);
});
