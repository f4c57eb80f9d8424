// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium plugin ...`, subcommands that plugins bring, and `package-info` (plugins.md PL-14, PL-31, PM-13, CL-1).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { basic, scenario, slack } from './harness.mjs';
import { asked, catalog, configure, events, files, id, offer, skill, symposium } from './agents.mjs';

// --- PL-31 ------------------------------------------------------------------------------------------------------------------
const entry = (r, name) => r.of('entry').find(e => e.id === name);
const validate = (place, where, ...more) => events(place, ['plugin', 'validate', place.path(where), ...more]);

scenario('PL-31: one record per entry of a registry: id, kind, ok or error chain, warnings, skills as children; exit 0 iff all are ok', async place => {
    configure(place);
    place.write('reg/good/SYMPOSIUM.toml', 'name = "good"\ndepends-on = ["*"]\n[[skills]]\nsource.path = "skills"\n');
    place.write('reg/good/skills/a/SKILL.md', skill('a'));
    place.write('reg/deep/er/SYMPOSIUM.toml', 'name = "deep"\ndepends-on = ["cargo:serde"]\n');
    place.write('reg/lone/SKILL.md', skill('lone', 'depends-on: "*"\n'));
    let r = await validate(place, 'reg');
    assert.equal(r.code, 0, r.err + r.out);
    assert.deepEqual(r.of('entry').map(e => [e.id, e.kind, e.ok, e.warnings.length]), [['deep/er', 'plugin', true, 0], ['good', 'plugin', true, 0], ['lone', 'skill', true, 0]]);
    assert.deepEqual(entry(r, 'good').skills, [{ id: 'a', ok: true }]);
    place.write('reg/bad/SYMPOSIUM.toml', 'name = "bad"\ndepends-on = ["*"]\n[[mcp_servers]]\nname = "x"\ncommnad = "y"\n');
    r = await validate(place, 'reg');
    assert.equal(r.code, 1);
    assert.match(entry(r, 'bad').error, /bad\/SYMPOSIUM\.toml: .*line 5: '.*commnad'/, 'PL-16: file, line and key');
    assert.equal(entry(r, 'good').ok, true, 'the others are judged all the same');
    const text = await symposium(place, ['plugin', 'validate', place.path('reg')]);
    assert.equal(text.code, 1);
    assert.match(text.out, /^ok {4}plugin good\n {6}skill a$/m);
    assert.match(text.out, /^error plugin bad\n.*line 5/m);
});

scenario('PL-31: warnings: dormant, a group without SKILL.md, an edge that no package satisfies; they do not make it wrong', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, { list_deps: { result: [] }, fetch: { old: { error: -32001 } } });
    place.write('reg/dormant/SYMPOSIUM.toml', 'name = "dormant"\n');
    place.write('reg/empty/SYMPOSIUM.toml', 'name = "empty"\ndepends-on = ["*"]\n[[skills]]\nsource.path = "nothing"\n');
    place.write('reg/edge/SYMPOSIUM.toml', 'name = "edge"\ndepends-on = ["*"]\n[[plugins]]\nsource.fake = "old>=9"\n');
    const r = await validate(place, 'reg');
    assert.equal(r.code, 0, r.out);
    assert.match(entry(r, 'dormant').warnings[0], /^dormant/);
    assert.match(entry(r, 'empty').warnings[0], /'nothing' holds no SKILL\.md/);
    assert.match(entry(r, 'edge').warnings[0], /fake:old >=9/);
});

