// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the tests of task hand-off share: agents declared in a Place's config.toml, all of them tests/peers/acp-agent.mjs, and the
// ways to ask for their tasks.
import assert from 'node:assert/strict';
import path from 'node:path';
import { META, node, root, slack, toml } from './harness.mjs';

export const agentFile = path.join(root, 'tests/peers/acp-agent.mjs');
export const TASKS = 'io.modelcontextprotocol/tasks';
/** The envelope of a modern client that opted in to the tasks extension. */
export const OFFERING = { ...META, 'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } } };
export const TERMINAL = ['succeeded', 'failed', 'cancelled'];
export const TOOLS = ['spawn_task', 'get_task', 'get_events', 'wait_tasks', 'list_tasks', 'resolve_task', 'cancel_task'];

/**
 * Writes config.toml: the agent `fake` with these words (see acp-agent.mjs), and `others` {name: words}. `tasks`: keys of [tasks];
 * memory is never asked for, since the machine of a test may have none to spare.
 */
export function agents(place, { words = [], others = {}, tasks = {}, keys = {} } = {}) {
    const declare = (name, list) => `\n[[task-agent]]\n${toml({
        name, command: node, args: [agentFile, ...list], protocol: 'acp', resume: true, model: 'config:model', effort: 'config:effort',
        pins: { mode: 'default' }, ...keys,
    })}`;
    place.write('symposium/config.toml', `[tasks]\n${toml({ 'min-free-mb': 0, ...tasks })}`
        + declare('fake', words) + Object.entries(others).map(([name, list]) => declare(name, list)).join(''));
    return place;
}

/** structuredContent of a call that succeeds; the text must be the same (TK-7). */
export async function ask(server, tool, args, opts) {
    const r = await server.call(tool, args, opts);
    assert.notEqual(r.isError, true, `${tool}: ${r.content?.[0]?.text}`);
    assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent, 'TK-7: the text is the same JSON');
    return r.structuredContent;
}

export async function spawn(server, prompt, more = {}) {
    return ask(server, 'spawn_task', { agent: 'fake', prompt, ...more }, { ms: 30000 });
}

/** The record of a task that has ended. */
export async function ended(server, id, seconds = 30) {
    for (let left = seconds; ; left -= 600) {
        const part = Math.min(left, 600);
        const w = await ask(server, 'wait_tasks', { task_ids: [id], timeout_s: part }, { ms: (part + 5) * 1000 * slack });
        if (!w.timed_out) break;
        assert.ok(left > 600, `not ended within ${seconds} s: ${JSON.stringify(w)}`);
    }
    return ask(server, 'get_task', { task_id: id });
}

export async function events(server, id, more = {}) {
    return (await ask(server, 'get_events', { task_id: id, limit: 5000, ...more })).events;
}
export const types = list => list.map(e => e.type);

/** Seqs are 1..N without a gap (TK-16). */
export function assertDense(list) {
    assert.deepEqual(list.map(e => e.seq), list.map((_, i) => i + 1));
}
