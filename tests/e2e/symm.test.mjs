// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium symm` and a fake agent: the seven tools, resources, the tasks extension. Every answer is checked against the tool's own
// output schema and the protocol's by the harness.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { META, MODERN, Place, alive, bin, run, scenario, sleep, slack, until, within } from './harness.mjs';
import { OFFERING, TASKS, TERMINAL, TOOLS, agents, ask, assertDense, ended, events, spawn, types } from './tasks.mjs';

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const none = '01900000-0000-7000-8000-000000000000';

// --- tools ------------------------------------------------------------------------------------------------------------
scenario('TK-7 TK-8: seven tools, their hints, closed schemas, and the agents by name', async place => {
    agents(place);
    const s = await place.serve('symm', [], { env: { PATH: '/nowhere' } });
    assert.equal(s.about.serverInfo.name, 'symm-mcp');
    assert.deepEqual([...s.tools.keys()], TOOLS);
    const hints = name => s.tools.get(name).annotations;
    for (const name of ['get_task', 'get_events', 'wait_tasks', 'list_tasks']) assert.equal(hints(name).readOnlyHint, true, name);
    assert.deepEqual([hints('resolve_task').idempotentHint, hints('resolve_task').readOnlyHint], [true, false]);
    assert.deepEqual([hints('cancel_task').destructiveHint, hints('cancel_task').idempotentHint], [true, true]);
    assert.deepEqual([hints('spawn_task').destructiveHint, hints('spawn_task').openWorldHint], [true, true]);
    for (const [name, tool] of s.tools) {
        assert.equal(tool.inputSchema.additionalProperties, false, name);
        assert.equal(tool.outputSchema.type, 'object', name);
    }
    const spawned = s.tools.get('spawn_task');
    assert.deepEqual(spawned.inputSchema.properties.agent.enum,
        ['claude_code', 'codex', 'copilot', 'cline', 'cursor', 'opencode', 'antigravity', 'gemini', 'qwen', 'fake']);
    assert.deepEqual(spawned.inputSchema.required, ['agent', 'prompt']);
    assert.match(spawned.description, /Not installed here: .*qwen/);
    assert.doesNotMatch(spawned.description, /fake/);
    const { options, ...top } = spawned.inputSchema.properties;
    assert.equal(options.additionalProperties, false);
    for (const [key, schema] of Object.entries(options.properties)) assert.deepEqual(top[key], schema, `option ${key} beside the others`);
    assert.equal((s.stdout.match(/"follow":/g) ?? []).length, 2, 'no key twice');
    for (const key of ['model', 'effort', 'allow', 'follow']) assert.ok(options.properties[key], key);
});

