// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium use`: what it writes, what it refuses, what it changes (plugins.md PL-33, PL-38, CF-4).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { basic, scenario } from './harness.mjs';
import { asked, catalog, configure, events, files, id, offer, skill, symposium } from './agents.mjs';

const stateOf = async (place, name, opts) => {
    const p = (await events(place, ['status'], opts)).of('plugin').find(e => e.name === name);
    return p ? `${p.state}: ${p.reason}` : undefined;
};
const config = place => place.read('symposium/config.toml');
const dormant = (place, name) => place.write(`symposium/plugins/${name}/SYMPOSIUM.toml`, `name = "${name}"\n`);

scenario('PL-33 PL-24 CF-4: use wakes a dormant plugin in this workspace alone; --remove puts it to sleep, and the file is as it was', async place => {
    configure(place);
    const text = `# mine\n${config(place)}# the end\n`;
    place.write('symposium/config.toml', text);
    dormant(place, 'sleepy');
    fs.mkdirSync(place.path('other'));
    place.write('other/package.json', '{}');
    assert.match(await stateOf(place, 'sleepy'), /^dormant/);
    const r = await symposium(place, ['use', 'sleepy']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /'sleepy' is in use in .*\/work; .*symposium sync/);
    assert.match(config(place), /^# mine\n[^]*# the end\n$/);
    assert.ok(config(place).includes(place.workspace));
    assert.equal(await stateOf(place, 'sleepy'), 'active: [plugins] use');
    assert.match(await stateOf(place, 'sleepy', { cwd: place.path('other') }), /^dormant/);
    const before = config(place);
    const again = await symposium(place, ['use', 'sleepy']);
    assert.deepEqual([again.code, config(place)], [0, before]);
    assert.match(again.out, /active already/);
    assert.equal((await symposium(place, ['use', 'sleepy', '--remove'])).code, 0);
    assert.match(await stateOf(place, 'sleepy'), /^dormant/);
    assert.doesNotMatch(config(place), /sleepy/);
});

scenario('PL-33: --global is for every workspace; a removal must match the scope, and says where it is instead', async place => {
    configure(place);
    dormant(place, 'sleepy');
    fs.mkdirSync(place.path('other'));
    assert.equal((await symposium(place, ['use', 'sleepy', '--global'])).code, 0);
    assert.equal(await stateOf(place, 'sleepy', { cwd: place.path('other') }), 'active: [plugins] use');
    let before = config(place);
    let r = await symposium(place, ['use', 'sleepy', '--remove']);
    assert.deepEqual([r.code, config(place)], [1, before]);
    assert.match(r.err, /in use in every workspace: add '--global'/);
    assert.equal((await symposium(place, ['use', 'sleepy', '--remove', '--global'])).code, 0);
    await symposium(place, ['use', 'sleepy']);
    before = config(place);
    r = await symposium(place, ['use', 'sleepy', '--remove'], { cwd: place.path('other') });
    assert.deepEqual([r.code, config(place)], [1, before]);
    assert.match(r.err, /but in .*\/work: add '--workspace'/);
    r = await symposium(place, ['--workspace', place.workspace, 'use', 'sleepy', '--remove'], { cwd: place.path('other') });
    assert.equal(r.code, 0, r.err);
    r = await symposium(place, ['use', 'sleepy', '--remove']);
    assert.equal(r.code, 1);
    assert.match(r.err, /'sleepy' is not in use/);
});

scenario('PL-33: one that is in use here can be put into use everywhere', async place => {
    configure(place);
    dormant(place, 'sleepy');
    await symposium(place, ['use', 'sleepy']);
    assert.match((await symposium(place, ['use', 'sleepy', '--global'])).out, /in use in every workspace/);
    fs.mkdirSync(place.path('other'));
    assert.equal(await stateOf(place, 'sleepy', { cwd: place.path('other') }), 'active: [plugins] use');
});

scenario('PL-33: the workspace of a use is compared canonically, also through a link', async place => {
    configure(place);
    dormant(place, 'sleepy');
    fs.symlinkSync(place.workspace, place.path('link'));
    await symposium(place, ['--workspace', place.path('link'), 'use', 'sleepy']);
    assert.equal(await stateOf(place, 'sleepy'), 'active: [plugins] use');
    assert.equal((await symposium(place, ['--workspace', place.path('link'), 'use', 'sleepy', '--remove'])).code, 0);
});

scenario('PL-38: use of what is active and trusted already is a message and no change', async place => {
    configure(place);
    place.plugin('on', [place.peer('srv', basic())]);
    const before = files(place);
    const r = await symposium(place, ['use', 'on']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /'on' is active already \(registry user-plugins\)/);
    assert.deepEqual(files(place), before);
});

scenario('PL-38: an unknown name fails, says how to find one, and writes nothing', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] } });
    const before = files(place);
    for (const name of ['nothing-at-all', 'fake:nothing-at-all']) {
        const r = await symposium(place, ['use', name]);
        assert.equal(r.code, 1, name);
        assert.match(r.err, /nothing is called 'nothing-at-all'.*symposium search/s);
    }
    for (const name of ['', ':x', 'x\ny', 'n'.repeat(600)]) assert.equal((await symposium(place, ['use', name])).code, 2);
    assert.equal((await symposium(place, ['use'])).code, 2);
    assert.equal((await symposium(place, ['use', 'a', 'b'])).code, 2);
    const after = files(place);
    delete after['pms/fake.log'];
    for (const file of Object.keys(after)) if (file.startsWith('home/.npm/')) delete after[file];   // npm's own notes
    assert.deepEqual(after, before);
});

