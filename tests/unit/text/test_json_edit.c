/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SY-6: edits by text span. Each row is a whole text before and after. */
#include "edit_check.h"

#include "text/json.h"
#include "text/json_edit.h"

#define ENTRY "{\"command\":\"symposium\",\"args\":[\"mcp-serve\"]}"

static bool remove_at(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e)
{
    (void)value;
    return json_edit_remove(out, text, at, e);
}

/* SY-4 */
static void a_value_is_put_where_its_neighbours_stand(void **state)
{
    static const struct edit_row rows[] = {
        { "an empty file", "", "mcpServers.symposium", ENTRY,
          "{\n  \"mcpServers\": {\n    \"symposium\": {\n      \"command\": \"symposium\",\n"
          "      \"args\": [\"mcp-serve\"]\n    }\n  }\n}\n" },
        { "a byte order mark alone", "\xef\xbb\xbf", "a", "1",
          "\xef\xbb\xbf{\n  \"a\": 1\n}\n" },
        { "an empty object", "{}", "a.b", "1", "{\n  \"a\": {\n    \"b\": 1\n  }\n}" },
        { "a container without values", "{\n\t\"m\": {}\n}\n", "m.s", "{\"c\":\"x\"}",
          "{\n\t\"m\": {\n\t\t\"s\": {\n\t\t\t\"c\": \"x\"\n\t\t}\n\t}\n}\n" },
        { "behind the last", "{\n    \"m\": {\n        \"a\": 1\n    }\n}\n", "m.s",
          "{\"c\":2}",
          "{\n    \"m\": {\n        \"a\": 1,\n        \"s\": {\n            \"c\": 2\n        "
          "}\n"
          "    }\n}\n" },
        { "CRLF", "{\r\n  \"a\": 1\r\n}\r\n", "b", "{\"c\":2}",
          "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 2\r\n  }\r\n}\r\n" },
        { "one line", "{\"a\": {\"b\": 1}}", "a.c", "{\"d\":[1,2]}",
          "{\"a\": {\"b\": 1, \"c\": {\"d\": [1, 2]}}}" },
        { "one line, empty", "{\"a\":{}}\n", "a.c", "true", "{\"a\":{\"c\": true}}\n" },
        { "a comma behind the last stays one", "{\n  \"a\": 1,\n}\n", "b", "2",
          "{\n  \"a\": 1,\n  \"b\": 2,\n}\n" },
        { "a remark stays with its value", "{\n  \"a\": 1 // one\n}\n", "b", "2",
          "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n" },
        { "and behind its comma", "{\n  \"a\": 1, /* one */ // and\n  // more\n}\n", "b", "2",
          "{\n  \"a\": 1, /* one */ // and\n  \"b\": 2,\n  // more\n}\n" },
        { "a comment over lines", "{\n  \"a\": 1 /* one\n  two */\n}\n", "b", "2",
          "{\n  \"a\": 1, /* one\n  two */\n  \"b\": 2\n}\n" },
        { "a container with comments alone", "{\n  // servers\n}\n", "b", "2",
          "{\n  // servers\n  \"b\": 2\n}\n" },
        { "a value that differs", "{\n  \"a\": /* x */ \"old\" , \"b\": 2}", "a", "\"new\"",
          "{\n  \"a\": /* x */ \"new\" , \"b\": 2}" },
        { "the same value in another layout", "{\"a\": [ 1,2 ] , \"b\": {\"y\":1,\"x\":2}}",
          "b", "{\"x\":2,\"y\":1}", "{\"a\": [ 1,2 ] , \"b\": {\"y\":1,\"x\":2}}" },
        { "of duplicate keys the last", "{\"a\": 1, \"a\": 2}", "a", "3",
          "{\"a\": 1, \"a\": 3}" },
        { "escapes in keys", "{\"\\u0061\": 1}", "a", "2", "{\"\\u0061\": 2}" },
        { "a bracket in a string or comment is none",
          "{\n  // }\n  \"a\": \"}\\\"{\" /* ] */\n}\n", "b", "2",
          "{\n  // }\n  \"a\": \"}\\\"{\", /* ] */\n  \"b\": 2\n}\n" },
        { "an element", "{\"a\": [1, 2]}", "a.1", "3", "{\"a\": [1, 3]}" },
        { "an element that is not there", "{\"a\": [1]}", "a.1", "1", NULL, "longer" },
        { "no container", "{\n \"m\": []}", "m.s", "1", NULL,
          "line 2, column 7: 'm' must be an object" },
        { "no object at all", "[]", "m", "1", NULL, "'the document' must be an object" },
        { "no JSON", "{\"a\": }", "m", "1", NULL, "line 1" },
        { "truncated", "{\n \"a\": {", "m", "1", NULL, "line 2" },
    };

    check_edits(json_edit_set, rows, ARRAY_LEN(rows));
}

