// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What all end-to-end tests share.
//
//   Place     a throw-away HOME, SYMPOSIUM_HOME and workspace; writes plugins, config and scripted peers (tests/peers/peer.c)
//   Session   one `symposium mcp-serve` with its pipes in our hands; keeps every line, matches answers by id, and checks each
//             message against the revision's schema when the session ends
//   Server    the same with `symposium filesystem` and the other everyday servers: place.serve('filesystem', [dir])
//
// Ending a Place checks what must hold after every case: the program's output was valid (I2), no process of it is left (I3),
// the planted secret is nowhere (I5). Times are multiplied by TEST_SLACK.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';
import { schemaOf, resultProblem, messageProblem, requestProblem, clientProblem, valueProblem } from './schema.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const bin = process.env.SYMPOSIUM_BIN ?? path.join(root, 'build/symposium');
export const pmCargo = process.env.SYMPOSIUM_PM_CARGO ?? path.join(path.dirname(bin), 'symposium-pm-cargo');
export const peerBin = process.env.SYMPOSIUM_PEER ?? path.join(path.dirname(bin), 'tests/peers/peer');
export const node = process.execPath;
export const slack = Number(process.env.TEST_SLACK ?? 4);
export const sanitized = slack >= 10;
export const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const MODERN = '2026-07-28';
export const META = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'e2e', version: '1' },
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
export const sleep = ms => new Promise(done => setTimeout(done, ms));
export const npm = name => path.join(root, 'node_modules', name);

/** Resolves when `ready()` gives something true; fails after `ms` (times the slack), naming `what`. */
export async function until(what, ready, ms = 2000) {
    const end = performance.now() + ms * slack;
    for (;;) {
        const value = await ready();
        if (value) return value;
        if (performance.now() > end) assert.fail(`not within ${ms * slack} ms: ${what}`);
        await sleep(5);
    }
}

