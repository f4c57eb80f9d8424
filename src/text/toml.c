/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/toml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/toml_impl.h"

/* Tables up to this many members are searched one by one: faster than hashing, and most tables
 * are small. */
#define INDEX_FROM 8

/* Letters wrong in a key that is still taken for a typing error. */
#define TYPO_MAX 2

/* A path in a message is cut here; the message itself holds ERROR_MSG_MAX. */
#define MAX_PATH_TEXT 200

static const char *const kind_names[] = {
    [TOML_STRING] = "a string",
    [TOML_INT] = "an integer",
    [TOML_FLOAT] = "a float",
    [TOML_BOOL] = "a boolean",
    [TOML_OFFSET_DATETIME] = "a date-time",
    [TOML_LOCAL_DATETIME] = "a local date-time",
    [TOML_LOCAL_DATE] = "a local date",
    [TOML_LOCAL_TIME] = "a local time",
    [TOML_ARRAY] = "an array",
    [TOML_TABLE] = "a table",
};

static const char *const kind_plurals[] = {
    [TOML_STRING] = "strings",
    [TOML_INT] = "integers",
    [TOML_FLOAT] = "floats",
    [TOML_BOOL] = "booleans",
    [TOML_OFFSET_DATETIME] = "date-times",
    [TOML_LOCAL_DATETIME] = "local date-times",
    [TOML_LOCAL_DATE] = "local dates",
    [TOML_LOCAL_TIME] = "local times",
    [TOML_ARRAY] = "arrays",
    [TOML_TABLE] = "tables",
};

/* ---- the tree ---- */

static void index_add(struct toml_items *items, struct str key, uint32_t number)
{
    uint32_t mask = items->index_cap - 1;
    uint32_t at = (uint32_t)str_hash(key) & mask;

    while (items->index[at])
        at = (at + 1) & mask;
    items->index[at] = number;
}

/* Keeps the index at most half full; the old one stays in the arena, which a doubling bounds to
 * the same size again. */
static void index_rebuild(struct arena *a, struct toml_items *items)
{
    items->index_cap = items->index_cap ? items->index_cap * 2 : INDEX_FROM * 4;
    items->index = ARENA_ARRAY(a, uint32_t, items->index_cap);
    for (uint32_t i = 0; i < items->n; i++)
        index_add(items, items->v[i]->key, i + 1);
}

static void items_push(struct arena *a, struct toml_val *parent, struct toml_val *child)
{
    struct toml_items *items = &parent->items;
    size_t cap = items->cap;

    items->v = arena_grow(a, items->v, sizeof *items->v, items->n + 1, &cap);
    items->cap = (uint32_t)cap;
    items->v[items->n++] = child;
    if (parent->kind != TOML_TABLE || items->n < INDEX_FROM)
        return;
    if (items->n * 2 > items->index_cap)
        index_rebuild(a, items);
    else
        index_add(items, child->key, items->n);
}

struct toml_val *toml_tree_root(struct toml_tree *t)
{
    struct toml_val *root = ARENA_NEW(t->a, struct toml_val);

    root->kind = TOML_TABLE;
    return root;
}

bool toml_tree_nest(struct toml_val *v, enum toml_kind kind, struct error *e)
{
    v->kind = kind;
    return v->depth < TOML_MAX_DEPTH ||
           error_set(e, ERR_LIMIT, "tables and arrays nested deeper than %d levels",
                     TOML_MAX_DEPTH);
}

struct toml_val *toml_tree_add(struct toml_tree *t, struct toml_val *parent,
                               enum toml_kind kind, struct str key, struct error *e)
{
    struct toml_val *v;

    if (t->values == TOML_MAX_VALUES) {
        error_set(e, ERR_LIMIT, "more than %u values", TOML_MAX_VALUES);
        return NULL;
    }
    t->values++;
    v = ARENA_NEW(t->a, struct toml_val);
    v->kind = kind;
    v->key = key;
    v->parent = parent;
    v->pos = parent->items.n;
    v->depth = parent->depth + 1;
    if ((kind == TOML_TABLE || kind == TOML_ARRAY) && !toml_tree_nest(v, kind, e))
        return NULL;
    items_push(t->a, parent, v);
    return v;
}

/* ---- lookup ---- */

bool toml_is(const struct toml_val *v, enum toml_kind kind)
{
    return v && v->kind == kind;
}

bool toml_is_time(const struct toml_val *v)
{
    return v && v->kind >= TOML_OFFSET_DATETIME && v->kind <= TOML_LOCAL_TIME;
}

struct str toml_str(const struct toml_val *v)
{
    return toml_is(v, TOML_STRING) ? v->s : (struct str){ 0 };
}

const char *toml_kind_name(const struct toml_val *v)
{
    return v ? kind_names[v->kind] : "nothing";
}

size_t toml_len(const struct toml_val *v)
{
    return toml_is(v, TOML_TABLE) || toml_is(v, TOML_ARRAY) ? v->items.n : 0;
}

struct toml_val *toml_at(const struct toml_val *v, size_t i)
{
    return i < toml_len(v) ? v->items.v[i] : NULL;
}

static struct toml_val *find_hashed(const struct toml_items *items, struct str key)
{
    uint32_t mask = items->index_cap - 1;

    for (uint32_t at = (uint32_t)str_hash(key) & mask; items->index[at]; at = (at + 1) & mask) {
        struct toml_val *v = items->v[items->index[at] - 1];

        if (str_eq(v->key, key))
            return v;
    }
    return NULL;
}

