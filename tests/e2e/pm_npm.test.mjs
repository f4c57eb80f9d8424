// SPDX-License-Identifier: MIT OR Apache-2.0
//
// symposium-pm-npm as a program: the protocol on its pipes; its list_deps against `npm ls` over workspaces that npm itself
// installed, and over the packages that these tests use; its fetch with the real npm, from a registry that lives in this
// process (no network). PM-1, PM-7, PM-8, PM-18 to PM-22, PL-30.
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { after, before, test } from 'node:test';
import { basic, bin as symposium, root, scenario, slack, until } from './harness.mjs';
import { said } from './pm.mjs';

const bin = process.env.SYMPOSIUM_PM_NPM ?? path.join(path.dirname(symposium), 'symposium-pm-npm');
const noNpm = spawnSync('npm', ['--version']).status !== 0 && 'npm is not on this machine';
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-npm-')));
after(() => process.env.E2E_KEEP ? console.error('kept', top) : fs.rmSync(top, { recursive: true, force: true }));
const write = (file, content) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, typeof content === 'object' && !Buffer.isBuffer(content) ? JSON.stringify(content, null, 2) : content);
};

/** One process; `ask` resolves with the whole answer. */
class Manager {
    constructor({ workspace, cache, env = {}, cwd = top } = {}) {
        this.child = spawn(bin, [], { stdio: 'pipe', cwd, env: { ...process.env, ...env } });
        this.waiting = new Map();
        this.err = '';
        this.lines = 0;
        let rest = '';
        this.child.stdout.setEncoding('utf8').on('data', d => {
            const parts = (rest + d).split('\n');
            rest = parts.pop();
            for (const line of parts) {
                const m = JSON.parse(line);
                this.lines++;
                this.waiting.get(m.id)?.(m);
                this.waiting.delete(m.id);
            }
        });
        this.child.stderr.setEncoding('utf8').on('data', d => { this.err += d; });
        this.child.on('error', e => { this.err += e.message; });
        this.child.stdin.on('error', () => {});
        this.ended = new Promise(done => this.child.on('close', (status, signal) => {
            for (const answer of this.waiting.values()) answer({ error: { message: `it ended: ${status ?? signal}` } });
            done(status ?? signal);
        }));
        this.next = 1;
        this.hello = this.ask('initialize', { protocol_version: 1, workspace, cache_dir: cache });
    }
    ask(method, params) {
        const id = this.next++;
        this.child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }) + '\n');
        return new Promise(done => this.waiting.set(id, done));
    }
    async result(method, params) {
        const m = await this.ask(method, params);
        assert.equal(m.error, undefined, `${method}: ${JSON.stringify(m.error)}\n${this.err}`);
        return m.result;
    }
    async code(method, params) {
        const m = await this.ask(method, params);
        assert.ok(m.error, `${method}: no error but ${JSON.stringify(m.result)}`);
        return m.error.code;
    }
    async end() {
        this.child.stdin.end();
        assert.equal(await this.ended, 0, this.err);
    }
}
async function using(options, body) {
    const m = new Manager(options);
    try { return await body(m); } finally { await m.end(); }
}
const listDeps = workspace => using({ workspace }, async m => {
    const result = await m.result('list_deps');
    return (Array.isArray(result) ? result : result.deps).map(d => {
        assert.equal(d.pm, 'npm');
        return `${d.name} ${d.version}`;
    });
});
const id = (name, version = '*') => ({ pm: 'npm', name, version });

