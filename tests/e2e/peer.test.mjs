// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The measuring stick is measured first: the scripted peer is a server that the official clients accept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place, T, basic } from './harness.mjs';
import { MODES, connect } from './sdk.mjs';

for (const mode of MODES) {
    test(`the scripted peer serves the official client ${mode}`, async () => {
        const place = new Place();
        const entry = place.peer('p', basic({ era: 'dual', page: 2, capabilities: { tools: { listChanged: true } } }));
        const client = await connect(mode, { ...entry, env: place.env(), cwd: place.dir });
        const names = [];
        let cursor;
        do {
            const page = await client.listTools(cursor === undefined ? undefined : { cursor });
            names.push(...page.tools.map(t => t.name));
            cursor = page.nextCursor;
        } while (cursor !== undefined);
        assert.deepEqual([...new Set(names)], ['echo', 'fail', 'hang', 'crash', 'slow', 'big']);
        const r = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
        assert.equal(r.content[0].text, '{"text":"hello"}');
        assert.equal((await client.callTool({ name: 'fail', arguments: {} })).isError, true);
        await client.close();
        assert.ok(place.received('p').some(m => m.method === 'tools/call'));
        await place.close();
    });
}

test('a peer fails its first starts, hangs, floods and nests as its script says', async () => {
    const place = new Place();
    const entry = place.peer('p', basic({
        counter: place.path('count'), fail_starts: 1, tools: [T('nested'), T('raw')],
        calls: { nested: [{ nest: 3 }], raw: [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"pid":$PID}}' }] },
    }));
    await assert.rejects(connect('v1', { ...entry, env: place.env(), cwd: place.dir }));
    const client = await connect('v1', { ...entry, env: place.env(), cwd: place.dir });
    assert.deepEqual((await client.callTool({ name: 'nested' })).structuredContent, { deep: [[[]]] });
    assert.equal((await client.callTool({ name: 'raw' })).pid, place.pids('p').at(-1));
    await client.close();
    assert.equal(place.starts('p'), 2);
    await place.close();
});
