/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The client's start: era, handshake, failures. Each row names the ids it proves. */
#include "support.h"

#include "client_support.h"
#include "lockdown/keeper.h"

#define RES(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define FAIL(code, rest)                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":" code ",\"message\":\"nope\"" rest \
    "}}"
#define SUPPORTED(list) ",\"data\":{\"supported\":" list ",\"requested\":\"x\"}"
#define INIT_RES(version)             \
    "{\"protocolVersion\":\"" version \
    "\",\"capabilities\":{},\"serverInfo\":{\"name\":\"f\",\"n\":1.0}}"
#define DISCOVER_RES(versions)                                     \
    "{\"resultType\":\"complete\",\"supportedVersions\":" versions \
    ",\"capabilities\":{},\"_meta\":{"                             \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"m\"}}}"
#define OURS     "[\"2026-07-28\"]"
#define INIT     "initialize=>" RES("$ID", INIT_RES("2025-11-25"))
#define NO_INIT  "initialize=>" FAIL("-32601", "")
#define NO_PROBE "server/discover=>" FAIL("-32601", "")
#define MODERN   "server/discover=>" RES("$ID", DISCOVER_RES(OURS))

struct row {
    const char *what;
    enum mcp_era_hint hint;
    const char *rules[6];
    int rev;              /* negotiated; -1: the start fails */
    const char *parts[8]; /* of what the server received, or of the failure text */
};

#define PROBED      "\"method\":\"server/discover\""
#define INITIALIZED "\"method\":\"notifications/initialized\""

