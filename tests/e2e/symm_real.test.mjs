// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Real agents behind `symposium symm`, each with a model by script (tests/peers/model.mjs): a whole turn, an allowed tool that is
// really done, a rejected one that really is not although the user's own settings would let it through (so the pins are in force),
// a cancel in mid-turn, a resume in a new process; and agents that hand work on, and reach the meta-server. Nothing leaves loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { alive, basic, scenario, slack, until } from './harness.mjs';
import { noAgent, realAgent, realAgents } from './agents.mjs';
import { model } from '../peers/model.mjs';
import { agents, ask, ended, events, spawn } from './tasks.mjs';

const json = JSON.stringify;
const WORDS = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');

/**
 * name of the agent: the program; `env` and `files` (below HOME) for a turn without account and network, in which the user lets
 * everything pass; options of spawn_task; a tool of the agent that makes a file, and the kind that it is asked for as.
 */
const AGENTS = {
    qwen: {
        program: 'qwen', options: { auth_type: 'openai' },
        env: url => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'x', OPENAI_MODEL: 'scripted' }),
        files: { '.qwen/settings.json': json({ tools: { approvalMode: 'yolo' } }) },
        tool: f => `run_shell_command ${json({ command: `touch ${f}`, is_background: false, description: 'a file' })}`, kind: 'execute',
    },
    opencode: {
        program: 'opencode',
        env: url => ({
            OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1',
            OPENCODE_CONFIG_CONTENT: json({
                model: 'ours/scripted', small_model: 'ours/scripted', autoupdate: false, share: 'disabled', permission: { '*': 'allow', edit: 'allow', bash: 'allow' },
                provider: { ours: { npm: '@ai-sdk/openai-compatible', name: 'Ours', options: { baseURL: `${url}/v1`, apiKey: 'x' },
                    models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 32000, output: 2000 } } } } },
            }),
        }),
        tool: f => `write ${json({ filePath: f, content: 'x' })}`, kind: 'edit',
    },
    gemini: {
        program: 'gemini', options: { model: 'gemini-2.5-flash', auth_method: 'gemini-api-key' },
        env: url => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'x' }),
        files: { '.gemini/settings.json': json({ general: { defaultApprovalMode: 'auto_edit' } }) },
        tool: f => `write_file ${json({ file_path: f, content: 'x' })}`, kind: 'edit', slow: true, minute: true,
    },
    claude_code: {
        program: 'claude-agent-acp',
        env: url => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' }),
        files: { '.claude/settings.json': json({ permissions: { defaultMode: 'acceptEdits' } }) },
        tool: f => `Write ${json({ file_path: f, content: 'x' })}`, kind: 'edit', slow: true,
    },
    codex: {
        program: 'codex-acp',
        env: () => ({ OPENAI_API_KEY: 'x' }),
        files: { '.codex/config.toml': url => 'model = "scripted"\nmodel_provider = "ours"\napproval_policy = "never"\n[model_providers.ours]\nname = "ours"\n'
            + `base_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n` },
        tool: f => `exec_command ${json({ cmd: `touch ${f}`, sandbox_permissions: 'require_escalated', justification: 'a file' })}`, kind: 'execute',
        slow: true, rejected: 'failed',
    },
    copilot: {
        program: 'copilot',
        env: url => ({ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_API_KEY: 'x', COPILOT_MODEL: 'scripted',
            COPILOT_OFFLINE: 'true', COPILOT_ALLOW_ALL: 'true' }),
        tool: f => `bash ${json({ command: `touch ${f}`, description: 'a file' })}`, kind: 'execute', slow: true,
    },
};

/** [name, acp-version] of all that are tested. */
const CASES = [...Object.keys(AGENTS).map(name => [name, 1]), ['codex', 2]];
const skipped = a => (a.slow && !process.env.TEST_SLOW ? `takes its time: TEST_SLOW` : noAgent(a.program));

/** body(server, model, place): `server` has the agent on its PATH, and its HOME is the Place's. */
async function withAgent(place, name, version, body, { text = 'scripted words: done', others } = {}) {
    const a = AGENTS[name], m = await model({ text });
    agents(place, { tasks: { 'acp-version': version }, others });
    for (const [file, content] of Object.entries(a.files ?? {})) place.write(path.join('home', file), typeof content === 'function' ? content(m.url) : content);
    execFileSync('git', ['init', '-q', place.workspace]);
    const env = { ...a.env(m.url), PATH: `${path.join(realAgents, 'node_modules/.bin')}:${process.env.PATH}` };
    try {
        const s = await place.serve('symm', [], { env });
        await body(s, m, a, (prompt, more = {}) => ask(s, 'spawn_task', { agent: name, prompt, ...more, options: { ...a.options, ...more.options } }, { ms: 60000 }));
        await s.eof(30000);
    } finally {
        m.close();
    }
}

/** What went wrong, for a message. */
const story = async (s, id) => json((await events(s, id, { types: ['error', 'stderr', 'permission', 'status_changed'] })).slice(-12));

