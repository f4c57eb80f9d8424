// The rest of the prelude (MS-66): each case is a name and an expression that must be true.
const bytes = (...list) => new Uint8Array(list);
const throws = (type, fn) => {
    try {
        fn();
    } catch (e) {
        return typeof type === 'string' ? e.name === type : e instanceof type;
    }
    return false;
};
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const utf8 = text => [...new TextEncoder().encode(text)];
const decode = (list, options) => new TextDecoder('utf-8', options).decode(bytes(...list));

// ---- structuredClone ----
const loop = { name: 'loop', list: [] };
loop.self = loop;
loop.list.push(loop, loop.list);
const copy = structuredClone(loop);
const map = new Map([[loop, new Set([loop])]]);
map.set('me', map);
const mapCopy = structuredClone(map);
const shared = new ArrayBuffer(8);
const views = structuredClone({ a: new Uint8Array(shared, 2, 3), b: new Float64Array(shared), v: new DataView(shared, 1, 2) });
class Point { constructor() { this.x = 1; } get y() { return 2; } }
const holes = structuredClone([, 1, , 2]);
const failure = structuredClone(new RangeError('far', { cause: { deep: 1 } }));
const dateCopy = structuredClone(new Date(86400000));
const reCopy = structuredClone(/a+/giu);

