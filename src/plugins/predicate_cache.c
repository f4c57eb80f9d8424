/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/predicate_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "text/json.h"

#define CACHE_VERSION 1

struct entry {
    struct predicate_answer ans;
    bool used; /* this run asked for it */
};

struct predicate_cache {
    struct arena arena; /* entries and all they hold */
    struct map entries; /* "name(arg)" to struct entry */
    const char *path;
    bool changed;
};

/* ---- fingerprints ---- */

static bool same_stamp(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->exists == b->exists &&
           (!a->exists || (a->mtime_ns == b->mtime_ns && a->size == b->size));
}

static struct str env_sha256(struct arena *a, struct str name)
{
    const char *value = getenv(arena_z(a, name));
    char hex[SHA256_HEX_SIZE];

    if (!value)
        return (struct str){ 0 };
    sha256_hex(str_of(value), hex);
    return arena_str(a, str_of(hex));
}

bool answer_watch_file(struct predicate_answer *ans, struct arena *a, const char *path)
{
    for (size_t i = 0; i < ans->files.n; i++)
        if (str_is(ans->files.v[i].path, path))
            return true;
    if (ans->files.n + ans->env.n == PREDICATE_MAX_WATCHES)
        return false;
    ARENA_PUSH(a, &ans->files) =
        (struct seen_file){ .path = arena_str(a, str_of(path)), .stamp = file_stamp(path) };
    return true;
}

bool answer_watch_env(struct predicate_answer *ans, struct arena *a, struct str name)
{
    for (size_t i = 0; i < ans->env.n; i++)
        if (str_eq(ans->env.v[i].name, name))
            return true;
    if (ans->files.n + ans->env.n == PREDICATE_MAX_WATCHES)
        return false;
    ARENA_PUSH(a, &ans->env) =
        (struct seen_env){ .name = arena_str(a, name), .sha256 = env_sha256(a, name) };
    return true;
}

static bool still_holds(const struct predicate_answer *ans, int64_t now_ms)
{
    auto_arena a = ARENA;

    if (ans->stale_at_ms && now_ms >= ans->stale_at_ms)
        return false;
    for (size_t i = 0; i < ans->files.n; i++) {
        struct file_stamp now = file_stamp(arena_z(&a, ans->files.v[i].path));

        if (!same_stamp(&now, &ans->files.v[i].stamp))
            return false;
    }
    for (size_t i = 0; i < ans->env.n; i++)
        if (!str_eq(env_sha256(&a, ans->env.v[i].name), ans->env.v[i].sha256))
            return false;
    return true;
}

/* ---- reading the file ---- */

static bool read_file(struct arena *a, struct str path, yyjson_val *v,
                      struct predicate_answer *ans)
{
    yyjson_val *mtime = json_get(v, "mtime_ns"), *size = json_get(v, "size");
    struct seen_file f = { .path = arena_str(a, path) };

    if (!json_is_null(mtime)) {
        f.stamp.exists = true;
        if (!json_int(mtime, &f.stamp.mtime_ns) || !json_int(size, &f.stamp.size))
            return false;
    }
    ARENA_PUSH(a, &ans->files) = f;
    return path_is_abs(f.path.p);
}

static bool read_env(struct arena *a, struct str name, yyjson_val *v,
                     struct predicate_answer *ans)
{
    ARENA_PUSH(a, &ans->env) =
        (struct seen_env){ .name = arena_str(a, name), .sha256 = arena_str(a, json_str(v)) };
    return json_is_null(v) || json_str(v).n == SHA256_HEX_SIZE - 1;
}

static bool read_entry(struct arena *a, yyjson_val *v, struct predicate_answer *ans)
{
    yyjson_val *seen = json_get(v, "fingerprints"), *stale = json_get(v, "stale_at_ms");

    if (!json_is_bool(json_get(v, "result")) || !json_is_obj(json_get(seen, "files")) ||
        !json_is_obj(json_get(seen, "env")) ||
        json_len(json_get(seen, "files")) + json_len(json_get(seen, "env")) >
            PREDICATE_MAX_WATCHES)
        return false;
    ans->result = json_is_true(json_get(v, "result"));
    if (!json_is_null(stale) && !json_int(stale, &ans->stale_at_ms))
        return false;
    for (struct json_iter it = json_iter(json_get(seen, "files")); json_next(&it);)
        if (!read_file(a, it.key, it.val, ans))
            return false;
    for (struct json_iter it = json_iter(json_get(seen, "env")); json_next(&it);)
        if (!read_env(a, it.key, it.val, ans))
            return false;
    return true;
}

static void read_all(struct predicate_cache *c)
{
    auto_buf text = BUF(PREDICATE_CACHE_MAX_BYTES);
    auto_json j = { 0 };
    int64_t version;

    if (!file_read(c->path, &text, NULL) || !json_parse(&j, buf_str(&text), NULL) ||
        !json_int(json_get(j.root, "version"), &version) || version != CACHE_VERSION)
        return;
    for (struct json_iter it = json_iter(json_get(j.root, "entries")); json_next(&it);) {
        struct entry *en = ARENA_NEW(&c->arena, struct entry);

        if (read_entry(&c->arena, it.val, &en->ans))
            map_put(&c->entries, it.key, en);
    }
}

