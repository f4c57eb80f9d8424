/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Declarations of whole servers (MS-18, MS-23 to MS-28). */
#include "../check.h"

#include "meta/tsdecl.h"

static void declare(struct buf *out, const char *global, const char *tools,
                    enum list_detail detail)
{
    static const struct tool_filter all = { 0 };
    struct toolset set;
    struct names n;
    struct decl_server s = { str_of(global), &n, NULL };

    assert_true(toolset_load(&set, str_of(tools), NULL));
    names_build(&n, &set, &all);
    tsdecl_put(out, &s, 1, detail, &s.global, 1);
    names_free(&n);
    toolset_free(&set);
}

struct row {
    const char *tools, *full, *signatures;
};

/* MS-18, MS-23, MS-24, MS-25, MS-26, MS-27 */
static void methods_follow_their_schemas(void **state)
{
    static const struct row rows[] = {
        { "{\"name\":\"none\"}", "  none(): Promise<unknown>;\n", NULL },
        { "{\"name\":\"none\",\"inputSchema\":{\"type\":\"object\"}}",
          "  none(): Promise<unknown>;\n", NULL },
        { "{\"name\":\"opt\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}",
          "  opt(params?: {\n    a?: string;\n  }): Promise<unknown>;\n",
          "  opt(params?: object): Promise<unknown>;\n" },
        { "{\"name\":\"req\",\"description\":\"Does\\nit.\",\"inputSchema\":{\"properties\":{"
          "\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},"
          "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}},"
          "\"required\":[\"n\"]}}",
          "  /** Does it. */\n  req(params: {\n    a: string;\n  }): Promise<{\n    n: "
          "number;\n  }>;\n",
          "  req(params: object): Promise<object>;\n" },
        { "{\"name\":\"a-b\",\"outputSchema\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"string\"}}}",
          "  \"a-b\"(): Promise<string[]>;\n  /** Alias for a-b. */\n  a_b(): "
          "Promise<string[]>;\n",
          NULL },
        { "{\"name\":\"new\"}", "  \"new\"(): Promise<unknown>;\n", NULL },
        { "{\"name\":\"then\"}", "  /** Alias for then. */\n  then_(): Promise<unknown>;\n",
          NULL },
        /* MS-48: the wrapped type is what the call gives. */
        { "{\"name\":\"w\",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"result\":{"
          "\"type\":\"number\"}}}}",
          "  w(): Promise<number>;\n", NULL },
        /* A root that is a reference, and one composed of parts, decide about parameters as
           what they stand for (TS-28). */
        { "{\"name\":\"u\",\"inputSchema\":{\"type\":\"object\",\"anyOf\":[{\"properties\":{"
          "\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},"
          "{\"properties\":{\"b\":{\"type\":\"string\"}},\"required\":[\"b\"]}]}}",
          "  u(params: {\n    a: string;\n  } | {\n    b: string;\n  }): Promise<unknown>;\n",
          "  u(params: object): Promise<unknown>;\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf tools = BUF(4096), out = BUF(8192), want = BUF(8192);

        buf_addf(&tools, "[%s]", rows[i].tools);
        declare(&out, "srv", buf_z(&tools), DETAIL_FULL);
        buf_addf(&want, "declare const srv: {\n%s};\n", rows[i].full);
        assert_string_equal(buf_z(&out), buf_z(&want));
        if (!rows[i].signatures)
            continue;
        buf_clear(&out);
        buf_clear(&want);
        declare(&out, "srv", buf_z(&tools), DETAIL_SIGNATURES);
        buf_addf(&want, "declare const srv: {\n%s};\n", rows[i].signatures);
        assert_string_equal(buf_z(&out), buf_z(&want));
    }
}

/* TS-28: a root reference is resolved before MS-26, and still printed by its name. */
static void a_root_reference_decides_and_is_hoisted(void **state)
{
    auto_buf out = BUF(8192);

    (void)state;
    declare(&out, "srv",
            "[{\"name\":\"t\",\"inputSchema\":{\"$ref\":\"#/$defs/"
            "In\",\"$defs\":{\"In\":{\"type\":\"object\",\"properties\":"
            "{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}}}}]",
            DETAIL_FULL);
    assert_string_equal(buf_z(&out), "type In = {\n  a: string;\n};\ndeclare const srv: {\n  "
                                     "t(params: In): Promise<unknown>;\n};\n");
}

/* MS-65, SEC-34, SEC-36, SEC-37: names and descriptions of a hostile server stay inside their
 * comment and quotes. */
static void hostile_text_cannot_break_out(void **state)
{
    auto_buf out = BUF(1 << 16);

    (void)state;
    declare(&out, "srv",
            "[{\"name\":\"x*/\\n\\\"\\u202e\\u001b[2J\",\"description\":\"a */ } declare "
            "global { \\u001b]8;;evil\\u0007 \\u009b2J b\"}]",
            DETAIL_FULL);
    assert_null(strstr(buf_z(&out), "a */"));
    assert_null(strchr(buf_z(&out), 0x1b));
    assert_non_null(strstr(buf_z(&out), "\"x*/\\u000a\\\"\\u202e\\u001b[2J\"("));
    assert_non_null(strstr(buf_z(&out), "a * / } declare global {"));
    assert_null(strstr(buf_z(&out), "\xc2\x9b"));
    assert_null(strstr(buf_z(&out), "\xe2\x80\xae"));
}

/* Sanitizers make the rendering twenty times as slow. */
#ifdef SYM_SANITIZED
#define LARGE_TOOLS 500
#else
#define LARGE_TOOLS 5000
#endif

/* TS-34, SEC-42: 5,000 tools of 20 KB schema with recursion and references everywhere; the
 * bound itself is in the bench. */
static void five_thousand_large_tools_are_declared(void **state)
{
    auto_buf tools = BUF((size_t)128 << 20), out = BUF((size_t)512 << 20);
    char last[40];
    int64_t from;

    (void)state;
    buf_addc(&tools, '[');
    for (int i = 0; i < LARGE_TOOLS; i++) {
        buf_addf(
            &tools,
            "%s{\"name\":\"t%d\",\"inputSchema\":{\"type\":\"object\",\"$defs\":{\"N\":{"
            "\"properties\":{\"next\":"
            "{\"$ref\":\"#/$defs/N\"},\"v\":{\"$ref\":\"https://x/y\"}}}},\"properties\":{",
            i ? "," : "", i);
        for (int k = 0; k < 150; k++)
            buf_addf(&tools,
                     "\"property_%d\":{\"type\":[\"string\",\"null\"],\"description\":\"the "
                     "%d-th property, which says something "
                     "about the tool\",\"minLength\":1},",
                     k, k);
        buf_addz(&tools, "\"tree\":{\"$ref\":\"#/$defs/N\"}}}}");
    }
    buf_addc(&tools, ']');
    assert_true(tools.n > LARGE_TOOLS * 19000ul);
    from = clock_ms();
    declare(&out, "srv", buf_z(&tools), DETAIL_FULL);
    assert_true(buf_ok(&out, NULL));
    assert_true(clock_ms() - from < 3000 * slack());
    snprintf(last, sizeof last, "t%d(params?: {", LARGE_TOOLS - 1);
    assert_non_null(strstr(buf_z(&out), last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_follow_their_schemas),
        cmocka_unit_test(a_root_reference_decides_and_is_hoisted),
        cmocka_unit_test(hostile_text_cannot_break_out),
        cmocka_unit_test(five_thousand_large_tools_are_declared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
