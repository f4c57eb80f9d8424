// SPDX-License-Identifier: MIT OR Apache-2.0
//
// On whose word a package of the workspace's own node_modules runs: a clone can check in anything under a trusted name.
// PL-32, PL-33, PM-20; security.md section 1.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { basic, run, scenario } from './harness.mjs';

const configure = (place, plugins = {}) => place.config({ defaults: { 'symposium-recommendations': false }, plugins });
const REFUSED = /gadget: this workspace is not trusted yet; run 'symposium trust'/;

/** A package `helper` at `dir`, with a server `gadget`. */
function helper(place, dir, more = {}) {
    const { name, command, args } = place.peer('gadget', basic());
    place.write(`${dir}/package.json`, JSON.stringify({ name: 'helper', version: '1.0.0', symposium: { mcp_servers: [{ name, command, args, ...more }] } }));
}
/** The user's own plugin vouches for it. */
const vouch = place => place.plugin('top', [], { 'depends-on': ['*'], plugins: [{ source: { npm: 'helper' } }] });
const call = place => run(place, ['call', 'gadget.echo', 'text=x']);
const works = async place => assert.equal((await call(place)).out.trim(), '{"text":"x"}');

scenario('PL-32: what a trusted edge vouches for does not run out of the workspace itself until the workspace is trusted', async place => {
    configure(place);
    vouch(place);
    place.write('work/package.json', '{"name":"w","dependencies":{"helper":"*"}}');
    helper(place, 'work/node_modules/helper');
    assert.match((await run(place, ['tools'])).out, REFUSED);
    assert.equal((await call(place)).code, 1);
    assert.equal(place.starts('gadget'), 0, 'nothing ran');
    const shown = await run(place, ['trust', '--show']);
    assert.equal(shown.code, 1, 'consent is missing');
    assert.match(shown.out, /work\/node_modules\/helper\n +server gadget: /);
    assert.equal((await run(place, ['trust'])).code, 0);
    await works(place);
    assert.equal((await run(place, ['trust', '--show'])).code, 0);
    helper(place, 'work/node_modules/helper', { env: { X: 'changed' } });
    assert.match((await run(place, ['tools'])).out, REFUSED, 'another manifest asks again');
    assert.equal((await run(place, ['trust'])).code, 0);
    await works(place);
    assert.equal((await run(place, ['trust', '--remove'])).code, 0);
    assert.match((await run(place, ['tools'])).out, REFUSED);
    configure(place, { 'trust-workspace': 'always' });
    await works(place);
});

scenario('PL-32: the same package from elsewhere needs no consent, and neither does one that the user names', async place => {
    configure(place);
    vouch(place);
    helper(place, 'symposium/cache/plugins/npm/helper/1.0.0');
    await works(place);
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    place.write('work/package.json', '{"name":"w","dependencies":{"helper":"*"}}');
    helper(place, 'work/node_modules/helper');
    assert.match((await run(place, ['tools'])).out, REFUSED);
    configure(place, { use: [{ pm: 'npm', name: 'helper' }] });
    await works(place);
    configure(place, { 'auto-enable': ['helper'] });
    await works(place);
});

scenario('PL-32: a link out of node_modules into the workspace, or a member, is no way around', async place => {
    configure(place);
    vouch(place);
    place.write('work/package.json', '{"name":"w","dependencies":{"helper":"*"}}');
    helper(place, 'work/hidden/store/helper');
    fs.mkdirSync(place.path('work/node_modules'));
    fs.symlinkSync('../hidden/store/helper', place.path('work/node_modules/helper'));
    assert.match((await run(place, ['tools'])).out, REFUSED);
    assert.equal(place.starts('gadget'), 0);
});

scenario('PL-32: consent to a manifest of the workspace is consent to what its own edges bring', async place => {
    configure(place);
    place.write('work/package.json', '{"name":"w","dependencies":{"helper":"*"}}');
    place.write('work/SYMPOSIUM.toml', '[[plugins]]\nsource = { npm = "helper" }\n');
    helper(place, 'work/node_modules/helper');
    assert.match((await run(place, ['tools'])).out, REFUSED);
    assert.equal((await run(place, ['trust'])).code, 0);
    await works(place);
});
