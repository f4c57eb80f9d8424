// SPDX-License-Identifier: MIT OR Apache-2.0
//
// fetch: a page of 100 KB and one of 5 MB from a web server on this machine, robots.txt included once; start and memory. The reference
// server is Python's (mcp-server-fetch) and not of npm: its start and memory stand beside ours when $MCP_SERVER_FETCH names its program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bin, drive, envOf, expect, home, median, ms, steps } from '../lib.mjs';

const ROUNDS = 5, CALLS = 50;
const open = steps.openAs('2025-11-25');
const ours = [bin, 'fetch', '--allow-host', '127.0.0.1'];
const theirs = process.env.MCP_SERVER_FETCH ? [process.env.MCP_SERVER_FETCH] : undefined;

/** In a process of its own: the probe holds this one up. Prints its port. */
const site = `
    const part = '<h2>A heading</h2><p>Some <b>bold</b> words and <a href="/there">a link</a>, again and again.</p><ul><li>one<li>two</ul>';
    const page = n => '<html><body>' + part.repeat(n / part.length) + '</body></html>';
    const pages = { '/small': page(1e5), '/large': page(5e6) };
    require('http').createServer((q, r) => {
        r.writeHead(pages[q.url] ? 200 : 404, { 'content-type': 'text/html' }).end(pages[q.url]);
    }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

function call(command, url, rounds) {
    const script = open + steps.loop('first', 1, 1, 'fetch', { url }) + steps.loop('call', rounds, 20, 'fetch', { url });
    return ms(expect(drive(command, script, { env: envOf(home('fetch')) })('call'), 'A heading'));
}

function start(command) {
    const all = Array.from({ length: ROUNDS }, () => {
        const of = drive(command, open + steps.sleep(300) + steps.memory('idle') + steps.eof('exit'), { env: envOf(home('fetch')) });
        return { list: of('list')[0].since_spawn, rss: of('idle')[0].rss_mb };
    });
    return { list: median(all.map(s => s.list)), rss: median(all.map(s => s.rss)) };
}

export default async function rows() {
    const web = spawn(process.execPath, ['-e', site], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
        const origin = `http://127.0.0.1:${String((await once(web.stdout, 'data'))[0]).trim()}`;
        const mine = start([bin, 'fetch']), reference = theirs && start(theirs);
        const beside = key => (reference ? { 'mcp-server-fetch': reference[key] } : {});
        return [
            { what: 'a page of 100 KB', unit: 'ms', ours: call(ours, `${origin}/small`, CALLS) },
            { what: 'a page of 5 MB', unit: 'ms', ours: call(ours, `${origin}/large`, 5) },
            { what: 'spawn -> tools/list', unit: 'ms', ours: mine.list, beside: beside('list') },
            { what: 'RSS idle', unit: 'MB', ours: mine.rss, beside: beside('rss') },
        ];
    } finally {
        web.kill();
    }
}
