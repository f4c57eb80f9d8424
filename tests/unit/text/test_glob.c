/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/glob.h"

struct match_case {
    const char *pattern, *text;
    bool want;
};

static void assert_matches(bool (*match)(struct str, struct str), const struct match_case *c,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (match(str_of(c[i].pattern), str_of(c[i].text)) != c[i].want)
            fail_msg("'%s' against '%s' should be %d", c[i].pattern, c[i].text, c[i].want);
    }
}

/* MS-16: `*` only, anchored at both ends, against the tool's wire name. */
static void name_patterns_know_the_star_only(void **state)
{
    static const struct match_case cases[] = {
        { "", "", true },
        { "", "a", false },
        { "a", "a", true },
        { "a", "ab", false },
        { "b", "ab", false },
        { "*", "", true },
        { "*", "any/thing", true },
        { "read_*", "read_file", true },
        { "read_*", "xread_file", false },
        { "*file", "read_file", true },
        { "*file", "read_files", false },
        { "*ad*le", "read_file", true },
        { "a*a", "a", false },
        { "a*a", "aa", true },
        { "a*b*c", "abc", true },
        { "a*b*c", "acb", false },
        { "*a*a*", "a", false },
        { "**", "x", true },
        { "a**b", "axxb", true },
        { "?", "a", false },
        { "?", "?", true },
        { "[a]", "a", false },
        { "[a]", "[a]", true },
        { "a.c", "abc", false },
        { "*ab", "aab", true },
        { "*aab", "aaab", true },
        { "A*", "abc", false },
        { "\\*", "\\x", true },
        { "*\xc3\xa9*", "caf\xc3\xa9s", true },
    };

    assert_matches(glob_name, cases, ARRAY_LEN(cases));
}

static void components_know_star_question_mark_and_classes(void **state)
{
    static const struct match_case cases[] = {
        { "", "", true },
        { "*", "", true },
        { "*", ".hidden", true },
        { "a?c", "abc", true },
        { "a?c", "ac", false },
        { "?", "\xc3\xa9", true },
        { "?", "ab", false },
        { "?", "\xff", true },
        { "??", "\xc3\xa9", false },
        { "[abc]", "b", true },
        { "[abc]", "d", false },
        { "[a-c]x", "bx", true },
        { "[!a-c]", "d", true },
        { "[!a-c]", "b", false },
        { "[!a]", "", false },
        { "[]a]", "]", true },
        { "[]a]", "a", true },
        { "[!]]", "a", true },
        { "[!]]", "]", false },
        { "[a-]", "-", true },
        { "[-a]", "-", true },
        { "[*]", "*", true },
        { "[*]", "x", false },
        { "[?]", "?", true },
        { "[\xc3\xa0-\xc3\xaf]", "\xc3\xa9", true },
        { "[a-z]*", "crate", true },
        { "[", "[", true },
        { "[a", "[a", true },
        { "[]", "[]", true },
        { "[!]", "[!]", true },
        { "*[0-9]", "lib-7", true },
        { "*[0-9]", "lib-x", false },
        { "a*b?c", "axxbyc", true },
        { "*a?", "aab", true },
        { "*.rs", "x.rs.rs", true },
        { "a-*", "a-", true },
        { "a", "A", false },
        { "[z-a]", "m", false },
    };

    assert_matches(glob_component, cases, ARRAY_LEN(cases));
}

static void path_patterns_go_by_component(void **state)
{
    static const struct match_case cases[] = {
        { "crates/*", "crates/a", true },
        { "crates/*", "crates/a/b", false },
        { "crates/*", "crates", false },
        { "crates/*/x", "crates/a/x", true },
        { "crates/a", "crates/a/", true },
        { "./crates/*", "crates/a", true },
        { "crates//*", "crates/a", true },
        { "crates/*/", "crates/a", true },
        { "a?b", "a/b", false },
        { "a[/]b", "a/b", false },
        { "**", "", true },
        { "**", "a/b/c", true },
        { "**/x", "x", true },
        { "**/x", "a/b/x", true },
        { "**/x", "a/b/xy", false },
        { "a/**", "a/b/c", true },
        { "a/**", "a", true },
        { "a/**/b", "a/b", true },
        { "a/**/b", "a/x/y/b", true },
        { "a/**/b", "a/x/y/c", false },
        { "a/**/b/**/c", "a/1/b/2/3/c", true },
        { "**/a/**/b", "x/a/y/b/z/b", true },
        { "**/*.toml", "x/y.toml", true },
        { "/a/*", "/a/b", true },
        { "/a/*", "a/b", false },
        { "a/*", "/a/b", false },
        { "**/a/b", "a/a/b", true },
        { "**/**/a", "a", true },
        { "packages/*", "packages/@scope/x", false },
        { "packages/@*/*", "packages/@scope/x", true },
    };

    assert_matches(glob_path, cases, ARRAY_LEN(cases));
}

static void senseless_patterns_are_told_apart(void **state)
{
    static const struct {
        const char *pattern;
        bool ok;
    } cases[] = {
        { "crates/*", true }, { "**/x", true }, { "a/[!a-z]", true }, { "", true },
        { "a[", false },      { "[]", false },  { "[!]", false },     { "a**", false },
        { "**a/b", false },   { "***", false }, { "[*][*]", true },   { "[**]", true },
    };
    auto_buf b = BUF(10000);
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (glob_check(str_of(cases[i].pattern), &e) != cases[i].ok)
            fail_msg("'%s' should be %d", cases[i].pattern, cases[i].ok);
    }
    buf_fill(&b, 'x', GLOB_PATTERN_MAX + 1);
    assert_false(glob_check(buf_str(&b), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_true(glob_has_wildcard(STR("a/*")) && glob_has_wildcard(STR("a?")) &&
                glob_has_wildcard(STR("[a")));
    assert_false(glob_has_wildcard(STR("a/b-c")));
}

/* "a*a*a*...b" against "aaaa..." takes ages where stars are tried one inside the other. */
static void no_pattern_makes_matching_slow(void **state)
{
    auto_buf name = BUF(100000), star = BUF(2000), path = BUF(10000), deep = BUF(2000),
             path_star = BUF(2000);
    int64_t before = clock_ms();

    buf_fill(&name, 'a', 100000);
    for (int i = 0; i < 500; i++)
        buf_addz(&star, "a*");
    buf_addc(&star, 'b');
    assert_false(glob_name(buf_str(&star), buf_str(&name)));
    assert_false(glob_component(buf_str(&star), str_upto(buf_str(&name), 4096)));
    for (int i = 0; i < 2000; i++)
        buf_addz(&path, "a/");
    for (int i = 0; i < 100; i++)
        buf_addz(&deep, "**/a/");
    buf_addc(&deep, 'b');
    assert_false(glob_path(buf_str(&deep), buf_str(&path)));
    buf_addz(&path_star, "**/");
    for (int i = 0; i < 400; i++)
        buf_addz(&path_star, "a/");
    buf_addc(&path_star, 'b');
    assert_false(glob_path(buf_str(&path_star), buf_str(&path)));
    assert_true(clock_ms() - before < 500 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_patterns_know_the_star_only),
        cmocka_unit_test(components_know_star_question_mark_and_classes),
        cmocka_unit_test(path_patterns_go_by_component),
        cmocka_unit_test(senseless_patterns_are_told_apart),
        cmocka_unit_test(no_pattern_makes_matching_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
