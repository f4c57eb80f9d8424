// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `symposium agents` (servers.md 9): definitions, runs against a scripted provider in all three dialects, real child servers, limits.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { alive, basic, run, sanitized, scenario, slack, sleep, until } from './harness.mjs';
import { APIS, SECRET, definition, provider, refused, serve, serveTrusted, spawn, structured, wait } from './provider.mjs';
import { sdkServer } from './remote.mjs';

for (const [api, wire] of Object.entries(APIS)) {
    scenario(`AG-5 AG-7 AG-22 AG-23 AG-24 AG-25 AG-27: a whole run over ${api}, with parallel calls of our filesystem`, async place => {
        place.write('work/a.txt', 'alpha');
        place.write('work/b.txt', 'beta');
        const p = await provider((q, n) => ({ body: n === 1
            ? wire.call([{ id: 'c1', name: 'filesystem__read_text_file', args: { path: 'a.txt' } },
                { id: 'c2', name: 'filesystem__read_text_file', args: { path: 'b.txt' } },
                { id: 'c3', name: 'nobody__knows', args: {} }])
            : wire.say('all read') }));
        const s = await serve(place, p.url, { api });
        const id = await spawn(s);
        assert.match(id, /^agt_[0-9a-f]{32}$/);
        const got = await wait(s, id);
        assert.equal(got.timed_out, false);
        assert.equal(got.agents[0].status, 'completed');
        assert.equal(got.agents[0].result, 'all read');
        const results = wire.results(p.seen[1].body);
        assert.match(results[0], /alpha/);
        assert.match(results[1], /beta/);
        assert.match(results[2], /there is no such tool/);
        assert.ok(wire.tools(p.seen[0].body).includes('filesystem__read_text_file'));
        assert.ok(!wire.tools(p.seen[0].body).some(n => /write|edit/.test(n)), 'AG-4: reading alone');
        assert.doesNotMatch(s.stdout + (s.stderr ?? ''), new RegExp(SECRET));
    });
}

scenario('AG-6 AG-12 AG-14: a follow-up goes on with the same history', async place => {
    const wire = APIS.responses;
    const p = await provider((q, n) => ({ body: wire.say(`answer ${n}`) }));
    const s = await serve(place, p.url);
    const id = await spawn(s, 'first');
    await wait(s, id);
    assert.deepEqual(structured(await s.call('send_input', { target: id, message: 'second' })),
        { agent_id: id, accepted: true, status: 'running' });
    assert.equal((await wait(s, id)).agents[0].result, 'answer 2');
    assert.deepEqual(wire.asked(p.seen[1].body), ['first', 'second']);
});

scenario('AG-13 AG-12: interrupt drops the turn under way, and nothing of it stays in the history', async place => {
    const wire = APIS.responses;
    const p = await provider((q, n) => (n === 1 ? undefined : { body: wire.say('done') }));
    const s = await serve(place, p.url);
    const id = await spawn(s, 'hang');
    while (!p.seen.length) await sleep(20);
    await s.call('send_input', { target: id, message: 'instead', interrupt: true });
    assert.equal((await wait(s, id)).agents[0].result, 'done');
    assert.deepEqual(wire.asked(p.seen[1].body), ['instead']);
});

scenario('AG-11 AG-12 AG-16: nine agents are one too many, 17 messages too; a wait of 0 tells what is', async place => {
    const p = await provider(() => undefined);
    const s = await serve(place, p.url);
    const ids = [];
    for (let i = 0; i < 8; i++) ids.push(await spawn(s));
    assert.equal((await refused(s, 'spawn_agent', { name: 'worker', task: 'x' })).kind, 'capacity_exceeded');
    while (p.seen.length < 8) await sleep(20);
    for (let i = 0; i < 16; i++) await s.call('send_input', { target: ids[0], message: `m${i}` });
    for (let i = 0; i < 84; i++)
        assert.equal((await refused(s, 'send_input', { target: ids[0], message: 'x' })).kind, 'queue_full');
    const now = await wait(s, ids, 0);
    assert.equal(now.timed_out, true);
    assert.deepEqual(now.agents.map(a => a.agent_id), ids);
    assert.equal(now.agents[0].activity.phase, 'model');
});

