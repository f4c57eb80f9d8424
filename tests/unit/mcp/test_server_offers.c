/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The server role: what a definition offers beyond tools, and what it leaves out. Each row
 * names the ids and sections of mcp.md that it proves. */
#include "support.h"

#include "messages.h"

#define RUN_AS(def, rows)                          \
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) { \
        print_message("    %s\n", (rows)[i].what); \
        script_run_as(def, (rows)[i].lines);       \
    }

static void reply(struct mcp_req *r, const char *result)
{
    mcp_reply(r, str_of(result));
}

/* ---- a server that offers nothing ---- */

static const struct script_def bare = { .mcp = { .name = "bare", .version = "1" } };

static void what_is_not_defined_is_not_offered(void **state)
{
    const struct scenario rows[] = {
        { "SV-12: no capability; tools/list is empty, tools/call does not exist",
          LINES(INIT("2025-11-25"),
                OK("1", "{\"capabilities\":{\"tools\":\"<absent>\",\"prompts\":\"<absent>\","
                        "\"resources\":\"<absent>\",\"extensions\":\"<absent>\"}}"),
                BARE("2", "tools/list"), OK("2", "{\"tools\":[]}"), CALL("3", "x", ""),
                ERR("3", "-32601"), BARE("4", "prompts/list"), ERR("4", "-32601"),
                REQ("5", "resources/subscribe", "{\"uri\":\"x://a\"}"), ERR("5", "-32601")) },
        { "SV-12: the same for a modern client",
          LINES(DISCOVER,
                OK("\"d\"", "{\"capabilities\":{\"tools\":\"<absent>\",\"resources\":"
                            "\"<absent>\",\"extensions\":\"<absent>\"}}"),
                REQ("2", "tools/list", "{" META "}"),
                OK("2", "{\"tools\":[],\"resultType\":\"complete\"," CACHE "}"),
                CALL("3", "x", "," META), ERR("3", "-32601"),
                REQ("4", "prompts/get", "{\"name\":\"p\"," META "}"), ERR("4", "-32601"),
                REQ("5", "subscriptions/listen",
                    "{\"notifications\":{\"resourceSubscriptions\":[\"x://a\"],"
                    "\"toolsListChanged\":true}," META "}"),
                "<{\"method\":\"notifications/subscriptions/acknowledged\",\"params\":"
                "{\"notifications\":{\"resourceSubscriptions\":\"<absent>\","
                "\"toolsListChanged\":\"<absent>\"}}}") },
    };

    (void)state;
    RUN_AS(&bare, rows);
}

/* ---- a server that offers all ---- */

#define PROMPTS                                                                         \
    "{\"prompts\":[{\"name\":\"p\",\"title\":\"P\",\"description\":\"d\",\"icons\":[]," \
    "\"_meta\":{},\"arguments\":[{\"name\":\"url\",\"title\":\"URL\",\"required\":true}]}]}"

#define AUDIO_MESSAGE                                                                   \
    "{\"description\":\"d\",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":"    \
    "\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"}},{\"role\":\"assistant\"," \
    "\"content\":{\"type\":\"text\",\"text\":\"t\",\"_meta\":{}}}]}"

static struct {
    unsigned began, ended; /* calls of resources_watched */
    unsigned changes;      /* of roots_changed */
    unsigned answers;      /* of roots/list */
    size_t roots;
    enum err_kind error;
} seen;

static void prompts_list(void *ctx, struct mcp_req *r)
{
    reply(r, PROMPTS);
}

static void prompts_get(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    if (!str_is(name, "p"))
        mcp_reply_error(r, -32602, STR(""), "unknown prompt");
    else if (!json_get(args, "url"))
        mcp_reply_error(r, -32602, STR(""), "URL is required");
    else
        reply(r, AUDIO_MESSAGE);
}

static void resources_read(void *ctx, struct mcp_req *r, struct str uri)
{
    if (str_is(uri, "x://a"))
        reply(r, "{\"contents\":[{\"uri\":\"x://a\",\"text\":\"t\"}]}");
    else
        mcp_reply_no_resource(r, uri);
}

static bool is_watchable(void *ctx, struct str uri)
{
    return str_starts(uri, STR("x://"));
}

static void watched(void *ctx, bool any)
{
    seen.began += any;
    seen.ended += !any;
}

