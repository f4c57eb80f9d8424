// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The official clients, each opened on a command in one of their modes.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const info = { name: 'e2e', version: '1' };

/** mode: 'v1', 'v2-legacy', 'v2-auto', 'v2-pinned', or 'v2-' + a legacy revision. */
export async function connect(mode, { command, args, env, cwd }, more = {}) {
    const server = { command, args, env, cwd, stderr: 'pipe' };
    if (mode === 'v1') {
        const client = new ClientV1(info, more);
        await client.connect(new StdioV1(server));
        return client;
    }
    const how = mode.slice(3);
    const options = how === 'legacy' ? { versionNegotiation: { mode: 'legacy' } }
        : how === 'auto' ? { versionNegotiation: { mode: 'auto', probe: { timeoutMs: 20000 } } }
        : how === 'pinned' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } }
        : { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [how] };
    const client = new ClientV2(info, { ...options, ...more });
    await client.connect(new StdioV2(server));
    return client;
}

export const MODES = ['v1', 'v2-legacy', 'v2-auto', 'v2-pinned'];
