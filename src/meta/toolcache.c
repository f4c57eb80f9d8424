/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/toolcache.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/path.h"

#define TOOLCACHE_VERSION 1
#define KEY_MAX           ((size_t)4 << 20)

static int by_key(const void *a, const void *b)
{
    const struct key_value *x = a, *y = b;

    return str_cmp(x->key, y->key);
}

static int64_t program_stamp(struct arena *a, const struct active_server *s)
{
    struct str file = s->path.n || !s->argv.n ? s->path : s->argv.v[0];

    return file.n ? file_stamp(arena_z(a, file)).mtime_ns : 0;
}

/* By name, each value as its hash only: values may be secrets. */
static void put_hashed(struct arena *a, struct jw *w, const struct key_values *pairs)
{
    struct key_value *v = ARENA_ARRAY(a, struct key_value, pairs->n + 1);
    char hex[SHA256_HEX_SIZE];

    for (size_t i = 0; i < pairs->n; i++)
        v[i] = pairs->v[i];
    qsort(v, pairs->n, sizeof *v, by_key);
    jw_arr(w);
    for (size_t i = 0; i < pairs->n; i++) {
        sha256_hex(v[i].value, hex);
        jw_arr(w);
        jw_str(w, v[i].key);
        jw_strz(w, hex);
        jw_end(w);
    }
    jw_end(w);
}

/* The URL as its hash: a query may hold a key. */
static void put_remote(struct arena *a, struct jw *w, const struct active_server *s)
{
    char hex[SHA256_HEX_SIZE];

    if (!s->url.n)
        return;
    sha256_hex(s->url, hex);
    jw_strz(w, hex);
    jw_bool(w, s->sse);
    put_hashed(a, w, &s->headers);
}

struct str toolcache_key(struct arena *a, const struct active_server *s)
{
    auto_buf text = BUF(KEY_MAX);
    struct jw w = jw_to(&text);
    size_t first = s->nprogram;

    jw_arr(&w);
    jw_str(&w, s->name);
    /* Not the words of an installation: they change when it comes, and its tools do not. */
    jw_str(&w, first < s->argv.n ? s->argv.v[first] : (struct str){ 0 });
    jw_arr(&w);
    for (size_t i = first + 1; i < s->argv.n; i++)
        jw_str(&w, s->argv.v[i]);
    jw_end(&w);
    put_hashed(a, &w, &s->env);
    jw_str(&w, s->cwd);
    jw_int(&w, program_stamp(a, s));
    if (s->plan.n)
        jw_str(&w, install_plan_key(a, &s->plan));
    put_remote(a, &w, s);
    jw_end(&w);
    return buf_ok(&text, NULL) ? arena_str(a, buf_str(&text)) : (struct str){ 0 };
}

static const char *file_of(struct arena *a, const char *cache_dir, struct str key)
{
    char hex[SHA256_HEX_SIZE];

    sha256_hex(key, hex);
    return arena_printf(a, "%s/tools/%s.json", cache_dir, hex);
}

static const char *era_name(bool modern)
{
    return modern ? "modern" : "legacy";
}

static bool text_is(yyjson_val *v, struct str want)
{
    auto_buf text = BUF(TOOLCACHE_MAX_BYTES);

    if (!v)
        return false;
    json_put_val(&text, v);
    return buf_ok(&text, NULL) && str_eq(buf_str(&text), want);
}

static bool is_entry(yyjson_val *root, struct str key)
{
    int64_t version;

    return json_int(json_get(root, "version"), &version) && version == TOOLCACHE_VERSION &&
           text_is(json_get(root, "key"), key) && json_is_arr(json_get(root, "tools"));
}

bool toolcache_load(const char *cache_dir, struct str key, struct toolcache_entry *ret)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(TOOLCACHE_MAX_BYTES);
    auto_json doc = { 0 };
    yyjson_val *root;

    *ret = (struct toolcache_entry){ 0 };
    if (!key.n || !file_read(file_of(&a, cache_dir, key), &text, NULL) ||
        !json_parse(&doc, buf_str(&text), NULL) || !is_entry(doc.root, key))
        return false;
    root = doc.root;
    ret->modern = str_is(json_str(json_get(root, "era")), "modern");
    toolset_take(&ret->tools, &doc, json_get(root, "tools"), json_get(root, "hashes"));
    return true;
}

static bool same_tool(const struct tool *x, const struct tool *y)
{
    auto_buf a = BUF(TOOLCACHE_MAX_BYTES), b = BUF(TOOLCACHE_MAX_BYTES);

    json_put_val(&a, x->raw);
    json_put_val(&b, y->raw);
    return buf_ok(&a, NULL) && buf_ok(&b, NULL) && str_eq(buf_str(&a), buf_str(&b));
}

bool toolcache_is_same(const struct toolset *loaded, const struct toolset *now, bool modern,
                       struct str server_info)
{
    yyjson_val *root = loaded->doc.root;
    bool same = loaded->n == now->n && json_is_obj(root) &&
                str_is(json_str(json_get(root, "era")), era_name(modern)) &&
                text_is(json_get(root, "serverInfo"), server_info);

    for (size_t i = 0; same && i < now->n; i++)
        same = same_tool(&loaded->v[i], &now->v[i]);
    return same;
}

bool toolcache_store(const char *cache_dir, struct str key, const struct toolset *set,
                     bool modern, struct str server_info, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(TOOLCACHE_MAX_BYTES);
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kint(&w, "version", TOOLCACHE_VERSION);
    jw_key(&w, "key");
    jw_raw(&w, key);
    jw_kstrz(&w, "era", era_name(modern));
    jw_key(&w, "serverInfo");
    jw_raw(&w, server_info.n ? server_info : STR("{}"));
    jw_key(&w, "tools");
    jw_arr(&w);
    for (size_t i = 0; i < set->n && !text.over; i++)
        jw_val(&w, set->v[i].raw);
    jw_end(&w);
    jw_key(&w, "hashes");
    jw_obj(&w);
    for (size_t i = 0; i < set->n && !text.over; i++) {
        jw_key_s(&w, set->v[i].name);
        jw_strz(&w, tool_hash(&set->v[i]));
    }
    jw_end(&w);
    jw_end(&w);
    if (!key.n)
        return error_set(e, ERR_LIMIT, "key of more than %zu bytes", KEY_MAX);
    return buf_ok(&text, e) && file_mkdirs(arena_printf(&a, "%s/tools", cache_dir), e) &&
           file_write_cache(file_of(&a, cache_dir, key), buf_str(&text), e);
}
