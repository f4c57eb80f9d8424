// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a provider may do to a run of `symposium agents`, and what a client may do to it at each of its steps.
import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { alive, basic, bin, node, npm, scenario, slack, sleep, until } from './harness.mjs';
import { model } from '../peers/model.mjs';
import { APIS, SECRET, definition, provider, refused, serve, serveTrusted, spawn, structured, wait } from './provider.mjs';
import { MODES, connect } from './sdk.mjs';

const slow = process.env.TEST_SLOW ? false : 'takes minutes: with --slow';
const yaml = servers => `mcpServers: ${JSON.stringify(servers)}\n`;
const base = (api, url) => (api === 'anthropic-messages' ? url : `${url}/v1`);

// --- whole runs -------------------------------------------------------------------------------------------------------------
for (const api of Object.keys(APIS))
    scenario(`AG-22 AG-23 AG-24 AG-26: over ${api} the scripted model calls a real server from npm, and goes on in the next turn`, async place => {
        const m = await model({ text: 'that was all' });
        try {
            const everything = npm('@modelcontextprotocol/server-everything/dist/index.js');
            const s = await serve(place, base(api, m.url), { api, more: yaml({ all: { command: node, args: [everything, 'stdio'] } }) });
            const id = await spawn(s, 'CALL all__get-sum {"a": 20, "b": 22}');
            assert.deepEqual((await wait(s, id, 60000)).agents[0], { agent_id: id, name: 'worker', status: 'completed', result: 'that was all',
                total_elapsed_ms: (await wait(s, id, 0)).agents[0].total_elapsed_ms });
            const asked = m.requests.filter(r => /responses|messages|completions/.test(r.path));
            assert.match(APIS[api].results(asked[1].body)[0], /42/);
            await s.call('send_input', { target: id, message: 'CALL all__echo {"message": "and now?"}' });
            assert.equal((await wait(s, id, 60000)).agents[0].result, 'that was all');
            const last = m.requests.at(-1).body;
            assert.match(APIS[api].results(last).at(-1), /and now/);
            assert.equal(APIS[api].asked(last).length, 2, 'the first turn is in the history');
        } finally {
            m.close();
        }
    });

for (const mode of MODES)
    scenario(`AG-5 AG-6 AG-7 AG-8 SV-10: the official client ${mode} hands a task on, adds to it and waits`, async place => {
        const p = await provider((q, n) => ({ body: APIS.responses.say(`answer ${n}`) }));
        place.write('work/.agents/agents/worker.md', definition(p.url));
        place.config({ plugins: { 'trust-workspace': 'always' } });
        const client = await connect(mode, { command: bin, args: ['agents', place.workspace], env: { ...place.env(), WORKER_KEY: SECRET }, cwd: place.workspace });
        try {
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map(t => [t.name, t.annotations.readOnlyHint]).sort(),
                [['send_input', false], ['spawn_agent', false], ['wait_agent', true]]);
            const call = async (name, args) => {
                const r = await client.callTool({ name, arguments: args });
                assert.notEqual(r.isError, true, r.content[0]?.text);
                return r.structuredContent;
            };
            const { agent_id } = await call('spawn_agent', { name: 'worker', task: 'x' });
            assert.equal((await call('wait_agent', { targets: [agent_id] })).agents[0].result, 'answer 1');
            await call('send_input', { target: agent_id, message: 'y' });
            assert.equal((await call('wait_agent', { targets: [agent_id] })).agents[0].result, 'answer 2');
            assert.equal((await client.callTool({ name: 'wait_agent', arguments: { targets: ['agt_none'] } })).isError, true);
        } finally {
            await client.close();
        }
    });

