/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "places.h"

#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "common/nested.h"
#include "name.h"
#include "text/semver.h"

bool id_fits(struct str wanted, struct str version, bool widely)
{
    struct semver_req req;
    struct semver v;

    if (str_is(wanted, "*") || str_eq(wanted, version))
        return true;
    if (npm_version_ok(wanted) && !widely)
        return false;
    return semver_parse(&v, version, NULL) && semver_req_parse(&req, wanted, NULL) &&
           semver_req_fits(&req, &v);
}

static bool read_root(struct places *p, const char *dir, struct error *e)
{
    struct npm_workspace w;
    struct str member;
    void *package;

    if (!workspace_read(&w, &p->in, dir, e))
        return false;
    for (size_t i = 0; map_next(&w.by_dir, &i, &member, &package);)
        map_put(&p->members, member, package);
    direct_add(&p->list, &p->in, &w);
    workspace_free(&w);
    return true;
}

static void read_nested(struct places *p)
{
    struct dir_list dirs = { 0 };
    struct error why = { 0 };

    nested_find(&p->in, p->root, npm_lister.manifest, &dirs);
    for (size_t i = 0; i < dirs.n; i++)
        if (!map_has(&p->members, str_of(dirs.v[i])) && !read_root(p, dirs.v[i], &why))
            log_warn("workspace left out: %s", why.msg);
}

/* From the last to the first, so that each chain keeps the order of the list. */
static void index_names(struct places *p)
{
    p->next = ARENA_ARRAY(p->in.arena, size_t, p->list.n + 1);
    for (size_t i = p->list.n; i-- > 0;)
        p->next[i] = (size_t)(uintptr_t)map_put(&p->by_name, p->list.v[i].name,
                                                (void *)(uintptr_t)(i + 1));
}

void places_read(struct places *ret, struct arena *a, const char *workspace)
{
    struct error why = { 0 };

    *ret = (struct places){ .in.arena = a };
    if (workspace) {
        ret->root = path_clean(a, workspace);
        if (!read_root(ret, ret->root, &why)) {
            if (why.kind == ERR_NOT_FOUND)
                read_nested(ret);
            else
                log_warn("%s", why.msg);
        }
    }
    index_names(ret);
}

void places_free(struct places *p)
{
    map_free(&p->by_name);
    map_free(&p->members);
}

static bool look(struct places *p, const struct lookup *at, const struct id *id, bool widely,
                 struct installed *ret)
{
    return installed_find(&p->in, at, ret) && str_eq(ret->name, id->name) && ret->version.n &&
           id_fits(id->version, ret->version, widely) &&
           !map_has(&p->members, str_of(ret->dir));
}

static bool find(struct places *p, const struct id *id, bool widely, struct installed *ret)
{
    const struct lookup at_root = { id->name, p->root, p->root };

    for (size_t i = (size_t)(uintptr_t)map_get(&p->by_name, id->name); i; i = p->next[i - 1]) {
        const struct direct *d = &p->list.v[i - 1];
        const struct lookup at = { d->key, d->from, p->root };

        if (look(p, &at, id, widely, ret))
            return true;
    }
    return look(p, &at_root, id, widely, ret);
}

bool places_find(struct places *p, const struct id *id, struct installed *ret)
{
    if (!p->root || !npm_name_ok(id->name))
        return false;
    return find(p, id, false, ret) || find(p, id, true, ret);
}