scenario('PL-31 MS-63: a URL or header that can never be used makes the entry wrong; one with a variable is left to where that is set', async place => {
    configure(place);
    const write = (name, entry) => place.write(`reg/${name}/SYMPOSIUM.toml`, `name = "${name}"\ndepends-on = ["*"]\n[[mcp_servers]]\nname = "s"\n${entry}\n`);
    write('ftp', 'url = "ftp://x/y"');
    write('bare', 'url = "example.com/mcp"');
    write('plain', 'url = "http://example.com/mcp"');
    write('user', 'url = "https://u:p@example.com/mcp"');
    write('header', 'url = "https://example.com/mcp"\nheaders = { Content-Type = "x" }');
    write('later', 'url = "${ANY}"');
    write('good', 'url = "https://example.com/mcp"\nheaders = { Authorization = "Bearer ${T}" }');
    const r = await validate(place, 'reg');
    assert.equal(r.code, 1);
    for (const [name, why] of Object.entries({ ftp: /ftp|scheme/, bare: /server 's': 'url'/, plain: /plain http is only for localhost/, user: /user information/, header: /'content-type' is set by the protocol/ }))
        assert.match(entry(r, name).error, why);
    for (const name of ['later', 'good']) assert.equal(entry(r, name).ok, true);
});

scenario('PL-31: a bad skill of a plugin is a child with its reason, and makes the entry wrong', async place => {
    configure(place);
    place.write('reg/p/SYMPOSIUM.toml', 'name = "p"\ndepends-on = ["*"]\n[[skills]]\nsource.path = "."\n');
    place.write('reg/p/good/SKILL.md', skill('good'));
    place.write('reg/p/bad/SKILL.md', '---\nname: bad\n---\nno description\n');
    const r = await validate(place, 'reg');
    assert.equal(r.code, 1);
    const p = entry(r, 'p');
    assert.deepEqual([p.ok, p.skills.length, p.skills.filter(s => s.ok).map(s => s.id)], [false, 2, ['good']]);
    assert.match(p.skills.find(s => !s.ok).error, /bad\/SKILL\.md.*description/);
});

scenario('PL-31: a single plugin, its manifest, a SKILL.md; what is good only for a workspace says so; nothing there is exit 1', async place => {
    configure(place);
    place.write('one/SYMPOSIUM.toml', 'name = "one"\ndepends-on = ["*"]\n');
    place.write('sk/SKILL.md', skill('sk'));
    place.write('mine/SYMPOSIUM.toml', '[defaults]\nskills = false\n');
    fs.mkdirSync(place.path('void'));
    for (const [where, name] of [['one', 'one'], ['one/SYMPOSIUM.toml', 'one'], ['sk', 'sk'], ['sk/SKILL.md', 'sk']]) {
        const r = await validate(place, where);
        assert.deepEqual([r.code, r.of('entry').map(e => e.id)], [0, [name]], where);
    }
    const r = await validate(place, 'mine');
    assert.equal(r.code, 0, r.out);
    assert.match(r.of('entry')[0].warnings.join(), /not for a registry/);
    const none = await symposium(place, ['plugin', 'validate', place.path('void')]);
    assert.equal(none.code, 1);
    assert.match(none.err, /there is no plugin and no skill in/);
    assert.equal((await symposium(place, ['plugin', 'validate', place.path('not-there')])).code, 1);
    assert.equal((await symposium(place, ['plugin', 'validate'])).code, 2);
});

scenario('PL-31: names are looked up only with --check-names; one that nobody has is an error, one that cannot be asked a warning', async place => {
    configure(place, { pms: ['fake', 'broken'] });
    catalog(place, { search: { result: [{ id: id('real') }] }, fetch: { real: { result: { id: id('real'), root: place.dir } } } });
    catalog(place, { search: { error: -32601 } }, 'broken');
    place.write('reg/right/SYMPOSIUM.toml', 'name = "right"\ndepends-on = ["fake:real"]\n');
    place.write('reg/wrong/SYMPOSIUM.toml', 'name = "wrong"\ndepends-on = ["fake:raal"]\n');
    assert.equal((await validate(place, 'reg')).code, 0);
    assert.deepEqual(asked(place), [], 'nobody was asked');
    const r = await validate(place, 'reg', '--check-names');
    assert.equal(entry(r, 'right').ok, true, JSON.stringify(r.events));
    assert.ok(!entry(r, 'wrong').ok || entry(r, 'wrong').warnings.length, JSON.stringify(r.events));
    assert.ok(asked(place).some(l => l.startsWith('search')));
    assert.equal((await symposium(place, ['plugin', 'list', '--check-names'])).code, 2);
});

