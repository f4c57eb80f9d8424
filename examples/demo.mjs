// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The demo: a scratch home with two plugins, a real MCP session with `symposium mcp-serve`, a script over real servers, and the
// bytes of it all. Every figure is counted here, every claim is checked; the first that does not hold ends it with status 1.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const symposium = process.env.SYMPOSIUM_BIN;
const patience = 60_000;    // ms for any one answer

// --- saying it --------------------------------------------------------------------------------------------------------
const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = code => text => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
const bold = paint(1), dim = paint(2), green = paint(32);
const say = (...lines) => console.log(lines.join('\n'));
const step = title => say('', bold(`── ${title} ${'─'.repeat(Math.max(0, 76 - title.length))}`));
const indent = (text, by = '    ') => text.replace(/^(?=.)/gm, by);
const wrap = (text, width) => text.replace(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd();
const number = n => n.toLocaleString('en-US');
const bytes = n => `${number(n)} bytes`;

function expect(holds, what) {
    if (!holds) throw new Error(what);
}

// --- a home of its own ------------------------------------------------------------------------------------------------
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'symposium-demo-')));
const home = path.join(scratch, 'home'), workspace = path.join(scratch, 'workspace');
fs.cpSync(path.join(here, 'plugins'), path.join(home, '.symposium/plugins'), { recursive: true });
fs.cpSync(path.join(here, 'workspace'), workspace, { recursive: true });
const env = { PATH: process.env.PATH, LANG: process.env.LANG ?? 'C.UTF-8', HOME: home };

/** A command for people, run as a program does: its events. */
function events(...args) {
    try {
        return JSON.parse(execFileSync(symposium, ['--json', ...args], { cwd: workspace, env, encoding: 'utf8' }));
    } catch (e) {
        throw new Error(`symposium ${args.join(' ')}: ${e.stdout || ''}${e.stderr || e.message}`);
    }
}

// --- an MCP client in a few lines -------------------------------------------------------------------------------------
/** Talks to one server over stdio; `read` counts the bytes of all results that an agent's context would take up. */
class Client {
    constructor(command, args, extra = {}) {
        this.read = 0;
        this.stderr = '';
        this.waiting = new Map();
        this.child = spawn(command, args, { cwd: workspace, env: { ...env, ...extra } });
        this.child.stderr.on('data', d => { this.stderr += d; });
        this.child.stdin.on('error', () => {});
        this.exited = new Promise(done => {
            this.child.on('error', e => { this.stderr += e.message; done(127); });
            this.child.on('exit', done);
        });
        this.exited.then(() => this.waiting.forEach(w => w({ error: { message: `${command} ended: ${this.stderr}` } })));
        let rest = '';
        this.child.stdout.setEncoding('utf8').on('data', text => {
            const lines = (rest + text).split('\n');
            rest = lines.pop();
            for (const line of lines.filter(Boolean)) {
                const message = JSON.parse(line);
                this.waiting.get(message.id)?.(message);
            }
        });
    }

    async ask(method, params) {
        const id = this.waiting.size + 1;
        const answer = new Promise((done, fail) => {
            this.waiting.set(id, done);
            setTimeout(() => fail(new Error(`no answer to ${method} within ${patience / 1000} s: ${this.stderr}`)), patience).unref();
        });
        this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        const { result, error } = await answer;
        expect(result, `${method}: ${error?.message}`);
        return result;
    }

    async open() {
        await this.ask('initialize', {
            protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'demo', version: '1' },
        });
        this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
        return this;
    }

    async tools() {
        const { tools } = await this.ask('tools/list', {});
        this.read += Buffer.byteLength(JSON.stringify(tools));
        return tools;
    }

    async call(name, args) {
        const result = await this.ask('tools/call', { name, arguments: args });
        const text = result.content.map(c => c.text ?? '').join('\n');
        this.read += Buffer.byteLength(text);
        expect(!result.isError, `${name}: ${text}`);
        return text;
    }

    async close() {
        this.child.stdin.end();
        return this.exited;
    }
}

/** Processes whose home is the demo's: everything that was started for it. */
const survivors = () => fs.readdirSync('/proc').filter(pid => /^\d+$/.test(pid)).filter(pid => {
    try {
        return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`HOME=${home}`);
    } catch {
        return false;
    }
});

// --- the demo ---------------------------------------------------------------------------------------------------------
async function whatIsHere() {
    step('1. A workspace and two plugins');
    say('A Cargo workspace that depends on serde, with a directory of notes. Two plugins are installed:', '');
    const found = events('doctor');
    const of = type => found.filter(e => e.type === type);
    for (const { name, state, detail } of of('plugin'))
        say(`    ${name.padEnd(8)} ${(state === 'active' ? green : dim)(state.padEnd(8))} ${dim(detail)}`);
    say('', 'The servers of the active one, started to see that they work:', '');
    for (const { name, tools, ms } of of('server')) say(`    ${name.padEnd(8)} ${tools} tools ${dim(`in ${ms} ms`)}`);
    const states = Object.fromEntries(of('plugin').map(p => [p.name, p.state]));
    expect(states.notes === 'active' && states.web === 'gated', `plugins are ${JSON.stringify(states)}`);
    expect(of('server').map(s => s.name).join() === 'fs,memory', 'the servers are not fs and memory');
    expect(of('server').every(s => s.state === 'ok' && s.tools > 0), 'a server does not work');
    return of('server').reduce((n, s) => n + s.tools, 0);
}

