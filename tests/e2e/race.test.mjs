// SPDX-License-Identifier: MIT OR Apache-2.0
//
// FS-20, SEC-59: two racers swap directories and files for links that lead out, while every tool of the filesystem server works on
// them. 50,000 calls, 1,000,000 in the slow suite (TEST_SLOW; TEST_RACES says how many). What lies outside is called by names and has
// content and sizes that must never be in an answer, and must be as it was in the end.
// SV-27: the server is killed while it writes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { bin, peerBin, sanitized, scenario, sleep } from './harness.mjs';

const RACES = Number(process.env.TEST_RACES ?? (process.env.TEST_SLOW ? 1_000_000 : 50_000));
const KILLS = process.env.TEST_SLOW ? 1000 : 100;
const WINDOW = 24;              // calls in flight
const SECRET = 'ESC4PED';       // in each name, file and size outside
const SECRET_SIZE = 98765;
const SIGNS = [SECRET, Buffer.from(SECRET.repeat(3)).toString('base64').slice(0, 24), `size: ${SECRET_SIZE}`, '96.45 KB'];
const INSIDE = 'inside\n';

const base = () => {
    try { fs.accessSync('/dev/shm', fs.constants.W_OK); return '/dev/shm'; } catch { return os.tmpdir(); }
};

/** in/d, in/d/e and the files in them exist twice: as they are, and as links to the same names outside. */
function makeTree() {
    const top = fs.mkdtempSync(path.join(base(), 'sym-race-'));
    const put = (name, text) => {
        fs.mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
        fs.writeFileSync(path.join(top, name), text);
    };
    const secret = SECRET.repeat(SECRET_SIZE / SECRET.length + 1).slice(0, SECRET_SIZE);
    for (const f of ['f', 'm', 'e/f']) {
        put(`in/d/${f}`, INSIDE);
        put(`beyond/${f}`, secret);
    }
    for (const f of [`${SECRET}-1`, `e/${SECRET}-2`]) put(`beyond/${f}`, secret);
    fs.mkdirSync(path.join(top, 'in/m'));
    const swaps = [
        ['in', 'd', 'd-out', path.join(top, 'beyond')],
        ['in/d', 'e', 'e-out', '../../beyond/e'],
        ['in/d/e', 'f', 'f-out', path.join(top, 'beyond/e/f')],
        ['in/d', 'f', 'f-out', '../../beyond/f'],
    ];
    for (const [dir, , link, target] of swaps) fs.symlinkSync(target, path.join(top, dir, link));
    return { top, pairs: swaps.flatMap(([dir, name, link]) => [path.join(top, dir), name, link]) };
}

/** All that is there, as text: names, modes, times of change, content. */
function snapshot(dir) {
    return fs.readdirSync(dir, { recursive: true }).sort().map(name => {
        const st = fs.lstatSync(path.join(dir, name), { bigint: true });
        const content = st.isFile() ? fs.readFileSync(path.join(dir, name), 'latin1') : '';
        return [name, st.mode, st.ino, st.nlink, st.mtimeNs, st.ctimeNs, content].join(' ');
    });
}

const both = (...names) => i => names[i % names.length];
const file = both('d/f', 'd/e/f');
const dir = both('d', 'd/e');
/** One row a tool; the i-th call of it. */
const CALLS = [
    i => ['read_file', { path: file(i) }],
    i => ['read_text_file', { path: file(i), ...(i % 3 ? { tail: 1 } : { head: 1 }) }],
    i => ['read_media_file', { path: file(i) }],
    () => ['read_multiple_files', { paths: ['d/f', 'd/e/f', 'd/m'] }],
    i => ['write_file', { path: file(i), content: INSIDE }],
    i => ['edit_file', { path: file(i), edits: [{ oldText: 'inside', newText: 'inside' + '!'.repeat(i % 2) }] }],
    i => ['create_directory', { path: both('d/new/x', 'd/e/new')(i) }],
    i => ['move_file', i % 2 ? { source: 'd/m', destination: 'm/m' } : { source: 'm/m', destination: 'd/m' }],
    i => ['move_file', i % 2 ? { source: 'd/new', destination: 'd/e/moved' } : { source: 'd/e/moved', destination: 'd/new' }],
    i => ['list_directory', { path: dir(i) }],
    i => ['list_directory_with_sizes', { path: dir(i) }],
    i => ['directory_tree', { path: both('.', 'd')(i) }],
    i => ['search_files', { path: both('.', 'd/e')(i), pattern: '**/*' }],
    i => ['get_file_info', { path: both('d', 'd/e', 'd/f', 'd/e/f')(i) }],
];
const TOOLS = [...new Set(CALLS.map(c => c(0)[0]))];

