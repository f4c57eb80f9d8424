/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wait_agent and its progress (AG-7, AG-16, AG-17). A waiter hears of every change of its
 * sessions; what changes faster than progress may be sent is told once, as it is by then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "servers/agents/impl.h"
#include "servers/args.h"

#define WAIT_MS           30000
#define WAIT_MAX_MS       300000
#define WAIT_TARGETS      256
#define PROGRESS_MS       60 /* a little more than mcp/server.h asks for */
#define PROGRESS_TEXT_MAX 256
#define PROGRESS_NAME_MAX 120
#define PROGRESS_META     "io.modelcontextprotocol/agents"

struct waiter {
    struct agents *s;
    struct mcp_req *r;
    struct session **v;
    bool *changed; /* not told yet; one for each of v */
    size_t n;
    struct timer *end;  /* the timeout */
    struct timer *pace; /* between two progress notifications */
    int64_t deadline_ms;
    double told;
    struct waiter *next;
};

/* ---- results ---- */

static int64_t elapsed_ms(const struct session *s)
{
    return (s->state == SESSION_RUNNING ? clock_ms() : s->ended_ms) - s->began_ms;
}

static void put_session(struct jw *w, const struct session *s)
{
    jw_obj(w);
    jw_kstrz(w, "agent_id", s->id);
    jw_kstr(w, "name", s->def->name);
    jw_kstrz(w, "status", session_state_name(s->state));
    if (s->state == SESSION_COMPLETED)
        jw_kstrz(w, "result", s->result);
    if (s->state == SESSION_FAILED) {
        jw_key(w, "error");
        jw_obj(w);
        jw_kstrz(w, "kind", fault_name(s->fault.kind));
        jw_kstrz(w, "message", s->fault.msg);
        jw_end(w);
    }
    jw_kint(w, "total_elapsed_ms", elapsed_ms(s));
    if (s->state == SESSION_RUNNING) {
        jw_key(w, "activity");
        activity_put(w, &s->activity);
    }
    jw_end(w);
}

static bool all_ended(const struct waiter *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i]->state == SESSION_RUNNING)
            return false;
    return true;
}

/* ---- one waiter ---- */

static void waiter_free(struct waiter *w)
{
    struct waiter **at = &w->s->waiters;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    for (size_t i = 0; i < w->n; i++)
        w->v[i]->waits--;
    sessions_touch(w->s->sessions, w->v, w->n);
    timer_free(w->end);
    timer_free(w->pace);
    free(w->v);
    free(w->changed);
    free(w);
}

static void reply(struct waiter *w)
{
    auto_buf out = BUF(RESULT_MAX);
    struct jw j = jw_to(&out);
    struct agents *s = w->s;
    struct mcp_req *r = w->r;

    jw_obj(&j);
    jw_key(&j, "agents");
    jw_arr(&j);
    for (size_t i = 0; i < w->n; i++)
        put_session(&j, w->v[i]);
    jw_end(&j);
    jw_kbool(&j, "timed_out", !all_ended(w));
    jw_end(&j);
    waiter_free(w);
    mcp_req_on_cancel(r, NULL, NULL);
    if (out.over) {
        struct fault f;

        fault_set(&f, FAULT_RUNTIME,
                  "the results together are too long: wait for fewer agents");
        agents_refuse(s, r, &f);
        return;
    }
    agents_accept(s, r, buf_str(&out));
}

static void on_timeout(void *ctx)
{
    reply(ctx);
}

static void on_cancel(void *ctx)
{
    waiter_free(ctx);
}

/* ---- progress ---- */

static void put_meta(struct buf *out, const struct waiter *w, const struct session *s)
{
    int64_t left = w->deadline_ms - clock_ms();
    struct jw j = jw_to(out);

    jw_obj(&j);
    jw_key(&j, PROGRESS_META);
    jw_obj(&j);
    jw_key(&j, "agent");
    jw_obj(&j);
    jw_kstrz(&j, "agent_id", s->id);
    jw_kstr(&j, "name", s->def->name);
    jw_kstrz(&j, "status", session_state_name(s->state));
    jw_key(&j, "activity");
    activity_put(&j, &s->activity);
    jw_kint(&j, "total_elapsed_ms", elapsed_ms(s));
    jw_end(&j);
    jw_kint(&j, "wait_timeout_remaining_ms", left > 0 ? left : 0);
    jw_end(&j);
    jw_end(&j);
}

static void tell(struct waiter *w, const struct session *s)
{
    char text[PROGRESS_NAME_MAX + ACTIVITY_SUMMARY_MAX + 8];
    auto_buf meta = BUF(4096);

    put_meta(&meta, w, s);
    snprintf(text, sizeof text, "%.*s · %s", STR_F(utf8_cut(s->def->name, PROGRESS_NAME_MAX)),
             s->activity.summary);
    mcp_progress_meta(w->r, ++w->told, -1, utf8_cut(str_of(text), PROGRESS_TEXT_MAX),
                      buf_str(&meta));
}

