// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The official clients drive every tool of the hand-off server: v1 SDK, v2 SDK (legacy, auto, pinned). The SDKs check each result
// against the tool's output schema themselves. The tasks extension is checked against the schemas that its own package publishes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { MODERN, Place, bin, npm, scenario, until } from './harness.mjs';
import { MODES, connect } from './sdk.mjs';
import { OFFERING, TOOLS, agents } from './tasks.mjs';

async function withClients(body) {
    const place = agents(new Place()), clients = [];
    const server = { command: bin, args: ['symm'], env: place.env(), cwd: place.workspace };
    let failed;
    try {
        await body(async mode => {
            clients.push(await connect(mode, server));
            return clients.at(-1);
        }, place);
    } catch (e) { failed = e; }
    for (const c of clients) await c.close().catch(() => {});
    try { await place.close(); } catch (e) { failed ??= e; }
    if (failed) throw failed;
}

for (const mode of MODES)
    test(`TK-7 TK-33: the official client ${mode} drives every tool`, () => withClients(async open => {
        const client = await open(mode);
        assert.deepEqual((await client.listTools()).tools.map(t => t.name), TOOLS);
        const call = async (name, args) => {
            const r = await client.callTool({ name, arguments: args }, undefined, { timeout: 60000 });
            assert.notEqual(r.isError, true, `${name}: ${r.content?.[0]?.text}`);
            return r.structuredContent;
        };
        const { task_id } = await call('spawn_task', { agent: 'fake', prompt: 'acp: text=hi tool plan', labels: ['x'] });
        assert.deepEqual((await call('wait_tasks', { task_ids: [task_id], timeout_s: 60 })).ready, [task_id]);
        assert.equal((await call('get_task', { task_id })).result_text, 'hi');
        const events = (await call('get_events', { task_id })).events;
        assert.ok(['tool_call', 'plan', 'agent_message', 'process_exited'].every(t => events.some(e => e.type === t)));
        assert.equal((await call('list_tasks', { label: 'x' })).tasks.length, 1);
        assert.equal((await call('resolve_task', { task_id, resolution: 'needs_followup' })).resolution, 'needs_followup');
        assert.equal((await call('cancel_task', { task_id })).status, 'succeeded');
        const { isError, content } = await client.callTool({ name: 'get_task', arguments: { task_id: 'x' } });
        assert.deepEqual([isError, content[0].text.split(':')[0]], [true, 'task_not_found']);
        assert.deepEqual((await client.listResources()).resources.map(r => r.uri), [`task://${task_id}`]);
        assert.equal((await client.readResource({ uri: `task://${task_id}/result` })).contents[0].text, 'hi');
    }));

test('TK-23: the v1 client subscribes to a task and is told of its end', () => withClients(async open => {
    const client = await open('v1'), seen = [];
    const call = async (name, args) => (await client.callTool({ name, arguments: args }, undefined, { timeout: 60000 })).structuredContent;
    const { task_id } = await call('spawn_task', { agent: 'fake', prompt: 'acp: delay=500 chunks=4' }), uri = `task://${task_id}`;
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, n => { seen.push(n.params.uri); });
    await client.subscribeResource({ uri });
    await call('wait_tasks', { task_ids: [task_id], timeout_s: 60 });
    await until('it is told', () => seen.length > 0, 5000);
    assert.deepEqual([...new Set(seen)], [uri]);
}));

test('TK-23: the pinned v2 client listens to a task and is told of its end', () => withClients(async open => {
    const client = await open('v2-pinned'), seen = [];
    const call = async (name, args) => (await client.callTool({ name, arguments: args }, { timeout: 60000 })).structuredContent;
    const { task_id } = await call('spawn_task', { agent: 'fake', prompt: 'acp: delay=500 chunks=4' }), uri = `task://${task_id}`;
    client.setNotificationHandler('notifications/resources/updated', n => { seen.push(n.params.uri); });
    const listen = await client.listen({ resourceSubscriptions: [uri] });
    await call('wait_tasks', { task_ids: [task_id], timeout_s: 60 });
    await until('it is told', () => seen.length > 0, 5000);
    await listen.close();
}));

// --- the tasks extension ----------------------------------------------------------------------------------------------
const extension = part => import(`${npm('@modelcontextprotocol/ext-tasks')}/dist/${part}/index.js`).catch(() => undefined);
const v2 = await extension('core/v2'), client = await extension('client');
const skip = v2 && client ? false : 'the package @modelcontextprotocol/ext-tasks is absent';

scenario('TK-60: handles and details are what the extension\'s own package calls valid', { skip }, async place => {
    agents(place);
    const s = await place.serve('symm', [], { revision: MODERN });
    assert.ok(v2.hasTaskServerCapabilityV2(s.about.capabilities));
    const params = more => ({ ...more, _meta: OFFERING });
    for (const prompt of ['acp: text=x', 'acp: stop=refusal', 'acp: hang=turn']) {
        const h = await s.result('tools/call', params({ name: 'spawn_task', arguments: { agent: 'fake', prompt, follow: true } }), { ms: 30000 });
        assert.ok(v2.isToolCallTaskResultV2('tools/call', h), JSON.stringify(h));
        if (prompt.includes('hang')) await s.result('tasks/cancel', params({ taskId: h.taskId }));
        let seen = new Set();
        await until('it ends', async () => {
            const d = await s.result('tasks/get', params({ taskId: h.taskId }));
            assert.ok(v2.isDetailedTaskV2(d), JSON.stringify(d));
            seen.add(d.status);
            return d.status !== 'working';
        }, 30000);
        assert.ok(seen.has(prompt.includes('hang') ? 'cancelled' : 'completed'));
    }
});

test('TK-60: the v2 client with the extension\'s package runs a task from call to result', { skip }, () => withClients(async (open, place) => {
    const sdk = await open('v2-pinned'), raw = await place.serve('symm', [], { revision: MODERN });
    let id = 1000;
    const session = client.createTaskSessionFromClient(sdk, {
        endpointId: 'e2e',
        rawDispatch: async request => {
            const ours = id++;
            return { ...await raw.send({ id: ours, method: request.method, params: request.params }), id: request.id ?? ours };
        },
        v2RequestFraming: { protocolVersion: MODERN, clientInfo: { name: 'e2e', version: '1' }, clientCapabilities: {} },
    });
    const execution = await session.callTool('spawn_task', { agent: 'fake', prompt: 'acp: text=through_a_handle delay=200', options: { follow: true } });
    const { outcome } = await execution.settle();
    const result = client.resultFromTaskOutcome(outcome);
    assert.equal(result.structuredContent.result_text, 'through a handle');
    assert.equal(result.structuredContent.status, 'succeeded');
    await session.close();
}));
