/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/execute.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/content.h"
#include "meta/reply.h"
#include "sandbox/hidden.h"
#include "text/schema.h"

/* A call of the script that has not been answered. */
struct call {
    struct execution *x;
    uint32_t id;
    uint64_t handle;         /* 0: has ended */
    struct backend *backend; /* the catalog's reference keeps it */
    struct str what;         /* "server.tool" as written by the script; in the arena */
    struct str server;
};

struct execution {
    struct catalog *catalog;
    struct execution_opts o;
    const struct execution_ops *ops;
    void *ctx;
    struct script *script;
    struct arena a;
    struct map calls; /* id -> struct call */
    struct {
        struct finished_call *v;
        size_t n, cap;
    } finished;
    unsigned nfinished;
    size_t bytes_in; /* of results, as the script was given them */
    struct strs tags;
    struct map off_shape; /* tools already tagged (MS-49) */
};

static void add_tag(struct execution *x, const char *text)
{
    ARENA_PUSH(&x->a, &x->tags) = str_of(text);
}

static struct call *find_call(const struct execution *x, uint32_t id)
{
    return map_get(&x->calls, (struct str){ (const char *)&id, sizeof id });
}

/* Nothing is called back for it any more. */
static void drop_call(struct call *c)
{
    uint64_t handle = c->handle;

    c->handle = 0;
    if (handle)
        backend_cancel(c->backend, handle);
}

static void free_execution(struct execution *x)
{
    struct str id;
    void *call;

    for (size_t i = 0; map_next(&x->calls, &i, &id, &call);)
        drop_call(call);
    map_free(&x->calls);
    map_free(&x->off_shape);
    catalog_unref(x->catalog);
    arena_free(&x->a);
    free(x);
}

/* ---- answers ---- */

static void reply_json(struct call *c, const struct buf *json)
{
    struct error e;

    if (!buf_ok(json, &e)) {
        script_reply_error(c->x->script, c->id, str_of(e.msg));
        return;
    }
    c->x->bytes_in += json->n;
    script_reply(c->x->script, c->id, buf_str(json));
}

static void count_finished(struct execution *x, struct str what)
{
    struct finished_call *at = NULL;

    for (size_t i = 0; !at && i < x->finished.n; i++)
        if (str_eq(x->finished.v[i].what, what))
            at = &x->finished.v[i];
    if (!at) {
        at = &ARENA_PUSH(&x->a, &x->finished);
        *at = (struct finished_call){ .what = what };
    }
    at->times++;
    x->nfinished++;
    if (x->ops->on_progress)
        x->ops->on_progress(x->ctx, x->nfinished, what);
}

/* "server.tool: message", the message cut (MS-50). */
static void reply_failure(struct call *c, struct str message)
{
    auto_buf text = BUF(2 * EXECUTE_MESSAGE_MAX);

    buf_add(&text, utf8_cut(c->what, 512));
    buf_addz(&text, ": ");
    buf_add(&text, utf8_cut(message, EXECUTE_MESSAGE_MAX));
    script_reply_error(c->x->script, c->id, buf_str(&text));
}

/* The declared shape is checked on the unwrapped value; a mismatch changes nothing and is said
 * once a tool (MS-49). */
static void check_shape(struct call *c, const struct tool *t, yyjson_val *value)
{
    struct execution *x = c->x;

    if (!t->output || map_has(&x->off_shape, c->what))
        return;
    if (schema_check(json_get(t->raw, "outputSchema"), t->output, value) != SCHEMA_MISMATCH)
        return;
    map_put(&x->off_shape, c->what, x);
    add_tag(x, arena_printf(&x->a, "%.*s: result off-shape, treat as unknown", STR_F(c->what)));
}

static void reply_structured(struct call *c, const struct tool *t, yyjson_val *value)
{
    auto_buf text = BUF(REPLY_MAX);

    check_shape(c, t, value);
    json_put_val(&text, value);
    reply_json(c, &text);
}

