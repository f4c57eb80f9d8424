/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/tsschema.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "meta/names.h"
#include "meta/tsref.h"

#define DOC_RAW_MAX      16384 /* bytes of a description that are looked at */
#define DEFAULT_JSON_MAX 40
#define ROOT_REF_MAX     16

struct ts_alias_list {
    struct ts_alias **v;
    size_t n, cap;
    unsigned
        suffix; /* of one base: the last one tried, so that a thousand clashes stay cheap */
};

/* A definition whose alias is reserved and whose body is still to be rendered: a list instead
 * of recursion, so that a chain of definitions cannot exhaust the stack. */
struct pending {
    struct ts_alias *alias;
    yyjson_val *schema;
};

struct render {
    struct ts_output *o;
    struct arena *a;
    struct tsref refs;
    struct map by_schema; /* schema's address -> struct ts_alias */
    struct ts_budget *budget;
    struct {
        struct pending *v;
        size_t n, cap;
    } todo;
    struct ts_alias_list fresh;
};

static const struct ts_type *type_of(struct render *r, yyjson_val *s, unsigned depth);

/* ---- output ---- */

void ts_output_init(struct ts_output *o, struct arena *a)
{
    *o = (struct ts_output){ .a = a };
}

void ts_output_reserve(struct ts_output *o, struct str global)
{
    map_put(&o->names, global, o);
}

void ts_output_done(struct ts_output *o)
{
    map_free(&o->names);
    map_free(&o->by_base);
}

/* Names that are keywords or types of the language or its library (TS-30). */
static bool is_taken_by_language(struct str s)
{
    static const char *const taken[] = {
        "any",         "as",          "async",      "await",      "bigint",      "boolean",
        "break",       "case",        "catch",      "class",      "const",       "continue",
        "debugger",    "declare",     "default",    "delete",     "do",          "else",
        "enum",        "export",      "extends",    "false",      "finally",     "for",
        "from",        "function",    "get",        "if",         "implements",  "import",
        "in",          "infer",       "instanceof", "interface",  "is",          "keyof",
        "let",         "module",      "namespace",  "never",      "new",         "null",
        "number",      "object",      "of",         "package",    "private",     "protected",
        "public",      "readonly",    "require",    "return",     "set",         "static",
        "string",      "super",       "switch",     "symbol",     "this",        "throw",
        "true",        "try",         "type",       "typeof",     "undefined",   "unique",
        "unknown",     "var",         "void",       "while",      "with",        "yield",
        "Array",       "ArrayBuffer", "Boolean",    "Capitalize", "Date",        "Error",
        "Exclude",     "Extract",     "Function",   "Map",        "NonNullable", "Number",
        "Object",      "Omit",        "Parameters", "Partial",    "Pick",        "Promise",
        "Readonly",    "Record",      "RegExp",     "Required",   "ReturnType",  "Set",
        "String",      "Symbol",      "global",     "globalThis", "intrinsic",   "asserts",
        "constructor", "arguments",   "eval",
    };

    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (str_is(s, taken[i]))
            return true;
    return false;
}

static struct str alias_base(struct arena *a, struct str name)
{
    char *p = arena_alloc(a, name.n + 3);
    size_t n = 1;

    name = str_upto(name, 64);
    for (size_t i = 0; i < name.n; i++) {
        struct str c = { name.p + i, 1 };

        p[n++] = is_identifier(c) || (*c.p >= '0' && *c.p <= '9')
                     ? (char)(*c.p == '$' ? '_' : *c.p)
                     : '_';
    }
    p[0] = '_';
    if (n > 1 && !(p[1] >= '0' && p[1] <= '9') &&
        !is_taken_by_language((struct str){ p + 1, n - 1 }))
        return (struct str){ p + 1, n - 1 };
    return (struct str){ p, n };
}

static struct ts_alias *alias_for(struct render *r, yyjson_val *target, struct str name)
{
    struct ts_output *o = r->o;
    struct str key = { (const char *)&target, sizeof target };
    struct ts_alias *alias = map_get(&r->by_schema, key);
    struct str base = alias_base(r->a, name);
    struct ts_alias_list *same;
    uint64_t hash;

