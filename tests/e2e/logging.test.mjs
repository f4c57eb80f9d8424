// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The log of mcp-serve: where it goes, at which level, and what is not in it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { basic, scenario } from './harness.mjs';

const named = /^symposium-\d{8}-\d{6}\.log$/;
const logs = place => { try { return fs.readdirSync(place.path('symposium/logs')).sort(); } catch { return []; } };
const text = place => logs(place).filter(f => named.test(f)).map(f => place.read(`symposium/logs/${f}`)).join('');

scenario('CF-5: a session logs to a private file of its own, at the level of config.toml', async place => {
    place.config({ logging: { level: 'debug' } }).peers({ alpha: basic() });
    const s = await place.open();
    assert.deepEqual((await s.execute('await alpha.echo({text: "x"})')).value, { text: 'x' });
    await s.close();
    assert.equal(logs(place).length, 1);
    assert.match(logs(place)[0], named);
    assert.equal(fs.statSync(place.path('symposium/logs')).mode & 0o777, 0o700);
    assert.equal(fs.statSync(place.path('symposium/logs', logs(place)[0])).mode & 0o777, 0o600);
    assert.match(text(place), /^\S+Z \[\d+\] info: symposium \S+ serves '.*\/work'$/m);
    assert.match(text(place), / debug: /);
    assert.doesNotMatch(s.stderr, / (info|debug): /);
});

scenario('CF-3: the level is "info" by default; -v and -q keep the log on stderr', async place => {
    place.peers({ alpha: basic() });
    for (const flag of ['-v', '-q']) {
        const s = await place.open({ args: ['mcp-serve', flag] });
        await s.execute('await alpha.echo({})');
        await s.close();
        assert.deepEqual(logs(place), [], flag);
        assert.equal(/ debug: /.test(s.stderr), flag === '-v', flag);
    }
    const s = await place.open();
    await s.execute('await alpha.echo({})');
    await s.close();
    assert.match(text(place), / info: /);
    assert.doesNotMatch(text(place), / debug: /);
});

scenario('MS-2: a client that only looks leaves no log', async place => {
    const s = place.session();
    await s.open('2026-07-28');
    await s.result('server/discover');
    await s.close();
    assert.deepEqual(logs(place), []);
});

scenario('SEC-85: what a server echoes of its secret is not in the file', async place => {
    place.config({ logging: { level: 'trace' } });
    place.peers({ leaky: basic({ calls: { fail: [{ stderr: `secret is ${place.canary}` }, { fail: `token ${place.canary}` }] } }) },
        { leaky: { env: { SERVICE_TOKEN: '${E2E_API_TOKEN}' } } });
    const s = await place.open();
    await s.execute('try { await leaky.fail({}) } catch (e) { 1 }');
    await s.close();
    assert.notEqual(text(place), '');
    assert.ok(!text(place).includes(place.canary));
});

scenario('SEC-86: a link in the place of the log is not followed, and the session goes on', async place => {
    place.peers({ alpha: basic() });
    const victim = place.write('victim', 'mine');
    const now = Date.now();
    fs.mkdirSync(place.path('symposium/logs'));
    for (let i = 0; i < 300; i++) { // the seconds to come
        const t = new Date(now + i * 1000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
        fs.symlinkSync(victim, place.path('symposium/logs', `symposium-${t}.log`));
    }
    const s = await place.open();
    assert.equal((await s.execute('1 + 1')).value, 2);
    await s.close();
    assert.match(s.stderr, /warn: no log file: .*symbolic link/);
    assert.equal(place.read('victim'), 'mine');
});

scenario('CF-5: the ten newest logs are kept', async place => {
    fs.mkdirSync(place.path('symposium/logs'));
    for (let i = 10; i < 25; i++) {
        const file = place.path('symposium/logs', `symposium-202601${i}-000000.log`);
        fs.writeFileSync(file, 'old\n');
        fs.utimesSync(file, i, i);
    }
    fs.writeFileSync(place.path('symposium/logs/notes'), 'mine\n');
    const s = await place.open();
    await s.execute('1');
    await s.close();
    assert.equal(logs(place).filter(f => named.test(f)).length, 10);
    assert.ok(logs(place).includes('notes'));
    assert.ok(!logs(place).includes('symposium-20260115-000000.log'));
    assert.ok(logs(place).includes('symposium-20260124-000000.log'));
});