scenario('TK-1 TK-8 TK-9 TK-10 TK-12 TK-13: a task from its spawn to a judgement that is revised', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: text=all_done chunks=4 usage', { labels: ['one', 'two'], initiator_id: 'me', executor_id: 'you', model: 'big' });
    assert.match(t.task_id, UUID7);
    assert.deepEqual(Object.keys(t).sort(), ['status', 'task_id']);
    assert.equal(t.status, 'running');
    const r = await ended(s, t.task_id);
    assert.deepEqual([r.status, r.stop_reason, r.resolution, r.agent, r.workspace], ['succeeded', 'end_turn', null, 'fake', place.workspace]);
    assert.equal(r.kind, 'acp', 'TK-61');
    assert.deepEqual([r.labels, r.initiator_id, r.executor_id, r.parent_task_id], [['one', 'two'], 'me', 'you', null]);
    assert.equal(r.result_text, 'all done');
    assert.equal(r.usage.totalTokens, 18);
    assert.ok(r.session_id);
    for (const at of ['created_at', 'started_at', 'finished_at']) assert.match(r[at], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const all = await events(s, t.task_id);
    assertDense(all);
    assert.equal(r.last_seq, all.at(-1).seq);
    assert.equal(all[0].type, 'task_created');
    assert.deepEqual(all.filter(e => e.type === 'status_changed').map(e => e.data.to), ['starting', 'running', 'succeeded']);
    assert.equal(all.filter(e => e.type === 'agent_message').map(e => e.data.text).join(''), 'all done');

    const page = await ask(s, 'get_events', { task_id: t.task_id, after_seq: 1, limit: 2 });
    assert.deepEqual([page.events.map(e => e.seq), page.cursor, page.more, page.first_seq, page.status], [[2, 3], 3, true, 1, 'succeeded']);
    const some = await ask(s, 'get_events', { task_id: t.task_id, types: ['agent_message'] });
    assert.deepEqual([...new Set(types(some.events))], ['agent_message']);
    const past = await ask(s, 'get_events', { task_id: t.task_id, after_seq: 1000 });
    assert.deepEqual([past.events, past.cursor, past.more], [[], 1000, false]);

    const judged = await ask(s, 'resolve_task', { task_id: t.task_id, resolution: 'rejected', note: 'no' });
    assert.deepEqual([judged.status, judged.resolution, judged.note], ['succeeded', 'rejected', 'no']);
    assert.match(judged.resolved_at, /Z$/);
    const again = await ask(s, 'resolve_task', { task_id: t.task_id, resolution: 'accepted' });
    assert.equal(again.resolution, 'accepted');
    assert.deepEqual((await events(s, t.task_id, { types: ['task_resolved'] })).map(e => e.data.resolution), ['rejected', 'accepted']);

    const listed = await ask(s, 'list_tasks', {});
    assert.deepEqual(listed.tasks.map(x => x.task_id), [t.task_id]);
    assert.equal(listed.tasks[0].result_text, undefined);
    for (const [filter, n] of [[{ status: 'succeeded' }, 1], [{ status: 'failed' }, 0], [{ label: 'two' }, 1], [{ label: 'tw' }, 0],
        [{ initiator_id: 'me' }, 1], [{ initiator_id: 'us' }, 0], [{ workspace: place.workspace }, 1], [{ workspace: '/' }, 0], [{ kind: 'acp' }, 1], [{ kind: 'cli' }, 0]])
        assert.equal((await ask(s, 'list_tasks', filter)).tasks.length, n, JSON.stringify(filter));
});

scenario('TK-12: list_tasks pages through all, newest first', async place => {
    agents(place);
    const s = await place.serve('symm');
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push((await spawn(s, `acp: text=n${n}`)).task_id);
    for (const id of ids) await ended(s, id);
    const seen = [];
    let cursor;
    do {
        const page = await ask(s, 'list_tasks', { limit: 2, ...(cursor && { cursor }) });
        assert.ok(page.tasks.length <= 2);
        seen.push(...page.tasks.map(t => t.task_id));
        cursor = page.next_cursor;
    } while (cursor);
    assert.deepEqual(seen, ids.reverse());
    assert.match(await s.fails('list_tasks', { cursor: 'nonsense' }), /^invalid_request: /);
});

