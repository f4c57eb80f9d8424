// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium agents` (servers.md 9): definitions, runs against a scripted provider in all three dialects, real child servers, limits.
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { scenario } from './harness.mjs';

const SECRET = 'sk-never-shown-0123456789';
const sleep = ms => new Promise(done => setTimeout(done, ms));

// --- a provider of ours: answer(request) gives {status, headers, body}, or nothing to hang ----------------------------------
const APIS = {
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

async function provider(t, answer) {
    const seen = [];
    const server = http.createServer(async (req, res) => {
        const chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        const request = { path: req.url, headers: req.headers, body: JSON.parse(Buffer.concat(chunks)), at: Date.now() };
        seen.push(request);
        res.on('error', () => {});
        const a = await answer(request, seen.length);
        if (!a) return;
        res.writeHead(a.status ?? 200, { 'content-type': 'application/json', ...a.headers })
            .end(typeof a.body === 'string' ? a.body : JSON.stringify(a.body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return { seen, url: `http://127.0.0.1:${server.address().port}/v1` };
}

const definition = (url, api = 'responses', more = '') => `---
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

async function serve(place, url, { api, more } = {}) {
    place.write('work/.agents/agents/worker.md', definition(url, api, more));
    return place.serve('agents', [place.workspace], { env: { WORKER_KEY: SECRET } });
}
const structured = r => r.structuredContent;
const spawn = async (s, task = 'do it', name = 'worker') => structured(await s.call('spawn_agent', { name, task })).agent_id;
const wait = async (s, targets, timeout_ms = 20000) =>
    structured(await s.call('wait_agent', { targets: [targets].flat(), timeout_ms }));
const refused = async (s, tool, args) => JSON.parse(await s.fails(tool, args));

for (const [api, wire] of Object.entries(APIS)) {
    scenario(`AG-5 AG-7 AG-22 AG-23 AG-24 AG-25 AG-27: a whole run over ${api}, with parallel calls of our filesystem`, async place => {
        place.write('work/a.txt', 'alpha');
        place.write('work/b.txt', 'beta');
        const p = await provider(null, (q, n) => ({ body: n === 1
            ? wire.call([{ id: 'c1', name: 'filesystem__read_text_file', args: { path: 'a.txt' } },
                { id: 'c2', name: 'filesystem__read_text_file', args: { path: 'b.txt' } },
                { id: 'c3', name: 'nobody__knows', args: {} }])
            : wire.say('all read') }));
        const s = await serve(place, p.url, { api });
        const id = await spawn(s);
        assert.match(id, /^agt_[0-9a-f]{32}$/);
        const got = await wait(s, id);
        assert.equal(got.timed_out, false);
        assert.equal(got.agents[0].status, 'completed');
        assert.equal(got.agents[0].result, 'all read');
        const results = wire.results(p.seen[1].body);
        assert.match(results[0], /alpha/);
        assert.match(results[1], /beta/);
        assert.match(results[2], /there is no such tool/);
        assert.ok(wire.tools(p.seen[0].body).includes('filesystem__read_text_file'));
        assert.ok(!wire.tools(p.seen[0].body).some(n => /write|edit/.test(n)), 'AG-4: reading alone');
        assert.doesNotMatch(s.stdout + (s.stderr ?? ''), new RegExp(SECRET));
    });
}

scenario('AG-6 AG-12 AG-14: a follow-up goes on with the same history', async place => {
    const wire = APIS.responses;
    const p = await provider(null, (q, n) => ({ body: wire.say(`answer ${n}`) }));
    const s = await serve(place, p.url);
    const id = await spawn(s, 'first');
    await wait(s, id);
    assert.deepEqual(structured(await s.call('send_input', { target: id, message: 'second' })),
        { agent_id: id, accepted: true, status: 'running' });
    assert.equal((await wait(s, id)).agents[0].result, 'answer 2');
    assert.deepEqual(wire.asked(p.seen[1].body), ['first', 'second']);
});

scenario('AG-13 AG-12: interrupt drops the turn under way, and nothing of it stays in the history', async place => {
    const wire = APIS.responses;
    const p = await provider(null, (q, n) => (n === 1 ? undefined : { body: wire.say('done') }));
    const s = await serve(place, p.url);
    const id = await spawn(s, 'hang');
    while (!p.seen.length) await sleep(20);
    await s.call('send_input', { target: id, message: 'instead', interrupt: true });
    assert.equal((await wait(s, id)).agents[0].result, 'done');
    assert.deepEqual(wire.asked(p.seen[1].body), ['instead']);
});

scenario('AG-11 AG-12 AG-16: nine agents are one too many, 17 messages too; a wait of 0 tells what is', async place => {
    const p = await provider(null, () => undefined);
    const s = await serve(place, p.url);
    const ids = [];
    for (let i = 0; i < 8; i++) ids.push(await spawn(s));
    assert.equal((await refused(s, 'spawn_agent', { name: 'worker', task: 'x' })).kind, 'capacity_exceeded');
    while (p.seen.length < 8) await sleep(20);
    for (let i = 0; i < 16; i++) await s.call('send_input', { target: ids[0], message: `m${i}` });
    for (let i = 0; i < 84; i++)
        assert.equal((await refused(s, 'send_input', { target: ids[0], message: 'x' })).kind, 'queue_full');
    const now = await wait(s, ids, 0);
    assert.equal(now.timed_out, true);
    assert.deepEqual(now.agents.map(a => a.agent_id), ids);
    assert.equal(now.agents[0].activity.phase, 'model');
});

scenario('AG-21: 429 with Retry-After is repeated; AG-20: a redirect is an error and the credential goes nowhere', async place => {
    const wire = APIS.responses;
    const other = await provider(null, () => ({ body: wire.say('stolen') }));
    const p = await provider(null, (q, n) => (n === 1 ? { status: 429, headers: { 'retry-after': '1' }, body: {} }
        : n === 2 ? { body: wire.say('ok') } : { status: 307, headers: { location: `${other.url}/responses` }, body: {} }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    assert.equal((await wait(s, id)).agents[0].result, 'ok');
    assert.ok(p.seen[1].at - p.seen[0].at >= 990);
    await s.call('send_input', { target: id, message: 'again' });
    const failed = (await wait(s, id)).agents[0];
    assert.deepEqual(failed.error, { kind: 'provider_error', message: 'provider returned HTTP status 307' });
    assert.equal(other.seen.length, 0);
});

scenario('AG-25 AG-9: the provider\'s texts are not passed on; a full context is context_limit and can be resumed', async place => {
    const wire = APIS.responses;
    const p = await provider(null, (q, n) => (n === 1 ? { status: 400, body: { error: { message: `Context Length exceeded ${SECRET}` } } }
        : n === 2 ? { status: 401, body: { error: { message: `bad key ${SECRET}` } } } : { body: wire.say('ok') }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    assert.equal((await wait(s, id)).agents[0].error.kind, 'context_limit');
    await s.call('send_input', { target: id, message: 'again' });
    assert.equal((await wait(s, id)).agents[0].error.message, 'provider returned HTTP status 401');
    await s.call('send_input', { target: id, message: 'again' });
    assert.equal((await wait(s, id)).agents[0].result, 'ok');
    assert.doesNotMatch(s.stdout, new RegExp(SECRET));
});

scenario('AG-8 AG-9 AG-16: wrong arguments, unknown agents, a missing variable', async place => {
    const p = await provider(null, () => undefined);
    place.write('work/.agents/agents/other.md', definition(p.url).replace('worker', 'other').replace('WORKER_KEY', 'NO_SUCH_KEY'));
    const s = await serve(place, p.url);
    assert.equal((await refused(s, 'spawn_agent', { name: 'worker', task: 'x', more: 1 })).kind, 'invalid_request');
    assert.equal((await refused(s, 'spawn_agent', { name: 'nobody', task: 'x' })).kind, 'unknown_agent');
    assert.equal((await refused(s, 'send_input', { target: 'agt_0', message: 'x' })).kind, 'unknown_agent');
    assert.equal((await refused(s, 'wait_agent', { targets: [] })).kind, 'invalid_request');
    assert.equal((await refused(s, 'wait_agent', { targets: ['agt_0'] })).kind, 'unknown_agent');
    assert.deepEqual(await refused(s, 'spawn_agent', { name: 'other', task: 'x' }),
        { kind: 'missing_environment_variable', message: 'Required environment variable NO_SUCH_KEY is not available.' });
});

scenario('AG-15: 64 that ended are kept; the one used longest ago goes, and cannot be resumed', async place => {
    const p = await provider(null, () => ({ body: APIS.responses.say('ok') }));
    const s = await serve(place, p.url);
    const ids = [];
    for (let i = 0; i < 65; i++) {
        ids.push(await spawn(s));
        await wait(s, ids[i]);
    }
    assert.equal((await refused(s, 'send_input', { target: ids[0], message: 'x' })).kind, 'unknown_agent');
    assert.equal((await wait(s, ids[1], 0)).agents[0].status, 'completed');
});
