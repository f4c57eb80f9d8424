// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A call of a remote server through `execute`, beside curl and the same request on a connection that is kept, and beside a server
// started as a program. The remote one is on this machine: what is measured is what stands between, not a network.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';
import { bin, drive, envOf, expect, home, median, ms, nodeEcho, root, steps } from '../lib.mjs';

const CALLS = 200, ROUNDS = 5;
const ONE = ['execute', { script: "return await echo.echo({text: 'hi'})" }];
const HUNDRED = ['execute', { script: "let r; for (let i = 0; i < 100; i++) r = await echo.echo({text: 'hi'}); return r" }];
const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } });
const HEADERS = ['-H', 'content-type: application/json', '-H', 'accept: application/json, text/event-stream', '-H', 'mcp-protocol-version: 2025-06-18'];

const plugin = entry => ({ 'symposium/plugins/echo/SYMPOSIUM.toml': `name = "echo"\ndepends-on = ["*"]\n\n[[mcp_servers]]\nname = "echo"\n${entry}\n` });
function ours(name, entry) {
    const dir = home(name, plugin(entry));
    const of = drive([bin, 'mcp-serve'], steps.open + steps.loop('warm', 20, 0, ...ONE) + steps.loop('one', CALLS, 0, ...ONE)
        + steps.loop('hundred', 5, 20, ...HUNDRED) + steps.eof('exit'), { cwd: path.join(dir, 'work'), env: envOf(dir, { SYMPOSIUM_HOME: path.join(dir, 'symposium') }) });
    expect([...of('one'), ...of('hundred')], 'hi');
    return { one: ms(of('one')), hundred: ms(of('hundred')) / 100 };
}

/** Milliseconds of one request: of curl's own time on a kept connection, and of a whole process of it. */
function curl(url) {
    const one = [...HEADERS, '-s', '-o', '/dev/null', '-d', REQUEST, url];
    const kept = execFileSync('curl', ['-w', '%{time_total}\\n', ...HEADERS, '-s', '-d', REQUEST, ...Array(CALLS).fill(['-o', '/dev/null', url]).flat()], { encoding: 'utf8' });
    const from = performance.now();
    for (let i = 0; i < 10; i++) execFileSync('curl', one);
    return { kept: median(kept.trim().split('\n').slice(1).map(s => Number(s) * 1000)), process: (performance.now() - from) / 10 };
}

export default async function rows() {
    const server = spawn(process.execPath, [path.join(root, 'bench/echo_http.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = await once(readline.createInterface({ input: server.stdout }), 'line');
    const url = `http://127.0.0.1:${port}/mcp`, figures = [];
    for (let i = 0; i < ROUNDS; i++)
        figures.push({ remote: ours(`remote-${i}`, `url = "${url}"`), curl: curl(url),
            local: ours(`local-${i}`, `command = "${process.execPath}"\nargs = ["${nodeEcho}"]`) });
    server.kill();
    const of = f => median(figures.map(f));
    return [
        { what: 'execute with one remote call', unit: 'ms', ours: of(f => f.remote.one),
            beside: { 'curl, kept connection': of(f => f.curl.kept), 'a process of curl': of(f => f.curl.process), 'a Node server on stdio': of(f => f.local.one) } },
        { what: 'each of 100 remote calls of a script', unit: 'ms', ours: of(f => f.remote.hundred),
            beside: { 'curl, kept connection': of(f => f.curl.kept), 'a Node server on stdio': of(f => f.local.hundred) } },
    ];
}
