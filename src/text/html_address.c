/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses of links and images. */
#include <string.h>

#include "base/mem.h"
#include "text/html_impl.h"
#include "text/url.h"

#define PARENS_NEST_MAX 8             /* CommonMark's readers give up at 32 */
#define UNSAFE          "<>\"\\|`{}^" /* in an address, in Markdown or in a table */

/* Lead nowhere outside of a browser, or hold the data itself. */
static const char *const no_schemes[] = { "javascript", "data", "vbscript", "blob", "about" };

static bool leads_somewhere(struct str scheme)
{
    for (size_t i = 0; i < ARRAY_LEN(no_schemes); i++) {
        if (str_icase_eq(scheme, str_of(no_schemes[i])))
            return false;
    }
    return true;
}

/* Markdown reads balanced parentheses inside an address as part of it. */
static bool parens_balanced(struct str s)
{
    int depth = 0;

    for (size_t i = 0; i < s.n && depth >= 0 && depth <= PARENS_NEST_MAX; i++)
        depth += (s.p[i] == '(') - (s.p[i] == ')');
    return depth == 0;
}

static void put_safe(struct buf *out, struct str s)
{
    const char *unsafe = parens_balanced(s) ? UNSAFE : UNSAFE "()";

    while (s.n > 0) {
        size_t n = 0;

        while (n < s.n && (unsigned char)s.p[n] > ' ' && s.p[n] != 0x7f &&
               !strchr(unsafe, s.p[n]))
            n++;
        buf_add(out, str_upto(s, n));
        if (n < s.n)
            buf_addf(out, "%%%02X", (unsigned char)s.p[n]);
        s = str_from(s, n + 1);
    }
}

/* Line feeds and tabs inside an attribute are not of the address, nor is space around it. */
static void put_without_breaks(struct buf *out, struct str s)
{
    s = str_trim(s);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\n' && s.p[i] != '\t' && s.p[i] != '\r')
            buf_addc(out, s.p[i]);
    }
}

bool html_address(struct html_md *m, struct str attr, struct buf *out)
{
    auto_buf written = BUF(HTML_URL_MAX * 3), absolute = BUF(SIZE_MAX);
    struct str s;

    if (attr.n == 0 || attr.n > HTML_URL_MAX)
        return false;
    put_without_breaks(&written, html_chars(attr, CHARS_ATTR, &m->chars));
    s = buf_str(&written);
    if (s.n == 0 || !leads_somewhere(url_split(s).scheme))
        return false;
    if (url_resolve(buf_str(&m->base), s, &absolute))
        s = buf_str(&absolute);
    put_safe(out, s);
    return true;
}
