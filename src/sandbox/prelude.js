// The larger globals of a script (MS-66): structuredClone, TextEncoder, TextDecoder, URL, URLSearchParams.
//
// This text runs in a realm of its own, made when a script first touches one of the five. The realm's intrinsics are
// therefore as the language made them, whatever the script has done to its own; what is handed out (arrays, errors, copies)
// is made by `main`, the script's constructors as they were before it ran.
(function (main, host) {
'use strict';

// ---- structuredClone ----

// Internal class numbers are those of the engine, the same in every realm, and nothing a script can fake.
const kinds = new Map();
const learn = (kind, sample) => kinds.set(host.classId(sample), kind);
const boxes = { Boolean, Number, String, BigInt };
const typedArrayNames = Object.keys(main).filter(name => /Array$/.test(name) && name !== 'Array');

learn('Object', {});
learn('Array', []);
for (const [name, sample] of Object.entries({ Boolean: true, Number: 1, String: '', BigInt: 1n }))
    learn(name, Object(sample));
learn('Date', new Date(0));
learn('RegExp', /x/);
learn('Map', new Map());
learn('Set', new Set());
learn('Error', new Error());
learn('ArrayBuffer', new ArrayBuffer(0));
learn('DataView', new DataView(new ArrayBuffer(0)));
for (const name of typedArrayNames)
    learn(name, new main[name](0));

const typedArrayProto = Object.getPrototypeOf(Uint8Array.prototype);
const getter = (proto, name) => {
    const get = Object.getOwnPropertyDescriptor(proto, name).get;
    return object => Reflect.apply(get, object, []);
};
const taBuffer = getter(typedArrayProto, 'buffer');
const taOffset = getter(typedArrayProto, 'byteOffset');
const taBytes = getter(typedArrayProto, 'byteLength');
const taLength = getter(typedArrayProto, 'length');
const dvBuffer = getter(DataView.prototype, 'buffer');
const dvOffset = getter(DataView.prototype, 'byteOffset');
const dvBytes = getter(DataView.prototype, 'byteLength');
const abBytes = getter(ArrayBuffer.prototype, 'byteLength');
const reSource = getter(RegExp.prototype, 'source');
const reFlags = getter(RegExp.prototype, 'flags');
const errorNames = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];

// What the engine itself throws in here is an instance of the script's class all the same.
for (const ctor of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])
    Object.setPrototypeOf(ctor.prototype, main[ctor.name].prototype);

const namedError = (name, message) => {
    const error = new main.Error(message);
    Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true });
    return error;
};
const refuse = what => namedError('DataCloneError', `${what} could not be cloned`);
const define = (object, key, value) =>
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });

const cloneBuffer = buffer => {
    const copy = new main.ArrayBuffer(abBytes(buffer));
    Reflect.apply(typedArrayProto.set, new Uint8Array(copy), [new Uint8Array(buffer)]);
    return copy;
};

const cloneError = (error, seen) => {
    const name = String(error.name);
    const copy = new main[errorNames.includes(name) ? name : 'Error']();
    seen.set(error, copy);
    for (const key of ['message', 'stack', 'cause']) {
        const own = Object.getOwnPropertyDescriptor(error, key);
        if (own && 'value' in own)
            Object.defineProperty(copy, key, { value: clone(own.value, seen), writable: true, configurable: true });
    }
    return copy;
};

const cloneMembers = (from, to, seen) => {
    seen.set(from, to);
    for (const key of Object.keys(from))
        define(to, key, clone(from[key], seen));
    return to;
};

const cloneMap = (map, seen) => {
    const copy = new main.Map(), entries = [];
    seen.set(map, copy);
    Reflect.apply(Map.prototype.forEach, map, [(value, key) => entries.push([key, value])]);
    for (const [key, value] of entries)
        Reflect.apply(Map.prototype.set, copy, [clone(key, seen), clone(value, seen)]);
    return copy;
};

const cloneSet = (set, seen) => {
    const copy = new main.Set(), values = [];
    seen.set(set, copy);
    Reflect.apply(Set.prototype.forEach, set, [value => values.push(value)]);
    for (const value of values)
        Reflect.apply(Set.prototype.add, copy, [clone(value, seen)]);
    return copy;
};

