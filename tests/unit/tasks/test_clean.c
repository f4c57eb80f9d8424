/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What models and people see of agents' text (TK-18). */
#include "../check.h"

#include "tasks/clean.h"

static void text_keeps_its_lines_and_loses_what_acts_on_a_terminal(void **state)
{
    static const struct {
        struct str in, out;
    } rows[] = {
        { BYTES("plain"), BYTES("plain") },
        { BYTES(""), BYTES("") },
        { BYTES("a\nb\n"), BYTES("a\nb\n") },
        { BYTES("a\tb"), BYTES("a\tb") },
        { BYTES("a\r\nb"), BYTES("a\nb") },
        { BYTES("10%\r20%"), BYTES("10% 20%") },
        { BYTES("\033[31mred\033[0m"), BYTES("red") },
        { BYTES("\033]0;title\007x"), BYTES("x") },
        { BYTES("a\0b\001c\177d"), BYTES("abcd") },
        { BYTES("\302\201x"), BYTES("x") },
        { BYTES("a\342\200\256b"), BYTES("ab") },
        { BYTES("a\377b"), BYTES("a\357\277\275b") },
        { BYTES("h\303\251llo \360\237\230\200"), BYTES("h\303\251llo \360\237\230\200") },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(1024);

        task_put_clean(&out, rows[i].in);
        assert_bytes(buf_str(&out), rows[i].out);
    }
}

static void every_string_and_key_of_json_is_cleaned(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "{\"a\":\"b\"}", "{\"a\":\"b\"}" },
        { "{\"a\":\"x\\ny\\t\\\"\\\\z\"}", "{\"a\":\"x\\ny\\t\\\"\\\\z\"}" },
        { "{\"a\":[\"\\u001b[2Jx\",{\"\\u0007k\":\"\\u0000v\"},1.50,true,null,{},[]]}",
          "{\"a\":[\"x\",{\"k\":\"v\"},1.50,true,null,{},[]]}" },
        { "{\"a\":\"\\u00e9\"}", "{\"a\":\"\303\251\"}" },
        { "{\"a\":\"\\bx\"}", "{\"a\":\"x\"}" },
        { "\"\303\251\"", "\"\303\251\"" },
        { "{\"a\":\"\\u001b\"", "null" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(1024);

        task_put_clean_json(&out, str_of(rows[i].in));
        assert_str(buf_str(&out), rows[i].out);
    }
}

static void the_deepest_document_is_cleaned_too(void **state)
{
    auto_buf in = BUF(4096), out = BUF(4096);

    (void)state;
    buf_fill(&in, '[', JSON_MAX_DEPTH);
    buf_addz(&in, "\"\\u0001\"");
    buf_fill(&in, ']', JSON_MAX_DEPTH);
    task_put_clean_json(&out, buf_str(&in));
    assert_int_equal(out.n, 2 * JSON_MAX_DEPTH + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_its_lines_and_loses_what_acts_on_a_terminal),
        cmocka_unit_test(every_string_and_key_of_json_is_cleaned),
        cmocka_unit_test(the_deepest_document_is_cleaned_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
