/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* resolve_task and cancel_task (TK-13, TK-14): of one task, whoever owns it. */
#include "base/log.h"
#include "base/mem.h"
#include "tasks/service_impl.h"
#include "tasks/worktree.h"

/* ---- resolve_task ---- */

struct resolving {
    struct resolve_args args;
    struct worktree_job *removal;
    struct str record; /* the answer, while the worktree is removed */
};

static void cleanup_resolve(struct op *o)
{
    struct resolving *r = o->own;

    worktree_job_free(r->removal);
}

/* One that holds something stays; the record names where it is (TK-19). */
static void on_removed(void *ctx, const struct error *e)
{
    struct op *o = ctx;
    struct resolving *r = o->own;

    r->removal = NULL;
    if (e)
        log_debug("worktree of a task is kept: %s", e->msg);
    op_answer(o, r->record);
}

static void remove_worktree(struct op *o, const struct task_record *t)
{
    struct resolving *r = o->own;
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw w = jw_to(&out);
    const struct worktree_opts opts = {
        .loop = o->s->loop,
        .workspace = arena_z(&o->arena, t->workspace),
        .path = arena_z(&o->arena, t->worktree),
        .branch = arena_z(&o->arena, t->branch),
    };

    task_put(&w, t, true);
    r->record = arena_str(&o->arena, buf_str(&out));
    r->removal = worktree_remove(&opts, on_removed, o);
}

static void on_resolved(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;

    if (e)
        op_refuse_error(o, e);
    else if (a->tasks[0].worktree.n)
        remove_worktree(o, &a->tasks[0]);
    else
        op_answer_record(o, &a->tasks[0]);
}

static void put_resolution(struct buf *out, const struct resolve_args *args)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "resolution", task_resolution_name(args->resolution));
    if (args->note.n)
        jw_kstr(&w, "note", args->note);
    jw_end(&w);
}

/* What is terminal stays so: nobody changes it between this look and the change. */
static void on_look_at_resolved(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    struct resolving *r = o->own;
    enum task_status status;
    auto_buf data = BUF(8 * TASK_NOTE_MAX);
    struct task_event_row event = { .type = TASK_EV_RESOLVED };
    struct task_change c = { .id = r->args.id, .events = &event, .nevents = 1 };

    if (e) {
        op_refuse_error(o, e);
        return;
    }
    status = a->tasks[0].status;
    if (!task_is_terminal(status)) {
        op_refuse(o, TASK_INVALID_TRANSITION,
                  str_of(arena_printf(&o->arena,
                                      "the task is %s; only one that has ended can be resolved",
                                      task_status_name(status))));
        return;
    }
    put_resolution(&data, &r->args);
    event.data = buf_str(&data);
    c.from = 1u << status;
    c.to = status;
    c.set.resolve = true;
    c.set.resolution = r->args.resolution;
    c.set.note = r->args.note;
    ledger_change(o->s->ledger, &c, on_resolved, o);
}

void service_resolve(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct resolving *r = o->own = ARENA_NEW(&o->arena, struct resolving);
    struct error e;

    o->cleanup = cleanup_resolve;
    o->survives = true;
    if (resolve_args_read(&r->args, &o->arena, args, &e))
        ledger_get(s->ledger, r->args.id, on_look_at_resolved, o);
    else
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
}

/* ---- cancel_task ---- */

/* The ladder of TK-21, and time for another process to notice. */
#define CANCEL_WAIT_MS (RUN_CANCEL_MS + RUN_TERM_MS + RUN_KILL_MS + 5000)

struct cancelling {
    struct cancel_args args;
    struct timer *patience;
    bool asking, again;
    bool late;  /* the answer to the question is the last one */
    bool asked; /* the owner was asked */
};

static void look(struct op *o);

static void cleanup_cancel(struct op *o)
{
    struct cancelling *c = o->own;

    timer_free(c->patience);
}

static void end_soon(struct op *o)
{
    struct cancelling *c = o->own;

    c->late = true;
    look(o);
}

static void on_patience(void *ctx)
{
    end_soon(ctx);
}

static void on_asked(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    struct cancelling *c = o->own;

    (void)a;
    if (e) {
        op_refuse_error(o, e);
        return;
    }
    /* Not done when its status changed meanwhile: the look at it asks again. */
    c->asked = a->yes;
    c->asking = false;
    look(o);
}

static void put_reason(struct buf *out, struct str reason)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    if (reason.n)
        jw_kstr(&w, "reason", reason);
    jw_end(&w);
}

/* Its owner sees this (TK-4), and the event that tells why stands already. */
static void ask_owner(struct op *o, enum task_status status)
{
    struct cancelling *c = o->own;
    auto_buf data = BUF(8 * SERVICE_REASON_MAX);
    struct task_event_row event = { .type = TASK_EV_CANCELLED };
    const struct task_change change = {
        .id = c->args.id,
        .from = 1u << status,
        .to = status,
        .set.cancel_requested = true,
        .events = &event,
        .nevents = 1,
    };

    put_reason(&data, c->args.reason);
    event.data = buf_str(&data);
    c->asking = true;
    ledger_change(o->s->ledger, &change, on_asked, o);
}

static void on_look_at_cancelled(void *ctx, const struct ledger_answer *a,
                                 const struct error *e)
{
    struct op *o = ctx;
    struct cancelling *c = o->own;
    struct run *run;

    c->asking = false;
    if (e) {
        op_refuse_error(o, e);
        return;
    }
    if (task_is_terminal(a->tasks[0].status) || c->late) {
        op_answer_record(o, &a->tasks[0]);
        return;
    }
    run = run_find(o->s->runs, c->args.id);
    if (run && !c->asked) {
        c->asked = true;
        run_cancel(run, c->args.reason);
    } else if (!c->asked) {
        ask_owner(o, a->tasks[0].status);
    }
    if (c->again)
        look(o);
}

static void look(struct op *o)
{
    struct cancelling *c = o->own;

    c->again = c->asking;
    if (c->asking)
        return;
    c->asking = true;
    ledger_get(o->s->ledger, c->args.id, on_look_at_cancelled, o);
}

void service_cancel(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct cancelling *c = o->own = ARENA_NEW(&o->arena, struct cancelling);
    struct error e;

    o->cleanup = cleanup_cancel;
    o->survives = true;
    if (!cancel_args_read(&c->args, &o->arena, args, &e)) {
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
        return;
    }
    c->patience = timer_new(s->loop, on_patience, o);
    timer_set(c->patience, CANCEL_WAIT_MS);
    o->hurry = end_soon;
    op_wait(o, look);
    look(o);
}
