// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium status` and `symposium search`: every state with its reason, registries, problems (plugins.md PL-38, PL-34, PM-12).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { basic, scenario } from './harness.mjs';
import { asked, catalog, configure, events, files, id, offer, symposium } from './agents.mjs';

/** Plugins of every state. */
function everything(place) {
    fs.mkdirSync(place.path('reg'));
    configure(place, { agents: ['claude', 'goose'], pms: ['fake', 'broken'], plugins: { 'auto-enable': ['auto'], disable: ['off'], use: ['used', 'missing'] }, more: `\n[[registry]]\nname = "mine"\npath = "${place.path('reg')}"\n` });
    catalog(place, {
        list_deps: { result: ['auto', 'cand', 'off'].map(n => id(n)) },
        active_plugins: { result: [offer(place, 'auto', { plugins: [{ source: { fake: 'chained' } }] }), offer(place, 'cand'), offer(place, 'off')] },
        load_plugin: { chained: { result: [offer(place, 'chained')] }, used: { result: [offer(place, 'used')] } },
    });
    catalog(place, { list_deps: { do: 'exit' } }, 'broken');
    place.write('reg/in-reg/SYMPOSIUM.toml', 'name = "in-reg"\ndepends-on = ["*"]\n');
    place.write('reg/sleepy/SYMPOSIUM.toml', 'name = "sleepy"\n');
    place.write('reg/gated/SYMPOSIUM.toml', 'name = "gated"\ndepends-on = ["npm:nobody"]\n');
    place.write('reg/bad/SYMPOSIUM.toml', 'name = "bad"\nnonsense = 1\n');
    place.write('work/package.json', '{"name":"work","workspaces":["a"]}\n');
    place.write('work/a/package.json', '{"name":"a"}\n');
    place.write('work/skills/w/SKILL.md', 'hello\n');
    place.write('work/a/skills/m/SKILL.md', 'hello\n');
}
const wanted = {
    'in-reg': ['active', 'registry mine'], work: ['active', 'workspace root'], a: ['active', 'workspace member'], auto: ['active', '[plugins] auto-enable'],
    used: ['active', '[plugins] use'], chained: ['active', 'chained from auto'], sleepy: ['dormant', /names no dependency/], cand: ['candidate', /symposium use cand/],
    off: ['declined', /\[plugins\] disable/], gated: ['gated', /./], bad: ['error', /nonsense/], missing: ['error', /./],
};

scenario('PL-38 PL-34: status names each plugin with its state and root, and the failures of package managers', async place => {
    everything(place);
    const r = await events(place, ['status']);
    assert.equal(r.code, 0, r.err);
    for (const [name, [state, reason]] of Object.entries(wanted)) {
        const p = r.of('plugin').find(e => e.name === name);
        assert.ok(p, name);
        assert.equal(p.state, state, `${name}: ${p.reason}`);
        if (typeof reason === 'string') assert.equal(p.reason, reason, name);
        else assert.match(p.reason, reason, name);
    }
    assert.ok(r.of('problem').some(p => /package manager 'broken'/.test(p.text)), JSON.stringify(r.of('problem')));
    const [w] = r.of('workspace');
    assert.deepEqual([w.root, w.members, w.agents], [place.workspace, [place.path('work/a')], ['claude', 'goose']]);
    assert.deepEqual(r.of('registry').map(e => [e.name, e.state]), [['user-plugins', 'ok'], ['mine', 'ok']]);
});

scenario('PL-38: the same for people, problems on stderr; nothing is written or started by it', async place => {
    everything(place);
    const before = files(place);
    const r = await symposium(place, ['status']);
    assert.equal(r.code, 0, r.err);
    for (const [name, [state]] of Object.entries(wanted)) assert.match(r.out, new RegExp(`^ {2}${name} +${state} `, 'm'));
    assert.match(r.out, /agents: claude, goose/);
    assert.match(r.err, /package manager 'broken'/);
    const after = files(place);
    for (const f of ['pms/fake.log', 'pms/broken.log']) delete after[f];
    assert.deepEqual(after, before);
});

scenario('CF-3: status tells a registry that is not fetched yet from one that is, and whether this build has recommendations', async place => {
    const repo = place.path('repo');
    place.write('repo/p/SYMPOSIUM.toml', 'name = "p"\ndepends-on = ["*"]\n');
    const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: repo, stdio: 'pipe' });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'one');
    configure(place, { more: `\n[[registry]]\nname = "far"\ngit = "file://${repo}"\n` });
    const far = async () => (await events(place, ['status'])).of('registry').find(e => e.name === 'far');
    assert.match(JSON.stringify(await far()), /"not fetched".*symposium plugin sync/);
    const missing = (await events(place, ['status'])).of('plugin').filter(e => e.registry === 'far');
    assert.deepEqual(missing.map(e => [e.name, e.state]), [['far', 'error']]);
    const r = await symposium(place, ['plugin', 'sync', 'far']);
    assert.equal(r.code, 0, r.err);
    assert.match(JSON.stringify(await far()), /"ok".*commit [0-9a-f]{12}/);
    place.write('symposium/config.toml', '');
    const [rec] = (await events(place, ['status'])).of('registry').filter(e => e.name === 'symposium-recommendations');
    assert.ok(['not fetched', 'not in this build'].includes(rec.state));
});

