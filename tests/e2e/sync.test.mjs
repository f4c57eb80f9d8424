// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium sync` as a whole: its sequence, what it writes and what it leaves alone, in any directory, without network, with
// package managers that misbehave (plugins.md SY-19, SY-21, SY-11, PL-34, PL-35, PM-8). What is written into each agent's file:
// tests/unit/sync.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { basic, bin, run, scenario, until } from './harness.mjs';
import { KEY, asked, catalog, configure, events, files, id, offer, skill, skilled, symposium, terminal } from './agents.mjs';

const result = r => r.of('sync')[0];
const git = (dir, ...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd: dir, stdio: 'pipe' });

// --- SY-19 ----------------------------------------------------------------------------------------------------------------
scenario('SY-19: with no agent configured sync says so, exit status 0, and writes into no agent\'s file', async place => {
    configure(place);
    const before = files(place);
    const r = await symposium(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /No agent is configured; 'symposium init' does that/);
    assert.deepEqual(files(place), before);
});

scenario('SY-19: registries, dependencies, skills, entries and hooks in one go; the second run touches nothing', async place => {
    configure(place, { agents: ['claude', 'codex', 'kiro'], top: { 'sync-debounce-secs': 0 } });
    skilled(place, 'everywhere', ['one', 'two']);
    skilled(place, 'gated', ['three'], 'depends-on = ["npm:left-pad"]');
    skilled(place, 'absent', ['four'], 'depends-on = ["npm:not-here"]');
    place.write('work/package.json', '{"name":"work","dependencies":{"left-pad":"1"}}\n');
    place.plugin('p', [place.peer('srv', basic())]);
    const r = await events(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    const end = result(r);
    assert.deepEqual([end.ok, end.servers, end.skills, end.agents], [true, 1, 3, ['claude', 'codex', 'kiro']]);
    assert.match(place.read('home/.claude.json'), /mcp-serve/);
    assert.match(place.read('home/.codex/config.toml'), /\[mcp_servers\.symposium\]/);
    assert.match(place.read('home/.kiro/settings/mcp.json'), /mcp-serve/);
    assert.match(place.read('home/.claude/settings.json'), /hook claude/);
    for (const dir of ['.claude/skills', '.agents/skills', '.kiro/skills'])
        assert.deepEqual(fs.readdirSync(place.path('work', dir)).sort(), ['one', 'three', 'two'], dir);
    assert.equal(place.starts('srv'), 0, 'no server is started by it');
    const before = files(place, { times: true });
    const again = await events(place, ['sync']);
    assert.equal(again.code, 0);
    assert.equal(again.of('written').length, 0);
    const after = files(place, { times: true });
    for (const p of Object.keys(before)) if (!p.endsWith('/.symposium')) assert.equal(after[p], before[p], p);
    assert.deepEqual(Object.keys(after), Object.keys(before));
});

scenario('SY-19 SY-18: what applies no longer is reaped, and agents that were dropped lose entry and hooks', async place => {
    configure(place, { agents: ['claude', 'codex'] });
    skilled(place, 'gated', ['three'], 'depends-on = ["npm:left-pad"]');
    place.write('work/package.json', '{"name":"work","dependencies":{"left-pad":"1"}}\n');
    await symposium(place, ['sync']);
    assert.ok(fs.existsSync(place.path('work/.claude/skills/three/SKILL.md')));
    place.write('work/package.json', '{"name":"work"}\n');
    configure(place, { agents: ['codex'] });
    const r = await symposium(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.ok(!fs.existsSync(place.path('work/.claude/skills/three')));
    assert.ok(!fs.existsSync(place.path('work/.agents/skills/three')));
    assert.doesNotMatch(place.read('home/.claude.json'), /symposium/);
    assert.doesNotMatch(place.read('home/.claude/settings.json'), /symposium/);
    assert.match(place.read('home/.codex/config.toml'), /symposium/);
    configure(place);
    await symposium(place, ['sync']);
    assert.doesNotMatch(place.read('home/.codex/config.toml'), /symposium/, 'the last one, too');
});

scenario('SY-11: --dry-run shows a unified diff of each file and writes nothing at all', async place => {
    configure(place, { agents: ['claude', 'codex'] });
    skilled(place, 'everywhere', ['one']);
    place.write('home/.claude.json', '{\n  "numStartups": 3\n}\n');
    const whole = () => execFileSync('find', [place.dir, '-path', '*/peers', '-prune', '-o', '-printf', '%P %s %T@ %m\n']).toString().split('\n').filter(l => !/^(home|symposium|work|home\/\.rustup.*) \d+ /.test(l)).sort();
    const before = whole();
    const r = await symposium(place, ['sync', '--dry-run']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /^--- .*\.claude\.json\n\+\+\+ .*\.claude\.json\n@@ /m);
    assert.match(r.out, /^ {3}"numStartups": 3|^-? {2}"numStartups": 3/m);
    assert.match(r.out, /^\+.*mcp-serve/m);
    assert.match(r.out, /^--- \/dev\/null\n\+\+\+ .*config\.toml/m);
    assert.match(r.out, /Nothing was written/);
    assert.deepEqual(whole(), before);
    const e = await events(place, ['sync', '--dry-run']);
    assert.ok(e.of('diff').length >= 2 && e.of('would-write').length >= 2);
    assert.equal(result(e).dry_run, true);
    assert.deepEqual(whole(), before);
});

scenario('SY-19: --agent touches that agent\'s files and no other\'s', async place => {
    configure(place, { agents: ['claude', 'codex'] });
    let r = await events(place, ['sync', '--agent', 'codex']);
    assert.equal(r.code, 0, r.err);
    assert.match(place.read('home/.codex/config.toml'), /symposium/);
    assert.ok(!fs.existsSync(place.path('home/.claude.json')));
    await symposium(place, ['sync']);
    configure(place, { agents: ['codex'] });
    r = await events(place, ['sync', '--agent', 'kiro', '--agent', 'codex']);
    assert.match(place.read('home/.kiro/settings/mcp.json'), /symposium/, 'one that is not configured, for once');
    assert.match(place.read('home/.claude.json'), /symposium/, 'not even to take something out');
    const bad = await symposium(place, ['sync', '--agent', 'emacs']);
    assert.equal(bad.code, 2);
    assert.match(bad.err, /claude, codex/);
});

scenario('SY-10: entry and hooks follow their own scopes; an agent without a project file says that it uses the user\'s', async place => {
    configure(place, { agents: ['claude', 'goose'], top: { 'mcp-scope': 'project' } });
    const r = await events(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.match(place.read('work/.mcp.json'), /symposium/);
    assert.ok(!fs.existsSync(place.path('home/.claude.json')));
    assert.match(place.read('home/.claude/settings.json'), /hook claude/, 'hooks: global');
    assert.match(place.read('home/.config/goose/config.yaml'), /symposium/);
    assert.ok(r.of('note').some(n => n.agent === 'goose' && /no MCP file of a project/.test(n.text)), JSON.stringify(r.events));
});

scenario('SY-5: a malformed file of one agent is an error with line and column, untouched; the others are done; exit status 1', async place => {
    configure(place, { agents: ['claude', 'codex', 'kiro'] });
    place.write('home/.codex/config.toml', 'model = "x"\n[broken\n');
    const r = await events(place, ['sync']);
    assert.equal(r.code, 1);
    const [error] = r.of('error');
    assert.equal(error.agent, 'codex');
    assert.match(error.path, /\.codex\/config\.toml$/);
    assert.match(error.text, /line 2/);
    assert.equal(place.read('home/.codex/config.toml'), 'model = "x"\n[broken\n');
    assert.match(place.read('home/.claude.json'), /symposium/);
    assert.match(place.read('home/.kiro/settings/mcp.json'), /symposium/);
    const text = await symposium(place, ['sync']);
    assert.match(text.err, /codex: error: .*config\.toml.*line 2/);
    assert.doesNotMatch(text.out, /In sync/);
});

// --- SY-21 ----------------------------------------------------------------------------------------------------------------
const places = {
    'an empty directory': [], 'a Go module': [['go.mod', 'module x\n']], 'a Python project': [['pyproject.toml', '[project]\nname = "x"\n']],
    'a git repository': [['.git/HEAD', 'ref: refs/heads/main\n']], 'a Cargo package': [['Cargo.toml', '[package]\nname = "x"\nversion = "0.1.0"\n']],
    'a broken package.json': [['package.json', '{"name": ']], 'a broken Cargo.toml': [['Cargo.toml', '[pack']],
};
for (const [what, list] of Object.entries(places))
    scenario(`SY-21: in ${what} the plugins of registries, those of the workspace and "*" gates work`, async place => {
        configure(place, { agents: ['claude'] });
        fs.rmSync(place.path('work/package.json'));
        for (const [name, text] of list) place.write(`work/${name}`, text);
        skilled(place, 'everywhere', ['one']);
        place.write('work/skills/own/SKILL.md', skill('own'));
        const r = await events(place, ['sync']);
        assert.equal(r.code, 0, r.err);
        assert.deepEqual(fs.readdirSync(place.path('work/.claude/skills')).sort(), ['one', 'own']);
        assert.match(place.read('home/.claude.json'), /symposium/);
    });

scenario('SY-21: in the home directory and below it without any project', async place => {
    configure(place, { agents: ['claude'] });
    skilled(place, 'everywhere', ['one']);
    for (const cwd of [place.path('home'), (fs.mkdirSync(place.path('home/a/b'), { recursive: true }), place.path('home/a/b'))]) {
        const r = await events(place, ['sync'], { cwd });
        assert.equal(r.code, 0, r.err);
        assert.equal(result(r).workspace, cwd);
        // SY-12: the home directory's are the agents' global ones, which sync does not write.
        assert.equal(fs.existsSync(path.join(cwd, '.claude/skills/one/SKILL.md')), cwd !== place.path('home'));
    }
});

scenario('SY-21: with no package manager\'s program anywhere', async place => {
    configure(place, { agents: ['claude'] });
    const only = place.path('only');
    fs.mkdirSync(only);
    fs.copyFileSync(bin, path.join(only, 'symposium'), fs.constants.COPYFILE_FICLONE);
    skilled(place, 'everywhere', ['one']);
    const r = await events(place, ['sync'], { program: path.join(only, 'symposium'), env: { PATH: '/usr/bin:/bin' } });
    assert.equal(r.code, 0, r.err);
    assert.ok(r.of('note').some(n => /package manager 'npm'/.test(n.text)), JSON.stringify(r.events));
    assert.ok(fs.existsSync(place.path('work/.claude/skills/one/SKILL.md')));
});

scenario('SY-21: a home directory that is not there is not made', async place => {
    configure(place, { agents: ['claude'] });
    const env = { HOME: place.path('not-there') };
    for (const args of [['sync'], ['init', '--add-agent', 'codex']]) {
        const r = await symposium(place, args, { env });
        assert.equal(r.code, 1, args.join(' '));
        assert.match(r.err, /home directory '.*not-there' does not exist/);
    }
    assert.ok(!fs.existsSync(place.path('not-there')));
    assert.doesNotMatch(place.read('symposium/config.toml'), /codex/);
});

// --- PM-8 -----------------------------------------------------------------------------------------------------------------
for (const hazard of ['exit', 'garbage', 'half', 'silent', 'wrong-id', 'kill'])
    scenario(`PM-8 SY-19: a package manager that does "${hazard}": sync ends with status 0 and a line that names it, the rest is done`, async place => {
        configure(place, { agents: ['claude'], pms: ['fake'] });
        catalog(place, { list_deps: { do: hazard }, active_plugins: { do: hazard } });
        skilled(place, 'everywhere', ['one']);
        const r = await events(place, ['sync'], { ms: 40000 });
        assert.equal(r.code, 0, r.err);
        assert.ok(r.of('note').some(n => /package manager 'fake'/.test(n.text)), JSON.stringify(r.events));
        assert.ok(fs.existsSync(place.path('work/.claude/skills/one/SKILL.md')));
        assert.match(place.read('home/.claude.json'), /symposium/);
    });

scenario('PM-8 SY-18: what a package brought stays while its package manager cannot be asked', async place => {
    configure(place, { agents: ['claude'], pms: ['fake'], plugins: { 'auto-enable': ['*'] } });
    const whole = { list_deps: { result: [id('widget')] }, active_plugins: { result: [offer(place, 'widget', {}, { 'skills/w/SKILL.md': skill('w') })] } };
    catalog(place, whole);
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.ok(fs.existsSync(place.path('work/.claude/skills/w/SKILL.md')));
    catalog(place, { list_deps: { do: 'exit' }, active_plugins: { do: 'exit' } });
    fs.rmSync(place.path('symposium/cache'), { recursive: true });
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.ok(fs.existsSync(place.path('work/.claude/skills/w/SKILL.md')));
    catalog(place, { list_deps: { result: [] }, active_plugins: { result: [] } });
    await symposium(place, ['sync', '--update', 'fetch']);
    assert.ok(!fs.existsSync(place.path('work/.claude/skills/w')), 'and goes when it says so');
});

// --- CL-2 --update ----------------------------------------------------------------------------------------------------------
scenario('CL-2 SY-19: --update: none fetches nothing, without it what is missing is fetched, fetch takes the newest', async place => {
    const repo = place.path('registry');
    place.write('registry/p/SYMPOSIUM.toml', 'name = "p"\ndepends-on = ["*"]\n');
    place.write('registry/p/skills/first/SKILL.md', skill('first'));
    place.write('registry/p/SYMPOSIUM.toml', 'name = "p"\ndepends-on = ["*"]\n[[skills]]\nsource.path = "skills"\n');
    git(repo, 'init', '-q');
    git(repo, 'add', '.');
    git(repo, 'commit', '-qm', 'one');
    configure(place, { agents: ['claude'], more: `\n[[registry]]\nname = "far"\ngit = "file://${repo}"\n` });
    let r = await events(place, ['sync', '--update', 'none']);
    assert.equal(r.code, 0, r.err);
    assert.equal(result(r).skills, 0);
    assert.ok(r.of('note').some(n => /registry 'far'.*plugin sync/.test(n.text)), JSON.stringify(r.events));
    r = await events(place, ['sync']);
    assert.equal(result(r).skills, 1, r.err);
    place.write('registry/p/skills/second/SKILL.md', skill('second'));
    git(repo, 'add', '.');
    git(repo, 'commit', '-qm', 'two');
    r = await events(place, ['sync']);
    assert.equal(result(r).skills, 1, 'what is there is not asked for');
    r = await events(place, ['sync', '--update', 'fetch']);
    assert.equal(result(r).skills, 2, r.err);
    assert.deepEqual(fs.readdirSync(place.path('work/.claude/skills')).sort(), ['first', 'second']);
    fs.renameSync(repo, place.path('gone'));
    r = await events(place, ['sync', '--update', 'fetch']);
    assert.equal(r.code, 0, 'unreachable: a line, and the old checkout');
    assert.equal(r.of('note').filter(n => /registry 'far'/.test(n.text)).length, 1, JSON.stringify(r.events));
    assert.equal(result(r).skills, 2);
    assert.equal((await symposium(place, ['sync', '--update', 'sometimes'])).code, 2);
});

// --- PL-34, PL-35 -------------------------------------------------------------------------------------------------------------
function candidates(place, names) {
    configure(place, { agents: ['claude'], pms: ['fake'] });
    catalog(place, {
        list_deps: { result: names.map(n => id(n)) },
        active_plugins: { result: names.map(n => offer(place, n, {}, { [`skills/of-${n}/SKILL.md`]: skill(`of-${n}`) })) },
    });
}
const lists = place => ['auto-enable', 'disable'].map(k => {
    const m = new RegExp(`^${k} = (.*)$`, 'm').exec(place.read('symposium/config.toml'));
    return m ? [...m[1].matchAll(/name\s*=\s*"([^"]*)"|"([^"]+)"(?=\s*[,\]])/g)].map(x => x[1] ?? x[2]).filter(n => n !== 'fake') : [];
});
const skillsOf = place => { try { return fs.readdirSync(place.path('work/.claude/skills')).sort(); } catch { return []; } };

scenario('PL-34: without a terminal nobody is asked; candidates bring nothing and are counted', async place => {
    candidates(place, ['alpha']);
    const r = await symposium(place, ['sync']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /1 package of this workspace brings a plugin; 'symposium status' names them/);
    assert.deepEqual([lists(place), skillsOf(place)], [[[], []], []]);
    assert.equal(result(await events(place, ['sync'])).candidates, 1);
    for (const args of [['-q', 'sync'], ['--json', 'sync'], ['sync', '--dry-run']]) {
        const t = await terminal(place, args);
        assert.doesNotMatch(t.out, /Use it\?/, args.join(' '));
    }
});

scenario('PL-35: later records nothing, enable goes into auto-enable, never into disable; enabled ones are in force at once', async place => {
    candidates(place, ['alpha', 'beta', 'gamma']);
    const ask = n => new RegExp(`'fake:${n} 1\\.0\\.0' brings a plugin[^]*never`);
    const r = await terminal(place, ['sync'], [
        [ask('alpha'), KEY.enter],
        [ask('beta'), KEY.down], [/> enable it/, KEY.enter],
        [ask('gamma'), KEY.up], [/> never/, KEY.enter]]);
    assert.equal(r.code, 0, r.out);
    assert.deepEqual(lists(place), [['beta'], ['gamma']], place.read('symposium/config.toml'));
    assert.deepEqual(skillsOf(place), ['of-beta']);
    const again = await terminal(place, ['sync'], [[ask('alpha'), KEY.enter]]);
    assert.doesNotMatch(again.out, /'fake:(beta|gamma)/, 'the others are decided');
});

scenario('PL-35: escape leaves the rest undecided; Ctrl-C ends it and nothing of the run is written', async place => {
    candidates(place, ['alpha', 'beta', 'gamma']);
    let r = await terminal(place, ['sync'], [[/'fake:alpha[^]*never/, KEY.down], [/> enable it/, KEY.enter], [/'fake:beta[^]*never/, KEY.escape]]);
    assert.equal(r.code, 0, r.out);
    assert.doesNotMatch(r.out, /'fake:gamma 1/);
    assert.deepEqual(lists(place), [['alpha'], []]);
    assert.deepEqual(skillsOf(place), ['of-alpha']);
    const before = files(place);
    r = await terminal(place, ['sync'], [[/'fake:beta[^]*never/, KEY.interrupt]]);
    assert.equal(r.code, 130);
    assert.deepEqual(files(place), before);
});

scenario('PL-32 SY-19: a terminal asks for consent to the workspace\'s own manifest before anything else', async place => {
    configure(place, { agents: ['claude'] });
    place.write('work/SYMPOSIUM.toml', '[[mcp_servers]]\nname = "mine"\ncommand = "true"\n');
    let r = await terminal(place, ['sync'], [[/server mine: true[^]*Trust it\? \[y\/N\]/, 'n\n']]);
    assert.equal(r.code, 0, r.out);
    assert.match(r.out, /mine: this workspace is not trusted yet/);
    r = await terminal(place, ['sync'], [[/Trust it\? \[y\/N\]/, 'y\n']]);
    assert.match(r.out, /1 server/);
    r = await terminal(place, ['sync']);
    assert.doesNotMatch(r.out, /Trust it/);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'])
    scenario(`CL-2 PM-9: ${signal} while a package manager does not answer ends both, and nothing is half written`, async place => {
        configure(place, { agents: ['claude'], pms: ['fake'] });
        catalog(place, { list_deps: { do: 'silent' } });
        const { 'pms/fake.log': none, ...before } = files(place);
        const p = run(place, ['sync']);
        await until('it is asked', () => asked(place).some(l => l.startsWith('list_deps')), 10000);
        p.child.kill(signal);
        const r = await p;
        assert.deepEqual([none, r.code, r.signal], [undefined, null, signal]);
        await until('the package manager is gone', () => place.survivors().length === 0, 3000);
        const { 'pms/fake.log': log, ...after } = files(place);
        assert.ok(log);
        assert.deepEqual(after, before);
    });

// --- more ---------------------------------------------------------------------------------------------------------------------
scenario('SEC-50 PL-11: installations of trusted plugins are acquired by sync, those of candidates never', async place => {
    configure(place, { agents: ['claude'], pms: ['fake'] });
    const mark = place.path('ran');
    const body = name => ({ installations: [{ name: 'tool', install_commands: [`echo ${name} >> ${mark}`], executable: '/bin/true' }],
        mcp_servers: [{ name: `s-${name}`, installation: 'tool' }] });
    catalog(place, { list_deps: { result: [id('alpha')] }, active_plugins: { result: [offer(place, 'alpha', body('alpha'))] } });
    place.write('symposium/plugins/mine/SYMPOSIUM.toml', `name = "mine"\ndepends-on = ["*"]\n[[installations]]\nname = "tool"\ninstall_commands = ["echo mine >> ${mark}"]\nexecutable = "/bin/true"\n[[mcp_servers]]\nname = "s"\ninstallation = "tool"\n`);
    assert.equal((await symposium(place, ['sync', '--update', 'none'])).code, 0);
    assert.equal(place.read('ran'), '', 'none runs nothing');
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.equal(place.read('ran'), 'mine\n');
    assert.equal((await symposium(place, ['sync'])).code, 0);
    assert.equal(place.read('ran'), 'mine\n', 'once');
});

scenario('CF-5 MS-2: a sync in a workspace that did not change starts no package manager', async place => {
    candidates(place, ['alpha']);
    await symposium(place, ['sync']);
    const starts = asked(place).filter(l => l.startsWith('start ')).length;
    assert.equal(starts, 1, 'PM-9: one process a run');
    await symposium(place, ['sync']);
    assert.equal(asked(place).filter(l => l.startsWith('start ')).length, 1);
});

scenario('SY-19: eight syncs of one workspace at once: all end well and every file is whole', async place => {
    configure(place, { agents: ['claude', 'codex', 'gemini', 'goose'] });
    skilled(place, 'everywhere', ['one', 'two', 'three']);
    const all = await Promise.all(Array.from({ length: 8 }, () => symposium(place, ['sync'], { ms: 60000 })));
    for (const r of all) assert.equal(r.code, 0, r.err + r.out);
    JSON.parse(place.read('home/.claude.json'));
    assert.equal(place.read('home/.codex/config.toml').match(/\[mcp_servers\.symposium\]/g).length, 1);
    assert.deepEqual(fs.readdirSync(place.path('work/.claude/skills')).filter(n => !n.startsWith('.')).sort(), ['one', 'three', 'two']);
    assert.deepEqual(fs.readdirSync(place.path('home')).filter(n => n.includes('tmp')), []);
});
