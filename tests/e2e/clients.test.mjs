// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The official clients in all their modes: v1 SDK, v2 SDK (legacy, auto, pinned, and each legacy revision alone), inspector.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { LEGACY, Place, basic, bin, node, npm, sleep, slack, until } from './harness.mjs';
import { MODES, connect } from './sdk.mjs';

const run = promisify(execFile);
const serve = place => ({ command: bin, args: ['mcp-serve'], env: place.env(), cwd: place.workspace });

/** `open(mode)` gives a client that is closed at the end, whatever happens. */
async function withPlace(body) {
    const place = new Place(), clients = [];
    let failed;
    place.peers({ alpha: basic({ era: 'legacy' }), beta: basic({ era: 'dual' }) });
    try {
        await body(place, async (mode, more) => {
            clients.push(await connect(mode, serve(place), more));
            return clients.at(-1);
        });
    } catch (e) { failed = e; }
    for (const c of clients) await c.close().catch(() => {});
    try { await place.close(); } catch (e) { failed ??= e; }
    if (failed) throw failed;
}

for (const mode of [...MODES, ...LEGACY.map(r => `v2-${r}`)]) {
    test(`MS-4 MS-5: the official client ${mode} lists and calls both tools`, () => withPlace(async (place, open) => {
        const client = await open(mode);
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map(t => t.name), ['list_tools', 'execute']);
        const listed = await client.callTool({ name: 'list_tools', arguments: {} });
        assert.match(listed.content[0].text, /alpha:[^]*echo[^]*beta:/);
        const ran = await client.callTool({
            name: 'execute',
            arguments: { script: 'const [a, b] = await Promise.all([alpha.echo({text: "a"}), beta.echo({text: "b"})]); a.text + b.text' },
        });
        assert.equal(ran.content[0].text, '"ab"');
        const failed = await client.callTool({ name: 'execute', arguments: { script: 'throw new Error("no")' } });
        assert.equal(failed.isError, true);
        const big = await client.callTool({ name: 'execute', arguments: { script: '"z".repeat(50000)' } });
        const uri = /symposium:\/\/results\/[0-9a-f]+/.exec(big.content[0].text)[0];
        assert.equal((await client.readResource({ uri })).contents[0].text.length, 50002);
        if (mode.startsWith('v2') && mode !== 'v2-legacy')
            assert.equal(client.getNegotiatedProtocolVersion(),
                { 'v2-auto': '2026-07-28', 'v2-pinned': '2026-07-28' }[mode] ?? mode.slice(3));
        await client.close();
    }));

    test(`MS-77 MCP-S12: progress reaches the official client ${mode}`, () => withPlace(async (place, open) => {
        const client = await open(mode);
        const seen = [];
        const options = { onprogress: p => seen.push(p), timeout: 20000 };
        // The pause: the SDK handles a notification after an answer that came in the same read, and then drops it.
        const script = 'for (let i = 0; i < 3; i++) { await alpha.slow({}); } await new Promise(r => setTimeout(r, 100))';
        const params = { name: 'execute', arguments: { script } };
        await (mode === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options));
        assert.deepEqual(seen.map(p => p.progress), [1, 2, 3]);
        if (mode >= 'v2-2025' || mode === 'v1') assert.deepEqual([...new Set(seen.map(p => p.message))], ['alpha.slow']);
        await client.close();
    }));
}

for (const mode of MODES) {
    test(`MS-76 MCP-S13: the official client ${mode} cancels a script and goes on`, () => withPlace(async (place, open) => {
        const client = await open(mode);
        const stop = new AbortController();
        const params = { name: 'execute', arguments: { script: 'await alpha.hang({}); for (;;);' } };
        const call = mode === 'v1' ? client.callTool(params, undefined, { signal: stop.signal }) : client.callTool(params, { signal: stop.signal });
        call.catch(() => {});
        await until('the call reached the server', () => place.calls('alpha').length === 1);
        stop.abort('enough');
        await assert.rejects(call);
        await until('the backing call is cancelled', () => place.received('alpha').some(m => m.method === 'notifications/cancelled'));
        const again = await client.callTool({ name: 'execute', arguments: { script: '6 * 7' } });
        assert.equal(again.content[0].text, '42');
        await client.close();
    }));
}

test('MS-75 MCP-L5: list_changed reaches the v1 client', () => withPlace(async (place, open) => {
    const client = await open('v1');
    let n = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => { n++; });
    const before = (await client.listTools()).tools[1].description;
    place.plugin('more', [place.peer('gamma', basic())]);
    const after = (await client.listTools()).tools[1].description;
    assert.match(before, /alpha, beta\./);
    assert.match(after, /alpha, beta, gamma\./);
    await until('one notification', () => n === 1, 3000);
    await client.close();
}));

for (const mode of ['v2-legacy', 'v2-auto', 'v2-pinned']) {
    test(`MS-75 MCP-M12: list_changed reaches the client ${mode}, on modern ones through listen`, () => withPlace(async (place, open) => {
        let n = 0;
        const client = await open(mode, { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => { n++; } } } });
        await client.listTools();
        await sleep(100);
        place.plugin('more', [place.peer('gamma', basic())]);
        await client.callTool({ name: 'list_tools', arguments: { detail: 'names' } });
        await until('a notification', () => n === 1, 3000);
        await client.close();
    }));
}

test('MCP-M12: a v2 client opens several listens and closes one', () => withPlace(async (place, open) => {
    const client = await open('v2-pinned');
    const a = await client.listen({ toolsListChanged: true });
    const b = await client.listen({ toolsListChanged: true });
    await a.close();
    let n = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => { n++; });
    await client.listTools();
    place.plugin('more', [place.peer('gamma', basic())]);
    await client.listTools();
    await until('a notification on the other', () => n >= 1, 3000);
    assert.equal(n, 1);
    await b.close();
    await client.close();
}));

test('MS-3: when an official client closes, the program is gone within its patience', () => withPlace(async (place, open) => {
    for (const mode of ['v1', 'v2-pinned']) {
        const client = await open(mode);
        await client.callTool({ name: 'execute', arguments: { script: 'await alpha.echo({})' } });
        const from = performance.now();
        await client.close();
        assert.ok(performance.now() - from < 1000 * slack);
        await until('nothing is left', () => place.survivors().length === 0);
    }
}));

const inspector = npm('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
for (const era of ['legacy', 'auto', 'modern']) {
    test(`the inspector's command line lists and calls both tools, era ${era}`, () => withPlace(async (place, open) => {
        const config = place.write('mcp.json', JSON.stringify({
            mcpServers: { us: { command: bin, args: ['mcp-serve'], cwd: place.workspace, env: place.env(), protocolEra: era } },
        }));
        const ask = async (...args) => {
            const env = { ...process.env, HOME: place.path('home'), MCP_INSPECTOR_SECRET_STORE: 'memory' };
            const { stdout } = await run(node, [inspector, '--cli', '--config', config, '--server', 'us', '--format', 'json', ...args],
                { env, cwd: place.workspace, timeout: 30000 * slack });
            return JSON.parse(stdout).result;
        };
        assert.deepEqual((await ask('--method', 'tools/list')).tools.map(t => t.name), ['list_tools', 'execute']);
        assert.match((await ask('--method', 'tools/call', '--tool-name', 'list_tools')).content[0].text, /alpha:/);
        const script = JSON.stringify({ script: '(await beta.echo({text: "hi"})).text' });
        assert.equal((await ask('--method', 'tools/call', '--tool-name', 'execute', '--tool-args-json', script)).content[0].text, '"hi"');
    }));
}
