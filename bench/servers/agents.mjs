// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Subagents: how soon the provider hears of one, with no server of its own and with our filesystem, and what the server holds with 64
// sessions that ended and eight that run. The provider is in this process, so that both moments are on one clock.
import http from 'node:http';
import { once } from 'node:events';
import { Peer, bin, envOf, home, median, rss } from '../lib.mjs';

const ROUNDS = 64, RUNNING = 8;
const said = JSON.stringify({ choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'done' } }] });

/** A provider that answers at once, or to HANG never; onByte(): something has come. */
async function provider() {
    const p = { onByte() {}, asked: 0 };
    p.server = http.createServer(async (req, res) => {
        p.onByte();
        const chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        p.asked++;
        if (!Buffer.concat(chunks).includes('HANG')) res.writeHead(200, { 'content-type': 'application/json' }).end(said);
    });
    p.server.listen(0, '127.0.0.1');
    await once(p.server, 'listening');
    p.url = `http://127.0.0.1:${p.server.address().port}/v1`;
    return p;
}
const definition = (name, url, more) => `---\nname: ${name}\ndescription: d\nmodelProvider: custom\nbaseUrl: ${url}\nwireApi: chat-completions\nmodel: m\n${more}---\nWork.\n`;

export default async function rows() {
    const p = await provider();
    const dir = home('agents', {
        'work/.agents/agents/bare.md': definition('bare', p.url, 'tools: []\n'), 'work/.agents/agents/reader.md': definition('reader', p.url, ''),
    });
    const s = new Peer(bin, ['agents', `${dir}/work`], { cwd: `${dir}/work`, env: envOf(dir, { SYMPOSIUM_HOME: `${dir}/symposium` }) });
    await s.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
    const tool = async (name, args) => (await s.call('tools/call', { name, arguments: args })).structuredContent;
    const until = async ready => { while (!ready()) await new Promise(done => setTimeout(done, 5)); };
    const first = async name => {
        const byte = new Promise(done => { p.onByte = () => done(performance.now()); }), from = performance.now();
        const { agent_id } = await tool('spawn_agent', { name, task: 'x' });
        const took = await byte - from;
        const { agents: [a] } = await tool('wait_agent', { targets: [agent_id] });
        if (a.result !== 'done') throw new Error(JSON.stringify(a));
        return took;
    };
    const idle = rss(s.child.pid), bare = [], reader = [];
    for (let i = 0; i < ROUNDS / 2; i++) {
        bare.push(await first('bare'));
        reader.push(await first('reader'));
    }
    p.onByte = () => {};
    const kept = rss(s.child.pid), before = p.asked;
    for (let i = 0; i < RUNNING; i++) await tool('spawn_agent', { name: 'bare', task: 'HANG' });
    await until(() => p.asked === before + RUNNING);
    const full = rss(s.child.pid);
    await s.end();
    p.server.closeAllConnections();
    p.server.close();
    return [
        { what: 'spawn_agent to the first byte at the provider', unit: 'ms', ours: median(bare) },
        { what: 'with a server of tools (filesystem) started and listed before', unit: 'ms', ours: median(reader) },
        { what: 'RSS idle', unit: 'MB', ours: idle },
        { what: `RSS with ${ROUNDS} sessions kept`, unit: 'MB', ours: kept },
        { what: `RSS with ${RUNNING} running beside them`, unit: 'MB', ours: full },
    ];
}
