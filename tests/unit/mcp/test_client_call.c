/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls and lists of a ready client. Each row names the ids it proves. */
#include "support.h"

#include "client_support.h"
#include "lockdown/keeper.h"
#include "mcp/client_internal.h"

/* clang-format off */
#define RES(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define FAIL(code, message) "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":" code ",\"message\":\"" message "\"}}"
#define NOTE(method, params) "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params "}"
#define INIT_AS(v) "initialize=>" RES("$ID", "{\"protocolVersion\":\"" v "\",\"capabilities\":{},\"serverInfo\":{}}")
#define LEGACY INIT_AS("2025-11-25")
#define MODERN_WITH(caps) "server/discover=>" RES("$ID", "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"]," \
                          "\"capabilities\":" caps "}")
#define MODERN MODERN_WITH("{\"tools\":{}}")
#define TEXT(t) "{\"content\":[{\"type\":\"text\",\"text\":\"" t "\"}]}"
#define GOOD RES("$ID", TEXT("good"))
#define SUB "io.modelcontextprotocol/subscriptionId"
#define TRIPLE "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}," \
               "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"unit\",\"version\":\"0\"}"
#define CALL "tools/call=>"

struct row {
    const char *what;
    const char *rules[8];
    const char *result;          /* pattern of the result, or NULL: it fails */
    const char *why;             /* part of the error's text */
    const char *second;          /* after it: another call gives this pattern; NULL: none is made */
    const char *parts[8];        /* of what the server received */
};

