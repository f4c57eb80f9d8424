// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The memory server (servers.md 6) as its clients see it, beside other processes and the TypeScript server on one file.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { MODERN, META, Server, node, npm, scenario, slack, sleep, until } from './harness.mjs';

const URI = 'memory://knowledge-graph';
const ERAS = ['2025-11-25', MODERN];
const pretty = v => JSON.stringify(v, null, 2);
const entity = (name, observations = [], entityType = 't') => ({ name, entityType, observations });
const relation = (from, to, relationType = 'r') => ({ from, to, relationType });
const lineOf = e => `${JSON.stringify({ type: e.name === undefined ? 'relation' : 'entity', ...e })}\n`;
const memory = (place, opts = {}) => place.serve('memory', ['--memory-file', place.path(opts.file ?? 'm.jsonl')], opts);
const UPDATED = 'notifications/resources/updated';
const slow = Number(process.env.TEST_SLOW ?? 0) > 0;

/** structuredContent of a call that succeeds. */
async function call(s, tool, args = {}) {
    const r = await s.call(tool, args);
    assert.equal(r.isError, false, r.content?.[0]?.text);
    assert.equal(r.content.length, 1);
    return r.structuredContent;
}
const graphOf = s => call(s, 'read_graph');

// --- what it says of itself -----------------------------------------------------------------------------------------------
const CREATES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const DELETES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const TOOLS = {
    add_observations: ['Add Observations', CREATES, ['observations'], ['results']],
    create_entities: ['Create Entities', CREATES, ['entities'], ['entities']],
    create_relations: ['Create Relations', CREATES, ['relations'], ['relations']],
    delete_entities: ['Delete Entities', DELETES, ['entityNames'], ['success', 'message']],
    delete_observations: ['Delete Observations', DELETES, ['deletions'], ['success', 'message']],
    delete_relations: ['Delete Relations', DELETES, ['relations'], ['success', 'message']],
    open_nodes: ['Open Nodes', READS, ['names'], ['entities', 'relations']],
    read_graph: ['Read Graph', READS, [], ['entities', 'relations']],
    search_nodes: ['Search Nodes', READS, ['query'], ['entities', 'relations']],
};

scenario('ME-6 SV-16: nine tools, sorted, each with title, hints, the fields it needs and an output schema that is open', async place => {
    const s = await memory(place);
    const { tools } = await s.result('tools/list');
    assert.deepEqual(tools.map(t => t.name), Object.keys(TOOLS));
    for (const t of tools) {
        const [title, hints, input, output] = TOOLS[t.name];
        assert.equal(t.title, title);
        assert.deepEqual(t.annotations, hints);
        assert.deepEqual([t.inputSchema.type, t.inputSchema.required ?? []], ['object', input]);
        assert.deepEqual(t.outputSchema.required, output);
        assert.doesNotMatch(JSON.stringify(t), /additionalProperties/);
    }
    const create = tools.find(t => t.name === 'create_entities').inputSchema;
    assert.deepEqual(create.properties.entities.items, { $ref: '#/$defs/Entity' });
    assert.deepEqual(create.$defs.Entity.required, ['name', 'entityType', 'observations']);
});

