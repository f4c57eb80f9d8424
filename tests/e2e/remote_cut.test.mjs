// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Everything that can happen to a stream between a server over HTTP and us, at each of its bytes: cut, ended, held up, said twice.
// The answer is the right one or an error that names the server, and comes in time. Some bytes of each; with TEST_SLOW every one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place, run, sanitized, slack } from './harness.mjs';
import { cuttingProxy } from '../peers/cutting_proxy.mjs';
import { sdkServer } from './remote.mjs';

const MODES = ['cut', 'truncate', 'delay', 'duplicate'];
const slow = !!process.env.TEST_SLOW;
const SAMPLES = slow ? Infinity : sanitized ? 8 : 24;
const LANES = slow ? 16 : 4;     // at the same time: most of it is waiting
const CALL = ['call', 'far.echo', 'text=the-right-answer'];

/** Up to `n` of the offsets 0..end-1, spread over them. */
const spread = (end, n) => Array.from({ length: Math.min(end, n) }, (_, i) => (n >= end ? i : Math.floor((i + Math.random()) * end / n)));

/** A place whose server `far` is behind a proxy of its own. */
async function lane(kind, server) {
    const place = new Place(), proxy = await cuttingProxy(server.port);
    place.plugin('far', [{ name: 'far', url: `http://127.0.0.1:${proxy.port}/mcp`, ...(kind === 'v1-sse' ? { transport: 'sse' } : {}) }]);
    const call = async plan => {
        proxy.begin(plan);
        return run(place, CALL, { ms: 15000 * slack });
    };
    for (const known of [false, true]) {    // the second time the era and the tools are
        const r = await call();
        assert.deepEqual([r.code, r.out.trim()], [0, 'the-right-answer'], `${known}: ${r.err}`);
    }
    return { call, bytes: proxy.bytes, close: () => { proxy.close(); return place.close(); } };
}

for (const kind of ['v1', 'v1-sse', 'v2', 'v2-modern'])
    test(`MCP-C17 MS-63: a ${kind} server behind a line that fails at any byte: no hang, no wrong answer`, async () => {
        const server = await sdkServer(kind), lanes = await Promise.all(Array.from({ length: LANES }, () => lane(kind, server)));
        try {
            const { bytes } = lanes[0], right = Object.fromEntries(MODES.map(m => [m, 0]));
            assert.ok(bytes > 500, `${bytes} bytes were recorded`);
            const plans = MODES.flatMap(mode => spread(bytes, SAMPLES).map(at => ({ mode, at }))), all = plans.length / MODES.length;
            await Promise.all(lanes.map(async ({ call }) => {
                for (let plan; (plan = plans.pop());) {
                    const r = await call(plan), what = `${plan.mode} at ${plan.at}`;
                    if (r.code === 0) assert.equal(r.out.trim(), 'the-right-answer', what);
                    else assert.match(r.err, /far/, `${what}: ${r.err}`);
                    right[plan.mode] += r.code === 0;
                }
            }));
            assert.equal(right.delay, all, 'what only comes later is no failure');
            console.log(`${kind}: ${bytes} bytes; right answers of ${all}: ${JSON.stringify(right)}`);
        } finally {
            await Promise.all(lanes.map(l => l.close()));
            await server.kill();
        }
    });
