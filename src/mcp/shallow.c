/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mcp/shallow.h"

#include <string.h>

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* `p` is behind the opening quote; the result is behind the closing one. */
static const char *skip_string(const char *p, const char *end)
{
    const char *from = p;

    for (;;) {
        const char *quote = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
        size_t slashes = 0;

        if (!quote)
            return end;
        while (quote - slashes > from && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        p = quote + 1;
        if (slashes % 2 == 0)
            return p;
    }
}

/* Behind the value that begins at p: a string, a container, or a scalar up to the next comma or
 * bracket. */
static const char *skip_value(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        char c = *p;

        if (c == '"') {
            p = skip_string(p + 1, end);
            if (depth == 0)
                return p;
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return p;
            if (--depth == 0)
                return p + 1;
        } else if (c == ',' && depth == 0) {
            return p;
        }
        p++;
    }
    return end;
}

struct shallow shallow_of(struct str object)
{
    const char *end = object.p + object.n;
    const char *p = skip_blank(object.p, end);

    return (struct shallow){ .at = p < end && *p == '{' ? p + 1 : end, .end = end };
}

bool shallow_next(struct shallow *m)
{
    const char *p = skip_blank(m->at, m->end);
    const char *key;

    if (p < m->end && *p == ',')
        p = skip_blank(p + 1, m->end);
    if (p >= m->end || *p != '"')
        return false;
    key = p + 1;
    p = skip_string(key, m->end);
    m->key = (struct str){ key, (size_t)(p - key - (p > key)) };
    p = skip_blank(p, m->end);
    if (p >= m->end || *p != ':')
        return false;
    p = skip_blank(p + 1, m->end);
    m->at = skip_value(p, m->end);
    m->val = str_trim((struct str){ p, (size_t)(m->at - p) });
    m->text = (struct str){ key - 1, (size_t)(m->val.p + m->val.n - (key - 1)) };
    return m->val.n > 0;
}
