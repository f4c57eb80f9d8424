// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What has to be fetched or installed first: git registries and installations, with repositories on this disk and a
// script in place of cargo (plugins.md PL-11, PM-13, CF-3, CF-5; meta-server.md MS-1, MS-59). Nothing here connects.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { T, peerBin, run, scenario, slack, sleep, toml, until } from './harness.mjs';

const one = name => ({ tools: [T('id')], calls: { id: [{ text: name }] } });
const problems = text => (text.includes('Problems:') ? text.slice(text.indexOf('Problems:')).split('\n').slice(1).map(l => l.trim()).filter(Boolean) : []);

/** A repository with these files and one commit; the result is its path. */
function repository(place, name, files) {
    const dir = place.path(`up/${name}`);
    const git = (...args) => execFileSync('git', args, {
        cwd: dir, stdio: 'pipe', env: { PATH: process.env.PATH, HOME: place.path('home'), GIT_CONFIG_NOSYSTEM: '1',
            GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' },
    });
    const commit = more => {
        for (const [file, text] of Object.entries(more)) {
            place.write(`up/${name}/${file}`, text);
            if (text.startsWith('#!')) fs.chmodSync(place.path(`up/${name}/${file}`), 0o755);
        }
        git('add', '-A');
        git('commit', '-q', '-m', 'next');
    };
    fs.mkdirSync(dir, { recursive: true });
    git('init', '-q', '-b', 'main');
    commit(files);
    return { dir, commit };
}

/** A cargo that notes its calls, is loud on both streams, and installs for a crate the peer of that name. */
function fakeCargo(place, body = '') {
    const file = place.write('fake-cargo', `#!/bin/sh
cd ${place.dir}; echo "$*" >>calls
while [ $# -gt 0 ]; do case $1 in --root) root=$2; shift;; esac; crate=$1; shift; done
echo '{"jsonrpc":"2.0","id":1,"result":{}}'; echo compiling >&2
${body}
mkdir -p $root/bin; printf '#!/bin/sh\\nexec ${peerBin} ${place.path('peers')}/'$crate'.json "$@"\\n' >$root/bin/$crate; chmod +x $root/bin/$crate
`);
    fs.chmodSync(file, 0o755);
    return { SYMPOSIUM_CARGO: file };
}

const manifest = (name, servers, more = '') => toml({ name, 'depends-on': ['*'] }) + servers.map(s => `\n[[mcp_servers]]\n${toml(s)}`).join('') + more;

scenario('PL-11 MS-59 MS-1: a server is installed at its first use, once, and what that prints is nobody\'s protocol', async place => {
    const env = fakeCargo(place, `sleep ${slack}.5`);
    const { name, args } = place.peer('tool', one('hello'));
    place.write('symposium/plugins/p/SYMPOSIUM.toml', manifest('p', [{ name, installation: 'it', args: ['--own'], 'startup-timeout-secs': slack }],
        '\n[[installations]]\nname = "it"\nsource = "cargo"\ncrate = "tool"\nversion = "1.2.3"\ninstall_commands = ["echo loud; echo loud >&2"]\n'));
    assert.ok(args.length);
    const s = await place.open({ env });
    assert.ok(!fs.existsSync(place.path('calls')), 'nothing is installed by a start');
    assert.equal((await s.execute('1')).text, '1');
    assert.ok(!fs.existsSync(place.path('calls')), 'and nothing by a script that does not use it');
    assert.equal((await s.execute('return await tool.id({})')).value, 'hello');
    assert.match(place.read('calls'), /^install --locked --root \S+ --version 1\.2\.3 tool\n$/);
    assert.ok(fs.existsSync(place.path('symposium/cache/binaries/tool/1.2.3/bin/tool')));
    assert.deepEqual(problems(await s.list()), []);
    await s.close();
    const again = await place.open({ env });
    assert.equal((await again.execute('return await tool.id({})')).value, 'hello');
    assert.equal(place.lines('calls').length, 1);
    assert.equal(place.starts('tool'), 2);
});

scenario('MS-59: a requirement that fails is a problem line; a program that cannot be installed is a failed start that says why', async place => {
    const env = fakeCargo(place, 'echo "error: no such crate" >&2; exit 101');
    place.write('symposium/plugins/p/SYMPOSIUM.toml', manifest('p', [
        { ...place.peer('works', one('hello')), requirements: ['need', 'made'] },
        { name: 'fails', installation: 'it' },
    ], `
[[installations]]
name = "need"
install_commands = ["echo too bad >&2; exit 3"]
[[installations]]
name = "made"
install_commands = ["echo made >>${place.path('made')}"]
[[installations]]
name = "it"
source = "cargo"
crate = "tool"
`));
    const s = await place.open({ env });
    assert.equal((await s.execute('return await works.id({})')).value, 'hello');
    assert.equal(place.read('made'), 'made\n');
    assert.ok(problems(await s.list()).some(l => /^works: installation 'need': 'echo too bad >&2; exit 3' exited with status 3: too bad$/.test(l)), await s.list());
    const failed = await s.execute('return await fails.id({})');
    assert.match(failed.text, /installation 'it': 'cargo install tool' exited with status 101: .*error: no such crate/);
});

scenario('PM-13 CF-5: a git registry is the checkout that is there; without one its line says how to get it, and nothing connects', async place => {
    const marker = place.path('asked');
    const bin = place.write('bin/git', `#!/bin/sh\ntouch ${marker}\nexit 1\n`);
    fs.chmodSync(bin, 0o755);
    place.write('symposium/config.toml', '[[registry]]\nname = "team"\ngit = "https://example.invalid/team/plugins/tree/main"\n');
    const s = await place.open({ env: { PATH: `${place.path('bin')}:${process.env.PATH}` } });
    assert.deepEqual(problems(await s.list()), ["registry 'team': 'https://example.invalid/team/plugins/tree/main' is not fetched yet; run 'symposium plugin sync'"]);
    await s.execute('return 1');
    assert.ok(!fs.existsSync(marker), 'git was not started');
    assert.match((await s.execute('return 1')).text, /No MCP servers apply[^]*is not fetched yet/, 'MS-42');
    place.peers({ a: one('a') });
    assert.match(await s.list(), /\ba:[^]*is not fetched yet/);
    assert.doesNotMatch((await s.execute('return 1')).text, /is not fetched yet/, 'MS-41: no reply repeats it');
});

scenario('CF-3: the recommendations that are not fetched yet are no problem of a session', async place => {
    place.peers({ a: one('a') });
    const s = await place.open();
    assert.deepEqual(problems(await s.list()), []);
});

scenario('PM-13 MS-60 PL-36: plugin sync fetches a git registry, whose servers then come into an open session; a later commit as well', async place => {
    const up = repository(place, 'plugins', { 'a/SYMPOSIUM.toml': manifest('a', [place.peer('first', one('one'))]) });
    place.write('symposium/config.toml', `[defaults]\nsymposium-recommendations = false\n[[registry]]\nname = "team"\ngit = "file://${up.dir}"\n`);
    const s = await place.open();
    assert.match(problems(await s.list()).join(), /is not fetched yet/);
    const sync = await run(place, ['plugin', 'sync']);
    assert.equal(sync.code, 0, sync.err);
    assert.deepEqual(problems(await s.list()), []);
    assert.equal((await s.execute('return await first.id({})')).value, 'one');
    up.commit({ 'b/SYMPOSIUM.toml': manifest('b', [place.peer('second', one('two'))]) });
    assert.equal((await s.execute('return typeof globalThis.second')).value, 'undefined', 'a session fetches nothing');
    assert.equal((await run(place, ['plugin', 'sync', '--update', 'fetch'])).code, 0);
    assert.equal((await s.execute('return await second.id({})')).value, 'two');
    fs.renameSync(up.dir, `${up.dir}-gone`);
    const offline = await run(place, ['plugin', 'sync', '--update', 'fetch']);
    assert.match(offline.out + offline.err, /the copy from earlier is used/);
    assert.equal((await s.execute('return await second.id({})')).value, 'two');
});

scenario('PL-11 PM-13: a program out of a repository, with a command to make it', async place => {
    const up = repository(place, 'tools', { 'bin/tool.in': `#!/bin/sh\nexec ${peerBin} "$@"\n` });
    const { name, args } = place.peer('tool', one('made'));
    place.write('symposium/plugins/p/SYMPOSIUM.toml', manifest('p', [{ name, installation: 'it', args }],
        `\n[[installations]]\nname = "it"\nsource = "github"\nurl = "file://${up.dir}/tree/main/bin"\nexecutable = "tool"\ninstall_commands = ["cp tool.in tool", "chmod +x tool"]\n`));
    const s = await place.open();
    assert.equal((await s.execute('return await tool.id({})')).value, 'made');
});

scenario('MS-58 MS-59: an installation that goes on ends with the session, and leaves nothing behind', async place => {
    const env = fakeCargo(place, 'sleep 987 & echo $! >pid; wait');
    place.peer('tool', one('hello'));
    place.write('symposium/plugins/p/SYMPOSIUM.toml', manifest('p', [{ name: 'tool', installation: 'it' }], '\n[[installations]]\nname = "it"\nsource = "cargo"\ncrate = "tool"\n'));
    const s = await place.open({ env });
    void s.execute('return await tool.id({})').catch(() => {});
    await until('the installation runs', () => place.read('pid').trim());
    const pid = Number(place.read('pid'));
    await s.kill('SIGTERM');
    for (let i = 0; i < 100 * slack && fs.existsSync(`/proc/${pid}`); i++) await sleep(20);
    assert.ok(!fs.existsSync(`/proc/${pid}`), 'it has ended');
});
