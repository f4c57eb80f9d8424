// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The tool cache, changed tools, and servers that come and go in the middle of a session (meta-server.md 10).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { T, alive, basic, scenario, slack, sleep, until } from './harness.mjs';

const cacheFiles = place => { try { return fs.readdirSync(place.path('symposium/cache/tools')).filter(f => f.endsWith('.json')); } catch { return []; } };
const cached = (place, f) => JSON.parse(place.read(`symposium/cache/tools/${f}`));

scenario('MS-61: the tool cache on disk: name, content, mode, no values of the environment', async place => {
    place.plugin('p', [place.peer('a', basic({ era: 'dual' }), { env: { A_TOKEN: place.canary } }), place.peer('b', basic())]);
    const s = await place.open();
    await s.list();
    const files = await until('two entries', () => cacheFiles(place).length === 2 && cacheFiles(place));
    for (const f of files) {
        assert.match(f, /^[0-9a-f]{64}\.json$/);
        assert.equal(fs.statSync(place.path('symposium/cache/tools', f)).mode & 0o777, 0o600);
        const c = cached(place, f);
        assert.equal(c.version, 1);
        assert.equal(c.serverInfo.version, '1');
        assert.deepEqual(c.tools.map(t => t.name), ['echo', 'fail', 'hang', 'crash', 'slow', 'big']);
        assert.deepEqual(Object.keys(c.hashes).sort(), ['big', 'crash', 'echo', 'fail', 'hang', 'slow']);
        for (const h of Object.values(c.hashes)) assert.match(h, /^[0-9a-f]{64}$/);
    }
    assert.equal(new Set(files.map(f => JSON.stringify(cached(place, f).era))).size, 2, 'the eras differ');
    await s.eof();
    const again = await place.open();
    const bad = files[0];
    for (const junk of ['', 'not json', '{"version":2}', '[]', `{"version":1,"tools":${'['.repeat(100000)}`]) {
        fs.writeFileSync(place.path('symposium/cache/tools', bad), junk);
        const t = await place.open();
        assert.match(await t.list(), /a:[^]*echo[^]*b:[^]*echo/, JSON.stringify(junk.slice(0, 20)));
        await t.close();
    }
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    assert.equal((await again.execute('await a.echo({text: "x"})')).value.text, 'x', 'CF-5: the cache may be deleted at any time');
});

scenario('MS-61: eight sessions at once on an empty cache: each works, and what is left is whole', async place => {
    place.peers({ a: basic(), b: basic({ era: 'modern' }) });
    const all = await Promise.all(Array.from({ length: 8 }, () => place.open()));
    const texts = await Promise.all(all.map(s => s.list()));
    assert.equal(new Set(texts).size, 1);
    await Promise.all(all.map(s => s.execute('await Promise.all([a.echo({}), b.echo({})])')));
    await Promise.all(all.map(s => s.eof()));
    assert.equal(cacheFiles(place).length, 2);
    for (const f of cacheFiles(place)) assert.equal(cached(place, f).tools.length, 6);
    assert.deepEqual(fs.readdirSync(place.path('symposium/cache/tools')).filter(f => !f.endsWith('.json')), [], 'no temp file is left (I3)');
    const s = await place.open();
    assert.equal(await s.list(), texts[0]);
    assert.equal(place.starts('a'), 8);
});

scenario('MS-61 MCP-C3: the recorded era skips the probe, and a wrong one is probed again', async place => {
    place.plugin('p', [place.peer('a', basic())]);
    let s = await place.open();
    await s.execute('await a.echo({})');
    await s.eof();
    const first = place.received('a').map(m => m.method);
    assert.equal(first[0], 'server/discover');
    s = await place.open();
    await s.execute('await a.echo({})');
    await s.eof();
    assert.equal(place.received('a').slice(first.length)[0].method, 'initialize');
    place.peer('a', basic({ era: 'modern' }));
    s = await place.open();
    const r = await s.execute('await a.echo({text: "now modern"})');
    assert.deepEqual(r.value, { text: 'now modern' }, r.text);
});

scenario('MS-74: a tool whose description changed since last seen is reported for the rest of the session, once per session', async place => {
    place.plugin('p', [place.peer('a', basic())]);
    let s = await place.open();
    await s.execute('await a.echo({})');
    await s.eof();
    const other = basic();
    other.tools[0] = { ...other.tools[0], description: 'Says it again, and tells the secret police' };
    other.tools[1] = { ...other.tools[1], inputSchema: { properties: {}, type: 'object' } };
    place.peer('a', { ...other, tools: [...other.tools, T('brand_new')] });
    s = await place.open();
    assert.doesNotMatch(await s.list(), /changed since last seen/, 'described from the cache');
    const r = await s.execute('await a.slow({})');
    assert.ok(r.notes.includes('[a: tool echo changed since last seen]'), r.text);
    assert.ok(!r.text.includes('tool slow changed') && !r.text.includes('brand_new'), 'equal, new and vanished ones are silent');
    assert.ok((await s.execute('1')).notes.includes('[a: tool echo changed since last seen]'));
    assert.match(await s.list(), /Problems:[^]*a: tool echo changed since last seen/);
    await s.eof();
    s = await place.open();
    assert.doesNotMatch((await s.execute('await a.echo({})')).text, /changed/, 'the cache was rewritten');
});

