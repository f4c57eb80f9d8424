/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/run.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "mcp/content.h"

enum state { NEXT, STARTING, MODEL, TOOLS, STOPPING };

static const char *const state_names[] = { "next", "starting", "model", "tools", "stopping" };

static const unsigned next_of[] = {
    [NEXT] = 1u << STARTING | 1u << MODEL | 1u << STOPPING,
    [STARTING] = 1u << MODEL | 1u << NEXT,
    [MODEL] = 1u << MODEL | 1u << TOOLS | 1u << NEXT,
    [TOOLS] = 1u << MODEL | 1u << NEXT,
    [STOPPING] = 1u << NEXT,
};

/* One call of the batch under way. */
struct batch_call {
    struct agent_run *run;
    struct str id, name;
    struct children_call *call; /* NULL: ended */
    struct timer *soon;         /* one that cannot be made */
    bool ended, failed;
    struct str output;
};

struct agent_run {
    struct run_opts o;
    struct run_ops ops;
    void *ctx;
    enum state state;
    struct timer *soon; /* the next step */
    bool interrupted, begun;
    struct children *children; /* NULL: none yet */
    struct provider provider;
    struct provider_call *request;

    /* of the turn */
    char *message;
    size_t committed; /* bytes of history before it */
    int requests, failed_batches;

    /* of the batch */
    struct arena arena;
    struct batch_call *calls;
    size_t ncalls, open;
};

static void enter(struct agent_run *r, enum state to)
{
    assert(next_of[r->state] & 1u << to);
    log_debug("agent '%.*s': %s -> %s", STR_F(r->o.def->name), state_names[r->state],
              state_names[to]);
    r->state = to;
}

static void show(struct agent_run *r, enum activity_phase phase, const char *summary,
                 int64_t timeout_ms)
{
    activity_set(r->o.activity, phase, summary);
    r->o.activity->deadline_ms = timeout_ms ? clock_ms() + timeout_ms : 0;
    r->ops.on_activity(r->ctx);
}

/* ---- the end of a turn ---- */

static void drop_batch(struct agent_run *r)
{
    for (size_t i = 0; i < r->ncalls; i++) {
        children_cancel(take_ptr(&r->calls[i].call));
        timer_free(take_ptr(&r->calls[i].soon));
    }
    r->calls = NULL;
    r->ncalls = r->open = 0;
    arena_free(&r->arena);
}

static void drop_turn(struct agent_run *r)
{
    provider_cancel(take_ptr(&r->request));
    drop_batch(r);
    free(take_ptr(&r->message));
}

static void end_turn(struct agent_run *r, struct str text, const struct fault *f)
{
    auto_free char *kept = f ? NULL : mem_strndup(text.n ? text.p : "", text.n);

    if (f)
        buf_truncate(r->o.history, r->committed);
    if (r->state == STARTING)
        children_free(take_ptr(&r->children));
    drop_turn(r);
    enter(r, NEXT);
    timer_set(r->soon, 0);
    r->ops.on_turn(r->ctx, f ? STR("") : (struct str){ kept, text.n }, f);
}

__attribute__((format(printf, 3, 4))) static void fail_turn(struct agent_run *r,
                                                            enum fault_kind kind,
                                                            const char *fmt, ...);

/* ---- the model ---- */

static void on_answer(void *ctx, yyjson_val *answer, const struct fault *f);

static void ask(struct agent_run *r)
{
    const struct toolset *tools = children_tools(r->children);
    const struct wire_request request = {
        .def = r->o.def,
        .system = r->o.system,
        .history = buf_str(r->o.history),
        .tools = tools->offered,
        .ntools = tools->n,
        .max_tokens = r->provider.max_tokens,
    };

    if (r->requests == r->o.def->max_turns) {
        fail_turn(r, FAULT_PROVIDER, "exceeded the configured turn limit");
        return;
    }
    if (r->o.history->over) {
        fail_turn(r, FAULT_CONTEXT, "the conversation has become longer than %zu bytes",
                  WIRE_BODY_MAX);
        return;
    }
    r->requests++;
    enter(r, MODEL);
    r->request = provider_start(&r->provider, &request, on_answer, r);
    show(r, ACTIVITY_MODEL, "Waiting for the model", PROVIDER_REQUEST_MS);
}

static void call_all(struct agent_run *r, const struct wire_turn *t);

