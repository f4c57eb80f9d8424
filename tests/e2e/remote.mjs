// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An MCP server over HTTP for a test (tests/peers/remote.mjs, or a program from npm): started, killed, started again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { node, npm, root, until } from './harness.mjs';

export async function freePort() {
    const s = createServer().listen(0, '127.0.0.1');
    await once(s, 'listening');
    const { port } = s.address();
    await new Promise(done => s.close(done));
    return port;
}

export class Remote {
    constructor(command, { port, ready, env = {}, at = '/mcp', scheme = 'http' }) {
        Object.assign(this, { command, port, ready, env, at, scheme, lines: [] });
    }
    get url() { return `${this.scheme}://127.0.0.1:${this.port}${this.at}`; }

    async start() {
        const from = this.lines.length, { PATH, HOME } = process.env;
        this.child = spawn(this.command[0], [...this.command.slice(1), String(this.port)].map(a => a.replace('$PORT', this.port)), {
            env: { PATH, HOME, PORT: String(this.port), ...this.env }, stdio: ['pipe', 'pipe', 'pipe'],
        });
        for (const out of [this.child.stdout, this.child.stderr]) createInterface({ input: out }).on('line', l => this.lines.push(l));
        await until(`${this.command.join(' ')} listens`, () => this.lines.slice(from).some(l => this.ready.test(l)), 20000);
        return this;
    }
    async kill() {
        if (this.child.exitCode !== null || this.child.signalCode) return;
        this.child.kill('SIGKILL');
        await once(this.child, 'exit');
    }
    forget() { this.child.stdin.write('forget\n'); }
    count(line) { return this.lines.filter(l => (line instanceof RegExp ? line.test(l) : l === line)).length; }
}

/** kind: see tests/peers/remote.mjs. */
export async function sdkServer(kind, env = {}) {
    return new Remote([node, path.join(root, 'tests/peers/remote.mjs'), kind], {
        port: await freePort(), ready: /^listening/, env, scheme: env.REMOTE_CERT ? 'https' : 'http',
    }).start();
}

/** transport: streamableHttp, sse. */
export async function everything(transport) {
    return new Remote([node, npm('@modelcontextprotocol/server-everything/dist/index.js'), transport], {
        port: await freePort(), ready: /listening|running on port/i, at: transport === 'sse' ? '/sse' : '/mcp',
    }).start();
}
