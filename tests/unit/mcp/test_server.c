/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The server role, line by line. Each row names the ids it proves. Modern requests have a file
 * of their own. */
#include "support.h"

#include "messages.h"

/* ---- handshake ---- */

static void a_supported_revision_is_echoed_and_any_other_answered_with_our_latest_legacy(
    void **state)
{
    static const struct {
        const char *asked, *answered;
    } rows[] = {
        { "2024-10-07", "2024-10-07" }, /* MCP-L1: alias of 2024-11-05 */
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, /* MCP-L2 */
        { "1999-01-01", "2025-11-25" }, { "", "2025-11-25" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char ask[512], answer[512];

        snprintf(ask, sizeof ask,
                 REQ("1", "initialize", "{\"protocolVersion\":\"%s\",\"capabilities\":{}}"),
                 rows[i].asked);
        snprintf(answer, sizeof answer,
                 OK("1", "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":"
                         "{\"listChanged\":true},\"resources\":{}},\"serverInfo\":{\"name\":"
                         "\"fixture\",\"version\":\"1.2\"},"
                         "\"instructions\":\"how "
                         "to\",\"resultType\":\"<absent>\",\"_meta\":\"<absent>\"}"),
                 rows[i].answered);
        script_run(LINES(ask, answer));
    }
}

static void handshake_and_ping_per_revision(void **state)
{
    const struct scenario rows[] = {
        { "MCP-L4: no title in serverInfo before 2025-06-18",
          LINES(INIT("2025-03-26"), OK("1", "{\"serverInfo\":{\"title\":\"<absent>\"}}")) },
        { "MCP-L4: title from 2025-06-18 on",
          LINES(INIT("2025-06-18"), OK("1", "{\"serverInfo\":{\"title\":\"Fixture\"}}")) },
        { "MCP-L3: ping", LINES(HELLO("2025-11-25"), BARE("2", "ping"), OK("2", "{}")) },
        { "ping before the handshake", LINES(BARE("2", "ping"), OK("2", "{}")) },
        { "initialize without a version",
          LINES(REQ("1", "initialize", "{}"), ERR("1", "-32602")) },
        { "initialize cannot be cancelled: it is answered before the notification is read",
          LINES(INIT("2025-06-18"), INITED("2025-06-18"),
                NOTE("notifications/cancelled", "{\"requestId\":1}")) },
        { "logging is not offered (MCP-L8 is not built)",
          LINES(HELLO("2025-11-25"), REQ("2", "logging/setLevel", "{\"level\":\"info\"}"),
                ERR("2", "-32601")) },
    };

    RUN(rows);
}

/* ---- base rules ---- */

static void base_rules(void **state)
{
    const struct scenario rows[] = {
        { "MCP-S3: malformed lines are answered -32700 without id, and the server goes on",
          LINES(">{\"jsonrpc\":", ERR_NOID("-32700"), ">\xff\xfe", ERR_NOID("-32700"),
                BARE("2", "ping"), OK("2", "{}")) },
        { "an over-long line is answered -32600 without id",
          LINES("!toolong", ERR_NOID("-32600"), BARE("2", "ping"), OK("2", "{}")) },
        { "no message at all: -32600, with the id where one can be read",
          LINES(">{}", ERR_NOID("-32600"), ">7", ERR_NOID("-32600"),
                ">{\"id\":7,\"method\":\"ping\"}", ERR("7", "-32600"),
                ">{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", ERR("7", "-32600"),
                ">{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", ERR("7", "-32600"),
                ">{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":3}",
                ERR("7", "-32600")) },
        { "an id must be a string or an integer: null, fractions, booleans, containers "
          "are refused without id",
          LINES(BARE("null", "ping"), ERR_NOID("-32600"), BARE("1.5", "ping"),
                ERR_NOID("-32600"), BARE("1e-1", "ping"), ERR_NOID("-32600"),
                BARE("true", "ping"), ERR_NOID("-32600"), BARE("[1]", "ping"),
                ERR_NOID("-32600")) },
        { "MCP-S5: ids come back as they were: type, size, sign, escapes",
          LINES(BARE("\"1\"", "ping"), OK("\"1\"", "{}"), BARE("0", "ping"), OK("0", "{}"),
                BARE("1.0", "ping"), OK("1.0", "{}"), BARE("1e3", "ping"), OK("1e3", "{}"),
                BARE("-7", "ping"), OK("-7", "{}"),
                BARE("123456789012345678901234567890", "ping"),
                OK("123456789012345678901234567890", "{}"), BARE("\"\"", "ping"),
                OK("\"\"", "{}"), BARE("\"a\\\"b\\n\"", "ping"), OK("\"a\\\"b\\n\"", "{}")) },
        { "MCP-S4, S6: unknown notifications are ignored, unknown requests are -32601",
          LINES(NOTE("notifications/whatever", "{}"), NOTE("tools/list", "{}"),
                NOTE("ping", "{}"), BARE("3", "no/such"), ERR("3", "-32601"),
                REQ("4", "prompts/list", "{}"), ERR("4", "-32601"),
                REQ("5", "completion/complete", "{}"), ERR("5", "-32601")) },
        { "a response to nothing is dropped",
          LINES(">{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
                ">{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}",
                BARE("2", "ping"), OK("2", "{}")) },
        { "an id that is open is refused without id, so that the first request keeps its one "
          "answer",
          LINES(CALL("5", "slow", ""), CALL("5", "echo", ""), ERR_NOID("-32600"), "!finish",
                TEXT("5", "finished")) },
        { "an id may be used again after its answer",
          LINES(BARE("5", "ping"), OK("5", "{}"), BARE("5", "ping"), OK("5", "{}")) },
        { "requests and notifications with array params do not confuse",
          LINES(REQ("2", "tools/call", "[]"), ERR("2", "-32602"),
                NOTE("notifications/cancelled", "[]")) },
    };

    RUN(rows);
}

