/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include "servers/skills/uri.h"

/* SK-30 */
static void a_uri_is_made_and_read_back(void **state)
{
    static const struct {
        const char *path, *uri;
    } cases[] = {
        { "SKILL.md", "skill://a-1/SKILL.md" },
        { "", "skill://a-1/" },
        { "refs/a b.md", "skill://a-1/refs/a%20b.md" },
        { "100%", "skill://a-1/100%25" },
        { "q?a#b", "skill://a-1/q%3Fa%23b" },
        { "\xC3\xA9/\xFF", "skill://a-1/%C3%A9/%FF" },
        { "a[1]|\\^`{}\"<>", "skill://a-1/a%5B1%5D%7C%5C%5E%60%7B%7D%22%3C%3E" },
        { "!$&'()*+,;=:@-._~", "skill://a-1/!$&'()*+,;=:@-._~" },
        { "a\nb\x7F", "skill://a-1/a%0Ab%7F" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf out = BUF(1024);
        struct skill_uri back;

        skill_uri_put(&out, STR("a-1"), str_of(cases[i].path));
        assert_str(buf_str(&out), cases[i].uri);
        assert_true(skill_uri_parse(&a, buf_str(&out), &back));
        assert_str(back.name, "a-1");
        assert_str(back.path, cases[i].path);
        assert_int_equal(back.directory, cases[i].path[0] == '\0');
    }
}

static void other_spellings_are_read(void **state)
{
    static const struct {
        const char *uri, *path;
        bool directory;
    } cases[] = {
        { "skill://a", "", true },           { "skill://a/", "", true },
        { "skill://a/refs/", "refs", true }, { "skill://a/%53KILL.md", "SKILL.md", false },
        { "skill://a/%e9", "\xE9", false },  { "skill://a/a b", "a b", false },
        { "skill://a/...", "...", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct skill_uri u;

        assert_true(skill_uri_parse(&a, str_of(cases[i].uri), &u));
        assert_str(u.name, "a");
        assert_str(u.path, cases[i].path);
        assert_int_equal(u.directory, cases[i].directory);
    }
}

static void what_names_nothing_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "skill:",
        "skill://",
        "skill:///SKILL.md",
        "SKILL://a/x",
        "file:///etc/passwd",
        "skill://a//x",
        "skill://a/x//",
        "skill://a/.",
        "skill://a/..",
        "skill://a/../b/SKILL.md",
        "skill://a/x/../../b",
        "skill://a/%2e%2e/b",
        "skill://a/.%2E/b",
        "skill://a/x%2Fy",
        "skill://a/x%2fy",
        "skill://a/x%00y",
        "skill://a/%",
        "skill://a/%4",
        "skill://a/%zz",
        "skill://a/x?y",
        "skill://a/x#y",
    };
    auto_arena a = ARENA;
    auto_buf more = BUF(1 << 20);
    struct skill_uri u;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (skill_uri_parse(&a, str_of(cases[i]), &u))
            fail_msg("accepted: %s", cases[i]);
    assert_false(skill_uri_parse(&a, BYTES("skill://a/x\0y"), &u));
    buf_addz(&more, "skill://a/");
    buf_fill(&more, 'x', SKILL_URI_MAX);
    assert_false(skill_uri_parse(&a, buf_str(&more), &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uri_is_made_and_read_back),
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(what_names_nothing_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