/* A value that came as text or content blocks is held against the declared shape as well: the
 * script was promised it. */
static void reply_unstructured(struct call *c, const struct tool *t, struct buf *json)
{
    auto_json doc = { 0 };

    if (t->output && buf_ok(json, NULL) && json_parse(&doc, buf_str(json), NULL))
        check_shape(c, t, doc.root);
    reply_json(c, json);
}

static void reply_value(struct call *c, const struct tool *t, yyjson_val *result)
{
    auto_arena scratch = ARENA;
    auto_buf json = BUF(2 * REPLY_MAX);
    yyjson_val *structured = tool_structured(t, result);
    struct mcp_value v;

    if (structured) {
        reply_structured(c, t, structured);
        return;
    }
    v = mcp_value_of(&scratch, result);
    switch (v.kind) {
    case MCP_VALUE_ERROR:
        reply_failure(c, v.text);
        return;
    case MCP_VALUE_JSON:
        buf_add(&json, v.json);
        break;
    case MCP_VALUE_TEXT:
        json_put_str(&json, v.text);
        break;
    }
    reply_unstructured(c, t, &json);
}

static void on_answer(void *ctx, const struct backend_answer *answer)
{
    struct call *c = ctx;
    struct execution *x = c->x;

    c->handle = 0;
    if (answer->tool)
        c->what = str_of(
            arena_printf(&x->a, "%.*s.%.*s", STR_F(c->server), STR_F(answer->tool->name)));
    if (!answer->result) {
        reply_failure(c, str_of(answer->e->msg));
        return;
    }
    assert(answer->tool); /* what did not resolve has no result */
    reply_value(c, answer->tool, answer->result);
    count_finished(x, c->what);
}

/* ---- the script's side ---- */

static void on_call(void *ctx, uint32_t id, struct str global, struct str key, struct str args)
{
    struct execution *x = ctx;
    const struct catalog_server *s = catalog_by_global(x->catalog, global);
    struct call *c;

    if (!s) {
        script_reply_error(x->script, id, STR("no such server"));
        return;
    }
    c = ARENA_NEW(&x->a, struct call);
    *c = (struct call){ .x = x, .id = id, .backend = s->backend, .server = s->name };
    c->what =
        str_of(arena_printf(&x->a, "%.*s.%.*s", STR_F(s->name), STR_F(utf8_cut(key, 256))));
    map_put(&x->calls, (struct str){ (const char *)&id, sizeof id }, c);
    c->handle = backend_call(s->backend, key, args, on_answer, c);
}

static void on_get_result(void *ctx, uint32_t id, struct str key)
{
    struct execution *x = ctx;
    struct str json = results_get(x->o.results, key);

    if (json.p)
        script_reply(x->script, id, json);
    else
        script_reply_error(x->script, id, STR("results.get: no result is kept under this id"));
}

static void on_drop(void *ctx, uint32_t id)
{
    struct execution *x = ctx;
    struct call *c = find_call(x, id);

    if (c)
        drop_call(c);
}

static void tag_loose(struct execution *x, const struct script_loose_call *loose)
{
    const struct call *c = find_call(x, loose->id);
    struct str what = c ? c->what : STR("a call"), message = loose->message, rest;

    if (!loose->finished) {
        add_tag(x, arena_printf(&x->a, "%.*s: not awaited and not finished, cancelled",
                                STR_F(what)));
        return;
    }
    /* The exception's text begins with the very name the tag begins with. */
    rest = str_from(message, what.n);
    if (str_starts(message, what) && str_starts(rest, STR(": ")))
        message = str_from(rest, 2);
    add_tag(x, arena_printf(&x->a, "%.*s: not awaited, failed: %.*s", STR_F(what),
                            STR_F(utf8_cut(message, EXECUTE_LOOSE_MAX))));
}

