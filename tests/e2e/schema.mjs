// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The official JSON Schema of each revision, as a check of single messages. They are not part of this tree: without them
// (../shared/data, or SYMPOSIUM_SHARED) nothing is checked, and protocol.test.mjs reports it by name.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const shared = process.env.SYMPOSIUM_SHARED ?? path.join(root, '../shared');
export const schemaDir = path.join(shared, 'data/mcp-schema');
export const haveSchemas = fs.existsSync(path.join(schemaDir, '2026-07-28.json'));

const loaded = new Map();
export function schemaOf(revision) {
    if (!haveSchemas) return undefined;
    if (!loaded.has(revision)) {
        const text = JSON.parse(fs.readFileSync(path.join(schemaDir, `${revision}.json`), 'utf8'));
        const Ajv = text.$defs ? require('ajv/dist/2020').default : require('ajv').default;
        const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true });
        require('ajv-formats').default(ajv);
        ajv.addSchema(text, revision);
        loaded.set(revision, { ajv, at: `${revision}#/${text.$defs ? '$defs' : 'definitions'}/`, defs: text.$defs ?? text.definitions });
    }
    return loaded.get(revision);
}

/** Why `value` is no `name` of that revision; undefined when it is one, or cannot be checked. */
export function problem(revision, name, value) {
    const s = schemaOf(revision);
    if (!s) return undefined;
    if (!s.defs[name]) return `no definition ${name} in ${revision}`;
    const validate = s.ajv.getSchema(s.at + name);
    return validate(value) ? undefined : `${name}: ${s.ajv.errorsText(validate.errors)}`;
}

const RESULTS = {
    initialize: 'InitializeResult', ping: 'EmptyResult', 'tools/list': 'ListToolsResult', 'tools/call': 'CallToolResult',
    'resources/list': 'ListResourcesResult', 'resources/templates/list': 'ListResourceTemplatesResult',
    'resources/read': 'ReadResourceResult', 'server/discover': 'DiscoverResult',
    'prompts/list': 'ListPromptsResult', 'prompts/get': 'GetPromptResult',
    'resources/subscribe': 'EmptyResult', 'resources/unsubscribe': 'EmptyResult',
    'resources/directory/read': 'ListResourcesResult',
    'subscriptions/listen': 'SubscriptionsListenResult', 'logging/setLevel': 'EmptyResult',
};

// The skills extension has no schema in the revision's file: this is mcp.md section 8 and SK-30.
const CACHEABLE = { ttlMs: { type: 'integer', minimum: 0 }, cacheScope: { enum: ['public', 'private'] } };
const FILE = {
    type: 'object', required: ['uri', 'digest', 'size'], additionalProperties: false,
    properties: {
        uri: { type: 'string', pattern: '^skill://' }, size: { type: 'integer', minimum: 0 },
        digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    },
};
const SKILL = {
    type: 'object', required: ['uri', 'frontmatter', 'resources'],
    properties: {
        uri: { type: 'string', pattern: '^skill://.*/SKILL\\.md$' },
        frontmatter: {
            type: 'object', required: ['name', 'description'],
            properties: { name: { type: 'string', minLength: 1 }, description: { type: 'string', minLength: 1 } },
        },
        resources: { oneOf: [{ const: 'dynamic' }, { type: 'array', minItems: 1, maxItems: 512, items: FILE }] },
    },
};
const EXTENSION_RESULTS = {
    'skills/list': {
        type: 'object', required: ['skills', 'ttlMs', 'cacheScope'],
        properties: { skills: { type: 'array', items: SKILL }, nextCursor: { type: 'string' }, ...CACHEABLE },
    },
    'skills/get': { type: 'object', required: ['skill', 'ttlMs', 'cacheScope'], properties: { skill: SKILL, ...CACHEABLE } },
};

// A handle in place of a result (mcp.md 7.2): the schema of the tasks extension, flat.
const HANDLE = {
    type: 'object', required: ['resultType', 'taskId', 'status', 'createdAt', 'lastUpdatedAt', 'ttlMs'],
    not: { anyOf: [{ required: ['content'] }, { required: ['structuredContent'] }, { required: ['task'] }, { required: ['requestState'] }] },
    properties: {
        taskId: { type: 'string', minLength: 16 }, ttlMs: { type: ['integer', 'null'] }, pollIntervalMs: { type: 'integer', minimum: 1 },
        status: { enum: ['working', 'input_required', 'completed', 'failed', 'cancelled'] }, statusMessage: { type: 'string' },
        createdAt: { type: 'string', format: 'date-time' }, lastUpdatedAt: { type: 'string', format: 'date-time' },
    },
};

function extensionProblem(revision, method, result) {
    const { ajv } = schemaOf(revision);
    const validate = ajv.getSchema(method) ?? ajv.addSchema(EXTENSION_RESULTS[method] ?? HANDLE, method).getSchema(method);
    return validate(result) ? undefined : `${method}: ${ajv.errorsText(validate.errors)}`;
}