/* MCP-L6: arrays only where 2025-03-26 was negotiated. */
static void batches(void **state)
{
    static const char two[] = ">[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},{"
                              "\"jsonrpc\":\"2.0\",\"method\":\"x\"},"
                              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/such\"}]";
    const struct scenario rows[] = {
        { "accepted when 2025-03-26 was negotiated",
          LINES(HELLO("2025-03-26"), two, OK("2", "{}"), ERR("3", "-32601")) },
        { "refused before the handshake", LINES(two, ERR_NOID("-32600")) },
        { "refused in 2024-11-05", LINES(HELLO("2024-11-05"), two, ERR_NOID("-32600")) },
        { "refused in 2025-06-18", LINES(HELLO("2025-06-18"), two, ERR_NOID("-32600")) },
        { "refused in 2025-11-25", LINES(HELLO("2025-11-25"), two, ERR_NOID("-32600")) },
        { "an empty one is refused everywhere",
          LINES(">[]", ERR_NOID("-32600"), HELLO("2025-03-26"), ">[]", ERR_NOID("-32600")) },
        { "notifications alone have no answer",
          LINES(HELLO("2025-03-26"),
                ">[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]") },
        { "initialize inside one is refused, the rest served",
          LINES(HELLO("2025-03-26"),
                ">[{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"2025-03-26\"}},"
                "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]",
                ERR("8", "-32600"), OK("9", "{}")) },
        { "arrays in arrays and modern requests are no members",
          LINES(HELLO("2025-03-26"), ">[[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]]",
                ERR_NOID("-32600"),
                ">[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" META
                "}}]",
                ERR_NOID("-32600")) },
        { "a member that is no message is answered alone",
          LINES(HELLO("2025-03-26"), ">[1,{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]",
                ERR_NOID("-32600"), OK("2", "{}")) },
        { "a call stays open beyond its batch",
          LINES(HELLO("2025-03-26"),
                ">[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                "call\",\"params\":{\"name\":\"slow\"}}]",
                "!open 1", "!finish", TEXT("2", "finished")) },
    };

    RUN(rows);
}

/* security.md 3.1: no array keeps the loop busy for long. */
static void a_batch_of_too_many_messages_is_refused_whole(void **state)
{
    struct script_server *s = script_server_new(NULL);
    auto_buf many = BUF(1 << 20);

    buf_addz(&many, ">[");
    for (int i = 0; i <= MCP_SERVER_MAX_BATCH; i++)
        buf_addf(&many, "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i ? "," : "",
                 i + 10);
    buf_addc(&many, ']');
    for (const char *const *l = LINES(HELLO("2025-03-26"), buf_z(&many), ERR_NOID("-32600"));
         *l; l++)
        script_line(s, *l);
    script_done(s);
    script_server_free(s);
}

