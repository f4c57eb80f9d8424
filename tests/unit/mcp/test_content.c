/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pure parts: revisions, the shallow walk, reading results (MS-47), the example messages of
 * 2026-07-28. */
#include "support.h"

#include <dirent.h>

#include "base/file.h"
#include "base/path.h"
#include "mcp/content.h"
#include "mcp/shallow.h"
#include "rpc/message.h"

static void revisions_have_names_and_an_alias(void **state)
{
    static const struct {
        const char *name;
        int rev;
    } rows[] = {
        { "2024-11-05", MCP_2024_11_05 },
        { "2024-10-07", MCP_2024_11_05 },
        { "2025-03-26", MCP_2025_03_26 },
        { "2025-06-18", MCP_2025_06_18 },
        { "2025-11-25", MCP_2025_11_25 },
        { "2026-07-28", MCP_2026_07_28 },
        { "", -1 },
        { "2026-07-2", -1 },
        { "2026-07-288", -1 },
        { "draft", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum mcp_rev rev = MCP_2025_06_18;

        assert_int_equal(mcp_rev_parse(str_of(rows[i].name), &rev), rows[i].rev >= 0);
        if (rows[i].rev >= 0)
            assert_int_equal(rev, rows[i].rev);
    }
    for (int rev = 1; rev < MCP_REV_COUNT;
         rev++) /* they compare as strings (mcp.md section 0) */
        assert_true(strcmp(mcp_rev_info(rev - 1)->name, mcp_rev_info(rev)->name) < 0);
}

static void the_walk_gives_each_member_as_written(void **state)
{
    static const struct {
        const char *text, *members;
    } rows[] = {
        { "{}", "" },
        { " { } ", "" },
        { "{\"a\":1}", "a=1;" },
        { "{ \"a\" : 1 , \"b\":[1,{\"c\":\"}\"}] }", "a=1;b=[1,{\"c\":\"}\"}];" },
        { "{\"q\\\"\":\"x\\\\\",\"\":\"\"}", "q\\\"=\"x\\\\\";=\"\";" },
        { "{\"a\":\"\\\\\\\"\",\"b\":null}", "a=\"\\\\\\\"\";b=null;" },
        { "{\"a\":{\"b\":{}},\"c\":-1.5e3\n}", "a={\"b\":{}};c=-1.5e3;" },
        /* not ours, but it must end */
        { "", "" },
        { "[1]", "" },
        { "{\"a\"", "" },
        { "{\"a\":", "" },
        { "{\"a\":\"x", "a=\"x;" },
        { "{\"a\":[[", "a=[[;" },
        { "{\"a", "" },
        { "{a:1}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf got = BUF(4096);

        for (struct shallow m = shallow_of(str_of(rows[i].text)); shallow_next(&m);) {
            buf_addf(&got, "%.*s=%.*s;", STR_F(m.key), STR_F(m.val));
            assert_true(m.text.p + m.text.n == m.val.p + m.val.n && m.text.p[0] == '"');
        }
        assert_string_equal(buf_z(&got), rows[i].members);
    }
}

/* MS-47, in its order. */
static void the_result_ladder(void **state)
{
#define BLOCK(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
    static const struct {
        const char *result;
        enum mcp_value_kind kind;
        const char *value;
    } rows[] = {
        { "{\"isError\":true,\"content\":[" BLOCK("a") "," BLOCK(
              "b") "],\"structuredContent\":{}}",
          MCP_VALUE_ERROR, "a\nb" },
        { "{\"isError\":true,\"content\":[]}", MCP_VALUE_ERROR, "tool failed" },
        { "{\"isError\":true}", MCP_VALUE_ERROR, "tool failed" },
        { "{\"isError\":true,\"content\":[{\"type\":\"image\"}," BLOCK("why") "]}",
          MCP_VALUE_ERROR, "why" },
        { "{\"isError\":\"true\",\"content\":[" BLOCK("a") "]}", MCP_VALUE_TEXT, "a" },
        { "{\"structuredContent\":{\"n\":1.50},\"content\":[" BLOCK("a") "]}", MCP_VALUE_JSON,
          "{\"n\":1.50}" },
        { "{\"structuredContent\":null,\"content\":[]}", MCP_VALUE_JSON, "null" },
        { "{\"content\":[" BLOCK("a") "," BLOCK("b") "]}", MCP_VALUE_TEXT, "a\nb" },
        { "{\"content\":[" BLOCK(" [1,2.0] ") "]}", MCP_VALUE_JSON, "[1,2.0]" },
        { "{\"content\":[" BLOCK("{\\\"a\\\":") "," BLOCK("1}") "]}", MCP_VALUE_JSON,
          "{\"a\":1}" },
        { "{\"content\":[" BLOCK("{\\\"a\\\":1} tail") "]}", MCP_VALUE_TEXT, "{\"a\":1} tail" },
        { "{\"content\":[" BLOCK("true") "]}", MCP_VALUE_TEXT, "true" },
        { "{\"content\":[" BLOCK("123456789012345678901234567890") "]}", MCP_VALUE_TEXT,
          "123456789012345678901234567890" },
        { "{\"content\":[" BLOCK("") "]}", MCP_VALUE_TEXT, "" },
        { "{\"content\":[]}", MCP_VALUE_TEXT, "" },
        { "{}", MCP_VALUE_TEXT, "" },
        { "{\"content\":[" BLOCK("a") ",{\"type\":\"image\",\"data\":\"AA\"}]}", MCP_VALUE_JSON,
          "[" BLOCK("a") ",{\"type\":\"image\",\"data\":\"AA\"}]" },
        { "{\"content\":[{\"type\":\"text\",\"text\":5}]}", MCP_VALUE_JSON,
          "[{\"type\":\"text\",\"text\":5}]" },
        { "{\"content\":\"odd\"}", MCP_VALUE_JSON, "\"odd\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        auto_json j = { 0 };
        struct mcp_value v;

        parse(&j, str_of(rows[i].result));
        v = mcp_value_of(&a, j.root);
        assert_int_equal(v.kind, rows[i].kind);
        if (!str_is(v.kind == MCP_VALUE_JSON ? v.json : v.text, rows[i].value))
            fail_msg("%s: '%.*s'", rows[i].result,
                     STR_F(v.kind == MCP_VALUE_JSON ? v.json : v.text));
        assert_int_equal(v.structured, strstr(rows[i].result, "structuredContent") &&
                                           v.kind == MCP_VALUE_JSON);
    }
}

static void text_results(void **state)
{
    auto_buf b = BUF(256);

    mcp_put_text_result(&b, STR("a\"\n"), false);
    assert_string_equal(buf_z(&b), "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"\\n\"}]}");
    buf_clear(&b);
    mcp_put_text_result(&b, STR(""), true);
    assert_string_equal(buf_z(&b),
                        "{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"isError\":true}");
}

/* mcp.md 6.1: the wrap rule moves local pointers, leaves anchors, foreign references, data, and
 * schemas with a base. */
static void a_wrapped_schema_keeps_its_references(void **state)
{
    static const struct {
        const char *schema, *wrapped;
    } rows[] = {
        { "{\"$ref\":\"#\"}", "{\"$ref\":\"#/properties/result\"}" },
        { "{\"anyOf\":[{\"$ref\":\"#/a\"},{\"$ref\":\"#anchor\"},{\"$ref\":\"http://x#/a\"}]}",
          "{\"anyOf\":[{\"$ref\":\"#/properties/result/"
          "a\"},{\"$ref\":\"#anchor\"},{\"$ref\":\"http://x#/a\"}]}" },
        { "{\"type\":\"array\",\"const\":{\"$ref\":\"#/a\"}}",
          "{\"type\":\"array\",\"const\":{\"$ref\":\"#/a\"}}" },
        { "{\"$id\":\"x\",\"$ref\":\"#/a\"}", "{\"$id\":\"x\",\"$ref\":\"#/a\"}" },
        { "true", "true" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char tool[512], want[512];
        auto_json j = { 0 };
        auto_buf out = BUF(4096);

        snprintf(tool, sizeof tool, "{\"name\":\"t\",\"outputSchema\":%s}", rows[i].schema);
        snprintf(want, sizeof want,
                 "{\"name\":\"t\",\"outputSchema\":{\"type\":\"object\",\"properties\":{"
                 "\"result\":%s},\"required\":[\"result\"]}}",
                 rows[i].wrapped);
        parse(&j, str_of(tool));
        mcp_put_tool(&out, j.root, MCP_2025_11_25);
        assert_string_equal(buf_z(&out), want);
        buf_clear(&out);
        mcp_put_tool(&out, j.root, MCP_2026_07_28);
        assert_string_equal(buf_z(&out), tool);
    }
}

/* A definition from elsewhere may be nested as deep as JSON may be. */
static void deep_definitions_do_no_harm(void **state)
{
    auto_buf tool = BUF(4096), out = BUF(16384);
    auto_json j = { 0 };

    buf_addz(&tool, "{\"name\":\"t\",\"resource\":{\"resource\":{}},\"outputSchema\":");
    buf_fill(&tool, '[', 120);
    buf_fill(&tool, ']', 120);
    buf_addz(&tool, "}");
    parse(&j, buf_str(&tool));
    for (int rev = 0; rev < MCP_REV_COUNT; rev++) {
        buf_clear(&out);
        mcp_put_tool(&out, j.root, (enum mcp_rev)rev);
        mcp_put_resource(&out, j.root, (enum mcp_rev)rev);
        mcp_put_result(&out, j.root, (enum mcp_rev)rev);
        assert_false(out.over);
    }
}

/* ---- golden: the published examples ---- */

static void same_after(const char *file, yyjson_val *v,
                       void (*put)(struct buf *, yyjson_val *, enum mcp_rev))
{
    auto_buf want = BUF(1 << 20), out = BUF(1 << 20), got = BUF(1 << 20);
    auto_json again = { 0 };

    json_put_canonical(&want, v);
    put(&out, v, MCP_2026_07_28);
    parse(&again, buf_str(&out));
    json_put_canonical(&got, again.root);
    if (!str_eq(buf_str(&want), buf_str(&got)))
        fail_msg("%s changed: %s", file, buf_z(&got));
}

/* A file with "jsonrpc" is a whole message; Tool and CallToolResult go through the writers and
 * come out the same. */
static void check_example(const char *type, const char *file, yyjson_val *v)
{
    struct rpc_doc doc = { .refs = 1 };
    struct rpc_msg m;
    struct error e;

    if (json_get(v, "jsonrpc")) {
        if (!rpc_msg_read(&m, &doc, v, &e))
            fail_msg("%s: %s", file, e.msg);
        rpc_msg_done(&m);
    }
    if (strcmp(type, "Tool") == 0)
        same_after(file, v, mcp_put_tool);
    else if (strcmp(type, "CallToolResult") == 0)
        same_after(file, v, mcp_put_result);
    else if (strcmp(type, "CallToolResultResponse") == 0)
        same_after(file, json_get(v, "result"), mcp_put_result);
}

static unsigned check_type(struct arena *a, const char *root, const char *type)
{
    char *dir = path_join(a, root, type);
    DIR *d = opendir(dir);
    unsigned n = 0;

    for (struct dirent *entry; d && (entry = readdir(d));) {
        auto_buf text = BUF(1 << 20);
        auto_json j = { 0 };
        struct error e;

        if (!str_ends(str_of(entry->d_name), STR(".json")))
            continue;
        if (!file_read(path_join(a, dir, entry->d_name), &text, &e))
            fail_msg("%s", e.msg);
        parse(&j, buf_str(&text));
        check_example(type, entry->d_name, j.root);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

static void every_example_of_2026_07_28_is_read_and_written(void **state)
{
    struct arena a = ARENA;
    const char *shared = getenv("SYMPOSIUM_SHARED");
    char *root = path_join(&a, shared ? shared : "../shared", "data/mcp-schema/examples");
    DIR *d = opendir(root);
    unsigned n = 0;

    if (!d) {
        print_message("skipped: every_example_of_2026_07_28_is_read_and_written (no %s)\n",
                      root);
        arena_free(&a); /* skip() does not come back */
        skip();
    }
    for (struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            n += check_type(&a, root, entry->d_name);
    closedir(d);
    arena_free(&a);
    assert_true(n > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revisions_have_names_and_an_alias),
        cmocka_unit_test(the_walk_gives_each_member_as_written),
        cmocka_unit_test(the_result_ladder),
        cmocka_unit_test(text_results),
        cmocka_unit_test(a_wrapped_schema_keeps_its_references),
        cmocka_unit_test(deep_definitions_do_no_harm),
        cmocka_unit_test(every_example_of_2026_07_28_is_read_and_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
