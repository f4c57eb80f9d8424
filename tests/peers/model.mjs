// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A scripted stand-in for the model of a real agent, on loopback: OpenAI chat completions and responses, Anthropic messages,
// Gemini generateContent, streamed or not.
//
//   const m = await model();      m.url, m.requests [{path, body}], m.close()
//
// What it does stands in the last message of the user: the first `CALL <tool> <json>` in it is made, if the agent offers that tool
// (`*name`: the first one whose name ends so) and no result of it is there yet; where it is not offered, but a tool that searches for
// tools is, that one is called first. Else it says `text`, word by word, with `pause` ms after each word (`SLOW <ms>` in the message
// sets it for that turn).
import http from 'node:http';
import { once } from 'node:events';

const sleep = ms => new Promise(done => setTimeout(done, ms));
const words = text => text.match(/\S+\s*/g) ?? [];

/** The text of a message's content in any of the four dialects. */
const plain = content => (typeof content === 'string' ? content
    : (content ?? []).map(part => part.text ?? part.input_text ?? '').join('\n'));

/** What to do in a turn: {call: {name, args}} or {say, pause}. `results`: of calls in this turn; `searched`: messages of the user. */
function decide({ asked, results, tools }, { text, pause, searched }) {
    const call = /CALL (\S+) (\{.*\})/.exec(asked);
    const name = call && tools.find(t => (call[1][0] === '*' ? t?.endsWith(call[1].slice(1)) : t === call[1]));
    const search = tools.find(t => /^tool_?search$/i.test(t ?? ''));
    if (name && results <= (searched.has(asked) ? 1 : 0)) return { call: { name, args: JSON.parse(call[2]) } };
    if (call && !name && search && !searched.has(asked)) {
        searched.add(asked);
        return { call: { name: search, args: { query: call[1].replace('*', '') } } };
    }
    return { say: text, pause: Number(/SLOW (\d+)/.exec(asked)?.[1] ?? pause) };
}

/** An event stream, ended by end(). */
function stream(res) {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    return {
        data: value => res.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`),
        event: (type, value) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`),
        end: () => res.end(),
    };
}
const whole = (res, value) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

async function spell({ say, pause }, put) {
    for (const word of words(say)) {
        put(word);
        if (pause) await sleep(pause);
    }
}

// --- OpenAI, chat completions -------------------------------------------------------------------------------------------
const chat = {
    turn(body) {
        const last = body.messages.findLastIndex(m => m.role === 'user');
        return {
            asked: plain(body.messages[last]?.content),
            results: body.messages.slice(last + 1).filter(m => m.role === 'tool').length,
            tools: (body.tools ?? []).map(t => t.function?.name),
        };
    },
    async answer(act, body, res) {
        const head = { id: 'chat-1', created: 1, model: body.model };
        const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
        const calls = act.call && [{ index: 0, id: 'call-1', type: 'function',
            function: { name: act.call.name, arguments: JSON.stringify(act.call.args) } }];
        const why = calls ? 'tool_calls' : 'stop';
        if (!body.stream) {
            whole(res, { ...head, object: 'chat.completion', usage,
                choices: [{ index: 0, finish_reason: why, message: { role: 'assistant', content: act.say ?? null, tool_calls: calls } }] });
            return;
        }
        const out = stream(res);
        const delta = (d, finish = null, more = {}) => out.data({ ...head, object: 'chat.completion.chunk', ...more,
            choices: [{ index: 0, delta: d, finish_reason: finish }] });
        delta({ role: 'assistant', content: '' });
        if (calls) delta({ tool_calls: calls });
        else await spell(act, word => delta({ content: word }));
        delta({}, why, { usage });
        out.data('[DONE]');
        out.end();
    },
};

// --- OpenAI, responses --------------------------------------------------------------------------------------------------
const responses = {
    turn(body) {
        const items = Array.isArray(body.input) ? body.input : [{ role: 'user', content: body.input }];
        const last = items.findLastIndex(m => m.role === 'user');
        return {
            asked: plain(items[last]?.content),
            results: items.slice(last + 1).filter(i => String(i.type).endsWith('_call_output')).length,
            // Codex has the tools of an MCP server in a namespace.
            tools: (body.tools ?? []).flatMap(t => (t.type === 'namespace' ? t.tools.map(inner => `${t.name}/${inner.name}`) : [t.name])),
        };
    },
    async answer(act, body, res) {
        const [name, namespace] = (act.call?.name ?? '').split('/').reverse();
        const usage = { input_tokens: 5, input_tokens_details: { cached_tokens: 0 }, output_tokens: 3,
            output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 8 };
        const item = act.call
            ? { id: 'item-1', type: 'function_call', call_id: 'call-1', name, namespace, arguments: JSON.stringify(act.call.args) }
            : { id: 'item-1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: act.say, annotations: [] }] };
        const response = (status, output) => ({ id: 'response-1', object: 'response', created_at: 1, status, model: body.model, output, usage });
        if (!body.stream) {
            whole(res, response('completed', [{ ...item, status: 'completed' }]));
            return;
        }
        const out = stream(res), at = { item_id: item.id, output_index: 0 };
        let n = 0;
        const event = (type, value) => out.event(type, { sequence_number: n++, ...value });
        event('response.created', { response: response('in_progress', []) });
        event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', ...(act.call ? { arguments: '' } : { content: [] }) } });
        if (act.call) {
            event('response.function_call_arguments.delta', { ...at, delta: item.arguments });
            event('response.function_call_arguments.done', { ...at, arguments: item.arguments });
        } else {
            event('response.content_part.added', { ...at, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } });
            await spell(act, word => event('response.output_text.delta', { ...at, content_index: 0, delta: word }));
            event('response.output_text.done', { ...at, content_index: 0, text: act.say });
            event('response.content_part.done', { ...at, content_index: 0, part: item.content[0] });
        }
        event('response.output_item.done', { output_index: 0, item: { ...item, status: 'completed' } });
        event('response.completed', { response: response('completed', [{ ...item, status: 'completed' }]) });
        out.end();
    },
};

