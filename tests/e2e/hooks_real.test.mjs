// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The real agents call our hooks, hear what they say and obey (HK-1, HK-4). Each runs headless against a model of ours on loopback.
// `./dev test --slow` installs them (tools/agents).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { bin, root, run, scenario, toml } from './harness.mjs';
import { configure, noAgent, realAgent, symposium } from './agents.mjs';

const shared = path.dirname(process.env.SYMPOSIUM_SHARED ?? path.join(root, '../shared/data'));
const model = path.join(shared, 'bench/acp-real/fake-llm.mjs');

/** The scripted model behind a proxy that keeps what the agents send: {url, sent(), close()}. */
async function startModel() {
    const child = spawn(process.execPath, [model, '0'], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FAKE_LLM_TTL_MS: '300000' } });
    const { port } = JSON.parse(await new Promise(done => child.stdout.once('data', done)));
    let sent = '';
    const proxy = http.createServer((q, r) => {
        const on = http.request({ port, host: '127.0.0.1', path: q.url, method: q.method, headers: q.headers }, a => {
            r.writeHead(a.statusCode, a.headers);
            a.pipe(r);
        });
        on.on('error', () => r.destroy());
        q.on('data', d => { sent += d; on.write(d); }).on('end', () => on.end());
    });
    await new Promise(done => proxy.listen(0, '127.0.0.1', done));
    return {
        url: `http://127.0.0.1:${proxy.address().port}`,
        sent: () => { const s = sent; sent = ''; return s; },
        close: () => { proxy.closeAllConnections(); proxy.close(); child.kill(); },
    };
}

const agents = {
    claude: {
        args: ['--permission-mode', 'acceptEdits', '-p'], events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
        env: url => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' }),
        tool: file => ['Write', { file_path: file, content: 'x' }],
    },
    codex: {
        args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'],
        events: ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'],
        env: () => ({ OPENAI_API_KEY: 'x' }),
        before: (place, url) => place.write('home/.codex/config.toml', `model = "fake"\nmodel_provider = "fake"\n[model_providers.fake]
name = "fake"\nbase_url = "${url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n`),
        tool: file => ['exec_command', { cmd: `touch ${file}` }],
    },
    gemini: {
        args: ['-y', '-m', 'gemini-2.5-flash', '-p'], events: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool'],
        env: url => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'x', GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
        before: place => place.write('home/.gemini/settings.json', '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'),
        tool: file => ['write_file', { file_path: file, content: 'x' }],
    },
    copilot: {
        args: ['--allow-all-tools', '-p'], events: ['sessionStart', 'userPromptSubmitted', 'preToolUse', 'postToolUse'],
        env: url => ({ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_API_KEY: 'x', COPILOT_MODEL: 'fake', COPILOT_OFFLINE: 'true' }),
        tool: file => ['bash', { command: `touch ${file}`, description: 't' }],
    },
};

for (const [name, agent] of Object.entries(agents)) {
    const skip = noAgent(name) || (!fs.existsSync(model) && 'there is no ../shared/bench');
    scenario(`HK-1 HK-4: the real ${name} runs our hooks at its events, passes their contexts on and obeys their denial`, { skip, secret: false }, async place => {
        const llm = await startModel();
        try {
            const h = (hook, event, script) => `\n[[hooks]]\n${toml({ name: hook, event, command: { executable: '/bin/sh', args: ['-c', script] } })}`;
            const say = (event, what) => `echo '${JSON.stringify({ [event]: what })}'`;
            configure(place, { agents: [name] });
            place.write('symposium/plugins/p/SYMPOSIUM.toml', `name = "p"\ndepends-on = ["*"]\n`
                + h('deny', 'PreToolUse', `if [ -e ${place.path('deny')} ]; then ${say('PreToolUse', { decision: 'deny', additionalContext: 'DENIED-BY-PLUGIN' })}; fi`)
                + h('start', 'SessionStart', say('SessionStart', { additionalContext: 'CONTEXT-OF-SESSION' }))
                + h('prompt', 'UserPromptSubmit', say('UserPromptSubmit', { additionalContext: 'CONTEXT-OF-PROMPT' }))
                + h('post', 'PostToolUse', say('PostToolUse', { additionalContext: 'CONTEXT-OF-RESULT' })));
            agent.before?.(place, llm.url);
            const programs = place.path('bin');
            fs.mkdirSync(programs);
            fs.symlinkSync(bin, path.join(programs, 'symposium'));
            const env = { PATH: `${programs}:${process.env.PATH}`, SYMPOSIUM_HOOK_TRACE: place.path('trace.jsonl'), TERM: 'dumb', ...agent.env(llm.url) };
            assert.equal((await symposium(place, ['sync'], { env })).code, 0);
            for (const deny of [false, true]) {
                const made = place.path(`work/made-${deny}`);
                if (deny) place.write('deny', '');
                fs.rmSync(place.path('trace.jsonl'), { force: true });
                llm.sent();
                const [tool, args] = agent.tool(made);
                const r = await run(place, [...agent.args, `TOOL:${tool}:${JSON.stringify(args)}`], { program: realAgent(name), env, ms: 120000 });
                const calls = place.lines('trace.jsonl').map(l => JSON.parse(l)), sent = llm.sent();
                const told = `${r.out}\n${r.err}\n${calls.map(c => `${c.event} ${c.output}`).join('\n')}`;
                assert.equal(fs.existsSync(made), !deny, told);
                for (const event of agent.events) if (!deny || !/post|after/i.test(event)) assert.ok(calls.some(c => c.event === event), `${event} was not called\n${told}`);
                assert.ok(calls.every(c => c.status === 0 && c.cwd === place.workspace), told);
                for (const text of ['CONTEXT-OF-SESSION', 'CONTEXT-OF-PROMPT', deny ? 'DENIED-BY-PLUGIN' : 'CONTEXT-OF-RESULT'])
                    assert.ok(sent.includes(text), `the model was not told ${text}\n${told}`);
            }
        } finally {
            llm.close();
        }
    });
}
