/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/layers.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

/* ---- the shape that merging needs ---- */

static const struct merged_key {
    const char *name;
    enum toml_kind kind;
    enum toml_kind of; /* of the elements of an array */
    bool single;       /* an array of one may be written without brackets */
} merged_keys[] = {
    { "depends-on", TOML_ARRAY, TOML_STRING, true },
    { "predicates", TOML_ARRAY, TOML_STRING, true },
    { "installations", TOML_ARRAY, TOML_TABLE, false },
    { "skills", TOML_ARRAY, TOML_TABLE, false },
    { "hooks", TOML_ARRAY, TOML_TABLE, false },
    { "mcp_servers", TOML_ARRAY, TOML_TABLE, false },
    { "predicate", TOML_ARRAY, TOML_TABLE, false },
    { "plugins", TOML_ARRAY, TOML_TABLE, false },
    { "defaults", TOML_TABLE, TOML_TABLE, false },
    { "subcommand", TOML_TABLE, TOML_TABLE, false },
};

static bool fits(const struct merged_key *k, const struct toml_val *v)
{
    if (k->single && toml_is(v, k->of))
        return true;
    if (!toml_is(v, k->kind))
        return false;
    for (size_t i = 0; k->kind == TOML_ARRAY && i < toml_len(v); i++)
        if (!toml_is(toml_at(v, i), k->of))
            return false;
    return true;
}

static bool is_deeper(const struct toml_val *v, unsigned levels)
{
    for (size_t i = 0; i < toml_len(v); i++)
        if (levels == 0 || is_deeper(toml_at(v, i), levels - 1))
            return true;
    return false;
}

bool layer_check(const struct toml_val *layer, struct error *e)
{
    if (!toml_is(layer, TOML_TABLE))
        return error_set(e, ERR_INVALID, "it must be a table, not %s", toml_kind_name(layer));
    if (is_deeper(layer, LAYERS_MAX_DEPTH))
        return error_set(e, ERR_INVALID, "more than %d levels", LAYERS_MAX_DEPTH);
    for (size_t i = 0; i < ARRAY_LEN(merged_keys); i++) {
        const struct merged_key *k = &merged_keys[i];
        const struct toml_val *v = toml_get(layer, k->name);

        if (v && !fits(k, v))
            return toml_fail(e, v, "must be %s",
                             k->kind == TOML_TABLE ? "a table"
                             : k->of == TOML_TABLE ? "an array of tables"
                                                   : "an array of strings");
    }
    return true;
}

/* ---- merging ---- */

static const struct toml_val *member(const struct toml_val *table, struct str key)
{
    return table ? toml_get_s(table, key) : NULL;
}

static void put_comma(struct buf *out, bool *any)
{
    if (*any)
        buf_addc(out, ',');
    *any = true;
}

/* The elements; of a single string itself. */
static void put_elements(struct buf *out, const struct toml_val *v, bool *any)
{
    if (v && !toml_is(v, TOML_ARRAY)) {
        put_comma(out, any);
        toml_put_json(out, v);
        return;
    }
    for (size_t i = 0; i < toml_len(v); i++) {
        put_comma(out, any);
        toml_put_json(out, toml_at(v, i));
    }
}

static void put_united(struct buf *out, const struct toml_val *a, const struct toml_val *b)
{
    bool any = false;

    buf_addc(out, '{');
    for (size_t i = 0; i < toml_len(a) + toml_len(b); i++) {
        const struct toml_val *v =
            i < toml_len(a) ? toml_at(a, i) : toml_at(b, i - toml_len(a));

        if (i < toml_len(a) && toml_get_s(b, v->key))
            continue;
        put_comma(out, &any);
        json_put_str(out, v->key);
        buf_addc(out, ':');
        toml_put_json(out, v);
    }
    buf_addc(out, '}');
}

static bool is_list(struct str key, const struct toml_val *a, const struct toml_val *b)
{
    for (size_t i = 0; i < ARRAY_LEN(merged_keys); i++)
        if (str_is(key, merged_keys[i].name))
            return merged_keys[i].kind == TOML_ARRAY;
    return toml_is(a, TOML_ARRAY) && toml_is(b, TOML_ARRAY);
}