    if (alias)
        return alias;
    hash = tsref_closure_hash(&r->refs, target);
    same = map_get(&o->by_base, base);
    if (!same) {
        same = ARENA_NEW(o->a, struct ts_alias_list);
        same->suffix = 1;
        map_put(&o->by_base, base, same);
    }
    for (size_t i = 0; i < same->n && !alias; i++)
        if (same->v[i]->body_hash == hash)
            alias = same->v[i];
    if (!alias) {
        alias = ARENA_NEW(o->a, struct ts_alias);
        *alias = (struct ts_alias){ .name = base, .base = base, .body_hash = hash };
        while (map_has(&o->names, alias->name))
            alias->name = str_of(arena_printf(o->a, "%.*s_%u", STR_F(base), ++same->suffix));
        map_put(&o->names, alias->name, alias);
        ARENA_PUSH(o->a, same) = alias;
        ARENA_PUSH(o->a, &o->aliases) = alias;
        ARENA_PUSH(r->a, &r->fresh) = alias;
        ARENA_PUSH(r->a, &r->todo) = (struct pending){ alias, target };
    }
    map_put(&r->by_schema, key, alias);
    return alias;
}

/* ---- comments ---- */

/* One space for each run of white space, "* /" for a comment end; stops before max characters
 * with an ellipsis. */
static void put_collapsed(struct buf *out, struct str clean, size_t max)
{
    struct str kept = utf8_cut_chars(clean, max);
    bool cut = kept.n < clean.n, space = false;

    if (cut)
        kept = utf8_cut_chars(clean, max - 1);
    for (size_t i = 0; i < kept.n; i++) {
        char c = kept.p[i];

        if (c == ' ') {
            space = true;
            continue;
        }
        if (space && out->n)
            buf_addc(out, ' ');
        space = false;
        if (c == '/' && out->n && out->p[out->n - 1] == '*')
            buf_addc(out, ' ');
        buf_addc(out, c);
    }
    if (cut)
        buf_addz(out, "\xe2\x80\xa6");
}

/* Nothing to clean, collapse or cut: nearly every description. */
static bool is_plain(struct str s, size_t max)
{
    char before = 0;

    if (s.n > max)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c < ' ' || c == 0x7f || (c == ' ' && before == ' ') || (c == '/' && before == '*'))
            return false;
        before = c;
    }
    return true;
}

void ts_put_doc(struct buf *out, struct str text, size_t max)
{
    auto_buf clean = BUF(4 * DOC_RAW_MAX), line = BUF(4 * DOC_RAW_MAX);

    text = str_trim(text);
    if (is_plain(text, max)) {
        buf_add(out, text);
        return;
    }
    utf8_put_clean(&clean, utf8_cut(text, DOC_RAW_MAX));
    put_collapsed(&line, str_trim(buf_str(&clean)), max);
    buf_add(out, buf_str(&line));
}

static void put_tag(struct buf *text, const char *tag, struct str value)
{
    buf_addz(text, text->n ? " " : "");
    buf_addz(text, tag);
    if (value.n)
        buf_addc(text, ' ');
    buf_add(text, value);
}

static struct str property_doc(struct render *r, yyjson_val *s)
{
    auto_buf text = BUF(8 * DOC_RAW_MAX), value = BUF(4 * DOC_RAW_MAX), tag = BUF(DOC_RAW_MAX);
    struct str description = str_trim(json_str(json_get(s, "description")));
    struct str format = json_str(json_get(s, "format"));
    yyjson_val *dflt = json_get(s, "default"), *deprecated = json_get(s, "deprecated");