static const struct row rows[] = {
    { "legacy: name, arguments as written, a progress token, nothing of a modern envelope", { LEGACY, CALL GOOD }, TEXT("good"), NULL, NULL,
      { "\"name\":\"tool\",\"arguments\":{\"a\":1.50},\"_meta\":{\"progressToken\":", "!io.modelcontextprotocol" } },
    { "MCP-C4: modern: the triple", { MODERN, CALL RES("$ID", "{\"resultType\":\"complete\",\"content\":[]}") }, "{\"content\":[]}", NULL, NULL,
      { "\"method\":\"tools/call\",\"params\":{\"name\":\"tool\",\"arguments\":{\"a\":1.50}," TRIPLE } },
    { "MCP-C9, SEC-40: numbers keep their text, unknown members stay",
      { LEGACY, CALL RES("$ID", "{\"content\":[{\"type\":\"odd\"}],\"structuredContent\":[1e400,-0,9007199254740993,123456789012345678901234567890],\"x\":{}}") },
      "{\"content\":[{\"type\":\"odd\"}],\"structuredContent\":[1e400,-0,9007199254740993,123456789012345678901234567890],\"x\":{}}", NULL, NULL, { 0 } },
    { "MCP-C10: an error answer is the server's message", { LEGACY, CALL FAIL("-32002", "no such thing") }, NULL, "no such thing", NULL, { 0 } },
    { "an error without a message tells its code", { LEGACY, CALL FAIL("-32602", "") }, NULL, "error -32602", NULL, { 0 } },
    { "MCP-C8: ttlMs keeps no answer: the same call is made again",
      { MODERN, "tools/call#1=>" RES("$ID", "{\"resultType\":\"complete\",\"content\":[],\"ttlMs\":60000,\"cacheScope\":\"public\"}"), CALL GOOD },
      "{\"content\":[]}", NULL, TEXT("good"), { 0 } },
    /* MCP-C5 */
    { "MCP-C5: an absent resultType is complete", { MODERN, CALL GOOD }, TEXT("good"), NULL, NULL, { 0 } },
    { "MCP-C5: an unknown one is invalid", { MODERN, CALL RES("$ID", "{\"resultType\":\"task\",\"content\":[]}") }, NULL, "unknown resultType 'task'", NULL, { 0 } },
    { "a legacy result may have any", { LEGACY, CALL RES("$ID", "{\"resultType\":\"odd\",\"content\":[]}") }, "{\"content\":[]}", NULL, NULL, { 0 } },
    { "a result that is no object", { LEGACY, CALL RES("$ID", "[1]") }, NULL, "no object", NULL, { 0 } },
    /* MCP-C6, MS-73 */
    { "MCP-C6: requestState alone is sent back byte by byte, with a new id and the same params; it does not leak into the next call",
      { MODERN, "tools/call#1=>" RES("$ID", "{\"resultType\":\"input_required\",\"requestState\":\"s\\n\\u00e9/\\\"=\"}"),
        "tools/call#2=>" RES("$ID", "{\"content\":$STATE}"), CALL GOOD }, "{\"content\":\"s\\n\\u00e9/\\\"=\"}", NULL, TEXT("good"),
      { "\"arguments\":{\"a\":1.50},\"requestState\":\"s\\n\xc3\xa9/\\\"=\"," TRIPLE, "!inputResponses" } },
    { "MCP-C6: ten rounds, not more", { MODERN, CALL RES("$ID", "{\"resultType\":\"input_required\",\"requestState\":\"$N\"}") }, NULL, "more than 10 times", NULL,
      { "\"requestState\":\"10\"", "!\"requestState\":\"11\"" } },
    { "MS-73: input requests fail the call", { MODERN, CALL RES("$ID", "{\"resultType\":\"input_required\",\"requestState\":\"a\","
      "\"inputRequests\":{\"k\":{\"method\":\"elicitation/create\",\"params\":{}}}}") }, NULL, "needs user input", NULL, { "!\"requestState\"" } },
    { "neither of both is invalid", { MODERN, CALL RES("$ID", "{\"resultType\":\"input_required\"}") }, NULL, "without inputRequests", NULL, { 0 } },
    /* ids and shapes */
    { "SEC-27: strings for numbers, null, fractions, unknown ids are dropped; the true answer comes through",
      { LEGACY, CALL RES("\"2\"", "{}") ";;" RES("null", "{}") ";;" RES("2.5", "{}") ";;" RES("99", "{}") ";;" GOOD },
      TEXT("good"), NULL, NULL, { 0 } },
    { "ids are compared by value: 2.0 answers 2 (mcp.md 2)", { LEGACY, CALL RES("2.0", TEXT("good")) }, TEXT("good"), NULL, NULL, { 0 } },
    { "SEC-28: the first of two answers counts", { LEGACY, CALL GOOD ";;" RES("$ID", TEXT("second")) }, TEXT("good"), NULL, TEXT("good"), { 0 } },
    { "SEC-29: result and error", { LEGACY, "tools/call#1=>{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}", CALL GOOD },
      NULL, "exactly one", TEXT("good"), { 0 } },
    { "SEC-29: neither", { LEGACY, "tools/call#1=>{\"jsonrpc\":\"2.0\",\"id\":$ID}", CALL GOOD }, NULL, "exactly one", TEXT("good"), { 0 } },
    { "SEC-29: no jsonrpc", { LEGACY, "tools/call#1=>{\"id\":$ID,\"result\":{}}", CALL GOOD }, NULL, "jsonrpc", TEXT("good"), { 0 } },
    { "SEC-29: an array", { LEGACY, "tools/call#1=>[" GOOD "]", CALL GOOD }, NULL, "batches", TEXT("good"), { 0 } },
    { "but a 2025-03-26 server may answer in one (mcp.md 2)", { INIT_AS("2025-03-26"), CALL "[" NOTE("x", "{}") "," GOOD ",[]]" }, TEXT("good"), NULL, TEXT("good"), { 0 } },
    { "MCP-C11: late answers, unknown notifications", { LEGACY, CALL RES("1", "{}") ";;" NOTE("notifications/odd", "{}") ";;" GOOD }, TEXT("good"), NULL, NULL, { 0 } },
    /* hostile lines */
    { "SEC-38: a line of invalid UTF-8 is dropped", { LEGACY, CALL "{\"\xff\":1};;" GOOD }, TEXT("good"), NULL, NULL, { 0 } },
    { "SEC-38: a lone surrogate becomes U+FFFD", { LEGACY, CALL RES("$ID", TEXT("a\\ud800b\\u0000")) }, TEXT("a\xef\xbf\xbd" "b\\u0000"), NULL, NULL, { 0 } },
    { "SEC-39: nested too deep", { LEGACY, "tools/call#1=>deep 100000", CALL GOOD }, NULL, "deep", TEXT("good"), { 0 } },
    { "SEC-39: as deep as allowed", { LEGACY, CALL RES("$ID", "{\"content\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}") }, "\"<any>\"", NULL, NULL, { 0 } },
    { "SEC-22: an answer over 16 MiB is discarded, the connection lives", { LEGACY, "tools/call#1=>bytes 17000000;;many 1 ", CALL GOOD }, NULL,
      "more than 16777216 bytes", TEXT("good"), { 0 } },
    { "SEC-24: 1 MiB on stderr before the answer", { LEGACY, CALL "errs 1048576;;" GOOD }, TEXT("good"), NULL, NULL, { 0 } },
    { "SEC-23: log lines between answers", { LEGACY, CALL "many 3000 {\"level\":\"info\",\"n\":$I};;plain;;" GOOD }, TEXT("good"), NULL, NULL, { 0 } },
};
/* clang-format on */

static void call_again(struct session *s, const char *want, const char *what)
{
    struct answer a;

    session_call(s, &a, "tool", 3000);
    session_until_count(s, &a.times, 1, 3000);
    assert_matches(buf_str(&a.result), want, what);
    answer_free(&a);
}

