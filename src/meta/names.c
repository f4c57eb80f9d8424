/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/names.h"

#include <limits.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "sandbox/hidden.h"

#define CLOSEST_MAX_WORK 1000000 /* pairs of letters: some milliseconds */
#define SHOWN_NAME_MAX   100     /* bytes of a name in a message */

struct names_bucket {
    const struct tool_names **v;
    size_t n, cap;
};

bool is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c != '_' && c != '$' && !(ascii_alnum(c) && (i || c < '0' || c > '9')))
            return false;
    }
    return s.n > 0;
}

/* Lower case without what is neither ASCII alphanumeric nor part of a non-ASCII character. */
static struct str loosened(struct arena *a, struct str key)
{
    char *p = arena_alloc(a, key.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (c >= 'A' && c <= 'Z')
            p[n++] = (char)(c - 'A' + 'a');
        else if (ascii_alnum(c) || (unsigned char)c >= 0x80)
            p[n++] = c;
    }
    return (struct str){ p, n };
}

static struct str sanitized(struct arena *a, struct str wire)
{
    char *p = arena_alloc(a, wire.n + 2);
    size_t n = 0;

    if (!wire.n || (wire.p[0] >= '0' && wire.p[0] <= '9'))
        p[n++] = '_';
    for (size_t i = 0; i < wire.n; i++)
        p[n++] =
            ascii_alnum(wire.p[i]) || wire.p[i] == '_' || wire.p[i] == '$' ? wire.p[i] : '_';
    return utf8_cut((struct str){ p, n }, 64);
}

static void add_loose(struct names *n, const struct tool_names *t, struct str key)
{
    struct str loose = loosened(&n->arena, key);
    struct names_bucket *b;

    if (!loose.n)
        return;
    b = map_get(&n->loose, loose);
    if (!b) {
        b = ARENA_NEW(&n->arena, struct names_bucket);
        map_put(&n->loose, loose, b);
    }
    for (size_t i = 0; i < b->n; i++)
        if (b->v[i] == t)
            return;
    ARENA_PUSH(&n->arena, b) = t;
}

static void claim(struct names *n, struct tool_names *t, struct str key)
{
    map_put(&n->exact, key, t);
    add_loose(n, t, key);
}

/* `suffixes`: the last one tried for each base, so that thousands of clashes stay cheap. */
static void add_alias(struct names *n, struct tool_names *t, struct map *suffixes)
{
    struct str base = sanitized(&n->arena, t->tool->name);
    struct str alias;
    uintptr_t suffix;

    if (script_always_hides(base))
        base = str_of(arena_printf(&n->arena, "%.*s_", STR_F(base)));
    alias = base;
    suffix = (uintptr_t)map_get(suffixes, base);
    suffix = suffix ? suffix : 1;
    while (map_has(&n->exact, alias))
        alias = str_of(arena_printf(&n->arena, "%.*s_%zu", STR_F(base), (size_t)++suffix));
    map_put(suffixes, base, (void *)suffix);
    t->alias = alias;
    claim(n, t, alias);
}

void names_build(struct names *ret, const struct toolset *tools,
                 const struct tool_filter *filter)
{
    struct map suffixes = MAP;

    *ret = (struct names){ 0 };
    ret->v = ARENA_ARRAY(&ret->arena, struct tool_names, tools->n ? tools->n : 1);
    for (size_t i = 0; i < tools->n; i++) {
        if (!tool_visible(&tools->v[i], filter)) {
            ret->hidden++;
            continue;
        }
        struct tool_names *t = &ret->v[ret->n++];

        t->tool = &tools->v[i];
        if (script_always_hides(t->tool->name))
            continue;
        t->primary = t->tool->name;
        claim(ret, t, t->primary);
    }
    for (size_t i = 0; i < ret->n; i++)
        if (!is_identifier(ret->v[i].primary))
            add_alias(ret, &ret->v[i], &suffixes);
    map_free(&suffixes);
}

void names_free(struct names *n)
{
    map_free(&n->exact);
    map_free(&n->loose);
    arena_free(&n->arena);
    *n = (struct names){ 0 };
}

/*
 * The name that was probably meant: at least half of its letters are the same. Names as far
 * apart as their lengths alone say are not compared, and what is compared is bounded: it is
 * only a hint, and the loop waits for it.
 */
static struct str closest(const struct names *n, struct str loose)
{
    size_t best = SIZE_MAX, work = 0;
    struct str name = { 0 }, key;
    void *value;

    for (size_t i = 0; work < CLOSEST_MAX_WORK && map_next(&n->loose, &i, &key, &value);) {
        const struct names_bucket *b = value;
        size_t longer = loose.n > key.n ? loose.n : key.n;
        size_t apart = 2 * longer - loose.n - key.n, d;

        if (apart >= best || apart > longer / 2)
            continue;
        work += loose.n * key.n;
        d = str_distance(loose, key);
        if (d < best && d <= longer / 2) {
            best = d;
            name = b->v[0]->tool->name;
        }
    }
    return name;
}

static void put_name(struct buf *text, struct str name)
{
    auto_buf clean = BUF(4096);

    utf8_put_clean(&clean, utf8_cut(name, 1024));
    buf_add(text, utf8_cut(buf_str(&clean), SHOWN_NAME_MAX));
}

static const struct tool *fail_ambiguous(const struct names_bucket *b, struct error *e)
{
    auto_buf text = BUF(ERROR_MSG_MAX * 4);

    for (size_t i = 0; i < b->n; i++) {
        buf_addz(&text, i ? ", '" : "'");
        put_name(&text, b->v[i]->tool->name);
        buf_addc(&text, '\'');
    }
    error_set(e, ERR_INVALID, "this name could be %s; use the exact one", buf_z(&text));
    return NULL;
}

const struct tool *names_resolve(const struct names *n, struct str key, struct error *e)
{
    auto_arena scratch = ARENA;
    auto_buf near = BUF(ERROR_MSG_MAX);
    const struct tool_names *t = map_get(&n->exact, key);
    const struct names_bucket *b;
    struct str loose, hint;

    if (t)
        return t->tool;
    loose = loosened(&scratch, key);
    b = map_get(&n->loose, loose);
    if (b && b->n == 1)
        return b->v[0]->tool;
    if (b)
        return fail_ambiguous(b, e);
    if (n->hidden)
        buf_addf(&near,
                 " among those shown (%zu hidden by enabled-tools, disabled-tools or "
                 "read-only)",
                 n->hidden);
    hint = closest(n, loose);
    if (hint.n) {
        buf_addz(&near, "; the closest is '");
        put_name(&near, hint);
        buf_addc(&near, '\'');
    }
    error_set(e, ERR_NOT_FOUND, "no such tool%s; list_tools shows them all", buf_z(&near));
    return NULL;
}