    if (!dflt && !deprecated && !format.n && is_plain(description, TS_DOC_PROPERTY_MAX))
        return description; /* as it stands in the schema, which outlives its types */
    ts_put_doc(&text, description, TS_DOC_PROPERTY_MAX);
    if (dflt)
        json_put_val(&value, dflt);
    if (value.n && value.n <= DEFAULT_JSON_MAX) {
        ts_put_doc(&tag, buf_str(&value), DEFAULT_JSON_MAX);
        put_tag(&text, "@default", buf_str(&tag));
    }
    if (json_is_true(deprecated))
        put_tag(&text, "@deprecated", (struct str){ 0 });
    if (format.n) {
        buf_clear(&tag);
        ts_put_doc(&tag, format, DEFAULT_JSON_MAX);
        put_tag(&text, "@format", buf_str(&tag));
    }
    return arena_str(r->a, buf_str(&text));
}

/* ---- literals ---- */

static const struct ts_type *literal(struct render *r, yyjson_val *v, unsigned depth);

static const struct ts_type *literal_object(struct render *r, yyjson_val *v, unsigned depth)
{
    struct ts_type *t = ARENA_NEW(r->a, struct ts_type);

    t->kind = TS_OBJECT;
    t->one_line = true;
    for (struct json_iter it = json_iter(v); json_next(&it);)
        if (json_get_s(v, it.key) == it.val)
            ARENA_PUSH(r->a, &t->props) =
                (struct ts_prop){ .name = it.key, .type = literal(r, it.val, depth + 1) };
    return t;
}

static const struct ts_type *literal_array(struct render *r, yyjson_val *v, unsigned depth)
{
    struct ts_type *t = ARENA_NEW(r->a, struct ts_type);

    t->kind = TS_TUPLE;
    for (struct json_iter it = json_iter(v); json_next(&it);)
        ARENA_PUSH(r->a, &t->items) = literal(r, it.val, depth + 1);
    t->required = t->items.n;
    return t;
}

static bool spend(struct render *r, unsigned depth)
{
    if (depth > TS_MAX_DEPTH || !r->budget->nodes)
        return false;
    r->budget->nodes--;
    return true;
}

static const struct ts_type *literal(struct render *r, yyjson_val *v, unsigned depth)
{
    auto_buf text = BUF((size_t)1 << 20);
    double d;

    if (!spend(r, depth))
        return ts_word(r->a, "unknown");
    if (json_is_obj(v))
        return literal_object(r, v, depth);
    if (json_is_arr(v))
        return literal_array(r, v, depth);
    if (json_is_str(v))
        ts_put_quoted(&text, json_str(v));
    else if (!json_num(v, &d))
        json_put_val(&text, v);
    else if (isfinite(d))
        buf_add(&text, json_num_text(v));
    else
        buf_addz(&text, "number");
    if (text.over)
        return ts_word(r->a, json_is_str(v) ? "string" : "unknown");
    return ts_word_s(r->a, arena_str(r->a, buf_str(&text)));
}

static const struct ts_type *base_of_literal(struct render *r, yyjson_val *v)
{
    if (json_is_str(v))
        return ts_word(r->a, "string");
    if (json_is_num(v))
        return ts_word(r->a, "number");
    if (json_is_bool(v))
        return ts_word(r->a, "boolean");
    if (json_is_null(v))
        return ts_word(r->a, "null");
    return json_is_arr(v) ? ts_array(r->a, ts_word(r->a, "unknown"))
                          : ts_record(r->a, ts_word(r->a, "unknown"));
}

static const struct ts_type *enum_type(struct render *r, yyjson_val *values, unsigned depth)
{
    struct ts_list members = { 0 };
    bool wide = json_len(values) > TS_MAX_ENUM;

    if (!json_len(values))
        return ts_word(r->a, "never");
    for (struct json_iter it = json_iter(values); json_next(&it);)
        ARENA_PUSH(r->a, &members) =
            wide ? base_of_literal(r, it.val) : literal(r, it.val, depth + 1);
    return ts_union(r->a, &members);
}

/* ---- objects ---- */

static bool is_schema_object(yyjson_val *v)
{
    return json_is_obj(v);
}

