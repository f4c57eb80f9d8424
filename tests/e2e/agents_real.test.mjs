// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The agents themselves read what `symposium sync` writes: each program's own `mcp list` names symposium, and those that connect
// to servers for it do connect (plugins.md SY-3). They are large, so the ordinary suite skips those that are not installed below
// SYMPOSIUM_AGENTS (default .build/agents, as npm lays it out); the slow one (TEST_SLOW) installs them there first. No account and
// no network is needed for what is asked of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before } from 'node:test';
import { bin, root, run, scenario } from './harness.mjs';
import { configure, symposium } from './agents.mjs';

const top = process.env.SYMPOSIUM_AGENTS ?? path.join(root, '.build/agents');
const program = name => path.join(top, 'node_modules/.bin', name);
const packages = {
    claude: '@anthropic-ai/claude-code', codex: '@openai/codex', copilot: '@github/copilot', gemini: '@google/gemini-cli',
    opencode: 'opencode-ai', qwen: '@qwen-code/qwen-code',
};
/** What its list says: named, or connected where it tries. */
const says = {
    claude: /symposium: symposium mcp-serve - .*Connected/, codex: /^symposium +symposium +mcp-serve /m, copilot: /symposium \(local\)/,
    gemini: /symposium: symposium mcp-serve \(stdio\)/, opencode: /symposium.*connected/, qwen: /symposium: symposium mcp-serve \(stdio\) - Connected/,
};
/** Where it has a file of the project that its list shows without a question of trust. */
const inProject = ['opencode', 'qwen'];

before(() => {
    if (!process.env.TEST_SLOW || process.env.SYMPOSIUM_AGENTS) return;
    const missing = Object.entries(packages).filter(([name]) => !fs.existsSync(program(name))).map(([, p]) => p);
    if (!missing.length) return;
    fs.mkdirSync(top, { recursive: true });
    spawnSync('npm', ['install', '--prefix', top, '--no-audit', '--no-fund', ...missing], { stdio: 'ignore', timeout: 1_200_000 });
});

for (const [agent, scope] of Object.keys(packages).flatMap(a => [[a, 'global'], ...(inProject.includes(a) ? [[a, 'project']] : [])]))
    scenario(`SY-3: ${agent} itself lists symposium after a sync with ${scope} scope, and a second sync leaves what it wrote`, { timeout: 300_000 }, async (place, t) => {
        if (!fs.existsSync(program(agent))) {
            t.skip(`${agent} is not installed (npm package ${packages[agent]}, below ${top})`);
            return;
        }
        configure(place, { agents: [agent], top: { 'hook-scope': scope } });
        fs.mkdirSync(place.path('work/.git'));
        fs.mkdirSync(place.path('bin'));
        fs.symlinkSync(bin, place.path('bin/symposium'));
        const env = { PATH: `${place.path('bin')}:${process.env.PATH}`, TERM: 'dumb', IS_SANDBOX: '1', HOME: place.path('home') };
        let r = await symposium(place, ['sync'], { env });
        assert.equal(r.code, 0, r.err);
        const list = await run(place, ['mcp', 'list'], { program: program(agent), env, ms: 60_000 });
        assert.match(`${list.out}${list.err}`.replace(/\x1b\[[0-9;]*m/g, ''), says[agent]);
        r = await symposium(place, ['sync'], { env });
        assert.equal(r.code, 0, r.err);
        assert.doesNotMatch(r.out, /written .*MCP entry/, 'it agrees with what the agent made of the file');
        // Some leave a process of their own behind, with our mark; what is ours has to be gone.
        for (const pid of place.survivors())
            if (!fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('symposium')) try { process.kill(pid, 'SIGKILL'); } catch { /* gone */ }
    });