// --- the tools --------------------------------------------------------------------------------------------------------------
for (const revision of ERAS) {
    scenario(`ME-2 ME-7..ME-15: every tool answers with its structure and its text, and the file has the common form (${revision})`, async place => {
        const s = await memory(place, { revision });
        const check = async (tool, args, structured, text = pretty(Object.values(structured)[0])) => {
            const r = await s.call(tool, args);
            assert.deepEqual(r.structuredContent, structured, tool);
            assert.equal(JSON.stringify(r.structuredContent), JSON.stringify(structured), 'key order');
            assert.deepEqual([r.isError, r.content], [false, [{ type: 'text', text }]]);
        };
        const [a, b, odd] = [entity('a', ['1']), entity('b'), entity('"\\/\u2028\u0001é😀', ['\n\t\r\b\f\x7f'])];
        await check('create_entities', { entities: [a, b, odd, a] }, { entities: [a, b, odd] });
        await check('create_entities', { entities: [a] }, { entities: [] });
        await check('create_relations', { relations: [relation('a', 'b'), relation('a', 'b')] }, { relations: [relation('a', 'b')] });
        await check('add_observations', { observations: [{ entityName: 'b', contents: ['x', 'y'] }] },
            { results: [{ entityName: 'b', addedObservations: ['x', 'y'] }] });
        b.observations = ['x', 'y'];
        assert.equal(place.read('m.jsonl'), [a, b, odd, relation('a', 'b')].map(lineOf).join(''));

        const all = { entities: [a, b, odd], relations: [relation('a', 'b')] };
        await check('read_graph', {}, all, pretty(all));
        const onlyB = { entities: [b], relations: [relation('a', 'b')] };
        await check('search_nodes', { query: 'Y' }, onlyB, pretty(onlyB));
        await check('open_nodes', { names: ['b', 'nobody'] }, onlyB, pretty(onlyB));
        const done = what => ({ success: true, message: `${what} deleted successfully` });
        await check('delete_observations', { deletions: [{ entityName: 'b', observations: ['x', '?'] }] },
            done('Observations'), 'Observations deleted successfully');
        await check('delete_relations', { relations: [relation('a', 'b'), relation('b', 'a')] },
            done('Relations'), 'Relations deleted successfully');
        await check('delete_entities', { entityNames: ['a', 'nobody', odd.name] }, done('Entities'), 'Entities deleted successfully');
        assert.equal(place.read('m.jsonl'), lineOf(entity('b', ['y'])));
    });
}

scenario('ME-17 ME-18 SV-15: an unknown entity fails the whole batch, bad arguments are tool errors', async place => {
    const s = await memory(place);
    await call(s, 'create_entities', { entities: [entity('a')] });
    const before = place.read('m.jsonl');
    assert.equal(await s.fails('create_relations', { relations: [relation('a', 'a'), relation('a', 'X')] }), 'Entity with name X not found');
    assert.equal(await s.fails('add_observations', { observations: [{ entityName: 'a', contents: ['1'] }, { entityName: 'Y', contents: [] }] }),
        'Entity with name Y not found');
    assert.equal(await s.fails('create_entities', { entities: [{ name: 'b' }] }),
        'failed to deserialize parameters: entities[0]: missing field `entityType`');
    assert.equal(await s.fails('search_nodes', { query: 5 }),
        'failed to deserialize parameters: field `query`: expected a string, found 5');
    assert.equal(place.read('m.jsonl'), before);
});

scenario('ME-14 ME-20: case does not matter, in any script, as JavaScript lower-cases; several words are ranked', async place => {
    const cased = [];
    for (let c = 0x80; c < 0x110000; c++) {
        const ch = c >= 0xd800 && c <= 0xdfff ? '' : String.fromCodePoint(c);
        if (ch.toLowerCase() !== ch || ch.toUpperCase() !== ch) cased.push(ch);
    }
    if (Number(process.versions.unicode) > 17) cased.length = 0;    // this Node knows more of them than we do
    else assert.ok(cased.length > 2500);
    const texts = [];
    for (let i = 0; i < cased.length; i += 40) texts.push(cased.slice(i, i + 40).join('|'));
    place.write('m.jsonl', texts.map((text, i) => lineOf(entity(`${i}`, [text]))).join(''));
    const s = await memory(place);
    const found = async query => (await call(s, 'search_nodes', { query })).entities.map(e => e.name);
    for (const [i, text] of texts.entries()) {
        assert.ok((await found(text)).includes(`${i}`), text);
        assert.ok((await found(text.toLowerCase())).includes(`${i}`), text);
    }
    await call(s, 'create_entities', { entities: [entity('red fish'), entity('one', ['Blue', 'fish']), entity('two', [], 'RED')] });
    assert.deepEqual(await found('FISH'), ['red fish', 'one']);
    assert.deepEqual(await found('fish zebra RED'), ['red fish', 'one', 'two']);
    assert.deepEqual(await found('blue zebra'), ['one']);
    assert.deepEqual(await found('zebra'), []);
});