static void roots_changed(void *ctx)
{
    seen.changes++;
}

static void on_roots(void *ctx, yyjson_val *roots, const struct error *e)
{
    seen.answers++;
    seen.roots = json_len(roots);
    seen.error = e ? e->kind : ERR_NONE;
    assert_true(!roots == !!e);
}

static struct mcp_req *waiting;

/* `hold` stays open until !release; `roots` says whether its client has them. */
static void tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    if (str_is(name, "hold")) {
        waiting = r;
    } else if (str_is(name, "roots")) {
        mcp_reply_text(r, mcp_req_has_roots(r) ? STR("yes") : STR("no"), false);
    } else {
        mcp_reply_text(r, STR(""), false);
    }
}

static void extra_list(void *ctx, struct mcp_req *r)
{
    reply(r, "{\"things\":[]}");
}

static void expect(struct str word, const char *name, struct str want, size_t got, bool *ret)
{
    int64_t n;

    if (!str_is(word, name))
        return;
    assert_true(str_to_int(want, 0, 1 << 20, &n));
    assert_int_equal(got, n);
    *ret = true;
}

static bool act(struct script_server *s, struct str word, struct str rest)
{
    struct mcp_server *mcp = script_server_get(s);
    bool known = true;
    struct error e;

    if (str_is(word, "updated")) {
        mcp_server_resource_updated(mcp, rest);
    } else if (str_is(word, "ask")) {
        assert_true(mcp_server_list_roots(mcp, 100, on_roots, s, &e));
    } else if (str_is(word, "mustnotask")) {
        assert_false(mcp_server_list_roots(mcp, 100, on_roots, s, &e));
        assert_int_equal(e.kind, ERR_INVALID);
    } else if (str_is(word, "release")) {
        mcp_reply_text(waiting, STR("held"), false);
    } else {
        known = false;
        expect(word, "began", rest, seen.began, &known);
        expect(word, "ended", rest, seen.ended, &known);
        expect(word, "changes", rest, seen.changes, &known);
        expect(word, "answers", rest, seen.answers, &known);
        expect(word, "roots", rest, seen.roots, &known);
        expect(word, "error", rest, seen.error, &known);
    }
    return known;
}

static const struct mcp_extension extensions[] = {
    { "io.example/things", "{\"deep\":true}" },
};
static const struct mcp_method_def methods[] = {
    { "things/list", extra_list },
    { "things/use", extra_list, .requires = "io.example/things", .uncached = true },
};
#define META_OFFERING                                                  \
    "\"_meta\":{" V ",\"io.modelcontextprotocol/clientCapabilities\":" \
    "{\"extensions\":{\"io.example/things\":{}}}}"

static const struct script_def rich = {
    .mcp = {
        .name = "rich",
        .version = "1",
        .list_scope = MCP_SCOPE_PUBLIC,
        .tools_call = tools_call,
        .prompts_list = prompts_list,
        .prompts_get = prompts_get,
        .resources_read = resources_read,
        .no_resource = "Unknown resource URI",
        .resources_watchable = is_watchable,
        .resources_watched = watched,
        .roots_changed = roots_changed,
        .extensions = extensions,
        .nextensions = ARRAY_LEN(extensions),
        .methods = methods,
        .nmethods = ARRAY_LEN(methods),
    },
    .asks = true,
    .act = act,
};

static int forget(void **state)
{
    memset(&seen, 0, sizeof seen);
    return 0;
}

static void cache_scopes_are_the_definitions(void **state)
{
#define SCOPED(id, scope) OK(id, "{\"ttlMs\":0,\"cacheScope\":\"" scope "\"}")
    const struct scenario rows[] = {
        { "SV-13, MCP-M6: lists and discover public, resources private, prompts/get neither",
          LINES(DISCOVER, SCOPED("\"d\"", "public"), REQ("1", "tools/list", "{" META "}"),
                SCOPED("1", "public"), REQ("2", "prompts/list", "{" META "}"),
                SCOPED("2", "public"), REQ("3", "resources/list", "{" META "}"),
                SCOPED("3", "private"), REQ("4", "resources/templates/list", "{" META "}"),
                SCOPED("4", "private"),
                REQ("5", "resources/read", "{\"uri\":\"x://a\"," META "}"),
                SCOPED("5", "private"),
                REQ("6", "prompts/get",
                    "{\"name\":\"p\",\"arguments\":{\"url\":\"u\"}," META "}"),
                OK("6", "{\"ttlMs\":\"<absent>\",\"cacheScope\":\"<absent>\"}")) },
    };

    (void)state;
    RUN_AS(&rich, rows);
}

