/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include "servers/fetch/robots.h"

struct row {
    const char *target;
    bool allowed;
};

static void check(const char *text, const char *token, const struct row *rows, size_t n)
{
    struct robots *r = robots_parse(str_of(text), str_of(token));

    for (size_t i = 0; i < n; i++) {
        if (robots_allows(r, str_of(rows[i].target)) != rows[i].allowed)
            fail_msg("'%s' was judged wrongly by\n%s", rows[i].target, text);
    }
    robots_free(r);
}

#define CHECK(text, token, ...)                            \
    do {                                                   \
        static const struct row rows_[] = { __VA_ARGS__ }; \
        check((text), (token), rows_, ARRAY_LEN(rows_));   \
    } while (0)

/* FE-11, RFC 9309 2.2.1 */
static void groups_that_name_us_count_together_and_before_those_for_everybody(void **state)
{
    CHECK("User-agent: *\nDisallow: /\n\nUser-agent: symposium\nDisallow: /a\n\n"
          "User-Agent: Other\nDisallow: /b\n\nUSER-AGENT: SYMPOSIUM/2.0\nDisallow: /c\n",
          "Symposium", { "/", true }, { "/a", false }, { "/b", true }, { "/c/d", false });
    CHECK("User-agent: a\nUser-agent: Symposium\n\nSitemap: x\nUser-agent: b\nDisallow: /x\n",
          "Symposium", { "/x", false }, { "/", true });
    CHECK("User-agent: Symposium\nUser-agent: *\nDisallow: /x\n", "Other", { "/x", false });
    CHECK("User-agent: Symposium\nAllow: /\nUser-agent: *\nDisallow: /x\n", "Symposium",
          { "/x", true });
    CHECK("User-agent: Symposium\n\nUser-agent: *\nDisallow: /\n", "Symposium",
          { "/x", false });
    CHECK("User-agent: SymposiumX\nDisallow: /\n", "Symposium", { "/x", true });
    CHECK("Disallow: /x\nUser-agent: *\nDisallow: /y\n", "S", { "/x", true }, { "/y", false });
    CHECK("User-agent: *\nDisallow: /x\nUser-agent: *\nDisallow: /y\n", "S", { "/x", false },
          { "/y", false });
    (void)state;
}

/* FE-11, RFC 9309 2.2.2 */
static void the_longest_rule_decides_and_allow_wins_a_tie(void **state)
{
    CHECK("User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", "S",
          { "/example/page/", true }, { "/example/page/x", true },
          { "/example/page/disallowed.gif", false }, { "/other", true });
    CHECK("User-agent: *\nDisallow: /a\nAllow: /a\n", "S", { "/a", true });
    CHECK("User-agent: *\nAllow: /a\nDisallow: /a\n", "S", { "/a", true });
    CHECK("User-agent: *\nDisallow: /\nAllow: /p$\n", "S", { "/p", true },
          { "/p.html", false });
    CHECK("User-agent: *\nDisallow:\n", "S", { "/", true }, { "/x", true });
    CHECK("User-agent: *\nDisallow: /\n", "S", { "/", false }, { "/robots.txt", true },
          { "/robots.txt?x", true }, { "/robots.txtx", false });
    CHECK("User-agent: *\nDisallow: /a?b\n", "S", { "/a?bc", false }, { "/a?c", true });
    CHECK("", "S", { "/", true });
    (void)state;
}

static void stars_and_the_end_sign_are_understood(void **state)
{
    CHECK("User-agent: *\nDisallow: *.gif$\nDisallow: /*/private/\nDisallow: /$\n", "S",
          { "/a.gif", false }, { "/a.gifs", true }, { "/x/private/y", false },
          { "/private/y", true }, { "/", false }, { "/a", true }, { "/a.gif.gif", false });
    CHECK("User-agent: *\nDisallow: /a*b*c\n", "S", { "/abc", false }, { "/a1b2c3", false },
          { "/acb", true }, { "/ab", true });
    CHECK("User-agent: *\nDisallow: /a*\n", "S", { "/a", false }, { "/ab", false },
          { "/b", true });
    CHECK("User-agent: *\nDisallow: /a*a$\n", "S", { "/a", true }, { "/aa", false },
          { "/aba", false }, { "/abab", true });
    CHECK("User-agent: *\nDisallow: /a$b\n", "S", { "/a$b", false }, { "/a", true });
    CHECK("User-agent: *\nDisallow: *\n", "S", { "/x", false });
    (void)state;
}

