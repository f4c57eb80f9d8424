// SPDX-License-Identifier: MIT OR Apache-2.0
//
// symposium-pm-cargo as a program: the protocol on its pipes, and its list_deps against cargo itself, over generated
// workspaces whose crates come from a directory next to them (no network). PM-1, PM-8, PM-15.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const bin = process.env.SYMPOSIUM_PM_CARGO ?? path.join(root, 'build/symposium-pm-cargo');
const works = (program, ...args) => spawnSync(program, args).status === 0;
const noCargo = !works('cargo', '--version') && 'cargo is not on this machine';
const seeds = Number(process.env.SEEDS ?? 16);           // half a second each
const notSlow = !process.env.TEST_SLOW && 'needs the network: only with --slow';
const haveGit = works('git', '--version');

/** Runs the program over these lines; gives its answers, stderr and exit status. */
function talk(lines, wrap = []) {
    return new Promise((done, failed) => {
        const [program, ...args] = [...wrap, bin];
        const child = spawn(program, args, { stdio: 'pipe' });
        let out = '', err = '';
        child.stdout.on('data', d => { out += d; });
        child.stderr.on('data', d => { err += d; });
        child.on('error', failed);
        child.on('close', status => done({ answers: out.split('\n').filter(Boolean).map(l => JSON.parse(l)), err, status }));
        child.stdin.end(lines.map(l => (typeof l === 'string' ? l : JSON.stringify(l)) + '\n').join(''));
    });
}
const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) });
const hello = workspace => request(1, 'initialize', { protocol_version: 1, workspace });

async function listDeps(workspace, wrap) {
    const { answers, err, status } = await talk([hello(workspace), request(2, 'list_deps')], wrap);
    assert.equal(status, 0, err);
    assert.equal(answers[1].error, undefined, JSON.stringify(answers[1]));
    const result = answers[1].result;
    return (Array.isArray(result) ? result : result.deps).map(d => {
        assert.equal(d.pm, 'cargo');
        return `${d.name} ${d.version}`;
    });
}

// --- protocol ---------------------------------------------------------------------------------------------------------
test('PM-1, PM-2, PM-8: one answer a request; malformed lines are logged and ignored; the end of stdin is the end', async () => {
    const { answers, err, status } = await talk([
        request(0, 'list_deps'),                        // before initialize
        'this is no JSON',
        '[1]',
        '{"id":3,"method":"list_deps"}',                // no "jsonrpc"
        request(1, 'initialize', { protocol_version: 1 }),
        request(2, 'initialize', { protocol_version: 1 }),
        { jsonrpc: '2.0', method: 'cancelled' },        // a notification
        request('four', 'list_deps'),
        request(5, 'workspace_info'),
        request(6, 'fetch', {}),
    ]);
    assert.equal(status, 0);
    assert.deepEqual(answers.map(a => [a.id, a.error?.code ?? a.result]), [
        [0, -32600],
        [1, { protocol_version: 1, name: 'cargo', capabilities: ['search', 'list_deps'] }],
        [2, -32600],
        ['four', []],
        [5, -32601],
        [6, -32602],
    ]);
    assert.equal(err.split('line ignored').length - 1, 3, err);
});

test('PM-5: wrong parameters are -32602, a malformed root manifest is -32003', async () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-pm-'));
    fs.writeFileSync(path.join(dir, 'Cargo.toml'), '[package\n');
    const bad = await talk([request(1, 'initialize', { workspace: 7 })]);
    assert.equal(bad.answers[0].error.code, -32602);
    const broken = await talk([hello(dir), request(2, 'list_deps')]);
    assert.equal(broken.answers[1].error.code, -32003);
    assert.match(broken.answers[1].error.message, /Cargo\.toml.*line 1/);
    fs.rmSync(dir, { recursive: true });
});

