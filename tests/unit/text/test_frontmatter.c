/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/frontmatter.h"
#include "text/yaml.h"

static void assert_str(struct str got, const char *want, const char *of)
{
    if (!str_is(got, want))
        fail_msg("%s\ngot  '%.*s'\nwant '%s'", of, STR_F(got), want);
}

/* SK-2 */
static void fences_part_yaml_and_a_body_that_is_byte_exact(void **state)
{
    static const struct {
        const char *text, *yaml, *body;
    } cases[] = {
        { "---\na: 1\n---\nbody\n", "\na: 1\n", "body\n" },
        { "---\n---\n", "\n", "" },
        { "---\n---", "\n", "" },
        { "---\na: 1\n---", "\na: 1\n", "" },
        { "\xEF\xBB\xBF---\na: 1\n---\n\xEF\xBB\xBFx", "\na: 1\n", "\xEF\xBB\xBFx" },
        { "---\r\na: 1\r\n---\r\n\r\nx\r\n", "\na: 1\r\n", "\r\nx\r\n" },
        { "--- \t\na: 1\n---\t \n  x", "\na: 1\n", "  x" },
        { "---\na: 1\n---\n---\nmore\n---\n", "\na: 1\n", "---\nmore\n---\n" },
        { "---\na: |\n  ---\n ---\n---\nb", "\na: |\n  ---\n ---\n", "b" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct frontmatter f;
        struct error e;

        if (!frontmatter_split(str_of(cases[i].text), &f, &e))
            fail_msg("%s: %s", cases[i].text, e.msg);
        assert_str(f.yaml, cases[i].yaml, cases[i].text);
        assert_str(f.body, cases[i].body, cases[i].text);
    }
}

static void a_missing_fence_is_named(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "first line must be '---'" },       { "a: 1\n---\n", "first line must be" },
        { " ---\n---\n", "first line must be" },  { "----\n---\n", "first line must be" },
        { "\n---\n---\n", "first line must be" }, { "---", "no closing '---'" },
        { "---\na: 1\n", "no closing" },          { "---\na: 1\n ---\n", "no closing" },
        { "---\na: 1\n---x\n", "no closing" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct frontmatter f;
        struct error e;

        assert_false(frontmatter_split(str_of(cases[i].text), &f, &e));
        assert_int_equal(e.kind, ERR_INVALID);
        if (!strstr(e.msg, cases[i].error))
            fail_msg("%s: %s", cases[i].text, e.msg);
    }
}

/* SK-1: a warning names the line of the file. */
static void lines_of_the_yaml_are_the_lines_of_the_file(void **state)
{
    static const char *const texts[] = { "---\na: 1\nb: x\n---\n",
                                         "\xEF\xBB\xBF---\r\na: 1\r\nb: x\r\n---\r\n" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        auto_arena a = ARENA;
        struct frontmatter f;

        assert_true(frontmatter_split(str_of(texts[i]), &f, NULL));
        assert_int_equal(yaml_get(yaml_parse(&a, f.yaml, NULL), "b")->line, 3);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences_part_yaml_and_a_body_that_is_byte_exact),
        cmocka_unit_test(a_missing_fence_is_named),
        cmocka_unit_test(lines_of_the_yaml_are_the_lines_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