export async function within(what, ms, promise) {
    let timer;
    const late = new Promise((_, fail) => {
        timer = setTimeout(() => fail(new Error(`not within ${ms * slack} ms: ${what}`)), ms * slack);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

/** Milliseconds that a process was ready to run and had no core. */
const delayOf = pid => Number(proc(pid, 'schedstat').split(' ')[1] ?? 0) / 1e6;

/**
 * Milliseconds that `wait()` took, less what a busy machine added: the longest time that this process was held up, and the time that
 * the given processes waited for a core.
 */
export async function timed(wait, pids = []) {
    const from = performance.now();
    const before = pids.map(delayOf), after = [...before];
    let last = from, late = 0;
    const look = () => {
        const now = performance.now();
        late = Math.max(late, now - last - 2);
        last = now;
        pids.forEach((pid, i) => { after[i] = delayOf(pid) || after[i]; });
    };
    const tick = setInterval(look, 2);
    try { await wait(); } finally { clearInterval(tick); }
    const took = performance.now() - from;
    look();
    return took - late - after.reduce((sum, d, i) => sum + d - before[i], 0);
}

/** The slowest of these times. Of ten or more, one may be up to five times as slow as the rest: the machine has other work. */
export function slowestOf(times) {
    const [first, second] = [...times].sort((a, b) => b - a);
    return times.length < 10 ? first : Math.max(first / 5, second);
}

// --- processes --------------------------------------------------------------------------------------------------------
const proc = (pid, name) => {
    try { return fs.readFileSync(`/proc/${pid}/${name}`, 'latin1'); } catch { return ''; }
};
export const alive = pid => {
    const stat = proc(pid, 'stat');
    return stat !== '' && !/\) [ZX] /.test(stat);
};
export function childrenOf(pid) {
    let tasks;
    try { tasks = fs.readdirSync(`/proc/${pid}/task`); } catch { return []; }
    return tasks.flatMap(t => proc(pid, `task/${t}/children`).trim().split(' ').filter(Boolean).map(Number));
}
export const treeOf = pid => childrenOf(pid).flatMap(c => [c, ...treeOf(c)]);
export const commandOf = pid => proc(pid, 'cmdline').split('\0').filter(Boolean);
export const stateOf = pid => /\) (\w) /.exec(proc(pid, 'stat'))?.[1];
export const rssOf = pid => Number(/VmRSS:\s+(\d+)/.exec(proc(pid, 'status'))?.[1] ?? 0) * 1024;
export const peakOf = pid => Number(/VmHWM:\s+(\d+)/.exec(proc(pid, 'status'))?.[1] ?? 0) * 1024;
export const fdsOf = pid => { try { return fs.readdirSync(`/proc/${pid}/fd`).length; } catch { return 0; } };

/** One run of a program to its end: {code, signal, out, err}; `input` null leaves its stdin open. */
export function run(place, args, { input = '', cwd = place.workspace, env = {}, program = bin, ms = 20000 } = {}) {
    const child = spawn(program, args, { cwd, env: place.env(env) });
    let out = '', err = '';
    child.stdout.setEncoding('utf8').on('data', d => { out += d; });
    child.stderr.setEncoding('utf8').on('data', d => { err += d; });
    child.stdin.on('error', () => {});
    if (input !== null) child.stdin.end(input);
    const ended = new Promise((done, fail) => {
        child.on('error', fail);
        child.on('close', (code, signal) => done({ code, signal, out, err }));
    });
    return Object.assign(within(`symposium ${args.join(' ')}`, ms, ended), { child });
}

// --- TOML -------------------------------------------------------------------------------------------------------------
const key = k => (/^[A-Za-z0-9_-]+$/.test(k) ? k : JSON.stringify(k));
const value = v => (Array.isArray(v) ? `[${v.map(value).join(', ')}]`
    : v && typeof v === 'object' ? `{ ${Object.entries(v).map(([k, x]) => `${key(k)} = ${value(x)}`).join(', ')} }`
    : JSON.stringify(v));
export const toml = table => Object.entries(table).filter(([, v]) => v !== undefined)
    .map(([k, v]) => `${key(k)} = ${value(v)}\n`).join('');

// --- Place ------------------------------------------------------------------------------------------------------------
/** Where files cost no disk: for tests that wait for thousands of fsyncs, and are about something else. */
const ram = () => { try { fs.accessSync('/dev/shm', fs.constants.W_OK); return '/dev/shm'; } catch { return os.tmpdir(); } };

export class Place {
    constructor({ inRam = false } = {}) {
        this.dir = fs.realpathSync(fs.mkdtempSync(path.join(inRam ? ram() : os.tmpdir(), 'sym-e2e-')));
        this.home = path.join(this.dir, 'symposium');
        this.workspace = path.join(this.dir, 'work');
        this.mark = randomBytes(12).toString('hex');
        this.canary = `canary-${randomBytes(12).toString('hex')}`;
        this.sessions = [];
        for (const d of ['home', 'symposium', 'work', 'peers']) fs.mkdirSync(path.join(this.dir, d));
        this.write('work/package.json', '{"name":"work"}\n');
    }

    path(...p) { return path.join(this.dir, ...p); }
    write(name, text) {
        const file = this.path(name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text);
        return file;
    }
    read(name) { try { return fs.readFileSync(this.path(name), 'utf8'); } catch { return ''; } }
    /** Whole lines: the last one may be half written while a peer runs. */
    lines(name) { return this.read(name).split('\n').slice(0, -1).filter(Boolean); }

    config(tables) {
        const { top = {}, ...rest } = tables;
        this.write('symposium/config.toml',
            toml(top) + Object.entries(rest).map(([name, t]) => `[${name}]\n${toml(t)}`).join('\n'));
        return this;
    }

    /** A plugin of the user's own registry: trusted, and active everywhere unless `head` says otherwise. */
    plugin(name, servers, head = { 'depends-on': ['*'] }) {
        this.write(`symposium/plugins/${name}/SYMPOSIUM.toml`, toml({ name, ...head })
            + servers.map(s => `\n[[mcp_servers]]\n${toml(s)}`).join(''));
        return this;
    }

    /** Writes the script of a peer; the result is its [[mcp_servers]] entry. `entry`: further keys of that entry. */
    peer(name, script = {}, entry = {}) {
        const file = this.write(`peers/${name}.json`, JSON.stringify({
            log: this.path(`peers/${name}.log`), record: this.path(`peers/${name}.in`),
            info: { name, version: '1' }, ...script,
        }));
        return { name, command: peerBin, args: [file], ...entry };
    }
    /** `start`, `eof`, `term` lines of a peer. */
    log(name) { return this.lines(`peers/${name}.log`); }
    starts(name) { return this.log(name).filter(l => l.startsWith('start ')).length; }
    pids(name) { return this.log(name).filter(l => l.startsWith('start ')).map(l => Number(l.slice(6))); }
    /** Messages that a peer received, parsed, with the pid that did. */
    received(name) {
        return this.lines(`peers/${name}.in`).map(l => {
            const space = l.indexOf(' ');
            return { pid: Number(l.slice(0, space)), ...JSON.parse(l.slice(space + 1)) };
        });
    }
    calls(name) { return this.received(name).filter(m => m.method === 'tools/call'); }

    /** One plugin with these peers: {name: script}. */
    peers(scripts, entries = {}) {
        return this.plugin('peers', Object.entries(scripts).map(([n, s]) => this.peer(n, s, entries[n])));
    }

    env(extra = {}) {
        const { PATH, LANG, ASAN_OPTIONS, UBSAN_OPTIONS, LSAN_OPTIONS } = process.env;
        const env = {
            PATH, LANG, ASAN_OPTIONS, UBSAN_OPTIONS, LSAN_OPTIONS, HOME: this.path('home'), SYMPOSIUM_HOME: this.home,
            E2E_MARK: this.mark, E2E_API_TOKEN: this.canary, ...extra,
        };
        return Object.fromEntries(Object.entries(env).filter(([, v]) => v !== undefined));
    }

    session(opts) {
        const s = new Session(this, opts);
        this.sessions.push(s);
        return s;
    }
    async open(opts = {}) {
        const s = this.session(opts);
        await s.open(opts.revision ?? '2025-11-25');
        return s;
    }

    /**
     * `symposium NAME ARGS...`, its handshake done and its tools listed. `opts`: revision (2025-11-25), capabilities, roots (answers
     * roots/list, and declares that we do), env, cwd, and `args` in place of [name, ...args].
     */
    async serve(name, args = [], opts = {}) {
        const s = new Server(this, { args: [name, ...args], ...opts });
        this.sessions.push(s);
        await s.open(opts.revision ?? '2025-11-25');
        return s;
    }

    /** Processes that carry our mark: the program's and everything that it started, wherever it hid. */
    survivors() {
        return fs.readdirSync('/proc').filter(p => /^\d+$/.test(p)).map(Number)
            .filter(pid => alive(pid) && proc(pid, 'environ').includes(`E2E_MARK=${this.mark}`));
    }

    filesWith(text) {
        const found = [];
        const walk = d => {
            for (const e of fs.readdirSync(d, { withFileTypes: true })) {
                const p = path.join(d, e.name);
                if (e.isDirectory()) walk(p);
                else if (e.isFile() && fs.readFileSync(p, 'latin1').includes(text)) found.push(path.relative(this.dir, p));
            }
        };
        walk(this.home);
        return found;
    }

    async close({ secret = true } = {}) {
        const problems = [];
        for (const s of this.sessions) {
            try { await s.close(); s.checkOutput(); } catch (e) { problems.push(e); }
            if (secret && (s.stdout.includes(this.canary) || s.stderr.includes(this.canary)))
                problems.push(new Error('I5: the canary secret is in the output'));
        }
        const end = performance.now() + 2000 * slack;
        let left = this.survivors();
        while (left.length && performance.now() < end) {
            await sleep(20);
            left = this.survivors();
        }
        if (left.length) problems.push(new Error(`I3: still alive: ${left.map(p => `${p} ${commandOf(p).join(' ')}`).join('; ')}`));
        for (const pid of left) try { process.kill(pid, 'SIGKILL'); } catch { /* gone */ }
        if (secret) {
            const files = this.filesWith(this.canary).filter(f => !f.startsWith('symposium/plugins/'));
            if (files.length) problems.push(new Error(`I5: the canary secret is in ${files}`));
        }
        for (const f of fs.readdirSync(this.path('peers')).filter(f => f.endsWith('.in'))) {
            try { checkSent(this.received(f.slice(0, -3))); } catch (e) { problems.push(e); }
        }
        if (process.env.E2E_KEEP) console.error('kept', this.dir);
        else fs.rmSync(this.dir, { recursive: true, force: true });
        if (problems.length === 1) throw problems[0];
        if (problems.length) throw new AggregateError(problems, problems.map(p => p.message).join('\n'));
    }
}

/** What we sent to a peer as its client must be valid too, in the revision that was agreed on. */
function checkSent(messages) {
    if (!schemaOf(MODERN)) return;
    const revision = {};
    for (const { pid, ...m } of messages) {
        if (m.params?._meta?.['io.modelcontextprotocol/protocolVersion']) revision[pid] = MODERN;
        else if (m.method === 'initialize') revision[pid] = m.params.protocolVersion;
        const why = clientProblem(revision[pid] ?? '2025-11-25', m);
        assert.equal(why, undefined, `sent to a backing server, invalid: ${why}: ${JSON.stringify(m).slice(0, 300)}`);
    }
}

// --- Session ----------------------------------------------------------------------------------------------------------
export class Session {
    constructor(place, { args = ['mcp-serve'], env = {}, cwd = place.workspace, program = bin } = {}) {
        this.place = place;
        this.stdout = '';
        this.stderr = '';
        this.messages = [];         // {m, at, revision, method}
        this.waiting = new Map();   // id as JSON text -> {done, method, revision}
        this.asked = new Map();
        this.problems = [];
        this.next = 1;
        this.revision = undefined;
        this.listeners = [];
        this.spawned = performance.now();
        this.child = spawn(program, args, { cwd, env: place.env(env), stdio: ['pipe', 'pipe', 'pipe'] });
        this.pid = this.child.pid;
        this.exited = new Promise(done => this.child.on('exit', (code, signal) => {
            this.exit = { code, signal, at: performance.now() };
            done(this.exit);
        }));
        this.closed = new Promise(done => this.child.on('close', () => {
            for (const asked of this.asked.values()) asked.fail?.(new Error(`it ended (${JSON.stringify(this.exit)}) before it answered ${asked.method}; stderr: ${this.stderr.slice(-1000)}`));
            done();
        }));
        this.child.on('error', e => this.problems.push(`spawn: ${e.message}`));
        this.child.stdin.on('error', () => {});
        let parts = [];     // of the line that has no end yet
        this.child.stdout.on('data', chunk => {
            let at, from = 0;
            while ((at = chunk.indexOf(10, from)) >= 0) {
                parts.push(chunk.subarray(from, at));
                this.#line(parts.length === 1 ? parts[0] : Buffer.concat(parts));
                parts = [];
                from = at + 1;
            }
            if (from < chunk.length) parts.push(chunk.subarray(from));
        });
        this.child.stdout.on('end', () => { if (parts.length) this.problems.push(`unfinished line: ${parts[0].subarray(0, 80)}`); });
        this.child.stderr.on('data', d => { this.stderr += d.toString('latin1'); });
    }

    #line(bytes) {
        let text, m;
        try {
            text = utf8.decode(bytes);
            this.stdout += `${text}\n`;
            m = JSON.parse(text);
        } catch (e) {
            if (text === undefined) this.stdout += `${bytes.toString('latin1')}\n`;
            this.problems.push(`stdout holds no JSON line (MS-1, MCP-S1): ${e.message}: ${bytes.subarray(0, 120)}`);
            return;
        }
        const at = performance.now();
        for (const one of Array.isArray(m) ? m : [m]) this.#message(one, text, at);
    }

    #message(m, text, at) {
        const id = JSON.stringify(m.id), asked = m.method === undefined ? this.asked.get(id) : undefined;
        this.messages.push({ m, text, at, asked, revision: asked?.revision ?? this.revision });
        if (asked?.done) {
            asked.done(m);
            asked.done = asked.fail = undefined;
        }
        this.listeners.forEach(f => f(m));
    }

    raw(line) { this.child.stdin.write(`${line}\n`); }

    /** Sends one object and remembers what was asked. */
    send(m) {
        const modern = m.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
        let answer;
        if (m.id !== undefined && m.method !== undefined) {
            const asked = { method: m.method, revision: modern ? MODERN : this.revision, sent: performance.now() };
            answer = new Promise((done, fail) => { Object.assign(asked, { done, fail }); });
            answer.catch(() => {});     // who does not wait for it does not care
            this.asked.set(JSON.stringify(m.id), asked);
        }
        this.raw(JSON.stringify({ jsonrpc: '2.0', ...m }));
        return answer;
    }

    /** The whole response message; `modern` requests carry the envelope. */
    request(method, params, { modern = this.revision === MODERN, id = this.next++, ms = 20000 } = {}) {
        const p = modern ? { ...params, _meta: { ...META, ...params?._meta } } : params;
        const answer = within(`answer to ${method}`, ms, this.send({ id, method, ...(p ? { params: p } : {}) }));
        answer.id = id;
        return answer;
    }
    async result(method, params, opts) {
        const m = await this.request(method, params, opts);
        assert.ok(m.result, `${method}: ${JSON.stringify(m.error)}`);
        return m.result;
    }
    notify(method, params) {
        this.send({ method, ...(params ? { params } : {}) });
    }

    async open(revision = '2025-11-25', capabilities = {}) {
        this.revision = revision;
        this.capabilities = capabilities;
        if (revision === MODERN) return;
        const r = await this.request('initialize', {
            protocolVersion: revision, capabilities, clientInfo: { name: 'e2e', version: '1' },
        });
        assert.equal(r.result?.protocolVersion, revision);
        this.notify('notifications/initialized');
        return r.result;
    }

    tool(name, args, opts) { return this.result('tools/call', { name, arguments: args, ...opts?.extra }, opts); }

    /** The text of a tool's answer; `text`, `isError` and the parsed first line or whole result. */
    async execute(script, opts) {
        const r = await this.tool('execute', { script }, opts);
        return reply(r);
    }
    async list(args = {}, opts) {
        const r = await this.tool('list_tools', args, opts);
        assert.notEqual(r.isError, true, r.content[0]?.text);
        assert.equal(r.content.length, 1);
        return r.content[0].text;
    }

    /** One cheap request; milliseconds it took. */
    async ping() {
        const from = performance.now();
        await this.result(this.revision === MODERN ? 'server/discover' : 'ping', undefined, { ms: 5000 });
        return performance.now() - from;
    }
    /** Pings until the promise settles; then its value and the slowest ping, less what this process itself was late. */
    async pingWhile(promise, every = 20) {
        const all = [];
        let done = false;
        const end = () => { done = true; };
        promise.then(end, end);
        do {
            all.push(await timed(() => this.ping(), [this.pid]));
            await sleep(every);
        } while (!done);
        return { value: await promise, slowest: slowestOf(all) };
    }

    notifications(method) { return this.messages.map(x => x.m).filter(m => m.method === method); }
    waitFor(what, test, ms = 5000) {
        const have = this.messages.find(x => test(x.m));
        if (have) return Promise.resolve(have.m);
        return within(what, ms, new Promise(done => this.listeners.push(m => { if (test(m)) done(m); })));
    }

    children() { return childrenOf(this.pid); }
    tree() { return treeOf(this.pid); }
    rss() { return rssOf(this.pid); }
    fds() { return fdsOf(this.pid); }
    zombies() { return this.children().filter(c => stateOf(c) === 'Z'); }

    /** End of input, then the exit; how long it took. */
    async eof(ms = 6000) {
        const from = performance.now();
        this.child.stdin.end();
        const exit = await within('exit after end of input', ms, this.exited);
        return { ...exit, ms: exit.at - from };
    }
    async kill(signal, ms = 6000) {
        const from = performance.now();
        this.child.kill(signal);
        const exit = await within(`exit after ${signal}`, ms, this.exited);
        return { ...exit, ms: exit.at - from };
    }
    async close() {
        if (!this.exit) {
            try { await this.eof(); } catch (e) {
                this.problems.push(e.message);
                this.child.kill('SIGKILL');
                await this.exited;
            }
        }
        await within('end of output', 2000, this.closed).catch(e => this.problems.push(e.message));
    }

    /** Why a request of the program to us is wrong: roots are all that may be asked for, of who has declared them. */
    requestProblem(revision, m) {
        return this.capabilities?.roots && revision !== MODERN ? requestProblem(revision, m) : 'a request to the client (MS-73, MCP-M7)';
    }

    /** I2: every line a valid message of its revision. */
    checkOutput() {
        for (const { m, asked, revision } of this.messages) {
            const why = m.method !== undefined && m.id !== undefined ? this.requestProblem(revision ?? '2025-11-25', m)
                : m.method === undefined && m.result !== undefined ? (asked ? resultProblem(revision ?? '2025-11-25', asked.method, m) : 'answers nothing we asked')
                : messageProblem(revision ?? '2025-11-25', m);
            if (why) this.problems.push(`${revision} ${asked?.method ?? m.method}: ${why}: ${JSON.stringify(m).slice(0, 400)}`);
        }
        assert.deepEqual(this.problems, [], 'I2: everything on stdout is valid');
        if (this.exit?.code !== null) assert.equal(this.exit.code, 0, `exit status; stderr: ${this.stderr.slice(-2000)}`);
    }
}