test('a line without newline at the end of stdin still counts', async () => {
    const child = spawn(bin, [], { stdio: 'pipe' });
    let out = '';
    child.stdout.on('data', d => { out += d; });
    child.stdin.end(JSON.stringify(hello(undefined)));
    await new Promise(done => child.on('close', done));
    assert.equal(JSON.parse(out).result.name, 'cargo');
});

// --- against cargo ----------------------------------------------------------------------------------------------------
/** A small generator with a seed, so that a failure can be repeated. */
function dice(seed) {
    let x = seed * 2654435761 >>> 0 || 1;
    const next = () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return x; };
    return {
        below: n => next() % n,
        chance: percent => next() % 100 < percent,
        pick: list => list[next() % list.length],
    };
}

const write = (file, text) => { fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, text); };
const depLine = (name, spec) => `${name} = { ${Object.entries(spec).map(([k, v]) => `${k} = ${JSON.stringify(v)}`).join(', ')} }`;

class Generated {
    constructor(seed) {
        this.d = dice(seed);
        this.top = fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-pm-'));
        this.root = path.join(this.top, 'root');
        this.crates = [];                               // of the directory registry: [name, version]
        this.external = [];                             // path packages outside the workspace
        this.members = [];                              // { name, dir }
        this.vendor();
        this.outside();
        this.inside();
    }

    package(dir, name, version, tables) {
        const rust = this.old ? 'rust-version = "1.70"\n' : '';
        write(path.join(dir, 'Cargo.toml'), `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2018"\n${rust}\n${tables}`);
        write(path.join(dir, 'src/lib.rs'), '');
    }

    vendor() {
        const { d } = this;
        for (let i = 0; i < 12; i++) {
            for (const version of new Set([`1.${d.below(3)}.0`, ...(d.chance(50) ? [`2.0.${d.below(3)}`] : [])])) {
                const below = this.crates.filter(c => c[0] !== `crate-${i}`);
                const deps = below.length && d.chance(50) ? [d.pick(below)] : [];
                const dir = path.join(this.top, 'vendor', `crate-${i}-${version}`);
                this.package(dir, `crate-${i}`, version, `[dependencies]\n${deps.map(([n, v]) => `${n} = "${v[0]}"\n`).join('')}`);
                write(path.join(dir, '.cargo-checksum.json'), '{"files":{}}');
                this.crates.push([`crate-${i}`, version]);
            }
        }
        write(path.join(this.top, 'cargo/config.toml'),
            `[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = ${JSON.stringify(path.join(this.top, 'vendor'))}\n`);
    }

