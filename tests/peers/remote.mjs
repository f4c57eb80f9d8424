// SPDX-License-Identifier: MIT OR Apache-2.0
//
// remote.mjs KIND [PORT] - an MCP server over HTTP, made of the official SDKs; says "listening PORT" and then, a line each, what
// happens to it. v1: Streamable HTTP with sessions; v1-sse: HTTP+SSE of 2024-11-05; v2: both eras without sessions; v2-modern:
// 2026-07-28 alone. With REMOTE_TOKEN it answers 401 to who does not bring it; with REMOTE_CERT and REMOTE_KEY it speaks TLS.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Server as ServerV2, createMcpHandler } from '@modelcontextprotocol/server';

const [kind, port = '0'] = process.argv.slice(2);
const { REMOTE_TOKEN: token, REMOTE_CERT: cert, REMOTE_KEY: key } = process.env;
const say = line => process.stdout.write(`${line}\n`);
let more = 0;

const tools = () => [
    { name: 'echo', description: 'Says it again', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
    { name: 'steps', description: 'Reports progress', inputSchema: { type: 'object', properties: { n: { type: 'number' }, ms: { type: 'number' } } } },
    { name: 'add', description: 'Adds a tool', inputSchema: { type: 'object' } },
    { name: 'tagged', inputSchema: { type: 'object', properties: { tag: { type: 'string', 'x-mcp-header': 'Tag' } } } },
    { name: 'broken', inputSchema: { type: 'object', properties: { tag: { type: 'array', 'x-mcp-header': 'Bad' } } } },
    ...Array.from({ length: more }, (_, i) => ({ name: `added${i + 1}`, inputSchema: { type: 'object' } })),
];

/** `io`: {signal, notify(progress), changed()}. */
async function call({ name, arguments: args = {} }, io) {
    say(`call ${name}`);
    if (name === 'steps') {
        for (let i = 1; i <= args.n; i++) {
            await io.notify({ progress: i, total: args.n, message: `step ${i}` });
            await sleep(args.ms, undefined, { signal: io.signal }).catch(() => {});
            if (io.signal.aborted) {
                say(`cancelled ${name}`);
                throw new Error('cancelled');
            }
        }
    }
    if (name === 'add') {
        more++;
        await io.changed();
    }
    return { content: [{ type: 'text', text: name === 'echo' ? String(args.text) : `${name}: ${JSON.stringify(args)}` }] };
}

const info = { name: 'remote', version: '1' }, options = { capabilities: { tools: { listChanged: true } } };

function v1() {
    const server = new ServerV1(info, options);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools() }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => call(params, {
        signal: extra.signal,
        notify: p => params._meta?.progressToken !== undefined
            && extra.sendNotification({ method: 'notifications/progress', params: { ...p, progressToken: params._meta.progressToken } }),
        changed: () => server.sendToolListChanged(),
    }));
    return server;
}

const sessions = new Map();
async function streamable(req, res, body) {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (!transport && body?.method === 'initialize') {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => { say('session'); sessions.set(id, transport); },
            onsessionclosed: () => say('session ended'),
        });
        await v1().connect(transport);
    }
    if (transport) await transport.handleRequest(req, res, body);
    else res.writeHead(req.headers['mcp-session-id'] ? 404 : 400).end();
}

async function sse(req, res, body) {
    if (req.method === 'GET') {
        const transport = new SSEServerTransport('/message', res);
        sessions.set(transport.sessionId, transport);
        await v1().connect(transport);
        return;
    }
    const transport = sessions.get(new URL(req.url, 'http://x').searchParams.get('sessionId'));
    if (transport) await transport.handlePostMessage(req, res, body);
    else res.writeHead(404).end();
}

function modern(legacy) {
    const handler = createMcpHandler(() => {
        const server = new ServerV2(info, options);
        server.setRequestHandler('tools/list', () => ({ tools: tools() }));
        server.setRequestHandler('tools/call', ({ params }, ctx) => call(params, {
            signal: ctx.mcpReq.signal,
            notify: p => ctx.mcpReq._meta?.progressToken !== undefined
                && ctx.mcpReq.notify({ method: 'notifications/progress', params: { ...p, progressToken: ctx.mcpReq._meta.progressToken } }),
            changed: () => handler.notify.toolsChanged(),
        }));
        return server;
    }, { legacy });
    return async (req, res, body) => {
        const gone = new AbortController();
        res.on('close', () => gone.abort());
        const answer = await handler.fetch(new Request(`http://${req.headers.host}${req.url}`, {
            method: req.method, headers: req.headers, body: body === undefined ? undefined : JSON.stringify(body), signal: gone.signal,
        }), { parsedBody: body });
        res.writeHead(answer.status, Object.fromEntries(answer.headers));
        res.flushHeaders();
        try {
            for await (const chunk of answer.body ?? []) res.write(chunk);
        } catch { /* the client has gone */ }
        res.end();
    };
}

const serve = { v1: streamable, 'v1-sse': sse, v2: modern('stateless'), 'v2-modern': modern('reject') }[kind];
async function on(req, res) {
    if (token && req.headers.authorization !== `Bearer ${token}`) {
        res.writeHead(401, { 'www-authenticate': 'Bearer realm="remote"' }).end();
        return;
    }
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString(), body = text ? JSON.parse(text) : undefined;
    say(`${req.method} ${body?.method ?? ''} ${req.headers['mcp-protocol-version'] ?? ''} ${req.headers['mcp-param-tag'] ?? ''}`.trim());
    await serve(req, res, body);
}

const server = cert ? https.createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) }, on) : http.createServer(on);
server.listen(Number(port), '127.0.0.1', () => say(`listening ${server.address().port}`));
// "forget" on stdin: the sessions are lost, as after a restart, while connections stay.
createInterface({ input: process.stdin }).on('line', line => { if (line === 'forget') sessions.clear(); }).on('close', () => process.exit());
