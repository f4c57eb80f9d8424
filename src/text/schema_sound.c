/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/schema_impl.h"

#include <string.h>

#include "base/mem.h"
#include "text/schema.h"

#define POINTER_TOKEN_MAX 1024 /* bytes of one token of a $ref's pointer */

/* ---- references ---- */

/* Undoes a URI fragment's percent escapes. */
static bool percent_decode(struct str s, struct buf *out)
{
    while (s.n) {
        bool escaped = s.p[0] == '%';
        int byte = escaped ? str_percent(s) : s.p[0];

        if (escaped && byte < 0)
            return false;
        buf_addc(out, (char)byte);
        s = str_from(s, escaped ? 3 : 1);
    }
    return !out->over;
}

/* Undoes a JSON pointer's escapes (RFC 6901): ~1 is '/', ~0 is '~'. */
static bool token_decode(struct str s, struct buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '~') {
            if (++i == s.n || (s.p[i] != '0' && s.p[i] != '1'))
                return false;
            c = s.p[i] == '0' ? '~' : '/';
        }
        buf_addc(out, c);
    }
    return !out->over;
}

static yyjson_val *child(struct check *c, yyjson_val *v, struct str token)
{
    int64_t i;

    if (!schema_spend(c, 1 + json_len(v) + schema_find_steps(v, token)))
        return NULL;
    if (json_is_obj(v))
        return json_get_s(v, token);
    if (!str_to_int(token, 0, INT32_MAX, &i) || (size_t)i >= json_len(v))
        return NULL;
    return json_at(v, (size_t)i);
}

static yyjson_val *follow_pointer(struct check *c, struct str pointer)
{
    auto_buf token = BUF(POINTER_TOKEN_MAX);
    struct str part, rest = str_from(pointer, 1);
    yyjson_val *v = c->root;
    bool more = true;

    while (v && more) {
        more = str_cut(rest, '/', &part, &rest);
        if (!more)
            part = rest;
        if (!token_decode(part, &token))
            return NULL;
        v = child(c, v, buf_str(&token));
    }
    return v;
}

yyjson_val *schema_resolve(struct check *c, struct str ref)
{
    auto_buf fragment = BUF(ref.n);
    struct str s;

    if (!str_starts(ref, STR("#")) || !percent_decode(str_from(ref, 1), &fragment))
        return NULL;
    s = buf_str(&fragment);
    if (s.n == 0)
        return c->root;
    if (s.p[0] == '/')
        return follow_pointer(c, s);
    for (size_t i = 0; i < c->nanchors && schema_spend(c, 1); i++) {
        if (str_eq(c->anchors[i].name, s))
            return c->anchors[i].schema;
    }
    return NULL;
}

/* ---- shapes ---- */

enum shape {
    UNSUPPORTED, /* would change the outcome, and we do not know it */
    SCHEMA,
    SCHEMAS, /* array of schemas, not empty */
    SCHEMA_OR_SCHEMAS,
    SCHEMA_MAP,
    DEPENDENCIES, /* map of schema or array of strings */
    COUNT,
    NUMBER,
    POSITIVE,
    NUMBER_OR_BOOL, /* exclusiveMinimum of draft-04 */
    BOOL,
    STRING,
    STRINGS,
    STRINGS_MAP,
    ARRAY,
    TYPES,
    REF,
    ANCHOR,
    ID,
};

/* Keywords that are not here are annotations or unknown, and say nothing about the value. */
static const struct {
    struct str name;
    enum shape shape;
} keywords[] = {
    { STR("$anchor"), ANCHOR },
    { STR("$defs"), SCHEMA_MAP },
    { STR("$dynamicRef"), UNSUPPORTED },
    { STR("$id"), ID },
    { STR("$recursiveRef"), UNSUPPORTED },
    { STR("$ref"), REF },
    { STR("additionalItems"), SCHEMA },
    { STR("additionalProperties"), SCHEMA },
    { STR("allOf"), SCHEMAS },
    { STR("anyOf"), SCHEMAS },
    { STR("contains"), SCHEMA },
    { STR("definitions"), SCHEMA_MAP },
    { STR("dependencies"), DEPENDENCIES },
    { STR("dependentRequired"), STRINGS_MAP },
    { STR("dependentSchemas"), SCHEMA_MAP },
    { STR("else"), SCHEMA },
    { STR("enum"), ARRAY },
    { STR("exclusiveMaximum"), NUMBER_OR_BOOL },
    { STR("exclusiveMinimum"), NUMBER_OR_BOOL },
    { STR("if"), SCHEMA },
    { STR("items"), SCHEMA_OR_SCHEMAS },
    { STR("maxContains"), COUNT },
    { STR("maxItems"), COUNT },
    { STR("maxLength"), COUNT },
    { STR("maxProperties"), COUNT },
    { STR("maximum"), NUMBER },
    { STR("minContains"), COUNT },
    { STR("minItems"), COUNT },
    { STR("minLength"), COUNT },
    { STR("minProperties"), COUNT },
    { STR("minimum"), NUMBER },
    { STR("multipleOf"), POSITIVE },
    { STR("not"), SCHEMA },
    { STR("nullable"), BOOL },
    { STR("oneOf"), SCHEMAS },
    { STR("pattern"), STRING },
    { STR("patternProperties"), SCHEMA_MAP },
    { STR("prefixItems"), SCHEMAS },
    { STR("properties"), SCHEMA_MAP },
    { STR("propertyNames"), SCHEMA },
    { STR("required"), STRINGS },
    { STR("then"), SCHEMA },
    { STR("type"), TYPES },
    { STR("unevaluatedItems"), UNSUPPORTED },
    { STR("unevaluatedProperties"), UNSUPPORTED },
    { STR("uniqueItems"), BOOL },
};

