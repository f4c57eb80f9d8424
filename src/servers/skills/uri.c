/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/uri.h"

#include <string.h>

#define SCHEME "skill://"

/* What RFC 3986 lets stand in a segment as it is. */
static bool is_plain(unsigned char c)
{
    return ascii_alnum(c) || (c && strchr("-._~!$&'()*+,;=:@", c));
}

void skill_uri_put(struct buf *out, struct str name, struct str path)
{
    buf_addz(out, SCHEME);
    buf_add(out, name);
    buf_addc(out, '/');
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];

        if (c == '/' || is_plain(c))
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

/* Appends the segment decoded. */
static bool decode(struct buf *out, struct str segment)
{
    size_t start = out->n;
    struct str decoded;

    for (size_t i = 0; i < segment.n; i++) {
        char c = segment.p[i];

        if (c == '%') {
            int byte = str_percent(str_from(segment, i));

            if (byte < 0)
                return false;
            c = (char)byte;
            i += 2;
        }
        if (c == '\0' || c == '/')
            return false;
        buf_addc(out, c);
    }
    decoded = str_from(buf_str(out), start);
    return decoded.n > 0 && !str_is(decoded, ".") && !str_is(decoded, "..");
}

bool skill_uri_parse(struct arena *a, struct str uri, struct skill_uri *ret)
{
    auto_buf path = BUF(SKILL_URI_MAX);
    struct str rest, segment;

    if (uri.n > SKILL_URI_MAX || !str_starts(uri, STR(SCHEME)) ||
        str_find_char(uri, '?') != SIZE_MAX || str_find_char(uri, '#') != SIZE_MAX)
        return false;
    rest = str_from(uri, sizeof SCHEME - 1);
    *ret = (struct skill_uri){ .directory = true };
    if (!str_cut(rest, '/', &segment, &rest)) {
        ret->name = arena_str(a, rest);
        return rest.n > 0;
    }
    ret->name = arena_str(a, segment);
    while (rest.n) {
        ret->directory = str_cut(rest, '/', &segment, &rest);
        if (!ret->directory) {
            segment = rest;
            rest = (struct str){ 0 };
        }
        if (path.n)
            buf_addc(&path, '/');
        if (!decode(&path, segment))
            return false;
    }
    ret->path = arena_str(a, buf_str(&path));
    return ret->name.n > 0;
}
