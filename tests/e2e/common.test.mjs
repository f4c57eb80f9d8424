// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What all everyday servers have in common: their command line (servers.md 1) and their protocol (2), over both eras. What each does
// is in the file of its name.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { LEGACY, MODERN, Server, bin, peakOf, rssOf, run, sanitized, scenario, slack, sleep, until } from './harness.mjs';
import { SERVERS } from './everyday.mjs';

const require = createRequire(import.meta.url);
const REVISIONS = [...LEGACY, MODERN];
const NAMES = Object.keys(SERVERS);
const CHOICE = 'exactly one server must be selected, and server-specific options must belong to the selected server.';

async function start(place, name, opts = {}) {
    return place.serve(name, [...await SERVERS[name].prepare(place), ...opts.more ?? []], opts);
}
/** One that was not spoken to. */
async function silent(place, name) {
    const s = new Server(place, { args: [name, ...await SERVERS[name].prepare(place)] });
    place.sessions.push(s);
    return s;
}
const first = (place, name) => SERVERS[name].calls(place)[0];

// --- the command line ---------------------------------------------------------------------------------------------------
scenario('SV-2 SV-3 SV-4: not exactly one server, or an option of another: the sentence and both forms on stderr, exit status 1', async place => {
    fs.symlinkSync(bin, place.path('modelcontextprotocol'));
    const lines = [
        ['--memory', '--fetch'], ['fetch', '--memory'], ['--memory', 'fetch'], ['--filesystem', '.', '--shell', '.'], ['memory', '--memory'],
        ['--user'], ['--memory-file', 'x'], ['--filesystem', 'D', '--memory-file', 'x'], ['--memory', '--user-agent', 'x'],
        ['memory', '--ignore-robots-txt'], ['filesystem', '--user', '.'], ['skills', '--allow-private-network'], ['fetch', '--sandbox'],
        ['--user-agent', 'x', 'fetch'], ['--memory-file=x', 'memory'], ['--sandbox', 'shell', '.'],
    ];
    for (const [args, program] of [...lines.map(l => [l, bin]), ...[[], ...lines].map(l => [l, place.path('modelcontextprotocol')])]) {
        const r = await run(place, args, { program });
        assert.deepEqual([r.code, r.out], [1, ''], args.join(' '));
        assert.ok(r.err.includes(CHOICE), r.err);
        for (const name of NAMES) assert.match(r.err, new RegExp(` ${name}\\b[^]* --${name}\\b`));
    }
});

scenario('SV-5: a mistake of spelling is exit status 2, said on stderr alone', async place => {
    fs.symlinkSync(bin, place.path('modelcontextprotocol'));
    for (const args of [
        ['filesystem', '--bogus'], ['--fetch', '--bogus'], ['memory', '-x'], ['memory', '--memory-file'], ['fetch', '--user-agent'],
        ['fetch', '--user-agent', '--ignore-robots-txt'], ['skills', 'a', 'b'], ['--skills', 'a', 'b'], ['memory', 'x'], ['fetch', 'memory'],
        ['shell', '--sandbox=yes'], ['--memory=x'], ['--bogus'], ['bogus'], ['filesystem', '--help=x', '--bogus'],
    ]) {
        for (const program of [bin, place.path('modelcontextprotocol')]) {
            const r = await run(place, args, { program });
            assert.deepEqual([r.code, r.out], [2, ''], args.join(' '));
            assert.notEqual(r.err, '');
        }
    }
    assert.equal((await run(place, ['tools'], { program: place.path('modelcontextprotocol') })).code, 2);
});

