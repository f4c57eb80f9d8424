// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Skills through the whole of `symposium sync`: which apply, under which names they are installed, consent to what a clone's skill
// would run, and `kill -9` in the middle (plugins.md PL-23, PL-27, PL-28, PL-32, SY-12 to SY-18). Case by case:
// tests/unit/sync/test_skills.c, tests/unit/plugins/test_skills_active.c.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { run, scenario, sleep, slack } from './harness.mjs';
import { configure, events, skill, skilled, symposium } from './agents.mjs';

const top = { 'sync-debounce-secs': 0 };
const installed = (place, dir = 'work/.claude/skills') => { try { return fs.readdirSync(place.path(dir)).sort(); } catch { return []; } };

scenario('PL-23 PL-27 PL-28: gates of skills count, bad front matter is named and its siblings are installed, skills in skills are not', async place => {
    configure(place, { agents: ['claude', 'codex'], top });
    skilled(place, 'p', ['plain']);
    const dir = 'symposium/plugins/p/skills';
    place.write(`${dir}/deep/er/gated/SKILL.md`, skill('gated', 'depends-on: npm:left-pad\n'));
    place.write(`${dir}/absent/SKILL.md`, skill('absent', 'depends-on: npm:not-here\n'));
    place.write(`${dir}/bad/SKILL.md`, '---\ndescription: no name\n---\n');
    place.write(`${dir}/plain/inner/SKILL.md`, skill('inner'));
    place.write('work/package.json', '{"name":"work","dependencies":{"left-pad":"1"}}\n');
    const r = await symposium(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out + r.err, /bad\/SKILL\.md: the front matter needs a 'name'/);
    assert.deepEqual(installed(place), ['gated', 'plain']);
    assert.deepEqual(installed(place, 'work/.agents/skills'), ['gated', 'plain']);
    assert.ok(fs.existsSync(place.path('work/.claude/skills/plain/inner/SKILL.md')), 'the whole directory is copied');
});

scenario('SY-13 SY-16 SY-18: two plugins with a skill of one name; each gets its origin, and the last one the plain name again', async place => {
    configure(place, { agents: ['claude'], top });
    skilled(place, 'a', ['same']);
    skilled(place, 'b', ['same']);
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.equal(installed(place).length, 2);
    for (const n of installed(place)) assert.match(n, /^same-[0-9a-f]{8}$/);
    fs.rmSync(place.path('symposium/plugins/a'), { recursive: true });
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.deepEqual(installed(place), ['same']);
});

scenario('SY-14 SY-15: git sees no copy, and what stands there already stays', async place => {
    configure(place, { agents: ['claude', 'codex'], top });
    skilled(place, 'p', ['mine', 'new']);
    place.write('work/.claude/skills/mine/SKILL.md', 'my own\n');
    const git = (...args) => execFileSync('git', args, { cwd: place.workspace, encoding: 'utf8' });
    git('init', '-q');
    git('add', '.');
    const before = git('status', '--porcelain');
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.equal(git('status', '--porcelain'), before);
    assert.equal(place.read('work/.claude/skills/mine/SKILL.md'), 'my own\n');
    assert.ok(installed(place).some(n => /^mine-[0-9a-f]{8}$/.test(n)));
    assert.ok(installed(place).includes('new'));
});

scenario('PL-32: a clone\'s skill runs nothing before somebody agreed to its very text', async place => {
    configure(place, { agents: ['claude'], top });
    const proof = place.path('ran');
    place.write('work/skills/s/SKILL.md', skill('s', `predicates: shell(touch ${proof})\n`));
    let r = await symposium(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out + r.err, /run 'symposium trust'/);
    assert.ok(!fs.existsSync(proof));
    assert.deepEqual(installed(place), []);
    r = await symposium(place, ['trust', '--show']);
    assert.equal(r.code, 1);
    assert.match(r.out, /skills\/s\/SKILL\.md[^]*shell\(touch/);
    assert.equal((await symposium(place, ['trust'])).code, 0);
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.ok(fs.existsSync(proof));
    assert.deepEqual(installed(place), ['s']);
    fs.rmSync(proof);
    place.write('work/skills/s/SKILL.md', skill('s', `predicates: shell(touch ${proof}; true)\n`));
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.ok(!fs.existsSync(proof), 'another text asks again');
});

scenario('SY-14: kill -9 at any moment leaves the old copy or the new one, and nothing that git would see', { timeout: 120000 * slack }, async place => {
    configure(place, { agents: ['claude'], top });
    skilled(place, 'p', ['big']);
    place.write('work/.claude/skills/mine/SKILL.md', 'mine\n');
    const version = n => { for (let i = 0; i < 40; i++) place.write(`symposium/plugins/p/skills/big/d${i}/f`, `${n}\n`); };
    for (let n = 0; n < 25; n++) {
        version(n);
        const p = run(place, ['sync']);
        await sleep(Math.random() * 60 * Math.min(slack, 6));
        p.child.kill('SIGKILL');
        await p;
        for (const name of installed(place)) {
            const dir = place.path('work/.claude/skills', name);
            if (name === 'mine') continue;
            assert.ok(fs.existsSync(path.join(dir, '.symposium')) || fs.readdirSync(dir).length === 0, name);
        }
        if (!installed(place).includes('big')) continue;
        const seen = new Set(Array.from({ length: 40 }, (_, i) => place.read(`work/.claude/skills/big/d${i}/f`)));
        assert.equal(seen.size, 1, 'one version, whole');
    }
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.deepEqual(installed(place), ['big', 'mine']);
    assert.equal(place.read('work/.claude/skills/big/d0/f'), '24\n');
});