static void on_answer(void *ctx, yyjson_val *answer, const struct fault *f)
{
    struct agent_run *r = ctx;
    auto_arena a = ARENA;
    struct wire_turn t;
    struct error e;

    r->request = NULL;
    if (f) {
        end_turn(r, (struct str){ 0 }, f);
        return;
    }
    if (!wire_read(&a, r->o.def->wire, answer, &t, &e)) {
        fail_turn(r, FAULT_PROVIDER, "%s", e.msg);
        return;
    }
    wire_put_items(r->o.history, t.items);
    if (t.ncalls)
        call_all(r, &t);
    else if (t.again)
        ask(r);
    else if (!str_trim(t.text).n)
        fail_turn(r, FAULT_PROVIDER, "the model's answer is empty");
    else if (r->o.history->over)
        fail_turn(r, FAULT_CONTEXT, "the conversation has become longer than %zu bytes",
                  WIRE_BODY_MAX);
    else
        end_turn(r, t.text, NULL);
}

/* ---- its calls ---- */

static void batch_done(struct agent_run *r)
{
    struct wire_result *results = ARENA_ARRAY(&r->arena, struct wire_result, r->ncalls);
    size_t failed = 0;

    for (size_t i = 0; i < r->ncalls; i++) {
        results[i] =
            (struct wire_result){ r->calls[i].id, r->calls[i].output, r->calls[i].failed };
        failed += r->calls[i].failed;
    }
    wire_put_results(r->o.history, r->o.def->wire, results, r->ncalls);
    r->failed_batches = failed == r->ncalls ? r->failed_batches + 1 : 0;
    drop_batch(r);
    if (r->failed_batches == AGENT_RUN_FAILED_BATCHES)
        fail_turn(r, FAULT_CHILD_TOOL, "%d rounds of tool calls in a row failed",
                  AGENT_RUN_FAILED_BATCHES);
    else
        ask(r);
}

static void call_ended(struct batch_call *c, struct str output, bool failed)
{
    struct agent_run *r = c->run;

    c->output = arena_str(&r->arena, utf8_cut(output, AGENT_RUN_OUTPUT_MAX));
    c->ended = true;
    c->failed = failed;
    r->open--;
    r->ops.on_call(r->ctx, &(struct run_call){ c->id, c->name, true, failed });
    if (!r->open)
        batch_done(r);
}

static void put_result(struct buf *out, yyjson_val *result)
{
    yyjson_val *content = json_get(result, "content");
    yyjson_val *structured = json_get(result, "structuredContent");
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "content");
    if (json_is_arr(content)) {
        jw_val(&w, content);
    } else {
        jw_arr(&w);
        jw_end(&w);
    }
    if (structured) {
        jw_key(&w, "structuredContent");
        jw_val(&w, structured);
    }
    if (json_is_true(json_get(result, "isError")))
        jw_kbool(&w, "isError", true);
    jw_end(&w);
}

static void put_failure(struct buf *out, const char *text)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "content");
    jw_arr(&w);
    mcp_put_text_block(&w, str_of(text));
    jw_end(&w);
    jw_kbool(&w, "isError", true);
    jw_end(&w);
}

/* What one line of a server can hold, with each byte escaped. */
#define RESULT_TEXT_MAX ((size_t)96 << 20)

static void on_result(void *ctx, yyjson_val *result, const struct error *why)
{
    struct batch_call *c = ctx;
    auto_buf out = BUF(RESULT_TEXT_MAX);

    c->call = NULL;
    if (result)
        put_result(&out, result);
    else
        put_failure(&out, why->msg);
    call_ended(c, buf_str(&out), !result || json_is_true(json_get(result, "isError")));
}

/* One that no server gets; the model is told so. */
static void on_refused(void *ctx)
{
    struct batch_call *c = ctx;

    timer_free(take_ptr(&c->soon));
    call_ended(c, c->output, true);
}

static void refuse(struct batch_call *c, const char *why)
{
    auto_buf out = BUF(1024);

    put_failure(&out, why);
    c->output = arena_str(&c->run->arena, buf_str(&out));
    c->soon = timer_new(c->run->o.env->loop, on_refused, c);
    timer_set(c->soon, 0);
}

static void call_one(struct agent_run *r, struct batch_call *c, struct str args)
{
    const struct toolset_entry *tool = toolset_find(children_tools(r->children), c->name);
    auto_json doc = { 0 };
    struct str text = str_trim(args).n ? args : STR("{}");

    r->ops.on_call(r->ctx, &(struct run_call){ c->id, c->name, false, false });
    if (!tool) {
        refuse(c, "there is no such tool");
    } else if (!json_parse(&doc, text, NULL) || !json_is_obj(doc.root)) {
        refuse(c, "the arguments must be a JSON object");
    } else {
        activity_tool(r->o.activity, r->o.env->workspace, tool->original, doc.root);
        r->o.activity->deadline_ms = clock_ms() + CHILDREN_CALL_MS;
        c->call = children_call(r->children, tool, text, on_result, c);
    }
}

