// SPDX-License-Identifier: MIT OR Apache-2.0
//
// filesystem: walks of 100,000 files beside find and the server of npm, the end of a file of 1 GB beside tail, start and memory.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bin, drive, envOf, expect, home, median, ms, root, steps } from '../lib.mjs';

const DIRS = 100, FILES = 1000;     // names short enough that the tree fits into one answer (SV-30)
const LAST = (FILES - 1).toString(36);
const TREE_BYTES = 9_000_000;        // its least answer
const ROUNDS = 5;
const npm = [process.execPath, path.join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')];
const ours = [bin, 'filesystem'];
const open = steps.openAs('2025-11-25');

function makeForest(dir) {
    for (let d = 0; d < DIRS; d++) {
        fs.mkdirSync(path.join(dir, `d${d}`), { recursive: true });
        for (let f = 0; f < FILES; f++) fs.closeSync(fs.openSync(path.join(dir, `d${d}`, f.toString(36)), 'w'));
    }
}

/** 1 GB of lines of 100 bytes. */
function makeLong(file) {
    const block = Buffer.from(`${'x'.repeat(99)}\n`.repeat(100_000));
    const fd = fs.openSync(file, 'w');
    for (let i = 0; i < 100; i++) fs.writeSync(fd, block);
    fs.closeSync(fd);
}

/** Milliseconds that a program takes, its output thrown away. */
function program(...command) {
    return median(Array.from({ length: ROUNDS }, () => {
        const from = performance.now();
        const r = spawnSync(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] });
        if (r.status !== 0) throw new Error(`${command.join(' ')}: ${r.error ?? r.status}`);
        return performance.now() - from;
    }));
}

/** The median time of a tool's answers from one server that serves `dir`. They hold a text or, if the probe keeps no answer so long, bytes. */
function call(server, dir, tool, args, holds, rounds = ROUNDS) {
    const answers = drive([...server, dir], open + steps.loop('call', rounds, 20, tool, args), { env: envOf(dir) })('call');
    if (typeof holds === 'string') return ms(expect(answers, holds));
    for (const { bytes } of answers) if (bytes < holds) throw new Error(`${tool}: ${bytes} bytes are too few`);
    return ms(answers);
}

function start(server, dir) {
    return Array.from({ length: ROUNDS }, () => {
        const of = drive([...server, dir], open + steps.sleep(300) + steps.memory('idle') + steps.eof('exit'), { env: envOf(dir) });
        return { list: of('list')[0].since_spawn, rss: of('idle')[0].rss_mb };
    });
}

export default async function rows() {
    const forest = path.join(home('fs-forest'), 'tree'), long = path.join(home('fs-long'), 'work/long.txt');
    makeForest(forest);
    makeLong(long);
    const search = { path: forest, pattern: `**/${LAST}` }, tree = { path: forest }, tail = { path: long, tail: 100 };
    const mine = start(ours, forest), theirs = start(npm, forest);
    const middle = (all, key) => median(all.map(s => s[key]));
    return [
        { what: '100,000 files, search_files', unit: 'ms', ours: call(ours, forest, 'search_files', search, `/d99/${LAST}`),
            beside: { find: program('find', forest, '-name', LAST), npm: call(npm, forest, 'search_files', search, `/d99/${LAST}`, 1) } },
        { what: '100,000 files, directory_tree', unit: 'ms', ours: call(ours, forest, 'directory_tree', tree, TREE_BYTES),
            beside: { find: program('find', forest), npm: call(npm, forest, 'directory_tree', tree, TREE_BYTES, 1) } },
        { what: '1 GB, the last 100 lines', unit: 'ms', ours: call(ours, path.dirname(long), 'read_text_file', tail, 'xxx'),
            beside: { tail: program('tail', '-n', '100', long), npm: call(npm, path.dirname(long), 'read_text_file', tail, 'xxx') } },
        { what: 'spawn -> tools/list', unit: 'ms', ours: middle(mine, 'list'), beside: { npm: middle(theirs, 'list') } },
        { what: 'RSS idle', unit: 'MB', ours: middle(mine, 'rss'), beside: { npm: middle(theirs, 'rss') } },
    ];
}