/* Requests keep the line they came in: many long ones at once are refused, and room comes back.
 */
static void the_text_of_open_requests_is_bounded(void **state)
{
    struct script_server *s = script_server_new(NULL);
    const char *const *last;

    for (int i = 0; i < 5; i++) {
        auto_buf line = BUF(32 << 20);

        buf_addf(&line, ">{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",", i + 1);
        buf_addz(&line, "\"params\":{\"name\":\"slow\",\"pad\":\"");
        buf_fill(&line, 'x', 15 << 20);
        buf_addz(&line, "\"}}");
        script_line(s, buf_z(&line));
    }
    for (last = LINES("!open 4", ERR("5", "-32603"), "!finish", TEXT("4", "finished"),
                      TEXT("3", "finished"), TEXT("2", "finished"), TEXT("1", "finished"),
                      ">{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}", OK("6", "{}"));
         *last; last++)
        script_line(s, *last);
    script_server_free(s);
}

static void a_server_freed_inside_a_batch_is_not_touched_again(void **state)
{
    struct script_server *s = script_server_new(NULL);
    const char *const *lines =
        LINES(HELLO("2025-03-26"), ">[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
                                   "call\",\"params\":{\"name\":\"gone\"}},"
                                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]");

    for (; *lines; lines++)
        script_line(s, *lines);
    script_done(s);
    script_server_free(s);
}

/* ---- tools ---- */

static void tools(void **state)
{
    const struct scenario rows[] = {
        { "MCP-S7, S8: absent, null and empty arguments count as {}",
          LINES(CALL("2", "echo", ""), TEXT("2", "no arguments"),
                CALL("3", "echo", ",\"arguments\":null"), TEXT("3", "no arguments"),
                CALL("4", "echo", ",\"arguments\":{}"), TEXT("4", "{}")) },
        { "arguments keep the text of their numbers",
          LINES(CALL("2", "echo",
                     ",\"arguments\":{\"n\":1.50,\"b\":123456789012345678901234567890}"),
                TEXT("2", "{\\\"n\\\":1.50,\\\"b\\\":123456789012345678901234567890}")) },
        { "MCP-S9: an unknown tool is -32602, a failing one isError",
          LINES(CALL("2", "nope", ""), ERR("2", "-32602"), CALL("3", "bad", ""),
                OK("3", "{\"isError\":true,\"content\":[\"<any>\"]}")) },
        { "malformed params are -32602",
          LINES(REQ("2", "tools/call", "{}"), ERR("2", "-32602"),
                REQ("3", "tools/call", "{\"name\":5}"), ERR("3", "-32602"),
                CALL("4", "echo", ",\"arguments\":[]"), ERR("4", "-32602"),
                BARE("5", "tools/call"), ERR("5", "-32602")) },
        { "MCP-S11: no cursor is ours, the empty one neither; null is absent",
          LINES(REQ("2", "tools/list", "{\"cursor\":\"x\"}"), ERR("2", "-32602"),
                REQ("3", "tools/list", "{\"cursor\":\"\"}"), ERR("3", "-32602"),
                REQ("4", "tools/list", "{\"cursor\":7}"), ERR("4", "-32602"),
                REQ("5", "tools/list", "{\"cursor\":null}"),
                OK("5", "{\"tools\":[{\"name\":\"echo\"},{\"name\":\"slow\"}]}")) },
        { "MCP-S14: the order is the same each time",
          LINES(BARE("2", "tools/list"),
                OK("2", "{\"tools\":[{\"name\":\"echo\"},{\"name\":\"slow\"}]}"),
                BARE("3", "tools/list"),
                OK("3", "{\"tools\":[{\"name\":\"echo\"},{\"name\":\"slow\"}]}")) },
        { "slow requests run beside others",
          LINES(CALL("2", "slow", ""), CALL("3", "slow", ""), "!open 2", BARE("4", "ping"),
                OK("4", "{}"), "!finish", TEXT("3", "finished"), TEXT("2", "finished"),
                "!open 0") },
    };

    RUN(rows);
}

/* mcp.md 6.1; MCP-L4. */
static void a_definition_loses_what_the_revision_lacks(void **state)
{
#define LIST BARE("2", "tools/list")
#define ECHO(members)                                             \
    OK("2", "{\"tools\":[{\"name\":\"echo\"," members             \
            "},{\"name\":\"slow\"}],\"resultType\":\"<absent>\"," \
            "\"ttlMs\":\"<absent>\",\"cacheScope\":\"<absent>\",\"_meta\":{\"k\":1}}")
#define GONE(key) "\"" key "\":\"<absent>\""
#define WRAPPED                                                                             \
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"array\"," \
    "\"items\":{\"$ref\":"                                                                  \
    "\"#/properties/result/$defs/"                                                          \
    "x\"},\"$defs\":{\"x\":{\"type\":\"number\"}}}},\"required\":[\"result\"]}"
    const struct scenario rows[] = {
        { "2024-11-05", LINES(HELLO("2024-11-05"), LIST,
                              ECHO(GONE("annotations") "," GONE("title") "," GONE(
                                  "outputSchema") "," GONE("icons") "," GONE("_meta"))) },
        { "2025-03-26",
          LINES(HELLO("2025-03-26"), LIST,
                ECHO("\"annotations\":{\"readOnlyHint\":true}," GONE("title") "," GONE(
                    "outputSchema") "," GONE("icons") "," GONE("_meta"))) },
        { "2025-06-18", LINES(HELLO("2025-06-18"), LIST,
                              ECHO("\"annotations\":{},\"title\":\"Echo\"," WRAPPED
                                   "," GONE("icons") ",\"_meta\":{\"a\":1}")) },
        { "2025-11-25",
          LINES(HELLO("2025-11-25"), LIST,
                ECHO("\"annotations\":{},\"title\":\"Echo\"," WRAPPED ",\"icons\":[],"
                     "\"_meta\":{\"a\":1}")) },
        { "2026-07-28", LINES(REQ("2", "tools/list", "{" META "}"),
                              OK("2", "{\"tools\":[{\"title\":\"Echo\",\"outputSchema\":{"
                                      "\"type\":\"array\"},\"icons\":[]},\"<any>\"]}")) },
    };

    RUN(rows);
}

static void a_result_loses_what_the_revision_lacks(void **state)
{
    const struct scenario rows[] = {
        { "2024-11-05", LINES(HELLO("2024-11-05"), CALL("2", "rich", ""),
                              OK("2", "{\"content\":[{\"type\":\"text\",\"data\":\"<absent>\"},"
                                      "{\"type\":\"text\",\"text\":\"x://"
                                      "y\"},{\"type\":\"resource\",\"_meta\":\"<absent>\","
                                      "\"resource\":{\"uri\":\"x://z\","
                                      "\"_meta\":\"<absent>\"}}," NOVEL "," COPY
                                      "],\"structuredContent\":\"<absent>\"}")) },
        { "2025-03-26", LINES(HELLO("2025-03-26"), CALL("2", "rich", ""),
                              OK("2", "{\"content\":[" AUDIO ",{\"type\":\"text\","
                                      "\"text\":\"x://y\"},\"<any>\"," NOVEL "," COPY
                                      "],\"structuredContent\":\"<absent>\"}")) },
        { "2025-06-18", LINES(HELLO("2025-06-18"), CALL("2", "rich", ""),
                              OK("2", "{\"content\":[" AUDIO ",{\"type\":\"resource_link\","
                                      "\"icons\":\"<absent>\"},{\"_meta\":{}}," NOVEL
                                      "],\"structuredContent\":{\"n\":1.50}}")) },
        { "2025-11-25", LINES(HELLO("2025-11-25"), CALL("2", "rich", ""),
                              OK("2", "{\"content\":[" AUDIO ",{\"type\":\"resource_link\","
                                      "\"icons\":[]},{\"_meta\":{}}," NOVEL
                                      "],\"structuredContent\":{\"n\":1.50}}")) },
        { "a structured value that is no object: copied to text for the oldest",
          LINES(HELLO("2025-03-26"), CALL("2", "list", ""),
                OK("2", "{\"content\":[{\"type\":\"text\",\"text\":\"[1,2]\"}],"
                        "\"structuredContent\":\"<absent>\"}")) },
        { "wrapped and copied for 2025-06-18 and 2025-11-25",
          LINES(
              HELLO("2025-11-25"), CALL("2", "list", ""),
              OK("2", "{\"content\":[{\"type\":\"text\",\"text\":\"[1,2]\"}],"
                      "\"structuredContent\":{\"result\":[1,2]}}"),
              HELLO("2025-06-18"), CALL("2", "list", ""),
              OK("2", "{\"content\":[\"<any>\"],\"structuredContent\":{\"result\":[1,2]}}")) },
        { "and as it is in 2026-07-28",
          LINES(CALL("2", "list", "," META),
                OK("2", "{\"content\":[],\"structuredContent\":[1,2]}")) },
    };

    RUN(rows);
}

static void resources(void **state)
{
    const struct scenario rows[] = {
        { "items lose what the revision lacks",
          LINES(HELLO("2025-03-26"), BARE("2", "resources/list"),
                OK("2",
                   "{\"resources\":[{\"uri\":\"x://a\",\"name\":\"a\","
                   "\"title\":\"<absent>\",\"icons\":\"<absent>\",\"_meta\":\"<absent>\"}]}"),
                REQ("3", "resources/read", "{\"uri\":\"x://a\"}"),
                OK("3",
                   "{\"contents\":[{\"uri\":\"x://"
                   "a\",\"text\":\"t\",\"_meta\":\"<absent>\"}],\"ttlMs\":\"<absent>\"}")) },
        { "an advertised capability answers its lists",
          LINES(HELLO("2025-11-25"), BARE("2", "resources/templates/list"),
                OK("2", "{\"resourceTemplates\":[]}")) },
        { "MCP-L7: not found is -32002 with the uri in legacy revisions",
          LINES(HELLO("2025-06-18"), REQ("2", "resources/read", "{\"uri\":\"x://b\"}"),
                ERR_DATA("2", "-32002", "{\"uri\":\"x://b\"}")) },
        { "MCP-M15: and -32602 in modern ones",
          LINES(REQ("2", "resources/read", "{\"uri\":\"x://b\"," META "}"),
                ERR_DATA("2", "-32602", "{\"uri\":\"x://b\"}")) },
        { "uri must be a string", LINES(REQ("2", "resources/read", "{}"), ERR("2", "-32602")) },
        { "no cursor is ours",
          LINES(REQ("2", "resources/list", "{\"cursor\":\"\"}"), ERR("2", "-32602"),
                REQ("3", "resources/templates/list", "{\"cursor\":\"a\"}"),
                ERR("3", "-32602")) },
        { "subscribing is not offered",
          LINES(REQ("2", "resources/subscribe", "{\"uri\":\"x://a\"}"), ERR("2", "-32601")) },
    };

    RUN(rows);
}

/* ---- progress and cancellation ---- */

#define PROGRESS(token, n, rest)                        \
    "<{\"id\":\"<absent>\",\"method\":\"notifications/" \
    "progress\",\"params\":{\"progressToken\":" token ",\"progress\":" n rest "}}"

static void progress(void **state)
{
    const struct scenario rows[] = {
        { "MCP-S12: without a token there is none",
          LINES(CALL("2", "steps", ""), TEXT("2", "done")) },
        { "MCP-S12: strictly increasing, none after the response",
          LINES(HELLO("2025-11-25"), CALL("2", "steps", ",\"_meta\":{\"progressToken\":7}"),
                PROGRESS("7", "1", ",\"total\":3,\"message\":\"one\""),
                PROGRESS("7", "3", ",\"total\":\"<absent>\",\"message\":\"three\""),
                TEXT("2", "done"), "!wait 80") },
        { "no message before 2025-03-26",
          LINES(HELLO("2024-11-05"), CALL("2", "steps", ",\"_meta\":{\"progressToken\":\"t\"}"),
                PROGRESS("\"t\"", "1", ",\"message\":\"<absent>\""), PROGRESS("\"t\"", "3", ""),
                TEXT("2", "done")) },
        { "modern, by the same token",
          LINES(CALL("2", "steps", "," META_TOKEN), PROGRESS("\"tok\"", "1", ""),
                PROGRESS("\"tok\"", "3", ""), OK("2", "{\"resultType\":\"complete\"}")) },
        { "a token of another type is none",
          LINES(CALL("2", "steps", ",\"_meta\":{\"progressToken\":1.5}"), TEXT("2", "done"),
                CALL("3", "steps", ",\"_meta\":{\"progressToken\":null}"), TEXT("3", "done")) },
        { "MS-77: of a burst the first and the last are sent",
          LINES(CALL("2", "burst", "," META_TOKEN), PROGRESS("\"tok\"", "1", ""), "!wait 100",
                PROGRESS("\"tok\"", "40", ""), "!wait 100", "!finish", OK("2", "{}")) },
        { "MS-77: and the last before the response, when that comes first",
          LINES(CALL("2", "burst", "," META_TOKEN), PROGRESS("\"tok\"", "1", ""), "!finish",
                PROGRESS("\"tok\"", "40", ""), OK("2", "{}"), "!wait 80") },
        { "none for a cancelled request",
          LINES(CALL("2", "burst", "," META_TOKEN), PROGRESS("\"tok\"", "1", ""),
                NOTE("notifications/cancelled", "{\"requestId\":2}"), "!wait 80") },
    };

    RUN(rows);
}

static void cancellation(void **state)
{
    const struct scenario rows[] = {
        { "MCP-S13: a cancelled request has no response",
          LINES(CALL("2", "slow", ""),
                NOTE("notifications/cancelled", "{\"requestId\":2,\"reason\":\"r\"}"),
                "!open 0", "!finish", BARE("3", "ping"), OK("3", "{}")) },
        { "MCP-S13: also when its handler cannot be told",
          LINES(CALL("2", "deaf", ""), NOTE("notifications/cancelled", "{\"requestId\":2}"),
                "!open 0", "!finish") },
        { "the id's type counts",
          LINES(CALL("2", "slow", ""), NOTE("notifications/cancelled", "{\"requestId\":\"2\"}"),
                "!open 1", "!finish", TEXT("2", "finished")) },
        { "unknown, answered and missing ids are ignored",
          LINES(NOTE("notifications/cancelled", "{\"requestId\":99}"),
                NOTE("notifications/cancelled", "{}"),
                ">{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
                BARE("1", "ping"), OK("1", "{}"),
                NOTE("notifications/cancelled", "{\"requestId\":1}")) },
        { "modern, with and without an envelope",
          LINES(CALL("\"a\"", "slow", "," META),
                NOTE("notifications/cancelled", "{\"requestId\":\"a\"," META "}"), "!open 0",
                CALL("\"b\"", "slow", "," META),
                NOTE("notifications/cancelled", "{\"requestId\":\"b\"}"), "!open 0") },
        { "the id may be used again",
          LINES(CALL("2", "slow", ""), NOTE("notifications/cancelled", "{\"requestId\":2}"),
                BARE("2", "ping"), OK("2", "{}")) },
    };

    RUN(rows);
}

static void the_cancel_function_is_called_once_by_cancel_or_by_the_end(void **state)
{
    struct script_server *s = script_server_new(NULL);

    script_line(s, CALL("2", "slow", ""));
    script_line(s, CALL("3", "slow", ""));
    script_line(s, NOTE("notifications/cancelled", "{\"requestId\":2}"));
    script_line(s, NOTE("notifications/cancelled", "{\"requestId\":2}"));
    assert_int_equal(script_cancels(s), 1);
    script_line(s, CALL("4", "slow", ""));
    script_line(s, "!finish");
    script_line(s, "<{\"id\":4}");
    script_line(s, "<{\"id\":3}");
    script_line(s, CALL("5", "slow", ""));
    assert_int_equal(script_cancels(s), 1);
    script_server_free(s); /* request 5: its cancel function answers, which is dropped */
}

static void a_cancel_function_may_free_the_server(void **state)
{
    struct script_server *s = script_server_new(NULL);

    script_line(s, CALL("2", "slow", ""));
    script_line(s, CALL("3", "last", ""));
    script_line(s, CALL("4", "slow", ""));
    mcp_server_feed(script_server_get(s), STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                              "cancelled\",\"params\":{\"requestId\":3}}"));
    assert_null(script_server_get(s));
    assert_int_equal(script_cancels(s), 3);
    script_done(s);
    script_server_free(s);
}

