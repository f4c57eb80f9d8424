/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/schema.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "text/schema_impl.h"

bool schema_spend(struct check *c, size_t steps)
{
    if (c->unchecked || steps > SCHEMA_WORK_MAX - c->work) {
        c->unchecked = true;
        return false;
    }
    c->work += steps;
    return true;
}

#define STEP_BYTES    32  /* decoded, hashed or counted in one step */
#define STEP_COMPARED 256 /* compared in one step */
#define STEP_MEMBERS  8   /* of an object looked at in one step */

size_t schema_text_steps(size_t bytes)
{
    return bytes / STEP_BYTES;
}

size_t schema_find_steps(yyjson_val *obj, struct str key)
{
    return 1 + json_len(obj) / STEP_MEMBERS + json_len(obj) * key.n / STEP_COMPARED;
}

/* json_next() that counts its steps, and ends the loop when there are none left. */
static bool next(struct check *c, struct json_iter *it)
{
    return schema_spend(c, 1) && json_next(it);
}

static enum verdict of(bool holds)
{
    return holds ? YES : NO;
}

static enum verdict all(enum verdict a, enum verdict b)
{
    return a < b ? a : b;
}

static enum verdict any(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

/* One keyword at one value. `schema` is the object the keyword `kw` stands in. */
struct site {
    yyjson_val *schema, *kw, *value;
};

static enum verdict eval(struct check *c, yyjson_val *schema, yyjson_val *value);

/* A member of the same schema object. */
static yyjson_val *beside(struct check *c, const struct site *s, const char *key)
{
    return schema_spend(c, json_len(s->schema) / STEP_MEMBERS) ? json_get(s->schema, key)
                                                               : NULL;
}

static yyjson_val *member(struct check *c, yyjson_val *obj, struct str key)
{
    return schema_spend(c, schema_find_steps(obj, key)) ? json_get_s(obj, key) : NULL;
}

/* ---- any value ---- */

static bool is_integer(yyjson_val *v)
{
    int64_t n;
    double d;

    return json_int(v, &n) || (json_num(v, &d) && fabs(d) >= 0x1p63 && isfinite(d));
}

static bool has_type(yyjson_val *v, yyjson_val *name)
{
    return str_is(json_str(name), json_type_name(v)) ||
           (str_is(json_str(name), "integer") && is_integer(v));
}

static enum verdict kw_type(struct check *c, const struct site *s)
{
    if (!json_is_arr(s->kw))
        return of(has_type(s->value, s->kw));
    for (struct json_iter it = json_iter(s->kw); next(c, &it);) {
        if (has_type(s->value, it.val))
            return YES;
    }
    return NO;
}

static enum verdict kw_const(struct check *c, const struct site *s)
{
    return of(schema_equal(c, s->kw, s->value));
}

static enum verdict kw_enum(struct check *c, const struct site *s)
{
    for (struct json_iter it = json_iter(s->kw); next(c, &it);) {
        if (schema_equal(c, it.val, s->value))
            return YES;
    }
    return NO;
}

static enum verdict kw_ref(struct check *c, const struct site *s)
{
    yyjson_val *target = NULL;

    if (schema_spend(c, schema_text_steps(json_str(s->kw).n)))
        target = schema_resolve(c, json_str(s->kw));
    if (!target) {
        c->unchecked = true;
        return UNKNOWN;
    }
    return eval(c, target, s->value);
}

/* ---- combinations ---- */

static enum verdict kw_all_of(struct check *c, const struct site *s)
{
    enum verdict v = YES;

    for (struct json_iter it = json_iter(s->kw); v != NO && next(c, &it);)
        v = all(v, eval(c, it.val, s->value));
    return v;
}

static enum verdict kw_any_of(struct check *c, const struct site *s)
{
    enum verdict v = NO;

    for (struct json_iter it = json_iter(s->kw); v != YES && next(c, &it);)
        v = any(v, eval(c, it.val, s->value));
    return v;
}

static enum verdict kw_one_of(struct check *c, const struct site *s)
{
    size_t count[3] = { 0 };

    for (struct json_iter it = json_iter(s->kw); count[YES] < 2 && next(c, &it);)
        count[eval(c, it.val, s->value)]++;
    if (count[YES] > 1)
        return NO;
    return count[UNKNOWN] ? UNKNOWN : of(count[YES] == 1);
}

static enum verdict kw_not(struct check *c, const struct site *s)
{
    return (enum verdict)(YES - eval(c, s->kw, s->value));
}

static enum verdict kw_if(struct check *c, const struct site *s)
{
    yyjson_val *yes = beside(c, s, "then"), *no = beside(c, s, "else");
    enum verdict cond = eval(c, s->kw, s->value), with = YES, without = YES;

    if (yes && cond != NO)
        with = eval(c, yes, s->value);
    if (no && cond != YES)
        without = eval(c, no, s->value);
    if (cond == UNKNOWN)
        return with == without ? with : UNKNOWN;
    return cond == YES ? with : without;
}

/* ---- numbers ---- */

static bool is_exclusive(struct check *c, const struct site *s, const char *key)
{
    return json_is_true(beside(c, s, key)); /* draft-04: a flag beside the bound */
}

static enum verdict kw_minimum(struct check *c, const struct site *s)
{
    if (!json_is_num(s->value))
        return YES;
    return of(schema_compare_numbers(s->value, s->kw) >=
              is_exclusive(c, s, "exclusiveMinimum"));
}

static enum verdict kw_maximum(struct check *c, const struct site *s)
{
    if (!json_is_num(s->value))
        return YES;
    return of(schema_compare_numbers(s->value, s->kw) <=
              -is_exclusive(c, s, "exclusiveMaximum"));
}

static enum verdict kw_exclusive_minimum(struct check *c, const struct site *s)
{
    if (!json_is_num(s->value) || !json_is_num(s->kw))
        return YES;
    return of(schema_compare_numbers(s->value, s->kw) > 0);
}

static enum verdict kw_exclusive_maximum(struct check *c, const struct site *s)
{
    if (!json_is_num(s->value) || !json_is_num(s->kw))
        return YES;
    return of(schema_compare_numbers(s->value, s->kw) < 0);
}

/* 0.3 is a multiple of 0.1 although the quotient of the doubles is not whole. */
#define MULTIPLE_TOLERANCE 1e-9

static enum verdict kw_multiple_of(struct check *c, const struct site *s)
{
    int64_t value, step;
    double v, by, quotient;

    if (!json_is_num(s->value))
        return YES;
    if (json_int(s->value, &value) && json_int(s->kw, &step))
        return of(value % step == 0);
    json_num(s->value, &v);
    json_num(s->kw, &by);
    quotient = v / by;
    if (!isfinite(quotient))
        return UNKNOWN;
    return of(fabs(quotient - nearbyint(quotient)) <=
              MULTIPLE_TOLERANCE * fmax(1, fabs(quotient)));
}

/* ---- sizes ---- */

/* Characters, as JSON Schema counts them: code points. */
static size_t count_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static int64_t limit_of(yyjson_val *kw)
{
    int64_t n = 0;

    json_int(kw, &n);
    return n;
}

/* A character has one to four bytes, which mostly says enough. Otherwise they are counted. */
static enum verdict has_chars(struct check *c, struct str s, int64_t least)
{
    if ((int64_t)s.n < least)
        return NO;
    if ((int64_t)(s.n + 3) / 4 >= least)
        return YES;
    if (!schema_spend(c, schema_text_steps(s.n)))
        return UNKNOWN;
    return of((int64_t)count_chars(s) >= least);
}

static enum verdict kw_min_length(struct check *c, const struct site *s)
{
    return json_is_str(s->value) ? has_chars(c, json_str(s->value), limit_of(s->kw)) : YES;
}

static enum verdict kw_max_length(struct check *c, const struct site *s)
{
    int64_t most = limit_of(s->kw);

    if (!json_is_str(s->value) || most == INT64_MAX)
        return YES;
    return (enum verdict)(YES - has_chars(c, json_str(s->value), most + 1));
}

static enum verdict kw_min_items(struct check *c, const struct site *s)
{
    return of(!json_is_arr(s->value) || (int64_t)json_len(s->value) >= limit_of(s->kw));
}

static enum verdict kw_max_items(struct check *c, const struct site *s)
{
    return of(!json_is_arr(s->value) || (int64_t)json_len(s->value) <= limit_of(s->kw));
}

static enum verdict kw_min_properties(struct check *c, const struct site *s)
{
    return of(!json_is_obj(s->value) || (int64_t)json_len(s->value) >= limit_of(s->kw));
}

static enum verdict kw_max_properties(struct check *c, const struct site *s)
{
    return of(!json_is_obj(s->value) || (int64_t)json_len(s->value) <= limit_of(s->kw));
}

/* A pattern is never run (MS-49, SEC-43). */
static enum verdict kw_pattern(struct check *c, const struct site *s)
{
    return json_is_str(s->value) ? UNKNOWN : YES;
}

/* ---- arrays ---- */

/* The elements from `first` on against one schema. */
static enum verdict rest_items(struct check *c, yyjson_val *schema, yyjson_val *array,
                               size_t first)
{
    enum verdict v = YES;

    for (struct json_iter it = json_iter(array); v != NO && next(c, &it);) {
        if (it.i > first)
            v = all(v, eval(c, schema, it.val));
    }
    return v;
}

/* The first elements against one schema each. */
static enum verdict tuple_items(struct check *c, yyjson_val *schemas, yyjson_val *array)
{
    struct json_iter s = json_iter(schemas), a = json_iter(array);
    enum verdict v = YES;

    while (v != NO && next(c, &s) && next(c, &a))
        v = all(v, eval(c, s.val, a.val));
    return v;
}

static enum verdict kw_prefix_items(struct check *c, const struct site *s)
{
    return json_is_arr(s->value) ? tuple_items(c, s->kw, s->value) : YES;
}

static enum verdict kw_items(struct check *c, const struct site *s)
{
    if (!json_is_arr(s->value))
        return YES;
    if (json_is_arr(s->kw))
        return tuple_items(c, s->kw, s->value);
    return rest_items(c, s->kw, s->value, json_len(beside(c, s, "prefixItems")));
}

/* Of draft-07; without a tuple in `items` it says nothing. */
static enum verdict kw_additional_items(struct check *c, const struct site *s)
{
    yyjson_val *tuple = beside(c, s, "items");

    if (!json_is_arr(s->value) || !json_is_arr(tuple))
        return YES;
    return rest_items(c, s->kw, s->value, json_len(tuple));
}

static enum verdict kw_contains(struct check *c, const struct site *s)
{
    yyjson_val *min = beside(c, s, "minContains"), *max = beside(c, s, "maxContains");
    int64_t least = min ? limit_of(min) : 1, most = max ? limit_of(max) : INT64_MAX;
    int64_t count[3] = { 0 };

    if (!json_is_arr(s->value))
        return YES;
    for (struct json_iter it = json_iter(s->value); next(c, &it);)
        count[eval(c, s->kw, it.val)]++;
    if (count[YES] > most || count[YES] + count[UNKNOWN] < least)
        return NO;
    return count[YES] >= least && count[YES] + count[UNKNOWN] <= most ? YES : UNKNOWN;
}

static enum verdict kw_unique_items(struct check *c, const struct site *s)
{
    return of(!json_is_true(s->kw) || !json_is_arr(s->value) || schema_unique(c, s->value));
}

/* ---- objects ---- */

static enum verdict kw_required(struct check *c, const struct site *s)
{
    if (!json_is_obj(s->value))
        return YES;
    for (struct json_iter it = json_iter(s->kw); next(c, &it);) {
        if (!member(c, s->value, json_str(it.val)))
            return NO;
    }
    return YES;
}

static enum verdict kw_properties(struct check *c, const struct site *s)
{
    enum verdict v = YES;

    if (!json_is_obj(s->value))
        return YES;
    for (struct json_iter it = json_iter(s->kw); v != NO && next(c, &it);) {
        yyjson_val *value = member(c, s->value, it.key);

        if (value)
            v = all(v, eval(c, it.val, value));
    }
    return v;
}

/* Which members a pattern selects is not known, so neither is whether they fit. */
static enum verdict kw_pattern_properties(struct check *c, const struct site *s)
{
    return json_len(s->kw) && json_is_obj(s->value) && json_len(s->value) ? UNKNOWN : YES;
}

static enum verdict kw_additional_properties(struct check *c, const struct site *s)
{
    yyjson_val *known = beside(c, s, "properties");
    bool patterns = json_len(beside(c, s, "patternProperties")) > 0;
    enum verdict v = YES;

    if (!json_is_obj(s->value) || json_is_true(s->kw))
        return YES;
    for (struct json_iter it = json_iter(s->value); v != NO && next(c, &it);) {
        if (member(c, known, it.key))
            continue;
        v = all(v, patterns ? UNKNOWN : eval(c, s->kw, it.val));
    }
    return v;
}

static enum verdict kw_property_names(struct check *c, const struct site *s)
{
    enum verdict v = YES;

    if (!json_is_obj(s->value))
        return YES;
    for (struct json_iter it = json_iter(s->value); v != NO && next(c, &it);)
        v = all(v, eval(c, s->kw, it.key_val));
    return v;
}

/* dependentRequired, dependentSchemas, and draft-07's dependencies, which is both. */
static enum verdict kw_dependent(struct check *c, const struct site *s)
{
    enum verdict v = YES;

    if (!json_is_obj(s->value))
        return YES;
    for (struct json_iter it = json_iter(s->kw); v != NO && next(c, &it);) {
        struct site names = { s->schema, it.val, s->value };

        if (member(c, s->value, it.key))
            v = all(v,
                    json_is_arr(it.val) ? kw_required(c, &names) : eval(c, it.val, s->value));
    }
    return v;
}

/* ---- the walk ---- */

/* Keywords that only modify a neighbour (then, minContains ...) are read by it. The cheap and
 * telling come first. */
static const struct {
    struct str name;
    enum verdict (*eval)(struct check *c, const struct site *s);
} keywords[] = {
    { STR("type"), kw_type },
    { STR("properties"), kw_properties },
    { STR("required"), kw_required },
    { STR("items"), kw_items },
    { STR("$ref"), kw_ref },
    { STR("additionalProperties"), kw_additional_properties },
    { STR("additionalItems"), kw_additional_items },
    { STR("allOf"), kw_all_of },
    { STR("anyOf"), kw_any_of },
    { STR("const"), kw_const },
    { STR("contains"), kw_contains },
    { STR("dependencies"), kw_dependent },
    { STR("dependentRequired"), kw_dependent },
    { STR("dependentSchemas"), kw_dependent },
    { STR("enum"), kw_enum },
    { STR("exclusiveMaximum"), kw_exclusive_maximum },
    { STR("exclusiveMinimum"), kw_exclusive_minimum },
    { STR("if"), kw_if },
    { STR("maxItems"), kw_max_items },
    { STR("maxLength"), kw_max_length },
    { STR("maxProperties"), kw_max_properties },
    { STR("maximum"), kw_maximum },
    { STR("minItems"), kw_min_items },
    { STR("minLength"), kw_min_length },
    { STR("minProperties"), kw_min_properties },
    { STR("minimum"), kw_minimum },
    { STR("multipleOf"), kw_multiple_of },
    { STR("not"), kw_not },
    { STR("oneOf"), kw_one_of },
    { STR("pattern"), kw_pattern },
    { STR("patternProperties"), kw_pattern_properties },
    { STR("prefixItems"), kw_prefix_items },
    { STR("propertyNames"), kw_property_names },
    { STR("uniqueItems"), kw_unique_items },
};

static enum verdict eval_keyword(struct check *c, struct str key, const struct site *s)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        if (str_eq(key, keywords[i].name))
            return keywords[i].eval(c, s);
    }
    return YES;
}

