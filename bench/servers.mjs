#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The everyday servers beside the servers of npm and what the system offers, one table. Each server's rows are in a file of their
// own, bench/servers/<server>.mjs, whose default export is  async () => [{what, unit, ours, beside: {name: figure, ...}}, ...].
// usage: bench/servers.mjs [--only PATTERN]; ./dev bench runs it too   (docs/design/bench.md)
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildTools } from './lib.mjs';

const here = path.join(path.dirname(fileURLToPath(import.meta.url)), 'servers');
// strict: false, because all files of bench/ get the same arguments.
const { values } = parseArgs({ strict: false, options: { only: { type: 'string', default: '' } } });
const files = fs.readdirSync(here).filter(f => f.endsWith('.mjs') && f.match(values.only)).sort();

buildTools();
const number = x => (x === undefined ? '-' : x >= 100 ? Math.round(x).toLocaleString('en') : String(Number(x.toPrecision(x >= 10 ? 3 : 2))));
const table = [['server', 'what', 'ours', 'beside']];
for (const file of files) {
    const server = path.basename(file, '.mjs');
    process.stderr.write(`bench: ${server}\n`);
    const { default: rows } = await import(path.join(here, file));
    for (const { what, unit, ours, beside = {} } of await rows())
        table.push([server, what, `${number(ours)} ${unit}`, Object.entries(beside).map(([name, x]) => (typeof x === 'string'
            ? `${name} ${x}` : `${name} ${number(x)} (x${number(x / ours)})`)).join(', ')]);
}
const width = table[0].map((_, i) => Math.max(...table.map(row => row[i].length)));
const line = row => `| ${row.map((c, i) => c.padEnd(width[i])).join(' | ')} |`;
console.log([line(table[0]), `|${width.map(w => '-'.repeat(w + 2)).join('|')}|`, ...table.slice(1).map(line)].join('\n'));
