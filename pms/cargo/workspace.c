/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "workspace.h"

#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "common/expand.h"
#include "text/glob.h"

struct finding {
    struct inputs *in;
    struct cargo_workspace *w;
    struct map seen; /* directories already tried */
    struct error *e;
};

/* `entry` names the directory or one above it. */
static bool names_above(struct arena *a, const char *root, struct str entry, const char *dir)
{
    const char *clean = path_clean(a, arena_z(a, entry));
    struct str below;

    if (path_beneath(path_join(a, root, clean), dir))
        return true;
    if (!glob_has_wildcard(entry) || !path_beneath(root, dir))
        return false;
    below = str_from(str_of(dir), strlen(root) + 1);
    for (size_t end = 1; end <= below.n; end++)
        if ((end == below.n || below.p[end] == '/') &&
            glob_path(str_of(clean), str_upto(below, end)))
            return true;
    return false;
}

static bool is_listed(const struct finding *f, const char *key, const char *dir, bool wildcards)
{
    const struct manifest *root = f->w->root;
    const struct toml_val *list = toml_get(root->workspace, key);

    for (size_t i = 0; i < toml_len(list); i++) {
        struct str entry = toml_str(toml_at(list, i));

        if (entry.n && (wildcards || !glob_has_wildcard(entry)) &&
            names_above(f->in->arena, root->dir, entry, dir))
            return true;
    }
    return false;
}

static bool is_excluded(const struct finding *f, const char *dir)
{
    return is_listed(f, "exclude", dir, true) && !is_listed(f, "members", dir, false);
}

/* A path dependency becomes a member when it lies beneath the root, or says itself that it
 * belongs to it. */
static bool belongs(const struct finding *f, const struct manifest *m)
{
    const char *root = f->w->root->dir;

    if (m->workspace_dir)
        return strcmp(m->workspace_dir, root) == 0;
    return path_beneath(root, m->dir) && !m->is_workspace;
}

static struct manifest *read_member(const struct finding *f, const char *dir)
{
    struct error why = { 0 };
    struct manifest *m = manifest_read(f->in, dir, f->w->root, &why);

    if (!m && why.kind != ERR_NOT_FOUND)
        log_warn("member left out: %s", why.msg);
    return m && m->is_package ? m : NULL;
}

static bool add_member(struct finding *f, struct manifest *m)
{
    if (f->w->members.n == WORKSPACE_MAX_MEMBERS)
        return error_set(f->e, ERR_LIMIT, "'%s' has more than %d workspace members",
                         f->w->root->dir, WORKSPACE_MAX_MEMBERS);
    ARENA_PUSH(f->in->arena, &f->w->members) = m;
    map_put(&f->w->by_dir, str_of(m->dir), m);
    return true;
}

static bool try_member(struct finding *f, const char *dir, bool declared)
{
    struct manifest *m;

    if (map_has(&f->seen, str_of(dir)))
        return true;
    map_put(&f->seen, str_of(dir), f);
    if (is_excluded(f, dir))
        return true;
    m = read_member(f, dir);
    return !m || (!declared && !belongs(f, m)) || add_member(f, m);
}

static bool add_declared(struct finding *f)
{
    const struct toml_val *list = toml_get(f->w->root->workspace, "members");

    for (size_t i = 0; i < toml_len(list); i++) {
        struct dir_list dirs = { 0 };

        if (!expand_member(f->in, f->w->root->dir, toml_str(toml_at(list, i)), &dirs, f->e))
            return false;
        for (size_t k = 0; k < dirs.n; k++)
            if (!try_member(f, dirs.v[k], true))
                return false;
    }
    return true;
}

/* The list grows while it is walked: members found through a path dependency have path
 * dependencies too. */
static bool add_path_deps(struct finding *f)
{
    for (size_t i = 0; i < f->w->members.n; i++) {
        const struct manifest_deps *deps = &f->w->members.v[i]->deps;

        for (size_t k = 0; k < deps->n; k++)
            if (deps->v[k].path && !try_member(f, deps->v[k].path, false))
                return false;
    }
    return true;
}

static bool find_members(struct finding *f, struct manifest *root)
{
    map_put(&f->seen, str_of(root->dir), f);
    if (root->is_package && !add_member(f, root))
        return false;
    return !root->is_workspace || (add_declared(f) && add_path_deps(f));
}

bool workspace_read(struct cargo_workspace *ret, struct inputs *in, const char *dir,
                    struct error *e)
{
    struct finding f = { .in = in, .w = ret, .e = e };
    struct manifest *root = manifest_read(in, dir, NULL, e);
    bool ok;

    if (!root)
        return false;
    *ret = (struct cargo_workspace){ .root = root };
    ok = find_members(&f, root);
    map_free(&f.seen);
    if (!ok)
        workspace_free(ret);
    return ok;
}

void workspace_free(struct cargo_workspace *w)
{
    map_free(&w->by_dir);
}

const struct manifest *workspace_member(const struct cargo_workspace *w, const char *dir)
{
    return map_get(&w->by_dir, str_of(dir));
}
