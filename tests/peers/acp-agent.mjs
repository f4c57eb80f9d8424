#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An ACP agent without a model: node acp-agent.mjs WORD... It behaves well until words tell it otherwise. Words come from the
// command line, from ACP_AGENT in the environment, and, for one turn, from the prompt behind "acp:":
//
//   node acp-agent.mjs log=/tmp/x.log no-list          prompt "acp: ask=edit text=done late=2"
//
// Blanks separate words, so values have none ('_' shows as a blank in texts). A word of the prompt wins.
//
//   log=FILE         a line for each thing: "start PID", "recv JSON", "signal NAME", "stdin end", "child PID", "exit"
//   version=2        speaks version 2 when asked to; version=N answers N in any case above 2
//   sessions=FILE    sessions outlive the process there: {id: {cwd, turns: [prompt...]}}
//   no-list no-resume no-load            is not offered; deny-resume: offered and then answered with -32601
//   silent-load      agrees to any session, with nothing to tell; empty-list: offers a list, which is empty
//   replay=N         tells at least N updates of the past before the answer to load; replay-late: half of them after it
//   auth             wants a login (-32000) until authenticate came; auth-terminal: its only method is for terminals
//   options=A,B      of: mode model effort flag (default all but flag); modes: has no options, but modes and models
//   grouped          values of `mode` in groups; effort only while the model is "big"
//   ignore-pins      says yes to a setting and keeps the old value; undo-pins: setting the model puts the mode back
//   hang=METHOD error=METHOD:CODE die=METHOD exit=METHOD:STATUS      what becomes of a request; hang, die and exit also of "turn",
//                    which is its middle; die=cancel
//   text=T           what it says (default "hello from the agent"), in chunks=N pieces, delay=MS apart; ids: with message ids
//   thought plan usage commands          says that too;  stderr=BYTES: lines on stderr
//   tool             a tool call with its update; update-first: the update comes first; big-output=BYTES: rawOutput
//   ask=KIND         asks for permission, and when granted writes the file did-KIND into the workspace; asks=N times
//   offer=always|allow|reject|none       options with those kinds only; no-kind: the kind was told in the tool call alone
//   ask-outside      asks before the prompt, and after the answer to it
//   reject-cancels   a rejection ends the turn with "cancelled"
//   collide          its requests have the id that the prompt has
//   result-first     members of answers in another order; out-of-order: answers to the last two requests are exchanged
//   late=N           N updates after the end of the turn; foreign: updates of another session; unknown: of unknown kinds
//   flood=BYTES      of updates (0: without end); junk=N lines that are no messages; long=BYTES in one line
//   batch            updates in arrays (version 2);  fs: calls fs/read_text_file, terminal/create, _x/y and notes the codes
//   stop=REASON      of the turn (default end_turn); ignore-cancel: does not react to session/cancel
//   stubborn         ignores SIGTERM and the end of stdin; grandchild: leaves a sleeper in its own session, daemon: with our
//                    stdout; linger=MS: lives on after the end of stdin
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const parse = text => Object.fromEntries((text ?? '').split(/\s+/).filter(Boolean).map(word => {
    const at = word.indexOf('=');
    return at < 0 ? [word, true] : [word.slice(0, at), word.slice(at + 1)];
}));
const words = { ...parse(process.env.ACP_AGENT), ...parse(process.argv.slice(2).filter(a => !a.startsWith('-')).join(' ')) };
const sleep = ms => new Promise(done => setTimeout(done, ms));
const log = line => words.log && fs.appendFileSync(words.log, `${line}\n`);

// ---- the wire ----

let nextId = 0;
const waiting = new Map();
const held = [];

// Waits while the other side does not read.
const write = text => new Promise(done => process.stdout.write(text, done));

const message = m => JSON.stringify({ jsonrpc: '2.0', ...m });

