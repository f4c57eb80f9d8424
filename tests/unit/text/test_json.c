/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <math.h>

#include "text/json.h"

static struct json doc;

static yyjson_val *parsed(struct str text)
{
    struct error e;

    json_free(&doc);
    if (!json_parse(&doc, text, &e))
        fail_msg("'%.*s': %s", STR_F(text), e.msg);
    return doc.root;
}

static int forget(void **state)
{
    json_free(&doc);
    return 0;
}

static void assert_written(yyjson_val *v, const char *want)
{
    auto_buf b = BUF(100000);

    json_put_val(&b, v);
    assert_str(buf_str(&b), want);
}

static void malformed_text_is_refused_with_place_and_reason(void **state)
{
    static const struct {
        struct str in;
        const char *where;
    } cases[] = {
        { STR(""), "empty" },
        { STR("  "), "" },
        { STR("{"), "line 1, column 2 (byte 1)" },
        { STR("[1,]"), "line 1, column 3 (byte 2)" },
        { STR("{\"a\":1,}"), "line 1" },
        { STR("{\"a\":\n  tru}"), "line 2, column 3 (byte 8)" },
        { STR("[\"\xc3\xa9\", x]"), "line 1, column 7 (byte 7)" }, /* columns are characters */
        { STR("[1] 2"), "line 1, column 5 (byte 4)" },
        { STR("[01]"), "" },
        { STR("[+1]"), "" },
        { STR("[.5]"), "" },
        { STR("[1.]"), "" },
        { STR("[1e]"), "" },
        { STR("[-]"), "" },
        { STR("[NaN]"), "" },
        { STR("[Infinity]"), "" },
        { STR("['a']"), "" },
        { STR("{a:1}"), "" },
        { STR("[1 2]"), "" },
        { STR("[1]]"), "" },
        { STR("\"\\x\""), "" },
        { STR("\"\\u12\""), "" },
        { STR("\"\\u00zz\""), "" },
        { STR("\"\\"), "" },
        { STR("\"\\u"), "" },
        { STR("\"abc"), "" },
        { STR("\"a\nb\""), "" },
        { STR("\"a\0b\""), "" },
        { STR("[1]\0"), "" },
        { STR("\xef\xbb\xbf[1]"), "" }, /* a byte order mark */
        { STR("[1] // x"), "" },
        { STR("/* x */ [1]"), "" },
    };
    struct json j;
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (json_parse(&j, cases[i].in, &e))
            fail_msg("accepted: '%.*s'", STR_F(cases[i].in));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_null(j.root);
        if (!strstr(e.msg, cases[i].where))
            fail_msg("'%.*s': '%s' lacks '%s'", STR_F(cases[i].in), e.msg, cases[i].where);
    }
}

/* SEC-38: no invalid byte passes, wherever it stands. */
static void invalid_utf8_is_refused(void **state)
{
    static const struct {
        struct str in;
        const char *where;
    } cases[] = {
        { STR("[\"\xff\"]"), "column 3 (byte 2): invalid UTF-8" },
        { STR("[\"\xc0\x80\"]"), "(byte 2)" },
        { STR("[\"abcdefgh\xed\xa0\x80\"]"), "(byte 10)" },
        { STR("[\"\xf4\x90\x80\x80\"]"), "(byte 2)" },
        { STR("[\"\xe2\x82\"]"), "(byte 2)" },
        { STR("[1]\xff"), "(byte 3)" },
    };
    struct json j;
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(json_parse(&j, cases[i].in, &e));
        assert_non_null(strstr(e.msg, cases[i].where));
    }
}

