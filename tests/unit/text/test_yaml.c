/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/yaml.h"

/* As one line: {k: v, ...}, [a, b], plain scalars bare, quoted ones in quotes. */
static void put(struct buf *b, const struct yaml *v)
{
    if (v->kind == YAML_SCALAR) {
        buf_addf(b, v->plain ? "%.*s" : "'%.*s'", STR_F(v->s));
        return;
    }
    buf_addc(b, v->kind == YAML_MAP ? '{' : '[');
    for (const struct yaml *c = v->first; c; c = c->next) {
        if (v->kind == YAML_MAP)
            buf_addf(b, "%.*s: ", STR_F(c->key));
        put(b, c);
        buf_addz(b, c->next ? ", " : "");
    }
    buf_addc(b, v->kind == YAML_MAP ? '}' : ']');
}

/* SK-4 */
static void front_matter_forms_are_read(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "{}" },
        { "# only a comment\n", "{}" },
        { "a: 1\nb: yes\nc: null\nd:\n", "{a: 1, b: yes, c: null, d: }" },
        { "a: '1'\nb: \"x\\ty\"\n", "{a: '1', b: 'x\ty'}" },
        { "a: >-\n  one\n  two\nb: |\n  one\n  two\n", "{a: 'one two', b: 'one\ntwo\n'}" },
        { "a: [x, 'y, z', {k: v}]\n", "{a: [x, 'y, z', {k: v}]}" },
        { "a:\n  - x # c\n  - y\nb: {}\n", "{a: [x, y], b: {}}" },
        { "- a\n- b\n", "[a, b]" },
        { "just text\n", "just text" },
        { "a: \xC3\xA9\n", "{a: \xC3\xA9}" },
        /* SK-4: mended, and only where parsing failed */
        { "a: Use this: it helps\n", "{a: 'Use this: it helps'}" },
        { "a: it's: fine\nb: x\n", "{a: 'it's: fine', b: x}" },
        { "list:\n  - k: v: w\n", "{list: [{k: 'v: w'}]}" },
        { "a: b: c\nd: e: f\ng: h:\n", "{a: 'b: c', d: 'e: f', g: 'h:'}" },
        { "a: b: c\nd: |\n  k: v: w\ne: \"x\n  y: z: w\"\n",
          "{a: 'b: c', d: 'k: v: w\n', e: 'x y: z: w'}" },
        { "a: b: c\r\nd: e\r\n", "{a: 'b: c', d: e}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf got = BUF(4096);
        struct error e = { 0 };
        struct yaml *v = yaml_parse(&a, str_of(cases[i].text), &e);

        if (!v)
            fail_msg("%s: %s", cases[i].text, e.msg);
        put(&got, v);
        assert_string_equal(buf_z(&got), cases[i].want);
    }
}

/* SK-4: aliases are refused; what is wrong is named with its line. */
static void what_is_not_accepted_is_named(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "a: [x\n", "line " },
        { "a: &x 1\n", "line 1: anchors" },
        { "a: 1\nb: *x\n", "line 2: anchors" },
        { "a: !!str 1\n", "line 1: anchors" },
        { "a: 1\na: 2\n", "line 2: key 'a' is given twice" },
        { "[x]: 1\n", "line 1: a key must be" },
        { "a: 1\n---\nb: 2\n", "second document" },
        { "a: \"\xFF\"\n", "line " },
        { "a: b: c\nd: [x\n", "line 3: " }, /* not the line that was mended */
        { "[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]", "deeper than 16" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };

        if (yaml_parse(&a, str_of(cases[i].text), &e))
            fail_msg("accepted: %s", cases[i].text);
        if (!strstr(e.msg, cases[i].error))
            fail_msg("%s\ngot  %s\nwant %s", cases[i].text, e.msg, cases[i].error);
    }
}

static void values_and_bytes_are_bounded(void **state)
{
    auto_arena a = ARENA;
    auto_buf many = BUF(1 << 20), big = BUF(4 << 20);
    struct error e = { 0 };

    for (int i = 0; i <= YAML_MAX_NODES; i++)
        buf_addz(&many, "- x\n");
    assert_null(yaml_parse(&a, buf_str(&many), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_fill(&big, ' ', YAML_MAX_BYTES + 1);
    assert_null(yaml_parse(&a, buf_str(&big), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
}

static void lines_are_counted_from_one(void **state)
{
    auto_arena a = ARENA;
    const struct yaml *v = yaml_parse(&a, STR("a: 1\n\nb:\n  c: 2\n"), NULL);

    assert_int_equal(yaml_get(v, "a")->line, 1);
    assert_int_equal(yaml_get(yaml_get(v, "b"), "c")->line, 4);
    assert_null(yaml_get(v, "c"));
    assert_null(yaml_get(NULL, "c"));
    assert_true(str_is(yaml_str(yaml_get(v, "a")), "1"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_matter_forms_are_read),
        cmocka_unit_test(what_is_not_accepted_is_named),
        cmocka_unit_test(values_and_bytes_are_bounded),
        cmocka_unit_test(lines_are_counted_from_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
