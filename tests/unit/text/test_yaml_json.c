/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/yaml_json.h"

/* SK-30: what a client that reads the file itself finds in it. */
static void plain_scalars_get_the_type_of_the_core_schema(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        { "word", "\"word\"" },
        { "'1'", "\"1\"" },
        { "\"null\"", "\"null\"" },
        { "", "null" },
        { "~", "null" },
        { "Null", "null" },
        { "nULL", "\"nULL\"" },
        { "true", "true" },
        { "FALSE", "false" },
        { "yes", "\"yes\"" },
        { "1", "1" },
        { "-12", "-12" },
        { "+7", "7" },
        { "007", "7" },
        { "1.0", "1" },
        { "1.", "1" },
        { ".5", "0.5" },
        { "-.5e1", "-5" },
        { "1e3", "1000" },
        { "1e400", "\"1e400\"" },
        { ".", "\".\"" },
        { "-", "[null]" },
        { "1.0.0", "\"1.0.0\"" },
        { "1e", "\"1e\"" },
        { "0o17", "15" },
        { "0o8", "\"0o8\"" },
        { "0x1F", "31" },
        { "0x", "\"0x\"" },
        { ".inf", "\".inf\"" },
        { "2026-11-30", "\"2026-11-30\"" },
        { "99999999999999999999", "100000000000000000000" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(256), out = BUF(256);
        struct jw w = jw_to(&out);
        const struct yaml *v;

        buf_addf(&text, "k: %s\n", cases[i].text);
        if (str_is(str_of(cases[i].text), "-")) {
            buf_clear(&text);
            buf_addz(&text, "k:\n  -\n");
        }
        v = yaml_get(yaml_parse(&a, buf_str(&text), NULL), "k");
        assert_non_null(v);
        yaml_put_json(&w, v);
        assert_string_equal(buf_z(&out), cases[i].json);
        assert_int_equal(yaml_is_null(v), strcmp(cases[i].json, "null") == 0);
    }
}

static void maps_and_lists_keep_their_order(void **state)
{
    auto_arena a = ARENA;
    auto_buf out = BUF(256);
    struct jw w = jw_to(&out);

    yaml_put_json(&w, yaml_parse(&a, STR("z: [1, {y: x}]\na: >\n  b\n  c\n1: {}\n"), NULL));
    assert_string_equal(buf_z(&out), "{\"z\":[1,{\"y\":\"x\"}],\"a\":\"b c\\n\",\"1\":{}}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars_get_the_type_of_the_core_schema),
        cmocka_unit_test(maps_and_lists_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