async function whatTheAgentSees(agent) {
    step('2. What an agent sees: two tools');
    const tools = await agent.tools();
    expect(tools.map(t => t.name).join() === 'list_tools,execute', 'tools/list is not list_tools and execute');
    for (const t of tools) say(`    ${bold(t.name)}`, dim(indent(wrap(t.description, 90), '      ')));

    step('3. It asks list_tools what there is');
    const index = await agent.call('list_tools', {});
    expect(/^fs:$/m.test(index) && /^memory:$/m.test(index), `list_tools does not show both servers:\n${index}`);
    expect(!/everything/.test(index), 'list_tools shows a server that does not apply here');
    say(indent(index));

    step('4. ... and for the declarations it needs');
    const wanted = { tools: ['list_directory', 'read_text_file'] };
    say(dim(`    list_tools(${JSON.stringify(wanted)})`), '');
    const declarations = await agent.call('list_tools', wanted);
    expect(/declare const fs:/.test(declarations), `no declarations:\n${declarations}`);
    say(indent(declarations));
}

async function aScript(agent, script) {
    step('5. It writes a script, and gets one value back');
    say(indent(script.trimEnd()));
    const text = await agent.call('execute', { script });
    const names = JSON.parse(text);
    const expected = fs.readdirSync(path.join(workspace, 'notes'))
        .filter(f => fs.readFileSync(path.join(workspace, 'notes', f), 'utf8').includes('TODO')).sort();
    say('', bold('    answer: ') + green(text));
    expect(expected.length > 0 && [...names].sort().join() === expected.join(), `the notes with a TODO are ${expected}`);
    return Buffer.byteLength(text);
}

/** The same work as an agent does it without us: every tool and every result goes through its context. */
async function withoutUs() {
    const direct = await new Client('mcp-server-filesystem', ['.']).open();
    const memory = await new Client('mcp-server-memory', [], { MEMORY_FILE_PATH: path.join(home, 'other.jsonl') }).open();
    await memory.tools();
    await direct.tools();
    const definitions = direct.read + memory.read;
    const listing = await direct.call('list_directory', { path: 'notes' });
    const names = listing.match(/\S+\.md/g);
    for (const name of names) await direct.call('read_text_file', { path: `notes/${name}` });
    await Promise.all([direct.close(), memory.close()]);
    return { definitions, results: direct.read + memory.read - definitions, trips: names.length + 1 };
}

async function main() {
    const tools = await whatIsHere();
    const script = fs.readFileSync(path.join(here, 'todos.js'), 'utf8');
    const agent = await new Client(symposium, ['mcp-serve']).open();
    await whatTheAgentSees(agent);
    const answer = await aScript(agent, script);
    const status = await agent.close();
    expect(status === 0, `mcp-serve ended with status ${status}: ${agent.stderr}`);

    step('6. The bytes');
    const usage = events('exec', path.join(here, 'todos.js')).find(e => e.type === 'usage');
    const other = await withoutUs();
    expect(usage.calls === other.trips, `${usage.calls} calls counted, ${other.trips} expected`);
    const row = (what, n, why) => say(`    ${what.padEnd(24)}${bold(bytes(n).padStart(13))}   ${dim(why)}`);
    row('stayed in the sandbox', usage.bytes_in, `${usage.calls} tool results, read by the script alone`);
    row('reached the agent', answer, 'the answer');
    row('all the agent has read', agent.read, 'two tools, the index, declarations, the answer');
    say('', dim(indent(wrap(`Without Symposium the same question costs ${bytes(other.definitions + other.results)} of context: `
        + `${tools} tool definitions (${number(other.definitions)}), ${other.trips} results (${number(other.results)}), `
        + `and ${other.trips} round trips through the model instead of one.`, 90))));
    expect(usage.bytes_in > 4000 && agent.read < other.definitions + other.results, 'the figures are not what they were');

    const end = Date.now() + 3000;
    while (survivors().length && Date.now() < end) await new Promise(done => setTimeout(done, 20));
    expect(survivors().length === 0, `still running: ${survivors()}`);
    say('', dim('Every server has ended; nothing is left running.'),
        `Next: ${bold('docs/guide/getting-started.md')}`);
}

try {
    await main();
} catch (e) {
    console.error(`\ndemo: FAILED: ${e.message}`);
    process.exitCode = 1;
} finally {
    for (const pid of survivors()) try { process.kill(Number(pid), 'SIGKILL'); } catch { /* gone */ }
    fs.rmSync(scratch, { recursive: true, force: true });
}
