/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include "servers/skills/document.h"
#include "text/yaml_json.h"

#define HEAD(front) "---\n" front "\n---\n"

static void parse(struct arena *a, struct str text, struct document *ret)
{
    struct error e;

    if (!document_parse(a, text, ret, &e))
        fail_msg("%s\nin:\n%.*s", e.msg, STR_F(text));
}

/* SK-2: the body is byte-exact; SK-4: forms of YAML. */
static void a_skill_is_read_in_all_its_forms(void **state)
{
    static const struct {
        const char *text, *name, *description, *body;
    } cases[] = {
        { HEAD("name: a\ndescription: d") "x\n", "a", "d", "x\n" },
        { "\xEF\xBB\xBF---\r\nname: a-1\r\ndescription: d e\r\n---\r\n\r\n x\r\n", "a-1", "d e",
          "\r\n x\r\n" },
        { "---  \nname: a\ndescription: d\n--- \t\nx", "a", "d", "x" },
        { "---\nname: a\ndescription: d\n---", "a", "d", "" },
        { HEAD("description: >-\n  two\n  lines\nname: 'q'"), "q", "two lines", "" },
        { HEAD("description: |+\n  two\n  lines\n\nname: \"q\""), "q", "two\nlines", "" },
        { HEAD("# c\nname: a # c\ndescription: \"d # no\"\nmetadata: {k: [1, 2]}"), "a",
          "d # no", "" },
        { HEAD("license: MIT\ncompatibility: x\nallowed-tools: [a, b]\nname: a\n"
               "description: d\nmetadata:\n  deep:\n    deeper: 1"),
          "a", "d", "" },
        { HEAD("name: a\ndescription: Use this: when it helps"), "a", "Use this: when it helps",
          "" },
        { HEAD("name: a\ndescription: It's this: 'x' and \"y\""), "a",
          "It's this: 'x' and \"y\"", "" },
        { HEAD("name: a\ndescription: d") "---\nno fence\n---\n", "a", "d",
          "---\nno fence\n---\n" },
        { HEAD("name: 2048\ndescription: 7"), "2048", "7", "" },
        { HEAD("name: a\ndescription:   padded\t"), "a", "padded", "" },
        { HEAD("name: a\ndescription: d\nname2: a: b: c"), "a", "d", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct document d;

        parse(&a, str_of(cases[i].text), &d);
        assert_str(d.name, cases[i].name);
        assert_str(d.description, cases[i].description);
        assert_str(d.body, cases[i].body);
    }
}

static void what_is_wrong_is_named_with_its_line_of_the_file(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "line 1: no front matter" },
        { "# Title\n", "line 1: no front matter" },
        { "---\nname: a\n", "line 1: the front matter has no closing" },
        { HEAD("name: a"), "line 1: 'description' is missing" },
        { HEAD("description: d"), "line 1: 'name' is missing" },
        { HEAD("- a"), "must be a mapping" },
        /* SK-3 */
        { HEAD("name: Abc\ndescription: d"), "line 2: 'name' must be 1 to 64" },
        { HEAD("description: d\nname: a--b"), "line 3: 'name'" },
        { HEAD("description: d\nname: -a"), "line 3: 'name'" },
        { HEAD("description: d\nname: a-"), "line 3: 'name'" },
        { HEAD("description: d\nname: a_b"), "line 3: 'name'" },
        { HEAD("description: d\nname: '../x'"), "line 3: 'name'" },
        { HEAD("description: d\nname: ' '"), "line 3: 'name' must be a text" },
        { HEAD("description: d\nname: [a]"), "line 3: 'name' must be a text" },
        { HEAD("name: a\ndescription: ''"), "line 3: 'description' must be a text" },
        { HEAD("name: a\ndescription:"), "line 3: 'description'" },
        { HEAD("name: a\ndescription: ~"), "line 3: 'description'" },
        { HEAD("name: a\ndescription: \" \\t \""), "line 3: 'description'" },
        { HEAD("name: a\ndescription: {a: b}"), "line 3: 'description'" },
        /* SK-4 */
        { HEAD("name: &x a\ndescription: *x"), "line 2: anchors, aliases" },
        { HEAD("name: a\ndescription: d\nx: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"),
          "line 4: nested deeper than 16" },
        { HEAD("name: a\ndescription: d\nx: [1"), "line " },
        { HEAD("name: a\nname: b\ndescription: d"), "line 3: key 'name' is given twice" },
        { HEAD("name: a\ndescription: \"\xC3\x28\""), "line 3: the file is not UTF-8" },
        { HEAD("name: a\ndescription: d") "x\n\xFF\n", "line 6: the file is not UTF-8" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct document d;
        struct error e;

        if (document_parse(&a, str_of(cases[i].text), &d, &e))
            fail_msg("accepted:\n%s", cases[i].text);
        if (!strstr(e.msg, cases[i].error))
            fail_msg("%s\ngot  %s\nwant %s", cases[i].text, e.msg, cases[i].error);
    }
}

/* SK-3 */
static void a_name_has_at_most_64_characters(void **state)
{
    for (int n = 64; n <= 65; n++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(1024);
        struct document d;

        buf_addz(&text, "---\ndescription: d\nname: ");
        buf_fill(&text, 'x', (size_t)n);
        buf_addz(&text, "\n---\n");
        assert_int_equal(document_parse(&a, buf_str(&text), &d, NULL), n == 64);
    }
}

/* SK-2 */
static void a_file_has_at_most_1048576_bytes(void **state)
{
    for (size_t n = 1048576; n <= 1048577; n++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(2 << 20);
        struct document d;
        struct error e;

        buf_addz(&text, HEAD("name: a\ndescription: d"));
        buf_fill(&text, 'x', n - text.n);
        assert_int_equal(document_parse(&a, buf_str(&text), &d, &e), n == 1048576);
        if (n > 1048576)
            assert_int_equal(e.kind, ERR_LIMIT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skill_is_read_in_all_its_forms),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line_of_the_file),
        cmocka_unit_test(a_name_has_at_most_64_characters),
        cmocka_unit_test(a_file_has_at_most_1048576_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
