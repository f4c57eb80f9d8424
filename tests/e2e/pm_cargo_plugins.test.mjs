// SPDX-License-Identifier: MIT OR Apache-2.0
//
// symposium-pm-cargo as a program: plugins that crates embed, where their sources lie, and cargo behind it. Most cargo homes
// here are made by hand and `cargo` is a script of ours; at the end the real one, where there is one.
// PM-2 to PM-5, PM-7, PM-8, PM-14, PM-16, PM-17, PM-22, PL-1, PL-28, PL-29.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { inPlace, Manager, processesWith, Refused, said, slack, sleep, write } from './pm.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const bin = process.env.SYMPOSIUM_PM_CARGO ?? path.join(root, 'build/symposium-pm-cargo');
const works = (program, ...args) => spawnSync(program, args).status === 0;
const noCargo = !works('cargo', '--version') && 'cargo is not on this machine';
const noGit = !works('git', '--version') && 'git is not on this machine';
const noNamespaces = !works('unshare', '-rn', 'true') && 'no network namespaces here';

const REGISTRY = 'registry+https://index.example/one';
const DEFAULT_GROUP = { source: { path: 'skills' } };
const id = (name, version) => ({ pm: 'cargo', name, ...(version && { version }) });

/** A workspace, a cargo home, and the program between them. */
class Place {
    constructor(place) {
        Object.assign(this, place);
        this.marker = path.join(this.top, 'cargo-was-run');
        this.locked = [];
        this.cargo = path.join(this.top, 'no-cargo');
        write(this.cargo, `#!/bin/sh\necho "$@" >>${this.marker}\necho 'error: no cargo for you' >&2\nexit 101\n`, 0o755);
    }
    /** A crate's directory: Cargo.toml with `metadata` behind it, and files. */
    crate(dir, name, version, { metadata = '', files = {} } = {}) {
        write(path.join(dir, 'Cargo.toml'), `[package]\nname = "${name}"\nversion = "${version}"\n${metadata}`);
        for (const [file, text] of Object.entries(files)) write(path.join(dir, file), text);
        return dir;
    }
    /** Unpacked from a registry. */
    unpacked(name, version, more, registry = 'index.example-0123456789abcdef') {
        return this.crate(path.join(this.home, 'registry/src', registry, `${name}-${version}`), name, version, more);
    }
    lock(name, version, source = REGISTRY) { this.locked.push({ name, version, source }); }
    /** The root package depends on all that is locked so far, and on `deps`. */
    workspace(deps = '', more = '') {
        const refs = this.locked.map(l => `"${l.name} ${l.version}"`).join(', ');
        write(path.join(this.ws, 'Cargo.toml'), `[package]\nname = "app"\nversion = "0.1.0"\n[dependencies]\n${deps}${more}`);
        write(path.join(this.ws, 'Cargo.lock'), `version = 4\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = [${refs}]\n` +
            this.locked.map(l => `[[package]]\nname = "${l.name}"\nversion = "${l.version}"\n${l.source ? `source = "${l.source}"\n` : ''}`).join(''));
    }
    async start(env = {}, options = {}) {
        this.pm = new Manager(bin, {
            env: { PATH: process.env.PATH, HOME: this.top, CARGO_HOME: this.home, SYMPOSIUM_CARGO: this.cargo, ...env }, ...options,
        });
        await this.pm.hello(this.ws, { cache_dir: this.cache });
        return this.pm;
    }
    async offers(...names) {
        const deps = names.length ? names.map(n => id(...n.split(' '))) : await this.deps();
        return this.pm.ask('active_plugins', { deps });
    }
    async deps() {
        const r = await this.pm.ask('list_deps');
        return Array.isArray(r) ? r : r.deps;
    }
    cargoRan() { return fs.existsSync(this.marker); }
}

const scenario = (name, body, options = {}) => test(name, options, t => inPlace(async top => {
    const place = new Place(top);
    try {
        await body(place, t);
        if (place.pm && place.pm.child.exitCode === null && place.pm.child.signalCode === null) await place.pm.end(3500);
    } finally {
        place.pm?.child.kill('SIGKILL');
    }
}));
const refusal = async promise => {
    try {
        return assert.fail(`an answer: ${JSON.stringify(await promise)}`);
    } catch (e) {
        if (e instanceof Refused) return e;
        throw e;
    }
};
const SKILL = '---\nname: s\ndescription: d\n---\n';
const withSkill = { files: { 'skills/s/SKILL.md': SKILL } };

// --- what crates embed ------------------------------------------------------------------------------------------------
scenario('PM-17: active_plugins offers the dependencies that embed something, with root and raw manifest', async p => {
    const roots = {
        file: p.unpacked('file', '1.0.0', { files: { 'SYMPOSIUM.toml': 'depends-on = ["x"]\n' } }),
        meta: p.unpacked('meta', '1.0.0', { metadata: '[package.metadata.symposium]\nname = "m"\n' }),
        skill: p.unpacked('skill', '1.0.0', withSkill),
        plain: p.unpacked('plain', '1.0.0'),
        empty: p.unpacked('empty', '1.0.0', { files: { 'skills/README.md': '' } }),
    };
    for (const name of [...Object.keys(roots), 'absent']) p.lock(name, '1.0.0');
    p.workspace();
    await p.start();
    assert.deepEqual(await p.offers(), [
        { id: id('file', '1.0.0'), root: roots.file, manifest: { 'depends-on': ['x'], skills: [DEFAULT_GROUP] } },
        { id: id('meta', '1.0.0'), root: roots.meta, manifest: { name: 'm', skills: [DEFAULT_GROUP] } },
        { id: id('skill', '1.0.0'), root: roots.skill, manifest: { skills: [DEFAULT_GROUP] } },
    ]);
    assert.deepEqual(await p.pm.ask('active_plugins', { deps: [{ pm: 'npm', name: 'skill', version: '1.0.0' }] }), [], 'of another package manager');
    assert.ok(!p.cargoRan());
});

