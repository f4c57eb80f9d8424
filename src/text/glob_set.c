/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All patterns lie one behind the other in one array of parts, each closed by an end mark. A
 * state is a set of positions in it, one bit each: "what stands before this part has matched".
 * Stepping over a name moves each position that takes it; '**' takes any and also stays.
 */
#include "text/glob_set.h"

#include <string.h>

#include "base/mem.h"
#include "text/glob.h"

enum kind {
    PART_END,
    PART_DEEP, /* '**' */
    PART_ALL,  /* '*' */
    PART_TEXT, /* no wildcard */
    PART_TAIL, /* '*' and then no wildcard: the commonest pattern, "*.c" */
    PART_GLOB,
};

struct part {
    enum kind kind;
    struct str text;
};

struct glob_set {
    struct arena *arena;
    struct part *v;
    size_t n, cap;
    size_t spelt; /* patterns added, alternatives counted one by one */
    struct {
        size_t *v; /* where the patterns begin */
        size_t n, cap;
    } first;
};

struct glob_set *glob_set_new(struct arena *a)
{
    struct glob_set *s = ARENA_NEW(a, struct glob_set);

    s->arena = a;
    return s;
}

/* ---- compiling ---- */

static bool limit_reached(struct error *e)
{
    return error_set(e, ERR_LIMIT, "the patterns have more than %d components",
                     GLOB_SET_PARTS_MAX);
}

static bool check_classes(struct str part, struct error *e)
{
    while (part.n) {
        size_t class = glob_class(part);

        if (part.p[0] == '[' && class == 0)
            return error_set(e, ERR_INVALID, "'[' without ']' and members before it");
        part = str_from(part, class ? class : 1);
    }
    return true;
}

static struct part part_of(struct str text)
{
    struct str tail = str_from(text, 1);

    if (str_is(text, "**"))
        return (struct part){ PART_DEEP, text };
    if (str_is(text, "*"))
        return (struct part){ PART_ALL, text };
    if (!glob_has_wildcard(text))
        return (struct part){ PART_TEXT, text };
    if (text.p[0] == '*' && !glob_has_wildcard(tail))
        return (struct part){ PART_TAIL, tail };
    return (struct part){ PART_GLOB, text };
}

/* Appends the parts of a pattern without braces; `pattern` lives as long as the set. */
static bool add_plain(struct glob_set *s, struct str pattern, struct error *e)
{
    size_t from = s->n;
    struct str rest = pattern, text;

    if (++s->spelt > GLOB_SET_PARTS_MAX)
        return limit_reached(e);
    while (str_next(&rest, '/', &text)) {
        if (text.n == 0 || str_is(text, "."))
            continue;
        /* "**" behind "**" adds nothing, and each would be entered from each before it. */
        if (str_is(text, "**") && s->n > from && s->v[s->n - 1].kind == PART_DEEP)
            continue;
        if (!check_classes(text, e))
            return false;
        if (s->n + 2 > GLOB_SET_PARTS_MAX)
            return limit_reached(e);
        ARENA_PUSH(s->arena, s) = part_of(text);
    }
    if (s->n == from)
        return true;
    if (pattern.p[0] == '/') {
        s->n = from;
        return true;
    }
    ARENA_PUSH(s->arena, s) = (struct part){ PART_END, { 0 } };
    ARENA_PUSH(s->arena, &s->first) = from;
    return true;
}

/* A brace of a pattern: where it stands, how long it is, whether it holds a comma of its own.
 */
struct brace {
    size_t at, length;
    bool alternatives;
};

/* s begins with '{'. Classes are taken whole. */
static bool measure_brace(struct str s, struct brace *b, struct error *e)
{
    size_t depth = 0;

    for (size_t i = 0, class; i < s.n; i += class ? class : 1) {
        class = glob_class(str_from(s, i));
        if (class)
            continue;
        depth += s.p[i] == '{';
        if (depth > GLOB_SET_NESTING_MAX)
            return error_set(e, ERR_LIMIT, "braces are nested deeper than %d",
                             GLOB_SET_NESTING_MAX);
        b->alternatives |= s.p[i] == ',' && depth == 1;
        if (s.p[i] == '}' && --depth == 0) {
            b->length = i + 1;
            return true;
        }
    }
    return error_set(e, ERR_INVALID, "'{' without '}'");
}

/* The first brace that stands for alternatives; length 0 when there is none. */
static bool find_brace(struct str pattern, struct brace *ret, struct error *e)
{
    *ret = (struct brace){ 0 };
    for (size_t i = 0, class; i < pattern.n; i += class ? class : 1) {
        class = glob_class(str_from(pattern, i));
        if (pattern.p[i] != '{')
            continue;
        *ret = (struct brace){ .at = i };
        if (!measure_brace(str_from(pattern, i), ret, e))
            return false;
        if (ret->alternatives)
            return true;
    }
    ret->length = 0;
    return true;
}

/* Length of the first alternative of s, up to a comma or the end. */
static size_t alternative_length(struct str s)
{
    size_t depth = 0, i = 0;

    for (size_t class; i < s.n; i += class ? class : 1) {
        class = glob_class(str_from(s, i));
        if (class)
            continue;
        if (s.p[i] == ',' && depth == 0)
            break;
        depth += s.p[i] == '{';
        depth -= s.p[i] == '}';
    }
    return i;
}