static enum mcp_era_hint hint_for(const char *const *rules)
{
    return strncmp(rules[0], "initialize", 10) == 0 ? MCP_ERA_LEGACY : MCP_ERA_UNKNOWN;
}

static void ready(struct session *s, const char *const *rules)
{
    session_start(s, hint_for(rules), 3000, rules);
    session_until(s, &s->ready, 3000);
}

static void a_call_ends_once(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        struct session s;
        struct answer a;

        print_message("    %s\n", r->what);
        ready(&s, r->rules);
        session_call(&s, &a, "tool", 3000);
        assert_int_equal(a.times, 0);
        assert_int_equal(mcp_client_inflight(s.c), 1);
        session_until_count(&s, &a.times, 1, 3000);
        assert_int_equal(mcp_client_inflight(s.c), 0);
        if (r->result)
            assert_matches(buf_str(&a.result), r->result, r->what);
        else
            assert_parts(a.why.msg, (const char *const[]){ r->why, NULL }, r->what);
        if (r->second)
            call_again(&s, r->second, r->what);
        run_for(s.loop, 10);
        assert_false(s.closed);
        assert_int_equal(a.times, 1);
        assert_parts(session_log(&s), r->parts, r->what);
        answer_free(&a);
        session_end(&s);
    }
}

/* MS-50: up to 4,096 bytes of the message. */
static void a_long_error_message_is_cut(void **state)
{
    struct buf rule = BUF(64 << 10);
    struct session s;
    struct answer a;

    buf_addz(
        &rule,
        "tools/call=>{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-1,\"message\":\"");
    for (int i = 0; i < 3000; i++)
        buf_addz(&rule, "\xc3\xa9");
    buf_addz(&rule, "\"}}");
    ready(&s, (const char *const[]){ LEGACY, buf_z(&rule), NULL });
    session_call(&s, &a, "tool", 2000);
    session_until_count(&s, &a.times, 1, 2000);
    assert_int_equal(strlen(a.why.msg), MCP_ERROR_TEXT_MAX);
    answer_free(&a);
    session_end(&s);
    buf_free(&rule);
}

/* SEC-34: a name is any string, also for the server that is asked for it. */
static void a_tool_name_with_a_nul_arrives_whole(void **state)
{
    static const char *const rules[] = { LEGACY, CALL GOOD, NULL };
    struct session s;
    struct answer a;

    ready(&s, rules);
    session_call_s(&s, &a, STR("a\0b"), 3000);
    session_until_count(&s, &a.times, 1, 3000);
    assert_non_null(strstr(session_log(&s), "\"name\":\"a\\u0000b\",\"arguments\""));
    answer_free(&a);
    session_end(&s);
}

/* MS-57, MCP-C12, C21, SEC-25. */
static void a_timeout_tells_the_server_and_drops_the_late_answer(void **state)
{
    struct session s;
    struct answer a;

    ready(&s, (const char *const[]){ LEGACY, "tools/call#1=>",
                                     "tools/call=>" RES("2", TEXT("late")) ";;" GOOD, NULL });
    session_call(&s, &a, "tool", 150);
    session_until_count(&s, &a.times, 1, 300);
    assert_int_equal(a.why.kind, ERR_TIMEOUT);
    assert_string_equal(a.why.msg, "timed out after 0.15 s");
    answer_free(&a);
    call_again(&s, TEXT("good"), "after the timeout");
    assert_parts(session_log(&s),
                 (const char *const[]){
                     "\"method\":\"notifications/"
                     "cancelled\",\"params\":{\"requestId\":2,\"reason\":\"timed out\"}",
                     NULL },
                 "log");
    assert_false(s.closed);
    session_end(&s);
}

/* MCP-C12. */
static void a_cancel_ends_the_call_before_it_returns_and_tells_the_server(void **state)
{
    static const char *const eras[][4] = { { LEGACY, CALL }, { MODERN, CALL } };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct session s;
        struct answer a, b;
        uint64_t id;

        ready(&s, eras[i]);
        id = session_call(&s, &a, "tool", 3000);
        session_call(&s, &b, "tool", 3000);
        mcp_client_cancel(s.c, id + 1000);
        mcp_client_cancel(s.c, id);
        assert_int_equal(a.times, 1);
        assert_int_equal(a.why.kind, ERR_CLOSED);
        assert_string_equal(a.why.msg, "cancelled");
        mcp_client_cancel(s.c, id);
        run_for(s.loop, 50);
        assert_int_equal(a.times, 1);
        assert_int_equal(b.times, 0);
        assert_parts(session_log(&s),
                     (const char *const[]){
                         "\"params\":{\"requestId\":2,\"reason\":\"cancelled\"}", NULL },
                     "log");
        answer_free(&a);
        session_end(&s);
        assert_int_equal(b.times, 1); /* by mcp_client_free() */
        assert_int_equal(b.why.kind, ERR_CLOSED);
        answer_free(&b);
    }
}

