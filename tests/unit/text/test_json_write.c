/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "text/json.h"

static void strings_are_escaped_and_always_valid(void **state)
{
    static const struct {
        struct str in;
        const char *want;
    } cases[] = {
        { STR(""), "\"\"" },
        { STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"" },
        { STR("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"" },
        { STR("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\"" },
        { STR("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
        { STR("a\xff\"b"), "\"a\xef\xbf\xbd\\\"b\"" },
        { STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(1000);
        auto_json j = { 0 };

        json_put_str(&b, cases[i].in);
        assert_str(buf_str(&b), cases[i].want);
        assert_true(json_parse(&j, buf_str(&b), NULL));
    }
}

static void every_byte_survives_a_round_trip(void **state)
{
    auto_buf b = BUF(1000);
    auto_json j = { 0 };
    char all[128];

    for (int i = 0; i < 128; i++)
        all[i] = (char)i;
    json_put_str(&b, (struct str){ all, 128 });
    assert_true(json_parse(&j, buf_str(&b), NULL));
    assert_bytes(json_str(j.root), ((struct str){ all, 128 }));
}

static void numbers_are_written_so_that_they_read_back(void **state)
{
    static const struct {
        double d;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { -0.0, "-0" },
        { 1, "1" },
        { -1, "-1" },
        { 0.1, "0.1" },
        { 1.5, "1.5" },
        { 1e21, "1e21" },
        { NAN, "null" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
        { 9007199254740992.0, "9007199254740992" },
        { 123456789.0, "123456789" },
    };
    static const double tricky[] = { 5e-324,
                                     1.7976931348623157e308,
                                     2.2250738585072014e-308,
                                     1.0 / 3,
                                     -1e300,
                                     0.30000000000000004,
                                     1e15,
                                     123456789012345680.0,
                                     -0.0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        json_put_num(&b, cases[i].d);
        assert_str(buf_str(&b), cases[i].want);
    }
    for (size_t i = 0; i < ARRAY_LEN(tricky); i++) {
        auto_buf b = BUF(100);
        auto_json j = { 0 };
        double d;

        json_put_num(&b, tricky[i]);
        assert_true(json_parse(&j, buf_str(&b), NULL));
        assert_true(json_num(j.root, &d));
        assert_true(d == tricky[i] && signbit(d) == signbit(tricky[i]));
    }
}

static void values_are_copied_as_parsed(void **state)
{
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "\"x\"",
        "[]",
        "{}",
        "1.50",
        "-0",
        "1e400",
        "[[],[[]],{\"a\":[{}]}]",
        "{\"b\":1,\"a\":2,\"b\":3}",
        "[123456789012345678901234567890]",
        "{\"\":\"\\u0001\"}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        auto_json j = { 0 };
        auto_buf b = BUF(1000);

        assert_true(json_parse(&j, str_of(texts[i]), NULL));
        json_put_val(&b, j.root);
        assert_str(buf_str(&b), texts[i]);
    }
}

static void canonical_form_sorts_keys_and_resolves_duplicates(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "{\"b\":1,\"a\":{\"d\":[3,{\"y\":1,\"x\":2}],\"c\":0}}",
          "{\"a\":{\"c\":0,\"d\":[3,{\"x\":2,\"y\":1}]},\"b\":1}" },
        { "{\"a\":1,\"a\":2,\"a\":3}", "{\"a\":3}" },
        { "{\"b\":0,\"a\":1,\"b\":2,\"aa\":4}", "{\"a\":1,\"aa\":4,\"b\":2}" },
        { "{\"\xc3\xa9\":1,\"z\":2}", "{\"z\":2,\"\xc3\xa9\":1}" },
        { "[ 1.0 , 1 ]", "[1.0,1]" },
        { "{}", "{}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json j = { 0 };
        auto_buf b = BUF(1000);

        assert_true(json_parse(&j, str_of(cases[i].in), NULL));
        json_put_canonical(&b, j.root);
        assert_str(buf_str(&b), cases[i].want);
    }
}

static void values_are_equal_whatever_the_order_of_their_keys(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        { "{\"a\":1,\"b\":[2]}", "{ \"b\": [ 2 ], \"a\": 1 }", true },
        { "{\"a\":0,\"a\":1}", "{\"a\":1}", true },
        { "[1,2]", "[2,1]", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":null}", false },
        { "1", "1.0", false },
        { "\"1\"", "1", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json a = { 0 }, b = { 0 };

        assert_true(json_parse(&a, str_of(cases[i].a), NULL));
        assert_true(json_parse(&b, str_of(cases[i].b), NULL));
        assert_int_equal(json_equal(a.root, b.root), cases[i].equal);
        assert_false(json_equal(a.root, NULL));
    }
    assert_true(json_equal(NULL, NULL));
}

static void the_writer_places_commas(void **state)
{
    auto_json j = { 0 };
    auto_buf b = BUF(1000);
    struct jw w = jw_to(&b);

    assert_true(json_parse(&j, STR("{\"k\":[1]}"), NULL));
    jw_obj(&w);
    jw_kstr(&w, "s", STR("x"));
    jw_kstrz(&w, "z", NULL);
    jw_kint(&w, "i", INT64_MIN);
    jw_kbool(&w, "b", true);
    jw_key(&w, "a");
    jw_arr(&w);
    jw_int(&w, 1);
    jw_arr(&w);
    jw_end(&w);
    jw_obj(&w);
    jw_end(&w);
    jw_null(&w);
    jw_num(&w, 0.5);
    jw_bool(&w, false);
    jw_strz(&w, "y");
    jw_val(&w, j.root);
    jw_val(&w, NULL);
    jw_raw(&w, STR("[2]"));
    jw_end(&w);
    jw_key_s(&w, STR("q\""));
    jw_obj(&w);
    jw_end(&w);
    jw_end(&w);
    assert_str(buf_str(&b),
               "{\"s\":\"x\",\"z\":null,\"i\":-9223372036854775808,\"b\":true,"
               "\"a\":[1,[],{},null,0.5,false,\"y\",{\"k\":[1]},null,[2]],\"q\\\"\":{}}");
}

static void the_writer_goes_64_levels_deep(void **state)
{
    auto_buf b = BUF(1000);
    struct jw w = jw_to(&b);
    auto_json j = { 0 };

    for (int i = 0; i < JW_MAX_DEPTH; i++) {
        if (i % 2)
            jw_key(&w, "k");
        if (i % 2 == 0)
            jw_obj(&w);
        else
            jw_arr(&w);
        if (i % 2 == 0)
            continue;
        jw_int(&w, i);
    }
    for (int i = 0; i < JW_MAX_DEPTH; i++)
        jw_end(&w);
    assert_true(json_parse(&j, buf_str(&b), NULL));
}

static void misuse(int how)
{
    auto_buf b = BUF(100);
    struct jw w = jw_to(&b);

    switch (how) {
    case 0:
        jw_end(&w);
        break;
    case 1:
        jw_obj(&w);
        jw_int(&w, 1);
        break; /* a value without a key */
    case 2:
        jw_arr(&w);
        jw_key(&w, "k");
        break;
    case 3:
        jw_obj(&w);
        jw_key(&w, "k");
        jw_end(&w);
        break;
    case 4:
        jw_obj(&w);
        jw_key(&w, "k");
        jw_key(&w, "k");
        break;
    }
}

static void misuse_of_the_writer_is_caught(void **state)
{
    for (int how = 0; how < 5; how++) {
        pid_t pid = fork();
        int status;

        if (pid == 0) {
            close(STDERR_FILENO);
            signal(SIGABRT, SIG_DFL);
            misuse(how);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

/* Text is looked at in eights: each byte that needs an escape, at each place, beside bytes that
 * do not. */
static void escapes_are_found_wherever_they_stand(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 0x80; c++) {
        for (size_t at = 0; at < 24; at++) {
            auto_buf b = BUF(100), want = BUF(100);
            char text[24];

            memset(text, at % 2 ? 'x' : 0x7f, sizeof text);
            text[at] = (char)c;
            json_put_str(&b, (struct str){ text, sizeof text });
            buf_addc(&want, '"');
            buf_add(&want, (struct str){ text, at });
            if (c == '"' || c == '\\')
                buf_addf(&want, "\\%c", (int)c);
            else if (c < 0x20 && strchr("\b\t\n\f\r", (int)c))
                buf_addf(&want, "\\%c", "btn?fr"[c - '\b']);
            else if (c < 0x20)
                buf_addf(&want, "\\u%04x", c);
            else
                buf_addc(&want, (char)c);
            buf_add(&want, (struct str){ text + at + 1, sizeof text - at - 1 });
            buf_addc(&want, '"');
            assert_bytes(buf_str(&b), buf_str(&want));
        }
    }
}

/* Strings are escaped piece by piece: every length about a piece's, with escapes anywhere, and
 * a buffer with exactly the room. */
static void long_strings_are_escaped_like_short_ones(void **state)
{
    static const char kinds[] = "abcdefg\n\"\\\x01\x1f/\x7f";
    auto_buf text = BUF(20000);

    for (size_t n = 0; n < 9000; n = n < 40 || (n > 4080 && n < 4120) ? n + 1 : n + 97) {
        auto_buf want = BUF(80000);

        buf_clear(&text);
        buf_addc(&want, '"');
        for (size_t i = 0; i < n; i++) {
            char c = kinds[(i * 7 + i / 11 + n) % (sizeof kinds - 1)];

            buf_addc(&text, c);
            if (c == '\n')
                buf_addz(&want, "\\n");
            else if (c == '"' || c == '\\')
                buf_addf(&want, "\\%c", c);
            else if (c < 0x20)
                buf_addf(&want, "\\u%04x", (unsigned)c);
            else
                buf_addc(&want, c);
        }
        buf_addc(&want, '"');
        auto_buf fits = BUF(want.n), lacks = BUF(want.n - 1);
        json_put_str(&fits, buf_str(&text));
        json_put_str(&lacks, buf_str(&text));
        assert_bytes(buf_str(&fits), buf_str(&want));
        assert_true(lacks.over && !fits.over);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_found_wherever_they_stand),
        cmocka_unit_test(strings_are_escaped_and_always_valid),
        cmocka_unit_test(every_byte_survives_a_round_trip),
        cmocka_unit_test(numbers_are_written_so_that_they_read_back),
        cmocka_unit_test(values_are_copied_as_parsed),
        cmocka_unit_test(canonical_form_sorts_keys_and_resolves_duplicates),
        cmocka_unit_test(values_are_equal_whatever_the_order_of_their_keys),
        cmocka_unit_test(the_writer_places_commas),
        cmocka_unit_test(the_writer_goes_64_levels_deep),
        cmocka_unit_test(misuse_of_the_writer_is_caught),
        cmocka_unit_test(long_strings_are_escaped_like_short_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
