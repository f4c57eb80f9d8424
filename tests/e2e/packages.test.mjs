// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Plugins that packages embed, as an agent meets them: candidates, auto-enable, chains, package managers that misbehave
// (plugins.md sections 6, 7 and 9; PL-10, PL-32 to PL-38, PM-2 to PM-9, MS-2, MS-60, SEC-48 to SEC-51).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { basic, node, root, run, scenario, slack, sleep, toml, until } from './harness.mjs';

const script = path.join(root, 'tests/peers/pm.mjs');
const id = (name, version = '1.0.0', pm = 'fake') => ({ pm, name, version });

/** The configuration, with package managers of these names. */
function config(place, { pms = ['fake'], plugins = {} } = {}) {
    place.write('symposium/config.toml', `[defaults]\nsymposium-recommendations = false\n\n[plugins]\n${toml(plugins)}${
        pms.map(name => `\n[[package-manager]]\n${toml({ name, executable: node, args: [script, name, place.path(`pms/${name}`)] })}`).join('')}`);
}
const catalog = (place, what, name = 'fake') => place.write(`pms/${name}`, JSON.stringify(what));
const log = (place, name = 'fake') => place.lines(`pms/${name}.log`);
const starts = (place, name) => log(place, name).filter(l => l.startsWith('start ')).length;

/** A package on disk, in the past; what is on disk is nothing but the directory. */
function store(place, name) {
    const dir = place.path('store', name);
    fs.mkdirSync(dir, { recursive: true });
    fs.utimesSync(dir, 1e9, 1e9);
    return dir;
}
const offer = (place, name, manifest, version) => ({ id: id(name, version), root: store(place, name), manifest });
const server = (place, name, more) => ({ mcp_servers: [place.peer(name, basic(), more)] });
const lacks = async (s, name) => assert.doesNotMatch(await s.list(), new RegExp(`\\b${name}\\b`));

/** One dependency, `widget`, with a server `gadget`. */
function widget(place, manifest = server(place, 'gadget')) {
    catalog(place, {
        list_deps: { result: [id('widget')] },
        active_plugins: { result: [offer(place, 'widget', manifest)] },
    });
}

scenario('PL-32 PL-34 PL-38: a dependency\'s server is a candidate and is never started; auto-enable makes it callable, in the same session', async place => {
    widget(place);
    config(place);
    const s = await place.open();
    await lacks(s, 'gadget');
    assert.match((await s.execute('await gadget.echo({text: "x"})')).text, /No MCP servers apply|gadget is not defined/);
    assert.equal(place.starts('gadget'), 0);
    // MS-60: the configuration changed
    config(place, { plugins: { 'auto-enable': ['*'] } });
    const r = await s.execute('await gadget.echo({text: "x"})');
    assert.deepEqual(r.value, { text: 'x' }, r.text);
    assert.match(await s.list(), /gadget/);
    config(place, { plugins: { 'auto-enable': ['*'], disable: ['widget'] } });
    await lacks(s, 'gadget');
    config(place, { plugins: { use: ['widget'] } });
    assert.deepEqual((await s.execute('await gadget.echo({text: "y"})')).value, { text: 'y' });
    assert.equal(starts(place), 1, 'PM-9: one process for the whole session');
});

scenario('MS-2 CF-5: with fresh caches no package manager is started, over edges too, and the answer is the same', async place => {
    catalog(place, {
        list_deps: { result: [id('widget')] },
        active_plugins: { result: [offer(place, 'widget', { ...server(place, 'gadget'), plugins: [{ source: { fake: 'more' } }] })] },
        load_plugin: { more: { result: [offer(place, 'more', server(place, 'gizmo'))] } },
    });
    config(place, { plugins: { 'auto-enable': ['widget'] } });
    let s = await place.open();
    const list = await s.list();
    assert.match(list, /gadget[^]*gizmo/);
    await s.eof();
    assert.equal(starts(place), 1);
    for (let i = 0; i < 2; i++) {
        s = await place.open();
        assert.equal(await s.list(), list);
        await s.eof();
        assert.equal(starts(place), 1, 'nobody was started again');
    }
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    s = await place.open();
    assert.equal(await s.list(), list);
    assert.equal(starts(place), 2);
});