static void prompts_in_every_revision(void **state)
{
#define GET(id, rest) REQ(id, "prompts/get", "{\"name\":\"p\"" rest "}")
#define WITH_URL      ",\"arguments\":{\"url\":\"u\"}"
    const struct scenario rows[] = {
        { "mcp.md 6.3: 2024-11-05 has no title, icons, _meta, and no audio (MCP-L4)",
          LINES(HELLO("2024-11-05"), BARE("2", "prompts/list"),
                OK("2", "{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"title\":"
                        "\"<absent>\",\"icons\":\"<absent>\",\"_meta\":\"<absent>\","
                        "\"arguments\":[{\"name\":\"url\",\"title\":\"<absent>\","
                        "\"required\":true}]}],\"ttlMs\":\"<absent>\"}"),
                GET("3", WITH_URL),
                OK("3", "{\"description\":\"d\",\"messages\":[{\"role\":\"user\",\"content\":"
                        "{\"type\":\"text\"}},{\"role\":\"assistant\",\"content\":{\"text\":"
                        "\"t\",\"_meta\":\"<absent>\"}}]}")) },
        { "2025-06-18 has all but icons; 2025-11-25 has them",
          LINES(HELLO("2025-06-18"), BARE("2", "prompts/list"),
                OK("2", "{\"prompts\":[{\"title\":\"P\",\"icons\":\"<absent>\",\"arguments\":"
                        "[{\"title\":\"URL\"}]}]}"),
                GET("3", WITH_URL),
                OK("3", "{\"messages\":[{\"content\":{\"type\":\"audio\"}},{\"content\":"
                        "{\"_meta\":{}}}]}"),
                INIT("2025-11-25"), INITED("2025-11-25"), BARE("4", "prompts/list"),
                OK("4", "{\"prompts\":[{\"icons\":[]}]}")) },
        { "2026-07-28", LINES(REQ("2", "prompts/list", "{" META "}"), OK("2", PROMPTS),
                              GET("3", WITH_URL "," META), OK("3", AUDIO_MESSAGE)) },
        { "an unknown prompt, a missing argument, arguments that are no strings, a cursor",
          LINES(HELLO("2025-11-25"), REQ("2", "prompts/get", "{\"name\":\"q\"}"),
                ERR("2", "-32602"), GET("3", ""),
                "<{\"id\":3,\"error\":{\"code\":-32602,\"message\":\"URL is required\"}}",
                GET("4", ",\"arguments\":{\"url\":7}"), ERR("4", "-32602"),
                GET("5", ",\"arguments\":[]"), ERR("5", "-32602"),
                REQ("6", "prompts/get", "{}"), ERR("6", "-32602"),
                REQ("7", "prompts/list", "{\"cursor\":\"\"}"), ERR("7", "-32602")) },
        { "the capability is advertised in both eras (mcp.md 3.4)",
          LINES(INIT("2025-06-18"), OK("1", "{\"capabilities\":{\"prompts\":{}}}"), DISCOVER,
                OK("\"d\"", "{\"capabilities\":{\"prompts\":{}}}")) },
    };

    (void)state;
    RUN_AS(&rich, rows);
}

#define UPDATED(uri)                                                              \
    "<{\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"" uri \
    "\",\"_meta\":\"<absent>\"}}"
#define UPDATED_ON(uri, id)                                                       \
    "<{\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"" uri \
    "\",\"_meta\":{\"" SUB "\":" id "}}}"
#define SUBSCRIBE(id, uri)   REQ(id, "resources/subscribe", "{\"uri\":\"" uri "\"}")
#define UNSUBSCRIBE(id, uri) REQ(id, "resources/unsubscribe", "{\"uri\":\"" uri "\"}")
#define LISTEN(id, uris)            \
    REQ(id, "subscriptions/listen", \
        "{\"notifications\":{\"resourceSubscriptions\":" uris "}," META "}")
