/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/args.h"

/* clang-format off */
static const char *const expected[] = {
    [ARG_STRING]  = "a string",
    [ARG_INT]     = "an integer",
    [ARG_UINT]    = "an unsigned integer of 32 bits",
    [ARG_BOOL]    = "a boolean",
    [ARG_STRINGS] = "an array of strings",
    [ARG_ARRAY]   = "an array",
};
/* clang-format on */

/* A number is shown as written: the type alone would not say what is wrong with -1 or 2.5. */
static bool wrong(const struct arg *f, yyjson_val *v, struct error *e)
{
    if (json_is_num(v))
        return error_set(e, ERR_INVALID, "field `%s`: expected %s, found %.*s", f->name,
                         expected[f->kind], STR_F(str_upto(json_num_text(v), 40)));
    return error_set(e, ERR_INVALID, "field `%s`: expected %s, found %s", f->name,
                     expected[f->kind], json_type_name(v));
}

static bool read_strings(struct arena *a, yyjson_val *v, const struct arg *f,
                         struct arg_strings *ret, struct error *e)
{
    if (!json_is_arr(v))
        return wrong(f, v, e);
    ret->n = 0;
    ret->v = ARENA_ARRAY(a, struct str, json_len(v));
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!json_is_str(it.val))
            return error_set(e, ERR_INVALID,
                             "field `%s`: expected an array of strings, found %s at index %zu",
                             f->name, json_type_name(it.val), it.i - 1);
        ret->v[ret->n++] = arena_str(a, json_str(it.val));
    }
    return true;
}

static bool read_one(struct arena *a, yyjson_val *v, const struct arg *f, void *at,
                     struct error *e)
{
    int64_t n = 0;

    switch (f->kind) {
    case ARG_STRING:
        if (!json_is_str(v))
            return wrong(f, v, e);
        *(struct str *)at = arena_str(a, json_str(v));
        return true;
    case ARG_INT:
    case ARG_UINT:
        if (!json_int(v, &n) || (f->kind == ARG_UINT && (n < 0 || n > UINT32_MAX)))
            return wrong(f, v, e);
        *(int64_t *)at = n;
        return true;
    case ARG_BOOL:
        if (!json_is_bool(v))
            return wrong(f, v, e);
        *(bool *)at = json_is_true(v);
        return true;
    case ARG_STRINGS:
        return read_strings(a, v, f, at, e);
    case ARG_ARRAY:
        if (!json_is_arr(v))
            return wrong(f, v, e);
        *(yyjson_val **)at = v;
        return true;
    }
    return false;
}

static bool only_known(yyjson_val *args, const struct arg *table, struct error *e)
{
    for (struct json_iter it = json_iter(args); json_next(&it);) {
        const struct arg *f = table;

        while (f->name && !str_is(it.key, f->name))
            f++;
        if (!f->name)
            return error_set(e, ERR_INVALID, "unknown field `%.*s`",
                             STR_F(str_upto(it.key, 100)));
    }
    return true;
}

bool args_read(struct arena *a, yyjson_val *args, const struct arg *table, bool strict,
               void *ret, struct error *e)
{
    if (strict && !only_known(args, table, e))
        return false;
    for (const struct arg *f = table; f->name; f++) {
        yyjson_val *v = json_get(args, f->name);

        if (f->given && (!v || json_is_null(v)))
            continue;
        if (!v)
            return error_set(e, ERR_INVALID, "missing field `%s`", f->name);
        if (!read_one(a, v, f, (char *)ret + f->at, e))
            return false;
        if (f->given)
            *(bool *)((char *)ret + f->given) = true;
    }
    return true;
}
