/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The server role in 2026-07-28, both eras on one pipe, and listens. Each row names the ids it
 * proves. */
#include "support.h"

#include "messages.h"

/* ---- modern ---- */

static void modern_results_carry_their_envelope(void **state)
{
    const struct scenario rows[] = {
        { "MCP-M1, M2: discover as the first request, twice",
          LINES(DISCOVER, DISCOVERED, DISCOVER, DISCOVERED) },
        { "MCP-M2: never sent", LINES(REQ("0", "tools/list", "{" META "}"),
                                      OK("0", "{\"tools\":[\"<any>\",\"<any>\"]}")) },
        { "MCP-M5, M6: tools/list; the handler's _meta is merged",
          LINES(REQ("0", "tools/list", "{" META "}"),
                OK("0", "{\"resultType\":\"complete\"," CACHE ",\"_meta\":{\"k\":1,"
                        "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fixture\"}}}")) },
        { "MCP-M5: tools/call has resultType and serverInfo, and no ttlMs",
          LINES(CALL("0", "rich", "," META),
                OK("0",
                   "{\"resultType\":\"complete\",\"ttlMs\":\"<absent>\",\"cacheScope\":\"<"
                   "absent>\"," INFO ",\"structuredContent\":{\"n\":1.50},\"content\":[" AUDIO
                   ",{\"icons\":[]},{\"_meta\":{}}," NOVEL "]}")) },
        { "MCP-M6: the resource cacheables; a handler's own ttlMs stays",
          LINES(REQ("1", "resources/list", "{" META "}"),
                OK("1", "{\"resultType\":\"complete\"," CACHE "," INFO "}"),
                REQ("2", "resources/templates/list", "{" META "}"),
                OK("2", "{\"resultType\":\"complete\"," CACHE "," INFO "}"),
                REQ("3", "resources/read", "{\"uri\":\"x://a\"," META "}"),
                OK("3",
                   "{\"resultType\":\"complete\",\"ttlMs\":5,\"cacheScope\":\"private\"," INFO
                   "}")) },
        { "errors carry no _meta",
          LINES(CALL("0", "nope", "," META),
                "<{\"id\":0,\"error\":{\"code\":-32602,\"_meta\":\"<absent>\"},"
                "\"_meta\":\"<absent>\"}") },
    };

    RUN(rows);
}

static void modern_requests_are_checked(void **state)
{
    const struct scenario rows[] = {
        { "MCP-M3: discover and listen without claim name what is missing",
          LINES(BARE("1", "server/discover"), ERR("1", "-32602"),
                REQ("2", "subscriptions/listen", "{\"notifications\":{}}"),
                ERR("2", "-32602")) },
        { "MCP-M3: missing or mistyped capabilities, mistyped version",
          LINES(REQ("1", "tools/list", "{\"_meta\":{" V "}}"), ERR("1", "-32602"),
                REQ("2", "tools/list",
                    "{\"_meta\":{" V ",\"io.modelcontextprotocol/clientCapabilities\":[]}}"),
                ERR("2", "-32602"),
                REQ("3", "tools/list",
                    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":7," C "}}"),
                ERR("3", "-32602"), REQ("4", "server/discover", "{\"_meta\":{" V "}}"),
                ERR("4", "-32602")) },
        { "MCP-M3: clientInfo is not needed, and extra keys do no harm",
          LINES(REQ("1", "tools/list",
                    "{\"_meta\":{" V "," C
                    ",\"io.modelcontextprotocol/clientInfo\":5,\"traceparent\":\"00\"}}"),
                OK("1", "{\"resultType\":\"complete\"}")) },
        { "an invalid log level is refused, a valid one taken; MCP-M11: nothing is logged to "
          "the client",
          LINES(REQ("1", "tools/list",
                    "{\"_meta\":{" V "," C ",\"io.modelcontextprotocol/logLevel\":\"loud\"}}"),
                ERR("1", "-32602"),
                REQ("2", "tools/list",
                    "{\"_meta\":{" V "," C ",\"io.modelcontextprotocol/logLevel\":\"debug\"}}"),
                OK("2", "{}")) },
        { "MCP-M4: another version is -32022 with what discover lists",
          LINES(REQ("1", "tools/list",
                    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2027-01-01\"," C
                    "}}"),
                ERR_DATA("1", "-32022",
                         "{\"supported\":[\"2026-07-28\"],\"requested\":\"2027-01-01\"}"),
                REQ("2", "server/discover",
                    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\"," C
                    "}}"),
                ERR_DATA("2", "-32022",
                         "{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}")) },
        { "MCP-M13: what modern revisions removed is -32601",
          LINES(REQ("1", "initialize", "{\"protocolVersion\":\"2025-11-25\"," META "}"),
                ERR("1", "-32601"), REQ("2", "ping", "{" META "}"), ERR("2", "-32601"),
                REQ("3", "logging/setLevel", "{\"level\":\"info\"," META "}"),
                ERR("3", "-32601"),
                REQ("4", "resources/subscribe", "{\"uri\":\"x://a\"," META "}"),
                ERR("4", "-32601"),
                REQ("5", "resources/unsubscribe", "{\"uri\":\"x://a\"," META "}"),
                ERR("5", "-32601")) },
        { "MCP-M16: nothing is inferred from earlier requests",
          LINES(REQ("1", "tools/list", "{" META "}"), OK("1", "{}"),
                REQ("2", "tools/list", "{\"_meta\":{" V "}}"), ERR("2", "-32602"),
                CALL("3", "echo", "," META_TOKEN), TEXT("3", "no arguments"),
                CALL("4", "steps", "," META), TEXT("4", "done")) },
    };

    RUN(rows);
}

