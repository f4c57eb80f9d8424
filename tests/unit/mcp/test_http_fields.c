/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "mcp/http_fields.h"

/* MCP-C16: mcp.md 5.4 */
static void values_that_a_header_cannot_hold_are_encoded(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "plain text, 7", "plain text, 7" },
        { "", "" },
        { "in\tside", "in\tside" },
        { "\tedge", "=?base64?CWVkZ2U=?=" },
        { "edge ", "=?base64?ZWRnZSA=?=" },
        { " ", "=?base64?IA==?=" },
        { "a\r\nb", "=?base64?YQ0KYg==?=" },
        { "\xc3\xa9", "=?base64?w6k=?=" },
        { "\x7f", "=?base64?fw==?=" },
        { "=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=" },
        { "=?base64?open", "=?base64?open" },
        { "=?BASE64?eA==?=", "=?BASE64?eA==?=" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(1 << 10);

        http_put_value(&out, str_of(rows[i].in));
        assert_string_equal(buf_z(&out), rows[i].out);
    }
}

#define PROP(note) "{\"type\":\"object\",\"properties\":{\"a\":" note "}}"

/* MCP-C16: what a schema's annotations give for {"a":..}, or the reason why the tool goes. */
static void annotations_follow_the_rules_or_cost_the_tool(void **state)
{
    static const struct {
        const char *schema, *arguments, *want;
    } rows[] = {
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"Region\"}"), "{\"a\":\"eu\"}",
          "Mcp-Param-Region: eu" },
        { PROP("{\"type\":\"integer\",\"x-mcp-header\":\"N\"}"), "{\"a\":42}",
          "Mcp-Param-N: 42" },
        { PROP("{\"type\":\"integer\",\"x-mcp-header\":\"N\"}"), "{\"a\":4e1}",
          "Mcp-Param-N: 40" },
        { PROP("{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"), "{\"a\":false}",
          "Mcp-Param-B: false" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"R\"}"), "{\"a\":null}", "" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"R\"}"), "{}", "" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"R\"}"), "{\"a\":[1]}", "" },
        { PROP(PROP("{\"type\":\"string\",\"x-mcp-header\":\"R\"}")), "{\"a\":{\"a\":\"x\"}}",
          "Mcp-Param-R: x" },
        { PROP("{\"type\":\"string\",\"default\":{\"x-mcp-header\":\"\"}}"), "{\"a\":\"x\"}",
          "" },
        { "{\"properties\":{\"x-mcp-header\":{\"type\":\"string\"}}}", "{}", "" },
        { "7", "{}", "" },
        { PROP("{\"type\":\"number\",\"x-mcp-header\":\"R\"}"), NULL, "something else" },
        { PROP("{\"x-mcp-header\":\"R\"}"), NULL, "something else" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"\"}"), NULL, "no name" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"a b\"}"), NULL, "no name" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":\"a:\\n\"}"), NULL, "no name" },
        { PROP("{\"type\":\"string\",\"x-mcp-header\":7}"), NULL, "no name" },
        { "{\"type\":\"string\",\"x-mcp-header\":\"R\"}", NULL, "plain property" },
        { PROP("{\"type\":\"array\",\"items\":{\"type\":\"string\",\"x-mcp-header\":\"R\"}}"),
          NULL, "plain property" },
        { "{\"anyOf\":[" PROP("{\"type\":\"string\",\"x-mcp-header\":\"R\"}") "]}", NULL,
          "plain property" },
        { "{\"$defs\":{\"d\":{\"type\":\"string\",\"x-mcp-header\":\"R\"}}}", NULL,
          "plain property" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"R\"},"
          "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"r\"}}}",
          NULL, "twice" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_json schema = { 0 }, arguments = { 0 };
        auto_buf out = BUF(1 << 10);
        struct tool_params p;
        struct error why;
        bool ok;

        parse(&schema, str_of(rows[i].schema));
        ok = tool_params_read(&p, schema.root, &why);
        if (ok != (rows[i].arguments != NULL))
            fail_msg("row %zu: %d %s", i, ok, ok ? "" : why.msg);
        if (!ok) {
            if (!strstr(why.msg, rows[i].want))
                fail_msg("row %zu: %s", i, why.msg);
            continue;
        }
        parse(&arguments, str_of(rows[i].arguments));
        for (size_t k = 0; k < p.n; k++) {
            auto_buf value = BUF(1 << 10);

            if (tool_param_value(&p.v[k], arguments.root, &value))
                buf_addf(&out, "%s: %s", p.v[k].field, buf_z(&value));
        }
        assert_string_equal(buf_z(&out), rows[i].want);
        tool_params_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_a_header_cannot_hold_are_encoded),
        cmocka_unit_test(annotations_follow_the_rules_or_cost_the_tool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