// --- interrupted at every step ----------------------------------------------------------------------------------------------
// `script` of the agent's own server, `answer` of the provider to the message 'first', and how the step shows that it is reached.
const STEPS = {
    'while its servers start': {
        script: { on: { initialize: [{ sleep: 600000 }] } }, once: true,
        reached: async (p, place) => place.received('own').some(m => m.method === 'initialize'),
    },
    'while the model thinks': { reached: async p => p.seen.length === 1, dropped: 0 },
    'while a request waits to be repeated': {
        answer: () => ({ status: 503, headers: { 'retry-after': '30' }, body: {} }),
        reached: async (p, place, s, id) => p.seen.length === 1 && (await sleep(50), (await wait(s, id, 0)).agents[0].status === 'running'),
    },
    'while a tool works': {
        script: { calls: { work: [{ sleep: 600000 }] } }, answer: (q, n, wire) => ({ body: wire.call([{ id: 'c', name: 'own__work', args: {} }]) }),
        reached: async (p, place) => place.calls('own').length === 1,
        after: (p, place) => until('its server is told', () => place.received('own').some(m => m.method === 'notifications/cancelled')),
    },
    'while one tool works and another has answered': {
        script: { calls: { work: [{ sleep: 600000 }] } },
        answer: (q, n, wire) => ({ body: wire.call([{ id: 'c', name: 'own__work', args: {} }, { id: 'd', name: 'nobody', args: {} }]) }),
        reached: async (p, place) => place.calls('own').length === 1,
    },
    'while the model reads what a tool said': {
        answer: (q, n, wire) => (n === 1 ? { body: wire.call([{ id: 'c', name: 'own__echo', args: { text: 'x' } }]) } : undefined),
        reached: async p => p.seen.length === 2, dropped: 1,
    },
};
const own = script => basic({ tools: [{ name: 'work', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }, ...basic().tools], ...script });

for (const [api, wire] of Object.entries(APIS))
    for (const [step, { script = {}, answer = () => undefined, reached, after, dropped, once }] of Object.entries(STEPS))
        scenario(`AG-12 AG-13: interrupted ${step} (${api}), the run goes on with the message, of the turn nothing is left`, async place => {
            const p = await provider((q, n) => (wire.asked(q.body).includes('instead') ? { body: wire.say('done') } : answer(q, n, wire)));
            const peer = place.peer('own', own(script));
            const s = await serve(place, p.url, { api, more: yaml({ own: { command: peer.command, args: peer.args } }) });
            const id = await spawn(s, 'first');
            await until('the step is reached', () => reached(p, place, s, id), 10000);
            if (once) place.peer('own', own({}));
            await s.call('send_input', { target: id, message: 'instead', interrupt: true });
            const { agents: [got] } = await wait(s, id);
            assert.deepEqual([got.status, got.result], ['completed', 'done'], JSON.stringify(got));
            assert.deepEqual(wire.asked(p.seen.at(-1).body), ['instead']);
            assert.deepEqual(wire.results(p.seen.at(-1).body), []);
            await after?.(p, place);
            if (dropped !== undefined) await until('the request was dropped', () => p.seen[dropped].dropped);
            await until('its servers have ended', () => !place.pids('own').some(alive), 6000);
        });

scenario('AG-12 AG-14: interrupted while its servers end, and while it ends itself, no message is lost', async place => {
    const wire = APIS.responses, p = await provider(q => ({ body: wire.say(`to ${wire.asked(q.body).at(-1)}`) }));
    const peer = place.peer('own', own({ ignore_eof: true }));
    const s = await serve(place, p.url, { more: yaml({ own: { command: peer.command, args: peer.args } }) });
    const id = await spawn(s, 'm0');
    for (let i = 1; i <= 12; i++) {
        await until('it was asked', () => p.seen.length >= i, 10000);
        await sleep(i * 15);
        await s.call('send_input', { target: id, message: `m${i}`, interrupt: i % 2 === 0 });
        await until('the message arrives', () => wire.asked(p.seen.at(-1).body).at(-1) === `m${i}`, 10000);
    }
    assert.equal((await wait(s, id)).agents[0].result, 'to m12');
});