scenario('PL-38: a dependency without a plugin is told from a name that does not exist', async place => {
    configure(place, { pms: ['fake', 'cargo', 'npm'] });
    for (const name of ['cargo', 'npm']) catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] }, load_plugin: { result: [] } }, name);
    catalog(place, { list_deps: { result: [{ pm: 'fake', name: 'plain', version: '1.0.0' }] }, active_plugins: { result: [] }, load_plugin: { result: [] } });
    for (const name of ['plain', 'fake:plain']) {
        const r = await symposium(place, ['use', name]);
        assert.equal(r.code, 1, name);
        assert.match(r.err, /'plain' is a dependency of this workspace \(fake\), but no plugin was found in it/);
    }
    assert.match((await symposium(place, ['use', 'npm:plain'])).err, /nothing is called 'plain'/);
});

scenario('PL-33: disable beats use, and the message says so', async place => {
    configure(place, { plugins: { disable: ['sleepy'] } });
    dormant(place, 'sleepy');
    const before = config(place);
    const r = await symposium(place, ['use', 'sleepy']);
    assert.deepEqual([r.code, config(place)], [1, before]);
    assert.match(r.err, /\[plugins\] disable, which beats 'use'/);
    configure(place, { plugins: { disable: ['sleepy'], use: ['sleepy'] } });
    assert.match(await stateOf(place, 'sleepy'), /^declined/);
});

scenario('PL-33 PL-32: use enables a package nobody depends on, recorded with its package manager; it acts in the next list', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, {
        list_deps: { result: [] }, active_plugins: { result: [] },
        load_plugin: { extra: { result: [offer(place, 'extra', { mcp_servers: [place.peer('ext', basic())] }, { 'skills/e/SKILL.md': skill('e') })] } },
    });
    const s = await place.open();
    assert.doesNotMatch(await s.list(), /ext:/);
    const r = await symposium(place, ['use', 'extra']);
    assert.equal(r.code, 0, r.err);
    assert.match(config(place), /pm = "fake"/);
    assert.equal(await stateOf(place, 'extra'), 'active: [plugins] use');
    assert.match(await s.list(), /ext:/, 'MS-60: the session that runs has it');
});

scenario('PL-33: a candidate that is used is trusted from then on; one in auto-enable counts only while it is a dependency', async place => {
    configure(place, { pms: ['fake'] });
    const what = deps => ({ list_deps: { result: deps }, active_plugins: { result: deps.map(d => offer(place, d.name, { mcp_servers: [place.peer('gad', basic())] })) } });
    catalog(place, what([id('widget')]));
    assert.match(await stateOf(place, 'widget'), /^candidate: .*symposium use widget/);
    assert.equal((await symposium(place, ['use', 'widget'])).code, 0);
    assert.equal(await stateOf(place, 'widget'), 'active: [plugins] use');
    await symposium(place, ['use', 'widget', '--remove']);
    configure(place, { pms: ['fake'], plugins: { 'auto-enable': ['widget'] } });
    assert.equal(await stateOf(place, 'widget'), 'active: [plugins] auto-enable');
    catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] } });
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    assert.equal(await stateOf(place, 'widget'), undefined);
});

scenario('PL-33: a name that two package managers have is a question of which, and writes nothing', async place => {
    configure(place, { pms: ['one', 'two'] });
    for (const pm of ['one', 'two'])
        catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] }, load_plugin: { both: { result: [{ ...offer(place, 'both'), id: id('both', '1.0.0', pm) }] } } }, pm);
    const before = config(place);
    let r = await symposium(place, ['use', 'both']);
    assert.deepEqual([r.code, config(place)], [1, before]);
    assert.match(r.err, /one and two both have 'both'; write one:both/);
    r = await symposium(place, ['use', 'two:both']);
    assert.equal(r.code, 0, r.err);
    assert.match(config(place), /pm = "two"/);
    assert.ok(asked(place, 'two').some(l => l.startsWith('load_plugin')));
});

scenario('PL-32: use cannot take the place of consent to a workspace\'s own manifest', async place => {
    configure(place);
    place.write('work/SYMPOSIUM.toml', 'name = "mine"\n[[mcp_servers]]\nname = "m"\ncommand = "true"\n');
    const r = await symposium(place, ['use', 'mine']);
    assert.equal(r.code, 1);
    assert.match(r.err, /symposium trust/);
    assert.doesNotMatch(config(place), /mine/);
});

scenario('CL-2: use --json is one event that says what was done', async place => {
    configure(place);
    dormant(place, 'sleepy');
    const said = async args => (await events(place, args)).of('use')[0];
    assert.equal((await said(['use', 'sleepy'])).state, 'in-use');
    assert.equal((await said(['use', 'sleepy'])).state, 'unchanged');
    assert.equal((await said(['use', 'sleepy', '--remove'])).state, 'removed');
    assert.equal((await said(['use', 'sleepy', '--remove'])).state, 'refused');
});