scenario('PM-14, PM-17: load_plugin gives an offer for any crate, also one that embeds nothing or is no dependency', async p => {
    const dir = p.unpacked('plain', '1.0.0'), other = p.unpacked('other', '2.0.0', withSkill);
    p.lock('plain', '1.0.0');
    p.workspace();
    await p.start();
    const offer = (name, version, at) => [{ id: id(name, version), root: at, manifest: { skills: [DEFAULT_GROUP] } }];
    assert.deepEqual(await p.pm.ask('load_plugin', { id: id('plain') }), offer('plain', '1.0.0', dir));
    assert.deepEqual(await p.pm.ask('load_plugin', { id: id('other', '2') }), offer('other', '2.0.0', other));
    assert.equal((await refusal(p.pm.ask('load_plugin', { id: { pm: 'npm', name: 'plain' } }))).code, -32001);
});

scenario('PL-29, PM-4: metadata first, then the manifest file: arrays appended, tables united, scalars from the later, unknown keys kept', async p => {
    p.unpacked('both', '1.0.0', {
        metadata: `[package.metadata.symposium]
name = "from-metadata"
depends-on = "one"
predicates = ["env(A)"]
surprise = 1
[[package.metadata.symposium.skills]]
source.path = "m"
[package.metadata.symposium.subcommand.a]
description = "metadata"
[package.metadata.symposium.subcommand.b]
description = "kept"
[[package.metadata.symposium.mcp_servers]]
name = "s1"
command = "x"
`,
        files: {
            'SYMPOSIUM.toml': `name = "from-file"
depends-on = ["two", "three"]
predicates = ["env(B)"]
[defaults]
skills = true
[[skills]]
source.path = "f"
[subcommand.a]
description = "file"
[[mcp_servers]]
name = "s2"
command = "y"
[[plugins]]
source.npm = "z"
`,
        },
    });
    p.unpacked('out', '1.0.0', { metadata: '[package.metadata.symposium.defaults]\nskills = false\n', ...withSkill });
    p.unpacked('in-again', '1.0.0', { metadata: '[package.metadata.symposium.defaults]\nskills = false\n', files: { 'symposium.toml': '[defaults]\nskills = true\n' } });
    for (const name of ['both', 'out', 'in-again']) p.lock(name, '1.0.0');
    p.workspace();
    await p.start();
    const [both, again, out] = (await p.offers()).map(o => o.manifest);
    assert.deepEqual(both, {
        name: 'from-file',
        'depends-on': ['one', 'two', 'three'],
        predicates: ['env(A)', 'env(B)'],
        surprise: 1,
        subcommand: { b: { description: 'kept' }, a: { description: 'file' } },
        mcp_servers: [{ name: 's1', command: 'x' }, { name: 's2', command: 'y' }],
        defaults: { skills: true },
        plugins: [{ source: { npm: 'z' } }],
        skills: [{ source: { path: 'm' } }, { source: { path: 'f' } }, DEFAULT_GROUP],
    });
    assert.deepEqual(again, { defaults: { skills: true }, skills: [DEFAULT_GROUP] });
    assert.deepEqual(out, { defaults: { skills: false } });
});

scenario('PL-29, PM-8: a malformed layer is dropped with a warning and the other one counts; crates beside it are untouched', async p => {
    const bad = {
        'bad-file': { metadata: '[package.metadata.symposium]\nname = "kept"\n', files: { 'SYMPOSIUM.toml': 'name = \n' } },
        'bad-kind': { metadata: '[package.metadata.symposium]\nskills = "no"\nname = "lost"\n', files: { 'SYMPOSIUM.toml': 'name = "kept"\n' } },
        'bad-metadata': { metadata: '[package.metadata]\nsymposium = 7\n', files: { 'SYMPOSIUM.toml': 'name = "kept"\n' } },
        'bad-utf8': { metadata: '[package.metadata.symposium]\nname = "kept"\n', files: { 'SYMPOSIUM.toml': Buffer.from([0x6e, 0xff, 0xfe]) } },
        'deep': { metadata: '[package.metadata.symposium]\nname = "kept"\n', files: { 'SYMPOSIUM.toml': `x = ${'['.repeat(100)}${']'.repeat(100)}\n` } },
        'directory': { metadata: '[package.metadata.symposium]\nname = "kept"\n', files: { 'SYMPOSIUM.toml/x': '' } },
        'good': { files: { 'SYMPOSIUM.toml': 'name = "kept"\n' } },
        'huge': { metadata: '[package.metadata.symposium]\nname = "kept"\n', files: { 'SYMPOSIUM.toml': '#'.repeat(300 << 10) } },
    };
    for (const [name, what] of Object.entries(bad)) {
        p.unpacked(name, '1.0.0', what);
        p.lock(name, '1.0.0');
    }
    const broken = p.unpacked('zz-broken', '1.0.0', { files: { 'SYMPOSIUM.toml': 'name = "kept"\n' } });
    fs.writeFileSync(path.join(broken, 'Cargo.toml'), '[package\nsymposium');
    p.lock('zz-broken', '1.0.0');
    p.workspace();
    await p.start();
    const offers = await p.offers();
    assert.deepEqual(offers.map(o => o.id.name), [...Object.keys(bad), 'zz-broken']);
    for (const o of offers) assert.deepEqual(o.manifest, { name: 'kept', skills: [DEFAULT_GROUP] }, o.id.name);
    for (const name of Object.keys(bad)) if (name !== 'good') await said(p.pm, new RegExp(`${name}-1\\.0\\.0`));
    assert.doesNotMatch(p.pm.err, /good-1\.0\.0/);
});