static void on_end(void *ctx, const struct script_end *end)
{
    struct execution *x = ctx;
    const struct execution_ops *ops = x->ops;
    void *owner = x->ctx;
    auto_buf text = BUF(REPLY_MAX);
    bool is_error;
    struct reply r;

    for (size_t i = 0; i < end->nloose; i++)
        tag_loose(x, &end->loose[i]);
    if (end->calls_refused)
        add_tag(x,
                arena_printf(&x->a, "execute: tool call limit of %u reached, %u calls refused",
                             x->o.limits.max_calls, end->calls_refused));
    r = (struct reply){ .end = end,
                        .limits = &x->o.limits,
                        .catalog = x->catalog,
                        .results = x->o.results,
                        .finished = x->finished.v,
                        .nfinished = x->finished.n,
                        .bytes_in = x->bytes_in,
                        .tags = x->tags.v,
                        .ntags = x->tags.n };
    is_error = reply_put(&text, &r);
    if (ops->on_reply)
        ops->on_reply(owner, &r);
    free_execution(x);
    ops->on_done(owner, buf_str(&text), is_error);
}

/* ---- start ---- */

static bool mentions(struct str source, struct str word)
{
    return str_find(source, word) != SIZE_MAX;
}

/*
 * Declared names that a proxy would hide (MS-43): known only where the tools are. The cache of
 * a server that the script cannot be after is not read for that.
 */
static void exact_names(struct execution *x, const struct catalog_server *s, bool read,
                        struct script_global *g)
{
    const struct names *names =
        read ? backend_names(s->backend) : backend_names_read(s->backend);
    struct strs exact = { 0 };

    for (size_t i = 0; names && i < names->n; i++)
        if (script_hides(names->v[i].primary))
            ARENA_PUSH(&x->a, &exact) = arena_str(&x->a, names->v[i].primary);
    *g = (struct script_global){ s->global, exact.v, exact.n };
}

static struct script *start_script(struct execution *x, struct str source, struct error *e)
{
    static const struct script_ops ops = { on_call, on_get_result, on_drop, on_end };
    struct catalog *c = x->catalog;
    struct script_global *globals = ARENA_ARRAY(&x->a, struct script_global, c->n);
    struct script_job job = { source, globals, c->n };

    bool dynamic = mentions(source, STR("globalThis"));

    for (size_t i = 0; i < c->n; i++)
        exact_names(x, &c->v[i], dynamic || mentions(source, c->v[i].global), &globals[i]);
    return sandbox_run(x->o.sandbox, &job, &ops, x, e);
}

static void refuse(const struct catalog *c, struct str text, const struct execution_ops *ops,
                   void *ctx)
{
    auto_buf out = BUF(REPLY_MAX);

    buf_add(&out, text);
    reply_put_problems(&out, c);
    ops->on_done(ctx, buf_str(&out), true);
}

static void refuse_script(const struct catalog *c, const struct error *e,
                          const struct execution_ops *ops, void *ctx)
{
    auto_buf json = BUF(2 * ERROR_MSG_MAX);
    struct jw w = jw_to(&json);

    jw_obj(&w);
    jw_kstrz(&w, "error", e->kind == ERR_LIMIT ? "script_error" : "internal");
    jw_kstrz(&w, "message", e->msg);
    jw_end(&w);
    refuse(c, buf_str(&json), ops, ctx);
}

struct execution *execute_run(struct catalog *c, const struct execution_opts *o,
                              struct str source, const struct execution_ops *ops, void *ctx)
{
    struct execution *x;
    struct error e;

    if (!c->n) {
        refuse(c, STR("No MCP servers apply to this workspace."), ops, ctx);
        return NULL;
    }
    x = NEW(struct execution);
    *x = (struct execution){ .catalog = catalog_ref(c), .o = *o, .ops = ops, .ctx = ctx };
    x->script = start_script(x, source, &e);
    if (x->script)
        return x;
    free_execution(x);
    refuse_script(c, &e, ops, ctx);
    return NULL;
}

void execute_cancel(struct execution *x)
{
    if (!x)
        return;
    script_cancel(x->script);
    free_execution(x);
}
