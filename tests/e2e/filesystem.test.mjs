// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The filesystem server over its protocol: what its tools say of themselves, what they do with files that are not what they seem,
// walks beside other calls, a client's roots, and the same calls to the server of npm. Each tool by itself: tests/unit/servers/fs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { MODERN, bin, node, npm, peakOf, root, sanitized, scenario, slack, sleep, timed, until } from './harness.mjs';
import { connect } from './sdk.mjs';

// The one that the server of npm uses.
const { minimatch } = createRequire(npm('@modelcontextprotocol/server-filesystem/dist/index.js'))('minimatch');
const TODOS = fs.readFileSync(path.join(root, 'examples/todos.js'), 'utf8');

/** `symposium filesystem <place>/in`, beside a directory that is nobody's. */
async function open(place, opts) {
    for (const d of ['in', 'out']) fs.mkdirSync(place.path(d), { recursive: true });
    return place.serve('filesystem', [place.path('in')], opts);
}

// --- FS-1 -----------------------------------------------------------------------------------------------------------------
const HINTS = { // read-only; else [idempotent, destructive]
    read_file: ['Read File (Deprecated)'], read_text_file: ['Read Text File'], read_media_file: ['Read Media File'],
    read_multiple_files: ['Read Multiple Files'], list_directory: ['List Directory'], list_directory_with_sizes: ['List Directory with Sizes'],
    directory_tree: ['Directory Tree'], search_files: ['Search Files'], get_file_info: ['Get File Info'],
    list_allowed_directories: ['List Allowed Directories'],
    write_file: ['Write File', true, true], edit_file: ['Edit File', false, true], create_directory: ['Create Directory', true, false],
    move_file: ['Move File', false, true],
};
scenario('FS-1: fourteen tools with their titles, hints, schemas and what their descriptions must say', async place => {
    for (const revision of ['2025-11-25', MODERN]) {
        const s = await open(place, { revision });
        assert.deepEqual([...s.tools.keys()], Object.keys(HINTS).sort());
        for (const [name, [title, again, loses]] of Object.entries(HINTS)) {
            const t = s.tools.get(name);
            assert.deepEqual([t.title, t.annotations], [title, again === undefined ? { readOnlyHint: true, openWorldHint: false }
                : { readOnlyHint: false, destructiveHint: loses, idempotentHint: again, openWorldHint: false }], name);
            assert.deepEqual([t.outputSchema.type, t.outputSchema.required, t.inputSchema.type], ['object', ['content'], 'object'], name);
            if (name !== 'list_allowed_directories') assert.match(t.description, /only within allowed directories/, name);
        }
        const says = (name, what) => assert.match(s.tools.get(name).description, what);
        says('list_directory', /\[DIR\].*\[FILE\]/);
        says('read_text_file', /'head'.*'tail'/);
        says('search_files', /"\*\.ext".*"\*\*\/\*\.ext"/);
        says('search_files', /names are searched, not contents/);
        says('move_file', /fails if the destination exists/);
        const properties = name => s.tools.get(name).inputSchema.properties;
        const { head, tail } = properties('read_text_file');
        for (const p of [head, tail]) assert.deepEqual([p.type, p.minimum, p.default], [['integer', 'null'], 0, null], 'SV-16');
        assert.deepEqual(properties('list_directory_with_sizes').sortBy.enum, ['name', 'size']);
        assert.deepEqual([properties('edit_file').dryRun.default, properties('directory_tree').excludePatterns.default], [false, []]);
        assert.deepEqual(properties('edit_file').edits.items.required, ['oldText', 'newText']);
        await s.close();
    }
});