scenario('PL-10 PL-32: a trusted plugin\'s edges bring their servers over several hops, cycles and diamonds once each', async place => {
    catalog(place, {
        list_deps: { result: [] }, active_plugins: { result: [] },
        load_plugin: {
            a: { result: [offer(place, 'a', { ...server(place, 'sa'), plugins: [{ source: { fake: 'b' } }, { source: { fake: 'c' } }] })] },
            b: { result: [offer(place, 'b', { ...server(place, 'sb'), plugins: [{ source: { fake: 'd' } }, { source: { fake: 'a' } }] })] },
            c: { result: [offer(place, 'c', { plugins: [{ source: { fake: 'd' } }] })] },
            'd ^2': { result: [offer(place, 'd', server(place, 'never'), '2.0.0')] },
            d: { result: { offers: [offer(place, 'd', server(place, 'sd'))] } },
        },
    });
    config(place);
    place.plugin('top', [], { 'depends-on': ['*'], plugins: [{ source: { fake: 'a' } }] });
    const s = await place.open();
    const r = await s.execute('await Promise.all([sa, sb, sd].map(x => x.echo({text: "x"})))');
    assert.deepEqual(r.value, [{ text: 'x' }, { text: 'x' }, { text: 'x' }], r.text);
    await lacks(s, 'never');
    assert.deepEqual(log(place).filter(l => l.startsWith('load_plugin')).map(l => JSON.parse(l.slice(12)).id.name).sort(), ['a', 'b', 'c', 'd']);
});

scenario('PL-10: an edge whose version nothing fits is dropped with a line that names it; the rest works', async place => {
    catalog(place, {
        list_deps: { result: [] }, active_plugins: { result: [] },
        load_plugin: { a: { result: [offer(place, 'a', server(place, 'sa'), '1.5.0')] }, good: { result: [offer(place, 'good', server(place, 'sg'))] } },
    });
    config(place);
    place.plugin('top', [], { 'depends-on': ['*'], plugins: [{ source: { fake: 'a>=2' } }, { source: { fake: 'good' } }] });
    const s = await place.open();
    const list = await s.list();
    assert.match(list, /sg/);
    assert.doesNotMatch(list, /\bsa:/);
    assert.match(list, /Problems:[^]*plugin 'top': package fake:a >=2: it answers with 'fake:a 1\.5\.0'/);
});

scenario('PL-32: an untrusted workspace\'s edge starts nothing; symposium trust names the package and makes it callable', async place => {
    catalog(place, {
        list_deps: { result: [] }, active_plugins: { result: [] },
        load_plugin: { a: { result: [offer(place, 'a', server(place, 'sa'))] } },
    });
    config(place);
    place.write('work/SYMPOSIUM.toml', '[[plugins]]\nsource = { fake = "a" }\n');
    const s = await place.open();
    assert.match(await s.list(), /sa: this workspace is not trusted yet/);
    assert.equal(place.starts('sa'), 0);
    const shown = await run(place, ['trust', '--show']);
    assert.match(shown.out, /whatever package fake:a brings/);
    assert.equal((await run(place, ['trust'])).code, 0);
    assert.deepEqual((await s.execute('await sa.echo({text: "x"})')).value, { text: 'x' });
});

for (const [how, says] of [
    ['exit', /package manager 'fake': exited with status 7/], ['garbage', /malformed answer/], ['half', /package manager 'fake': /],
    ['wrong-id', /answered a request that was not made/], ['long', /package manager 'fake': sent a line/], ['kill', /ended by signal 9/],
])
    scenario(`PM-8 PM-9: a package manager that does '${how}' in active_plugins costs only its own part`, async place => {
        catalog(place, { list_deps: { result: [id('widget')] }, active_plugins: { do: how } });
        config(place, { plugins: { 'auto-enable': ['*'] } });
        place.plugin('mine', [place.peer('a', basic())], { 'depends-on': ['widget'] });
        const s = await place.open();
        assert.match(await s.list(), says);
        assert.deepEqual((await s.execute('await a.echo({text: "x"})')).value, { text: 'x' });
        assert.equal(starts(place), 1);
    });

scenario('PM-8 MS-2: a package manager that never answers: the last known inventory after 5 s, with a line that says so', async place => {
    catalog(place, { list_deps: { result: [] }, active_plugins: { do: 'silent' } });
    config(place);
    place.plugin('mine', [place.peer('a', basic())]);
    const s = await place.open();
    const began = performance.now();
    assert.match(await s.list(), /still being resolved after 5 s/);
    assert.ok(performance.now() - began < 5000 + 1000 * slack);
});

