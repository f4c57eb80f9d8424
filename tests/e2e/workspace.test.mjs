// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which servers exist in a workspace: gates on its dependencies, names and globals, refusals, consent, start-up time
// (meta-server.md 2 and 3, plugins.md 2, 3, 7, 9).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { T, basic, bin, peerBin, pmCargo, scenario, slack, sleep, toml, until } from './harness.mjs';

const run = promisify(execFile);
const symposium = (place, args, cwd = place.workspace) => run(bin, args, { cwd, env: place.env() });
const one = name => ({ tools: [T('id')], calls: { id: [{ text: name }] } });
const blocks = text => text.split('\nProblems:')[0].split('\n').filter(l => /^\S.*:$/.test(l)).map(l => l.slice(0, -1));
const problems = text => (text.includes('Problems:') ? text.slice(text.indexOf('Problems:')).split('\n').slice(1).map(l => l.trim()).filter(Boolean) : []);

/** A Cargo workspace: direct dependencies {name: version}, and what they depend on. */
function cargo(place, direct, transitive = {}) {
    fs.rmSync(place.path('work/package.json'), { force: true });
    place.write('work/src/lib.rs', '');
    place.write('work/Cargo.toml', `[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n${Object.entries(direct).map(([n, v]) => `${n} = "${v}"\n`).join('')}`);
    const packages = { ...direct, ...transitive };
    place.write('work/Cargo.lock', `version = 3\n\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = [${Object.keys(direct).map(n => `\n "${n}"`).join(',')}\n]\n`
        + Object.entries(packages).map(([n, v]) => `\n[[package]]\nname = "${n}"\nversion = "${v}"\nsource = "registry+https://example.invalid/index"\n${n in direct && Object.keys(transitive).length ? `dependencies = [${Object.keys(transitive).map(t => `\n "${t}"`).join(',')}\n]\n` : ''}`).join(''));
}

scenario('MS-10 PL-17 PL-18 PL-20 PM-15 CF-2: gates on dependencies: any, present, absent, by version, inherited; transitive ones never', async place => {
    assert.ok(fs.existsSync(pmCargo), `${pmCargo} is built`);
    cargo(place, { serde: '1.0.200', 'my-crate': '0.3.1' }, { itoa: '1.0.9' });
    const gate = (name, head, own) => place.plugin(`p-${name}`, [place.peer(name, one(name), own)], head);
    gate('always', { 'depends-on': ['*'] });
    gate('present', { 'depends-on': ['serde'] });
    gate('missing', { 'depends-on': ['tokio'] });
    gate('transitive', { 'depends-on': ['itoa'] });
    gate('newer', { 'depends-on': ['serde>=1.0.100'] });
    gate('older', { 'depends-on': ['serde<1'] });
    gate('caret', { 'depends-on': ['serde=1.0'] });
    gate('exact', { 'depends-on': ['serde==1.0.199'] });
    gate('manager', { 'depends-on': ['cargo:my_crate'] });
    gate('othermanager', { 'depends-on': ['npm:serde'] });
    gate('either', { 'depends-on': ['tokio', 'serde'] });
    gate('entry', { 'depends-on': ['serde'] }, { 'depends-on': ['tokio'] });
    gate('both', { 'depends-on': ['serde'] }, { 'depends-on': ['my-crate'], predicates: ['not(depends-on(tokio))'] });
    gate('file', { 'depends-on': ['*'] }, { predicates: ['path_exists(Cargo.toml)'] });
    gate('nofile', { 'depends-on': ['*'] }, { predicates: ['path_exists(./absent)'] });
    gate('envset', { 'depends-on': ['*'] }, { predicates: ['env(E2E_GATE=on)'] });
    gate('envnot', { 'depends-on': ['*'] }, { predicates: ['env(E2E_GATE=off)'] });
    gate('shelled', { 'depends-on': ['*'] }, { predicates: ['shell(test -f Cargo.lock)'] });
    gate('nested', { 'depends-on': ['*'] }, { predicates: ['any(env(E2E_ABSENT), all(depends-on(serde), not(shell(exit 1))))'] });
    const s = await place.open({ cwd: place.path('work/src'), env: { E2E_GATE: 'on' } });
    const text = await s.list();
    assert.deepEqual(blocks(text), ['always', 'both', 'caret', 'either', 'envset', 'file', 'manager', 'nested', 'newer', 'present', 'shelled'], `sorted, and only these:\n${text}`);
    assert.match((await s.result('tools/list')).tools[1].description, /Servers in scope: always, both, caret, /);
    const r = await s.execute('[await always.id({}), await both.id({}), typeof globalThis.missing, typeof globalThis.entry]');
    assert.deepEqual(r.value, ['always', 'both', 'undefined', 'undefined']);
});

