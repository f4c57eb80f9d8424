/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The words of `symposium call` (CL-1). */
#include "../check.h"

#include "cli/values.h"

static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"s\":{\"type\":\"string\"},\"n\":{\"type\":\"number\"},\"i\":{\"type\":\"integer\"},"
    "\"b\":{\"type\":\"boolean\"},\"o\":{\"type\":\"object\"},\"a\":{\"type\":\"array\"},"
    "\"z\":{\"type\":\"null\"},\"any\":{\"description\":\"no type\"},\"yes\":true,"
    "\"ns\":{\"type\":[\"string\",\"null\"]},\"u\":{\"anyOf\":[{\"type\":\"boolean\"},{"
    "\"type\":\"array\"}]},"
    "\"r\":{\"$ref\":\"#/$defs/Count\"},\"loop\":{\"$ref\":\"#/$defs/Loop\"}},"
    "\"$defs\":{\"Count\":{\"type\":\"integer\"},\"Loop\":{\"$ref\":\"#/$defs/Loop\"}}}";

static bool convert(struct buf *out, const char *pair, struct error *e)
{
    auto_json schema = { 0 };

    assert_true(json_parse(&schema, str_of(schema_text), e));
    return values_put(out, schema.root, &pair, 1, (struct str){ 0 }, e);
}

static void CL_1_a_value_is_converted_by_the_type_of_its_property(void **state)
{
    static const struct {
        const char *pair, *json;
    } cases[] = {
        { "s=42", "{\"s\":\"42\"}" },
        { "s=", "{\"s\":\"\"}" },
        { "s=a=b \"c\"", "{\"s\":\"a=b \\\"c\\\"\"}" },
        { "n=1.50", "{\"n\":1.50}" },
        { "n=-2e3", "{\"n\":-2e3}" },
        { "i=123456789012345678", "{\"i\":123456789012345678}" },
        { "i=2.0", "{\"i\":2.0}" },
        { "b=true", "{\"b\":true}" },
        { "b=false", "{\"b\":false}" },
        { "o={\"k\": [1]}", "{\"o\":{\"k\":[1]}}" },
        { "a=[\"x\", {}]", "{\"a\":[\"x\",{}]}" },
        { "z=null", "{\"z\":null}" },
        { "any=42", "{\"any\":\"42\"}" },
        { "any={\"k\":1}", "{\"any\":\"{\\\"k\\\":1}\"}" },
        { "yes=true", "{\"yes\":\"true\"}" },
        { "unknown=7", "{\"unknown\":\"7\"}" },
        { "ns=null", "{\"ns\":null}" },
        { "ns=nulls", "{\"ns\":\"nulls\"}" },
        { "u=true", "{\"u\":true}" },
        { "u=[1]", "{\"u\":[1]}" },
        { "r=3", "{\"r\":3}" },
        { "loop=3", "{\"loop\":\"3\"}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf out = BUF(VALUES_MAX_BYTES);
        struct error e = { 0 };

        if (!convert(&out, cases[i].pair, &e))
            fail_msg("%s: %s", cases[i].pair, e.msg);
        assert_str(buf_str(&out), cases[i].json);
    }
}

static void CL_1_a_value_that_does_not_convert_is_an_error_that_names_key_and_type(void **state)
{
    static const struct {
        const char *pair, *message;
    } cases[] = {
        { "n=x", "'n' must be a number, not 'x'" },
        { "n=", "'n' must be a number, not ''" },
        { "n=\"1\"", "'n' must be a number, not '\"1\"'" },
        { "n=0x10", "'n' must be a number, not '0x10'" },
        { "i=1.5", "'i' must be an integer, not '1.5'" },
        { "b=1", "'b' must be true or false (boolean), not '1'" },
        { "b=True", "'b' must be true or false (boolean), not 'True'" },
        { "o=[1]", "'o' must be a JSON object, not '[1]'" },
        { "a={}", "'a' must be a JSON array, not '{}'" },
        { "a=1,2", "'a' must be a JSON array, not '1,2'" },
        { "z=0", "'z' must be null, not '0'" },
        { "u=x", "'u' must be true or false (boolean) or a JSON array, not 'x'" },
        { "r=many", "'r' must be an integer, not 'many'" },
        { "s", "'s' is not key=value; a JSON object goes behind --json" },
        { "=s", "'=s' is not key=value; a JSON object goes behind --json" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf out = BUF(VALUES_MAX_BYTES);
        struct error e = { 0 };

        if (convert(&out, cases[i].pair, &e))
            fail_msg("%s gave %s", cases[i].pair, buf_z(&out));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_string_equal(e.msg, cases[i].message);
    }
}

static void without_a_schema_every_value_is_a_string(void **state)
{
    static const char *const pairs[] = { "a=1", "b=true" };
    auto_buf out = BUF(VALUES_MAX_BYTES);
    struct error e;

    (void)state;
    assert_true(values_put(&out, NULL, pairs, 2, (struct str){ 0 }, &e));
    assert_str(buf_str(&out), "{\"a\":\"1\",\"b\":\"true\"}");
}

/* Eight references to itself at each level would be 8^16 visits. */
static void a_schema_that_branches_without_end_costs_nothing(void **state)
{
    static const char text[] =
        "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/T\"}},\"$defs\":{\"T\":{\"anyOf\":["
        "{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"},"
        "{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"},"
        "{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"}]}}}";
    static const char *const pairs[] = { "x=1" };
    auto_buf out = BUF(VALUES_MAX_BYTES);
    auto_json schema = { 0 };
    int64_t began = clock_ms();
    struct error e;

    (void)state;
    assert_true(json_parse(&schema, str_of(text), &e));
    assert_true(values_put(&out, schema.root, pairs, 1, (struct str){ 0 }, &e));
    assert_str(buf_str(&out), "{\"x\":\"1\"}");
    assert_true(clock_ms() - began < 20 * slack());
}