static void add_property(struct render *r, struct ts_type *t, struct str name,
                         yyjson_val *schema, bool optional, unsigned depth)
{
    struct ts_prop p = { .name = name, .optional = optional };

    p.type = schema ? type_of(r, schema, depth + 1) : ts_word(r->a, "unknown");
    if (schema)
        p.doc = property_doc(r, schema);
    ARENA_PUSH(r->a, &t->props) = p;
}

static void note_required(struct map *required, yyjson_val *list)
{
    for (struct json_iter it = json_iter(list); json_next(&it);)
        if (json_is_str(it.val) && !map_has(required, json_str(it.val)))
            map_put(required, json_str(it.val), required);
}

/* A key that is repeated, which is rare, keeps its first place and its last value. */
static void add_properties(struct render *r, struct ts_type *t, yyjson_val *props,
                           const struct map *required, struct map *seen, unsigned depth)
{
    bool repeated = false;

    for (struct json_iter it = json_iter(props); json_next(&it);)
        repeated |= map_put(seen, it.key, it.val) != NULL;
    for (struct json_iter it = json_iter(props); json_next(&it);) {
        yyjson_val *last = repeated ? map_get(seen, it.key) : it.val;

        if (!last)
            continue;
        add_property(r, t, it.key, last, !map_has(required, it.key), depth);
        if (repeated)
            map_put(seen, it.key, NULL);
    }
}

static const struct ts_type *object_with_properties(struct render *r, yyjson_val *s,
                                                    unsigned depth)
{
    struct ts_type *t = ARENA_NEW(r->a, struct ts_type);
    yyjson_val *props = json_get(s, "properties"), *more = json_get(s, "additionalProperties");
    struct map required = MAP, seen = MAP;
    struct str key;
    void *value;

    t->kind = TS_OBJECT;
    note_required(&required, json_get(s, "required"));
    if (json_is_obj(props))
        add_properties(r, t, props, &required, &seen, depth);
    for (size_t i = 0; map_next(&required, &i, &key, &value);)
        if (!map_has(&seen, key))
            add_property(r, t, arena_str(r->a, key), NULL, false, depth);
    if (is_schema_object(more) || json_is_true(more) ||
        json_len(json_get(s, "patternProperties")))
        t->index = ts_word(r->a, "unknown");
    map_free(&required);
    map_free(&seen);
    return t;
}

static const struct ts_type *object_type(struct render *r, yyjson_val *s, unsigned depth)
{
    yyjson_val *props = json_get(s, "properties"), *more = json_get(s, "additionalProperties");
    yyjson_val *patterns = json_get(s, "patternProperties");
    struct ts_list values = { 0 };
    struct ts_type *empty;

    if (json_len(props) || json_len(json_get(s, "required")))
        return object_with_properties(r, s, depth);
    if (is_schema_object(more))
        ARENA_PUSH(r->a, &values) = type_of(r, more, depth + 1);
    if (json_is_obj(patterns))
        for (struct json_iter it = json_iter(patterns); json_next(&it);)
            ARENA_PUSH(r->a, &values) = type_of(r, it.val, depth + 1);
    if (values.n)
        return ts_record(r->a, ts_union(r->a, &values));
    if (!json_is_obj(props) && !(json_is_bool(more) && !json_is_true(more)))
        return ts_record(r->a, ts_word(r->a, "unknown"));
    empty = ARENA_NEW(r->a, struct ts_type);
    empty->kind = TS_OBJECT;
    if (json_is_true(more))
        empty->index = ts_word(r->a, "unknown");
    return empty;
}

/* ---- arrays ---- */

