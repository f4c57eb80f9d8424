/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* MS-49: a declared outputSchema against a value. */
#include "../check.h"

#include "text/schema.h"

/* Letters: f fits, m mismatch, u unchecked. */
struct schema_case {
    const char *schema, *value;
    char want;
};

static char letter(enum schema_result r)
{
    return r == SCHEMA_OK ? 'f' : r == SCHEMA_MISMATCH ? 'm' : 'u';
}

static char outcome(struct str schema, struct str value)
{
    auto_json s = { 0 }, v = { 0 };
    struct error e;

    if (!json_parse(&s, schema, &e) || !json_parse(&v, value, &e))
        fail_msg("%s", e.msg);
    return letter(schema_check(s.root, s.root, v.root));
}

static void assert_outcomes(const struct schema_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char got = outcome(str_of(c[i].schema), str_of(c[i].value));

        if (got != c[i].want)
            fail_msg("%s against %s: '%c' instead of '%c'", c[i].value, c[i].schema, got,
                     c[i].want);
    }
}

#define CHECK(name, ...)                                           \
    static void name(void **state)                                 \
    {                                                              \
        static const struct schema_case cases[] = { __VA_ARGS__ }; \
                                                                   \
        assert_outcomes(cases, ARRAY_LEN(cases));                  \
    }

/* clang-format off */
CHECK(types_are_told_apart,
    { "{}", "1", 'f' },
    { "true", "1", 'f' },                               { "false", "1", 'm' },
    { "{\"type\":\"object\"}", "{}", 'f' },             { "{\"type\":\"object\"}", "[]", 'm' },
    { "{\"type\":\"string\"}", "\"x\"", 'f' },          { "{\"type\":\"string\"}", "1", 'm' },
    { "{\"type\":\"null\"}", "null", 'f' },             { "{\"type\":\"boolean\"}", "false", 'f' },
    { "{\"type\":\"boolean\"}", "0", 'm' },             { "{\"type\":\"number\"}", "1.5", 'f' },
    { "{\"type\":\"integer\"}", "1", 'f' },             { "{\"type\":\"integer\"}", "1.0", 'f' },
    { "{\"type\":\"integer\"}", "1.5", 'm' },           { "{\"type\":\"integer\"}", "1e30", 'f' },
    { "{\"type\":\"integer\"}", "123456789012345678901234567890", 'f' },
    { "{\"type\":[\"string\",\"null\"]}", "null", 'f' },
    { "{\"type\":[\"string\",\"null\"]}", "1", 'm' },
    { "{\"type\":\"string\",\"nullable\":true}", "null", 'f' },
    { "{\"type\":\"string\",\"nullable\":false}", "null", 'm' },
    { "{\"enum\":[1],\"nullable\":true}", "null", 'f' })

CHECK(constants_are_compared_by_value,
    { "{\"const\":1}", "1.0", 'f' },                    { "{\"const\":1}", "true", 'm' },
    { "{\"const\":\"1\"}", "1", 'm' },                  { "{\"const\":0}", "-0", 'f' },
    { "{\"const\":{\"a\":1,\"b\":[2]}}", "{\"b\":[2.0],\"a\":1}", 'f' },
    { "{\"const\":{\"a\":1}}", "{\"a\":1,\"b\":2}", 'm' },
    { "{\"const\":{\"a\":1,\"b\":2}}", "{\"a\":1}", 'm' },
    { "{\"const\":{\"a\":1}}", "{\"a\":2,\"a\":1}", 'f' },
    { "{\"const\":{\"a\":1}}", "{\"a\":1,\"a\":2}", 'm' },
    { "{\"const\":[1,2]}", "[2,1]", 'm' },              { "{\"const\":[]}", "[]", 'f' },
    { "{\"const\":9007199254740993}", "9007199254740992", 'm' },
    { "{\"const\":1e400}", "1e401", 'm' },              { "{\"const\":1e400}", "1e400", 'f' },
    { "{\"const\":[true,null]}", "[true,null]", 'f' },   { "{\"const\":[true]}", "[false]", 'm' },
    { "{\"const\":{\"a\":1,\"a\":2}}", "{\"a\":2}", 'f' },
    { "{\"enum\":[\"a\",1,null]}", "null", 'f' },       { "{\"enum\":[\"a\",1]}", "\"b\"", 'm' },
    { "{\"enum\":[]}", "1", 'm' })