scenario('TK-15: exactly these codes, each naming what is wrong', async place => {
    agents(place);
    place.write('work/file', '');
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: hang=turn');
    const good = { agent: 'fake', prompt: 'p' };
    for (const [tool, args, says] of [
        ['spawn_task', { agent: 'nobody', prompt: 'p' }, /^unknown_agent: .*nobody/],
        ['spawn_task', { agent: 'fake' }, /^invalid_request: .*'prompt'/],
        ['spawn_task', { ...good, workspace: 'relative' }, /^invalid_request: .*workspace/],
        ['spawn_task', { ...good, workspace: path.join(place.workspace, 'gone') }, /^invalid_request: .*workspace/],
        ['spawn_task', { ...good, workspace: path.join(place.workspace, 'file') }, /^invalid_request: .*workspace/],
        ['spawn_task', { ...good, worktree: true }, /^invalid_request: .*git/],
        ['spawn_task', { ...good, worktree: 'true' }, /^invalid_request: .*worktree/],
        ['spawn_task', { ...good, promtp: 'x' }, /^invalid_request: .*promtp/],
        ['spawn_task', { ...good, options: { nonsense: 1 } }, /^invalid_request: .*nonsense/],
        ['spawn_task', { ...good, model: 'small', options: { model: 'small' } }, /^invalid_request: .*model/],
        ['spawn_task', { ...good, allow: ['switch_mode'] }, /^invalid_request: .*switch_mode/],
        ['spawn_task', { ...good, options: { allow: 'edit' } }, /^invalid_request: .*allow/],
        ['get_task', { task_id: none }, /^task_not_found: /],
        ['get_task', { task_id: 'no id' }, /^task_not_found: /],
        ['get_task', { task_id: t.task_id, x: 1 }, /^invalid_request: .*'x'/],
        ['get_events', { task_id: none }, /^task_not_found: /],
        ['wait_tasks', { task_ids: [t.task_id, none], timeout_s: 0 }, /^task_not_found: .*01900000/],
        ['wait_tasks', { task_ids: [] }, /^invalid_request: /],
        ['resolve_task', { task_id: none, resolution: 'accepted' }, /^task_not_found: /],
        ['resolve_task', { task_id: t.task_id, resolution: 'accepted' }, /^invalid_transition: .*running/],
        ['resolve_task', { task_id: t.task_id, resolution: 'done' }, /^invalid_request: .*resolution/],
        ['cancel_task', { task_id: none }, /^task_not_found: /],
    ]) assert.match(await s.fails(tool, args), says, JSON.stringify(args));
    await ask(s, 'cancel_task', { task_id: t.task_id }, { ms: 30000 });
});

scenario('TK-8 TK-17: a failed start is a task that failed, not a tool error', async place => {
    agents(place, { others: { liar: ['error=initialize:-32603'] } });
    place.write('symposium/config.toml', `${place.read('symposium/config.toml')}\n[[task-agent]]\nname = "absent"\ncommand = "no-such-program"\nargs = []\nprotocol = "acp"\n`);
    const s = await place.serve('symm');
    const t = await spawn(s, 'p', { agent: 'absent' });
    assert.equal(t.status, 'failed');
    assert.match(t.error, /no-such-program/);
    const list = await events(s, t.task_id);
    assert.ok(types(list).includes('error'));
    assert.ok(!types(list).includes('process_started') && !types(list).includes('process_exited'));
    const qwen = await ask(s, 'spawn_task', { agent: 'qwen', prompt: 'p' }, { ms: 30000 });
    if (qwen.status === 'failed') assert.match(qwen.error, /@qwen-code\/qwen-code/);
    else await ask(s, 'cancel_task', { task_id: qwen.task_id }, { ms: 30000 });
    /* One that starts, and then cannot: running when it was asked for, failed in the end. */
    const l = await spawn(s, 'p', { agent: 'liar' });
    assert.equal(l.status, 'running');
    const r = await ended(s, l.task_id);
    assert.equal(r.status, 'failed');
    assert.match((await events(s, l.task_id, { types: ['error'] }))[0].data.message, /initialize|because of a test/);
});

scenario('TK-8: the same key of the same initiator is the same task', async place => {
    agents(place);
    const s = await place.serve('symm');
    const one = await spawn(s, 'acp: text=a', { idempotency_key: 'k', initiator_id: 'me' });
    await ended(s, one.task_id);
    const same = await spawn(s, 'acp: text=other', { idempotency_key: 'k', initiator_id: 'me' });
    assert.deepEqual([same.task_id, same.status], [one.task_id, 'succeeded']);
    const other = await spawn(s, 'acp: text=a', { idempotency_key: 'k', initiator_id: 'you' });
    assert.notEqual(other.task_id, one.task_id);
    const at_once = await Promise.all([1, 2, 3, 4].map(() => spawn(s, 'acp: text=b', { idempotency_key: 'j' })));
    assert.equal(new Set(at_once.map(t => t.task_id)).size, 1);
    await ended(s, other.task_id);
    await ended(s, at_once[0].task_id);
    assert.equal((await ask(s, 'list_tasks', {})).tasks.length, 3);
});

