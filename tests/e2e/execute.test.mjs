// SPDX-License-Identifier: MIT OR Apache-2.0
//
// `execute`: intake of scripts, the sandbox, calls, the reply (meta-server.md 6 to 8, security.md 7.1).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MODERN, T, alive, basic, commandOf, peakOf, reply, rssOf, sanitized, scenario, shared, slack, sleep, until } from './harness.mjs';
import { warm } from './schema.mjs';

warm();

const MB = 1 << 20;
const workers = s => s.children().filter(p => commandOf(p).includes('worker'));

// --- scripts without calls ----------------------------------------------------------------------------------------------
const pure = shared(place => place.peers({ alpha: basic() }));
const VALUES = {
    'MS-30: an expression': [
        ['1 + 1', 2], ['({a: 1})', { a: 1 }], ['{a: 1, b: [2]}', { a: 1, b: [2] }], ['() => 3', 3], ['async () => 4', 4],
        ['() => ({x: 5})', { x: 5 }], ['Promise.resolve(6)', 6], ['await Promise.resolve(7)', 7], ['[1, 2].map(x => x * 2)', [2, 4]],
        ['({then(f) { f(8) }})', 8], ['"text"', 'text'], ['// a comment\n9', 9], ['10 // at the end', 10],
    ],
    'MS-30: a program, by its completion value': [
        ['const x = 5; x', 5], ['if (1) { 1 } else { 2 }', 1], ['const y = await Promise.resolve(3); y * 2', 6],
        ['for (const i of [1, 2, 3]) i', 3], ['function f() { return 9 } f', 9], ['let z = 1;', null], ['var a = 1, b = 2; a + b;', 3],
        ['try { null.x } catch { "caught" }', 'caught'],
    ],
    'MS-30: a function body, by its return': [
        ['return 4', 4], ['const a = 1; return a + 1', 2], ['if (false) return 1', null], ['const r = await Promise.resolve(5); return r', 5],
        ['for (const x of [1, 2]) { if (x === 2) return x }', 2], ['return () => 6', 6], ['return; 7', null],
    ],
    'MS-29: fences, BOM, #! line, export default and trailing semicolons': [
        ['```js\n1 + 1\n```', 2], ['```\nconst x = 3; x\n```', 3], ['```javascript\nreturn 4\n```\n', 4], ['\n```ts\n5\n```', 5],
        ['\ufeff6', 6], ['#!/usr/bin/env node\n7', 7], ['export default 8;', 8], ['export default async () => 9', 9], ['10;;;', 10],
        ['export default async function () { return 11 }', 11],
    ],
    'MS-32 SEC-12: what has no JSON becomes null; toJSON counts; surrogates stay escapes': [
        ['', null], ['   \n', null], ['undefined', null], ['Symbol("x")', null], ['() => () => 1', null], ['NaN', null], ['-Infinity', null],
        ['[undefined, () => 1, NaN]', [null, null, null]], ['({toJSON() { return 5 }})', 5], ['new Date(0)', '1970-01-01T00:00:00.000Z'],
        ['({a: undefined, b: 1})', { b: 1 }], ['"\\ud800"', '\ud800'], ['"\\u{1F600}é"', '\u{1F600}é'],
    ],
    'MS-34 SEC-16: the world outside is absent': [
        ['[typeof fetch, typeof require, typeof process, typeof XMLHttpRequest, typeof WebSocket, typeof os, typeof std, typeof fs]', Array(8).fill('undefined')],
        ['[typeof WeakRef, typeof FinalizationRegistry, typeof SharedArrayBuffer, typeof Atomics]', Array(4).fill('undefined')],
        ['try { await import("std"); "loaded" } catch { "rejected" }', 'rejected'],
        ['[eval("1 + 1"), Function("return typeof process")(), (0, eval)("typeof fetch")]', [2, 'undefined', 'undefined']],
        ['typeof setTimeout', 'function'], ['typeof arguments', 'undefined'], ['typeof module', 'undefined'],
    ],
    'MS-66: the prelude': [
        ['const a = {m: new Map([[1, new Set([2])]]), d: new Date(5), r: /x/g, b: new Uint8Array([1, 2])}; a.self = a; const c = structuredClone(a);'
            + ' [c !== a, c.self === c, c.m.get(1).has(2), c.d.getTime(), c.r.source, [...c.b]]', [true, true, true, 5, 'x', [1, 2]]],
        ['[...new TextEncoder().encode("é€")]', [0xc3, 0xa9, 0xe2, 0x82, 0xac]],
        ['new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]))', 'a\ufffd'],
        ['try { new TextDecoder("utf-8", {fatal: true}).decode(new Uint8Array([255])); 1 } catch (e) { e instanceof TypeError }', true],
        ['new TextDecoder("utf-8", {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length', 2],
        ['const u = new URL("../b?x=1#h", "https://User@Example.com:443/a/c/d"); [u.href, u.host, u.searchParams.get("x"), u.hash]',
            ['https://User@example.com/a/b?x=1#h', 'example.com', '1', '#h']],
        ['const p = new URLSearchParams("a=1&b=2&a=3"); p.append("c", "x y"); [p.getAll("a"), p.toString()]', [['1', '3'], 'a=1&b=2&a=3&c=x+y']],
        ['try { new URL("no url"); 1 } catch (e) { e instanceof TypeError }', true],
        ['[btoa("hi"), atob("aGk=")]', ['aGk=', 'hi']],
        ['await new Promise(r => setTimeout((a, b) => r(a + b), 5, 1, 2))', 3],
        ['let n = 0; const t = setTimeout(() => { n = 1 }, 5); clearTimeout(t); await new Promise(r => setTimeout(r, 20)); n', 0],
        ['await new Promise(r => queueMicrotask(() => r("micro")))', 'micro'],
        ['setTimeout(() => {}, 100000); "done"', 'done'],
        ['await new Promise(r => setTimeout(r, 30)); 1', 1],
    ],
    'MS-35: no state passes from one script to the next': [
        ['globalThis.left = 1; Object.prototype.left = 2; left', 1], ['[typeof left, ({}).left === undefined]', ['undefined', true]],
    ],
};
for (const [name, cases] of Object.entries(VALUES)) {
    test(name, async () => {
        const s = await pure();
        for (const [script, value] of cases) {
            const r = await s.execute(script);
            assert.equal(r.isError, false, `${JSON.stringify(script)}: ${r.text}`);
            assert.deepEqual(r.value, value, JSON.stringify(script));
        }
    });
}

