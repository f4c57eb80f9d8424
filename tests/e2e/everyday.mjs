// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The five everyday servers as a table: how each is started in a Place, what it says of itself, and a call of every tool of it that
// succeeds, in this order.
//
//   prepare(place)   makes what the server serves; the arguments it is started with
//   calls(place)     [[tool, args], ...]
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A web server of our own, with one page; it ends with the process. */
let web;
async function origin() {
    web ??= (async () => {
        const server = http.createServer((q, r) => {
            if (q.url === '/robots.txt') r.writeHead(404).end();
            else r.writeHead(200, { 'content-type': 'text/html' })
                .end('<html><head><title>T</title></head><body><h1>Hello</h1><p>a page of <b>ours</b></p></body></html>');
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        server.unref();
        return `127.0.0.1:${server.address().port}`;
    })();
    return web;
}

export const SERVERS = {
    filesystem: {
        name: 'mcp-filesystem', says: 'allowed directories', scope: 'public', capabilities: { tools: {} },
        async prepare(place) {
            place.write('files/a.txt', 'one\ntwo\nthree\n');
            place.write('files/sub/b.md', '# b\n');
            fs.writeFileSync(place.path('files/p.png'), Buffer.from(PIXEL, 'base64'));
            return [place.path('files')];
        },
        calls: place => [
            ['list_allowed_directories', {}],
            ['read_file', { path: place.path('files/a.txt') }],
            ['read_text_file', { path: 'a.txt', head: 2 }],
            ['read_media_file', { path: 'p.png' }],
            ['read_multiple_files', { paths: ['a.txt', 'sub/b.md', 'none'] }],
            ['write_file', { path: 'c.txt', content: 'c\n' }],
            ['edit_file', { path: 'c.txt', edits: [{ oldText: 'c', newText: 'd' }] }],
            ['create_directory', { path: 'x/y' }],
            ['move_file', { source: 'c.txt', destination: `x/${Math.random()}.txt` }],
            ['list_directory', { path: '.' }],
            ['list_directory_with_sizes', { path: '.', sortBy: 'size' }],
            ['directory_tree', { path: '.' }],
            ['search_files', { path: '.', pattern: '**/*.md' }],
            ['get_file_info', { path: 'a.txt' }],
        ],
        bad: { tool: 'read_text_file', args: { path: 'a.txt', head: 'two' }, field: 'head' },
        whole: { tool: 'read_text_file', args: { path: 'a.txt', head: '@' }, value: '2.0' },
    },
    fetch: {
        name: 'mcp-fetch', says: 'robots.txt', scope: 'public', capabilities: { tools: {}, prompts: {} },
        async prepare(place) {
            place.origin = await origin();
            return ['--allow-host', place.origin];
        },
        calls: place => [['fetch', { url: `http://${place.origin}/page`, max_length: 100 }]],
        prompt: place => ({ name: 'fetch', arguments: { url: `http://${place.origin}/page` } }),
        bad: { tool: 'fetch', args: {}, field: 'url' },
        whole: { tool: 'fetch', args: place => ({ url: `http://${place.origin}/page`, start_index: '@' }), value: '0.0' },
    },
    memory: {
        name: 'mcp-memory', says: 'knowledge graph', scope: 'public', capabilities: { tools: {}, resources: { subscribe: true } },
        prepare: async place => ['--memory-file', place.path('memory.jsonl')],
        calls: () => [
            ['create_entities', { entities: [{ name: 'A', entityType: 't', observations: ['o'] }, { name: 'B', entityType: 't', observations: [] }] }],
            ['create_relations', { relations: [{ from: 'A', to: 'B', relationType: 'knows' }] }],
            ['add_observations', { observations: [{ entityName: 'A', contents: ['p'] }] }],
            ['read_graph', {}],
            ['search_nodes', { query: 'o' }],
            ['open_nodes', { names: ['A', 'none'] }],
            ['delete_observations', { deletions: [{ entityName: 'A', observations: ['p'] }] }],
            ['delete_relations', { relations: [{ from: 'A', to: 'B', relationType: 'knows' }] }],
            ['delete_entities', { entityNames: ['A', 'B'] }],
        ],
        resource: 'memory://knowledge-graph',
        bad: { tool: 'create_entities', args: { entities: [{ name: 'A', observations: [] }] }, field: 'entityType' },
    },
    shell: {
        name: 'mcp-shell', says: 'allowed directories', scope: 'public', capabilities: { tools: {} },
        prepare: async place => [place.workspace],
        calls: () => [['execute_command', { program: 'sh', args: ['-c', 'echo out; echo err >&2; exit 3'] }]],
        bad: { tool: 'execute_command', args: { program: 'true', args: 'x' }, field: 'args' },
        whole: { tool: 'execute_command', args: { program: 'true', timeout_ms: '@' }, value: '5000.0' },
    },
    skills: {
        name: 'mcp-skills', says: 'supporting files', scope: 'private', capabilities: { tools: {} },
        modern: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } } },
        async prepare(place) {
            place.write('work/.agents/skills/greet/SKILL.md', '---\nname: greet\ndescription: says hello\n---\nSay hello.\n');
            place.write('work/.agents/skills/greet/more/words.txt', 'hi\n');
            return [place.workspace];
        },
        calls: () => [['activate_skill', { name: 'greet' }]],
    },
};
