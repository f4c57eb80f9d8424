// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The shell server (servers.md 7), over both eras, with real programs. What all servers share is in common.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { MODERN, alive, commandOf, peakOf, run, sanitized, scenario, slack, sleep, until } from './harness.mjs';

const TOOL = 'execute_command';
const sh = (script, more = {}) => ({ program: 'sh', args: ['-c', script], ...more });
const open = (place, args = [place.workspace], opts = {}) => place.serve('shell', args, opts);
const structured = async (s, args, opts) => {
    const r = await s.call(TOOL, args, opts);
    assert.equal(r.isError, false, r.content?.[0]?.text);
    return r.structuredContent;
};
const stdout = async (s, args, opts) => (await structured(s, args, opts)).stdout;
/** Milliseconds until it is settled. */
const took = async promise => {
    const from = performance.now();
    await promise;
    return performance.now() - from;
};
const gone = (what, pid, ms = 2000) => until(`${what} (${pid}) is gone`, () => !alive(pid), ms);
const pidIn = (place, name) => until(`${name} has a pid`, () => /^\d+\n/.test(place.read(`work/${name}`)) && Number(place.read(`work/${name}`)));

// --- the tool -----------------------------------------------------------------------------------------------------------
for (const revision of ['2025-11-25', MODERN]) {
    scenario(`SH-1 SH-3: the tool, its annotations and schemas, and both forms of an answer (${revision})`, async place => {
        const s = await open(place, undefined, { revision });
        assert.deepEqual([...s.tools.keys()], [TOOL]);
        const t = s.tools.get(TOOL);
        assert.equal(t.title, 'Execute Command');
        assert.deepEqual(t.annotations, { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true });
        assert.deepEqual(t.inputSchema.required, ['program']);
        assert.deepEqual(Object.keys(t.inputSchema.properties), ['program', 'args', 'cwd', 'timeout_ms']);
        assert.deepEqual(t.inputSchema.properties.cwd.type, ['string', 'null']);
        assert.equal(t.inputSchema.properties.timeout_ms.default, 120000);
        assert.ok(t.outputSchema);
        for (const word of ['PATH', 'no shell', '["-lc"', 'cwd must lie', '1 MiB', 'timed_out', "server's permissions", 'environment', 'not a sandbox'])
            assert.ok(t.description.includes(word), word);

        const r = await s.call(TOOL, sh('echo out; echo err >&2; exit 7'));
        const { duration_ms, ...rest } = r.structuredContent;
        assert.deepEqual(rest, {
            exit_code: 7, stdout: 'out\n', stderr: 'err\n', timed_out: false, stdout_truncated: false, stderr_truncated: false, signal: null,
        });
        assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0);
        assert.equal(r.content[0].text, 'exit code: 7\nstdout (full): out\n\nstderr (full): err\n');
    });
}

scenario('SH-1: arguments reach the program as they are: no variables, globs, separators, splitting', async place => {
    const s = await open(place);
    const args = ['$HOME', '*', 'a;b', 'a  b', '`id`', '$(id)', '', '"', "'", '\\', '\n', '~', '{a,b}', '-n', 'ü€🎵', '> x', '| cat', '&'];
    assert.equal(await stdout(s, { program: 'printf', args: ['[%s]', ...args] }), args.map(a => `[${a}]`).join(''));
    assert.deepEqual(fs.readdirSync(place.workspace), ['package.json']);
    assert.equal(await stdout(s, { program: 'bash', args: ['-c', 'a=1; echo $((a+1)) | cat'] }), '2\n');
    assert.equal(await stdout(s, { program: '  echo\n', args: ['x'] }), 'x\n', 'the name is trimmed');
    assert.equal(await stdout(s, { program: 'sh', args: ['-c', 'echo "$0"'] }), 'sh\n', 'argv[0] is the name that was asked for');
});