// --- what a provider may do ---------------------------------------------------------------------------------------------------
/** Runs with these answers, one after the other, each to a message of its own: the results. */
async function outcomes(place, answers, opts) {
    const p = await provider((q, n) => answers[n - 1]), got = [];
    const s = await serve(place, p.url, opts);
    let id;
    while (p.seen.length < answers.length) {
        if (id) await s.call('send_input', { target: id, message: 'next' });
        else id = await spawn(s);
        got.push((await wait(s, id)).agents[0]);
    }
    assert.doesNotMatch(s.stdout + s.stderr, /leaked/);
    return { got, p };
}
const failure = a => (a.error ? [a.error.kind, a.error.message] : [a.status, a.result]);
const LEAK = 'leaked by the provider';

scenario('AG-20 AG-25: answers that are none, over all dialects: an error of ours, and the session can be resumed', async place => {
    for (const [api, wire] of Object.entries(APIS)) {
        const bad = ['', 'null', '[]', '{}', `<html>${LEAK}`, '"x"', '{"output":{},"content":{},"choices":{}}',
            '{"output":[7],"content":[7],"choices":[7]}', JSON.stringify(wire.say('')), JSON.stringify(wire.say(' \n ')), `${JSON.stringify(wire.say('x'))} more`];
        const { got } = await outcomes(place, [...bad.map(body => ({ body })), { body: wire.say('at last') }], { api });
        for (const a of got.slice(0, -1)) assert.equal(a.error?.kind, 'provider_error', `${api}: ${JSON.stringify(a)}`);
        assert.equal(got.at(-1).result, 'at last');
    }
});

scenario('AG-23 AG-24 AG-22 AG-25: the model refuses, or stops before its end', async place => {
    const at = async (api, bodies) => (await outcomes(place, bodies.map(body => ({ body })), { api })).got.map(failure);
    const block = (stop_reason, text = 'half') => ({ stop_reason, content: text ? [{ type: 'text', text }] : [] });
    assert.deepEqual(await at('anthropic-messages', [block('refusal'), block('max_tokens'), block('error'), block('end_turn')]), [
        ['provider_error', 'the model refused'], ['provider_error', 'the model stopped at max_tokens'],
        ['provider_error', 'the provider stopped with an error'], ['completed', 'half']]);
    const choice = finish_reason => ({ choices: [{ finish_reason, message: { role: 'assistant', content: 'half' } }] });
    assert.deepEqual(await at('chat-completions', [choice('length'), choice('content_filter'), choice('stop')]), [
        ['provider_error', 'the model stopped at its length limit'], ['provider_error', 'the provider\'s content filter stopped the answer'],
        ['completed', 'half']]);
    const said = status => ({ ...APIS.responses.say('half'), status, incomplete_details: { reason: LEAK } });
    assert.deepEqual(await at('responses', [said('incomplete'), said('failed'), said('completed')]), [
        ['provider_error', 'the provider did not complete its answer'], ['provider_error', 'the provider did not complete its answer'],
        ['completed', 'half']]);
});

scenario('AG-23: pause_turn asks once more with what was said', async place => {
    const { got, p } = await outcomes(place, [
        { body: { stop_reason: 'pause_turn', content: [{ type: 'text', text: 'a moment' }] } }, { body: APIS['anthropic-messages'].say('there') },
    ], { api: 'anthropic-messages' });
    assert.equal(got[0].result, 'there');
    assert.deepEqual(p.seen[1].body.messages.map(m => m.role), ['user', 'assistant']);
});

scenario('AG-2: a model that allows fewer tokens than the definition asks for is asked with fewer', async place => {
    const { got, p } = await outcomes(place, [
        { status: 400, body: { error: { message: 'max_tokens: 32000 > 4096, the maximum for this model' } } }, { body: APIS['anthropic-messages'].say('short') },
    ], { api: 'anthropic-messages' });
    assert.equal(got[0].result, 'short');
    assert.deepEqual(p.seen.map(q => q.body.max_tokens <= 8192), [false, true]);
});