scenario('FS-1: the structured content is the text; bad arguments write nothing', async place => {
    const s = await open(place);
    const all = [
        ['write_file', { path: 'f', content: 'one\ntwo\n' }], ['read_file', { path: 'f' }], ['read_text_file', { path: 'f', tail: null }],
        ['read_multiple_files', { paths: ['f', 'none'] }], ['edit_file', { path: 'f', edits: [{ oldText: 'two', newText: 'deux' }] }],
        ['create_directory', { path: 'd' }], ['list_directory', { path: '.' }], ['list_directory_with_sizes', { path: '.' }],
        ['directory_tree', { path: '.' }], ['search_files', { path: '.', pattern: '*' }], ['get_file_info', { path: 'f' }],
        ['list_allowed_directories', {}], ['move_file', { source: 'f', destination: 'd/f' }],
    ];
    for (const [tool, args] of all) {
        const r = await s.call(tool, args);
        assert.deepEqual([r.isError, r.structuredContent], [false, { content: r.content[0].text }], tool);
    }
    const bad = [
        ['write_file', { path: 'new' }], ['write_file', { path: 'new', content: 7 }], ['write_file', { content: 'x' }], ['write_file', {}],
        ['edit_file', { path: 'd/f', edits: 'x' }], ['edit_file', { path: 'd/f', edits: [{ oldText: 'one' }] }],
        ['edit_file', { path: 'd/f', edits: [{ oldText: 'one', newText: 'x' }, 7] }], ['edit_file', { path: 'd/f' }],
        ['move_file', { source: 'd/f' }], ['create_directory', { path: ['new'] }], ['read_text_file', { path: 'd/f', head: -1 }],
        ['read_text_file', { path: 'd/f', head: 1.5 }], ['read_multiple_files', { paths: [1] }],
    ];
    for (const [tool, args] of bad) {
        const why = await s.fails(tool, args);
        assert.match(why, /^failed to deserialize parameters: /, 'SV-15');
    }
    assert.match(await s.fails('edit_file', { path: 'd/f', edits: [{ oldText: 'one', newText: 'x' }, { oldText: 'x' }] }), /newText.*|`edits` at 1/);
    assert.deepEqual(fs.readdirSync(place.path('in'), { recursive: true }).sort(), ['d', 'd/f']);
    assert.equal(fs.readFileSync(place.path('in/d/f'), 'utf8'), 'one\ndeux\n');
});

// --- hostile files --------------------------------------------------------------------------------------------------------
const edit = p => ({ path: p, edits: [{ oldText: 'secret', newText: 'x' }] });
const READERS = p => [['read_text_file', { path: p }], ['read_file', { path: p, head: 1 }], ['read_text_file', { path: p, tail: 1 }], ['read_media_file', { path: p }]];

scenario('SEC-57 SEC-63: paths that lead out as text, that are literal, too long or hold NUL', async place => {
    const s = await open(place);
    place.write('out/f', 'secret');
    place.write('in/f', 'mine');
    fs.mkdirSync(place.path('in/%2e%2e'));
    place.write('in/%2e%2e/f', 'literal');
    for (const p of ['in/../../out/f', '../out/f', '..//out/f', './/..//out//f', place.path('out/f'), `${place.path('in')}/../out/f`, '/etc/passwd', `${place.path('in')}-x/f`]) {
        for (const [tool, args] of [...READERS(p), ['write_file', { path: p, content: 'x' }], ['edit_file', edit(p)], ['create_directory', { path: p }],
            ['list_directory', { path: p }], ['directory_tree', { path: p }], ['search_files', { path: p, pattern: '*' }], ['get_file_info', { path: p }],
            ['move_file', { source: p, destination: 'x' }], ['move_file', { source: 'f', destination: p }]])
            assert.match(await s.fails(tool, args), /^Access denied - path outside allowed directories: /, `${tool} ${p}`);
    }
    assert.equal(await s.text('read_text_file', { path: '%2e%2e/f' }), 'literal');
    assert.match(await s.fails('read_text_file', { path: 'f/' }), /Not a directory/);
    for (const p of ['', 'a\0b', 'x'.repeat(5000), 'y'.repeat(300), `d/${'y'.repeat(256)}`, 'd/'.repeat(3000)]) {
        for (const [tool, args] of [...READERS(p), ['write_file', { path: p, content: 'x' }], ['create_directory', { path: p }]])
            assert.match(await s.fails(tool, args), /^Invalid path: /, `${tool} ${p.slice(0, 20)}`);
    }
    fs.writeFileSync(place.path('in/new\nline'), 'n');
    assert.match(await s.text('list_directory', { path: '.' }), /^\[FILE\] new\\nline$/m);
    assert.equal(await s.text('read_text_file', { path: 'new\nline' }), 'n');
    assert.equal(fs.readFileSync(place.path('out/f'), 'utf8'), 'secret');
});