/* mcp.md 1.1, row by row; MCP-M17. */
static void both_eras_share_one_pipe(void **state)
{
    const struct scenario rows[] = {
        { "MCP-M17: initialize after a discover probe",
          LINES(DISCOVER, DISCOVERED, HELLO("2025-11-25"), BARE("2", "tools/list"),
                OK("2", "{\"resultType\":\"<absent>\"}")) },
        { "discover after a legacy handshake is answered",
          LINES(HELLO("2025-11-25"), DISCOVER, DISCOVERED) },
        { "no handshake, no claim: the latest legacy revision",
          LINES(
              BARE("1", "tools/list"),
              OK("1", "{\"tools\":[{\"icons\":[]},\"<any>\"],\"resultType\":\"<absent>\"}")) },
        { "only modern requests so far: a request without claim is refused",
          LINES(REQ("1", "tools/list", "{" META "}"), OK("1", "{}"), BARE("2", "tools/list"),
                ERR("2", "-32602"), BARE("3", "ping"), ERR("3", "-32602"),
                REQ("4", "tools/list", "{" META "}"),
                OK("4", "{\"resultType\":\"complete\"}")) },
        { "but initialize opens the other era, and both go on beside each other",
          LINES(REQ("0", "tools/list", "{" META "}"), OK("0", "{}"), HELLO("2025-06-18"),
                BARE("2", "ping"), OK("2", "{}"), REQ("3", "tools/list", "{" META "}"),
                OK("3", "{\"resultType\":\"complete\"}"), BARE("4", "tools/list"),
                OK("4", "{\"resultType\":\"<absent>\"}")) },
        { "a malformed claim is never served as legacy",
          LINES(HELLO("2025-11-25"), REQ("2", "tools/list", "{\"_meta\":{" V "}}"),
                ERR("2", "-32602"), BARE("3", "ping"), OK("3", "{}")) },
        { "initialize with a claim that is not valid is a legacy handshake",
          LINES(REQ("1", "initialize",
                    "{\"protocolVersion\":\"2025-06-18\",\"_meta\":{\"io.modelcontextprotocol/"
                    "protocolVersion\":\"2025-06-18\"}}"),
                INITED("2025-06-18")) },
        { "_meta without the version key is no claim",
          LINES(HELLO("2025-11-25"),
                REQ("2", "tools/list", "{\"_meta\":{\"progressToken\":1}}"),
                OK("2", "{\"resultType\":\"<absent>\"}")) },
    };

    RUN(rows);
}

/* ---- listen and list_changed ---- */

#define LISTEN(id, filter) \
    REQ(id, "subscriptions/listen", "{\"notifications\":" filter "," META "}")
#define ACK(id, accepted)                                                                  \
    "<{\"id\":\"<absent>\",\"method\":\"notifications/subscriptions/"                      \
    "acknowledged\",\"params\":{\"notifications\":" accepted ",\"_meta\":{\"" SUB "\":" id \
    "}}}"