scenario('SV-1 SV-29: help and version print and exit 0, for each server, in both forms and under both names', async place => {
    fs.symlinkSync(bin, place.path('modelcontextprotocol'));
    for (const program of [bin, place.path('modelcontextprotocol')]) {
        for (const name of NAMES) {
            for (const args of [[name, '--help'], [`--${name}`, '-h'], ['-h', name]]) {
                const r = await run(place, args, { program });
                assert.deepEqual([r.code, r.err], [0, ''], args.join(' '));
                assert.match(r.out, new RegExp(`^usage: symposium ${name}`));
                assert.doesNotMatch(r.out, /--workspace/);
            }
            for (const args of [[name, '--version'], [`--${name}`, '-V']])
                assert.match((await run(place, args, { program })).out, /^symposium \d+\.\d+\.\d+\n$/);
        }
        for (const args of [['--version'], ['-V']])
            assert.match((await run(place, args, { program })).out, /^symposium \d+\.\d+\.\d+\n$/);
    }
    const all = await run(place, ['--help'], { program: place.path('modelcontextprotocol') });
    assert.equal(all.code, 0);
    for (const name of NAMES) assert.match(all.out, new RegExp(`modelcontextprotocol --${name}`));
});

for (const name of NAMES) {
    scenario(`SV-1 SV-29: ${name} serves in both forms, under both names`, async place => {
        fs.symlinkSync(bin, place.path('modelcontextprotocol'));
        const args = await SERVERS[name].prepare(place);
        for (const form of [[name, ...args], [`--${name}`, ...args]]) {
            for (const [program, argv] of [[bin, form], [place.path('modelcontextprotocol'), form]]) {
                const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } } });
                const r = await run(place, argv, { program, input: `${hello}\n` });
                assert.equal(r.code, 0, r.err);
                assert.equal(JSON.parse(r.out).result.serverInfo.name, SERVERS[name].name);
            }
        }
    });
}

scenario('SV-6 SV-1: a selector flag takes all values that follow; directories default to the current one', async place => {
    for (const d of ['a', 'b', 'c']) fs.mkdirSync(place.path(d));
    const dirs = ['a', 'b', 'c'].map(d => place.path(d));
    for (const args of [
        ['filesystem', ...dirs], ['--filesystem', ...dirs], ['--filesystem', dirs[0], '--allow-root', dirs[1], dirs[2]], ['--allow-root', '--filesystem', ...dirs],
        [`--filesystem=${dirs[0]}`, dirs[1], dirs[2]], ['filesystem', '--', ...dirs],
    ]) {
        const s = await place.serve('', [], { args });
        assert.equal(await s.text('list_allowed_directories'), `Allowed directories:\n${dirs.join('\n')}`, args.join(' '));
        await s.close();
    }
    for (const args of [['filesystem'], ['--filesystem']]) {
        const s = await place.serve('', [], { args, cwd: dirs[1] });
        assert.equal(await s.text('list_allowed_directories'), `Allowed directories:\n${dirs[1]}`);
        await s.close();
    }
});

scenario('SV-7: directories that cannot be used are named and skipped; without any the server ends with 1', async place => {
    const file = place.write('file.txt', ''), none = place.path('none'), good = place.path('good');
    fs.mkdirSync(good);
    for (const name of ['filesystem', 'shell']) {
        const s = await place.serve(name, [file, none, '/', good]);
        await s.close();
        assert.match(s.stderr, new RegExp(`^Warning: ${file} is not a directory, skipping$`, 'm'));
        assert.match(s.stderr, new RegExp(`^Warning: Cannot access directory ${none}, skipping$`, 'm'));
        assert.match(s.stderr, /\/.*--allow-root/);
        for (const args of [[name, file, none], [`--${name}`, file, none]]) {
            const r = await run(place, args);
            assert.deepEqual([r.code, r.out], [1, '']);
            assert.match(r.err, /^Error: none of the 2 specified directorie\(s\) are accessible - /m);
            assert.match(r.err, new RegExp(`^Usage: .*${name}`, 'mi'));
        }
        assert.equal((await run(place, [name, '/'])).code, 1);
        const root = await place.serve(name, ['--allow-root', '/']);
        await root.close();
    }
    for (const dir of [file, none]) {
        const r = await run(place, ['skills', dir]);
        assert.deepEqual([r.code, r.out], [1, ''], dir);
        assert.notEqual(r.err, '');
    }
});

