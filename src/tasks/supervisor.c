/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/supervisor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "tasks/run_impl.h"

static const char *const state_name[] = {
    "waiting", "preparing", "starting", "running", "cancelling", "ending", "recording", "done",
};

static const unsigned next_of[] = {
    [RUN_WAITING] = 1u << RUN_PREPARING | 1u << RUN_STARTING | 1u << RUN_RECORDING,
    [RUN_PREPARING] = 1u << RUN_STARTING | 1u << RUN_RECORDING,
    [RUN_STARTING] = 1u << RUN_RUNNING | 1u << RUN_ENDING | 1u << RUN_RECORDING,
    [RUN_RUNNING] = 1u << RUN_CANCELLING | 1u << RUN_ENDING | 1u << RUN_RECORDING,
    [RUN_CANCELLING] = 1u << RUN_ENDING | 1u << RUN_RECORDING,
    [RUN_ENDING] = 1u << RUN_RECORDING,
    [RUN_RECORDING] = 1u << RUN_DONE,
    [RUN_DONE] = 0,
};

void run_enter(struct run *r, enum run_state to)
{
    assert(next_of[r->state] & 1u << to);
    log_debug("task %s: %s -> %s", r->id, state_name[r->state], state_name[to]);
    r->state = to;
}

/* ---- all of them ---- */

struct runs *runs_new(const struct run_env *env)
{
    struct runs *all = NEW(struct runs);

    all->env = *env;
    all->env.state_dir = arena_z(&all->arena, str_of(env->state_dir));
    all->env.path = arena_z(&all->arena, str_of(env->path));
    all->capacity = capacity_new(&(struct capacity_opts){ .loop = env->loop,
                                                          .ledger = env->ledger,
                                                          .max_running = env->max_concurrent,
                                                          .min_free_mb = env->min_free_mb });
    return all;
}

void runs_free(struct runs *all)
{
    if (!all)
        return;
    assert(!all->first);
    ledger_watch_free(all->watch);
    ledger_drop(all->env.ledger, all);
    capacity_free(all->capacity);
    arena_free(&all->arena);
    free(all);
}

struct run *run_find(const struct runs *all, struct str id)
{
    for (struct run *r = all->first; r; r = r->next)
        if (r->state != RUN_DONE && str_is(id, r->id))
            return r;
    return NULL;
}

static void call_off(struct run *r, const struct str *reason);

/* TK-4: another process asked for it in the ledger. */
static void on_cancels(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct runs *all = ctx;

    all->asking = false;
    for (size_t i = 0; !e && i < a->ntasks; i++) {
        struct run *r = run_find(all, a->tasks[i].id);

        if (r)
            call_off(r, NULL); /* who asked has written the event */
    }
}

static void on_change(void *ctx)
{
    struct runs *all = ctx;

    capacity_look(all->capacity);
    if (all->asking)
        return;
    all->asking = true;
    ledger_cancels(all->env.ledger, on_cancels, all);
}

void runs_shutdown(struct runs *all)
{
    all->closing = true;
    for (struct run *r = all->first; r; r = r->next)
        run_cancel(r, STR("symposium is shutting down"));
}

/* ---- the way to the start ---- */

static void on_worktree(void *ctx, const struct error *e)
{
    struct run *r = ctx;

    r->job = NULL;
    if (e) {
        run_error(r, "worktree", "%s", e->msg);
        run_record_end(r);
        return;
    }
    run_record_worktree(r, worktree_branch(&r->arena, str_of(r->id)));
    run_start(r);
}

static void make_worktree(struct run *r)
{
    struct worktree_opts o = {
        .loop = r->all->env.loop,
        .workspace = r->workspace,
        .path = worktree_path(&r->arena, r->all->env.state_dir, str_of(r->id)),
        .branch = worktree_branch(&r->arena, str_of(r->id)),
    };

    run_enter(r, RUN_PREPARING);
    r->cwd = r->plan.turn.cwd = o.path;
    r->job = worktree_add(&o, on_worktree, r);
}

static void on_claim(void *ctx, const struct error *e)
{
    struct run *r = ctx;

    r->ticket = NULL;
    if (e) {
        run_error(r, "start", "%s", e->msg);
        run_record_end(r);
    } else if (r->worktree) {
        make_worktree(r);
    } else {
        run_start(r);
    }
}

static void on_wait(void *ctx)
{
    struct run *r = ctx;

    if (r->ops.on_queued)
        r->ops.on_queued(r->ctx);
}

/* ---- being called off ---- */

void run_call_off(struct run *r)
{
    static const struct child_ladder at_once = { 0, RUN_TERM_MS };

    if (r->called_off)
        return;
    r->called_off = true;
    switch (r->state) {
    case RUN_WAITING:
        ticket_free(take_ptr(&r->ticket));
        run_record_end(r);
        break;
    case RUN_PREPARING: /* half of it may be there: whoever resolves the task has to know */
        run_record_worktree(r, worktree_branch(&r->arena, str_of(r->id)));
        worktree_job_free(take_ptr(&r->job));
        run_record_end(r);
        break;
    case RUN_RUNNING:
        if (r->session && r->prompting) {
            run_enter(r, RUN_CANCELLING);
            timer_set(r->timer, RUN_CANCEL_MS);
            run_cancel_turn(r); /* last: its end may come from inside */
            break;
        }
        run_stop_process(r, at_once);
        break;
    case RUN_STARTING:
    case RUN_ENDING:
        run_stop_process(r, at_once);
        break;
    case RUN_CANCELLING: /* only what was called off gets there */
    case RUN_RECORDING:
    case RUN_DONE:
        break;
    }
}