static bool sound(struct check *c, yyjson_val *schema);

static bool is_type_name(yyjson_val *v)
{
    static const char *const names[] = { "null",   "boolean", "object", "array",
                                         "number", "string",  "integer" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (json_is_str(v) && str_is(json_str(v), names[i]))
            return true;
    }
    return false;
}

typedef bool (*shape_fn)(struct check *c, yyjson_val *v);

static bool is_string(struct check *c, yyjson_val *v)
{
    return json_is_str(v);
}

static bool is_type(struct check *c, yyjson_val *v)
{
    return is_type_name(v);
}

/* Every member or element has the shape. */
static bool each(struct check *c, yyjson_val *v, shape_fn fn)
{
    if (!schema_spend(c, json_len(v)))
        return false;
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!fn(c, it.val))
            return false;
    }
    return true;
}

static bool is_strings(struct check *c, yyjson_val *v)
{
    return json_is_arr(v) && each(c, v, is_string);
}

static bool is_dependency(struct check *c, yyjson_val *v)
{
    return json_is_arr(v) ? is_strings(c, v) : sound(c, v);
}

static bool is_number_with(yyjson_val *v, bool above_zero)
{
    double d;

    return json_num(v, &d) && (!above_zero || d > 0);
}

static bool is_count(yyjson_val *v)
{
    int64_t n;

    return json_int(v, &n) && n >= 0;
}

static bool note_ref(struct check *c, yyjson_val *v)
{
    if (!json_is_str(v))
        return false;
    map_put(&c->refs, json_str(v), v);
    return true;
}

static bool note_anchor(struct check *c, yyjson_val *schema, struct str name)
{
    c->anchors = mem_grow(c->anchors, sizeof *c->anchors, c->nanchors + 1, &c->anchors_cap);
    c->anchors[c->nanchors].name = name;
    c->anchors[c->nanchors++].schema = schema;
    return true;
}

/* An identifier inside the document would change what references below it mean; "#name" is
 * draft-07's anchor. */
static bool note_id(struct check *c, yyjson_val *schema, yyjson_val *v)
{
    struct str id = json_str(v);

    if (!json_is_str(v))
        return false;
    if (id.n > 1 && id.p[0] == '#')
        return note_anchor(c, schema, str_from(id, 1));
    return schema == c->root;
}

static bool has_shape(struct check *c, yyjson_val *schema, yyjson_val *v, enum shape shape)
{
    switch (shape) {
    case UNSUPPORTED:
        return false;
    case SCHEMA:
        return sound(c, v);
    case SCHEMAS:
        return json_is_arr(v) && json_len(v) > 0 && each(c, v, sound);
    case SCHEMA_OR_SCHEMAS:
        return json_is_arr(v) ? each(c, v, sound) : sound(c, v);
    case SCHEMA_MAP:
        return json_is_obj(v) && each(c, v, sound);
    case DEPENDENCIES:
        return json_is_obj(v) && each(c, v, is_dependency);
    case COUNT:
        return is_count(v);
    case NUMBER:
        return is_number_with(v, false);
    case POSITIVE:
        return is_number_with(v, true);
    case NUMBER_OR_BOOL:
        return json_is_num(v) || json_is_bool(v);
    case BOOL:
        return json_is_bool(v);
    case STRING:
        return json_is_str(v);
    case STRINGS:
        return is_strings(c, v);
    case STRINGS_MAP:
        return json_is_obj(v) && each(c, v, is_strings);
    case ARRAY:
        return json_is_arr(v);
    case TYPES:
        return json_is_arr(v) ? each(c, v, is_type) : is_type_name(v);
    case REF:
        return note_ref(c, v);
    case ANCHOR:
        return json_is_str(v) && note_anchor(c, schema, json_str(v));
    case ID:
        return note_id(c, schema, v);
    }
    return false;
}

static bool keyword_sound(struct check *c, yyjson_val *schema, struct str key, yyjson_val *v)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        if (str_eq(key, keywords[i].name))
            return has_shape(c, schema, v, keywords[i].shape);
    }
    return true;
}

/* Recursion ends with the document, which is at most JSON_MAX_DEPTH deep. */
static bool sound(struct check *c, yyjson_val *schema)
{
    if (json_is_bool(schema))
        return true;
    if (!json_is_obj(schema) || !schema_spend(c, 1 + json_len(schema)))
        return false;
    for (struct json_iter it = json_iter(schema); json_next(&it);) {
        if (!keyword_sound(c, schema, it.key, it.val))
            return false;
    }
    return true;
}

/*
 * A reference may lead to a place that is no schema position of the walk ("#/x-shared/thing"):
 * then that place is walked too, which may add references behind the current one.
 */
static bool refs_sound(struct check *c)
{
    struct str ref;

    for (size_t i = 0; map_next(&c->refs, &i, &ref, NULL);) {
        yyjson_val *target = schema_resolve(c, ref);

        if (!target || !sound(c, target))
            return false;
    }
    return true;
}

bool schema_sound(struct check *c)
{
    return sound(c, c->root) && refs_sound(c);
}
