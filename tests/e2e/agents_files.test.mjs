// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files as each vendor's documentation shows them and as people write them (tests/fixtures/agents), through the server itself: each is
// offered, or left out with a reason that names what to write instead.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { root, scenario } from './harness.mjs';

const FOLDERS = { ours: '.agents/agents', claude: '.claude/agents', codex: '.codex/agents', opencode: '.opencode/agents' };

/** [{file, want, text}] of a fixture; a written "\r" is one. */
const files = vendor => fs.readFileSync(path.join(root, 'tests/fixtures/agents', `${vendor}.txt`), 'utf8').split(/^==== /m).slice(1).map(part => {
    const [head] = part.split('\n', 1), [file, want] = head.split(' > ');
    return { file, want, text: part.slice(head.length + 1).replace(/\\r$/gm, '\r') };
});

for (const [vendor, folder] of Object.entries(FOLDERS))
    scenario(`AG-1 AG-2 AG-3 AG-4: ${vendor}: files that are offered, or left out for a reason one can act on`, async place => {
        const all = files(vendor);
        assert.ok(all.length >= 20);
        place.config({ 'agents.models': { sonnet: 'claude-sonnet-4', haiku: 'claude-haiku-4', inherit: 'same' } });
        for (const { file, text } of all) place.write(`work/${folder}/${file}`, text);
        const s = await place.serve('agents', [place.workspace]);
        const spawn = (await s.result('tools/list')).tools.find(t => t.name === 'spawn_agent');
        const names = all.filter(f => f.want.startsWith('loads ')).map(f => f.want.slice(6));
        const lines = s.stderr.split('\n');
        assert.deepEqual(spawn.inputSchema.properties.name.enum, names.sort(), s.stderr);
        for (const name of names) assert.match(spawn.description, new RegExp(`^- ${name}: `, 'm'));
        for (const { file, want } of all) {
            const said = lines.filter(l => l.includes(`/${folder}/${file}: left out`));
            assert.equal(said.length, want.startsWith('refused: ') ? 1 : 0, `${file}: ${said}`);
            if (said.length) assert.ok(said[0].includes(want.slice(9)), `${file} wants '${want.slice(9)}': ${said[0]}`);
        }
    });
