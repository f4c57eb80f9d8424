/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/work.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/internal.h"
#include "loop/timer.h"

#define POOL_VAR "UV_THREADPOOL_SIZE"

/*
 * A job is in one of these places:
 *
 *     waiting  in loop->works.waiting: long, and WORK_LONG_MAX of them are with libuv
 *     given    with libuv: in its queue or on a thread
 *     dropped  never given to libuv: only its `done` is to come
 */
struct work {
    uv_work_t uv;
    struct loop *loop;
    struct work *prev, *next;   /* of all that are open */
    struct work *waiting_after; /* the next one that waits */
    enum work_kind kind;
    bool given;
    const struct work_ops *ops;
    void *ctx;
    struct deferred drop;
    atomic_bool cancelled;
    atomic_uint_fast64_t progress;
};

/* ---- on a pool thread ---- */

static void on_run(uv_work_t *uv)
{
    struct work *w = uv->data;

    if (!work_cancelled(w))
        w->ops->run(w->ctx, w);
}

/* ---- on the loop's thread ---- */

static void on_after(uv_work_t *uv, int status);

/*
 * libuv makes its pool inside the first uv_queue_work() of the process and asks the environment
 * for its size there. The variable is set for this one call only: children get what the user
 * gave us.
 */
static void give_first(struct work *w)
{
    auto_free char *was = mem_strdup(getenv(POOL_VAR));
    char size[16];

    snprintf(size, sizeof size, "%d", WORK_THREADS);
    setenv(POOL_VAR, size, 1);
    uv_queue_work(&w->loop->uv, &w->uv, on_run, on_after);
    if (was)
        setenv(POOL_VAR, was, 1);
    else
        unsetenv(POOL_VAR);
}

static void give(struct work *w)
{
    static bool pool_made; /* one pool a process, whatever the number of loops */

    w->given = true;
    if (w->kind == WORK_LONG)
        w->loop->works.long_given++;
    if (pool_made)
        uv_queue_work(&w->loop->uv, &w->uv, on_run, on_after);
    else
        give_first(w);
    pool_made = true;
}

static void give_waiting(struct loop *l)
{
    while (l->works.waiting && l->works.long_given < WORK_LONG_MAX) {
        struct work *w = l->works.waiting;

        l->works.waiting = w->waiting_after;
        if (!l->works.waiting)
            l->works.waiting_last = &l->works.waiting;
        give(w);
    }
}

/* Its `done` is the last act: it may start and cancel others. */
static void end(struct work *w)
{
    struct loop *l = w->loop;
    const struct work_ops *ops = w->ops;
    void *ctx = w->ctx;
    bool cancelled = work_cancelled(w);

    if (w->prev)
        w->prev->next = w->next;
    else
        l->works.open = w->next;
    if (w->next)
        w->next->prev = w->prev;
    l->works.n--;
    if (w->given && w->kind == WORK_LONG)
        l->works.long_given--;
    free(w);
    give_waiting(l);
    ops->done(ctx, cancelled);
}

static void on_after(uv_work_t *uv, int status)
{
    (void)status; /* UV_ECANCELED is what work_cancel() asked for */
    end(uv->data);
}

static void on_drop(void *ctx)
{
    end(ctx);
}

static void add_waiting(struct loop *l, struct work *w)
{
    if (!l->works.waiting)
        l->works.waiting_last = &l->works.waiting;
    *l->works.waiting_last = w;
    l->works.waiting_last = &w->waiting_after;
}

struct work *work_start(struct loop *l, enum work_kind kind, const struct work_ops *ops,
                        void *ctx)
{
    struct work *w = NEW(struct work);

    w->uv.data = w;
    w->loop = l;
    w->kind = kind;
    w->ops = ops;
    w->ctx = ctx;
    w->drop = (struct deferred){ .fn = on_drop, .ctx = w };
    w->next = l->works.open;
    if (w->next)
        w->next->prev = w;
    l->works.open = w;
    l->works.n++;
    if (kind == WORK_LONG && l->works.long_given >= WORK_LONG_MAX)
        add_waiting(l, w);
    else
        give(w);
    return w;
}

static void forget_waiting(struct work *w)
{
    struct work **at = &w->loop->works.waiting;

    while (*at != w)
        at = &(*at)->waiting_after;
    *at = w->waiting_after;
    if (!*at)
        w->loop->works.waiting_last = at;
}

void work_cancel(struct work *w)
{
    if (atomic_exchange(&w->cancelled, true))
        return;
    if (w->given) {
        uv_cancel((uv_req_t *)&w->uv); /* refused once it runs: then it notices by itself */
        return;
    }
    forget_waiting(w);
    defer(w->loop, &w->drop);
}

bool work_cancelled(const struct work *w)
{
    return atomic_load_explicit(&w->cancelled, memory_order_relaxed);
}

void work_advance(struct work *w, uint64_t by)
{
    atomic_fetch_add_explicit(&w->progress, by, memory_order_relaxed);
}

uint64_t work_progress(const struct work *w)
{
    return atomic_load_explicit(&w->progress, memory_order_relaxed);
}

unsigned work_open(const struct loop *l)
{
    return l->works.n;
}

static void on_late(void *ctx)
{
    (void)ctx; /* that the loop woke up is all */
}

bool work_settle(struct loop *l, int ms)
{
    int64_t until = clock_ms() + ms;
    struct timer *t;

    if (!l->works.n)
        return true;
    for (struct work *w = l->works.open; w; w = w->next)
        work_cancel(w);
    t = timer_new(l, on_late, NULL);
    for (int64_t now; l->works.n && (now = clock_ms()) < until;) {
        timer_set(t, (int)(until - now));
        uv_run(&l->uv, UV_RUN_ONCE);
    }
    timer_free(t);
    return l->works.n == 0;
}