static void pairs_are_added_to_the_object_of_json(void **state)
{
    static const struct {
        const char *json, *pairs[2];
        size_t n;
        const char *out; /* NULL: refused */
    } cases[] = {
        { "{}", { 0 }, 0, "{}" },
        { "", { 0 }, 0, "{}" },
        { "{\"a\": 1e2, \"b\": {\"c\": []}}", { 0 }, 0, "{\"a\":1e2,\"b\":{\"c\":[]}}" },
        { "{\"a\":1}", { "b=2" }, 1, "{\"a\":1,\"b\":\"2\"}" },
        { "{\"a\":1}", { "a=2" }, 1, NULL },
        { "", { "a=2", "a=3" }, 2, NULL },
        { "{\"a\":1", { 0 }, 0, NULL },
        { "[1]", { 0 }, 0, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf out = BUF(VALUES_MAX_BYTES);
        struct error e = { 0 };
        bool ok = values_put(&out, NULL, cases[i].pairs, cases[i].n, str_of(cases[i].json), &e);

        assert_int_equal(ok, cases[i].out != NULL);
        if (ok)
            assert_str(buf_str(&out), cases[i].out);
        else
            assert_int_equal(e.kind, ERR_INVALID);
    }
}

static void arguments_over_the_bound_are_refused(void **state)
{
    char *pair = mem_alloc(VALUES_MAX_BYTES + 16);
    auto_buf out = BUF(VALUES_MAX_BYTES);
    const char *pairs[] = { pair };
    struct error e;

    (void)state;
    memset(pair, 'x', VALUES_MAX_BYTES + 15);
    pair[1] = '=';
    assert_false(values_put(&out, NULL, pairs, 1, (struct str){ 0 }, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    free(pair);
}

/* The longest server name or global before a '.' wins; the rest is the tool, dots and all. */
static void CL_1_the_server_is_the_longest_prefix_before_a_dot(void **state)
{
    static struct catalog_server servers[] = {
        { .name = { "git", 3 }, .global = { "git", 3 } },
        { .name = { "git.hub", 7 }, .global = { "git_hub", 7 } },
        { .name = { "my-fs", 5 }, .global = { "my_fs", 5 } },
    };
    static const struct {
        const char *target;
        int server; /* -1: none */
        const char *tool;
    } cases[] = {
        { "git.status", 0, "status" },
        { "git.hub", 0, "hub" },
        { "git.hub.search", 1, "search" },
        { "git_hub.search", 1, "search" },
        { "git.log.all", 0, "log.all" },
        { "my-fs.read_file", 2, "read_file" },
        { "my_fs.readFile", 2, "readFile" },
        { "gi.status", -1, NULL },
        { "git", -1, NULL },
        { "git.", -1, NULL },
        { "github.x", -1, NULL },
        { ".x", -1, NULL },
        { "", -1, NULL },
    };
    struct catalog c = { .v = servers, .n = ARRAY_LEN(servers) };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str tool;
        struct error e = { 0 };
        const struct catalog_server *s = values_target(&c, str_of(cases[i].target), &tool, &e);

        if (cases[i].server < 0) {
            assert_null(s);
            assert_int_equal(e.kind, ERR_NOT_FOUND);
            assert_non_null(strstr(e.msg, "servers: git, git.hub, my-fs"));
        } else {
            assert_ptr_equal(s, &servers[cases[i].server]);
            assert_str(tool, cases[i].tool);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(CL_1_a_value_is_converted_by_the_type_of_its_property),
        cmocka_unit_test(
            CL_1_a_value_that_does_not_convert_is_an_error_that_names_key_and_type),
        cmocka_unit_test(without_a_schema_every_value_is_a_string),
        cmocka_unit_test(a_schema_that_branches_without_end_costs_nothing),
        cmocka_unit_test(pairs_are_added_to_the_object_of_json),
        cmocka_unit_test(arguments_over_the_bound_are_refused),
        cmocka_unit_test(CL_1_the_server_is_the_longest_prefix_before_a_dot),
    };

    return cmocka_run_group_tests_name("cli/values", tests, NULL, NULL);
}