    outside() {
        for (let i = 0; i < 2; i++) {
            const dir = path.join(this.top, `ext-${i}`);
            this.package(dir, `ext-${i}`, `0.${i}.7`, '');
            this.external.push({ name: `ext-${i}`, dir });
        }
        if (!haveGit) return;
        this.repo = path.join(this.top, 'repo');
        this.package(this.repo, 'from-git', '3.2.1', '');
        for (const args of [['init', '-q', '-b', 'main'], ['add', '.'], ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'x']])
            execFileSync('git', args, { cwd: this.repo });
    }

    /** One dependency of the member in `dir`, as a line of its table; `shared` collects [workspace.dependencies]. */
    dependency(dir, n, shared) {
        const { d } = this, spec = {};
        let name;
        const kind = d.below(10);
        if (kind === 0 && this.external.length) {
            const ext = d.pick(this.external);
            [name, spec.path] = [ext.name, path.relative(dir, ext.dir)];
        } else if (kind <= 2 && this.members.length) {
            const member = d.pick(this.members);
            [name, spec.path] = [member.name, path.relative(dir, member.dir)];
        } else if (kind === 3 && this.repo) {
            [name, spec.git] = ['from-git', 'file://' + this.repo];
            if (d.chance(50)) spec.branch = 'main';
        } else {
            const crate = d.pick(this.crates);
            [name, spec.version] = [crate[0], d.chance(50) ? crate[1] : crate[1][0]];
        }
        const key = d.chance(30) ? `alias-${n}` : name;
        if (key !== name) spec.package = name;
        if (shared && d.chance(25)) {
            const here = { ...spec, ...(spec.path && { path: path.relative(this.root, path.resolve(dir, spec.path)) }) };
            const sharedKey = key === name ? `${name}` : key;
            if (!shared.has(sharedKey)) {
                shared.set(sharedKey, here);
                return [sharedKey, { workspace: true }];
            }
        }
        return [key, spec];
    }

    tables(dir, shared) {
        const { d } = this, names = ['dependencies', 'dev-dependencies', 'build-dependencies'];
        const kinds = [...names, ...names.map(n => `target.'cfg(windows)'.${n}`), 'target.x86_64-unknown-none.dependencies'];
        const used = new Set();
        let text = '', n = 0;
        for (const table of kinds) {
            if (!d.chance(45)) continue;
            const lines = [];
            for (let i = d.below(3); i >= 0; i--) {
                const [key, spec] = this.dependency(dir, n++, shared);
                const real = spec.package ?? (spec.workspace ? shared.get(key).package ?? key : key);
                if (used.has(key) || used.has(real + (spec.git ?? spec.path ?? ''))) continue;   // cargo wants one source a name
                used.add(key).add(real + (spec.git ?? spec.path ?? ''));
                if (!table.includes('dev') && d.chance(20)) spec.optional = true;
                lines.push(depLine(key, spec));
            }
            text += `[${table}]\n${lines.join('\n')}\n\n`;
        }
        return text;
    }

    inside() {
        const { d } = this;
        this.single = d.chance(15);
        this.old = d.chance(30);                        // an old rust-version makes cargo write lock format 3
        const shared = this.single ? null : new Map();
        const dirs = this.single ? [] : ['crates/a', 'crates/b', 'tools/deep/c', 'hidden/d', 'plain'].filter(() => d.chance(75));
        for (const dir of dirs) {
            const at = path.join(this.root, dir), name = `m-${path.basename(dir)}`;
            this.package(at, name, `0.1.${d.below(5)}`, this.tables(at, shared));
            this.members.push({ name, dir: at });
        }
        this.package(path.join(this.root, 'excluded/e'), 'm-e', '0.9.0', '');
        if (d.chance(50)) this.external.push({ name: 'm-e', dir: path.join(this.root, 'excluded/e') });
        const own = this.single || d.chance(50) ? this.tables(this.root, shared) : null;
        let text = '';
        if (!this.single) {
            const globs = ['crates/*', 'tools/**/c', 'plain'].filter(g => dirs.some(x => x.startsWith(g.split('/')[0])));
            text += `[workspace]\nresolver = "${d.pick(['1', '2'])}"\nmembers = ${JSON.stringify(globs)}\nexclude = ["excluded"]\n\n`;
            text += `[workspace.dependencies]\n${[...shared].map(([k, v]) => depLine(k, v)).join('\n')}\n\n`;
        }
        if (d.chance(30)) {
            const [name] = d.pick(this.crates), dir = path.join(this.top, 'patch', name);
            this.package(dir, name, '1.99.0', '');
            text += `[patch.crates-io]\n${name} = { path = ${JSON.stringify(dir)} }\n\n`;
        }
        if (own === null) write(path.join(this.root, 'Cargo.toml'), text);
        else this.package(this.root, 'm-root', '1.0.0', own + text);
        write(path.join(this.root, 'excluded/.keep'), '');
    }

    metadata() {
        return spawnSync('cargo', ['metadata', '--format-version', '1', '--all-features'], {
            cwd: this.root,
            env: { ...process.env, CARGO_HOME: path.join(this.top, 'cargo'), RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(os.homedir(), '.rustup') },
            encoding: 'utf8',
            maxBuffer: 1 << 26,
        });
    }
    end() { fs.rmSync(this.top, { recursive: true, force: true }); }
}

