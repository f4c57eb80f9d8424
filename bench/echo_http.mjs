// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An MCP server over HTTP with one tool, `echo`, without sessions, as small as it can be; prints its port.
import http from 'node:http';

const tools = [{ name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }];
const answers = {
    initialize: p => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
    'tools/list': () => ({ tools }),
    'tools/call': p => ({ content: [{ type: 'text', text: p.arguments.text }] }),
};

const server = http.createServer(async (req, res) => {
    if (req.method !== 'POST') return res.writeHead(405).end();
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks));
    if (id === undefined) return res.writeHead(202).end();
    const answer = answers[method]
        ? { result: answers[method](params) } : { error: { code: -32601, message: 'there is no such method' } };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
