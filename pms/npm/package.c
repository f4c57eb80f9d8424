/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "package.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "name.h"

const char *inputs_foreign(struct inputs *in)
{
    const char *known = in->known_root;

    in->known_root = NULL;
    return known;
}

bool package_json_read(struct inputs *in, const char *path, struct json *ret, struct error *e)
{
    auto_buf text = BUF(INPUT_MAX_FILE);
    auto_json doc = { 0 };

    input_note(in, path);
    if (!file_read(path, &text, e))
        return false;
    /* npm takes a byte order mark for nothing. */
    if (!json_parse(&doc, utf8_skip_bom(buf_str(&text)), e))
        return error_wrap(e, "'%s'", path);
    if (!json_is_obj(doc.root))
        return error_set(e, ERR_INVALID, "'%s': not an object but %s", path,
                         json_type_name(doc.root));
    *ret = doc;
    doc = (struct json){ 0 };
    return true;
}

struct reading {
    struct arena *arena;
    struct npm_package *p;
    struct map by_key; /* struct npm_dep number + 1; the array moves when it grows */
    const char *path;
};

static void warn_name(const struct reading *r, struct str name)
{
    auto_buf clean = BUF(4 * NPM_NAME_MAX);

    utf8_put_clean(&clean, utf8_cut(name, NPM_NAME_MAX));
    log_warn("'%s': '%s' is no name of a package; left out", r->path, buf_z(&clean));
}

/* The last mention counts; a peer that is something else too is no longer only a peer. */
static void add_dep(struct reading *r, struct str key, struct str spec, bool peer)
{
    struct npm_deps *deps = &r->p->deps;
    uintptr_t at = (uintptr_t)map_get(&r->by_key, key);

    if (at) {
        struct npm_dep *d = &deps->v[at - 1];

        if (peer == d->peer || !peer)
            d->spec = arena_str(r->arena, spec);
        d->peer = d->peer && peer;
        return;
    }
    ARENA_PUSH(r->arena, deps) = (struct npm_dep){ .key = arena_str(r->arena, key),
                                                   .spec = arena_str(r->arena, spec),
                                                   .peer = peer };
    map_put(&r->by_key, key, (void *)(uintptr_t)deps->n);
}

static void read_deps(struct reading *r, yyjson_val *table, bool peer)
{
    if (!json_is_obj(table)) /* an array has no keys */
        return;
    for (struct json_iter it = json_iter(table); json_next(&it);) {
        if (r->p->deps.n >= PACKAGE_MAX_DEPS) {
            log_warn("'%s': more than %d dependencies; the rest left out", r->path,
                     PACKAGE_MAX_DEPS);
            return;
        }
        if (npm_name_ok(it.key))
            add_dep(r, it.key, json_str(it.val), peer);
        else
            warn_name(r, it.key);
    }
}

static void read_all_deps(struct reading *r, yyjson_val *root)
{
    static const char *const kinds[] = { "devDependencies", "dependencies",
                                         "optionalDependencies" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        read_deps(r, json_get(root, kinds[i]), false);
    read_deps(r, json_get(root, "peerDependencies"), true);
}

static void read_patterns(struct reading *r, yyjson_val *list)
{
    if (json_is_obj(list))
        list = json_get(list, "packages");
    if (!json_is_arr(list))
        return;
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        if (it.i > PACKAGE_MAX_PATTERNS) {
            log_warn("'%s': more than %d patterns in 'workspaces'; the rest left out", r->path,
                     PACKAGE_MAX_PATTERNS);
            return;
        }
        ARENA_PUSH(r->arena, &r->p->workspaces) = arena_str(r->arena, json_str(it.val));
    }
}

struct npm_package *package_read(struct inputs *in, const char *dir, struct error *e)
{
    struct reading r = { .arena = in->arena,
                         .path = path_join(in->arena, dir, "package.json") };
    auto_json doc = { 0 };
    struct str name;

    if (!package_json_read(in, r.path, &doc, e))
        return NULL;
    r.p = ARENA_NEW(in->arena, struct npm_package);
    r.p->dir = arena_z(in->arena, str_of(dir));
    name = json_str(json_get(doc.root, "name"));
    if (npm_name_ok(name))
        r.p->name = arena_str(in->arena, name);
    r.p->manager = arena_str(in->arena, json_str(json_get(doc.root, "packageManager")));
    read_all_deps(&r, doc.root);
    read_patterns(&r, json_get(doc.root, "workspaces"));
    map_free(&r.by_key);
    return r.p;
}
