/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What can be told of a page before it is read: that it is one, and its encoding. */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/html_impl.h"

#define LOOK_MAX 100 /* characters in which "<html" is looked for (FE-3) */

static bool is_tag_end(struct str s, size_t at)
{
    return at >= s.n || s.p[at] == '>' || html_is_space(s.p[at]);
}

static struct str skip_space(struct str s)
{
    while (s.n > 0 && html_is_space(s.p[0]))
        s = str_from(s, 1);
    return s;
}

/* Offset of needle in s, letter case aside; SIZE_MAX when it is not there. */
static size_t find_icase(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++) {
        if (str_icase_eq((struct str){ s.p + i, needle.n }, needle))
            return i;
    }
    return SIZE_MAX;
}

/* The signatures of text/html in the MIME Sniffing standard, section 7.1. */
static bool begins_like_html(struct str s)
{
    static const char *const tags[] = {
        "<!doctype html", "<html", "<head",  "<script", "<iframe", "<h1",   "<div", "<font",
        "<table",         "<a",    "<style", "<title",  "<b",      "<body", "<br",  "<p",
    };

    s = skip_space(utf8_skip_bom(s));
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        struct str tag = str_of(tags[i]);

        if (s.n > tag.n && str_icase_eq(str_upto(s, tag.n), tag) && is_tag_end(s, tag.n))
            return true;
    }
    return str_starts(s, STR("<!--"));
}

bool html_looks_like(struct str text, struct str content_type)
{
    if (find_icase(utf8_cut_chars(text, LOOK_MAX), STR("<html")) != SIZE_MAX)
        return true;
    if (str_trim(content_type).n > 0)
        return find_icase(content_type, STR("text/html")) != SIZE_MAX;
    return begins_like_html(text);
}

/* ---- encoding -------------------------------------------------------------------------------
 */

/* What stands behind "charset=": a quoted text, or up to white space or ';'. Empty when the
 * quotes do not end. */
static struct str charset_value(struct str s)
{
    size_t n = 0;

    if (s.n > 0 && (s.p[0] == '"' || s.p[0] == '\'')) {
        struct str rest = str_from(s, 1);

        n = str_find_char(rest, s.p[0]);
        return str_upto(rest, n < rest.n ? n : 0);
    }
    while (n < s.n && !html_is_space(s.p[n]) && s.p[n] != ';')
        n++;
    return str_upto(s, n);
}

/* The encoding inside the value of a content attribute; empty when there is none. */
static struct str charset_in(struct str s)
{
    size_t at;

    while ((at = find_icase(s, STR("charset"))) != SIZE_MAX) {
        s = skip_space(str_from(s, at + strlen("charset")));
        if (str_starts(s, STR("=")))
            return charset_value(skip_space(str_from(s, 1)));
    }
    return (struct str){ 0 };
}

/* What the tag says of the encoding; empty when it says nothing. */
static struct str charset_of(const struct html_token *t)
{
    struct str charset = str_trim(html_attr(t, "charset"));

    if (charset.n == 0 &&
        str_icase_eq(str_trim(html_attr(t, "http-equiv")), STR("content-type")))
        charset = str_trim(charset_in(html_attr(t, "content")));
    if (str_icase_eq(str_upto(charset, 6), STR("utf-16")))
        return STR("utf-8"); /* it was just read as bytes */
    return charset;
}

struct str html_meta_charset(struct str bytes)
{
    struct html_tokenizer z = { .in = str_upto(bytes, HTML_SNIFF_MAX) };
    struct html_token t;

    while (html_next(&z, &t)) {
        struct str charset = { 0 };

        if (t.kind == TOKEN_START && t.tag == TAG_META)
            charset = charset_of(&t);
        if (charset.n > 0)
            return charset;
    }
    return (struct str){ 0 };
}