const ERRORS = {
    'MS-31: what does not parse says where, and about annotations': [
        ['const x: number = 1', /did not parse as JavaScript[^]*type annotations/], ['let a = 1;\nlet b = ;\n', /\bline 2\b/],
        ['return 1;\nlet b = ;', /\bline 2\b/], ['"unterminated', /did not parse/], ['`unterminated ${1', /did not parse/], ['}', /did not parse/],
    ],
    'MS-33: a script cannot close its wrapper early': [
        ['1); f(', /did not parse/], ['} f(); {', /did not parse/], ['1]; [2', /did not parse/], ['return 1 } async function g() {', /did not parse/],
        ['})(); (() => {', /did not parse/],
    ],
    'MS-32: cyclic values and BigInt are errors with the reason': [['const a = {}; a.a = a; a', /circular|cyclic/i], ['10n', /bigint/i]],
    'MS-38: messages and stacks name script:line:col only': [
        ['throw new Error("plain")', /plain/], ['\n\nfoo.x', /script:3:1\b/], ['```js\n\nfoo.x\n```', /script:3:1\b/], ['#!x\nfoo.x', /script:2:1\b/], ['export default foo.x', /script:1:16\b/], ['\ufeff  foo.x', /script:1:[34]\b/], ['const a = 1;\n\nnull.x', /script:3:\d/], ['function deep() { throw new TypeError("t") }\ndeep()', /script:1:\d+[^]*script:2:\d+/],
        ['throw "a string"', /a string/], ['await Promise.reject(new Error("rejected"))', /rejected/], ['throw null', /null/],
    ],
    'SEC-7: endless recursion is an error about the stack': [['function f() { f() } f()', /Maximum call stack|stack overflow/i]],
    'SEC-8: JSON nested a million deep': [['JSON.parse("[".repeat(1e6))', /./]],
};
for (const [name, cases] of Object.entries(ERRORS)) {
    test(name, async () => {
        const s = await pure();
        for (const [script, why] of cases) {
            const r = await s.execute(script);
            assert.equal(r.isError, true, script);
            assert.equal(r.error, 'script_error', r.text);
            assert.match(r.value.message, why);
            assert.ok(Buffer.byteLength(r.value.message) <= 4096, 'MS-38');
            assert.doesNotMatch(r.text, /prelude|<eval>|evalmachine|\.c:\d/);
            assert.equal((await s.execute('1')).value, 1, 'the next script works');
        }
    });
}

test('SEC-7 SEC-8: both are ordinary exceptions inside the script', async () => {
    const s = await pure();
    const r = await s.execute(`const said = []; function f() { f() }
        for (const g of [f, () => JSON.parse("[".repeat(1e6))]) try { g() } catch (e) { said.push(e instanceof Error) } said`);
    assert.deepEqual(r.value, [true, true], r.text);
});

test('SEC-17 MS-33: 10 MB of text, NUL bytes, lines with no end', async () => {
    const s = await pure();
    const r = await s.execute(`"${'x'.repeat(10 * MB)}"`);
    assert.equal(r.error, 'script_error');
    assert.match(r.value.message, /256 KiB|262144/);
    assert.equal((await s.execute(`/* ${'x'.repeat(255 << 10)} */ 1`)).value, 1);
    assert.equal((await s.execute('"a\u0000b".length')).value, 3);
    assert.equal((await s.execute('1 \u0000 2')).error, 'script_error');
});

