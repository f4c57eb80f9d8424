// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A package manager's program, with its pipes in our hands; used by the tests of those that come with Symposium.
//
//   const pm = new Manager(program, { env, cwd });  await pm.ask('initialize', {...});  const r = await pm.ask('list_deps');
//
// ask() gives the result, or throws Refused with the protocol's code. Times are multiplied by TEST_SLACK.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const slack = Number(process.env.TEST_SLACK ?? 4);
export const sleep = ms => new Promise(done => setTimeout(done, ms));

export class Refused extends Error {
    constructor({ code, message }) {
        super(`${code}: ${message}`);
        this.code = code;
    }
}

export class Manager {
    constructor(program, { args = [], wrap = [], ...options } = {}) {
        const [file, ...before] = [...wrap, program];
        this.child = spawn(file, [...before, ...args], { stdio: 'pipe', ...options });
        this.waiting = new Map();
        this.lines = [];
        this.err = '';
        this.id = 0;
        let rest = '';
        this.child.stdout.on('data', d => {
            rest += d;
            for (let at; (at = rest.indexOf('\n')) >= 0; rest = rest.slice(at + 1)) this.answered(rest.slice(0, at));
        });
        this.child.stderr.on('data', d => { this.err += d; });
        this.child.stdin.on('error', () => {});
        this.closed = new Promise(done => this.child.on('close', (status, signal) => {
            for (const { refuse } of this.waiting.values()) refuse(new Error(`it ended: ${status ?? signal}\n${this.err}`));
            done(status ?? signal);
        }));
    }
    answered(line) {
        this.lines.push(line);
        const message = JSON.parse(line), ask = this.waiting.get(message.id);
        assert.equal(message.jsonrpc, '2.0');
        assert.ok(ask, `an answer that nobody waits for: ${line}`);
        this.waiting.delete(message.id);
        if (message.error) ask.refuse(new Refused(message.error));
        else ask.take(message.result);
    }
    write(text) { this.child.stdin.write(text); }
    ask(method, params) {
        const id = ++this.id;
        const answer = new Promise((take, refuse) => this.waiting.set(id, { take, refuse }));
        this.write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }) + '\n');
        return answer;
    }
    hello(workspace, more) { return this.ask('initialize', { protocol_version: 1, workspace, ...more }); }
    /** Ends it by the end of its stdin; checks that it is orderly and quick. */
    async end(ms = 500) {
        const from = performance.now();
        this.child.stdin.end();
        assert.equal(await this.closed, 0, this.err);
        assert.ok(performance.now() - from < ms * slack, `took ${performance.now() - from} ms to end`);
    }
}

/** Its stderr is a pipe of its own: what a manager said before an answer may come after it. */
export async function said(manager, pattern, ms = 2000) {
    for (const end = performance.now() + ms * slack; !pattern.test(manager.err) && performance.now() < end;) await sleep(5);
    assert.match(manager.err, pattern);
}

export const write = (file, text, mode) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode });
};

/** A temporary directory with `ws`, `home` and `cache` in it; `body` gets it, and it is removed afterwards. */
export async function inPlace(body) {
    const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-pm-')));
    const place = { top, ws: path.join(top, 'ws'), home: path.join(top, 'home'), cache: path.join(top, 'cache') };
    for (const d of ['ws', 'home', 'cache']) fs.mkdirSync(place[d]);
    try {
        await body(place);
    } finally {
        if (!process.env.KEEP) fs.rmSync(top, { recursive: true, force: true });
    }
}

/** The pids of processes whose command line or environment holds `mark`. */
export function processesWith(mark) {
    return fs.readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && Number(pid) !== process.pid).filter(pid => {
        try {
            return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark) || fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
        } catch {
            return false;
        }
    });
}