#define ACK(id, uris)                                                       \
    "<{\"method\":\"notifications/subscriptions/acknowledged\",\"params\":" \
    "{\"notifications\":{\"resourceSubscriptions\":" uris "},\"_meta\":{\"" SUB "\":" id "}}}"

static void a_legacy_session_subscribes_to_resources(void **state)
{
    const struct scenario rows[] = {
        { "mcp.md 6.2, ME-24: told only between subscribe and unsubscribe",
          LINES(INIT("2025-11-25"),
                OK("1", "{\"capabilities\":{\"resources\":"
                        "{\"subscribe\":true}}}"),
                "!updated x://a", SUBSCRIBE("2", "x://a"), OK("2", "{}"), "!began 1",
                "!updated x://a", UPDATED("x://a"), "!updated x://b", SUBSCRIBE("3", "x://a"),
                OK("3", "{}"), UNSUBSCRIBE("4", "x://a"), OK("4", "{}"), "!ended 1", "!wait 80",
                "!updated x://a", UNSUBSCRIBE("5", "x://never"), OK("5", "{}"), "!ended 1") },
        { "a burst is the first at once and one more; the last is never lost",
          LINES(HELLO("2024-11-05"), SUBSCRIBE("2", "x://a"), OK("2", "{}"), "!updated x://a",
                UPDATED("x://a"), "!updated x://a", "!updated x://a", "!updated x://a",
                "!wait 90", UPDATED("x://a"), "!wait 90") },
        { "one that is unsubscribed while a change waits is not told",
          LINES(HELLO("2025-11-25"), SUBSCRIBE("2", "x://a"), OK("2", "{}"), "!updated x://a",
                UPDATED("x://a"), "!updated x://a", UNSUBSCRIBE("3", "x://a"), OK("3", "{}"),
                "!wait 90") },
        { "what cannot be subscribed to; MCP-L7 with the server's own text",
          LINES(HELLO("2025-11-25"), SUBSCRIBE("2", "y://a"),
                "<{\"id\":2,\"error\":{\"code\":-32002,\"message\":"
                "\"Unknown resource URI: y://a\",\"data\":{\"uri\":\"y://a\"}}}",
                REQ("3", "resources/subscribe", "{}"), ERR("3", "-32602"),
                REQ("4", "resources/unsubscribe", "{\"uri\":1}"), ERR("4", "-32602"),
                "!began 0") },
        { "MCP-M13: a modern client has neither method; MCP-M15: nor the code",
          LINES(REQ("2", "resources/subscribe", "{\"uri\":\"x://a\"," META "}"),
                ERR("2", "-32601"),
                REQ("3", "resources/unsubscribe", "{\"uri\":\"x://a\"," META "}"),
                ERR("3", "-32601"), REQ("4", "resources/read", "{\"uri\":\"y\"," META "}"),
                "<{\"id\":4,\"error\":{\"code\":-32602,\"message\":"
                "\"Unknown resource URI: y\",\"data\":{\"uri\":\"y\"}}}") },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        forget(NULL);
        print_message("    %s\n", rows[i].what);
        script_run_as(&rich, rows[i].lines);
    }
}

static void a_listen_subscribes_to_resources(void **state)
{
    const struct scenario rows[] = {
        { "mcp.md 6.8, MCP-M12, ME-24: the subset is acknowledged, each change tagged",
          LINES(LISTEN("7", "[\"x://a\",\"y://no\",5,\"x://a\",\"x://b\"]"),
                ACK("7", "[\"x://a\",\"x://b\"]"), "!began 1", "!updated x://b",
                UPDATED_ON("x://b", "7"), "!updated y://no",
                NOTE("notifications/cancelled", "{\"requestId\":7}"), "!ended 1", "!wait 80",
                "!updated x://b") },
        { "several listens and the session: one copy each, the count of all",
          LINES(HELLO("2025-11-25"), SUBSCRIBE("2", "x://a"), OK("2", "{}"),
                LISTEN("\"s\"", "[\"x://a\"]"), ACK("\"s\"", "[\"x://a\"]"),
                LISTEN("8", "[\"x://b\"]"), ACK("8", "[\"x://b\"]"), "!updated x://a",
                UPDATED("x://a"), UPDATED_ON("x://a", "\"s\""), "!began 1",
                UNSUBSCRIBE("3", "x://a"), OK("3", "{}"),
                NOTE("notifications/cancelled", "{\"requestId\":\"s\"}"), "!ended 0",
                NOTE("notifications/cancelled", "{\"requestId\":8}"), "!ended 1") },
        { "a filter of nothing that we have is acknowledged as nothing",
          LINES(LISTEN("7", "[\"y://no\"]"), ACK("7", "\"<absent>\""), "!began 0") },
        { "at the end a change that waits is told before the closing result",
          LINES(LISTEN("7", "[\"x://a\"]"), ACK("7", "[\"x://a\"]"), "!updated x://a",
                UPDATED_ON("x://a", "7"), "!updated x://a", "!eof", UPDATED_ON("x://a", "7"),
                OK("7", "{\"resultType\":\"complete\",\"_meta\":{\"" SUB "\":7}}"),
                "!ended 1") },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        forget(NULL);
        print_message("    %s\n", rows[i].what);
        script_run_as(&rich, rows[i].lines);
    }
}