scenario('AG-21: what is worth it is repeated three times, the rest never', async place => {
    for (const status of [429, 500, 502, 503, 529]) {
        const again = { status, headers: { 'retry-after': '0' }, body: { error: LEAK } };
        const { got, p } = await outcomes(place, [again, again, again, again]);
        assert.deepEqual(failure(got[0]), ['provider_error', `provider returned HTTP status ${status}`]);
        assert.equal(p.seen.length, 4);
    }
    for (const status of [400, 401, 403, 404, 409, 422, 501, 504, 300, 301, 302, 303, 307, 308]) {
        const { got } = await outcomes(place, [{ status, headers: { location: 'http://127.0.0.1:1/' }, body: LEAK }]);
        assert.deepEqual(failure(got[0]), ['provider_error', `provider returned HTTP status ${status}`]);
    }
    const { got } = await outcomes(place, [{ status: 413, body: LEAK }, { status: 400, body: { error: { message: 'context window exceeded' } } }]);
    assert.deepEqual(got.map(a => a.error.kind), ['context_limit', 'context_limit']);
});

scenario('AG-21: a provider that is not there, or closes before any byte, is asked again; one that breaks off is not', async place => {
    const wire = APIS.responses;
    const p = await provider((q, n) => (n <= 2 ? 'close' : { body: wire.say('came back') }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    assert.equal((await wait(s, id)).agents[0].result, 'came back');
    const cut = await provider(() => 'cut'), t = await serve(place, cut.url);
    assert.match((await wait(t, await spawn(t))).agents[0].error.message, /the provider's answer broke off/);
    assert.equal(cut.seen.length, 1);
    const u = await serve(place, 'http://127.0.0.1:9/v1');
    assert.match((await wait(u, await spawn(u))).agents[0].error.message, /the provider cannot be reached/);
});

scenario('AG-20: an answer of more than 8 MiB is a provider_error, a conversation of more a context_limit; both can be resumed', async place => {
    const wire = APIS.responses, half = 'x'.repeat(900 << 10);
    const p = await provider((q, n) => {
        const asked = wire.asked(q.body).at(-1);
        if (asked === 'much') return { body: wire.say('x'.repeat(9 << 20)) };
        if (asked === 'grow') return { body: wire.call([{ id: `c${n}`, name: 'own__big', args: {} }]) };
        return { body: wire.say('small') };
    });
    const peer = place.peer('own', own({ tools: [{ name: 'big', inputSchema: { type: 'object' } }], calls: { big: [{ text: half }] } }));
    const s = await serve(place, p.url, { more: yaml({ own: { command: peer.command, args: peer.args } }) });
    const id = await spawn(s, 'much');
    assert.deepEqual(failure((await wait(s, id, 60000)).agents[0]), ['provider_error', 'the provider\'s answer has more than 8388608 bytes']);
    await s.call('send_input', { target: id, message: 'grow' });
    assert.deepEqual(failure((await wait(s, id, 60000)).agents[0]), ['context_limit', 'the conversation has become longer than 8388608 bytes']);
    await s.call('send_input', { target: id, message: 'little' });
    const last = (await wait(s, id, 60000)).agents[0];
    assert.equal(last.result, 'small');
    assert.deepEqual(wire.asked(p.seen.at(-1).body), ['little']);
    assert.ok(p.seen.every(q => JSON.stringify(q.body).length <= 8 << 20));
});

scenario('AG-20 AG-25: max_turns requests for a message, then it ends; eight rounds of failed calls end it too', async place => {
    const wire = APIS.responses;
    place.write('work/a.txt', 'alpha');
    const read = wire.call([{ id: 'c', name: 'filesystem__read_text_file', args: { path: 'a.txt' } }]);
    const bad = wire.call([{ id: 'c', name: 'filesystem__read_text_file', args: { path: 'none' } }, { id: 'd', name: 'filesystem__read_text_file', args: [1] }]);
    const p = await provider(q => ({ body: wire.asked(q.body).at(-1) === 'read' ? read : bad }));
    const s = await serve(place, p.url, { more: 'maxTurns: 12\n' });
    const id = await spawn(s, 'read');
    assert.deepEqual(failure((await wait(s, id, 60000)).agents[0]), ['provider_error', 'exceeded the configured turn limit']);
    assert.equal(p.seen.length, 12);
    await s.call('send_input', { target: id, message: 'fail' });
    assert.deepEqual(failure((await wait(s, id, 60000)).agents[0]), ['child_mcp_tool_error', '8 rounds of tool calls in a row failed']);
    assert.equal(p.seen.length, 20);
    assert.match(wire.results(p.seen.at(-1).body).at(-1), /the arguments must be a JSON object/);
});

scenario('AG-25: calls of one answer run side by side, their results stand in its order', async place => {
    const wire = APIS.responses;
    const peer = place.peer('own', own({ calls: { echo: [{ sleep: 500 }, { echo: true }] } }));
    const p = await provider((q, n) => ({ body: n === 1
        ? wire.call(Array.from({ length: 20 }, (_, i) => ({ id: `c${i}`, name: 'own__echo', args: { text: `t${i}.` } }))) : wire.say('ok') }));
    const s = await serve(place, p.url, { more: yaml({ own: { command: peer.command, args: peer.args } }) });
    await wait(s, await spawn(s));
    assert.ok(p.seen[1].at - p.seen[0].at < 500 * 4 * slack);
    assert.ok(p.seen[1].at - p.seen[0].at < 20 * 500, 'side by side');
    wire.results(p.seen[1].body).forEach((r, i) => assert.match(r, new RegExp(`t${i}\\.`)));
});

scenario('AG-24 AG-3: a server on loopback without a key gets no credential', async place => {
    const p = await provider(() => ({ body: APIS['chat-completions'].say('ok') }));
    place.write('work/.agents/agents/worker.md', definition(p.url, 'chat-completions').replace(/envKey.*\n/, ''));
    const s = await place.serve('agents', [place.workspace]);
    assert.equal((await wait(s, await spawn(s))).agents[0].result, 'ok');
    assert.equal(p.seen[0].headers.authorization, undefined);
});

scenario('AG-25 AG-20: a provider that never answers is given up after two minutes', { skip: slow }, async place => {
    const p = await provider(() => undefined), s = await serve(place, p.url);
    const id = await spawn(s);
    assert.deepEqual(failure((await wait(s, id, 150000)).agents[0]), ['provider_timeout', 'the provider did not answer within 120 s']);
    await until('the request was dropped', () => p.seen[0].dropped);
});

scenario('AG-11 AG-12: a hundred messages to eight agents, as many refused as do not fit, none lost, none twice', async place => {
    const wire = APIS.responses, open = [];
    const p = await provider(q => (wire.asked(q.body).at(-1) === 'wait' ? new Promise(done => open.push(done)) : { body: wire.say('ok') }));
    const s = await serve(place, p.url), ids = [];
    for (let i = 0; i < 8; i++) ids.push(await spawn(s, 'wait'));
    await until('all wait', () => open.length === 8, 10000);
    const sent = await Promise.all(Array.from({ length: 8 * 17 }, async (_, i) => {
        const r = await s.request('tools/call', { name: 'send_input', arguments: { target: ids[i % 8], message: `m${i}` } });
        return r.result.isError ? JSON.parse(r.result.content[0].text).kind : [ids[i % 8], `m${i}`];
    }));
    assert.equal(sent.filter(x => x === 'queue_full').length, 8);
    open.forEach(done => done({ body: wire.say('waited') }));
    assert.equal((await wait(s, ids, 60000)).timed_out, false);
    const asked = p.seen.map(q => wire.asked(q.body).at(-1)).filter(m => m !== 'wait');
    assert.deepEqual(asked.sort(), sent.filter(Array.isArray).map(x => x[1]).sort());
});

scenario('AG-20 AG-25: bombs, floods and nonsense of a provider end in an error, and the server is as quick as before', async place => {
    const wire = APIS.responses, calls = n => wire.call(Array.from({ length: n }, (_, i) => ({ id: 'same', name: `t${i}`, args: {} })));
    const odd = wire.call([{ id: 'i', name: '../../etc\u0000\n"; drop', args: {} }, { id: 'j', name: 'x'.repeat(100000), args: {} }]);
    const hostile = [
        [{ headers: { 'content-encoding': 'gzip' }, body: zlib.gzipSync(Buffer.alloc(200 << 20)) }, /more than 8388608 bytes/],
        [{ body: '['.repeat(2000000) }, /no JSON/], [{ body: `{"output":${'['.repeat(100000)}${']'.repeat(100000)}}` }, /./],
        [{ body: calls(129) }, /too many calls at once/], [{ headers: { 'x-flood': 'x'.repeat(100000) }, body: wire.say('x') }, /headers/],
        [{ body: '\ufeff\u0000' }, /no JSON/], [{ body: Buffer.from('{"output":[],"output_text":"\xff\xfe"}', 'latin1') }, /./],
        [{ status: 429, headers: { 'retry-after': '99999999999999999999' }, body: '' }, undefined],
    ];
    const p = await provider((q, n) => (n <= hostile.length ? hostile[n - 1][0] : n <= hostile.length + 2 ? { body: n === hostile.length + 1 ? calls(128) : odd } : { body: wire.say('still here') }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    for (const [, want] of hostile) {
        if (!want) break;
        const { error } = (await wait(s, id, 60000)).agents[0];
        assert.equal(error?.kind, 'provider_error');
        assert.match(error.message, want);
        await s.ping();
        await s.call('send_input', { target: id, message: 'next' });
    }
    await until('it was asked', () => p.seen.length === hostile.length, 5000);   // now it would wait for a very long time: 30 s at most
    await s.call('send_input', { target: id, message: 'go on', interrupt: true });
    assert.equal((await wait(s, id, 60000)).agents[0].result, 'still here');
    assert.equal(wire.results(p.seen.at(-1).body).length, 130);
});

scenario('AG-7: a result that no answer could hold is cut, and says so', async place => {
    const p = await provider((q, n) => ({ body: APIS.responses.say((n === 1 ? '\\' : '\u0001').repeat(700 << 10)) })), s = await serve(place, p.url);
    const id = await spawn(s);
    for (const c of ['\\', '\u0001']) {
        if (c !== '\\') await s.call('send_input', { target: id, message: 'again' });
        const { result } = (await wait(s, id)).agents[0];
        assert.match(result.slice(-60), /\n\[cut: the first 524288 of 716800 bytes\]$/);
        assert.equal(result.length, 524288 + 40);
        assert.equal(result[0], c);
    }
});

for (const api of ['responses', 'chat-completions'])
    scenario(`AG-25: arguments as an object, as some compatible servers send them, are taken (${api})`, async place => {
        const wire = APIS[api];
        place.write('work/a.txt', 'alpha');
        const answer = JSON.parse(JSON.stringify(wire.call([{ id: 'c', name: 'filesystem__read_text_file', args: { path: 'a.txt' } }])).replace(/"arguments":"((?:[^"\\]|\\.)*)"/, (_, t) => `"arguments":${JSON.parse(`"${t}"`)}`));
        const p = await provider((q, n) => ({ body: n === 1 ? answer : wire.say('read') })), s = await serve(place, p.url, { api });
        await wait(s, await spawn(s));
        assert.match(wire.results(p.seen[1].body)[0], /alpha/);
    });