// --- Anthropic, messages ------------------------------------------------------------------------------------------------
const messages = {
    turn(body) {
        const result = m => Array.isArray(m.content) && m.content.some(part => part.type === 'tool_result');
        const last = body.messages.findLastIndex(m => m.role === 'user' && !result(m));
        return {
            asked: plain(body.messages[last]?.content),
            results: body.messages.slice(last + 1).filter(result).length,
            tools: (body.tools ?? []).map(t => t.name),
        };
    },
    async answer(act, body, res) {
        const usage = { input_tokens: 5, output_tokens: 3 };
        const message = { id: 'message-1', type: 'message', role: 'assistant', model: body.model, stop_sequence: null, usage };
        const block = act.call ? { type: 'tool_use', id: 'use-1', name: act.call.name, input: act.call.args } : { type: 'text', text: act.say };
        const why = act.call ? 'tool_use' : 'end_turn';
        if (!body.stream) {
            whole(res, { ...message, content: [block], stop_reason: why });
            return;
        }
        const out = stream(res);
        out.event('message_start', { message: { ...message, content: [], stop_reason: null } });
        out.event('content_block_start', { index: 0, content_block: act.call ? { ...block, input: {} } : { type: 'text', text: '' } });
        const delta = value => out.event('content_block_delta', { index: 0, delta: value });
        if (act.call) delta({ type: 'input_json_delta', partial_json: JSON.stringify(act.call.args) });
        else await spell(act, word => delta({ type: 'text_delta', text: word }));
        out.event('content_block_stop', { index: 0 });
        out.event('message_delta', { delta: { stop_reason: why, stop_sequence: null }, usage });
        out.event('message_stop', {});
        out.end();
    },
};

// --- Gemini, generateContent --------------------------------------------------------------------------------------------
const gemini = {
    turn(body) {
        const contents = body.contents ?? [], result = c => (c.parts ?? []).some(part => part.functionResponse);
        const last = contents.findLastIndex(c => c.role === 'user' && !result(c));
        return {
            asked: plain(contents[last]?.parts),
            results: contents.slice(last + 1).filter(result).length,
            tools: (body.tools ?? []).flatMap(t => (t.functionDeclarations ?? []).map(f => f.name)),
        };
    },
    async answer(act, body, res, path) {
        const part = act.call ? { functionCall: { name: act.call.name, args: act.call.args } } : { text: act.say };
        const value = (parts, finishReason) => ({
            candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }], modelVersion: 'scripted',
            usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
        });
        if (!path.includes('stream')) {
            whole(res, value([part], 'STOP'));
            return;
        }
        const out = stream(res);
        if (act.say) await spell(act, word => out.data(value([{ text: word }])));
        out.data(value(act.call ? [part] : [{ text: '' }], 'STOP'));
        out.end();
    },
};

const dialects = [
    [/\/chat\/completions$/, chat],
    [/\/responses$/, responses],
    [/\/messages$/, messages],
    [/:(stream)?[gG]enerateContent$/, gemini],
];
const small = [
    [/\/count_tokens$/, { input_tokens: 5 }],
    [/:countTokens$/, { totalTokens: 5 }],
    [/\/models$/, { object: 'list', data: [{ id: 'scripted', object: 'model', created: 1, owned_by: 'us' }] }],
];

export async function model({ text = 'scripted words: done', pause = 0 } = {}) {
    const requests = [], searched = new Set();
    const server = http.createServer(async (req, res) => {
        const path = req.url.split('?')[0], chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        let body = {};
        try { body = JSON.parse(Buffer.concat(chunks).toString() || '{}'); } catch { /* none */ }
        requests.push({ path, body });
        res.on('error', () => {});
        try {
            const dialect = dialects.find(([pattern]) => pattern.test(path))?.[1];
            const fixed = small.find(([pattern]) => pattern.test(path))?.[1];
            if (dialect) await dialect.answer(decide(dialect.turn(body), { text, pause, searched }), body, res, path);
            else if (fixed) whole(res, fixed);
            else res.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such path"}}');
        } catch (e) {
            res.destroy(e);
        }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
        url: `http://127.0.0.1:${server.address().port}`, requests,
        close: () => { server.closeAllConnections(); server.close(); },
    };
}