scenario('CL-2: status in a directory of no project, with an argument, with a workspace that is not there', async place => {
    configure(place);
    assert.equal((await symposium(place, ['status'], { cwd: place.path('home') })).code, 0);
    assert.equal((await symposium(place, ['status', 'x'])).code, 2);
    const r = await symposium(place, ['--workspace', '/no/such/dir', 'status']);
    assert.equal(r.code, 1);
    assert.match(r.err, /\/no\/such\/dir/);
});

// --- search -----------------------------------------------------------------------------------------------------------------
scenario('PM-12 PM-2: search finds plugins of registries by a part of name or key, and packages; hits name where they are', async place => {
    configure(place, { pms: ['fake', 'broken', 'cargo', 'npm'] });    // the real ones would ask their registries
    for (const name of ['cargo', 'npm']) catalog(place, { search: { result: [] } }, name);
    catalog(place, { search: { result: [{ id: id('widget-kit', '2.0.0'), description: 'Widgets \u001b[31mfor all' }] } });
    catalog(place, { search: { do: 'exit' } }, 'broken');
    place.plugin('My-Widget', [place.peer('s', basic())]);
    place.write('symposium/plugins/group/widgets/SYMPOSIUM.toml', 'name = "other"\n');
    place.plugin('unrelated', []);
    const r = await events(place, ['search', 'wIDget'], { env: { PATH: '/usr/bin:/bin', CARGO_HOME: place.path('nothing') } });
    assert.equal(r.code, 0, r.err);
    const hits = r.of('hit').map(h => `${h.source}:${h.name}`);
    assert.deepEqual(hits.filter(h => h.startsWith('user-plugins')).sort(), ['user-plugins:My-Widget', 'user-plugins:other']);
    const kit = r.of('hit').find(h => h.source === 'fake');
    assert.deepEqual([kit.name, kit.version], ['widget-kit', '2.0.0']);
    assert.doesNotMatch(kit.description, /\u001b/);
    assert.ok(r.of('problem').some(p => /package manager 'broken'/.test(p.text)));
});

scenario('PM-12: "source:words", as hits are printed, searches that source alone', async place => {
    configure(place, { pms: ['fake', 'other', 'cargo', 'npm'] });
    for (const name of ['cargo', 'npm']) catalog(place, { search: { result: [] } }, name);
    catalog(place, { search: { result: [{ id: id('widget', '1.0.0') }] } });
    catalog(place, { search: { result: [{ id: { ...id('widget', '2.0.0'), pm: 'other' } }] } }, 'other');
    place.plugin('widget', [place.peer('s', basic())]);
    const found = async words => (await events(place, ['search', words])).of('hit').map(h => `${h.source}:${h.name}`).sort();
    const words = () => asked(place).filter(l => l.startsWith('search ')).map(l => JSON.parse(l.slice(7)).query);
    assert.deepEqual(await found('widget'), ['fake:widget', 'other:widget', 'user-plugins:widget']);
    assert.deepEqual(await found('other:widget'), ['other:widget']);
    assert.deepEqual(await found('user-plugins:widget'), ['user-plugins:widget']);
    assert.deepEqual(words(), ['widget']);
    assert.deepEqual(await found('fake:widget'), ['fake:widget']);
    await found('std::vec');        // no source of that name: words like any other
    assert.deepEqual(words(), ['widget', 'widget', 'std::vec']);
});

scenario('PL-38: what a row tells is not told again below', async place => {
    configure(place, { more: "\n[[package-manager]]\nname = 'gone'\nexecutable = '/dev/null/none'\n" });
    place.write('symposium/plugins/bad/SYMPOSIUM.toml', 'name = "bad"\nnokey = 1\n');
    const r = await symposium(place, ['status']);
    assert.match(r.out, /bad +error +.*'nokey'/);
    assert.doesNotMatch(r.err, /nokey/);
    assert.equal(r.err.match(/package manager 'gone'/g)?.length, 1, r.err);
});

scenario('CL-2: search --update none asks nobody; nothing found is said; no word is a wrong command line', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, { search: { result: [{ id: id('widget') }] } });
    const r = await symposium(place, ['search', 'widget', '--update', 'none']);
    assert.deepEqual([r.code, r.out], [0, '']);
    assert.match(r.err, /Nothing was found/);
    assert.deepEqual(place.lines('pms/fake.log'), []);
    assert.equal((await symposium(place, ['search'])).code, 2);
    assert.equal((await symposium(place, ['search', ' '])).code, 2);
    assert.equal((await symposium(place, ['search', 'x'.repeat(3000)])).code, 2);
});