/* MCP-C21: progress starts the timeout again; the token is ours. */
static void progress_keeps_a_call_alive(void **state)
{
#define STEP(token, n)                             \
    ";;sleep 100;;" NOTE("notifications/progress", \
                         "{\"progressToken\":" token ",\"progress\":" n "}")
#define STEPS(token) \
    STEP(token, "1") \
    STEP(token, "2") STEP(token, "3") STEP(token, "4") STEP(token, "5") STEP(token, "6")
    static const char *const eras[][3] = { { LEGACY, CALL STEPS("$TOKEN") ";;" GOOD },
                                           { MODERN, CALL STEPS("$TOKEN") ";;" GOOD } };
    struct session s;
    struct answer a;

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        ready(&s, eras[i]);
        session_call(&s, &a, "tool", 400);
        session_until_count(&s, &a.times, 1, 1500);
        assert_matches(buf_str(&a.result), TEXT("good"), "progress");
        answer_free(&a);
        session_end(&s);
    }
    ready(&s, (const char *const[]){ LEGACY, CALL STEPS("77") ";;" GOOD, NULL });
    session_call(&s, &a, "tool", 400);
    session_until_count(&s, &a.times, 1, 1500);
    assert_int_equal(a.why.kind, ERR_TIMEOUT);
    answer_free(&a);
    session_end(&s);
}

/* MCP-C21: however much progress there is, the hard maximum ends a call. */
static void progress_does_not_outlive_the_hard_maximum(void **state)
{
    struct session s;
    struct answer a;

    ready(&s, (const char *const[]){ LEGACY, CALL STEPS("$TOKEN") STEPS("$TOKEN") ";;" GOOD,
                                     NULL });
    peer_set_hard_timeout(s.c->peer, 500);
    session_call(&s, &a, "tool", 400);
    session_until_count(&s, &a.times, 1, 1000);
    assert_int_equal(a.why.kind, ERR_TIMEOUT);
    answer_free(&a);
    session_end(&s);
}

/* MS-50: exit status and last line of stderr; every open call, then on_closed. */
static void a_crash_ends_all_calls_with_its_text(void **state)
{
    static const struct {
        const char *rules[4];
        const char *text;
    } ends[] = {
        { { LEGACY, CALL "err first;;err boom"
                         "\t"
                         "here;;exit 7" },
          "server exited with status 7; stderr: boom here" },
        { { MODERN, CALL "exit 0" }, "server exited with status 0" },
    };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct session s;
        struct answer a, b;

        ready(&s, ends[i].rules);
        session_call(&s, &a, "tool", 3000);
        session_list(&s, &b, 3000);
        session_until(&s, &s.closed, 2000);
        assert_int_equal(a.times, 1);
        assert_int_equal(b.times, 1);
        assert_string_equal(a.why.msg, ends[i].text);
        assert_string_equal(b.why.msg, ends[i].text);
        assert_string_equal(s.why.msg, ends[i].text);
        assert_int_equal(s.why.kind, ERR_CLOSED);
        answer_free(&a);
        session_call(&s, &a, "tool", 3000); /* MS-56: never repeated; a later call fails */
        assert_int_equal(a.times, 0);
        session_until_count(&s, &a.times, 1, 500);
        answer_free(&a);
        answer_free(&b);
        session_end(&s);
    }
}

/* SEC-22, SEC-23: floods that never become a message end the server. */
static void a_flood_is_stopped(void **state)
{
    static const struct {
        const char *rule, *text;
    } floods[] = {
        { CALL "bytes 1073741824", "bytes in a row had to be discarded" },
        { CALL "many 3000000 this is not a message at all", "not protocol messages" },
    };

    for (size_t i = 0; i < ARRAY_LEN(floods); i++) {
        struct session s;
        struct answer a;

        ready(&s, (const char *const[]){ LEGACY, floods[i].rule, NULL });
        session_call(&s, &a, "tool", 60000);
        session_until(&s, &s.closed, 20000);
        assert_int_equal(a.times, 1);
        assert_parts(s.why.msg, (const char *const[]){ floods[i].text, NULL }, "flood");
        answer_free(&a);
        session_end(&s);
    }
}

/* SEC-47: the loop is not blocked; what does not fit the queue fails at once. The stall itself
 * is loop/child's. */
