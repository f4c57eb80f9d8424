/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON Schema to TypeScript, row by row (docs/spec/meta-server.md 5.1). Each case is one schema
 * and the type it must give, aliases first. */
#include "../check.h"

#include "meta/tsschema.h"

struct row {
    const char *id, *schema, *type;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        auto_arena a = ARENA;
        auto_json doc = { 0 };
        auto_buf text = BUF(1 << 20);
        struct ts_output o;
        struct ts_budget budget = { TS_MAX_NODES };
        const struct ts_type *t;

        assert_true(json_parse(&doc, str_of(rows[i].schema), NULL));
        ts_output_init(&o, &a);
        ts_output_reserve(&o, STR("taken"));
        t = ts_of_schema(&o, doc.root, doc.root, &budget);
        for (size_t k = 0; k < o.aliases.n; k++) {
            buf_addf(&text, "type %.*s = ", STR_F(o.aliases.v[k]->name));
            ts_print(&text, o.aliases.v[k]->body, 0);
            buf_addz(&text, "; ");
        }
        ts_print(&text, t, 0);
        for (size_t k = 0; k < text.n; k++)
            if (text.p[k] == '\n')
                text.p[k] = ' ';
        if (strcmp(buf_z(&text), rows[i].type))
            fail_msg("%s: %s\n  gives    %s\n  expected %s", rows[i].id, rows[i].schema,
                     buf_z(&text), rows[i].type);
        ts_output_done(&o);
    }
}