static void subscriptions_are_bounded(void **state)
{
    char line[8192], uri[MCP_SERVER_MAX_WATCHED_URI + 16] = "x://";
    static const struct script_def quiet = {
        .mcp = { .name = "q",
                 .version = "1",
                 .resources_read = resources_read,
                 .resources_watchable = is_watchable },
    };

    (void)state;
    for (int i = 0; i <= MCP_SERVER_MAX_WATCHED; i++) {
        static char lines[MCP_SERVER_MAX_WATCHED + 1][128];
        static const char *script[2 * MCP_SERVER_MAX_WATCHED + 8];

        snprintf(lines[i], sizeof lines[i], SUBSCRIBE("%d", "x://%d"), i, i);
        script[2 * i] = lines[i];
        script[2 * i + 1] =
            i < MCP_SERVER_MAX_WATCHED ? "<{\"result\":{}}" : "<{\"error\":{\"code\":-32603}}";
        if (i == MCP_SERVER_MAX_WATCHED)
            script_run_as(&quiet, script);
    }
    memset(uri + 4, 'u', sizeof uri - 5);
    snprintf(line, sizeof line, SUBSCRIBE("1", "%s"), uri);
    script_run_as(&quiet, LINES(line, ERR("1", "-32002")));
}

static void extensions_are_for_modern_clients(void **state)
{
    const struct scenario rows[] = {
        { "mcp.md 8: advertised in discover, not in initialize",
          LINES(INIT("2025-11-25"),
                OK("1", "{\"capabilities\":{\"extensions\":"
                        "\"<absent>\"}}"),
                DISCOVER,
                OK("\"d\"", "{\"capabilities\":{\"extensions\":{\"io.example/things\":"
                            "{\"deep\":true}}}}")) },
        { "SK-30: its methods are modern and cacheable, and unknown to a legacy client",
          LINES(HELLO("2025-11-25"), BARE("2", "things/list"), ERR("2", "-32601"),
                REQ("3", "things/list", "{" META "}"),
                OK("3",
                   "{\"things\":[],\"resultType\":\"complete\"," CACHE ",\"_meta\":\"<any>\"}"),
                REQ("4", "things/get", "{" META "}"), ERR("4", "-32601")) },
        { "mcp.md 7.2: a method may need that the request offers its extension; uncached",
          LINES(REQ("2", "things/use", "{" META "}"),
                ERR_DATA("2", "-32021",
                         "{\"requiredCapabilities\":{\"extensions\":"
                         "{\"io.example/things\":{}}}}"),
                REQ("3", "things/use", "{" META_OFFERING "}"),
                OK("3", "{\"resultType\":\"complete\",\"ttlMs\":\"<absent>\","
                        "\"cacheScope\":\"<absent>\"}"),
                HELLO("2025-11-25"), BARE("4", "things/use"), ERR("4", "-32601")) },
    };
    struct script_def modern_resources = rich;
    const struct scenario hidden[] = {
        { "SV-12: resources that only modern clients are offered",
          LINES(INIT("2025-11-25"),
                OK("1", "{\"capabilities\":{\"resources\":"
                        "\"<absent>\"}}"),
                BARE("2", "resources/list"), ERR("2", "-32601"), SUBSCRIBE("3", "x://a"),
                ERR("3", "-32601"), DISCOVER,
                OK("\"d\"", "{\"capabilities\":{\"resources\":{\"subscribe\":true}}}"),
                REQ("4", "resources/list", "{" META "}"), OK("4", "{\"resources\":[]}")) },
    };

    (void)state;
    modern_resources.mcp.resources_modern_only = true;
    RUN_AS(&rich, rows);
    RUN_AS(&modern_resources, hidden);
}

