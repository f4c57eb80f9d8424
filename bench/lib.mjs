// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the parts of the bench share: the helpers in C, throw-away homes, a driven session, and figures out of it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.dirname(here);
export const bin = process.env.SYMPOSIUM_BIN ?? path.join(root, 'build/symposium');
export const pmCargo = process.env.SYMPOSIUM_PM_CARGO ?? path.join(path.dirname(bin), 'symposium-pm-cargo');
export const nodeEcho = path.join(here, 'echo.mjs');
const out = path.join(root, '.build/bench');
export const tools = { probe: path.join(out, 'probe'), echo: path.join(out, 'bench-echo'), empty: path.join(out, 'empty') };

export function buildTools() {
    fs.mkdirSync(out, { recursive: true });
    const yyjson = execFileSync('pkg-config', ['--cflags', '--libs', 'yyjson'], { encoding: 'utf8' }).trim().split(/\s+/);
    const cc = (to, sources, libs = []) => execFileSync('gcc', ['-std=gnu17', '-O2', '-D_GNU_SOURCE', '-o', to,
        ...sources.map(s => path.join(here, s)), ...libs], { stdio: ['ignore', 'inherit', 'inherit'] });
    cc(tools.probe, ['probe.c', 'probe_tree.c'], yyjson);
    cc(tools.echo, ['echo.c'], yyjson);
    cc(tools.empty, ['empty.c']);
}

export const median = all => {
    const v = all.filter(x => x !== undefined && x !== null).sort((a, b) => a - b);
    return v.length === 0 ? undefined : v.length % 2 ? v[(v.length - 1) / 2] : (v[v.length / 2 - 1] + v[v.length / 2]) / 2;
};

/** A folder of its own below a temporary one: HOME, and what is written into it. Removed at the end of the bench. */
const homes = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sym-bench-')));
process.on('exit', () => fs.rmSync(homes, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

export function home(name, files = {}) {
    const dir = path.join(homes, name);
    fs.mkdirSync(path.join(dir, 'work'), { recursive: true });
    for (const [file, text] of Object.entries({ 'work/package.json': '{"name":"work"}\n', ...files })) {
        fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
        fs.writeFileSync(path.join(dir, file), text);
    }
    return dir;
}
export const envOf = (dir, more = {}) => ({ PATH: process.env.PATH, HOME: dir, ...more });

// --- steps (probe.c) ----------------------------------------------------------------------------------------------------
const step = (...fields) => `${fields.join('\t')}\n`;
const message = (method, params) => `"method":"${method}"${params ? `,"params":${JSON.stringify(params)}` : ''}`;
const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
const opening = revision => step('ask', 'init', message('initialize', { ...client, protocolVersion: revision }))
    + step('note', message('notifications/initialized')) + step('ask', 'list', message('tools/list'));
export const steps = {
    open: opening(client.protocolVersion),
    openAs: opening,
    request: (label, method, params) => step('ask', label, message(method, params)),
    ask: (label, name, args) => step('ask', label, message('tools/call', { name, arguments: args })),
    loop: (label, count, pause, name, args) => step('loop', label, count, pause, message('tools/call', { name, arguments: args })),
    begin: (label, name, args) => step('begin', label, message('tools/call', { name, arguments: args })),
    end: step('end'),
    watch: (label, name, args) => step('watch', label, message('tools/call', { name, arguments: args })),
    memory: label => step('memory', label, path.basename(tools.echo)),
    sleep: ms => step('sleep', ms),
    eof: label => step('eof', label),
};

/** Drives one server through the steps; a function from a label to its records. Throws where the probe could not go on. */
export function drive(command, script, { cwd, env }) {
    const r = spawnSync(tools.probe, command, { cwd, env, input: script, encoding: 'utf8', maxBuffer: 1 << 28,
        stdio: ['pipe', 'pipe', 'pipe'] });
    if (r.status !== 0) throw new Error(`${path.basename(command[0])}: ${r.stderr.trim().split('\n').slice(-3).join(' | ').slice(-400)}`);
    const records = r.stdout.split('\n').filter(Boolean).map(line => JSON.parse(line));
    return label => records.filter(x => x.label === label);
}
export const ms = records => median(records.map(r => r.ms));
/** Throws unless each answer holds the text and is no error: a quick wrong answer is no figure. */
export function expect(records, text) {
    for (const r of records) {
        const said = JSON.stringify(r.answer);
        if (r.answer?.error || r.answer?.result?.isError || !said.includes(text))
            throw new Error(`${r.label}: expected '${text}', got ${said?.slice(0, 300)}`);
    }
    return records;
}

/** Milliseconds from spawn to exit, `count` times; what it prints is dropped. */
export const exits = (command, count, { args = [], cwd, env } = {}) => spawnSync(tools.probe, ['--exit', String(count), command, ...args], { encoding: 'utf8', cwd, env })
    .stdout.trim().split('\n').map(Number);

// --- a session by hand, where the moments between matter -----------------------------------------------------------------
/** A process that speaks JSON-RPC in lines; call() gives a result. */
export class Peer {
    constructor(command, args, options) {
        this.child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
        this.exited = new Promise(done => this.child.on('exit', done));
        this.waiting = new Map();
        this.id = 0;
        readline.createInterface({ input: this.child.stdout }).on('line', line => {
            const m = JSON.parse(line);
            this.waiting.get(m.id)?.(m);
            this.waiting.delete(m.id);
        });
    }
    async call(method, params) {
        const id = this.id++, answer = new Promise(done => this.waiting.set(id, done));
        this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        const m = await answer;
        if (!m.result || m.result.isError) throw new Error(`${method}: ${JSON.stringify(m).slice(0, 300)}`);
        return m.result;
    }
    end() {
        this.child.stdin.end();
        return this.exited;
    }
}
export const rss = pid => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