scenario('SEC-58: links that lead out are refused by every tool, shown by listings and moved as what they are', async place => {
    const s = await open(place);
    const inside = name => place.path('in', name);
    place.write('out/f', 'secret');
    fs.symlinkSync(place.path('out/f'), inside('file'));
    fs.symlinkSync('../out', inside('dir'));
    fs.symlinkSync(place.path('out/none'), inside('dangling'));
    for (let i = 0; i < 41; i++) fs.symlinkSync(i < 40 ? `chain${i + 1}` : 'real', inside(`chain${i}`));
    place.write('in/real', 'secret');
    const refused = /^(Access denied - |Failed to |Parent directory does not exist|Destination already exists)/;
    for (const p of ['file', 'dir/f', 'dangling', 'chain0']) {
        for (const [tool, args] of [...READERS(p), ['edit_file', edit(p)], ['write_file', { path: p, content: 'x' }], ['create_directory', { path: `${p}/d` }],
            ['list_directory', { path: p }], ['directory_tree', { path: p }], ['search_files', { path: p, pattern: '**' }]])
            assert.match(await s.fails(tool, args), refused, `${tool} ${p}`);
    }
    for (const [tool, args] of [['create_directory', { path: 'dir/new' }], ['write_file', { path: 'dir/new', content: 'x' }], ['move_file', { source: 'real', destination: 'dir/new' }],
        ['move_file', { source: 'dir/f', destination: 'got' }], ['list_directory', { path: 'dir' }], ['list_directory_with_sizes', { path: 'dir' }], ['search_files', { path: 'dir', pattern: '*' }]])
        assert.match(await s.fails(tool, args), /^Access denied - (symlink target|parent directory) outside allowed directories: /, tool);
    const listed = await s.text('list_directory', { path: '.' });
    for (const name of ['file', 'dir', 'dangling']) assert.match(listed, new RegExp(`^\\[FILE\\] ${name}$`, 'm'), 'FS-12');
    assert.match(await s.text('list_directory_with_sizes', { path: '.' }), /^\[FILE\] file +0 B$/m, 'FS-13: its target is not looked at');
    assert.doesNotMatch(await s.text('directory_tree', { path: '.' }), /"f"/, 'FS-15');
    assert.equal(await s.text('search_files', { path: '.', pattern: '**/f' }), 'No matches found', 'FS-17');
    await s.text('move_file', { source: 'dir', destination: 'moved' });
    assert.equal(fs.readlinkSync(inside('moved')), '../out', 'FS-16: the link itself');
    assert.deepEqual(fs.readdirSync(place.path('out')), ['f']);
    assert.equal(fs.readFileSync(place.path('out/f'), 'utf8'), 'secret');
});

scenario('SEC-60: with / as directory the magic links of /proc are refused', async place => {
    const s = await place.serve('filesystem', ['--allow-root', '/']);
    for (const p of ['/proc/self/root/etc/hostname', '/proc/self/fd/0', '/proc/self/fd/3', '/dev/stdin', '/dev/fd/1', '/proc/self/cwd/x'])
        for (const [tool, args] of [...READERS(p), ['edit_file', edit(p)], ['write_file', { path: p, content: 'x' }]])
            await s.fails(tool, args);
    assert.match(await s.text('read_text_file', { path: '/proc/self/status', head: 1 }), /^Name:/, 'what is no link is a file');
});

scenario('SEC-61 SV-25: FIFO, socket and device are refused at once, and nobody waits', async place => {
    const s = await place.serve('filesystem', ['--allow-root', '/']);
    execFileSync('mkfifo', [place.path('fifo')]);
    const server = net.createServer().listen(place.path('sock'));
    await once(server, 'listening');
    for (const p of [place.path('fifo'), place.path('sock'), '/dev/zero', '/dev/null']) {
        for (const [tool, args] of [...READERS(p), ['edit_file', edit(p)], ['write_file', { path: p, content: 'x' }], ['read_multiple_files', { paths: [p] }]]) {
            const from = performance.now(), r = await s.call(tool, args);
            assert.match(r.content[0].text, /not a regular file/i, `${tool} ${p}`);
            assert.ok(performance.now() - from < 1000 * slack, tool);
        }
        await s.text('get_file_info', { path: p });
    }
    server.close();
});