function answer(id, body) {
    const line = JSON.stringify(words['result-first'] ? { ...body, id, jsonrpc: '2.0' } : { jsonrpc: '2.0', id, ...body }) + '\n';
    if (!words['out-of-order']) return write(line);
    return held.length ? write(line + held.pop()) : held.push(line);
}

// What was held back for its neighbour and has none goes out after a while.
if (words['out-of-order']) setInterval(() => held.length && write(held.pop()), 50).unref();

const refuse = (id, code, text, data) => answer(id, { error: { code, message: text, ...(data && { data }) } });

function ask(method, params, id = nextId++) {
    const done = new Promise(take => waiting.set(id, take));
    write(message({ id, method, params }) + '\n');
    return done;
}

// ---- sessions and their settings ----

const v2 = () => words.version === '2' && asked === 2;
let asked = 1;
let loggedIn = false;
const own = new Map();

const stored = () => words.sessions && fs.existsSync(words.sessions) ? JSON.parse(fs.readFileSync(words.sessions)) : {};
function store(s) {
    if (words.sessions) fs.writeFileSync(words.sessions, JSON.stringify({ ...stored(), [s.id]: { cwd: s.cwd, turns: s.turns } }));
}

const values = list => list.map(value => ({ value, name: value.toUpperCase() }));
const select = (id, category, current, list) => ({
    [v2() ? 'configId' : 'id']: id, name: id, category, type: 'select', currentValue: current, options: list,
});
const modeNames = ['default', 'read-only', 'build', 'plan', 'yolo'];

const makers = {
    mode: s => select('mode', 'mode', s.now.mode, words.grouped
        ? [{ group: 'a', name: 'A', options: values(modeNames.slice(0, 2)) }, { group: 'b', name: 'B', options: values(modeNames.slice(2)) }]
        : values(modeNames)),
    model: s => select('model', 'model', s.now.model, values(['small', 'big'])),
    effort: s => !words.grouped || s.now.model === 'big'
        ? select(words.effort ?? 'effort', 'thought_level', s.now.effort, values(['low', 'high'])) : null,
    flag: s => ({ [v2() ? 'configId' : 'id']: 'flag', name: 'flag', type: 'boolean', currentValue: s.now.flag }),
};

function settings(s) {
    const modes = { currentModeId: s.now.mode, availableModes: modeNames.map(id => ({ id, name: id })) };
    const models = { currentModelId: s.now.model, availableModels: ['small', 'big'].map(modelId => ({ modelId, name: modelId })) };
    if (words.modes) return { modes, models };
    const list = (words.options ?? 'mode,model,effort').split(',').map(o => makers[o]?.(s)).filter(Boolean);
    return { configOptions: [{ name: 'of a kind to come', type: 'slider', id: 'slider', configId: 'slider', currentValue: 3 }, ...list] };
}

function set(s, id, value) {
    if (words['ignore-pins']) return;
    s.now[id] = value;
    if (id === 'model' && words['undo-pins']) s.now.mode = 'yolo';
}

function open(id, cwd, turns = []) {
    const s = { id, cwd, turns, now: { mode: 'yolo', model: 'small', effort: 'low', flag: true } };
    own.set(id, s);
    return s;
}

// ---- updates ----

const update = (s, u) => message({ method: 'session/update', params: { sessionId: s.id, update: u } });
const tell = (s, ...list) => write(words.batch && v2()
    ? `[${list.map(u => update(s, u)).join()}]\n` : list.map(u => update(s, u) + '\n').join(''));
const chunk = (text, id, kind = 'agent_message_chunk') => ({
    sessionUpdate: kind, ...((id || v2()) && { messageId: id ?? 'm0' }), content: { type: 'text', text },
});
const pieces = (text, n) => Array.from({ length: n }, (_, i) =>
    text.slice(Math.floor(i * text.length / n), Math.floor((i + 1) * text.length / n)));
const shown = text => String(text).replaceAll('_', ' ');