scenario('MS-60 PM-15: a dependency added in the middle of a session brings its server; one start only of the one that stays', async place => {
    cargo(place, { serde: '1.0.200' });
    place.plugin('a', [place.peer('a', one('a'))], { 'depends-on': ['serde'] });
    place.plugin('b', [place.peer('b', one('b'))], { 'depends-on': ['tokio'] });
    const s = await place.open();
    assert.equal((await s.execute('await a.id({})')).value, 'a');
    assert.deepEqual(blocks(await s.list()), ['a']);
    cargo(place, { serde: '1.0.200', tokio: '1.38.0' });
    const r = await s.execute('[await a.id({}), await b.id({})]');
    assert.deepEqual(r.value, ['a', 'b'], r.text);
    cargo(place, { tokio: '1.38.0' });
    assert.deepEqual(blocks(await s.list()), ['b']);
    assert.deepEqual([place.starts('a'), place.starts('b')], [1, 1]);
});

scenario('MS-60 PL-22 PL-26: what a gate looked at is watched, absent files and watchFiles of custom predicates included', async place => {
    const seen = place.write('seen.txt', '1');
    const script = place.write('predicate.sh', `echo '{"watchFile":"${seen}"}'; test "$(cat ${seen})" = 1\n`);
    place.plugin('a', [place.peer('here', one('here'))], { 'depends-on': ['*'], predicates: ['path_exists(marker/file)'] });
    place.plugin('b', [place.peer('custom', one('custom'))], { 'depends-on': ['*'], predicates: ['looks()'] });
    fs.appendFileSync(place.path('symposium/plugins/b/SYMPOSIUM.toml'), `\n[[predicate]]\nname = "looks"\ncommand = { executable = "/bin/sh", args = ["${script}"] }\n`);
    const s = await place.open();
    assert.deepEqual(blocks(await s.list()), ['custom']);
    place.write('work/marker/file', '');
    assert.deepEqual(blocks(await s.list()), ['custom', 'here']);
    place.write('seen.txt', 'no');
    assert.deepEqual(blocks(await s.list()), ['here']);
    fs.rmSync(place.path('work/marker'), { recursive: true });
    assert.match(await s.list(), /^No MCP servers apply to this workspace\./);
});

scenario('MS-8 MS-42 PL-24: without a workspace both tools answer, and a dormant plugin is named', async place => {
    fs.rmSync(place.path('work/package.json'));
    place.plugin('sleepy', [place.peer('x', one('x'))], {});
    place.plugin('gated', [place.peer('y', one('y'))], { 'depends-on': ['serde'] });
    const s = await place.open();
    const listed = await s.tool('list_tools', {});
    assert.notEqual(listed.isError, true);
    assert.match(listed.content[0].text, /^No MCP servers apply to this workspace\./);
    assert.match(listed.content[0].text, /plugin 'sleepy': dormant, it names no dependency; add depends-on = \["\*"\] or list it in \[plugins\] use/);
    const ran = await s.execute('1');
    assert.equal(ran.isError, true);
    assert.match(ran.text, /No MCP servers apply to this workspace\.[^]*sleepy/);
    place.config({ plugins: { use: ['sleepy'] } });
    assert.equal((await s.execute('await x.id({})')).value, 'x', 'PL-24: use wakes it');
});

