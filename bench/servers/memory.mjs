// SPDX-License-Identifier: MIT OR Apache-2.0
//
// memory: one mutation of a graph of 1,000, 10,000 and 100,000 entities, beside the server of npm and beside writing the changed file
// once (with the syncs that keep it after a power cut, which npm's does not do); searches; start and memory.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bin, drive, envOf, home, median, root, steps } from '../lib.mjs';

const SIZES = [1_000, 10_000, 100_000];
const ROUNDS = 9;
const npm = [process.execPath, path.join(root, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')];
const ours = [bin, 'memory'];

/** n entities with two observations, and as many relations. */
function graph(n) {
    const lines = [];
    for (let i = 0; i < n; i++)
        lines.push(JSON.stringify({ type: 'entity', name: `entity-${i}`, entityType: 'thing', observations: [`the first fact about ${i}`, 'and another one'] }));
    for (let i = 0; i < n; i++)
        lines.push(JSON.stringify({ type: 'relation', from: `entity-${i}`, to: `entity-${(i * 7) % n}`, relationType: 'knows' }));
    return `${lines.join('\n')}\n`;
}

/** A server on its own copy of the file; `call` gives milliseconds. */
class Driven {
    constructor(command, text) {
        this.dir = home(`memory-${path.basename(command.at(-1))}-${text.length}`);
        this.file = path.join(this.dir, 'work/m.jsonl');
        fs.writeFileSync(this.file, text);
        this.child = spawn(command[0], command.slice(1), { env: envOf(this.dir, { MEMORY_FILE_PATH: this.file }), stdio: ['pipe', 'pipe', 'ignore'] });
        createInterface({ input: this.child.stdout }).on('line', l => this.answer?.(l));
    }
    send(m) { this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`); }
    ask(method, params) {
        const answer = new Promise(done => { this.answer = done; });
        this.send({ id: 1, method, params });
        return answer;
    }
    async open() {
        await this.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
        this.send({ method: 'notifications/initialized' });
        return this;
    }
    async call(name, args, holds) {
        const from = performance.now();
        const line = await this.ask('tools/call', { name, arguments: args });
        const took = performance.now() - from;
        if (!line.includes(holds) || line.includes('"isError":true')) throw new Error(`${name}: ${line.slice(0, 300)}`);
        return took;
    }
    written() { return Number(/wchar: (\d+)/.exec(fs.readFileSync(`/proc/${this.child.pid}/io`, 'utf8'))[1]) / 1e6; }
    async rounds(one) {
        const all = [];
        for (let i = 0; i < ROUNDS; i++) all.push(await one(i));
        return median(all);
    }
    close() { this.child.kill(); }
}

/** Milliseconds to write the bytes to a file beside another and put it in its place, for good. */
function once(text) {
    const dir = path.join(home('memory-once'), 'work'), bytes = Buffer.from(text);
    return median(Array.from({ length: ROUNDS }, () => {
        const from = performance.now();
        const fd = fs.openSync(path.join(dir, 'new'), 'w');
        fs.writeSync(fd, bytes);
        fs.fsyncSync(fd);
        fs.closeSync(fd);
        fs.renameSync(path.join(dir, 'new'), path.join(dir, 'file'));
        const parent = fs.openSync(dir, 'r');
        fs.fsyncSync(parent);
        fs.closeSync(parent);
        return performance.now() - from;
    }));
}

async function figures(command, text) {
    const s = await new Driven(command, text).open();
    await s.call('open_nodes', { names: ['entity-1'] }, 'entity-1');
    const before = s.written();
    const add = await s.rounds(i => s.call('create_entities', { entities: [{ name: `new-${i}`, entityType: 't', observations: ['o'] }] }, `new-${i}`));
    const written = (s.written() - before) / ROUNDS;
    const observe = await s.rounds(i => s.call('add_observations', { observations: [{ entityName: `new-${i}`, contents: [`fact ${i}`] }] }, `fact ${i}`));
    const search = await s.rounds(() => s.call('search_nodes', { query: 'ENTITY-77' }, 'entity-77'));
    s.close();
    return { add, observe, written, search };
}

function start(command) {
    return Array.from({ length: ROUNDS }, (_, i) => {
        const dir = home(`memory-start-${path.basename(command.at(-1))}-${i}`);
        const of = drive(command, steps.open + steps.sleep(300) + steps.memory('idle') + steps.eof('exit'),
            { env: envOf(dir, { MEMORY_FILE_PATH: path.join(dir, 'm.jsonl') }) });
        return { list: of('list')[0].since_spawn, rss: of('idle')[0].rss_mb };
    });
}

export default async function rows() {
    const table = [];
    for (const n of SIZES) {
        const text = graph(n), size = n.toLocaleString('en');
        const [mine, theirs] = [await figures(ours, text), await figures(npm, text)];
        const file = once(text);
        table.push(
            { what: `${size} entities, create_entities`, unit: 'ms', ours: mine.add, beside: { 'the file written once': file, npm: theirs.add } },
            { what: `${size} entities, add_observations`, unit: 'ms', ours: mine.observe, beside: { 'the file written once': file, npm: theirs.observe } },
            { what: `${size} entities, written by a mutation`, unit: 'MB', ours: mine.written, beside: { file: text.length / 1e6, npm: theirs.written } },
            { what: `${size} entities, search_nodes`, unit: 'ms', ours: mine.search, beside: { npm: theirs.search } });
    }
    const [mine, theirs] = [start(ours), start(npm)];
    const middle = (all, key) => median(all.map(s => s[key]));
    table.push({ what: 'spawn -> tools/list', unit: 'ms', ours: middle(mine, 'list'), beside: { npm: middle(theirs, 'list') } },
        { what: 'RSS idle', unit: 'MB', ours: middle(mine, 'rss'), beside: { npm: middle(theirs, 'rss') } });
    return table;
}
