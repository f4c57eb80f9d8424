/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/patterns.h"

#include "base/mem.h"

/* What is below a path that is left out is never looked at, and "**" may stand for nothing: so
 * this one says what "P, or **, slash, P, or that with all below" would. */
static struct str as_tail(struct arena *a, struct str pattern)
{
    return str_of(arena_printf(a, "**/%.*s", STR_F(pattern)));
}

bool patterns_compile(struct patterns *p, struct arena *a, const struct arg_strings *all,
                      enum patterns_for what, struct error *e)
{
    p->set = glob_set_new(a);
    for (size_t i = 0; i < all->n; i++) {
        struct str pattern = all->v[i];

        if (what == PATTERNS_FOR_TAILS && pattern.n && str_find_char(pattern, '*') == SIZE_MAX)
            pattern = as_tail(a, pattern);
        if (glob_set_add(p->set, pattern, e))
            continue;
        error_set(e, e->kind, "Invalid pattern \"%.*s\": %s", STR_F(str_upto(all->v[i], 1000)),
                  arena_z(a, str_of(e->msg)));
        return false;
    }
    p->words = glob_set_words(p->set);
    p->states = ARENA_ARRAY(a, uint64_t, p->words * (FS_DEPTH_MAX + 1));
    glob_set_start(p->set, p->states);
    return true;
}

struct glob_step patterns_step(struct patterns *p, size_t depth, struct str name)
{
    uint64_t *from = p->states + depth * p->words;

    return glob_set_step(p->set, from, name, from + p->words);
}
