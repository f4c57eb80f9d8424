/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "catalog.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "direct.h"
#include "lock.h"
#include "name.h"

struct catalog {
    char *workspace;
    bool read; /* what follows is there */
    struct arena arena;
    struct inputs inputs;
    struct dir_list roots;
    struct map by_key; /* first package of each name */
};

static void add(struct catalog *c, struct known k)
{
    struct known *kept = ARENA_NEW(&c->arena, struct known);

    *kept = k;
    kept->same_name = map_put(&c->by_key, name_key(&c->arena, k.name), kept);
}

/* ---- packages at paths ---- */

struct walk {
    struct catalog *c;
    const struct lock *lock;
    struct map seen; /* directories */
    struct {
        const struct manifest **v;
        size_t n, cap;
    } found; /* grows while it is walked */
};

static struct str locked_path_version(const struct lock *l, struct str name)
{
    for (struct lock_package *p = map_get(&l->by_name, name); p; p = p->same_name)
        if (p->source.n == 0)
            return p->version;
    return STR("0.0.0");
}

static void take(struct walk *w, const struct manifest *m)
{
    map_put(&w->seen, str_of(m->dir), w);
    if (w->found.n == CATALOG_MAX_PATHS) {
        log_warn("'%s' left out: more than %d packages at paths", m->dir, CATALOG_MAX_PATHS);
        return;
    }
    ARENA_PUSH(&w->c->arena, &w->found) = m;
    add(w->c,
        (struct known){ .name = m->name,
                        .version = m->version_known ? m->version
                                                    : locked_path_version(w->lock, m->name),
                        .path = m->dir });
}

static void take_deps(struct walk *w, const struct manifest_deps *deps)
{
    for (size_t i = 0; i < deps->n; i++) {
        const char *dir = deps->v[i].path;
        struct error why = { 0 };
        struct manifest *m;

        if (!dir || map_has(&w->seen, str_of(dir)))
            continue;
        map_put(&w->seen, str_of(dir), w);
        m = manifest_read(&w->c->inputs, dir, NULL, &why);
        if (m && m->is_package)
            take(w, m);
        else if (!m)
            log_warn("path dependency left out: %s", why.msg);
    }
}

static void add_paths(struct catalog *c, const struct cargo_workspace *ws,
                      const struct lock *lock)
{
    struct walk w = { .c = c, .lock = lock };

    for (size_t i = 0; i < ws->members.n; i++)
        take(&w, ws->members.v[i]);
    take_deps(&w, &ws->root->patches);
    for (size_t i = 0; i < w.found.n; i++)
        take_deps(&w, &w.found.v[i]->deps);
    map_free(&w.seen);
}

/* ---- a workspace ---- */

static void add_locked(struct catalog *c, const struct lock *lock)
{
    struct str name;
    void *first;

    for (size_t i = 0; map_next(&lock->by_name, &i, &name, &first);)
        for (const struct lock_package *p = first; p; p = p->same_name)
            if (p->source.n)
                add(c, (struct known){ .name = p->name,
                                       .version = p->version,
                                       .source = p->source,
                                       .commit = p->commit });
}

/* Without one, or with a malformed one (list_deps says so), there is only what lies at paths.
 */
static void read_lock(struct catalog *c, const struct cargo_workspace *w, struct lock *ret)
{
    struct str text;

    if (input_read(&c->inputs, path_join(&c->arena, w->root->dir, "Cargo.lock"), &text, NULL))
        lock_parse(ret, &c->arena, text, NULL);
}

static bool read_workspace(const struct listing *l, const char *dir, struct error *e)
{
    struct catalog *c = l->ctx;
    struct cargo_workspace w;
    struct lock lock = { 0 };

    if (!workspace_read(&w, l->in, dir, e))
        return false;
    ARENA_PUSH(&c->arena, &c->roots) = w.root->dir;
    for (size_t i = 0; i < w.members.n; i++)
        map_put(l->members, str_of(w.members.v[i]->dir), w.members.v[i]);
    read_lock(c, &w, &lock);
    add_locked(c, &lock);
    add_paths(c, &w, &lock);
    direct_add(l->deps, l->in, &w);
    lock_free(&lock);
    workspace_free(&w);
    return true;
}

static void mark_direct(struct catalog *c, const struct deps *deps)
{
    for (size_t i = 0; i < deps->n; i++) {
        struct known *k = map_get(&c->by_key, name_key(&c->arena, deps->v[i].name));

        for (; k; k = (struct known *)k->same_name)
            if (str_eq(k->name, deps->v[i].name) && str_eq(k->version, deps->v[i].version))
                k->direct = true;
    }
}

static void read_all(struct catalog *c)
{
    static const struct lister_kind kind = { .pm = "cargo",
                                             .manifest = "Cargo.toml",
                                             .read = read_workspace };
    struct map members = MAP;
    struct deps deps = { 0 };
    const struct listing l = { &c->inputs, &deps, &members, c };
    struct error why = { 0 };

    if (!list_collect(&l, &kind, path_clean(&c->arena, c->workspace), &why))
        log_warn("no packages of the workspace: %s", why.msg);
    map_free(&members);
    mark_direct(c, &deps);
    c->read = true;
}

static void forget(struct catalog *c)
{
    c->read = false;
    map_free(&c->by_key);
    c->by_key = MAP;
    arena_free(&c->arena);
    c->inputs = (struct inputs){ .arena = &c->arena };
    c->roots = (struct dir_list){ 0 };
}

struct catalog *catalog_new(const char *workspace)
{
    struct catalog *c = NEW(struct catalog);

    c->workspace = mem_strdup(workspace);
    return c;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    forget(c);
    free(c->workspace);
    free(c);
}

bool catalog_refresh(struct catalog *c)
{
    if (!c->workspace || (c->read && !inputs_changed(&c->inputs)))
        return false;
    forget(c);
    read_all(c);
    return true;
}

const struct dir_list *catalog_roots(const struct catalog *c)
{
    return &c->roots;
}

const struct known *catalog_find(const struct catalog *c, struct str name)
{
    auto_arena scratch = ARENA;

    return map_get(&c->by_key, name_key(&scratch, name));
}
