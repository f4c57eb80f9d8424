/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/outlet.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"

#define TICK_MS 10 /* between two looks at stdout while something waits for it */

struct outlet {
    struct timer *tick;
    size_t (*queued)(void *ctx);
    void *ctx;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved;
    size_t entered; /* not yet queued */
    size_t waiting; /* for stdout, at the last look */
};

static void look(struct outlet *o, size_t left)
{
    size_t now = o->queued(o->ctx);

    pthread_mutex_lock(&o->lock);
    o->entered -= left;
    o->waiting = now;
    pthread_cond_broadcast(&o->moved);
    pthread_mutex_unlock(&o->lock);
    if (now)
        timer_set(o->tick, TICK_MS);
}

static void on_tick(void *ctx)
{
    look(ctx, 0);
}

struct outlet *outlet_new(struct loop *l, size_t (*queued)(void *ctx), void *ctx)
{
    struct outlet *o = NEW(struct outlet);

    o->tick = timer_new(l, on_tick, o);
    timer_background(o->tick);
    o->queued = queued;
    o->ctx = ctx;
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->moved, NULL);
    return o;
}

void outlet_free(struct outlet *o)
{
    if (!o)
        return;
    timer_free(o->tick);
    pthread_cond_destroy(&o->moved);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static bool has_room(const struct outlet *o, size_t n)
{
    size_t ahead = o->entered + o->waiting;

    return ahead == 0 || ahead + n <= OUTLET_MAX;
}

bool outlet_enter(struct outlet *o, size_t n, const struct work *w)
{
    bool cancelled;

    pthread_mutex_lock(&o->lock);
    while (!(cancelled = work_cancelled(w)) && n > OUTLET_SMALL && !has_room(o, n))
        pthread_cond_wait(&o->moved, &o->lock);
    if (!cancelled)
        o->entered += n;
    pthread_mutex_unlock(&o->lock);
    return !cancelled;
}

void outlet_leave(struct outlet *o, size_t n)
{
    look(o, n);
}

void outlet_wake(struct outlet *o)
{
    /* Under the lock: who has just looked is waiting by then, and hears it. */
    pthread_mutex_lock(&o->lock);
    pthread_cond_broadcast(&o->moved);
    pthread_mutex_unlock(&o->lock);
}