// --- protocol ---------------------------------------------------------------------------------------------------------
test('PM-1 PM-2 PM-5 PM-6: methods, capabilities, errors; stdin EOF ends it', async () => {
    await using({ workspace: top }, async m => {
        assert.deepEqual((await m.hello).result, { protocol_version: 1, name: 'npm', capabilities: ['search', 'list_deps', 'workspace_info'] });
        assert.deepEqual(await m.result('list_deps'), await m.result('list_deps', {}));
        assert.deepEqual(await m.result('refresh', { update: 'fetch', force: true }), { refreshed: false });
        assert.equal(await m.code('nonsense'), -32601);
        assert.equal(await m.code('active_plugins', { deps: 7 }), -32602);
        assert.equal(await m.code('load_plugin', { id: {} }), -32602);
        assert.equal(await m.code('fetch', { id: id('a'), update: 'sometimes' }), -32602);
        assert.equal(await m.code('search', {}), -32602);
        assert.equal(await m.code('search', { query: 'a\nb' }), -32602);
        assert.deepEqual(await m.result('active_plugins', { deps: [{ pm: 'cargo', name: 'serde', version: '1.0.0' }] }), []);
        assert.deepEqual(await m.result('load_plugin', { id: id('not-there') }), [], 'none is no error');
        assert.equal(await m.code('fetch', { id: id('not-there'), update: 'none' }), -32001);
        assert.equal(await m.code('fetch', { id: id('../../etc'), update: 'fetch' }), -32001);
    });
    await using({}, async m => assert.deepEqual(await m.result('list_deps'), []));
});

test('PM-2 PM-19: workspace_info gives root and members, of npm, yarn and pnpm; nothing where the root has no package.json', async () => {
    const info = workspace => using({ workspace }, m => m.result('workspace_info'));
    const put = (dir, root, pnpm) => {
        const at = path.join(top, dir);
        if (root) write(path.join(at, 'package.json'), root);
        if (pnpm) write(path.join(at, 'pnpm-workspace.yaml'), pnpm);
        for (const d of ['packages/a', 'packages/b', 'packages/skip', 'apps/web']) write(path.join(at, d, 'package.json'), { name: path.basename(d) });
        return at;
    };
    const members = async at => {
        const { workspace } = await info(at);
        assert.equal(workspace.root, at);
        return workspace.members.map(m => path.relative(at, m));
    };
    assert.deepEqual(await members(put('wi-npm', { workspaces: ['packages/*', '!packages/skip'] })), ['packages/a', 'packages/b']);
    assert.deepEqual(await members(put('wi-yarn', { workspaces: { packages: ['apps/*'] } })), ['apps/web']);
    assert.deepEqual(await members(put('wi-pnpm', { name: 'r' }, "packages:\n  - 'packages/*'\n  - '!**/skip'\n  - apps/web\n")), ['apps/web', 'packages/a', 'packages/b']);
    assert.deepEqual(await members(put('wi-none', { name: 'r' })), []);
    assert.deepEqual(await info(put('wi-below')), {}, 'PM-22');
    assert.deepEqual(await info(undefined), {});
    write(path.join(top, 'wi-bad/package.json'), '{');
    await using({ workspace: path.join(top, 'wi-bad') }, async m => assert.equal(await m.code('workspace_info'), -32003));
});

// --- against npm ------------------------------------------------------------------------------------------------------
/** A registry in this process. packages: name -> version -> {manifest, tarball}. */
class Registry {
    constructor() {
        this.packages = new Map();
        this.requests = [];
        this.searches = true;
        this.server = http.createServer((request, response) => this.answer(request, response));
    }
    async start() {
        await new Promise(done => this.server.listen(0, '127.0.0.1', done));
        this.url = `http://127.0.0.1:${this.server.address().port}/`;
        this.env = {
            npm_config_registry: this.url, npm_config_cache: path.join(top, 'npm-cache'), npm_config_userconfig: path.join(top, 'npmrc'),
            npm_config_fetch_retries: '0', HOME: path.join(top, 'home'),
        };
        write(path.join(top, 'npmrc'), '');
        fs.mkdirSync(this.env.HOME, { recursive: true });
    }
    publish(manifest, tarball) {
        const versions = this.packages.get(manifest.name) ?? {};
        versions[manifest.version] = { manifest, tarball };
        this.packages.set(manifest.name, versions);
    }
    answer(request, response) {
        const url = decodeURIComponent(request.url.slice(1));
        this.requests.push(url);
        const send = (code, body) => { response.writeHead(code); response.end(body); };
        const tarball = /^(.+)\/-\/(.+)\.tgz$/.exec(url);
        if (tarball) return send(200, this.packages.get(tarball[1])[tarball[2]].tarball);
        if (url.startsWith('-/v1/search') && this.searches) {
            return send(200, JSON.stringify({ total: 30, objects: Array.from({ length: 30 }, (_, i) => ({
                package: { name: `@s/hit-${i}`, version: `1.0.${i}`, description: i ? `Hit\nnumber ${i}` : undefined, keywords: [], maintainers: [], date: '2026-01-01T00:00:00.000Z' } })) }));
        }
        if (url.startsWith('private')) return send(401, '{"error":"log in"}');
        const versions = this.packages.get(url);
        if (!versions) return send(404, '{"error":"Not found"}');
        const entries = Object.entries(versions).map(([version, { manifest, tarball }]) => [version, {
            ...manifest, dist: { tarball: `${this.url}${url}/-/${version}.tgz`, integrity: 'sha512-' + createHash('sha512').update(tarball).digest('base64') },
        }]);
        return send(200, JSON.stringify({ name: url, 'dist-tags': { latest: entries.at(-1)[0] }, versions: Object.fromEntries(entries) }));
    }
}