// --- list, show, sync ---------------------------------------------------------------------------------------------------------
scenario('CL-1: plugin list groups by registry; plugin show tells what one holds and whether it may run', async place => {
    configure(place);
    place.write('symposium/plugins/p/SYMPOSIUM.toml', `name = "p"
depends-on = ["*"]
[[skills]]
source.path = "skills"
[[installations]]
name = "tool"
executable = "/bin/true"
[[mcp_servers]]
name = "srv"
command = "true"
depends-on = ["cargo:serde"]
[[hooks]]
name = "h"
event = "Stop"
command = "tool"
[subcommand.greet]
description = "Says hello"
command = "tool"
`);
    const list = await symposium(place, ['plugin', 'list']);
    assert.match(list.out, /^user-plugins\n {2}p +active +registry user-plugins$/m);
    const show = await symposium(place, ['plugin', 'show', 'p']);
    assert.equal(show.code, 0, show.err);
    for (const line of [/at .*plugins\/p\/SYMPOSIUM\.toml/, /server +srv {2}when cargo:serde/, /skills +skills/, /hook +h/, /subcommand +greet/, /install +tool/])
        assert.match(show.out, line);
    const r = await events(place, ['plugin', 'show', 'user-plugins:p']);
    assert.deepEqual(r.events.map(e => [e.type, e.name]), [['plugin', 'p'], ['server', 'srv'], ['skills', 'skills'], ['hook', 'h'], ['subcommand', 'greet'], ['installation', 'tool']]);
    const none = await symposium(place, ['plugin', 'show', 'q']);
    assert.equal(none.code, 1);
    assert.match(none.err, /no plugin 'q' here; 'symposium plugin list'/);
    assert.equal((await symposium(place, ['plugin'])).code, 2);
    assert.equal((await symposium(place, ['plugin', 'dance'])).code, 2);
});

scenario('PM-13 CL-1: plugin sync fetches git registries anew, one by name, also with auto-update = false; an unknown name fails', async place => {
    const repo = place.path('repo');
    const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: repo, stdio: 'pipe' });
    place.write('repo/p/SYMPOSIUM.toml', 'name = "p"\ndepends-on = ["*"]\n');
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'one');
    configure(place, { more: `\n[[registry]]\nname = "far"\ngit = "file://${repo}"\nauto-update = false\n\n[[registry]]\nname = "lost"\ngit = "file://${place.path('nowhere')}"\n` });
    let r = await events(place, ['plugin', 'sync', 'far']);
    assert.deepEqual([r.code, r.of('plugin-sync')[0].changed], [0, 1], r.err);
    place.write('repo/q/SYMPOSIUM.toml', 'name = "q"\ndepends-on = ["*"]\n');
    git('add', '.');
    git('commit', '-qm', 'two');
    r = await events(place, ['plugin', 'sync', 'far']);
    assert.equal(r.of('plugin-sync')[0].changed, 1);
    assert.deepEqual((await events(place, ['plugin', 'list'])).of('plugin').filter(p => p.registry === 'far').map(p => p.name), ['p', 'q']);
    r = await events(place, ['plugin', 'sync']);
    assert.equal(r.code, 1, 'the other one cannot be had');
    assert.match(r.of('problem')[0].text, /registry 'lost'/);
    const none = await symposium(place, ['plugin', 'sync', 'nobody']);
    assert.equal(none.code, 1);
    assert.match(none.err, /no registry and no package manager is called 'nobody'/);
    assert.deepEqual((await events(place, ['plugin', 'sync', 'far', '--update', 'none'])).of('plugin-sync')[0].changed, 0);
});