scenario('TK-11: waits for any or all, for an event, for no time; tells its progress; and cancels nothing', async place => {
    agents(place);
    const s = await place.serve('symm');
    const slow = (await spawn(s, 'acp: hang=turn text=slow')).task_id, quick = (await spawn(s, 'acp: text=quick')).task_id;
    const any = await ask(s, 'wait_tasks', { task_ids: [slow, quick], timeout_s: 30 }, { ms: 30000 });
    assert.deepEqual([any.ready, any.timed_out], [[quick], false]);
    assert.deepEqual(any.tasks.map(t => t.task_id), [slow, quick]);
    assert.equal(any.tasks[1].stop_reason, 'end_turn');
    const now = await ask(s, 'wait_tasks', { task_ids: [slow, quick], mode: 'all', timeout_s: 0 });
    assert.deepEqual([now.ready, now.timed_out], [[quick], true]);
    const none_yet = await ask(s, 'wait_tasks', { task_ids: [slow], timeout_s: 1 });
    assert.deepEqual([none_yet.ready, none_yet.timed_out, none_yet.tasks[0].status], [[], true, 'running']);

    /* An event after a seq that is there is ready at once; from now on, with the next one. */
    const seen = await ask(s, 'wait_tasks', { task_ids: [slow], until: 'event', after: { [slow]: 1 } });
    assert.deepEqual([seen.ready, seen.timed_out], [[slow], false]);
    const progress = s.call('wait_tasks', { task_ids: [slow, quick], mode: 'all', timeout_s: 60 }, { progress: 'p', ms: 60000 });
    const next = ask(s, 'wait_tasks', { task_ids: [slow], until: 'event', timeout_s: 60 }, { ms: 60000 });
    await sleep(300);
    await ask(s, 'cancel_task', { task_id: slow }, { ms: 30000 });
    assert.equal((await next).timed_out, false);
    assert.equal((await progress).structuredContent.timed_out, false);
    const other = (await spawn(s, 'acp: delay=400 chunks=3')).task_id;
    const told = s.call('wait_tasks', { task_ids: [other], timeout_s: 60 }, { progress: 'q', ms: 60000 });
    await told;
    for (const p of [...s.progress('p'), ...s.progress('q')]) {
        assert.equal(p.total, 60);
        assert.match(p.message, /\d+ (created|starting|running|succeeded|cancelled)/);
    }
});

scenario('TK-11: without news a wait tells every 10 s that it is there', { skip: process.env.TEST_SLOW ? false : 'takes 21 s: TEST_SLOW' }, async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: hang=turn')).task_id;
    await s.call('wait_tasks', { task_ids: [t], timeout_s: 21 }, { progress: 'p', ms: 30000 });
    assert.ok(s.progress('p').length >= 2);
    await ask(s, 'cancel_task', { task_id: t }, { ms: 30000 });
});

scenario('TK-14: cancel ends all processes; what has ended comes back unchanged', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: grandchild hang=turn')).task_id;
    const child = await until('the grandchild lives', () => /child (\d+)/.exec(place.read('agent.log'))?.[1], 20000);
    const r = await ask(s, 'cancel_task', { task_id: t, reason: 'enough' }, { ms: 30000 });
    assert.equal(r.status, 'cancelled');
    assert.equal(alive(Number(child)), false, 'the grandchild is gone');
    assert.equal((await events(s, t, { types: ['task_cancelled'] }))[0].data.reason, 'enough');
    const again = await ask(s, 'cancel_task', { task_id: t, reason: 'again' });
    assert.deepEqual(again, r);
});

scenario('TK-24: what finds no room is created, and starts when there is', async place => {
    agents(place, { tasks: { 'max-concurrent': 1 } });
    const s = await place.serve('symm');
    const one = await spawn(s, 'acp: hang=turn'), two = await spawn(s, 'acp: text=two');
    assert.deepEqual([one.status, two.status], ['running', 'created']);
    await ask(s, 'cancel_task', { task_id: one.task_id }, { ms: 30000 });
    assert.equal((await ended(s, two.task_id)).result_text, 'two');
});