scenario('SV-30: a graph too large for one answer is an error that says how to get it in parts; what was saved is not called a failure', async place => {
    const s = await memory(place);
    const text = 'x'.repeat(4 << 20);
    const r = await s.call('create_entities', { entities: [entity('a', [text])] });
    assert.equal(r.isError, false);
    for (const name of ['b', 'c']) await call(s, 'create_entities', { entities: [entity(name, [text])] });
    assert.match(await s.fails('read_graph'), /more than \d+ bytes.*search_nodes or open_nodes/);
    const read = await s.request('resources/read', { uri: URI });
    assert.equal(read.error.code, -32603);
    assert.equal((await call(s, 'open_nodes', { names: ['b'] })).entities[0].observations[0], text);
    const big = await s.fails('create_entities', { entities: [entity('d', ['y'.repeat(9 << 20)])] });
    assert.match(big, /^Saved, /);
    assert.ok(place.read('m.jsonl').includes('"name":"d"'));
    // What could not be read again is not written (ME-3).
    assert.match(await s.fails('add_observations', { observations: [{ entityName: 'd', contents: ['z'.repeat(8 << 20)] }] }),
        /would take \d+ bytes in the file, at most 16777216/);
    assert.equal((await call(s, 'search_nodes', { query: 'zz' })).entities.length, 0);
});

// --- the file -----------------------------------------------------------------------------------------------------------------
scenario('ME-1 SV-8 SV-9: the file of the command line, else of the environment, else memory.jsonl; made at the first write with mode 0600', async place => {
    const env = { MEMORY_FILE_PATH: 'env/m.jsonl' };
    for (const [args, e, file] of [
        [['--memory-file', 'opt/m.jsonl'], env, 'work/opt/m.jsonl'],
        [['--memory-file', '~/m.jsonl'], env, 'home/m.jsonl'],
        [[], env, 'work/env/m.jsonl'],
        [[], { MEMORY_FILE_PATH: place.path('abs.jsonl') }, 'abs.jsonl'],
        [[], { MEMORY_FILE_PATH: '' }, 'work/memory.jsonl'],
        [[], {}, 'work/memory.jsonl'],
    ]) {
        const s = await place.serve('memory', args, { env: e });
        assert.deepEqual(await graphOf(s), { entities: [], relations: [] });
        assert.equal(fs.existsSync(path.dirname(place.path(file))) && fs.existsSync(place.path(file)), false);
        await call(s, 'create_entities', { entities: [entity(file)] });
        assert.equal(place.read(file), lineOf(entity(file)));
        assert.equal(fs.statSync(place.path(file)).mode & 0o7777, 0o600);
        fs.rmSync(place.path(file));
        await s.close();
    }
});

scenario('ME-3 ME-4 SEC-68: torn, foreign, glued, doubled and over-long lines: the good ones are read, nothing is lost, nothing is in the way', async place => {
    const long = `{"type":"entity","name":"long","entityType":"t","observations":["${'x'.repeat(100 << 20)}"]}`;
    const kept = ['{"type":"note", "text":"\\u00e9", "n":12345678901234567890}', '{"type":"entity","name":"a","entityType":"second","observations":[]}'];
    const withFields = '{"type":"entity","name":"f","entityType":"t","observations":[],"id":1.50}';
    const torn = '{"type":"entity","name":"to';
    const file = place.write('m.jsonl', `\ufeff${lineOf(entity('a', ['1'])).trim()}\r\n\r\n${kept.join('\n')}\n${withFields}\n${long}\n`
        + `${lineOf(entity('g1')).trim()}${lineOf(relation('a', 'nobody')).trim()}${lineOf(entity('g2'))}${torn}`);
    const before = fs.readdirSync(path.dirname(file)).length;
    const s = await memory(place);
    const graph = { entities: [entity('a', ['1']), entity('f'), entity('g1'), entity('g2')], relations: [relation('a', 'nobody')] };
    assert.deepEqual(await graphOf(s), graph);
    assert.equal(fs.readdirSync(path.dirname(file)).length, before, 'a read writes nothing');
    await until('warnings', () => /line 6 is longer than 16 MiB/.test(s.stderr) && /line 8 is cut off/.test(s.stderr));

    await call(s, 'add_observations', { observations: [{ entityName: 'f', contents: ['o'] }] });
    const copies = fs.readdirSync(place.dir).filter(n => n.startsWith('m.jsonl.corrupt-'));
    assert.equal(copies.length, 1);
    assert.match(copies[0], /^m\.jsonl\.corrupt-\d{8}T\d{6}Z$/);
    assert.equal(fs.statSync(place.path(copies[0])).mode & 0o777, 0o600);
    assert.ok(fs.readFileSync(place.path(copies[0]), 'utf8') === `${long}\n${torn}\n`);
    assert.equal(place.read('m.jsonl'), [entity('a', ['1'])].map(lineOf).join('')
        + '{"type":"entity","name":"f","entityType":"t","observations":["o"],"id":1.50}\n'
        + [entity('g1'), entity('g2'), relation('a', 'nobody')].map(lineOf).join('') + `${kept.join('\n')}\n`);
    graph.entities[1].observations = ['o'];
    assert.deepEqual(await graphOf(s), graph);
});

