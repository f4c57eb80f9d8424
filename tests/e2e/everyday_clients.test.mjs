// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The official clients drive every tool of every everyday server: v1 SDK, v2 SDK (legacy, auto, pinned), and the inspector's
// command line in both eras. The SDKs check each result against the tool's output schema themselves. The inspector is a process of
// Node for each call: of the release build each era drives every second tool; all of them and the other builds are slow (TEST_SLOW).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from 'node:test';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Place, bin, node, npm, sanitized, slack, until } from './harness.mjs';
import { MODES, connect } from './sdk.mjs';
import { SERVERS } from './everyday.mjs';

const execute = promisify(execFile);
const slow = Boolean(process.env.TEST_SLOW);
const elsewhere = sanitized && !slow && 'the release build does: here only with --slow';
const inspector = npm('@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** `open(mode)` gives a client that is closed at the end, whatever happens. */
async function withServer(name, body) {
    const place = new Place(), clients = [];
    let failed;
    try {
        const server = { command: bin, args: [name, ...await SERVERS[name].prepare(place)], env: place.env(), cwd: place.workspace };
        await body(place, async (mode, more) => {
            clients.push(await connect(mode, server, more));
            return clients.at(-1);
        }, server);
    } catch (e) { failed = e; }
    for (const c of clients) await c.close().catch(() => {});
    try { await place.close(); } catch (e) { failed ??= e; }
    if (failed) throw failed;
}

for (const [name, server] of Object.entries(SERVERS)) {
    for (const mode of MODES) {
        test(`SV-10 SV-19: the official client ${mode} drives every tool of ${name}`, () => withServer(name, async (place, open) => {
            const client = await open(mode);
            const { tools } = await client.listTools();
            const calls = server.calls(place);
            assert.deepEqual(tools.map(t => t.name).sort(), calls.map(c => c[0]).sort());
            for (const [tool, args] of calls) {
                const r = await client.callTool({ name: tool, arguments: args });
                assert.notEqual(r.isError, true, `${tool}: ${r.content[0]?.text}`);
                assert.equal(r.structuredContent !== undefined, tools.find(t => t.name === tool).outputSchema !== undefined, tool);
            }
            if (server.bad) {
                const r = await client.callTool({ name: server.bad.tool, arguments: server.bad.args });
                assert.equal(r.isError, true);
            }
            if (server.prompt) {
                assert.deepEqual((await client.listPrompts()).prompts.map(p => p.name), ['fetch']);
                assert.match((await client.getPrompt(server.prompt(place))).messages[0].content.text, /ours/);
            }
            if (server.resource) {
                assert.deepEqual((await client.listResources()).resources.map(r => r.uri), [server.resource]);
                assert.match((await client.readResource({ uri: server.resource })).contents[0].text, /"entities"/);
            }
        }));
    }

    for (const era of ['legacy', 'modern']) {
        test(`SV-10: the inspector's command line drives ${slow ? 'every' : 'every second'} tool of ${name}, era ${era}`, { skip: elsewhere }, () => withServer(name, async (place, open, started) => {
            const config = place.write('mcp.json', JSON.stringify({ mcpServers: { us: { ...started, protocolEra: era } } }));
            const env = { ...process.env, HOME: place.path('home'), MCP_INSPECTOR_SECRET_STORE: 'memory' };
            const ask = async (...args) => {
                const { stdout } = await execute(node, [inspector, '--cli', '--config', config, '--server', 'us', '--format', 'json', ...args],
                    { env, cwd: place.workspace, timeout: 30000 * slack });
                return JSON.parse(stdout).result;
            };
            const calls = server.calls(place);
            assert.deepEqual((await ask('--method', 'tools/list')).tools.map(t => t.name).sort(), calls.map(c => c[0]).sort());
            const other = await open('v1');     // who makes the calls between, which later ones build on
            for (const [i, [tool, args]] of calls.entries()) {
                const mine = slow || calls.length === 1 || i % 2 === Number(era === 'modern');
                const r = mine ? await ask('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args))
                    : await other.callTool({ name: tool, arguments: args });
                assert.notEqual(r.isError, true, `${tool}: ${JSON.stringify(r).slice(0, 300)}`);
            }
        }));
    }
}

test('ME-24: the v1 client subscribes to the graph and is told of a change', () => withServer('memory', async (place, open) => {
    const client = await open('v1'), seen = [], uri = SERVERS.memory.resource;
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, n => { seen.push(n.params.uri); });
    await client.subscribeResource({ uri });
    const [tool, args] = SERVERS.memory.calls()[0];
    await client.callTool({ name: tool, arguments: args });
    await until('it is told', () => seen.length === 1);
    await client.unsubscribeResource({ uri });
    assert.deepEqual(seen, [uri]);
}));

test('ME-24: the pinned v2 client listens to the graph and is told of a change', () => withServer('memory', async (place, open) => {
    const client = await open('v2-pinned'), seen = [], uri = SERVERS.memory.resource;
    client.setNotificationHandler('notifications/resources/updated', n => { seen.push(n.params.uri); });
    const listen = await client.listen({ resourceSubscriptions: [uri] });
    const [tool, args] = SERVERS.memory.calls()[0];
    await client.callTool({ name: tool, arguments: args });
    await until('it is told', () => seen.length === 1);
    await listen.close();
    assert.deepEqual(seen, [uri]);
}));

test('SV-30 FS-3 FS-4: the largest answers leave the session of the clients alive, and so does one byte too much', () => withServer('filesystem', async (place, open, server) => {
    const root = server.args.at(-1), file = (name, bytes) => { const p = path.join(root, name); fs.writeFileSync(p, bytes); return { path: p }; };
    const TEXT = 4.5 * 1024 * 1024, MEDIA = 3.5 * 1024 * 1024;
    const fits = file('fits.txt', 'x'.repeat(TEXT)), over = file('over.txt', 'x'.repeat(TEXT + 1));
    const escaped = file('escaped.txt', '\t'.repeat(TEXT)), picture = file('p.png', Buffer.alloc(MEDIA)), large = file('l.png', Buffer.alloc(MEDIA + 1));
    for (const mode of ['v1', 'v2-pinned']) {
        const client = await open(mode), call = (name, args) => client.callTool({ name, arguments: args });
        const all = [await call('read_text_file', fits), await call('read_media_file', picture)];
        assert.equal(all[0].structuredContent.content.length, TEXT);
        assert.equal(Buffer.from(all[1].content[0].data, 'base64').length, MEDIA);
        for (const [name, args, why] of [
            ['read_text_file', over, /it has 4718593 bytes, more than 4718592; read it in parts, with head or tail/],
            ['read_text_file', escaped, /more than \d+ bytes, an answer at most 9961472\. To get it in parts: use head or tail/],
            ['read_media_file', large, /it has 3670017 bytes, more than 3670016; use a smaller file/],
        ]) {
            const r = await call(name, args);
            assert.equal(r.isError, true);
            assert.match(r.content[0].text, why);
        }
        const both = await Promise.all([call('read_text_file', fits), call('read_text_file', fits), call('read_media_file', picture)]);
        assert.ok(both.every(r => !r.isError), 'several behind each other');
        assert.match((await call('list_allowed_directories', {})).content[0].text, /^Allowed/);
    }
}));