scenario('TK-18: control characters are kept in the ledger, and reach no model', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: text=\u001b[31mred\u001b[0m\u0007\u202eok')).task_id;
    assert.equal((await ended(s, t)).result_text, 'redok');
    const texts = (await events(s, t, { types: ['agent_message'] })).map(e => e.data.text).join('');
    assert.doesNotMatch(texts, /[\u0000-\u0008\u000b-\u001f\u202e]/);
    assert.ok(["tasks.db", "tasks.db-wal"].some(f => place.read(`symposium/state/${f}`).includes("\\u001b[31mred")));
    assert.ok(!s.stdout.includes('\u001b') && !s.stdout.includes('\\u001b'));
});

scenario('TK-10: the largest page of events fits an answer, whatever is in it', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: flood=3000000')).task_id;
    await ended(s, t);
    const page = await ask(s, 'get_events', { task_id: t, limit: 5000, max_bytes: 4194304 });
    assert.ok(page.events.length > 10);
    const small = await ask(s, 'get_events', { task_id: t, max_bytes: 1 });
    assert.deepEqual([small.events.length, small.more], [1, true]);
});

// --- the ledger is shared -----------------------------------------------------------------------------------------------
scenario('TK-3 TK-4 TK-33: two servers and the command line share one ledger', async place => {
    agents(place);
    const a = await place.serve('symm'), b = await place.serve('symm');
    const t = (await spawn(a, 'acp: hang=turn text=shared')).task_id;
    assert.deepEqual((await ask(b, 'list_tasks', {})).tasks.map(x => x.task_id), [t]);
    assert.match(await b.fails('resolve_task', { task_id: t, resolution: 'accepted' }), /^invalid_transition/);
    await until('its events are seen from the other', async () => types(await events(b, t)).includes('agent_message'), 10000);
    const waiting = ask(b, 'wait_tasks', { task_ids: [t], timeout_s: 60 }, { ms: 60000 });
    const shown = await run(place, ['task', 'show', t, '--json']);
    assert.deepEqual([shown.code, JSON.parse(shown.out)[0].status], [0, 'running']);
    const r = await ask(b, 'cancel_task', { task_id: t, reason: 'from afar' }, { ms: 30000 });
    assert.equal(r.status, 'cancelled');
    assert.deepEqual((await waiting).ready, [t]);
    await ask(b, 'resolve_task', { task_id: t, resolution: 'superseded' });
    assert.equal((await ask(a, 'get_task', { task_id: t })).resolution, 'superseded');
    assertDense(await events(a, t));
});