scenario('SV-8: a proxy URL that cannot be parsed fails the start; memory creates nothing at its start', async place => {
    for (const url of ['::nonsense::', 'http://', 'gopher://x/']) {
        const r = await run(place, ['fetch', '--proxy-url', url]);
        assert.deepEqual([r.code, r.out], [1, ''], url);
        assert.notEqual(r.err, '');
    }
    const s = await place.serve('memory', ['--memory-file', place.path('deep/er/m.jsonl')]);
    await s.call('read_graph');
    await s.close();
    assert.ok(!fs.existsSync(place.path('deep')));
});

scenario('SV-9: SYMPOSIUM_LOG sets what stderr tells, without colours; a wrong one is said and no more', async place => {
    for (const name of NAMES) {
        for (const [level, want] of [[undefined, ''], ['warn', ''], ['loud', /SYMPOSIUM_LOG/], ['trace', /\S/]]) {
            const s = await start(place, name, { env: { SYMPOSIUM_LOG: level } });
            await s.close();
            if (want === '') assert.equal(s.stderr, '', name);
            else if (level !== 'trace') assert.match(s.stderr, want, name);
            assert.doesNotMatch(s.stderr, /\x1b/);
        }
    }
});

scenario('SV-9: MEMORY_FILE_PATH names the memory, unless the command line does; an empty one is none', async place => {
    const add = s => s.text('create_entities', { entities: [{ name: 'A', entityType: 't', observations: [] }] });
    for (const [args, file, made] of [
        [[], place.path('env.jsonl'), 'env.jsonl'], [['--memory-file', place.path('arg.jsonl')], place.path('unused.jsonl'), 'arg.jsonl'], [[], '', 'work/memory.jsonl'],
    ]) {
        const s = await place.serve('memory', args, { env: { MEMORY_FILE_PATH: file } });
        await add(s);
        await s.close();
        assert.ok(fs.existsSync(place.path(made)), made);
    }
    assert.ok(!fs.existsSync(place.path('unused.jsonl')));
});