scenario('SEC-62 SV-27: a write or an edit over a hard link leaves the other name as it was; modes stay', async place => {
    const s = await open(place);
    place.write('out/f', 'secret');
    for (const [name, change] of [['w', ['write_file', { path: 'w', content: 'new' }]], ['e', ['edit_file', edit('e')]]]) {
        fs.linkSync(place.path('out/f'), place.path('in', name));
        await s.text(...change);
        assert.notEqual(fs.readFileSync(place.path('in', name), 'utf8'), 'secret');
    }
    assert.equal(fs.readFileSync(place.path('out/f'), 'utf8'), 'secret');
    for (const mode of [0o600, 0o755]) {
        fs.writeFileSync(place.path('in/m'), 'secret', { mode });
        fs.chmodSync(place.path('in/m'), mode);
        await s.text('write_file', { path: 'm', content: 'a secret' });
        await s.text('edit_file', edit('m'));
        assert.equal(fs.statSync(place.path('in/m')).mode & 0o777, mode);
    }
    assert.deepEqual(fs.readdirSync(place.path('in')).filter(f => f.includes('.tmp')), []);
});

scenario('SEC-64 SV-27: a full disk leaves the old file, no temp file, and an error that says so', async (place, t) => {
    const s = await open(place), dir = place.path('in/small');
    await s.close();
    fs.mkdirSync(dir);
    try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', dir], { stdio: 'ignore' });
    } catch {
        t.skip('no file system of our own can be mounted here');
        return;
    }
    try {
        const small = await place.serve('filesystem', [place.path('in')]);
        await small.text('write_file', { path: 'small/f', content: 'old' });
        for (const [tool, args] of [['write_file', { path: 'small/f', content: 'x'.repeat(1 << 20) }],
            ['edit_file', { path: 'small/f', edits: [{ oldText: 'old', newText: 'x'.repeat(1 << 20) }] }]])
            assert.match(await small.fails(tool, args), /No space left on device/);
        place.write('in/big', 'x'.repeat(1 << 20));
        assert.match(await small.fails('move_file', { source: 'big', destination: 'small/big' }), /^Failed to move big to small\/big: No space left/, 'FS-16');
        assert.deepEqual(fs.readdirSync(dir), ['f']);
        assert.equal(fs.readFileSync(path.join(dir, 'f'), 'utf8'), 'old');
        assert.equal(fs.statSync(place.path('in/big')).size, 1 << 20);
        await small.close();
    } finally {
        execFileSync('umount', ['-l', dir]);
    }
});

scenario('SEC-65 FS-3: of a file of 10 GB head and tail are read in constant memory; the whole is refused', async place => {
    const s = await open(place);
    const fd = fs.openSync(place.path('in/huge'), 'w');
    fs.writeSync(fd, 'first\nsecond\n');
    fs.writeSync(fd, '\nlast but one\nlast\n', 10 * 1024 ** 3);
    fs.closeSync(fd);
    const before = peakOf(s.pid);
    const args = { path: 'huge' };
    assert.equal(await s.text('read_text_file', { ...args, head: 2 }), 'first\nsecond');
    assert.equal(await s.text('read_text_file', { ...args, tail: 2 }), 'last but one\nlast');
    assert.match(await s.fails('read_text_file', args), /10737418259 bytes.*head or tail/);
    assert.match(await s.fails('edit_file', edit('huge')), /10737418259 bytes/);
    assert.match(await s.fails('read_media_file', args), /10737418259 bytes/);
    assert.match(await s.text('read_multiple_files', { paths: ['huge'] }), /total size limit reached/);
    assert.match(await s.fails('read_text_file', { ...args, tail: 3 }), /more than 4718592 bytes/);
    assert.ok(peakOf(s.pid) - before < (32 << 20), `memory grew by ${(peakOf(s.pid) - before) >> 20} MB`);
});

// --- beside one another -----------------------------------------------------------------------------------------------------
/** 40,000 entries in directories of 200. */
function makeForest(dir, dirs = 200, files = 200) {
    for (let d = 0; d < dirs; d++) {
        fs.mkdirSync(path.join(dir, `d${d}`), { recursive: true });
        for (let f = 0; f < files; f++) fs.closeSync(fs.openSync(path.join(dir, `d${d}/f${f}`), 'w'));
    }
}