// --- PL-14 ----------------------------------------------------------------------------------------------------------------------
function greeting(place, plugin, { audience = 'humans', body = 'echo "hello $1 from $PWD"; cat; exit 3', more = '' } = {}) {
    place.write(`symposium/plugins/${plugin}/SYMPOSIUM.toml`, `name = "${plugin}"\ndepends-on = ["*"]\n[[installations]]\nname = "tool"\nscript = "run.sh"\nargs = ["world"]\n${more}
[subcommand.greet]\ndescription = "Says hello"\naudience = "${audience}"\ncommand = "tool"\n`);
    place.write(`symposium/plugins/${plugin}/run.sh`, `#!/bin/sh\n${body}\n`);
    fs.chmodSync(place.path(`symposium/plugins/${plugin}/run.sh`), 0o755);
}

scenario('PL-14: a subcommand runs where we are, with our streams, arguments as they are, and its exit status', async place => {
    configure(place);
    greeting(place, 'p', { body: 'echo "hello $1 from $PWD"; shift; for a; do echo "[$a]"; done; cat; exit 3' });
    const r = await symposium(place, ['-q', 'greet', '--help', '-v', '--', 'a b', ''], { input: 'typed\n' });
    assert.deepEqual([r.code, r.out, r.err], [3, `hello world from ${place.workspace}\n[--help]\n[-v]\n[--]\n[a b]\n[]\ntyped\n`, '']);
});

scenario('PL-14: help lists subcommands by audience, with description and plugin; so does --json', async place => {
    configure(place);
    greeting(place, 'p');
    place.write('symposium/plugins/q/SYMPOSIUM.toml', 'name = "q"\ndepends-on = ["*"]\n[[installations]]\nname = "t"\nexecutable = "/bin/true"\n[subcommand.fetch-docs]\ndescription = "Gets the docs"\ncommand = "t"\n');
    for (const args of [['help'], ['--help']]) {
        const r = await symposium(place, args);
        assert.equal(r.code, 0, r.err);
        assert.match(r.out, /From plugins, for people:\n {2}greet +Says hello {2}\(p\)\n/);
        assert.match(r.out, /From plugins, for agents:\n {2}fetch-docs +Gets the docs {2}\(q\)\n/);
    }
    const r = await events(place, ['help']);
    assert.deepEqual(r.of('subcommand').map(s => [s.name, s.audience, s.plugin]), [['fetch-docs', 'agents', 'q'], ['greet', 'humans', 'p']]);
});

scenario('PL-14 PL-37: two active plugins with one subcommand: neither runs, the error names both', async place => {
    configure(place);
    greeting(place, 'p', { body: `echo p >> ${place.path('ran')}` });
    greeting(place, 'q', { body: `echo q >> ${place.path('ran')}` });
    let r = await symposium(place, ['greet']);
    assert.equal(r.code, 1);
    assert.match(r.err, /'p' and 'q' both have a subcommand 'greet'.*disable/);
    assert.equal(place.read('ran'), '');
    configure(place, { plugins: { disable: ['q'] } });
    r = await symposium(place, ['greet']);
    assert.deepEqual([r.code, place.read('ran')], [0, 'p\n'], r.err);
});

scenario('PL-32 PL-14: a subcommand of a workspace nobody consented to does not run', async place => {
    configure(place);
    place.write('work/SYMPOSIUM.toml', `name = "mine"\n[[installations]]\nname = "t"\nscript = "x.sh"\n[subcommand.greet]\ndescription = "x"\ncommand = "t"\n`);
    place.write('work/x.sh', `#!/bin/sh\necho ran > ${place.path('ran')}\n`);
    const r = await symposium(place, ['greet']);
    assert.notEqual(r.code, 0);
    assert.equal(place.read('ran'), '');
    assert.match(r.err, /symposium trust|no command 'greet'/);
    await symposium(place, ['trust', '--yes']);
    assert.equal((await symposium(place, ['greet'])).code, 0);
    assert.equal(place.read('ran'), 'ran\n');
});

