/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Git sources (plugins/checkout.h). Whatever is accepted is nothing that git could take for an
 * option or a helper, its sub-path stays below, and its key is the name of one directory, the
 * same at each reading.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/checkout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        must((unsigned char)s.p[i] >= 0x20 && s.p[i] != 0x7f);
}

/* What is an argument of its own. */
static void check_text(struct str s)
{
    check_clean(s);
    must(!s.n || s.p[0] != '-');
}

static void check_url(struct str url)
{
    static const char *const begins[] = { "https://", "http://", "ssh://", "git://",
                                          "file:///" };
    size_t colon = str_find_char(url, ':'), slash = str_find_char(url, '/');
    bool known = url.p[0] == '/';

    check_text(url);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        known |= str_starts(url, str_of(begins[i]));
    /* user@host:path, with no second colon that would make a helper of it */
    known |= colon != SIZE_MAX && colon < slash && url.p[colon + 1] != ':' &&
             str_find(url, STR("://")) != colon;
    must(known);
}

static void check_path(struct str path)
{
    struct str rest = path, one;

    check_clean(path); /* git gets it behind "<commit>:" */
    while (rest.n) {
        if (!str_cut(rest, '/', &one, &rest)) {
            one = rest;
            rest.n = 0;
        }
        must(one.n && !str_is(one, ".") && !str_is(one, "..") && !str_is(one, ".git"));
    }
}

static void check_key(struct str key)
{
    check_text(key);
    must(key.n && key.n < 240 && key.p[0] != '.');
    must(!memchr(key.p, '/', key.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    struct git_source s, again;
    struct error e = { 0 };
    auto_arena a = ARENA;

    if (!git_source_parse(&s, &a, text, &e)) {
        must(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    check_url(s.url);
    check_path(s.path);
    check_key(s.key);
    must(!s.ref.n || (!strchr("-+./@", s.ref.p[0]) && s.ref.n <= GIT_REF_MAX));
    check_text(s.ref);
    must(git_source_parse(&again, &a, text, NULL));
    must(str_eq(s.key, again.key) && str_eq(s.shown, again.shown));
    return 0;
}
