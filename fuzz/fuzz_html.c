/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A page as it comes from a server. Whatever it holds, the Markdown is valid UTF-8 without
 * control characters and not much larger than the page, and either it or the error is there.
 * References resolve to something that resolves to itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/html.h"
#include "text/url.h"

/* A line of a few bytes may stand behind HTML_NEST_MAX margins of at most 11 bytes. */
#define GROWTH_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_characters(struct str s)
{
    must(utf8_valid(s));
    must(s.n > 0 && s.p[0] != '\n' && s.p[s.n - 1] != '\n');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        must(c >= 0x20 || c == '\n' || c == '\t');
        must(c != 0x7f && (c != 0xc2 || (unsigned char)s.p[i + 1] >= 0xa0));
    }
}

static void check_page(struct str page)
{
    auto_buf out = BUF(HTML_MARKDOWN_MAX);
    struct error e = { 0 };
    bool ok = html_to_markdown(page, STR("http://h/a/b?c"), &out, &e);

    must(ok ? e.kind == ERR_NONE && out.n > 0 : e.kind == ERR_NOT_FOUND && out.n == 0);
    if (ok)
        check_characters(buf_str(&out));
    if (str_find(page, STR("base")) == SIZE_MAX && str_find(page, STR("BASE")) == SIZE_MAX)
        must(out.n <= GROWTH_MAX * (page.n + 8));
    if (ok && page.n % 8 == 0) { /* one byte too few is an error, and nothing is left */
        auto_buf tight = BUF(out.n - 1);

        must(!html_to_markdown(page, STR("http://h/a/b?c"), &tight, &e));
        must(e.kind == ERR_LIMIT && tight.n == 0);
    }
}

static void check_reference(struct str reference)
{
    auto_buf target = BUF(SIZE_MAX), again = BUF(SIZE_MAX);

    must(url_resolve(STR("http://h/a/b?c"), reference, &target));
    must(target.n <= reference.n + strlen("http://h/a/b?c#"));
    must(url_resolve(STR("s:x"), buf_str(&target), &again));
    if (url_split(buf_str(&target)).authority.p)
        must(str_eq(buf_str(&target), buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str page = { (const char *)data, size }, head = str_upto(page, HTML_SNIFF_MAX),
               charset;

    check_page(page);
    check_reference(head);
    html_looks_like(page, (struct str){ 0 });
    charset = html_meta_charset(page);
    must(charset.n <= head.n || str_is(charset, "utf-8"));
    return 0;
}
