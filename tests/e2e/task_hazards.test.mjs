// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Agents that flood, hide, refuse to die or lie about their settings, and tasks that hand themselves on without end: what
// tasks.md 4 and 5 and security.md SEC-52 to SEC-55 promise about them, through `symposium symm`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { alive, bin, peakOf, rssOf, run, sanitized, scenario, slack, sleep, timed, toml, until } from './harness.mjs';
import { agents, ask, assertDense, ended, events, spawn, types } from './tasks.mjs';

const slow = !!process.env.TEST_SLOW;
const MB = 1 << 20;
const errors = list => list.filter(e => e.type === 'error').map(e => e.data.message);
const logged = (place, word, name = 'agent.log') => place.lines(name).filter(l => l.startsWith(`${word} `)).map(l => l.slice(word.length + 1));
const pids = place => [...logged(place, 'start'), ...logged(place, 'child')].map(Number);

/** Adds an agent without ACP: a shell script that gets the prompt on stdin. */
function script(place, name, text) {
    place.write('symposium/config.toml', place.read('symposium/config.toml') + `\n[[task-agent]]\n${toml({
        name, command: 'sh', args: ['-c', text], protocol: 'cli', prompt: 'stdin',
    })}`);
}

async function begun(server, id, type = 'session_started') {
    await until(`${type} of ${id}`, async () => types(await events(server, id)).includes(type), 10000);
}

// --- floods -----------------------------------------------------------------------------------------------------------
const flood = slow ? 10240 * MB : 96 * MB;
scenario(`SEC-53 ACP-17 TK-6: ${flood / MB} MB of updates reach the output cap, once; the task goes on; memory is bounded`, { timeout: 3600e3 }, async place => {
    agents(place);
    const s = await place.serve('symm');
    const before = rssOf(s.pid);
    const t = await spawn(s, `acp: flood=${flood} ask=edit text=the_end`, { allow: ['edit'], max_output_bytes: 8 * MB });
    const r = await ended(s, t.task_id, slow ? 3000 : 300);
    const all = await events(s, t.task_id, { types: ['error', 'permission', 'process_exited', 'status_changed'] });
    assert.equal(r.status, 'succeeded', JSON.stringify(all));
    assert.deepEqual(errors(all).map(m => m.startsWith('output cap')), [true], JSON.stringify(errors(all)));
    assert.equal(all.filter(e => e.type === 'permission').length, 1);
    assert.equal(all.at(-1).data.to, 'succeeded');
    if (!sanitized) assert.ok(peakOf(s.pid) - before < 128 * MB, `peak ${peakOf(s.pid) / MB} MB, before ${before / MB} MB`);
    // Others are answered meanwhile, and after.
    await ask(s, 'list_tasks', {});
});

scenario('SEC-53: while an agent floods, the server answers others', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: flood=0', { max_output_bytes: 4 * MB });
    await begun(s, t.task_id, 'agent_message');
    const times = [];
    for (let i = 0; i < 20; i++) times.push(await timed(() => ask(s, 'list_tasks', {}), [s.pid]));
    times.sort((a, b) => a - b);
    assert.ok(times[10] < 100 * slack, `median ${times[10]} ms`);
    await ask(s, 'cancel_task', { task_id: t.task_id }, { ms: 60000 });
    assert.equal((await ended(s, t.task_id)).status, 'cancelled');
});

scenario('TK-18 ACP-1: stderr, lines that are none and one that is too long do no harm', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = await spawn(s, `acp: stderr=200000 junk=500 long=${17 * MB} unknown foreign text=fine`);
    const r = await ended(s, t.task_id, 60);
    assert.deepEqual([r.status, r.result_text], ['succeeded', 'fine']);
    const text = (await events(s, t.task_id, { types: ['stderr'], max_bytes: 4 * MB })).map(e => e.data.text).join('');
    assert.equal(text.length, 200000);
});

// --- ends -------------------------------------------------------------------------------------------------------------
scenario('SEC-54 TK-21: a child in a session of its own is swept after success, and one that holds stdout', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    for (const word of ['grandchild', 'daemon']) {
        const t = await spawn(s, `acp: ${word} text=done`);
        const r = await ended(s, t.task_id);
        assert.deepEqual([r.status, r.result_text], ['succeeded', 'done']);
        for (const pid of pids(place)) assert.equal(alive(pid), false, `${word}: ${pid}`);
    }
    assert.equal(logged(place, 'child').length, 2);
});

