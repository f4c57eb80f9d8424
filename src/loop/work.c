/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/work.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/internal.h"
#include "loop/timer.h"

#define POOL_VAR   "UV_THREADPOOL_SIZE"
#define POOL_STACK ((rlim_t)8 << 20)

/*
 * A job is in one of these places:
 *
 *     waiting  in its kind's lane, whose maximum is given
 *     given    with libuv, in its queue or on a thread; a lookup on its own thread, then in
 *              loop->works.found
 *     dropped  never given: only its `done` is to come
 */
struct work {
    uv_work_t uv;
    struct loop *loop;
    struct work *prev, *next;   /* of all that are open */
    struct work *waiting_after; /* the next one that waits */
    struct work *found_after;   /* the next lookup that has come back */
    enum work_kind kind;
    bool given, left;
    const struct work_ops *ops;
    void *ctx;
    struct deferred drop;
    atomic_bool cancelled;
    atomic_uint_fast64_t progress;
};

static const unsigned most_given[WORK_KINDS] = {
    [WORK_SHORT] = UINT_MAX, /* libuv's queue is theirs */
    [WORK_LONG] = WORK_LONG_MAX,
    [WORK_LOOKUP] = WORK_LOOKUP_MAX,
};

static struct lane *lane_of(const struct work *w)
{
    return &w->loop->works.lanes[w->kind];
}

/* ---- on another thread ---- */

static void on_run(uv_work_t *uv)
{
    struct work *w = uv->data;

    if (!work_cancelled(w))
        w->ops->run(w->ctx, w);
}

/* Once the lock is open, the job is the loop's. The loop itself lives: it is not freed while a
 * lookup is to come back. */
static void *on_lookup(void *ctx)
{
    struct work *w = ctx;
    struct loop *l = w->loop;

    on_run(&w->uv);
    pthread_mutex_lock(&l->works.found_lock);
    w->found_after = l->works.found;
    l->works.found = w;
    uv_async_send(&l->works.found_one);
    pthread_mutex_unlock(&l->works.found_lock);
    return NULL;
}

/* ---- on the loop's thread ---- */

static void on_after(uv_work_t *uv, int status);

/* libuv gives each thread a stack of its own size and aborts when there is no room for one:
 * where the data of a process is limited, stacks take at most half of it. */
static int pool_threads(void)
{
    struct rlimit data;
    rlim_t fit;

    if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur == RLIM_INFINITY)
        return WORK_THREADS;
    fit = data.rlim_cur / 2 / POOL_STACK;
    return fit >= WORK_THREADS ? WORK_THREADS : fit > 1 ? (int)fit : 1;
}

/*
 * libuv makes its pool inside the first uv_queue_work() of the process and asks the environment
 * for its size there. The variable is set for this one call only: children get what the user
 * gave us.
 */
static void give_first(struct work *w)
{
    auto_free char *was = mem_strdup(getenv(POOL_VAR));
    char size[16];

    snprintf(size, sizeof size, "%d", pool_threads());
    setenv(POOL_VAR, size, 1);
    uv_queue_work(&w->loop->uv, &w->uv, on_run, on_after);
    if (was)
        setenv(POOL_VAR, was, 1);
    else
        unsetenv(POOL_VAR);
}

static void give_to_pool(struct work *w)
{
    static bool pool_made; /* one pool a process, whatever the number of loops */

    if (pool_made)
        uv_queue_work(&w->loop->uv, &w->uv, on_run, on_after);
    else
        give_first(w);
    pool_made = true;
}

static void on_found(uv_async_t *async);

static void lookups_open(struct loop *l)
{
    if (l->works.lookups_on)
        return;
    l->works.lookups_on = true;
    uv_async_init(&l->uv, &l->works.found_one, on_found);
    l->works.found_one.data = l;
    pthread_mutex_init(&l->works.found_lock, NULL);
}

static bool give_own_thread(struct work *w)
{
    struct loop *l = w->loop;
    pthread_t thread;

    lookups_open(l);
    if (pthread_create(&thread, NULL, on_lookup, w) != 0)
        return false;
    pthread_detach(thread);
    uv_ref((uv_handle_t *)&l->works.found_one);
    return true;
}

static void give(struct work *w)
{
    w->given = true;
    lane_of(w)->given++;
    if (w->kind != WORK_LOOKUP || !give_own_thread(w))
        give_to_pool(w);
}

static void give_waiting(struct lane *lane, unsigned most)
{
    while (lane->waiting && lane->given < most) {
        struct work *w = lane->waiting;

        lane->waiting = w->waiting_after;
        if (!lane->waiting)
            lane->waiting_last = &lane->waiting;
        give(w);
    }
}

/* Its `done` is the last act: it may start and cancel others. */
static void end(struct work *w)
{
    struct loop *l = w->loop;
    struct lane *lane = lane_of(w);
    unsigned most = most_given[w->kind];
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
    l->works.left -= w->left;
    lane->given -= w->given;
    free(w);
    give_waiting(lane, most);
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

static struct work *take_found(struct loop *l)
{
    struct work *w;

    pthread_mutex_lock(&l->works.found_lock);
    w = l->works.found;
    if (w)
        l->works.found = w->found_after;
    pthread_mutex_unlock(&l->works.found_lock);
    return w;
}

static void on_found(uv_async_t *async)
{
    struct loop *l = async->data;
    struct work *w;

    while ((w = take_found(l)))
        end(w);
    if (!l->works.lanes[WORK_LOOKUP].given)
        uv_unref((uv_handle_t *)async);
}

void work_close(struct loop *l)
{
    if (!l->works.lookups_on)
        return;
    uv_close((uv_handle_t *)&l->works.found_one, NULL);
    pthread_mutex_destroy(&l->works.found_lock);
}

static void add_waiting(struct work *w)
{
    struct lane *lane = lane_of(w);

    if (!lane->waiting)
        lane->waiting_last = &lane->waiting;
    *lane->waiting_last = w;
    lane->waiting_last = &w->waiting_after;
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
    if (lane_of(w)->given >= most_given[kind])
        add_waiting(w);
    else
        give(w);
    return w;
}

static void forget_waiting(struct work *w)
{
    struct lane *lane = lane_of(w);
    struct work **at = &lane->waiting;

    while (*at != w)
        at = &(*at)->waiting_after;
    *at = w->waiting_after;
    if (!*at)
        lane->waiting_last = at;
}

void work_cancel(struct work *w)
{
    if (atomic_exchange(&w->cancelled, true))
        return;
    if (w->given && w->kind == WORK_LOOKUP) {
        w->left = true;
        w->loop->works.left++;
        return;
    }
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
    uv_run(&l->uv, UV_RUN_NOWAIT); /* lookups that have come back */
    t = timer_new(l, on_late, NULL);
    for (int64_t now; l->works.n > l->works.left && (now = clock_ms()) < until;) {
        timer_set(t, (int)(until - now));
        uv_run(&l->uv, UV_RUN_ONCE);
    }
    timer_free(t);
    if (l->works.n > l->works.left)
        log_warn("leaving behind %u jobs that do not end: is a file system not answering?",
                 l->works.n - l->works.left);
    return l->works.n == 0;
}