scenario('SH-2: what arguments must be, word for word', async place => {
    place.write('work/file', '');
    fs.symlinkSync('/', place.path('work/out'));
    const s = await open(place);
    const fails = async (args, want) => {
        const text = await s.fails(TOOL, args);
        if (want instanceof RegExp) assert.match(text, want);
        else assert.equal(text, want);
    };
    for (const program of ['', '   ', '\n\t']) await fails({ program }, 'program must be a non-empty executable name or path');
    for (const timeout_ms of [0, 600001, 2 ** 40]) await fails({ program: 'true', timeout_ms }, `timeout_ms must be between 1 and 600000, got ${timeout_ms}`);
    for (const timeout_ms of [-1, 1.5, '5', true, 1e300]) await fails({ program: 'true', timeout_ms }, /^failed to deserialize parameters: .*timeout_ms/);
    await fails({}, /^failed to deserialize parameters: .*program/);
    await fails({ program: 7 }, /^failed to deserialize parameters: .*program/);
    await fails({ program: 'true', args: 'x' }, /^failed to deserialize parameters: .*args/);
    await fails({ program: 'true', args: [1] }, /^failed to deserialize parameters: .*args/);
    await fails({ program: 'true', cwd: 1 }, /^failed to deserialize parameters: .*cwd/);

    const w = place.workspace;
    await fails({ program: 'true', cwd: 'file' }, `cwd is not a directory: ${w}/file`);
    await fails({ program: 'true', cwd: '/etc' }, `Access denied - path outside allowed directories: /etc not in ${w}`);
    await fails({ program: 'true', cwd: '../..' }, /^Access denied - path outside allowed directories/);
    await fails({ program: 'true', cwd: `${w}-evil` }, /^Access denied - path outside allowed directories/);
    await fails({ program: 'true', cwd: 'out' }, /^Access denied - symlink target outside allowed directories: \/ not in /);
    await fails({ program: 'true', cwd: 'none' }, /none/);
    await fails({ program: 'true', cwd: '' }, /./);
    // SV-17: an integral float is an integer, null is absent, an unknown field is left alone
    assert.equal((await structured(s, { program: 'true', timeout_ms: 600000, cwd: null, args: null, more: 1 })).exit_code, 0);
});

scenario('SH-2 SH-6: the directory: the first root, one beneath any root, a link within them; programs are relative to it', async place => {
    place.write('work/sub/x', '');
    place.write('other/tool', '#!/bin/sh\npwd -P\n');
    fs.chmodSync(place.path('other/tool'), 0o700);
    fs.symlinkSync('sub', place.path('work/link'));
    const s = await open(place, [place.workspace, place.path('other')]);
    for (const [cwd, want] of [[undefined, 'work'], ['.', 'work'], ['sub', 'work/sub'], ['link', 'work/sub'], [place.path('other'), 'other']])
        assert.equal(await stdout(s, { program: 'pwd', args: ['-P'], cwd }), `${place.path(want)}\n`);
    assert.equal(await stdout(s, { program: './tool', cwd: place.path('other') }), `${place.path('other')}\n`);
    assert.match(await s.fails(TOOL, { program: './tool' }), /^Failed to spawn \.\/tool: No such file or directory$/);
    assert.equal(await stdout(s, { program: '../other/tool', cwd: 'sub/..' }), `${place.path('work')}\n`);
    // the descriptor is the boundary: the directory was moved away, another put in its place
    fs.renameSync(place.path('other'), place.path('moved'));
    fs.mkdirSync(place.path('other'));
    assert.equal(await stdout(s, { program: './tool', cwd: place.path('other') }), `${place.path('moved')}\n`);
});

scenario('SH-4: what cannot be executed is an error with the words of its errno', async place => {
    place.write('work/plain', '#!/bin/sh\n');
    place.write('work/junk', 'no program');
    fs.chmodSync(place.path('work/junk'), 0o700);
    const s = await open(place);
    for (const [program, why] of [
        ['no-such-program', 'No such file or directory'], ['/no/such', 'No such file or directory'], ['/etc', 'Permission denied'],
        ['./plain', 'Permission denied'], ['/etc/passwd/x', 'Not a directory'], ['./junk', 'Exec format error'],
    ]) assert.equal(await s.fails(TOOL, { program }), `Failed to spawn ${program}: ${why}`);
    assert.equal(await s.fails(TOOL, { program: 'echo', args: ['x'.repeat(200_000)] }), 'Failed to spawn echo: Argument list too long');
    assert.equal(await s.fails(TOOL, { program: 'echo', args: Array(60_000).fill('y'.repeat(100)) }), 'Failed to spawn echo: Argument list too long');
    for (const args of [{ program: 'echo', args: ['a\0b'] }, { program: 'ec\0ho' }]) assert.match(await s.fails(TOOL, args), /^Failed to spawn ec.*NUL/);
    const long = 'p'.repeat(100_000);
    for (const [program, why] of [[`/${long}`, 'File name too long'], [long, 'No such file or directory']])
        assert.equal(await s.fails(TOOL, { program }), `Failed to spawn ${program.slice(0, 4096)}: ${why}`);
    assert.match(await s.fails(TOOL, { program: long, args: ['\0'] }), /^Failed to spawn p{4096}: an argument contains a NUL byte$/);
    assert.equal(await stdout(s, { program: 'echo', args: ['still here'] }), 'still here\n');
});