scenario('SV-9: proxies of the environment are not used', async place => {
    const proxies = Object.fromEntries(['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].map(n => [n, 'http://127.0.0.1:1']));
    const s = await start(place, 'fetch', { env: proxies });
    assert.match(await s.text(...SERVERS.fetch.calls(place)[0]), /a page of \*\*ours\*\*/);
});

// --- the protocol -------------------------------------------------------------------------------------------------------
for (const name of NAMES) {
    const server = SERVERS[name];

    for (const revision of REVISIONS) {
        scenario(`SV-10 SV-12 SV-19: ${name} in ${revision}: who it is, its tools, each of them`, async place => {
            const s = await start(place, name, { revision });
            const modern = revision === MODERN;
            assert.deepEqual(s.about.capabilities, (modern && server.modern) || server.capabilities);
            const info = modern ? s.about._meta['io.modelcontextprotocol/serverInfo'] : s.about.serverInfo;
            assert.equal(info.name, server.name);
            assert.equal(info.version, (await run(place, ['--version'])).out.trim().split(' ')[1]);
            assert.ok(s.about.instructions.includes(server.says), s.about.instructions);
            if (modern) assert.deepEqual(s.about.supportedVersions, [MODERN]);
            assert.deepEqual([...s.tools.keys()].sort(), server.calls(place).map(c => c[0]).sort(), 'every tool is called');
            for (const [tool, args] of server.calls(place)) {
                const r = await s.call(tool, args);
                assert.equal(r.isError, false, `${tool}: ${r.content[0]?.text}`);
                assert.ok(r.content.length >= 1, tool);
                if (revision >= '2025-06-18') assert.ok(r.structuredContent || !s.tools.get(tool).outputSchema, tool);
            }
            if (server.prompt) {
                assert.deepEqual((await s.result('prompts/list')).prompts.map(p => p.name), ['fetch']);
                assert.match((await s.result('prompts/get', server.prompt(place))).messages[0].content.text, /ours/);
            }
            if (server.resource) {
                assert.deepEqual((await s.result('resources/list')).resources.map(x => x.uri), [server.resource]);
                assert.equal((await s.result('resources/read', { uri: server.resource })).contents[0].mimeType, 'application/json');
            }
        });
    }

    scenario(`SV-10: ${name} serves both eras at once on one pipe`, async place => {
        const s = await start(place, name);
        const [tool, args] = first(place, name);
        for (const modern of [true, false, true]) {
            const m = await s.request('tools/call', { name: tool, arguments: args }, { modern });
            assert.equal(m.result.isError, false);
            assert.equal(m.result.resultType, modern ? 'complete' : undefined);
        }
    });

    scenario(`SV-11: ${name} is silent until it is spoken to, and ends with its input`, async place => {
        const s = await silent(place, name);
        await sleep(150);
        assert.equal(s.stdout, '');
        assert.equal(s.stderr, '');
        assert.equal((await s.eof()).code, 0);
        assert.equal(s.stdout, '');
    });

    scenario(`SV-11: on a terminal ${name} tells on stderr what it is`, async place => {
        const line = [bin, name, ...await SERVERS[name].prepare(place)].map(w => `'${w}'`).join(' ');
        const r = await run(place, ['-qec', line, '/dev/null'], { program: 'script' });
        assert.equal(r.code, 0);
        assert.match(r.out, new RegExp(`^This is for agents: .*'symposium help ${name}' shows the entry`));
    });

    scenario(`SV-11: ${name} answers what it accepted before the end of its input`, async place => {
        const s = await silent(place, name), calls = server.calls(place).slice(0, 1);
        s.revision = '2025-11-25';
        const asked = [s.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } }),
            ...Array.from({ length: 20 }, () => calls.map(([tool, args]) => s.call(tool, args))).flat()];
        const exit = await s.eof();
        assert.deepEqual([exit.code, exit.signal], [0, null]);
        for (const r of (await Promise.all(asked)).slice(1)) assert.equal(r.isError, false);
    });

    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
        scenario(`SV-11: ${name} ends at once at ${signal}`, async place => {
            const s = await start(place, name);
            const exit = await s.kill(signal);
            assert.deepEqual([exit.code, exit.signal], [0, null]);
            assert.ok(exit.ms < 500 * slack, `${exit.ms} ms`);
        });
    }

    scenario(`SV-11: ${name} ends at once when nobody reads its output any more`, async place => {
        const s = await start(place, name);
        s.child.stdout.destroy();
        s.raw('{"jsonrpc":"2.0","id":"x","method":"ping"}');
        await until('it ended', () => s.exit, 1000);
        assert.equal(s.exit.code, 0);
    });

    scenario(`SV-13: ${name}: ttlMs is 0, and the scope of each list`, async place => {
        const s = await start(place, name, { revision: MODERN });
        const lists = ['tools/list', ...(server.prompt ? ['prompts/list'] : [])];
        assert.equal(s.about.ttlMs, 0);
        for (const method of lists) {
            const r = await s.result(method);
            assert.deepEqual([r.ttlMs, r.cacheScope], [0, server.scope], method);
        }
        if (server.resource) {
            for (const [method, params] of [['resources/list'], ['resources/templates/list'], ['resources/read', { uri: server.resource }]]) {
                const r = await s.result(method, params);
                assert.deepEqual([r.ttlMs, r.cacheScope], [0, 'private'], method);
            }
        }
    });

    scenario(`SV-15 SV-18: ${name}: bad arguments are a result, an unknown tool is -32602, and it goes on`, async place => {
        for (const revision of ['2025-11-25', MODERN]) {
            const s = await start(place, name, { revision });
            const unknown = await s.request('tools/call', { name: 'nothing', arguments: {} });
            assert.deepEqual([unknown.error?.code, unknown.error?.message], [-32602, 'tool not found']);
            if (server.bad) {
                const text = await s.fails(server.bad.tool, server.bad.args);
                assert.match(text, /^failed to deserialize parameters: ./);
                assert.ok(text.includes(server.bad.field), text);
            } else {
                assert.equal(await s.fails('activate_skill', undefined), 'missing arguments');
            }
            assert.equal((await s.call(...first(place, name))).isError, false);
        }
    });

    scenario(`SV-16: ${name}: the order of its tools, one page, schemas of 2020-12`, async place => {
        const s = await start(place, name), Ajv = require('ajv/dist/2020').default;
        const tools = [...s.tools.values()], names = tools.map(t => t.name);
        assert.deepEqual(names, [...names].sort());
        assert.equal((await s.request('tools/list', { cursor: 'x' })).error?.code, -32602);
        assert.equal((await s.result('tools/list')).nextCursor, undefined);
        for (const t of tools) {
            new Ajv({ strict: false }).compile(t.inputSchema);
            if (t.outputSchema) new Ajv({ strict: false }).compile(t.outputSchema);
            assert.ok(t.title && t.description && t.annotations, t.name);
            for (const [key, p] of Object.entries(t.inputSchema.properties ?? {})) {
                const types = [p.type].flat();
                const scalar = types.some(x => ['string', 'integer', 'number', 'boolean'].includes(x)) || p.enum;
                if (types.includes('integer')) assert.ok(p.minimum >= 0, `${t.name}.${key}: minimum`);
                if (!scalar || t.inputSchema.required?.includes(key)) continue;
                assert.ok('default' in p, `${t.name}.${key}: default`);
                if (p.default === null) assert.ok(types.includes('null'), `${t.name}.${key}: null`);
            }
        }
        if (name === 'memory') {
            const { inputSchema } = s.tools.get('create_entities');
            assert.equal(inputSchema.properties.entities.items.$ref, '#/$defs/Entity');
            assert.equal(inputSchema.$defs.Entity.type, 'object');
        }
    });

    scenario(`SV-17: ${name}: unknown fields, and integral floats`, async place => {
        const s = await start(place, name), [tool, args] = first(place, name);
        if (name === 'skills') {
            assert.match(await s.fails(tool, { ...args, extra: 1 }), /extra/);
            return;
        }
        assert.equal((await s.call(tool, { ...args, extra: { deep: [1] } })).isError, false);
        if (!server.whole) return;
        const { raw } = s, given = server.whole.args;
        s.raw = line => raw.call(s, line.replace('"@"', server.whole.value));
        assert.equal((await s.call(server.whole.tool, typeof given === 'function' ? given(place) : given)).isError, false);
    });

    scenario(`SV-18: ${name} survives any line; what is no message is -32700 without id`, async place => {
        const s = await start(place, name);
        const bad = ['{', 'nonsense', '{"jsonrpc":"2.0","id":7,', '"\\ud800', `${'['.repeat(5000)}`, '\0\0'];
        for (const line of bad) s.raw(line);
        s.child.stdin.write(Buffer.from([0x7b, 0xff, 0xfe, 0x0a]));
        s.raw('');
        await until('each is answered', () => s.messages.filter(x => x.m.error?.code === -32700).length === bad.length + 1);
        assert.ok(s.messages.filter(x => x.m.error?.code === -32700).every(x => !('id' in x.m)));
        for (const odd of [{ name: 7 }, { name: 'x', arguments: [] }, {}, { name: first(place, name)[0], arguments: { path: '\0', url: '\0', program: '\0', name: '\0', entities: 5 } }])
            await s.request('tools/call', odd);
        assert.equal((await s.call(...first(place, name))).isError, false);
    });
}