test('MS-40 MS-41: the console comes back in order, bounded, also on errors', async () => {
    const s = await pure();
    const r = await s.execute(`console.log("a", {b: 1}, [2], null, undefined); console.warn("careful"); console.error("bad", 7);
        console.info("i"); console.debug("d"); console.trace("t"); 42`);
    assert.equal(r.value, 42);
    assert.deepEqual(r.console.slice(1), ['[warn] careful', '[error] bad 7', 'i', 'd', 't']);
    assert.match(r.console[0], /^a \{"b":1\} \[2\] null/);
    const failed = await s.execute('console.log("before"); throw new Error("x")');
    assert.equal(failed.isError, true);
    assert.deepEqual(failed.console, ['before']);
    const flood = await s.execute('for (let i = 0; i < 100000; i++) console.log("line number " + i); "fine"');
    assert.equal(flood.value, 'fine');
    assert.match(flood.text, /\[further output dropped\]/);
    assert.ok(flood.text.length < 8192 + 200);
    assert.match((await s.execute('const c = {}; c.c = c; console.log("cyclic", c); 1')).text, /cyclic/);
});

test('MS-39 MS-68 SEC-11: a long result is cut on a character, the whole is kept and readable', async () => {
    const s = await pure();
    const r = await s.execute('"é".repeat(2500000)');
    assert.equal(r.isError, false);
    const note = /\[result truncated: (\d+) of (\d+) bytes; full value: (symposium:\/\/results\/([0-9a-f]{32,}))\]/.exec(r.text);
    assert.ok(note, r.text.slice(-300));
    assert.ok(Number(note[1]) <= 32768 && Number(note[1]) > 32700);
    assert.equal(Number(note[2]), 5000002);
    assert.ok(!r.text.includes('\ufffd'));
    const read = await s.result('resources/read', { uri: note[3] });
    assert.equal(JSON.parse(read.contents[0].text).length, 2500000);
    assert.equal(read.contents[0].uri, note[3]);
    assert.equal(read.contents[0].mimeType, 'application/json');
    assert.deepEqual((await s.execute(`const v = results.get("${note[4]}"); [v.length, v[0]]`)).value, [2500000, 'é']);
    assert.deepEqual((await s.result('resources/list')).resources, []);
    const huge = await s.execute('"x".repeat(9e6)');
    assert.match(huge.text, /\[result truncated: \d+ of 9000002 bytes; [^\]]*not kept/);
    const last = await s.execute('"y".repeat(6e6)');
    await s.execute('"z".repeat(6e6)');
    await s.execute('"w".repeat(6e6)');
    const gone = await s.request('resources/read', { uri: note[3] });
    assert.equal(gone.error?.code, -32002, 'the oldest is dropped first');
    assert.ok(last.text.includes('symposium://'));
    assert.deepEqual(s.notifications('notifications/resources/list_changed'), []);
});

// --- calls ------------------------------------------------------------------------------------------------------------------
const content = (...texts) => ({ content: texts.map(text => ({ type: 'text', text })) });
const LADDER = {
    plain: [content('just text'), 'just text'], joined: [content('a', 'b'), 'a\nb'], empty: [{ content: [] }, ''],
    object: [content(' {"a": 1} '), { a: 1 }], array: [content('[1,2]'), [1, 2]], number: [content('123456789012345678901234567890'), '123456789012345678901234567890'],
    bare: [content('true'), 'true'], halfjson: [content('{"a": 1} and more'), '{"a": 1} and more'],
    structured: [{ ...content('text'), structuredContent: { b: 2 } }, { b: 2 }], structuredNull: [{ ...content('t'), structuredContent: {} }, {}],
    mixed: [{ content: [{ type: 'text', text: 'x' }, { type: 'image', data: 'AA==', mimeType: 'image/png' }] },
        [{ type: 'text', text: 'x' }, { type: 'image', data: 'AA==', mimeType: 'image/png' }]],
    wrappedOnly: [{ content: [], structuredContent: { result: 5 } }, { result: 5 }],
};
const wrap = { type: 'object', properties: { result: { type: 'number' } }, required: ['result'] };
const calling = shared(place => {
    place.peers({
        a: basic({
            tools: [...basic().tools, ...Object.keys(LADDER).map(n => T(n)), T('thrown'), T('silent'), T('protocol'),
                T('wrapped', undefined, { outputSchema: wrap }),
                T('fastmcp', undefined, { outputSchema: { ...wrap, properties: { ...wrap.properties, more: {} }, 'x-fastmcp-wrap-result': true } }),
                T('unwrapped', undefined, { outputSchema: { ...wrap, properties: { ...wrap.properties, more: {} } } }),
                T('offshape', undefined, { outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }),
                T('onshape', undefined, { outputSchema: { type: 'object', properties: { n: { type: 'number', pattern: '(a+)+$' } }, required: ['n'] } }),
                T('uncheckable', undefined, { outputSchema: { $ref: 'https://example.invalid/schema.json' } })],
            calls: {
                ...Object.fromEntries(Object.entries(LADDER).map(([n, [r]]) => [n, [{ result: r }]])),
                thrown: [{ result: { ...content('one', 'two'), isError: true, structuredContent: { x: 1 } } }],
                silent: [{ result: { content: [], isError: true } }], protocol: [{ error: { code: -32602, message: 'bad argument z' } }],
                wrapped: [{ result: { content: [], structuredContent: { result: 5 } } }],
                fastmcp: [{ result: { content: [], structuredContent: { result: 6 } } }],
                unwrapped: [{ result: { content: [], structuredContent: { result: 7 } } }],
                offshape: [{ result: { content: [], structuredContent: { n: 'seven' } } }],
                onshape: [{ result: { content: [], structuredContent: { n: 7 } } }],
                uncheckable: [{ result: { content: [], structuredContent: { n: 7 } } }],
            },
        }),
    });
});