scenario('AG-21: 429 with Retry-After is repeated; AG-20: a redirect is an error and the credential goes nowhere', async place => {
    const wire = APIS.responses;
    const other = await provider(() => ({ body: wire.say('stolen') }));
    const p = await provider((q, n) => (n === 1 ? { status: 429, headers: { 'retry-after': '1' }, body: {} }
        : n === 2 ? { body: wire.say('ok') } : { status: 307, headers: { location: `${other.url}/responses` }, body: {} }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    assert.equal((await wait(s, id)).agents[0].result, 'ok');
    assert.ok(p.seen[1].at - p.seen[0].at >= 990);
    await s.call('send_input', { target: id, message: 'again' });
    const failed = (await wait(s, id)).agents[0];
    assert.deepEqual(failed.error, { kind: 'provider_error', message: 'provider returned HTTP status 307' });
    assert.equal(other.seen.length, 0);
});

scenario('AG-25 AG-9: the provider\'s texts are not passed on; a full context is context_limit and can be resumed', async place => {
    const wire = APIS.responses;
    const p = await provider((q, n) => (n === 1 ? { status: 400, body: { error: { message: `Context Length exceeded ${SECRET}` } } }
        : n === 2 ? { status: 401, body: { error: { message: `bad key ${SECRET}` } } } : { body: wire.say('ok') }));
    const s = await serve(place, p.url);
    const id = await spawn(s);
    assert.equal((await wait(s, id)).agents[0].error.kind, 'context_limit');
    await s.call('send_input', { target: id, message: 'again' });
    assert.equal((await wait(s, id)).agents[0].error.message, 'provider returned HTTP status 401');
    await s.call('send_input', { target: id, message: 'again' });
    assert.equal((await wait(s, id)).agents[0].result, 'ok');
    assert.doesNotMatch(s.stdout, new RegExp(SECRET));
});

scenario('AG-8 AG-9 AG-16: wrong arguments, unknown agents, a missing variable', async place => {
    const p = await provider(() => undefined);
    place.write('work/.agents/agents/other.md', definition(p.url).replace('worker', 'other').replace('WORKER_KEY', 'NO_SUCH_KEY'));
    const s = await serve(place, p.url);
    assert.equal((await refused(s, 'spawn_agent', { name: 'worker', task: 'x', more: 1 })).kind, 'invalid_request');
    assert.equal((await refused(s, 'spawn_agent', { name: 'nobody', task: 'x' })).kind, 'unknown_agent');
    assert.equal((await refused(s, 'send_input', { target: 'agt_0', message: 'x' })).kind, 'unknown_agent');
    assert.equal((await refused(s, 'wait_agent', { targets: [] })).kind, 'invalid_request');
    assert.equal((await refused(s, 'wait_agent', { targets: ['agt_0'] })).kind, 'unknown_agent');
    assert.deepEqual(await refused(s, 'spawn_agent', { name: 'other', task: 'x' }),
        { kind: 'missing_environment_variable', message: 'Required environment variable NO_SUCH_KEY is not available.' });
});

scenario('AG-15: 64 that ended are kept; the one used longest ago goes, and cannot be resumed', async place => {
    const p = await provider(() => ({ body: APIS.responses.say('ok') }));
    const s = await serve(place, p.url);
    const ids = [];
    for (let i = 0; i < 65; i++) {
        ids.push(await spawn(s));
        await wait(s, ids[i]);
    }
    assert.equal((await refused(s, 'send_input', { target: ids[0], message: 'x' })).kind, 'unknown_agent');
    assert.equal((await wait(s, ids[1], 0)).agents[0].status, 'completed');
});

// --- servers of an agent, and what others see of a run ----------------------------------------------------------------------
const yaml = servers => `mcpServers: ${JSON.stringify(servers)}\n`;

scenario('AG-26: a server by command gets a small environment in which no credential is, and ends with the run', async place => {
    const wire = APIS.responses, peer = place.peer('own', basic({ calls: { echo: [{ echo: true }] } }));
    const p = await provider((q, n) => ({ body: n === 1 ? wire.call([{ id: 'c', name: 'own__echo', args: { text: 'hello' } }]) : wire.say('said') }));
    const look = 'cat /proc/$$/environ > "$1"; shift; exec "$@"';
    const s = await serve(place, p.url, { more: yaml({ own: { command: '/bin/sh', args: ['-c', look, 'sh', place.path('environ'), peer.command, ...peer.args], env: { OWN: 'mine' } } }) });
    assert.equal((await wait(s, await spawn(s))).agents[0].result, 'said');
    assert.match(wire.results(p.seen[1].body)[0], /hello/);
    const env = Object.fromEntries(place.read('environ').split('\0').filter(Boolean).map(l => [l.slice(0, l.indexOf('=')), l.slice(l.indexOf('=') + 1)]));
    assert.equal(env.OWN, 'mine');
    assert.deepEqual(Object.keys(env).filter(k => !['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'PATHEXT', 'TEMP', 'TMP', 'OWN', 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(k)), []);
    assert.doesNotMatch(place.read('environ'), new RegExp(SECRET));
    await until('its server has ended', () => !place.pids('own').some(alive), 3000);
});

for (const kind of ['v1', 'v2', 'v2-modern'])
    scenario(`AG-26 MS-63: a server by URL, its credential by a variable of its own (${kind})`, async place => {
        const wire = APIS.responses, remote = await sdkServer(kind, { REMOTE_TOKEN: 'of-the-server' });
        try {
            const p = await provider((q, n) => ({ body: n === 1 ? wire.call([{ id: 'c', name: 'far__echo', args: { text: 'from afar' } }]) : wire.say('said') }));
            place.write('work/.agents/agents/worker.md', definition(p.url, 'responses', yaml({ far: { type: 'http', url: remote.url, headers: { Authorization: 'Bearer ${FAR_TOKEN}' } } })));
            const s = await serveTrusted(place, { WORKER_KEY: SECRET, FAR_TOKEN: 'of-the-server' });
            assert.equal((await wait(s, await spawn(s))).agents[0].result, 'said', JSON.stringify(remote.lines));
            assert.match(wire.results(p.seen[1].body)[0], /from afar/);
        } finally {
            await remote.kill();
        }
    });

const open = sanitized ? 'a sanitized program can be looked into' : process.getuid() === 0 ? 'root can read everything' : false;
scenario('AG-26: what an agent runs cannot read the credential in /proc', { skip: open }, async place => {
    const p = await provider(() => undefined), s = await serve(place, p.url);
    assert.throws(() => fs.readFileSync(`/proc/${s.pid}/environ`), /EACCES|EPERM/);
});

const stdio = peer => ({ command: peer.command, args: peer.args });

scenario('AG-26: servers of both eras, and one that dies in a call: the model is told, the run goes on without it', async place => {
    const wire = APIS.responses, eras = ['legacy', 'dual', 'modern'];
    const peers = Object.fromEntries(eras.map(era => [era, stdio(place.peer(era, basic({ era, calls: { echo: [{ echo: true }] } })))]));
    peers.frail = stdio(place.peer('frail', basic({ calls: { echo: [{ stderr: 'broken\n' }, { exit: 3 }] } })));
    const call = (server, n) => ({ id: `${server}${n}`, name: `${server}__echo`, args: { text: `to ${server}` } });
    const p = await provider((q, n) => ({ body: n < 3 ? wire.call([...eras, 'frail'].map(e => call(e, n))) : wire.say('done') }));
    const s = await serve(place, p.url, { more: yaml(peers) });
    assert.equal((await wait(s, await spawn(s), 60000)).agents[0].result, 'done');
    for (const results of [wire.results(p.seen[1].body), wire.results(p.seen[2].body).slice(4)]) {
        eras.forEach((era, i) => assert.match(results[i], new RegExp(`to ${era}`)));
        assert.match(results[3], /"isError":true/);
    }
    assert.match(wire.results(p.seen[1].body)[3], /exit|status 3/);
    assert.equal(place.starts('frail'), 1);
});

scenario('AG-26: a server that offers too much, or starts too slowly, ends the run with its name', { skip: process.env.TEST_SLOW ? false : 'takes 15 s: with --slow' }, async place => {
    const p = await provider(() => ({ body: APIS.responses.say('never') }));
    const failure = async script => {
        const s = await serve(place, p.url, { more: yaml({ own: stdio(place.peer('own', basic(script))) }) });
        const { error, total_elapsed_ms } = (await wait(s, await spawn(s), 60000)).agents[0];
        assert.equal(error.kind, 'child_mcp_startup_error', JSON.stringify(error));
        return { message: error.message, ms: total_elapsed_ms };
    };
    const many = await failure({ tools: undefined, generate: { count: 257, page: 100, tool: '{"name":"t$I","inputSchema":{"type":"object"}}' } });
    assert.match(many.message, /own.*more than 256 tools/);
    const slow = await failure({ on: { initialize: [{ sleep: 600000 }], 'server/discover': [{ sleep: 600000 }] } });
    assert.match(slow.message, /own.*timed out after 15 s/);
    assert.ok(slow.ms >= 14900 && slow.ms < 15000 + 2000 * slack, `${slow.ms}`);
});

scenario('AG-26: the provider\'s credential is no value for a server, and a server that does not start is named', async place => {
    const p = await provider(() => ({ body: APIS.responses.say('never') }));
    const s = await serve(place, p.url, { more: yaml({ thief: { command: '/bin/true', env: { KEY: '${WORKER_KEY}' } } }) });
    const { error } = (await wait(s, await spawn(s))).agents[0];
    assert.equal(error.kind, 'child_mcp_startup_error');
    assert.match(error.message, /thief.*WORKER_KEY.*credential/);
    place.write('work/.agents/agents/other.md', definition(p.url).replace('worker', 'other').replace('WORKER_KEY', 'OTHER_KEY'));
    const t = await serve(place, p.url, { more: yaml({ thief: { command: '/bin/true', env: { KEY: 'x${OTHER_KEY}' } } }) });
    assert.match((await wait(t, await spawn(t))).agents[0].error.message, /thief.*OTHER_KEY.*credential/, 'of another agent');
    assert.equal(p.seen.length, 0);
});

scenario('AG-10 TK-61: the model is told the instructions, the workspace and the skills; a run is a task of kind agent', async place => {
    place.write('work/.agents/skills/tidy/SKILL.md', '---\nname: tidy\ndescription: d\n---\nPut everything back.\n');
    const p = await provider(() => ({ body: APIS.responses.say('tidied') }));
    const s = await serve(place, p.url, { more: 'skills: [tidy]\n' });
    const id = await spawn(s, 'tidy up');
    await wait(s, id);
    assert.match(p.seen[0].body.instructions, new RegExp(`^Work well\\.\\s+Workspace: ${place.workspace}\\s+Put everything back\\.\\s*$`));
    await until('its record has ended', async () => {
        const tasks = JSON.parse((await run(place, ['task', 'ls', '--json'])).out);
        return tasks.some(t => t.kind === 'agent' && t.agent === 'worker' && t.status === 'succeeded' && t.session_id === id);
    }, 5000);
});

scenario('AG-17 AG-18: who waits with a token sees what an agent does, by allowed words alone', async place => {
    const wire = APIS.responses;
    place.write('work/a.txt', 'alpha');
    const p = await provider(async (q, n) => {
        await sleep(150);
        return { body: n === 1 ? wire.call([{ id: 'c1', name: 'filesystem__read_text_file', args: { path: 'a.txt' } }]) : wire.say('secret result') };
    });
    const s = await serve(place, p.url);
    const id = await spawn(s, 'a secret prompt');
    await s.call('wait_agent', { targets: [id], timeout_ms: 20000 }, { progress: 'p' });
    const told = s.progress('p');
    assert.deepEqual(told.map(t => t.progress), told.map((_, i) => i + 1));
    assert.ok(told.length >= 2 && told.every(t => /^worker · ./.test(t.message)), JSON.stringify(told));
    const seen = told.map(t => t._meta['io.modelcontextprotocol/agents']);
    assert.deepEqual([...new Set(seen.map(m => m.agent.agent_id))], [id]);
    assert.ok(seen.every(m => m.wait_timeout_remaining_ms > 0));
    assert.doesNotMatch(JSON.stringify(told), /secret|alpha/);
});

scenario('AG-28 PL-32: what an agent of the workspace would run, or send, takes consent for its very text; given, it counts at once', async place => {
    const p = await provider(() => ({ body: APIS.responses.say('did it') }));
    const free = definition(p.url, 'chat-completions').replace('worker', 'free').replace(/envKey.*\n/, '');
    place.write('work/.agents/agents/worker.md', definition(p.url));
    place.write('work/.agents/agents/free.md', free);
    place.write('work/.agents/agents/runs.md', free.replace('free', 'runs').replace('---\nWork', `${yaml({ own: { command: 'touch', args: [place.path('pwned')] } })}---\nWork`));
    place.write('work/.agents/agents/named.md', free.replace('free', 'named').replace('---\nWork', 'mcpServers: [theirs]\n---\nWork'));
    place.write('work/.claude/agents/shell.md', '---\nname: shell\ndescription: d\ntools: Read, Bash\nmodel: m\n---\nRun.\n');
    const s = await place.serve('agents', [place.workspace], { env: { WORKER_KEY: SECRET } });
    for (const [name, file] of [['worker', 'worker.md'], ['runs', 'runs.md'], ['shell', 'shell.md'], ['named', 'named.md']]) {
        const { kind, message } = await refused(s, 'spawn_agent', { name, task: 'x' });
        assert.equal(kind, 'configuration_error');
        assert.match(message, new RegExp(`^${file.replace('.', '\\.')} runs programs or sends a credential, .*'symposium trust'`));
    }
    assert.notEqual((await wait(s, await spawn(s, 'x', 'free'))).agents[0].error?.kind, 'configuration_error');
    assert.equal(fs.existsSync(place.path('pwned')), false);
    const shown = await run(place, ['trust', '--show']);
    assert.equal(shown.code, 1);
    for (const part of [/worker\.md\n[^]*server of the model: http\S+\n +with credential: \$\{WORKER_KEY\}/, /runs\.md\n +server own: touch \S+pwned/, /shell\.md\n[^]*server shell: symposium shell/, /named\.md\n +server theirs: of-a-plugin\n/])
        assert.match(shown.out, part);
    assert.doesNotMatch(shown.out, /free\.md/);
    assert.equal((await run(place, ['trust', '--yes'])).code, 0);
    assert.equal((await wait(s, await spawn(s))).agents[0].result, 'did it');
    place.write('work/.agents/agents/worker.md', definition(p.url).replace('Work well', 'Work otherwise'));
    const t = await place.serve('agents', [place.workspace], { env: { WORKER_KEY: SECRET } });
    assert.match((await refused(t, 'spawn_agent', { name: 'worker', task: 'x' })).message, /symposium trust/);
});

scenario('AG-1: the first of a name counts, in the order of the folders; what is left out is said once, with its reason', async place => {
    const p = await provider(q => ({ body: APIS.responses.say(q.body.instructions.split('\n')[0]) }));
    const same = (dir, name, text) => place.write(`work/${dir}/${name}`, definition(p.url).replace('Work well.', text));
    same('.claude/agents', 'worker.md', 'From Claude.');
    same('.agents/agents', 'deep/down/worker.md', 'Ours.');
    same('.agents/agents', 'zz.md', 'Ours again.');
    place.write('work/.agents/agents/broken.md', 'no front matter\n');
    place.write('outside.md', definition(p.url));
    fs.symlinkSync(place.path('outside.md'), place.path('work/.agents/agents/link.md'));
    fs.symlinkSync('..', place.path('work/.agents/agents/deep/loop'));
    const s = await serveTrusted(place);
    assert.equal((await wait(s, await spawn(s))).agents[0].result, 'Ours.');
    const { tools } = await s.result('tools/list');
    assert.deepEqual(tools.find(t => t.name === 'spawn_agent').inputSchema.properties.name.enum, ['worker']);
    const said = s.stderr.split('\n').filter(l => l.includes('left out'));
    assert.deepEqual(['worker\' in .*comes first', 'broken.md', 'link.md.*leads out'].map(r => said.filter(l => new RegExp(r).test(l)).length), [1, 1, 1], s.stderr);
});

scenario('AG-19: at the end of input everything is called off, its servers and records too', async place => {
    const p = await provider(() => undefined);
    const s = await serve(place, p.url, { more: yaml({ own: place.peer('own', basic()) }) });
    await spawn(s);
    await until('the model was asked', () => p.seen.length === 1, 5000);
    const { ms } = await s.eof(5000 * slack);
    assert.ok(ms < 5000 * slack, `${ms}`);
    assert.deepEqual(place.pids('own').filter(alive), []);
    assert.deepEqual(JSON.parse((await run(place, ['task', 'ls', '--json'])).out).map(t => [t.kind, t.status]), [['agent', 'cancelled']]);
});