CHECK(numbers_have_bounds,
    { "{\"minimum\":1}", "1", 'f' },                    { "{\"minimum\":1}", "0.5", 'm' },
    { "{\"maximum\":1}", "1", 'f' },                    { "{\"maximum\":1}", "1e400", 'm' },
    { "{\"exclusiveMinimum\":1}", "1", 'm' },           { "{\"exclusiveMinimum\":1}", "2", 'f' },
    { "{\"exclusiveMaximum\":1}", "1", 'm' },           { "{\"exclusiveMaximum\":1}", "0", 'f' },
    { "{\"minimum\":1,\"exclusiveMinimum\":true}", "1", 'm' },
    { "{\"minimum\":1,\"exclusiveMinimum\":false}", "1", 'f' },
    { "{\"maximum\":1,\"exclusiveMaximum\":true}", "1", 'm' },
    { "{\"minimum\":9007199254740993}", "9007199254740992", 'm' },
    { "{\"minimum\":1}", "\"x\"", 'f' },
    { "{\"multipleOf\":3}", "9", 'f' },                 { "{\"multipleOf\":3}", "10", 'm' },
    { "{\"multipleOf\":0.1}", "0.3", 'f' },             { "{\"multipleOf\":0.1}", "0.35", 'm' },
    { "{\"multipleOf\":0.01}", "1e400", 'f' },
    { "{\"maximum\":1,\"exclusiveMinimum\":1,\"exclusiveMaximum\":1,\"multipleOf\":2}", "\"x\"", 'f' })

CHECK(lengths_are_counted_in_characters_and_members,
    { "{\"minLength\":2}", "\"\xc3\xa9\"", 'm' },       { "{\"minLength\":1}", "\"\xc3\xa9\"", 'f' },
    { "{\"maxLength\":1}", "\"\xf0\x9f\x98\x80\"", 'f' }, { "{\"maxLength\":1}", "\"ab\"", 'm' },
    { "{\"minItems\":1}", "[]", 'm' },                  { "{\"maxItems\":1}", "[1,2]", 'm' },
    { "{\"minProperties\":1}", "{}", 'm' },             { "{\"maxProperties\":1}", "{\"a\":1}", 'f' },
    { "{\"maxProperties\":0}", "{\"a\":1}", 'm' },      { "{\"minItems\":1.0}", "[1]", 'f' },
    { "{\"minItems\":5}", "{}", 'f' })

