// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Remote servers (mcp.md 5, MS-63): the official SDKs' servers over HTTP in every form, behind the meta-server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { run, scenario, sleep, slack, until } from './harness.mjs';
import { everything, freePort, sdkServer } from './remote.mjs';

const KINDS = ['v1', 'v1-sse', 'v2', 'v2-modern'];
const entry = (server, more = {}) => ({ name: 'far', url: server.url, ...more });

/** body(session, server, place) */
function remote(name, kind, body, { env, config = {}, more } = {}) {
    scenario(`${name} (${kind})`, async place => {
        const server = await sdkServer(kind, env?.(place));
        try {
            place.plugin('far', [entry(server, more?.(place))]).config(config);
            await body(await place.open(), server, place);
        } finally {
            await server.kill();
        }
    });
}

for (const kind of KINDS) {
    remote('MS-63 MCP-C16 MCP-C17: list, call, many at the same time, and an end that is told', kind, async (s, server) => {
        assert.equal(server.count(/POST/), 0, 'lazy (MS-52)');
        assert.match(await s.list(), /far:[^]*echo[^]*steps/);
        const r = await s.execute('(await Promise.all(Array.from({ length: 20 }, (_, i) => far.echo({ text: "n" + i })))).join()');
        assert.equal(r.value ?? r.text.split('\n')[0], Array.from({ length: 20 }, (_, i) => `n${i}`).join(), r.text);
        assert.equal(server.count(/^POST server\/discover/), 1, 'probed once');
        assert.equal(server.count(/^POST initialize/), kind === 'v1' ? 1 : kind === 'v1-sse' ? 2 : 0);
        assert.equal(server.count('session'), kind === 'v1' ? 1 : 0);
        await s.eof();
        if (kind === 'v1') await until('the session is ended', () => server.count('session ended') === 1);
    });

    remote('MS-56: progress starts the time-out again, silence does not', kind, async s => {
        const going = await s.execute('await far.steps({ n: 8, ms: 300 })', { ms: 30000 });
        assert.match(going.text, /steps:/);
        const silent = await s.execute('await far.steps({ n: 2, ms: 4000 })', { ms: 30000 });
        assert.match(silent.text, /timed out|time-out|no answer/i);
    }, { config: { mcp: { 'tool-call-timeout-secs': 1 } } });

    remote('MCP-C12 MS-57: a cancelled script ends its call in the server, the others go on', kind, async (s, server) => {
        const other = s.execute('await far.steps({ n: 3, ms: 400 })');
        const gone = s.send({ id: 'gone', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await far.steps({ n: 100, ms: 100 })' } } });
        await until('it runs', () => server.count('call steps') === 2, 5000);
        s.notify('notifications/cancelled', { requestId: 'gone' });
        await until('the server was told', () => server.count('cancelled steps') === 1, 1000 * slack);
        assert.match((await other).text, /steps:/);
        assert.equal(await Promise.race([gone, sleep(100)]), undefined, 'unanswered');
        assert.equal((await s.execute('await far.echo({ text: "still" })')).text.split('\n')[0].includes('still'), true);
    });

    remote('MS-74 MCP-C11: a tool that the server adds is known without a restart', kind, async (s, server) => {
        await s.list();
        await until('somebody listens', () => server.count(/^GET|^POST subscriptions\/listen/) >= 1, 3000);
        await s.execute('await far.add({})');
        await until('the new tool is known', async () => /added1/.test(await s.list()), 5000);
    });

    remote('MS-54 MCP-C17: killed and started again, the next call finds it; killed for good, the call says so', kind, async (s, server) => {
        assert.match((await s.execute('await far.echo({ text: "one" })')).text, /one/);
        await server.kill();
        await server.start();
        const again = await until('it answers again', async () => {
            const r = await s.execute('await far.echo({ text: "two" })');
            return r.isError ? '' : r.text;
        }, 10000);
        assert.match(again, /two/);
        const open = s.execute('await far.steps({ n: 100, ms: 100 })', { ms: 30000 });
        await until('it runs', () => server.count('call steps') === 1, 5000);
        await server.kill();
        const lost = await open;
        assert.match(lost.text, /far\.\w+: .*(lost|ended before|closed)/);
        const refused = await s.execute('await far.echo({ text: "three" })', { ms: 60000 });
        assert.match(refused.text, /far\.\w+: .*(lost|connect|start failed)/);
        await s.ping();
    });

    remote('MS-63: credentials from the environment reach the server and nothing else', kind, async (s, server, place) => {
        assert.match((await s.execute('await far.echo({ text: "in" })')).text, /in/);
        assert.doesNotMatch(JSON.stringify(server.lines), new RegExp(place.canary));
    }, { env: place => ({ REMOTE_TOKEN: place.canary }), more: () => ({ headers: { Authorization: 'Bearer ${E2E_API_TOKEN}' } }) });

    remote('MS-63: 401 says what is missing and how to give it', kind, async s => {
        const r = await s.execute('await far.echo({})');
        assert.match(r.text, /far\.\w+: .*HTTP 401: the server wants credentials; give it in 'headers'/);
    }, { env: place => ({ REMOTE_TOKEN: place.canary }) });
}

remote('MCP-C17: a session that the server forgot is begun anew, unseen', 'v1', async (s, server) => {
    await s.execute('await far.echo({ text: "one" })');
    server.forget();
    const r = await s.execute('await Promise.all([far.echo({ text: "two" }), far.echo({ text: "three" })])');
    assert.deepEqual(r.value, ['two', 'three'], r.text);
    assert.equal(server.count('session'), 2);
});

for (const kind of ['v2', 'v2-modern'])
    remote('MCP-C16: annotated arguments travel in a header too, and a wrong annotation drops the tool', kind, async (s, server) => {
        assert.match(await s.list(), /Problems:[^]*far: tool 'broken' dropped/);
        assert.match((await s.execute('await far.tagged({ tag: "plain" })')).text, /plain/);
        assert.match((await s.execute('await far.tagged({ tag: " é\\n" })')).text, /tagged/);
        assert.equal(server.count('POST tools/call 2026-07-28 plain'), 1, server.lines.join('\n'));
        assert.equal(server.count(`POST tools/call 2026-07-28 =?base64?${Buffer.from(' é\n').toString('base64')}?=`), 1, server.lines.join('\n'));
        const long = await s.execute('await far.tagged({ tag: "x".repeat(70000) })');
        assert.match(long.text, /far\.\w+: .*the header 'Mcp-Param-Tag' repeats is longer/);
        assert.match((await s.execute('await far.tagged({ tag: "after" })')).text, /after/);
    });

for (const transport of ['streamableHttp', 'sse'])
    scenario(`MS-63: server-everything by ${transport}: listed, called, progress, killed and back`, async place => {
        const server = await everything(transport);
        try {
            place.plugin('all', [{ name: 'all', url: server.url, ...(transport === 'sse' ? { transport: 'sse' } : {}) }]);
            const s = await place.open();
            assert.match(await s.list(), /all:[^]*echo/);
            assert.match((await s.execute('await all.echo({ message: "hello" })')).text, /hello/);
            const long = await s.execute('await all["trigger-long-running-operation"]({ duration: 1, steps: 4 })', { ms: 30000 });
            assert.match(long.text, /completed/i);
            await server.kill();
            await server.start();
            assert.match(await until('it is back', async () => {
                const r = await s.execute('await all.echo({ message: "again" })');
                return r.isError ? '' : r.text;
            }, 10000), /again/);
        } finally {
            await server.kill();
        }
    });

scenario('MS-63: TLS is verified, an authority of one\'s own is taken from ca-file', async place => {
    const cert = place.path('cert.pem'), key = place.path('key.pem');
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
    const server = await sdkServer('v2', { REMOTE_CERT: cert, REMOTE_KEY: key });
    try {
        place.plugin('far', [entry(server)]);
        const refused = await (await place.open()).execute('await far.echo({ text: "in" })', { ms: 60000 });
        assert.match(refused.text, /far\.\w+: .*certificate/i);
        place.config({ mcp: { 'ca-file': cert } });
        assert.match((await (await place.open()).execute('await far.echo({ text: "in" })')).text, /in/);
    } finally {
        await server.kill();
    }
});

scenario('SEC-73 MS-63: a redirect to another origin is not followed, and its target gets nothing', async place => {
    const seen = [], port = await freePort();
    const target = http.createServer((req, res) => { seen.push(req.headers); res.end(); }).listen(port, '127.0.0.1');
    const first = http.createServer((req, res) => { res.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end(); }).listen(0, '127.0.0.1');
    await Promise.all([once(target, 'listening'), once(first, 'listening')]);
    place.plugin('far', [{ name: 'far', url: `http://127.0.0.1:${first.address().port}/mcp`, headers: { Authorization: 'Bearer ${E2E_API_TOKEN}' } }]);
    const r = await (await place.open()).execute('await far.echo({})');
    assert.match(r.text, /far\.\w+: .*redirects to another place, 'http:\/\/127\.0\.0\.1:/);
    assert.deepEqual(seen, []);
    for (const s of [target, first]) { s.closeAllConnections(); s.close(); }
});

scenario('MS-63 SEC-70: what may not be connected to is said, and the rest works', async place => {
    const server = await sdkServer('v2');
    try {
        place.plugin('far', [
            entry(server), { name: 'plain', url: 'http://example.com/mcp' }, { name: 'odd', url: 'http://2130706433/mcp' },
            { name: 'keyed', url: 'http://user:p/${E2E_API_TOKEN}?@127.0.0.1:1/x' }, { name: 'down', url: `http://127.0.0.1:${await freePort()}/sse`, transport: 'sse' },
            { name: 'meta', url: 'https://169.254.169.254/mcp' }, { name: 'unset', url: server.url, headers: { Authorization: 'Bearer ${E2E_UNSET}' } },
        ]);
        const s = await place.open();
        const said = async name => (await s.execute(`await ${name}.echo({})`)).text;
        assert.match(await said('plain'), /plain http is only for localhost/);
        assert.match(await said('odd'), /plain http is only for localhost/);
        const keyed = await said('keyed');
        assert.match(keyed, /(user information|port|bad|Port).* \(url: \*\*\*@127\.0\.0\.1:1\/x\)/);
        assert.ok(!keyed.includes(place.canary));
        assert.match(await said('down'), /start failed at connect .*127\.0\.0\.1/);
        assert.match(await said('meta'), /leads to 169\.254\.169\.254, an address that no remote server may have/);
        assert.match(await s.list(), /Problems:[^]*unset: .*E2E_UNSET/);
        assert.match((await s.execute('await far.echo({ text: "fine" })')).text, /fine/);
    } finally {
        await server.kill();
    }
});

scenario('CL-1 MS-63: tools, call and exec reach a remote server', async place => {
    const server = await sdkServer('v2');
    try {
        place.plugin('far', [entry(server)]);
        const r = await Promise.all([['tools'], ['call', 'far.echo', 'text=hello'], ['exec', '-']].map(args => run(place, args, { input: 'await far.echo({ text: "two" })' })));
        assert.match(r[0].out, /far:\n +echo/);
        assert.match(r[1].out, /hello/);
        assert.match(r[2].out, /two/);
    } finally {
        await server.kill();
    }
});

scenario('MS-63 CL-1: doctor says of each server with a URL how far it got: DNS, connection, TLS, revision, time to list', async place => {
    const cert = place.path('cert.pem'), key = place.path('key.pem');
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
    const servers = await Promise.all([sdkServer('v1'), sdkServer('v2', { REMOTE_CERT: cert, REMOTE_KEY: key })]);
    const web = http.createServer((req, res) => res.end('hello')), silent = createServer(() => {});
    for (const s of [web, silent]) await once(s.listen(0, '127.0.0.1'), 'listening');
    const at = s => `127.0.0.1:${s.address().port}`;
    try {
        place.plugin('far', [
            { name: 'old', url: servers[0].url }, { name: 'safe', url: servers[1].url }, { name: 'nowhere', url: 'https://no-such-host.invalid/mcp' },
            { name: 'closed', url: `http://127.0.0.1:${await freePort()}/mcp` }, { name: 'web', url: `http://${at(web)}/` },
            { name: 'plain', url: `https://${at(web)}/` }, { name: 'silent', url: `http://${at(silent)}/`, 'startup-timeout-secs': 2 },
        ]);
        const doctor = async () => {
            const r = await run(place, ['doctor', '--json'], { ms: 60000 }), events = JSON.parse(r.out);
            return { server: name => events.find(e => e.type === 'server' && e.name === name),
                advice: name => events.find(e => e.type === 'problem' && e.text.startsWith(`${name}: `))?.advice };
        };
        const first = await doctor(), old = first.server('old');
        assert.deepEqual([old.state, old.revision, old.addresses, old.tools > 0, old.ms >= 0, old.dns_ms >= 0, old.connect_ms >= 0, old.tls_ms],
            ['ok', '2025-11-25', 1, true, true, true, true, undefined]);
        const about = { safe: /authority of your own goes into \[mcp\] ca-file/, nowhere: /host's name in 'url'/, closed: /that the server runs/,
            web: /a web server, but none of MCP/, plain: /check 'url'/, silent: /startup-timeout-secs/ };
        for (const [name, advice] of Object.entries(about)) assert.match(first.advice(name), advice, name);
        assert.match(first.server('safe').detail, /TLS: .*certificate/i);
        assert.match(first.server('plain').detail, /TLS: /);
        assert.equal(first.server('nowhere').addresses, 0);
        assert.deepEqual([first.server('closed').addresses, first.server('closed').connect_ms], [1, undefined]);
        assert.ok(first.server('silent').connect_ms >= 0, 'connected, and then nothing');
        place.config({ mcp: { 'ca-file': cert } });
        const safe = (await doctor()).server('safe');
        assert.deepEqual([safe.state, safe.revision, safe.tls_ms >= safe.connect_ms], ['ok', '2026-07-28', true]);
        const shown = (await run(place, ['doctor'], { ms: 60000 })).out;
        assert.match(shown, /ok +safe +\d+ tools in \d+ ms, revision 2026-07-28; DNS: 1 address in \d+ ms; connected in \d+ ms; TLS in \d+ ms/);
    } finally {
        await Promise.all(servers.map(s => s.kill()));
        for (const s of [web, silent]) s.close();
        web.closeAllConnections();
    }
});