const cloneObject = (value, seen) => {
    const kind = kinds.get(host.classId(value));
    switch (kind) {
    case 'Object': return cloneMembers(value, new main.Object(), seen);
    case 'Array': {
        const copy = new main.Array();
        copy.length = value.length;
        return cloneMembers(value, copy, seen);
    }
    case 'Boolean':
    case 'Number':
    case 'String':
    case 'BigInt': return new main.Object(Reflect.apply(boxes[kind].prototype.valueOf, value, []));
    case 'Date': return new main.Date(Reflect.apply(Date.prototype.getTime, value, []));
    case 'RegExp': return new main.RegExp(reSource(value), reFlags(value));
    case 'Map': return cloneMap(value, seen);
    case 'Set': return cloneSet(value, seen);
    case 'Error': return cloneError(value, seen);
    case 'ArrayBuffer': return cloneBuffer(value);
    case 'DataView': return new main.DataView(clone(dvBuffer(value), seen), dvOffset(value), dvBytes(value));
    case undefined: throw refuse('object of this kind');
    default: return new main[kind](clone(taBuffer(value), seen), taOffset(value), taLength(value));
    }
};

function clone(value, seen) {
    if (typeof value === 'symbol' || typeof value === 'function')
        throw refuse(typeof value);
    if (typeof value !== 'object' || value === null)
        return value;
    if (seen.has(value))
        return seen.get(value);
    const copy = cloneObject(value, seen);
    seen.set(value, copy);
    return copy;
}

function structuredClone(value, options) {
    if (arguments.length === 0)
        throw new main.TypeError('structuredClone: one argument is needed');
    if (options !== undefined && options !== null && options.transfer !== undefined)
        throw refuse('a transfer list');
    return clone(value, new Map());
}

// ---- text ----

class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new main.Uint8Array(host.utf8Encode(`${text}`)); }
    encodeInto(text, into) {
        if (kinds.get(host.classId(into)) !== 'Uint8Array')
            throw new main.TypeError('encodeInto: the second argument must be a Uint8Array');
        const target = new Uint8Array(taBuffer(into), taOffset(into), taLength(into));
        let read = 0, written = 0;
        for (const character of `${text}`) {
            const bytes = new Uint8Array(host.utf8Encode(character));
            if (written + bytes.length > target.length)
                break;
            target.set(bytes, written);
            written += bytes.length;
            read += character.length;
        }
        const result = new main.Object();
        define(result, 'read', read);
        define(result, 'written', written);
        return result;
    }
}

// [buffer, offset, length] of anything that holds bytes.
const bytesOf = source => {
    const kind = kinds.get(host.classId(source));
    if (kind === 'ArrayBuffer')
        return [source, 0, abBytes(source)];
    if (kind === 'DataView')
        return [dvBuffer(source), dvOffset(source), dvBytes(source)];
    if (typedArrayNames.includes(kind))
        return [taBuffer(source), taOffset(source), taBytes(source)];
    throw new main.TypeError('decode: expected an ArrayBuffer or a view of one');
};

const utf8Labels = ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'];

