/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/deps_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/sha256.h"
#include "text/json.h"

#define VERSION  1
#define MAX_TAIL 64 /* bytes of the root's last component in the directory's name */

const char *workspace_cache_dir(struct arena *a, const char *cache_dir, struct str root)
{
    char hex[SHA256_HEX_SIZE], *tail = arena_z(a, str_of(path_base(arena_z(a, root))));

    sha256_hex(root, hex);
    for (char *at = tail; *at; at++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.", *at))
            *at = '_';
    return path_join(
        a, cache_dir,
        arena_printf(a, "workspaces/%.*s-%.8s", MAX_TAIL, *tail ? tail : "root", hex));
}

const char *deps_cache_path(struct arena *a, const char *cache_dir, struct str root)
{
    return path_join(a, workspace_cache_dir(a, cache_dir, root), "workspace-deps.json");
}

/* ---- reading ---- */

static bool read_packages(struct deps_snapshot *s, struct arena *a, yyjson_val *v)
{
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct dep d = { .pm = arena_str(a, json_str(json_get(it.val, "pm"))),
                         .name = arena_str(a, json_str(json_get(it.val, "name"))),
                         .version = arena_str(a, json_str(json_get(it.val, "version"))) };

        if (d.pm.n == 0 || d.name.n == 0 || d.version.n == 0)
            return false;
        ARENA_PUSH(a, &s->packages) = d;
    }
    return json_is_arr(v);
}

static bool read_members(struct deps_snapshot *s, struct arena *a, yyjson_val *v)
{
    for (struct json_iter it = json_iter(v); json_next(&it);)
        ARENA_PUSH(a, &s->members) = arena_str(a, json_str(it.val));
    return json_is_arr(v);
}

bool deps_cache_read(struct deps_snapshot *ret, struct arena *a, const char *path)
{
    auto_buf text = BUF(DEPS_CACHE_MAX_BYTES);
    auto_json doc = { 0 };
    int64_t version;

    *ret = (struct deps_snapshot){ 0 };
    if (!file_read(path, &text, NULL) || !json_parse(&doc, buf_str(&text), NULL) ||
        !json_int(json_get(doc.root, "version"), &version) || version != VERSION)
        return false;
    ret->root = arena_str(a, json_str(json_get(doc.root, "root")));
    return ret->root.n && read_members(ret, a, json_get(doc.root, "members")) &&
           inputs_read(&ret->inputs, a, json_get(doc.root, "inputs")) &&
           read_packages(ret, a, json_get(doc.root, "packages"));
}

/* ---- writing ---- */

static void put_packages(struct jw *w, const struct deps *l)
{
    jw_arr(w);
    for (size_t i = 0; i < l->n; i++) {
        jw_obj(w);
        jw_kstr(w, "pm", l->v[i].pm);
        jw_kstr(w, "name", l->v[i].name);
        jw_kstr(w, "version", l->v[i].version);
        jw_end(w);
    }
    jw_end(w);
}

static void put_snapshot(struct jw *w, const struct deps_snapshot *s)
{
    jw_obj(w);
    jw_kint(w, "version", VERSION);
    jw_kstr(w, "root", s->root);
    strs_put(w, "members", &s->members);
    jw_key(w, "inputs");
    inputs_put(w, &s->inputs);
    jw_key(w, "packages");
    put_packages(w, &s->packages);
    jw_end(w);
}

bool deps_cache_write(const char *path, const struct deps_snapshot *s, struct error *e)
{
    auto_buf text = BUF(DEPS_CACHE_MAX_BYTES);
    auto_arena a = ARENA;
    struct jw w = jw_to(&text);

    put_snapshot(&w, s);
    buf_addc(&text, '\n');
    return buf_ok(&text, e) && file_mkdirs(path_dir(&a, path), e) &&
           file_write_cache(path, buf_str(&text), e);
}