struct predicate_cache *predicate_cache_load(const char *cache_dir, struct str root)
{
    struct predicate_cache *c = NEW(struct predicate_cache);
    char hex[SHA256_HEX_SIZE];

    sha256_hex(root, hex);
    c->path = arena_printf(&c->arena, "%s/predicates/%s.json", cache_dir, hex);
    read_all(c);
    return c;
}

/* ---- entries ---- */

const struct predicate_answer *predicate_cache_get(struct predicate_cache *c, struct str key,
                                                   int64_t now_ms)
{
    struct entry *en = map_get(&c->entries, key);

    if (!en || !still_holds(&en->ans, now_ms))
        return NULL;
    en->used = true;
    return &en->ans;
}

static void copy_answer(struct arena *a, const struct predicate_answer *from,
                        struct predicate_answer *to)
{
    *to = (struct predicate_answer){ .result = from->result, .stale_at_ms = from->stale_at_ms };
    for (size_t i = 0; i < from->files.n; i++)
        ARENA_PUSH(a, &to->files) =
            (struct seen_file){ .path = arena_str(a, from->files.v[i].path),
                                .stamp = from->files.v[i].stamp };
    for (size_t i = 0; i < from->env.n; i++)
        ARENA_PUSH(a, &to->env) =
            (struct seen_env){ .name = arena_str(a, from->env.v[i].name),
                               .sha256 = arena_str(a, from->env.v[i].sha256) };
}

/* Asked again only because its entry no longer held, so a put always differs from what is
 * there. */
void predicate_cache_put(struct predicate_cache *c, struct str key,
                         const struct predicate_answer *ans)
{
    struct entry *en = ARENA_NEW(&c->arena, struct entry);

    copy_answer(&c->arena, ans, &en->ans);
    en->used = true;
    map_put(&c->entries, key, en);
    c->changed = true;
}

void predicate_cache_drop(struct predicate_cache *c, struct str key)
{
    c->changed |= map_del(&c->entries, key) != NULL;
}

/* ---- writing the file ---- */

static void write_int(struct jw *w, const char *key, bool known, int64_t n)
{
    jw_key(w, key);
    if (known)
        jw_int(w, n);
    else
        jw_null(w);
}

static void write_file(struct jw *w, const struct seen_file *f)
{
    jw_key_s(w, f->path);
    jw_obj(w);
    write_int(w, "mtime_ns", f->stamp.exists, f->stamp.mtime_ns);
    write_int(w, "size", f->stamp.exists, f->stamp.size);
    jw_end(w);
}

static void write_env(struct jw *w, const struct seen_env *v)
{
    jw_key_s(w, v->name);
    if (v->sha256.n)
        jw_str(w, v->sha256);
    else
        jw_null(w);
}

static void write_answer(struct jw *w, const struct predicate_answer *ans)
{
    jw_obj(w);
    jw_kbool(w, "result", ans->result);
    jw_key(w, "fingerprints");
    jw_obj(w);
    jw_key(w, "files");
    jw_obj(w);
    for (size_t i = 0; i < ans->files.n; i++)
        write_file(w, &ans->files.v[i]);
    jw_end(w);
    jw_key(w, "env");
    jw_obj(w);
    for (size_t i = 0; i < ans->env.n; i++)
        write_env(w, &ans->env.v[i]);
    jw_end(w);
    jw_end(w);
    write_int(w, "stale_at_ms", ans->stale_at_ms != 0, ans->stale_at_ms);
    jw_end(w);
}

static void write_all(const struct predicate_cache *c, bool used_only, struct buf *out)
{
    struct jw w = jw_to(out);
    struct str key;
    void *value;

    jw_obj(&w);
    jw_kint(&w, "version", CACHE_VERSION);
    jw_key(&w, "entries");
    jw_obj(&w);
    for (size_t i = 0; map_next(&c->entries, &i, &key, &value);) {
        const struct entry *en = value;

        if (used_only && !en->used)
            continue;
        jw_key_s(&w, key);
        write_answer(&w, &en->ans);
    }
    jw_end(&w);
    jw_end(&w);
}

bool predicate_cache_save(struct predicate_cache *c, struct error *e)
{
    auto_buf out = BUF(PREDICATE_CACHE_MAX_BYTES);
    auto_arena a = ARENA;

    if (!c->changed)
        return true;
    write_all(c, false, &out);
    if (out.over) {
        buf_clear(&out);
        write_all(c, true, &out);
    }
    if (!buf_ok(&out, e) || !file_mkdirs(path_dir(&a, c->path), e) ||
        !file_write_cache(c->path, buf_str(&out), e))
        return error_wrap(e, "predicate cache '%s'", c->path);
    c->changed = false;
    return true;
}

void predicate_cache_free(struct predicate_cache *c)
{
    if (!c)
        return;
    map_free(&c->entries);
    arena_free(&c->arena);
    free(c);
}