static const struct row rows[] = {
    /* MCP-C1, C2, C15 */
    { "modern",
      0,
      { MODERN, INIT },
      MCP_2026_07_28,
      { "\"id\":\"probe-1\"", PROBED, "!initialize" } },
    { "legacy that does not know the method",
      0,
      { NO_PROBE, INIT },
      MCP_2025_11_25,
      { PROBED, "\"method\":\"initialize\"",
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}", INITIALIZED } },
    { "-32602",
      0,
      { "server/discover=>" FAIL("-32602", ""), INIT },
      MCP_2025_11_25,
      { PROBED, INITIALIZED } },
    { "-32000",
      0,
      { "server/discover=>" FAIL("-32000", ""), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "-32001, -32020, -32021 are no modern evidence",
      0,
      { "server/discover=>" FAIL("-32020", SUPPORTED(OURS)), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "an empty result",
      0,
      { "server/discover=>" RES("$ID", "{}"), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "an unknown resultType (MCP-C5)",
      0,
      { "server/discover=>" RES("$ID",
                                "{\"resultType\":\"odd\",\"supportedVersions\":" OURS "}"),
        INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "no resultType is complete (MCP-C5)",
      0,
      { "server/discover=>" RES("$ID", "{\"supportedVersions\":" OURS "}"), INIT },
      MCP_2026_07_28,
      { "!initialize" } },
    { "garbage, then the answer of a legacy server",
      0,
      { "server/discover=>what?;;" FAIL("-32601", ""), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "an answer that is none",
      0,
      { "server/discover=>{\"jsonrpc\":\"2.0\",\"id\":$ID}", INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "discover without a version of ours",
      0,
      { "server/discover=>" RES("$ID", DISCOVER_RES("[\"2099-01-01\"]")), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "-32022 naming only legacy versions",
      0,
      { "server/discover=>" FAIL("-32022", SUPPORTED("[\"2025-11-25\",\"2025-06-18\"]")),
        INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "-32022 without a list",
      0,
      { "server/discover=>" FAIL("-32022", ""), INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "-32022 naming ours is asked again and never fallen back from (MCP-C2)",
      0,
      { "server/discover#1=>" FAIL("-32022", SUPPORTED("[\"2027-01-01\",\"2026-07-28\"]")),
        MODERN, INIT },
      MCP_2026_07_28,
      { "!initialize" } },
    { "-32022 naming ours twice",
      0,
      { "server/discover=>" FAIL("-32022", SUPPORTED(OURS)), INIT },
      -1,
      { "says it supports" } },
    { "-32022 naming only versions to come (MCP-C2)",
      0,
      { "server/discover=>" FAIL("-32022", SUPPORTED("[\"2027-01-01\"]")), INIT },
      -1,
      { "2027-01-01" } },
    { "silence: initialize on the same pipe",
      0,
      { INIT },
      MCP_2025_11_25,
      { PROBED, INITIALIZED } },
    { "exit on the probe: started once more, without one",
      0,
      { "server/discover=>exit 1", INIT },
      MCP_2025_11_25,
      { "\"id\":\"probe-1\"", "\"id\":1,\"method\":\"initialize\"", INITIALIZED } },
    { "exit on the probe, and at initialize",
      0,
      { "server/discover=>exit 1", "initialize=>err cannot;;exit 4" },
      -1,
      { "handshake", "status 4", "stderr: cannot" } },
    { "exit on anything but initialize: one respawn, not more",
      0,
      { "start=>exit 9" },
      -1,
      { "status 9" } },
    { "slow modern server: its probe's answer comes first",
      0,
      { "server/discover=>sleep 1500;;" RES("$ID", DISCOVER_RES(OURS)), NO_INIT },
      MCP_2026_07_28,
      { "\"method\":\"initialize\"", "!" INITIALIZED } },
    { "slow modern server: it refuses initialize, then answers the probe",
      0,
      { "initialize=>" FAIL("-32601", "") ";;sleep 50;;" RES("\"probe-1\"",
                                                             DISCOVER_RES(OURS)) },
      MCP_2026_07_28,
      { "!" INITIALIZED } },
    { "modern server that answers initialize with -32022",
      0,
      { "initialize=>" FAIL("-32022", SUPPORTED(OURS)) },
      MCP_2026_07_28,
      { "!" INITIALIZED } },
    { "slow legacy server: what comes after the decision is dropped",
      0,
      { "initialize=>" RES("$ID", INIT_RES("2025-06-18")) ";;" RES("\"probe-1\"",
                                                                   DISCOVER_RES(OURS)) },
      MCP_2025_06_18,
      { INITIALIZED } },
    { "silence, then initialize refused, then the probe too",
      0,
      { "initialize=>" FAIL("-32601", "") ";;{\"jsonrpc\":\"2.0\",\"id\":\"probe-1\",\"error\":"
                                          "{\"code\":-32601,\"message\":\"no\"}}" },
      -1,
      { "initialize failed", "nope" } },
    /* MCP-L1 seen from the other side */
    { "2024-11-05",
      0,
      { NO_PROBE, "initialize=>" RES("$ID", INIT_RES("2024-11-05")) },
      MCP_2024_11_05,
      { INITIALIZED } },
    { "2025-03-26",
      0,
      { NO_PROBE, "initialize=>" RES("$ID", INIT_RES("2025-03-26")) },
      MCP_2025_03_26,
      { INITIALIZED } },
    { "an unknown version ends the connection (MCP-C15)",
      0,
      { NO_PROBE, "initialize=>" RES("$ID", INIT_RES("1999-01-01")) },
      -1,
      { "'1999-01-01'" } },
    { "a modern version in an InitializeResult too",
      0,
      { NO_PROBE, "initialize=>" RES("$ID", INIT_RES("2026-07-28")) },
      -1,
      { "'2026-07-28'" } },
    { "no InitializeResult",
      0,
      { NO_PROBE, "initialize=>" RES("$ID", "[]") },
      -1,
      { "protocol version ''" } },
    { "initialize refused", 0, { NO_PROBE, NO_INIT }, -1, { "initialize failed", "nope" } },
    /* MCP-C3, MS-61: the cached era */
    { "known as legacy: no probe",
      MCP_ERA_LEGACY,
      { INIT },
      MCP_2025_11_25,
      { "!server/discover", INITIALIZED } },
    { "known as legacy, now modern: probed on the same pipe",
      MCP_ERA_LEGACY,
      { NO_INIT, MODERN },
      MCP_2026_07_28,
      { PROBED } },
    { "known as legacy, exits at initialize: probed in a new process",
      MCP_ERA_LEGACY,
      { "initialize=>exit 1", MODERN },
      MCP_2026_07_28,
      { PROBED } },
    { "known as legacy, answers another version: probed",
      MCP_ERA_LEGACY,
      { "initialize=>" RES("$ID", INIT_RES("3000-01-01")), MODERN },
      MCP_2026_07_28,
      { PROBED } },
    { "known as modern, now legacy",
      MCP_ERA_MODERN,
      { NO_PROBE, INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "known as modern", MCP_ERA_MODERN, { MODERN }, MCP_2026_07_28, { "!initialize" } },
    /* SEC-23: what else stands on stdout */
    { "SEC-23: a banner and log lines, text and JSON",
      0,
      { "start=>welcome!;;{\"level\":\"info\"};;[];;42", MODERN },
      MCP_2026_07_28,
      { 0 } },
    { "SEC-23: 1,000 such lines are borne",
      0,
      { "start=>many 1000 hello", MODERN },
      MCP_2026_07_28,
      { 0 } },
    { "SEC-23: one more is not", 0, { "start=>many 1001 hello" }, -1, { "1000 lines" } },
    { "SEC-23: nor more than 1 MiB",
      0,
      { "start=>bytes 1100000;;many 1 " },
      -1,
      { "1048576 bytes" } },
    { "SEC-23: endless garbage without a newline",
      0,
      { "start=>bytes 1000000000" },
      -1,
      { "in a row" } },
    { "SEC-24: 1 MiB on stderr before the answer",
      0,
      { "server/discover=>errs 1048576;;" RES("$ID", DISCOVER_RES(OURS)) },
      MCP_2026_07_28,
      { 0 } },
    { "SEC-26: exits at once; MS-53: stderr is shown",
      0,
      { "start=>err no licence;;exit 3" },
      -1,
      { "start failed at handshake after", "status 3", "fake_server", "stderr: no licence" } },
    { "MS-53: control sequences of stderr are taken away",
      0,
      { "start=>err \033[31mred\033[0m;;exit 3" },
      -1,
      { "stderr: red" } },
    /* MCP-C11, C15, SEC-30 */
    { "notifications at any time",
      0,
      { "start=>{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"};;"
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
        NO_PROBE, INIT },
      MCP_2025_11_25,
      { INITIALIZED } },
    { "a server's ping before its answer",
      0,
      { NO_PROBE,
        "initialize=>{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"};;sleep 20;;" RES(
            "$ID", INIT_RES("2025-11-25")) },
      MCP_2025_11_25,
      { "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}" } },
};

static void the_era_is_found(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        struct session s;
        const bool *flag = r->rev < 0 ? &s.closed : &s.ready;

        print_message("    %s\n", r->what);
        session_start(&s, r->hint, 2500, r->rules);
        session_until(&s, flag, 3000);
        if (r->rev >= 0) {
            assert_true(mcp_client_ready(s.c));
            assert_int_equal(mcp_client_rev(s.c), r->rev);
            run_for(s.loop, 30);
            assert_false(s.closed);
        }
        assert_parts(r->rev >= 0 ? session_log(&s) : s.why.msg, r->parts, r->what);
        session_end(&s);
    }
}

static void the_server_info_is_kept_as_written(void **state)
{
    struct session s;

    session_start(&s, MCP_ERA_LEGACY, 2000, (const char *const[]){ INIT, NULL });
    assert_true(str_is(mcp_client_server_info(s.c), "{}"));
    session_until(&s, &s.ready, 2000);
    assert_true(str_is(mcp_client_server_info(s.c), "{\"name\":\"f\",\"n\":1.0}"));
    /* The keeper's word may come after the program's own first line. */
    for (int i = 0; i < 200 * slack() && !mcp_client_pid(s.c); i++)
        run_for(s.loop, 5);
    assert_true(mcp_client_pid(s.c) > 0);
    session_end(&s);
    session_start(&s, MCP_ERA_UNKNOWN, 2000, (const char *const[]){ MODERN, NULL });
    session_until(&s, &s.ready, 2000);
    assert_true(str_is(mcp_client_server_info(s.c), "{\"name\":\"m\"}"));
    assert_true(mcp_client_modern(s.c));
    session_end(&s);
}

/* SEC-25, MS-53: the text names the step, the time, the command. */
static void a_silent_server_fails_at_the_startup_deadline(void **state)
{
    struct session s;
    int64_t t0 = clock_ms();

    session_start(&s, MCP_ERA_UNKNOWN, 300,
                  (const char *const[]){ "start=>err waiting for godot", NULL });
    session_until(&s, &s.closed, 400);
    assert_in_range(clock_ms() - t0, 290, 300 + 200 * slack());
    assert_int_equal(s.why.kind, ERR_TIMEOUT);
    assert_parts(s.why.msg,
                 (const char *const[]){ "start failed at handshake after 0.",
                                        "timed out after 0.3 s", "fake_server start=>err",
                                        "stderr: waiting for godot", NULL },
                 "text");
    session_end(&s);
}

/* MS-53: at most 400 characters of stderr, the last ones. */
static void the_tail_of_stderr_is_shown(void **state)
{
    struct session s;
    const char *tail;

    session_start(&s, MCP_ERA_UNKNOWN, 2000,
                  (const char *const[]){ "start=>errs 3000;;err !the end;;exit 1", NULL });
    session_until(&s, &s.closed, 2000);
    tail = strstr(s.why.msg, "; stderr: ");
    assert_non_null(tail);
    assert_int_equal(strlen(tail), strlen("; stderr: ") + 400);
    assert_non_null(strstr(tail, "x!the end"));
    session_end(&s);
}

static void a_program_that_cannot_be_executed_fails_at_spawn(void **state)
{
    static const char *const commands[] = { "/no/such/program", "no-such-program-anywhere",
                                            "/tmp" };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct session s = { .log = BUF(1) };
        const char *argv[] = { commands[i], NULL };
        const char *env[] = { "PATH=/usr/bin", NULL };
        struct mcp_client_opts o = { .label = "x",
                                     .argv = argv,
                                     .env = env,
                                     .startup_timeout_ms = 2000,
                                     .client_name = "u",
                                     .client_version = "0" };

        session_start(&s, MCP_ERA_UNKNOWN, 2000, (const char *const[]){ NULL });
        mcp_client_free(s.c);
        s.c = mcp_client_start(s.loop, &o, session_ops(), &s);
        assert_false(s.closed); /* never from inside */
        session_until(&s, &s.closed, 2000);
        assert_parts(s.why.msg,
                     (const char *const[]){ "start failed at spawn", commands[i], NULL },
                     commands[i]);
        session_end(&s);
    }
}

/* MCP-C13 and MS-58 as far as they live here. */
static void a_stopped_server_ends_by_stdin_or_by_the_ladder(void **state)
{
    static const struct {
        const char *rules[4];
        int at_least;
    } ends[] = {
        { { NO_PROBE, INIT }, 0 },
        { { "start=>term", NO_PROBE, INIT }, 150 },
    };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct session s;
        int64_t t0;

        session_start(&s, MCP_ERA_UNKNOWN, 2000, ends[i].rules);
        session_until(&s, &s.ready, 2000);
        t0 = clock_ms();
        mcp_client_stop(s.c, (struct child_ladder){ .term_ms = 100, .kill_ms = 150 });
        session_until(&s, &s.closed, 1000);
        assert_string_equal(s.why.msg, "stopped");
        assert_in_range(clock_ms() - t0, ends[i].at_least, ends[i].at_least + 100 * slack());
        session_end(&s);
    }
}

/* MCP-C18: whatever a modern server asks. MS-73, SEC-30: what a legacy one gets. */
static void a_servers_own_requests_are_answered_by_era(void **state)
{
#define ASK(id, method) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{}}"
#define ALL_OF_THEM                                                                      \
    ";;" ASK("50", "ping") ";;" ASK("51", "roots/list") ";;" ASK(                        \
        "52", "sampling/createMessage") ";;" ASK("0",                                    \
                                                 "elicitation/create") ";;" ASK("\"x\"", \
                                                                                "tasks/list")
    static const char *const legacy[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":50,\"result\":{}}", "\"id\":51,\"error\":{\"code\":-32601",
        "\"id\":52,\"error\":{\"code\":-32601",          "\"id\":0,\"error\":{\"code\":-32601",
        "\"id\":\"x\",\"error\":{\"code\":-32601",       NULL
    };
    struct session s;

    session_start(&s, MCP_ERA_LEGACY, 2000, (const char *const[]){ INIT ALL_OF_THEM, NULL });
    session_until(&s, &s.ready, 2000);
    run_for(s.loop, 100);
    assert_parts(session_log(&s), legacy, "legacy");
    session_end(&s);
    session_start(&s, MCP_ERA_UNKNOWN, 2000, (const char *const[]){ MODERN ALL_OF_THEM, NULL });
    session_until(&s, &s.ready, 2000);
    run_for(s.loop, 100);
    assert_int_equal(count_of(session_log(&s), "\n"), 1);
    session_end(&s);
}

static void a_flood_of_requests_is_answered_a_hundred_times_a_second(void **state)
{
    struct session s;
    int64_t t0 = clock_ms(), took;
    unsigned answers;

    session_start(&s, MCP_ERA_LEGACY, 20000,
                  (const char *const[]){ "initialize=>many 100000 " ASK("$I", "ping") ";;" RES(
                                             "$ID", INIT_RES("2025-11-25")),
                                         NULL });
    session_until(&s, &s.ready, 10000);
    run_for(s.loop, 100);
    took = clock_ms() - t0;
    answers = count_of(session_log(&s), "\"result\":{}");
    assert_in_range(answers, 100, 100 * (unsigned)(took / 1000 + 2));
    session_end(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_era_is_found),
        cmocka_unit_test(the_server_info_is_kept_as_written),
        cmocka_unit_test(a_silent_server_fails_at_the_startup_deadline),
        cmocka_unit_test(the_tail_of_stderr_is_shown),
        cmocka_unit_test(a_program_that_cannot_be_executed_fails_at_spawn),
        cmocka_unit_test(a_stopped_server_ends_by_stdin_or_by_the_ladder),
        cmocka_unit_test(a_servers_own_requests_are_answered_by_era),
        cmocka_unit_test(a_flood_of_requests_is_answered_a_hundred_times_a_second),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