scenario('PL-1: of several manifest files the upper-case one is taken, with a warning', async p => {
    p.unpacked('many', '1.0.0', { files: { 'symposium.toml': 'name = "3"\n', 'Symposium.toml': 'name = "2"\n', 'SYMPOSIUM.toml': 'name = "1"\n' } });
    p.unpacked('two', '1.0.0', { files: { 'symposium.toml': 'name = "3"\n', 'Symposium.toml': 'name = "2"\n' } });
    for (const name of ['many', 'two']) p.lock(name, '1.0.0');
    p.workspace();
    await p.start();
    assert.deepEqual((await p.offers()).map(o => o.manifest.name), ['1', '2']);
    await said(p.pm, /symposium\.toml' left out: .*SYMPOSIUM\.toml' is taken/);
});

scenario('PM-4, PL-28: links out of a crate do not count, nor skills below a marker or behind a link', async p => {
    write(path.join(p.top, 'outside/SKILL.md'), SKILL);
    write(path.join(p.top, 'outside/SYMPOSIUM.toml'), 'name = "outside"\n');
    const link = (dir, name, to) => { fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true }); fs.symlinkSync(to, path.join(dir, name)); };
    link(p.unpacked('a-manifest', '1.0.0'), 'SYMPOSIUM.toml', path.join(p.top, 'outside/SYMPOSIUM.toml'));
    link(p.unpacked('b-skills', '1.0.0'), 'skills', path.join(p.top, 'outside'));
    link(p.unpacked('c-skill', '1.0.0'), 'skills/s', path.join(p.top, 'outside'));
    link(p.unpacked('d-file', '1.0.0'), 'skills/s/SKILL.md', path.join(p.top, 'outside/SKILL.md'));
    link(p.unpacked('e-loop', '1.0.0'), 'skills/s/up', '..');
    link(p.unpacked('f-dangling', '1.0.0'), 'SYMPOSIUM.toml', 'nowhere');
    p.unpacked('g-installed', '1.0.0', { files: { 'skills/s/SKILL.md': SKILL, 'skills/s/.symposium': '' } });
    link(p.unpacked('h-inside', '1.0.0', { files: { 'conf/plugin.toml': 'name = "inside"\n' } }), 'SYMPOSIUM.toml', 'conf/plugin.toml');
    fs.symlinkSync(path.join(p.top, 'outside'), path.join(p.home, 'registry/src/index.example-0123456789abcdef/i-crate-1.0.0'));
    for (const name of ['a-manifest', 'b-skills', 'c-skill', 'd-file', 'e-loop', 'f-dangling', 'g-installed', 'h-inside', 'i-crate']) p.lock(name, '1.0.0');
    p.workspace();
    await p.start();
    assert.deepEqual((await p.offers()).map(o => [o.id.name, o.manifest.name]), [['h-inside', 'inside']]);
});

// --- where the sources lie --------------------------------------------------------------------------------------------
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

scenario('PM-16: path before registry, git checkouts by commit, vendored last; each root is where the crate lies', async p => {
    const at = {};
    at.local = p.crate(path.join(p.top, 'elsewhere/local'), 'local', '1.0.0', withSkill);
    p.unpacked('local', '1.0.0', withSkill);
    at.shelf = p.unpacked('shelf', '1.0.0', withSkill);
    at.gitted = p.crate(path.join(p.home, 'git/checkouts/repo-fedcba9876543210', COMMIT.slice(0, 7), 'crates/gitted'), 'gitted', '3.0.0', withSkill);
    p.crate(path.join(p.home, 'git/checkouts/repo-fedcba9876543210', 'fffffff'), 'gitted', '3.0.0', withSkill);
    p.crate(path.join(p.home, 'git/checkouts/repo-other-fedcba9876543210', COMMIT.slice(0, 7)), 'gitted', '3.0.0', withSkill);
    at.vendored = p.crate(path.join(p.ws, 'third-party/any-name'), 'vendored', '4.0.0', withSkill);
    p.crate(path.join(p.ws, 'third-party/shelf'), 'shelf', '1.0.0', withSkill);
    write(path.join(p.ws, '.cargo/config.toml'), '[source.crates-io]\nreplace-with = "b"\n[source.b]\nreplace-with = "vendored-sources"\n' +
        '[source.vendored-sources]\ndirectory = "third-party"\n[source.unused]\ndirectory = "elsewhere"\n');
    p.lock('gitted', '3.0.0', `git+https://git.example/owner/Repo.git?branch=main#${COMMIT}`);
    p.lock('local', '1.0.0', '');
    p.lock('shelf', '1.0.0');
    p.lock('vendored', '4.0.0');
    p.workspace(`renamed = { package = "local", path = "../elsewhere/local" }\n`);
    await p.start();
    assert.deepEqual(Object.fromEntries((await p.offers()).map(o => [o.id.name, o.root])), at);
    for (const name of Object.keys(at)) assert.equal((await p.pm.ask('fetch', { id: id(name), update: 'none' })).root, at[name]);
});