static void a_server_that_does_not_read_blocks_nobody(void **state)
{
    struct session s;
    struct answer a, b, c;
    auto_buf big = BUF(32 << 20);

    ready(&s, (const char *const[]){ LEGACY, CALL "hold", NULL });
    session_call(&s, &a, "tool", 500);
    run_for(s.loop, 100);
    buf_fill(&big, 'y', 20 << 20);
    /* A write that blocks would not come back. */
    session_call(&s, &b, buf_z(&big), 500);
    session_call(&s, &c, buf_z(&big), 5000);
    session_until_count(&s, &c.times, 1, 100);
    assert_int_equal(c.why.kind, ERR_LIMIT);
    session_until_count(&s, &b.times, 1, 700);
    assert_int_equal(b.why.kind, ERR_TIMEOUT);
    answer_free(&a);
    answer_free(&b);
    answer_free(&c);
    session_end(&s);
}

/* ---- lists ---- */

#define PAGE(tools, cursor) RES("$ID", "{\"tools\":[" tools "],\"nextCursor\":" cursor "}")
#define LIST                "tools/list=>"

static bool has_parts(const char *text, const char *const *parts)
{
    for (; parts && *parts; parts++)
        if (**parts != '!' && !strstr(text, *parts))
            return false;
    return true;
}

