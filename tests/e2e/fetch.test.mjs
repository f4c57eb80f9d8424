// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The fetch server (servers.md 5) against web servers of our own, well-behaved and hostile ones, on the loopback interface. Which
// addresses are public is the business of unit tests; names that lead somewhere else come from a preloaded resolver (tests/peers/fake_dns.c).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import zlib from 'node:zlib';
import { once } from 'node:events';
import { MODERN, bin, peakOf, run, sanitized, scenario, slack, sleep, timed, until } from './harness.mjs';

const ERAS = ['2025-11-25', MODERN];
const LIMIT = 8 * 1024 * 1024;
const fakeDns = path.join(process.env.SYMPOSIUM_PEER ? path.dirname(process.env.SYMPOSIUM_PEER) : path.join(path.dirname(bin), 'tests/peers'), 'fake_dns.so');

// --- web servers ------------------------------------------------------------------------------------------------------
const listening = [];
async function listen(server, address = '127.0.0.1', port = 0) {
    server.listen(port, address);
    await once(server, 'listening');
    server.unref();
    listening.push(server);
    return server.address().port;
}

/**
 * A site: `routes` maps a path to [status, headers, body] or to a function of (request, response). robots.txt is a 404 unless it
 * is a route. `hits`: every path that was asked for; `agents`: with which user agent.
 */
async function site(routes, { address, port, tls } = {}) {
    const hits = [], agents = [], sockets = new Set();
    const answer = (q, r) => {
        hits.push(q.url);
        agents.push(q.headers['user-agent']);
        const route = routes[q.url] ?? routes[q.url.split('?')[0]] ?? [404, {}, 'not here'];
        if (typeof route === 'function') return route(q, r);
        const [status, headers, body] = route;
        r.writeHead(status, headers).end(body);
        return undefined;
    };
    const server = tls ? https.createServer(tls, answer) : http.createServer({ keepAliveTimeout: 100 }, answer);
    server.on('connection', s => sockets.add(s));
    const at = await listen(server, address, port);
    return { hits, agents, sockets, port: at, host: `127.0.0.1:${at}`, origin: `${tls ? 'https' : 'http'}://127.0.0.1:${at}`, routes };
}
/** A server that answers every connection with `speak(socket)`. */
async function rawSite(speak) {
    let connections = 0;
    const port = await listen(net.createServer(s => {
        connections++;
        s.on('error', () => {});
        s.once('data', d => speak(s, d.toString('latin1')));
    }));
    return { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, connections: () => connections };
}
const page = (body, headers = { 'content-type': 'text/html' }) => [200, headers, body];
const open = (place, site, args = [], opts = {}) => place.serve('fetch', ['--allow-host', site.host, ...args], opts);
const NO_ROBOTS = '--ignore-robots-txt';
const head = url => `Contents of ${url}:\n`;
const rawHead = (type, url) => `Content type ${type} cannot be simplified to markdown, but here is the raw content:\n${head(url)}`;

// --- what it offers ---------------------------------------------------------------------------------------------------
for (const revision of ERAS) scenario(`FE-1 FE-17 SV-16: one tool and one prompt, with the fields they take (${revision})`, async place => {
    const s = await place.serve('fetch', [], { revision });
    const { tools: [t, ...more] } = await s.result('tools/list');
    assert.deepEqual(more, []);
    assert.deepEqual([t.name, t.title, t.annotations], ['fetch', 'Fetch', { readOnlyHint: true, openWorldHint: true }]);
    const { url, max_length: max, start_index: start, raw } = t.inputSchema.properties;
    assert.deepEqual(t.inputSchema.required, ['url']);
    assert.equal(url.type, 'string');
    assert.deepEqual([max.type, max.minimum, max.maximum, max.default], ['integer', 1, 999999, 5000]);
    assert.deepEqual([start.type, start.minimum, start.maximum, start.default], ['integer', 0, undefined, 0]);
    assert.deepEqual([raw.type, raw.default], ['boolean', false]);
    assert.match(t.description, /https:\/\/lite\.duckduckgo\.com\/lite\/\?q=\.\.&kl=us-en&kp=-2/);
    assert.match(t.description, /internet access/);
    const { prompts } = await s.result('prompts/list');
    assert.deepEqual(prompts.map(p => [p.name, p.description, p.arguments.map(a => [a.name, a.required])]),
        [['fetch', 'Fetch a URL and extract its contents as markdown', [['url', true]]]]);
});

scenario('FE-2 SEC-74 SV-15: what cannot be fetched is refused in order, before any connection', async place => {
    const web = await site({ '/': page('x') });
    const s = await open(place, web);
    const cases = [
        [{ url: 'example.com' }, /^Invalid URL "example\.com": /],
        [{ url: '' }, /^Invalid URL "": /],
        [{ url: `http://user:pw@${web.host}/` }, /^Invalid URL "http:\/\/user:pw@.*": user information/],
        [{ url: `http://${web.host}/\n` }, /^Invalid URL "http:\/\/[^"]*\n": control byte/],
        [{ url: `http://${web.host}/\0` }, /^Invalid URL "http:\/\/[^"]*\0": control byte/],
        [{ url: `http://${web.host}/${'x'.repeat(8192)}` }, /^Invalid URL "http:\/\/[^"]*…": longer than 8192 bytes/],
        [{ url: 'http://[::1' }, /^Invalid URL /],
        [{ url: 'nonsense:1', max_length: 0 }, /^Unsupported URL scheme "nonsense" - only http and https are supported$/],
        [{ url: 'x', max_length: 0, start_index: -1 }, /^Invalid URL/],
        ...['file:///etc/passwd', 'gopher://h/', 'ftp://h/', 'data:text/html,x', 'javascript:alert(1)', 'FILE:///etc/passwd'].map(url =>
            [{ url }, new RegExp(`^Unsupported URL scheme "${url.split(':')[0]}" - only http and https are supported$`)]),
        [{ url: web.origin, max_length: 0, start_index: -1 }, /^max_length must be between 1 and 999999, got 0$/],
        [{ url: web.origin, max_length: 1000000 }, /^max_length must be between 1 and 999999, got 1000000$/],
        [{ url: web.origin, max_length: -5 }, /^max_length must be between 1 and 999999, got -5$/],
        [{ url: web.origin, start_index: -1 }, /^start_index must be non-negative, got -1$/],
        [{}, /^failed to deserialize parameters: .*url/],
        [{ url: 7 }, /^failed to deserialize parameters: .*url/],
        [{ url: web.origin, max_length: 'many' }, /^failed to deserialize parameters: .*max_length/],
        [{ url: web.origin, max_length: 1.5 }, /^failed to deserialize parameters: .*max_length/],
        [{ url: web.origin, raw: 'yes' }, /^failed to deserialize parameters: .*raw/],
    ];
    for (const [args, text] of cases) assert.match(await s.fails('fetch', args), text);
    assert.deepEqual(web.hits, []);
    assert.equal(await s.text('fetch', { url: web.origin, max_length: null, raw: null, other: 1, start_index: 0.0 }), `${head(web.origin)}x`);
});

