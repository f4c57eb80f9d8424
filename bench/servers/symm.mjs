// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Task hand-off: what a spawn costs above the agent's own start, a whole turn beside the same agent driven directly over its pipes,
// and what a server holds with a hundred agents running. The agent is a small shell script that answers at once, so that the figures
// are ours; HANG in a prompt is never answered.
import fs from 'node:fs';
import { Peer, bin, envOf, home, median, rss } from '../lib.mjs';

const ROUNDS = 40, AGENTS = 100;
const script = `
while IFS= read -r l; do
    id=\${l#*'"id":'}; id=\${id%%[,\\}]*}
    case $l in
    *'"method":"initialize"'*) r='{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*) r='{"sessionId":"s"}' ;;
    *'"method":"session/prompt"'*)
        case $l in *HANG*) continue ;; esac
        printf '%s\\n' '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}}}'
        r='{"stopReason":"end_turn"}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$r"
done`;

const timed = async body => {
    const from = performance.now();
    await body();
    return performance.now() - from;
};

/** The same turn without us, to the end of the process. */
async function direct(cwd) {
    const agent = new Peer('sh', ['-c', script], { cwd });
    await agent.call('initialize', { protocolVersion: 1 });
    await agent.call('session/new', { cwd, mcpServers: [] });
    await agent.call('session/prompt', { sessionId: 's', prompt: [{ type: 'text', text: 'x' }] });
    await agent.end();
}
async function started(cwd) {
    const agent = new Peer('sh', ['-c', script], { cwd });
    await agent.call('initialize', { protocolVersion: 1 });
    agent.child.kill();
    await agent.exited;
}

async function server() {
    const dir = home('symm');
    fs.mkdirSync(`${dir}/.symposium`, { recursive: true });
    fs.writeFileSync(`${dir}/agent.sh`, script);
    fs.writeFileSync(`${dir}/.symposium/config.toml`, `[tasks]\nmax-concurrent = ${AGENTS + 1}\nmin-free-mb = 0\n\n[[task-agent]]\n`
        + `name = "quick"\ncommand = "sh"\nargs = ["${dir}/agent.sh"]\nprotocol = "acp"\n`);
    const s = new Peer(bin, ['symm'], { cwd: `${dir}/work`, env: envOf(dir, { SYMPOSIUM_HOME: `${dir}/.symposium` }) });
    await s.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
    const tool = async (name, args) => (await s.call('tools/call', { name, arguments: args })).structuredContent;
    return { s, tool, cwd: `${dir}/work` };
}

async function turns() {
    const { s, tool, cwd } = await server(), figures = { spawn: [], turn: [], direct: [], start: [] };
    for (let n = 0; n < ROUNDS; n++) {
        const from = performance.now();
        const { task_id, status } = await tool('spawn_task', { agent: 'quick', prompt: 'x' });
        figures.spawn.push(performance.now() - from);
        const w = await tool('wait_tasks', { task_ids: [task_id] });
        figures.turn.push(performance.now() - from);
        if (status !== 'running' || w.tasks[0].status !== 'succeeded') throw new Error(JSON.stringify([status, w]));
        figures.direct.push(await timed(() => direct(cwd)));
        figures.start.push(await timed(() => started(cwd)));
    }
    await s.end();
    return Object.fromEntries(Object.entries(figures).map(([k, v]) => [k, median(v)]));
}

async function crowd() {
    const { s, tool } = await server(), idle = rss(s.child.pid);
    for (let n = 0; n < AGENTS; n++) await tool('spawn_task', { agent: 'quick', prompt: 'HANG' });
    const full = rss(s.child.pid);
    await s.end();
    return { idle, full };
}

export default async function rows() {
    const t = await turns(), c = await crowd();
    return [
        { what: 'spawn_task until the agent runs', unit: 'ms', ours: t.spawn, beside: { 'its own start, to initialize': t.start } },
        { what: 'a whole turn, to the end of the process and its record', unit: 'ms', ours: t.turn, beside: { 'driven directly': t.direct } },
        { what: 'that turn above the direct one', unit: 'ms', ours: t.turn - t.direct },
        { what: 'RSS idle', unit: 'MB', ours: c.idle },
        { what: `RSS with ${AGENTS} agents running`, unit: 'MB', ours: c.full },
    ];
}
