#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The figures of the meta-server beside their bars, and other gateways on the same machine, backend and probe, in one table.
// usage: ./dev bench [--rounds N] [--no-rivals] [--json FILE]   (docs/design/bench.md)
import fs from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { buildTools, median } from './lib.mjs';
import * as ours from './ours.mjs';
import { prepareRivals, rivalFigure, rivalRound } from './rivals.mjs';

function readOptions() {
    try {
        const { values } = parseArgs({ options: {
            rounds: { type: 'string', default: '5' }, 'no-rivals': { type: 'boolean' }, json: { type: 'string' },
        } });
        if (/^[1-9]\d{0,3}$/.test(values.rounds)) return values;
        throw new Error(`--rounds '${values.rounds}': expected a number from 1 to 9999`);
    } catch (e) {
        console.error(`bench: ${e.message}\nusage: ./dev bench [--rounds N] [--no-rivals] [--json FILE]`);
        process.exit(2);
    }
}
const options = readOptions(), rounds = Number(options.rounds);
const say = text => process.stderr.write(`bench: ${text}\n`);

// --- measuring ------------------------------------------------------------------------------------------------------------
const STARTS = 4; // a round: a start is short, and noisier than the rest
const figures = { empty: [], start: { 0: [], 1: [], cargo: [], 50: [] }, calls: [], packages: [], sync: [] };
const places = Object.keys(figures.start);
buildTools();
ours.prepare();
const { ready, skipped } = options['no-rivals'] ? { ready: [], skipped: ['all, as asked'] } : prepareRivals();
for (const n of places) ours.start(n); // the workspace's cache (plugins.md CF-5)
for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    for (let i = 0; i < STARTS; i++) {
        figures.empty.push(ours.emptyProgram());
        for (const n of places) figures.start[n].push(ours.start(n));
    }
    figures.calls.push(ours.calls());
    figures.packages.push(ours.packages());
    figures.sync.push(ours.sync());
    for (const r of [...ready])
        try { rivalRound(r); } catch (e) {
            skipped.push(`${r.name}: ${e.message}`);
            ready.splice(ready.indexOf(r), 1);
        }
}
say('attacks');
figures.attacks = ours.attacks();
say('5,000 tools');
figures.many = ours.manyTools();

// --- the table ------------------------------------------------------------------------------------------------------------
const starts = (n, key) => median(figures.start[n].map(s => s[key]));
const calls = f => median(figures.calls.map(f));
const number = x => (x >= 100 ? Math.round(x).toLocaleString('en') : String(Number(x.toPrecision(x >= 10 ? 3 : 2))));
const empty = median(figures.empty), { attacks, many } = figures;
const direct = calls(c => c.direct.call), over = calls(c => c.call - c.direct.call);
const exitIdle = median(figures.start[0].map(s => s.exit.ms));
const left = [...Object.values(figures.start).flat(), ...figures.calls].reduce((sum, s) => sum + s.exit.left, 0) + attacks.left;
const growth = (starts(50, 'bytes') - starts(0, 'bytes')) / 50 - 'server_00'.length;

// what, unit, bar, measured, what it stands beside, the key of the rivals' figure
const rows = [
    ['spawn -> tools/list, no server', 'ms', 10, starts(0, 'list'), `empty C program ${number(empty)}`, 'list'],
    ['  1 server', 'ms', 10, starts(1, 'list'), '', ''],
    ['  1 server, for a Cargo dependency', 'ms', 10, starts('cargo', 'list'), '', ''],
    ['  50 servers', 'ms', 10, starts(50, 'list'), '', ''],
    ['  times an empty C program, 1 server', 'x', 3, starts(1, 'list') / empty, '', ''],
    ['  50 servers', 'x', 3, starts(50, 'list') / empty, '', ''],
    ['execute with one call, over direct', 'ms', 0.5, over, `direct ${number(direct)}`, r => rivalFigure(r, 'call') - direct],
    ['  script after script without pause', 'ms', undefined, calls(c => c.rapid - c.direct.call), '', ''],
    ['100 calls in a script, C echo', 'ms', 25, calls(c => c.hundred), `direct ${number(calls(c => c.direct.hundred))}`, 'hundred'],
    ['  Node echo', 'ms', 25, calls(c => c.nodeHundred), `direct ${number(calls(c => c.directNode.hundred))}`, ''],
    ['8 x 250 ms, Promise.all', 'ms', 260, calls(c => c.parallel), '', 'parallel'],
    ['RSS idle, all our processes', 'MB', 8, calls(c => c.idle.rss_mb), `PSS ${number(calls(c => c.idle.pss_mb))}`, 'idle'],
    ['RSS running a script', 'MB', 20, calls(c => c.busy.rss_mb), `PSS ${number(calls(c => c.busy.pss_mb))}`, 'busy'],
    ['own tools/list, no server', 'B', 1500, starts(0, 'bytes'), '', 'bytes'],
    ['  a server more, over its name', 'B', 2, growth, '', ''],
    [`${attacks.count} attack scripts, latest end`, 'ms', attacks.deadline + 500, attacks.latest.ms, attacks.latest.name, ''],
    ['  slowest ping meanwhile', 'ms', 50, attacks.slowest.slowest_ping, attacks.slowest.name, ''],
    ['exit after end of input, idle', 'ms', 100, exitIdle, '', 'exit'],
    ['  with a server running', 'ms', 100, calls(c => c.exit.ms), '', ''],
    ['  processes left over', '', 0, left, '', ''],
    ['list_deps, 1,000 packages, uncached', 'ms', 10, median(figures.packages.map(f => f.list)),
        `kept ${number(median(figures.packages.map(f => f.kept)))}`, ''],
    ['sync, nothing changed', 'ms', 20, median(figures.sync), `empty C program ${number(empty)}`, ''],
    ['search in 5,000 tools', 'ms', 5, many.search, '', ''],
    ['5,000 schemas of 20 KB, CPU', 'ms', 1000, many.render, `${number(many.bytes / 1e6)} MB, clock ${number(many.wall)}`, ''],
];
const cells = rows.map(([what, unit, bar, measured, beside, key]) => [
    what, bar === undefined ? '' : `${bar} ${unit}`.trim(), `${number(measured)} ${unit}`.trim(),
    bar === undefined ? '' : measured <= bar ? 'ok' : 'NOT', beside,
    ...ready.map(r => {
        const x = key === '' ? undefined : typeof key === 'function' ? key(r) : rivalFigure(r, key);
        return x === undefined ? '' : `${number(x)} (x${number(x / measured)})`;
    }),
]);
const table = [['what', 'bar, at most', 'measured', '', 'beside', ...ready.map(r => r.name)], ...cells];
const width = table[0].map((_, i) => Math.max(3, ...table.map(row => row[i].length)));
const line = row => `| ${row.map((c, i) => c.padEnd(width[i])).join(' | ')} |`;
console.log([line(table[0]), `|${width.map(w => '-'.repeat(w + 2)).join('|')}|`, ...table.slice(1).map(line)].join('\n'));
console.log(`\nMedians of ${rounds} interleaved rounds; ${os.cpus().length} processors, load ${os.loadavg()[0].toFixed(1)}; `
    + '(xN): times ours on the same backend.');
for (const s of skipped) console.log(`left out: ${s}`);
if (options.json) fs.writeFileSync(options.json, JSON.stringify({ figures, rivals: ready.map(({ name, rounds: all }) => ({ name, rounds: all })) }, null, 1));
