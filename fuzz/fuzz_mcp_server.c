/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The MCP server under any lines. Whatever comes, each message of ours is one JSON-RPC object
 * on one line, never with a null id, a modern result has its resultType, and no id is answered
 * more often than it was asked. The tool `same` answers its own arguments, so that every
 * envelope and down-conversion meets any object; `slow` stays open until the end or its cancel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/server.h"

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct mcp_server *server;
    size_t fed, answers;
    bool watched; /* what the last call of on_watched said */
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct run *run = ctx;
    auto_json j = { 0 };

    must(!memchr(message.p, '\n', message.n));
    must(json_parse(&j, message, NULL) && json_is_obj(j.root));
    must(str_is(json_str(json_get(j.root, "jsonrpc")), "2.0"));
    must(!json_is_null(json_get(j.root, "id")));
    if (json_get(j.root, "method")) {
        must(!json_get(j.root, "id") ||
             str_is(json_str(json_get(j.root, "method")), "roots/list"));
        return true;
    }
    must(!json_get(j.root, "result") != !json_get(j.root, "error"));
    run->answers++;
    return true;
}

static void on_cancel(void *ctx)
{
    size_t *cancels = ctx;

    must(++*cancels == 1);
}

static void reply_val(struct mcp_req *r, yyjson_val *v)
{
    auto_buf out = BUF(1 << 20);

    if (v)
        json_put_val(&out, v);
    else
        buf_addz(&out, "{}");
    mcp_reply(r, buf_str(&out));
}

static void tools_list(void *ctx, struct mcp_req *r)
{
    reply_val(r, mcp_req_params(r));
}

static void tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    if (str_is(name, "slow")) {
        mcp_req_on_cancel(r, on_cancel, arena_alloc(mcp_req_arena(r), sizeof(size_t)));
    } else if (str_is(name, "same")) {
        mcp_progress(r, 1, 2, name);
        mcp_progress(r, 2, 2, name);
        reply_val(r, args);
    } else {
        mcp_reply_error(r, -32602, STR(""), "unknown tool '%.*s'", STR_F(str_upto(name, 64)));
    }
}

static void resources_read(void *ctx, struct mcp_req *r, struct str uri)
{
    if (str_starts(uri, STR("x:")))
        reply_val(r, mcp_req_params(r));
    else
        mcp_reply_no_resource(r, uri);
}

static void prompts_get(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    for (struct json_iter it = json_iter(args); json_next(&it);)
        must(json_is_str(it.val));
    reply_val(r, mcp_req_params(r));
}

static bool is_watchable(void *ctx, struct str uri)
{
    must(uri.n <= MCP_SERVER_MAX_WATCHED_URI);
    return str_starts(uri, STR("x:"));
}

static void on_watched(void *ctx, bool any)
{
    struct run *run = ctx;

    must(any != run->watched);
    run->watched = any;
}

static void on_roots(void *ctx, yyjson_val *roots, const struct error *e)
{
    must(!roots == !!e);
}

static void on_extra(void *ctx, struct mcp_req *r)
{
    struct run *run = ctx;

    must(!mcp_req_has_roots(r) && mcp_req_client_capabilities(r));
    mcp_server_list_roots(run->server, 1000, on_roots, run, NULL);
    reply_val(r, mcp_req_params(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mcp_extension extension = { "x/y", "{}" };
    static const struct mcp_method_def method = { "extra", on_extra };
    static const struct mcp_server_def def = {
        .name = "f",
        .title = "F",
        .version = "1",
        .tools_list_changed = true,
        .tools_list = tools_list,
        .tools_call = tools_call,
        .prompts_list = tools_list,
        .prompts_get = prompts_get,
        .resources_list = tools_list,
        .resources_read = resources_read,
        .resources_watchable = is_watchable,
        .resources_watched = on_watched,
        .extensions = &extension,
        .nextensions = 1,
        .methods = &method,
        .nmethods = 1,
    };
    static const struct mcp_server_ops ops = { .send = send_message };
    static struct loop *loop;
    struct str line, rest = { (const char *)data, size };
    struct run run = { 0 };

    if (!loop)
        loop = loop_new();
    run.server = mcp_server_new(loop, &def, &ops, &run);
    for (int i = 0; i < LINES_MAX && str_cut(rest, '\n', &line, &rest); i++) {
        /* A line is one message, or a batch of at most so many members. */
        run.fed += 1 + line.n / 2;
        must(mcp_server_feed(run.server, line));
        must(run.answers <= run.fed);
        must(mcp_server_is_watched(run.server) == run.watched);
        if (line.n % 16 == 5)
            mcp_server_tools_changed(run.server);
        if (line.n % 16 == 6)
            mcp_server_resource_updated(run.server, STR("x:a"));
    }
    mcp_server_end_listens(run.server);
    must(run.answers <= run.fed);
    mcp_server_free(run.server);
    loop_run(loop); /* lets go of its timers */
    return 0;
}
