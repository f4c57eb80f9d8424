// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium task` (TK-34): the same hand-off in a terminal, with a detached owner for what it spawns.
import assert from 'node:assert/strict';
import { execFileSync, spawn as start } from 'node:child_process';
import fs from 'node:fs';
import { Place, alive, bin, commandOf, run, scenario, slack, sleep, until, within } from './harness.mjs';
import { agents, ask, assertDense } from './tasks.mjs';

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const task = (place, args, opts = {}) => run(place, ['task', ...args], { ms: 60000, ...opts });
const owners = place => place.survivors().filter(pid => commandOf(pid)[1] === 'task-owner');

/** The id that spawn prints. */
async function spawned(place, args) {
    const r = await task(place, ['spawn', ...args]);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out.trim(), UUID7);
    return r.out.trim();
}

scenario('TK-34: spawn prints the id once it runs, and a process of its own session goes on with it', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const id = await spawned(place, ['fake', 'acp: delay=700 chunks=4 text=by_itself']);
    const [owner] = owners(place);
    assert.ok(owner, 'there is an owner');
    const stat = fs.readFileSync(`/proc/${owner}/stat`, 'latin1').split(') ')[1].split(' ');
    assert.equal(Number(stat[3]), owner, 'it leads a session of its own');
    assert.equal(stat[4], '0', 'without a terminal');
    for (const fd of [0, 1, 2]) assert.doesNotMatch(fs.readlinkSync(`/proc/${owner}/fd/${fd}`), /tty|pts/);
    const waited = await task(place, ['wait', id]);
    assert.deepEqual([waited.code, waited.out], [0, `${id}  succeeded\n`]);
    const shown = await task(place, ['show', id]);
    assert.match(shown.out, /status +succeeded\n[^]*Result\nby itself\n/);
    await until('the owner is gone', () => owners(place).length === 0, 5000);
    assert.ok(fs.readdirSync(place.path('symposium/logs')).length > 0, 'it logs to a file');
});

scenario('TK-34: --follow shows the events, and the exit status says how it ended', async place => {
    agents(place);
    const good = await task(place, ['spawn', 'fake', 'acp: plan tool text=Hello_there', '--follow']);
    assert.equal(good.code, 0, good.err);
    const lines = good.out.split('\n');
    assert.match(lines[0], UUID7);
    for (const part of ['status running', 'plan   [ ] a', 'tool   read: reads (pending)', 'Hello there', 'status succeeded'])
        assert.ok(good.out.includes(part), `${part} in:\n${good.out}`);
    assert.match(good.err, /task \S+ succeeded \(end_turn\)/);
    const bad = await task(place, ['spawn', 'fake', 'acp: stop=refusal', '--wait']);
    assert.deepEqual([bad.code, bad.out.trim().split('\n').length], [1, 1]);
    assert.match(bad.err, /failed \(refusal\)/);
    const following = task(place, ['spawn', 'fake', 'acp: hang=turn', '--follow']);
    let id;
    await until('it runs', async () => {
        const list = JSON.parse((await task(place, ['ls', '--status', 'running', '--json'])).out);
        id = list[0]?.task_id;
        return id;
    }, 20000);
    assert.equal((await task(place, ['cancel', id, '--reason', 'enough'])).code, 0);
    const ended = await following;
    assert.deepEqual([ended.code, /cancel enough\n/.test(ended.out)], [3, true]);
    const again = await task(place, ['follow', id]);
    assert.equal(again.code, 3);
});

scenario('TK-34: Ctrl-C of --follow leaves the task running and says so', async place => {
    agents(place);
    const child = start(bin, ['task', 'spawn', 'fake', 'acp: delay=300 chunks=20 text=going_on_and_on', '--follow'],
        { cwd: place.workspace, env: place.env() });
    let out = '', err = '';
    child.stdout.on('data', d => { out += d; });
    child.stderr.on('data', d => { err += d; });
    const exited = new Promise(done => child.on('close', (code, signal) => done({ code, signal })));
    await until('it speaks', () => out.includes('going'), 20000);
    child.kill('SIGINT');
    assert.deepEqual(await within('its end', 5000, exited), { code: null, signal: 'SIGINT' });
    const id = out.split('\n')[0];
    assert.match(err, new RegExp(`task ${id} runs on; 'symposium task follow ${id}'`));
    const shown = JSON.parse((await task(place, ['get', id, '--json'])).out)[0];
    assert.equal(shown.status, 'running');
    assert.equal((await task(place, ['cancel', id])).code, 0);
});

