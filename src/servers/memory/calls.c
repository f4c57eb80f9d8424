/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/calls.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "servers/job.h"

/* Of ANSWER_MAX, for what stands around structuredContent and the text. */
#define AROUND_ECHO ((size_t)8 << 10)

/* ---- mutations ---- */

struct call {
    struct memory *m;
    struct call *next;
    const struct mutation *what;
    struct mcp_req *r; /* while it waits */
    struct arena arena;
    struct request request;
    int64_t until;   /* it waits for the file's lock, its time in the queue included */
    struct job *job; /* while it runs */
    bool changed;
};

static void call_free(struct call *c)
{
    arena_free(&c->arena);
    free(c);
}

/* Cancelled before its turn. */
static void on_cancel_waiting(void *ctx)
{
    struct call *c = ctx;
    struct call **at = &c->m->first;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (!*at)
        c->m->last = at;
    call_free(c);
}

static bool is_cancelled(void *ctx)
{
    const struct call *c = ctx;

    return job_cancelled(c->job);
}

static bool plan(void *ctx, struct change *change)
{
    struct call *c = ctx;

    answer_free(&c->job->answer); /* of an earlier attempt */
    c->job->answer = ANSWER;
    return c->what->run(&c->request, change, &c->job->answer);
}

/* What was saved must not look like a failure just because its echo is too long. */
static void shorten_echo(struct answer *a)
{
    auto_buf text = BUF(ANSWER_MAX);

    if (!a->structured.over && !a->text.over) {
        if (a->structured.n + a->text.n < ANSWER_MAX / 4)
            return;
        json_put_str(&text, buf_str(&a->text));
        if (!text.over && text.n + a->structured.n < ANSWER_MAX - AROUND_ECHO)
            return;
    }
    answer_error(a,
                 "Saved, but what was added has more than %zu bytes and is not repeated here; "
                 "an answer has at most %zu. Use open_nodes to look at it.",
                 a->structured.n, ANSWER_MAX);
}

static void run_mutation(struct job *j)
{
    struct call *c = j->ctx;
    const struct plan p = { plan, is_cancelled, c, c->until };
    struct error e;

    c->job = j;
    if (!store_change(c->m->store, &p, &c->changed, &e))
        answer_error(&j->answer, "%s", e.msg);
    else if (c->changed)
        shorten_echo(&j->answer);
}

static void start_next(struct memory *m);

static void after_mutation(struct job *j)
{
    struct call *c = j->ctx;
    struct memory *m = c->m;

    m->running = NULL;
    if (c->changed)
        memory_changed(m);
    memory_warn(m);
    call_free(c);
    start_next(m);
}

static void start_next(struct memory *m)
{
    struct call *c = m->first;
    struct job *j;

    if (m->running || !c)
        return;
    m->first = c->next;
    if (!m->first)
        m->last = &m->first;
    m->running = c;
    j = job_new(m->server, take_ptr(&c->r));
    j->ctx = c;
    j->cleanup = after_mutation;
    /* One at a time: it takes no thread from anybody for long. */
    job_start(j, WORK_SHORT, run_mutation);
}

void calls_mutate(struct memory *m, struct mcp_req *r, yyjson_val *args,
                  const struct mutation *what)
{
    struct call *c = NEW(struct call);
    struct error e;

    /* From its arrival: all that queue behind a lock that is never released end together. */
    *c = (struct call){
        .m = m, .what = what, .r = r, .arena = ARENA, .until = clock_ms() + STORE_LOCK_MS
    };
    if (!what->arguments(&c->arena, args, &c->request, &e)) {
        tool_fail(r, ARGS_FAILED "%s", e.msg);
        call_free(c);
        return;
    }
    mcp_req_on_cancel(r, on_cancel_waiting, c);
    *m->last = c;
    m->last = &c->next;
    start_next(m);
}

/* ---- readings ---- */

struct reader {
    struct memory *m;
    const struct reading *what;
    struct request request;
    struct job *job;
};

static bool is_reading_cancelled(void *ctx)
{
    const struct reader *rd = ctx;

    return job_cancelled(rd->job);
}

static void look(void *ctx, const struct graph *g)
{
    struct reader *rd = ctx;
    struct query q = { &rd->request, &rd->job->arena, is_reading_cancelled, rd };
    struct view v = rd->what->run(&q, g);

    if (!job_cancelled(rd->job))
        output_view(&rd->job->answer.structured, &v);
}

static void run_reading(struct job *j)
{
    struct reader *rd = j->ctx;
    struct error e;

    rd->job = j;
    if (store_read(rd->m->store, look, rd, &e))
        output_pretty(&j->answer.text, buf_str(&j->answer.structured));
    else
        answer_error(&j->answer, "%s", e.msg);
}

static void after_reading(struct job *j)
{
    struct reader *rd = j->ctx;

    memory_warn(rd->m);
}

void calls_read(struct memory *m, struct mcp_req *r, yyjson_val *args,
                const struct reading *what)
{
    struct job *j = job_new(m->server, r);
    struct reader *rd = ARENA_NEW(&j->arena, struct reader);
    struct error e;

    *rd = (struct reader){ .m = m, .what = what };
    j->ctx = rd;
    j->cleanup = after_reading;
    if (what->arguments(&j->arena, args, &rd->request, &e)) {
        job_start(j, WORK_LONG, run_reading);
    } else {
        answer_error(&j->answer, ARGS_FAILED "%s", e.msg);
        job_reply(j);
    }
}