scenario('MS-11 SEC-35 MS-63: reserved, repeated, remote and incomplete servers are refused with a reason, the rest works', async place => {
    place.plugin('aa', [place.peer('list_tools', one('1')), place.peer('execute', one('2')), place.peer('twice', one('first')), { name: 'far', url: 'https://example.invalid/mcp', headers: { Authorization: 'Bearer ${E2E_UNSET_TOKEN}' } },
        { name: 'needs', installation: 'tool' }, { name: 'unset', command: 'true', args: ['${E2E_UNSET_VARIABLE}'] }]);
    fs.appendFileSync(place.path('symposium/plugins/aa/SYMPOSIUM.toml'), '\n[[installations]]\nname = "tool"\ninstall_commands = ["true"]\n');
    place.plugin('bb', [{ ...place.peer('twice2', one('second')), name: 'twice' }, place.peer('good', one('good')), { name: 'undeclared', installation: 'nothing-of-this-name' }]);
    const s = await place.open();
    const r = await s.execute('[await twice.id({}), await good.id({})]');
    assert.deepEqual(r.value, ['first', 'good'], r.text);
    const lines = [...problems(await s.list()), ...r.notes.map(n => n.slice(1, -1))];
    const has = (what, ...res) => assert.ok(lines.some(l => res.every(x => x.test(l))), `${what}:\n${lines.join('\n')}`);
    has('reserved', /list_tools: .*reserved/);
    has('reserved', /execute: .*reserved/);
    has('both plugins are named', /^twice: /, /aa/, /bb/);
    has('remote', /^far: header 'Authorization': .*E2E_UNSET_TOKEN/);
    has('nothing to run', /^needs: installation 'tool' has no 'executable' or 'script' to run/);
    has('unset variable', /^unset: .*E2E_UNSET_VARIABLE/);
    for (const name of ['list_tools', 'execute', 'twice', 'far', 'needs'])
        assert.ok(r.notes.some(n => n.startsWith(`[${name}: `)), `[${name}: ...] after execute\n${r.text}`);
    for (const notRun of ['list_tools', 'execute', 'twice2']) assert.equal(place.starts(notRun), 0);
});