scenario('TK-34: --json is one array of tagged events for every action', async place => {
    agents(place);
    const json = async args => JSON.parse((await task(place, [...args, '--json'])).out);
    const [first] = await json(['spawn', 'fake', 'acp: text=x']);
    assert.deepEqual([first.type, first.status], ['task', 'running']);
    const id = first.task_id;
    const events = await json(['events', id]);
    assert.deepEqual([...new Set(events.map(e => e.type))], ['event', 'task']);
    assert.ok(events.slice(0, -1).every(e => e.task_id === id));
    assertDense(events.slice(0, -1).map(e => e.event));
    assert.equal(events.at(-1).status, 'succeeded');
    const later = await json(['follow', id, '--after', '3']);
    assert.equal(later[0].event.seq, 4);
    assert.deepEqual((await json(['wait', id])).map(t => [t.type, t.task_id, t.status]), [['task', id, 'succeeded']]);
    assert.equal((await json(['resolve', id, 'accepted', '--note', 'fine']))[0].note, 'fine');
    assert.equal((await json(['cancel', id]))[0].status, 'succeeded');
    assert.equal((await json(['list']))[0].resolution, 'accepted');
    const followed = await json(['spawn', 'fake', 'acp: text=y', '--follow']);
    assert.deepEqual([followed[0].event.type, followed.at(-1).result_text], ['task_created', 'y']);
    assert.deepEqual((await json(['spawn', 'fake', 'acp: text=z', '--wait'])).map(e => e.type), ['task']);
    assert.deepEqual(await json(['ls', '--status', 'failed']), []);
});

scenario('TK-34: what spawn is told reaches the task', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    fs.mkdirSync(place.path('other'));
    const r = await task(place, ['spawn', 'fake', '-', '--workspace', place.path('other'), '--model', 'big', '--effort', 'high', '--allow', 'edit,read',
        '--allow', 'execute', '--label', 'a', '--label', 'b', '--initiator', 'me', '--executor', 'you', '--priority', '3', '--deadline', '60', '--key', 'k',
        '--wait'], { input: 'acp: ask=edit' });
    assert.equal(r.code, 0, r.err);
    const [t] = JSON.parse((await task(place, ['ls', '--label', 'b', '--json'])).out);
    assert.deepEqual([t.workspace, t.labels, t.initiator_id, t.executor_id], [place.path('other'), ['a', 'b'], 'me', 'you']);
    assert.ok(fs.existsSync(place.path('other/did-edit')), 'the allowed tool was done');
    const sent = place.lines('agent.log').filter(l => l.includes('set_config_option')).map(l => JSON.parse(l.slice(5)).params);
    assert.deepEqual(sent.map(p => [p.configId, p.value]), [['mode', 'default'], ['model', 'big'], ['effort', 'high']]);
    const same = await task(place, ['spawn', 'fake', 'x', '--key', 'k', '--initiator', 'me']);
    assert.equal(same.out.trim(), t.task_id);
    assert.equal((await task(place, ['ls', '--here', '--json'])).out, '[]\n');
});

scenario('TK-34: resolve, cancel and what is refused', async place => {
    agents(place);
    const id = await spawned(place, ['fake', 'acp: hang=turn']);
    const none = '01900000-0000-7000-8000-000000000000';
    for (const [args, code, says] of [
        [['show', none], 1, /task_not_found/],
        [['resolve', id, 'accepted'], 1, /invalid_transition: .*running/],
        [['resolve', id, 'fine'], 1, /invalid_request: 'resolution'/],
        [['spawn', 'nobody', 'p'], 1, /unknown_agent: .*nobody/],
        [['spawn', 'fake', 'p', '--option', 'x=y'], 1, /invalid_request: .*x/],
        [['spawn', 'fake', 'p', '--option', 'x'], 2, /NAME=VALUE/],
        [['spawn', 'fake', 'p', '--deadline', 'soon'], 2, /'--deadline' is a number/],
        [['spawn', 'fake', 'p', '--follow', '--wait'], 2, /one of the two/],
        [['spawn', 'fake'], 2, /needs more/],
        [['show', id, id], 2, /unexpected argument/],
        [['show', id, '--follow'], 2, /'--follow' is not an option of 'task show'/],
        [['follow', id, '--after', 'x'], 2, /seq/],
        [['wait', id, '--timeout', '0'], 1, /not ended within the time/],
        [['ls', '--limit', '0'], 2, /1 to 500/],
        [['ls', '--status', 'done'], 1, /invalid_request: 'status'/],
        [['dance'], 2, /no action 'dance'/],
        [[], 2, /say what/],
    ]) {
        const r = await task(place, args);
        assert.deepEqual([r.code, says.test(r.err)], [code, true], `${args.join(' ')}: ${r.code} ${r.err}`);
    }
    const r = await task(place, ['cancel', id, '--reason', 'over']);
    assert.deepEqual([r.code, /status +cancelled/.test(r.out)], [0, true]);
    assert.match((await task(place, ['resolve', id, 'rejected', '--note', 'why'])).out, /resolution +rejected[^]*Note\nwhy\n/);
    assert.equal((await task(place, ['wait', id])).code, 3);
});

