/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/url.h"

#include <string.h>

static bool is_alpha(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Length of the scheme in front of a ':', 0 when there is none (section 3.1). */
static size_t scheme_length(struct str s)
{
    size_t i = 0;

    if (s.n == 0 || !is_alpha(s.p[0]))
        return 0;
    while (i < s.n && (is_alpha(s.p[i]) || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '+' ||
                       s.p[i] == '-' || s.p[i] == '.'))
        i++;
    return i < s.n && s.p[i] == ':' ? i : 0;
}

/* Takes what begins with `mark` off the end of *s; absent when the mark is not there. */
static struct str take_tail(struct str *s, char mark)
{
    struct str head, tail;

    if (!str_cut(*s, mark, &head, &tail))
        return (struct str){ 0 };
    *s = head;
    return tail;
}

struct url_parts url_split(struct str s)
{
    struct url_parts u = { 0 };
    size_t n = scheme_length(s);

    if (n > 0) {
        u.scheme = str_upto(s, n);
        s = (struct str){ s.p + n + 1, s.n - n - 1 };
    }
    u.fragment = take_tail(&s, '#');
    u.query = take_tail(&s, '?');
    if (str_starts(s, STR("//"))) {
        s = (struct str){ s.p + 2, s.n - 2 };
        n = str_find_char(s, '/');
        u.authority = str_upto(s, n);
        s = (struct str){ s.p + u.authority.n, s.n - u.authority.n };
    }
    u.path = s;
    return u;
}

/* Back to the '/' before the last segment of what was written behind `start`; that '/' goes
 * too. Each byte is passed over at most once, since it is gone then. */
static void drop_segment(struct buf *out, size_t start)
{
    size_t n = out->n;

    while (n > start && out->p[n - 1] != '/')
        n--;
    if (n > start)
        n--;
    buf_truncate(out, n);
}

/* Section 5.2.4: one segment with its leading '/' at a time. */
static void put_path(struct buf *out, struct str path)
{
    size_t start = out->n;

    while (path.n > 0) {
        size_t from = path.p[0] == '/', n;
        struct str segment, rest = str_from(path, from);

        n = str_find_char(rest, '/');
        segment = str_upto(rest, n);
        rest = str_from(rest, segment.n);
        if (str_is(segment, ".") || str_is(segment, "..")) {
            if (segment.n == 2)
                drop_segment(out, start);
            /* "/a/." is the directory: its '/' stays */
            if (rest.n == 0 && from)
                buf_addc(out, '/');
            if (!from) /* "../a": what follows a leading dot segment loses its '/' */
                rest = str_from(rest, 1);
        } else {
            buf_add(out, str_upto(path, from + segment.n));
        }
        path = rest;
    }
}

/* Section 5.2.3: the reference's path in place of the base's last segment. */
static void put_merged(struct buf *out, const struct url_parts *base, struct str path)
{
    auto_buf joined = BUF(SIZE_MAX);
    size_t n = base->path.n;

    while (n > 0 && base->path.p[n - 1] != '/')
        n--;
    if (base->authority.p && base->path.n == 0)
        buf_addc(&joined, '/');
    buf_add(&joined, str_upto(base->path, n));
    buf_add(&joined, path);
    put_path(out, buf_str(&joined));
}

static void put_part(struct buf *out, const char *before, struct str part)
{
    if (!part.p)
        return;
    buf_addz(out, before);
    buf_add(out, part);
}

bool url_resolve(struct str base, struct str reference, struct buf *out)
{
    struct url_parts from = url_split(base), ref = url_split(reference);
    struct str query = ref.query;
    bool own_authority = ref.scheme.p || ref.authority.p;

    if (!ref.scheme.p && !from.scheme.p)
        return false;
    buf_add(out, ref.scheme.p ? ref.scheme : from.scheme);
    buf_addc(out, ':');
    put_part(out, "//", own_authority ? ref.authority : from.authority);
    if (own_authority || str_starts(ref.path, STR("/"))) {
        put_path(out, ref.path);
    } else if (ref.path.n > 0) {
        put_merged(out, &from, ref.path);
    } else {
        buf_add(out, from.path);
        if (!query.p)
            query = from.query;
    }
    put_part(out, "?", query);
    put_part(out, "#", ref.fragment);
    return true;
}