#define WITH_ROOTS                                              \
    REQ("1", "initialize",                                      \
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":" \
        "{\"roots\":{\"listChanged\":true}}}"),                 \
        INITED("2025-06-18")
#define READY        NOTE("notifications/initialized", "{}")
#define ASKED        "<{\"id\":1,\"method\":\"roots/list\",\"params\":\"<absent>\"}"
#define ROOTS(roots) ">{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":" roots "}}"

static void roots_of_a_legacy_client(void **state)
{
    const struct scenario rows[] = {
        { "SV-26: asked while a request is open, answered once",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", ""), "!ask 0", ASKED,
                ROOTS("[{\"uri\":\"file:///a\"},{\"uri\":\"file:///b\"}]"), "!answers 1",
                "!roots 2", "!error 0", ROOTS("[]"), "!answers 1", "!release 0",
                OK("2", "{}")) },
        { "MCP-L9: not without an open request, not before initialized, not undeclared",
          LINES(WITH_ROOTS, "!mustnotask 0", CALL("2", "hold", ""), "!mustnotask 0", READY,
                "!release 0", OK("2", "{}"), "!mustnotask 0", HELLO("2025-06-18"),
                CALL("3", "hold", ""), "!mustnotask 0", "!release 0", OK("3", "{}")) },
        { "MCP-L9, MCP-M7: nor for the sake of a modern request, whatever it declares",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", "," META), "!mustnotask 0", "!release 0",
                OK("2", "{}")) },
        { "its request may end before the answer",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", ""), "!ask 0", ASKED, "!release 0",
                OK("2", "{}"), ROOTS("[]"), "!answers 1", "!roots 0", "!error 0") },
        { "a refusal and nonsense are errors",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", ""), "!ask 0", ASKED,
                ">{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"\"}}",
                "!answers 1", "!error 1", "!ask 0", "<{\"id\":2,\"method\":\"roots/list\"}",
                ">{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"roots\":7}}", "!answers 2",
                "!error 7", "!release 0", OK("2", "{}")) },
        { "silence ends at the timeout, and the client is told (mcp.md 6.7)",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", ""), "!ask 0", ASKED, "!wait 200",
                "<{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
                "!answers 1", "!error 5", "!release 0", OK("2", "{}")) },
        { "the end of the server ends it too",
          LINES(WITH_ROOTS, READY, CALL("2", "hold", ""), "!ask 0", ASKED, "!release 0",
                OK("2", "{}")) },
        { "a change is told, but only of a client that has roots",
          LINES(WITH_ROOTS, NOTE("notifications/roots/list_changed", "{}"), "!changes 0", READY,
                NOTE("notifications/roots/list_changed", "{}"), "!changes 1",
                HELLO("2025-06-18"), NOTE("notifications/roots/list_changed", "{}"),
                "!changes 1") },
        { "who has roots, per request",
          LINES(WITH_ROOTS, CALL("2", "roots", ""), TEXT("2", "no"), READY,
                CALL("3", "roots", ""), TEXT("3", "yes"), CALL("4", "roots", "," META),
                OK("4", "{\"content\":[{\"text\":\"no\"}]}")) },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        forget(NULL);
        print_message("    %s\n", rows[i].what);
        script_run_as(&rich, rows[i].lines);
    }
    assert_int_equal(ERR_INVALID, 1);
    assert_int_equal(ERR_TIMEOUT, 5);
    assert_int_equal(ERR_PROTOCOL, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_defined_is_not_offered),
        cmocka_unit_test(cache_scopes_are_the_definitions),
        cmocka_unit_test(prompts_in_every_revision),
        cmocka_unit_test(a_legacy_session_subscribes_to_resources),
        cmocka_unit_test(a_listen_subscribes_to_resources),
        cmocka_unit_test(subscriptions_are_bounded),
        cmocka_unit_test(extensions_are_for_modern_clients),
        cmocka_unit_test(roots_of_a_legacy_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