scenario('TK-34: the table fits the terminal, and has no control characters', async place => {
    agents(place);
    const id = await spawned(place, ['fake', 'acp: text=x']);
    await task(place, ['wait', id]);
    for (const width of [54, 60, 72, 80, 100, 140]) {
        const out = execFileSync('script', ['-qec', `stty cols ${width}; '${bin}' task ls`, '/dev/null'],
            { cwd: place.workspace, env: place.env({ TERM: 'dumb' }), encoding: 'utf8' });
        const lines = out.replaceAll('\r', '').split('\n').filter(Boolean);
        assert.equal(lines.length, 2, out);
        for (const l of lines) assert.ok(l.length <= width, `${width}: ${l}`);
        assert.ok(lines[1].startsWith(id));
    }
});

scenario('TK-34 TK-22: SIGTERM of the owner cancels the task; SIGKILL leaves no agent alive', async place => {
    agents(place, { words: [`log=${place.path('agent.log')}`] });
    const one = await spawned(place, ['fake', 'acp: hang=turn']);
    process.kill(owners(place)[0], 'SIGTERM');
    assert.equal((await task(place, ['wait', one])).code, 3);
    const two = await spawned(place, ['fake', 'acp: hang=turn']);
    process.kill(owners(place)[0], 'SIGKILL');
    const pids = () => place.lines('agent.log').filter(l => l.startsWith('start ')).map(l => Number(l.slice(6)));
    await until('no agent is alive', () => pids().every(pid => !alive(pid)), 5000);
    const r = await task(place, ['wait', two]);
    assert.equal(r.code, 1);
    assert.match((await task(place, ['follow', two])).out, /error +.*owner lost/);
});

scenario('TK-8: a spawn whose agent is not there fails at once, says why, and is a task all the same', async place => {
    agents(place);
    place.write('symposium/config.toml', `${place.read('symposium/config.toml')}\n[[task-agent]]\nname = "absent"\ncommand = "no-such-program"\nargs = []\nprotocol = "acp"\n`);
    const r = await task(place, ['spawn', 'absent', 'p']);
    assert.equal(r.code, 1);
    assert.match(r.err, /no-such-program/);
    const shown = await task(place, ['show', r.out.trim()]);
    assert.match(shown.out, /status +failed/);
});

scenario('TK-34: two at once, and a server beside them, see each other\'s tasks', async place => {
    agents(place);
    const s = await place.serve('symm');
    const ids = await Promise.all([1, 2, 3].map(n => spawned(place, ['fake', `acp: text=n${n}`])));
    const w = await ask(s, 'wait_tasks', { task_ids: ids, mode: 'all', timeout_s: 60 }, { ms: 60000 });
    assert.deepEqual([...w.ready].sort(), [...ids].sort());
    assert.equal((await task(place, ['wait', ...ids])).code, 0);
});

scenario('TK-9 TK-12 TK-34: ls and show tell what was asked, and show why it failed', async place => {
    agents(place);
    place.write('symposium/config.toml', `${place.read('symposium/config.toml')}\n[[task-agent]]\nname = "absent"\ncommand = "no-such-program"\nargs = []\nprotocol = "acp"\n`);
    const prompt = `mend the tests ${'ü'.repeat(300)}`;
    const id = (await task(place, ['spawn', 'absent', prompt])).out.trim();
    assert.match((await task(place, ['ls'])).out, /PROMPT\n.*failed.*mend the tests/);
    const shown = await task(place, ['show', id]);
    assert.match(shown.out, /^prompt +mend the tests/m);
    assert.match(shown.out, /\n\nerror +.*there is no 'no-such-program' in PATH/);
    const [record] = JSON.parse((await task(place, ['show', id, '--json'])).out);
    assert.equal(record.prompt, prompt.slice(0, 15 + 92), 'at most 200 bytes, whole characters');
});