scenario('SV-14 FS-15 FS-17: walks do not delay other calls, tell their progress, and end when they are cancelled', async place => {
    const s = await open(place);
    makeForest(place.path('in/forest'));
    place.write('in/f', 'here');
    const walks = Array.from({ length: 12 }, (_, i) => s.call(i % 2 ? 'directory_tree' : 'search_files', { path: 'forest', pattern: '**/f7' }, { ms: 60000 }));
    assert.equal(await s.text('read_text_file', { path: 'f' }), 'here');
    for (const w of await Promise.all(walks)) assert.equal(w.isError, false);
    assert.equal((await walks[0]).content[0].text.split('\n').length, 200);

    // What takes seconds: each entry is compared with 2,000 patterns.
    const excludePatterns = Array.from({ length: 2000 }, (_, i) => `**/*[x-z]*${i}?`);
    const slow = (tool, token) => s.call(tool, { path: 'forest', pattern: '**/f7', excludePatterns }, { progress: token, ms: 60000 });
    const long = ['search_files', 'directory_tree', 'search_files', 'directory_tree', 'search_files'].map((tool, i) => slow(tool, `p${i}`));
    for (let i = 0; i < 10; i++) {
        const took = await timed(() => s.text('read_text_file', { path: 'f' }), [s.pid]);
        assert.ok(took < 200 * slack, `${took} ms behind walks`);
    }
    await until('progress', () => s.progress('p0').length > 1, 10000);
    for (const w of long) s.cancel(w.id);
    const took = await timed(() => s.text('search_files', { path: 'forest', pattern: 'd1' }), [s.pid]);
    assert.ok(took < 1000 * slack, `${took} ms behind cancelled walks`);
    const told = s.progress('p0').map(p => p.progress);
    assert.deepEqual(told, [...new Set(told)].sort((a, b) => a - b), 'it grows');
    await sleep(100);
    for (const w of long) assert.ok(!s.messages.some(({ m }) => m.id === w.id && m.method === undefined), 'a cancelled call is not answered');
});

scenario('SV-11: after the end of its input a client that reads nothing is not waited for, though it holds the pipe', async place => {
    place.write('in/big.txt', 'x'.repeat(6_000_000));
    const child = spawn(bin, ['filesystem', place.path('in')], { env: place.env(), stdio: ['pipe', 'pipe', 'ignore'] });
    const exit = once(child, 'exit');
    const say = (id, method, params) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    child.stdout.pause();
    say(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } });
    for (let id = 1; id <= 20; id++) say(id, 'tools/call', { name: 'read_text_file', arguments: { path: 'big.txt' } });
    child.stdin.end();
    const end = await Promise.race([exit, sleep(15_000 * slack)]);
    child.kill('SIGKILL');
    assert.deepEqual(end, [0, null]);
});

scenario('FS-7 SV-14: edits of one file that are sent at the same time are all in it in the end', async place => {
    const s = await open(place), n = 60;
    place.write('in/f', Array.from({ length: n }, (_, i) => `line ${i} old\n`).join(''));
    fs.symlinkSync('f', place.path('in/link'));
    await Promise.all(Array.from({ length: n }, (_, i) => s.text('edit_file',
        { path: i % 2 ? 'f' : 'link', edits: [{ oldText: `line ${i} old`, newText: `line ${i} new` }] })));
    assert.equal(fs.readFileSync(place.path('in/f'), 'utf8'), Array.from({ length: n }, (_, i) => `line ${i} new\n`).join(''));
});

scenario('FS-15 SV-30: a tree larger than an answer is cut, marked, and still whole JSON', async place => {
    const s = await open(place);
    for (let i = 0; i < 30000; i++) fs.closeSync(fs.openSync(place.path(`in/${'n'.repeat(240)}${i}`), 'w'));
    const tree = JSON.parse(await s.text('directory_tree', { path: '.' }, { ms: 60000 }));
    assert.deepEqual(tree.at(-1), { name: '… truncated', type: 'file' });
    assert.ok(tree.length > 15000 && tree.length < 30000, String(tree.length));
});

// --- roots ----------------------------------------------------------------------------------------------------------------
const uri = p => `file://${encodeURI(p)}`;