/* TS-1 to TS-7 */
static void simple_types_have_their_names(void **state)
{
    static const struct row rows[] = {
        { "TS-1", "{}", "unknown" },
        { "TS-1", "true", "unknown" },
        { "TS-1", "7", "unknown" },
        { "TS-1", "\"junk\"", "unknown" },
        { "TS-1", "null", "unknown" },
        { "TS-2", "false", "never" },
        { "TS-3",
          "{\"type\":\"string\",\"format\":\"uri\",\"pattern\":\"(a+)+$\",\"minLength\":2}",
          "string" },
        { "TS-4", "{\"type\":\"number\"}", "number" },
        { "TS-4", "{\"type\":\"integer\"}", "number" },
        { "TS-5", "{\"type\":\"boolean\"}", "boolean" },
        { "TS-5", "{\"type\":\"null\"}", "null" },
        { "TS-6", "{\"type\":[\"string\",\"null\"]}", "string | null" },
        { "TS-6", "{\"type\":[\"number\",\"integer\",\"string\"]}", "number | string" },
        { "TS-6", "{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"number\"}}",
          "string | number[]" },
        { "TS-7", "{\"type\":\"datetime\"}", "unknown" },
        { "TS-7", "{\"type\":5}", "unknown" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-8, TS-9 */
static void literals_are_structural(void **state)
{
    static const struct row rows[] = {
        { "TS-8", "{\"const\":\"a\\\"b\"}", "\"a\\\"b\"" },
        { "TS-8", "{\"const\":3}", "3" },
        { "TS-8", "{\"const\":-1.5}", "-1.5" },
        { "TS-8", "{\"const\":1e400}", "number" },
        { "TS-8", "{\"const\":null}", "null" },
        { "TS-8", "{\"const\":{\"a\":1}}", "{ a: 1; }" },
        { "TS-8", "{\"const\":[1,\"x\"]}", "[1, \"x\"]" },
        { "TS-8", "{\"const\":true,\"type\":\"string\"}", "true" },
        { "TS-9", "{\"enum\":[\"a\",\"b\",3,null]}", "\"a\" | \"b\" | 3 | null" },
        { "TS-9", "{\"enum\":[]}", "never" },
        { "TS-9", "{\"enum\":[\"a\",\"a\"],\"type\":\"number\"}", "\"a\"" },
        { "TS-9", "{\"enum\":[{\"k\":[1]},[true]]}", "{ k: [1]; } | [true]" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-9 */
static void a_wide_enum_becomes_its_base_types(void **state)
{
    auto_buf schema = BUF(1 << 16);

    (void)state;
    buf_addz(&schema, "{\"enum\":[");
    for (int i = 0; i <= TS_MAX_ENUM; i++)
        buf_addf(&schema, "\"v%d\",", i);
    buf_addz(&schema, "1]}");
    const struct row row = { "TS-9", buf_z(&schema), "string | number" };

    check_rows(&row, 1);
}

/* TS-10 to TS-12 */
static void arrays_and_tuples(void **state)
{
    static const struct row rows[] = {
        { "TS-10", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "string[]" },
        { "TS-10", "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"null\"]}}",
          "(string | null)[]" },
        { "TS-11", "{\"type\":\"array\"}", "unknown[]" },
        { "TS-11", "{\"type\":\"array\",\"items\":true}", "unknown[]" },
        { "TS-11", "{\"type\":\"array\",\"items\":false}", "[]" },
        { "TS-12",
          "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}]}",
          "[string, number]" },
        { "TS-12",
          "{\"type\":\"array\",\"items\":[{\"type\":\"string\"},{\"type\":\"number\"}]}",
          "[string, number]" },
        { "TS-12", "{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"number\"}}",
          "[string, ...number[]]" },
        { "TS-12",
          "{\"items\":[{\"type\":\"string\"}],\"additionalItems\":{\"type\":[\"number\","
          "\"null\"]}}",
          "[string, ...(number | null)[]]" },
        { "TS-12",
          "{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"minItems\":1}",
          "[string, number?]" },
        { "TS-12", "{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[string]" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-13 to TS-17, TS-29, TS-31 */
static void objects_and_records(void **state)
{
    static const struct row rows[] = {
        { "TS-13",
          "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
          "\"number\"}},"
          "\"required\":[\"a\"]}",
          "{   a: string;   b?: number; }" },
        { "TS-13", "{\"type\":\"object\",\"properties\":{}}", "{}" },
        { "TS-13", "{\"type\":\"object\",\"required\":[\"x\"]}", "{   x: unknown; }" },
        { "TS-13", "{\"properties\":{\"o\":{\"properties\":{\"i\":{\"type\":\"null\"}}}}}",
          "{   o?: {     i?: null;   }; }" },
        { "TS-14", "{\"properties\":{\"a\":true},\"additionalProperties\":false}",
          "{   a?: unknown; }" },
        { "TS-15", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
          "Record<string, string>" },
        { "TS-15", "{\"type\":\"object\",\"additionalProperties\":false}", "{}" },
        { "TS-15", "{\"type\":\"object\"}", "Record<string, unknown>" },
        { "TS-15",
          "{\"type\":\"object\",\"additionalProperties\":true,\"propertyNames\":{\"pattern\":"
          "\"^a\"}}",
          "Record<string, unknown>" },
        { "TS-16",
          "{\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":{\"type\":"
          "\"number\"}}",
          "{   a?: string;   [key: string]: unknown; }" },
        { "TS-17",
          "{\"patternProperties\":{\"^a\":{\"type\":\"string\"},\"^b\":{\"type\":\"number\"}}}",
          "Record<string, string | number>" },
        { "TS-17",
          "{\"properties\":{\"a\":{\"type\":\"string\"}},\"patternProperties\":{\"^b\":{"
          "\"type\":\"number\"}}}",
          "{   a?: string;   [key: string]: unknown; }" },
        { "TS-29", "{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\"}}}",
          "{   a: string; }" },
        { "TS-29", "{\"items\":{\"type\":\"string\"}}", "string[]" },
        { "TS-29", "{\"additionalProperties\":{\"type\":\"boolean\"}}",
          "Record<string, boolean>" },
        { "TS-31", "{\"properties\":{\"a-b\":true,\"class\":true,\"1x\":true,\"$ok\":true}}",
          "{   \"a-b\"?: unknown;   class?: unknown;   \"1x\"?: unknown;   $ok?: unknown; }" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-18 to TS-21 */
static void keywords_compose(void **state)
{
    static const struct row rows[] = {
        { "TS-18",
          "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}}},{\"properties\":{\"b\":{"
          "\"type\":\"number\"}}}]}",
          "{   a?: string; } & {   b?: number; }" },
        { "TS-18",
          "{\"properties\":{\"p\":true},\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}"
          "}}]}",
          "{   p?: unknown; } & {   a?: string; }" },
        { "TS-18", "{\"allOf\":[{\"type\":\"string\"}]}", "string" },
        { "TS-18",
          "{\"allOf\":[{\"type\":\"string\"},{\"type\":\"string\"},{\"minLength\":3}]}",
          "string" },
        { "TS-18",
          "{\"type\":\"object\",\"properties\":{\"a\":true},\"allOf\":[{\"required\":[\"a\"]}]"
          "}",
          "{   a?: unknown; }" },
        { "TS-19", "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}",
          "string | number" },
        { "TS-19", "{\"oneOf\":[{\"type\":\"string\"},{}]}", "unknown" },
        { "TS-19",
          "{\"properties\":{\"a\":{\"type\":\"string\"}},\"oneOf\":[{\"properties\":{\"b\":"
          "true}},{\"properties\":{\"c\":true}}]}",
          "{   a?: string; } & ({   b?: unknown; } | {   c?: unknown; })" },
        { "TS-19",
          "{\"properties\":{\"a\":true,\"b\":true},\"anyOf\":[{\"required\":[\"a\"]},{"
          "\"required\":[\"b\"]}]}",
          "{   a?: unknown;   b?: unknown; }" },
        { "TS-20", "{\"not\":{\"type\":\"string\"}}", "unknown" },
        { "TS-20",
          "{\"type\":\"string\",\"if\":{\"const\":\"x\"},\"then\":{\"maxLength\":3},\"else\":"
          "false}",
          "string" },
        { "TS-20", "{\"contains\":{\"type\":\"string\"},\"unevaluatedProperties\":false}",
          "unknown" },
        { "TS-21", "{\"type\":\"string\",\"nullable\":true}", "string | null" },
        { "TS-21", "{\"enum\":[\"a\"],\"nullable\":true}", "\"a\" | null" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-22, TS-24 to TS-28, TS-30 */
static void references_become_aliases(void **state)
{
    static const struct row rows[] = {
        { "TS-22", "{\"$ref\":\"#/$defs/X\",\"$defs\":{\"X\":{\"type\":\"string\"}}}",
          "type X = string; X" },
        { "TS-22",
          "{\"properties\":{\"a\":{\"$ref\":\"#/definitions/a~1b%20c\"}},\"definitions\":{\"a/"
          "b c\":{\"type\":\"null\"}}}",
          "type a_b_c = null; {   a?: a_b_c; }" },
        { "TS-22",
          "{\"items\":{\"$ref\":\"#node\"},\"$defs\":{\"N\":{\"$anchor\":\"node\",\"type\":"
          "\"number\"}}}",
          "type node = number; node[]" },
        { "TS-24",
          "{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"properties\":{\"next\":{\"$ref\":\"#/"
          "$defs/T\"}}}}}",
          "type T = {   next?: T; }; T" },
        { "TS-24", "{\"properties\":{\"children\":{\"items\":{\"$ref\":\"#\"}}}}",
          "type Root = {   children?: Root[]; }; {   children?: Root[]; }" },
        { "TS-24",
          "{\"$ref\":\"#/$defs/"
          "J\",\"$defs\":{\"J\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\","
          "\"additionalProperties\":{\"$ref\":\"#/$defs/J\"}}]}}}",
          "type J = string | { [key: string]: J; }; J" },
        { "TS-25",
          "{\"$ref\":\"#/$defs/"
          "S\",\"$defs\":{\"S\":{\"anyOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/S\"}]}}}",
          "type S = string; S" },
        { "TS-26",
          "{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":{\"$ref\":\"#/$defs/"
          "B\"},\"B\":{\"$ref\":\"#/$defs/A\"}}}",
          "type A = B; type B = unknown; A" },
        { "TS-26", "{\"$ref\":\"#\"}", "type Root = unknown; Root" },
        { "TS-27", "{\"$ref\":\"#/$defs/none\"}", "unknown" },
        { "TS-27", "{\"$ref\":\"https://example.com/s.json#/x\"}", "unknown" },
        { "TS-27", "{\"$ref\":\"file:///etc/passwd\"}", "unknown" },
        { "TS-27", "{\"$ref\":7}", "unknown" },
        { "TS-30", "{\"$ref\":\"#/$defs/string\",\"$defs\":{\"string\":{\"type\":\"string\"}}}",
          "type _string = string; _string" },
        { "TS-30", "{\"$ref\":\"#/$defs/1-a\",\"$defs\":{\"1-a\":{\"type\":\"string\"}}}",
          "type _1_a = string; _1_a" },
        { "TS-30", "{\"$ref\":\"#/$defs/taken\",\"$defs\":{\"taken\":{\"type\":\"string\"}}}",
          "type taken_2 = string; taken_2" },
        { "TS-22",
          "{\"$ref\":\"#/$defs/X\",\"nullable\":true,\"$defs\":{\"X\":{\"type\":\"string\"}}}",
          "type X = string; X | null" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-32, TS-33 */
static void comments_say_what_the_schema_says(void **state)
{
    static const struct row rows[] = {
        { "TS-32",
          "{\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"one\\n  two */ "
          "three\"}}}",
          "{   /** one two * / three */   a?: string; }" },
        { "TS-33",
          "{\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\",\"format\":\"uri\","
          "\"title\":\"T\"}}}",
          "{   /** @default \"x\" @format uri */   a?: string; }" },
        { "TS-33",
          "{\"properties\":{\"a\":{\"description\":\"d\",\"deprecated\":true,\"default\":"
          "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}}",
          "{   /** d @deprecated */   a?: unknown; }" },
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* TS-32: a long description ends with an ellipsis, within its limit of characters. */
static void long_comments_are_cut(void **state)
{
    auto_buf in = BUF(8192), out = BUF(8192);

    (void)state;
    for (int i = 0; i < 2000; i++)
        buf_addz(&in, "\xc3\xa4");
    ts_put_doc(&out, buf_str(&in), TS_DOC_PROPERTY_MAX);
    assert_int_equal(out.n, 2 * (TS_DOC_PROPERTY_MAX - 1) + 3);
}

/* TS-34 */
static void depth_and_size_are_bounded(void **state)
{
    auto_buf deep = BUF(1 << 20), wide = BUF(4 << 20);
    auto_arena a = ARENA;
    auto_json doc = { 0 };
    auto_buf text = BUF(8 << 20);
    struct ts_output o;
    struct ts_budget budget = { TS_MAX_NODES };

    (void)state;
    for (int i = 0; i < 100; i++)
        buf_addz(&deep, "{\"items\":");
    buf_addz(&deep, "{\"type\":\"string\"}");
    for (int i = 0; i < 100; i++)
        buf_addc(&deep, '}');
    assert_true(json_parse(&doc, buf_str(&deep), NULL));
    ts_output_init(&o, &a);
    ts_print(&text, ts_of_schema(&o, doc.root, doc.root, &budget), 0);
    assert_true(str_starts(buf_str(&text), STR("unknown[][]")));
    assert_int_equal(text.n, strlen("unknown") + 2 * (TS_MAX_DEPTH + 1));
    json_free(&doc);

    buf_addz(&wide, "{\"properties\":{");
    for (int i = 0; i < 2 * TS_MAX_NODES; i++)
        buf_addf(&wide, "%s\"p%d\":{\"type\":\"string\"}", i ? "," : "", i);
    buf_addz(&wide, "}}");
    assert_true(json_parse(&doc, buf_str(&wide), NULL));
    budget.nodes = TS_MAX_NODES;
    buf_clear(&text);
    ts_print(&text, ts_of_schema(&o, doc.root, doc.root, &budget), 0);
    assert_true(str_find(buf_str(&text), STR("p9990?: string")) != SIZE_MAX);
    assert_true(str_find(buf_str(&text), STR("p19999?: unknown")) != SIZE_MAX);
    ts_output_done(&o);
}

/* TS-23: one name with two bodies in one output; equal bodies share an alias, also when what
 * they refer to is equal. */
static void definitions_are_shared_by_body(void **state)
{
    static const char *const schemas[] = {
        "{\"$ref\":\"#/$defs/P\",\"$defs\":{\"P\":{\"items\":{\"$ref\":\"#/$defs/"
        "Q\"}},\"Q\":{\"type\":\"string\"}}}",
        "{\"$ref\":\"#/$defs/P\",\"$defs\":{\"P\":{\"items\":{\"$ref\":\"#/$defs/"
        "Q\"}},\"Q\":{\"type\":\"string\"},\"R\":{}}}",
        "{\"$ref\":\"#/$defs/P\",\"$defs\":{\"P\":{\"items\":{\"$ref\":\"#/$defs/"
        "Q\"}},\"Q\":{\"type\":\"number\"}}}",
    };
    static const char *const names[] = { "P", "P", "P_2" };
    auto_arena a = ARENA;
    struct ts_output o;

    (void)state;
    ts_output_init(&o, &a);
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
        struct json doc;
        auto_buf text = BUF(4096);
        struct ts_budget budget = { TS_MAX_NODES };

        assert_true(json_parse(&doc, str_of(schemas[i]), NULL));
        ts_print(&text, ts_of_schema(&o, doc.root, doc.root, &budget), 0);
        assert_string_equal(buf_z(&text), names[i]);
        json_free(&doc);
    }
    assert_int_equal(o.aliases.n, 4);
    ts_output_done(&o);
}

/* A server that has the same name for thousands of definitions keeps nobody waiting (MS-72). */
static void thousands_of_definitions_of_one_name_are_told_apart_quickly(void **state)
{
    enum { MANY = 3000 };
    auto_buf schema = BUF(1 << 20);
    auto_json doc = { 0 };
    auto_arena a = ARENA;
    struct ts_budget budget = { TS_MAX_NODES };
    struct ts_output o;
    int64_t began;

    buf_addz(&schema, "{\"properties\":{");
    for (int i = 0; i < MANY; i++)
        buf_addf(&schema, "%s\"p%d\":{\"$ref\":\"#/$defs/%d/Item\"}", i ? "," : "", i, i);
    buf_addz(&schema, "},\"$defs\":[");
    for (int i = 0; i < MANY; i++)
        buf_addf(&schema, "%s{\"Item\":{\"const\":%d}}", i ? "," : "", i);
    buf_addz(&schema, "]}");
    assert_true(json_parse(&doc, buf_str(&schema), NULL));
    ts_output_init(&o, &a);
    began = clock_ms();
    ts_of_schema(&o, doc.root, doc.root, &budget);
    assert_in_range(clock_ms() - began, 0, 50 * slack());
    assert_int_equal(o.aliases.n, MANY);
    assert_str(o.aliases.v[MANY - 1]->name, "Item_3000");
    ts_output_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_types_have_their_names),
        cmocka_unit_test(literals_are_structural),
        cmocka_unit_test(a_wide_enum_becomes_its_base_types),
        cmocka_unit_test(arrays_and_tuples),
        cmocka_unit_test(objects_and_records),
        cmocka_unit_test(keywords_compose),
        cmocka_unit_test(references_become_aliases),
        cmocka_unit_test(comments_say_what_the_schema_says),
        cmocka_unit_test(long_comments_are_cut),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(definitions_are_shared_by_body),
        cmocka_unit_test(thousands_of_definitions_of_one_name_are_told_apart_quickly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