scenario('SEC-64 ME-4: what cannot be written is an error, and the file is as it was', async place => {
    const s = await memory(place, { file: 'd/m.jsonl' });
    await call(s, 'create_entities', { entities: [entity('a')] });
    fs.chmodSync(place.path('d/m.jsonl'), 0o400);
    if (process.getuid() !== 0) {
        assert.match(await s.fails('create_entities', { entities: [entity('b')] }), /Permission denied/);
        fs.chmodSync(place.path('d/m.jsonl'), 0o600);
    }
    fs.renameSync(place.path('d/m.jsonl'), place.path('d/real'));
    fs.mkdirSync(place.path('d/m.jsonl'));
    assert.match(await s.fails('create_entities', { entities: [entity('b')] }), /not a regular file/);
    fs.rmdirSync(place.path('d/m.jsonl'));
    fs.renameSync(place.path('d/real'), place.path('d/m.jsonl'));
    assert.deepEqual((await graphOf(s)).entities, [entity('a')]);
});

// --- the resource ---------------------------------------------------------------------------------------------------------------
for (const revision of ERAS) {
    scenario(`ME-23: the graph is a resource, any other URI is unknown (${revision})`, async place => {
        const s = await memory(place, { revision });
        await call(s, 'create_entities', { entities: [entity('a', ['1'])] });
        const { resources } = await s.result('resources/list');
        assert.deepEqual(resources.map(r => [r.uri, r.name, r.title, r.mimeType]),
            [[URI, 'knowledge-graph', 'Knowledge Graph', 'application/json']]);
        const { contents } = await s.result('resources/read', { uri: URI });
        assert.deepEqual(contents, [{ uri: URI, mimeType: 'application/json', text: pretty({ entities: [entity('a', ['1'])], relations: [] }) }]);
        const bad = await s.request('resources/read', { uri: 'memory://x' });
        assert.equal(bad.error.code, revision === MODERN ? -32602 : -32002);
        assert.equal(bad.error.message, 'Unknown resource URI: memory://x');
    });

    scenario(`ME-24 ME-22: who subscribed is told of changes, by us and by others within a second, and never of reads (${revision})`, async place => {
        const s = await memory(place, { revision, file: 'later/m.jsonl' });
        const told = () => s.notifications(UPDATED).length;
        const quiet = async (what, body) => {
            const before = told();
            await body();
            await sleep(150);
            assert.equal(told(), before, what);
        };
        const loud = async (what, body) => {
            const before = told();
            await body();
            await until(`told of ${what}`, () => told() > before, 1000);
            await sleep(150);
        };
        await quiet('nobody subscribed', () => call(s, 'create_entities', { entities: [entity('x')] }));
        fs.rmSync(place.path('later'), { recursive: true });
        assert.deepEqual((await graphOf(s)).entities, []);
        let id;
        if (revision === MODERN) {
            const listen = s.request('subscriptions/listen', { notifications: { resourceSubscriptions: [URI, 'memory://other'] } }, { ms: 60000 });
            listen.catch(() => {});    // never answered: it is cancelled at the end
            id = listen.id;
            const ack = await s.waitFor('acknowledged', m => m.method === 'notifications/subscriptions/acknowledged');
            assert.deepEqual(ack.params.notifications, { resourceSubscriptions: [URI] });
            assert.equal(ack.params._meta['io.modelcontextprotocol/subscriptionId'], id);
        } else {
            assert.deepEqual(await s.result('resources/subscribe', { uri: URI }), {});
            assert.equal((await s.request('resources/subscribe', { uri: 'memory://other' })).error.message, 'Unknown resource URI: memory://other');
        }
        await loud('another process that makes the directory', async () => {
            await sleep(100);
            place.write('later/m.jsonl', lineOf(entity('a')));
        });
        await loud('our own change', () => call(s, 'create_entities', { entities: [entity('b')] }));
        await quiet('reads', async () => {
            await graphOf(s);
            await call(s, 'search_nodes', { query: '' });
            await s.result('resources/read', { uri: URI });
        });
        await quiet('a mutation without a change', () => call(s, 'delete_entities', { entityNames: ['nobody'] }));
        await quiet('a touch', () => fs.utimesSync(place.path('later/m.jsonl'), new Date(), new Date()));
        await loud('an append', () => fs.appendFileSync(place.path('later/m.jsonl'), lineOf(entity('c'))));
        await loud('a rename', () => {
            place.write('later/new', lineOf(entity('d')));
            fs.renameSync(place.path('later/new'), place.path('later/m.jsonl'));
        });
        const other = await memory(place, { file: 'later/m.jsonl' });
        await loud('another server', () => call(other, 'create_entities', { entities: [entity('e')] }));
        await loud('a removal', () => fs.rmSync(place.path('later'), { recursive: true }));
        await loud('its return', () => call(other, 'create_entities', { entities: [entity('f')] }));
        for (const m of s.notifications(UPDATED)) {
            assert.equal(m.params.uri, URI);
            assert.equal(m.params._meta?.['io.modelcontextprotocol/subscriptionId'], id);
        }
        if (revision === MODERN) s.notify('notifications/cancelled', { requestId: id });
        else assert.deepEqual(await s.result('resources/unsubscribe', { uri: URI }), {});
        await sleep(50);
        await quiet('nobody is subscribed any more', () => call(s, 'create_entities', { entities: [entity('g')] }));
        await until('no inotify is left', () => !inotify(s.pid), 1000);
    });
}