scenario('PM-16: a patched dependency is the patch, one of two registries is the one the lockfile names', async p => {
    const patch = p.crate(path.join(p.top, 'patch'), 'patched', '1.5.0', withSkill);
    p.unpacked('patched', '1.5.0', withSkill);
    const one = p.unpacked('twice', '1.0.0', withSkill, 'zz.example-0123456789abcdef');
    p.unpacked('twice', '1.0.0', withSkill, 'aa.example-0123456789abcdef');
    p.lock('patched', '1.5.0', '');
    p.lock('twice', '1.0.0', 'sparse+https://zz.example/index/');
    p.workspace('patched = "1"\n', '[patch.crates-io]\npatched = { path = "../patch" }\n');
    await p.start();
    assert.deepEqual((await p.offers()).map(o => o.root), [patch, one]);
});

scenario('PM-7: a root is absolute and real, however cargo\'s home and a path dependency are reached', async p => {
    const shelf = p.unpacked('shelf', '1.0.0', withSkill), local = p.crate(path.join(p.top, 'real/local'), 'local', '1.0.0', withSkill);
    fs.symlinkSync('home', path.join(p.top, 'link'));
    fs.symlinkSync('../real', path.join(p.ws, 'linked'));
    p.lock('local', '1.0.0', '');
    p.lock('shelf', '1.0.0');
    p.workspace('local = { path = "linked/./local" }\n');
    await p.start({ CARGO_HOME: path.join(p.top, 'ws/../link/') });
    assert.deepEqual((await p.offers()).map(o => o.root), [local, shelf]);
    assert.equal((await p.pm.ask('fetch', { id: id('shelf'), update: 'none' })).root, shelf);
    assert.equal((await p.pm.ask('load_plugin', { id: id('local'), update: 'none' }))[0].root, local);
});

scenario('PM-16: fetch by name takes the version of the workspace; a requirement the highest locked or available one that fits', async p => {
    for (const version of ['1.0.0', '1.2.0', '1.10.0', '2.0.0', '3.0.0-rc.1']) p.unpacked('many', version);
    for (const version of ['0.1.0', '0.2.0', '1.0.0-beta.1']) p.unpacked('free_one', version);
    p.lock('many', '1.2.0');
    p.lock('many', '1.0.0');
    p.workspace();
    await p.start();
    const cases = [
        ['many', undefined, '1.2.0'], ['many', '*', '1.2.0'], ['many', '', '1.2.0'],
        ['many', '1.0.0', '1.0.0'], ['many', '=1.0.0', '1.0.0'], ['many', '==1.0.0', '1.0.0'], ['many', '^1', '1.2.0'], ['many', '<1.1', '1.0.0'],
        ['many', '1.0.1', '1.2.0'],                     // as in Cargo.toml: compatible with it
        ['many', '2', '2.0.0'], ['many', '1.10', '1.10.0'], ['many', '>=1.3, <2', '1.10.0'], ['many', '3.0.0-rc.1', '3.0.0-rc.1'],
        ['free_one', undefined, '0.2.0'], ['free-one', '0.1', '0.1.0'], ['free_one', '0.1.0', '0.1.0'],   // PL-20: '-' and '_'
        ['many', '3', -32001], ['many', '9', -32001], ['many', 'x y', -32003], ['many', '1.0.0.0', -32003], ['none', undefined, -32001],
        ['../many', undefined, -32001], ['many-1.0.0/../x', undefined, -32001], ['', undefined, -32602], [7, undefined, -32602],
    ];
    for (const [name, version, want] of cases) {
        const r = await p.pm.ask('fetch', { id: { pm: 'cargo', name, version }, update: 'none' }).catch(e => e);
        assert.equal(r.code ?? r.id?.version, want, `${name} ${version}: ${JSON.stringify(r)} ${r.message}`);
        if (r.root) assert.ok(r.root.endsWith(`/${r.id.name}-${want}`), r.root);
    }
    assert.ok(!p.cargoRan(), 'PM-7: update "none" runs no cargo');
});

scenario('PM-22, MS-60: manifests below a root without one; a member of one workspace is no workspace; all are watched', async p => {
    const local = p.crate(path.join(p.ws, 'backend/local'), 'local', '1.0.0', withSkill);
    write(path.join(p.ws, 'backend/Cargo.toml'), '[package]\nname = "b"\nversion = "0.1.0"\n[dependencies]\nlocal = { path = "local" }\n');
    write(path.join(p.ws, 'tools/native/Cargo.toml'), '[package]\nname = "n"\nversion = "0.1.0"\n[dependencies]\nshelf = "1"\n');
    const shelf = p.crate(path.join(p.ws, 'tools/native/kept/shelf'), 'shelf', '1.0.0', withSkill);
    write(path.join(p.ws, 'tools/native/.cargo/config.toml'), '[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = "kept"\n');
    await p.start();
    const list = await p.pm.ask('list_deps');
    assert.deepEqual(list.deps, [id('local', '*'), id('shelf', '*')]);
    for (const file of ['backend/Cargo.toml', 'backend/Cargo.lock', 'tools/native/Cargo.toml', 'tools/Cargo.toml'])
        assert.ok(list.watch.includes(path.join(p.ws, file)), file);
    assert.deepEqual((await p.pm.ask('active_plugins', { deps: list.deps })).map(o => [o.id.version, o.root]), [['1.0.0', local], ['1.0.0', shelf]]);
});