scenario('SH-4: exit codes, death by each signal: results, and null is no 0', async place => {
    const s = await open(place);
    for (const code of [0, 1, 7, 127, 255]) {
        const r = await structured(s, sh(`exit ${code}`));
        assert.deepEqual([r.exit_code, r.signal], [code, null]);
    }
    for (const name of ['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGABRT', 'SIGHUP', 'SIGUSR1', 'SIGPIPE']) {
        const r = await s.call(TOOL, sh(`kill -${name.slice(3)} $$`));
        assert.equal(r.isError, false);
        assert.deepEqual([r.structuredContent.exit_code, r.structuredContent.signal, r.structuredContent.timed_out], [null, name, false]);
        assert.match(r.content[0].text, /^exit code: \(none\)\n/);
    }
});

scenario('SH-6: stdin is empty, its own session, no descriptor of ours, signals as at login', async place => {
    const s = await open(place);
    assert.equal(await stdout(s, { program: 'cat' }), '', 'nothing of the protocol is read');
    assert.equal(await stdout(s, sh('readlink /proc/self/fd/0; head -c1 | wc -c')), '/dev/null\n0\n');
    const [pid, sid, pgid] = (await stdout(s, sh('echo $$ $(ps -o sid=,pgid= -p $$)'))).trim().split(/\s+/);
    assert.deepEqual([sid, pgid], [pid, pid]);
    assert.equal(await stdout(s, sh('ls /proc/$$/fd; :')), '0\n1\n2\n');
    assert.match(await stdout(s, sh('grep -E "Sig(Blk|Ign)" /proc/self/status')), /^SigBlk:\s+0+\nSigIgn:\s+0+\n$/);
});

// --- output -------------------------------------------------------------------------------------------------------------
scenario('SH-5 SH-3: of each stream the first 256 KiB and the last 768 KiB, and the text shows less', async place => {
    const s = await open(place);
    const whole = await structured(s, sh('head -c 1048576 /dev/zero | tr "\\0" a'));
    assert.deepEqual([whole.stdout.length, whole.stdout_truncated], [1048576, false]);

    const r = await s.call(TOOL, sh('seq 1 400000; seq 1 400000 >&2'));
    const all = Array.from({ length: 400000 }, (_, i) => `${i + 1}\n`).join('');
    const kept = all.slice(0, 262144) + `\n[... ${all.length - 1048576} bytes left out ...]\n` + all.slice(-786432);
    for (const stream of ['stdout', 'stderr']) {
        assert.equal(r.structuredContent[stream], kept);
        assert.equal(r.structuredContent[`${stream}_truncated`], true);
    }
    const shown = kept.slice(0, 6000) + `… ${kept.length - 16000} characters left out …` + kept.slice(-10000);
    assert.equal(r.content[0].text, `exit code: 0\nstdout (truncated): ${shown}\nstderr (truncated): ${shown}`);

    const bytes = await structured(s, sh("printf 'a\\377b\\0c\\342\\202'"));
    assert.equal(bytes.stdout, 'a\ufffdb\0c\ufffd');
    const music = await structured(s, sh('printf x; yes 🎵 | tr -d "\\n" | head -c 1400000'));
    assert.ok(!music.stdout.includes('\ufffd'), 'cut between characters');
    assert.match(music.stdout, /^x🎵+\n\[\.\.\. \d+ bytes left out \.\.\.\]\n🎵+$/u);
});

