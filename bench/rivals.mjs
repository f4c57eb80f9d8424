// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Other gateways that run scripts over MCP servers, from npm, measured with the same probe on the same backend. They are
// installed below .deps/rivals at fixed versions and get homes of their own; one that does not install or run is left out
// by name. None of them is part of the build or the tests.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { drive, envOf, expect, home, median, ms, root, steps, tools } from './lib.mjs';

const deps = path.join(root, '.deps/rivals');
export const modules = (name, ...p) => path.join(deps, name, 'node_modules', ...p);

/** One npm project a rival; install scripts do not run. */
export function install(name, manifest) {
    const dir = path.join(deps, name), text = JSON.stringify({ private: true, ...manifest });
    const stamp = path.join(dir, 'installed.json');
    if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === text) return;
    process.stderr.write(`bench: npm install of ${name}\n`);
    fs.rmSync(dir, { recursive: true, force: true });
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, 'package.json'), text);
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
        { cwd: dir, stdio: 'pipe', timeout: 300_000 });
    fs.writeFileSync(stamp, text);
}

const rivals = [
    {
        name: 'slop-mcp',
        packages: { dependencies: { '@standardbeagle/slop-mcp': '0.15.0' } },
        prepare() {
            const dir = home('slop-mcp', { 'work/.slop-mcp.kdl': `mcp "echo" {\n    command "${tools.echo}"\n}\n` });
            return { dir, command: [modules('slop-mcp', '@standardbeagle/slop-mcp/binaries/slop-mcp-linux-amd64'), 'serve'] };
        },
        call: ['run_slop', { script: 'r = echo.echo(text: "hi")\nemit(r)' }],
        hundred: ['run_slop', { script: 'for i in range(100):\n    r = echo.echo(text: "hi")\nemit("hi")' }],
    },
    {
        // Its SQLite binding has no binary without an install script; this one has the same interface and brings it.
        name: 'my-cool-proxy',
        packages: { dependencies: { '@karashiiro/my-cool-proxy': '1.6.2' }, overrides: { 'better-sqlite3': 'npm:libsql@0.5.22' } },
        prepare() {
            const config = { transport: 'stdio', mcpClients: { echo: { type: 'stdio', command: tools.echo, args: [] } } };
            const dir = home('my-cool-proxy', { 'cool.json': JSON.stringify(config) });
            return { dir, env: { CONFIG_PATH: path.join(dir, 'cool.json') },
                command: [process.execPath, modules('my-cool-proxy', '@karashiiro/my-cool-proxy/bin/my-cool-proxy.mjs')] };
        },
        first: ['echo', 'sleep'].map(t => ['tool-details', { luaServerName: 'echo', luaToolName: t }]),
        call: ['execute', { script: 'result(echo.echo({text="hi"}):await())' }],
        hundred: ['execute', { script: 'local r\nfor i=1,100 do r = echo.echo({text="hi"}):await() end\nresult(r)' }],
        parallel: ['execute', { script: 'local t={}\nfor i=1,8 do t[i] = echo.sleep({ms=250}) end\nlocal r\n'
            + 'for i=1,8 do r = t[i]:await() end\nresult(r)' }],
    },
    {
        name: 'executor',
        packages: { dependencies: { executor: '1.5.9' } },
        prepare() {
            const exe = modules('executor', 'executor-linux-x64/bin/executor'), dir = home('executor'), cwd = path.join(dir, 'work');
            const run = (...args) => spawnSync(exe, args, { cwd, env: envOf(dir), encoding: 'utf8', timeout: 60_000 }).stdout;
            const call = (...args) => {
                const id = /exec_\w+/.exec(run('call', 'executor', ...args))?.[0];
                if (id) run('resume', '--execution-id', id, '--action', 'accept', '--content', '{}');
            };
            try {
                call('mcp', 'addServer', JSON.stringify({ transport: 'stdio', name: 'echo', slug: 'echo', command: tools.echo, args: [] }));
                call('coreTools', 'connections', 'create', JSON.stringify({ owner: 'org', name: 'echo', integration: 'echo',
                    template: 'none', inputs: { x: { from: { provider: 'file', id: 'none' } } } }));
            } finally {
                run('daemon', 'stop');
            }
            return { dir, command: [exe, 'mcp'] };
        },
        call: ['execute', { code: 'return await tools.echo.org.echo.echo({text:"hi"})' }],
        hundred: ['execute', { code: 'let r; for (let i = 0; i < 100; i++) r = await tools.echo.org.echo.echo({text:"hi"}); return r' }],
        parallel: ['execute', { code: 'const all = await Promise.all([1,2,3,4,5,6,7,8].map(() => tools.echo.org.echo.sleep({ms:250})));'
            + ' return all' }],
    },
];

/** The rivals that can be measured; the others with the reason why not. */
export function prepareRivals() {
    const ready = [], skipped = [];
    for (const r of rivals) {
        try {
            install(r.name, r.packages);
            ready.push({ ...r, place: r.prepare(), rounds: [] });
        } catch (e) {
            skipped.push(`${r.name}: ${`${e.stderr ?? ''}${e.message}`.trim().split('\n')[0].slice(0, 160)}`);
        }
    }
    return { ready, skipped };
}

/** One session of one rival; its figures go to `rounds`. */
export function rivalRound(r) {
    const { dir, command, env } = r.place;
    const script = steps.open + steps.sleep(500) + steps.memory('idle')
        + (r.first ?? []).map(f => steps.ask('first', ...f)).join('')
        + steps.loop('warm', 5, 0, ...r.call) + steps.loop('call', 20, 20, ...r.call)
        + steps.memory('busy') + steps.loop('hundred', 2, 20, ...r.hundred)
        + (r.parallel ? steps.ask('parallel', ...r.parallel) : '') + steps.eof('exit');
    const of = drive(command, script, { cwd: path.join(dir, 'work'), env: envOf(dir, env) });
    expect([...of('call'), ...of('hundred')], 'hi');
    expect(of('parallel'), 'slept');
    r.rounds.push({
        list: of('list')[0].since_spawn, bytes: JSON.stringify(of('list')[0].answer.result).length,
        call: ms(of('call')), hundred: ms(of('hundred')), parallel: ms(of('parallel')),
        idle: of('idle')[0].rss_mb, busy: of('busy')[0].rss_mb, exit: of('exit')[0].ms,
    });
}
export const rivalFigure = (r, key) => median(r.rounds.map(x => x[key]));