// --- Server -----------------------------------------------------------------------------------------------------------
export const ANSWER_MAX = 9.5 * 1024 * 1024;

/** One of the everyday servers. What it answered is checked against its own output schemas too, when it ends. */
export class Server extends Session {
    constructor(place, opts) {
        super(place, opts);
        this.opts = opts;
        this.roots = opts.roots;
        this.tools = new Map();
        this.listeners.push(m => {
            if (m.method === 'roots/list' && this.roots) this.send({ id: m.id, result: { roots: this.roots } });
        });
    }

    /** The handshake, then tools/list; the result of initialize or server/discover. */
    async open(revision = '2025-11-25') {
        const ours = { ...(this.roots ? { roots: { listChanged: true } } : {}), ...this.opts.capabilities };
        this.about = await super.open(revision, ours) ?? await this.result('server/discover');
        this.tools = new Map((await this.result('tools/list')).tools.map(t => [t.name, t]));
        return this.about;
    }

    send(m) {
        const answer = super.send(m);
        if (m.method === 'tools/call') this.asked.get(JSON.stringify(m.id)).tool = m.params?.name;
        return answer;
    }

    /**
     * The CallToolResult; the promise has the request's `id`, for cancel(). `opts.progress`: a progress token; `opts.modern`, `opts.ms`
     * as for request().
     */
    call(tool, args = {}, opts = {}) {
        const meta = opts.progress === undefined ? {} : { _meta: { progressToken: opts.progress } };
        const asked = this.request('tools/call', { name: tool, arguments: args, ...meta }, opts);
        const result = asked.then(m => m.result ?? assert.fail(`${tool}: ${JSON.stringify(m.error)}`));
        result.catch(() => {});
        result.id = asked.id;
        return result;
    }
    /** The text of a call that succeeds, or of one that fails. */
    async text(tool, args, opts) {
        const r = await this.call(tool, args, opts);
        assert.equal(r.isError, false, r.content?.[0]?.text);
        assert.equal(r.content.length, 1);
        return r.content[0].text;
    }
    async fails(tool, args, opts) {
        const r = await this.call(tool, args, opts);
        assert.equal(r.isError, true, r.content?.[0]?.text);
        assert.equal(r.content.length, 1);
        return r.content[0].text;
    }
    cancel(id, reason = 'enough') { this.notify('notifications/cancelled', { requestId: id, reason }); }
    /** The progress notifications that came for this token. */
    progress(token) { return this.notifications('notifications/progress').map(m => m.params).filter(p => p.progressToken === token); }

