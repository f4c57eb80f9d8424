// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The ledger of tasks: events appended per second beside a plain loop of SQLite, and reading after a cursor.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { home, median, root } from '../lib.mjs';

const EVENTS = 200_000, READ_EVENTS = 1_000_000, ROUNDS = 3, READ_BAR_MS = 5;
const src = path.join(root, 'src');

function build() {
    const to = path.join(root, '.build/bench/ledger');
    const of = (folder, pattern) => fs.readdirSync(path.join(src, folder)).filter(f => pattern.test(f)).map(f => path.join(src, folder, f));
    const flags = execFileSync('pkg-config', ['--cflags', '--libs', 'sqlite3', 'libuv', 'yyjson', 'libmd'], { encoding: 'utf8' });
    execFileSync('gcc', ['-std=gnu17', '-O3', '-D_GNU_SOURCE', '-I', src, '-o', to, path.join(root, 'bench/ledger.c'),
        ...of('tasks', /^(ledger.*|owner|task)\.c$/), ...of('loop', /^(?!http).*\.c$/), ...of('base', /\.c$/), ...of('text', /^json(_tree|_write)?\.c$/),
        ...flags.trim().split(/\s+/), '-ldl', '-lm', '-lpthread'], { stdio: ['ignore', 'inherit', 'inherit'] });
    return to;
}

export default async () => {
    const program = build();
    let runs = 0;
    const run = (mode, ...args) => {
        const dir = path.join(home(`ledger-${runs++}`), 'state');
        fs.mkdirSync(dir, { mode: 0o700 });
        const said = execFileSync(program, [mode, dir, ...args.map(String)], { encoding: 'utf8' }).trim().split(' ').map(Number);
        fs.rmSync(dir, { recursive: true });
        return said;
    };
    const figures = { 1: {}, 8: {}, 64: {} };
    for (const f of Object.values(figures)) Object.assign(f, { append: [], plain: [] });
    for (let i = 0; i < ROUNDS; i++)
        for (const [tasks, f] of Object.entries(figures))
            for (const [mode, all] of Object.entries(f)) all.push(run(mode, tasks, EVENTS)[0]);
    const [middle, longest] = run('read', READ_EVENTS);
    return [
        ...Object.entries(figures).map(([tasks, { append, plain }]) => ({
            what: `events appended, ${tasks} task${tasks === '1' ? '' : 's'}`, unit: '/s', ours: median(append),
            beside: { 'plain SQLite': median(plain) },
        })),
        { what: `get_events of ${READ_EVENTS.toLocaleString('en')}, 500 after a cursor`, unit: 'ms', ours: middle,
            beside: { 'bar at most': READ_BAR_MS, longest } },
    ];
};