async function history(s, n) {
    for (let i = 0; i < n; i++) {
        await tell(s, chunk(s.turns[i] ?? `turn ${i}`, undefined, 'user_message_chunk'), chunk('an old answer', `old${i}`));
    }
}

// ---- one turn ----

const kinds = {
    always: ['allow_always', 'reject_always'], allow: ['allow_once', 'allow_always'], reject: ['reject_once'], none: [],
    all: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
};

async function permission(s, t, n, id) {
    const kind = t.ask === true ? 'edit' : t.ask ?? 'edit', toolCallId = `call${n}`;
    const toolCall = { toolCallId, title: `${kind} something`, status: 'pending', ...(!t['no-kind'] && { kind }) };
    const options = kinds[t.offer ?? 'all'].map(k => ({ optionId: `opt-${k}`, name: k, kind: k }));
    if (!t.bare) {
        const sessionUpdate = v2() ? 'tool_call_update' : 'tool_call';
        await tell(s, { sessionUpdate, toolCallId, title: `${kind} something`, kind, status: 'pending' });
    }
    const params = v2() ? { title: `${kind} something`, subject: { type: 'tool_call', toolCall } } : { toolCall };
    const m = await ask('session/request_permission', { sessionId: s.id, ...params, options }, id);
    const granted = m.result?.outcome?.optionId?.startsWith('opt-allow') ?? false;
    log(`permission ${kind} ${JSON.stringify(m.result ?? m.error)}`);
    if (granted) fs.writeFileSync(path.join(s.cwd, `did-${kind}`), 'x');
    if (!t.bare) {
        await tell(s, { sessionUpdate: 'tool_call_update', toolCallId, status: granted ? 'completed' : 'failed',
            content: [{ type: 'content', content: { type: 'text', text: 'not kept' } }] });
    }
    return m.result?.outcome?.outcome === 'selected' && !granted ? 'rejected' : granted ? 'granted' : 'cancelled';
}

async function flood(s, t, turn) {
    const text = 'x'.repeat(4000), all = Number(t.flood) || Infinity;
    for (let n = 0; n < all && !turn.cancelled; n += text.length) await tell(s, chunk(text, `flood${Math.floor(n / 40000)}`));
}

async function tool(s, t) {
    const call = { toolCallId: 'tool0', title: 'reads', kind: 'read', status: 'pending', rawInput: { path: '/x' } };
    const result = { sessionUpdate: 'tool_call_update', toolCallId: 'tool0', status: 'completed',
        rawOutput: t['big-output'] ? 'y'.repeat(Number(t['big-output'])) : { lines: 3 } };
    const list = [{ sessionUpdate: v2() ? 'tool_call_update' : 'tool_call', ...call }, result];
    await tell(s, ...(t['update-first'] ? list.reverse() : list));
}

async function wants() {
    for (const method of ['fs/read_text_file', 'terminal/create', 'elicitation/create', '_x/y']) {
        const m = await ask(method, { sessionId: 's', path: '/etc/hostname', command: 'true' });
        log(`refused ${method} ${m.error?.code}`);
    }
}

const others = {
    thought: () => chunk('thinking', 't0', 'agent_thought_chunk'),
    plan: () => v2()
        ? { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [{ content: 'a', priority: 'high', status: 'pending' }] } }
        : { sessionUpdate: 'plan', entries: [{ content: 'a', priority: 'high', status: 'pending' }, 7] },
    usage: () => ({ sessionUpdate: 'usage_update', used: 5, size: 100 }),
    commands: () => ({ sessionUpdate: 'available_commands_update', availableCommands: [] }),
    unknown: () => ({ sessionUpdate: 'of_a_kind_to_come', x: { y: 1 } }),
};

async function speak(s, t, turn) {
    const text = shown(t.text ?? 'hello from the agent');
    for (const piece of pieces(text, Number(t.chunks ?? 3))) {
        if (turn.cancelled) return;
        await tell(s, chunk(piece, t.ids ? 'm1' : undefined));
        if (t.delay) await sleep(Number(t.delay));
    }
}

