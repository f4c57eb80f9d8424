// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Questions of people to the package managers that come with Symposium, with `npm` and `cargo` of ours in PATH, or none:
// search, package-info, and `use` of what is nowhere. PM-2, PM-5, PM-17, PM-21.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { basic, run, scenario, slack } from './harness.mjs';

const configure = (place, more = {}) => place.config({ defaults: { 'symposium-recommendations': false }, ...more });

/** PATH with `npm` and `cargo` that note each call and then do this. */
function tools(place, scripts) {
    fs.mkdirSync(place.path('tools'), { recursive: true });
    for (const [name, script] of Object.entries(scripts)) {
        place.write(`tools/${name}`, `#!/bin/sh\necho "${name} $1" >>${place.path('calls')}\n${script}\n`);
        fs.chmodSync(place.path('tools', name), 0o755);
    }
    return { PATH: `${place.path('tools')}:/usr/bin:/bin`, CARGO_HOME: place.path('cargo-home'), SYMPOSIUM_CARGO: undefined };
}
/** PATH with nothing but what `npm` and `cargo` are not. */
const none = place => ({ PATH: place.path('no-tools'), CARGO_HOME: place.path('cargo-home'), SYMPOSIUM_CARGO: undefined });
const calls = place => (fs.existsSync(place.path('calls')) ? fs.readFileSync(place.path('calls'), 'utf8').trim().split('\n') : []).sort();
const json = (code, summary) => `echo '{"error":{"code":"${code}","summary":"${summary}"}}'; exit 1`;
const cargoSays = text => `printf '%b' ${JSON.stringify(text)} >&2; exit 101`;

async function timed(place, args, env) {
    const from = performance.now(), r = await run(place, args, { env });
    return { ...r, ms: performance.now() - from };
}

scenario('PM-5: a registry that knows no such package says no once: search and package-info are quick and say who said it', async place => {
    configure(place);
    const env = tools(place, {
        npm: json('E404', 'Not Found'),
        cargo: `case $1 in search) ${cargoSays('error: failed to retrieve search results\\n\\nCaused by:\\n  failed to get a 200 OK response, got 404\\n')};;\n` +
            `*) ${cargoSays('error: no matching package named `nowhere` found\\n')};; esac`,
    });
    for (const args of [['search', 'nowhere'], ['package-info', 'nowhere'], ['crate-info', 'nowhere']]) {
        const r = await timed(place, args, env);
        assert.match(r.err, /package manager 'cargo': \w+: found nothing: cargo /);
        assert.match(r.err, /package manager 'npm': \w+: found nothing: npm: Not Found/);
        assert.ok(r.ms < 2000 * slack, `${args}: ${r.ms} ms`);
    }
    assert.deepEqual(calls(place), ['cargo fetch', 'cargo fetch', 'cargo search', 'npm pack', 'npm pack', 'npm search'], 'nobody is asked twice');
});

scenario('PM-5: without cargo and npm each is named, with what to install; nothing is tried again', async place => {
    configure(place);
    for (const args of [['search', 'nowhere'], ['package-info', 'nowhere']]) {
        const r = await timed(place, args, none(place));
        assert.match(r.err, /package manager 'cargo': \w+: a program is missing: cannot execute 'cargo': no such program in PATH; install Rust, or name a cargo in SYMPOSIUM_CARGO/);
        assert.match(r.err, /package manager 'npm': \w+: a program is missing: cannot execute 'npm': no such program in PATH; install Node\.js/);
        assert.ok(r.ms < 2000 * slack, `${args}: ${r.ms} ms`);
    }
});

scenario('PM-5: one that is not installed does not hide what the other found, and is told where the workspace speaks of it', async place => {
    configure(place);
    const env = tools(place, { npm: `echo '[{"name":"found","version":"1.0.0"}]'` });
    let r = await run(place, ['search', 'found'], { env });
    assert.match(r.out, /npm:found 1\.0\.0/);
    assert.doesNotMatch(r.err, /cargo/);
    place.write('work/Cargo.toml', '[package]\nname = "w"\nversion = "0.1.0"\n');
    r = await run(place, ['search', 'found'], { env });
    assert.match(r.out, /npm:found 1\.0\.0/);
    assert.match(r.err, /cargo.*a program is missing/);
});

