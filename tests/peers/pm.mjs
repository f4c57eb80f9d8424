// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A package manager whose packages stand in a file: node pm.mjs NAME FILE. The file is read anew for each request:
//
//   {"list_deps": X, "active_plugins": X, "load_plugin": {"w": X, "w >=2": X}, "fetch": {"w": X}, ...}
//
// X: {"result": any}, {"error": code, "message"?}, {"do": "exit|garbage|half|silent|wrong-id|long|kill"}. What is not in the file
// is answered with -32001. FILE.log gets a line "start PID" and one "METHOD PARAMS" for each request.
import fs from 'node:fs';
import readline from 'node:readline';

const [name, file] = process.argv.slice(2);
const log = line => fs.appendFileSync(`${file}.log`, `${line}\n`);
const say = m => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`);

const hazards = {
    exit: () => { console.error('last words'); process.exit(7); },
    garbage: () => process.stdout.write('this is no JSON\n'),
    half: () => { process.stdout.write('{"jsonrpc":"2.0","id":2,"resu'); setTimeout(() => process.exit(3), 20); },
    silent: () => {},
    'wrong-id': () => say({ id: 4711, result: [] }),
    long: () => process.stdout.write(`${'x'.repeat(20 << 20)}\n`),
    kill: () => process.kill(process.pid, 'SIGKILL'),
};

function answer({ id, method, params }) {
    const catalog = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (method === 'initialize' && !catalog.initialize) return say({ id, result: { protocol_version: 1, name } });
    let x = catalog[method];
    if (params?.id) x = x?.[`${params.id.name} ${params.id.version}`] ?? x?.[params.id.name];
    if (x?.do) return hazards[x.do]();
    if (x && 'result' in x) return say({ id, result: x.result });
    return say({ id, error: { code: x?.error ?? -32001, message: x?.message ?? 'because' } });
}

log(`start ${process.pid}`);
readline.createInterface({ input: process.stdin }).on('line', line => {
    const m = JSON.parse(line);
    log(`${m.method} ${JSON.stringify(m.params ?? {})}`);
    answer(m);
});