/** What cargo says: the direct dependencies of all members, members themselves left out. */
function oracle(text) {
    const meta = JSON.parse(text), members = new Set(meta.workspace_members);
    const byId = new Map(meta.packages.map(p => [p.id, `${p.name} ${p.version}`]));
    const direct = meta.resolve.nodes.filter(n => members.has(n.id)).flatMap(n => n.dependencies).filter(id => !members.has(id));
    return [...new Set(direct.map(id => byId.get(id)))].sort();
}

test('PM-15: list_deps names what cargo resolves for the members, with and without a lockfile', { skip: noCargo }, async t => {
    let compared = 0, packages = 0;
    const formats = new Set();
    for (let seed = 1; seed <= seeds; seed++) {
        const g = new Generated(seed);
        try {
            const unlocked = await listDeps(g.root);
            const { status, stdout } = g.metadata();
            if (status !== 0) continue;                 // a combination that cargo refuses
            const want = oracle(stdout);
            const locked = await listDeps(g.root);
            assert.deepEqual(locked, want, `seed ${seed}: ${g.top}`);
            assert.deepEqual(unlocked, [...new Set(want.map(w => w.split(' ')[0] + ' *'))].sort(), `seed ${seed}, no lockfile`);
            formats.add(/^version = (\d)/m.exec(fs.readFileSync(path.join(g.root, 'Cargo.lock'), 'utf8'))?.[1]);
            packages += want.length;
            compared++;
        } finally {
            if (!process.env.KEEP) g.end();
        }
    }
    t.diagnostic(`${compared} workspaces with ${packages} direct dependencies compared, lock formats ${[...formats].sort().join(', ')}`);
    assert.ok(compared >= seeds / 2 && packages > 3 * compared, `only ${compared} of the generated workspaces are ones that cargo accepts`);
});

test('PM-7, PM-15: ten crates of the public registry, listed from manifests and Cargo.lock alone, without a network', { skip: noCargo || notSlow }, async t => {
    const top = fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-pm-')), ws = path.join(top, 'ws');
    const member = (name, tables) => {
        write(path.join(ws, name, 'Cargo.toml'), `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n\n${tables}`);
        write(path.join(ws, name, 'src/lib.rs'), '');
    };
    write(path.join(ws, 'Cargo.toml'), '[workspace]\nresolver = "2"\nmembers = ["*"]\nexclude = ["target"]\n\n[workspace.dependencies]\nanyhow = "1"\n');
    member('one', `[dependencies]\nserde = { version = "1", features = ["derive"] }\njson = { package = "serde_json", version = "1" }\nanyhow.workspace = true\n
[target.'cfg(windows)'.dependencies]\nonce_cell = "1"\n`);
    member('two', '[dependencies]\none = { path = "../one" }\nsemver = { version = "1", optional = true }\nbitflags = "1"\n\n[dev-dependencies]\nbitflags2 = { package = "bitflags", version = "2" }\n');
    member('three', '[dependencies]\nanyhow.workspace = true\ncfg-if = "1"\nitoa = "1"\n\n[build-dependencies]\nlibc = "0.2"\nlog = "0.4"\n');
    try {
        const { status, stdout, stderr } = spawnSync('cargo', ['metadata', '--format-version', '1', '--all-features'], {
            cwd: ws, encoding: 'utf8', maxBuffer: 1 << 27, timeout: 120000,
            env: { ...process.env, CARGO_HOME: path.join(top, 'cargo'), RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(os.homedir(), '.rustup') },
        });
        if (status !== 0) return t.skip(`the registry cannot be reached: ${stderr?.trim().split('\n').at(-1)}`);
        fs.rmSync(path.join(top, 'cargo'), { recursive: true });
        const list = await listDeps(ws, works('unshare', '-rn', 'true') ? ['unshare', '-rn'] : []);
        assert.deepEqual(list, oracle(stdout));
        assert.equal(new Set(list.map(l => l.split(' ')[0])).size, 10, list.join(', '));
    } finally {
        fs.rmSync(top, { recursive: true, force: true });
    }
});
