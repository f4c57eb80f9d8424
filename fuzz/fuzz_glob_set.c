/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A pattern, a line break, a path. The oracle is another matcher: it tries every way, one
 * inside the other, straight on the pattern with its braces. Stepping and whole paths agree,
 * and "goes on" is never false above a match.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/glob.h"
#include "text/glob_set.h"

#define SIDE_MAX  24     /* the oracle is exponential */
#define TRIES_MAX 200000 /* past these it has no opinion */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned tries;

/* Two lists of components, braces gone. */
static bool components_match(struct str pattern, struct str path)
{
    struct str want, got, more, rest;

    if (++tries > TRIES_MAX)
        return false;
    if (!str_cut(pattern, '/', &want, &more))
        want = pattern, more = (struct str){ 0 };
    if (!str_cut(path, '/', &got, &rest))
        got = path, rest = (struct str){ 0 };
    if (path.n && (got.n == 0 || str_is(got, ".")))
        return components_match(pattern, rest);
    if (pattern.n == 0)
        return path.n == 0;
    if (want.n == 0 || str_is(want, "."))
        return components_match(more, path);
    if (str_is(want, "**")) {
        /* Nothing behind but what counts for nothing: one component at least. */
        bool last = true;

        for (struct str m = more, part; m.n;) {
            if (!str_cut(m, '/', &part, &m))
                part = m, m.n = 0;
            last &= part.n == 0 || str_is(part, ".");
        }
        if (last)
            return path.n > 0;
        return components_match(more, path) || (path.n && components_match(pattern, rest));
    }
    return path.n && glob_component(want, got) && components_match(more, rest);
}

/* The comma or closing brace that ends the alternative at s. */
static size_t alternative_end(struct str s)
{
    int depth = 0;

    for (size_t i = 0, class; i < s.n; i += class ? class : 1) {
        class = glob_class(str_from(s, i));
        if (class)
            continue;
        if (depth == 0 && (s.p[i] == ',' || s.p[i] == '}'))
            return i;
        depth += (s.p[i] == '{') - (s.p[i] == '}');
    }
    return s.n;
}

static size_t brace_end(struct str s, size_t from)
{
    size_t i = from;

    do
        i += 1 + alternative_end(str_from(s, i + 1));
    while (i < s.n && s.p[i] == ',');
    return i;
}

static bool any_spelling_matches(struct str pattern, struct str path)
{
    char text[SIDE_MAX];

    for (size_t i = 0, class; i < pattern.n; i += class ? class : 1) {
        class = glob_class(str_from(pattern, i));
        if (pattern.p[i] != '{')
            continue;
        size_t end = brace_end(pattern, i), at = i + 1;
        if (at + alternative_end(str_from(pattern, at)) == end)
            continue; /* no comma: itself */
        while (at <= end) {
            size_t n = alternative_end(str_from(pattern, at));
            struct str behind = str_from(pattern, end + 1);

            if (i)
                memcpy(text, pattern.p, i);
            memcpy(text + i, pattern.p + at, n);
            if (behind.n)
                memcpy(text + i + n, behind.p, behind.n);
            if (any_spelling_matches((struct str){ text, i + n + behind.n }, path))
                return true;
            at += n + 1;
        }
        return false;
    }
    return (pattern.n == 0 || pattern.p[0] != '/') && components_match(pattern, path);
}

static bool has_component(struct str path)
{
    struct str part;

    while (path.n) {
        if (!str_cut(path, '/', &part, &path))
            part = path, path.n = 0;
        if (part.n && !str_is(part, "."))
            return true;
    }
    return false;
}

static void check_steps(const struct glob_set *s, struct str path, bool matches)
{
    uint64_t *at = mem_alloc(2 * glob_set_words(s) * sizeof *at),
             *next = at + glob_set_words(s);
    struct glob_step r = { .goes_on = true };
    bool pruned = false;
    struct str name;

    glob_set_start(s, at);
    while (path.n) {
        if (!str_cut(path, '/', &name, &path))
            name = path, path.n = 0;
        if (name.n == 0 || str_is(name, "."))
            continue;
        pruned |= !r.goes_on;
        r = glob_set_step(s, at, name, next);
        memcpy(at, next, glob_set_words(s) * sizeof *at);
    }
    if (r.matches != matches || (matches && pruned))
        abort();
    free(at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str pattern = { (const char *)data, size }, path = { 0 };
    auto_arena a = ARENA;
    struct glob_set *s = glob_set_new(&a);
    bool want;

    str_cut(pattern, '\n', &pattern, &path);
    if (!glob_set_add(s, pattern, NULL))
        return 0;
    check_steps(s, path, glob_set_match(s, path));
    if (pattern.n > SIDE_MAX || path.n > SIDE_MAX)
        return 0;
    tries = 0;
    want = has_component(path) && has_component(pattern) && any_spelling_matches(pattern, path);
    if (tries <= TRIES_MAX && want != glob_set_match(s, path))
        abort();
    return 0;
}
