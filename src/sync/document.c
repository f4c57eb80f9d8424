/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/document.h"

#include <assert.h>

#include "base/map.h"
#include "base/utf8.h"
#include "text/json_edit.h"
#include "text/toml.h"
#include "text/toml_edit.h"
#include "text/yaml_edit.h"
#include "text/yaml_json.h"

#define DOCUMENT_MAX ((size_t)256 << 20) /* of one text as JSON */
#define STEPS_MAX    8

/* ---- reading ---- */

static bool read_toml(struct str text, struct json *ret, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf b = BUF(DOCUMENT_MAX);
    const struct toml_val *root = toml_parse(&a, text, e);

    if (!root)
        return false;
    toml_put_json(&b, root);
    return buf_ok(&b, e) && json_parse(ret, buf_str(&b), e);
}

static bool read_yaml(struct str text, struct json *ret, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf b = BUF(DOCUMENT_MAX);
    const struct yaml *root = yaml_parse_exact(&a, text, e);
    struct jw w = jw_to(&b);

    if (!root)
        return false;
    if (yaml_is_null(root))
        return json_parse(ret, STR("{}"), e);
    yaml_put_json(&w, root);
    return buf_ok(&b, e) && json_parse(ret, buf_str(&b), e);
}

bool document_read(enum sync_format f, struct str text, struct json *ret, struct error *e)
{
    struct str body = utf8_skip_bom(text);
    bool ok = str_trim(body).n == 0 ? json_parse(ret, STR("{}"), e)
              : f == SYNC_JSON      ? json_parse_jsonc(ret, body, e)
              : f == SYNC_TOML      ? read_toml(text, ret, e)
                                    : read_yaml(text, ret, e);

    if (!ok || json_is_obj(ret->root))
        return ok;
    json_free(ret);
    return error_set(e, ERR_INVALID, "line 1, column 1: the document must be an object");
}

/* ---- editing ---- */

static void put_toml(struct buf *out, yyjson_val *v)
{
    bool obj = json_is_obj(v);

    if (json_is_str(v)) {
        toml_put_str(out, json_str(v));
        return;
    }
    if (!obj && !json_is_arr(v)) {
        json_put_val(out, v);
        return;
    }
    buf_addz(out, obj ? "{ " : "[");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        buf_addz(out, it.i > 1 ? ", " : "");
        if (obj) {
            toml_put_key(out, it.key);
            buf_addz(out, " = ");
        }
        put_toml(out, it.val);
    }
    buf_addz(out, obj ? " }" : "]");
}

static bool set_toml_value(struct buf *out, struct str text, struct edit_at at, yyjson_val *v,
                           struct error *e)
{
    auto_buf value = BUF(TOML_MAX_BYTES);

    put_toml(&value, v);
    return buf_ok(&value, e) && toml_edit_set(out, text, at, buf_str(&value), e);
}

/* Member after member: the first brings the header, the others follow it. */
static bool set_toml_table(struct buf *out, struct str text, struct edit_at at, yyjson_val *v,
                           struct error *e)
{
    auto_buf now = BUF(TOML_MAX_BYTES), next = BUF(TOML_MAX_BYTES);
    auto_arena a = ARENA;
    struct edit_step steps[STEPS_MAX + 1];

    assert(at.n <= STEPS_MAX);
    for (size_t i = 0; i < at.n; i++)
        steps[i] = at.v[i];
    buf_add(&now, text);
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        steps[at.n] = (struct edit_step){ .key = arena_z(&a, it.key) };
        if (!set_toml_value(&next, buf_str(&now), (struct edit_at){ steps, at.n + 1 }, it.val,
                            e))
            return false;
        buf_swap(&now, &next);
        buf_clear(&next);
    }
    if (!buf_ok(&now, e))
        return false;
    buf_add(out, buf_str(&now));
    return buf_ok(out, e);
}