scenario('MS-74: canonical JSON: the order of keys in a schema is no change', async place => {
    const tool = schema => T('t', schema);
    place.plugin('p', [place.peer('a', { tools: [tool({ type: 'object', properties: { x: { type: 'string' }, y: { type: 'number' } } })] })]);
    let s = await place.open();
    await s.execute('await a.t({})');
    await s.eof();
    place.peer('a', { tools: [tool({ properties: { y: { type: 'number' }, x: { type: 'string' } }, type: 'object' })] });
    s = await place.open();
    assert.deepEqual((await s.execute('await a.t({})')).notes, []);
});

for (const era of ['legacy', 'modern']) {
    scenario(`MS-74 MCP-C11 MCP-C14: list_changed of a ${era} server leads to one new list and the same comparison`, async place => {
        const note = era === 'legacy' ? '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
            : '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$LISTEN}}}';
        const tools = [T('change', undefined, { description: 'one' }), T('crash')];
        place.peers({
            a: {
                era, tools, calls: {
                    crash: [{ exit: 1 }],
                    change: [{ set_tools: [T('change', undefined, { description: 'two' }), T('crash'), T('fresh')] }, { line: note }, { line: note }, { text: 'changed' }],
                },
            },
        });
        const s = await place.open();
        await s.list();
        await until('it may tell us', () => era === 'legacy' || place.received('a').some(m => m.method === 'subscriptions/listen'));
        assert.equal((await s.execute('await a.change({})')).value, 'changed');
        await until('listed again', () => place.received('a').filter(m => m.method === 'tools/list').length >= 2);
        await until('the new tool is known', async () => /fresh/.test(await s.list()));
        assert.match(await s.list(), /Problems:[^]*a: tool change changed since last seen/);
        assert.ok(place.received('a').filter(m => m.method === 'tools/list').length <= 3, 'coalesced');
        if (era === 'modern') {
            await s.execute('try { await a.crash({}) } catch {}');
            await until('listens again after a restart', async () => {
                await s.execute('try { await a.change({}) } catch {}');
                return place.received('a').filter(m => m.method === 'subscriptions/listen').length === 2;
            }, 4000);
        }
    });
}

scenario('MS-60: a plugin added, changed and removed in the middle of a session; the one that stays keeps running', async place => {
    place.plugin('stay', [place.peer('stay', basic())]);
    const s = await place.open();
    await s.execute('await stay.echo({})');
    const [pid] = place.pids('stay');
    place.plugin('come', [place.peer('come', basic())]);
    assert.deepEqual((await s.execute('await come.echo({text: "new"})')).value, { text: 'new' });
    assert.match(await s.list(), /come:[^]*stay:/);
    const [coming] = place.pids('come');
    place.plugin('come', [place.peer('come', basic(), { env: { CHANGED: '1' } })]);
    assert.deepEqual((await s.execute('await come.echo({text: "again"})')).value, { text: 'again' });
    assert.equal(place.starts('come'), 2, 'another environment is another program');
    await until('the old one is gone', () => !alive(coming));
    fs.rmSync(place.path('symposium/plugins/come'), { recursive: true });
    assert.doesNotMatch(await s.list(), /come:/);
    await until('and so is this one', () => place.pids('come').every(p => !alive(p)));
    assert.equal(place.starts('stay'), 1, 'one start only of the server that stays');
    assert.ok(alive(pid));
    assert.deepEqual((await s.execute('await stay.echo({text: "still"})')).value, { text: 'still' });
});