for (const [what, hello] of [
    ['another name', { protocol_version: 1, name: 'other' }], ['another protocol version', { protocol_version: 999, name: 'fake' }],
])
    scenario(`SEC-48 PM-6: a package manager with ${what} is refused: a line, no plugins`, async place => {
        widget(place);
        const all = JSON.parse(place.read('pms/fake'));
        catalog(place, { ...all, initialize: { result: hello } });
        config(place, { plugins: { 'auto-enable': ['*'] } });
        const s = await place.open();
        assert.match(await s.list(), /package manager 'fake': refused/);
        await lacks(s, 'gadget:');
        assert.equal(log(place).filter(l => l.startsWith('active_plugins')).length, 0);
    });

for (const [what, lie] of [
    ['/', () => '/'], ['a relative path', () => 'store/widget'], ['..', place => `${place.path('store')}/../store/widget`],
    ['a link out', place => { fs.symlinkSync('/etc', place.path('out')); return place.path('out'); }], ['nothing', place => place.path('gone')],
])
    scenario(`SEC-49 PM-7: a root that is ${what} drops the offer`, async place => {
        widget(place);
        const all = JSON.parse(place.read('pms/fake'));
        all.active_plugins.result[0].root = lie(place);
        catalog(place, all);
        config(place, { plugins: { 'auto-enable': ['*'] } });
        const s = await place.open();
        const list = await s.list();
        assert.match(list, /skipping fake:widget 1\.0\.0: its root/);
        assert.doesNotMatch(list, /gadget/);
    });

scenario('SEC-49 MS-60: a root that vanishes in the middle of a session takes its server along', async place => {
    widget(place);
    config(place, { plugins: { 'auto-enable': ['*'] } });
    const s = await place.open();
    assert.match(await s.list(), /gadget/);
    fs.rmSync(place.path('store/widget'), { recursive: true });
    assert.match(await s.list(), /skipping fake:widget 1\.0\.0: its root [^]* is not there/);
    await lacks(s, 'gadget');
});

scenario('SEC-51 PM-4: claims of trust and enablement in a manifest have no effect', async place => {
    widget(place, { ...server(place, 'gadget'), trusted: true, enabled: true, 'auto-enable': ['*'], trust: 'always', use: ['widget'] });
    config(place);
    const s = await place.open();
    await lacks(s, 'gadget');
    config(place, { plugins: { use: ['widget'] } });
    assert.match(await s.list(), /gadget/);
});

scenario('PM-2 MS-60: a dependency that comes in the middle of a session brings its server; what stays keeps running', async place => {
    const first = offer(place, 'widget', server(place, 'gadget')), second = offer(place, 'late', server(place, 'comes'));
    const say = (deps, offers) => catalog(place, { list_deps: { result: { deps, watch: ['lock'] } }, active_plugins: { result: offers } });
    place.write('work/lock', '1');
    say([id('widget')], [first]);
    config(place, { plugins: { 'auto-enable': ['*'] } });
    const s = await place.open();
    assert.deepEqual((await s.execute('await gadget.echo({text: "x"})')).value, { text: 'x' });
    await lacks(s, 'comes');
    say([id('widget'), id('late')], [first, second]);
    place.write('work/lock', '22');
    assert.deepEqual((await s.execute('await comes.echo({text: "y"})')).value, { text: 'y' });
    assert.equal(place.starts('gadget'), 1, 'one start only of the server that stays');
});

scenario('PL-36: a plugin of a registry takes the place of the package of its name', async place => {
    widget(place);
    config(place, { plugins: { 'auto-enable': ['*'] } });
    place.plugin('widget', [place.peer('mine', basic())]);
    const s = await place.open();
    const list = await s.list();
    assert.match(list, /mine/);
    assert.doesNotMatch(list, /gadget/);
});

scenario('PM-5: authentication required is reported with its message; a network that fails uses what was known', async place => {
    const known = { result: [offer(place, 'a', server(place, 'sa'))] };
    const say = load => catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] }, load_plugin: { a: load } });
    config(place);
    place.plugin('top', [], { 'depends-on': ['*'], plugins: [{ source: { fake: 'a' } }] });
    say({ error: -32004, message: 'log in to the forge' });
    let s = await place.open();
    assert.match(await s.list(), /plugin 'top': package fake:a: package manager 'fake': load_plugin: authentication required: log in to the forge/);
    await s.eof();
    say(known);
    s = await place.open();
    assert.match(await s.list(), /sa/);
    await s.eof();
    say({ error: -32002 });
    place.write('symposium/config.toml', `${place.read('symposium/config.toml')}# changed\n`);
    s = await place.open();
    await s.list();     // perhaps before the retries are over
    await until('the known answer', async () => /sa[^]*the network failed[^]*what was known before is used/.test(await s.list()), 9000);
});
