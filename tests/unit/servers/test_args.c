/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "servers/args.h"

struct all {
    struct str s;
    int64_t n, u;
    bool b, has_s, has_u, has_list;
    struct arg_strings list;
    yyjson_val *items;
};

/* clang-format off */
static const struct arg each_optional[] = {
    { "s",     ARG_STRING,  offsetof(struct all, s),     offsetof(struct all, has_s) },
    { "n",     ARG_INT,     offsetof(struct all, n),     offsetof(struct all, has_s) },
    { "u",     ARG_UINT,    offsetof(struct all, u),     offsetof(struct all, has_u) },
    { "b",     ARG_BOOL,    offsetof(struct all, b),     offsetof(struct all, has_s) },
    { "list",  ARG_STRINGS, offsetof(struct all, list),  offsetof(struct all, has_list) },
    { "items", ARG_ARRAY,   offsetof(struct all, items), offsetof(struct all, has_s) },
    { 0 },
};
static const struct arg required[] = {
    { "s", ARG_STRING, offsetof(struct all, s), 0 },
    { 0 },
};
/* clang-format on */

static bool read_text(struct arena *a, struct json *j, const char *text,
                      const struct arg *table, bool strict, struct all *ret, struct error *e)
{
    assert_true(json_parse(j, str_of(text), e));
    return args_read(a, j->root, table, strict, ret, e);
}

static void each_kind_lands_in_its_place(void **state)
{
    auto_arena a = ARENA;
    auto_json j = { 0 };
    struct all v = { 0 };
    struct error e;

    assert_true(read_text(&a, &j,
                          "{\"s\":\"x\\u0000y\",\"n\":-3,\"u\":4294967295,\"b\":true,"
                          "\"list\":[\"p\",\"\"],\"items\":[1,{}],\"more\":1}",
                          each_optional, false, &v, &e));
    assert_bytes(v.s, BYTES("x\0y"));
    assert_int_equal(v.n, -3);
    assert_int_equal(v.u, UINT32_MAX);
    assert_true(v.b && v.has_s && v.has_u && v.has_list);
    assert_int_equal(v.list.n, 2);
    assert_str(v.list.v[0], "p");
    assert_str(v.list.v[1], "");
    assert_int_equal(json_len(v.items), 2);
    (void)state;
}

/* SV-17: 3.0 is an integer everywhere. */
static void an_integral_float_is_an_integer(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = { { "{\"u\":3.0}", 3 }, { "{\"u\":1e2}", 100 }, { "{\"u\":0}", 0 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_json j = { 0 };
        struct all v = { 0 };
        struct error e;

        assert_true(read_text(&a, &j, cases[i].text, each_optional, true, &v, &e));
        assert_int_equal(v.u, cases[i].want);
    }
    (void)state;
}

static void an_absent_or_null_optional_keeps_what_was_there(void **state)
{
    auto_arena a = ARENA;
    auto_json j = { 0 };
    struct all v = { .u = 9, .s = STR("before") };
    struct error e;

    assert_true(read_text(&a, &j, "{\"s\":null}", each_optional, true, &v, &e));
    assert_int_equal(v.u, 9);
    assert_str(v.s, "before");
    assert_false(v.has_s || v.has_u);
    assert_true(args_read(&a, NULL, each_optional, true, &v, &e)); /* no arguments at all */
    (void)state;
}

/* SV-15: what is wrong is named; SV-17: unknown fields are refused only when strict. */
static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text;
        const struct arg *table;
        bool strict;
        const char *want;
    } cases[] = {
        { "{}", required, false, "missing field `s`" },
        { "{\"s\":null}", required, false, "field `s`: expected a string, found null" },
        { "{\"s\":7}", required, false, "field `s`: expected a string, found 7" },
        { "{\"s\":\"\",\"t\":1}", required, true, "unknown field `t`" },
        { "{\"n\":2.5}", each_optional, false, "field `n`: expected an integer, found 2.5" },
        { "{\"n\":99999999999999999999}", each_optional, false,
          "field `n`: expected an integer, found 99999999999999999999" },
        { "{\"u\":-1}", each_optional, false,
          "field `u`: expected an unsigned integer of 32 bits, found -1" },
        { "{\"u\":4294967296}", each_optional, false,
          "field `u`: expected an unsigned integer of 32 bits, found 4294967296" },
        { "{\"u\":\"3\"}", each_optional, false,
          "field `u`: expected an unsigned integer of 32 bits, found string" },
        { "{\"b\":1}", each_optional, false, "field `b`: expected a boolean, found 1" },
        { "{\"list\":\"p\"}", each_optional, false,
          "field `list`: expected an array of strings, found string" },
        { "{\"list\":[\"p\",{}]}", each_optional, false,
          "field `list`: expected an array of strings, found object at index 1" },
        { "{\"items\":{}}", each_optional, false,
          "field `items`: expected an array, found object" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_json j = { 0 };
        struct all v = { 0 };
        struct error e = { 0 };

        assert_false(read_text(&a, &j, cases[i].text, cases[i].table, cases[i].strict, &v, &e));
        assert_string_equal(e.msg, cases[i].want);
        assert_int_equal(e.kind, ERR_INVALID);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_lands_in_its_place),
        cmocka_unit_test(an_integral_float_is_an_integer),
        cmocka_unit_test(an_absent_or_null_optional_keeps_what_was_there),
        cmocka_unit_test(what_is_wrong_is_named),
    };

    return cmocka_run_group_tests_name("servers/args", tests, NULL, NULL);
}