/* NULL when it is not there. */
static yyjson_val *find(yyjson_val *v, struct edit_at at)
{
    for (size_t i = 0; v && i < at.n; i++)
        v = at.v[i].key ? json_get(v, at.v[i].key) : json_at(v, at.v[i].index);
    return v;
}

bool document_set(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                  struct str json, struct error *e)
{
    auto_json value = { 0 }, there = { 0 };

    switch (f) {
    case SYNC_JSON:
        return json_edit_set(out, text, at, json, e);
    case SYNC_YAML:
        return yaml_edit_set(out, text, at, json, e);
    case SYNC_TOML:
        break;
    }
    if (!json_parse(&value, json, e) || !document_read(f, text, &there, e))
        return false;
    if (!json_is_obj(value.root))
        return set_toml_value(out, text, at, value.root, e);
    if (!find(there.root, at))
        return set_toml_table(out, text, at, value.root, e);
    if (!json_equal(find(there.root, at), value.root))
        return set_toml_value(out, text, at, value.root, e);
    buf_add(out, text);
    return buf_ok(out, e);
}

bool document_append(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                     struct str json, struct error *e)
{
    auto_json j = { 0 };
    auto_buf value = BUF(TOML_MAX_BYTES);

    assert(f != SYNC_YAML);
    if (f == SYNC_JSON)
        return json_edit_append(out, text, at, json, e);
    if (!json_parse(&j, json, e))
        return false;
    put_toml(&value, j.root);
    return buf_ok(&value, e) && toml_edit_append(out, text, at, buf_str(&value), e);
}

bool document_remove(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                     struct error *e)
{
    switch (f) {
    case SYNC_JSON:
        return json_edit_remove(out, text, at, e);
    case SYNC_TOML:
        return toml_edit_remove(out, text, at, e);
    case SYNC_YAML:
        return yaml_edit_remove(out, text, at, e);
    }
    return false;
}

/* ---- comparing ---- */

static bool is_empty(yyjson_val *v)
{
    return !v || json_is_null(v) || (json_is_obj(v) && json_len(v) == 0);
}

/* The last duplicate counts. */
static struct map members_of(yyjson_val *v)
{
    struct map m = MAP;

    for (struct json_iter it = json_iter(v); json_next(&it);)
        map_put(&m, it.key, it.val);
    return m;
}

static bool others_equal(const struct map *a, const struct map *b, const char *but)
{
    size_t others_a = map_count(a) - map_has(a, str_of(but));
    size_t others_b = map_count(b) - map_has(b, str_of(but));
    struct str key;
    void *value;

    if (others_a != others_b)
        return false;
    for (size_t i = 0; map_next(a, &i, &key, &value);)
        if (!str_is(key, but) && !json_equal(value, map_get(b, key)))
            return false;
    return true;
}

static bool same_but(yyjson_val *a, yyjson_val *b, struct edit_at at)
{
    const char *key = at.v[0].key;
    struct map of_a, of_b;
    bool same;

    if (!key || (!is_empty(a) && !json_is_obj(a)) || (!is_empty(b) && !json_is_obj(b)))
        return json_equal(a, b);
    of_a = members_of(a);
    of_b = members_of(b);
    same = others_equal(&of_a, &of_b, key) &&
           (at.n == 1 || same_but(map_get(&of_a, str_of(key)), map_get(&of_b, str_of(key)),
                                  (struct edit_at){ at.v + 1, at.n - 1 }));
    map_free(&of_a);
    map_free(&of_b);
    return same;
}

bool document_same_but(enum sync_format f, struct str old, struct str new, struct edit_at at,
                       struct error *e)
{
    auto_json a = { 0 }, b = { 0 };

    if (!document_read(f, old, &a, e) || !document_read(f, new, &b, e))
        return false;
    return same_but(a.root, b.root, at) ||
           error_set(e, ERR_INVALID,
                     "the edit would change more than its own entry; nothing was written");
}
