/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/fetch/charset.h"
#include "text/html.h"

#define BINARY_SNIFF ((size_t)8 << 10) /* bytes in which a NUL makes it binary */
#define TYPE_SHOWN   256               /* bytes of a content type in an answer */

#define NO_MORE "<error>No more content available.</error>"
#define NOTHING "<error>Page failed to be simplified from HTML</error>"
#define TOO_LARGE                                                                           \
    "<error>The Markdown of this page would have more than %zu bytes; the fetch tool with " \
    "raw set gives the page as it is</error>"
#define NOT_A_PAGE \
    "Content type %s cannot be simplified to markdown, but here is the raw content:\n"
#define TRUNCATED                                                                      \
    "\n\n<error>Content truncated. Call the fetch tool with a start_index of %" PRId64 \
    " to get more content.</error>"

/* "Text/HTML; charset=x" has the essence text/html. */
static struct str essence(struct str type)
{
    struct str head, rest;

    return str_trim(str_cut(type, ';', &head, &rest) ? head : type);
}

static bool icase_starts(struct str s, struct str prefix)
{
    return str_icase_eq(str_upto(s, prefix.n), prefix);
}

static bool icase_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_icase_eq(str_from(s, s.n - suffix.n), suffix);
}

/* Text, JSON, XML, JavaScript, forms. */
static bool is_text_type(struct str type)
{
    static const char *const subtypes[] = { "json",         "xml",
                                            "javascript",   "ecmascript",
                                            "x-javascript", "x-www-form-urlencoded",
                                            "x-ndjson",     "jsonl",
                                            "yaml",         "x-yaml",
                                            "toml",         "xml-dtd" };
    struct str sub = str_from(type, str_find_char(type, '/') + 1);

    if (!type.n || icase_starts(type, STR("text/")) || icase_ends(type, STR("+json")) ||
        icase_ends(type, STR("+xml")) || icase_ends(type, STR("+yaml")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(subtypes); i++) {
        if (str_icase_eq(sub, str_of(subtypes[i])))
            return true;
    }
    return false;
}

static bool is_binary(const struct page *p, const char *charset)
{
    struct str head = str_upto(p->body, BINARY_SNIFF);

    if (!is_text_type(essence(p->type)))
        return true;
    return strncmp(charset, "UTF-16", 6) != 0 && str_find_char(head, '\0') != SIZE_MAX;
}

static void put_binary(const struct page *p, struct buf *out)
{
    auto_buf type = BUF(4 * TYPE_SHOWN);

    utf8_put_clean(&type, str_upto(p->type, TYPE_SHOWN));
    buf_addf(out, "%.*s holds binary data, which is not shown: content type %s, %zu bytes",
             STR_F(p->given), type.n ? buf_z(&type) : "unknown", p->body.n);
}

static void put_slice(const struct page *p, struct str text, struct buf *out)
{
    struct str slice, rest = str_from(text, utf8_cut_chars(text, (size_t)p->start).n);

    if (!rest.n) {
        buf_addz(out, NO_MORE);
        return;
    }
    slice = utf8_cut_chars(rest, (size_t)p->max);
    buf_add(out, slice);
    if (slice.n < rest.n)
        buf_addf(out, TRUNCATED, p->start + p->max);
}

static void put_content(const struct page *p, struct str prefix, struct str text,
                        struct buf *out)
{
    buf_add(out, prefix);
    if (p->whole) {
        buf_add(out, text);
        return;
    }
    buf_addf(out, "Contents of %.*s:\n", STR_F(p->given));
    put_slice(p, text, out);
}

static void put_markdown(const struct page *p, struct str html, struct buf *out)
{
    auto_buf text = BUF(HTML_MARKDOWN_MAX);
    struct error e;

    if (!html_to_markdown(html, p->url, &text, &e)) {
        buf_clear(&text);
        if (e.kind == ERR_LIMIT)
            buf_addf(&text, TOO_LARGE, HTML_MARKDOWN_MAX);
        else
            buf_addz(&text, NOTHING);
    }
    put_content(p, STR(""), buf_str(&text), out);
}

void page_render(const struct page *p, struct buf *out)
{
    const char *charset = charset_of(p->body, p->type);
    auto_buf text = BUF(p->body.n * CHARSET_GROWTH + 64), type = BUF(4 * TYPE_SHOWN),
             prefix = BUF(8 * TYPE_SHOWN);

    if (is_binary(p, charset)) {
        put_binary(p, out);
        return;
    }
    charset_decode(p->body, charset, &text);
    if (!p->raw && html_looks_like(buf_str(&text), p->type)) {
        put_markdown(p, buf_str(&text), out);
        return;
    }
    utf8_put_clean(&type, str_upto(p->type, TYPE_SHOWN));
    buf_addf(&prefix, NOT_A_PAGE, buf_z(&type));
    put_content(p, buf_str(&prefix), buf_str(&text), out);
}
