/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "direct.h"

#include "base/log.h"
#include "base/path.h"
#include "lock.h"

struct collecting {
    struct arena *arena;
    const struct cargo_workspace *w;
    struct lock lock; /* empty when there is none */
    struct deps *list;
    struct map added; /* "name version" */
};

static void add(struct collecting *c, struct str name, struct str version)
{
    struct str key = str_of(arena_printf(c->arena, "%.*s %.*s", STR_F(name), STR_F(version)));

    if (map_put(&c->added, key, c))
        return;
    ARENA_PUSH(c->arena, c->list) = (struct dep){ name, version };
}

/* The member's own entry. Its version may be behind the manifest's until cargo runs again. */
static struct lock_package *entry_of(const struct lock *l, const struct manifest *m)
{
    struct lock_package *found = NULL;
    int paths = 0;

    for (struct lock_package *p = map_get(&l->by_name, m->name); p; p = p->same_name) {
        if (p->source.n)
            continue;
        if (str_eq(p->version, m->version))
            return p;
        found = p;
        paths++;
    }
    return paths == 1 ? found : NULL;
}

static void mark_members(struct collecting *c)
{
    for (size_t i = 0; i < c->w->members.n; i++) {
        struct lock_package *p = entry_of(&c->lock, c->w->members.v[i]);

        if (p)
            p->member = true;
    }
}

/* Adds what the lockfile says the member depends on; notes the names in `seen`. */
static void add_locked(struct collecting *c, const struct lock_package *entry, struct map *seen)
{
    for (size_t i = 0; i < toml_len(entry->dependencies); i++) {
        struct lock_ref ref = lock_ref_parse(toml_str(toml_at(entry->dependencies, i)));
        struct lock_package *p = lock_next(&c->lock, &ref, NULL);

        if (ref.name.n == 0)
            continue;
        map_put(seen, ref.name, c);
        if (!p)
            add(c, ref.name, ref.version.n ? ref.version : STR("*"));
        for (; p; p = lock_next(&c->lock, &ref, p))
            if (!p->member)
                add(c, p->name, p->version);
    }
}

/* The dependency is a member: by its own path, or because the root manifest patches its name
 * with one. */
static bool is_member(const struct collecting *c, const struct manifest_dep *d)
{
    const struct manifest_deps *patches = &c->w->root->patches;

    if (d->path)
        return workspace_member(c->w, d->path) != NULL;
    for (size_t i = 0; i < patches->n; i++)
        if (str_eq(patches->v[i].name, d->name) && workspace_member(c->w, patches->v[i].path))
            return true;
    return false;
}

static void add_member_deps(struct collecting *c, const struct manifest *m)
{
    const struct lock_package *entry = entry_of(&c->lock, m);
    struct map seen = MAP;

    if (entry)
        add_locked(c, entry, &seen);
    for (size_t i = 0; i < m->deps.n; i++) {
        const struct manifest_dep *d = &m->deps.v[i];

        if (!map_has(&seen, d->name) && !is_member(c, d))
            add(c, d->name, STR("*"));
    }
    map_free(&seen);
}

static void read_lock(struct collecting *c, struct inputs *in)
{
    const char *path = path_join(in->arena, c->w->root->dir, "Cargo.lock");
    struct error why = { 0 };
    struct str text;

    if (!input_read(in, path, &text, &why)) {
        if (why.kind != ERR_NOT_FOUND)
            log_warn("no versions: %s", why.msg);
        return;
    }
    if (!lock_parse(&c->lock, in->arena, text, &why))
        log_warn("no versions: '%s': %s", path, why.msg);
}

void direct_add(struct deps *list, struct inputs *in, const struct cargo_workspace *w)
{
    struct collecting c = { .arena = in->arena, .w = w, .list = list };

    read_lock(&c, in);
    mark_members(&c);
    for (size_t i = 0; i < w->members.n; i++)
        add_member_deps(&c, w->members.v[i]);
    lock_free(&c.lock);
    map_free(&c.added);
}

static bool read_workspace(const struct listing *l, const char *dir, struct error *e)
{
    struct cargo_workspace w;

    if (!workspace_read(&w, l->in, dir, e))
        return false;
    for (size_t i = 0; i < w.members.n; i++)
        map_put(l->members, str_of(w.members.v[i]->dir), w.members.v[i]);
    direct_add(l->deps, l->in, &w);
    workspace_free(&w);
    return true;
}

const struct lister_kind cargo_lister = { .pm = "cargo",
                                          .manifest = "Cargo.toml",
                                          .read = read_workspace };
