/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/buf.h"
#include "base/clock.h"
#include "text/pattern_set.h"

/* "yes yes !no", as the set holds them after these patterns, which blanks separate. */
static void put_set(struct pattern_set *set, struct arena *a, const char *patterns,
                    struct buf *out)
{
    struct str rest = str_of(patterns), one;

    while (str_cut(rest, ' ', &one, &rest))
        pattern_set_add(set, a, one);
    pattern_set_add(set, a, rest);
    for (size_t i = 0; i < set->yes.n; i++)
        buf_addf(out, "%s%.*s", out->n ? " " : "", STR_F(set->yes.v[i]));
    for (size_t i = 0; i < set->no.n; i++)
        buf_addf(out, "%s!%.*s", out->n ? " " : "", STR_F(set->no.v[i]));
}

/* PM-19, CF-2 */
static void patterns_are_read_the_way_npm_does(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "packages/*", "packages/*" },
        { "./packages/* /tools", "packages/* tools" },
        { "a !b", "a !b" },
        { "!!a !!!b", "a !b" },
        { "!./b !/c", "!b !c" },
        { "a/{b,c}/d", "a/b/d a/c/d" },
        { "{a,b}{1,2}", "a1 a2 b1 b2" },
        { "x{a,{b,c}}", "xa xb xc" },
        { "{a}", "{a}" },
        { "{a}{b,c}", "{a}b {a}c" },
        { "{a{b,c}}", "{ab} {ac}" },
        { "{a,b", "{a,b" },
        { "a,b}", "a,b}" },
        { "a{,-b}", "a a-b" },
        { "!{a,b}", "!a !b" },
        { "! / ./ {,}", "" },
        { "packages/** !packages/b/** packages/b/a", "packages/** packages/b/a" },
        { "!packages/b packages/*", "packages/* !packages/b" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_arena a = ARENA;
        auto_buf out = BUF(4096);
        struct pattern_set set = { 0 };

        put_set(&set, &a, cases[i].in, &out);
        if (strcmp(buf_z(&out), cases[i].out) != 0)
            fail_msg("'%s': '%s' instead of '%s'", cases[i].in, buf_z(&out), cases[i].out);
    }
}

static void a_denied_directory_is_denied_with_all_below_by_two_stars(void **state)
{
    auto_arena a = ARENA;
    struct pattern_set set = { 0 };

    (void)state;
    pattern_set_add(&set, &a, STR("!packages/b/**"));
    pattern_set_add(&set, &a, STR("!**/test"));
    assert_true(pattern_set_deny(&set, STR("packages/b")));
    assert_true(pattern_set_deny(&set, STR("packages/b/c")));
    assert_true(pattern_set_deny(&set, STR("packages/a/test")));
    assert_false(pattern_set_deny(&set, STR("packages/a")));
}

static void a_bomb_of_braces_and_stars_costs_little(void **state)
{
    auto_arena a = ARENA;
    auto_buf braces = BUF(4096), stars = BUF(4096), text = BUF(4096);
    struct pattern_set set = { 0 };
    int64_t began = clock_ms();

    (void)state;
    for (int i = 0; i < 330; i++)
        buf_addz(&braces, "{,}");
    assert_true(pattern_set_add(&set, &a, buf_str(&braces)));
    assert_false(pattern_set_add(&set, &a, STR("late")));
    assert_int_equal(set.yes.n, 0);

    set = (struct pattern_set){ 0 };
    buf_addc(&stars, '!');
    for (int i = 0; i < 500; i++)
        buf_addz(&stars, "*a");
    buf_addc(&stars, 'b');
    buf_fill(&text, 'a', 1000);
    for (int i = 0; i < 400; i++)
        pattern_set_add(&set, &a, buf_str(&stars));
    for (int i = 0; i < 20000; i++)
        pattern_set_deny(&set, buf_str(&text));
    assert_true(clock_ms() - began < 5000 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_read_the_way_npm_does),
        cmocka_unit_test(a_denied_directory_is_denied_with_all_below_by_two_stars),
        cmocka_unit_test(a_bomb_of_braces_and_stars_costs_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