static const struct ts_type *array_type(struct render *r, yyjson_val *s, unsigned depth)
{
    yyjson_val *items = json_get(s, "items"), *prefix = json_get(s, "prefixItems");
    yyjson_val *rest = json_is_arr(prefix) ? items : json_get(s, "additionalItems");
    struct ts_type *t;
    int64_t min;

    if (!json_is_arr(prefix) && json_is_arr(items))
        prefix = items;
    if (!json_len(prefix)) {
        if (json_is_arr(items))
            items = NULL;
        if (json_is_bool(items) && !json_is_true(items)) {
            t = ARENA_NEW(r->a, struct ts_type);
            t->kind = TS_TUPLE;
            return t;
        }
        return ts_array(r->a, items ? type_of(r, items, depth + 1) : ts_word(r->a, "unknown"));
    }
    t = ARENA_NEW(r->a, struct ts_type);
    t->kind = TS_TUPLE;
    for (struct json_iter it = json_iter(prefix); json_next(&it);)
        ARENA_PUSH(r->a, &t->items) = type_of(r, it.val, depth + 1);
    t->required = t->items.n;
    if (json_int(json_get(s, "minItems"), &min) && min >= 0 && (size_t)min < t->required)
        t->required = (size_t)min;
    if (is_schema_object(rest) || json_is_true(rest))
        t->rest = type_of(r, rest, depth + 1);
    return t;
}

/* ---- composition ---- */

static const struct ts_type *type_named(struct render *r, yyjson_val *s, struct str name,
                                        unsigned depth)
{
    if (str_is(name, "object"))
        return object_type(r, s, depth);
    if (str_is(name, "array"))
        return array_type(r, s, depth);
    if (str_is(name, "integer"))
        return ts_word(r->a, "number");
    if (str_is(name, "string") || str_is(name, "number") || str_is(name, "boolean") ||
        str_is(name, "null"))
        return ts_word_s(r->a, name);
    return ts_word(r->a, "unknown");
}

static bool has_any(yyjson_val *s, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_get(s, keys[i]))
            return true;
    return false;
}

/* What the schema says by itself, without allOf and the like; NULL when nothing. */
static const struct ts_type *own_type(struct render *r, yyjson_val *s, unsigned depth)
{
    static const char *const of_object[] = { "properties", "required", "additionalProperties",
                                             "patternProperties" };
    static const char *const of_array[] = { "items", "prefixItems" };
    yyjson_val *type = json_get(s, "type");
    struct ts_list members = { 0 };

    if (json_is_arr(type)) {
        for (struct json_iter it = json_iter(type); json_next(&it);)
            ARENA_PUSH(r->a, &members) = type_named(r, s, json_str(it.val), depth);
        return ts_union(r->a, &members);
    }
    if (type)
        return type_named(r, s, json_str(type), depth);
    if (has_any(s, of_object, ARRAY_LEN(of_object)))
        ARENA_PUSH(r->a, &members) = object_type(r, s, depth);
    if (has_any(s, of_array, ARRAY_LEN(of_array)))
        ARENA_PUSH(r->a, &members) = array_type(r, s, depth);
    return members.n ? ts_union(r->a, &members) : NULL;
}

/* A member that shapes nothing: constraints alone (in allOf), `required` alone (in anyOf,
 * oneOf). */
static bool only_constrains(yyjson_val *s, bool required_alone)
{
    static const char *const shaping[] = {
        "type",
        "properties",
        "additionalProperties",
        "patternProperties",
        "items",
        "prefixItems",
        "$ref",
        "const",
        "enum",
        "allOf",
        "anyOf",
        "oneOf",
        "nullable",
    };

    if (!json_is_obj(s) || has_any(s, shaping, ARRAY_LEN(shaping)))
        return false;
    return !required_alone || (json_get(s, "required") && json_len(s) == 1);
}

static void add_all_of(struct render *r, struct ts_list *parts, yyjson_val *list,
                       unsigned depth)
{
    for (struct json_iter it = json_iter(list); json_next(&it);)
        if (!only_constrains(it.val, false))
            ARENA_PUSH(r->a, parts) = type_of(r, it.val, depth + 1);
}

static void add_any_of(struct render *r, struct ts_list *parts, yyjson_val *list,
                       unsigned depth)
{
    struct ts_list members = { 0 };

    for (struct json_iter it = json_iter(list); json_next(&it);)
        if (!only_constrains(it.val, true))
            ARENA_PUSH(r->a, &members) = type_of(r, it.val, depth + 1);
    if (members.n)
        ARENA_PUSH(r->a, parts) = ts_union(r->a, &members);
}