/* SEC-38: a lone surrogate escape is U+FFFD, a pair is one character. */
static void lone_surrogates_become_replacement_characters(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
        { "\"\\uD83D\\uDE00\"", "\xf0\x9f\x98\x80" },
        { "\"\\ud800\"", "\xef\xbf\xbd" },
        { "\"\\udfff\"", "\xef\xbf\xbd" },
        { "\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\"\\ud800x\"", "\xef\xbf\xbdx" },
        { "\"\\ud800\\n\"", "\xef\xbf\xbd\n" },
        { "\"\\ud800\\u0041\"", "\xef\xbf\xbd"
                                "A" },
        { "\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
        { "\"\\\\ud800\"", "\\ud800" }, /* an escaped backslash, then letters */
        { "\"\\\\\\ud800\"", "\\\xef\xbf\xbd" },
        { "\"0123456789abcde\\ud800\"", "0123456789abcde\xef\xbf\xbd" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(json_str(parsed(str_of(cases[i].in))), cases[i].want);
    assert_non_null(json_get(parsed(STR("{\"\\ud800\":1}")), "\xef\xbf\xbd"));
}

/* SEC-39 */
static void depth_is_limited_to_128(void **state)
{
    auto_buf b = BUF(300000);
    struct json j;
    struct error e;

    buf_fill(&b, '[', JSON_MAX_DEPTH);
    buf_fill(&b, ']', JSON_MAX_DEPTH);
    parsed(buf_str(&b));
    buf_clear(&b);
    buf_fill(&b, '[', JSON_MAX_DEPTH + 1);
    buf_fill(&b, ']', JSON_MAX_DEPTH + 1);
    assert_false(json_parse(&j, buf_str(&b), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_non_null(strstr(e.msg, "(byte 128): nested deeper than 128 levels"));
    buf_clear(&b);
    buf_fill(&b, '[', 100000);
    assert_false(json_parse(&j, buf_str(&b), &e));
    buf_clear(&b);
    for (int i = 0; i < 50000; i++)
        buf_addz(&b, "{\"a\":");
    assert_false(json_parse(&j, buf_str(&b), &e));
    buf_clear(&b);
    buf_addz(&b, "[\""); /* brackets in strings do not count */
    buf_fill(&b, '[', 1000);
    buf_addz(&b, "\\\"]]]\"]");
    parsed(buf_str(&b));
    buf_clear(&b);
    buf_addc(&b, '['); /* siblings do not add up */
    for (int i = 0; i < 1000; i++)
        buf_addz(&b, "[],{},");
    buf_addz(&b, "1]");
    parsed(buf_str(&b));
}

static void the_last_of_duplicate_keys_counts(void **state)
{
    yyjson_val *v = parsed(STR("{\"a\":1,\"b\":2,\"a\":3}"));
    size_t visited = 0;

    assert_str(json_num_text(json_get(v, "a")), "3");
    assert_int_equal(json_len(v), 3);
    for (struct json_iter it = json_iter(v); json_next(&it);)
        visited++;
    assert_int_equal(visited, 3);
    assert_written(v, "{\"a\":1,\"b\":2,\"a\":3}");
}

/* SEC-40: the text survives, the nearest double and the exact integer are there for the asking.
 */
static void numbers_keep_their_text_and_have_exact_values(void **state)
{
    static const struct {
        const char *text;
        bool is_int;
        int64_t i;
        double d;
    } cases[] = {
        { "0", true, 0, 0 },
        { "-0", true, 0, -0.0 },
        { "-0.0", true, 0, -0.0 },
        { "1.0", true, 1, 1 },
        { "1e2", true, 100, 100 },
        { "1E+2", true, 100, 100 },
        { "-1.5e1", true, -15, -15 },
        { "1.5", false, 0, 1.5 },
        { "15e-1", false, 0, 1.5 },
        { "150e-1", true, 15, 15 },
        { "0e99999999999999999999", true, 0, 0 },
        { "0.000e5", true, 0, 0 },
        { "1e-99999999999999999999", false, 0, 0 },
        { "9007199254740993", true, 9007199254740993, 9007199254740992.0 },
        { "9007199254740993.0", true, 9007199254740993, 9007199254740992.0 },
        { "9223372036854775807", true, INT64_MAX, 9223372036854775808.0 },
        { "-9223372036854775808", true, INT64_MIN, -9223372036854775808.0 },
        { "-9.223372036854775808e18", true, INT64_MIN, -9223372036854775808.0 },
        { "9223372036854775808", false, 0, 9223372036854775808.0 },
        { "18446744073709551616", false, 0, 18446744073709551616.0 },
        { "123456789012345678901234567890", false, 0, 123456789012345678901234567890.0 },
        { "1e400", false, 0, INFINITY },
        { "-1e400", false, 0, -INFINITY },
        { "1e18", true, 1000000000000000000, 1e18 },
        { "1e19", false, 0, 1e19 },
        { "5e-324", false, 0, 5e-324 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        yyjson_val *v = parsed(str_of(cases[i].text));
        int64_t n = 0;
        double d = 77;

        assert_true(json_is_num(v));
        assert_str(json_num_text(v), cases[i].text);
        assert_written(v, cases[i].text);
        assert_int_equal(json_int(v, &n), cases[i].is_int);
        assert_int_equal(n, cases[i].i);
        assert_true(json_num(v, &d));
        assert_true(d == cases[i].d && signbit(d) == signbit(cases[i].d));
    }
}

static void a_number_of_a_million_digits_is_no_trouble(void **state)
{
    auto_buf b = BUF(3000000);
    int64_t n, before = clock_ms();
    double d;

    buf_addz(&b, "0.");
    buf_fill(&b, '0', 1000000);
    buf_addz(&b, "7e1000001");
    assert_true(json_int(parsed(buf_str(&b)), &n));
    assert_int_equal(n, 7);
    buf_clear(&b);
    buf_fill(&b, '9', 1000000);
    assert_false(json_int(parsed(buf_str(&b)), &n));
    assert_true(json_num(doc.root, &d));
    assert_true(isinf(d));
    assert_true(clock_ms() - before < 500 * slack());
}

static void accessors_answer_absent_for_nothing_and_for_other_types(void **state)
{
    yyjson_val *v = parsed(
        STR("{\"s\":\"x\",\"n\":1,\"b\":true,\"z\":null,\"a\":[5],\"o\":{\"k\":{\"l\":2}}}"));
    yyjson_val *others[] = {
        NULL, v, json_get(v, "s"), json_get(v, "n"), json_get(v, "z"), json_get(v, "a")
    };
    static const char *const names[] = { "nothing", "object", "string",
                                         "number",  "null",   "array" };
    int64_t n;
    double d;

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct json_iter it = json_iter(others[i]);

        assert_string_equal(json_type_name(others[i]), names[i]);
        assert_int_equal(json_str(others[i]).n, i == 2);
        assert_int_equal(json_int(others[i], &n), i == 3);
        assert_int_equal(json_num(others[i], &d), i == 3);
        assert_int_equal(json_num_text(others[i]).n, i == 3);
        assert_int_equal(json_bool(others[i], true), true);
        assert_int_equal(json_get(others[i], "s") != NULL, i == 1);
        assert_int_equal(json_at(others[i], 0) != NULL, i == 5);
        assert_int_equal(json_len(others[i]), i == 1 ? 6 : i == 5);
        assert_int_equal(json_next(&it), i == 1 || i == 5);
        assert_int_equal(json_is_null(others[i]), i == 4);
    }
    assert_string_equal(json_type_name(json_get(v, "b")), "boolean");
    assert_true(json_bool(json_get(v, "b"), false));
    assert_true(json_is_true(json_get(v, "b")));
    assert_str(json_num_text(json_path(v, "o.k.l")), "2");
    assert_null(json_path(v, "o.x.l"));
    assert_null(json_path(v, "s.x"));
    assert_null(json_at(json_get(v, "a"), 1));
    assert_null(json_get_s(v, BYTES("s\0")));
}

static void optional_members_are_absent_right_or_an_error_that_names_them(void **state)
{
    yyjson_val *v = parsed(STR("{\"s\":\"x\",\"n\":5,\"b\":true}"));
    struct str s = STR("default");
    int64_t n = 42;
    bool b = false;
    struct error e;

    assert_true(json_opt_str(v, "none", &s, &e) && json_opt_int(v, "none", 0, 9, &n, &e) &&
                json_opt_bool(v, "none", &b, &e));
    assert_str(s, "default");
    assert_true(json_opt_str(v, "s", &s, &e) && json_opt_int(v, "n", 0, 9, &n, &e) &&
                json_opt_bool(v, "b", &b, &e));
    assert_str(s, "x");
    assert_int_equal(n, 5);
    assert_true(b);
    assert_false(json_opt_int(v, "n", 6, 9, &n, &e));
    assert_string_equal(e.msg, "'n' must be an integer from 6 to 9");
    assert_false(json_opt_int(v, "s", 0, 9, &n, &e));
    assert_false(json_opt_str(v, "n", &s, &e));
    assert_string_equal(e.msg, "'n' must be a string, not number");
    assert_false(json_opt_bool(v, "n", &b, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

static void iteration_visits_in_order_with_keys(void **state)
{
    struct json_iter it = json_iter(parsed(STR("{\"a\":[1,[2]],\"\":{},\"c\":3}")));
    static const char *const keys[] = { "a", "", "c" };
    size_t i = 0;

    for (; json_next(&it); i++) {
        assert_str(it.key, keys[i]);
        assert_str(json_str(it.key_val), keys[i]);
        assert_ptr_equal(it.val, json_get(doc.root, keys[i]));
        assert_int_equal(it.i, i + 1);
    }
    assert_int_equal(i, 3);
    it = json_iter(json_get(doc.root, "a"));
    assert_true(json_next(&it));
    assert_null(it.key_val);
}

static void jsonc_takes_comments_and_trailing_commas(void **state)
{
    auto_json j = { 0 };
    struct error e;

    assert_true(json_parse_jsonc(&j,
                                 STR("// \"[ \\ud800\n{\"a\": [1, /* ] \" */ 2,], // end\n "
                                     "\"u\": \"http://x/*\\ud800*/\",}"),
                                 &e));
    assert_int_equal(json_len(json_get(j.root, "a")), 2);
    assert_str(json_str(json_get(j.root, "u")), "http://x/*\xef\xbf\xbd*/");
    json_free(&j);
    assert_false(json_parse_jsonc(&j, STR("/* no end"), &e));
    assert_false(json_parse_jsonc(&j, STR("[1] /"), &e));
    assert_false(json_parse_jsonc(&j, STR("[1,,]"), &e));
}

static void the_source_text_may_go_away(void **state)
{
    char text[] = "{\"key\":\"value\"}";
    yyjson_val *v = parsed(str_of(text));

    memset(text, 'x', sizeof text);
    assert_str(json_str(json_get(v, "key")), "value");
}

static void strings_of_every_alignment_and_length_are_scanned_right(void **state)
{
    for (size_t lead = 0; lead < 20; lead++) {
        for (size_t n = 0; n < 40; n++) {
            auto_buf b = BUF(200), want = BUF(200);

            buf_addc(&b, '[');
            buf_fill(&b, ' ', lead);
            buf_addc(&b, '"');
            buf_fill(&b, 'x', n);
            buf_addz(&b, "\\ud800\\\"\\\\\"]");
            buf_fill(&want, 'x', n);
            buf_addz(&want, "\xef\xbf\xbd\"\\");
            assert_bytes(json_str(json_at(parsed(buf_str(&b)), 0)), buf_str(&want));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_text_is_refused_with_place_and_reason),
        cmocka_unit_test(invalid_utf8_is_refused),
        cmocka_unit_test(lone_surrogates_become_replacement_characters),
        cmocka_unit_test(depth_is_limited_to_128),
        cmocka_unit_test(the_last_of_duplicate_keys_counts),
        cmocka_unit_test(numbers_keep_their_text_and_have_exact_values),
        cmocka_unit_test(a_number_of_a_million_digits_is_no_trouble),
        cmocka_unit_test(accessors_answer_absent_for_nothing_and_for_other_types),
        cmocka_unit_test(optional_members_are_absent_right_or_an_error_that_names_them),
        cmocka_unit_test(iteration_visits_in_order_with_keys),
        cmocka_unit_test(jsonc_takes_comments_and_trailing_commas),
        cmocka_unit_test(the_source_text_may_go_away),
        cmocka_unit_test(strings_of_every_alignment_and_length_are_scanned_right),
    };

    return cmocka_run_group_tests(tests, NULL, forget);
}