// --- content ----------------------------------------------------------------------------------------------------------
scenario('FE-3 FE-4 FE-6 FE-16: pages, raw text, JSON, nothing, binary data, and what failed', async place => {
    const html = '<html><head><title>T</title></head><body><h1>Hi</h1><p>see <a href="b?c">this</a></body></html>';
    const web = await site({
        '/d/page': page(html), '/xhtml': page(html, { 'content-type': 'application/xhtml+xml' }),
        '/json': page('{"a": [1]}', { 'content-type': 'application/json; charset=utf-8' }), '/none': page('<!DOCTYPE html><p>x', {}),
        '/plain': page('no markup', {}), '/empty': page('<div></div>'), '/zip': page(Buffer.from('PK\x03\x04\0\0'), { 'content-type': 'application/zip' }),
        '/nul': page('a\0b', { 'content-type': 'text/plain' }), '/500': [500, {}, 'oops'], '/410': [410, {}, 'gone'],
        '/204': [204, {}, ''], '/304': [304, {}, ''], '/302': [302, {}, 'nowhere'],
    });
    const s = await open(place, web);
    const u = p => `${web.origin}${p}`;
    const ok = (p, args) => s.text('fetch', { url: u(p), ...args });
    assert.equal(await ok('/d/page'), `${head(u('/d/page'))}# Hi\n\nsee [this](${web.origin}/d/b?c)`);
    assert.equal(await ok('/xhtml'), `${head(u('/xhtml'))}# Hi\n\nsee [this](${web.origin}/b?c)`);
    assert.equal(await ok('/d/page', { raw: true }), `${rawHead('text/html', u('/d/page'))}${html}`);
    assert.equal(await ok('/json'), `${rawHead('application/json; charset=utf-8', u('/json'))}{"a": [1]}`);
    assert.equal(await ok('/none'), `${head(u('/none'))}x`);
    assert.equal(await ok('/plain'), `${rawHead('', u('/plain'))}no markup`);
    assert.equal(await ok('/empty'), `${head(u('/empty'))}<error>Page failed to be simplified from HTML</error>`);
    assert.equal(await ok('/zip'), `${u('/zip')} holds binary data, which is not shown: content type application/zip, 6 bytes`);
    assert.match(await ok('/nul'), /holds binary data.*text\/plain, 3 bytes/);
    assert.equal(await ok('/204'), `${rawHead('', u('/204'))}<error>No more content available.</error>`);
    assert.match(await ok('/304'), /No more content/);
    assert.match(await ok('/302'), /nowhere/);     // without a Location it is an answer like another
    assert.equal(await s.fails('fetch', { url: u('/404') }), `Failed to fetch ${u('/404')} - status code 404`);
    assert.equal(await s.fails('fetch', { url: u('/500') }), `Failed to fetch ${u('/500')} - status code 500`);
    assert.equal(await s.fails('fetch', { url: u('/410#f') }), `Failed to fetch ${u('/410#f')} - status code 410`);
    const closed = await open(place, { host: '127.0.0.1:1' }, [NO_ROBOTS]);
    assert.match(await closed.fails('fetch', { url: 'http://127.0.0.1:1/' }), /^Failed to fetch http:\/\/127\.0\.0\.1:1\/: .*connect/i);
});

for (const revision of ERAS) scenario(`FE-5: the parts of a long text, read one after the other, are the text (${revision})`, async place => {
    const text = Array.from({ length: 3000 }, (_, i) => `${i} ä😀\n`).join('');
    const web = await site({ '/t': page(text, { 'content-type': 'text/plain; charset=utf-8' }) });
    const s = await open(place, web, [], { revision });
    const url = `${web.origin}/t`, before = rawHead('text/plain; charset=utf-8', url);
    let whole = '', start = 0;
    for (;;) {
        const part = await s.text('fetch', { url, start_index: start, max_length: 7000 });
        assert.ok(part.startsWith(before));
        const m = /^([^]*)\n\n<error>Content truncated\. Call the fetch tool with a start_index of (\d+) to get more content\.<\/error>$/.exec(part.slice(before.length));
        whole += m ? m[1] : part.slice(before.length);
        if (!m) break;
        assert.equal(Number(m[2]), start + 7000);
        start += 7000;
    }
    assert.equal(whole, text);
    const length = [...text].length;
    assert.equal(await s.text('fetch', { url, start_index: length - 2, max_length: 2 }), `${before}${[...text].slice(-2).join('')}`);
    assert.equal(await s.text('fetch', { url, start_index: length }), `${before}<error>No more content available.</error>`);
    assert.equal(await s.text('fetch', { url, start_index: 1e15 }), `${before}<error>No more content available.</error>`);
    assert.equal([...(await s.text('fetch', { url })).slice(before.length).split('\n\n<error>')[0]].length, 5000);
});

