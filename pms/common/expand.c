/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/expand.h"

#include <string.h>

#include "base/path.h"
#include "text/glob.h"

struct expansion {
    struct inputs *in;
    struct dir_list *ret;
    size_t met;
    bool visible; /* neither hidden directories, node_modules nor links match a wildcard */
    struct error *e;
};

static bool walk(struct expansion *x, const char *dir, struct str rest);

static bool count(struct expansion *x)
{
    if (++x->met > EXPAND_MAX_DIRS)
        return error_set(x->e, ERR_LIMIT, "workspace members: more than %d directories",
                         EXPAND_MAX_DIRS);
    return true;
}

static bool is_passed_over(const struct expansion *x, const char *name)
{
    return x->visible && (name[0] == '.' || strcmp(name, "node_modules") == 0);
}

/* "**": this directory and all below. Links are not followed, so there is no way round in
 * circles. */
static bool walk_deep(struct expansion *x, const char *dir, struct str rest, int depth)
{
    struct dir_names names;

    if (!walk(x, dir, rest))
        return false;
    if (depth == EXPAND_MAX_DEPTH)
        return true;
    input_list(x->in, dir, false, &names);
    for (size_t i = 0; i < names.n; i++)
        if (!is_passed_over(x, names.v[i]) &&
            (!count(x) ||
             !walk_deep(x, path_join(x->in->arena, dir, names.v[i]), rest, depth + 1)))
            return false;
    return true;
}

static bool walk_matching(struct expansion *x, const char *dir, struct str component,
                          struct str rest)
{
    struct dir_names names;

    input_list(x->in, dir, !x->visible, &names);
    for (size_t i = 0; i < names.n; i++)
        if (!is_passed_over(x, names.v[i]) &&
            (!count(x) || (glob_component(component, str_of(names.v[i])) &&
                           !walk(x, path_join(x->in->arena, dir, names.v[i]), rest))))
            return false;
    return true;
}

static bool walk(struct expansion *x, const char *dir, struct str rest)
{
    struct str component = rest;

    if (rest.n == 0) {
        ARENA_PUSH(x->in->arena, x->ret) = dir;
        return true;
    }
    if (!str_cut(rest, '/', &component, &rest))
        rest = (struct str){ 0 };
    if (str_is(component, "**"))
        return walk_deep(x, dir, rest, 0);
    if (glob_has_wildcard(component))
        return walk_matching(x, dir, component, rest);
    if (str_is(component, ".."))
        return walk(x, path_dir(x->in->arena, dir), rest);
    return walk(x, path_join(x->in->arena, dir, arena_z(x->in->arena, component)), rest);
}

static bool expand(struct expansion *x, const char *root, struct str pattern)
{
    struct arena *arena = x->in->arena;
    const char *clean =
        path_clean(arena, arena_z(arena, str_upto(pattern, EXPAND_MAX_PATTERN)));

    if (pattern.n > EXPAND_MAX_PATTERN)
        return error_set(x->e, ERR_LIMIT, "workspace members: a pattern of more than %d bytes",
                         EXPAND_MAX_PATTERN);
    if (path_is_abs(clean))
        return walk(x, "/", str_of(clean + 1));
    return walk(x, root, strcmp(clean, ".") == 0 ? STR("") : str_of(clean));
}

bool expand_member(struct inputs *in, const char *root, struct str pattern,
                   struct dir_list *ret, struct error *e)
{
    struct expansion x = { .in = in, .ret = ret, .e = e };

    return expand(&x, root, pattern);
}

bool expand_visible(struct inputs *in, const char *root, struct str pattern,
                    struct dir_list *ret, struct error *e)
{
    struct expansion x = { .in = in, .ret = ret, .visible = true, .e = e };

    return expand(&x, root, pattern);
}
