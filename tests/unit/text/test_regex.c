/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/regex.h"

static void patterns_are_found_as_others_find_them(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool found;
    } rows[] = {
        { "", "", true },
        { "", "abc", true },
        { "a", "abc", true },
        { "b", "abc", true },
        { "d", "abc", false },
        { "bc", "abc", true },
        { "cb", "abc", false },
        { "^a", "abc", true },
        { "^b", "abc", false },
        { "c$", "abc", true },
        { "b$", "abc", false },
        { "^abc$", "abc", true },
        { "^abc$", "abcd", false },
        { "^$", "", true },
        { "^$", "a", false },
        { "$^", "", true },
        { "a$b", "ab", false },
        { "a.c", "abc", true },
        { "a.c", "ac", false },
        { ".", "", false },
        { "ab*c", "ac", true },
        { "ab*c", "abbbc", true },
        { "ab*c", "abxc", false },
        { "ab+c", "ac", false },
        { "ab+c", "abbc", true },
        { "ab?c", "ac", true },
        { "ab?c", "abc", true },
        { "ab?c", "abbc", false },
        { "^ab*?c$", "abbc", true },
        { "^ab+?c$", "ac", false },
        { "a|b", "b", true },
        { "^(a|b)$", "c", false },
        { "^a|b$", "ab", true },
        { "^a|b$", "ca", false },
        { "a|b|c", "c", true },
        { "^(a|b|c)+$", "abcabc", true },
        { "^(a|b|c)+$", "abdc", false },
        { "^(|a)$", "", true },
        { "^(a|)$", "", true },
        { "^(ab|cd)*$", "abcdab", true },
        { "^(ab|cd)*$", "abcda", false },
        { "^(?:ab)+$", "abab", true },
        { "^(a(b(c)?)?)?$", "ab", true },
        { "^(a(b(c)?)?)?$", "ac", false },
        { "^((a*)*)*$", "aaaa", true },
        { "^(a**)$", "aaa", true },
        { "^a+*$", "", true },
        { "[abc]", "xbx", true },
        { "[abc]", "xyz", false },
        { "^[^abc]$", "d", true },
        { "^[^abc]$", "a", false },
        { "^[a-c]+$", "abcba", true },
        { "^[a-c]+$", "abd", false },
        { "^[]]$", "]", true },
        { "^[^]]$", "]", false },
        { "^[a-]$", "-", true },
        { "^[-a]$", "-", true },
        { "^[\\]]$", "]", true },
        { "^[\\d_]+$", "1_2", true },
        { "^[\\w.-]+$", "a.b-c_9", true },
        { "^\\d+$", "0123", true },
        { "^\\d+$", "01a", false },
        { "^\\D+$", "ab", true },
        { "^\\w+$", "aZ_9", true },
        { "^\\W$", "-", true },
        { "^\\s\\S$", "\tx", true },
        { "^\\.$", ".", true },
        { "^\\.$", "a", false },
        { "a\\*b", "a*b", true },
        { "\\(x\\)", "(x)", true },
        { "}", "}", true },
        { "mcp__.*__write.*", "mcp__fs__write_file", true },
        { "^\xc3\xa4.$", "\xc3\xa4x", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };
        struct regex *re = regex_new(str_of(rows[i].pattern), &e);

        if (!re)
            fail_msg("%s: %s", rows[i].pattern, e.msg);
        if (regex_finds(re, str_of(rows[i].text)) != rows[i].found)
            fail_msg("'%s' in '%s'", rows[i].pattern, rows[i].text);
        regex_free(re);
    }
}

static void what_is_no_pattern_says_where(void **state)
{
    static const struct {
        const char *pattern, *why;
    } rows[] = {
        { "(", "a group without end at byte 1" },
        { "(a", "a group without end at byte 2" },
        { "a)", "')' without '(' at byte 1" },
        { "[a", "a class without end at byte 2" },
        { "[", "a class without end" },
        { "[]", "a class without end" },
        { "[z-a]", "a range without members" },
        { "[a-\\d]", "a range without members" },
        { "*", "nothing to repeat at byte 0" },
        { "a|+", "nothing to repeat at byte 2" },
        { "(?", "'(?' is known only as '(?:'" },
        { "(?=a)", "'(?' is known only as '(?:'" },
        { "a{2}", "counted repetition, which is not known, at byte 1" },
        { "(a)\\1", "an escape that is not known at byte 4" },
        { "\\b", "an escape that is not known" },
        { "a\\", "nothing behind '\\'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };

        assert_null(regex_new(str_of(rows[i].pattern), &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, rows[i].why);
    }
}

static void a_pattern_has_its_limits(void **state)
{
    auto_buf longest = BUF(REGEX_MAX_BYTES + 1), deep = BUF(REGEX_MAX_BYTES);
    struct error e = { 0 };
    struct regex *re;

    buf_fill(&longest, '|', REGEX_MAX_BYTES);
    re = regex_new(buf_str(&longest), &e);
    assert_non_null(re);
    assert_true(regex_finds(re, STR("x")));
    regex_free(re);
    buf_addc(&longest, 'a');
    assert_null(regex_new(buf_str(&longest), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_fill(&deep, '(', REGEX_MAX_DEPTH);
    buf_fill(&deep, ')', REGEX_MAX_DEPTH);
    re = regex_new(buf_str(&deep), &e);
    assert_non_null(re);
    regex_free(re);
    assert_null(regex_new(STR("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
                              "((((((((((((((((((((((((("),
                          &e));
    assert_int_equal(e.kind, ERR_LIMIT);
}

static void time_grows_with_pattern_times_text_and_no_faster(void **state)
{
    static const char *const patterns[] = { "^((a*)*)*b$", "(a|aa)+$b",
                                            "a++++++++++++++++++++++b",
                                            "((((((((a+)+)+)+)+)+)+)+)+b", "(x+x+)+y" };
    auto_buf text = BUF(1 << 16), longest = BUF(REGEX_MAX_BYTES);
    int64_t began = clock_ms();
    struct regex *re;

    buf_fill(&text, 'a', 10000);
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        re = regex_new(str_of(patterns[i]), NULL);
        assert_non_null(re);
        assert_false(regex_finds(re, buf_str(&text)));
        regex_free(re);
    }
    for (int i = 0; i < REGEX_MAX_BYTES / 2; i++)
        buf_addz(&longest, i < REGEX_MAX_BYTES / 4 ? "a*" : "b?");
    buf_truncate(&longest, longest.n - 2);
    buf_addz(&longest, "c");
    re = regex_new(buf_str(&longest), NULL);
    assert_non_null(re);
    assert_false(regex_finds(re, buf_str(&text)));
    regex_free(re);
    assert_true(clock_ms() - began < 2000 * slack());
}

static void nul_bytes_are_bytes(void **state)
{
    struct regex *re = regex_new(BYTES("^a\0b$"), NULL);

    assert_non_null(re);
    assert_true(regex_finds(re, BYTES("a\0b")));
    assert_false(regex_finds(re, BYTES("a")));
    regex_free(re);
    regex_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_found_as_others_find_them),
        cmocka_unit_test(what_is_no_pattern_says_where),
        cmocka_unit_test(a_pattern_has_its_limits),
        cmocka_unit_test(time_grows_with_pattern_times_text_and_no_faster),
        cmocka_unit_test(nul_bytes_are_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