scenario('FE-8: the charset is that of the header, else of a mark, else of a meta element, else UTF-8', async place => {
    const latin = Buffer.from('<p>\xe4\xdf', 'latin1'), html = 'text/html';
    const web = await site({
        '/header': page(latin, { 'content-type': 'text/html; charset=iso-8859-1' }),
        '/meta': page(Buffer.concat([Buffer.from('<meta charset="windows-1252">'), latin]), { 'content-type': html }),
        '/bom': page(Buffer.from('\ufeff<p>äß', 'utf16le'), { 'content-type': html }),
        '/utf8': page('\ufeff<p>äß', { 'content-type': html }),
        '/unknown': page('<p>äß', { 'content-type': 'text/html; charset=klingon' }),
        '/wrong': page(latin, { 'content-type': html }),
        '/sjis': page(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), { 'content-type': 'text/plain; charset=Shift_JIS' }),
    });
    const s = await open(place, web);
    const text = async p => (await s.text('fetch', { url: `${web.origin}${p}` })).split(':\n').at(-1);
    for (const p of ['/header', '/meta', '/bom', '/utf8', '/unknown']) assert.equal(await text(p), 'äß', p);
    assert.equal(await text('/wrong'), '\ufffd\ufffd');
    assert.equal(await text('/sjis'), '日本');
});

// --- robots.txt -------------------------------------------------------------------------------------------------------
const robots = (text, more = {}) => ({ '/robots.txt': page(text, { 'content-type': 'text/plain' }), '/a': page('<p>a'), '/b': page('<p>b'), ...more });

scenario('FE-9 FE-11 FE-12: the tool obeys robots.txt, the prompt never asks for it, flags turn it off and on', async place => {
    const text = 'User-agent: symposium\nDisallow: /a\n\nUser-agent: mine\nDisallow: /b\n';
    const web = await site(robots(text));
    const url = `${web.origin}/a`, own = /^Symposium\/\d+\.\d+\.\d+ \(Autonomous(; \+http[^)]*)?\)$/;
    const s = await open(place, web);
    const refusal = await s.fails('fetch', { url });
    assert.ok(refusal.startsWith(`The sites robots.txt (${web.origin}/robots.txt), specifies that autonomous fetching of this page is not `
        + `allowed, <useragent>${web.agents[0]}</useragent>\n<url>${url}</url>\n<robots>\n${text}\n</robots>\n`), refusal);
    assert.match(refusal, /fetch prompt/);
    assert.deepEqual(web.hits, ['/robots.txt']);
    assert.match(web.agents[0], own);
    assert.equal(await s.text('fetch', { url: `${web.origin}/b` }), `${head(`${web.origin}/b`)}b`);
    assert.deepEqual(web.hits, ['/robots.txt', '/b'], 'the origin is asked once for the process');
    assert.match(web.agents[1], own);

    web.hits.length = web.agents.length = 0;
    const prompt = await s.result('prompts/get', { name: 'fetch', arguments: { url } });
    assert.equal(prompt.messages[0].content.text, 'a');
    assert.deepEqual(web.hits, ['/a']);
    assert.match(web.agents[0], /^Symposium\/\d+\.\d+\.\d+ \(User-Specified(; \+http[^)]*)?\)$/);

    const cases = [[[NO_ROBOTS], true], [[NO_ROBOTS, '--respect-robots-txt'], false], [['--respect-robots-txt', NO_ROBOTS], true]];
    for (const [args, allowed] of cases) {
        web.hits.length = 0;
        const t = await open(place, web, args);
        assert.equal((await t.call('fetch', { url })).isError, !allowed, `${args}`);
        assert.deepEqual(web.hits, [allowed ? '/a' : '/robots.txt']);
    }
    web.agents.length = 0;
    const mine = await open(place, web, ['--user-agent', 'Mine/9 (x)']);
    assert.match(await mine.fails('fetch', { url: `${web.origin}/b` }), /<useragent>Mine\/9 \(x\)<\/useragent>/);
    await mine.text('fetch', { url });
    await mine.result('prompts/get', { name: 'fetch', arguments: { url } });
    assert.deepEqual([...new Set(web.agents)], ['Mine/9 (x)']);
});

scenario('FE-10: each status of robots.txt means what it says', async place => {
    const web = await site({ '/': page('<p>x') });
    const url = `${web.origin}/`, where = `${web.origin}/robots.txt`;
    const seen = async route => {
        web.routes['/robots.txt'] = route;
        const s = await open(place, web);       // a fresh one: 4xx are kept
        const r = await s.call('fetch', { url });
        await s.close();
        return [r.isError, r.content[0].text];
    };
    for (const status of [401, 403])
        assert.deepEqual(await seen([status, {}, '']), [true, `When fetching robots.txt (${where}), received status ${status} so assuming that `
            + 'autonomous fetching is not allowed, the user can try manually fetching by using the fetch prompt']);
    for (const status of [400, 404, 410, 429]) assert.deepEqual(await seen([status, {}, 'User-agent: *\nDisallow: /']), [false, `${head(url)}x`]);
    for (const status of [500, 503])
        assert.deepEqual(await seen([status, {}, '']), [true, `When fetching robots.txt (${where}), received status ${status}, so this site `
            + 'cannot be fetched autonomously now']);
    assert.deepEqual(await seen([200, {}, '']), [false, `${head(url)}x`]);
    assert.equal((await seen([200, {}, 'User-agent: *\nDisallow: /']))[0], true);
    const [bad, text] = await seen((q, r) => r.destroy());
    assert.ok(bad && text.startsWith(`Failed to fetch robots.txt ${where} due to a connection issue: `), text);
    // A server's trouble is not kept.
    web.routes['/robots.txt'] = [503, {}, ''];
    const s = await open(place, web);
    await s.fails('fetch', { url });
    web.routes['/robots.txt'] = [404, {}, ''];
    await s.text('fetch', { url });
});

