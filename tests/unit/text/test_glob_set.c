/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/glob.h"
#include "text/glob_set.h"

/* FS-17: what the language of search patterns says. */
static void patterns_match_relative_paths(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool want;
    } cases[] = {
        { "*.rs", "a.rs", true },
        { "*.rs", "src/a.rs", false },
        { "**/*.rs", "a.rs", true },
        { "**/*.rs", "src/deep/a.rs", true },
        { "src/**/*.rs", "src/a.rs", true },
        { "src/**/*.rs", "src/x/y/a.rs", true },
        { "src/**/*.rs", "lib/a.rs", false },
        { "**", "a", true },
        { "**", "a/b/c", true },
        { "a/**", "a", false },
        { "a/**", "a/b", true },
        { "a/**", "a/b/c", true },
        { "**/a/**", "a", false },
        { "**/a/**", "x/a/b", true },
        { "**/**", "a", true },
        { "a/**/**/b", "a/b", true },
        { "a/**/b", "a/xb", false },
        { "a**", "abc", true },
        { "a**", "a/b", false },
        { "**a", "ba", true },
        { "**a", "b/a", false },
        { "***", "abc", true },
        { "?.c", "a.c", true },
        { "?.c", "\xc3\xa9.c", true },
        { "?.c", ".c", false },
        { "a?b", "a/b", false },
        { "[a-c].x", "b.x", true },
        { "[a-c].x", "d.x", false },
        { "[!a-c].x", "d.x", true },
        { "[!a-c].x", "a.x", false },
        { "[*]", "*", true },
        { "[*]", "x", false },
        { "{a,b}.c", "a.c", true },
        { "{a,b}.c", "b.c", true },
        { "{a,b}.c", "c.c", false },
        { "{a,}x", "x", true },
        { "{a,}x", "ax", true },
        { "*.{js,ts}", "x.ts", true },
        { "{src,lib/**}/*.c", "src/a.c", true },
        { "{src,lib/**}/*.c", "lib/x/a.c", true },
        { "{src,lib/**}/*.c", "lib/a.c", true },
        { "{**/,}x", "a/b/x", true },
        { "{**/,}x", "x", true },
        { "{a,{b,c}d}", "cd", true },
        { "{a,{b,c}d}", "c", false },
        { "{a,b}{c,d}", "bc", true },
        { "{a}", "{a}", true },
        { "{a}", "a", false },
        { "{}", "{}", true },
        { "{x{a,b}}", "{xb}", true },
        { "a}b", "a}b", true },
        { "{[,],a}", ",", true },
        { "{[}],a}", "}", true },
        { "[{,}]", ",", true },
        { "*", ".hidden", true },
        { "**/*.c", ".git/x.c", true },
        { ".*", ".hidden", true },
        { "*.C", "a.c", false },
        { "\\*", "\\x", true },
        { "\\*", "*", false },
        { "!a", "!a", true },
        { "!a", "b", false },
        { "#a", "#a", true },
        { "", "a", false },
        { "/a", "a", false },
        { "{/a,b}", "b", true },
        { "./a", "a", true },
        { "a//b/", "a/b", true },
        { "a", "a\nb", false },
        { "a*", "a\nb", true },
        { "*", "\xff", true },
        { "\xff", "\xff", true },
        { "..", "..", true },
        { "a/**/**", "a/b/c", true },
        { "a/**/**", "a", false },
        { "a/**/./**//x", "a/x", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct glob_set *s = glob_set_new(&a);
        struct error e;

        if (!glob_set_add(s, str_of(cases[i].pattern), &e))
            fail_msg("'%s': %s", cases[i].pattern, e.msg);
        if (glob_set_match(s, str_of(cases[i].path)) != cases[i].want)
            fail_msg("'%s' against '%s' should be %d", cases[i].pattern, cases[i].path,
                     cases[i].want);
    }
}