/* One that is due, if the pace allows it; the rest comes later. */
static void tell_next(struct waiter *w)
{
    if (timer_is_set(w->pace))
        return;
    for (size_t i = 0; i < w->n; i++) {
        if (!w->changed[i])
            continue;
        w->changed[i] = false;
        tell(w, w->v[i]);
        timer_set(w->pace, PROGRESS_MS);
        return;
    }
}

static void on_pace(void *ctx)
{
    tell_next(ctx);
}

void agents_changed(struct agents *s, struct session *session)
{
    for (struct waiter *w = s->waiters, *next; w; w = next) {
        bool mine = false;

        next = w->next;
        for (size_t i = 0; i < w->n; i++) {
            if (w->v[i] == session) {
                w->changed[i] = mine = true;
            }
        }
        if (mine && w->pace)
            tell_next(w);
        if (mine && all_ended(w))
            reply(w);
    }
}

/* ---- the call ---- */

static bool read_targets(struct agents *s, struct waiter *w, const struct arg_strings *ids,
                         struct fault *f)
{
    if (!ids->n || ids->n > WAIT_TARGETS)
        return fault_set(f, FAULT_INVALID_REQUEST, "`targets` must have 1 to %d elements",
                         WAIT_TARGETS);
    for (size_t i = 0; i < ids->n; i++) {
        struct session *session;

        for (size_t k = 0; k < i; k++)
            if (str_eq(ids->v[i], ids->v[k]))
                return fault_set(f, FAULT_INVALID_REQUEST, "`targets` has '%.*s' twice",
                                 STR_F(str_upto(ids->v[i], 100)));
        session = sessions_find(s->sessions, ids->v[i]);
        if (!session)
            return fault_set(f, FAULT_UNKNOWN_AGENT, "there is no agent with the id '%.*s'",
                             STR_F(str_upto(ids->v[i], 100)));
        w->v[w->n++] = session;
    }
    return true;
}

static void enlist(struct waiter *w, int64_t timeout_ms)
{
    struct loop *l = server_loop(w->s->server);

    w->next = w->s->waiters;
    w->s->waiters = w;
    w->deadline_ms = clock_ms() + timeout_ms;
    for (size_t i = 0; i < w->n; i++) {
        w->v[i]->waits++;
        w->changed[i] = true;
    }
    w->end = timer_new(l, on_timeout, w);
    timer_set(w->end, (int)timeout_ms);
    mcp_req_on_cancel(w->r, on_cancel, w);
    if (mcp_req_wants_progress(w->r)) {
        w->pace = timer_new(l, on_pace, w);
        tell_next(w);
    }
}

void agents_wait(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct wait {
        struct arg_strings targets;
        int64_t timeout_ms;
        bool given;
    } in = { .timeout_ms = WAIT_MS };
    static const struct arg table[] = {
        { "targets", ARG_STRINGS, offsetof(struct wait, targets), 0 },
        { "timeout_ms", ARG_INT, offsetof(struct wait, timeout_ms),
          offsetof(struct wait, given) },
        { 0 },
    };
    struct agents *s = ctx;
    struct waiter *w;
    struct fault f = { 0 };
    struct error e;

    if (!args_read(mcp_req_arena(r), args, table, true, &in, &e))
        fault_set(&f, FAULT_INVALID_REQUEST, "%s", e.msg);
    else if (in.timeout_ms < 0 || in.timeout_ms > WAIT_MAX_MS)
        fault_set(&f, FAULT_INVALID_REQUEST, "`timeout_ms` must be from 0 to %d", WAIT_MAX_MS);
    if (f.kind) {
        agents_refuse(s, r, &f);
        return;
    }
    w = NEW(struct waiter);
    w->s = s;
    w->r = r;
    w->v = mem_alloc((in.targets.n + 1) * sizeof(struct session *));
    w->changed = mem_alloc(in.targets.n + 1);
    if (!read_targets(s, w, &in.targets, &f)) {
        free(w->v);
        free(w->changed);
        free(w);
        agents_refuse(s, r, &f);
        return;
    }
    sessions_touch(s->sessions, w->v, w->n);
    enlist(w, in.timeout_ms);
    if (!in.timeout_ms || all_ended(w))
        reply(w);
}

void agents_end_waits(struct agents *s)
{
    struct waiter *next;

    for (struct waiter *w = s->waiters; w; w = next) {
        next = w->next;
        reply(w);
    }
}