scenario('SH-5 SEC-66: one that prints 1 GB to both streams is read to its end, in bounded memory, and delays nobody', async place => {
    const s = await open(place);
    const n = sanitized ? 100_000_000 : 1_000_000_000;
    await structured(s, sh('true'));
    const before = peakOf(s.pid);
    const flood = structured(s, sh(`head -c ${n} /dev/zero | tr '\\0' a & head -c ${n} /dev/zero | tr '\\0' b >&2; wait`), { ms: 60000 });
    let worst = 0;
    for (let i = 0; i < 20; i++) {
        worst = Math.max(worst, await took(s.request('ping')));
        await sleep(10);
    }
    const r = await flood;
    assert.equal(r.exit_code, 0);
    for (const stream of ['stdout', 'stderr']) assert.match(r[stream], new RegExp(`bytes left out`));
    assert.ok(r.stdout.startsWith('aaa') && r.stdout.endsWith('aaa') && r.stderr.endsWith('bbb'));
    assert.ok(worst < 50 * slack, `a ping took ${worst} ms`);
    if (!sanitized) assert.ok(peakOf(s.pid) - before < 32 << 20, `${peakOf(s.pid) - before} bytes more`);
});

// --- ends ---------------------------------------------------------------------------------------------------------------
scenario('SH-7 SEC-66: a timeout ends the tree: SIGTERM, two seconds, SIGKILL; what left by setsid too', async place => {
    const s = await open(place);
    const soft = await s.call(TOOL, { program: 'sleep', args: ['600'], timeout_ms: 200 });
    assert.deepEqual([soft.isError, soft.structuredContent.timed_out, soft.structuredContent.exit_code, soft.structuredContent.signal], [false, true, null, 'SIGTERM']);
    assert.ok(soft.structuredContent.duration_ms < 200 + 1000 * slack);
    assert.match(soft.content[0].text, /^command timed out - process terminated\n/);

    const trapped = await structured(s, sh('trap "echo bye; exit 5" TERM; echo hi; while :; do sleep 0.01; done', { timeout_ms: 300 }));
    assert.deepEqual([trapped.timed_out, trapped.exit_code, trapped.stdout], [true, 5, 'hi\nbye\n']);

    const script = 'trap "" TERM; setsid sh -c "trap \\"\\" TERM; echo \\$\\$ >a; exec sleep 600" & (setsid sh -c "(trap \\"\\" TERM; echo \\$\\$ >b; exec sleep 600) & exit" &);'
        + ' yes | tr -d "\\n" & yes >&2';
    const from = performance.now();
    const deaf = await structured(s, sh(script, { timeout_ms: 500 }), { ms: 6000 });
    assert.ok(performance.now() - from >= 2500, 'it has its grace');
    assert.ok(performance.now() - from < 4000 + (slack - 1) * 1000, 'timeout + 3.5 s');
    assert.deepEqual([deaf.timed_out, deaf.signal, deaf.stdout_truncated, deaf.stderr_truncated], [true, 'SIGKILL', true, true]);
    assert.deepEqual(s.tree(), [], 'nothing is left when the answer comes');
    for (const name of ['a', 'b']) assert.ok(!alive(Number(place.read(`work/${name}`))), name);
});

scenario('SH-2 SH-7: the bounds of the timeout: 1 ms ends, and one that ends in time is none', async place => {
    const s = await open(place);
    assert.equal((await structured(s, { program: 'sleep', args: ['60'], timeout_ms: 1 })).timed_out, true);
    assert.equal((await structured(s, { program: 'true', timeout_ms: 600000 })).timed_out, false);
    // it ends before, its output after the timeout
    const late = await structured(s, sh('(sleep 0.5; echo late) & echo now', { timeout_ms: 400 }));
    assert.deepEqual([late.timed_out, late.exit_code, late.stdout], [false, 0, 'now\nlate\n']);
});

scenario('SH-7: after a normal exit: a second for late output, then the group is killed, and what left it lives on', async place => {
    const s = await open(place);
    let r = await structured(s, sh('sleep 600 & echo $! >group; exit 3'));
    assert.equal(r.exit_code, 3);
    assert.ok(r.duration_ms >= 990 && r.duration_ms < 1000 + 1000 * slack, `${r.duration_ms}: it holds the pipes`);
    await gone('the group', await pidIn(place, 'group'));
    r = await structured(s, sh('sleep 600 >/dev/null 2>&1 & echo $! >quiet'));
    assert.ok(r.duration_ms < 900 * slack, `${r.duration_ms}: nothing holds the pipes`);
    await gone('the group', await pidIn(place, 'quiet'));

    for (const redirected of ['', '>/dev/null 2>&1']) {
        const name = redirected ? 'daemon' : 'talker';
        r = await structured(s, sh(`setsid sh -c 'echo $$ >${name}; exec sleep 600 ${redirected}' & while ! test -s ${name}; do sleep 0.01; done`));
        assert.equal(r.exit_code, 0);
    }
    await until('the keepers are gone', () => !s.tree().some(p => commandOf(p)[1] === 'keeper'));
    const left = [await pidIn(place, 'daemon'), await pidIn(place, 'talker')];
    await sleep(100);
    assert.deepEqual(left.map(alive), [true, true]);
    await s.close();
    assert.deepEqual(left.map(alive), [true, true], 'they outlive the server too');
    for (const pid of left) process.kill(pid, 'SIGKILL');
});