scenario('MS-12 SEC-35: globals from names: characters, digits, clashes, reserved words, existing globals', async place => {
    const names = ['a-b', 'a_b', '9lives', 'await', 'class', 'Object', 'globalThis', 'JSON', 'console', 'results', 'ünï'];
    place.plugin('p', names.map((name, i) => ({ ...place.peer(`peer${i}`, one(name)), name })));
    const s = await place.open();
    const r = await s.execute('[await a_b.id({}), await a_b_2.id({}), await _9lives.id({}), await await_2.id({}), await class_2.id({}), await Object_2.id({}), await globalThis_2.id({}), await JSON_2.id({}), await console_2.id({}), await results_2.id({}), typeof Object.keys]');
    assert.deepEqual(r.value, ['a-b', 'a_b', '9lives', 'await', 'class', 'Object', 'globalThis', 'JSON', 'console', 'results', 'function'], r.text);
    const lines = problems(await s.list());
    for (const [name, global] of [['a_b', 'a_b_2'], ['Object', 'Object_2'], ['class', 'class_2'], ['globalThis', 'globalThis_2']])
        assert.ok(lines.some(l => l.startsWith(`${name}: `) && l.includes(global)), `${name} -> ${global}:\n${lines.join('\n')}`);
    assert.match(await s.list({ servers: ['a_b'] }), /declare const a_b_2: \{/);
});

scenario('MS-13 MS-14 MS-15: working directory, clamped timeout, ourselves', async place => {
    place.config({ mcp: { 'script-timeout-secs': 3, 'tool-call-timeout-secs': 1 } });
    place.write('work/deep/er/x', '');
    const pwd = (name, more) => ({ name, command: 'sh', args: ['-c', `pwd > ${place.path(name)}; exit 1`], ...more });
    place.plugin('p', [pwd('here'), pwd('there', { cwd: 'deep/er' }), pwd('absolute', { cwd: place.path('home') }), place.peer('slowly', basic(), { 'tool-call-timeout-secs': 500 }),
        { name: 'self', command: bin, args: ['mcp-serve'] }, { name: 'fine', command: peerBin, args: place.peer('fine', one('f')).args }]);
    const s = await place.open({ cwd: place.path('work/deep') });
    const r = await s.execute('const said = []; for (const g of [here, there, absolute]) try { await g.x({}) } catch {} try { await slowly.hang({}) } catch (e) { said.push(e.message) } [said, typeof globalThis.self]');
    assert.deepEqual(r.value, [['slowly.hang: timed out after 2 s'], 'undefined'], r.text);
    assert.equal(place.read('here').trim(), place.workspace);
    assert.equal(place.read('there').trim(), place.path('work/deep/er'));
    assert.equal(place.read('absolute').trim(), place.path('home'));
    assert.ok(r.notes.some(n => n.startsWith('[self: ')), r.text);
});

scenario('PL-32 PL-4: a workspace\'s own servers run after consent, which a changed manifest loses', async place => {
    const entry = place.peer('own', one('own'));
    const manifest = more => place.write('work/SYMPOSIUM.toml', `${toml({ 'depends-on': ['*'] })}\n[[mcp_servers]]\n${toml({ ...entry, ...more })}`);
    manifest();
    const s = await place.open();
    const refused = '[own: this workspace is not trusted yet; run \'symposium trust\']';
    place.peers({ mine: one('mine') });
    const before = await s.execute('[await mine.id({}), typeof globalThis.own]');
    assert.deepEqual(before.value, ['mine', 'undefined'], before.text);
    assert.ok(before.notes.includes(refused), before.text);
    await symposium(place, ['trust', '--yes']);
    assert.ok(fs.existsSync(place.path('symposium/state/trusted.json')));
    assert.equal((await s.execute('await own.id({})')).value, 'own');
    manifest({ env: { A: 'changed' } });
    assert.ok((await s.execute('1')).notes.includes(refused), 'a changed manifest asks again');
    await symposium(place, ['trust', '--yes']);
    assert.equal((await s.execute('await own.id({})')).value, 'own');
    await symposium(place, ['trust', '--remove']);
    assert.ok((await s.execute('1')).notes.includes(refused));
    place.config({ plugins: { 'trust-workspace': 'always' } });
    assert.equal((await s.execute('await own.id({})')).value, 'own');
});

scenario('PL-32: an untrusted workspace\'s shell() gate runs nothing, and says what it waits for', async place => {
    place.write('work/SYMPOSIUM.toml', `${toml({ 'depends-on': ['*'], predicates: [`shell(touch ${place.path('ran')})`] })}\n[[mcp_servers]]\n${toml(place.peer('own', one('own')))}`);
    place.peers({ mine: one('mine') });
    const s = await place.open();
    assert.match(await s.list(), /own: this workspace is not trusted yet; run .symposium trust./);
    await s.execute('1');
    assert.ok(!fs.existsSync(place.path('ran')));
    await symposium(place, ['trust', '--yes']);
    assert.equal((await s.execute('await own.id({})')).value, 'own');
    assert.ok(fs.existsSync(place.path('ran')));
});

scenario('PM-6 PM-8 SEC-48: a package manager of another name or protocol is refused with a warning, the rest works', async place => {
    cargo(place, { serde: '1.0.200' });
    place.plugin('any', [place.peer('always', one('always'))]);
    place.plugin('gated', [place.peer('gated', one('gated'))], { 'depends-on': ['serde'] });
    const manager = on => {
        const p = place.peer('pm', { on });
        fs.rmSync(place.path('peers/pm.in'), { force: true });
        place.write('symposium/config.toml', `[[package-manager]]\nname = "cargo"\n${toml({ executable: p.command, args: p.args })}`);
    };
    const deps = [{ result: [{ pm: 'cargo', name: 'serde', version: '1.0.200' }] }];
    const init = (name, version) => [{ result: { protocol_version: version, name, capabilities: ['list_deps'] } }];
    for (const [what, on, gated] of [
        ['good', { initialize: init('cargo', 1), list_deps: deps }, true],
        ['the other form', { initialize: init('cargo', 1), list_deps: [{ result: { deps: deps[0].result, watch: [] } }] }, true],
        ['wrong name', { initialize: init('npm', 1), list_deps: deps }, false],
        ['wrong protocol', { initialize: init('cargo', 999), list_deps: deps }, false],
        ['malformed', { initialize: [{ line: 'hello' }, { exit: 0 }] }, false],
        ['exits', { initialize: [{ exit: 3 }] }, false],
    ]) {
        fs.rmSync(place.path('symposium/cache'), { recursive: true, force: true });
        manager(on);
        const s = await place.open();
        const text = await s.list();
        assert.deepEqual(blocks(text), gated ? ['always', 'gated'] : ['always'], `${what}:\n${text}`);
        await s.close();
        fs.rmSync(place.path('peers/pm.in'), { force: true });      // its dialect is not MCP
    }
});

scenario('MS-2 SEC-50 PM-9: a package manager that hangs, and a gate that does, delay us by 5 s at most', async place => {
    cargo(place, { serde: '1.0.200' });
    const p = place.peer('pm', { record: undefined, on: { initialize: [{ result: { protocol_version: 1, name: 'cargo', capabilities: ['list_deps'] } }], list_deps: [] } });
    place.write('symposium/config.toml', `[[package-manager]]\nname = "cargo"\n${toml({ executable: p.command, args: p.args })}`);
    place.plugin('any', [place.peer('always', one('always'))]);
    place.plugin('gated', [place.peer('gated', one('gated'))], { 'depends-on': ['serde'] });
    place.plugin('shelly', [place.peer('shelly', one('shelly'))], { 'depends-on': ['*'], predicates: ['shell(sleep 30)'] });
    const from = performance.now();
    const s = await place.open();
    const { tools } = await s.result('tools/list');
    assert.ok(performance.now() - from <= 5000 + 300 * slack, `${performance.now() - from} ms`);
    assert.equal(tools.length, 2);
    assert.ok(await s.ping() < 50 * slack);
});

scenario('MS-2: with a fresh cache, spawn to the tools/list answer stays within 10 ms, also with 100 servers', async place => {
    place.plugin('many', Array.from({ length: 100 }, (_, i) => ({ name: `server-${i}`, command: 'true' })));
    const times = [];
    for (let i = 0; i < 8; i++) {
        const s = await place.open();
        await s.result('tools/list');
        times.push(performance.now() - s.spawned);
        await s.close();
    }
    assert.ok(Math.min(...times) <= 10 * slack, `${times.map(Math.round)} ms`);
});

scenario('CF-2 CL-1: the root is found upward, members yield to their workspace, --workspace replaces the directory', async place => {
    place.write('work/Cargo.toml', '[workspace]\nmembers = ["crates/*"]\n');
    place.write('work/crates/one/Cargo.toml', '[package]\nname = "one"\nversion = "0.1.0"\n');
    fs.mkdirSync(place.path('elsewhere'));
    const where = place.path('where');
    place.plugin('p', [{ name: 'here', command: 'sh', args: ['-c', `pwd > ${where}; exit 1`] }]);
    for (const [opts, root] of [[{ cwd: place.path('work/crates/one') }, 'work'], [{ cwd: place.path('elsewhere') }, 'elsewhere'],
        [{ cwd: place.path('elsewhere'), args: ['mcp-serve', '--workspace', place.path('work/crates/one')] }, 'work']]) {
        fs.rmSync(where, { force: true });
        const s = await place.open(opts);
        await s.execute('try { await here.x({}) } catch {}');
        assert.equal(await until('it ran', () => place.read('where').trim()), place.path(root));
        await s.close();
    }
});

scenario('PL-7 PL-16 CF-3: a broken manifest or config is a warning, never the end', async place => {
    place.peers({ fine: one('fine') });
    place.write('symposium/plugins/broken/SYMPOSIUM.toml', 'name = "broken"\nunknown-key = 1\n');
    place.write('symposium/plugins/syntax/SYMPOSIUM.toml', 'name = \n');
    place.write('symposium/config.toml', '[mcp]\nscript-timeout-secs = "ten"\n');
    const s = await place.open();
    assert.equal((await s.execute('await fine.id({})')).value, 'fine');
    place.write('symposium/config.toml', '[mcp\n');
    const t = await place.open();
    assert.equal((await t.execute('await fine.id({})')).value, 'fine');
    await sleep(10);
    assert.match(t.stderr + fs.readdirSync(place.path('symposium')).join() + s.stderr, /config\.toml/);
    assert.ok(path.isAbsolute(place.home));
});

// --- CF-2: the last resort ------------------------------------------------------------------------------------------------
/** Servers `a` and `b`, each there where a file of its name is; directories with them, and one that is no workspace. */
function elsewhere(place) {
    for (const name of ['a', 'b']) {
        place.plugin(`p-${name}`, [place.peer(name, one(name), { predicates: [`path_exists(./is-${name})`] })], { 'depends-on': ['*'] });
        place.write(`${name} dir/is-${name}`, '');
    }
    fs.mkdirSync(place.path('nowhere'));
    return { cwd: place.path('nowhere'), args: ['mcp-serve'] };
}
const uri = dir => `file://${encodeURI(dir)}`;
const rootsAsked = s => s.messages.filter(({ m }) => m.method === 'roots/list').length;
const listed = async s => blocks((await s.tool('list_tools', {})).content[0].text);

scenario('CF-2: outside of a workspace the first file:// root of a legacy client is it, and another one after they changed', async place => {
    const roots = [{ uri: 'https://x/' }, { uri: 'file:///dev/null' }, { uri: uri(place.path('a dir')) }, { uri: uri(place.path('b dir')) }];
    const s = await place.serve('', [], { ...elsewhere(place), roots });
    assert.deepEqual(await listed(s), ['a']);
    assert.equal(JSON.parse((await s.tool('execute', { script: 'await a.id({})' })).content[0].text), 'a');
    assert.equal(rootsAsked(s), 1);
    const told = s.notifications('notifications/tools/list_changed').length;
    s.roots = [{ uri: uri(place.path('b dir')) }];
    s.notify('notifications/roots/list_changed');
    assert.deepEqual(await listed(s), ['b']);
    assert.match((await s.result('tools/list')).tools[1].description, /Servers in scope: b\./);
    await until('the client is told', () => s.notifications('notifications/tools/list_changed').length > told);
    s.roots = [{ uri: 'file:///none/there' }];      // nothing to go to: all stays as it is
    s.notify('notifications/roots/list_changed');
    assert.deepEqual(await listed(s), ['b']);
    assert.equal(rootsAsked(s), 3);
});

scenario('CF-2 MCP-L9: who is in a workspace, has no roots or speaks a revision without is not asked', async place => {
    const opts = { ...elsewhere(place), roots: [{ uri: uri(place.path('a dir')) }] };
    place.write('b dir/package.json', '{}');
    for (const [more, servers] of [
        [{ cwd: place.path('b dir') }, ['b']], [{ args: ['--workspace', place.path('b dir'), 'mcp-serve'] }, ['b']],
        [{ roots: undefined }, []], [{ revision: '2026-07-28' }, []],
    ]) {
        const s = await place.serve('', [], { ...opts, ...more });
        assert.deepEqual(await listed(s), servers);
        assert.equal(rootsAsked(s), 0);
    }
});

scenario('CF-2: a client that does not answer costs its calls 2 s, once; one that refuses costs nothing', async place => {
    const opts = { ...elsewhere(place), capabilities: { roots: {} } };
    const s = await place.serve('', [], opts);
    const began = performance.now();
    const both = await Promise.all([listed(s), listed(s)]);
    assert.deepEqual(both, [[], []]);
    assert.ok(performance.now() - began > 1500 && performance.now() - began < 2500 * slack);
    assert.deepEqual(await listed(s), []);
    assert.equal(rootsAsked(s), 1);
    const other = place.session(opts);
    other.listeners.push(m => { if (m.method === 'roots/list') other.send({ id: m.id, error: { code: -32603, message: 'no' } }); });
    await other.open('2025-11-25', { roots: {} });
    const then = performance.now();
    assert.deepEqual(blocks((await other.tool('list_tools', {})).content[0].text), []);
    assert.ok(performance.now() - then < 1500 * slack);
});

scenario('CF-2: roots that change while they are named are asked for again before a call goes on', async place => {
    const s = place.session({ ...elsewhere(place) });
    let asked = 0;
    s.listeners.push(m => {
        if (m.method !== 'roots/list') return;
        if (!asked++) s.notify('notifications/roots/list_changed');    // and then the answer of before
        s.send({ id: m.id, result: { roots: [{ uri: uri(place.path(asked === 1 ? 'a dir' : 'b dir')) }] } });
    });
    await s.open('2025-11-25', { roots: { listChanged: true } });
    assert.deepEqual(blocks((await s.tool('list_tools', {})).content[0].text), ['b']);
    assert.equal(asked, 2);
});

scenario('CF-2: the end of input while the client is asked ends all in order', async place => {
    const s = place.session({ ...elsewhere(place) });
    const asked = new Promise(done => s.listeners.push(m => { if (m.method === 'roots/list') done(); }));
    await s.open('2025-11-25', { roots: {} });
    s.send({ id: 77, method: 'tools/call', params: { name: 'list_tools', arguments: {} } });
    await asked;
    const r = await s.eof();
    assert.deepEqual([r.code, r.signal], [0, null]);
    assert.ok(r.ms < 1500 * slack, `${r.ms} ms`);      // nobody can answer any more: no waiting for it
    assert.ok(s.messages.some(({ m }) => m.id === 77 && m.result));
});