/** A tar archive; entries: [path, content or {type, link, content, size}]. */
function tar(entries) {
    const blocks = entries.map(([name, entry]) => {
        const { type = '0', link = '', content = '', size } = typeof entry === 'object' && !Buffer.isBuffer(entry) ? entry : { content: entry };
        const data = Buffer.from(content), h = Buffer.alloc(512);
        h.write(name, 0, 100);
        h.write('0000644', 100);
        h.write((size ?? data.length).toString(8).padStart(11, '0'), 124);
        h.write('        ', 148);
        h.write(type, 156);
        h.write(link, 157, 100);
        h.write('ustar\x0000', 257);
        h.write(h.reduce((a, b) => a + b, 0).toString(8).padStart(6, '0') + '\0', 148);
        return Buffer.concat([h, data, Buffer.alloc((512 - data.length % 512) % 512)]);
    });
    return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
const registry = new Registry();
const publish = (manifest, files = {}) => registry.publish(manifest, zlib.gzipSync(tar([
    ['package/package.json', JSON.stringify(manifest)], ...Object.entries(files).map(([name, text]) => [`package/${name}`, text])])));
const npm = (cwd, ...args) => promisify(execFile)('npm', args, { cwd, env: { ...process.env, ...registry.env }, maxBuffer: 1 << 26 });
before(() => registry.start());
after(() => registry.server.close());

/**
 * What npm says: `npm ls` of the root, flattened over the root and its members; members, extraneous packages and those that
 * are not installed on this system removed. A name is the package's own, also where it is installed under another.
 */
async function oracle(dir, members = []) {
    const { stdout } = await npm(dir, 'ls', '--depth=0', '--json', '--long').catch(e => e);
    const tree = JSON.parse(stdout), places = new Set(members.map(m => path.join(dir, m))), found = new Set();
    const isMember = d => d.path !== undefined && places.has(fs.realpathSync(d.path));
    const walk = deps => Object.values(deps ?? {}).forEach(d => {
        if (isMember(d)) return walkMember(d);
        if (d.version !== undefined && !d.extraneous && !d.missing) found.add(`${d.name} ${d.version}`);
    });
    const seen = new Set();
    const walkMember = d => {
        if (seen.has(d.path)) return;
        seen.add(d.path);
        walk(d.dependencies);
    };
    walk(tree.dependencies);
    return [...found].sort();
}
const bytewise = list => [...list].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** A workspace with every kind of dependency, installed by npm. */
async function workspace(name) {
    const dir = path.join(top, name);
    publish({ name: '@scope/one', version: '1.4.0' });
    publish({ name: '@scope/one', version: '2.0.0' });
    publish({ name: '@long/real-name', version: '4.1.2', dependencies: { transitive: '^1.0.0' } });
    publish({ name: 'left', version: '1.2.0' });
    publish({ name: 'left', version: '2.0.1' });
    publish({ name: 'transitive', version: '1.0.0' });
    publish({ name: 'peer', version: '5.0.0' });
    publish({ name: 'elsewhere', version: '1.0.0', os: ['aix'] });
    publish({ name: 'web', version: '0.1.0' });
    write(path.join(dir, 'package.json'), {
        name: 'root', version: '1.0.0', workspaces: ['packages/*', '!packages/skip', '{tools,apps}/*'],
        dependencies: { '@scope/one': '^1.0.0', left: '^1.0.0', '@app/ui': '*', local: 'file:vendor/local' },
        devDependencies: { short: 'npm:@long/real-name@^4.0.0', tarball: 'file:vendor/@packed-thing-0.3.0.tgz' },
        optionalDependencies: { elsewhere: '1.0.0' },
    });
    write(path.join(dir, 'packages/ui/package.json'), {
        name: '@app/ui', version: '3.0.0', dependencies: { left: '^2.0.0', '@scope/one': '2.x', gen: '^1.0.0' },
        peerDependencies: { peer: '>=5', absent: '*' }, peerDependenciesMeta: { absent: { optional: true } },
    });
    write(path.join(dir, 'packages/skip/package.json'), { name: 'skip', version: '1.0.0', dependencies: { transitive: '1' } });
    write(path.join(dir, 'tools/gen/package.json'), { name: 'gen', version: '1.0.0', devDependencies: { '@app/ui': '3.0.0', left: '1.2.0' } });
    write(path.join(dir, 'apps/web/package.json'), { name: 'web', version: '1.0.0', dependencies: { 'old-web': 'npm:web@0.1.0', local: 'file:../../vendor/local' } });
    write(path.join(dir, 'vendor/local/package.json'), { name: 'really-local', version: '0.0.1' });
    write(path.join(dir, 'vendor/@packed-thing-0.3.0.tgz'), zlib.gzipSync(tar([['package/package.json', JSON.stringify({ name: '@packed/thing', version: '0.3.0' })]])));
    return { dir, members: ['packages/ui', 'tools/gen', 'apps/web'] };
}

test('PM-19: in a workspace that npm installed the list is that of npm ls', { skip: noNpm, timeout: 120000 * slack }, async () => {
    for (const version of [3, 2, 1]) {
        const { dir, members } = await workspace(`ls-${version}`);
        await npm(dir, 'install', '--no-audit', '--no-fund', `--lockfile-version=${version}`);
        const lock = JSON.parse(fs.readFileSync(path.join(dir, 'package-lock.json')));
        assert.equal(lock.lockfileVersion, version);
        write(path.join(dir, 'node_modules/extraneous/package.json'), { name: 'extraneous', version: '1.0.0' });
        const want = await oracle(dir, members);
        assert.deepEqual(want, bytewise(['@long/real-name 4.1.2', '@packed/thing 0.3.0', '@scope/one 1.4.0', '@scope/one 2.0.0', 'left 1.2.0', 'left 2.0.1',
            'peer 5.0.0', 'really-local 0.0.1', 'web 0.1.0']), 'the measure itself');
        // One that is made for another system is in the lockfile, and not on the disk.
        const elsewhere = 'elsewhere 1.0.0';
        if (version > 1) assert.deepEqual(await listDeps(dir), bytewise([...want, elsewhere]), `lockfile version ${version}`);
        fs.rmSync(path.join(dir, 'package-lock.json'));
        assert.deepEqual(await listDeps(dir), bytewise([...want, 'elsewhere *']), 'from node_modules alone');
    }
});

test('PM-19: over the packages of these tests the list is that of npm ls', { skip: noNpm, timeout: 60000 * slack }, async t => {
    const dir = path.join(root, '.deps/npm');
    if (!fs.existsSync(path.join(dir, 'node_modules'))) return t.skip('no packages: run tools/setup test');
    const ours = await listDeps(dir), theirs = await oracle(dir);
    assert.ok(theirs.filter(d => d.startsWith('@')).length > 10, 'scoped ones');
    assert.deepEqual(ours.filter(d => !d.startsWith('node-linux-')), bytewise(theirs.filter(d => !d.startsWith('node-linux-'))));
});

// --- plugins ----------------------------------------------------------------------------------------------------------
test('PM-20 PL-30: installed packages that embed something are offered, with their layers merged', async () => {
    const dir = path.join(top, 'offers'), modules = path.join(dir, 'node_modules');
    const skill = '---\nname: s\ndescription: d\n---\n';
    const put = (name, more, files = {}) => {
        write(path.join(modules, name, 'package.json'), { name, version: '1.0.0', ...more });
        for (const [file, text] of Object.entries(files)) write(path.join(modules, name, file), text);
    };
    put('plain');
    put('with-file', {}, { 'SYMPOSIUM.toml': 'depends-on = ["plain"]\n' });
    put('@s/with-object', { symposium: { 'depends-on': '*', skills: [{ source: { path: 'more' } }] } });
    put('with-both', { symposium: { name: 'first', predicates: ['env(A)'] } }, { 'SYMPOSIUM.toml': 'name = "second"\npredicates = ["env(B)"]\n[defaults]\nskills = false\n' });
    put('with-skill', {}, { 'skills/deep/er/SKILL.md': skill });
    put('with-broken-object', { symposium: 7 });
    put('with-broken-file', {}, { 'SYMPOSIUM.toml': '[[[' });
    write(path.join(dir, 'm/package.json'), { name: 'member', version: '1.0.0' });
    write(path.join(dir, 'm/SYMPOSIUM.toml'), '');
    fs.symlinkSync('../m', path.join(modules, 'member'));
    write(path.join(top, 'offers-linked/package.json'), { name: 'linked', version: '1.0.0' });
    write(path.join(top, 'offers-linked/SYMPOSIUM.toml'), '');
    fs.symlinkSync('../../offers-linked', path.join(modules, 'linked'));
    const names = ['plain', 'with-file', '@s/with-object', 'with-both', 'with-skill', 'with-broken-object', 'with-broken-file', 'member', 'linked', 'absent'];
    write(path.join(dir, 'package.json'), { name: 'root', workspaces: ['m'], dependencies: Object.fromEntries(names.map(n => [n, '*'])) });
    await using({ workspace: dir }, async m => {
        const deps = await m.result('list_deps');
        const offers = await m.result('active_plugins', { deps: deps.deps });
        const by = Object.fromEntries(offers.map(o => [o.id.name, o]));
        assert.deepEqual(Object.keys(by).sort(), ['@s/with-object', 'linked', 'with-both', 'with-broken-file', 'with-file', 'with-skill']);
        assert.deepEqual(by['with-file'].id, id('with-file', '1.0.0'));
        assert.equal(by['with-file'].root, path.join(modules, 'with-file'));
        assert.equal(by.linked.root, path.join(top, 'offers-linked'), 'the real path');
        assert.deepEqual(by['with-both'].manifest, { name: 'second', predicates: ['env(A)', 'env(B)'], defaults: { skills: false } });
        assert.deepEqual(by['@s/with-object'].manifest.skills.map(s => s.source.path.replace(/\/$/, '')), ['more', 'skills']);
        assert.deepEqual(by['with-skill'].manifest.skills.map(s => s.source.path.replace(/\/$/, '')), ['skills']);
        assert.equal((await m.result('load_plugin', { id: id('plain') })).length, 1, 'by name also what embeds nothing');
        assert.deepEqual(await m.result('load_plugin', { id: id('plain', '^2') }), []);
        assert.deepEqual(await m.result('fetch', { id: id('with-file', '>=1'), update: 'none' }), { id: id('with-file', '1.0.0'), root: path.join(modules, 'with-file') });
        assert.equal(await m.code('fetch', { id: id('with-file', '2.0.0'), update: 'none' }), -32001);
        await said(m, /with-broken-file/);
    });
});

// --- npm as a child ---------------------------------------------------------------------------------------------------
test('PM-21 PM-5: search asks npm, the first ten; a network that fails is -32002, a registry that says no is not', { skip: noNpm, timeout: 60000 * slack }, async () => {
    await using({ env: registry.env }, async m => {
        const hits = await m.result('search', { query: 'hit' });
        assert.equal(hits.length, 10);
        assert.deepEqual(hits[0], { id: id('@s/hit-0', '1.0.0') });
        assert.deepEqual(hits[1], { id: id('@s/hit-1', '1.0.1'), description: 'Hit number 1' });
    });
    await using({ env: { ...registry.env, npm_config_registry: 'http://127.0.0.1:9/' } }, async m =>
        assert.equal(await m.code('search', { query: '--version' }), -32002));
    registry.searches = false;
    await using({ env: registry.env }, async m => assert.equal(await m.code('search', { query: 'x' }), -32001));
    registry.searches = true;
});

test('PM-21 PM-7: fetch packs, unpacks into the cache, and never asks twice', { skip: noNpm, timeout: 120000 * slack }, async () => {
    const cache = path.join(top, 'cache'), ran = path.join(top, 'script-ran');
    const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepack', 'prepare', 'postpack'].map(s => [s, `touch ${ran}`]));
    publish({ name: '@s/plugin', version: '1.0.0', scripts }, { 'SYMPOSIUM.toml': 'name = "it"\n', 'bin/run': '#!/bin/sh\n' });
    publish({ name: '@s/plugin', version: '1.5.0', scripts }, { 'skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\n' });
    publish({ name: '@s/plugin', version: '2.0.0' });
    await using({ cache, env: registry.env }, async m => {
        assert.equal(await m.code('fetch', { id: id('@s/plugin', '1.0.0'), update: 'none' }), -32001);
        const got = await m.result('fetch', { id: id('@s/plugin', '1.0.0'), update: 'check' });
        assert.deepEqual(got.id, id('@s/plugin', '1.0.0'));
        assert.ok(got.root.startsWith(cache + '/'));
        assert.equal(fs.readFileSync(path.join(got.root, 'SYMPOSIUM.toml'), 'utf8'), 'name = "it"\n');
        await said(m, /progress: fetching @s\/plugin@1\.0\.0 \(npm pack\)/);
        assert.equal((await m.result('fetch', { id: id('@s/plugin', '^1.1'), update: 'fetch' })).id.version, '1.5.0', 'a requirement gives the highest that fits');
        assert.equal((await m.result('fetch', { id: id('@s/plugin', '*'), update: 'check' })).id.version, '1.5.0', 'any fits: what is here');
        assert.equal((await m.result('fetch', { id: id('@s/plugin', '*'), update: 'fetch' })).id.version, '2.0.0');
        const before = registry.requests.length;
        assert.deepEqual(await m.result('fetch', { id: id('@s/plugin', '1.0.0'), update: 'fetch' }), got, 'same id, same content');
        assert.deepEqual(await m.result('fetch', { id: id('@s/plugin', '==1.0.0'), update: 'none' }), got);
        assert.equal((await m.result('load_plugin', { id: id('@s/plugin', '1.0.0') }))[0].manifest.name, 'it');
        assert.equal(registry.requests.length, before, 'no network');
        publish({ name: 'loaded', version: '1.0.0' }, { 'SYMPOSIUM.toml': 'name = "by-load"\n' });
        assert.deepEqual(await m.result('load_plugin', { id: id('loaded'), update: 'none' }), []);
        assert.equal((await m.result('load_plugin', { id: id('loaded'), update: 'check' }))[0].manifest.name, 'by-load');
        assert.equal(await m.code('fetch', { id: id('@s/plugin', '>=3'), update: 'fetch' }), -32001);
        assert.equal(await m.code('fetch', { id: id('no-such-package'), update: 'fetch' }), -32001);
        assert.equal(await m.code('fetch', { id: id('private'), update: 'fetch' }), -32004);
        assert.equal(await m.code('fetch', { id: id('@s/plugin', 'latest'), update: 'fetch' }), -32003);
        assert.ok(!fs.existsSync(ran), 'no script of a package runs');
        assert.deepEqual(fs.readdirSync(path.join(cache, 'plugins/npm')), ['@s', 'loaded'], 'nothing temporary stays');
    });
    await using({ cache, env: { ...registry.env, npm_config_registry: 'http://127.0.0.1:9/' } }, async m =>
        assert.equal(await m.code('fetch', { id: id('other'), update: 'fetch' }), -32002));
    await using({ cache, env: { PATH: '/nonexistent' } }, async m => {
        for (const [method, params] of [['fetch', { id: id('other'), update: 'fetch' }], ['load_plugin', { id: id('other'), update: 'check' }], ['search', { query: 'x' }]]) {
            const { error } = await m.ask(method, params);
            assert.equal(error?.code, -32005, method);
            assert.match(error.message, /cannot execute 'npm': no such program in PATH; install Node\.js/);
        }
    });
});

test('PM-21: what a killed run left is removed by the next fetch, and nothing else', { timeout: 30000 * slack }, async () => {
    const cache = path.join(top, 'cache-sweep'), home = path.join(cache, 'plugins/npm'), old = new Date(Date.now() - 7200e3);
    const put = (name, time) => { write(path.join(home, name, 'package/deep/file'), 'x'); fs.utimesSync(path.join(home, name), time, time); };
    put('.fetch-AAAAAA', old);
    put('.fetch-BBBBBB', new Date());
    put('.fetch-toolong1', old);
    put('kept', old);
    fs.symlinkSync(path.join(home, 'kept'), path.join(home, '.fetch-CCCCCC'));
    await using({ cache, env: fakeNpm('sweeper', 'exit 1') }, async m => { await m.code('fetch', { id: id('x'), update: 'fetch' }); });
    assert.deepEqual(fs.readdirSync(home).sort(), ['.fetch-BBBBBB', '.fetch-CCCCCC', '.fetch-toolong1', 'kept']);
    assert.ok(fs.existsSync(path.join(home, 'kept/package/deep/file')));
});

test('PM-21: a workspace tells npm nothing: its .npmrc is not read', { skip: noNpm, timeout: 60000 * slack }, async () => {
    const dir = path.join(top, 'clone');
    write(path.join(dir, 'package.json'), { name: 'clone' });
    write(path.join(dir, '.npmrc'), 'registry=http://127.0.0.1:9/\ncache=/nonexistent/cache\n');
    publish({ name: 'honest', version: '1.0.0' });
    await using({ workspace: dir, cwd: dir, cache: path.join(top, 'cache'), env: registry.env }, async m => {
        assert.equal((await m.result('fetch', { id: id('honest'), update: 'fetch' })).id.version, '1.0.0');
        assert.equal((await m.result('search', { query: 'hit' })).length, 10);
    });
});

test('PM-21: hostile archives are refused whole, and nothing of them stays', { skip: noNpm, timeout: 240000 * slack }, async () => {
    const cache = path.join(top, 'cache-hostile'), manifest = name => ['package/package.json', JSON.stringify({ name, version: '1.0.0' })];
    const cases = {
        absolute: [['/tmp/symposium-out', 'x']],
        'dot-dot': [['package/../../../../../out', 'x']],
        symlink: [['package/l', { type: '2', link: '/etc' }], ['package/l/x', 'x']],
        hardlink: [['package/l', { type: '1', link: '/etc/passwd' }]],
        device: [['package/d', { type: '3' }]],
        'other-name': [['package/package.json', JSON.stringify({ name: 'trusted', version: '1.0.0' })]],
        'other-version': [['package/package.json', JSON.stringify({ name: 'other-version', version: '9.0.0' })]],
    };
    for (const [name, entries] of Object.entries(cases))
        registry.publish({ name, version: '1.0.0' }, zlib.gzipSync(tar([manifest(name), ...entries])));
    await using({ cache, env: registry.env }, async m => {
        for (const name of Object.keys(cases)) {
            const answer = await m.ask('fetch', { id: id(name, '1.0.0'), update: 'fetch' });
            assert.ok(answer.error, `${name}: ${JSON.stringify(answer)}`);
            assert.equal(answer.error.code, -32003, `${name}: ${JSON.stringify(answer.error)}`);
        }
        assert.deepEqual(fs.readdirSync(path.join(cache, 'plugins/npm')), []);
    });
    assert.ok(!fs.existsSync(path.join(top, 'out')) && !fs.existsSync('/tmp/symposium-out'));
});

/** A directory with an `npm` that is this shell script. */
function fakeNpm(name, script) {
    const file = path.join(top, name, 'npm');
    write(file, `#!/bin/sh\n${script}`);
    fs.chmodSync(file, 0o755);
    return { PATH: `${path.dirname(file)}:${process.env.PATH}` };
}

test('PM-21: a bomb of gzip is cut off, and half an archive is none', { timeout: 60000 * slack }, async () => {
    // Members of gzip one behind the other are one stream: a header that promises 300 MiB, and 512 MiB of zeros.
    const start = tar([['package/zeros', { size: 300 << 20 }]]).subarray(0, -1024), zeros = zlib.gzipSync(Buffer.alloc(64 << 20));
    const whole = zlib.gzipSync(tar([['package/package.json', '{"name":"bomb","version":"1.0.0"}']]));
    const archives = { bomb: Buffer.concat([zlib.gzipSync(start), ...Array(8).fill(zeros)]), cut: whole.subarray(0, -20), empty: '', odd: 'no gzip', whole };
    const cache = path.join(top, 'cache-bomb');
    for (const [name, archive] of Object.entries(archives)) {
        const file = path.join(top, `${name}.tgz`);
        write(file, archive);
        const env = fakeNpm(name, `for a; do case $a in --pack-destination=*) cp ${file} "\${a#*=}/bomb-1.0.0.tgz";; esac; done\n`);
        await using({ cache, env }, async m => {
            const { error } = await m.ask('fetch', { id: id('bomb'), update: 'fetch' });
            assert.ok(name === 'whole' ? !error : [-32003, -32002].includes(error?.code), `${name}: ${JSON.stringify(error)}`);
            assert.deepEqual(fs.readdirSync(path.join(cache, 'plugins/npm')), error ? [] : ['bomb']);
        });
    }
});

test('PM-9 PM-21: npm that hangs is ended with us, and its answer is not waited for', { timeout: 30000 * slack }, async () => {
    const pidFile = path.join(top, 'fake-pid');
    const env = fakeNpm('sleeper', `echo $$ >${pidFile}.new && mv ${pidFile}.new ${pidFile}\nexec sleep 1000\n`);
    const m = new Manager({ cache: path.join(top, 'cache'), env });
    const answer = m.ask('fetch', { id: id('x'), update: 'fetch' });
    await until('npm runs', () => fs.existsSync(pidFile), 5000);
    assert.deepEqual(await m.result('list_deps'), [], 'others are answered meanwhile');
    await m.end();
    assert.equal((await answer).error.code, -32002);
    const pid = Number(fs.readFileSync(pidFile, 'utf8'));
    assert.ok(!fs.existsSync(`/proc/${pid}`) || /\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1')), 'nothing is left');
});

// --- with the meta-server ---------------------------------------------------------------------------------------------
scenario('PM-11 PL-20 PM-19: it is asked without any configuration; a gate on a scoped package holds', async place => {
    assert.ok(fs.existsSync(bin), `${bin} is built`);
    place.write('work/package.json', JSON.stringify({ name: 'work', workspaces: ['m'], dependencies: { '@s/a': '^1', nick: 'npm:real@^2' } }));
    place.write('work/m/package.json', JSON.stringify({ name: 'm', devDependencies: { b: '1' } }));
    place.write('work/package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: {
        'node_modules/@s/a': { version: '1.2.0' }, 'node_modules/nick': { name: 'real', version: '2.0.0' }, 'node_modules/b': { version: '1.0.0' }, 'node_modules/deep': { version: '1.0.0' } } }));
    const gate = (name, atom) => place.plugin(name, [place.peer(name, basic())], { 'depends-on': [atom] });
    gate('scoped', 'npm:@s/a>=1.1');
    gate('alias', 'real');
    gate('ofmember', 'b');
    gate('old', '@s/a<1');
    gate('member', 'm');
    gate('nickname', 'nick');
    gate('transitive', 'deep');
    const s = await place.open();
    const names = (await s.list()).split('\nProblems:')[0].split('\n').filter(l => /^\S.*:$/.test(l)).map(l => l.slice(0, -1));
    assert.deepEqual(names, ['alias', 'ofmember', 'scoped']);
});