test('MS-47: the ladder from a result to a value', async () => {
    const s = await calling();
    for (const [tool, [, value]] of Object.entries(LADDER)) {
        const r = await s.execute(`await a.${tool}({})`);
        assert.deepEqual(r.value, value, `${tool}: ${r.text}`);
    }
    const said = async tool => (await s.execute(`try { await a.${tool}({}) } catch (e) { [e instanceof Error, e.message] }`)).value;
    assert.deepEqual(await said('thrown'), [true, 'a.thrown: one\ntwo'], 'isError is tested first');
    assert.deepEqual(await said('silent'), [true, 'a.silent: tool failed']);
    assert.deepEqual(await said('protocol'), [true, 'a.protocol: bad argument z'], 'MS-50');
});

test('MS-48 MS-49 MCP-C19: wrapped results, and results off their declared shape', async () => {
    const s = await calling();
    const of = async tool => s.execute(`await a.${tool}({})`);
    assert.equal((await of('wrapped')).value, 5);
    assert.equal((await of('fastmcp')).value, 6);
    assert.deepEqual((await of('unwrapped')).value, { result: 7 });
    const off = await s.execute('const r = [await a.offshape({}), await a.offshape({})]; r[0]');
    assert.deepEqual(off.value, { n: 'seven' }, 'the value is unchanged');
    assert.deepEqual(off.notes, ['[a.offshape: result off-shape, treat as unknown]'], 'once');
    for (const tool of ['onshape', 'uncheckable']) assert.deepEqual((await of(tool)).notes, []);
});

test('MS-46 MCP-S8: what becomes of the arguments', async () => {
    const s = await calling();
    const from = s.place.calls('a').length;
    await s.execute('for (const args of [[], [null], [undefined], [{x: 1}], [5], ["t"], [[1, 2]], [{a: 1}, {b: 2}], [true]]) await a.echo(...args)');
    assert.deepEqual(s.place.calls('a').slice(from).map(m => m.params.arguments),
        [{}, {}, {}, { x: 1 }, { value: 5 }, { value: 't' }, { value: [1, 2] }, { a: 1 }, { value: true }]);
});

test('SEC-15 MS-46: arguments too large, too deep or throwing are refused in the script, nothing is sent', async () => {
    const s = await calling();
    const from = s.place.calls('a').length;
    const r = await s.execute(`let deep = {}; for (let i = 0; i < 10000; i++) deep = {deep}; const cyclic = {}; cyclic.c = cyclic;
        const bad = [{text: "x".repeat(2e6)}, deep, {get x() { throw new Error("getter") }}, new Proxy({}, {ownKeys() { throw new Error("trap") }}), cyclic, {n: 1n}];
        const said = []; for (const b of bad) try { await a.echo(b); said.push("sent") } catch (e) { said.push(e instanceof Error) } said`);
    assert.deepEqual(r.value, Array(6).fill(true), r.text);
    assert.equal(s.place.calls('a').length, from);
});

test('MS-43 SEC-13: a global is frozen, harmless to await, and the host marshals without the script\'s prototypes', async () => {
    const s = await calling();
    const r = await s.execute(`const still = await a; const names = ["then", "catch", "finally", "constructor", "prototype", "__proto__", "toJSON", "toString", "valueOf", "inspect"];
        let set; try { "use strict"; a.x = 1; set = a.x !== 1 } catch { set = true }
        [still === a, names.map(n => typeof a[n]), typeof a[Symbol.iterator], typeof a.anything, set, JSON.stringify({a}) !== undefined]`);
    assert.deepEqual(r.value, [true, Array(10).fill('undefined'), 'undefined', 'function', true, true], r.text);
    const p = await s.execute(`Object.prototype.toJSON = () => "pwn"; Array.prototype.map = null; Promise.prototype.then = null; Array.prototype.push = null;
        JSON.stringify = () => "{}"; JSON.parse = null; Object.prototype.id = 7; String.prototype.toString = null; globalThis.Promise = null;
        return a.echo({text: "kept"})`);
    assert.equal(p.isError, false, p.text);
    assert.equal(s.place.calls('a').at(-1).params.arguments === 'pwn' || s.place.calls('a').at(-1).params.arguments.text === 'kept', true);
    const q = await s.execute('Object.defineProperty(Object.prototype, "value", {set() { throw 1 }, get() { return 2 }}); return a.plain({})');
    assert.equal(q.value, 'just text', q.text);
});