static void elements_are_added_at_the_end(void **state)
{
    static const struct edit_row rows[] = {
        { "no array yet", "{}", "h.E", "{\"c\":1}",
          "{\n  \"h\": {\n    \"E\": [\n      {\n        \"c\": 1\n      }\n    ]\n  }\n}" },
        { "behind the last", "{\n  \"a\": [\n    1\n  ]\n}\n", "a", "2",
          "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n" },
        { "in one line", "{\n  \"a\": [1]\n}\n", "a", "2", "{\n  \"a\": [1, 2]\n}\n" },
        { "behind a comment that a carriage return ends", "{\"a\": [// x\r]}", "a", "2",
          "{\"a\": [// x\n  2\n]}" },
        { "no array", "{\"a\": {}}", "a", "1", NULL, "'a' must be an array" },
    };

    check_edits(json_edit_append, rows, ARRAY_LEN(rows));
}

/* SY-9 */
static void a_value_goes_with_its_comma_and_line(void **state)
{
    static const struct edit_row rows[] = {
        { "the first", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "", "{\n  \"b\": 2\n}\n" },
        { "the last", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "", "{\n  \"a\": 1\n}\n" },
        { "the last, where a comma follows", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "b", "",
          "{\n  \"a\": 1,\n}\n" },
        { "the only one", "{\n  \"a\": 1\n}\n", "a", "", "{\n}\n" },
        { "several lines", "{\r\n  \"a\": {\r\n    \"x\": 1\r\n  },\r\n  \"b\": 2\r\n}\r\n",
          "a", "", "{\r\n  \"b\": 2\r\n}\r\n" },
        { "in one line", "{\"a\": 1, \"b\": 2, \"c\": 3}", "b", "", "{\"a\": 1, \"c\": 3}" },
        { "the last in one line", "{\"a\": 1, \"b\": 2}", "b", "", "{\"a\": 1}" },
        { "the only one in one line", "{\"a\": 1}", "a", "", "{}" },
        { "its remark stays: it may be about more", "{\n  \"a\": 1, // note\n  \"b\": 2\n}\n",
          "a", "", "{\n  // note\n  \"b\": 2\n}\n" },
        { "all of one name", "{\"a\": 1, \"b\": 2, \"a\": 3}", "a", "", "{\"b\": 2}" },
        { "an element", "{\"a\": [1, 2, 3]}", "a.0", "", "{\"a\": [2, 3]}" },
        { "absent", "{\"a\": 1}", "x.y", "", "{\"a\": 1}" },
        { "behind a byte order mark", UTF8_BOM "{\n  \"a\": 1\n}\n", "a", "",
          UTF8_BOM "{\n}\n" },
        { "of another kind", "{\"a\": 1}", "a.y", "", "{\"a\": 1}" },
    };

    check_edits(remove_at, rows, ARRAY_LEN(rows));
}

static void a_text_of_too_many_values_is_refused(void **state)
{
    auto_buf text = BUF((size_t)8 << 20), out = BUF((size_t)16 << 20);
    struct error e = { 0 };

    buf_addz(&text, "{\"x\":[0");
    for (size_t i = 0; i < 2000000; i++)
        buf_addz(&text, ",0");
    buf_addz(&text, "]}");
    assert_false(json_edit_set(&out, buf_str(&text), EDIT_AT({ "a" }), STR("1"), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_int_equal(out.n, 0);
}

static void a_key_that_is_there_endlessly_is_left(void **state)
{
    auto_buf text = BUF(1 << 20), out = BUF(1 << 20);
    struct error e = { 0 };

    buf_addz(&text, "{\"a\":0");
    for (size_t i = 0; i < 20000; i++)
        buf_addz(&text, ",\"a\":0");
    buf_addz(&text, "}");
    assert_false(json_edit_remove(&out, buf_str(&text), EDIT_AT({ "a" }), &e));
    assert_string_equal(e.msg, "'a' is there more than 16 times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_put_where_its_neighbours_stand),
        cmocka_unit_test(elements_are_added_at_the_end),
        cmocka_unit_test(a_value_goes_with_its_comma_and_line),
        cmocka_unit_test(a_text_of_too_many_values_is_refused),
        cmocka_unit_test(a_key_that_is_there_endlessly_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
