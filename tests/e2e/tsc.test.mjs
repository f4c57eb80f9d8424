// SPDX-License-Identifier: MIT OR Apache-2.0
//
// JSON Schema to TypeScript: each row TS-* as text, and the compiler's word that all of it holds together: of hand-made and hostile
// schemas, and of ten real servers from npm (meta-server.md 5).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { Place, T, basic, node, npm, sanitized, scenario, slack } from './harness.mjs';

let serial = 0;
/** The compiler's complaints, one a line; none: ''. What follows "Problems:" is prose. */
function tsc(place, listing, more = '') {
    const file = place.write(`tsc/${serial++}.ts`, `${listing.split('\nProblems:\n')[0]}\n${more}\nexport {};\n`);
    return new Promise(done => execFile(node, [npm('typescript/bin/tsc'), '--noEmit', '--strict', '--lib', 'es2023', '--types', '', file],
        { cwd: place.path('tsc'), timeout: 60000 * slack }, (e, stdout) => done(e ? stdout || e.message : '')));
}
const flat = text => text.replace(/\s+/g, ' ');
const str = { type: 'string' }, num = { type: 'number' };
const obj = (properties, more) => ({ type: 'object', properties, ...more });
const deep = n => { let s = { type: 'string' }; for (let i = 0; i < n; i++) s = { type: 'array', items: s }; return s; };
const S = 'p?: ';