scenario('MS-45 SEC-33 MS-25: names resolve exactly, then loosely, and only visible ones', async place => {
    place.peers({
        n: {
            tools: ['read_file', 'readFile', 'list-all', 'get.one', 'hidden_tool', 'Weird Name!', '123'].map(name => T(name)),
            calls: { '*': [{ line: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"called"}]}}' }] },
        },
    }, { n: { 'disabled-tools': ['hidden_tool'] } });
    const s = await place.open();
    const called = async expr => {
        const from = place.calls('n').length;
        const r = await s.execute(`try { await ${expr} } catch (e) { "threw " + e.message }`);
        return place.calls('n')[from]?.params.name ?? r.value;
    };
    assert.equal(await called('n.read_file({})'), 'read_file');
    assert.equal(await called('n.readFile({})'), 'readFile');
    assert.match(await called('n["read-file"]({})'), /threw [^]*read_file[^]*readFile|threw [^]*readFile[^]*read_file/);
    for (const spelled of ['n.listAll', 'n.list_all', 'n["list-all"]', 'n.LISTALL']) assert.equal(await called(`${spelled}({})`), 'list-all');
    assert.equal(await called('n.getOne({})'), 'get.one');
    assert.equal(await called('n.weirdName({})'), 'Weird Name!');
    assert.equal(await called('n["123"]({})'), '123');
    assert.match(await called('n.listAl({})'), /threw n\b[^]*listAl[^]*list-all[^]*list_tools/);
    for (const spelled of ['n.hidden_tool', 'n.hiddenTool']) assert.match(await called(`${spelled}({})`), /^threw /, 'MS-21');
    const alias = /(\w+)\(\)?[^;]*;\s*$/m.test(await s.list({ servers: ['n'] })) && /\/\*\* Alias for list-all\. \*\/\s*(\w+)\(/.exec(await s.list({ servers: ['n'] }))[1];
    assert.equal(await called(`n.${alias}({})`), 'list-all', 'MS-25: the declared alias reaches its tool');
});

scenario('SEC-32 MS-43: tools with the names of object members are callable, nothing is polluted', async place => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'then', 'hasOwnProperty', 'toJSON', 'valueOf'];
    place.peers({ evil: { tools: names.map(n => T(n)), calls: { '*': [{ text: 'ok' }] } }, good: basic() });
    const s = await place.open();
    await s.list();     // a server's names are declared once they are listed
    const r = await s.execute(`const still = await evil; const said = [];
        for (const n of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "then_", "toJSON_"]) said.push(await evil[n]({}));
        [said, typeof evil.then, typeof evil.toJSON, ({}).x === undefined, typeof {}.toString, await good.echo({text: "g"})]`);
    assert.deepEqual(r.value, [Array(8).fill('ok'), 'undefined', 'undefined', true, 'function', { text: 'g' }], r.text);
    assert.deepEqual(place.calls('evil').map(m => m.params.name),
        ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'toJSON']);
});

scenario('MS-51: calls run side by side within a server and across servers, at most 64 at a time', async place => {
    place.config({ mcp: { 'max-tool-calls': 200, 'script-timeout-secs': 5, 'tool-call-timeout-secs': 4 } });
    place.peers({ a: basic(), b: basic(), c: basic() });
    const s = await place.open();
    await s.execute('await Promise.all([a.echo({}), b.echo({})])');
    for (const calls of ['Array(8).fill(a)', '[a, b, a, b, a, b, a, b]']) {
        const r = await s.execute(`const from = Date.now(); await Promise.all(${calls}.map(x => x.slow({}))); Date.now() - from`);
        assert.ok(r.value >= 245 && r.value <= 260 + 50 * slack, `${r.value} ms`);
    }
    s.send({ id: 'many', method: 'tools/call', params: { name: 'execute', arguments: { script: 'await Promise.all(Array.from({length: 100}, () => c.hang({})))' } } });
    await until('64 in flight', () => place.calls('c').length >= 64);
    await sleep(150);
    assert.equal(place.calls('c').length, 64);
    s.notify('notifications/cancelled', { requestId: 'many' });
    await until('each is cancelled at the server', () => place.received('c').filter(m => m.method === 'notifications/cancelled').length === 64);
});