scenario('PM-5: a network that fails is asked four times, and both at once', async place => {
    configure(place);
    const env = tools(place, { npm: json('ECONNREFUSED', 'no route'), cargo: cargoSays('error: x\\n\\nCaused by:\\n  [7] Could not connect to server\\n') });
    const r = await timed(place, ['search', 'nowhere'], env);
    assert.match(r.err, /'cargo': search: the network failed[^]*'npm': search: the network failed/);
    assert.deepEqual(calls(place), [...Array(4).fill('cargo search'), ...Array(4).fill('npm search')]);
    assert.ok(r.ms < 5250 + 2000 * slack, `${r.ms} ms: the pauses are those of one`);
});

scenario('PM-7 MS-2: [plugins] use of what is nowhere runs no cargo and no npm in tools, status and doctor, and costs no wait', async place => {
    configure(place, { plugins: { use: ['nowhere'] } });
    place.write('work/package.json', '{"name":"w"}');
    place.write('work/Cargo.toml', '[package]\nname = "w"\nversion = "0.1.0"\n');
    const env = tools(place, { npm: 'sleep 60', cargo: 'sleep 60' });
    for (const args of [['tools'], ['status'], ['doctor']]) {
        const r = await timed(place, args, env);
        assert.match(r.out + r.err, /package nowhere: no package manager here knows it/, args[0]);
        assert.ok(r.ms < 2000 * slack, `${args}: ${r.ms} ms`);
    }
    assert.deepEqual(calls(place), []);
});

scenario('PM-21 PM-7 PL-33: sync fetches what [plugins] use names in npm, and only then; from there on nobody runs npm', async place => {
    configure(place, { plugins: { use: [{ pm: 'npm', name: 'wanted' }] } });
    const { name, command, args } = place.peer('gadget', basic());
    place.write('wanted/package/package.json', JSON.stringify({ name: 'wanted', version: '1.2.3', symposium: { mcp_servers: [{ name, command, args }] } }));
    const pack = `for a; do case $a in --pack-destination=*) tar czf "\${a#*=}/wanted-1.2.3.tgz" -C ${place.path('wanted')} package;; esac; done`;
    const env = tools(place, { npm: pack, cargo: 'exit 1' });
    let r = await run(place, ['tools'], { env });
    assert.match(r.out, /package npm:wanted: package manager 'npm': it has no plugin there/);
    assert.deepEqual(calls(place), [], 'none fetches nothing');
    r = await run(place, ['sync'], { env });
    assert.doesNotMatch(r.err, /wanted/);
    assert.deepEqual(calls(place), ['npm pack']);
    for (const args of [['tools'], ['sync'], ['tools']]) r = await run(place, args, { env });
    assert.match(r.out, /gadget/);
    assert.equal((await run(place, ['call', 'gadget.echo', 'text=x'], { env })).out.trim(), '{"text":"x"}');
    assert.deepEqual(calls(place), ['npm pack'], 'what is here is not asked for again');
});

scenario('PM-5: sync brings in what [plugins] use names; a registry that says no is asked once a run', async place => {
    configure(place, { plugins: { use: ['nowhere'] } });
    place.write('work/package.json', '{"name":"w"}');
    const env = tools(place, { npm: json('E404', 'Not Found'), cargo: cargoSays('error: no matching package named `nowhere` found\\n') });
    const r = await timed(place, ['sync', '--update', 'check'], env);
    assert.match(r.err, /package nowhere: no package manager here knows it/);
    assert.deepEqual(calls(place), ['cargo fetch', 'npm pack']);
    const missing = await timed(place, ['sync', '--update', 'check'], none(place));
    assert.match(missing.err, /package nowhere: package manager 'cargo': load_plugin: a program is missing/);
});
