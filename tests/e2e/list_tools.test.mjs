// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `list_tools`: the index, detail levels, filters, search, sanitising (meta-server.md 4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { T, basic, scenario, shared, slack, sleep, timed, until } from './harness.mjs';

const params = { type: 'object', properties: { path: { type: 'string' }, n: { type: 'number' } }, required: ['path'] };
const files = {
    tools: [
        T('read_file', params, { description: 'Reads a file.\nSecond line that the index leaves out.' }),
        T('readMany', { type: 'object', properties: { path: { type: 'string' } } }, { description: 'Reads many files at once' }),
        T('list_roots', { type: 'object' }, { description: 'Lists the directories that may be used', outputSchema: { type: 'object', properties: { result: { type: 'array', items: { type: 'string' } } }, required: ['result'] } }),
        T('write_file', params, { description: 'Writes a file with the given name, and with a description so long that it has to be cut at some border of a word', annotations: { readOnlyHint: false } }),
    ],
};
const mail = {
    tools: [
        T('send', { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }, { description: 'Sends a letter to a person' }),
        T('search', { type: 'object', properties: { query: { type: 'string' } } }, { description: 'Finds letters by word; reads no file' }),
        T('count', { type: 'object' }, { description: 'How many letters', outputSchema: { type: 'number' } }),
    ],
};
const open = shared(place => place.peers({ files, mail }));

test('MS-16 MS-22: the index: a block a server, first lines, cut at a word, the same each time', async () => {
    const s = await open();
    const text = await s.list();
    const lines = text.split('\n');
    assert.deepEqual(lines.filter(l => /^\S/.test(l)).slice(0, 2), ['files:', 'mail:']);
    assert.ok(lines.includes('  read_file - Reads a file.'), text);
    assert.ok(lines.includes('  readMany - Reads many files at once'));
    const cut = lines.find(l => l.startsWith('  write_file - '));
    const shown = cut.slice('  write_file - '.length);
    assert.ok([...shown].length <= 80);
    const whole = files.tools[3].description, stem = shown.replace(/(\.\.\.|…)$/, '').trimEnd();
    assert.ok(whole.startsWith(stem) && /^\W/.test(whole.slice(stem.length)), 'at a word border');
    const order = ['read_file', 'readMany', 'list_roots', 'write_file'].map(n => lines.findIndex(l => l.startsWith(`  ${n} `)));
    assert.deepEqual(order, [...order].sort((a, b) => a - b), 'the server\'s order');
    assert.equal(await s.list(), text);
    assert.equal(await s.list({ detail: 'names' }), text);
    assert.equal(await s.list({ detail: 'nonsense' }), text);
    assert.equal(await s.list({ query: '   ' }), text, 'MS-64: a blank query is none');
});