scenario('TK-22: the end of input ends the tasks of this process, and waits; nothing is left', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    const ids = [(await spawn(s, 'acp: hang=turn')).task_id, (await spawn(s, 'acp: hang=turn grandchild')).task_id];
    const waiting = s.call('wait_tasks', { task_ids: ids, timeout_s: 600 }, { ms: 60000 });
    await until('both work', () => place.lines('agent.log').filter(l => l.includes('session/prompt')).length === 2, 20000);
    const exit = await s.eof(20000);
    assert.equal(exit.code, 0);
    assert.equal((await waiting).structuredContent.timed_out, true);
    assert.ok(exit.ms < 12000 * slack, `${exit.ms} ms`);
    for (const l of place.lines('agent.log').filter(x => /^(start|child) /.test(x))) assert.equal(alive(Number(l.split(' ')[1])), false, l);
    const next = await place.serve('symm');
    for (const id of ids) assert.equal((await ask(next, 'get_task', { task_id: id })).status, 'cancelled');
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    scenario(`TK-22: ${signal} ends the tasks of this process`, async place => {
        agents(place);
        const s = await place.serve('symm');
        const t = (await spawn(s, 'acp: hang=turn')).task_id;
        const exit = await s.kill(signal, 20000);
        assert.equal(exit.code, 0);
        const next = await place.serve('symm');
        assert.equal((await ask(next, 'get_task', { task_id: t })).status, 'cancelled');
    });

scenario('TK-3: where the state directory cannot be written, spawn gives a failed task and the rest says why', { skip: process.getuid() === 0 ? 'root writes everywhere' : false }, async place => {
    agents(place);
    fs.chmodSync(place.home, 0o500);
    const s = await place.serve('symm');
    const t = await spawn(s, 'p');
    assert.equal(t.status, 'failed');
    assert.match(t.error, new RegExp(place.home));
    assert.match(await s.fails('list_tasks', {}), /^invalid_request: /);
    fs.chmodSync(place.home, 0o700);
});

scenario('TK-3: a ledger that is none: spawn gives a failed task and the rest says why, and the file stays as it is', async place => {
    agents(place);
    place.write('symposium/state/tasks.db', 'this is no database, whatever its name says\n'.repeat(100));
    const s = await place.serve('symm');
    const t = await spawn(s, 'p');
    assert.equal(t.status, 'failed');
    assert.match(t.error, /tasks\.db/);
    assert.match(await s.fails('list_tasks', {}), /^invalid_request: .*tasks\.db/);
    assert.match(place.read('symposium/state/tasks.db'), /^this is no database/);
});

// --- resources --------------------------------------------------------------------------------------------------------
scenario('TK-23: a task is a resource, and so is all that its agent said', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: text=part_one_and_two chunks=2 delay=1200')).task_id;
    const record = await ended(s, t);
    const list = (await s.result('resources/list')).resources;
    assert.deepEqual(list.map(r => r.uri), [`task://${t}`]);
    const templates = (await s.result('resources/templates/list')).resourceTemplates.map(r => r.uriTemplate);
    assert.deepEqual(templates, ['task://{task_id}', 'task://{task_id}/result']);
    const read = async uri => (await s.result('resources/read', { uri })).contents[0];
    const one = await read(`task://${t}`);
    assert.deepEqual([one.mimeType, JSON.parse(one.text)], ['application/json', record]);
    const said = await read(`task://${t}/result`);
    assert.deepEqual([said.mimeType, said.text], ['text/plain', 'part one and two']);
    for (const uri of [`task://${none}`, `task://${none}/result`, 'task://x', `task://${t}/more`, 'file:///etc/passwd'])
        assert.equal((await s.request('resources/read', { uri })).error.code, -32002, uri);
});

scenario('TK-23: a legacy session subscribes to a task, told at most once a second, the end included', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = (await spawn(s, 'acp: text=a_b_c_d_e_f_g_h chunks=8 delay=400')).task_id, uri = `task://${t}`;
    await s.result('resources/subscribe', { uri });
    await s.result('resources/subscribe', { uri: `${uri}/result` });
    assert.equal((await s.request('resources/subscribe', { uri: 'task://x' })).error.code, -32002);
    await ended(s, t, 60);
    await sleep(1500);
    const of = u => s.messages.filter(x => x.m.method === 'notifications/resources/updated' && x.m.params.uri === u).map(x => x.at);
    const told = of(uri);
    assert.ok(told.length >= 2, `${told.length} times`);
    for (let i = 1; i < told.length; i++) assert.ok(told[i] - told[i - 1] > 900, 'at most once a second');
    assert.equal(of(`${uri}/result`).length, told.length);
    await s.result('resources/unsubscribe', { uri });
    await s.result('resources/unsubscribe', { uri: `${uri}/result` });
    await ask(s, 'resolve_task', { task_id: t, resolution: 'accepted' });
    await sleep(1500);
    assert.equal(of(uri).length, told.length, 'no longer');
});

scenario('TK-23: a modern client listens to a task of another process', async place => {
    agents(place);
    const a = await place.serve('symm'), s = await place.serve('symm', [], { revision: MODERN });
    const t = (await spawn(a, 'acp: hang=turn')).task_id, uri = `task://${t}`;
    s.send({ id: 'listen', method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: [uri, 'task://x'] }, _meta: META } });
    const ack = await s.waitFor('acknowledged', m => m.method === 'notifications/subscriptions/acknowledged');
    assert.deepEqual(ack.params.notifications.resourceSubscriptions, [uri]);
    await ask(a, 'cancel_task', { task_id: t }, { ms: 30000 });
    await s.waitFor('told', m => m.method === 'notifications/resources/updated' && m.params.uri === uri, 5000);
});