    notify(method, params) {
        super.notify(method, this.revision === MODERN ? { ...params, _meta: { ...META, ...params?._meta } } : params);
    }

    checkOutput() {
        for (const { m, text, asked } of this.messages) {
            const out = m.result && !m.result.isError && m.result.resultType !== 'task' && this.tools.get(asked?.tool)?.outputSchema;
            const why = out && (m.result.structuredContent === undefined ? 'no structuredContent' : valueProblem(out, m.result.structuredContent));
            if (why) this.problems.push(`${asked.tool}: against its outputSchema: ${why}`);
            if (Buffer.byteLength(text) > ANSWER_MAX) this.problems.push(`${asked?.method}: a line over 9.5 MiB (SV-30)`);
        }
        super.checkOutput();
    }
}

/** A tools/call result of execute, taken apart: value (parsed first JSON text), notes ("[...]" lines), console. */
export function reply(r) {
    assert.equal(r.content.length, 1, 'one text block (MS-41)');
    const text = r.content[0].text;
    const lines = text.split('\n');
    const notes = lines.filter(l => /^\[[^"]/.test(l) && l.endsWith(']'));
    let val;
    for (let n = lines.length; n > 0 && val === undefined; n--)
        try { val = JSON.parse(lines.slice(0, n).join('\n')); } catch { /* shorter */ }
    const at = lines.indexOf('console:');
    const said = at < 0 ? [] : lines.slice(at + 1).filter(l => !notes.includes(l) && !l.startsWith('calls finished:'));
    return {
        isError: r.isError === true, text, value: val, error: val?.error, notes, console: said,
        finished: lines.find(l => l.startsWith('calls finished:')),
    };
}

/** A tool object. */
export const T = (name, inputSchema = { type: 'object' }, more = {}) => ({ name, inputSchema, ...more });
/** The usual peer: some tools whose names say what they do. */
export const basic = (more = {}) => ({
    tools: [
        T('echo', { type: 'object', properties: { text: { type: 'string' } } }, { description: 'Says it again' }),
        T('fail'), T('hang'), T('crash'), T('slow'), T('big'),
    ],
    ...more,
    calls: {
        fail: [{ fail: 'it did not work' }], hang: [], crash: [{ stderr: 'last words' }, { exit: 7 }],
        slow: [{ sleep: 250 }, { echo: true }], big: [{ bloat: 5_000_000 }], ...more.calls,
    },
});

/** A test with a Place of its own, closed and checked at the end. */
export function scenario(name, opts, body) {
    if (typeof opts === 'function') [opts, body] = [{}, opts];
    const { secret = true, inRam = false, ...rest } = opts;
    test(name, rest, async t => {
        const place = new Place({ inRam });
        let failed;
        try { await body(place, t); } catch (e) { failed = e; }
        try { await place.close({ secret }); } catch (e) { failed ??= e; }
        if (failed) throw failed;
    });
}

/** A Place and a Session that several tests of a file share; ended and checked after them. */
export function shared(prepare, opts) {
    let opened;
    const place = new Place();
    after(() => place.close());
    return async () => {
        opened ??= (async () => {
            await prepare(place);
            return place.open(opts);
        })();
        return opened;
    };
}