scenario('FE-10 FE-11 FE-14: robots.txt is followed over five redirects, cut at its limits, and BODY is at most 2 KiB', async place => {
    const chain = n => Object.fromEntries(Array.from({ length: n }, (_, i) =>
        [i ? `/r${i}` : '/robots.txt', [302, { location: i + 1 < n ? `/r${i + 1}` : '/rules' }, '']]));
    const rules = page('User-agent: *\nDisallow: /no\n');
    const five = await site({ ...chain(5), '/rules': rules, '/no': page('x'), '/yes': page('<p>y') });
    const s = await open(place, five);
    assert.match(await s.fails('fetch', { url: `${five.origin}/no` }), /^The sites robots\.txt/);
    assert.equal(await s.text('fetch', { url: `${five.origin}/yes` }), `${head(`${five.origin}/yes`)}y`);
    const six = await site({ ...chain(6), '/rules': rules, '/yes': page('y') });
    const t = await open(place, six);
    assert.match(await t.fails('fetch', { url: `${six.origin}/yes` }), /due to a connection issue: more than 5 redirects$/);

    const endless = await site({
        '/robots.txt': (q, r) => {
            r.writeHead(200);
            r.write(`User-agent: *\nDisallow: /no\n#${'ä'.repeat(100)}`);
            const more = () => { while (!r.destroyed && r.write('#'.repeat(65536)));  if (!r.destroyed) r.once('drain', more); };
            more();
        },
        '/yes': page('<p>y'),
    });
    const e = await open(place, endless);
    assert.equal(await e.text('fetch', { url: `${endless.origin}/yes` }), `${head(`${endless.origin}/yes`)}y`);
    const body = /<robots>\n([^]*)\n<\/robots>/.exec(await e.fails('fetch', { url: `${endless.origin}/no` }))[1];
    assert.ok(body.startsWith('User-agent: *\nDisallow: /no\n#ä') && Buffer.byteLength(body) <= 2048 && Buffer.byteLength(body) > 2040);
});

// --- limits -----------------------------------------------------------------------------------------------------------
/** A gzip stream of `megabytes` of zeros, made of one block over and over: nobody has to compress them all. */
function* bomb(megabytes) {
    const zeros = Buffer.alloc(1 << 20);
    const block = zlib.deflateRawSync(zeros, { finishFlush: zlib.constants.Z_FULL_FLUSH });
    yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    for (let i = 0; i < megabytes; i++) yield block;
}

scenario('FE-13 SEC-75: a body over 8 MiB of decoded bytes is refused, announced or not, packed or not', async place => {
    const text = { 'content-type': 'text/plain' };
    const flood = (q, r) => {
        r.writeHead(200, text);
        const more = () => { while (!r.destroyed && r.write(Buffer.alloc(65536, 'x'))); if (!r.destroyed) r.once('drain', more); };
        more();
    };
    let sent = 0;
    const web = await site({
        '/announced': (q, r) => { r.writeHead(200, { ...text, 'content-length': LIMIT + 1 }); r.write('x'); },
        '/chunked': flood,
        '/exact': page(Buffer.alloc(LIMIT, 'x'), text), '/over': page(Buffer.alloc(LIMIT + 1, 'x'), text),
        '/gzip': page(zlib.gzipSync('<p>packed'), { 'content-type': 'text/html', 'content-encoding': 'gzip' }),
        '/deflate': page(zlib.deflateSync('<p>packed'), { 'content-type': 'text/html', 'content-encoding': 'deflate' }),
        '/br': page(zlib.brotliCompressSync('<p>packed'), { 'content-type': 'text/html', 'content-encoding': 'br' }),
        '/brbomb': page(zlib.brotliCompressSync(Buffer.alloc(64 << 20), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } }), { 'content-type': 'text/html', 'content-encoding': 'br' }),
        '/bomb': async (q, r) => {
            const closed = once(r, 'close');
            r.writeHead(200, { ...text, 'content-encoding': 'gzip' });
            for (const b of bomb(10 * 1024)) {
                if (r.destroyed) return;
                sent += b.length;
                if (!r.write(b)) await Promise.race([new Promise(done => r.once('drain', done)), closed]);
            }
            r.end();
        },
        '/twice': page(zlib.gzipSync(zlib.gzipSync('x')), { ...text, 'content-encoding': 'gzip, gzip' }),
        '/garbage': page('no gzip', { ...text, 'content-encoding': 'gzip' }),
        '/odd': page('x', { ...text, 'content-encoding': 'pack200-gzip' }),
    });
    const s = await open(place, web, [NO_ROBOTS]);
    const u = p => `${web.origin}${p}`;
    for (const p of ['/gzip', '/deflate', '/br']) assert.equal(await s.text('fetch', { url: u(p) }), `${head(u(p))}packed`);
    assert.ok((await s.text('fetch', { url: u('/exact'), max_length: 10 })).includes('xxxxxxxxxx\n\n<error>Content truncated'));
    const before = s.rss();
    for (const p of ['/announced', '/chunked', '/over', '/bomb', '/brbomb']) {
        const why = `Response body from ${u(p)} exceeds the 8388608 byte safety limit`;
        assert.equal(await s.fails('fetch', { url: u(p) }), why);
    }
    assert.ok(sent < 4 << 20, `${sent} bytes of the bomb were taken`);
    if (!sanitized) assert.ok(peakOf(s.pid) - before < 32 << 20, `${peakOf(s.pid) - before} bytes more at the peak`);
    for (const p of ['/twice', '/garbage', '/odd']) assert.match(await s.fails('fetch', { url: u(p) }), /^Failed to fetch http[^ ]+: .+/);
    assert.match(await s.fails('fetch', { url: u('/twice') }), /more than one content coding/);
});

scenario('SEC-76 FE-13: headers without end, too many of them, contradictions: broken off', async place => {
    const speeches = {
        '/line': 'X: '.padEnd(200_000, 'y'),
        '/many': 'a: b\r\n'.repeat(100_000),
        '/both': 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
        '/two': 'Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello',
        '/folded': 'X: a\r\n b\r\n\r\nx',
        '/short': 'Content-Length: 50\r\n\r\nhello',
        '/chunk': 'Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n',
        '/trailers': `Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n${'a: b\r\n'.repeat(100_000)}\r\n`,
    };
    const web = await rawSite((socket, request) => {
        const speech = speeches[request.split(' ')[1]];
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n');
        if (speech) socket.end(speech);
        else socket.end('\r\nfine');
    });
    const s = await open(place, web, [NO_ROBOTS]);
    for (const p of Object.keys(speeches)) {
        const took = await timed(async () => assert.match(await s.fails('fetch', { url: `${web.origin}${p}` }), /^Failed to fetch http[^ ]+: .+/, p), [s.pid]);
        assert.ok(took < 2000 * slack, `${p}: ${took} ms`);
    }
    for (const p of ['/many', '/line'])
        assert.match(await s.fails('fetch', { url: `${web.origin}${p}` }), /^Failed to fetch http[^ ]+: the headers have more than 65536 bytes$/);
    assert.match(await s.text('fetch', { url: `${web.origin}/fine` }), /fine$/);
});