#define CHANGED(id)                                           \
    "<{\"id\":\"<absent>\",\"method\":\"notifications/tools/" \
    "list_changed\",\"params\":{\"_meta\":{\"" SUB "\":" id "}}}"
#define CHANGED_LEGACY                                        \
    "<{\"id\":\"<absent>\",\"method\":\"notifications/tools/" \
    "list_changed\",\"params\":\"<absent>\"}"
#define ALL                                                                                 \
    "{\"toolsListChanged\":true,\"promptsListChanged\":true,\"resourcesListChanged\":true," \
    "\"resourceSubscriptions\":[\"x://a\"]}"
#define ONLY                                                                                   \
    "{\"toolsListChanged\":true,\"promptsListChanged\":\"<absent>\",\"resourcesListChanged\":" \
    "\"<absent>\","                                                                            \
    "\"resourceSubscriptions\":\"<absent>\"}"

static void listens(void **state)
{
    const struct scenario rows[] = {
        { "MCP-M12: acknowledged first, with what we can serve; the id keeps its type",
          LINES(LISTEN("\"listen:0\"", ALL), ACK("\"listen:0\"", ONLY), "!changed",
                CHANGED("\"listen:0\""), "!open 0") },
        { "MCP-M12: several at once, each by its filter",
          LINES(LISTEN("1", ALL), ACK("1", ONLY), LISTEN("\"1\"", "{}"),
                ACK("\"1\"", "{\"toolsListChanged\":\"<absent>\"}"),
                LISTEN("2", "{\"toolsListChanged\":false}"),
                ACK("2", "{\"toolsListChanged\":\"<absent>\"}"), LISTEN("3", ALL),
                ACK("3", ONLY), "!changed", CHANGED("1"), CHANGED("3"),
                REQ("4", "tools/list", "{" META "}"), OK("4", "{}")) },
        { "MCP-M12: cancel ends it silently",
          LINES(LISTEN("1", ALL), ACK("1", ONLY),
                NOTE("notifications/cancelled", "{\"requestId\":1," META "}"), "!changed",
                LISTEN("1", ALL), ACK("1", ONLY)) },
        { "at the end of input each is answered, once",
          LINES(LISTEN("1", ALL), ACK("1", ONLY), LISTEN("\"b\"", ALL), ACK("\"b\"", ONLY),
                "!eof", OK("1", "{\"resultType\":\"complete\",\"_meta\":{\"" SUB "\":1}}"),
                OK("\"b\"", "{\"resultType\":\"complete\",\"_meta\":{\"" SUB "\":\"b\"}}"),
                "!eof") },
        { "the id of an open listen is not free",
          LINES(LISTEN("1", ALL), ACK("1", ONLY), REQ("1", "tools/list", "{" META "}"),
                ERR_NOID("-32600")) },
        { "notifications must be an object",
          LINES(REQ("1", "subscriptions/listen", "{" META "}"), ERR("1", "-32602")) },
        { "MCP-L5: a legacy client is told after its initialized, never before",
          LINES("!changed", INIT("2025-11-25"), INITED("2025-11-25"), "!wait 1100", "!changed",
                "!wait 1100", NOTE("notifications/initialized", "{}"), "!changed",
                CHANGED_LEGACY) },
        { "MS-75: at most once a second, and none is lost; both eras",
          LINES(HELLO("2025-11-25"), LISTEN("9", ALL), ACK("9", ONLY), "!changed",
                CHANGED_LEGACY, CHANGED("9"), "!changed", "!changed", "!wait 500",
                BARE("2", "ping"), OK("2", "{}"), "!wait 700", CHANGED_LEGACY, CHANGED("9"),
                "!wait 1100") },
    };

    RUN(rows);
}

static void at_most_so_many_listens(void **state)
{
    struct script_server *s = script_server_new(NULL);
    char line[512];

    for (int i = 0; i < MCP_SERVER_MAX_LISTENS; i++) {
        snprintf(line, sizeof line, LISTEN("%d", "{}"), i);
        script_line(s, line);
        script_line(s, "<{\"method\":\"notifications/subscriptions/acknowledged\"}");
    }
    script_line(s, LISTEN("9000", "{}"));
    script_line(s, ERR("9000", "-32603"));
    script_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modern_results_carry_their_envelope),
        cmocka_unit_test(modern_requests_are_checked),
        cmocka_unit_test(both_eras_share_one_pipe),
        cmocka_unit_test(listens),
        cmocka_unit_test(at_most_so_many_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