scenario('PM-8: an answer has room for twelve megabytes of manifests; what does not fit is left out with a warning', async p => {
    for (let i = 0; i < 60; i++) {
        const name = `big-${String(i).padStart(2, '0')}`;
        p.unpacked(name, '1.0.0', { files: { 'SYMPOSIUM.toml': `name = "${'x'.repeat(250 << 10)}"\n` } });
        p.lock(name, '1.0.0');
    }
    p.unpacked('small', '1.0.0', withSkill);
    p.lock('small', '1.0.0');
    p.workspace();
    await p.start();
    const names = (await p.offers()).map(o => o.id.name);
    assert.ok(names.length > 40 && names.length < 60, `${names.length}`);
    assert.ok(names.includes('big-00') && names.includes('small'));
    await said(p.pm, /no offer of '[^']*big-59/);
});

scenario('what comes, changes and goes on the disk is seen at the next request', async p => {
    p.lock('late', '1.0.0');
    p.workspace();
    await p.start();
    assert.deepEqual(await p.offers(), []);
    const dir = p.unpacked('late', '1.0.0', withSkill);
    assert.deepEqual((await p.offers()).map(o => o.root), [dir]);
    write(path.join(dir, 'SYMPOSIUM.toml'), 'name = "now"\n');
    assert.deepEqual((await p.offers()).map(o => o.manifest.name), ['now']);
    fs.rmSync(dir, { recursive: true });
    assert.deepEqual(await p.offers(), []);
    const vendored = p.crate(path.join(p.top, 'vendor/late'), 'late', '1.0.0', withSkill);
    write(path.join(p.home, 'config.toml'), `[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = ${JSON.stringify(path.join(p.top, 'vendor'))}\n`);
    assert.deepEqual((await p.offers()).map(o => o.root), [vendored]);
});

// --- hostile states ---------------------------------------------------------------------------------------------------
scenario('PM-8: cyclic path dependencies, missing directories, a lockfile of megabytes, nonsense in it: nothing hangs or ends it', async p => {
    const cycle = ['a', 'b', 'c'].map((name, i) => p.crate(path.join(p.top, name), name, '1.0.0', {
        metadata: `[dependencies]\n${['b', 'c', 'a'][i]} = { path = "../${['b', 'c', 'a'][i]}" }\nmissing = { path = "../missing" }\nself = { path = "." }\nwild = { path = "/" }\n`,
        files: { 'SYMPOSIUM.toml': '' },
    }));
    p.lock('a', '1.0.0', '');
    p.workspace('a = { path = "../a" }\n');
    await p.start();
    assert.deepEqual((await p.offers('a 1.0.0', 'b 1.0.0', 'c 1.0.0', 'missing 1.0.0', 'self 1.0.0')).map(o => o.root), cycle);

    const weird = [
        '', '\0\0\0', '[[package]]\n'.repeat(1000), 'package = 7\n', '[package]\nname = "x"\n', '[[package]]\nname = 3\nversion = []\n',
        `[[package]]\nname = "x"\nversion = "1"\nsource = "git+https://x/../..#${'a'.repeat(40)}"\n`,
        '[[package]]\nname = "../../etc"\nversion = "../1"\nsource = "registry+x"\n',
        `[[package]]\nname = "big"\nversion = "1.0.0"\ndependencies = [${'"big",'.repeat(300000)}]\n`,
        `${'#'.repeat(5 << 20)}\n`,
    ];
    for (const text of weird) {
        fs.writeFileSync(path.join(p.ws, 'Cargo.lock'), text);
        const from = performance.now();
        await p.deps();
        await p.offers('x 1', '../../etc ../1', 'big 1.0.0');
        assert.equal((await refusal(p.pm.ask('fetch', { id: id('../../etc', '1.0.0'), update: 'check' }))).code, -32001);
        assert.ok(performance.now() - from < 2000 * slack, `${performance.now() - from} ms for ${text.slice(0, 40)}`);
    }
    assert.ok(!p.cargoRan(), 'names that are no crate\'s are asked for nowhere');
});

scenario('PM-1, PM-5: wrong params of every method are -32602; the program goes on', async p => {
    p.workspace();
    await p.start();
    const wrong = [
        ['active_plugins', {}], ['active_plugins', { deps: 7 }], ['active_plugins', { deps: [7] }], ['active_plugins', { deps: [{ pm: 'cargo' }] }],
        ['active_plugins', { deps: [id('x'.repeat(600))] }], ['load_plugin', undefined], ['load_plugin', { id: 'serde' }], ['load_plugin', { id: { name: 'x' } }],
        ['load_plugin', { id: id('x'), update: 'sometimes' }], ['fetch', { id: id('x'), update: 7 }], ['fetch', { update: 'none' }],
        ['search', {}], ['search', { query: '' }], ['search', { query: 'x'.repeat(257) }], ['search', { query: 'a\0b' }], ['refresh', { update: 'x' }],
    ];
    for (const [method, params] of wrong) assert.equal((await refusal(p.pm.ask(method, params))).code, -32602, `${method} ${JSON.stringify(params)}`);
    assert.equal((await refusal(p.pm.ask('no_such_method'))).code, -32601);
    assert.deepEqual(await p.pm.ask('refresh', { update: 'fetch', force: true }), { refreshed: false });
    assert.deepEqual(await p.deps(), []);
});