// The stop reason.
async function work(s, t, turn) {
    if (v2()) await tell(s, { sessionUpdate: 'state_update', state: 'running' });
    if (t.foreign) await tell({ id: 'another' }, chunk('not ours'));
    for (const [word, make] of Object.entries(others)) if (t[word]) await tell(s, make());
    if (t.stderr) process.stderr.write(`${'e'.repeat(79)}\n`.repeat(Math.ceil(Number(t.stderr) / 80)));
    if (t.junk) await write('this is no message\n'.repeat(Number(t.junk)));
    if (t.long) await write(`{"jsonrpc":"2.0","method":"session/update","params":"${'l'.repeat(Number(t.long))}"}\n`);
    if (t.fs) await wants();
    if (t.tool || t['update-first'] || t['big-output']) await tool(s, t);
    if (t.grandchild || t.daemon) descend(t);
    for (let n = 0; t.ask && n < Number(t.asks ?? 1) && !turn.cancelled; n++) {
        const outcome = await permission(s, t, n, t.collide ? turn.id : undefined);
        if (outcome === 'rejected' && t['reject-cancels']) return 'cancelled';
    }
    if (t.die === 'turn') process.kill(process.pid, 'SIGKILL');
    if (t.exit?.startsWith('turn:')) process.exit(Number(t.exit.slice(5)));
    if (t.flood) await flood(s, t, turn);
    await speak(s, t, turn);
    if (t.hang === 'turn') await turn.end;
    return turn.cancelled ? 'cancelled' : t.stop ?? 'end_turn';
}

function descend(t) {
    const child = spawn('sleep', ['1000'], { detached: true, stdio: ['ignore', t.daemon ? 'inherit' : 'ignore', 'ignore'] });
    child.unref();
    log(`child ${child.pid}`);
}

async function prompt(id, s, params) {
    const text = params.prompt.map(b => b.text ?? '').join('');
    const t = { ...words, ...parse(/(?:^|\s)acp:\s*(.*)/s.exec(text)?.[1]) };
    const turn = { id, cancelled: false };
    turn.end = new Promise(done => { turn.cancel = () => { turn.cancelled = true; done(); }; });
    s.turn = t['ignore-cancel'] ? { cancel() {} } : turn;
    s.turns.push(text);
    store(s);
    if (v2()) answer(id, { result: {} });
    const stopReason = await work(s, t, turn);
    const usage = { totalTokens: 18, inputTokens: 11, outputTokens: 7 };
    if (v2()) await tell(s, { sessionUpdate: 'state_update', state: 'idle', stopReason, usage });
    else await answer(id, { result: { stopReason, usage } });
    for (let n = 0; n < Number(t.late ?? 0); n++) {
        await sleep(30);
        await tell(s, chunk(`late ${n}`, `late${n}`));
    }
    if (t['ask-outside']) permission(s, { ask: 'other', bare: true }, 99);
}

// ---- methods ----

function initialize(id, params) {
    asked = params.protocolVersion;
    const version = Number(words.version ?? 1), say = version > 2 ? version : Math.min(version, asked);
    const offered = name => !words[`no-${name}`];
    const method = words['auth-terminal'] ? { type: 'terminal', name: 'by hand' } : { name: 'a key', ...(say === 2 && { type: 'agent' }) };
    const authMethods = words.auth || words['auth-terminal'] ? [{ [say === 2 ? 'methodId' : 'id']: 'key', ...method }] : [];
    answer(id, { result: say === 2
        ? { protocolVersion: 2, info: { name: 'acp-agent', version: '1' }, capabilities: { session: { mcp: { stdio: {} } } }, authMethods }
        : { protocolVersion: say, agentInfo: { name: 'acp-agent', version: '1' }, authMethods, agentCapabilities: {
            loadSession: offered('load'), promptCapabilities: 'not an object',
            sessionCapabilities: { ...(offered('list') && { list: {} }), ...(offered('resume') && { resume: {} }) } } } });
}