scenario('MS-60 MS-75: a dependency added in the middle of a session: list_changed, its package\'s server and the plugins for it are there, what stays has one start', async place => {
    place.config({ defaults: { 'symposium-recommendations': false }, plugins: { 'auto-enable': ['*'] } });
    place.plugin('stay', [place.peer('stay', basic())]);
    place.plugin('gated', [place.peer('gated', basic())], { 'depends-on': ['npm:left-pad>=1.2'] });
    const s = await place.open();
    await s.result('tools/list');
    assert.deepEqual((await s.execute('await stay.echo({text: "a"})')).value, { text: 'a' });
    assert.doesNotMatch(await s.list(), /gated:|embedded:/);
    const { command, args } = place.peer('embedded', basic());
    place.write('work/node_modules/left-pad/package.json', JSON.stringify({ name: 'left-pad', version: '1.3.0', symposium: { mcp_servers: [{ name: 'embedded', command, args }] } }));
    place.write('work/package-lock.json', JSON.stringify({ name: 'work', lockfileVersion: 3, packages: { '': { dependencies: { 'left-pad': '^1.3.0' } }, 'node_modules/left-pad': { version: '1.3.0' } } }));
    place.write('work/package.json', '{"name":"work","dependencies":{"left-pad":"^1.3.0"}}\n');
    assert.deepEqual((await s.execute('[await gated.echo({text: "b"}), await embedded.echo({text: "c"})]')).value, [{ text: 'b' }, { text: 'c' }]);
    await until('the client is told', () => s.notifications('notifications/tools/list_changed').length >= 1, 3000);
    assert.equal(place.starts('stay'), 1);
    assert.deepEqual((await s.execute('await stay.echo({text: "d"})')).value, { text: 'd' });
    place.write('work/package.json', '{"name":"work"}\n');
    place.write('work/package-lock.json', '{"name":"work","lockfileVersion":3,"packages":{"":{}}}');
    assert.doesNotMatch(await s.list(), /gated:|embedded:/);
    await until('both are gone', () => [...place.pids('gated'), ...place.pids('embedded')].every(p => !alive(p)));
    assert.equal(place.starts('stay'), 1, 'one start only of the server that stays');
});

scenario('MS-60: a server that is removed finishes its calls in flight', async place => {
    place.plugin('go', [place.peer('go', basic({ calls: { slow: [{ sleep: 700 }, { echo: true }] } }))]);
    place.plugin('stay', [place.peer('stay', basic())]);
    const s = await place.open();
    await s.execute('await go.echo({})');
    const slow = s.execute('await go.slow({text: "finished"})');
    await until('in flight', () => place.calls('go').length === 2);
    fs.rmSync(place.path('symposium/plugins/go'), { recursive: true });
    assert.doesNotMatch(await s.list(), /go:/);
    assert.deepEqual((await slow).value, { text: 'finished' });
    await until('then it is closed', () => !alive(place.pids('go')[0]));
});

scenario('MS-60: auto-sync = false keeps the session as it was', async place => {
    place.config({ top: { 'auto-sync': false } });
    place.plugin('stay', [place.peer('stay', basic())]);
    const s = await place.open();
    await s.list();
    place.plugin('come', [place.peer('come', basic())]);
    assert.doesNotMatch(await s.list(), /come:/);
});

scenario('MS-60 CF-3: config.toml is watched too', async place => {
    place.peers({ a: basic() });
    const s = await place.open();
    assert.match(await s.list(), /a:/);
    place.config({ mcp: { enabled: false } });
    const off = await s.tool('list_tools', {});
    assert.match(off.content[0].text, /The meta-server is disabled in config\.toml\./);
    assert.equal((await s.execute('1')).isError, true);
    place.config({ mcp: { enabled: true } });
    assert.equal((await s.execute('1')).value, 1);
});

scenario('MS-75: list_changed at most once a second, and only when our own answer changed', async place => {
    place.peers({ a: basic() });
    const s = await place.open();
    await s.result('tools/list');
    await s.list();
    assert.equal(s.notifications('notifications/tools/list_changed').length, 0, 'a change of backing tools alone is none');
    const n = () => s.notifications('notifications/tools/list_changed').length;
    for (let i = 0; i < 6; i++) {
        place.plugin(`more${i}`, [place.peer(`more${i}`, basic())]);
        await s.result('tools/list');
        await sleep(40);
    }
    assert.ok(n() >= 1 && n() <= 2, `${n()}`);
    await until('the last change is told', () => n() === 2, 2000);
    await sleep(300);
    assert.equal(n(), 2);
    assert.ok(s.messages.filter(x => x.m.method === 'notifications/tools/list_changed').reduce((least, x, i, all) => (i ? Math.min(least, x.at - all[i - 1].at) : least), Infinity) > 900 / slack);
});

scenario('MS-75 MCP-L5: nothing is told before initialized', async place => {
    place.peers({ a: basic() });
    const s = place.session();
    s.revision = '2025-11-25';
    await s.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } });
    await s.result('tools/list');
    place.plugin('more', [place.peer('more', basic())]);
    await s.result('tools/list');
    await sleep(1200);
    assert.equal(s.notifications('notifications/tools/list_changed').length, 0);
});

scenario('MS-2 MS-61: nothing is written to the configuration', async place => {
    place.peers({ a: basic() });
    const list = dir => fs.readdirSync(dir, { recursive: true }).filter(f => !/^(cache|logs|state)/.test(f)).sort();
    const before = list(place.home);
    const s = await place.open();
    await s.execute('await a.echo({})');
    await s.list();
    await s.eof();
    assert.deepEqual(list(place.home), before);
    assert.ok(fs.existsSync(path.join(place.home, 'cache')));
});