test('MS-17: servers or tools given mean full; pattern alone does not; signatures is respected', async () => {
    const s = await open();
    for (const args of [{ servers: ['files'] }, { tools: ['read_file'] }, { servers: ['files'], detail: 'names' }]) {
        const text = await s.list(args);
        assert.match(text, /declare const files: \{/);
        assert.match(text, /read_file\(params: \{/);
    }
    assert.doesNotMatch(await s.list({ pattern: 'read*' }), /declare const/);
    assert.doesNotMatch(await s.list({ servers: ['files'], detail: 'signatures' }), /path: string/);
    assert.match(await s.list({ detail: 'full' }), /declare const files: \{[^]*declare const mail: \{/);
});

test('MS-18: signatures', async () => {
    const s = await open();
    const text = await s.list({ detail: 'signatures' });
    for (const line of ['read_file(params: object): Promise<unknown>;', 'readMany(params?: object): Promise<unknown>;', 'list_roots(): Promise<string[]>;',
        'send(params: object): Promise<unknown>;', 'count(): Promise<number>;']) assert.ok(text.includes(line), `${line}\n${text}`);
});

test('MS-23 MS-24 MS-26 MS-27: declarations', async () => {
    const s = await open();
    const text = await s.list({ servers: ['files'] });
    assert.match(text, /\/\*\* Reads a file\. Second line that the index leaves out\. \*\/\n\s*read_file\(params: \{\n\s*path: string;\n\s*n\?: number;\n\s*\}\): Promise<unknown>;/);
    assert.match(text, /readMany\(params\?: \{/);
    assert.match(text, /list_roots\(\): Promise<string\[\]>;/);
    assert.match(text, /\};/);
});

test('MS-16 MS-20: filters: tools, pattern, unknown servers, nothing left', async () => {
    const s = await open();
    const tools = await s.list({ tools: ['send', 'read_file'] });
    assert.match(tools, /send\([^]*/);
    assert.doesNotMatch(tools, /readMany/);
    const pattern = await s.list({ pattern: 'read*' });
    assert.match(pattern, /read_file/);
    assert.match(pattern, /readMany/);
    assert.doesNotMatch(pattern, /write_file|list_roots|send/);
    for (const none of ['read', 'file', 'READ*', 'read_fil?', '[r]ead_file']) assert.match(await s.list({ pattern: none }), /No tools matched\./, none);
    assert.match(await s.list({ pattern: '*_file' }), /read_file[^]*write_file/);
    const unknown = await s.list({ servers: ['nope', 'mail'] });
    assert.match(unknown, /declare const mail/);
    assert.match(unknown, /Problems:[^]*nope[^]*files[^]*mail/);
    assert.match(await s.list({ servers: ['nope'] }), /No tools matched\./);
});

test('MS-64: search: ranked, by prefix and by parts of names, limited, grouped', async () => {
    const s = await open();
    const hits = async (query, more = {}) => (await s.list({ query, ...more })).split('\n').filter(l => / - /.test(l)).map(l => l.split(' - ')[0].trim());
    assert.equal((await hits('read file'))[0], 'files.read_file', 'the split name equals the query');
    assert.equal((await hits('readMany'))[0], 'files.readMany');
    assert.equal((await hits('search'))[0], 'mail.search');
    assert.deepEqual((await hits('letters')).sort(), ['mail.count', 'mail.search']);
    assert.ok((await hits('lett')).length === 3, 'prefix of three characters');
    assert.deepEqual(await hits('le'), []);
    assert.equal((await hits('file', { limit: 1 })).length, 1);
    assert.ok((await hits('mail')).every(h => h.startsWith('mail.')), 'the server\'s name counts');
    assert.match((await s.list({ query: 'send' })), /mail\.send - Sends a letter to a person/);
    const whole = await hits('letter');
    assert.equal(whole[0], 'mail.send', 'whole words before prefixes');
    assert.match(await s.list({ query: 'xyzzy' }), /No tools matched\./);
    const full = await s.list({ query: 'send letter', detail: 'full' });
    assert.match(full, /declare const mail: \{[^]*send\(/);
    assert.doesNotMatch(await s.list({ query: 'letter' }), /declare const/, 'MS-17');
    assert.deepEqual(await hits('file', { servers: ['mail'], detail: 'names' }), [], 'MS-17: servers raise the detail to full');
});

scenario('MS-16: a long index drops descriptions, then tools, and says how to ask', async place => {
    const many = (n, from = 0) => ({ tools: Array.from({ length: n }, (_, i) => T(`tool_number_${from + i}`, undefined, { description: `Does the thing number ${i}, which is described at some length` })) });
    place.peers({ one: many(120) });
    const s = await place.open();
    const text = await s.list();
    assert.ok(Buffer.byteLength(text) <= 6000 + 400, `${Buffer.byteLength(text)}`);
    assert.match(text, /^one: tool_number_0, tool_number_1, /m);
    assert.doesNotMatch(text, /Does the thing/);
    assert.match(text.trim().split('\n').at(-1), /query[^]*|servers/);
    place.peers(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`srv${i}`, many(100, i * 100)])));
    const counts = await s.list();
    assert.ok(Buffer.byteLength(counts) <= 6400);
    assert.match(counts, /srv0\b[^\n]*100/);
    assert.doesNotMatch(counts, /tool_number_/);
    const last = counts.trim().split('\n').at(-1);
    assert.match(last, /query/);
    assert.match(last, /servers/);
});

scenario('MS-19 MS-61: what is cached is described without a start, also by search and declarations', async place => {
    place.peers({ a: files, b: mail });
    const first = await place.open();
    const index = await first.list();
    await first.eof();
    assert.deepEqual([place.starts('a'), place.starts('b')], [1, 1]);
    const s = await place.open();
    assert.equal(await s.list(), index);
    await s.list({ servers: ['a'] });
    await s.list({ query: 'letter' });
    assert.deepEqual([place.starts('a'), place.starts('b')], [1, 1]);
    await s.execute('await a.list_roots({})');
    assert.deepEqual([place.starts('a'), place.starts('b')], [2, 1], 'MS-44: only what is called is started');
});

scenario('MS-19: at most eight start at a time; one that fails is a problem, the others answer', async place => {
    const scripts = Object.fromEntries(Array.from({ length: 18 }, (_, i) => [`s${i}`, { tools: [T(`t${i}`)], start_delay_ms: 400 }]));
    place.config({ mcp: { 'server-startup-timeout-secs': 5 } });
    place.peers({ ...scripts, dead: { on_start: [{ exit: 1 }] } });
    const s = await place.open();
    let most = 0, done = false;
    const list = s.list().finally(() => { done = true; });
    while (!done) {
        const started = Object.keys(scripts).filter(n => place.starts(n) === 1);
        most = Math.max(most, started.filter(n => place.received(n).length === 0).length);
        await sleep(20);
    }
    const text = await list;
    assert.ok(most <= 8 && most >= 4, `${most} at a time`);
    for (let i = 0; i < 18; i++) assert.match(text, new RegExp(`t${i}\\b`));
    assert.match(text, /Problems:[^]*dead: /);
    const from = performance.now();
    assert.match(await s.list(), /Problems:[^]*dead: /, 'one in back-off is listed without waiting');
    assert.ok(performance.now() - from < 500 * slack);
});

scenario('MS-19: a server still starting when its time ends is a problem, not a wait', async place => {
    place.config({ mcp: { 'server-startup-timeout-secs': 1 } });
    place.peers({ never: { on: { initialize: [], 'server/discover': [] } }, mail });
    const s = await place.open();
    const from = performance.now();
    const text = await s.list();
    assert.match(text, /mail:[^]*send[^]*Problems:[^]*never: /);
    assert.ok(performance.now() - from < 1000 + 500 * slack);
});

scenario('MS-5: tools/list never waits for a backing server, also while list_tools does', async place => {
    place.peers({ slow: { ...mail, start_delay_ms: 800 } });
    const s = await place.open();
    const waiting = s.list();
    await until('it is starting', () => place.starts('slow') === 1);
    assert.ok(await timed(() => s.result('tools/list'), [s.pid]) < 50 * slack);
    assert.ok(await timed(() => s.execute('1'), [s.pid]) < 50 * slack);
    assert.doesNotMatch(s.stdout, /letter/, 'it has not answered yet');
    assert.match(await waiting, /letter/);
});

scenario('MS-20 MS-21: enabled-tools and disabled-tools filter listing, search and calls alike', async place => {
    place.peers({ files, mail, gone: mail, none: mail },
        { files: { 'enabled-tools': ['read_file'] }, mail: { 'disabled-tools': ['send'] }, gone: { 'enabled-tools': [] }, none: { 'disabled-tools': ['send', 'search', 'count'] } });
    const s = await place.open();
    const text = await s.list();
    assert.match(text, /read_file/);
    assert.doesNotMatch(text, /write_file|send/);
    assert.match(text, /gone: no tools visible \(3 hidden by filters\)/);
    assert.match(text, /none: no tools visible \(3 hidden by filters\)/);
    assert.doesNotMatch(await s.list({ servers: ['files'] }), /write_file/);
    assert.doesNotMatch(await s.list({ query: 'letter' }), /send/);
    const r = await s.execute('const said = []; for (const f of [() => files.write_file({}), () => mail.send({}), () => gone.count({})]) try { await f(); said.push("called") } catch { said.push("refused") } said');
    assert.deepEqual(r.value, ['refused', 'refused', 'refused']);
    assert.doesNotMatch(await s.list({ servers: ['mail'], pattern: 'zzz' }), /no tools visible/, 'unless the request itself narrowed them');
});

scenario('MS-65 SEC-36 SEC-34: names and descriptions are cleaned before they are shown', async place => {
    const dirty = 'Clear \u001b[2Jscreen\u0007 \u001b]8;;http://x\u001b\\link \u001b]52;c;AAAA\u0007 \u009b31m \u202eevil\u202c \u2066x\u2069 zero\u200bwidth \u200e\u200f\ufeffend';
    place.peers({ dirty: { tools: [T('ok', undefined, { description: dirty }), T('new\nline\u001b[31m', undefined, { description: 'two\r\nlines\tand\u0000nul' }), T('', undefined, { description: 'no name' })] } });
    const s = await place.open();
    for (const args of [{}, { detail: 'signatures' }, { detail: 'full' }, { query: 'screen' }]) {
        const text = await s.list(args);
        // eslint-disable-next-line no-control-regex
        assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]/, JSON.stringify(args));
    }
    assert.match(await s.list(), /Clear screen/);
});

scenario('MS-62 SEC-44: read-only shows and calls only what is annotated so; results and changes gain nothing', async place => {
    const ro = (name, annotations, more) => T(name, undefined, { annotations, ...more });
    const list = [ro('reads', { readOnlyHint: true }), ro('both', { readOnlyHint: true, destructiveHint: true }), ro('writes', { readOnlyHint: false }),
        T('bare'), ro('denied', { readOnlyHint: true }), ro('quiet', { readOnlyHint: true, destructiveHint: false }, { description: 'first' })];
    place.config({ mcp: { 'read-only': true } });
    const calls = { '*': [{ result: { content: [{ type: 'text', text: 'done' }], annotations: { readOnlyHint: true }, _meta: { readOnlyHint: true } } }] };
    place.peers({ srv: { tools: list, calls } }, { srv: { 'disabled-tools': ['denied'] } });
    const s = await place.open();
    const { tools } = await s.result('tools/list');
    assert.equal(tools[1].annotations.readOnlyHint, true);
    assert.equal(tools[1].annotations.destructiveHint, false);
    const visible = async x => (await x.list()).split('Problems:')[0].match(/^ {2}(\w+)/gm)?.map(l => l.trim()) ?? [];
    assert.deepEqual(await visible(s), ['reads', 'quiet']);
    const r = await s.execute('const said = []; for (const t of ["reads", "both", "writes", "bare", "denied"]) try { said.push(await srv[t]({})) } catch { said.push("no") } said');
    assert.deepEqual(r.value, ['done', 'no', 'no', 'no', 'no'], r.text);
    assert.deepEqual(place.calls('srv').map(m => m.params.name), ['reads']);
    await s.eof();
    place.peer('srv', { tools: list.map(t => (t.name === 'quiet' ? { ...t, description: 'second' } : t)), calls });
    const again = await place.open();
    await again.execute('await srv.reads({})');
    assert.deepEqual(await visible(again), ['reads'], 'a tool that changed since last seen is hidden');
    assert.match((await again.execute('try { await srv.quiet({}) } catch (e) { e.message }')).value, /^srv\.quiet: /);
});

scenario('MS-45 MS-16: a listing of nothing says so', async place => {
    place.peers({ empty: basic({ tools: [] }) });
    const s = await place.open();
    const text = await s.list();
    assert.ok(text.length > 0 && text.length < 300, text);
    await until('still answers', () => true);
});