/* What the agent said before it was called off stands before the event that tells it. */
static void say_all(struct run *r)
{
    run_flush_text(r);
    if (r->session)
        acp_session_flush(r->session);
}

static void put_reason(struct run *r, struct str reason)
{
    auto_buf out = BUF(RUN_DATA_MAX + 6 * TASK_NOTE_MAX);
    struct jw w = jw_to(&out);

    jw_obj(&w);
    if (reason.n)
        jw_kstr(&w, "reason", str_upto(reason, TASK_NOTE_MAX));
    jw_end(&w);
    run_event(r, TASK_EV_CANCELLED, buf_str(&out));
}

/* `reason` NULL: no event. */
static void call_off(struct run *r, const struct str *reason)
{
    if (r->called_off || r->state >= RUN_RECORDING)
        return;
    if (r->state == RUN_ENDING) { /* its turn is over: what it came to stays, but hurry */
        run_call_off(r);
        return;
    }
    r->verdict = TASK_CANCELLED;
    say_all(r);
    if (reason)
        put_reason(r, *reason);
    run_call_off(r);
}

void run_cancel(struct run *r, struct str reason)
{
    call_off(r, &reason);
}

static void on_deadline(void *ctx)
{
    struct run *r = ctx;

    if (r->called_off || r->state >= RUN_ENDING)
        return;
    say_all(r);
    run_error(r, NULL, "deadline: the task did not end within %d s", r->deadline_s);
    r->verdict = TASK_FAILED;
    run_call_off(r);
}

static void on_timer(void *ctx)
{
    struct run *r = ctx;

    switch (r->state) {
    case RUN_WAITING: /* the process ended before it began */
        run_record_end(r);
        break;
    case RUN_CANCELLING:
        run_stop_process(r, (struct child_ladder){ 0, RUN_TERM_MS });
        break;
    case RUN_ENDING:
        run_give_up(r);
        break;
    case RUN_RECORDING:
        run_record_again(r);
        break;
    case RUN_PREPARING:
    case RUN_STARTING:
    case RUN_RUNNING:
    case RUN_DONE:
        break;
    }
}

static void on_text_timer(void *ctx)
{
    run_flush_text(ctx);
}

/* ---- life ---- */

static struct run *make(struct runs *all, const struct run_opts *o, const struct run_ops *ops,
                        void *ctx)
{
    struct run *r = NEW(struct run);

    *r = (struct run){
        .all = all,
        .next = all->first,
        .deadline_s = o->deadline_s,
        .max_output = o->max_output > 0 ? o->max_output : TASK_OUTPUT_MAX,
        .worktree = o->worktree,
        .ops = *ops,
        .ctx = ctx,
        .verdict = TASK_FAILED,
        .result = BUF(TASK_RESULT_MAX),
        .text = { BUF(TASK_PIECE_MAX), BUF(TASK_PIECE_MAX) },
    };
    memcpy(r->id, o->id.p, TASK_ID_LEN);
    task_plan_copy(&r->plan, &r->arena, o->plan);
    r->workspace = r->cwd = arena_z(&r->arena, str_of(o->workspace));
    r->timer = timer_new(all->env.loop, on_timer, r);
    r->text_timer = timer_new(all->env.loop, on_text_timer, r);
    if (o->deadline_s)
        r->deadline = timer_new(all->env.loop, on_deadline, r);
    return r;
}

struct run *run_new(struct runs *all, const struct run_opts *o, const struct run_ops *ops,
                    void *ctx)
{
    static const struct ticket_ops ticket = { on_wait, on_claim };
    struct run *r = make(all, o, ops, ctx);

    all->first = r;
    all->n++;
    if (!all->watch)
        all->watch = ledger_watch_new(all->env.ledger, on_change, all);
    if (all->closing) {
        run_error(r, "start", "symposium is shutting down");
        timer_set(r->timer, 0);
    } else {
        r->ticket = ticket_new(all->capacity, o->id, o->priority, &ticket, r);
    }
    return r;
}

void run_done(struct run *r)
{
    struct runs *all = r->all;

    run_enter(r, RUN_DONE);
    if (--all->n == 0) {
        ledger_watch_free(all->watch);
        all->watch = NULL;
    }
    r->ops.done(r->ctx);
}

void run_free(struct run *r)
{
    struct run **at = &r->all->first;

    assert(r->state == RUN_DONE);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    ledger_drop(r->all->env.ledger, r);
    timer_free(r->timer);
    timer_free(r->text_timer);
    timer_free(r->deadline);
    buf_free(&r->text[0]);
    buf_free(&r->text[1]);
    buf_free(&r->result);
    free(r->message_id);
    arena_free(&r->arena);
    free(r);
}