function login(id) {
    loggedIn = true;
    answer(id, { result: {} });
}

async function create(id, params) {
    if ((words.auth || words['auth-terminal']) && !loggedIn) return refuse(id, -32000, 'Authentication required');
    const s = open(randomUUID(), params.cwd);
    store(s);
    if (words['ask-outside']) await permission(s, { ask: 'other', bare: true }, 98);
    await answer(id, { result: { sessionId: s.id, ...settings(s) } });
}

async function resume(id, params, method) {
    const known = stored()[params.sessionId];
    const replays = v2() ? params.replayFrom !== undefined : method === 'session/load';
    if (words['deny-resume'] && method === 'session/resume') return refuse(id, -32601, 'Method not found');
    if (!known && !words['silent-load']) return refuse(id, -32603, 'Internal error', { details: 'no such session' });
    const s = open(params.sessionId, params.cwd, known?.turns);
    const n = replays && known ? Math.max(s.turns.length, Number(words.replay ?? 0)) : 0;
    const early = words['replay-late'] ? Math.ceil(n / 2) : n;
    await history(s, early);
    await answer(id, { result: settings(s) });
    await history(s, n - early);
}

const sessionList = () => words['empty-list'] ? [] : Object.entries(stored()).map(([sessionId, { cwd }]) => ({ sessionId, cwd }));

const methods = {
    initialize,
    authenticate: login,
    'auth/login': login,
    'session/new': create,
    'session/load': resume,
    'session/resume': resume,
    'session/list': (id, p) => answer(id, { result: { sessions: sessionList().filter(s => !p.cwd || s.cwd === p.cwd) } }),
    'session/set_mode': (id, p, _, s) => { set(s, 'mode', p.modeId); answer(id, { result: {} }); },
    'session/set_model': (id, p, _, s) => { set(s, 'model', p.modelId); answer(id, { result: {} }); },
    'session/set_config_option': (id, p, _, s) => { set(s, p.configId, p.value); answer(id, { result: settings(s) }); },
    'session/prompt': (id, p, _, s) => prompt(id, s, p),
};

function request({ id, method, params }) {
    const of = word => words[word] === method || words[word]?.startsWith?.(`${method}:`);
    if (of('hang')) return;
    if (of('die')) process.kill(process.pid, 'SIGKILL');
    if (of('exit')) process.exit(Number(words.exit.split(':').at(-1)));
    if (of('error')) return refuse(id, Number(words.error.split(':').at(-1)), 'because of a test');
    if (!methods[method]) return refuse(id, -32601, 'Method not found');
    return methods[method](id, params ?? {}, method, own.get(params?.sessionId));
}

function notification({ method, params }) {
    if (method !== 'session/cancel') return;
    if (words.die === 'cancel') process.kill(process.pid, 'SIGKILL');
    own.get(params.sessionId)?.turn?.cancel();
}

log(`start ${process.pid}`);
process.on('exit', () => log('exit'));
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    process.on(name, () => { log(`signal ${name}`); if (!words.stubborn) process.exit(143); });
}
if (words.stubborn) setInterval(() => {}, 1000);
process.stdout.on('error', () => { if (!words.stubborn) process.exit(0); });

readline.createInterface({ input: process.stdin }).on('line', line => {
    log(`recv ${line}`);
    const m = JSON.parse(line);
    if (m.method && 'id' in m) return request(m);
    if (m.method) return notification(m);
    const take = waiting.get(m.id);
    waiting.delete(m.id);
    take?.(m);
}).on('close', () => {
    log('stdin end');
    if (words.linger) setTimeout(() => process.exit(0), Number(words.linger));
    else if (!words.stubborn) process.exit(0);
});
