// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Our own figures: each function measures once, the rounds of figures.mjs call it again and again.
import fs from 'node:fs';
import path from 'node:path';
import { bin, drive, envOf, exits, expect, home, median, ms, nodeEcho, pmCargo, steps, tools } from './lib.mjs';

const serve = [bin, 'mcp-serve'];
const DEADLINE_SECS = 2;

/** A home with plugins, one server each, active for `dependsOn`; `config`: text of config.toml; `files`: further ones. */
function place(name, servers, { config = '', dependsOn = '*', files = {} } = {}) {
    files['symposium/config.toml'] = config;
    for (const [server, { command, args = [], env = {} }] of Object.entries(servers)) {
        const table = Object.entries(env).map(([k, v]) => `${k} = "${v}"`).join(', ');
        files[`symposium/plugins/${server}/SYMPOSIUM.toml`] = `name = "${server}"\ndepends-on = ["${dependsOn}"]\n\n[[mcp_servers]]\n`
            + `name = "${server}"\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\nenv = { ${table} }\n`;
    }
    return home(name, files);
}
const run = (dir, script) => drive(serve, script, {
    cwd: path.join(dir, 'work'), env: envOf(dir, { SYMPOSIUM_HOME: path.join(dir, 'symposium') }),
});

const numbered = n => Object.fromEntries(Array.from({ length: n },
    (_, i) => [`server_${String(i).padStart(2, '0')}`, { command: tools.echo }]));
const LONG_LIST = { ECHO_TOOLS: '5000', ECHO_PAGE: '100' };
const BIG = Array.from({ length: 10 }, (_, i) => `big_${i}`);
const CARGO = {
    'work/Cargo.toml': '[package]\nname = "work"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nserde = "1"\n',
    'work/Cargo.lock': 'version = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.200"\n\n[[package]]\nname = "work"\nversion = "0.1.0"\n'
        + 'dependencies = ["serde"]\n',
    'work/src/lib.rs': '',
};
/** A workspace with agents to write to, and ten skills for a Cargo dependency. */
function synced() {
    const config = `${['claude', 'codex', 'gemini'].map(a => `[[agent]]\nname = "${a}"\n`).join('')}[defaults]\nsymposium-recommendations = false\n`;
    const skill = i => [`symposium/plugins/echo/skills/skill-${i}/SKILL.md`, `---\nname: skill-${i}\ndescription: About ${i}\n---\n${'text\n'.repeat(1000)}`];
    const dir = place('synced', { echo: { command: tools.echo } }, { config, dependsOn: 'serde', files: { ...CARGO, ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => skill(i))) } });
    fs.appendFileSync(path.join(dir, 'symposium/plugins/echo/SYMPOSIUM.toml'), '\n[[skills]]\nsource.path = "skills"\n');
    return dir;
}
/** A workspace of ten members with a hundred direct dependencies, in a lockfile of a thousand packages. */
function crowd() {
    const name = i => `package-${String(i).padStart(3, '0')}`, version = i => `1.${i % 10}.${i % 7}`;
    const member = m => Array.from({ length: 10 }, (_, i) => name(m * 100 + i));
    const files = { 'work/Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n' };
    let lock = 'version = 4\n\n';
    for (let i = 0; i < PACKAGES - 10; i++)
        lock += `[[package]]\nname = "${name(i)}"\nversion = "${version(i)}"\nsource = "registry+https://registry.example/crates-index"\n`
            + `checksum = "${'0123456789abcdef'.repeat(4)}"\ndependencies = [\n${[1, 2, 3].map(d => ` "${name((i + d * 97) % (PACKAGES - 10))}",\n`).join('')}]\n\n`;
    for (let m = 0; m < 10; m++) {
        files[`work/crates/m${m}/Cargo.toml`] = `[package]\nname = "m${m}"\nversion = "0.1.0"\n\n[dependencies]\n${member(m).map(n => `${n} = "1"\n`).join('')}`;
        lock += `[[package]]\nname = "m${m}"\nversion = "0.1.0"\ndependencies = [\n${member(m).map(n => ` "${n}",\n`).join('')}]\n\n`;
    }
    files['work/Cargo.lock'] = lock;
    return home('crowd', files);
}
const PACKAGES = 1000;
let places;
export function prepare() {
    places = {
        0: place('none', {}), 1: place('one', { echo: { command: tools.echo } }), 50: place('fifty', numbered(50)),
        node: place('node', { echo: { command: process.execPath, args: [nodeEcho] } }),
        cargo: place('cargo', { echo: { command: tools.echo } }, { dependsOn: 'serde', files: CARGO }),
        attack: place('attack', { echo: { command: tools.echo } },
            { config: `[mcp]\nscript-timeout-secs = ${DEADLINE_SECS}\ntool-call-timeout-secs = 1\n` }),
        crowd: crowd(),
        synced: synced(),
        many: place('many', { echo: { command: tools.echo, env: LONG_LIST } }),
        big: place('big', Object.fromEntries(BIG.map(name => [name, { command: tools.echo,
            env: { ECHO_TOOLS: '500', ECHO_PAGE: '100', ECHO_SCHEMA_BYTES: '20000' } }]))),
    };
}

