// SPDX-License-Identifier: MIT OR Apache-2.0
//
// HTML to Markdown on a generated page of 5 MB, beside turndown with its tables of GitHub (what Node servers use).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../lib.mjs';
import { install, modules } from '../rivals.mjs';

const PAGE_BYTES = 5_000_000, ROUNDS = 7, RIVAL_ROUNDS = 3;
const out = path.join(root, '.build/bench'), src = path.join(root, 'src');

/** Sections of ordinary prose: headings, links, lists, code, a table each; the same page every time. */
function generatePage() {
    const words = 'alpha beta gamma delta of the and to in value server http request time snake_case (see below) fast, end.'.split(' ');
    let seed = 1, n = 0;
    const text = count => Array.from({ length: count }, () => words[(seed = (seed * 1103515245 + 12345) % 2147483648) % words.length]).join(' ');
    const parts = ['<!doctype html><html><head><title>Big</title><style>p { margin: 0 }</style></head><body><nav><ul>',
        ...Array.from({ length: 50 }, (_, i) => `<li><a href="/n/${i}">Item ${i}</a></li>`), '</ul></nav><main><h1>Big</h1>\n'];
    let sections = 0;
    while (n < PAGE_BYTES) {
        const s = `<section class="s"><h2 id="s${sections}">${text(4)}</h2><p class="text">${text(60)} <a href="../x/${sections}.html">${text(3)}</a> `
            + `${text(30)} <code>${text(1)}</code> &amp; &mdash; ${text(20)}.</p><ul><li>${text(8)}</li><li><b>${text(2)}</b> ${text(12)}</li></ul>`
            + '<pre><code class="language-c">int main(void)\n{\n    return 0;\n}\n</code></pre>'
            + `<table><tr><th>a</th><th>b</th></tr><tr><td>${text(3)}</td><td>${text(5)}</td></tr></table></section>\n`;
        parts.push(s);
        n += s.length;
        sections++;
    }
    return { page: `${parts.join('')}</main></body></html>\n`, headings: sections + 1 };
}

function build() {
    const to = path.join(out, 'html'), sources = fs.readdirSync(path.join(src, 'text')).filter(f => /^(html.*|url)\.c$/.test(f));
    fs.mkdirSync(path.join(out, 'text'), { recursive: true });
    fs.writeFileSync(path.join(out, 'text/entities.h'), execFileSync('sed',
        ['-f', path.join(src, 'text/entities.sed'), path.join(src, 'text/entities.txt')]));
    execFileSync('gcc', ['-std=gnu17', '-O3', '-D_GNU_SOURCE', '-I', src, '-I', out, '-o', to, path.join(root, 'bench/html.c'),
        ...sources.map(f => path.join(src, 'text', f)),
        ...['buf', 'clock', 'error', 'mem', 'rand', 'str', 'utf8'].map(f => path.join(src, 'base', `${f}.c`))],
    { stdio: ['ignore', 'inherit', 'inherit'] });
    return to;
}

/** MB/s of turndown, the best of a few rounds in this process. */
function turndown(page, headings) {
    install('turndown', { dependencies: { turndown: '7.2.5', 'turndown-plugin-gfm': '1.0.2' } });
    const require = createRequire(modules('turndown', 'turndown/package.json'));
    const TurndownService = require('turndown'), { gfm } = require('turndown-plugin-gfm');
    let best = Infinity;
    for (let i = 0; i < RIVAL_ROUNDS; i++) {
        const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
        service.use(gfm);
        service.remove(['title', 'style', 'script']);
        const began = performance.now(), text = service.turndown(page);
        best = Math.min(best, performance.now() - began);
        if ((text.match(/^#/gm) ?? []).length !== headings) throw new Error('turndown lost headings');
    }
    return page.length / 1000 / best;
}

export default async () => {
    const { page, headings } = generatePage(), beside = {};
    const [ms, length, found] = execFileSync(build(), [String(ROUNDS)], { input: page, encoding: 'utf8', maxBuffer: 1 << 20 }).split(' ').map(Number);
    if (found !== headings || length < PAGE_BYTES / 2) throw new Error(`html: ${found} headings of ${headings}, ${length} bytes`);
    try {
        beside.turndown = turndown(page, headings);
    } catch (e) {
        beside.turndown = `left out: ${e.message.split('\n')[0]}`;
    }
    return [{ what: 'HTML to Markdown, 5 MB', unit: 'MB/s', ours: page.length / 1000 / ms, beside }];
};
