/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between the TOML tree and JSON. Recursion is bounded by TOML_MAX_DEPTH and JSON_MAX_DEPTH. */
#include "text/toml.h"

#include <math.h>

#include "base/map.h"
#include "text/toml_impl.h"

/* ---- JSON to tree ---- */

static bool fill(struct toml_tree *t, struct toml_val *to, yyjson_val *from, struct error *e);

static enum toml_kind kind_of(yyjson_val *v)
{
    int64_t whole;

    if (json_is_obj(v))
        return TOML_TABLE;
    if (json_is_arr(v))
        return TOML_ARRAY;
    if (json_is_str(v))
        return TOML_STRING;
    if (json_is_num(v))
        return json_int(v, &whole) ? TOML_INT : TOML_FLOAT;
    return TOML_BOOL;
}

/* One pass finds the last value of each key, so that many keys do not cost a search each. */
static bool fill_table(struct toml_tree *t, struct toml_val *to, yyjson_val *from,
                       struct error *e)
{
    struct map last = MAP;
    struct str key;
    void *v;
    bool ok = true;

    for (struct json_iter it = json_iter(from); json_next(&it);)
        map_put(&last, it.key, it.val);
    for (size_t i = 0; ok && map_next(&last, &i, &key, &v);) {
        struct toml_val *child;

        if (json_is_null(v))
            continue;
        child = toml_tree_add(t, to, kind_of(v), arena_str(t->a, key), e);
        ok = child && fill(t, child, v, e);
    }
    map_free(&last);
    return ok;
}

static bool fill_array(struct toml_tree *t, struct toml_val *to, yyjson_val *from,
                       struct error *e)
{
    for (struct json_iter it = json_iter(from); json_next(&it);) {
        struct toml_val *child;

        if (json_is_null(it.val))
            return toml_fail(e, to, "must not hold null");
        child = toml_tree_add(t, to, kind_of(it.val), (struct str){ 0 }, e);
        if (!child || !fill(t, child, it.val, e))
            return false;
    }
    return true;
}

static bool fill(struct toml_tree *t, struct toml_val *to, yyjson_val *from, struct error *e)
{
    switch (to->kind) {
    case TOML_TABLE:
        return fill_table(t, to, from, e);
    case TOML_ARRAY:
        return fill_array(t, to, from, e);
    case TOML_STRING:
        to->s = arena_str(t->a, json_str(from));
        return true;
    case TOML_INT:
        return json_int(from, &to->i);
    case TOML_FLOAT:
        return json_num(from, &to->f);
    case TOML_BOOL:
        to->b = json_is_true(from);
        return true;
    case TOML_OFFSET_DATETIME:
    case TOML_LOCAL_DATETIME:
    case TOML_LOCAL_DATE:
    case TOML_LOCAL_TIME:
        break;
    }
    return false; /* kind_of() makes none of these */
}

struct toml_val *toml_from_json(struct arena *a, yyjson_val *v, struct error *e)
{
    struct toml_tree t = { .a = a };
    struct toml_val *root = toml_tree_root(&t);

    if (!json_is_obj(v)) {
        error_set(e, ERR_INVALID, "the document must be an object, not %s", json_type_name(v));
        return NULL;
    }
    return fill(&t, root, v, e) ? root : NULL;
}

/* ---- tree to JSON ---- */

static void put_items(struct buf *b, const struct toml_val *v)
{
    bool table = v->kind == TOML_TABLE;

    buf_addc(b, table ? '{' : '[');
    for (size_t i = 0; i < toml_len(v); i++) {
        const struct toml_val *child = toml_at(v, i);

        if (i)
            buf_addc(b, ',');
        if (table) {
            json_put_str(b, child->key);
            buf_addc(b, ':');
        }
        toml_put_json(b, child);
    }
    buf_addc(b, table ? '}' : ']');
}

void toml_put_json(struct buf *b, const struct toml_val *v)
{
    switch (v->kind) {
    case TOML_STRING:
    case TOML_OFFSET_DATETIME:
    case TOML_LOCAL_DATETIME:
    case TOML_LOCAL_DATE:
    case TOML_LOCAL_TIME:
        json_put_str(b, v->s);
        break;
    case TOML_INT:
        json_put_int(b, v->i);
        break;
    case TOML_FLOAT:
        if (isfinite(v->f))
            json_put_num(b, v->f);
        else /* JSON has none; a text is refused where a number belongs, null is not */
            json_put_str(b, isnan(v->f) ? STR("nan") : STR("inf"));
        break;
    case TOML_BOOL:
        buf_addz(b, v->b ? "true" : "false");
        break;
    case TOML_ARRAY:
    case TOML_TABLE:
        put_items(b, v);
        break;
    }
}