CHECK(objects_are_checked_by_member,
    { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":\"x\",\"b\":1}", 'f' },
    { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", 'm' },
    { "{\"properties\":{\"a\":false}}", "{}", 'f' },
    { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1,\"a\":\"x\"}", 'f' },
    { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "[1]", 'f' },
    { "{\"required\":[\"a\"]}", "{\"a\":null}", 'f' },  { "{\"required\":[\"a\"]}", "{}", 'm' },
    { "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1}", 'f' },
    { "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"b\":1}", 'm' },
    { "{\"additionalProperties\":{\"type\":\"number\"}}", "{\"x\":1}", 'f' },
    { "{\"additionalProperties\":{\"type\":\"number\"}}", "{\"x\":\"1\"}", 'm' },
    { "{\"propertyNames\":{\"maxLength\":2}}", "{\"ab\":1}", 'f' },
    { "{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}", 'm' },
    { "{\"required\":[\"a\"],\"propertyNames\":false,\"dependentRequired\":{\"a\":[\"b\"]},\"additionalProperties\":false}", "[]", 'f' },
    { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", 'm' },
    { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"c\":1}", 'f' },
    { "{\"dependentSchemas\":{\"a\":{\"minProperties\":2}}}", "{\"a\":1}", 'm' },
    { "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"minProperties\":2}}}", "{\"a\":1,\"b\":1}", 'f' },
    { "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"minProperties\":2}}}", "{\"c\":1}", 'm' })

CHECK(arrays_are_checked_by_element,
    { "{\"items\":{\"type\":\"number\"}}", "[1,2]", 'f' },
    { "{\"items\":{\"type\":\"number\"}}", "[1,\"2\"]", 'm' },
    { "{\"items\":false}", "[]", 'f' },                 { "{\"items\":false}", "[1]", 'm' },
    { "{\"prefixItems\":[{\"type\":\"number\"},{\"type\":\"string\"}]}", "[1,\"x\",true]", 'f' },
    { "{\"prefixItems\":[{\"type\":\"number\"},{\"type\":\"string\"}]}", "[1]", 'f' },
    { "{\"prefixItems\":[{\"type\":\"number\"}]}", "[\"x\"]", 'm' },
    { "{\"prefixItems\":[true],\"items\":{\"type\":\"string\"}}", "[1,\"x\"]", 'f' },
    { "{\"prefixItems\":[true],\"items\":{\"type\":\"string\"}}", "[1,2]", 'm' },
    { "{\"items\":[{\"type\":\"number\"}],\"additionalItems\":false}", "[1]", 'f' },
    { "{\"items\":[{\"type\":\"number\"}],\"additionalItems\":false}", "[1,2]", 'm' },
    { "{\"items\":[{\"type\":\"number\"}]}", "[\"x\"]", 'm' },
    { "{\"additionalItems\":false}", "[1]", 'f' },
    { "{\"prefixItems\":[false],\"additionalItems\":false,\"contains\":false,\"uniqueItems\":true}", "{}", 'f' },
    { "{\"contains\":{\"const\":1}}", "[0,1]", 'f' },   { "{\"contains\":{\"const\":1}}", "[0]", 'm' },
    { "{\"contains\":{\"const\":1},\"minContains\":2}", "[1,1]", 'f' },
    { "{\"contains\":{\"const\":1},\"minContains\":2}", "[1]", 'm' },
    { "{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]", 'm' },
    { "{\"contains\":{\"const\":1},\"minContains\":0}", "[]", 'f' },
    { "{\"uniqueItems\":true}", "[1,\"1\",[1],{\"a\":1},true,null]", 'f' },
    { "{\"uniqueItems\":true}", "[1,1.0]", 'm' },
    { "{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", 'm' },
    { "{\"uniqueItems\":true}", "[{\"a\":0,\"a\":1},{\"a\":1}]", 'm' },
    { "{\"uniqueItems\":true}", "[[0],[-0]]", 'm' },
    { "{\"uniqueItems\":false}", "[1,1]", 'f' })

CHECK(combinations_follow_logic,
    { "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "2", 'f' },
    { "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "4", 'm' },
    { "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "4", 'f' },
    { "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "2", 'm' },
    { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":3}]}", "2", 'f' },
    { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":3}]}", "4", 'm' },
    { "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":3}]}", "2.5", 'm' },
    { "{\"not\":{\"type\":\"string\"}}", "1", 'f' },    { "{\"not\":{\"type\":\"string\"}}", "\"x\"", 'm' },
    { "{\"if\":{\"minimum\":3},\"then\":{\"maximum\":5},\"else\":{\"const\":0}}", "4", 'f' },
    { "{\"if\":{\"minimum\":3},\"then\":{\"maximum\":5},\"else\":{\"const\":0}}", "6", 'm' },
    { "{\"if\":{\"minimum\":3},\"then\":{\"maximum\":5},\"else\":{\"const\":0}}", "1", 'm' },
    { "{\"if\":{\"minimum\":3}}", "1", 'f' },           { "{\"then\":false}", "1", 'f' })

CHECK(local_references_are_followed,
    { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}", "\"x\"", 'f' },
    { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}", "1", 'm' },
    { "{\"$ref\":\"#/definitions/a%20b~1c~0d\",\"definitions\":{\"a b/c~d\":{\"type\":\"string\"}}}", "1", 'm' },
    { "{\"$ref\":\"#foo\",\"$defs\":{\"a\":{\"$anchor\":\"foo\",\"type\":\"string\"}}}", "1", 'm' },
    { "{\"$ref\":\"#foo\",\"definitions\":{\"a\":{\"$id\":\"#foo\",\"type\":\"string\"}}}", "1", 'm' },
    { "{\"properties\":{\"next\":{\"$ref\":\"#\"},\"v\":{\"type\":\"number\"}}}", "{\"v\":1,\"next\":{\"next\":{\"v\":2}}}", 'f' },
    { "{\"properties\":{\"next\":{\"$ref\":\"#\"},\"v\":{\"type\":\"number\"}}}", "{\"v\":1,\"next\":{\"next\":{\"v\":\"2\"}}}", 'm' },
    { "{\"prefixItems\":[{\"type\":\"string\"},{\"$ref\":\"#/prefixItems/0\"}]}", "[\"a\",1]", 'm' },
    { "{\"$ref\":\"#/x/y\",\"x\":{\"y\":{\"type\":\"string\"}}}", "1", 'm' },
    { "{\"$ref\":\"#/allOf/7\",\"allOf\":[true]}", "1", 'u' },
    { "{\"$ref\":\"#/allOf/x\",\"allOf\":[true]}", "1", 'u' },
    { "{\"$id\":7}", "1", 'u' },
    /* beside a reference, keywords count since 2019-09, and not before */
    { "{\"$ref\":\"#/$defs/a\",\"minimum\":3,\"$defs\":{\"a\":true}}", "1", 'm' },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"#/$defs/a\",\"minimum\":3,\"$defs\":{\"a\":true}}", "1", 'f' })

CHECK(what_does_not_compile_is_unchecked,
    { "{\"type\":\"text\"}", "1", 'u' },                { "{\"type\":1}", "1", 'u' },
    { "{\"properties\":[]}", "1", 'u' },                { "{\"properties\":{\"a\":1}}", "{}", 'u' },
    { "{\"required\":true}", "{}", 'u' },               { "{\"required\":[1]}", "{}", 'u' },
    { "{\"minItems\":-1}", "[]", 'u' },                 { "{\"minItems\":1.5}", "[]", 'u' },
    { "{\"multipleOf\":0}", "1", 'u' },                 { "{\"multipleOf\":1e-400}", "1", 'u' },
    { "{\"allOf\":[]}", "1", 'u' },                     { "{\"allOf\":{}}", "1", 'u' },
    { "{\"pattern\":1}", "1", 'u' },                    { "{\"uniqueItems\":1}", "[]", 'u' },
    { "{\"enum\":1}", "1", 'u' },                       { "[]", "1", 'u' }, { "null", "1", 'u' },
    { "{\"properties\":{\"deep\":{\"items\":{\"not\":7}}}}", "{}", 'u' },
    { "{\"unevaluatedProperties\":false}", "{}", 'u' }, { "{\"$dynamicRef\":\"#x\"}", "{}", 'u' },
    { "{\"$ref\":\"#/x/y\",\"x\":{\"y\":{\"type\":7}}}", "1", 'u' },
    { "{\"$ref\":\"#/nowhere\"}", "1", 'u' },           { "{\"$ref\":\"#nowhere\"}", "1", 'u' },
    { "{\"$ref\":\"#/%zz\"}", "1", 'u' },               { "{\"$ref\":\"#/a~2\",\"a~2\":{}}", "1", 'u' },
    { "{\"$ref\":1}", "1", 'u' },
    { "{\"$id\":\"http://h/x\",\"$defs\":{\"a\":{\"$id\":\"y\"}}}", "1", 'u' },
    { "{\"$id\":\"http://h/x\",\"type\":\"string\"}", "1", 'm' },
    { "{\"title\":7,\"x-own\":[],\"format\":\"date\",\"default\":{}}", "\"x\"", 'f' })

/* SEC-42: nothing is fetched. */
CHECK(remote_references_are_unchecked,
    { "{\"$ref\":\"http://h.example/s.json\"}", "1", 'u' },
    { "{\"$ref\":\"file:///etc/passwd\"}", "1", 'u' },
    { "{\"$ref\":\"other.json#/a\"}", "1", 'u' },
    { "{\"properties\":{\"never\":{\"$ref\":\"http://h.example/s.json\"}}}", "{}", 'u' })

/* SEC-43: the answer is neither yes nor no, and stays so through logic. */
CHECK(patterns_are_never_run_and_never_the_reason_for_a_mismatch,
    { "{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"", 'f' },
    { "{\"pattern\":\"(\"}", "\"x\"", 'f' },
    { "{\"not\":{\"pattern\":\"x\"}}", "\"x\"", 'f' },
    { "{\"type\":\"number\",\"pattern\":\"x\"}", "\"x\"", 'm' },
    { "{\"anyOf\":[{\"pattern\":\"x\"},{\"type\":\"number\"}]}", "\"y\"", 'f' },
    { "{\"oneOf\":[{\"pattern\":\"x\"},{\"pattern\":\"y\"}]}", "\"z\"", 'f' },
    { "{\"oneOf\":[{\"pattern\":\"x\"},true,true]}", "\"z\"", 'm' },
    { "{\"if\":{\"pattern\":\"x\"},\"then\":false}", "\"z\"", 'f' },
    { "{\"if\":{\"pattern\":\"x\"},\"then\":false,\"else\":false}", "\"z\"", 'm' },
    { "{\"contains\":{\"pattern\":\"x\"}}", "[\"z\"]", 'f' },
    { "{\"contains\":{\"pattern\":\"x\"}}", "[1]", 'f' },
    { "{\"patternProperties\":{\"^x\":{\"type\":\"number\"}}}", "{\"xa\":\"s\"}", 'f' },
    { "{\"patternProperties\":{\"^x\":true},\"additionalProperties\":false}", "{\"xa\":1}", 'f' },
    { "{\"not\":{\"patternProperties\":{\"^x\":true}}}", "{\"xa\":1}", 'f' },
    { "{\"patternProperties\":{\"^x\":true},\"required\":[\"a\"]}", "{\"xa\":1}", 'm' },
    { "{\"propertyNames\":{\"pattern\":\"^x\"}}", "{\"a\":1}", 'f' })
/* clang-format on */

/* MS-48: the wrapper is taken off, references still resolve in the whole schema. */
static void a_part_is_checked_within_its_document(void **state)
{
    auto_json s = { 0 }, v = { 0 };
    yyjson_val *inner;

    assert_true(
        json_parse(&s,
                   STR("{\"properties\":{\"result\":{\"items\":{\"$ref\":\"#/$defs/P\"}}},"
                       "\"$defs\":{\"P\":{\"type\":\"string\"}}}"),
                   NULL));
    assert_true(json_parse(&v, STR("[\"a\",1]"), NULL));
    inner = json_path(s.root, "properties.result");
    assert_int_equal(schema_check(s.root, inner, v.root), SCHEMA_MISMATCH);
    assert_int_equal(schema_check(s.root, inner, json_at(v.root, 0)), SCHEMA_OK);
    assert_int_equal(schema_check(NULL, NULL, v.root), SCHEMA_UNCHECKED);
    assert_int_equal(schema_check(s.root, inner, NULL), SCHEMA_UNCHECKED);
}

/* SEC-42: schemas that would recurse or multiply without end stop, soon, and without a verdict.
 */
static void hostile_schemas_end_unchecked(void **state)
{
    static const struct schema_case cases[] = {
        { "{\"$ref\":\"#\"}", "1", 'u' },
        { "{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1", 'u' },
        { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/"
          "b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
          "1", 'u' },
        { "{\"not\":{\"not\":{\"$ref\":\"#\"}}}", "1", 'u' },
        { "{\"oneOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1", 'u' },
        { "{\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]},\"type\":\"array\"}",
          "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", 'u' },
    };
    int64_t before = clock_ms();

    assert_outcomes(cases, ARRAY_LEN(cases));
    assert_true(clock_ms() - before < 200 * slack());
}

static void large_inputs_end_soon_whatever_the_outcome(void **state)
{
    auto_buf value = BUF(20 << 20), schema = BUF(20 << 20);
    int64_t before;

    buf_addc(&value, '[');
    for (int i = 0; i < 1000000; i++)
        buf_addf(&value, i ? ",%d" : "%d", i % 3);
    buf_addc(&value, ']');
    buf_addz(&schema, "{\"allOf\":[{\"$ref\":\"#\"}");
    for (int i = 0; i < 90000; i++)
        buf_addz(&schema, ",true");
    buf_addz(&schema, "]}");
    before = clock_ms();
    assert_int_equal(outcome(STR("{\"items\":{\"type\":\"number\"}}"), buf_str(&value)), 'u');
    assert_int_equal(outcome(STR("{\"uniqueItems\":true}"), buf_str(&value)), 'u');
    assert_int_equal(outcome(STR("{\"contains\":{\"const\":9}}"), buf_str(&value)), 'u');
    assert_int_equal(outcome(buf_str(&schema), STR("1")), 'u');
    assert_true(clock_ms() - before < 500 * slack()); /* most of it parses the texts */
}

/* One member of `many` (20,000 of it) asks for work on all of a long text. */
static void long_texts_count_as_the_work_they_are(void **state)
{
    static const struct {
        const char *what, *head, *many, *tail, *value_head, *value_tail;
    } cases[] = {
        { "characters", "{\"allOf\":[true", ",{\"minLength\":1000000}", "]}", "\"", "\"" },
        { "constants", "{\"$defs\":{\"a\":{\"const\":\"@\"}},\"allOf\":[true",
          ",{\"$ref\":\"#/$defs/a\"}", "]}", "\"", "\"" },
        { "numbers", "{\"allOf\":[true", ",{\"minimum\":5}", "]}", "1", "" },
        { "bounds", "{\"$defs\":{\"a\":{\"minimum\":1@}},\"allOf\":[true",
          ",{\"$ref\":\"#/$defs/a\"}", "]}", "3", "" },
        { "names", "{\"$defs\":{\"a\":{\"properties\":{\"@\":true}}},\"allOf\":[true",
          ",{\"$ref\":\"#/$defs/a\"}", "]}", "{\"", "\":1}" },
        { "references", "{\"$defs\":{\"@\":{}},\"allOf\":[true",
          ",{\"$ref\":\"#/properties/long\"}",
          "],\"properties\":{\"long\":"
          "{\"$ref\":\"#/$defs/@\"}}}",
          "\"", "\"" },
    };
    auto_buf digits = BUF(2 << 20), value = BUF(4 << 20), schema = BUF(8 << 20);

    buf_fill(&digits, '7', 1500000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *parts[] = { cases[i].head, NULL, cases[i].tail };
        int64_t before;

        buf_clear(&schema);
        for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
            struct str head, rest = str_of(parts[k]);

            for (int n = 0; !parts[k] && n < 20000; n++)
                buf_addz(&schema, cases[i].many);
            while (str_cut(rest, '@', &head, &rest)) {
                buf_add(&schema, head);
                buf_add(&schema, buf_str(&digits));
            }
            buf_add(&schema, rest);
        }
        buf_clear(&value);
        buf_addz(&value, cases[i].value_head);
        buf_add(&value, buf_str(&digits));
        buf_addz(&value, cases[i].value_tail);
        before = clock_ms();
        if (outcome(buf_str(&schema), buf_str(&value)) != 'u')
            fail_msg("%s", cases[i].what);
        if (clock_ms() - before > 200 * slack()) /* most of it parses the texts */
            fail_msg("%s: %d ms", cases[i].what, (int)(clock_ms() - before));
    }
}

/* What a text's length says without counting costs nothing. */
static void lengths_of_long_results_are_checked(void **state)
{
    static const char *const schema =
        "{\"type\":\"string\",\"minLength\":1,\"maxLength\":20000000}";
    auto_buf value = BUF(16 << 20);

    buf_addc(&value, '"');
    buf_fill(&value, 'x', 10000000);
    buf_addc(&value, '"');
    assert_int_equal(outcome(str_of(schema), buf_str(&value)), 'f');
    assert_int_equal(outcome(STR("{\"maxLength\":1000}"), buf_str(&value)), 'm');
    assert_int_equal(outcome(STR("{\"minLength\":9000000}"), buf_str(&value)), 'f');
    assert_int_equal(outcome(STR("{\"minLength\":10000001}"), buf_str(&value)), 'm');
}

static void ordinary_sizes_are_checked(void **state)
{
    static const char *const schema =
        "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"object\","
        "\"required\":[\"id\",\"name\"],\"additionalProperties\":false,\"properties\":{"
        "\"id\":{\"type\":\"integer\",\"minimum\":0},\"name\":{\"type\":\"string\"},"
        "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}}";
    auto_buf value = BUF(4 << 20);

    buf_addc(&value, '[');
    for (int i = 0; i < 5000; i++)
        buf_addf(&value, "%s{\"id\":%d,\"name\":\"n%d\",\"tags\":[\"a\",\"b\"]}", i ? "," : "",
                 i, i);
    buf_addc(&value, ']');
    assert_int_equal(outcome(str_of(schema), buf_str(&value)), 'f');
    buf_clear(&value);
    buf_addz(&value, "[");
    for (int i = 0; i < 5000; i++)
        buf_addf(&value, "%s{\"id\":%d,\"name\":\"n\"}", i ? "," : "", i % 4999);
    buf_addc(&value, ']');
    assert_int_equal(outcome(str_of(schema), buf_str(&value)),
                     'm'); /* the last equals the first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_told_apart),
        cmocka_unit_test(constants_are_compared_by_value),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(lengths_are_counted_in_characters_and_members),
        cmocka_unit_test(objects_are_checked_by_member),
        cmocka_unit_test(arrays_are_checked_by_element),
        cmocka_unit_test(combinations_follow_logic),
        cmocka_unit_test(local_references_are_followed),
        cmocka_unit_test(what_does_not_compile_is_unchecked),
        cmocka_unit_test(remote_references_are_unchecked),
        cmocka_unit_test(patterns_are_never_run_and_never_the_reason_for_a_mismatch),
        cmocka_unit_test(a_part_is_checked_within_its_document),
        cmocka_unit_test(hostile_schemas_end_unchecked),
        cmocka_unit_test(large_inputs_end_soon_whatever_the_outcome),
        cmocka_unit_test(long_texts_count_as_the_work_they_are),
        cmocka_unit_test(lengths_of_long_results_are_checked),
        cmocka_unit_test(ordinary_sizes_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
