// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Random SIGKILLs of servers, agents, detached owners and commands, under load and in one ledger. Then: the ledger opens, the events of
// each task are dense, nothing that was acknowledged is lost, every task has ended, and of all the processes none is alive.
//
// 300 kills in the ordinary run (100 of a sanitized program), 10,000 with TEST_SLOW. A kill is counted when its process was alive.
import assert from 'node:assert/strict';
import { spawn as start } from 'node:child_process';
import fs from 'node:fs';
import { alive, bin, childrenOf, commandOf, sanitized, scenario, sleep, slack, treeOf, until } from './harness.mjs';
import { TERMINAL, agents, ask, assertDense } from './tasks.mjs';

const KILLS = Number(process.env.TEST_KILLS ?? (process.env.TEST_SLOW ? 10000 : sanitized ? 100 : 300));
const pick = list => list[Math.floor(Math.random() * list.length)];
const PROMPTS = ['acp: text=quick', 'acp: chunks=20 delay=20 text=word_word_word_word_word', 'acp: tool plan ask=edit', 'acp: hang=turn', 'acp: flood=200000',
    'acp: grandchild delay=50 chunks=5'];

/** What the ledger said it has. seen: "id seq" -> "type ts"; last: id -> the highest seq. */
class Acknowledged {
    tasks = new Map();
    judged = new Map();
    seen = new Map();
    last = new Map();
    spawned(t) { this.tasks.set(t.task_id, t.status); }
    ended(t) { if (TERMINAL.includes(t.status)) this.tasks.set(t.task_id, t.status); }
    events(id, list) {
        for (const e of list) this.seen.set(`${id} ${e.seq}`, `${e.type} ${e.ts}`);
        if (list.length) this.last.set(id, Math.max(this.last.get(id) ?? 0, list.at(-1).seq));
    }
}

/** One client with a server of its own, which it starts again when it was killed. */
class Worker {
    constructor(place, ack) { Object.assign(this, { place, ack, going: true }); }
    async open() {
        this.child = start(bin, ['symm'], { cwd: this.place.workspace, env: this.place.env(), stdio: ['pipe', 'pipe', 'ignore'] });
        this.pid = this.child.pid;
        this.waiting = new Map();
        this.next = 1;
        this.gone = new Promise(done => this.child.on('close', done));
        this.gone.then(() => { for (const fail of this.waiting.values()) fail(undefined); this.waiting.clear(); });
        this.child.stdin.on('error', () => {});
        let rest = '';
        this.child.stdout.setEncoding('utf8').on('data', d => {
            const lines = (rest + d).split('\n');
            rest = lines.pop();
            for (const l of lines) {
                const m = JSON.parse(l);
                this.waiting.get(m.id)?.(m);
                this.waiting.delete(m.id);
            }
        });
        await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'kill', version: '1' } });
        this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    }
    /** The answer, or undefined when the server died first. */
    request(method, params) {
        const id = this.next++;
        return new Promise(done => {
            if (this.child.exitCode !== null || this.child.signalCode !== null) return done(undefined);
            this.waiting.set(id, done);
            this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        });
    }
    async call(name, args) {
        const m = await this.request('tools/call', { name, arguments: args });
        return m?.result && !m.result.isError ? m.result.structuredContent : undefined;
    }
    async step() {
        const known = [...this.ack.tasks.keys()], id = pick(known);
        const what = known.length < 4 ? 0 : Math.random();
        if (what < 0.35) {
            const t = await this.call('spawn_task', { agent: 'fake', prompt: pick(PROMPTS), allow: ['edit'] });
            if (t && !t.error) this.ack.spawned(t);
        } else if (what < 0.55) {
            const page = await this.call('get_events', { task_id: id, limit: 200 });
            if (page) this.ack.events(id, page.events);
        } else if (what < 0.7) {
            const w = await this.call('wait_tasks', { task_ids: [id, pick(known)], timeout_s: 1 });
            for (const t of w?.tasks ?? []) this.ack.ended(t);
        } else if (what < 0.85) {
            const resolution = pick(['accepted', 'rejected', 'superseded']), note = `${Math.random()}`;
            const r = await this.call('resolve_task', { task_id: id, resolution, note });
            if (r) this.ack.judged.set(id, [...(this.ack.judged.get(id) ?? []), note]);
        } else if (what < 0.95) {
            const r = await this.call('cancel_task', { task_id: id });
            if (r) this.ack.ended(r);
        } else {
            await this.call('list_tasks', { limit: 20 });
        }
    }
    async work() {
        while (this.going) {
            await this.open();
            while (this.going && this.child.exitCode === null && this.child.signalCode === null) await this.step();
            if (this.going) await this.gone;
        }
        this.child.stdin.end();
        await this.gone;
    }
}

