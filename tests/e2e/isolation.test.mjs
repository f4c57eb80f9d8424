// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Servers that misbehave (security.md 7.2). Each row: one bad peer beside a good one. While the bad one is at it, pings and calls
// of the good one must be answered within 50 ms (times the slack), our memory must stay bounded, and at the end nothing
// may survive (harness.mjs).
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { T, basic, commandOf, peakOf, sanitized, scenario, slack, sleep, slowestOf, timed, until } from './harness.mjs';
import { warm } from './schema.mjs';

warm();     // compiling schemas holds up this process, and with it the measuring

const MB = 1 << 20;
const answer = (text, id = '$ID') => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}`;
const note = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}';
const limits = { mcp: { 'server-startup-timeout-secs': 2, 'tool-call-timeout-secs': 2, 'script-timeout-secs': 20, 'max-server-restarts': 2 } };

/** Calls `bad` in a script that catches; meanwhile the good one and pings. The message or value, and the slowest answer. */
async function meanwhile(s, script, ms = 20000) {
    const all = [];
    let done = false;
    const main = s.execute(script, { ms }).finally(() => { done = true; });
    do {
        const call = async () => assert.deepEqual((await s.execute('await good.echo({text: "g"})')).value, { text: 'g' }, 'I6');
        const at = [s.pid, ...s.place.pids('good'), ...s.children().filter(p => commandOf(p).includes('worker'))];
        all.push(await timed(() => s.ping(), [s.pid]), await timed(call, at));
        await sleep(10);
    } while (!done);
    assert.ok(slowestOf(all) <= 50 * slack, `I6: an answer of another took ${Math.round(slowestOf(all))} ms`);
    return main;
}

const caught = (call, more = '') => `${more} try { return await bad.${call}({}) } catch (e) { return "threw " + e.message }`;

/** One row. `check` gets the value of the script, or `want` is what it must match. `grow`: MiB our memory may grow by. */
function row(name, { bad, entry, script = caught('echo'), want, check, grow = 24, config = limits }) {
    scenario(name, async place => {
        place.config(config);
        place.peers({ good: basic(), bad: basic(bad) }, { bad: entry });
        const s = await place.open();
        await s.execute('await good.echo({})');
        const before = s.rss(), descriptors = s.fds();
        const r = await meanwhile(s, script);
        if (want) assert.match(typeof r.value === 'string' ? r.value : JSON.stringify(r.value), want, r.text);
        if (check) await check(r, place, s);
        if (!sanitized) assert.ok(peakOf(s.pid) - before < grow * MB, `memory grew by ${(peakOf(s.pid) - before) / MB} MiB`);
        // I1, I3, I4
        assert.ok(await s.ping() < 1000 * slack);
        assert.deepEqual((await s.execute('await good.echo({text: "after"})')).value, { text: 'after' });
        await until('no zombies', () => s.zombies().length === 0);
        await until('descriptors back to where they were', () => s.fds() <= descriptors + 8);
    });
}

const tools = (calls, more) => ({ tools: Object.keys(calls).map(n => T(n)), calls, ...more });

describe('waiting', { concurrency: 3 }, () => {
    row('SEC-25: silent from the start: the start times out and says where', {
        bad: { on: { initialize: [], 'server/discover': [] } }, want: /^threw bad\.echo: [^]*handshake/,
    });
    row('SEC-25 MS-50 MS-57: silent on a call: it times out, and the late answer is no answer to the next', {
        bad: tools({ late: [{ sleep: 2300 }, { text: 'late' }], next: [{ sleep: 600 }, { text: 'next' }] }),
        script: 'let a; try { await bad.late({}) } catch (e) { a = e.message } return [a, await bad.next({})]',
        check: (r, place) => {
            assert.deepEqual(r.value, ['bad.late: timed out after 2 s', 'next']);
            assert.equal(place.received('bad').filter(m => m.method === 'notifications/cancelled').length, 1, 'MS-57');
            assert.equal(place.starts('bad'), 1);
        },
    });
    row('SEC-26 MS-53 MS-54: exits at once: backoff, then failed for good, with the last words', {
        bad: { on_start: [{ stderr: 'no licence found' }, { exit: 9 }] },
        script: `const said = []; for (let i = 0; i < 6; i++) { try { await bad.echo({}) } catch (e) { said.push(e.message) } } return said`,
        check: async (r, place, s) => {
            assert.match(r.value[0], /no licence found/);
            assert.match(r.value.join('\n'), /next try|again/i);
            await until('it has failed for good', async () => {
                const m = (await s.execute(caught('echo'))).value;
                return place.starts('bad') >= 3 && m;
            }, 5000);
            const starts = place.starts('bad');
            assert.ok(starts <= 6, `${starts} starts`);      // three attempts; an exit on the probe starts once more
            const from = performance.now();
            assert.match((await s.execute(caught('echo'))).value, /^threw bad\.echo: /);
            assert.ok(performance.now() - from < 500 * slack, 'answers at once');
            assert.equal(place.starts('bad'), starts);
        },
    });
    scenario('MS-54: a call waits for the delay after a failed start, and then succeeds', async place => {
        place.config(limits);
        place.peers({ bad: basic({ counter: place.path('starts'), fail_starts: 2 }) }, { bad: { 'tool-call-timeout-secs': 10 } });
        const s = await place.open();
        const r = await s.execute('let m; try { await bad.echo({}) } catch (e) { m = e.message } [m, await bad.echo({text: "now"})]');
        assert.match(r.value[0], /^bad\.echo: [^]*fails on purpose/, r.text);
        assert.deepEqual(r.value[1], { text: 'now' });
        assert.equal(place.starts('bad'), 3, 'the first attempt are two: an exit on the probe starts once more');
    });
    row('SEC-41: a list that never ends is cut at the caps', {
        bad: { on: { 'tools/list': [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"t$ID","inputSchema":{}},{"name":"echo","inputSchema":{}}],"nextCursor":"c$ID"}}' }] } },
        check: (r, place) => {
            assert.deepEqual(r.value, {});
            assert.ok(place.received('bad').filter(m => m.method === 'tools/list').length <= 101);
        },
    });
    row('SEC-41: a list that repeats its cursor ends with a problem line', {
        bad: { on: { 'tools/list': [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"echo","inputSchema":{}}],"nextCursor":"same"}}' }] } },
        check: async (r, place, s) => {
            assert.deepEqual(r.value, {});
            assert.ok(place.received('bad').filter(m => m.method === 'tools/list').length <= 3);
            assert.match(await s.list(), /Problems:[^]*bad: /);
        },
    });
    row('MS-50 MS-56: crashes in the middle of a call: reported with status and last words, never repeated, then restarted', {
        bad: {}, script: `const said = []; try { await bad.crash({}) } catch (e) { said.push(e.message) }
            await new Promise(r => setTimeout(r, 1300)); try { said.push(await bad.echo({text: "again"})) } catch (e) { said.push(e.message) } return said`,
        check: (r, place) => {
            assert.match(r.value[0], /^bad\.crash: [^]*7[^]*last words/);
            assert.deepEqual(r.value[1], { text: 'again' });
            assert.equal(place.calls('bad').filter(m => m.params.name === 'crash').length, 1);
            assert.equal(place.starts('bad'), 2);
            const second = place.pids('bad')[1];
            assert.ok(place.received('bad').some(m => m.pid === second && m.method === 'tools/list'), 'listed again');
        },
    });
    row('MS-55: a crash loop ends as failed', {
        bad: tools({ echo: [{ exit: 1 }] }), config: { mcp: { ...limits.mcp, 'max-server-restarts': 1 } },
        script: `const said = []; for (let i = 0; i < 4; i++) { try { await bad.echo({}) } catch (e) { said.push(e.message) }
            await new Promise(r => setTimeout(r, 1100)) } return said`,
        check: (r, place) => {
            assert.equal(r.value.length, 4);
            assert.ok(place.starts('bad') <= 2, `${place.starts('bad')} starts`);
        },
    });
    row('SEC-45: a double-forked daemon that holds stdout: the exit is noticed at once, the daemon swept', {
        bad: tools({ echo: [{ daemon: '/dev/null' }, { exit: 0 }] }), want: /^threw bad\.echo: /,
        check: (r, place, s) => {
            const { sent } = s.messages.find(x => x.text.includes('threw bad')).asked;
            assert.ok(performance.now() - sent < 1500 * slack, 'not the call timeout');
        },
    });
    row('SEC-46: ignores SIGTERM and the end of its input', { bad: { ignore_term: true, ignore_eof: true }, check: r => assert.deepEqual(r.value, {}) });
    row('SEC-47: stops reading while we send 40 MB: those calls fail, nothing blocks', {
        bad: { on: { 'notifications/initialized': [] }, calls: { slow: [{ deaf: true }, { echo: true }] } }, grow: 160,
        script: `await bad.slow({}); const big = "x".repeat(1000000);
            const all = await Promise.allSettled(Array.from({length: 40}, () => bad.echo({text: big}))); return all.map(a => a.status + " " + (a.reason?.message ?? ""))`,
        check: r => {
            assert.equal(r.value.length, 40);
            for (const one of r.value) assert.match(one, /^rejected bad\.echo: /);
        },
    });
    scenario('MS-56: an empty list after a restart is a problem line', async place => {
        place.config(limits);
        const entry = place.peer('bad', basic());
        place.plugin('p', [entry]);
        const s = await place.open();
        await s.execute('await bad.echo({})');
        place.peer('bad', basic({ tools: [] }));
        await s.execute('try { await bad.crash({}) } catch {}');
        await sleep(1100);
        const r = await s.execute(caught('echo'));
        assert.match(`${r.text}\n${await s.list()}`, /bad: .*(no tools|empty)/i);
    });
});

describe('answers that are wrong', { concurrency: 2 }, () => {
    row('SEC-27: unknown, wrongly typed, null and fractional ids are dropped, the true answer still works', {
        bad: tools({
            echo: [...['"$ID"', 'null', '$ID.5', '999999', '-1', '{}', '[$ID]'].map(id => ({ line: answer('false', id) })), { sleep: 30 }, { text: 'true one' }],
        }),
        check: r => assert.equal(r.value, 'true one'),
    });
    row('SEC-28: of two answers to one id the first wins', {
        bad: tools({ echo: [{ text: 'first' }, { text: 'second' }], next: [{ text: 'next' }] }),
        script: 'return [await bad.echo({}), await bad.next({})]', check: r => assert.deepEqual(r.value, ['first', 'next']),
    });
    row('SEC-29: both result and error, neither, no jsonrpc, a batch: that call is refused', {
        bad: tools({
            both: [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"error":{"code":1,"message":"m"}}' }],
            neither: [{ line: '{"jsonrpc":"2.0","id":$ID}' }],
            unversioned: [{ line: '{"id":$ID,"result":{"content":[]}}' }],
            batch: [{ line: `[${answer('x')}]` }],
            good: [{ text: 'fine' }],
        }),
        script: `const said = await Promise.all(["both", "neither", "unversioned", "batch"].map(t => bad[t]({}).then(v => "value " + JSON.stringify(v), e => e.message)));
            return [...said, await bad.good({})]`,
        check: r => {
            assert.equal(r.value.pop(), 'fine');
            r.value.forEach((m, i) => assert.match(m, new RegExp(`^bad\\.${['both', 'neither', 'unversioned', 'batch'][i]}: `)));
        },
    });
    row('SEC-39: a result nested 100,000 deep is refused', { bad: tools({ echo: [{ nest: 100000 }] }), want: /^threw bad\.echo: / });
    row('SEC-38: lone surrogates become U+FFFD, bytes that are no UTF-8 never get through', {
        bad: tools({
            lone: [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a\\ud800b\\u0000c"}]}}' }],
            bytes: [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[' }, { hex: '22fffec0af220a' }],
        }),
        script: 'let b; try { b = await bad.bytes({}) } catch (e) { b = "threw" } return [await bad.lone({}), b]',
        check: r => assert.deepEqual(r.value, ['a\ufffdb\u0000c', 'threw']),
    });
    row('SEC-40: numbers beyond the double come as the nearest one in a script', {
        bad: tools({ echo: [{ result_text: '{"content":[],"structuredContent":{"a":1e400,"b":-0,"c":9007199254740993,"d":123456789012345678901234567890}}' }] }),
        script: 'const r = await bad.echo({}); return [r.a === Infinity, Object.is(r.b, -0), r.c, r.d]',
        check: r => assert.deepEqual(r.value, [true, true, 9007199254740992, 123456789012345680000000000000], r.text),
    });
    row('SEC-23: a banner before the handshake is skipped', {
        bad: { on_start: [{ line: 'Welcome to the server!' }, { line: '' }, { line: '{"not": "json-rpc"}' }] }, check: r => assert.deepEqual(r.value, {}),
    });
    row('SEC-24: 1 MiB on stderr before an answer does not block it', {
        bad: tools({ echo: [{ flood: { fd: 2, text: 'noise on stderr ', bytes: MB } }, { echo: true }] }), check: r => assert.deepEqual(r.value, {}),
    });
});

// Each of these keeps a core busy: one at a time.
row('SEC-22: 1 GiB without a newline: that server fails, within the cap', {
    bad: tools({ echo: [{ flood: { text: 'x', bytes: 1 << 30 } }] }), want: /^threw bad\.echo: /, grow: 48,
});
row('SEC-23: endless non-JSON before the handshake: the start fails', {
    bad: { on_start: [{ flood: { text: 'this is not JSON\n', bytes: -1 } }] }, want: /^threw bad\.echo: /,
    check: (r, place, s) => assert.ok(s.stderr.length < 64 << 10, 'the log is rate-limited'),
});
row('MS-72: endless non-JSON in a call', { bad: tools({ echo: [{ flood: { text: 'garbage\n', bytes: -1 } }] }), want: /^threw bad\.echo: / });
row('MS-72: endless notifications in a call', { bad: tools({ echo: [{ flood: { text: `${note}\n`, bytes: -1 } }] }), want: /^threw bad\.echo: / });
row('SEC-24: endless stderr', { bad: tools({ echo: [{ flood: { fd: 2, text: 'noise\n', bytes: -1 } }] }), want: /^threw bad\.echo: timed out/ });
const patient = { mcp: { ...limits.mcp, 'tool-call-timeout-secs': 15 } };
row('SEC-30: 100,000 requests of a server are bounded', {
    config: patient,
    bad: tools({ echo: [{ repeat: { times: 100000, line: '{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":{}}' } }, { echo: true }] }),
    check: (r, place) => {
        assert.deepEqual(r.value, {});
        assert.ok(place.received('bad').filter(m => !m.method).length <= 100 * 15, 'at most 100 a second are answered');
    },
});
row('SEC-31: list_changed without end is coalesced', {
    config: patient,
    bad: tools({ echo: [{ repeat: { times: 20000, line: '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' } }, { sleep: 300 }, { echo: true }] }),
    check: (r, place) => {
        assert.deepEqual(r.value, {});
        const lists = place.received('bad').filter(m => m.method === 'tools/list').length;
        assert.ok(lists >= 2 && lists <= 50, `${lists} lists`);
    },
});
row('MS-72: a result over 16 MiB fails that call only', {
    bad: tools({ echo: [{ bloat: 17 * MB }], next: [{ text: 'next' }] }), grow: 64,
    script: 'let m; try { await bad.echo({}) } catch (e) { m = e.message } return [m, await bad.next({})]',
    check: r => { assert.match(r.value[0], /^bad\.echo: /); assert.equal(r.value[1], 'next'); },
});

scenario('SEC-85: a secret that a server echoes reaches the script, and none of our files or logs', { secret: false }, async place => {
    place.plugin('p', [place.peer('leaky', tools({ tell: [{ echo: true }], spill: [{ stderr: `secret is ${place.canary}` }, { fail: `token ${place.canary}` }] }),
        { env: { SERVICE_TOKEN: place.canary } })]);
    const s = await place.open({ args: ['mcp-serve', '--verbose'] });
    const r = await s.execute(`const told = await leaky.tell({text: ${JSON.stringify(place.canary)}});
        let m; try { await leaky.spill({}) } catch (e) { m = e.message } [told.text, m]`);
    assert.deepEqual(r.value, [place.canary, `leaky.spill: token ${place.canary}`]);
    await s.close();
    assert.ok(!s.stderr.includes(place.canary), 'stderr');
    assert.deepEqual(place.filesWith(place.canary).filter(f => !f.startsWith('symposium/plugins/')), []);
});