static void at_most_so_many_requests_are_open(void **state)
{
    struct script_server *s = script_server_new(NULL);
    char line[256];

    for (int i = 0; i < MCP_SERVER_MAX_REQUESTS; i++) {
        snprintf(line, sizeof line, CALL("%d", "slow", ""), i);
        script_line(s, line);
    }
    script_line(s, CALL("9000", "slow", ""));
    script_line(s, ERR("9000", "-32603"));
    script_line(s, BARE("9001", "ping"));
    script_line(s, OK("9001", "{}"));
    script_server_free(s);
}

/* ---- session ---- */

static void on_session_is_told_once_and_not_by_a_probe(void **state)
{
    static const struct {
        const char *what;
        const char *line;
        unsigned told;
    } rows[] = {
        { "MS-2: discover proves nothing", DISCOVER, 0 },
        { "nor does a notification", NOTE("notifications/initialized", "{}"), 0 },
        { "nor a refused request", REQ("1", "tools/list", "{\"_meta\":{" V "}}"), 0 },
        { "initialize does", INIT("2025-11-25"), 1 },
        { "a legacy request does", BARE("1", "tools/list"), 1 },
        { "a modern request does", REQ("1", "tools/list", "{" META "}"), 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct loop *l = loop_new();
        struct script_server *s = script_server_new(l);

        print_message("    %s\n", rows[i].what);
        for (int n = 0; n < 3; n++)
            mcp_server_feed(script_server_get(s), str_of(rows[i].line + 1));
        assert_int_equal(script_sessions(s), 0); /* behind the answer */
        run_for(l, 5);
        assert_int_equal(script_sessions(s), rows[i].told);
        script_server_free(s);
        loop_free(l);
    }
}

struct idle {
    struct script_server *s;
    unsigned times;
};

static void on_idle(void *ctx)
{
    struct idle *idle = ctx;

    idle->times++;
    assert_int_equal(mcp_server_open_requests(script_server_get(idle->s)), 0);
}

static void idle_is_told_when_the_last_request_ends(void **state)
{
    struct script_server *s = script_server_new(NULL);
    struct idle idle = { .s = s };

    mcp_server_on_idle(script_server_get(s), on_idle, &idle);
    script_line(s, CALL("2", "slow", ""));
    script_line(s, CALL("3", "slow", ""));
    script_line(s, NOTE("notifications/cancelled", "{\"requestId\":2}"));
    assert_int_equal(idle.times, 0);
    script_line(s, "!finish");
    assert_int_equal(idle.times, 1);
    script_line(s, "<{\"id\":3}");
    script_line(s, CALL("4", "deaf", ""));
    script_line(s, NOTE("notifications/cancelled", "{\"requestId\":4}"));
    assert_int_equal(idle.times, 2);
    script_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_supported_revision_is_echoed_and_any_other_answered_with_our_latest_legacy),
        cmocka_unit_test(handshake_and_ping_per_revision),
        cmocka_unit_test(base_rules),
        cmocka_unit_test(batches),
        cmocka_unit_test(a_batch_of_too_many_messages_is_refused_whole),
        cmocka_unit_test(the_text_of_open_requests_is_bounded),
        cmocka_unit_test(a_server_freed_inside_a_batch_is_not_touched_again),
        cmocka_unit_test(tools),
        cmocka_unit_test(a_definition_loses_what_the_revision_lacks),
        cmocka_unit_test(a_result_loses_what_the_revision_lacks),
        cmocka_unit_test(resources),
        cmocka_unit_test(progress),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(the_cancel_function_is_called_once_by_cancel_or_by_the_end),
        cmocka_unit_test(a_cancel_function_may_free_the_server),
        cmocka_unit_test(at_most_so_many_requests_are_open),
        cmocka_unit_test(on_session_is_told_once_and_not_by_a_probe),
        cmocka_unit_test(idle_is_told_when_the_last_request_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