scenario('PL-14 PL-11: the program of a subcommand is acquired at its first use, once', async place => {
    configure(place);
    greeting(place, 'p', { body: 'cat made', more: `install_commands = ["echo made >> made"]\n` });
    place.write('symposium/plugins/p/run.sh', '#!/bin/sh\ncat "$(dirname "$0")/made"\n');
    for (let i = 0; i < 2; i++) assert.equal((await symposium(place, ['greet'])).out, 'made\n');
    greeting(place, 'p', { more: 'install_commands = ["echo no way >&2; exit 4"]\n' });
    const r = await symposium(place, ['greet']);
    assert.equal(r.code, 1);
    assert.match(r.err, /'greet' of plugin 'p'.*no way/s);
});

scenario('CL-2: a word that is neither command nor subcommand is exit status 2, whatever else is broken', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, { list_deps: { do: 'exit' }, active_plugins: { do: 'exit' } });
    const r = await symposium(place, ['nonsense', '--x']);
    assert.deepEqual([r.code, r.out], [2, '']);
    assert.match(r.err, /no command 'nonsense'; 'symposium help' lists them/);
    place.write('symposium/config.toml', 'broken = [');
    assert.equal((await symposium(place, ['nonsense'])).code, 2);
});

scenario('PL-14 PM-8: help does not wait for a package manager that never answers', async place => {
    configure(place, { pms: ['fake'] });
    catalog(place, { list_deps: { do: 'silent' } });
    const from = performance.now(), r = await symposium(place, ['help']);
    assert.equal(r.code, 0, r.err);
    assert.match(r.out, /For people:/);
    assert.ok(performance.now() - from < 2500 * slack);
});

// --- package-info ---------------------------------------------------------------------------------------------------------------
scenario('CL-1: package-info tells source and skills, of the version asked for; crate-info is the same', async place => {
    configure(place, { pms: ['fake'] });
    const widget = offer(place, 'widget', { skills: [{ source: { path: 'docs' } }] }, { 'docs/w/SKILL.md': skill('w'), 'skills/x/SKILL.md': skill('x') });
    catalog(place, { fetch: { widget: { result: { id: id('widget'), root: widget.root } } }, load_plugin: { widget: { result: [widget] } } });
    const r = await events(place, ['package-info', 'fake:widget']);
    assert.equal(r.code, 0, r.err + r.out);
    assert.deepEqual(r.of('package').map(p => [p.pm, p.name, p.version, p.source]), [['fake', 'widget', '1.0.0', widget.root]]);
    assert.deepEqual(r.of('skill').map(s => s.name).sort(), ['w', 'x']);
    const text = await symposium(place, ['crate-info', 'fake:widget', '--version', '1']);
    assert.equal(text.code, 0, text.err);
    assert.match(text.out, new RegExp(`^fake:widget 1\\.0\\.0\n {2}source {2}${widget.root}\n {2}skill {3}`));
    assert.ok(asked(place).some(l => l.startsWith('fetch') && /"version":"1"/.test(l)), asked(place).join('\n'));
    const none = await symposium(place, ['package-info', 'fake:nobody']);
    assert.equal(none.code, 1);
    assert.match(none.err, /no package manager here has 'nobody'/);
    assert.equal((await symposium(place, ['package-info'])).code, 2);
});

scenario('PL-31 CL-1: none of them writes into the workspace or an agent\'s file', async place => {
    configure(place);
    place.plugin('p', [place.peer('srv', basic())]);
    const before = files(place);
    for (const args of [['plugin', 'list'], ['plugin', 'show', 'p'], ['plugin', 'validate', path.join(place.home, 'plugins')], ['search', 'p', '--update', 'none'], ['help']])
        assert.equal((await symposium(place, args)).code, 0, args.join(' '));
    assert.deepEqual(files(place), before);
    assert.equal(place.starts('srv'), 0);
});
