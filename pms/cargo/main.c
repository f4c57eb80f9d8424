/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * symposium-pm-cargo: what a Rust workspace depends on, for Symposium. A package manager in the
 * sense of docs/reference/package-managers.md: newline-delimited JSON-RPC on stdin and stdout,
 * warnings on stderr, the end of stdin is the end. It reads Cargo.toml and Cargo.lock; it never
 * runs cargo, and never touches the network.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "direct.h"
#include "loop/lines.h"
#include "loop/pipe.h"
#include "rpc/peer.h"

#define PROTOCOL_VERSION 1
#define MAX_LINE         ((size_t)16 << 20)

enum { /* the protocol's own codes (PM-5) */
       CODE_INVALID_INPUT = -32003,
};

struct server {
    struct loop *loop;
    struct pipe *in, *out;
    struct lines lines;
    struct peer *peer;
    struct lister *lister; /* NULL before initialize */
};

static void fail(struct server *s, const struct rpc_msg *m, int64_t code, const char *message)
{
    peer_reply_error(s->peer, m->id, code, str_of(message), (struct str){ 0 }, NULL);
}

static void on_initialize(struct server *s, const struct rpc_msg *m)
{
    struct str workspace = { 0 };
    struct error e = { 0 };
    auto_buf result = BUF(1024);
    struct jw w = jw_to(&result);

    if (s->lister) {
        fail(s, m, RPC_INVALID_REQUEST, "initialize comes once");
        return;
    }
    if (!json_opt_str(m->params, "workspace", &workspace, &e)) {
        fail(s, m, RPC_INVALID_PARAMS, e.msg);
        return;
    }
    auto_free char *dir = workspace.n ? str_dup(workspace) : NULL;
    s->lister = lister_new(&cargo_lister, dir);
    jw_obj(&w);
    jw_kint(&w, "protocol_version", PROTOCOL_VERSION);
    jw_kstrz(&w, "name", "cargo");
    jw_key(&w, "capabilities");
    jw_arr(&w);
    jw_strz(&w, "list_deps");
    jw_end(&w);
    jw_end(&w);
    peer_reply(s->peer, m->id, buf_str(&result), NULL);
}

static void on_list_deps(struct server *s, const struct rpc_msg *m)
{
    struct str json;
    struct error e = { 0 };

    if (!s->lister)
        fail(s, m, RPC_INVALID_REQUEST, "initialize comes first");
    else if (lister_list(s->lister, &json, &e))
        peer_reply(s->peer, m->id, json, NULL);
    else
        fail(s, m, CODE_INVALID_INPUT, e.msg);
}

static const struct method {
    const char *name;
    void (*run)(struct server *, const struct rpc_msg *);
} methods[] = {
    { "initialize", on_initialize },
    { "list_deps", on_list_deps },
};

static void on_request(void *ctx, const struct rpc_msg *m)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (str_is(m->method, methods[i].name)) {
            methods[i].run(ctx, m);
            return;
        }
    }
    fail(ctx, m, RPC_METHOD_NOT_FOUND, "not a method of this package manager");
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    log_debug("notification '%.*s' ignored", STR_F(m->method));
}

/* A malformed line is logged and ignored, never answered (PM-8). */
static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    log_warn("line ignored: %s", why->msg);
}

static bool send_line(void *ctx, struct str message, struct error *e)
{
    struct server *s = ctx;

    return pipe_write2(s->out, message, STR("\n"), e);
}

static bool on_line(void *ctx, struct str line, bool too_long)
{
    struct server *s = ctx;

    if (too_long)
        return peer_feed_too_long(s->peer, MAX_LINE);
    return peer_feed(s->peer, line);
}

static void on_data(void *ctx, struct str bytes)
{
    struct server *s = ctx;

    lines_feed(&s->lines, bytes, on_line, s);
}

static void on_flushed(void *ctx)
{
    struct server *s = ctx;

    loop_stop(s->loop);
}

static void on_stdin_end(void *ctx, const struct error *why)
{
    struct server *s = ctx;
    struct str rest = lines_rest(&s->lines);

    if (rest.n)
        peer_feed(s->peer, rest);
    pipe_finish(s->out, on_flushed, s);
}

static void on_stdout_end(void *ctx, const struct error *why)
{
    struct server *s = ctx;

    loop_stop(s->loop);
}

static void serve(void)
{
    static const struct pipe_ops in_ops = { .on_data = on_data, .on_end = on_stdin_end },
                                 out_ops = { .on_end = on_stdout_end };
    static const struct peer_ops peer_ops = { .send = send_line,
                                              .on_request = on_request,
                                              .on_notification = on_notification,
                                              .on_fault = on_fault };
    struct server s = { .loop = loop_new() };

    lines_init(&s.lines, MAX_LINE);
    s.peer = peer_new(s.loop, &peer_ops, &s);
    s.out = pipe_new(s.loop, STDOUT_FILENO, NULL, &out_ops, &s);
    s.in = pipe_new(s.loop, STDIN_FILENO, NULL, &in_ops, &s);
    loop_run(s.loop);
    pipe_free(s.in);
    pipe_free(s.out);
    peer_free(s.peer);
    lines_free(&s.lines);
    lister_free(s.lister);
    loop_free(s.loop);
}

static int usage(FILE *to, int status)
{
    fputs("usage: symposium-pm-cargo [--version | --help]\n\n"
          "The cargo package manager of Symposium, started by it. Speaks newline-delimited\n"
          "JSON-RPC on stdin and stdout:\n\n"
          "    {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
          "\"params\":{\"protocol_version\":1,\"workspace\":\"/path\"}}\n"
          "    {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"list_deps\"}\n",
          to);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("symposium-pm-cargo " SYM_VERSION "\n") < 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout, EXIT_SUCCESS);
    if (argc > 1)
        return usage(stderr, 2);
    serve();
    return EXIT_SUCCESS;
}