static enum verdict eval_object(struct check *c, yyjson_val *schema, yyjson_val *value)
{
    struct site s = { schema, NULL, value };
    enum verdict v = YES;

    if (json_is_null(value) && json_is_true(beside(c, &s, "nullable")))
        return YES;
    if (c->ref_alone && (s.kw = beside(c, &s, "$ref")))
        return kw_ref(c, &s);
    for (struct json_iter it = json_iter(schema); v != NO && next(c, &it);) {
        if (!schema_spend(c, schema_text_steps(json_num_text(it.val).n)))
            return UNKNOWN;
        s.kw = it.val;
        v = all(v, eval_keyword(c, it.key, &s));
    }
    return v;
}

static enum verdict eval(struct check *c, yyjson_val *schema, yyjson_val *value)
{
    enum verdict v;

    if (json_is_bool(schema))
        return of(json_is_true(schema));
    if (c->depth == SCHEMA_DEPTH_MAX)
        c->unchecked = true;
    if (!schema_spend(c, 1 + schema_text_steps(json_num_text(value).n)))
        return UNKNOWN;
    c->depth++;
    v = eval_object(c, schema, value);
    c->depth--;
    return v;
}

static bool is_old_dialect(yyjson_val *root)
{
    struct str dialect = json_str(json_get(root, "$schema"));

    return str_find(dialect, STR("/draft-0")) != SIZE_MAX;
}

enum schema_result schema_check(yyjson_val *root, yyjson_val *schema, yyjson_val *value)
{
    struct check c = { .root = root, .ref_alone = is_old_dialect(root) };
    enum verdict v = UNKNOWN;

    if (!schema || !value || !schema_sound(&c))
        c.unchecked = true;
    else
        v = eval(&c, schema, value);
    map_free(&c.refs);
    free(c.anchors);
    if (c.unchecked)
        return SCHEMA_UNCHECKED;
    return v == NO ? SCHEMA_MISMATCH : SCHEMA_OK;
}