// [row, schema of the property p, how it is declared]
const ROWS = [
    ['TS-1', {}, `${S}unknown;`], ['TS-1', true, `${S}unknown;`], ['TS-1', 7, `${S}unknown;`], ['TS-1', 'junk', `${S}unknown;`], ['TS-1', [1], `${S}unknown;`], ['TS-1', null, `${S}unknown;`],
    ['TS-2', false, `${S}never;`],
    ['TS-3', { type: 'string', format: 'date-time', pattern: '^x', minLength: 3 }, /p\?: string;/],
    ['TS-4', { type: 'integer', minimum: 1 }, `${S}number;`], ['TS-4', num, `${S}number;`],
    ['TS-5', { type: 'boolean' }, `${S}boolean;`], ['TS-5', { type: 'null' }, `${S}null;`],
    ['TS-6', { type: ['string', 'null', 'string'] }, `${S}string | null;`],
    ['TS-6', { type: ['array', 'number'], items: str, minimum: 1 }, `${S}string[] | number;`],
    ['TS-7', { type: 'mystery' }, `${S}unknown;`],
    ['TS-8', { const: 'a"b\n' }, /p\?: "a\\"b(\\n|\\u000a)";/], ['TS-8', { const: 5, description: 'five' }, /p\?: 5;/],
    ['TS-8', { const: { a: 1 } }, `${S}{ a: 1; };`], ['TS-8', { const: [1, 'x'] }, `${S}[1, "x"];`],
    ['TS-9', { type: 'string', enum: ['a', 'b'] }, `${S}"a" | "b";`], ['TS-9', { enum: [] }, `${S}never;`], ['TS-9', { enum: [1, 'x', null, true, { k: [2] }] }, `${S}1 | "x" | null | true | { k: [2]; };`],
    ['TS-9', { type: 'string', enum: Array.from({ length: 201 }, (_, i) => `v${i}`) }, `${S}string;`],
    ['TS-10', { type: 'array', items: str }, `${S}string[];`], ['TS-10', { type: 'array', items: { anyOf: [str, num] } }, `${S}(string | number)[];`],
    ['TS-11', { type: 'array' }, `${S}unknown[];`], ['TS-11', { type: 'array', items: true }, `${S}unknown[];`], ['TS-11', { type: 'array', items: false }, `${S}[];`],
    ['TS-12', { type: 'array', prefixItems: [str, num] }, `${S}[string, number];`], ['TS-12', { type: 'array', items: [str, num] }, `${S}[string, number];`],
    ['TS-12', { type: 'array', prefixItems: [str, num], items: { type: 'boolean' } }, `${S}[string, number, ...boolean[]];`],
    ['TS-12', { type: 'array', items: [str], additionalItems: num }, `${S}[string, ...number[]];`],
    ['TS-12', { type: 'array', prefixItems: [str, num], minItems: 1 }, `${S}[string, number?];`],
    ['TS-13', obj({ a: str, b: num }, { required: ['b', 'c'] }), `${S}{ a?: string; b: number; c: unknown; };`], ['TS-13', obj({}), `${S}{};`],
    ['TS-14', obj({ a: str }, { additionalProperties: false }), `${S}{ a?: string; };`],
    ['TS-15', { type: 'object', additionalProperties: num, propertyNames: { pattern: 'x' } }, `${S}Record<string, number>;`], ['TS-15', { type: 'object', additionalProperties: false }, `${S}{};`],
    ['TS-15', { type: 'object' }, `${S}Record<string, unknown>;`], ['TS-15', { type: 'object', additionalProperties: true }, `${S}Record<string, unknown>;`],
    ['TS-16', obj({ a: str }, { additionalProperties: num }), `${S}{ a?: string; [key: string]: unknown; };`],
    ['TS-17', { type: 'object', patternProperties: { '^a': str, '^b': num } }, `${S}Record<string, string | number>;`],
    ['TS-17', obj({ a: str }, { patternProperties: { '^b': num } }), `${S}{ a?: string; [key: string]: unknown; };`],
    ['TS-18', { allOf: [obj({ a: str }), obj({ b: num })] }, `${S}{ a?: string; } & { b?: number; };`], ['TS-18', { allOf: [str] }, `${S}string;`], ['TS-18', { allOf: [str, str] }, `${S}string;`],
    ['TS-18', { type: 'string', allOf: [{ minLength: 1 }, { pattern: 'x' }] }, `${S}string;`], ['TS-18', { ...obj({ a: str }), allOf: [obj({ b: num })] }, `${S}{ a?: string; } & { b?: number; };`],
    ['TS-19', { anyOf: [str, num] }, `${S}string | number;`], ['TS-19', { oneOf: [str, {}] }, `${S}unknown;`],
    ['TS-19', { ...obj({ a: str }), anyOf: [obj({ b: str }), obj({ c: num })] }, `${S}{ a?: string; } & ({ b?: string; } | { c?: number; });`],
    ['TS-19', { ...obj({ a: str, b: str }), oneOf: [{ required: ['a'] }, { required: ['b'] }] }, `${S}{ a?: string; b?: string; };`],
    ['TS-20', { not: str }, `${S}unknown;`], ['TS-20', { type: 'string', if: { minLength: 1 }, then: { maxLength: 3 }, not: { const: 'x' } }, `${S}string;`],
    ['TS-20', { type: 'array', contains: str, unevaluatedItems: false }, `${S}unknown[];`], ['TS-20', { dependentRequired: { a: ['b'] } }, /p\?: unknown;/],
    ['TS-21', { type: 'string', nullable: true }, `${S}string | null;`],
    ['TS-27', { $ref: 'https://example.invalid/s.json' }, `${S}unknown;`], ['TS-27', { $ref: 'file:///etc/passwd' }, `${S}unknown;`], ['TS-27', { $ref: '#/$defs/absent' }, `${S}unknown;`],
    ['TS-29', { properties: { a: str } }, `${S}{ a?: string; };`], ['TS-29', { items: num }, `${S}number[];`], ['TS-29', { prefixItems: [num] }, `${S}[number];`], ['TS-29', { required: ['a'] }, `${S}{ a: unknown; };`],
    ['TS-31', obj({ 'a-b': str, 'class': num, $ok: str, '1x': str, 'é': str, '"': str }), `${S}{ "a-b"?: string; class?: number; $ok?: string; "1x"?: string; "é"?: string; "\\""?: string; };`],
    ['TS-32', { ...str, description: 'one\n  two */ } declare global {' }, '/** one two * / } declare global { */ p?: string;'],
    ['TS-33', { ...str, description: 'd', default: 'x', deprecated: true, format: 'uri', title: 't', examples: ['e'] }, /\/\*\* d(?=[^*]*@default "x")(?=[^*]*@deprecated)(?=[^*]*@format uri)(?![^*]*\be\b)[^*]*\*\/ p\?: string;/],
    ['TS-33', { ...str, default: 'y'.repeat(50) }, `{ ${S}string;`],
    ['TS-34', deep(80), /p\?: unknown(\[\]){50,64};/],
];

const defs = (name, $defs, properties, more) => T(name, { type: 'object', $defs, properties, ...more });
const REFS = {
    'TS-22': [defs('ts22', { Item: obj({ n: num }), 'a/b~c %': str, anch: { $anchor: 'anchored', type: 'boolean' } },
        { a: { $ref: '#/$defs/Item' }, b: { $ref: '#/$defs/a~1b~0c%20%25' }, c: { $ref: '#anchored' }, d: { $ref: '#/properties/e' }, e: num }),
    /type Item = \{ n\?: number; \};[^]*a\?: Item;/],
    'TS-23': [[defs('ts23a', { Same: obj({ x: str }), Twin: obj({ y: str }) }, { a: { $ref: '#/$defs/Same' }, b: { $ref: '#/$defs/Twin' } }),
        defs('ts23b', { Same: obj({ x: num }), Twin: obj({ y: str }) }, { a: { $ref: '#/$defs/Same' }, b: { $ref: '#/$defs/Twin' } })],
    /type Same = \{ x\?: string; \};[^]*type Same_2 = \{ x\?: number; \};[^]*ts23a\([^]*a\?: Same; b\?: Twin;[^]*ts23b\([^]*a\?: Same_2; b\?: Twin;/],
    'TS-24': [defs('ts24', { Tree: obj({ kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } }) }, { t: { $ref: '#/$defs/Tree' } }), /type Tree = \{ kids\?: Tree\[\]; \};/],
    'TS-25': [defs('ts25', { Self: { anyOf: [{ $ref: '#/$defs/Self' }, str] } }, { s: { $ref: '#/$defs/Self' } }), /type Self = string;/],
    'TS-26': [defs('ts26', { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } }, { a: { $ref: '#/$defs/A' }, whole: { $ref: '#' } }), /ts26\(/],
    'TS-28': [T('ts28', { $ref: '#/$defs/In', $defs: { In: obj({ a: str }, { required: ['a'] }) } }), /ts28\(params: /],
    'TS-30': [defs('ts30', { 'any': obj({ a: str }), '1st': obj({ b: str }), 'Record': obj({ c: str }), 'with space': obj({ d: str }), 'class': obj({ e: str }), rows: obj({ f: str }) },
        Object.fromEntries(['any', '1st', 'Record', 'with%20space', 'class', 'rows'].map((n, i) => [`k${i}`, { $ref: `#/$defs/${n}` }]))),
    /k0\?: _any; k1\?: _1st; k2\?: _Record; k3\?: with_space; k4\?: _class; /],
};

scenario('every row TS-* is declared as the table says, and tsc accepts all of it (MS-28)', { timeout: 60000 * slack }, async place => {
    place.peers({
        rows: { tools: ROWS.map(([row, schema], i) => T(`r${i}_${row.replace('-', '')}`, { type: 'object', properties: { p: schema } })) },
        refs: { tools: Object.values(REFS).flatMap(([t]) => t) },
    });
    const s = await place.open();
    const text = await s.list({ detail: 'full' });
    const methods = new Map([...flat(text).matchAll(/(?:\*\/ )?(\w+)\(params\??: (\{.*?\})\): Promise<unknown>;/g)].map(m => [m[1], m[2]]));
    const wrong = [];
    ROWS.forEach(([row, , want], i) => {
        const got = methods.get(`r${i}_${row.replace('-', '')}`) ?? '(not declared)';
        if (!(want instanceof RegExp ? want.test(got) : got.includes(want))) wrong.push(`${row}: want ${want}, got ${got.slice(0, 300)}`);
    });
    for (const [row, [, want]] of Object.entries(REFS)) if (!want.test(flat(text))) wrong.push(`${row}: want ${want}`);
    assert.deepEqual(wrong, []);
    assert.equal(await tsc(place, text), '');
    assert.equal(await s.list({ detail: 'full' }), text, 'MS-22');
});

scenario('MS-26 MS-27 MS-48: parameters, none, optional; returns, unwrapped', async place => {
    place.peers({
        m: {
            tools: [T('none', { type: 'object' }), T('empty', obj({})), T('noschema', undefined), T('opt', obj({ a: str })), T('req', obj({ a: str }, { required: ['a'] })),
                T('out', obj({}), { outputSchema: obj({ n: num }, { required: ['n'] }) }),
                T('wrapped', obj({}), { outputSchema: obj({ result: { type: 'array', items: str } }, { required: ['result'] }) })],
        },
    });
    const s = await place.open();
    const text = flat(await s.list({ servers: ['m'] }));
    for (const want of ['none(): Promise<unknown>;', 'empty(): Promise<unknown>;', 'noschema(): Promise<unknown>;', 'opt(params?: { a?: string; }): Promise<unknown>;',
        'req(params: { a: string; }): Promise<unknown>;', 'out(): Promise<{ n: number; }>;', 'wrapped(): Promise<string[]>;']) assert.ok(text.includes(want), `${want}\n${text}`);
});

scenario('SEC-34 SEC-37 SEC-32 MS-25 MS-28: hostile names and descriptions still make one module that tsc accepts', async place => {
    const names = ['', 'x'.repeat(10240), 'new\nline', 'quo"te\'s`', 'close */ it', '\u202eright to left', '\u{1F600}', '__proto__', 'constructor', 'then', 'toString', 'read-file', 'read_file', 'readFile',
        'a.b', 'a b', 'a-b', 'class', '1st', 'dup', 'dup', '\\', '${x}', '</script>', '\u2028', 'é', '日本'];
    place.peers({
        evil: { tools: names.map((n, i) => T(n, obj({ [`${n}`]: { ...str, description: 'x */ } declare global { interface Array<T> { pwn: 1 } } /*' } }), { description: i % 2 ? '*/ } declare global { const pwn: 1 }' : 'ESC \u001b[2J' })) },
        fetch: { tools: [T('Request'), T('get')] }, 'odd-name': { tools: [T('t')] }, Object: { tools: [T('t')] },
    });
    const s = await place.open();
    const text = await s.list({ detail: 'full' });
    assert.equal(await tsc(place, text), '');
    assert.match(text, /\/\*\* Alias for read-file\. \*\//, 'MS-25');
    assert.equal((flat(text).match(/[ {;/]dup\(/g) ?? []).length, 1, 'MS-25: a repeated name is declared once');
    assert.match(text, /then_\(/, 'MS-43');
    assert.doesNotMatch(text, /\bdeclare global\b(?![^\n]*\*\/)/);
});

scenario('SEC-42 SEC-43 TS-34: 5,000 tools of 20 KB, recursion, remote references, a vicious pattern', { timeout: 60000 * slack }, async place => {
    const props = Array.from({ length: 180 }, (_, i) => `"p${i}":{"type":"string","description":"${'d'.repeat(60)}","pattern":"(a+)+$"}`).join(',');
    const tool = `{"name":"tool_$I","description":"number $I","inputSchema":{"type":"object","$defs":{"R":{"type":"object","properties":{"r":{"$ref":"#/$defs/R"}}}},"properties":{"r":{"$ref":"#/$defs/R"},"far":{"$ref":"file:///etc/passwd"},${props}}}}`;
    assert.ok(tool.length > 18000);
    place.config({ mcp: { 'server-startup-timeout-secs': 60 } });
    place.peers({ huge: { generate: { count: 5000, page: 100, tool } }, good: basic() });
    const s = await place.open();
    await s.execute('await good.echo({})');
    const { value: names, slowest } = await s.pingWhile(s.list({ query: 'number 4999', limit: 3 }, { ms: 60000 }));
    assert.match(names, /huge\.tool_4999/);
    assert.ok(slowest <= 400 * slack, `ping ${slowest} ms while 100 MB of tools arrive`);
    const from = performance.now();
    const one = await s.list({ tools: ['tool_4999'] }, { ms: 30000 });
    assert.match(flat(one), /far\?: unknown;/);
    assert.match(one, /type R = /);
    assert.ok(performance.now() - from < 1000 * slack);
    assert.equal(await tsc(place, one), '');
});

const real = (name, file, args = [], more = {}) => ({ name, command: node, args: [npm(file), ...args], ...more });
scenario('MS-28: the declarations of ten real servers pass tsc; a right call of them type-checks and a wrong one does not', { timeout: 100000 * slack }, async place => {
    place.config({ mcp: { 'server-startup-timeout-secs': sanitized ? 90 : 60 } });
    place.plugin('real', [
        real('files', '@modelcontextprotocol/server-filesystem/dist/index.js', ['.']), real('memory', '@modelcontextprotocol/server-memory/dist/index.js'),
        real('everything', '@modelcontextprotocol/server-everything/dist/index.js', ['stdio']), real('thinking', '@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
        real('github', '@modelcontextprotocol/server-github/dist/index.js'), real('notion', '@notionhq/notion-mcp-server/bin/cli.mjs', [], { env: { NOTION_TOKEN: 'x' } }),
        real('playwright', '@playwright/mcp/cli.js'), real('context7', '@upstash/context7-mcp/dist/index.js'), real('chart', '@antv/mcp-server-chart/build/index.js'),
        real('chrome', 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'),
    ]);
    const s = await place.open();
    const text = await s.list({ detail: 'full' }, { ms: 100000 });
    const globals = [...text.matchAll(/^declare const (\w+): \{/gm)].map(m => m[1]);
    assert.deepEqual(globals, ['chart', 'chrome', 'context7', 'everything', 'files', 'github', 'memory', 'notion', 'playwright', 'thinking']);
    assert.equal(await tsc(place, text), '');
    const right = `async function right() {
        const a = await files.read_text_file({ path: "x" }); const b = await memory.read_graph();
        const names: string[] = b.entities.map(e => e.name);
        await thinking.sequentialthinking({ thought: "t", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 });
        await playwright.browser_resize({ width: 1, height: 2 }); return [a, names];
    }`;
    assert.equal(await tsc(place, text, right), '');
    for (const wrong of ['files.read_text_file({ path: 7 });', 'files.read_text_file({});', 'memory.create_entities({ entities: [{ name: 1 }] });', 'files.no_such_tool({});',
        'memory.read_graph().then(g => g.entities.nothing);']) assert.match(await tsc(place, text, wrong), /error TS\d+/, wrong);
    const sizes = { files: 14, memory: 9, everything: 13, playwright: 25, thinking: 1 };
    for (const [name, n] of Object.entries(sizes)) {
        const methods = (await s.list({ servers: [name], detail: 'signatures' })).match(/\w+\(params\??: object\)|\w+\(\)/g) ?? [];
        assert.ok(methods.length >= n, `${name}: ${methods.length} of ${n}`);
    }
});

test('the compiler itself bites', async () => {
    const place = new Place();
    assert.match(await tsc(place, 'const x: number = "text";'), /error TS2322/);
    assert.equal(await tsc(place, 'declare const fetch: { x(): Promise<unknown>; };'), '');
    await place.close();
});
