/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/values.h"

#include "base/mem.h"
#include "base/utf8.h"

/* ---- which tool ---- */

static bool begins(struct str target, struct str name)
{
    return target.n > name.n + 1 && target.p[name.n] == '.' && str_starts(target, name);
}

const struct catalog_server *values_target(const struct catalog *c, struct str target,
                                           struct str *ret_tool, struct error *e)
{
    const struct catalog_server *best = NULL;
    auto_buf names = BUF(1024);
    size_t longest = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct str spelled[] = { c->v[i].name, c->v[i].global };

        for (size_t k = 0; k < ARRAY_LEN(spelled); k++) {
            if (!begins(target, spelled[k]) || spelled[k].n <= longest)
                continue;
            best = &c->v[i];
            longest = spelled[k].n;
        }
        buf_addf(&names, "%s%.*s", i ? ", " : "", STR_F(c->v[i].name));
    }
    *ret_tool = str_from(target, longest + 1);
    if (best)
        return best;
    if (!c->n)
        error_set(e, ERR_NOT_FOUND, "no MCP servers apply to this workspace");
    else
        error_set(e, ERR_NOT_FOUND,
                  "no server of this workspace in '%.*s' (SERVER.TOOL); servers: %s",
                  STR_F(utf8_cut(target, 200)), buf_z(&names));
    return NULL;
}

/* ---- types ---- */

enum {
    TYPE_NULL = 1 << 0,
    TYPE_BOOLEAN = 1 << 1,
    TYPE_INTEGER = 1 << 2,
    TYPE_NUMBER = 1 << 3,
    TYPE_OBJECT = 1 << 4,
    TYPE_ARRAY = 1 << 5,
    TYPE_STRING = 1 << 6,
};

static const struct {
    const char *name, *article;
    unsigned bit;
} types[] = {
    { "null", "null", TYPE_NULL },
    { "boolean", "true or false (boolean)", TYPE_BOOLEAN },
    { "integer", "an integer", TYPE_INTEGER },
    { "number", "a number", TYPE_NUMBER },
    { "object", "a JSON object", TYPE_OBJECT },
    { "array", "a JSON array", TYPE_ARRAY },
    { "string", "a string", TYPE_STRING },
};

static unsigned type_bit(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(name, types[i].name))
            return types[i].bit;
    return 0;
}

/* "#/$defs/Name"; escapes of JSON pointers do not occur in names that people type. */
static yyjson_val *follow(yyjson_val *root, struct str ref)
{
    yyjson_val *at = root;
    struct str step, rest = ref;

    if (!str_cut(rest, '/', &step, &rest) || !str_is(step, "#"))
        return NULL;
    while (str_cut(rest, '/', &step, &rest))
        at = json_get_s(at, step);
    return json_get_s(at, rest);
}

/* A walk through the schema of one key. */
struct walk {
    yyjson_val *root;
    unsigned left; /* of VALUES_REF_STEPS */
};

static unsigned types_of(struct walk *w, yyjson_val *schema, unsigned depth);

static unsigned types_in(struct walk *w, yyjson_val *list, unsigned depth)
{
    unsigned bits = 0;

    for (struct json_iter it = json_iter(list); w->left && json_next(&it);)
        bits |= types_of(w, it.val, depth);
    return bits;
}

/* 0: none is given. */
static unsigned types_of(struct walk *w, yyjson_val *schema, unsigned depth)
{
    yyjson_val *type = json_get(schema, "type");
    unsigned bits = type_bit(json_str(type));

    if (depth == 0 || w->left == 0)
        return 0;
    w->left--;
    if (json_is_arr(type))
        for (struct json_iter it = json_iter(type); json_next(&it);)
            bits |= type_bit(json_str(it.val));
    if (bits)
        return bits;
    if (json_is_str(json_get(schema, "$ref")))
        return types_of(w, follow(w->root, json_str(json_get(schema, "$ref"))), depth - 1);
    return types_in(w, json_get(schema, "anyOf"), depth - 1) |
           types_in(w, json_get(schema, "oneOf"), depth - 1) |
           types_in(w, json_get(schema, "allOf"), depth - 1);
}

