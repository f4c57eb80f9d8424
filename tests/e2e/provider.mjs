// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A scripted model provider for `symposium agents`, and the server with one agent, `worker`, that asks it.
import http from 'node:http';
import { once } from 'node:events';

export const SECRET = 'sk-never-shown-0123456789';

/** What each dialect looks like: what a model says, and what it was asked. */
export const APIS = {
    'responses': {
        say: text => ({ status: 'completed', output: [{ type: 'message', content: [{ type: 'output_text', text }] }] }),
        call: calls => ({ status: 'completed',
            output: calls.map(c => ({ type: 'function_call', call_id: c.id, name: c.name, arguments: JSON.stringify(c.args) })) }),
        results: body => body.input.filter(i => i.type === 'function_call_output').map(i => i.output),
        asked: body => body.input.filter(i => i.role === 'user').map(i => i.content[0].text),
        tools: body => body.tools.map(t => t.name),
    },
    'anthropic-messages': {
        say: text => ({ stop_reason: 'end_turn', content: [{ type: 'text', text }] }),
        call: calls => ({ stop_reason: 'tool_use', content: calls.map(c => ({ type: 'tool_use', id: c.id, name: c.name, input: c.args })) }),
        results: body => body.messages.filter(m => Array.isArray(m.content)).flatMap(m => m.content)
            .filter(b => b.type === 'tool_result').map(b => b.content),
        asked: body => body.messages.filter(m => m.role === 'user' && typeof m.content === 'string').map(m => m.content),
        tools: body => body.tools.map(t => t.name),
    },
    'chat-completions': {
        say: text => ({ choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: text } }] }),
        call: calls => ({ choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', content: null,
            tool_calls: calls.map(c => ({ id: c.id, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.args) } })) } }] }),
        results: body => body.messages.filter(m => m.role === 'tool').map(m => m.content),
        asked: body => body.messages.filter(m => m.role === 'user').map(m => m.content),
        tools: body => (body.tools ?? []).map(t => t.function.name),
    },
};

/** answer(request, number) gives {status, headers, body}, 'close', 'cut' (inside of the body), or nothing to hang. `seen`: all requests, each with `dropped` once its
 *  connection was closed before the answer. */
export async function provider(answer) {
    const seen = [];
    const server = http.createServer(async (req, res) => {
        const chunks = [];
        try {
            for await (const chunk of req) chunks.push(chunk);
        } catch {
            return; // given up while it was being sent
        }
        const request = { path: req.url, headers: req.headers, body: JSON.parse(Buffer.concat(chunks)), at: Date.now() };
        seen.push(request);
        res.on('error', () => {}).on('close', () => { request.dropped = !res.writableFinished; });
        const a = await answer(request, seen.length);
        if (!a) return;
        if (a === 'close') return res.destroy();
        if (a === 'cut') return res.writeHead(200, { 'content-length': 100 }).write('{"half":', () => res.destroy());
        res.writeHead(a.status ?? 200, { 'content-type': 'application/json', ...a.headers })
            .end(typeof a.body === 'string' || Buffer.isBuffer(a.body) ? a.body : JSON.stringify(a.body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return { seen, url: `http://127.0.0.1:${server.address().port}/v1` };
}

export const definition = (url, api = 'responses', more = '') => `---
name: worker
description: works
modelProvider: custom
baseUrl: ${url}
envKey: WORKER_KEY
wireApi: ${api}
model: scripted
${more}---
Work well.
`;

/** The server on the workspace, whose agents have consent (AG-28). */
export function serveTrusted(place, env = { WORKER_KEY: SECRET }) {
    place.config({ plugins: { 'trust-workspace': 'always' } });
    return place.serve('agents', [place.workspace], { env });
}
export function serve(place, url, { api, more } = {}) {
    place.write('work/.agents/agents/worker.md', definition(url, api, more));
    return serveTrusted(place);
}
export const structured = r => r.structuredContent;
export const spawn = async (s, task = 'do it', name = 'worker') => structured(await s.call('spawn_agent', { name, task })).agent_id;
export const wait = async (s, targets, timeout_ms = 20000) =>
    structured(await s.call('wait_agent', { targets: [targets].flat(), timeout_ms }, { ms: timeout_ms + 20000 }));
export const refused = async (s, tool, args) => JSON.parse(await s.fails(tool, args));
