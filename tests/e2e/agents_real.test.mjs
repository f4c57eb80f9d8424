// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The agents themselves read what `symposium sync` writes: each program's own `mcp list` names symposium, and those that connect
// to servers for it do connect (plugins.md SY-3). They are large, so the ordinary suite has two of them, the slow one all
// (tools/agents). No account and no network is needed for what is asked of them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { bin, run, scenario } from './harness.mjs';
import { configure, noAgent, realAgent, symposium } from './agents.mjs';

/** What its list says: named, or connected where it tries. */
const says = {
    claude: /symposium: symposium mcp-serve - .*Connected/, codex: /^symposium +symposium +mcp-serve /m, copilot: /symposium \(local\)/,
    gemini: /symposium: symposium mcp-serve \(stdio\)/, opencode: /symposium.*connected/, qwen: /symposium: symposium mcp-serve \(stdio\) - Connected/,
};
/** Where it has a file of the project that its list shows without a question of trust. */
const inProject = ['opencode', 'qwen'];

for (const [agent, scope] of Object.keys(says).flatMap(a => [[a, 'global'], ...(inProject.includes(a) ? [[a, 'project']] : [])]))
    scenario(`SY-3: ${agent} itself lists symposium after a sync with ${scope} scope, and a second sync leaves what it wrote`, { timeout: 300_000, skip: noAgent(agent) }, async place => {
        configure(place, { agents: [agent], top: { 'hook-scope': scope } });
        fs.mkdirSync(place.path('work/.git'));
        fs.mkdirSync(place.path('bin'));
        fs.symlinkSync(bin, place.path('bin/symposium'));
        const env = { PATH: `${place.path('bin')}:${process.env.PATH}`, TERM: 'dumb', IS_SANDBOX: '1', HOME: place.path('home') };
        let r = await symposium(place, ['sync'], { env });
        assert.equal(r.code, 0, r.err);
        const list = await run(place, ['mcp', 'list'], { program: realAgent(agent), env, ms: 60_000 });
        assert.match(`${list.out}${list.err}`.replace(/\x1b\[[0-9;]*m/g, ''), says[agent]);
        r = await symposium(place, ['sync'], { env });
        assert.equal(r.code, 0, r.err);
        assert.doesNotMatch(r.out, /written .*MCP entry/, 'it agrees with what the agent made of the file');
        // Some leave a process of their own behind, with our mark; what is ours has to be gone.
        for (const pid of place.survivors())
            if (!fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('symposium')) try { process.kill(pid, 'SIGKILL'); } catch { /* gone */ }
    });
