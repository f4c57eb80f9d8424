// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the tests of init, sync, use, status and plugin share: a configuration without the network's registry, the whole of a
// Place's files as text, runs with --json, and runs on a terminal.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { bin, node, root, run, sanitized, toml } from './harness.mjs';

const pm = path.join(root, 'tests/peers/pm.mjs');

/**
 * A real agent's program, as tools/agents installs it (`./dev test`: qwen and opencode; --slow: all that tests ask for), and why a
 * test that needs it is to be skipped: false when it is there.
 */
export const realAgents = process.env.SYMPOSIUM_REAL_AGENTS ?? path.join(root, '.build/agents');
export const realAgent = name => path.join(realAgents, 'node_modules/.bin', name);
export const noAgent = name => !fs.existsSync(realAgent(name)) ? `${name} is not installed ('tools/agents ${name}' does it)`
    : sanitized && !process.env.TEST_SLOW && 'real agents meet the release build, and every build in the slow suite';

/** config.toml: these agents, package managers (scripts of tests/peers/pm.mjs, see catalog()), [plugins], and more text. */
export function configure(place, { agents = [], pms = [], plugins = {}, top = {}, more = '' } = {}) {
    return place.write('symposium/config.toml', `${toml(top)}${agents.map(a => `[[agent]]\nname = "${a}"\n`).join('')}
[defaults]\nsymposium-recommendations = false\n\n[plugins]\n${toml(plugins)}${
    pms.map(name => `\n[[package-manager]]\n${toml({ name, executable: node, args: [pm, name, place.path(`pms/${name}`)] })}`).join('')}${more}`);
}
export const catalog = (place, what, name = 'fake') => place.write(`pms/${name}`, JSON.stringify(what));
export const asked = (place, name = 'fake') => place.lines(`pms/${name}.log`);

/** A package on disk. */
export function store(place, name, files = {}) {
    const dir = place.path('store', name);
    fs.mkdirSync(dir, { recursive: true });
    for (const [file, text] of Object.entries(files)) place.write(path.join('store', name, file), text);
    return dir;
}
export const id = (name, version = '1.0.0', of = 'fake') => ({ pm: of, name, version });
export const offer = (place, name, manifest = {}, files = {}, version = '1.0.0') =>
    ({ id: id(name, version), root: store(place, name, files), manifest });

export const skill = (name, more = '') => `---\nname: ${name}\ndescription: About ${name}\n${more}---\nbody of ${name}\n`;

/** A registry's plugin with a skill, active everywhere. */
export function skilled(place, plugin, names, head = 'depends-on = ["*"]') {
    place.write(`symposium/plugins/${plugin}/SYMPOSIUM.toml`, `name = "${plugin}"\n${head}\n[[skills]]\nsource.path = "skills"\n`);
    for (const n of names) place.write(`symposium/plugins/${plugin}/skills/${n}/SKILL.md`, skill(n));
}

/** {path: text, mode, mtime} of everything below the Place but caches, logs and locks. */
export function files(place, { times = false } = {}) {
    const found = {};
    const walk = rel => {
        for (const e of fs.readdirSync(place.path(rel), { withFileTypes: true })) {
            const p = path.join(rel, e.name);
            if (/^symposium\/(cache|logs|state)$/.test(p) || p === 'home/.rustup') continue;
            if (e.isDirectory()) walk(p);
            else found[p] = times ? `${fs.statSync(place.path(p), { bigint: true }).mtimeNs}` : e.isSymbolicLink() ? fs.readlinkSync(place.path(p)) : fs.readFileSync(place.path(p), 'latin1');
        }
    };
    walk('');
    return found;
}

/** One run: {code, out, err}; with `events`, parsed from --json. */
export async function symposium(place, args, opts) {
    const r = await run(place, args, opts);
    assert.equal(r.signal, null, r.err);
    return r;
}
export async function events(place, args, opts) {
    const r = await symposium(place, ['--json', ...args], opts);
    let list;
    try { list = JSON.parse(r.out); } catch { assert.fail(`no JSON: ${r.out.slice(0, 500)}\n${r.err}`); }
    assert.ok(Array.isArray(list) && list.every(e => typeof e.type === 'string'), 'CL-2: an array of tagged events');
    return Object.assign(r, { events: list, of: type => list.filter(e => e.type === type) });
}

const quote = s => `'${String(s).replaceAll("'", "'\\''")}'`;
/** On a terminal (util-linux' script). `keys`: [[what the screen must show, bytes to type], ...]. {code, out}. */
export function terminal(place, args, keys = [], { env = {}, ...rest } = {}) {
    const p = run(place, ['-qec', [bin, ...args].map(quote).join(' '), '/dev/null'],
        { program: 'script', input: null, env: { TERM: 'xterm', SHELL: '/bin/sh', ...env }, ...rest });
    let seen = '', at = 0;
    const look = () => {
        while (at < keys.length && keys[at][0].test(seen)) {
            p.child.stdin.write(keys[at++][1]);
            seen = '';
        }
    };
    p.child.stdout.on('data', d => { seen += d; look(); });
    look();
    return p.then(r => {
        assert.equal(at, keys.length, `the screen never showed ${keys[at]?.[0]}; it showed ${r.out}`);
        return r;
    });
}
export const KEY = { up: '\x1b[A', down: '\x1b[B', space: ' ', enter: '\r', escape: '\x1b', all: 'a', interrupt: '\x03' };