const cases = {
    'clone: cycle': copy !== loop && copy.self === copy && copy.list[0] === copy && copy.list[1] === copy.list,
    'clone: prototypes are the script\'s': copy instanceof Object && copy.list instanceof Array,
    'clone: map and set with cycles': mapCopy instanceof Map && mapCopy.get('me') === mapCopy && [...mapCopy.keys()][0].self === [...mapCopy.keys()][0],
    'clone: set inside': [...mapCopy.values()][0] instanceof Set && [...mapCopy.values()][0].size === 1,
    'clone: date': dateCopy instanceof Date && dateCopy.getTime() === 86400000,
    'clone: invalid date': Number.isNaN(structuredClone(new Date(NaN)).getTime()),
    'clone: regexp': reCopy instanceof RegExp && reCopy.source === 'a+' && reCopy.flags === 'giu' && reCopy.lastIndex === 0,
    'clone: error': failure instanceof RangeError && failure.message === 'far' && failure.cause.deep === 1,
    'clone: unknown error name': structuredClone(Object.assign(new Error('m'), { name: 'Odd' })).name === 'Error',
    'clone: typed arrays share their buffer': views.a.buffer === views.b.buffer && views.a.byteOffset === 2 && views.a.length === 3,
    'clone: typed array class': views.a instanceof Uint8Array && views.b instanceof Float64Array && views.v instanceof DataView,
    'clone: buffer is a copy': views.a.buffer !== shared && views.a.buffer.byteLength === 8,
    'clone: instance becomes a plain object': same(structuredClone(new Point()), { x: 1 }) && Object.getPrototypeOf(structuredClone(new Point())) === Object.prototype,
    'clone: holes': holes.length === 4 && !(0 in holes) && holes[3] === 2,
    'clone: boxed': structuredClone(Object('s')) instanceof String && structuredClone(Object(1n)) == 1n,
    'clone: primitives': structuredClone(undefined) === undefined && structuredClone(null) === null && structuredClone(1n) === 1n && Object.is(structuredClone(-0), -0),
    'clone: __proto__ key': Object.hasOwn(structuredClone(JSON.parse('{"__proto__":1}')), '__proto__'),
    'clone: function': throws('DataCloneError', () => structuredClone({ f() {} })),
    'clone: symbol': throws('DataCloneError', () => structuredClone(Symbol('x'))),
    'clone: promise': throws('DataCloneError', () => structuredClone(Promise.resolve())),
    'clone: weak map': throws('DataCloneError', () => structuredClone(new WeakMap())),
    'clone: proxy': throws('DataCloneError', () => structuredClone(new Proxy({}, {}))),
    'clone: server': throws('DataCloneError', () => structuredClone(srv)),
    'clone: faked class tag': same(structuredClone({ [Symbol.toStringTag]: 'Map', a: 1 }), { a: 1 }),
    'clone: no argument': throws(TypeError, () => structuredClone()),
    'clone: transfer is refused': throws('DataCloneError', () => structuredClone(1, { transfer: [] })),
    'clone: getter runs once': (() => { let n = 0; structuredClone({ get a() { return ++n; } }); return n === 1; })(),

    // ---- TextEncoder, TextDecoder ----
    'encode': same(utf8('aé€😀'), [97, 195, 169, 226, 130, 172, 240, 159, 152, 128]),
    'encode: lone surrogates': same(utf8('\ud800x\udc00'), [239, 191, 189, 120, 239, 191, 189]),
    'encode: default': utf8().length === 0 && new TextEncoder().encoding === 'utf-8',
    'encode: class': new TextEncoder().encode('x') instanceof Uint8Array,
    'encodeInto: whole characters only': (() => { const b = new Uint8Array(5); const r = new TextEncoder().encodeInto('a€€', b); return r.read === 2 && r.written === 4 && b[3] === 172 && b[4] === 0; })(),
    'decode': decode([97, 195, 169, 226, 130, 172, 240, 159, 152, 128]) === 'aé€😀',
    'decode: BOM dropped': decode([239, 187, 191, 97]) === 'a',
    'decode: BOM kept': decode([239, 187, 191, 97], { ignoreBOM: true }) === '\ufeffa',
    'decode: only one BOM': decode([239, 187, 191, 239, 187, 191]) === '\ufeff',
    'decode: maximal subparts': decode([0xf0, 0x9f, 0x98, 0x41]) === '\ufffdA' && decode([0xe2, 0x82]) === '\ufffd',
    'decode: overlong': decode([0xc0, 0x80]) === '\ufffd\ufffd' && decode([0xe0, 0x80, 0x80]) === '\ufffd\ufffd\ufffd',
    'decode: surrogate': decode([0xed, 0xa0, 0x80]) === '\ufffd\ufffd\ufffd',
    'decode: beyond Unicode': decode([0xf4, 0x90, 0x80, 0x80]) === '\ufffd\ufffd\ufffd\ufffd',
    'decode: fatal': throws(TypeError, () => decode([0xff], { fatal: true })) && decode([97], { fatal: true }) === 'a',
    'decode: options shown': new TextDecoder('utf8', { fatal: 1, ignoreBOM: 1 }).fatal === true && new TextDecoder().ignoreBOM === false,
    'decode: labels': new TextDecoder(' UTF8 ').encoding === 'utf-8' && throws(RangeError, () => new TextDecoder('latin1')),
    'decode: sources': new TextDecoder().decode() === '' && new TextDecoder().decode(bytes(97, 98).buffer) === 'ab' && new TextDecoder().decode(new DataView(bytes(97, 98).buffer, 1)) === 'b' && new TextDecoder().decode(bytes(97, 98, 99).subarray(1, 2)) === 'b' && new TextDecoder().decode(new Uint16Array([0x6261])) === 'ab',
    'decode: wrong source': throws(TypeError, () => new TextDecoder().decode('text')),
    'decode: streaming is refused': throws(TypeError, () => new TextDecoder().decode(bytes(1), { stream: true })),

    // ---- atob, btoa ----
    'btoa': btoa('') === '' && btoa('a') === 'YQ==' && btoa('ab') === 'YWI=' && btoa('abc') === 'YWJj' && btoa('\xff\x00\x80') === '/wCA',
    'btoa: too large': throws('InvalidCharacterError', () => btoa('€')),
    'btoa: converts': btoa(12) === 'MTI=' && btoa(null) === 'bnVsbA==',
    'atob': atob('YWJj') === 'abc' && atob('YQ==') === 'a' && atob('YQ') === 'a' && atob(' Y W\n\tI= ') === 'ab' && atob('/wCA') === '\xff\x00\x80' && atob('') === '',
    'atob: refused': ['Y', 'YQ=', 'YQ===', 'Y=Q=', '=', 'YQ==YQ==', 'Y-_=', 'YWJ\u0100', '====', 'YWJj='].every(t => throws('InvalidCharacterError', () => atob(t))),
    'atob: spare bits': atob('YR==') === 'a',
    'atob of btoa': Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).every((c, i, all) => { const t = all.slice(0, i + 1).join(''); return atob(btoa(t)) === t; }),

    // ---- URLSearchParams ----
    'params: parse': same([...new URLSearchParams('?a=1&b=%C3%A9+x&&c&=d&a=%zz')], [['a', '1'], ['b', 'é x'], ['c', ''], ['', 'd'], ['a', '%zz']]),
    'params: print': new URLSearchParams({ 'a b': 'é&=+', "*-._~'": '' }).toString() === 'a+b=%C3%A9%26%3D%2B&*-._%7E%27=',
    'params: from pairs': new URLSearchParams([['a', 1], ['a', 2]]).getAll('a').join() === '1,2' && throws(TypeError, () => new URLSearchParams([['a']])),
    'params: from params': String(new URLSearchParams(new URLSearchParams('a=1&b=2'))) === 'a=1&b=2',
    'params: get': new URLSearchParams('a=1&a=2').get('a') === '1' && new URLSearchParams('').get('a') === null,
    'params: has': new URLSearchParams('a=1').has('a') && !new URLSearchParams('a=1').has('a', '2') && new URLSearchParams('a=1').has('a', '1'),
    'params: set': (() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', 9); p.set('c', 0); return String(p) === 'a=9&b=2&c=0'; })(),
    'params: delete': (() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.delete('a', '1'); const one = String(p); p.delete('a'); return one === 'b=2&a=3' && String(p) === 'b=2' && p.size === 1; })(),
    'params: sort is stable by code unit': (() => { const p = new URLSearchParams('z=1&a=2&z=0&\ufb01=3&😀=4'); p.sort(); return [...p.values()].join('') === '21043'; })(),
    'params: iterate': (() => { const p = new URLSearchParams('a=1&b=2'), seen = []; p.forEach((v, k, all) => seen.push(k + v + (all === p))); return seen.join() === 'a1true,b2true' && [...p.keys()].join('') === 'ab' && Object.fromEntries(p).b === '2'; })(),
    'params: lone surrogate': String(new URLSearchParams([['\ud800', 'x']])) === '%EF%BF%BD=x',
    'params: bound to the url': (() => { const u = new URL('http://h/?a=1#f'); u.searchParams.append('b', 'x y'); const one = u.href; u.search = '?c=3'; const two = u.searchParams.get('c'); u.searchParams.delete('c'); return one === 'http://h/?a=1&b=x+y#f' && two === '3' && u.href === 'http://h/#f'; })(),
    'url: json and text': same({ u: new URL('http://h') }, { u: 'http://h/' }) && `${new URL('http://h')}` === 'http://h/',
    'url: same params object': (() => { const u = new URL('http://h'); return u.searchParams === u.searchParams; })(),
    'url: static parse': URL.parse('x:y').href === 'x:y' && URL.parse('nope') === null,
    'url: href setter throws': throws(TypeError, () => { new URL('http://h').href = 'nope'; }),
    'url: needs new': throws(TypeError, () => URL('http://h')),

    // ---- globals stay what they are ----
    'lazy globals become plain properties': Object.getOwnPropertyDescriptor(globalThis, 'URL').value === URL,
    'a global can be replaced': (() => { globalThis.TextEncoder = 7; const ok = TextEncoder === 7; return ok; })(),
};
const failed = Object.entries(cases).filter(([, ok]) => ok !== true).map(([name]) => name);
failed