struct spellings {
    struct str *v;
    size_t n, cap;
};

/* Appends the pattern once for each alternative of the brace. */
static bool spell_out(struct arena *a, struct spellings *l, struct str pattern, struct brace b,
                      struct error *e)
{
    struct str body = str_upto(str_from(pattern, b.at + 1), b.length - 2);
    struct str behind = str_from(pattern, b.at + b.length);

    for (;;) {
        size_t n = alternative_length(body);

        if (l->n >= GLOB_SET_ALTERNATIVES_MAX)
            return error_set(e, ERR_LIMIT, "the braces stand for more than %d alternatives",
                             GLOB_SET_ALTERNATIVES_MAX);
        ARENA_PUSH(a, l) = str_of(arena_printf(a, "%.*s%.*s%.*s", (int)b.at, pattern.p, (int)n,
                                               body.p, STR_F(behind)));
        if (n == body.n)
            return true;
        body = str_from(body, n + 1);
    }
}

bool glob_set_add(struct glob_set *s, struct str pattern, struct error *e)
{
    struct spellings l = { 0 };
    struct brace b;

    if (pattern.n > GLOB_PATTERN_MAX)
        return error_set(e, ERR_LIMIT, "a pattern has at most %d bytes", GLOB_PATTERN_MAX);
    if (memchr(pattern.p ? pattern.p : "", '\0', pattern.n))
        return error_set(e, ERR_INVALID, "it holds a NUL character");
    ARENA_PUSH(s->arena, &l) = arena_str(s->arena, pattern);
    /* What was spelt out goes to the end and is looked at again: braces may follow or be
     * nested. A place in the list that was replaced is reused by the last one. */
    for (size_t i = 0; i < l.n;) {
        if (!find_brace(l.v[i], &b, e))
            return false;
        if (b.length == 0) {
            i++;
            continue;
        }
        pattern = l.v[i];
        l.v[i] = l.v[--l.n];
        if (!spell_out(s->arena, &l, pattern, b, e))
            return false;
    }
    for (size_t i = 0; i < l.n; i++) {
        if (!add_plain(s, l.v[i], e))
            return false;
    }
    return true;
}

/* ---- matching ---- */

size_t glob_set_words(const struct glob_set *s)
{
    return s->n / 64 + 1;
}

/* Adds position i and those reached from it without a name: '**' may stand for nothing, unless
 * it is the last. */
static void enter(const struct glob_set *s, uint64_t *state, size_t i)
{
    for (;; i++) {
        state[i / 64] |= UINT64_C(1) << i % 64;
        if (s->v[i].kind != PART_DEEP || s->v[i + 1].kind == PART_END)
            return;
    }
}

void glob_set_start(const struct glob_set *s, uint64_t *ret_state)
{
    memset(ret_state, 0, glob_set_words(s) * sizeof *ret_state);
    for (size_t i = 0; i < s->first.n; i++)
        enter(s, ret_state, s->first.v[i]);
}

static bool part_takes(const struct part *p, struct str name)
{
    switch (p->kind) {
    case PART_END:
        return false;
    case PART_DEEP:
    case PART_ALL:
        return true;
    case PART_TEXT:
        return str_eq(p->text, name);
    case PART_TAIL:
        return str_ends(name, p->text);
    case PART_GLOB:
        return glob_component(p->text, name);
    }
    return false;
}

/* Position i has taken a name. */
static void advance(const struct glob_set *s, size_t i, uint64_t *to, struct glob_step *r)
{
    if (s->v[i].kind == PART_DEEP) {
        enter(s, to, i);
        r->goes_on = true;
    }
    if (s->v[i + 1].kind == PART_END) {
        r->matches = true;
    } else if (s->v[i].kind != PART_DEEP) {
        enter(s, to, i + 1);
        r->goes_on = true;
    }
}

struct glob_step glob_set_step(const struct glob_set *s, const uint64_t *from, struct str name,
                               uint64_t *to)
{
    struct glob_step r = { 0 };
    size_t words = glob_set_words(s);

    memset(to, 0, words * sizeof *to);
    for (size_t w = 0; w < words; w++) {
        for (uint64_t left = from[w]; left; left &= left - 1) {
            size_t i = w * 64 + (size_t)__builtin_ctzll(left);

            if (part_takes(&s->v[i], name))
                advance(s, i, to, &r);
        }
    }
    return r;
}

bool glob_set_match(const struct glob_set *s, struct str path)
{
    size_t words = glob_set_words(s);
    auto_free uint64_t *states = mem_alloc(2 * words * sizeof *states);
    uint64_t *at = states, *next = states + words, *swap;
    struct glob_step r = { 0 };
    struct str name;

    glob_set_start(s, at);
    while (path.n) {
        if (!str_cut(path, '/', &name, &path))
            name = path, path.n = 0;
        if (name.n == 0 || str_is(name, "."))
            continue;
        r = glob_set_step(s, at, name, next);
        swap = at, at = next, next = swap;
    }
    return r.matches;
}