function bodyProblem(revision, method, result) {
    if (EXTENSION_RESULTS[method]) return extensionProblem(revision, method, result);
    if (revision === '2026-07-28' && method === 'tools/call' && result?.resultType === 'task') return extensionProblem(revision, 'a handle', result);
    return RESULTS[method] ? problem(revision, RESULTS[method], result) : undefined;
}

/** Why a response with a result is wrong, envelope and result both. */
export function resultProblem(revision, method, m) {
    const s = schemaOf(revision);
    if (!s) return undefined;
    const envelope = s.defs.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
    if (m.error !== undefined) return 'both result and error';
    const modern = revision === '2026-07-28';
    if (modern && typeof m.result?.resultType !== 'string') return 'no resultType (MCP-M5)';
    if (!modern && ['resultType', 'ttlMs', 'cacheScope'].some(k => k in (m.result ?? {}))) return 'modern members in a legacy result (MCP-L4)';
    return problem(revision, envelope, m) ?? bodyProblem(revision, method, m.result);
}

/**
 * Why an error response or a notification is wrong. A request is never right, save roots/list to a legacy client
 * (SV-26) from a server that `asks`.
 */
export function messageProblem(revision, m, { asks = false } = {}) {
    const s = schemaOf(revision);
    const request = m.method !== undefined && m.id !== undefined;
    if (request && !(asks && m.method === 'roots/list' && revision !== '2026-07-28'))
        return 'a request to the client (MS-73, MCP-M7)';
    if (m.id === null) return 'id is null';
    if (!s) return undefined;
    if (request) return problem(revision, 'ServerRequest', m) ?? problem(revision, 'JSONRPCRequest', m);
    if (m.method !== undefined) return problem(revision, 'ServerNotification', m) ?? problem(revision, 'JSONRPCNotification', m);
    // An error without id answers what could not be read; before 2025-11-25 the schemas have no form for it, so that
    // revision's is taken for all.
    if (m.id === undefined) return problem('2025-11-25', 'JSONRPCErrorResponse', m);
    if (revision === '2026-07-28' && [-32002, -32042].includes(m.error?.code)) return 'code of another era (MCP-M15)';
    if (revision === '2026-07-28' && m.error?.code === -32022) return problem(revision, 'UnsupportedProtocolVersionError', m);
    return problem(revision, s.defs.JSONRPCErrorResponse ? 'JSONRPCErrorResponse' : 'JSONRPCError', m);
}

/** Why a request to a client that declared `roots` is wrong: only these are asked for (SV-26). */
export function requestProblem(revision, m) {
    return m.method === 'roots/list' ? problem(revision, 'ListRootsRequest', m) ?? problem(revision, 'JSONRPCRequest', m)
        : 'a request other than roots/list to the client';
}

const compiled = new Map();     // by the schema's text: to compile one costs more than a thousand checks with it
function compile(schema) {
    const text = JSON.stringify(schema);
    if (!compiled.has(text)) {
        const Ajv = require('ajv/dist/2020').default, ajv = new Ajv({ strict: false, allErrors: true });
        const validate = ajv.compile(schema);
        compiled.set(text, value => (validate(value) ? undefined : ajv.errorsText(validate.errors)));
    }
    return compiled.get(text);
}

/** Why a value does not fit a JSON Schema of 2020-12; without the packages, nothing is found. */
export function valueProblem(schema, value) {
    try { require.resolve('ajv/dist/2020'); } catch { return undefined; }
    return compile(schema)(value);
}

/** Why a message of ours to a backing server is wrong. */
export function clientProblem(revision, m) {
    const s = schemaOf(revision);
    if (!s) return undefined;
    if (m.method === undefined) {
        if (revision === '2026-07-28') return 'a response to a modern server (MCP-C18)';
        return m.error ? problem(revision, s.defs.JSONRPCErrorResponse ? 'JSONRPCErrorResponse' : 'JSONRPCError', m)
            : problem(revision, s.defs.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse', m);
    }
    return problem(revision, m.id === undefined ? 'ClientNotification' : 'ClientRequest', m);
}

/** Compiles what a session in the usual revision needs, before anything is timed. */
export function warm() {
    for (const [method, result] of [['tools/call', { content: [] }], ['initialize', {}], ['ping', {}], ['tools/list', {}]])
        resultProblem('2025-11-25', method, { jsonrpc: '2.0', id: 1, result });
    messageProblem('2025-11-25', { jsonrpc: '2.0', method: 'notifications/x' });
    messageProblem('2025-11-25', { jsonrpc: '2.0', id: 1, error: { code: 1, message: '' } });
    clientProblem('2025-11-25', { jsonrpc: '2.0', id: 1, method: 'x' });
    clientProblem('2025-11-25', { jsonrpc: '2.0', method: 'x' });
    clientProblem('2026-07-28', { jsonrpc: '2.0', id: 1, method: 'x' });
}
