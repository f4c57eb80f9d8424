/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reply text of a script (MS-38, MS-39, MS-41, MS-68). */
#include "support.h"

#include "meta/execute.h"
#include "meta/reply.h"

static const struct sandbox_limits limits = {
    .timeout_ms = 120000, .memory_bytes = (size_t)64 << 20, .result_bytes = 16, .max_calls = 100
};

static struct catalog *no_servers(const char *problem)
{
    struct resolution *res = NEW(struct resolution);
    static struct backend_env env;

    if (problem)
        ARENA_PUSH(&res->arena, &res->problems) = str_of(problem);
    return catalog_new(&env, res, NULL);
}

/* In order: result or error JSON, truncation note, console, finished calls, problems, tags. */
static void the_parts_come_in_order(void **state)
{
    static const struct finished_call calls[] = { { STR("fs.read"), 3 },
                                                  { STR("git.log"), 1 } };
    static const struct str tags[] = { STR("fs.read: result off-shape, treat as unknown"),
                                       STR("x: \x1b[31mred\n") };
    static const struct {
        struct script_end end;
        const char *want;
        bool is_error, with_calls;
    } cases[] = {
        { { .result = STR("{\"a\":1}"), .result_total = 7 }, "{\"a\":1}\n[p: q]", false, true },
        { { .result = STR("null"), .result_total = 4, .console = STR("  one\n[warn] two") },
          "null\nconsole:\n  one\n[warn] two\n[p: q]",
          false,
          false },
        { { .outcome = SCRIPT_TIMEOUT },
          "{\"error\":\"script_timeout\",\"limit_secs\":120}\n[p: q]",
          true,
          false },
        { { .outcome = SCRIPT_MEMORY, .console = STR("so far") },
          "{\"error\":\"memory_exhausted\",\"limit_mb\":64}\nconsole:\nso far\n[p: q]",
          true,
          false },
        { { .outcome = SCRIPT_CALL_LIMIT },
          "{\"error\":\"tool_call_limit\",\"limit\":100}\n[p: q]",
          true,
          false },
        { { .outcome = SCRIPT_ERROR,
            .message = STR("TypeError: x\"y"),
            .stack = STR("    at f (script:1:2)") },
          "{\"error\":\"script_error\",\"message\":\"TypeError: x\\\"y\\n    at f "
          "(script:1:2)\"}\ncalls finished: fs.read \xc3\x97"
          "3, git.log \xc3\x97"
          "1\n[p: q]",
          true,
          true },
        { { .outcome = SCRIPT_CRASHED, .message = STR("script engine crashed (signal 11)") },
          "{\"error\":\"internal\",\"message\":\"script engine crashed (signal 11)\"}\n[p: q]",
          true,
          false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct catalog *c = no_servers("p: q");
        struct results results = { 0 };
        auto_buf out = BUF(REPLY_MAX);
        struct reply r = { .end = &cases[i].end,
                           .limits = &limits,
                           .finished = calls,
                           .nfinished = cases[i].with_calls ? 2 : 0,
                           .catalog = c,
                           .results = &results };

        assert_int_equal(reply_put(&out, &r), cases[i].is_error);
        assert_string_equal(buf_z(&out), cases[i].want);
        /* Tags are the last lines, cleaned (MS-65). */
        buf_clear(&out);
        r.tags = tags;
        r.ntags = ARRAY_LEN(tags);
        reply_put(&out, &r);
        assert_has(buf_z(&out),
                   "\n[p: q]\n[fs.read: result off-shape, treat as unknown]\n[x: red");
        assert_null(strchr(buf_z(&out), 0x1b));
        catalog_unref(c);
        results_free(&results);
    }
}

/* MS-39: cut on a UTF-8 border, with a note that tells where the whole is (MS-68). */
static void a_long_result_is_cut_and_kept(void **state)
{
    static const struct {
        struct str result;
        size_t total;
        const char *shown, *note;
    } cases[] = {
        { STR("\"exactly 16 byte\""), 17, "\"exactly 16 byte", "16 of 17 bytes; full value: " },
        { STR("\"aaaaaaaaaaaaaa\xe2\x82\xac\""), 19, "\"aaaaaaaaaaaaaa",
          "15 of 19 bytes; full value: " },
        { STR("\"the first part of a huge"), 9000000, "\"the first part ",
          "16 of 9000000 bytes; the full value is over 8 MiB and was not kept" },
    };
    struct catalog *c = no_servers(NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct script_end end = { .result = cases[i].result,
                                        .result_total = cases[i].total };
        struct results results = { 0 };
        const struct reply r = {
            .end = &end, .limits = &limits, .catalog = c, .results = &results
        };
        auto_buf out = BUF(REPLY_MAX), want = BUF(1000);
        const char *uri;

        assert_false(reply_put(&out, &r));
        buf_addf(&want, "%s\n[result truncated: %s", cases[i].shown, cases[i].note);
        assert_int_equal(strncmp(buf_z(&out), buf_z(&want), want.n), 0);
        uri = strstr(buf_z(&out), RESULT_URI_PREFIX);
        assert_int_equal(uri != NULL, cases[i].total == cases[i].result.n);
        if (uri)
            assert_bytes(results_get(&results, str_upto(str_of(uri), strlen(uri) - 1)),
                         cases[i].result);
        results_free(&results);
    }
    catalog_unref(c);
}

/* MS-38: message and stack together at most 4,096 bytes, on a UTF-8 border. */
static void message_and_stack_are_capped(void **state)
{
    struct catalog *c = no_servers(NULL);
    struct results results = { 0 };
    auto_buf message = BUF(10000), stack = BUF(10000), out = BUF(REPLY_MAX);
    struct script_end end = { .outcome = SCRIPT_ERROR };
    const struct reply r = {
        .end = &end, .limits = &limits, .catalog = c, .results = &results
    };
    auto_json doc = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        buf_addz(&message, "\xe2\x82\xac");
        buf_addz(&stack, "    at script:1:1\n");
    }
    end.message = buf_str(&message);
    end.stack = buf_str(&stack);
    assert_true(reply_put(&out, &r));
    assert_true(json_parse(&doc, buf_str(&out), NULL));
    assert_true(json_str(json_get(doc.root, "message")).n <= EXECUTE_MESSAGE_MAX);
    assert_true(json_str(json_get(doc.root, "message")).n > 4000);
    for (int i = 0; i < 1000; i++)
        buf_addz(&message, "\xe2\x82\xac");
    end.message = buf_str(&message);
    buf_clear(&out);
    json_free(&doc);
    reply_put(&out, &r);
    assert_true(json_parse(&doc, buf_str(&out), NULL));
    assert_int_equal(json_str(json_get(doc.root, "message")).n, 4095); /* 1,365 whole signs */
    catalog_unref(c);
}