/* FS-17: bad patterns. */
static void patterns_that_mean_nothing_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *pattern, *says;
        enum err_kind kind;
    } cases[] = {
        { "[", "'[' without ']'", ERR_INVALID },
        { "a/[b", "'[' without ']'", ERR_INVALID },
        { "[]", "'[' without ']'", ERR_INVALID },
        { "[a/b]", "'[' without ']'", ERR_INVALID },
        { "{a,b", "'{' without '}'", ERR_INVALID },
        { "{a,{b}", "'{' without '}'", ERR_INVALID },
        { "{a,[}]", "'{' without '}'", ERR_INVALID },
        { "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "256 alternatives", ERR_LIMIT },
        { "{{{{{{{{{{{{{{{{{a,b}}}}}}}}}}}}}}}}}", "deeper than 16", ERR_LIMIT },
    };
    auto_buf b = BUF(10000);
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;

        assert_false(glob_set_add(glob_set_new(&a), str_of(cases[i].pattern), &e));
        assert_has(e.msg, cases[i].says);
        assert_int_equal(e.kind, cases[i].kind);
    }
    buf_fill(&b, 'x', GLOB_PATTERN_MAX + 1);
    auto_arena a = ARENA;
    struct glob_set *s = glob_set_new(&a);
    assert_false(glob_set_add(s, buf_str(&b), &e) || e.kind != ERR_LIMIT);
    assert_false(glob_set_add(s, BYTES("a\0b"), &e) || e.kind != ERR_INVALID);
    buf_clear(&b);
    for (int i = 0; i < 500; i++)
        buf_addz(&b, "a/");
    for (int i = 0; i < 16; i++)
        assert_true(glob_set_add(s, buf_str(&b), &e));
    assert_false(glob_set_add(s, buf_str(&b), &e));
    assert_has(e.msg, "8192 components");
    /* What matches nothing counts too. */
    s = glob_set_new(&a);
    for (int i = 0; i < GLOB_SET_PARTS_MAX; i++)
        assert_true(glob_set_add(s, STR("/"), &e));
    assert_false(glob_set_add(s, STR("/"), &e));
}

static void a_walker_learns_where_it_need_not_look(void **state)
{
    auto_arena a = ARENA;
    struct glob_set *s = glob_set_new(&a);
    uint64_t top[2], src[2], deep[2];
    struct glob_step r;

    assert_true(glob_set_add(s, STR("src/*.c"), NULL) && glob_set_add(s, STR("lib/**"), NULL));
    assert_int_equal(glob_set_words(s), 1);
    glob_set_start(s, top);
    r = glob_set_step(s, top, STR("node_modules"), deep);
    assert_false(r.matches || r.goes_on);
    r = glob_set_step(s, top, STR("src"), src);
    assert_true(!r.matches && r.goes_on);
    r = glob_set_step(s, src, STR("a.c"), deep);
    assert_true(r.matches && !r.goes_on);
    r = glob_set_step(s, top, STR("lib"), src);
    assert_true(!r.matches && r.goes_on);
    r = glob_set_step(s, src, STR("x"), deep);
    assert_true(r.matches && r.goes_on);
}

static void no_pattern_makes_matching_slow(void **state)
{
    auto_arena a = ARENA;
    auto_buf stars = BUF(2000), path = BUF(20000), name = BUF(300);
    struct glob_set *s = glob_set_new(&a);
    int64_t before = clock_ms();

    for (int i = 0; i < 200; i++)
        buf_addz(&stars, "**/a/");
    buf_addz(&stars, "b");
    assert_true(glob_set_add(s, buf_str(&stars), NULL));
    for (int i = 0; i < 2000; i++)
        buf_addz(&path, "a/");
    assert_false(glob_set_match(s, buf_str(&path)));
    buf_clear(&stars);
    for (int i = 0; i < 500; i++)
        buf_addz(&stars, "*a");
    buf_addz(&stars, "b");
    assert_true(glob_set_add(s, buf_str(&stars), NULL));
    buf_fill(&name, 'a', 255);
    for (int i = 0; i < 100; i++)
        assert_false(glob_set_match(s, buf_str(&name)));
    assert_true(clock_ms() - before < 500 * slack());
}

/* Each "**" would be entered from each that stands before it. */
static void many_double_stars_cost_as_much_as_one(void **state)
{
    auto_arena a = ARENA;
    auto_buf stars = BUF(1000);
    struct glob_set *s = glob_set_new(&a);
    int64_t before = clock_ms();

    for (int i = 0; i < 300; i++)
        buf_addz(&stars, "**/");
    buf_addz(&stars, "x");
    for (int i = 0; i < 50; i++)
        assert_true(glob_set_add(s, buf_str(&stars), NULL));
    assert_int_equal(glob_set_words(s), 50 * 3 / 64 + 1);
    for (int i = 0; i < 20000; i++)
        assert_false(glob_set_match(s, STR("a/b/c/d/e")));
    assert_true(glob_set_match(s, STR("a/x")) && glob_set_match(s, STR("x")));
    assert_true(clock_ms() - before < 500 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_relative_paths),
        cmocka_unit_test(patterns_that_mean_nothing_are_refused_with_the_reason),
        cmocka_unit_test(a_walker_learns_where_it_need_not_look),
        cmocka_unit_test(many_double_stars_cost_as_much_as_one),
        cmocka_unit_test(no_pattern_makes_matching_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