test('PM-8: closed standard descriptors are no stumbling block', () => {
    for (const closed of ['<&-', '>&-', '2>&-', '<&- >&- 2>&-', '<&- 2>/dev/full', '>/dev/full', '</']) {
        const r = spawnSync('sh', ['-c', `"$0" ${closed}`, bin], { input: '{"jsonrpc":"2.0","id":1,"method":"initialize"}\nx\n', encoding: 'utf8', timeout: 10000 * slack });
        assert.equal(r.status, 0, `${closed}: ${r.stderr}`);
    }
});

// --- cargo behind it --------------------------------------------------------------------------------------------------
/** A cargo that notes what it was asked and does `body` in the throw-away package ($HOME_DIR: cargo's home). */
const script = (p, body) => write(p.cargo, `#!/bin/sh\n{ echo "$@"; pwd; cat Cargo.toml; } >>${p.marker} 2>/dev/null\n${body}\n`, 0o755);
const chooses = (p, name, version, source = REGISTRY) => `
d=$CARGO_HOME/registry/src/index.example-0123456789abcdef/${name}-${version}; mkdir -p $d/skills/s
printf '[package]\\nname = "${name}"\\nversion = "${version}"\\n' >$d/Cargo.toml
printf -- '${SKILL.replaceAll('\n', '\\n')}' >$d/skills/s/SKILL.md
cat >Cargo.lock <<END
version = 4
[[package]]
name = "${name}"
version = "${version}"
source = "${source}"
[[package]]
name = "symposium-fetch"
version = "0.0.0"
dependencies = ["${name}"]
END`;

scenario('PM-16: what is nowhere on the disk is fetched through a throw-away package outside the workspace, with a progress line', async p => {
    script(p, chooses(p, 'far', '1.4.0'));
    p.workspace();
    await p.start();
    const r = await p.pm.ask('fetch', { id: id('far', '>=1, ==1.4.0'), update: 'check' });
    assert.deepEqual(r, { id: id('far', '1.4.0'), root: path.join(p.home, 'registry/src/index.example-0123456789abcdef/far-1.4.0') });
    const [args, cwd, ...toml] = fs.readFileSync(p.marker, 'utf8').split('\n');
    assert.equal(args, 'fetch');
    assert.ok(cwd.startsWith(p.cache + '/') && !cwd.startsWith(p.ws));
    assert.ok(!fs.existsSync(cwd), 'it is gone');
    assert.match(toml.join('\n'), /\n\[workspace\]\n\n\[dependencies\]\nit = \{ package = "far", version = ">=1, =1\.4\.0", default-features = false \}/);
    await said(p.pm, /^progress: fetching far >=1, =1\.4\.0 \(cargo fetch\)$/m);
    fs.rmSync(p.marker);
    assert.deepEqual(await p.pm.ask('fetch', { id: id('far', '>=1'), update: 'fetch' }), r, 'PM-7: the same id, the same content');
    assert.ok(!p.cargoRan(), 'it is on the disk now');
    assert.equal((await p.pm.ask('load_plugin', { id: id('far', '1') }))[0].root, r.root);
});

scenario('PM-16: a locked version is fetched from where it is locked; a namesake of another registry is no answer', async p => {
    p.lock('mine', '1.0.0', 'registry+https://private.example/index');
    p.lock('hidden', '1.0.0', 'sparse+https://private.example/index/');
    p.lock('gitted', '1.0.0', `git+ssh://git@git.example/r.git?tag=v1#${COMMIT}`);
    p.lock('public', '1.0.0', 'registry+https://git.example/owner/crates-index');
    p.workspace();
    script(p, chooses(p, 'mine', '1.0.0', 'registry+https://public.example/index'));
    await p.start();
    for (let i = 0; i < 2; i++) assert.equal((await refusal(p.pm.ask('fetch', { id: id('mine'), update: 'fetch' }))).code, -32001, 'also when it lies there');
    assert.equal(fs.readFileSync(p.marker, 'utf8').match(/^it = .*$/m)[0],
        'it = { package = "mine", version = "=1.0.0", registry-index = "https://private.example/index", default-features = false }');
    fs.rmSync(p.marker);
    for (const name of ['hidden', 'gitted', 'public']) await refusal(p.pm.ask('fetch', { id: id(name), update: 'fetch' }));
    assert.deepEqual(fs.readFileSync(p.marker, 'utf8').match(/^it = .*$/gm).map(l => l.replace(/, default.*/, '')), [
        'it = { package = "hidden", version = "=1.0.0", registry-index = "sparse+https://private.example/index/"',
        `it = { package = "gitted", git = "ssh://git@git.example/r.git", rev = "${COMMIT}"`,
        'it = { package = "public", version = "=1.0.0"',
    ]);
});