for (const [name, version] of CASES) {
    const a = AGENTS[name], skip = skipped(a), called = `${name}${version === 2 ? ' (version 2)' : ''}`;

    scenario(`TK-33: ${called}: a whole turn, and a resume of it in a new process`, { skip }, place => withAgent(place, name, version, async (s, m, _, begin) => {
        const one = (await begin('Say something.')).task_id, first = await ended(s, one, 500);
        assert.deepEqual([first.status, first.stop_reason], ['succeeded', 'end_turn'], await story(s, one));
        assert.match(first.result_text, /scripted words: done/);
        assert.ok(first.session_id);
        const [started] = await events(s, one, { types: ['process_started'] });
        assert.equal(alive(started.data.pid), false);
        const before = m.requests.length;
        // Gemini names a session's file by the minute, and does not find its own again while that minute lasts.
        if (a.minute) await new Promise(done => setTimeout(done, 60000 - Date.now() % 60000));
        const two = (await begin('And once more.', { session_id: first.session_id })).task_id, second = await ended(s, two, 500);
        assert.deepEqual([second.status, second.session_id], ['succeeded', first.session_id], await story(s, two));
        assert.ok(m.requests.slice(before).some(r => json(r.body).includes('Say something.') && json(r.body).includes('And once more.')), 'the model saw both turns');
        assert.equal((await events(s, two, { types: ['agent_message'] })).map(e => e.data.text).join('').match(/scripted words/g).length, 1, 'history is no part of the turn');
    }));

    scenario(`TK-31 TK-33: ${called}: an allowed tool is really done, a rejected one is really not, whatever the user's settings let pass`, { skip }, place => withAgent(place, name, version, async (s, m, _, begin) => {
        for (const allow of [[a.kind], []]) {
            const file = path.join(place.workspace, allow.length ? 'allowed' : 'rejected');
            const id = (await begin(`CALL ${a.tool(file)}`, { allow })).task_id, r = await ended(s, id, 500);
            const asked = await events(s, id, { types: ['permission'] });
            assert.ok(asked.length > 0, `it asked: ${await story(s, id)}`);
            assert.equal(fs.existsSync(file), allow.length > 0, `${file}: ${await story(s, id)}`);
            assert.equal(r.status, allow.length ? 'succeeded' : a.rejected ?? 'succeeded', await story(s, id));
        }
    }));

    scenario(`TK-21 TK-33: ${called}: a cancel in mid-turn takes less than a second`, { skip }, place => withAgent(place, name, version, async (s, m, _, begin) => {
        const id = (await begin('SLOW 150')).task_id;
        await until('it speaks', async () => (await events(s, id, { types: ['agent_message'] })).length > 0, 30000);
        const from = performance.now();
        const r = await ask(s, 'cancel_task', { task_id: id }, { ms: 60000 });
        const took = performance.now() - from;
        assert.equal(r.status, 'cancelled', await story(s, id));
        const [turn] = await events(s, id, { types: ['process_exited'] });
        assert.equal(turn.data.stop_reason ?? 'cancelled', 'cancelled');
        console.log(`${called}: cancelled in ${Math.round(took)} ms`);
        assert.ok(took < (a.stays ?? 1000) * slack, `${took} ms`);
    }, { text: WORDS }));
}

const everything = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'];
for (const name of ['qwen', 'opencode', 'claude_code', 'codex']) {
    const a = AGENTS[name], skip = skipped(a);

    scenario(`TK-24 TK-33: ${name} hands work on through our own server: both tasks are in one ledger`, { skip }, place => withAgent(place, name, 1, async (s, m, _, begin) => {
        const id = (await begin(`CALL *spawn_task ${json({ agent: 'fake', prompt: 'acp: text=from_below' })}`, { allow: everything, options: { symposium: true } })).task_id;
        const r = await ended(s, id, 500);
        assert.equal(r.status, 'succeeded', await story(s, id));
        const all = (await ask(s, 'list_tasks', {})).tasks;
        assert.equal(all.length, 2, `${json(all.map(t => [t.agent, t.status]))} ${await story(s, id)} tools: ${json(toolsOf(m))}`);
        const below = all.find(t => t.task_id !== id);
        assert.deepEqual([below.agent, below.parent_task_id], ['fake', id]);
        assert.ok(['succeeded', 'cancelled'].includes((await ended(s, below.task_id, 60)).status), 'it ended by itself, or with the agent that owned it');
    }));

    scenario(`TK-33: ${name} reaches our meta-server through session/new.mcpServers`, { skip }, place => withAgent(place.peers({ ours: basic() }), name, 1, async (s, m, _, begin) => {
        const id = (await begin(`CALL *execute ${json({ script: 'await ours.echo({ text: "forty" + (40 + 2) })' })}`, { allow: everything, options: { symposium: true } })).task_id;
        const r = await ended(s, id, 500);
        assert.equal(r.status, 'succeeded', await story(s, id));
        assert.ok(m.requests.some(q => json(q.body).includes('forty42')), `the model got its result; tools: ${json(toolsOf(m))}`);
    }));
}

/** Names of the tools that the model was offered last. */
const toolsOf = m => (m.requests.findLast(r => r.body.tools?.length)?.body.tools ?? []).map(t => t.function?.name ?? t.name);
