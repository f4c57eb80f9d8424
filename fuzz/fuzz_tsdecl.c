/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server's tool list as JSON. Whatever it holds, the declarations are one-line comments,
 * closed strings and balanced brackets in valid UTF-8 without control characters, and the same
 * input gives the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "meta/tsdecl.h"

#define OUT_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Behind the string or comment that begins at p. */
static const char *skip_quoted(const char *p)
{
    for (p++; *p != '"'; p++) {
        must(*p && *p != '\n');
        p += *p == '\\';
    }
    return p + 1;
}

static const char *skip_comment(const char *p)
{
    const char *end = strstr(p + 3, "*/"), *line = strchr(p, '\n');

    must(end && (!line || end < line));
    return end + 2;
}

static void check_shape(struct str text)
{
    static const char open[] = "({[<", close[] = ")}]>";
    char stack[512];
    size_t depth = 0;
    const char *at;

    must(utf8_valid(text));
    for (const char *p = text.p; p && *p;) {
        must(*p == '\n' || ((unsigned char)*p >= ' ' && *p != 0x7f));
        if (*p == '"') {
            p = skip_quoted(p);
            continue;
        }
        if (!strncmp(p, "/**", 3)) {
            p = skip_comment(p);
            continue;
        }
        if ((at = strchr(open, *p))) {
            must(depth < sizeof stack);
            stack[depth++] = close[at - open];
        } else if (strchr(close, *p)) {
            must(depth && stack[--depth] == *p);
        }
        p++;
    }
    must(depth == 0);
}

static void declare(struct buf *out, const struct names *n, enum list_detail detail)
{
    struct decl_server s = { STR("srv"), n, NULL };

    tsdecl_put(out, &s, 1, detail, &s.global, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tool_filter all = { 0 };
    auto_buf out = BUF(OUT_MAX), again = BUF(OUT_MAX);
    struct toolset set;
    struct names n;

    if (!toolset_load(&set, (struct str){ (const char *)data, size }, NULL))
        return 0;
    names_build(&n, &set, &all);
    declare(&out, &n, DETAIL_SIGNATURES);
    check_shape(buf_str(&out));
    buf_clear(&out);
    declare(&out, &n, DETAIL_FULL);
    if (buf_ok(&out, NULL))
        check_shape(buf_str(&out));
    declare(&again, &n, DETAIL_FULL);
    must(str_eq(buf_str(&out), buf_str(&again)));
    names_free(&n);
    toolset_free(&set);
    return 0;
}