for (const revision of ['2025-11-25', MODERN]) {
    scenario(`SV-14 SH-7: a cancelled command is ended with its tree, unanswered, at every moment (${revision})`, async place => {
        const s = await open(place, undefined, { revision });
        const ids = [];
        for (let i = 0; i < 20; i++) {
            const c = s.call(TOOL, sh(`setsid sleep 600 & echo $! >pid${i}; exec sleep 600`));
            ids.push(c.id);
            await sleep(i * 2);
            s.cancel(c.id);
        }
        const c = s.call(TOOL, sh("trap '' TERM; setsid sleep 600 & echo $! >deaf; while :; do sleep 600; done"));
        const pid = await pidIn(place, 'deaf');
        s.cancel(c.id);
        await until('all is gone', () => s.tree().length === 0, 4000);
        assert.ok(!alive(pid));
        assert.equal((await structured(s, { program: 'true' })).exit_code, 0);
        assert.ok(!s.messages.some(x => ids.includes(x.m.id)), 'no answer to a cancelled request');
    });
}

scenario('SH-9 SV-14: commands run beside each other, up to their number', async place => {
    const s = await open(place);
    const ms = await took(Promise.all(Array.from({ length: 32 }, () => structured(s, { program: 'sleep', args: ['0.5'] }))));
    assert.ok(ms < 500 + 1500 * slack, `${ms}`);
    const many = Array.from({ length: 64 }, () => s.call(TOOL, { program: 'sleep', args: ['600'] }));
    await sleep(50);
    assert.match(await s.fails(TOOL, { program: 'true' }), /^64 commands are running/);
    for (const c of many) s.cancel(c.id);
    await until('they are gone', () => s.tree().length === 0, 6000);
    assert.equal((await structured(s, { program: 'true' })).exit_code, 0);
});

scenario('SV-11 SH-7: stdin closes: what was accepted is answered; a signal ends commands within their grace', async place => {
    let s = await open(place);
    const c = s.call(TOOL, sh('sleep 0.5; echo done'));
    s.child.stdin.end();
    assert.equal((await c).structuredContent.stdout, 'done\n');
    assert.equal((await s.exited).code, 0);

    for (const [script, ms] of [['exec sleep 600', 1000], ["trap '' TERM; setsid sleep 600 & echo $! >deaf; while :; do sleep 600; done", 3000]]) {
        s = await open(place);
        s.call(TOOL, sh(`echo $$ >pid; ${script}`));
        const pid = await pidIn(place, 'pid');
        if (ms > 1000) await pidIn(place, 'deaf');
        const from = performance.now();
        s.child.kill('SIGTERM');
        const exit = await s.exited;
        assert.equal(exit.code, 0);
        assert.ok(exit.at - from < ms + 1000 * (slack - 1), `${exit.at - from} ms`);
        assert.ok(!alive(pid));
        if (ms > 1000) assert.ok(!alive(await pidIn(place, 'deaf')));
        fs.rmSync(place.path('work/pid'));
    }
});

scenario('SH-7 WK-8: kill -9 of the server leaves nothing of a running command alive', async place => {
    const s = await open(place);
    s.call(TOOL, sh('trap "" TERM HUP; setsid sh -c "echo \\$\\$ >a; exec sleep 600" & (setsid sh -c "(echo \\$\\$ >b; exec sleep 600) & exit" &); echo $$ >c; while :; do sleep 600; done'));
    const pids = [];
    for (const name of ['a', 'b', 'c']) pids.push(await pidIn(place, name));
    await sleep(50);
    s.child.kill('SIGKILL');
    await s.exited;
    for (const pid of pids) await gone('a process of the command', pid);
});