/* MS-41: at most 1,000 bytes of finished calls, in order of first finish. */
static void finished_calls_are_capped(void **state)
{
    struct finished_call calls[100];
    struct catalog *c = no_servers(NULL);
    struct results results = { 0 };
    const struct script_end end = { .outcome = SCRIPT_TIMEOUT };
    auto_arena a = ARENA;
    auto_buf out = BUF(REPLY_MAX);
    const struct reply r = { .end = &end,
                             .limits = &limits,
                             .finished = calls,
                             .nfinished = 100,
                             .catalog = c,
                             .results = &results };
    const char *line;

    (void)state;
    for (int i = 0; i < 100; i++)
        calls[i] = (struct finished_call){ str_of(arena_printf(&a, "server.tool_%d", i)), 1 };
    reply_put(&out, &r);
    line = strstr(buf_z(&out), "calls finished: ");
    assert_non_null(line);
    assert_true(strlen(line) <= EXECUTE_FINISHED_MAX);
    assert_true(strlen(line) > 900);
    assert_has(line, "calls finished: server.tool_0 \xc3\x97"
                     "1, server.tool_1 ");
    assert_string_equal(line + strlen(line) - 5, ", ...");
    catalog_unref(c);
}

/* Nothing is cut silently: a reply that does not fit says so. */
static void a_reply_that_does_not_fit_says_so(void **state)
{
    struct catalog *c = no_servers(NULL);
    struct results results = { 0 };
    const struct script_end end = { .result = STR("\"0123456789\""), .result_total = 12 };
    const struct reply r = {
        .end = &end, .limits = &limits, .catalog = c, .results = &results
    };
    auto_buf out = BUF(200);

    (void)state;
    out.over = true;
    assert_true(reply_put(&out, &r));
    assert_has(buf_z(&out), "{\"error\":\"internal\",\"message\":\"the reply would hold more "
                            "than 200 bytes; lower max-result-bytes");
    catalog_unref(c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_parts_come_in_order),
    cmocka_unit_test(a_long_result_is_cut_and_kept),
    cmocka_unit_test(message_and_stack_are_capped),
    cmocka_unit_test(finished_calls_are_capped),
    cmocka_unit_test(a_reply_that_does_not_fit_says_so),
};

TEST_MAIN(tests)
