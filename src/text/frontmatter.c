/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/frontmatter.h"

#include "base/utf8.h"

static struct str next_line(struct str *rest)
{
    struct str line = *rest;

    if (!str_cut(*rest, '\n', &line, rest))
        *rest = str_from(*rest, rest->n);
    return line;
}

static bool is_fence(struct str line)
{
    while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' ' ||
                      line.p[line.n - 1] == '\t'))
        line.n--;
    return str_is(line, "---");
}

bool frontmatter_split(struct str text, struct frontmatter *ret, struct error *e)
{
    struct str rest = utf8_skip_bom(text);
    struct str line = next_line(&rest);
    const char *start = line.p + line.n;

    if (!is_fence(line))
        return error_set(e, ERR_INVALID,
                         "line 1: no front matter: the first line must be '---'");
    while (rest.n) {
        line = next_line(&rest);
        if (!is_fence(line))
            continue;
        ret->yaml = (struct str){ start, (size_t)(line.p - start) };
        ret->body = rest;
        return true;
    }
    return error_set(e, ERR_INVALID, "line 1: the front matter has no closing '---'");
}