scenario('PM-5: what cargo says becomes a code: not found, network, credentials, anything else; without cargo there are the caches', async p => {
    p.unpacked('here', '1.0.0');
    p.workspace();
    await p.start();
    const cases = [
        ["error: no matching package named \\`x\\` found", -32001], ["error: failed to select a version for the requirement", -32001],
        ["error: failed to get \\`x\\`\\n\\nCaused by:\\n  no token found for \\`y\\`, please run cargo login", -32004],
        ["error: failed to load source\\n\\nCaused by:\\n  failed to authenticate when downloading", -32004],
        ["error: download of config.json failed\\n\\nCaused by:\\n  could not resolve host", -32002],
        ["error: failed to query replaced source registry\\n\\nCaused by:\\n  [28] Timeout was reached (Connection timed out after 30001 ms)", -32002],
        ["error: failed to get successful HTTP response from \\`https://index.example/\\` (1.2.3.4), got 503", -32002],
        ["error: failed to get successful HTTP response from \\`https://index.example/\\` (1.2.3.4), got 404", -32001],
        ["error: rustup could not choose a version of cargo to run", -32603], ['', -32603],
    ];
    for (const [text, code] of cases) {
        script(p, `printf "${text}\\n" >&2; exit 101`);
        const e = await refusal(p.pm.ask('fetch', { id: id('x'), update: 'fetch' }));
        assert.equal(e.code, code, e.message);
        const cause = /Caused by:\\n {2}([^`\\]*)/.exec(text)?.[1];
        if (cause) assert.ok(e.message.includes(cause.trim()), e.message);
    }
    assert.equal((await p.pm.ask('fetch', { id: id('here', '1.0.5'), update: 'none' }).catch(e => e)).code, -32001);
    fs.rmSync(p.cargo);
    for (const [method, params] of [['fetch', { id: id('x'), update: 'fetch' }], ['load_plugin', { id: id('x'), update: 'check' }], ['search', { query: 'x' }]]) {
        const e = await refusal(p.pm.ask(method, params));
        assert.equal(e.code, -32005, `${method}: ${e.message}`);
        assert.match(e.message, /cannot execute '.*no-cargo'.*; install Rust, or name a cargo in SYMPOSIUM_CARGO/);
    }
    assert.equal((await p.pm.ask('fetch', { id: id('here', '1'), update: 'fetch' })).id.version, '1.0.0');
});

scenario('PM-16: the throw-away package of a killed run is removed by the next fetch', async p => {
    const old = path.join(p.cache, 'pm-cargo-AAAAAA'), young = path.join(p.cache, 'pm-cargo-BBBBBB');
    for (const d of [old, young]) write(path.join(d, 'Cargo.toml'), '');
    fs.utimesSync(old, new Date(0), new Date(0));
    p.workspace();
    await p.start();
    await refusal(p.pm.ask('fetch', { id: id('x'), update: 'fetch' }));
    assert.ok(p.cargoRan() && !fs.existsSync(old) && fs.existsSync(young));
});

scenario('PM-17: search gives the first ten hits with their descriptions, and runs outside the workspace', async p => {
    const lines = Array.from({ length: 12 }, (_, i) => `hit-${i} = "1.${i}.0"    # a \\"crate\\" number ${i} = #${i}`);
    script(p, `cat <<'END'\n${lines.join('\n').replaceAll('\\"', '"')}\nbare = "2.0.0"\n... and 40 crates more (use --limit N to see more)\nEND`);
    p.workspace();
    await p.start();
    const hits = await p.pm.ask('search', { query: ' -x $(touch /tmp/no) ' });
    assert.equal(hits.length, 10);
    assert.deepEqual(hits[1], { id: id('hit-1', '1.1.0'), description: 'a "crate" number 1 = #1' });
    assert.deepEqual(fs.readFileSync(p.marker, 'utf8').split('\n').slice(0, 2), ['search --limit 10 -- -x $(touch /tmp/no)', '/']);
    script(p, "printf 'bare = \"2.0.0\"\\nnonsense\\n = \"\"\\n../x = \"1\"\\n'");
    assert.deepEqual(await p.pm.ask('search', { query: 'x' }), [{ id: id('bare', '2.0.0') }]);
    script(p, "echo 'error: failed to retrieve' >&2; exit 101");
    const e = await refusal(p.pm.ask('search', { query: 'x' }));
    assert.deepEqual([e.code, e.message], [-32603, '-32603: cargo search: failed to retrieve'], 'no word of the network');
    script(p, "printf 'error: failed to retrieve search results\\n\\nCaused by:\\n  failed to get a 200 OK response, got 404\\n' >&2; exit 101");
    assert.equal((await refusal(p.pm.ask('search', { query: 'x' }))).code, -32001, 'the registry has no search');
    script(p, "printf 'error: failed to retrieve search results\\n\\nCaused by:\\n  [6] Could not resolve hostname\\n' >&2; exit 101");
    assert.equal((await refusal(p.pm.ask('search', { query: 'x' }))).code, -32002);
    script(p, 'head -c 20000000 /dev/zero');
    assert.equal((await refusal(p.pm.ask('search', { query: 'x' }))).code, -32003, 'more than is read');
});

for (const how of ['end of stdin', 'SIGTERM', 'SIGINT']) {
    scenario(`PM-1, PM-8: while cargo hangs other requests are answered; the ${how} ends its whole group`, async p => {
        const mark = `mark-${process.pid}-${how.replaceAll(' ', '')}`;
        script(p, `trap '' TERM; sh -c "trap '' TERM; sleep 600; : ${mark}" & sleep 600; : ${mark}`);
        p.workspace();
        await p.start({ MARK: mark });
        const far = Array.from({ length: 6 }, (_, i) => p.pm.ask('fetch', { id: id(`far${i}`), update: 'fetch' }).catch(e => e));
        while (!p.cargoRan()) await sleep(5);
        await p.deps();
        await sleep(100);
        const from = performance.now();
        if (how === 'end of stdin') p.pm.child.stdin.end();
        else p.pm.child.kill(how);
        assert.equal(await p.pm.closed, 0);
        assert.ok(performance.now() - from < 3500 * slack);
        for (const e of await Promise.all(far)) assert.ok(e instanceof Error, JSON.stringify(e));
        assert.deepEqual(processesWith(mark), []);
        assert.deepEqual(fs.readdirSync(p.cache), [], 'the throw-away packages are gone');
    });
}

// --- the real cargo ---------------------------------------------------------------------------------------------------
const real = { CARGO_HOME: '', SYMPOSIUM_CARGO: '', RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(os.homedir(), '.rustup') };
const git = (cwd, ...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd, encoding: 'utf8' });

scenario('PM-16, PM-17: real cargo: a locked git dependency that is not checked out is fetched, and its plugin loaded', async p => {
    const repo = path.join(p.top, 'repo');
    p.crate(path.join(repo, 'crates/tool'), 'tool', '1.2.3', { metadata: 'edition = "2021"\n[package.metadata.symposium]\nname = "t"\n', files: { 'src/lib.rs': '', ...withSkill.files } });
    write(path.join(repo, 'Cargo.toml'), '[workspace]\nmembers = ["crates/*"]\n');
    for (const args of [['init', '-q'], ['add', '.'], ['commit', '-qm', 'x']]) git(repo, ...args);
    p.lock('tool', '1.2.3', `git+file://${repo}?branch=main#${git(repo, 'rev-parse', 'HEAD').trim()}`);
    p.workspace();
    await p.start({ ...real, CARGO_HOME: p.home });
    assert.deepEqual(await p.offers(), [], 'not on the disk yet');
    assert.equal((await refusal(p.pm.ask('fetch', { id: id('tool'), update: 'none' }))).code, -32001);
    const { id: got, root: dir } = await p.pm.ask('fetch', { id: id('tool'), update: 'fetch' });
    assert.deepEqual(got, id('tool', '1.2.3'));
    assert.ok(fs.existsSync(path.join(dir, 'skills/s/SKILL.md')) && dir.startsWith(p.home));
    assert.deepEqual(await p.offers(), [{ id: got, root: dir, manifest: { name: 't', skills: [DEFAULT_GROUP] } }]);
    assert.deepEqual(fs.readdirSync(p.cache), []);
}, { skip: noCargo || noGit });

/** A registry in a directory: index and packed crates, as cargo's `local-registry` sources have them. */
function localRegistry(p, crates) {
    const dir = path.join(p.top, 'registry');
    for (const [name, versions] of Object.entries(crates)) {
        const lines = versions.map(version => {
            const packed = path.join(dir, `${name}-${version}.crate`), from = path.join(p.top, 'packing');
            p.crate(path.join(from, `${name}-${version}`), name, version, { metadata: 'edition = "2021"\n', files: { 'src/lib.rs': '', ...withSkill.files } });
            fs.mkdirSync(dir, { recursive: true });
            execFileSync('tar', ['-czf', packed, '-C', from, `${name}-${version}`]);
            return JSON.stringify({ name, vers: version, deps: [], features: {}, yanked: false, cksum: createHash('sha256').update(fs.readFileSync(packed)).digest('hex') });
        });
        write(path.join(dir, 'index', name.slice(0, 2), name.slice(2, 4), name), lines.join('\n') + '\n');
    }
    write(path.join(p.home, 'config.toml'), `[source.crates-io]\nreplace-with = "here"\n[source.here]\nlocal-registry = ${JSON.stringify(dir)}\n`);
}

scenario('PM-16, PM-17: real cargo: a crate of a registry with embedded skills is fetched by requirement and loaded', async p => {
    localRegistry(p, { widget: ['1.0.0', '1.1.0', '2.0.0'] });
    write(path.join(p.ws, 'Cargo.toml'), '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n');
    await p.start({ ...real, CARGO_HOME: p.home });
    for (const [version, want] of [['1', '1.1.0'], ['==1.0.0', '1.0.0'], ['*', '2.0.0'], ['7', undefined]]) {
        fs.rmSync(path.join(p.home, 'registry'), { recursive: true, force: true });
        const r = await p.pm.ask('fetch', { id: id('widget', version), update: 'check' }).catch(e => e);
        assert.equal(r.id?.version, want, `${version}: ${r.message}`);
        if (!want) assert.equal(r.code, -32001, r.message);
        else assert.deepEqual(await p.pm.ask('load_plugin', { id: r.id }), [{ id: r.id, root: r.root, manifest: { skills: [DEFAULT_GROUP] } }]);
    }
    assert.equal((await refusal(p.pm.ask('fetch', { id: id('gadget'), update: 'check' }))).code, -32001);
}, { skip: noCargo });

scenario('PM-7: in an empty network namespace load_plugin of what is not here says so at once and runs no cargo', async p => {
    p.unpacked('here', '1.0.0', withSkill);
    p.lock('here', '1.0.0');
    p.workspace();
    await p.start({}, { wrap: ['unshare', '-rn'] });
    assert.equal((await p.offers()).length, 1);
    assert.equal((await p.pm.ask('load_plugin', { id: id('here') })).length, 1);
    assert.equal((await refusal(p.pm.ask('load_plugin', { id: id('far') }))).code, -32001);
    assert.ok(!p.cargoRan());
}, { skip: noNamespaces });
