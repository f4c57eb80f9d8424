/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "direct.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "lock.h"
#include "name.h"

struct collecting {
    struct inputs *in;
    const struct npm_workspace *w;
    struct npm_lock lock; /* empty: there is none */
    struct directs *list;
};

/* A dependency on its way into the list. */
struct finding {
    const struct npm_dep *dep;
    struct npm_spec spec;
    const struct npm_package *by;
    struct str name, version; /* empty: not known so far */
    bool found;               /* the lockfile or node_modules has it */
    bool is_member;
};

/* ---- the lockfile ---- */

static void read_lock(struct collecting *c)
{
    static const char *const names[] = { "npm-shrinkwrap.json", "package-lock.json" };
    struct arena *a = c->in->arena;
    bool read = c->w->foreign;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *path = path_join(a, c->w->root, names[i]);
        auto_buf text = BUF(LOCK_MAX_BYTES);
        struct error why = { 0 };

        input_note(c->in, path);
        if (read || (!file_read(path, &text, &why) && why.kind == ERR_NOT_FOUND))
            continue;
        read = true;
        if (why.kind != ERR_NONE || !lock_parse(&c->lock, utf8_skip_bom(buf_str(&text)), &why))
            log_warn("no versions: '%s': %s", path, why.msg);
    }
}

/* The place of a directory in the lockfile. */
static struct str location_of(const struct collecting *c, const char *dir)
{
    return str_from(str_of(dir), strlen(c->w->root) + 1);
}

/* A place that the lockfile or a package.json names, from there. */
static bool is_member_at(const struct collecting *c, const char *base, struct str path)
{
    struct arena *a = c->in->arena;

    return workspace_has(c->w, path_clean(a, path_join(a, base, arena_z(a, path))));
}

static void look_in_lock(const struct collecting *c, struct finding *f)
{
    struct lock_entry entry;

    if (!lock_find(&c->lock, location_of(c, f->by->dir), f->dep->key, &entry))
        return;
    f->found = true;
    f->is_member = entry.is_link && is_member_at(c, c->w->root, entry.target);
    f->version = entry.version;
    if (npm_name_ok(entry.name))
        f->name = entry.name;
}

/* ---- the rest ---- */

static void look_in_node_modules(const struct collecting *c, struct finding *f)
{
    const struct lookup look = { f->dep->key, f->by->dir, c->w->root };
    struct installed package;

    if (f->version.n || f->is_member || !installed_find(c->in, &look, &package))
        return;
    f->found = true;
    f->is_member = workspace_has(c->w, package.dir);
    f->version = package.version;
    if (package.name.n)
        f->name = package.name;
}

/* Neither the lockfile nor node_modules knows it (yet): the text behind the key does. */
static void look_at_spec(const struct collecting *c, struct finding *f)
{
    if (f->found)
        return;
    if (f->spec.path.n)
        f->is_member = is_member_at(c, f->by->dir, f->spec.path);
    else
        f->is_member = f->spec.workspace || map_has(&c->w->by_name, f->dep->key);
    f->name = f->spec.real;
}

static void add_dep(struct collecting *c, const struct npm_package *by,
                    const struct npm_dep *dep)
{
    struct finding f = { .dep = dep, .spec = npm_spec_read(dep->spec), .by = by };
    struct arena *a = c->in->arena;

    look_in_lock(c, &f);
    look_in_node_modules(c, &f);
    look_at_spec(c, &f);
    if (f.is_member || (dep->peer && !f.found))
        return;
    ARENA_PUSH(a, c->list) = (struct direct){
        .name = f.name.n ? arena_str(a, f.name) : dep->key,
        .version = f.version.n ? arena_str(a, f.version) : STR("*"),
        .key = dep->key,
        .from = by->dir,
    };
}

void direct_add(struct directs *list, struct inputs *in, const struct npm_workspace *w)
{
    struct collecting c = { .in = in, .w = w, .list = list };

    read_lock(&c);
    for (size_t m = 0; m < w->members.n; m++)
        for (size_t i = 0; i < w->members.v[m]->deps.n; i++)
            add_dep(&c, w->members.v[m], &w->members.v[m]->deps.v[i]);
    lock_free(&c.lock);
}

static bool read_workspace(const struct listing *l, const char *dir, struct error *e)
{
    struct npm_workspace w;
    struct directs list = { 0 };

    if (!workspace_read(&w, l->in, dir, e))
        return false;
    for (size_t i = 0; i < w.members.n; i++)
        map_put(l->members, str_of(w.members.v[i]->dir), w.members.v[i]);
    direct_add(&list, l->in, &w);
    for (size_t i = 0; i < list.n; i++)
        ARENA_PUSH(l->in->arena, l->deps) = (struct dep){ list.v[i].name, list.v[i].version };
    workspace_free(&w);
    return true;
}

const struct lister_kind npm_lister = { .pm = "npm",
                                        .manifest = "package.json",
                                        .read = read_workspace };
