/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/values.h"
#include "mcp/content.h"

struct call {
    const struct args *args;
    struct session *session;
    const struct catalog_server *server;
    struct str key;  /* of the tool, as written */
    uint64_t handle; /* a description or a call under way */
    char *what;      /* "server.tool" for messages, owned */
};

static void fail(struct call *c, int status, const char *message)
{
    session_clear(c->session);
    session_end(c->session, cli_fail(status, "%s", message));
}

/* ---- the result ---- */

static void put_event(struct call *c, bool is_error, struct str json, struct str text)
{
    struct report r;
    struct jw *w;

    report_begin(&r);
    w = report_event(&r, "result");
    jw_kstr(w, "server", c->server->name);
    jw_kstr(w, "tool", str_from(str_of(c->what), c->server->name.n + 1));
    jw_kbool(w, "is_error", is_error);
    jw_key(w, is_error ? "error" : "value");
    if (json.p)
        jw_raw(w, json);
    else
        jw_str(w, text);
    jw_end(w);
    if (!report_end(&r))
        is_error = true;
    session_end(c->session, is_error ? EXIT_FAILED : EXIT_OK);
}

static void put_json(struct call *c, struct str json)
{
    auto_json doc = { 0 };
    struct error e;

    if (cli.json)
        put_event(c, false, json, (struct str){ 0 });
    else if (json_parse(&doc, json, &e))
        out_put_value(stdout, doc.root);
    else
        out_put_text(stdout, json);
    session_end(c->session, EXIT_OK);
}

static void put_failure(struct call *c, struct str message)
{
    if (cli.json)
        put_event(c, true, (struct str){ 0 }, message);
    else
        session_end(c->session, cli_fail(EXIT_FAILED, "%s: %.*s", c->what, STR_F(message)));
}

static void put_result(struct call *c, const struct tool *t, yyjson_val *result)
{
    auto_arena scratch = ARENA;
    auto_buf text = BUF(OUTPUT_MAX);
    yyjson_val *structured = tool_structured(t, result);
    struct mcp_value v;

    if (structured) {
        json_put_val(&text, structured);
        put_json(c, buf_str(&text));
        return;
    }
    v = mcp_value_of(&scratch, result);
    if (v.kind == MCP_VALUE_ERROR) {
        put_failure(c, v.text);
    } else if (v.kind == MCP_VALUE_JSON) {
        put_json(c, v.json);
    } else if (cli.json) {
        put_event(c, false, (struct str){ 0 }, v.text);
    } else {
        out_put_text(stdout, v.text);
        session_end(c->session, EXIT_OK);
    }
}

static void on_answer(void *ctx, const struct backend_answer *answer)
{
    struct call *c = ctx;

    c->handle = 0;
    session_clear(c->session);
    if (answer->result)
        put_result(c, answer->tool, answer->result);
    else
        put_failure(c, str_of(answer->e->msg));
}

/* ---- the call ---- */

static void send(struct call *c)
{
    const struct args *args = c->args;
    const struct tool *t;
    auto_buf json = BUF(VALUES_MAX_BYTES);
    struct error e;

    t = names_resolve(backend_names(c->server->backend), c->key, &e);
    c->what = mem_printf("%.*s.%.*s", STR_F(c->server->name), STR_F(t ? t->name : c->key));
    if (!t) {
        session_clear(c->session);
        put_failure(c, str_of(e.msg));
        return;
    }
    if (!values_put(&json, t->input, args->words + 1, args->nwords - 1,
                    str_of(args_value(args, "--json")), &e)) {
        fail(c, EXIT_USAGE, e.msg);
        return;
    }
    c->handle = backend_call(c->server->backend, t->name, buf_str(&json), on_answer, c);
}

static void on_known(void *ctx, const struct error *why)
{
    struct call *c = ctx;

    c->handle = 0;
    if (!why) {
        send(c);
        return;
    }
    session_clear(c->session);
    c->what = mem_printf("%.*s", STR_F(c->server->name));
    put_failure(c, str_of(why->msg));
}

static void put_problem(void *ctx, struct str line)
{
    (void)ctx;
    fprintf(stderr, "  ");
    out_put_text(stderr, line);
}

static void begin(struct session *s, void *ctx)
{
    struct call *c = ctx;
    struct error e;

    c->session = s;
    c->server = values_target(s->catalog, str_of(c->args->words[0]), &c->key, &e);
    if (!c->server) {
        fail(c, EXIT_FAILED, e.msg);
        /* The server may be one that was refused. */
        catalog_put_problems(s->catalog, put_problem, NULL);
    } else if (backend_names(c->server->backend)) {
        send(c);
    } else {
        c->handle = backend_describe(c->server->backend, on_known, c);
    }
}

static void cancel(void *ctx)
{
    struct call *c = ctx;

    if (c->handle)
        backend_cancel(c->server->backend, c->handle);
    c->handle = 0;
}

static void finish(void *ctx)
{
    struct call *c = ctx;

    free(c->what);
}

int cmd_call(struct arena *a, const struct args *args)
{
    static const struct session_job job = {
        .begin = begin, .cancel = cancel, .finish = finish, .asks_trust = true
    };
    struct call c = { .args = args };

    if (!args->nwords)
        return cli_usage(args->command, "which tool? 'symposium tools' lists them");
    return session_run(a, args, &job, &c);
}