/** Commands beside the servers: spawns with their owners, views, judgements. */
async function command(place, ack) {
    const known = [...ack.tasks.keys()], id = pick(known);
    const args = !id || Math.random() < 0.4 ? ['spawn', 'fake', pick(PROMPTS)]
        : pick([['ls'], ['show', id], ['wait', id, '--timeout', '1'], ['follow', id, '--after', '3'], ['cancel', id]]);
    const child = start(bin, ['task', ...args], { cwd: place.workspace, env: place.env(), stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', d => { out += d; });
    const timer = setTimeout(() => child.kill('SIGINT'), 3000 * slack);
    await new Promise(done => child.on('close', done));
    clearTimeout(timer);
    if (args[0] === 'spawn' && /^[0-9a-f-]{36}\n$/.test(out)) ack.tasks.set(out.trim(), 'created');
}

/** Something of ours to kill: a server, an owner, a command, an agent, what an agent left. Keepers are what all of this is about. */
function victim(workers) {
    const all = [...workers.map(w => w.pid), ...childrenOf(process.pid)].filter((pid, i, list) => list.indexOf(pid) === i);
    const ours = all.flatMap(pid => [pid, ...treeOf(pid)]).filter(pid => alive(pid) && commandOf(pid)[1] !== 'keeper' && /symposium|acp-agent|sleep/.test(commandOf(pid).join(' ')));
    return pick(ours);
}
const parentOf = pid => { try { return /\) \w (\d+)/.exec(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))[1]; } catch { return 0; } };
const owners = place => place.survivors().filter(pid => commandOf(pid)[1] === 'task-owner');

scenario(`TK-3 TK-5 TK-22 TK-33 SEC-55: ${KILLS} random kills of servers, agents and commands under load`, { inRam: true, timeout: 3600000 }, async place => {
    agents(place, { tasks: { 'max-concurrent': 12, 'keep-tasks': 1000000, 'keep-mb': 100000 } });   // nothing goes by age or number
    const ack = new Acknowledged(), workers = Array.from({ length: 3 }, () => new Worker(place, ack));
    const work = workers.map(w => w.work());
    let going = true, kills = 0, errors = [];
    const commands = (async () => { while (going) await command(place, ack).catch(e => errors.push(e)); })();
    for (let n = 0; kills < KILLS; n++) {
        await sleep(Math.random() * 120);
        const pid = n % 10 === 9 ? pick(owners(place)) : victim(workers);
        if (!pid) continue;
        try { process.kill(pid, 'SIGKILL'); kills++; } catch { /* it ended first */ }
    }
    going = false;
    for (const w of workers) w.going = false;
    await commands;
    await Promise.all(work);
    assert.deepEqual(errors, []);
    for (const pid of owners(place)) process.kill(pid, 'SIGKILL');
    const left = () => place.survivors().map(pid => `${pid} of ${parentOf(pid)}: ${commandOf(pid).join(' ')}`);
    await until('no process is left', () => left().length === 0, 5000).catch(e => { throw new Error(`${e.message}\n${left().join('\n')}`); });

    /* One more process looks at it: what no owner is left of has ended when it answers. */
    const s = await place.serve('symm');
    const all = [];
    let cursor;
    do {
        const page = await ask(s, 'list_tasks', { limit: 500, ...(cursor && { cursor }) });
        all.push(...page.tasks);
        cursor = page.next_cursor;
    } while (cursor);
    const byId = new Map(all.map(t => [t.task_id, t]));
    await until('all tasks have ended', async () => {
        const open = (await ask(s, 'list_tasks', { limit: 500 })).tasks.filter(t => !TERMINAL.includes(t.status));
        return open.length === 0;
    }, 15000);
    for (const [id, status] of ack.tasks) {
        const t = byId.get(id);
        assert.ok(t, `task ${id} was acknowledged, and is gone`);
        if (TERMINAL.includes(status)) assert.equal(t.status, status, `${id}: an end that was told does not change`);
    }
    let events = 0;
    for (const { task_id } of all) {
        const list = [];
        for (let after = 0, more = true; more;) {
            const page = await ask(s, 'get_events', { task_id, after_seq: after, limit: 5000, max_bytes: 4194304 });
            list.push(...page.events);
            ({ cursor: after, more } = page);
        }
        assertDense(list);
        events += list.length;
        for (const e of list) {
            const told = ack.seen.get(`${task_id} ${e.seq}`);
            if (told) assert.equal(`${e.type} ${e.ts}`, told, `event ${e.seq} of ${task_id}`);
        }
        const last = ack.last.get(task_id) ?? 0;
        assert.ok(list.length >= last, `${task_id}: event ${last} was told, and is gone`);
        const notes = list.filter(e => e.type === 'task_resolved').map(e => e.data.note);
        for (const note of ack.judged.get(task_id) ?? []) assert.ok(notes.includes(note), `${task_id}: a judgement is gone`);
        assert.equal(list.filter(e => e.type === 'status_changed' && TERMINAL.includes(e.data.to)).length, 1, `${task_id} ended once`);
    }
    console.log(`${kills} kills, ${all.length} tasks, ${events} events, ${ack.seen.size} of them told, ${[...ack.judged.values()].flat().length} judgements`);
});