/** From spawn to the answer of tools/list, the bytes of that answer, and the exit of an idle process. */
export function start(servers) {
    const of = run(places[servers], steps.open + steps.sleep(30) + steps.eof('exit'));
    const list = of('list')[0], tools_ = list.answer.result.tools.map(t => t.name).join();
    if (tools_ !== 'list_tools,execute') throw new Error(`tools/list: ${tools_}`);
    if (servers === 'cargo' && !list.answer.result.tools[1].description.includes('echo')) throw new Error('the plugin for serde is not active');
    return { list: list.since_spawn, bytes: JSON.stringify(list.answer.result).length, exit: of('exit')[0] };
}
export const emptyProgram = () => median(exits(tools.empty, 5));

const execute = script => ['execute', { script }];
const ONE = execute("return await echo.echo({text: 'hi'})");
const HUNDRED = execute("let r; for (let i = 0; i < 100; i++) r = await echo.echo({text: 'hi'}); return r");
const EIGHT = execute('return await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => echo.sleep({ms: 250})))');
const DIRECT = ['echo', { text: 'hi' }];

const direct = command => {
    const of = drive(command, steps.open + steps.loop('warm', 5, 0, ...DIRECT) + steps.loop('call', 20, 20, ...DIRECT)
        + steps.loop('hundred', 100, 0, ...DIRECT), { env: envOf('/') });
    expect(of('call'), 'hi');
    return { call: ms(of('call')), hundred: of('hundred').reduce((sum, r) => sum + r.ms, 0) };
};
/** Calls, memory and the exit with a server running; the same calls at the backend itself. */
export function calls() {
    const of = run(places[1], steps.open + steps.sleep(500) + steps.memory('idle') + steps.loop('warm', 5, 20, ...ONE)
        + steps.loop('call', 20, 20, ...ONE) + steps.loop('rapid', 20, 0, ...ONE)
        + steps.loop('hundred', 5, 20, ...HUNDRED) + steps.ask('parallel', ...EIGHT) + steps.sleep(50)
        + steps.begin('slow', ...execute('return await echo.sleep({ms: 300})')) + steps.sleep(150) + steps.memory('busy')
        + steps.end + steps.eof('exit'));
    expect([...of('call'), ...of('rapid'), ...of('hundred')], 'hi');
    expect([...of('parallel'), ...of('slow')], 'slept');
    const node = run(places.node, steps.open + steps.loop('warm', 3, 20, ...HUNDRED) + steps.loop('hundred', 3, 20, ...HUNDRED));
    expect(node('hundred'), 'hi');
    return {
        call: ms(of('call')), rapid: ms(of('rapid')), hundred: ms(of('hundred')), parallel: ms(of('parallel')),
        idle: of('idle')[0], busy: of('busy')[0], exit: of('exit')[0], nodeHundred: ms(node('hundred')),
        direct: direct([tools.echo]), directNode: direct([process.execPath, nodeEcho]),
    };
}

/** `symposium sync` where nothing changed: three agents, skills, a Cargo dependency. Throws when it is not what was in sync. */
export function sync() {
    const dir = places.synced, options = { args: ['-q', 'sync'], cwd: path.join(dir, 'work'), env: envOf(dir, { SYMPOSIUM_HOME: path.join(dir, 'symposium') }) };
    if (!fs.existsSync(path.join(dir, 'work/.claude/skills/skill-0/SKILL.md'))) exits(bin, 1, options);
    const changed = () => Math.max(...['.claude.json', '.codex/config.toml', '.gemini/settings.json'].map(f => fs.statSync(path.join(dir, f)).mtimeMs));
    const before = changed(), took = median(exits(bin, 5, options));
    if (changed() !== before || !fs.existsSync(path.join(dir, 'work/.claude/skills/skill-9/SKILL.md'))) throw new Error('sync: it was not in sync');
    return took;
}