scenario('FE-13: a packed body whose connection is closed before its end is an error, not half a page', async place => {
    const text = Buffer.from(`<p>${Array.from({ length: 30000 }, (_, i) => i).join(' ')}`);
    const packed = { gzip: zlib.gzipSync(text), deflate: zlib.deflateSync(text), br: zlib.brotliCompressSync(text) };
    const web = await rawSite((socket, request) => {
        const [, coding, part] = /^GET \/(\w+)\/(\w+)/.exec(request);
        const body = packed[coding], head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: ${coding}\r\n`;
        socket.write(part === 'length' ? `${head}Content-Length: ${body.length}\r\n\r\n` : `${head}\r\n`);
        socket.end(part === 'cut' ? body.subarray(0, body.length / 2) : part === 'last' ? body.subarray(0, -1) : body);
    });
    const s = await open(place, web, [NO_ROBOTS]);
    const u = p => `${web.origin}/${p}`;
    for (const coding of Object.keys(packed)) {
        const why = coding === 'gzip' ? /closed within the gzip data$/ : /tell whether it is complete$/;
        for (const part of ['cut', 'last']) assert.match(await s.fails('fetch', { url: u(`${coding}/${part}`) }), why);
        assert.match(await s.text('fetch', { url: u(`${coding}/length`), max_length: 10 }), /\n0 1 2 3 4 \n\n<error>Content truncated/);
    }
    assert.match(await s.text('fetch', { url: u('gzip/whole'), max_length: 10 }), /\n0 1 2 3 4 \n/);
});

scenario('SEC-76 FE-13 SV-14: a dribble ends after 10 s, a slow but steady answer after 30 s, and nobody waits for either', async place => {
    const every = (ms, bytes) => (q, r) => {
        r.writeHead(200, { 'content-type': 'text/plain' });
        const t = setInterval(() => r.write('x'.repeat(bytes)), ms);
        r.on('close', () => clearInterval(t));
    };
    const web = await site({ '/dribble': every(1000, 1), '/steady': every(250, 50), '/silent': () => {}, '/quick': page('<p>q') });
    const s = await open(place, web);
    const from = performance.now();
    const ended = async p => [await s.fails('fetch', { url: `${web.origin}${p}` }, { ms: 60000 }), performance.now() - from];
    const all = Promise.all(['/dribble', '/silent', '/steady'].map(ended));
    await sleep(200);
    const { slowest } = await s.pingWhile((async () => {
        for (let i = 0; i < 20; i++) await s.text('fetch', { url: `${web.origin}/quick` });
    })());
    assert.ok(slowest < 50 * slack, `a ping took ${slowest} ms`);
    const [[dribble, at1], [silent, at2], [steady, at3]] = await all;
    for (const text of [dribble, silent]) assert.match(text, /^Failed to fetch http[^ ]+: .*(too slow|100 bytes)/i);
    assert.equal(steady, `Failed to fetch ${web.origin}/steady: not within 30 s`);
    for (const at of [at1, at2]) assert.ok(at > 8000 && at < 15000 + 1000 * slack, `${at} ms`);
    assert.ok(at3 > 29000 && at3 < 31000 + 500 * slack, `${at3} ms`);
});

// --- redirects --------------------------------------------------------------------------------------------------------
scenario('FE-14 SEC-73: ten redirects are followed, loops and other schemes are not, and each origin is asked for its robots.txt', async place => {
    const hop = (n, last) => [302, { location: n ? `/hop/${n - 1}` : last }, 'a body that nobody reads'];
    const other = await site({ '/robots.txt': page('User-agent: *\nDisallow: /no\n'), '/no': page('x'), '/yes': page('<p>there') });
    const web = await site({
        ...Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`/hop/${n}`, hop(n, '/end')])), '/end': page('<p>end <a href=x>l</a>'),
        '/loop': [302, { location: '/loop' }, ''], '/a/rel': [301, { location: '../end?q' }, ''],
        '/file': [302, { location: 'file:///etc/passwd' }, ''], '/js': [302, { location: 'javascript:1' }, ''],
        '/user': [302, { location: `http://user:pw@${other.host}/yes` }, ''],
        '/private': [302, { location: 'http://127.0.0.2:1/' }, ''], '/meta': [307, { location: 'http://169.254.169.254/latest' }, ''],
        '/no': [303, { location: `${other.origin}/no` }, ''], '/yes': [308, { location: `${other.origin}/yes` }, ''],
        '/cookie': (q, r) => r.writeHead(302, { location: '/saw', 'set-cookie': 'a=b' }).end(), '/saw': (q, r) => r.end(JSON.stringify(q.headers)),
    });
    const s = await open(place, web, ['--allow-host', other.host]);
    const u = p => `${web.origin}${p}`;
    assert.equal(await s.text('fetch', { url: u('/hop/9') }), `${head(u('/hop/9'))}end [l](${web.origin}/x)`);
    assert.equal(await s.fails('fetch', { url: u('/hop/10') }), `Failed to fetch ${u('/hop/10')}: more than 10 redirects`);
    assert.match(await s.fails('fetch', { url: u('/loop') }), /: more than 10 redirects$/);
    assert.match(await s.text('fetch', { url: u('/a/rel') }), /\nend /);
    assert.equal(web.hits.at(-1), '/end?q');
    assert.match(await s.fails('fetch', { url: u('/file') }), /^Failed to fetch http[^ ]+: redirect to 'file:\/\/\/etc\/passwd': Unsupported URL scheme "file"/);
    assert.match(await s.fails('fetch', { url: u('/js') }), /Unsupported URL scheme "javascript"/);
    assert.match(await s.fails('fetch', { url: u('/user') }), /user information/);
    assert.equal(await s.fails('fetch', { url: u('/private') }), 'Access to private network address 127.0.0.2 is not allowed');
    assert.equal(await s.fails('fetch', { url: u('/meta') }), 'Access to private network address 169.254.169.254 is not allowed');
    assert.deepEqual(other.hits, []);
    assert.match(await s.fails('fetch', { url: u('/no') }), new RegExp(`^The sites robots.txt \\(${other.origin}/robots.txt\\)`));
    assert.equal(await s.text('fetch', { url: u('/yes') }), `${head(u('/yes'))}there`);
    assert.deepEqual(other.hits, ['/robots.txt', '/yes']);
    assert.doesNotMatch(await s.text('fetch', { url: u('/cookie') }), /cookie"/);   // nothing is carried along

    // The prompt's redirects are checked as the tool's are, without robots.txt (FE-15).
    const text = async p => (await s.result('prompts/get', { name: 'fetch', arguments: { url: u(p) } })).messages[0].content.text;
    assert.equal(await text('/private'), 'Access to private network address 127.0.0.2 is not allowed');
    assert.equal(await text('/no'), 'x');
});

// --- addresses --------------------------------------------------------------------------------------------------------
const FORMS = ['127.0.0.1', '127.1', '0x7f.1', '2130706433', '0x7f000001', '017700000001', '0177.0.0.1', '0', '127.0.0.01', '[::1]',
    '[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', 'localhost', 'LOCALHOST',
    '127.0.0.%31', '①②⑦.0.0.1'];
const METADATA = ['169.254.169.254', '0xa9fea9fe', '2852039166', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '100.100.100.200'];
const DENIED = /^Access to private network address [0-9a-f.:]+ is not allowed$/;

scenario('SEC-70 FE-15: no notation of a private address is reached, and metadata services not even when the private network is allowed', async place => {
    const web = await site({ '/': page('<p>reached') }, { address: '::' });
    const s = await place.serve('fetch');
    for (const host of [...FORMS, ...METADATA, '10.0.0.1', '172.16.0.1', '192.168.1.1', '[fe80::1]', '[fc00::1]', '[2001:db8::1]', '224.0.0.1'])
        assert.match(await s.fails('fetch', { url: `http://${host}:${web.port}/` }), DENIED, host);
    assert.match((await s.result('prompts/get', { name: 'fetch', arguments: { url: `http://127.1:${web.port}/` } })).messages[0].content.text, DENIED);
    assert.deepEqual(web.hits, []);
    assert.equal(web.sockets.size, 0);

    const open = await place.serve('fetch', ['--allow-private-network']);
    for (const host of METADATA) assert.match(await open.fails('fetch', { url: `http://${host}:${web.port}/` }), DENIED, host);
    assert.equal(web.sockets.size, 0);
    for (const host of ['127.0.0.1', '2130706433', 'localhost']) {
        const url = `http://${host}:${web.port}/`;
        assert.equal(await open.text('fetch', { url }), `${head(url)}reached`);
    }
});

scenario('FE-15: an allowed host is that host as written, with its port when one was given', async place => {
    const a = await site({ '/': page('<p>a') }), b = await site({ '/': page('<p>b') });
    const s = await place.serve('fetch', ['--allow-host', `127.0.0.1:${a.port}`, '--allow-host=localhost']);
    const at = (host, port) => `http://${host}:${port}/`;
    for (const url of [at('127.0.0.1', a.port), at('localhost', a.port), at('localhost', b.port), at('LocalHost', b.port)]) await s.text('fetch', { url });
    for (const url of [at('127.0.0.1', b.port), at('127.0.0.2', a.port)]) assert.match(await s.fails('fetch', { url }), DENIED);
    // The address in another notation is not what was written.
    const any = await place.serve('fetch', ['--allow-host', '127.0.0.1']);
    for (const host of FORMS) {
        const url = at(host, a.port);
        if (host === '127.0.0.1') await any.text('fetch', { url });
        else assert.match(await any.fails('fetch', { url }), DENIED, host);
    }
    const odd = await place.serve('fetch', ['--allow-host', '127.1']);
    await odd.text('fetch', { url: at('127.1', a.port) });
    assert.match(await odd.fails('fetch', { url: at('127.0.0.1', a.port) }), DENIED);
    for (const host of ['http://x', '', 'h:x', 'u@h']) {
        const r = await run(place, ['fetch', '--allow-host', host]);
        assert.equal(r.code, 1, host);
        assert.match(r.err, /--allow-host/);
    }
});

const dns = (place, lines) => {
    const file = place.write('dns', lines.join('\n'));
    const asan = [process.env.ASAN_OPTIONS, 'verify_asan_link_order=0'].filter(Boolean).join(':');
    return { env: { LD_PRELOAD: fakeDns, FAKE_DNS: file, ASAN_OPTIONS: asan } };
};

scenario('SEC-71 FE-15: one denied address among several refuses the name', async place => {
    const web = await site({ '/': page('<p>reached') });
    const opts = dns(place, ['meta.test 169.254.169.254', 'mixed.test 93.184.216.34,127.0.0.1', 'mixed6.test 2606:4700::1,::1',
        'embedded.test ::ffff:10.1.2.3', 'host.test 127.0.0.1', 'meta2.test 127.0.0.1,169.254.169.254']);
    const s = await place.serve('fetch', [], opts);
    const at = name => `http://${name}:${web.port}/`;
    const denied = a => `Access to private network address ${a} is not allowed`;
    assert.equal(await s.fails('fetch', { url: at('meta.test') }), denied('169.254.169.254'));
    assert.equal(await s.fails('fetch', { url: at('mixed.test') }), denied('127.0.0.1'));
    assert.equal(await s.fails('fetch', { url: at('mixed6.test') }), denied('::1'));
    assert.equal(await s.fails('fetch', { url: at('embedded.test') }), denied('::ffff:10.1.2.3'));
    const local = await place.serve('fetch', ['--allow-private-network'], opts);
    assert.equal(await local.text('fetch', { url: at('host.test') }), `${head(at('host.test'))}reached`);
    assert.equal(await local.fails('fetch', { url: at('meta2.test') }), denied('169.254.169.254'));
    assert.deepEqual([...new Set(web.hits)], ['/robots.txt', '/']);
    // A host that was named on the command line may be anywhere.
    const named = await place.serve('fetch', ['--allow-host', 'host.test', NO_ROBOTS], opts);
    assert.equal(await named.text('fetch', { url: at('host.test') }), `${head(at('host.test'))}reached`);
});

scenario('SEC-72 FE-15: the name is looked up once for a connection; an answer that changes later is judged anew, or never seen', async place => {
    const first = await site({ '/': page('<p>vetted'), '/robots.txt': page('') });
    const second = await site({ '/': page('<p>other') }, { address: '127.0.0.2', port: first.port });
    const at = name => `http://${name}:${first.port}/`;
    const lookups = name => place.lines('dns.log').filter(l => l === name).length;
    const opts = dns(place, ['once.test 127.0.0.1', 'once.test 127.0.0.2', 'flip.test 127.0.0.1', 'flip.test 169.254.169.254']);
    const s = await place.serve('fetch', ['--allow-private-network', NO_ROBOTS], opts);
    assert.equal(await s.text('fetch', { url: at('once.test') }), `${head(at('once.test'))}vetted`);
    assert.equal(lookups('once.test'), 1);
    assert.equal(second.sockets.size, 0);
    // Asked again, it is another connection, to where the name leads by then.
    assert.equal(await s.text('fetch', { url: at('once.test') }), `${head(at('once.test'))}other`);
    assert.equal(lookups('once.test'), 2);
    // robots.txt comes from the vetted address; by the page's turn the name leads elsewhere.
    const t = await place.serve('fetch', ['--allow-private-network'], opts);
    assert.equal(await t.fails('fetch', { url: at('flip.test') }), 'Access to private network address 169.254.169.254 is not allowed');
    assert.equal(lookups('flip.test'), 2);
    assert.deepEqual(first.hits, ['/', '/robots.txt']);
});

scenario('SV-11 SV-14 FE-13: names that nobody answers for hold up no other fetch, no end and no signal', async place => {
    const web = await site({ '/': page('<p>reached') });
    const opts = dns(place, ['hang.test hang', 'host.test 127.0.0.1']);
    const start = () => place.serve('fetch', ['--allow-private-network', NO_ROBOTS], opts);
    const hang = (s, n) => Array.from({ length: n }, (_, i) => s.request('tools/call', { name: 'fetch', arguments: { url: `http://hang.test/${i}` } }).catch(() => {}));
    const asked = n => until('lookups that hang', () => fs.existsSync(place.path('dns.log')) && place.lines('dns.log').filter(l => l === 'hang.test').length >= n, 5000);
    const s = await start();
    hang(s, 12);
    await asked(12);
    for (const name of ['127.0.0.1', 'host.test', 'localhost']) {
        const url = `http://${name}:${web.port}/`;
        const took = await timed(async () => assert.equal(await s.text('fetch', { url }), `${head(url)}reached`), [s.pid]);
        assert.ok(took < 500 * slack, `${name}: ${took} ms`);
    }
    const { code, ms } = await s.kill('SIGTERM');
    assert.equal(code, 0);
    assert.ok(ms < 500 * slack, `SIGTERM: ${ms} ms`);
});

scenario('FE-15 SV-9: through the configured proxy go names, and no private address that is written out', async place => {
    const asked = [];
    const proxy = http.createServer((q, r) => {
        asked.push(q.url);
        r.writeHead(q.url.endsWith('/robots.txt') ? 404 : 200, { 'content-type': 'text/html' }).end('<p>by proxy');
    });
    proxy.on('connect', (q, socket) => { asked.push(`CONNECT ${q.url}`); socket.end('HTTP/1.1 403 no\r\n\r\n'); });
    const port = await listen(proxy);
    const s = await place.serve('fetch', ['--proxy-url', `http://127.0.0.1:${port}`]);
    assert.equal(await s.text('fetch', { url: 'http://no.such.host.test/p' }), `${head('http://no.such.host.test/p')}by proxy`);
    assert.deepEqual(asked, ['http://no.such.host.test/robots.txt', 'http://no.such.host.test/p']);
    asked.length = 0;
    for (const host of ['127.0.0.1', '2130706433', '169.254.169.254', '[::1]', 'localhost', 'x.localhost'])
        assert.match(await s.fails('fetch', { url: `http://${host}/` }), /Access to private network address|could not resolve/, host);
    assert.deepEqual(asked, []);
    assert.match(await s.fails('fetch', { url: 'https://no.such.host.test/' }), /^Failed to fetch robots\.txt .*403/);
    assert.deepEqual(asked, ['CONNECT no.such.host.test:443']);
    for (const url of ['nonsense', 'ftp://h', 'http://']) {     // SV-8
        const r = await run(place, ['fetch', '--proxy-url', url]);
        assert.deepEqual([r.code, r.out], [1, ''], url);
        assert.match(r.err, /--proxy-url/);
    }
});

scenario('FE-6: a certificate that nobody vouches for is an error', async (place, t) => {
    try {
        execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', place.path('key.pem'),
            '-out', place.path('cert.pem'), '-days', '2', '-subj', '/CN=x', '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
    } catch { return t.skip('no openssl program'); }
    const web = await site({ '/': page('x') }, { tls: { key: fs.readFileSync(place.path('key.pem')), cert: fs.readFileSync(place.path('cert.pem')) } });
    const s = await open(place, web, [NO_ROBOTS]);
    assert.match(await s.fails('fetch', { url: `${web.origin}/` }), /^Failed to fetch https[^ ]+: .*certificate/);
    assert.deepEqual(web.hits, []);
    return undefined;
});

// --- the prompt -------------------------------------------------------------------------------------------------------
for (const revision of ERAS) scenario(`FE-17: the prompt gives the whole content, or the error as its text (${revision})`, async place => {
    const long = 'word '.repeat(20000).trim();
    const web = await site({ '/long': page(`<p>${long}`), '/json': page('{}', { 'content-type': 'application/json' }) });
    const s = await open(place, web, [], { revision });
    const get = async url => {
        const r = await s.result('prompts/get', { name: 'fetch', arguments: { url } });
        assert.equal(r.messages.length, 1);
        const [{ role, content: { type, text } }] = r.messages;
        assert.deepEqual([role, type], ['user', 'text']);
        return [r.description, text];
    };
    const u = p => `${web.origin}${p}`;
    assert.deepEqual(await get(u('/long')), [`Contents of ${u('/long')}`, long]);
    assert.deepEqual(await get(u('/json')), [`Contents of ${u('/json')}`, `${rawHead('application/json', '').split('\n')[0]}\n{}`]);
    assert.deepEqual(await get(u('/none')), [`Failed to fetch ${u('/none')}`, `Failed to fetch ${u('/none')} - status code 404`]);
    assert.deepEqual(await get('ftp://x/'), ['Failed to fetch ftp://x/', 'Unsupported URL scheme "ftp" - only http and https are supported']);
    assert.deepEqual(await get('http://10.0.0.1/'), ['Failed to fetch http://10.0.0.1/', 'Access to private network address 10.0.0.1 is not allowed']);
    for (const args of [{}, { url: '' }, { url: '  ' }, undefined]) {
        const { error } = await s.request('prompts/get', { name: 'fetch', ...(args ? { arguments: args } : {}) });
        assert.deepEqual([error.code, error.message], [-32602, 'URL is required']);
    }
    assert.equal((await s.request('prompts/get', { name: 'other', arguments: {} })).error.code, -32602);
});

// --- life -------------------------------------------------------------------------------------------------------------
for (const revision of ERAS) scenario(`SV-14: a cancelled fetch ends its transfer, unanswered; progress is told while one goes on (${revision})`, async place => {
    let closed = 0;
    const slowly = (q, r) => {
        r.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5_000_000 });
        const t = setInterval(() => r.write('x'.repeat(20000)), 20);
        r.on('close', () => { clearInterval(t); closed++; });
    };
    const web = await site({
        '/slow': slowly,
        '/steps': (q, r) => {
            r.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5000 });
            let n = 0;
            const t = setInterval(() => { r.write('x'.repeat(1000)); if (++n === 5) { clearInterval(t); r.end(); } }, 60);
        },
        '/never': () => {},
    });
    const s = await open(place, web, [], { revision });
    const call = s.call('fetch', { url: `${web.origin}/slow` });
    await until('the transfer has begun', () => web.hits.includes('/slow'));
    s.cancel(call.id);
    await until('the connection is closed', () => closed === 1);
    const checking = await site({ '/robots.txt': () => {} });
    const other = await open(place, checking, [], { revision });
    const waiting = other.call('fetch', { url: `${checking.origin}/` });
    await until('robots.txt was asked for', () => checking.hits.length === 1);
    other.cancel(waiting.id);
    await until('that connection is closed too', () => [...checking.sockets].every(x => x.destroyed));

    await s.text('fetch', { url: `${web.origin}/steps` }, { progress: 'p' });
    const told = s.progress('p');
    assert.ok(told.length >= 2, `${told.length} notifications`);
    told.forEach((p, i) => assert.ok(p.total === 5000 && (i === 0 || p.progress > told[i - 1].progress), JSON.stringify(told)));
    assert.equal(told.at(-1).progress, 5000);
    await s.ping();
    assert.ok(!s.messages.some(x => x.m.id === call.id), 'no answer to what was cancelled');
    assert.ok(!other.messages.some(x => x.m.id === waiting.id), 'nor to what waited for robots.txt');
});