scenario('SV-12: skills without a skill has no tools', async place => {
    for (const revision of REVISIONS) {
        const s = await place.serve('skills', [place.workspace], { revision });
        if (revision !== MODERN) assert.deepEqual(s.about.capabilities, {});
        else assert.ok(!s.about.capabilities.tools);
        assert.deepEqual([...s.tools], []);
        assert.equal((await s.request('tools/call', { name: 'activate_skill', arguments: { name: 'x' } })).error?.code, -32601);
    }
});

for (const revision of ['2025-11-25', MODERN]) {
    scenario(`SV-14: a pending command blocks nobody, and a cancelled one ends without an answer (${revision})`, async place => {
        const s = await start(place, 'shell', { revision });
        const slow = s.call('execute_command', { program: 'sleep', args: ['600'], timeout_ms: 600000 });
        await until('it runs', () => s.tree().length >= 2);
        for (let i = 0; i < 10; i++)
            assert.match(await s.text('execute_command', { program: 'echo', args: [`${i}`] }, { ms: 2000 }), /^exit code: 0/);
        s.cancel(slow.id);
        await until('the command is gone', () => s.tree().length === 0, 4000);
        assert.match(await s.text('execute_command', { program: 'echo' }), /^exit code: 0/);
        assert.ok(!s.messages.some(x => x.m.id === slow.id), 'no answer to a cancelled request');
    });
}