// --- environment --------------------------------------------------------------------------------------------------------
scenario('SH-8 SEC-67: the environment is inherited unchanged, and never logged', { secret: false }, async place => {
    const s = await open(place, undefined, { env: { API_TOKEN: 'tok-5ba1d7c2e9', SYMPOSIUM_LOG: 'trace', WITH_SPACE: ' a b ', EMPTY: '' } });
    const env = (await stdout(s, { program: 'env', args: ['-0'] })).split('\0');
    for (const line of ['API_TOKEN=tok-5ba1d7c2e9', 'WITH_SPACE= a b ', 'EMPTY=', `E2E_API_TOKEN=${place.canary}`]) assert.ok(env.includes(line), line);
    assert.ok(!env.some(l => l.startsWith('~')));
    await structured(s, { program: 'sh', args: ['-c', 'exit 3', 'arg-7c2e9'] });
    await s.fails(TOOL, { program: 'no-such', args: ['arg-7c2e9'] });
    await s.close();
    for (const text of ['tok-5ba1d7c2e9', 'API_TOKEN', 'WITH_SPACE', place.canary]) assert.ok(!s.stderr.includes(text), `${text} in:\n${s.stderr}`);
});

scenario('SV-9: SYMPOSIUM_LOG shows what its level says, and no more', async place => {
    for (const [level, debug] of [[undefined, false], ['error', false], ['info', false], ['debug', true], ['trace', true]]) {
        const s = await open(place, undefined, { env: { SYMPOSIUM_LOG: level } });
        await structured(s, { program: 'true' });
        await s.close();
        assert.equal(/^symposium: debug: child /m.test(s.stderr), debug, `${level}: ${s.stderr}`);
    }
});

// --- the sandbox --------------------------------------------------------------------------------------------------------
const landlocked = fs.existsSync('/sys/kernel/security/lsm') ? fs.readFileSync('/sys/kernel/security/lsm', 'utf8').includes('landlock') : undefined;
const sandbox = (name, body) => scenario(name, async (place, t) => {
    const probe = await run(place, ['shell', '--sandbox', place.workspace], { input: '' });
    if (probe.code === 1 && /--sandbox cannot be had/.test(probe.err)) {
        assert.notEqual(landlocked, true, probe.err);
        t.skip('this kernel has no Landlock or no seccomp');
        return;
    }
    fs.mkdirSync(place.path('tmp'), { recursive: true });
    await body(place);
});
const sandboxed = (place, args = [place.workspace], opts = {}) => open(place, ['--sandbox', ...args], { env: { TMPDIR: place.path('tmp') }, ...opts });

sandbox('SH-10: in the sandbox writing is possible within the roots, TMPDIR and some devices, and nowhere else', async place => {
    place.write('out/file', 'text');
    place.write('second/x', '');
    const s = await sandboxed(place, [place.workspace, place.path('second')]);
    const { description } = s.tools.get(TOOL);
    for (const word of ['sandbox', 'TMPDIR', '/dev/null', '/dev/tty', 'unix', 'docker', 'D-Bus', 'Reading is not limited', 'network'])
        assert.ok(description.includes(word), word);
    const out = place.path('out'), second = place.path('second');
    for (const script of [
        'echo x >f; mkdir d; mv f d/g; ln d/g h; ln -s g d/l; rm h; rm -r d', `echo x >${second}/f`, 'echo x >$TMPDIR/f; rm $TMPDIR/f', 'mktemp',
        'echo x >/dev/null; head -c1 /dev/zero >/dev/null; echo x 2>/dev/stderr >/dev/stdout', `cat ${out}/file`, 'cat /etc/passwd',
    ]) {
        const r = await structured(s, sh(`set -e; ${script}`));
        assert.equal(r.exit_code, 0, `${script}: ${r.stderr}`);
    }
    for (const script of [
        `echo x >${out}/new`, `echo x >${out}/file`, `echo x >>${out}/file`, `: >${out}/file`, `rm ${out}/file`, `mkdir ${out}/d`, `mv ${out}/file .`,
        `ln ${out}/file stolen`, `ln -s x ${out}/l`, `mkfifo ${out}/p`, `truncate -s 0 ${out}/file`, `echo x >${place.path('tmp')}/beside`, `echo x >${place.path('escape')}`,
        `ln -s ${out} inside; echo x >inside/new`, `sh -c 'setsid sh -c "echo x >${out}/new"'`, `dd if=/dev/null of=${out}/file`,
    ]) {
        const r = await structured(s, sh(script));
        assert.notEqual(r.exit_code, 0, script);
        assert.match(r.stderr, /ermission denied|cross-device|Operation not permitted/i, script);
    }
    assert.deepEqual([fs.readdirSync(out), place.read('out/file')], [['file'], 'text']);
    assert.ok(!fs.existsSync(place.path('escape')));
});