/** Does the process watch anything? */
const inotify = pid => fs.readdirSync(`/proc/${pid}/fdinfo`).some(fd => {
    try { return /^inotify wd:/m.test(fs.readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8')); } catch { return false; }
});

// --- beside others ----------------------------------------------------------------------------------------------------------------
scenario('SV-14 ME-5: a mutation that waits for the lock keeps no read waiting, waits in order, and can be cancelled', async place => {
    const s = await memory(place);
    await call(s, 'create_entities', { entities: [entity('a')] });
    const holder = spawn('flock', [place.path('m.jsonl.lock'), 'cat'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await until('the lock is held', () => /FLOCK/.test(fs.readFileSync('/proc/locks', 'utf8')));
    await sleep(100);
    const b = s.call('create_entities', { entities: [entity('b')] });
    const c = s.call('create_entities', { entities: [entity('c')] });
    const d = s.call('create_entities', { entities: [entity('d')] });
    let answered = 0;
    for (const p of [b, c, d]) p.then(() => answered++, () => {});
    for (let i = 0; i < 20; i++) assert.deepEqual((await graphOf(s)).entities, [entity('a')]);
    s.cancel(b.id);         // the one that waits for the lock
    s.cancel(c.id);         // one that waits for its turn
    await sleep(100);
    assert.equal(answered, 0);
    holder.stdin.end();
    assert.deepEqual((await d).structuredContent.entities, [entity('d')]);
    assert.deepEqual((await graphOf(s)).entities, [entity('a'), entity('d')]);
    assert.equal(answered, 1);
});

scenario('ME-5 SV-11: behind a lock that is never released all that queue give up together, and the server ends', { timeout: 200000 }, async place => {
    const s = await memory(place);
    await call(s, 'create_entities', { entities: [entity('a')] });
    const holder = spawn('flock', [place.path('m.jsonl.lock'), 'cat'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await until('the lock is held', () => spawnSync('flock', ['-n', place.path('m.jsonl.lock'), 'true']).status === 1);
    const begun = performance.now();
    const all = ['b', 'c', 'd', 'e'].map(name => s.call('create_entities', { entities: [entity(name)] }, { ms: 150000 }));
    s.child.stdin.end();
    for (const r of await Promise.all(all)) assert.match(r.content[0].text, /held by another process for more than 30 s/);
    await until('it ends', () => s.child.exitCode === 0);
    assert.ok(performance.now() - begun < 45_000, 'once 30 s, not four times');
    holder.stdin.end();
});

async function addMany(s, who, n, inFlight = 4) {
    let next = 0;
    await Promise.all(Array.from({ length: inFlight }, async () => {
        while (next < n) await call(s, 'create_entities', { entities: [entity(`${who}-${next++}`, ['o'])] });
    }));
}

scenario('SEC-69 ME-5: two processes that add 1,000 entities each leave 2,000', { timeout: 600000, inRam: true }, async place => {
    const two = [await memory(place), await memory(place)];
    await Promise.all(two.map((s, i) => addMany(s, `p${i}`, 1000)));
    const names = new Set((await graphOf(two[0])).entities.map(e => e.name));
    assert.equal(names.size, 2000);
    assert.deepEqual(await graphOf(two[0]), await graphOf(two[1]));
    assert.equal(place.read('m.jsonl').split('\n').length, 2001);
});

scenario('ME-5: four processes make 500 mutations each, of every kind, and none is lost', { timeout: 600000, inRam: true }, async place => {
    const four = await Promise.all([0, 1, 2, 3].map(() => memory(place)));
    await Promise.all(four.map(async (s, p) => {
        const name = i => `p${p}-${i}`;
        for (let i = 0; i < 100; i++) {
            await call(s, 'create_entities', { entities: [entity(name(i), ['keep', 'drop'])] });
            await call(s, 'create_relations', { relations: [relation(name(i), name(i - i % 2))] });
            await call(s, 'add_observations', { observations: [{ entityName: name(i), contents: ['more'] }] });
            await call(s, 'delete_observations', { deletions: [{ entityName: name(i), observations: ['drop'] }] });
            if (i % 2) await call(s, 'delete_entities', { entityNames: [name(i)] });
            else await call(s, 'delete_relations', { relations: [relation(name(i), name(i - i % 2))] });
        }
    }));
    const graph = await graphOf(four[0]);
    const want = four.flatMap((_, p) => Array.from({ length: 50 }, (__, i) => JSON.stringify(entity(`p${p}-${2 * i}`, ['keep', 'more']))));
    assert.deepEqual(graph.entities.map(e => JSON.stringify(e)).sort(), want.sort());
    assert.deepEqual(graph.relations, []);
    for (const s of four) assert.deepEqual(await graphOf(s), graph);
});

/** The TypeScript server. */
class Npm {
    constructor(file) {
        this.child = spawn(node, [npm('@modelcontextprotocol/server-memory/dist/index.js')],
            { env: { PATH: process.env.PATH, MEMORY_FILE_PATH: file }, stdio: ['pipe', 'pipe', 'ignore'] });
        this.waiting = new Map();
        this.next = 1;
        createInterface({ input: this.child.stdout }).on('line', l => {
            const m = JSON.parse(l);
            this.waiting.get(m.id)?.(m);
        });
    }
    send(m) { this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`); }
    request(method, params) {
        const id = this.next++;
        const answer = new Promise(done => this.waiting.set(id, done));
        this.send({ id, method, params });
        return answer;
    }
    async open() {
        await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } });
        this.send({ method: 'notifications/initialized' });
        return this;
    }
    async call(name, args) { return (await this.request('tools/call', { name, arguments: args })).result; }
}

/** Random calls that both servers take alike: relations between entities that exist, nothing twice in one call. */
function randomCalls(seed) {
    let x = seed;
    const rnd = n => { x = (x * 1103515245 + 12345) % 2147483648; return Math.floor(x / 65536) % n; };
    const names = Array.from({ length: 24 }, (_, i) => ['e', 'Ä "q"\\', '日\n', '\u2028/'][i % 4] + i);
    const pick = list => list[rnd(list.length)];
    const some = list => [...new Set([pick(list), pick(list), pick(list)])];
    const facts = ['one', 'two "2"', 'drei ß', '\u0001\t', '😀'];
    return graph => {
        const known = graph.entities.map(e => e.name);
        const ends = known.length ? known : undefined;
        switch (ends ? rnd(9) : 0) {
        case 0: case 1: return ['create_entities', { entities: some(names).map(n => entity(n, some(facts), pick(['t', 'u']))) }];
        case 2: case 3: return ['create_relations', { relations: some(ends).map(to => relation(pick(ends), to, pick(['r', 's'])))
            .filter((r, i, all) => all.findIndex(o => JSON.stringify(o) === JSON.stringify(r)) === i) }];
        case 4: case 5: return ['add_observations', { observations: some(ends).map(entityName => ({ entityName, contents: some(facts) })) }];
        case 6: return ['delete_observations', { deletions: some(names).map(entityName => ({ entityName, observations: some(facts) })) }];
        case 7: return ['delete_relations', { relations: some(names).map(to => relation(pick(names), to, pick(['r', 's']))) }];
        default: return ['delete_entities', { entityNames: [pick(names)] }];
        }
    };
}

scenario('ME-2 ME-16..ME-21: the TypeScript server and ours take turns on one file for 1,000 random calls, with equal answers and graphs',
    { timeout: 600000, inRam: true }, async (place, t) => {
    if (!fs.existsSync(npm('@modelcontextprotocol/server-memory'))) {
        t.skip('no server of npm');
        return;
    }
    const [one, two] = ['m.jsonl', 'theirs.jsonl'].map(f => place.path(f));
    const ours = await memory(place);
    const shared = await new Npm(one).open(), alone = await new Npm(two).open();
    const next = randomCalls(4711);
    let graph = { entities: [], relations: [] }, turns = 0;
    for (let i = 0; i < 1000; i++) {
        const [tool, args] = next(graph);
        const mine = i % 2 === 0;
        turns += mine;
        const [got, want] = [await (mine ? ours : shared).call(tool, args), await alone.call(tool, args)];
        assert.deepEqual(got.structuredContent, want.structuredContent, `${i}: ${tool} ${JSON.stringify(args)}`);
        assert.deepEqual(got.content, want.content);
        const all = await alone.call('read_graph', {});
        graph = all.structuredContent;
        assert.deepEqual(await graphOf(ours), graph, `${i}: ${tool} ${JSON.stringify(args)}`);
        assert.deepEqual((await shared.call('read_graph', {})).structuredContent, graph);
        const query = { query: ['o', 'DREI', 'ä', '', '"2"'][i % 5] };
        assert.deepEqual(await call(ours, 'search_nodes', query), (await alone.call('search_nodes', query)).structuredContent);
    }
    assert.equal(turns, 500);
    for (const n of [shared, alone]) n.child.kill();
});

scenario('kill -9 at any moment of a write: the file is the old or the new one, what was answered is in it, no temp file outlives the next write',
    { timeout: 900000, inRam: true }, async place => {
    const rounds = slow ? 1000 : 60;
    const answered = new Set();
    const file = place.path('m.jsonl');
    place.write('m.jsonl', Array.from({ length: 500 }, (_, i) => lineOf(entity(`base-${i}`, ['x'.repeat(200)]))).join(''));
    for (let round = 0; round < rounds; round++) {
        const s = new Server(place, { args: ['memory', '--memory-file', file] });
        let i = 0, dead = false;
        const work = (async () => {
            await s.open();
            while (!dead) {
                const name = `k${round}-${i++}`;
                await call(s, 'create_entities', { entities: [entity(name)] });
                answered.add(name);
            }
        })().catch(() => {});
        await until('it works', () => i > 0, 10000);
        await sleep(Math.random() * 20);
        s.child.kill('SIGKILL');
        await s.exited;
        await s.closed;
        dead = true;
        await work;
        const lines = place.read('m.jsonl').split('\n');
        assert.equal(lines.pop(), '', 'the last line is whole');
        lines.forEach(l => JSON.parse(l));
        if (round % 20 === 19 || round === rounds - 1) {
            const names = new Set(lines.map(l => JSON.parse(l).name));
            for (const name of answered) assert.ok(names.has(name), `${name} was answered and is gone`);
            assert.ok(names.size >= 500 + answered.size && names.size <= 500 + answered.size + rounds);
        }
    }
    const s = await memory(place);
    await call(s, 'create_entities', { entities: [entity('last')] });
    assert.deepEqual(fs.readdirSync(place.dir).filter(n => /\.tmp$|corrupt/.test(n)), []);
});