/** The package manager's list_deps: the first, which reads everything, and the next, which looks whether anything changed. */
export function packages() {
    const workspace = path.join(places.crowd, 'work');
    const of = drive([pmCargo], steps.request('init', 'initialize', { protocol_version: 1, workspace })
        + steps.request('list', 'list_deps') + steps.request('kept', 'list_deps') + steps.eof('exit'), { cwd: workspace, env: envOf(places.crowd) });
    const count = of('list')[0].answer.result.length;
    if (count !== 100) throw new Error(`list_deps: ${count} packages instead of 100`);
    return { list: of('list')[0].ms, kept: of('kept')[0].ms };
}

// --- attacks --------------------------------------------------------------------------------------------------------------
const ATTACKS = {
    'endless loop that catches': 'for (;;) try { for (;;); } catch { continue } finally { for (;;); }',
    'microtask storm': 'const f = () => Promise.resolve().then(f); await f()',
    'timer storm': 'const f = () => { for (let i = 0; i < 100; i++) setTimeout(f, 0) }; f(); await new Promise(() => {})',
    'backtracking regex': "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    'native loop': 'Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)',
    'big integers': 'let b = 3n; for (;;) b = b * b % (2n ** 500000n) + 1n',
    'array bomb': 'let a = [1]; for (;;) a = a.concat(a)',
    'string bomb': "let s = 'x'; for (;;) s += s",
    'typed array of a gigabyte': 'new Uint8Array(1e9).fill(1)',
    'deep recursion': 'const f = n => f(n + 1) + 1; f(0)',
    'console flood': "for (;;) console.log('x'.repeat(1000))",
    'flood of calls': "for (;;) echo.echo({text: 'x'.repeat(1000)})",
    'calls that hang': 'for (;;) try { await echo.sleep({ms: 1e9}) } catch {}',
    'result of 60 MB': "const s = 'x'.repeat(1e6); return Array(60).fill(s)",
    'nested result': 'let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a',
    'getter that never returns': 'return {get x() { for (;;); }}',
};
/** All attacks, one after the other, each under pings: the latest end after its deadline, and the slowest ping. */
export function attacks() {
    const names = Object.keys(ATTACKS);
    const of = run(places.attack, steps.open + steps.loop('warm', 3, 20, ...ONE)
        + names.map(n => steps.watch(n, ...execute(ATTACKS[n]))).join('') + steps.loop('after', 3, 20, ...ONE) + steps.eof('exit'));
    expect(of('after'), 'hi');
    const all = names.map(name => ({ name, ...of(name)[0] }));
    const worst = key => all.reduce((a, b) => (b[key] > a[key] ? b : a));
    return { latest: worst('ms'), slowest: worst('slowest_ping'), count: all.length, deadline: DEADLINE_SECS * 1000, left: of('exit')[0].left };
}

// --- many tools -----------------------------------------------------------------------------------------------------------
export function manyTools() {
    const query = q => ['list_tools', { query: q }];
    const queries = ['merge invoice', 'archive_ticket_4999', 'branch by date', 'sear'];
    const of = run(places.many, steps.open + steps.ask('first', ...query('list'))
        + queries.map(q => steps.loop('search', 3, 5, ...query(q))).join('') + steps.eof('exit'));
    expect(of('search'), 'echo.');
    // 100 MB of schemas on ten servers, because one answer is bounded. The second answer only renders. It comes in slices with
    // pauses, so that others are answered: the figure is the processor's time, what passed on the clock stands beside it.
    const full = server => ['list_tools', { servers: [server], detail: 'full' }];
    const big = run(places.big, steps.open + steps.ask('first', 'list_tools', {})
        + BIG.map(n => steps.ask('once', ...full(n)) + steps.loop(n, 3, 5, ...full(n))).join('') + steps.eof('exit'));
    for (const n of BIG)
        if (big(n).some(r => r.bytes < 500 * 5000)) throw new Error(`${n}: not declared: ${JSON.stringify(big(n)[0]).slice(0, 300)}`);
    const sum = f => BIG.reduce((all, n) => all + f(n), 0);
    return { search: ms(of('search')), render: sum(n => median(big(n).map(r => r.cpu_ms))), wall: sum(n => ms(big(n))), bytes: sum(n => big(n)[0].bytes), first: big('first')[0].ms };
}