/** Calls one after the other, WINDOW at a time; {tool: [succeeded, refused]}. */
async function race(child, count, check) {
    const tally = Object.fromEntries(TOOLS.map(t => [t, [0, 0]]));
    const asked = new Map();
    let next = 0, answered = 0, done;
    const finished = new Promise((yes, no) => {
        done = yes;
        child.once('exit', (code, signal) => no(new Error(`the server ended: ${code ?? signal}`)));
    });
    const ask = () => {
        const [name, args] = CALLS[next % CALLS.length](Math.floor(next / CALLS.length));
        asked.set(next, name);
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: next++, method: 'tools/call', params: { name, arguments: args } })}\n`);
    };
    readline.createInterface({ input: child.stdout }).on('line', line => {
        const m = JSON.parse(line);
        if (!asked.has(m.id)) return;
        const name = asked.get(m.id);
        asked.delete(m.id);
        check(name, line);
        assert.ok(m.result, line);
        tally[name][m.result.isError ? 1 : 0]++;
        if (next < count) ask();
        if (++answered === count) done();
    });
    for (let i = 0; i < Math.min(WINDOW, count); i++) ask();
    await finished;
    return tally;
}

const start = (program, args, env) => spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env });

const HELLO = `${JSON.stringify({
    jsonrpc: '2.0', id: 'start', method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'racer', version: '1' } },
})}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`;
/** The server on this directory, past its handshake. */
function serve(place, dir) {
    const server = start(bin, ['filesystem', dir], place.env());
    server.stdin.on('error', () => {}); // it may be killed
    server.stdin.write(HELLO);
    return server;
}

scenario('FS-20 SEC-59: no tool gets out while directories become links', { timeout: 3_600_000 }, async (place, t) => {
    const { top, pairs } = makeTree();
    const before = snapshot(path.join(top, 'beyond'));
    const racers = [0, 1].map(() => start(path.join(path.dirname(peerBin), 'racer'), pairs, {}));
    const server = serve(place, path.join(top, 'in'));
    const escapes = [];
    try {
        const tally = await race(server, sanitized ? Math.ceil(RACES / 5) : RACES, (name, line) => {
            if (SIGNS.some(s => line.includes(s))) escapes.push(`${name}: ${line.slice(0, 500)}`);
        });
        for (const r of racers) r.stdin.end();
        const swaps = (await Promise.all(racers.map(async r => (await r.stdout.toArray()).join('')))).map(Number);
        assert.deepEqual(escapes, []);
        assert.deepEqual(snapshot(path.join(top, 'beyond')), before, 'nothing outside was touched');
        for (const [tool, [ok, refused]] of Object.entries(tally)) {
            t.diagnostic(`${tool}: ${ok} succeeded, ${refused} refused`);
            assert.ok(ok > 0, `${tool} never succeeded: nothing was raced`);
        }
        t.diagnostic(`${swaps[0] + swaps[1]} swaps`);
        server.removeAllListeners('exit');
        server.stdin.end();
        assert.deepEqual(await once(server, 'exit'), [0, null]);
    } finally {
        for (const child of [...racers, server]) child.kill('SIGKILL');
        fs.rmSync(top, { recursive: true, force: true });
    }
});

scenario('SV-27: killed while it writes, the server leaves the old file or the new one, and after the next write nothing else', {
    timeout: 600_000,
}, async (place, t) => {
    const dir = place.path('files'), file = path.join(dir, 'f');
    const versions = ['a', 'b'].map(c => c.repeat(300_000));
    const leftovers = () => fs.readdirSync(dir).filter(f => f !== 'f');
    let found = 0;
    place.write('files/f', versions[0]);
    for (let i = 0; i < KILLS; i++) {
        const server = serve(place, dir);
        const lines = readline.createInterface({ input: server.stdout });
        const write = n => server.stdin.write(`${JSON.stringify({
            jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'write_file', arguments: { path: 'f', content: versions[n % 2] } },
        })}\n`);
        const first = new Promise(done => lines.on('line', line => {
            const { id, result } = JSON.parse(line);
            if (id === 'start') return;
            assert.equal(result?.isError, false, line);
            if (id === 0) done();
            write(id + 1);
        }));
        write(0);
        await first;
        if (i) assert.ok(leftovers().length <= 1, `after a write only that of the next one may be there: ${leftovers()}`);
        await sleep(Math.random() * 15);
        server.kill('SIGKILL');
        await once(server, 'exit');
        found += leftovers().length;
        assert.ok(versions.includes(fs.readFileSync(file, 'utf8')), `kill ${i}: neither the old nor the new content`);
    }
    t.diagnostic(`${KILLS} kills, ${found} during a write`);
    const last = await place.serve('filesystem', [dir]);
    await last.call('write_file', { path: 'g', content: 'g' });
    assert.deepEqual(leftovers(), ['g'], 'no temp file after the next write into that directory');
    await last.eof();
});

for (const [what, args, want] of [['given directories', ['.'], 1], ['none, when a client may name others', [], 0]])
    scenario(`SV-28: with ${what} the kernel ${want ? 'limits' : 'does not limit'} the server to them`, async place => {
        const s = await place.serve('filesystem', args);
        await s.call('write_file', { path: 'f', content: 'f' }); // its pool has threads now
        const tasks = fs.readdirSync(`/proc/${s.pid}/task`);
        for (const task of tasks)
            assert.match(fs.readFileSync(`/proc/${s.pid}/task/${task}/status`, 'utf8'), new RegExp(`NoNewPrivs:\\s+${want}`));
        assert.ok(tasks.length > 1, 'threads of the pool');
        await s.eof();
    });
