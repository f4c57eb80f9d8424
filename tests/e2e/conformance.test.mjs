// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The client scenarios of the protocol's conformance suite that need no OAuth, for both of its requirement sets. What is left out, and
// why, is in docs/reference/conformance.md. The suite and the Node that it wants are installed here: the slow suite alone needs them.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { before, test } from 'node:test';
import { bin, root } from './harness.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12', NODE = 'node@22';
const SCENARIOS = {
    '2025-11-25': ['initialize', 'tools_call', 'sse-retry', 'json-schema-2020-12-preservation'],
    '2026-07-28': ['tools_call', 'request-metadata', 'http-standard-headers', 'http-custom-headers', 'http-invalid-tool-headers',
        'json-schema-ref-no-deref', 'json-schema-2020-12-preservation'],
};
const skip = !process.env.TEST_SLOW && 'installs a suite and a Node of its own: TEST_SLOW';
const dir = path.join(root, '.build/conformance'), programs = path.join(dir, 'node_modules/.bin');

before(() => {
    if (skip || fs.existsSync(path.join(dir, '.ready'))) return;
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--prefix', dir, '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', SUITE, NODE], { stdio: 'inherit' });
    fs.writeFileSync(path.join(dir, '.ready'), '');
});

for (const [revision, names] of Object.entries(SCENARIOS))
    for (const name of names)
        test(`MCP-C1 MCP-C16 MCP-C17: conformance ${revision}: ${name}`, { skip }, async () => {
            const client = `node ${path.join(root, 'tests/fixtures/e2e/conformance-client.mjs')}`;
            const { stdout, stderr } = await promisify(execFile)(path.join(programs, 'conformance'),
                ['client', '--command', client, '--scenario', name, '--spec-version', revision, '-o', path.join(dir, 'results')],
                { env: { ...process.env, PATH: `${programs}:${process.env.PATH}`, SYMPOSIUM_BIN: bin }, cwd: dir });
            assert.match(stdout + stderr, /OVERALL: PASSED/, stdout + stderr);
        });