/* { source = { path = "skills" } } and nothing else: the group that is appended. */
static bool is_default_group(const struct toml_val *group)
{
    const struct toml_val *source = toml_get(group, "source");

    return toml_len(group) == 1 && toml_is(source, TOML_TABLE) && toml_len(source) == 1 &&
           str_is(toml_str(toml_get(source, "path")), "skills");
}

static bool wants_default_group(const struct toml_val *first, const struct toml_val *second)
{
    const struct toml_val *layers[] = { first, second };
    bool wanted = true;

    for (size_t i = 0; i < ARRAY_LEN(layers); i++) {
        const struct toml_val *on = toml_get(toml_get(layers[i], "defaults"), "skills"),
                              *groups = toml_get(layers[i], "skills");

        if (on)
            wanted = !toml_is(on, TOML_BOOL) || on->b;
        for (size_t k = 0; k < toml_len(groups); k++)
            if (is_default_group(toml_at(groups, k)))
                return false;
    }
    return wanted;
}

static void put_list(struct buf *out, const struct toml_val *a, const struct toml_val *b,
                     bool default_group)
{
    bool any = false;

    buf_addc(out, '[');
    put_elements(out, a, &any);
    put_elements(out, b, &any);
    if (default_group) {
        put_comma(out, &any);
        buf_addz(out, "{\"source\":{\"path\":\"skills\"}}");
    }
    buf_addc(out, ']');
}

static void put_value(struct buf *out, struct str key, const struct toml_val *a,
                      const struct toml_val *b)
{
    if (is_list(key, a, b))
        put_list(out, a, b, false);
    else if (toml_is(a, TOML_TABLE) && toml_is(b, TOML_TABLE))
        put_united(out, a, b);
    else
        toml_put_json(out, b ? b : a);
}

void layers_merge(struct buf *out, const struct toml_val *first, const struct toml_val *second)
{
    const struct toml_val *layers[] = { first, second };
    bool any = false, more = wants_default_group(first, second);

    buf_addc(out, '{');
    for (size_t n = 0; n < ARRAY_LEN(layers); n++) {
        for (size_t i = 0; i < toml_len(layers[n]); i++) {
            struct str key = toml_at(layers[n], i)->key;
            const struct toml_val *a = member(first, key), *b = member(second, key);

            if ((n == 1 && a) || str_is(key, "skills"))
                continue; /* put already, or put last */
            put_comma(out, &any);
            json_put_str(out, key);
            buf_addc(out, ':');
            put_value(out, key, a, b);
        }
    }
    if (more || toml_get(first, "skills") || toml_get(second, "skills")) {
        put_comma(out, &any);
        buf_addz(out, "\"skills\":");
        put_list(out, toml_get(first, "skills"), toml_get(second, "skills"), more);
    }
    buf_addc(out, '}');
}

/* ---- of a directory ---- */

static const struct toml_val *checked(const struct toml_val *layer, const char *what,
                                      struct error *why)
{
    if (layer && layer_check(layer, why))
        return layer;
    log_warn("%s left out: %s", what, why->msg);
    return NULL;
}

static const struct toml_val *read_file_layer(struct arena *a, const char *path)
{
    auto_buf text = BUF(LAYERS_MAX_FILE);
    struct error why = { 0 };
    struct toml_val *doc = NULL;

    if (file_read(path, &text, &why))
        doc = toml_parse(a, buf_str(&text), &why);
    return checked(doc, arena_printf(a, "'%s'", path), &why);
}

bool embedded_read(struct arena *a, const char *dir, const struct toml_val *metadata,
                   struct embedded *ret, struct error *e)
{
    const char *path = manifest_file(a, dir);
    const struct toml_val *own = NULL, *file = NULL;
    struct error why = { 0 };
    auto_buf json = BUF(LAYERS_MAX_JSON);

    if (metadata)
        own = checked(metadata, arena_printf(a, "metadata of '%s'", dir), &why);
    if (path)
        file = read_file_layer(a, path);
    layers_merge(&json, own, file);
    if (!buf_ok(&json, e))
        return error_wrap(e, "the manifest of '%s'", dir);
    ret->any = metadata || path || skills_exist(dir);
    ret->manifest = arena_str(a, buf_str(&json));
    return true;
}