scenario('MS-69 SEC-14: the call after the limit is refused, and a million of them keep our memory flat', async place => {
    place.config({ mcp: { 'max-tool-calls': 5, 'script-timeout-secs': 20, 'tool-call-timeout-secs': 2 } });
    place.peers({ a: basic() });
    const s = await place.open();
    const uncaught = await s.execute('for (let i = 0; i < 9; i++) await a.echo({i})');
    assert.equal(uncaught.isError, true);
    assert.deepEqual([uncaught.error, uncaught.value.limit], ['tool_call_limit', 5]);
    assert.match(uncaught.finished, /^calls finished: a\.echo ×5$/, 'MS-41');
    assert.ok(uncaught.notes.includes('[execute: tool call limit of 5 reached, 1 calls refused]'), uncaught.text);
    assert.equal(place.calls('a').length, 5);
    const caught = await s.execute('let m; for (let i = 0; i < 8; i++) try { await a.echo({i}) } catch (e) { m = e.message } m');
    assert.match(caught.value, /tool call limit of 5 reached/);
    assert.deepEqual(caught.notes, ['[execute: tool call limit of 5 reached, 3 calls refused]']);
    const before = s.rss();
    const { value: flood, slowest } = await s.pingWhile(s.execute('for (let i = 0; i < 1e6; i++) a.echo({}).catch(() => {}); "end"', { ms: 25000 }));
    assert.ok(slowest <= 50 * slack, `ping ${slowest} ms`);
    if (flood.value === 'end') assert.deepEqual(flood.notes, ['[execute: tool call limit of 5 reached, 999995 calls refused]']);
    else assert.equal(flood.error, 'memory_exhausted', flood.text);
    assert.equal(place.calls('a').length, 15);
    if (!sanitized) assert.ok(peakOf(s.pid) - before < 16 * MB);
});