scenario('SEC-55 TK-22: SIGKILL of the server with three agents: none is alive 5 s later; the next server says "owner lost"', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    const ids = [];
    for (const words of ['hang=turn', 'hang=turn stubborn grandchild', 'hang=turn stubborn ignore-cancel daemon'])
        ids.push((await spawn(s, `acp: ${words}`)).task_id);
    await until('all three hang', () => logged(place, 'child').length === 2 && pids(place).length === 5, 10000);
    s.sawExit = true;
    process.kill(s.pid, 'SIGKILL');
    await until('no agent is alive', () => pids(place).every(pid => !alive(pid)), 5000 / slack);
    const next = await place.serve('symm');
    for (const id of ids) {
        const r = await ended(next, id);
        assert.equal(r.status, 'failed');
        const all = await events(next, id);
        assertDense(all);
        assert.deepEqual(errors(all), ['owner lost']);
    }
});

scenario('TK-21: an agent that ignores cancel, SIGTERM and the end of stdin is killed within 12 s, with all it started', { timeout: 120e3 }, async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`, 'stubborn'] });
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: hang=turn ignore-cancel grandchild daemon');
    await until('it hangs', () => logged(place, 'child').length === 1, 10000);
    const ms = await timed(() => ask(s, 'cancel_task', { task_id: t.task_id, reason: 'enough' }, { ms: 60000 })
        .then(() => ended(s, t.task_id)), [s.pid]);
    const r = await ask(s, 'get_task', { task_id: t.task_id });
    assert.deepEqual([r.status, r.signal, r.exit_code], ['cancelled', 9, null]);
    assert.ok(ms >= 7800 && ms < 12000 + 500 * slack, `${ms} ms`);
    for (const pid of pids(place)) assert.equal(alive(pid), false);
});

scenario('ACP-20: an agent that lives on after the end of its stdin is ended, and its task is what the turn came to', async place => {
    agents(place, { words: ['linger=60000'] });
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: text=done late=3');
    const r = await ended(s, t.task_id);
    assert.deepEqual([r.status, r.stop_reason], ['succeeded', 'end_turn']);
    const all = await events(s, t.task_id);
    // ACP-13: what came after the end of the turn is kept.
    assert.match(all.filter(e => e.type === 'agent_message').map(e => e.data.text).join(''), /done.*late 0.*late 2/s);
});

scenario('TK-20: at its deadline a task is called off and fails', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: hang=turn text=so_far', { deadline_s: 2 });
    const r = await ended(s, t.task_id);
    assert.deepEqual([r.status, r.stop_reason], ['failed', 'cancelled']);
    const all = await events(s, t.task_id);
    assert.match(errors(all).join(), /^deadline: /);
    assert.equal(types(all).includes('task_cancelled'), false);
    assert.ok(Date.parse(r.finished_at) - Date.parse(r.started_at) >= 2000);
});

for (const [words, says] of [['die=turn', /ended by signal 9/], ['exit=turn:5', /exited with status 5/], ['exit=initialize:6', /exited with status 6/]]) {
    scenario(`TK-2: an agent that dies (${words}) leaves a failed task that says so`, async place => {
        agents(place, { words: [words] });
        const s = await place.serve('symm');
        const t = await spawn(s, 'p');
        const r = await ended(s, t.task_id);
        assert.equal(r.status, 'failed');
        assert.match(errors(await events(s, t.task_id)).join(), says);
    });
}

// --- settings and permissions -------------------------------------------------------------------------------------------
for (const [name, words, more, says] of [
    ['the setting', ['options=model'], {}, /'?mode/],
    ['its value', [], { keys: { pins: { mode: 'stealth' } } }, /mode.*stealth/],
    ['obedience', ['ignore-pins'], {}, /mode.*default/],
    ['a pin that the model undoes', ['undo-pins'], { spawn: { model: 'big' } }, /mode.*default/],
    ['the model', [], { spawn: { model: 'huge' } }, /model.*huge/],
    ['the effort', [], { spawn: { effort: 'huge' } }, /effort.*huge/],
]) {
    scenario(`TK-29 ACP-8: ${name} is missing: the task fails before the prompt, and names it`, async place => {
        agents(place, { words: [`log=${place.path('agent.log')}`, ...words], ...more });
        const s = await place.serve('symm');
        const t = await spawn(s, 'secret prompt', more.spawn);
        const r = await ended(s, t.task_id);
        assert.equal(r.status, 'failed');
        const e = (await events(s, t.task_id)).find(x => x.type === 'error');
        assert.match(`${e.data.step} ${e.data.message} ${e.data.setting} ${e.data.value}`, says);
        assert.equal(place.read('agent.log').includes('secret prompt'), false, 'the agent never saw the prompt');
    });
}

scenario('SEC-52 TK-31: who offers only "always" gets "cancelled"; it is recorded, and nothing is granted', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    for (const [prompt, allow, outcome, kind] of [
        ['acp: ask=edit offer=always', ['edit'], 'cancelled'],
        ['acp: ask=edit offer=always', [], 'cancelled'],
        ['acp: ask=edit', ['edit'], 'selected', 'allow_once'],
        ['acp: ask=edit', ['read'], 'selected', 'reject_once'],
    ]) {
        fs.rmSync(path.join(place.workspace, 'did-edit'), { force: true });
        const t = await spawn(s, prompt, { allow });
        await ended(s, t.task_id);
        const [p, ...rest] = await events(s, t.task_id, { types: ['permission'] });
        assert.deepEqual([p.data.outcome, p.data.option_kind, p.data.tool_kind, rest.length], [outcome, kind, 'edit', 0]);
        assert.equal(fs.existsSync(path.join(place.workspace, 'did-edit')), kind === 'allow_once');
    }
});

scenario('TK-32: a rejection that ends the turn fails the task with a word', async place => {
    agents(place);
    const s = await place.serve('symm');
    const t = await spawn(s, 'acp: ask=execute reject-cancels');
    const r = await ended(s, t.task_id);
    assert.deepEqual([r.status, r.stop_reason], ['failed', 'cancelled']);
    assert.deepEqual(errors(await events(s, t.task_id)), ['ended after a rejected permission']);
});

// --- capacity and recursion ---------------------------------------------------------------------------------------------
scenario('TK-24: two servers share one capacity; who waits starts by priority, then age', async place => {
    agents(place, { tasks: { 'max-concurrent': 2 } });
    const [a, b] = [await place.serve('symm'), await place.serve('symm')];
    const first = [await spawn(a, 'acp: hang=turn'), await spawn(b, 'acp: hang=turn')];
    const waiting = [];
    for (const [server, priority] of [[a, 0], [b, 0], [a, 5], [b, -5]])
        waiting.push({ server, priority, ...await spawn(server, 'acp: text=x', { priority }) });
    assert.deepEqual(waiting.map(t => t.status), ['created', 'created', 'created', 'created']);
    await sleep(1200);
    assert.equal((await ask(a, 'list_tasks', { status: 'created' })).tasks.length, 4, 'nobody got in');
    await ask(b, 'cancel_task', { task_id: first[1].task_id }, { ms: 30000 });
    const started = [];
    for (const t of waiting) started.push((await ended(t.server, t.task_id)).started_at);
    const order = waiting.map((t, i) => [started[i], t.priority]).sort((x, y) => (x[0] < y[0] ? -1 : 1)).map(x => x[1]);
    assert.deepEqual(order, [5, 0, 0, -5]);
    await ask(a, 'cancel_task', { task_id: first[0].task_id }, { ms: 30000 });
});

scenario('TK-24: without the memory that min-free-mb asks for, a task waits', async place => {
    agents(place, { tasks: { 'min-free-mb': 1 << 30 } });
    const s = await place.serve('symm');
    const t = await spawn(s, 'p');
    assert.equal(t.status, 'created');
    await ask(s, 'cancel_task', { task_id: t.task_id });
    assert.equal((await ended(s, t.task_id)).status, 'cancelled');
});

// With the variable, and without it, as agents filter environments.
for (const [how, env] of [['by the variable', ''], ['by the parents of its processes', 'env -u SYMPOSIUM_TASK_CHAIN ']]) {
    scenario(`TK-24: a task that hands itself on is stopped four deep (${how})`, { timeout: 240e3 }, async place => {
        agents(place);
        script(place, 'deeper', `read n; ${env}'${bin}' task spawn deeper "$((n + 1))" --wait 2>&1`);
        const s = await place.serve('symm');
        const t = await spawn(s, '1', { agent: 'deeper' });
        await ended(s, t.task_id, 120);
        const { tasks } = await ask(s, 'list_tasks', {});
        assert.equal(tasks.length, 4, JSON.stringify(await events(s, t.task_id)));
        for (const x of tasks) assert.equal(x.status, 'failed');
        const out = (await events(s, tasks[0].task_id, { types: ['stdout'] })).map(e => e.data.text).join('');
        assert.match(out, /invalid_request: tasks may be handed on at most 4 deep/);
        for (let i = 0; i + 1 < tasks.length; i++) assert.equal(tasks[i].parent_task_id, tasks[i + 1].task_id);
    });

    scenario(`TK-24: a task that is handed on to its like is refused (${how})`, { timeout: 240e3 }, async place => {
        agents(place);
        script(place, 'again', `read n; ${env}'${bin}' task spawn again same --wait 2>&1`);
        const s = await place.serve('symm');
        const t = await spawn(s, 'same', { agent: 'again' });
        assert.equal((await ended(s, t.task_id, 120)).status, 'failed');
        assert.equal((await ask(s, 'list_tasks', {})).tasks.length, 1);
        const out = (await events(s, t.task_id, { types: ['stdout'] })).map(e => e.data.text).join('');
        assert.match(out, new RegExp(`invalid_request: task ${t.task_id}, for which this one would work, has the same agent`));
    });
}

// --- where it runs ------------------------------------------------------------------------------------------------------
scenario('TK-19: a worktree is made for the task; clean it goes with the resolution, else it stays and is named', async place => {
    const git = (...args) => execFileSync('git', ['-C', place.workspace, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { encoding: 'utf8' });
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    agents(place);
    const s = await place.serve('symm');
    for (const allow of [[], ['edit']]) {
        const t = await spawn(s, 'acp: ask=edit', { allow, worktree: true });
        const r = await ended(s, t.task_id);
        assert.equal(r.status, 'succeeded', JSON.stringify(errors(await events(s, t.task_id))));
        assert.deepEqual([r.worktree, r.branch, r.workspace],
            [path.join(place.home, 'state/worktrees', t.task_id), `symposium/${t.task_id}`, place.workspace]);
        assert.equal(fs.existsSync(path.join(r.worktree, 'package.json')), true);
        assert.equal(fs.existsSync(path.join(r.worktree, 'did-edit')), allow.length > 0);
        assert.equal(fs.existsSync(path.join(place.workspace, 'did-edit')), false);
        const judged = await ask(s, 'resolve_task', { task_id: t.task_id, resolution: 'accepted' });
        await until('the worktree is judged', () => fs.existsSync(r.worktree) === allow.length > 0, 5000);
        assert.equal(git('branch', '--list', r.branch).includes(r.branch), allow.length > 0);
        assert.ok(judged);
    }
});

scenario('TK-25 ACP-19: a resumed session goes on in a new process; an unknown one is named', async place => {
    agents(place, { words: [`sessions=${place.path('sessions.json')}`, `log=${place.path('agent.log')}`] });
    const s = await place.serve('symm');
    const first = await ended(s, (await spawn(s, 'acp: text=one')).task_id);
    const t = await spawn(s, 'acp: text=two', { session_id: first.session_id });
    const second = await ended(s, t.task_id);
    assert.deepEqual([second.status, second.session_id, second.result_text], ['succeeded', first.session_id, 'two']);
    assert.equal((await events(s, t.task_id)).filter(e => e.type === 'agent_message').map(e => e.data.text).join(''), 'two', 'no history');
    const lost = await ended(s, (await spawn(s, 'p', { session_id: 'no-such-session' })).task_id);
    assert.equal(lost.status, 'failed');
    assert.match(errors(await events(s, lost.task_id)).join(), /no-such-session/);
});

scenario('TK-19 TK-28: an agent sees the workspace, its own variables, and nothing of a program that the workspace holds', async place => {
    agents(place);
    script(place, 'look', 'pwd; echo "chain=$SYMPOSIUM_TASK_CHAIN"; ls /proc/self/fd');
    fs.mkdirSync(path.join(place.workspace, 'bin'));
    fs.writeFileSync(path.join(place.workspace, 'bin/sh'), '#!/bin/false\n', { mode: 0o755 });
    const s = await place.serve('symm', [], { env: { PATH: `bin:.::${process.env.PATH}` } });
    const t = await spawn(s, 'p', { agent: 'look' });
    const r = await ended(s, t.task_id);
    assert.equal(r.status, 'succeeded');
    const [cwd, chain, ...fds] = r.result_text.trim().split('\n');
    assert.deepEqual([cwd, chain], [place.workspace, `chain=${t.task_id}`]);
    assert.deepEqual(fds, ['0', '1', '2', '3'], 'all other descriptors are closed; 3 is ls\' own');
});