scenario('SV-26: roots that change while they are named are asked for again before a call goes on', async place => {
    for (const name of ['a', 'b']) place.write(`${name}/which`, name);
    fs.mkdirSync(place.path('nowhere'));
    const s = await place.serve('', [], { args: ['filesystem'], cwd: place.path('nowhere'), capabilities: { roots: { listChanged: true } } });
    let asked = 0;
    s.listeners.push(m => {
        if (m.method !== 'roots/list') return;
        if (!asked++) s.notify('notifications/roots/list_changed');    // and then the answer of before
        s.send({ id: m.id, result: { roots: [{ uri: uri(place.path(asked === 1 ? 'a' : 'b')) }] } });
    });
    assert.equal(await s.text('read_text_file', { path: 'which' }), 'b');
    assert.equal(asked, 2);
});

scenario('SV-26: without a directory a legacy client is asked for its roots, and again when they changed', async place => {
    for (const d of ['a b', 'c', 'd']) place.write(`${d}/which`, d);
    const cwd = place.path('d');
    const s = await place.serve('', [], { args: ['filesystem'], cwd, roots: [{ uri: uri(place.path('a b')) }, { uri: 'https://x/' }, { uri: 'file:///' }, { uri: uri(place.path('none')) }] });
    assert.equal(await s.text('read_text_file', { path: 'which' }), 'a b');
    assert.equal(await s.text('list_allowed_directories'), `Allowed directories:\n${place.path('a b')}`);
    assert.match(await s.fails('read_text_file', { path: place.path('d/which') }), /^Access denied/);
    s.roots = [{ uri: uri(place.path('c')) }];
    s.notify('notifications/roots/list_changed');
    assert.equal(await s.text('read_text_file', { path: 'which' }), 'c');
    await s.close();

    const given = await place.serve('filesystem', [place.path('c')], { cwd, roots: [{ uri: uri(place.path('a b')) }] });
    assert.equal(await given.text('read_text_file', { path: 'which' }), 'c', 'the command line is final');
    assert.deepEqual(given.messages.filter(({ m }) => m.method === 'roots/list'), []);
    await given.close();

    const none = await place.serve('', [], { args: ['filesystem'], cwd, roots: [{ uri: 'file:///' }] });
    assert.equal(await none.text('read_text_file', { path: 'which' }), 'd', 'none valid: . stays');
    await none.close();

    const modern = await place.serve('', [], { args: ['filesystem'], cwd, revision: MODERN });
    assert.equal(await modern.text('read_text_file', { path: 'which' }), 'd', '2026-07-28 has no roots request');
});

// --- beside the server of npm ---------------------------------------------------------------------------------------------
const npmServer = dir => ({ command: node, args: [npm('@modelcontextprotocol/server-filesystem/dist/index.js'), dir] });

function makeTwin(dir) {
    const put = (name, text) => {
        fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
        fs.writeFileSync(path.join(dir, name), text);
    };
    put('readme.md', '# title\n\none\ntwo\nthree\n');
    put('no-end.txt', 'a\nb\nc');
    put('empty.txt', '');
    put('src/main.c', 'int main(void)\n{\n    return 0;\n}\n');
    put('src/util/list.c', 'list\n');
    put('src/.hidden', 'h\n');
    put('node_modules/x/index.js', 'x\n');
    put('pixel.png', Buffer.from('89504e470d0a1a0a', 'hex'));
    put('sound.mp3', 'mp3');
    put('data.bin', Buffer.from([0, 255, 254]));
    put('big.txt', 'x'.repeat(1536));
    fs.mkdirSync(path.join(dir, 'void'));
    return dir;
}

