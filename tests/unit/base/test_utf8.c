/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/utf8.h"

#define FFFD "\xef\xbf\xbd"

/* RFC 3629, section 4: the grammar's borders, each side. */
static void validity_is_that_of_rfc_3629(void **state)
{
    static const struct {
        struct str s;
        bool valid;
    } cases[] = {
        { STR(""), true },
        { STR("plain\0text"), true },
        { STR("\x7f"), true },
        { STR("\x80"), false },
        { STR("\xc2\x80"), true },
        { STR("\xc1\xbf"), false }, /* overlong */
        { STR("\xdf\xbf"), true },
        { STR("\xc0\x80"), false },
        { STR("\xe0\xa0\x80"), true },
        { STR("\xe0\x9f\xbf"), false }, /* overlong */
        { STR("\xed\x9f\xbf"), true },
        { STR("\xed\xa0\x80"), false }, /* U+D800 */
        { STR("\xee\x80\x80"), true },
        { STR("\xed\xbf\xbf"), false }, /* U+DFFF */
        { STR("\xef\xbf\xbf"), true },
        { STR("\xf0\x90\x80\x80"), true },
        { STR("\xf0\x8f\xbf\xbf"), false },
        { STR("\xf4\x8f\xbf\xbf"), true },
        { STR("\xf4\x90\x80\x80"), false }, /* U+110000 */
        { STR("\xf5\x80\x80\x80"), false },
        { STR("\xe2\x82"), false },
        { STR("\xe2"), false }, /* truncated */
        { STR("\xf0\x9f\x98"), false },
        { STR("\xc2"), false },
        { STR("\xe2\x28\xa1"), false },
        { STR("\xfe"), false },
        { STR("\xff"), false },
        { STR("12345678\xc3\xa9"
              "12345678"),
          true },
        { STR("12345678\xc3"
              "12345678"),
          false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(utf8_valid(cases[i].s), cases[i].valid);
}

static void every_code_point_is_written_and_read_back(void **state)
{
    auto_buf b = BUF(8);
    uint32_t got;

    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        bool surrogate = cp >= 0xd800 && cp <= 0xdfff;

        buf_clear(&b);
        utf8_put(&b, cp);
        if (utf8_decode(buf_str(&b), &got) != b.n || got != (surrogate ? 0xfffd : cp))
            fail_msg("U+%04X came back as U+%04X", cp, got);
    }
    buf_clear(&b);
    utf8_put(&b, 0x110000);
    assert_str(buf_str(&b), FFFD);
}

static void cuts_do_not_split_a_code_point(void **state)
{
    static const struct {
        const char *s;
        size_t max;
        const char *want;
    } cases[] = {
        { "abc", 5, "abc" },
        { "abc", 2, "ab" },
        { "abc", 0, "" },
        { "\xc3\xa9x", 1, "" },
        { "\xc3\xa9x", 2, "\xc3\xa9" },
        { "a\xe2\x82\xac", 2, "a" },
        { "a\xe2\x82\xac", 3, "a" },
        { "a\xe2\x82\xac!", 4, "a\xe2\x82\xac" },
        { "\xf0\x9f\x98\x80", 3, "" },
        { "\x80\x80\x80", 2, "\x80\x80" },
        { "ab\xe2", 2, "ab" },
        { "a\xe2xy", 2, "a\xe2" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(utf8_cut(str_of(cases[i].s), cases[i].max), cases[i].want);
    assert_str(utf8_whole(STR("")), "");
    assert_str(utf8_whole(STR("abc")), "abc");
    assert_str(utf8_whole(STR("a\xe2\x82\xac")), "a\xe2\x82\xac");
    assert_str(utf8_whole(STR("a\xe2\x82")), "a");
    assert_str(utf8_whole(STR("\xf0\x9f\x98")), "");
    assert_str(utf8_whole(STR("ab\xc3")), "ab");
    assert_str(utf8_whole(STR("a\x80\x80\x80\x80")), "a\x80\x80\x80\x80");
    assert_str(utf8_cut_chars(STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x"), 2),
               "\xc3\xa9\xe2\x82\xac");
    assert_str(utf8_cut_chars(STR("\xff\xffx"), 2), "\xff\xff");
    assert_str(utf8_cut_chars(STR("ab"), 9), "ab");
}

/* SEC-38. One U+FFFD for each longest beginning of a sequence, as decoders of the web do it. */
static void invalid_bytes_become_replacement_characters(void **state)
{
    static const struct {
        struct str in;
        const char *want;
    } cases[] = {
        { STR("ok"), "ok" },
        { STR("a\xff"
              "b"),
          "a" FFFD "b" },
        { STR("\xc0\xaf"), FFFD FFFD },
        { STR("\xe2\x82x"), FFFD "x" },
        { STR("\xf0\x9f\x98"), FFFD },
        { STR("\xf0\x9f\x98\xf0\x9f\x98\x80"), FFFD "\xf0\x9f\x98\x80" },
        { STR("\xed\xa0\x80"), FFFD FFFD FFFD },
        { STR("\xf4\x90\x80\x80"), FFFD FFFD FFFD FFFD },
        { STR("\xe2\x82\xac\x80"), "\xe2\x82\xac" FFFD },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        utf8_put_lossy(&b, cases[i].in);
        assert_str(buf_str(&b), cases[i].want);
        assert_true(utf8_valid(buf_str(&b)));
    }
}

/* MS-65, SEC-36. */
static void shown_text_is_clean(void **state)
{
    static const struct {
        struct str in;
        const char *want;
    } cases[] = {
        { STR("plain \xc3\xa9 \xe6\x97\xa5"), "plain \xc3\xa9 \xe6\x97\xa5" },
        { STR("a\nb"), "a b" },
        { STR("a\r\n\r\n\tb"), "a b" },
        { STR("a\xc2\x85"
              "b\xe2\x80\xa8"
              "c\xe2\x80\xa9"
              "d"),
          "a b c d" },
        { STR("a\x01\x02\x7f\0b"), "ab" },
        { STR("x\x1b[2Jy"), "xy" },
        { STR("x\x1b[1;31mred\x1b[0m"), "xred" },
        { STR("x\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\y"), "xlinky" },
        { STR("x\x1b]52;c;aGk=\x07y"), "xy" },
        { STR("x\xc2\x9b"
              "2Jy"),
          "xy" }, /* CSI as one C1 control */
        { STR("x\xc2\x9d"
              "0;t\xc2\x9cy"),
          "xy" },
        { STR("x\x9b"
              "2Jy"),
          "x" FFFD "2Jy" }, /* the bare byte is no UTF-8 */
        { STR("x\x1bPq#0\x1b\\y"), "xy" },
        { STR("x\x1b_app\x1b\\y"), "xy" },
        { STR("x\x1b(By"), "xy" },
        { STR("x\x1b"
              "cy"),
          "xy" },
        { STR("x\x1b[31"), "x" },
        { STR("x\x1b"), "x" },
        { STR("x\x1b]0;no end"), "x0;no end" }, /* cannot hide the rest */
        { STR("a\xe2\x80\xae"
              "b\xe2\x81\xa6"
              "c\xe2\x80\x8f"
              "d\xe2\x80\x8e"),
          "abcd" },
        { STR("a\xe2\x80\x8b"
              "b\xe2\x80\x8d"
              "c\xef\xbb\xbf"
              "d\xe2\x81\xa0"),
          "abcd" },
        { STR("tag\xf3\xa0\x81\xa1\xf3\xa0\x81\xbf"),
          "tag" }, /* text in invisible tag characters */
        { STR("\xff\xfe"), FFFD FFFD },
        { STR(" \n "), "  " },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        utf8_put_clean(&b, cases[i].in);
        assert_str(buf_str(&b), cases[i].want);
    }
}

static void only_a_byte_order_mark_in_front_is_skipped(void **state)
{
    assert_str(utf8_skip_bom(STR(UTF8_BOM "a")), "a");
    assert_str(utf8_skip_bom(STR(UTF8_BOM UTF8_BOM)), UTF8_BOM);
    assert_str(utf8_skip_bom(STR("a" UTF8_BOM)), "a" UTF8_BOM);
    assert_str(utf8_skip_bom(STR("\xef\xbb")), "\xef\xbb");
}

static void places_count_lines_and_code_points_from_one(void **state)
{
    struct str text = STR("a\n\xc3\xa9z\r\n\nb");
    static const struct {
        size_t at;
        uint32_t line, column;
    } cases[] = { { 0, 1, 1 }, { 1, 1, 2 }, { 2, 2, 1 }, { 4, 2, 2 },
                  { 7, 3, 1 }, { 8, 4, 1 }, { 99, 4, 2 } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct utf8_pos pos = utf8_pos(text, cases[i].at);

        assert_int_equal(pos.line, cases[i].line);
        assert_int_equal(pos.column, cases[i].column);
    }
}

static void cleaning_hostile_text_takes_linear_time(void **state)
{
    auto_buf in = BUF(4 << 20), out = BUF(4 << 20);
    int64_t before;

    while (in.n < 2u << 20)
        buf_addz(&in, "\x1b]"); /* two million openings, never an end */
    before = clock_ms();
    utf8_put_clean(&out, buf_str(&in));
    assert_true(clock_ms() - before < 500 * slack());
    assert_int_equal(out.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validity_is_that_of_rfc_3629),
        cmocka_unit_test(every_code_point_is_written_and_read_back),
        cmocka_unit_test(cuts_do_not_split_a_code_point),
        cmocka_unit_test(invalid_bytes_become_replacement_characters),
        cmocka_unit_test(shown_text_is_clean),
        cmocka_unit_test(only_a_byte_order_mark_in_front_is_skipped),
        cmocka_unit_test(places_count_lines_and_code_points_from_one),
        cmocka_unit_test(cleaning_hostile_text_takes_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