scenario('SV-11: at the end of input an open fetch is still answered; at a signal it is not waited for', async place => {
    const web = await site({ '/slow': (q, r) => setTimeout(() => r.end('late'), 300), '/never': () => {} });
    const s = await open(place, web, [NO_ROBOTS]);
    const answer = s.text('fetch', { url: `${web.origin}/slow` });
    await until('it was asked for', () => web.hits.length === 1);
    const exit = s.eof();
    assert.match(await answer, /late$/);
    assert.equal((await exit).code, 0);
    const t = await open(place, web, [NO_ROBOTS]);
    t.call('fetch', { url: `${web.origin}/never` }).catch(() => {});
    await until('it was asked for', () => web.hits.length === 2);
    assert.ok((await t.kill('SIGTERM')).ms < 500 * slack);
});

scenario('SV-14: of many fetches 32 are under way, and the others follow in order; a cancelled one makes room', async place => {
    const held = [];
    const web = await site({ '/': (q, r) => held.push(r) });
    const s = await open(place, web, [NO_ROBOTS]);
    const calls = Array.from({ length: 40 }, (_, i) => s.call('fetch', { url: `${web.origin}/?${i}` }));
    await until('32 have begun', () => held.length === 32);
    await s.ping();
    await sleep(50);
    assert.equal(held.length, 32);
    s.cancel(calls[0].id);
    s.cancel(calls[39].id);
    await until('the next one has begun', () => held.length === 33);
    assert.equal(web.hits.at(-1), '/?32');
    for (const r of held.splice(0)) r.end('x');
    await until('the last ones have begun', () => held.length === 6);
    for (const r of held.splice(0)) r.end('x');
    for (const c of calls.slice(1, 39)) assert.equal((await c).isError, false);
});

scenario('a machine without libcurl says so, and what to install; the server itself works', async place => {
    place.write('lib/libcurl.so.4', 'no library');
    const s = await place.serve('fetch', [], { env: { LD_LIBRARY_PATH: place.path('lib') } });
    assert.match(await s.fails('fetch', { url: 'http://example.com/' }), /^Failed to fetch http:\/\/example\.com\/: libcurl .*libcurl4/);
    await s.ping();
});

scenario('SEC-75 SV-30: a prompt over 9.5 MiB says how long it is and what to do instead', async place => {
    const web = await site({ '/big': page(Buffer.alloc(LIMIT - 100, 0xe4), { 'content-type': 'text/plain; charset=latin1' }) });
    const s = await open(place, web);
    const r = await s.result('prompts/get', { name: 'fetch', arguments: { url: `${web.origin}/big` } });
    assert.match(r.messages[0].content.text, /more than \d+ bytes, a prompt at most 9961472; the fetch tool/);
    const text = await s.text('fetch', { url: `${web.origin}/big`, max_length: 999999 });
    assert.match(text, /ää\n\n<error>Content truncated/);
});
