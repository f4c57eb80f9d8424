/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* wait_tasks (TK-11): looks at the tasks, then again whenever the ledger changed. */
#include "base/clock.h"
#include "base/mem.h"
#include "tasks/service_impl.h"

#define PROGRESS_MS 10000 /* between two progress notifications without a change */

struct wait {
    struct wait_args args;
    service_progress_fn progress;
    int64_t since_ms;
    struct timer *deadline, *beat;
    bool asking, again;       /* a question is under way; the ledger changed since it was put */
    bool late;                /* the answer to it is the last one */
    bool looked;              /* `status` is filled */
    enum task_status *status; /* of each task, at the last look */
};

static void look(struct op *o);

/* ---- what is there ---- */

static bool is_ready(const struct wait *w, size_t i, const struct task_record *t)
{
    if (task_is_terminal(t->status))
        return true;
    return w->args.until_event && t->last_seq > w->args.after[i];
}

static bool is_over(const struct wait *w, const struct task_record *tasks)
{
    size_t ready = 0;

    for (size_t i = 0; i < w->args.n; i++)
        ready += is_ready(w, i, &tasks[i]);
    return w->args.all ? ready == w->args.n : ready > 0;
}

static void put_result(struct jw *w, const struct wait *wait, const struct task_record *tasks)
{
    jw_obj(w);
    jw_key(w, "tasks");
    jw_arr(w);
    for (size_t i = 0; i < wait->args.n; i++) {
        jw_obj(w);
        jw_kstr(w, "task_id", tasks[i].id);
        jw_kstrz(w, "status", task_status_name(tasks[i].status));
        jw_kint(w, "cursor", tasks[i].last_seq);
        if (tasks[i].stop_reason.n)
            jw_kstr(w, "stop_reason", tasks[i].stop_reason);
        jw_end(w);
    }
    jw_end(w);
    jw_key(w, "ready");
    jw_arr(w);
    for (size_t i = 0; i < wait->args.n; i++)
        if (is_ready(wait, i, &tasks[i]))
            jw_str(w, tasks[i].id);
    jw_end(w);
    jw_kbool(w, "timed_out", !is_over(wait, tasks));
    jw_end(w);
}

/* ---- progress ---- */

/* "2 running, 1 succeeded" */
static void put_counts(struct buf *out, const struct wait *w)
{
    size_t count[TASK_CANCELLED + 1] = { 0 };

    for (size_t i = 0; i < w->args.n; i++)
        count[w->status[i]]++;
    for (int status = 0; status <= TASK_CANCELLED; status++)
        if (count[status])
            buf_addf(out, "%s%zu %s", out->n ? ", " : "", count[status],
                     task_status_name((enum task_status)status));
}

static void tell(struct op *o)
{
    struct wait *w = o->own;
    auto_buf line = BUF(256);
    double elapsed = (double)(clock_ms() - w->since_ms) / 1000;

    timer_set(w->beat, PROGRESS_MS);
    if (!w->progress)
        return;
    put_counts(&line, w);
    w->progress(o->ctx, elapsed, (double)w->args.timeout_s, buf_str(&line));
}

static void on_beat(void *ctx)
{
    tell(ctx);
}

static bool note_status(struct wait *w, const struct task_record *tasks)
{
    bool changed = false;

    for (size_t i = 0; i < w->args.n; i++) {
        changed |= w->looked && w->status[i] != tasks[i].status;
        w->status[i] = tasks[i].status;
    }
    w->looked = true;
    return changed;
}

/* ---- the wait ---- */

/* "After" what there is now, where the caller did not say after what. */
static void set_after(struct wait *w, const struct task_record *tasks)
{
    for (size_t i = 0; i < w->args.n; i++)
        if (w->args.after[i] < 0)
            w->args.after[i] = tasks[i].last_seq;
}

static void on_tasks(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    struct wait *w = o->own;
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw jw = jw_to(&out);

    w->asking = false;
    if (e) {
        op_refuse_error(o, e);
        return;
    }
    set_after(w, a->tasks);
    if (is_over(w, a->tasks) || w->late || w->args.timeout_s == 0) {
        put_result(&jw, w, a->tasks);
        op_answer(o, buf_str(&out));
        return;
    }
    if (note_status(w, a->tasks))
        tell(o);
    if (w->again)
        look(o);
}

static void look(struct op *o)
{
    struct wait *w = o->own;

    w->again = w->asking;
    if (w->asking)
        return;
    w->asking = true;
    ledger_get_many(o->s->ledger, w->args.ids, w->args.n, on_tasks, o);
}

/* The state of now is the answer, whatever it is. */
static void end_soon(struct op *o)
{
    struct wait *w = o->own;

    w->late = true;
    look(o);
}

static void on_deadline(void *ctx)
{
    end_soon(ctx);
}

static void cleanup(struct op *o)
{
    struct wait *w = o->own;

    timer_free(w->deadline);
    timer_free(w->beat);
}

void service_wait(struct service *s, yyjson_val *args, service_fn done,
                  service_progress_fn progress, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct wait *w = o->own = ARENA_NEW(&o->arena, struct wait);
    struct error e;

    if (!wait_args_read(&w->args, &o->arena, args, &e)) {
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
        return;
    }
    w->progress = progress;
    w->since_ms = clock_ms();
    w->status = ARENA_ARRAY(&o->arena, enum task_status, w->args.n);
    w->deadline = timer_new(s->loop, on_deadline, o);
    w->beat = timer_new(s->loop, on_beat, o);
    o->cleanup = cleanup;
    if (w->args.timeout_s > 0) {
        timer_set(w->deadline, (int)w->args.timeout_s * 1000);
        timer_set(w->beat, PROGRESS_MS);
        o->hurry = end_soon;
        op_wait(o, look);
    }
    look(o);
}