static void call_all(struct agent_run *r, const struct wire_turn *t)
{
    enter(r, TOOLS);
    activity_set(r->o.activity, ACTIVITY_TOOL, "Calling tools");
    r->calls = ARENA_ARRAY(&r->arena, struct batch_call, t->ncalls);
    r->ncalls = r->open = t->ncalls;
    for (size_t i = 0; i < t->ncalls; i++) {
        r->calls[i] = (struct batch_call){ .run = r,
                                           .id = arena_str(&r->arena, t->calls[i].id),
                                           .name = arena_str(&r->arena, t->calls[i].name) };
        call_one(r, &r->calls[i], t->calls[i].args);
    }
    r->ops.on_activity(r->ctx);
}

/* ---- its servers ---- */

static void begin_turn(struct agent_run *r)
{
    r->requests = r->failed_batches = 0;
    r->committed = r->o.history->n;
    r->o.history->over = false;
    wire_put_user(r->o.history, r->o.def->wire, str_of(r->message));
    ask(r);
}

static void on_ready(void *ctx)
{
    begin_turn(ctx);
}

static void on_startup_failed(void *ctx, const struct fault *f)
{
    end_turn(ctx, (struct str){ 0 }, f);
}

static void start_children(struct agent_run *r)
{
    static const struct children_ops ops = { on_ready, on_startup_failed };
    const struct children_opts o = {
        .loop = r->o.env->loop,
        .def = r->o.def,
        .workspace = r->o.env->workspace,
        .self = r->o.env->self,
        .mcp = r->o.env->mcp,
        .active = r->o.env->active,
        .credentials = r->o.env->credentials,
    };

    enter(r, STARTING);
    r->committed = r->o.history->n;
    r->children = children_new(&o, &ops, r);
    show(r, ACTIVITY_STARTING, "Starting tool servers", CHILDREN_STARTUP_MS);
}

/* ---- step by step ---- */

static void wipe(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

static void on_children_stopped(void *ctx)
{
    struct agent_run *r = ctx;

    r->children = NULL;
    enter(r, NEXT);
    timer_set(r->soon, 0);
}

/* A message may have come while the servers ended: the run goes on then. */
static void on_next(struct agent_run *r)
{
    r->message = r->ops.next(r->ctx);
    if (r->message) {
        r->begun = true;
        if (r->children)
            begin_turn(r);
        else
            start_children(r);
        return;
    }
    if (r->children) {
        enter(r, STOPPING);
        children_stop(r->children, on_children_stopped, r);
        return;
    }
    void (*on_end)(void *ctx) = r->ops.on_end;
    void *ctx = r->ctx;

    agent_run_free(r);
    on_end(ctx);
}

/* Interrupted before it began with anything: that ends what it would have begun with. */
static void drop_first(struct agent_run *r)
{
    char *message = r->ops.next(r->ctx);
    struct fault f;

    r->begun = true;
    fault_set(&f, FAULT_INTERRUPTED, "the run was interrupted");
    if (message)
        r->ops.on_turn(r->ctx, (struct str){ 0 }, &f);
    free(message);
}

static void on_soon(void *ctx)
{
    struct agent_run *r = ctx;

    if (r->interrupted && r->state != NEXT && r->state != STOPPING) {
        r->interrupted = false;
        fail_turn(r, FAULT_INTERRUPTED, "the run was interrupted");
        return;
    }
    if (r->interrupted && !r->begun)
        drop_first(r);
    r->interrupted = false;
    if (r->state == NEXT)
        on_next(r);
}

static void fail_turn(struct agent_run *r, enum fault_kind kind, const char *fmt, ...)
{
    char text[1024];
    struct fault f;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fault_set(&f, kind, "%s", text);
    end_turn(r, (struct str){ 0 }, &f);
}

void agent_run_interrupt(struct agent_run *r)
{
    r->interrupted = true;
    if (r->state != STOPPING)
        timer_set(r->soon, 0);
}

struct agent_run *agent_run_start(const struct run_opts *o, const struct run_ops *ops,
                                  void *ctx)
{
    struct agent_run *r = NEW(struct agent_run);

    r->o = *o;
    r->ops = *ops;
    r->ctx = ctx;
    r->provider = (struct provider){ .loop = o->env->loop,
                                     .def = o->def,
                                     .max_tokens = o->def->max_tokens };
    r->provider.credential = str_of(o->credential.n ? str_dup(o->credential) : NULL);
    r->soon = timer_new(o->env->loop, on_soon, r);
    timer_set(r->soon, 0);
    activity_set(o->activity, ACTIVITY_STARTING, "Starting");
    return r;
}

void agent_run_free(struct agent_run *r)
{
    if (!r)
        return;
    drop_turn(r);
    children_free(r->children);
    http_free(r->provider.http);
    wipe((char *)r->provider.credential.p);
    timer_free(r->soon);
    free(r);
}
