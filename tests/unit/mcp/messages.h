/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lines of the server's scripts (script.h), shortly. */
#ifndef SYM_TEST_MCP_MESSAGES_H
#define SYM_TEST_MCP_MESSAGES_H

#include "script.h"

#define REQ(id, method, params) \
    ">{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":" params "}"
#define BARE(id, method) ">{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define NOTE(method, params) \
    ">{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params "}"
#define OK(id, result) \
    "<{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result ",\"error\":\"<absent>\"}"
#define ERR(id, code) \
    "<{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"<any>\"}}"
#define ERR_DATA(id, code, data)                                    \
    "<{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
    ",\"message\":\"<any>\",\"data\":" data "}}"
#define ERR_NOID(code) ERR("\"<absent>\"", code)

#define V          "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""
#define C          "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define META       "\"_meta\":{" V "," C "}"
#define META_TOKEN "\"_meta\":{" V "," C ",\"progressToken\":\"tok\"}"
#define SUB        "io.modelcontextprotocol/subscriptionId"

#define INIT(version)                     \
    REQ("1", "initialize",                \
        "{\"protocolVersion\":\"" version \
        "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}")
#define INITED(version)      OK("1", "{\"protocolVersion\":\"" version "\"}")
#define HELLO(version)       INIT(version), INITED(version), NOTE("notifications/initialized", "{}")
#define CALL(id, name, rest) REQ(id, "tools/call", "{\"name\":\"" name "\"" rest "}")
#define TEXT(id, text)                                                                       \
    OK(id, "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":\"<absent>" \
           "\"}")

struct scenario {
    const char *what;
    const char *const *lines;
};
#define LINES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static inline void run_all(const struct scenario *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        print_message("    %s\n", rows[i].what);
        script_run(rows[i].lines);
    }
}
#define RUN(rows) run_all(rows, ARRAY_LEN(rows))

/* What the tool `rich` answers, in parts. */
#define AUDIO "{\"type\":\"audio\",\"data\":\"AAAA\"}"
#define COPY  "{\"type\":\"text\",\"text\":\"{\\\"n\\\":1.50}\"}"
#define NOVEL "{\"type\":\"novel\",\"x\":1}"

#define INFO                                \
    "\"_meta\":{\"io.modelcontextprotocol/" \
    "serverInfo\":{\"name\":\"fixture\",\"title\":\"Fixture\",\"version\":\"1.2\"}}"
#define CACHE    "\"ttlMs\":0,\"cacheScope\":\"private\""
#define DISCOVER REQ("\"d\"", "server/discover", "{" META "}")
#define DISCOVERED                                                                            \
    OK("\"d\"", "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"        \
                "\"capabilities\":{\"tools\":"                                                \
                "{\"listChanged\":true},\"resources\":{}},\"instructions\":\"how to\"," CACHE \
                "," INFO ",\"serverInfo\":\"<absent>\",\"protocolVersion\":\"<absent>\"}")

#endif