static void pages_are_followed(void **state)
{
    static const struct row lists[] = {
        { "one page, raw",
          { LEGACY, LIST RES("$ID", "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"minimum\":"
                                    "1.0,\"$ref\":\"http://x/y\"}}]}") },
          "[{\"name\":\"a\",\"inputSchema\":{\"minimum\":1.0,\"$ref\":\"http://x/y\"}}]",
          "",
          NULL,
          { "\"method\":\"tools/list\"", "!cursor" } },
        { "MCP-C7: until there is no cursor; the empty one is passed on",
          { MODERN, "tools/list#1=>" PAGE("1", "\"\""), "tools/list#2=>" PAGE("2,3", "\"b\""),
            LIST RES("$ID", "{\"tools\":[4]}") },
          "[1,2,3,4]",
          "",
          NULL,
          { "\"params\":{\"cursor\":\"\"," TRIPLE, "\"params\":{\"cursor\":\"b\"," TRIPLE } },
        { "a null cursor is none", { LEGACY, LIST PAGE("1", "null") }, "[1]", "", NULL, { 0 } },
        { "SEC-41: a repeated cursor ends it",
          { LEGACY, LIST PAGE("$N", "\"same\"") },
          "[1,2]",
          "repeats a cursor",
          NULL,
          { 0 } },
        { "SEC-41: a list that never ends",
          { LEGACY, LIST PAGE("", "\"c$N\"") },
          "[]",
          "100 pages",
          NULL,
          { "\"c99\"", "!\"c100\"" } },
        { "no array",
          { LEGACY, LIST RES("$ID", "{}") },
          NULL,
          "without an array",
          NULL,
          { 0 } },
        { "a later page fails",
          { LEGACY, "tools/list#1=>" PAGE("1", "\"b\""), LIST FAIL("-32602", "bad cursor") },
          NULL,
          "bad cursor",
          NULL,
          { 0 } },
        { "an unknown resultType",
          { MODERN, LIST RES("$ID", "{\"resultType\":\"input_required\",\"tools\":[]}") },
          NULL,
          "unknown resultType",
          NULL,
          { 0 } },
        { "silence",
          { LEGACY, LIST },
          NULL,
          "timed out after 0.6 s",
          NULL,
          { "\"reason\":\"timed out\"" } },
        { "the time is that of all pages",
          { LEGACY, LIST "sleep 250;;" PAGE("", "\"c$N\"") },
          NULL,
          "timed out after 0.6 s",
          NULL,
          { 0 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct row *r = &lists[i];
        struct session s;
        struct answer a;
        /* The pages of the endless list are many, and sanitizers slow. */
        int timeout_ms = r->result ? 20000 : 600;

        print_message("    %s\n", r->what);
        ready(&s, r->rules);
        session_list(&s, &a, timeout_ms);
        session_until_count(&s, &a.times, 1, 5000);
        if (r->result)
            assert_matches(buf_str(&a.result), r->result, r->what);
        else
            assert_int_equal(a.result.n, 0);
        assert_parts(r->result ? buf_z(&a.note) : a.why.msg,
                     (const char *const[]){ r->why, NULL }, r->what);
        if (r->result && !*r->why)
            assert_int_equal(a.note.n, 0);
        for (int tries = 0; tries < 250 && !has_parts(session_log(&s), r->parts); tries++)
            run_for(s.loop, 20); /* what was sent is on its way */
        assert_parts(session_log(&s), r->parts, r->what);
        answer_free(&a);
        session_end(&s);
    }
}

/* SEC-41. */
static void at_most_ten_thousand_tools_are_taken(void **state)
{
    struct buf rule = BUF(128 << 10);
    struct session s;
    struct answer a;
    struct json tools;

    buf_addz(&rule, LIST
             "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"nextCursor\":\"c$N\",\"tools\":[0");
    for (int i = 1; i < 3000; i++)
        buf_addz(&rule, ",0");
    buf_addz(&rule, "]}}");
    ready(&s, (const char *const[]){ LEGACY, buf_z(&rule), NULL });
    session_list(&s, &a, 20000);
    session_until_count(&s, &a.times, 1, 5000);
    parse(&tools, buf_str(&a.result));
    assert_int_equal(json_len(tools.root), MCP_MAX_TOOLS);
    assert_parts(buf_z(&a.note), (const char *const[]){ "10000 tools", NULL }, "note");
    json_free(&tools);
    answer_free(&a);
    session_end(&s);
    buf_free(&rule);
}

/* mcp.md 7.1. */
static void tools_that_need_a_task_are_shown_and_refused(void **state)
{
    struct session s;
    struct answer a;

    ready(&s, (const char *const[]){
                  LEGACY,
                  LIST RES("$ID",
                           "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\",\"execution\":{"
                           "\"taskSupport\":\"required\"}},"
                           "{\"name\":\"c\",\"execution\":{\"taskSupport\":\"optional\"}}]}"),
                  CALL GOOD, NULL });
    session_list(&s, &a, 2000);
    session_until_count(&s, &a.times, 1, 2000);
    assert_matches(buf_str(&a.result), "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]",
                   "list");
    assert_string_equal(buf_z(&a.note), "");
    answer_free(&a);
    session_call(&s, &a, "b", 2000);
    assert_int_equal(a.times, 0);
    session_until_count(&s, &a.times, 1, 2000);
    assert_parts(a.why.msg, (const char *const[]){ "task support", NULL }, "call");
    answer_free(&a);
    session_call(&s, &a, "c", 2000);
    session_until_count(&s, &a.times, 1, 2000);
    assert_matches(buf_str(&a.result), TEXT("good"), "call");
    assert_int_equal(count_of(session_log(&s), "tools/call"), 1);
    answer_free(&a);
    session_end(&s);
}

/* ---- changes of the list ---- */

#define CHANGED(meta) NOTE("notifications/tools/list_changed", "{" meta "}")
#define LISTENING     MODERN_WITH("{\"tools\":{\"listChanged\":true}}")
#define ACK                                          \
    NOTE("notifications/subscriptions/acknowledged", \
         "{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"" SUB "\":$ID}}")

static void changes_are_told_in_both_eras(void **state)
{
    static const struct {
        const char *what;
        const char *rules[4];
        unsigned changed;
        const char *parts[4];
    } ways[] = {
        { "legacy, unsolicited",
          { LEGACY, "notifications/initialized=>" CHANGED("") },
          1,
          { "!subscriptions/listen" } },
        { "MCP-C4, C20: modern, by our stream",
          { LISTENING,
            "subscriptions/listen=>" ACK ";;" CHANGED("\"_meta\":{\"" SUB "\":$ID}") },
          1,
          { "\"method\":\"subscriptions/"
            "listen\",\"params\":{\"notifications\":{\"toolsListChanged\":true}," TRIPLE } },
        { "MCP-C20: another stream's",
          { LISTENING, "subscriptions/listen=>" ACK
                       ";;" CHANGED("\"_meta\":{\"" SUB "\":\"$ID\"}") ";;" CHANGED(
                           "\"_meta\":{\"" SUB "\":99}") ";;" CHANGED("") },
          0,
          { 0 } },
        { "not advertised: no stream", { MODERN }, 0, { "!subscriptions/listen" } },
        { "a stream that the server refuses",
          { LISTENING, "subscriptions/listen=>" FAIL("-32601", "no") ";;" CHANGED(
                           "\"_meta\":{\"" SUB "\":$ID}") },
          0,
          { 0 } },
        { "a stream that the server ends",
          { LISTENING,
            "subscriptions/listen=>" RES("$ID", "{\"resultType\":\"complete\"}") ";;" CHANGED(
                "\"_meta\":{\"" SUB "\":$ID}") },
          0,
          { 0 } },
        { "a stream that the server cancels",
          { LISTENING, "subscriptions/listen=>" NOTE(
                           "notifications/cancelled",
                           "{\"requestId\":$ID}") ";;" CHANGED("\"_meta\":{\"" SUB "\":$ID}") },
          0,
          { 0 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct session s;

        print_message("    %s\n", ways[i].what);
        ready(&s, ways[i].rules);
        if (ways[i].changed)
            session_until_count(&s, &s.changed, ways[i].changed, 2000);
        run_for(s.loop, 50);
        assert_int_equal(s.changed, ways[i].changed);
        assert_parts(session_log(&s), ways[i].parts, ways[i].what);
        assert_int_equal(mcp_client_inflight(s.c), 0);
        assert_false(s.closed);
        session_end(&s);
    }
}

/* No call of the peer lives for ever: the stream is opened anew, and the server told. */
static void a_listen_is_renewed_at_the_hard_maximum(void **state)
{
    struct session s;
    const char *log;

    session_start(&s, MCP_ERA_UNKNOWN, 3000,
                  (const char *const[]){ LISTENING, "subscriptions/listen=>" ACK, NULL });
    peer_set_hard_timeout(s.c->peer, 200);
    session_until(&s, &s.ready, 3000);
    run_for(s.loop, 500);
    log = session_log(&s);
    assert_true(count_of(log, "subscriptions/listen") >= 2);
    assert_parts(log, (const char *const[]){ "{\"requestId\":2,\"reason\":\"renewed\"}", NULL },
                 "log");
    assert_false(s.closed);
    session_end(&s);
}

/* SEC-31: coalesced to one a loop turn. */
static void a_flood_of_changes_is_coalesced(void **state)
{
    struct session s;
    struct answer a;

    ready(&s, (const char *const[]){ LEGACY, CALL "many 10000 " CHANGED("") ";;" GOOD, NULL });
    session_call(&s, &a, "tool", 20000);
    session_until_count(&s, &a.times, 1, 5000);
    run_for(s.loop, 20);
    assert_in_range(s.changed, 1, 500);
    answer_free(&a);
    session_end(&s);
}

/* An over-long answer fails the call, not the listen, though the listen is older
 * (security.md 3.2). */
static void the_listen_is_no_call(void **state)
{
    struct session s;
    struct answer a;

    ready(&s,
          (const char *const[]){
              LISTENING, "subscriptions/listen=>" ACK,
              CALL "bytes 17000000;;many 1 ;;" CHANGED("\"_meta\":{\"" SUB "\":2}"), NULL });
    session_call(&s, &a, "tool", 10000);
    session_until_count(&s, &a.times, 1, 5000);
    assert_int_equal(a.why.kind, ERR_LIMIT);
    session_until_count(&s, &s.changed, 1, 2000);
    answer_free(&a);
    session_end(&s);
}

/* ---- freed inside callbacks ---- */

struct ender {
    struct session *s;
    unsigned calls, closed;
};

static void end_on_result(void *ctx, yyjson_val *result, const struct error *e)
{
    struct ender *x = ctx;

    x->calls++;
    mcp_client_free(x->s->c);
    x->s->c = NULL;
    loop_stop(x->s->loop);
}

static void end_on_tools(void *ctx, struct str tools, struct str note, const struct error *e)
{
    end_on_result(ctx, NULL, e);
}

static void the_client_may_be_freed_by_any_callback_of_a_call(void **state)
{
    static const char *const ways[][4] = {
        { LEGACY, CALL GOOD, LIST },            /* by a result */
        { LEGACY, CALL FAIL("-1", "x"), LIST }, /* by an error */
        { LEGACY, CALL "exit 1", LIST },        /* by a crash: of several calls the first */
        { LEGACY, CALL, LIST RES("$ID", "{\"tools\":[]}") }, /* by a list */
        { LEGACY, CALL "bytes 17000000", LIST },             /* by an over-long line */
        { INIT_AS("2025-03-26"), CALL "[" GOOD "," RES("3", "{}") "]", LIST },
        { LEGACY, CALL "[" GOOD "," RES("3", "{}") "]", LIST },
    };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct session s;
        struct ender x = { .s = &s };

        ready(&s, ways[i]);
        mcp_client_call(s.c, STR("a"), STR(""), 5000, end_on_result, &x);
        mcp_client_call(s.c, STR("b"), STR(""), 5000, end_on_result, &x);
        mcp_client_list_tools(s.c, 5000, end_on_tools, &x);
        while (s.c)
            loop_run(s.loop);
        assert_int_equal(x.calls, 3);
        assert_false(s.closed);
        session_end(&s);
    }
}

static void free_on_ready(void *ctx)
{
    struct ender *x = ctx;

    mcp_client_free(x->s->c);
    x->s->c = NULL;
    loop_stop(x->s->loop);
}

static void free_on_closed(void *ctx, const struct error *why)
{
    struct ender *x = ctx;

    x->closed++;
    free_on_ready(ctx);
}

static void no_ready(void *ctx)
{
}

static void the_client_may_be_freed_when_ready_closed_or_changed(void **state)
{
    static const struct {
        const char *rules[4];
        struct mcp_client_ops ops;
    } ways[] = {
        { { LEGACY }, { free_on_ready, free_on_closed, free_on_ready } },
        { { MODERN }, { free_on_ready, free_on_closed, free_on_ready } },
        { { "start=>exit 1" }, { no_ready, free_on_closed, free_on_ready } },
        { { "start=>many 2000 x" }, { no_ready, free_on_closed, free_on_ready } },
        { { LEGACY ";;exit 1" }, { no_ready, free_on_closed, free_on_ready } },
        { { LEGACY, "notifications/initialized=>" CHANGED("") },
          { no_ready, free_on_closed, free_on_ready } },
    };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct session s;
        struct ender x = { .s = &s };
        const char *argv[6] = { FAKE_SERVER };
        const char *env[] = { "PATH=/usr/bin", "ASAN_OPTIONS=detect_leaks=0", NULL };
        struct mcp_client_opts o = { .label = "x",
                                     .argv = argv,
                                     .env = env,
                                     .startup_timeout_ms = 3000,
                                     .client_name = "u",
                                     .client_version = "0",
                                     .era = hint_for(ways[i].rules) };

        session_start(&s, MCP_ERA_UNKNOWN, 1000, (const char *const[]){ NULL });
        mcp_client_free(s.c);
        memcpy(argv + 1, ways[i].rules, sizeof ways[i].rules);
        s.c = mcp_client_start(s.loop, &o, &ways[i].ops, &x);
        while (s.c)
            loop_run(s.loop);
        session_end(&s);
    }
}

static void a_call_before_ready_fails_later_not_inside(void **state)
{
    struct session s;
    struct answer a, b;
    uint64_t id;

    session_start(&s, MCP_ERA_LEGACY, 2000, (const char *const[]){ LEGACY, NULL });
    session_call(&s, &a, "tool", 1000);
    id = session_call(&s, &b, "tool", 1000);
    assert_int_equal(a.times + b.times, 0);
    mcp_client_cancel(s.c, id);
    assert_int_equal(b.times, 1);
    session_until_count(&s, &a.times, 1, 500);
    assert_string_equal(a.why.msg, "server is not ready");
    session_until(&s, &s.ready, 2000);
    assert_int_equal(b.times, 1);
    answer_free(&a);
    answer_free(&b);
    session_end(&s);
}

/* MS-53: what the caller says about a later step. */
static void a_later_step_is_described_in_the_same_words(void **state)
{
    struct session s;
    struct error why, told;

    ready(&s, (const char *const[]){ LEGACY ";;err slow disk", NULL });
    run_for(s.loop, 50);
    error_set(&why, ERR_TIMEOUT, "timed out after 5 s");
    assert_false(mcp_client_start_error(s.c, "tools/list", &why, &told));
    assert_int_equal(told.kind, ERR_TIMEOUT);
    assert_parts(told.msg,
                 (const char *const[]){ "start failed at tools/list after ",
                                        " s: timed out after 5 s (command: ", "fake_server",
                                        "; stderr: slow disk", NULL },
                 "text");
    session_end(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_ends_once),
        cmocka_unit_test(a_long_error_message_is_cut),
        cmocka_unit_test(a_tool_name_with_a_nul_arrives_whole),
        cmocka_unit_test(a_timeout_tells_the_server_and_drops_the_late_answer),
        cmocka_unit_test(a_cancel_ends_the_call_before_it_returns_and_tells_the_server),
        cmocka_unit_test(progress_keeps_a_call_alive),
        cmocka_unit_test(progress_does_not_outlive_the_hard_maximum),
        cmocka_unit_test(a_crash_ends_all_calls_with_its_text),
        cmocka_unit_test(a_flood_is_stopped),
        cmocka_unit_test(a_server_that_does_not_read_blocks_nobody),
        cmocka_unit_test(pages_are_followed),
        cmocka_unit_test(at_most_ten_thousand_tools_are_taken),
        cmocka_unit_test(tools_that_need_a_task_are_shown_and_refused),
        cmocka_unit_test(changes_are_told_in_both_eras),
        cmocka_unit_test(a_listen_is_renewed_at_the_hard_maximum),
        cmocka_unit_test(a_flood_of_changes_is_coalesced),
        cmocka_unit_test(the_listen_is_no_call),
        cmocka_unit_test(the_client_may_be_freed_by_any_callback_of_a_call),
        cmocka_unit_test(the_client_may_be_freed_when_ready_closed_or_changed),
        cmocka_unit_test(a_call_before_ready_fails_later_not_inside),
        cmocka_unit_test(a_later_step_is_described_in_the_same_words),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