scenario('SV-30: a result over 9.5 MiB is a tool error that names its size and the way to get it in parts', async place => {
    const line = i => `${JSON.stringify({ type: 'entity', name: `e${i}`, entityType: 't', observations: ['x'.repeat(100_000)] })}\n`;
    place.write('big.jsonl', Array.from({ length: 120 }, (_, i) => line(i)).join(''));
    const s = await place.serve('memory', ['--memory-file', place.path('big.jsonl')]);
    const text = await s.fails('read_graph', {}, { ms: 60000 });
    assert.match(text, /more than \d{7,8} bytes, an answer at most 9961472\..*search_nodes/s);
    assert.equal((await s.call('open_nodes', { names: ['e7'] })).structuredContent.entities.length, 1);
});

scenario('SV-14 SV-30: sixteen large answers to a client that reads slowly: all come, none is refused, and what is held is bounded', async place => {
    place.write('files/big.txt', 'x'.repeat(4 * 1024 * 1024));
    const s = await place.serve('filesystem', [place.path('files')]);
    const before = rssOf(s.pid);
    let chunks = 0;
    const slow = () => { if (++chunks % 8 === 0) { s.child.stdout.pause(); setTimeout(() => s.child.stdout.resume(), 1); } };
    s.child.stdout.on('data', slow);
    const asked = Array.from({ length: 16 }, () => s.call('read_text_file', { path: 'big.txt' }, { ms: 60000 }));
    for (const r of await Promise.all(asked)) assert.equal(r.structuredContent.content.length, 4 * 1024 * 1024);
    if (!sanitized) assert.ok(peakOf(s.pid) - before < 400e6, `${peakOf(s.pid)} bytes`);
});

if (!sanitized) {
    scenario('a process whose data is limited to 40 MiB answers, with fewer threads', async place => {
        place.write('files/a', 'x');
        const child = spawn('sh', ['-c', 'ulimit -d 40960; exec "$0" filesystem "$1"', bin, place.path('files')], { env: place.env(), stdio: ['pipe', 'pipe', 'ignore'] });
        const exit = once(child, 'exit'), said = text(child.stdout);
        for (const [id, method, params] of [
            [1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } }],
            [2, 'tools/call', { name: 'list_directory', arguments: { path: '.' } }],
            [3, 'tools/call', { name: 'read_text_file', arguments: { path: 'a' } }],
        ]) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        child.stdin.end();
        assert.deepEqual(await exit, [0, null]);
        assert.deepEqual((await said).trim().split('\n').map(l => JSON.parse(l).id).sort(), [1, 2, 3]);
    });
}

scenario('SV-14 SV-30: a hundred large resources to a client that does not read for a while: what waits for it is bounded', async place => {
    const text = 'x'.repeat(4 * 1024 * 1024);
    place.write('big.jsonl', `${JSON.stringify({ type: 'entity', name: 'e', entityType: 't', observations: [text] })}\n`);
    place.write('work/.agents/skills/s/SKILL.md', '---\nname: s\ndescription: d\n---\n');
    place.write('work/.agents/skills/s/big.txt', text);
    for (const [name, args, uri, revision] of [
        ['memory', ['--memory-file', place.path('big.jsonl')], 'memory://knowledge-graph', '2025-11-25'],
        ['skills', [], 'skill://s/big.txt', '2026-07-28'],
    ]) {
        const s = await place.serve(name, args, { revision });
        const before = rssOf(s.pid);
        const asked = Array.from({ length: 100 }, () => s.request('resources/read', { uri }, { ms: 120000 }));
        s.child.stdout.pause();
        await sleep(2000);
        s.child.stdout.resume();
        for (const r of await Promise.all(asked)) assert.ok(r.result.contents[0].text.length >= text.length, name);
        if (!sanitized) assert.ok(peakOf(s.pid) - before < 300e6, `${name}: ${peakOf(s.pid) - before} bytes`);
    }
});
