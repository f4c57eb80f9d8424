// SPDX-License-Identifier: MIT OR Apache-2.0
//
// shell: a command over the server beside the same program started directly (both wait for its end and read its output), with and
// without the sandbox; a large output; start and memory. No server of npm does this.
import { spawnSync } from 'node:child_process';
import { bin, drive, envOf, expect, home, median, ms, steps } from '../lib.mjs';

const ROUNDS = 5, CALLS = 200;
const KEPT = 1 << 20;    // bytes of a stream that are kept (SH-5)
const open = steps.openAs('2025-11-25');
const flood = { program: 'sh', args: ['-c', 'yes | head -c 1000000000'] };

function direct(command, args, rounds) {
    return median(Array.from({ length: rounds }, () => {
        const from = performance.now();
        const r = spawnSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 31 });
        if (r.status !== 0) throw new Error(`${command}: ${r.error ?? r.status}`);
        return performance.now() - from;
    }));
}

/** The median time of an answer that holds a text or, if the probe keeps no answer so long, bytes. */
function call(options, args, holds, rounds) {
    const dir = home('shell');
    const answers = drive([bin, 'shell', ...options, dir], open + steps.loop('call', rounds, 20, 'execute_command', args), { env: envOf(dir) })('call');
    if (typeof holds === 'string') return ms(expect(answers, holds));
    for (const { bytes } of answers) if (bytes < holds) throw new Error(`${bytes} bytes are too few`);
    return ms(answers);
}

function start(options) {
    return Array.from({ length: ROUNDS }, () => {
        const dir = home('shell');
        const of = drive([bin, 'shell', ...options, dir], open + steps.sleep(300) + steps.memory('idle') + steps.eof('exit'), { env: envOf(dir) });
        return { list: of('list')[0].since_spawn, rss: of('idle')[0].rss_mb };
    });
}

export default async function rows() {
    const spawn = direct('true', [], CALLS), plain = start([]), sandbox = start(['--sandbox']);
    const middle = (all, key) => median(all.map(s => s[key]));
    return [
        { what: "'true'", unit: 'ms', ours: call([], { program: 'true' }, 'exit code: 0', CALLS), beside: { 'Node spawnSync': spawn } },
        { what: "'true' in the sandbox", unit: 'ms', ours: call(['--sandbox'], { program: 'true' }, 'exit code: 0', CALLS), beside: { 'Node spawnSync': spawn } },
        { what: '1 GB of output', unit: 'ms', ours: call([], flood, KEPT, 3), beside: { 'Node spawnSync': direct(flood.program, flood.args, 1) } },
        { what: 'spawn -> tools/list', unit: 'ms', ours: middle(plain, 'list') },
        { what: 'spawn -> tools/list, sandbox', unit: 'ms', ours: middle(sandbox, 'list') },
        { what: 'RSS idle', unit: 'MB', ours: middle(plain, 'rss') },
    ];
}