const sortedLines = t => t.split('\n').map(l => l.trimEnd()).sort().join('\n');
const sortedTree = nodes => nodes.map(n => ({ ...n, ...(n.children ? { children: sortedTree(n.children) } : {}) })).sort((a, b) => (a.name < b.name ? -1 : 1));
const tree = t => sortedTree(JSON.parse(t));
// Theirs has a line "Index:" before the diff, and four lines of context (FS-10: three).
const changes = t => t.split('\n').filter(l => /^[-+`\\]/.test(l)).join('\n');
const someLines = t => t.split('\n').filter(l => /^(size|isFile|isDirectory|permissions):/.test(l)).sort().join('\n');
const change = (p, oldText, newText, more = {}) => ['edit_file', { path: p, edits: [{ oldText, newText }], ...more }, changes];
const TWIN_CALLS = [
    ['read_text_file', { path: 'readme.md' }], ['read_text_file', { path: 'readme.md', head: 2 }], ['read_text_file', { path: 'no-end.txt', tail: 2 }],
    ['read_text_file', { path: 'no-end.txt', head: 9 }], ['read_file', { path: 'empty.txt' }], ['read_text_file', { path: '$/src/../readme.md' }],
    ['read_text_file', { path: 'readme.md', head: 1, tail: 1 }], ['read_text_file', { path: '/etc/passwd' }], ['read_text_file', { path: '../x' }],
    ['read_media_file', { path: 'pixel.png' }], ['read_media_file', { path: 'sound.mp3' }], ['read_media_file', { path: 'data.bin' }],
    ['read_multiple_files', { paths: ['readme.md', 'no-end.txt', '/etc/passwd'] }],
    ['list_directory', { path: '.' }, sortedLines], ['list_directory', { path: 'void' }], ['list_directory', { path: 'src' }, sortedLines],
    ['list_directory_with_sizes', { path: '.', sortBy: 'name' }, sortedLines], ['list_directory_with_sizes', { path: 'void' }],
    ['directory_tree', { path: '$' }, tree], ['directory_tree', { path: '$', excludePatterns: ['node_modules'] }, tree],
    ['directory_tree', { path: '$', excludePatterns: ['**/*.c', 'src/util'] }, tree], ['directory_tree', { path: '$', excludePatterns: ['list.c', '*.md', 'x/**'] }, tree],
    ['directory_tree', { path: '$/void' }],
    ['search_files', { path: '.', pattern: '**/*.c' }, sortedLines], ['search_files', { path: '.', pattern: '*' }, sortedLines],
    ['search_files', { path: '$', pattern: '**', excludePatterns: ['node_modules/**'] }, sortedLines],
    ['search_files', { path: '.', pattern: '**/*.{md,js}', excludePatterns: ['**/x'] }, sortedLines], ['search_files', { path: '.', pattern: 'none*' }],
    ['get_file_info', { path: 'readme.md' }, someLines], ['get_file_info', { path: 'src' }, someLines],
    ['list_allowed_directories', {}],
    change('readme.md', 'two', 'zwei', { dryRun: true }), change('readme.md', 'one\ntwo', 'eins\nzwei'), change('readme.md', '  three', 'drei'),
    change('src/main.c', 'return 0;', 'return `1`;'), change('src/main.c', 'int main(void)\n{', 'int main(void)\n{\n    $& $1'),
    change('no-end.txt', 'c', 'd'), change('readme.md', '#', '```js\n```'), change('src/main.c', ' }', '}\n'),
    ['write_file', { path: 'new.txt', content: 'ä\n' }], ['write_file', { path: 'readme.md', content: '' }], ['read_text_file', { path: 'new.txt' }],
    ['create_directory', { path: 'a/b/c' }], ['create_directory', { path: 'a/b/c' }],
    ['move_file', { source: 'new.txt', destination: 'a/b/new.txt' }], ['move_file', { source: 'a', destination: 'z' }],
    ['directory_tree', { path: '$' }, tree],
];

scenario('servers.md 10: the same calls to the server of npm and to ours give the same answers', async place => {
    const theirs = makeTwin(place.path('twin/a')), ours = makeTwin(place.path('twin/b'));
    const a = await connect('v1', { ...npmServer(theirs), env: place.env(), cwd: place.workspace });
    const b = await connect('v1', { command: bin, args: ['filesystem', ours], env: place.env(), cwd: place.workspace });
    const at = (value, dir) => JSON.parse(JSON.stringify(value).replaceAll('"$', `"${dir}`));
    const seen = (r, dir, shape) => {
        const plain = JSON.parse(JSON.stringify(r.content).replaceAll(dir, '$'));
        if (!r.isError) assert.deepEqual(r.structuredContent.content, r.content[0].text ?? r.content);
        if (plain[0].text !== undefined && !r.isError && shape) plain[0].text = shape(plain[0].text);
        return { isError: r.isError === true, content: plain };
    };
    try {
        for (const [name, args, shape] of TWIN_CALLS) {
            const [x, y] = await Promise.all([[a, theirs], [b, ours]].map(async ([client, dir]) => seen(await client.callTool({ name, arguments: at(args, dir) }), dir, shape)));
            assert.deepEqual(y, x, `${name} ${JSON.stringify(args)}`);
        }
        const files = dir => fs.readdirSync(dir, { recursive: true }).sort().map(f => [f, fs.statSync(path.join(dir, f)).isFile() && fs.readFileSync(path.join(dir, f), 'latin1')]);
        assert.deepEqual(files(ours), files(theirs));
    } finally {
        await Promise.all([a.close(), b.close()]);
    }
});