struct toml_val *toml_get_s(const struct toml_val *table, struct str key)
{
    if (!toml_is(table, TOML_TABLE))
        return NULL;
    if (table->items.index)
        return find_hashed(&table->items, key);
    for (uint32_t i = 0; i < table->items.n; i++)
        if (str_eq(table->items.v[i]->key, key))
            return table->items.v[i];
    return NULL;
}

struct toml_val *toml_get(const struct toml_val *table, const char *key)
{
    return toml_get_s(table, str_of(key));
}

/* ---- messages ---- */

static bool is_bare(struct str key)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (!(ascii_alnum(c) || c == '_' || c == '-'))
            return false;
    }
    return key.n > 0;
}

static void put_key(struct buf *b, struct str key)
{
    if (is_bare(key)) {
        buf_add(b, key);
        return;
    }
    buf_addc(b, '"');
    utf8_put_clean(b, key);
    buf_addc(b, '"');
}

void toml_put_path(struct buf *b, const struct toml_val *v)
{
    if (!v || !v->parent)
        return;
    toml_put_path(b, v->parent);
    if (v->parent->kind == TOML_ARRAY) {
        buf_addf(b, "[%u]", v->pos);
        return;
    }
    if (v->parent->parent)
        buf_addc(b, '.');
    put_key(b, v->key);
}

bool toml_fail(struct error *e, const struct toml_val *at, const char *fmt, ...)
{
    auto_buf path = BUF(TOML_MAX_BYTES);
    char where[24] = "", text[ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!at || !at->parent)
        return error_set(e, ERR_INVALID, "the document %s", text);
    if (at->line)
        snprintf(where, sizeof where, "line %u: ", at->line);
    toml_put_path(&path, at);
    return error_set(e, ERR_INVALID, "%s'%.*s' %s", where,
                     STR_F(utf8_cut(buf_str(&path), MAX_PATH_TEXT)), text);
}

/* ---- checked reading ---- */

static bool wrong_kind(const struct toml_val *v, enum toml_kind want, struct error *e)
{
    return toml_fail(e, v, "must be %s, not %s", kind_names[want], kind_names[v->kind]);
}

bool toml_opt_str(const struct toml_val *table, const char *key, struct str *ret,
                  struct error *e)
{
    const struct toml_val *v = toml_get(table, key);

    if (!v)
        return true;
    if (v->kind != TOML_STRING)
        return wrong_kind(v, TOML_STRING, e);
    *ret = v->s;
    return true;
}

bool toml_opt_bool(const struct toml_val *table, const char *key, bool *ret, struct error *e)
{
    const struct toml_val *v = toml_get(table, key);

    if (!v)
        return true;
    if (v->kind != TOML_BOOL)
        return wrong_kind(v, TOML_BOOL, e);
    *ret = v->b;
    return true;
}

bool toml_opt_table(const struct toml_val *table, const char *key, struct toml_val **ret,
                    struct error *e)
{
    struct toml_val *v = toml_get(table, key);

    if (!v)
        return true;
    if (v->kind != TOML_TABLE)
        return wrong_kind(v, TOML_TABLE, e);
    *ret = v;
    return true;
}

bool toml_opt_int(const struct toml_val *table, const char *key, struct toml_range range,
                  int64_t *ret, struct error *e)
{
    const struct toml_val *v = toml_get(table, key);

    if (!v)
        return true;
    if (v->kind != TOML_INT)
        return wrong_kind(v, TOML_INT, e);
    if (v->i < range.min)
        return toml_fail(e, v, "must be at least %lld, not %lld", (long long)range.min,
                         (long long)v->i);
    if (v->i > range.max)
        return toml_fail(e, v, "must be at most %lld, not %lld", (long long)range.max,
                         (long long)v->i);
    *ret = v->i;
    return true;
}

bool toml_opt_array(const struct toml_val *table, const char *key, enum toml_kind of,
                    struct toml_val **ret, struct error *e)
{
    struct toml_val *v = toml_get(table, key);

    if (!v)
        return true;
    if (v->kind != TOML_ARRAY)
        return toml_fail(e, v, "must be an array of %s, not %s", kind_plurals[of],
                         kind_names[v->kind]);
    for (uint32_t i = 0; i < v->items.n; i++)
        if (v->items.v[i]->kind != of)
            return wrong_kind(v->items.v[i], of, e);
    *ret = v;
    return true;
}

static bool is_listed(struct str key, const char *const *known)
{
    for (; *known; known++)
        if (str_is(key, *known))
            return true;
    return false;
}

struct toml_val *toml_unknown(const struct toml_val *table, const char *const *known,
                              size_t *from)
{
    if (!toml_is(table, TOML_TABLE))
        return NULL;
    while (*from < table->items.n) {
        struct toml_val *v = table->items.v[(*from)++];

        if (!is_listed(v->key, known))
            return v;
    }
    return NULL;
}

const char *toml_meant(struct str key, const char *const *known)
{
    const char *nearest = NULL;
    unsigned least = TYPO_MAX + 1;

    for (; *known; known++) {
        unsigned d = str_distance(key, str_of(*known));

        if (d < least && d < key.n / 2) {
            least = d;
            nearest = *known;
        }
    }
    return nearest;
}

bool toml_known_only(const struct toml_val *table, const char *const *known, struct error *e)
{
    size_t from = 0;
    const struct toml_val *odd = toml_unknown(table, known, &from);
    auto_buf list = BUF(ERROR_MSG_MAX);
    const char *near;

    if (!odd)
        return true;
    near = toml_meant(odd->key, known);
    if (near)
        return toml_fail(e, odd, "is not a known key; is it '%s'?", near);
    for (; *known; known++)
        buf_addf(&list, "%s%s", list.n ? ", " : "", *known);
    return toml_fail(e, odd, "is not a known key; known here: %s", buf_z(&list));
}