/* ---- values ---- */

static bool fits(yyjson_val *v, unsigned bits)
{
    int64_t whole;

    if (json_is_num(v))
        return (bits & TYPE_NUMBER) || ((bits & TYPE_INTEGER) && json_int(v, &whole));
    return ((bits & TYPE_NULL) && json_is_null(v)) ||
           ((bits & TYPE_BOOLEAN) && json_is_bool(v)) ||
           ((bits & TYPE_OBJECT) && json_is_obj(v)) || ((bits & TYPE_ARRAY) && json_is_arr(v));
}

static bool refuse(struct str key, unsigned bits, struct str value, struct error *e)
{
    auto_buf wanted = BUF(256);

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (bits & types[i].bit)
            buf_addf(&wanted, "%s%s", wanted.n ? " or " : "", types[i].article);
    return error_set(e, ERR_INVALID, "'%.*s' must be %s, not '%.*s'", STR_F(utf8_cut(key, 200)),
                     buf_z(&wanted), STR_F(utf8_cut(value, 200)));
}

static bool put_value(struct jw *w, unsigned bits, struct str key, struct str value,
                      struct error *e)
{
    auto_json doc = { 0 };

    if ((bits & ~(unsigned)TYPE_STRING) && json_parse(&doc, value, NULL) &&
        fits(doc.root, bits)) {
        jw_val(w, doc.root);
        return true;
    }
    if (bits && !(bits & TYPE_STRING))
        return refuse(key, bits, value, e);
    jw_str(w, value);
    return true;
}

static unsigned types_of_key(yyjson_val *schema, struct str key)
{
    yyjson_val *property = json_get_s(json_get(schema, "properties"), key);
    struct walk w = { schema, VALUES_REF_STEPS };

    if (!property)
        property = json_get(schema, "additionalProperties");
    return types_of(&w, property, VALUES_REF_DEPTH);
}

static bool put_pair(struct jw *w, yyjson_val *schema, yyjson_val *given, const char *pair,
                     struct error *e)
{
    struct str key, value;

    if (!str_cut(str_of(pair), '=', &key, &value) || !key.n)
        return error_set(e, ERR_INVALID,
                         "'%s' is not key=value; a JSON object goes behind --json", pair);
    if (json_get_s(given, key))
        return error_set(e, ERR_INVALID, "'%.*s' is given twice, in --json too", STR_F(key));
    jw_key_s(w, key);
    return put_value(w, types_of_key(schema, key), key, value, e);
}

/* A later pair with the same key. */
static bool repeats(const char *const *pairs, size_t i)
{
    struct str key, other, value;

    if (!str_cut(str_of(pairs[i]), '=', &key, &value))
        return false;
    for (size_t k = 0; k < i; k++)
        if (str_cut(str_of(pairs[k]), '=', &other, &value) && str_eq(key, other))
            return true;
    return false;
}

bool values_put(struct buf *out, yyjson_val *schema, const char *const *pairs, size_t n,
                struct str json, struct error *e)
{
    struct jw w = jw_to(out);
    auto_json doc = { 0 };

    if (json.n && !json_parse(&doc, json, e))
        return error_wrap(e, "--json");
    if (json.n && !json_is_obj(doc.root))
        return error_set(e, ERR_INVALID, "--json must be an object, not %s",
                         json_type_name(doc.root));
    jw_obj(&w);
    for (struct json_iter it = json_iter(doc.root); json_next(&it);) {
        jw_key_s(&w, it.key);
        jw_val(&w, it.val);
    }
    for (size_t i = 0; i < n; i++) {
        if (repeats(pairs, i))
            return error_set(e, ERR_INVALID, "'%s' is given twice", pairs[i]);
        if (!put_pair(&w, schema, doc.root, pairs[i], e))
            return false;
    }
    jw_end(&w);
    return buf_ok(out, e);
}