// --- the tasks extension ----------------------------------------------------------------------------------------------
const modern = place => place.serve('symm', [], { revision: MODERN });
const call = (s, name, args, meta = OFFERING) => s.result('tools/call', { name, arguments: args, _meta: meta }, { ms: 60000 });
const task = (s, method, params, meta = OFFERING) => s.request(method, { ...params, _meta: meta });

scenario('TK-60: spawn_task with follow gives a handle that tasks/get completes with the task', async place => {
    agents(place);
    const s = await modern(place);
    assert.deepEqual(s.about.capabilities.extensions, { [TASKS]: {} });
    const h = await call(s, 'spawn_task', { agent: 'fake', prompt: 'acp: text=yes delay=300 chunks=3', options: { follow: true } });
    assert.equal(h.resultType, 'task');
    assert.match(h.taskId, UUID7);
    assert.equal(h.status, 'working');
    assert.equal(h.ttlMs, null);
    assert.ok(h.pollIntervalMs > 0);
    for (const key of ['content', 'structuredContent', 'requestState', 'task']) assert.ok(!(key in h), key);
    let got;
    await until('it completes', async () => {
        got = (await task(s, 'tasks/get', { taskId: h.taskId })).result;
        assert.equal(got.resultType, 'complete');
        return got.status !== 'working';
    }, 30000);
    assert.equal(got.status, 'completed');
    const record = await ask(s, 'get_task', { task_id: h.taskId });
    assert.deepEqual(got.result.structuredContent, record);
    assert.deepEqual(JSON.parse(got.result.content[0].text), record);
    assert.equal(got.result.isError, false);
});

scenario('TK-60: a task that failed completes with isError, one that was cancelled is cancelled', async place => {
    agents(place);
    const s = await modern(place);
    const bad = await call(s, 'spawn_task', { agent: 'fake', prompt: 'acp: stop=refusal', follow: true });
    await ended(s, bad.taskId);
    const got = (await task(s, 'tasks/get', { taskId: bad.taskId })).result;
    assert.deepEqual([got.status, got.result.isError, got.result.structuredContent.status], ['completed', true, 'failed']);
    const long = await call(s, 'spawn_task', { agent: 'fake', prompt: 'acp: hang=turn', follow: true });
    for (let n = 0; n < 2; n++) assert.equal((await task(s, 'tasks/cancel', { taskId: long.taskId })).result.resultType, 'complete', 'idempotent');
    assert.equal((await ended(s, long.taskId)).status, 'cancelled');
    const gone = (await task(s, 'tasks/get', { taskId: long.taskId })).result;
    assert.deepEqual([gone.status, 'result' in gone, 'error' in gone], ['cancelled', false, false]);
});

scenario('TK-60: wait_tasks for the end of one task, without a limit, is a handle; else it waits', async place => {
    agents(place);
    const s = await modern(place);
    const t = (await spawn(s, 'acp: hang=turn')).task_id;
    const h = await call(s, 'wait_tasks', { task_ids: [t] });
    assert.deepEqual([h.resultType, h.taskId, h.status], ['task', t, 'working']);
    assert.equal((await call(s, 'wait_tasks', { task_ids: [t], timeout_s: 0 })).resultType, 'complete');
    assert.equal((await call(s, 'wait_tasks', { task_ids: [t], until: 'event', after: { [t]: 1 } })).resultType, 'complete');
    assert.equal((await call(s, 'wait_tasks', { task_ids: [t, t], timeout_s: 0 })).resultType, 'complete');
    assert.match((await call(s, 'wait_tasks', { task_ids: [none] })).content[0].text, /^task_not_found/);
    await ask(s, 'cancel_task', { task_id: t }, { ms: 30000 });
    const over = await call(s, 'wait_tasks', { task_ids: [t] });
    assert.deepEqual([over.resultType, over.structuredContent.ready], ['complete', [t]]);
});