static bool is_any_record(const struct ts_type *t)
{
    return t->kind == TS_RECORD && ts_is_word(t->items.v[0], "unknown");
}

static const struct ts_type *composed(struct render *r, yyjson_val *s, unsigned depth)
{
    struct ts_list parts = { 0 };
    const struct ts_type *own = own_type(r, s, depth), *all;

    add_all_of(r, &parts, json_get(s, "allOf"), depth);
    add_any_of(r, &parts, json_get(s, "anyOf"), depth);
    add_any_of(r, &parts, json_get(s, "oneOf"), depth);
    if (!parts.n) /* nearly every schema */
        return own ? own : ts_word(r->a, "unknown");
    all = ts_intersection(r->a, &parts);
    /* `type: object` beside members that are objects themselves adds nothing. */
    if (!own || (is_any_record(own) && !ts_is_word(all, "unknown")))
        return all;
    parts = (struct ts_list){ 0 };
    ARENA_PUSH(r->a, &parts) = own;
    ARENA_PUSH(r->a, &parts) = all;
    return ts_intersection(r->a, &parts);
}

static const struct ts_type *or_null(struct render *r, yyjson_val *s, const struct ts_type *t)
{
    struct ts_list both = { 0 };

    if (!json_is_true(json_get(s, "nullable")))
        return t;
    ARENA_PUSH(r->a, &both) = t;
    ARENA_PUSH(r->a, &both) = ts_word(r->a, "null");
    return ts_union(r->a, &both);
}

static const struct ts_type *ref_type(struct render *r, yyjson_val *ref)
{
    struct str name;
    yyjson_val *target = tsref_find(&r->refs, r->a, json_str(ref), &name);
    struct ts_type *t;

    if (!target)
        return ts_word(r->a, "unknown");
    t = ARENA_NEW(r->a, struct ts_type);
    t->kind = TS_ALIAS;
    t->alias = alias_for(r, target, name);
    return t;
}

static const struct ts_type *type_of(struct render *r, yyjson_val *s, unsigned depth)
{
    yyjson_val *v;

    if (json_is_bool(s) && !json_is_true(s))
        return ts_word(r->a, "never");
    if (!json_is_obj(s) || !spend(r, depth))
        return ts_word(r->a, "unknown");
    if ((v = json_get(s, "$ref")))
        return or_null(r, s, ref_type(r, v));
    if ((v = json_get(s, "const")))
        return or_null(r, s, literal(r, v, depth + 1));
    if (json_is_arr(v = json_get(s, "enum")))
        return or_null(r, s, enum_type(r, v, depth));
    return or_null(r, s, composed(r, s, depth));
}

const struct ts_type *ts_of_schema(struct ts_output *o, yyjson_val *root, yyjson_val *at,
                                   struct ts_budget *budget)
{
    struct render r = { .o = o, .a = o->a, .budget = budget };
    const struct ts_type *t;

    tsref_init(&r.refs, root);
    t = type_of(&r, at, 0);
    for (size_t i = 0; i < r.todo.n; i++)
        r.todo.v[i].alias->body = type_of(&r, r.todo.v[i].schema, 0);
    ts_cut_cycles(o->a, r.fresh.v, r.fresh.n);
    tsref_done(&r.refs);
    map_free(&r.by_schema);
    return t;
}

yyjson_val *ts_resolve_root(yyjson_val *root)
{
    auto_arena scratch = ARENA;
    struct tsref refs;
    struct str name;
    yyjson_val *at = root;

    tsref_init(&refs, root);
    for (int i = 0; i < ROOT_REF_MAX && at && json_get(at, "$ref"); i++)
        at = tsref_find(&refs, &scratch, json_str(json_get(at, "$ref")), &name);
    tsref_done(&refs);
    return at && json_get(at, "$ref") ? NULL : at;
}
