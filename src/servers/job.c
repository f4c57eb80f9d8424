/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/job.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"

#define TICK_MS 100 /* between two looks at the progress */

struct job *job_new(struct server *s, struct mcp_req *r)
{
    struct job *j = NEW(struct job);

    j->server = s;
    j->r = r;
    j->def = server_spec_of(s);
    j->arena = ARENA;
    j->answer = ANSWER;
    return j;
}

static void job_free(struct job *j)
{
    if (j->cleanup)
        j->cleanup(j);
    answer_free(&j->answer);
    arena_free(&j->arena);
    free(j);
}

void job_reply(struct job *j)
{
    tool_reply(j->r, j->def, &j->answer);
    job_free(j);
}

static bool put(struct job *j, struct error *e)
{
    auto_buf result = answer_json(&j->answer, j->def);

    return sending_put(&j->sending, buf_str(&result), e);
}

/* On the pool's thread, with all that is large: the loop's thread only sends it. */
static void on_run(void *ctx, struct work *w)
{
    struct job *j = ctx;
    struct error e;

    j->running = w;
    j->run(j);
    if (!work_cancelled(w) && !put(j, &e)) {
        answer_error(&j->answer, "%s", e.msg);
        put(j, &e);
    }
    answer_free(&j->answer);
    sending_enter(&j->sending, w);
}

static void on_done(void *ctx, bool cancelled)
{
    struct job *j = ctx;
    struct mcp_req *r = take_ptr(&j->r);

    (void)cancelled; /* only by on_cancel: r is NULL then */
    timer_free(j->tick);
    if (r)
        sending_reply(&j->sending, r);
    else
        sending_drop(&j->sending);
    job_free(j);
}

static void on_cancel(void *ctx)
{
    struct job *j = ctx;

    j->r = NULL;
    timer_free(take_ptr(&j->tick));
    work_cancel(j->work);
    sending_wake(&j->sending);
}

static void on_tick(void *ctx)
{
    struct job *j = ctx;
    uint64_t now = work_progress(j->work);

    if (now)
        mcp_progress(j->r, (double)now, 0, (struct str){ 0 });
    timer_set(j->tick, TICK_MS);
}

void job_start(struct job *j, enum work_kind kind, void (*run)(struct job *j))
{
    static const struct work_ops ops = { on_run, on_done };

    j->run = run;
    sending_begin(&j->sending, j->server, j->r);
    mcp_req_on_cancel(j->r, on_cancel, j);
    j->work = work_start(server_loop(j->server), kind, &ops, j);
    if (!mcp_req_wants_progress(j->r))
        return;
    j->tick = timer_new(server_loop(j->server), on_tick, j);
    timer_set(j->tick, TICK_MS);
}

bool job_cancelled(const struct job *j)
{
    return work_cancelled(j->running);
}

void job_advance(struct job *j, uint64_t by)
{
    work_advance(j->running, by);
}