scenario('TK-60: who did not opt in gets plain results, and -32021 for the methods', async place => {
    agents(place);
    const s = await modern(place);
    const t = await call(s, 'spawn_task', { agent: 'fake', prompt: 'acp: text=x', follow: true }, META);
    assert.equal(t.resultType, 'complete');
    const id = t.structuredContent.task_id;
    assert.equal((await call(s, 'wait_tasks', { task_ids: [id], timeout_s: 30 }, META)).structuredContent.timed_out, false);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const { error } = await task(s, method, { taskId: id }, META);
        assert.equal(error.code, -32021, method);
        assert.deepEqual(error.data.requiredCapabilities.extensions, { [TASKS]: {} });
        assert.equal((await task(s, method, { taskId: none, inputResponses: {} })).error.code, -32602, method);
        assert.equal((await task(s, method, { taskId: 'x', inputResponses: {} })).error.code, -32602, method);
        assert.equal((await task(s, method, { inputResponses: {} })).error.code, -32602, method);
    }
    assert.equal((await task(s, 'tasks/update', { taskId: id, inputResponses: { any: {} } })).result.resultType, 'complete');
    for (const method of ['tasks/result', 'tasks/list']) assert.equal((await task(s, method, { taskId: id })).error.code, -32601, method);
    const legacy = await place.serve('symm');
    assert.equal((await legacy.request('tasks/get', { taskId: id })).error.code, -32601);
    assert.equal(legacy.about.capabilities.extensions, undefined);
    const plain = await legacy.call('spawn_task', { agent: 'fake', prompt: 'acp: text=x', follow: true });
    assert.equal(plain.structuredContent.status, 'running');
    await ended(legacy, plain.structuredContent.task_id);
});

// --- the program ------------------------------------------------------------------------------------------------------
scenario('CL-3: started as symm-mcp the program is this server', async place => {
    agents(place);
    const alias = place.path('symm-mcp');
    fs.symlinkSync(bin, alias);
    const s = await place.serve('symm', [], { args: [], program: alias });
    assert.deepEqual([...s.tools.keys()], TOOLS);
    const version = await run(place, ['--version'], { program: alias });
    assert.deepEqual([version.code, /^symposium /.test(version.out)], [0, true]);
    assert.match((await run(place, ['--help'], { program: alias })).out, /usage: symposium symm/);
    const wrong = await run(place, ['more'], { program: alias });
    assert.deepEqual([wrong.code, /unexpected argument 'more'/.test(wrong.err)], [2, true]);
});

scenario('TK-30 TK-17: a wrong [[task-agent]] is left out and named, on stderr, by doctor and to who wants it; the rest works', async place => {
    agents(place);
    place.write('symposium/config.toml', `${place.read('symposium/config.toml')}\n[[task-agent]]\nname = "x"\ncommand = "y"\nnonsense = 1\n`);
    const s = await place.serve('symm');
    assert.match(s.stderr, /'x': .*nonsense/);
    assert.match(await s.fails('spawn_task', { agent: 'x', prompt: 'p' }), /unknown_agent: no agent 'x'; there are claude_code, .*, fake.*'x': .*nonsense/);
    const { task_id } = await ask(s, 'spawn_task', { agent: 'fake', prompt: 'acp: text=fine' });
    await ask(s, 'wait_tasks', { task_ids: [task_id] });
    assert.equal((await run(place, ['task', 'show', task_id])).code, 0);
    const events = JSON.parse((await run(place, ['doctor', '--json'])).out);
    assert.equal(events.find(e => e.type === 'task-agent' && e.name === 'fake').state, 'ok');
    assert.match(events.find(e => e.type === 'task-agent' && e.name === 'cline').state, /ok|absent/);
    assert.ok(events.some(e => e.type === 'problem' && /'x': .*nonsense/.test(e.text)));
});