sandbox('SH-10: in the sandbox there are no network sockets, in no descendant, but unix ones work', async place => {
    const s = await sandboxed(place);
    const server = net.createServer(c => c.end('hello')).listen(0, '127.0.0.1');
    await new Promise(done => server.on('listening', done));
    try {
        const { port } = server.address();
        for (const script of [`exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`, `setsid -w bash -c 'bash -c "exec 3<>/dev/tcp/127.0.0.1/${port}"'`, `exec 3<>/dev/udp/127.0.0.1/${port}`]) {
            const r = await structured(s, { program: 'bash', args: ['-c', script] });
            assert.notEqual(r.exit_code, 0);
            assert.match(r.stderr, /Permission denied/);
        }
    } finally {
        server.close();
    }
    const script = 'const net = require("net"); const s = net.createServer(c => c.end("over unix")).listen("sock", () => net.connect("sock").on("data", d => { console.log(String(d)); s.close(); }));'
        + 'net.connect(9, "127.0.0.1").on("error", e => console.log(e.code));';
    const r = await structured(s, { program: process.execPath, args: ['-e', script] }, { ms: 10000 });
    assert.deepEqual(r.stdout.trim().split('\n').sort(), ['EACCES', 'over unix'], r.stderr);
});

sandbox('SH-10: TMPDIR is private, shared by the commands of a server, and removed at its end; a killed one is cleared up later', async place => {
    const s = await sandboxed(place);
    const tmp = (await stdout(s, sh('echo $TMPDIR; echo kept >$TMPDIR/f'))).trim();
    assert.ok(tmp.startsWith(place.path('tmp/')), tmp);
    assert.equal(fs.statSync(tmp).mode & 0o7777, 0o700);
    assert.equal(await stdout(s, sh('cat $TMPDIR/f; mkdir -p $TMPDIR/a/b/c; touch $TMPDIR/a/b/c/d; chmod 0 $TMPDIR/a/b')), 'kept\n');
    await s.close();
    assert.ok(!fs.existsSync(tmp));
    const killed = await sandboxed(place);
    const left = (await stdout(killed, sh('echo $TMPDIR'))).trim();
    killed.child.kill('SIGKILL');
    await killed.exited;
    assert.ok(fs.existsSync(left));
    fs.utimesSync(left, 1000, 1000);
    const next = await sandboxed(place);
    assert.ok(!fs.existsSync(left));
    await next.close();
    assert.deepEqual(fs.readdirSync(place.path('tmp')), []);
});

sandbox('SH-10 SV-26: roots that the client names are what the sandbox lets be written', async place => {
    place.write('mine/x', '');
    const s = await sandboxed(place, [], { roots: [{ uri: `file://${place.path('mine')}` }] });
    assert.equal((await structured(s, sh('echo x >y'))).exit_code, 0);
    assert.equal(place.read('mine/y'), 'x\n');
    assert.match((await structured(s, sh(`echo x >${place.workspace}/z`))).stderr, /Permission denied/);
    s.roots = [{ uri: `file://${place.workspace}` }];
    s.notify('notifications/roots/list_changed');
    assert.equal((await structured(s, sh('echo x >z'))).exit_code, 0);
    assert.equal(place.read('work/z'), 'x\n');
    assert.match((await structured(s, sh(`echo x >${place.path('mine')}/n`))).stderr, /Permission denied/);
});

sandbox('SH-10 SH-7: in the sandbox a command times out, is killed and left alone as elsewhere', async place => {
    const s = await sandboxed(place);
    const deaf = await structured(s, sh("trap '' TERM; setsid sleep 600 & echo $! >pid; while :; do sleep 600; done", { timeout_ms: 300 }), { ms: 6000 });
    assert.deepEqual([deaf.timed_out, deaf.signal], [true, 'SIGKILL']);
    assert.ok(!alive(await pidIn(place, 'pid')));
    assert.equal(await s.fails(TOOL, { program: '/etc' }), 'Failed to spawn /etc: Permission denied');
    assert.match(await stdout(s, sh('grep -E "NoNewPrivs|Seccomp:" /proc/self/status')), /NoNewPrivs:\s1\nSeccomp:\s2\n/);
});
