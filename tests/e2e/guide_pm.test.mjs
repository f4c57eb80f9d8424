// SPDX-License-Identifier: MIT OR Apache-2.0
//
// docs/guide/writing-a-package-manager.md: its program, taken out of the text, does what the text says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, scenario } from './harness.mjs';
import { catalog, configure, events, symposium } from './agents.mjs';

const guide = fs.readFileSync(path.join(root, 'docs/guide/writing-a-package-manager.md'), 'utf8');
const program = /```python\n([^]*?)```/.exec(guide)[1];
const entry = /```toml\n([^]*?)```/.exec(guide)[1];

/** The program and its entry as the guide has them; the packages that its "Trying it" makes. */
function prepared(place) {
    fs.chmodSync(place.write('symposium/pm-dir.py', program), 0o755);
    configure(place, { pms: ['cargo', 'npm'], more: `\n${entry}` });       // in place of those that would ask the network
    for (const name of ['cargo', 'npm']) catalog(place, {}, name);
    place.write('home/packages/greeter/package.json', '{ "version": "1.2.0", "description": "Says hello" }');
    place.write('home/packages/greeter/skills/greet/SKILL.md', '---\nname: greet\ndescription: How to greet\n---\nSay hello.\n');
    place.write('work/uses.txt', 'greeter\n');
}
const state = async (place, name) => {
    const r = await events(place, ['status']);
    return r.of('plugin').find(p => p.name === name)?.state ?? r.of('problem').map(p => p.text).join();
};

test('the program of the guide is short', () => {
    const lines = program.trimEnd().split('\n').length;
    assert.ok(lines <= 60, `the guide promises a short program: ${lines} lines`);
});

scenario('the package manager of the guide: search, status, use, depends-on', async place => {
    prepared(place);
    const found = await symposium(place, ['search', 'greet']);
    assert.equal(found.code, 0, found.err);
    assert.match(found.out, /greeter.*1\.2\.0/, found.err);
    assert.match(found.out, /Says hello/);
    assert.equal(await state(place, 'greeter'), 'candidate');
    place.write('symposium/plugins/with/SYMPOSIUM.toml', 'name = "with"\ndepends-on = ["dir:greeter>=1"]\n');
    place.write('symposium/plugins/without/SYMPOSIUM.toml', 'name = "without"\ndepends-on = ["dir:greeter>=2"]\n');
    assert.equal(await state(place, 'with'), 'active');
    assert.equal(await state(place, 'without'), 'gated');
    const used = await symposium(place, ['use', 'greeter']);
    assert.equal(used.code, 0, used.err);
    const info = await symposium(place, ['package-info', 'dir:greeter']);
    assert.equal(info.code, 0, info.err);
    assert.match(info.out, /packages\/greeter/);
    assert.equal(await state(place, 'greeter'), 'active');
});

scenario('the package manager of the guide: what it watches is seen, and a broken file is named', async place => {
    prepared(place);
    assert.equal(await state(place, 'greeter'), 'candidate');
    place.write('work/uses.txt', '');
    assert.equal(await state(place, 'greeter'), '');
    place.write('work/uses.txt', 'greeter\n');
    place.write('home/packages/greeter/plugin.json', '{ "nonsense": 1 }');
    assert.equal(await state(place, 'dir:greeter 1.2.0'), 'error');
    place.write('home/packages/greeter/plugin.json', '{');
    const r = await symposium(place, ['status']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.err, /package manager 'dir'.*plugin\.json/s);
});
