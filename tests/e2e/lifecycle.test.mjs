// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The life of backing servers: lazy start, one start for many, restarts, shutdown, and that nothing survives
// (meta-server.md 9).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe } from 'node:test';
import { T, alive, basic, childrenOf, commandOf, scenario, slack, sleep, treeOf, until } from './harness.mjs';

const gone = place => until('every process is gone', () => place.survivors().length === 0, 1500);

scenario('MS-44 MS-52: a server is started by its first call, once for many at the same time', async place => {
    place.peers({ a: basic({ start_delay_ms: 200 }), b: basic() });
    const s = await place.open();
    await s.result('tools/list');
    await s.execute('typeof a.echo + typeof b');
    assert.equal(place.starts('a') + place.starts('b'), 0, 'naming it starts nothing');
    const all = await Promise.all([...Array(6)].map(() => s.execute('await Promise.all([a.echo({}), a.echo({})])')));
    assert.ok(all.every(r => !r.isError));
    assert.equal(place.starts('a'), 1);
    assert.equal(place.starts('b'), 0);
    assert.equal(place.received('a').filter(m => m.method === 'initialize').length, 1);
});

scenario('MS-71: environment, descriptors, session and working directory of a server', async place => {
    const dump = `const fs = require("fs"); const out = {env: process.env, cwd: process.cwd(), ppid: process.ppid,
        fds: fs.readdirSync("/proc/self/fd").map(f => { try { return [Number(f), fs.readlinkSync("/proc/self/fd/" + f)] } catch { return null } }).filter(Boolean),
        stat: fs.readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ").slice(0, 5), pid: process.pid};
        fs.writeFileSync(process.argv[1], JSON.stringify(out)); setInterval(() => {}, 1000);`;
    place.write('work/sub/x', '');
    place.plugin('p', [{ name: 'dump', command: process.execPath, args: ['-e', dump, '--', place.path('dump.json')], cwd: 'sub', env: { OWN: 'mine', INHERITED: 'own wins', 'EXPANDED': '${GIVEN}-${ABSENT:-default}' } }]);
    place.config({ mcp: { 'server-startup-timeout-secs': 5 } });
    const s = await place.open({ env: { INHERITED: 'ours', GIVEN: 'given', SYMPOSIUM_TASK_CHAIN: 'chain', SYMPOSIUM_OTHER: 'hidden', SYMPOSIUM_CARGO: '/bin/false' } });
    s.send({ id: 'x', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await dump.x({})' } } });
    const out = JSON.parse(await until('the server looked around', () => { try { JSON.parse(place.read('dump.json')); return place.read('dump.json'); } catch { return ''; } }));
    const { OWN, INHERITED, EXPANDED, SYMPOSIUM_HOME, SYMPOSIUM_TASK_CHAIN, SYMPOSIUM_OTHER, SYMPOSIUM_CARGO, E2E_MARK } = out.env;
    assert.deepEqual({ OWN, INHERITED, EXPANDED, SYMPOSIUM_HOME, SYMPOSIUM_TASK_CHAIN, SYMPOSIUM_OTHER, SYMPOSIUM_CARGO, E2E_MARK },
        { OWN: 'mine', INHERITED: 'own wins', EXPANDED: 'given-default', SYMPOSIUM_HOME: place.home, SYMPOSIUM_TASK_CHAIN: 'chain', SYMPOSIUM_OTHER: undefined, SYMPOSIUM_CARGO: undefined, E2E_MARK: place.mark });
    assert.equal(out.cwd, place.path('work/sub'), 'MS-13');
    const ours = new Set(fs.readdirSync(`/proc/${s.pid}/fd`).map(f => { try { return fs.readlinkSync(`/proc/${s.pid}/fd/${f}`); } catch { return ''; } }));
    for (const [fd, to] of out.fds) if (fd > 2) assert.ok(!ours.has(to) || /anon_inode|\/dev\/null/.test(to), `descriptor ${fd} of ours leaked: ${to}`);
    const [, , pgrp, session] = out.stat.map(Number);
    assert.notEqual(pgrp, s.pid);
    assert.notEqual(session, Number(fs.readFileSync(`/proc/${s.pid}/stat`, 'utf8').split(') ')[1].split(' ')[3]), 'its own session');
    assert.ok(commandOf(out.ppid).includes('keeper'), 'WK-8: under its keeper');
    assert.ok(!s.stderr.includes('own wins'), 'values are never logged');
    await s.kill('SIGTERM');
});

scenario('MS-55 MS-56: a server that was killed is started again by the next call, and listed again', async place => {
    place.peers({ a: basic() });
    const s = await place.open();
    await s.execute('await a.echo({})');
    process.kill(place.pids('a')[0], 'SIGKILL');
    await until('it is gone', () => !alive(place.pids('a')[0]));
    const r = await s.execute('try { await a.echo({text: "1"}) } catch (e) { e.message }');
    if (typeof r.value === 'string') assert.match(r.value, /^a\.echo: [^]*signal 9/);
    const second = await until('works again', async () => {
        const x = await s.execute('try { await a.echo({text: "2"}) } catch (e) { e.message }');
        return x.value?.text === '2' && x;
    }, 3000);
    assert.ok(second);
    assert.equal(place.starts('a'), 2);
});

scenario('MS-56: calls in flight at a crash all fail, none is sent again', async place => {
    place.peers({ a: basic() });
    const s = await place.open();
    const r = await s.execute('const all = await Promise.allSettled([a.hang({n: 1}), a.hang({n: 2}), a.crash({})]); all.map(x => x.reason?.message)');
    assert.equal(r.value.length, 3);
    for (const m of r.value) assert.match(m, /^a\.(hang|crash): [^]*7/);
    await sleep(100);
    assert.equal(place.calls('a').length, 3);
});

describe('MS-58: shutdown', { concurrency: 1 }, () => {
    scenario('MS-58 MCP-C13: well-behaved servers are gone within 100 ms of the end of input, told by it alone', async place => {
        place.peers(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`s${i}`, basic()])));
        const s = await place.open();
        await s.execute(`await Promise.all([${Array.from({ length: 10 }, (_, i) => `s${i}.echo({})`)}])`);
        const { ms, code } = await s.eof();
        assert.equal(code, 0);
        assert.ok(ms <= 100 * slack, `${ms} ms`);
        await gone(place);
        for (let i = 0; i < 10; i++) {
            assert.ok(place.log(`s${i}`).some(l => l.startsWith('eof')));
            assert.ok(!place.log(`s${i}`).some(l => l.startsWith('term')));
        }
    });

    scenario('MS-58 MCP-C13 SEC-46: 50 servers that ignore everything are gone within the grace', { timeout: 60000 * slack }, async place => {
        place.config({ mcp: { 'shutdown-grace-secs': 2 } });
        const names = Array.from({ length: 50 }, (_, i) => `s${i}`);
        place.peers(Object.fromEntries(names.map(n => [n, basic({ ignore_eof: true, ignore_term: true })])));
        const s = await place.open();
        await s.execute(`await Promise.all([${names.map(n => `${n}.echo({})`)}])`, { ms: 30000 });
        assert.equal(names.filter(n => place.starts(n) === 1).length, 50);
        const { ms } = await s.eof(10000);
        assert.ok(ms <= 2000 + 250 * slack, `${ms} ms`);
        await gone(place);
        assert.ok(place.log('s0').findIndex(l => l.startsWith('eof')) < place.log('s0').findIndex(l => l.startsWith('term')), 'end of input, then SIGTERM');
    });

    scenario('MS-58: a whole family goes: children that ignore SIGTERM and a daemon in a session of its own', async place => {
        place.config({ mcp: { 'shutdown-grace-secs': 1 } });
        place.peers({ a: basic({ tools: [T('breed')], calls: { breed: [{ fork: '/dev/null' }, { daemon: '/dev/null' }, { text: 'born' }] } }) });
        const s = await place.open();
        assert.equal((await s.execute('await a.breed({})')).value, 'born');
        assert.ok(place.survivors().length >= 5, 'we, a keeper, the server, its child, its daemon');
        await s.eof();
        await gone(place);
    });

    scenario('MS-58 SEC-55: SIGKILL of the meta-server leaves nothing: servers, daemons, workers, keepers', async place => {
        place.peers({
            a: basic({ ignore_eof: true, ignore_term: true, tools: [T('breed'), T('hang')], calls: { breed: [{ fork: '/dev/null' }, { daemon: '/dev/null' }, { text: 'born' }] } }),
            b: basic({ ignore_eof: true }), c: basic(),
        });
        const s = await place.open();
        await s.execute('await Promise.all([a.breed({}), b.echo({}), c.echo({})])');
        s.send({ id: 'x', method: 'tools/call', params: { name: 'execute', arguments: { script: 'for (;;);' } } });
        s.send({ id: 'y', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await a.hang({})' } } });
        await until('the call is in flight', () => place.calls('a').length === 2);
        const all = treeOf(s.pid);
        assert.ok(all.some(p => commandOf(p).includes('worker')));
        s.child.kill('SIGKILL');
        await s.exited;
        s.exit.code = null;
        await gone(place);
        await until('workers too', () => !all.some(alive), 1500);
    });

    scenario('MS-58: servers that are just starting go too, at the end of input and at SIGTERM', async place => {
        place.config({ mcp: { 'server-startup-timeout-secs': 1, 'shutdown-grace-secs': 1 } });
        const silent = { on: { initialize: [], 'server/discover': [] }, ignore_term: true, ignore_eof: true };
        place.peers({ a: silent, b: { ...silent, start_delay_ms: 20000 } });
        for (const how of ['eof', 'term']) {
            const s = await place.open();
            s.send({ id: 'x', method: 'tools/call', params: { name: 'list_tools', arguments: {} } });
            await until('both are starting', () => ['a', 'b'].every(n => place.starts(n) >= (how === 'eof' ? 1 : 2)));
            const { ms } = how === 'eof' ? await s.eof() : await s.kill('SIGTERM');
            assert.ok(ms <= (how === 'eof' ? 2200 : 1500) + 100 * slack, `${how}: ${ms} ms`);
            if (how === 'eof') assert.ok(s.messages.some(x => x.m.id === 'x'), 'MS-3: what was accepted is answered');
            await gone(place);
        }
    });

    scenario('WK-8: a keeper that is killed takes its server along, and the next call starts another', async place => {
        place.config({ mcp: { 'shutdown-grace-secs': 1 } });
        place.peers({ a: basic({ ignore_eof: true, ignore_term: true }) });
        const s = await place.open();
        await s.execute('await a.echo({})');
        const [server] = place.pids('a');
        const keeper = s.children().find(c => childrenOf(c).includes(server));
        assert.ok(keeper && commandOf(keeper).includes('keeper'));
        process.kill(keeper, 'SIGKILL');
        await until('the server is gone', () => !alive(server));
        await until('works again', async () => (await s.execute('try { await a.echo({text: "2"}) } catch (e) { e.message }')).value?.text === '2', 3000);
        assert.equal(place.starts('a'), 2);
        await until('no zombies', () => s.zombies().length === 0);
    });
});

scenario('I4: two hundred scripts with calls leave memory, descriptors and children where they were', async place => {
    place.peers({ a: basic() });
    const s = await place.open();
    for (let i = 0; i < 20; i++) await s.execute('await a.echo({})');
    await sleep(100);
    const before = { fds: s.fds(), rss: s.rss(), children: s.children().length };
    for (let i = 0; i < 50; i++) await Promise.all([...Array(4)].map(() => s.execute('await a.echo({text: "x".repeat(10000)})')));
    await until('back to the baseline', () => s.fds() <= before.fds + 4 && s.children().length <= before.children + 2);
    assert.ok(s.rss() - before.rss < (16 << 20) * (slack >= 10 ? 8 : 1), `${(s.rss() - before.rss) >> 20} MiB more`);
    await until('no zombies', () => s.zombies().length === 0);
});