scenario('MS-70: calls not awaited are waited for, cancelled at the deadline, and reported when they fail', async place => {
    place.config({ mcp: { 'script-timeout-secs': 2, 'tool-call-timeout-secs': 1 } });
    place.peers({ a: basic(), b: basic() }, { b: { 'tool-call-timeout-secs': 100 } });
    const s = await place.open();
    await s.execute('await Promise.all([a.echo({}), b.echo({})])');
    const from = performance.now();
    const waited = await s.execute('a.slow({text: "w"}); 5');
    assert.equal(waited.value, 5);
    assert.ok(performance.now() - from >= 240, 'the reply waits for it');
    assert.deepEqual(waited.notes, []);
    const failed = await s.execute('a.fail({}); 6');
    assert.equal(failed.value, 6);
    assert.deepEqual(failed.notes, ['[a.fail: not awaited, failed: it did not work]'], failed.text);
    const handled = await s.execute('a.fail({}).catch(() => {}); 7');
    assert.deepEqual([handled.value, handled.notes], [7, []]);
    const late = await s.execute('b.hang({}); 8');
    assert.equal(late.isError, false, late.text);
    assert.equal(late.value, 8);
    // b's own limit was clamped to T - 1 (MS-14), so its timeout comes first or at T: either is said.
    assert.match(late.notes[0], /^\[b\.hang: not awaited(, failed: .*timed out|.* not finished, cancelled)/);
});

// --- attacks ------------------------------------------------------------------------------------------------------------------
const T_SECS = 2;
const attacked = shared(place => place.config({ mcp: { 'script-timeout-secs': T_SECS, 'tool-call-timeout-secs': 1, 'script-memory-limit-mb': 32 } })
    .peers({ alpha: basic() }));
const ENDLESS = {
    'SEC-1: an endless loop in try/catch/finally': 'for (;;) try { while (1) {} } catch { continue } finally { while (1) {} }',
    'SEC-2: a backtracking regular expression': '/(a+)+$/.test("a".repeat(40) + "!")',
    'SEC-3: a native loop over 2^53 elements': 'Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)',
    'SEC-4: indexOf over and over in 20 MB': 'let s = "x".repeat(2e7); for (;;) s.indexOf("y")',
    'SEC-9: a storm of microtasks': '(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})',
    'MS-36: waiting for calls counts': 'for (;;) try { await alpha.hang({}) } catch {}',
    'MS-36 MS-66: a timer is bounded by the deadline': 'await new Promise(r => setTimeout(r, 1e9))',
    'MS-36: big integers': 'let b = 3n; for (;;) b = b * b % (2n ** 500000n) + 1n',
};
describe('MS-36 WK-6: what never ends is ended at the deadline, while pings are answered', { concurrency: 4 }, () => {
    for (const [name, script] of Object.entries(ENDLESS)) {
        test(name, async () => {
            const s = await attacked();
            const from = performance.now();
            const { value: r, slowest } = await s.pingWhile(s.execute(`console.log("started"); ${script}`));
            const took = performance.now() - from;
            assert.equal(r.isError, true);
            assert.ok(['script_timeout', 'memory_exhausted'].includes(r.error), r.text);
            if (!name.includes('SEC-9') && !name.includes('big')) assert.equal(r.error, 'script_timeout', r.text);
            if (r.error === 'script_timeout') {
                assert.equal(r.value.limit_secs, T_SECS);
                assert.ok(took >= T_SECS * 1000 - 50 && took <= T_SECS * 1000 + 500 * slack, `${took} ms`);
            }
            assert.deepEqual(r.console, ['started'], 'MS-40: console of a killed script');
            assert.ok(slowest <= 50 * slack, `ping ${slowest} ms`);
        });
    }
});

const hungry = shared(place => place.config({ mcp: { 'script-timeout-secs': 20, 'tool-call-timeout-secs': 1, 'script-memory-limit-mb': 32 } })
    .peers({ alpha: basic() }));

test('SEC-5 MS-37: memory is limited by our allocator; the worker stays near the limit', async () => {
    const s = await hungry();
    for (const script of ['let a = []; for (;;) a.push({})', 'let a = "x"; for (;;) a += a', 'new Uint8Array(1e9)', 'let a = [1]; for (;;) a = a.concat(a)',
        'new Array(1e9).fill(0)', '"x".repeat(1e9)']) {
        let top = 0;
        const watch = setInterval(() => { for (const w of workers(s)) top = Math.max(top, rssOf(w)); }, 1);
        const { value: r, slowest } = await s.pingWhile(s.execute(`console.log("here"); ${script}`, { ms: 25000 }), 5);
        clearInterval(watch);
        assert.equal(r.isError, true, script);
        assert.ok(r.error === 'memory_exhausted' || r.error === 'script_error', `${script}: ${r.text}`);
        if (r.error === 'memory_exhausted') assert.equal(r.value.limit_mb, 32);
        assert.deepEqual(r.console, ['here']);
        if (!sanitized) assert.ok(top <= (32 + 16) * MB, `${script}: worker at ${top / MB} MiB`);
        assert.ok(slowest <= 50 * slack, `ping ${slowest} ms`);
    }
});

test('SEC-6: running out of memory cannot be caught and retried', async () => {
    const s = await hungry();
    const r = await s.execute('for (let i = 0; i < 40; i++) try { let a = []; for (;;) a.push({}) } catch {} "survived"');
    assert.equal(r.error, 'memory_exhausted', r.text);
    assert.equal((await s.execute('1')).value, 1);
});

test('SEC-10 MS-36: a promise that nothing can settle ends the script at once', async () => {
    const s = await attacked();
    for (const script of ['await new Promise(() => {})', 'new Promise(() => {})', '({then() {}})', 'const p = new Promise(() => {}); setTimeout(() => {}, 20); await p']) {
        const from = performance.now();
        const r = await s.execute(script);
        assert.match(r.value.message, /script never finished: awaiting a promise that nothing can settle/);
        assert.equal(r.error, 'script_error');
        assert.ok(performance.now() - from < 100 * slack);
    }
});

test('SEC-20 MS-76 MCP-S13: a cancelled script is gone within 300 ms, also in a native loop, without an answer', async () => {
    const s = await attacked();
    for (const script of ['Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)', 'await alpha.hang({})', 'for (;;);']) {
        const calls = s.place.calls('alpha').length;
        const id = `cancel-${s.next++}`;
        s.send({ id, method: 'tools/call', params: { name: 'execute', arguments: { script } } });
        if (script.includes('hang')) await until('the call is in flight', () => s.place.calls('alpha').length === calls + 1);
        else await sleep(150);
        const had = workers(s);
        const from = performance.now();
        s.notify('notifications/cancelled', { requestId: id });
        await until('its worker is gone', () => had.some(w => !alive(w)), 300);
        assert.ok(performance.now() - from < 300 * slack);
        if (script.includes('hang')) {
            await until('the backend call is cancelled', () => s.place.received('alpha').some(m => m.method === 'notifications/cancelled'
                && m.params.requestId === s.place.calls('alpha').at(-1).id));
        }
        await s.ping();
        assert.ok(!s.messages.some(x => x.m.id === id));
    }
    assert.equal((await s.execute('1')).value, 1);
});

test('SEC-18 WK-7 MS-38: a worker that dies takes only its script along', async () => {
    const s = await attacked();
    for (const [signal, number] of sanitized ? [['SIGKILL', 9]] : [['SIGSEGV', 11], ['SIGABRT', 6]]) {
        const calls = s.place.calls('alpha').length;
        const run = s.execute('console.log("before"); await alpha.hang({})');
        await until('the call is in flight', () => s.place.calls('alpha').length === calls + 1);
        const before = workers(s);      // the one at work, and the one kept warm
        const cancelled = () => s.place.received('alpha').filter(m => m.method === 'notifications/cancelled').length;
        const had = cancelled();
        for (const w of before) try { process.kill(w, signal); } catch { /* it ended before */ }
        const r = await run;
        assert.equal(r.isError, true);
        if (number !== 9) {
            assert.equal(r.error, 'internal', r.text);
            assert.match(r.value.message, new RegExp(`script engine crashed \\(signal ${number}\\)`));
        }
        assert.deepEqual(r.console, ['before']);
        await until('the pending call is cancelled', () => cancelled() === had + 1);
        await until('the dead are buried', () => !before.some(w => s.children().includes(w)));
        assert.equal((await s.execute('1')).value, 1);
    }
});

test('SEC-21 MS-35: 64 endless scripts at once all end, pings and servers answer meanwhile', { timeout: 60000 * slack }, async () => {
    const s = await attacked();
    const from = performance.now();
    const all = Array.from({ length: 64 }, () => s.execute('for (;;);', { ms: 20000 }));
    const { value, slowest } = await s.pingWhile(Promise.all(all));
    for (const r of value) assert.equal(r.error, 'script_timeout', r.text);
    assert.ok(performance.now() - from <= T_SECS * 1000 + 500 * slack + 500, `${performance.now() - from} ms`);
    assert.ok(slowest <= 50 * slack, `ping ${slowest} ms`);
    await until('no zombies', () => s.zombies().length === 0);
});

scenario('MS-35: at most 64 run, 192 wait, more are refused; the deadline starts when a script starts', async place => {
    place.config({ mcp: { 'script-timeout-secs': 4, 'tool-call-timeout-secs': 1 } });
    place.peers({ alpha: basic() });
    const s = await place.open();
    const all = Array.from({ length: 266 }, () => s.execute('await new Promise(r => setTimeout(r, 400)); 1', { ms: 60000 }));
    const done = await Promise.all(all);
    const refused = done.filter(r => r.isError);
    assert.equal(done.filter(r => r.value === 1).length, 256);
    assert.equal(refused.length, 10);
    for (const r of refused) assert.match(r.text, /too many scripts/);
});

// --- progress -------------------------------------------------------------------------------------------------------------------
for (const revision of ['2025-11-25', MODERN]) {
    scenario(`MS-77 MCP-S12: progress in ${revision}: counted, named, paced, none after the answer`, async place => {
        place.peers({ a: basic(), b: basic() });
        const s = await place.open({ revision });
        await s.execute('await Promise.all([a.echo({}), b.echo({})])');
        const run = async (script, progressToken) => {
            const r = await s.tool('execute', { script }, { extra: { _meta: { progressToken } } });
            await sleep(100);
            const seen = s.notifications('notifications/progress').filter(m => m.params.progressToken === progressToken);
            const answer = s.messages.findIndex(x => x.asked?.method === 'tools/call' && x.m.result === r);
            return { r: reply(r), seen: seen.map(m => m.params), after: s.messages.slice(answer + 1).filter(x => x.m.method === 'notifications/progress') };
        };
        const slow = await run('await a.slow({}); await b.slow({}); 1', 'tok');
        assert.deepEqual(slow.seen.map(p => [p.progress, p.message]), [[1, 'a.slow'], [2, 'b.slow']]);
        assert.deepEqual(slow.after, []);
        const burst = await run('for (let i = 0; i < 60; i++) await a.echo({}); await a.slow({}); 1', 7);
        const counts = burst.seen.map(p => p.progress);
        assert.deepEqual(counts, [...counts].sort((x, y) => x - y));
        assert.equal(new Set(counts).size, counts.length, 'strictly increasing');
        assert.equal(counts.at(-1), 61, 'the count stays right');
        assert.ok(counts.length < 40, `${counts.length} notifications: at most 20 a second`);
        await s.execute('await a.echo({})');
        assert.equal(s.notifications('notifications/progress').filter(m => !['tok', 7].includes(m.params.progressToken)).length, 0, 'only with a token');
    });
}

scenario('MS-76: cancelling list_tools ends the wait; the starting server goes on starting', async place => {
    place.peers({ slow: basic({ start_delay_ms: 700 }) });
    const s = await place.open();
    s.send({ id: 'l', method: 'tools/call', params: { name: 'list_tools', arguments: {} } });
    await until('it is starting', () => place.starts('slow') === 1);
    s.notify('notifications/cancelled', { requestId: 'l' });
    await s.ping();
    await until('it was listed all the same', () => place.received('slow').some(m => m.method === 'tools/list'), 3000);
    assert.ok(!s.messages.some(x => x.m.id === 'l'));
    assert.match(await s.list(), /echo/);
    assert.equal(place.starts('slow'), 1);
});

scenario('MS-42: with no server in scope nothing runs', async place => {
    const s = await place.open();
    const r = await s.execute('1 + 1');
    assert.equal(r.isError, true);
    assert.match(r.text, /^No MCP servers apply to this workspace\./);
});

scenario('MS-42 MS-53 MS-44: pure scripts run although no server can start; a failed start is in the exception', async place => {
    place.config({ mcp: { 'server-startup-timeout-secs': 2 } });
    place.plugin('p', [{ name: 'absent', command: '/nonexistent/program' }, { name: 'dies', command: 'sh', args: ['-c', 'echo no config >&2; exit 3'] }]);
    const s = await place.open();
    assert.equal((await s.execute('6 * 7')).value, 42);
    const r = await s.execute('const said = []; for (const g of [absent, dies]) try { await g.x({}) } catch (e) { said.push(e.message) } said');
    assert.match(r.value[0], /^absent\.x: [^]*\/nonexistent\/program/);
    assert.match(r.value[0], /spawn/);
    assert.match(r.value[1], /^dies\.x: [^]*sh[^]*no config/);
});
