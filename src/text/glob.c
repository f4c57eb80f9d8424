/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/glob.h"

#include <string.h>

#include "base/utf8.h"

bool glob_name(struct str pattern, struct str name)
{
    struct str piece, rest;

    if (!str_cut(pattern, '*', &piece, &rest))
        return str_eq(pattern, name);
    if (!str_starts(name, piece))
        return false;
    name = str_from(name, piece.n);

    /* Each piece between stars takes the first place that fits: a later one leaves less. */
    while (str_cut(rest, '*', &piece, &rest)) {
        size_t at = str_find(name, piece);

        if (at == SIZE_MAX)
            return false;
        name = str_from(name, at + piece.n);
    }
    return str_ends(name, rest);
}

/* ---- components ---- */

/* Takes one character (code point, or a byte that belongs to none) from the front of *s. */
static uint32_t take_char(struct str *s)
{
    uint32_t c;
    size_t n = utf8_decode(*s, &c);

    if (n == 0) {
        c = 0x110000u + (unsigned char)s->p[0]; /* equal to no code point */
        n = 1;
    }
    *s = str_from(*s, n);
    return c;
}

size_t glob_class(struct str s)
{
    size_t body = s.n > 1 && s.p[1] == '!' ? 2 : 1, end;

    if (s.n == 0 || s.p[0] != '[')
        return 0;
    /* One member at least, perhaps ']' itself. */
    end = str_find_char(str_from(s, body + 1), ']');
    return end == SIZE_MAX ? 0 : body + 1 + end + 1;
}

static bool class_has(struct str class, uint32_t c)
{
    bool negated = class.p[1] == '!', found = false;
    struct str s = { class.p + 1 + negated, class.n - 2 - negated };

    while (s.n) {
        uint32_t first = take_char(&s), last = first;

        if (s.n > 1 && s.p[0] == '-') {
            s = str_from(s, 1);
            last = take_char(&s);
        }
        found |= c >= first && c <= last;
    }
    return found != negated;
}

/* Matches a character of *name against the pattern's next item (no star); steps over both. */
static bool match_one(struct str *pattern, struct str *name)
{
    size_t class = glob_class(*pattern);
    struct str item = *pattern;
    uint32_t want, got;

    if (name->n == 0 || pattern->n == 0)
        return false;
    got = take_char(name);
    if (class) {
        *pattern = str_from(*pattern, class);
        return class_has(str_upto(item, class), got);
    }
    want = take_char(pattern);
    return want == '?' || want == got;
}

bool glob_component(struct str pattern, struct str name)
{
    struct str retry_pattern = { 0 }, retry_name = { 0 };
    bool starred = false;

    for (;;) {
        if (pattern.n && pattern.p[0] == '*') {
            pattern = str_from(pattern, 1);
            retry_pattern = pattern;
            retry_name = name;
            starred = true;
            continue;
        }
        if (pattern.n == 0 && name.n == 0)
            return true;
        if (match_one(&pattern, &name))
            continue;

        /* Give the last star one more character. Earlier stars need no second chance: what
         * matched between them and the last one took the first place that fits. */
        if (!starred || retry_name.n == 0)
            return false;
        take_char(&retry_name);
        pattern = retry_pattern;
        name = retry_name;
    }
}

/* ---- paths ---- */

/* Takes the next component, if any, skipping what counts for nothing. A leading '/' is not
 * such: see glob_path(). */
static bool take_component(struct str *s, struct str *ret)
{
    while (s->n) {
        if (!str_cut(*s, '/', ret, s)) {
            *ret = *s;
            s->n = 0;
        }
        if (ret->n && !str_is(*ret, "."))
            return true;
    }
    return false;
}

/* Steps over one component on both sides when they match. */
static bool match_component(struct str *pattern, struct str *path)
{
    struct str want, got;

    return take_component(pattern, &want) && take_component(path, &got) &&
           glob_component(want, got);
}

static bool at_end(struct str s)
{
    struct str part;

    return !take_component(&s, &part);
}

/* Steps over a '**' component. */
static bool skip_double_star(struct str *pattern)
{
    struct str rest = *pattern, part;

    if (!take_component(&rest, &part) || !str_is(part, "**"))
        return false;
    *pattern = rest;
    return true;
}

bool glob_path(struct str pattern, struct str path)
{
    struct str retry_pattern = { 0 }, retry_path = { 0 }, part;
    bool starred = false;

    if (str_starts(pattern, STR("/")) != str_starts(path, STR("/")))
        return false;
    for (;;) {
        if (skip_double_star(&pattern)) {
            retry_pattern = pattern;
            retry_path = path;
            starred = true;
            continue;
        }
        if (at_end(pattern) && at_end(path))
            return true;
        if (match_component(&pattern, &path))
            continue;
        if (!starred || !take_component(&retry_path, &part))
            return false;
        pattern = retry_pattern;
        path = retry_path;
    }
}

static bool check_component(struct str part, struct error *e)
{
    if (str_is(part, "**"))
        return true;
    while (part.n) {
        size_t class = glob_class(part);

        if (part.p[0] == '[' && class == 0)
            return error_set(e, ERR_INVALID, "'[' without ']' and members before it");
        if (str_starts(part, STR("**")))
            return error_set(e, ERR_INVALID, "'**' must stand alone between slashes");
        part = str_from(part, class ? class : 1);
    }
    return true;
}

bool glob_check(struct str pattern, struct error *e)
{
    struct str rest = pattern, part;

    if (pattern.n > GLOB_PATTERN_MAX)
        return error_set(e, ERR_LIMIT, "a pattern has at most %d bytes", GLOB_PATTERN_MAX);
    while (take_component(&rest, &part)) {
        if (!check_component(part, e))
            return error_wrap(e, "pattern '%.*s'", STR_F(pattern));
    }
    return true;
}

bool glob_has_wildcard(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        if (memchr("*?[", pattern.p[i], 3))
            return true;
    }
    return false;
}