static void one_spelling_of_a_path_stands_for_all(void **state)
{
    CHECK("User-agent: *\nDisallow: /a%3cd.html\n", "S", { "/a%3Cd.html", false },
          { "/a%3cd.html", false });
    CHECK("User-agent: *\nDisallow: /%7Ejoe/\n", "S", { "/~joe/x", false },
          { "/%7ejoe/x", false });
    CHECK("User-agent: *\nDisallow: /a%2fb\n", "S", { "/a%2Fb", false }, { "/a/b", true });
    CHECK("User-agent: *\nDisallow: /\xc3\xa4\n", "S", { "/%C3%A4", false },
          { "/%c3%a4", false });
    CHECK("User-agent: *\nDisallow: /x-%2A.html\n", "S", { "/x-*.html", false },
          { "/x-y.html", true });
    CHECK("User-agent: *\nDisallow: /50%\n", "S", { "/50%", false }, { "/5", true });
    (void)state;
}

static void lines_of_any_kind_are_read(void **state)
{
    CHECK("\xef\xbb\xbfUser-agent : *\r\n\tDisallow :  /a  # why\r#Disallow: /b\rDisallow: /c",
          "S", { "/a", false }, { "/b", true }, { "/c", false });
    CHECK("<html>\n:\n::\nuser-agent\nUser-agent: *\nnonsense: x\nDisallow: /a\n", "S",
          { "/a", false });
    CHECK("User-agent:*\ndisALLOW:/a", "S", { "/a", false });
    (void)state;
}

static void what_is_beyond_500_kib_does_not_count(void **state)
{
    auto_buf text = BUF(ROBOTS_MAX + 100);
    struct robots *r;

    buf_addz(&text, "User-agent: *\nDisallow: /early\n#");
    buf_fill(&text, 'x', ROBOTS_MAX - text.n - 12);
    buf_addz(&text, "\nDisallow: /late\n"); /* cut to "/": would forbid everything */
    r = robots_parse(buf_str(&text), STR("S"));
    assert_false(robots_allows(r, STR("/early")));
    assert_true(robots_allows(r, STR("/late")));
    assert_true(robots_allows(r, STR("/x")));
    robots_free(r);
    (void)state;
}

static void hostile_patterns_cost_little(void **state)
{
    auto_buf text = BUF(ROBOTS_MAX), target = BUF(8192);
    int64_t from;
    struct robots *r;

    buf_addz(&text, "User-agent: *\nDisallow: /");
    while (text.n < ROBOTS_MAX / 2)
        buf_addz(&text, "*a");
    buf_addz(&text, "*b\n");
    while (text.n < ROBOTS_MAX - 20)
        buf_addz(&text, "Disallow:*a*b\n");
    buf_addc(&target, '/');
    buf_fill(&target, 'a', 8000);
    from = clock_ms();
    r = robots_parse(buf_str(&text), STR("S"));
    assert_true(robots_allows(r, buf_str(&target)));
    assert_true(clock_ms() - from < 500 * slack());
    robots_free(r);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_name_us_count_together_and_before_those_for_everybody),
        cmocka_unit_test(the_longest_rule_decides_and_allow_wins_a_tie),
        cmocka_unit_test(stars_and_the_end_sign_are_understood),
        cmocka_unit_test(one_spelling_of_a_path_stands_for_all),
        cmocka_unit_test(lines_of_any_kind_are_read),
        cmocka_unit_test(what_is_beyond_500_kib_does_not_count),
        cmocka_unit_test(hostile_patterns_cost_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