scenario('FS-17 FS-15: patterns mean what they mean to minimatch, which the server of npm uses', async place => {
    const s = await open(place);
    const names = ['a', 'b', 'ab', 'a.c', 'b.c', '.c', 'abc.c', 'x'], all = [];
    const grow = (dir, depth) => {
        for (const n of names) {
            const rel = dir ? `${dir}/${n}` : n;
            all.push(rel);
            if (depth && ['a', 'ab', '.c'].includes(n)) {
                fs.mkdirSync(place.path('in', rel));
                grow(rel, depth - 1);
            } else {
                place.write(`in/${rel}`, '');
            }
        }
    };
    grow('', 2);
    let seed = 7;
    const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % 65536 % n;
    const PARTS = ['a', 'b', 'c', '.c', '*', '*', '?', '[ab]', '[!a]', '[a-c]', '{a,b}', '{,x}', '{a.c,*b}', '**'];
    const component = () => (random(4) === 0 ? '**' : Array.from({ length: 1 + random(3) }, () => PARTS[random(PARTS.length)]).join(''));
    const patterns = ['**', '*', '**/*', '*/**', '**/a/**', 'a/**', '**/**/x', 'a**', '**a', '{a,ab}/**/*.c', '{a/b,x}', '{**/,}a.c', '.*', '**/.*', '{a,{b,x}}'];
    while (patterns.length < 400) patterns.push(Array.from({ length: 1 + random(4) }, component).join('/'));
    const found = async (pattern, excludePatterns = []) => {
        const text = await s.text('search_files', { path: '.', pattern, excludePatterns });
        return text === 'No matches found' ? [] : text.split('\n').map(l => path.relative(place.path('in'), l)).sort();
    };
    const matches = (rel, pattern) => minimatch(rel, pattern, { dot: true });
    for (const [i, pattern] of patterns.entries()) {
        const exclude = i % 3 === 0 ? [patterns[(i * 7) % patterns.length]] : [];
        const dropped = rel => rel.split('/').some((_, n, parts) => exclude.some(p => matches(parts.slice(0, n + 1).join('/'), p)));
        assert.deepEqual(await found(pattern, exclude), all.filter(rel => !dropped(rel) && matches(rel, pattern)).sort(), `${pattern} without ${exclude}`);
    }
});

scenario('SEC-65 I4: what many large files took is given back once they are answered', { skip: sanitized && 'sanitizers keep what is freed' }, async place => {
    const s = await open(place);
    place.write('in/large', `${'x'.repeat(99)}\n`.repeat(45000));
    await s.text('read_text_file', { path: 'large', head: 1 });
    const before = s.rss();
    for (let round = 0; round < 3; round++)
        for (const text of await Promise.all(Array.from({ length: 16 }, () => s.text('read_text_file', { path: 'large' })))) assert.equal(text.length, 4500000);
    await until('the memory is back', () => s.rss() - before < (16 << 20));
});

scenario("the demo's script gives the same answer over npm's server and over ours", async place => {
    fs.cpSync(path.join(root, 'examples/workspace/notes'), path.join(place.workspace, 'notes'), { recursive: true });
    const answers = [];
    for (const entry of [npmServer('.'), { command: bin, args: ['filesystem', '.'] }, { builtin: 'filesystem' }]) {
        place.plugin('notes', [{ name: 'fs', ...entry }]);
        const s = await place.open();
        answers.push((await s.execute(TODOS)).value);
        await s.close();
    }
    assert.ok(Array.isArray(answers[0]) && answers[0].length > 0, JSON.stringify(answers[0]));
    for (const other of answers.slice(1)) assert.deepEqual(other.sort(), answers[0].sort());
});