class TextDecoder {
    #fatal; #ignoreBOM;
    constructor(label = 'utf-8', options = undefined) {
        if (!utf8Labels.includes(`${label}`.trim().toLowerCase()))
            throw new main.RangeError(`TextDecoder: encoding '${label}' is not supported, only utf-8 is`);
        this.#fatal = Boolean(options?.fatal);
        this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(source = undefined, options = undefined) {
        if (options?.stream)
            throw new main.TypeError('decode: streaming is not supported, decode the whole at once');
        if (source === undefined)
            return '';
        const text = host.utf8Decode(...bytesOf(source), this.#fatal);
        if (text === undefined)
            throw new main.TypeError('decode: the data is not valid UTF-8');
        return !this.#ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
    }
}

// ---- percent encoding ----

const setOf = (characters, base = new Set()) => new Set([...base, ...characters]);
const controlSet = setOf('');                            // control and non-ASCII characters are in every set
const fragmentSet = setOf(' "<>`');
const querySet = setOf(' "#<>');
const specialQuerySet = setOf("'", querySet);
const pathSet = setOf('?^`{}', querySet);
const userinfoSet = setOf('/:;=@[\\]|', pathSet);

const encodeBytes = text => {
    let out = '';
    for (const byte of new Uint8Array(host.utf8Encode(text)))
        out += '%' + byte.toString(16).toUpperCase().padStart(2, '0');
    return out;
};

const percentEncode = (text, set) => {
    if (/^[A-Za-z0-9_.~-]*$/.test(text))
        return text;
    let out = '';
    for (const c of text)
        out += c < ' ' || c > '~' || set.has(c) ? encodeBytes(c) : c;
    return out;
};

const percentDecode = text => {
    if (!text.includes('%'))
        return text;
    const bytes = new Uint8Array(host.utf8Encode(text)), out = new Uint8Array(bytes.length);
    let n = 0;
    for (let i = 0; i < bytes.length; i++) {
        const hex = bytes[i] === 0x25 ? String.fromCharCode(bytes[i + 1] || 0, bytes[i + 2] || 0) : '';
        if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
            out[n++] = parseInt(hex, 16);
            i += 2;
        } else {
            out[n++] = bytes[i];
        }
    }
    return host.utf8Decode(out.buffer, 0, n, false);
};

// ---- hosts ----

// Each parser of a URL's part gives null when there is no valid reading.

const parseIpv4Number = text => {
    if (/^0[xX][0-9A-Fa-f]*$/.test(text))
        return text.length === 2 ? 0 : parseInt(text.slice(2), 16);
    if (/^0[0-7]+$/.test(text))
        return parseInt(text, 8);
    return /^(0|[1-9][0-9]*)$/.test(text) ? parseInt(text, 10) : NaN;
};

const endsInNumber = parts => {
    const last = parts.at(-1) === '' && parts.length > 1 ? parts.at(-2) : parts.at(-1);
    return /^[0-9]+$/.test(last) || /^0[xX][0-9A-Fa-f]*$/.test(last);
};

const parseIpv4 = parts => {
    if (parts.at(-1) === '' && parts.length > 1)
        parts = parts.slice(0, -1);
    const numbers = parts.map(parseIpv4Number), last = numbers.pop();
    if (parts.length > 4 || numbers.some(n => !(n <= 255)) || !(last < 256 ** (4 - numbers.length)))
        return null;
    const value = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
    return [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.');
};

const ipv6Pieces = text => {
    if (text === '')
        return [];
    const groups = text.split(':'), pieces = [];
    for (const [i, group] of groups.entries()) {
        if (i === groups.length - 1 && group.includes('.')) {
            const v4 = group.split('.');
            if (v4.length !== 4 || v4.some(n => !/^(0|[1-9][0-9]{0,2})$/.test(n) || n > 255))
                return null;
            pieces.push(v4[0] * 256 + +v4[1], v4[2] * 256 + +v4[3]);
        } else if (/^[0-9A-Fa-f]{1,4}$/.test(group)) {
            pieces.push(parseInt(group, 16));
        } else {
            return null;
        }
    }
    return pieces;
};

const longestZeros = pieces => {
    let best = { at: -1, n: 1 };
    for (let i = 0; i < 8; i++) {
        let n = 0;
        while (i + n < 8 && pieces[i + n] === 0)
            n++;
        if (n > best.n)
            best = { at: i, n };
    }
    return best;
};

const parseIpv6 = text => {
    const halves = text.split('::');
    if (halves.length > 2)
        return null;
    const [head, tail = null] = halves.map(ipv6Pieces);
    if (head === null || (halves.length === 2 && tail === null) || (tail && halves[0].includes('.')))
        return null;
    const missing = 8 - head.length - (tail ? tail.length : 0);
    if (tail ? missing < 1 : missing !== 0)
        return null;
    const pieces = tail ? [...head, ...Array(missing).fill(0), ...tail] : head;
    const zeros = longestZeros(pieces), hex = list => list.map(n => n.toString(16)).join(':');
    return zeros.at < 0 ? `[${hex(pieces)}]`
        : `[${hex(pieces.slice(0, zeros.at))}::${hex(pieces.slice(zeros.at + zeros.n))}]`;
};

const parseHost = (text, special) => {
    if (text.startsWith('['))
        return text.endsWith(']') ? parseIpv6(text.slice(1, -1)) : null;
    if (!special)
        return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? null : percentEncode(text, controlSet);
    const domain = percentDecode(text).toLowerCase();
    if (domain === '' || /[\0-\x20#%/:<>?@[\\\]^|\x7f]/.test(domain))
        return null;
    const parts = domain.split('.');
    return endsInNumber(parts) ? parseIpv4(parts) : domain;
};

// ---- URL records ----

const defaultPorts = { http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: null };
const isSpecial = url => Object.hasOwn(defaultPorts, url.scheme);
const isDriveLetter = text => /^[A-Za-z][:|]$/.test(text);
const startsWithDriveLetter = text => /^[A-Za-z][:|]([/\\?#]|$)/.test(text);
const isDot = segment => /^(\.|%2e)$/i.test(segment);
const isDoubleDot = segment => /^(\.|%2e){2}$/i.test(segment);

const shorten = url => {
    if (!(url.scheme === 'file' && url.path.length === 1 && /^[A-Za-z]:$/.test(url.path[0])))
        url.path.pop();
};

// Appends the segments of `text`, which begins behind a slash, to url.path.
const parsePath = (url, text) => {
    const segments = text.split(isSpecial(url) ? /[/\\]/ : '/');
    for (const [i, segment] of segments.entries()) {
        const last = i === segments.length - 1;
        if (isDoubleDot(segment)) {
            shorten(url);
            if (last)
                url.path.push('');
        } else if (isDot(segment)) {
            if (last)
                url.path.push('');
        } else if (url.scheme === 'file' && url.path.length === 0 && isDriveLetter(segment)) {
            url.path.push(segment[0] + ':');
        } else {
            url.path.push(percentEncode(segment, pathSet));
        }
    }
};

const parsePort = (url, text) => {
    if (text === '') {
        url.port = null;
        return true;
    }
    if (!/^[0-9]+$/.test(text) || +text > 65535)
        return false;
    url.port = +text === defaultPorts[url.scheme] ? null : +text;
    return true;
};

// host[:port]; a colon inside brackets belongs to the address.
const parseHostAndPort = (url, text) => {
    const colon = text.indexOf(':', text.lastIndexOf(']') + 1);
    const name = colon < 0 ? text : text.slice(0, colon);
    if (name === '' && (isSpecial(url) || colon >= 0))
        return false;
    url.host = name === '' ? '' : parseHost(name, isSpecial(url));
    return url.host !== null && (colon < 0 || parsePort(url, text.slice(colon + 1)));
};

const parseAuthority = (url, text) => {
    const end = text.search(isSpecial(url) ? /[/\\]/ : /\//), path = end < 0 ? '' : text.slice(end + 1);
    let authority = end < 0 ? text : text.slice(0, end);
    const at = authority.lastIndexOf('@');
    if (at >= 0) {
        const credentials = authority.slice(0, at), colon = credentials.indexOf(':');
        url.username = percentEncode(colon < 0 ? credentials : credentials.slice(0, colon), userinfoSet);
        url.password = colon < 0 ? '' : percentEncode(credentials.slice(colon + 1), userinfoSet);
        authority = authority.slice(at + 1);
        if (authority === '')
            return null;
    }
    if (!parseHostAndPort(url, authority))
        return null;
    url.path = [];
    if (end >= 0 || isSpecial(url))
        parsePath(url, path);
    return url;
};

const copyHost = (url, base) => {
    url.username = base.username;
    url.password = base.password;
    url.host = base.host;
    url.port = base.port;
};

const parseRelative = (url, text, base) => {
    const slash = isSpecial(url) ? /^[/\\]/ : /^\//;
    if (slash.test(text) && slash.test(text.slice(1)))
        return parseAuthority(url, isSpecial(url) ? text.replace(/^[/\\]+/, '') : text.slice(2));
    copyHost(url, base);
    if (slash.test(text)) {
        url.path = [];
        parsePath(url, text.slice(1));
        return url;
    }
    url.path = [...base.path];
    if (text === '') {
        url.query ??= base.query;
    } else {
        shorten(url);
        parsePath(url, text);
    }
    return url;
};

const parseFileHost = (url, text) => {
    const end = text.search(/[/\\]/), name = end < 0 ? text : text.slice(0, end);
    url.path = [];
    if (isDriveLetter(name)) {
        parsePath(url, text);
        return url;
    }
    url.host = name === '' ? '' : parseHost(name, true);
    if (url.host === null)
        return null;
    if (url.host === 'localhost')
        url.host = '';
    parsePath(url, end < 0 ? '' : text.slice(end + 1));
    return url;
};

const parseFile = (url, text, base) => {
    const from = base && base.scheme === 'file' ? base : null;
    url.host = '';
    if (/^[/\\]{2}/.test(text))
        return parseFileHost(url, text.slice(2));
    if (/^[/\\]/.test(text)) {
        url.path = [];
        if (from) {
            url.host = from.host;
            if (!startsWithDriveLetter(text.slice(1)) && from.path.length && /^[A-Za-z]:$/.test(from.path[0]))
                url.path.push(from.path[0]);
        }
        parsePath(url, text.slice(1));
        return url;
    }
    if (from && !startsWithDriveLetter(text))
        return parseRelative(url, text, from);
    if (from)
        url.host = from.host;
    url.path = [];
    parsePath(url, text);
    return url;
};

const parseWithScheme = (url, text, base) => {
    if (url.scheme === 'file')
        return parseFile(url, text, base);
    if (isSpecial(url)) {
        if (base && base.scheme === url.scheme && !text.startsWith('//'))
            return parseRelative(url, text, base);
        return parseAuthority(url, text.replace(/^[/\\]+/, ''));
    }
    if (text.startsWith('//'))
        return parseAuthority(url, text.slice(2));
    url.path = [];
    if (text.startsWith('/'))
        parsePath(url, text.slice(1));
    else
        url.path = percentEncode(text, controlSet);      // opaque
    return url;
};

const parseWithoutScheme = (url, text, base) => {
    if (!base)
        return null;
    url.scheme = base.scheme;
    if (typeof base.path === 'string') {
        if (text !== '' || url.query !== null || url.fragment === null)
            return null;
        url.path = base.path;
        url.query = base.query;
        return url;
    }
    return base.scheme === 'file' ? parseFile(url, text, base) : parseRelative(url, text, base);
};

const cutAt = (text, mark) => {
    const at = text.indexOf(mark);
    return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
};

const encodeQuery = (url, text) => percentEncode(text, isSpecial(url) ? specialQuerySet : querySet);

const parseUrl = (input, base) => {
    let text = input.toWellFormed().replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const url = { scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
    let fragment, query;
    [text, fragment] = cutAt(text, '#');
    [text, query] = cutAt(text, '?');
    const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text);
    url.scheme = scheme ? scheme[1].toLowerCase() : base ? base.scheme : '';
    if (query !== null)
        url.query = encodeQuery(url, query);
    if (fragment !== null)
        url.fragment = percentEncode(fragment, fragmentSet);
    return scheme ? parseWithScheme(url, text.slice(scheme[0].length), base) : parseWithoutScheme(url, text, base);
};

const hostText = url => (url.host ?? '') + (url.port === null ? '' : ':' + url.port);
const pathText = url => typeof url.path === 'string' ? url.path : url.path.map(segment => '/' + segment).join('');

const urlText = (url, withFragment = true) => {
    let out = url.scheme + ':';
    if (url.host !== null) {
        out += '//';
        if (url.username !== '' || url.password !== '')
            out += url.username + (url.password === '' ? '' : ':' + url.password) + '@';
        out += hostText(url);
    } else if (Array.isArray(url.path) && url.path.length > 1 && url.path[0] === '') {
        out += '/.';
    }
    out += pathText(url);
    if (url.query !== null)
        out += '?' + url.query;
    return withFragment && url.fragment !== null ? out + '#' + url.fragment : out;
};

// ---- URLSearchParams ----

const formSafe = /^[A-Za-z0-9*._-]$/;
const formEncode = text => {
    let out = '';
    for (const c of text)
        out += c === ' ' ? '+' : formSafe.test(c) ? c : encodeBytes(c);
    return out;
};
const formDecode = text => percentDecode(text.replaceAll('+', ' '));
const parseForm = text => text.split('&').filter(piece => piece !== '').map(piece => {
    const [name, value] = cutAt(piece, '=');
    return [formDecode(name), formDecode(value ?? '')];
});
const usv = value => `${value}`.toWellFormed();
const arrayOf = items => {
    const array = new main.Array();
    items.forEach((item, i) => define(array, i, item));
    return array;
};

const pairsOf = init => {
    if (typeof init[Symbol.iterator] !== 'function')
        return Object.keys(init).map(key => [usv(key), usv(init[key])]);
    const pairs = [];
    for (const pair of init) {
        const items = [...pair];
        if (items.length !== 2)
            throw new main.TypeError('URLSearchParams: each pair must be [name, value]');
        pairs.push(items.map(usv));
    }
    return pairs;
};

let bindParams;                                          // (params, told of changes, text)

class URLSearchParams {
    #pairs = [];
    #told = null;
    constructor(init = '') {
        if (typeof init === 'object' && init !== null)
            this.#pairs = pairsOf(init);
        else if (init !== undefined)
            this.#pairs = parseForm(usv(init).replace(/^\?/, ''));
    }
    static {
        bindParams = (params, told, text) => {
            params.#told = told;
            params.#pairs = parseForm(text);
        };
    }
    #changed() { this.#told?.(this.toString()); }
    get size() { return this.#pairs.length; }
    append(name, value) {
        this.#pairs.push([usv(name), usv(value)]);
        this.#changed();
    }
    delete(name, value = undefined) {
        name = usv(name);
        this.#pairs = this.#pairs.filter(p => p[0] !== name || (value !== undefined && p[1] !== usv(value)));
        this.#changed();
    }
    get(name) {
        name = usv(name);
        return this.#pairs.find(p => p[0] === name)?.[1] ?? null;
    }
    getAll(name) {
        name = usv(name);
        return arrayOf(this.#pairs.filter(p => p[0] === name).map(p => p[1]));
    }
    has(name, value = undefined) {
        name = usv(name);
        return this.#pairs.some(p => p[0] === name && (value === undefined || p[1] === usv(value)));
    }
    set(name, value) {
        name = usv(name);
        const at = this.#pairs.findIndex(p => p[0] === name), pair = [name, usv(value)];
        if (at < 0)
            this.#pairs.push(pair);
        else
            this.#pairs = this.#pairs.filter((p, i) => i <= at || p[0] !== name).with(at, pair);
        this.#changed();
    }
    sort() {
        this.#pairs.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
        this.#changed();
    }
    forEach(fn, self = undefined) {
        for (let i = 0; i < this.#pairs.length; i++)
            Reflect.apply(fn, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
    }
    *entries() {
        for (let i = 0; i < this.#pairs.length; i++)
            yield arrayOf(this.#pairs[i]);
    }
    *keys() {
        for (let i = 0; i < this.#pairs.length; i++)
            yield this.#pairs[i][0];
    }
    *values() {
        for (let i = 0; i < this.#pairs.length; i++)
            yield this.#pairs[i][1];
    }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
    toString() { return this.#pairs.map(p => `${formEncode(p[0])}=${formEncode(p[1])}`).join('&'); }
}

// ---- URL ----

const invalid = text => new main.TypeError(`Invalid URL: '${text}'`);
const parseWithBase = (input, base) => {
    const from = base === undefined ? null : parseUrl(`${base}`, null);
    return base !== undefined && from === null ? null : parseUrl(`${input}`, from);
};

// For the setters: a colon outside brackets begins a port, which `hostname` refuses; an empty port changes none.
const changeHost = (url, text, withPort) => {
    const name = text.split(isSpecial(url) ? /[/\\?#]/ : /[/?#]/)[0];
    const colon = name.indexOf(':', name.lastIndexOf(']') + 1);
    if (url.scheme === 'file') {
        url.host = name === '' || name === 'localhost' ? '' : parseHost(name, true);
        return url.host !== null;
    }
    if (colon >= 0 && !withPort)
        return false;
    return parseHostAndPort(url, colon > 0 && colon === name.length - 1 ? name.slice(0, -1) : name);
};

class URL {
    #url;
    #params = null;
    constructor(input, base = undefined) {
        this.#url = parseWithBase(input, base);
        if (this.#url === null)
            throw invalid(input);
    }
    static canParse(input, base = undefined) { return parseWithBase(input, base) !== null; }
    static parse(input, base = undefined) { return URL.canParse(input, base) ? new URL(input, base) : null; }
    #hasOpaquePath() { return typeof this.#url.path === 'string'; }
    #canHaveCredentials() { return this.#url.host && this.#url.scheme !== 'file'; }
    #refreshParams() {
        if (this.#params)
            bindParams(this.#params, this.#setQuery, this.#url.query ?? '');
    }
    #setQuery = text => { this.#url.query = text === '' ? null : text; };
    // Tries the change on a copy, so that a refused one leaves nothing behind.
    #attempt(change) {
        const copy = { ...this.#url };
        if (change(copy))
            this.#url = copy;
    }
    get href() { return urlText(this.#url); }
    set href(text) {
        const url = parseUrl(`${text}`, null);
        if (url === null)
            throw invalid(text);
        this.#url = url;
        this.#refreshParams();
    }
    get origin() {
        const url = this.#url.scheme === 'blob' ? parseUrl(pathText(this.#url), null) ?? this.#url : this.#url;
        const hasOwn = url === this.#url ? isSpecial(url) && url.scheme !== 'file' : /^https?$/.test(url.scheme);
        return hasOwn ? `${url.scheme}://${hostText(url)}` : 'null';
    }
    get protocol() { return this.#url.scheme + ':'; }
    set protocol(text) {
        const scheme = /^([A-Za-z][A-Za-z0-9+.-]*)(:|$)/.exec(`${text}`)?.[1].toLowerCase(), url = this.#url;
        if (!scheme || isSpecial({ scheme }) !== isSpecial(url) || (url.scheme === 'file' && !url.host) ||
            (scheme === 'file' && (url.username || url.password || url.port !== null)))
            return;
        url.scheme = scheme;
        if (url.port === defaultPorts[scheme])
            url.port = null;
    }
    get username() { return this.#url.username; }
    set username(text) {
        if (this.#canHaveCredentials())
            this.#url.username = percentEncode(usv(text), userinfoSet);
    }
    get password() { return this.#url.password; }
    set password(text) {
        if (this.#canHaveCredentials())
            this.#url.password = percentEncode(usv(text), userinfoSet);
    }
    get host() { return hostText(this.#url); }
    set host(text) {
        if (!this.#hasOpaquePath())
            this.#attempt(url => changeHost(url, usv(text), true));
    }
    get hostname() { return this.#url.host ?? ''; }
    set hostname(text) {
        if (!this.#hasOpaquePath())
            this.#attempt(url => changeHost(url, usv(text), false));
    }
    get port() { return this.#url.port === null ? '' : `${this.#url.port}`; }
    set port(text) {
        const digits = /^[0-9]*/.exec(usv(text).replace(/[\t\n\r]/g, ''))[0];
        if (this.#canHaveCredentials() && (digits !== '' || `${text}` === ''))
            this.#attempt(url => parsePort(url, digits));
    }
    get pathname() { return pathText(this.#url); }
    set pathname(text) {
        if (this.#hasOpaquePath())
            return;
        this.#url.path = [];
        const path = usv(text).replace(/[\t\n\r]/g, '').replace(/\?/g, '%3F').replace(/#/g, '%23');
        if (path === '' && !isSpecial(this.#url))
            return;
        parsePath(this.#url, path.replace(isSpecial(this.#url) ? /^[/\\]/ : /^\//, ''));
    }
    get search() { return this.#url.query ? '?' + this.#url.query : ''; }
    set search(text) {
        const query = usv(text).replace(/[\t\n\r]/g, '').replace(/^\?/, '');
        this.#url.query = `${text}` === '' ? null : encodeQuery(this.#url, query);
        this.#refreshParams();
    }
    get searchParams() {
        if (!this.#params) {
            this.#params = new URLSearchParams();
            this.#refreshParams();
        }
        return this.#params;
    }
    get hash() { return this.#url.fragment ? '#' + this.#url.fragment : ''; }
    set hash(text) {
        const fragment = usv(text).replace(/[\t\n\r]/g, '').replace(/^#/, '');
        this.#url.fragment = `${text}` === '' ? null : percentEncode(fragment, fragmentSet);
    }
    get [Symbol.toStringTag]() { return 'URL'; }
    toString() { return this.href; }
    toJSON() { return this.href; }
}

return { structuredClone, TextEncoder, TextDecoder, URL, URLSearchParams };
})
