/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/timer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/internal.h"

struct timer {
    uv_timer_t uv;
    void (*fn)(void *ctx);
    void *ctx;
};

struct timer *timer_new(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    struct timer *t = NEW(struct timer);

    t->fn = fn;
    t->ctx = ctx;
    uv_timer_init(&l->uv, &t->uv);
    t->uv.data = t;
    return t;
}

static void on_timer(uv_timer_t *h)
{
    struct timer *t = h->data;

    t->fn(t->ctx);
}

void timer_set(struct timer *t, int ms)
{
    /* libuv counts from the start of the current round; a long callback must not make us early.
     */
    uv_update_time(t->uv.loop);
    uv_timer_start(&t->uv, on_timer, ms > 0 ? (uint64_t)ms : 0, 0);
}

void timer_clear(struct timer *t)
{
    uv_timer_stop(&t->uv);
}

bool timer_is_set(const struct timer *t)
{
    return uv_is_active((const uv_handle_t *)&t->uv);
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

void timer_free(struct timer *t)
{
    if (t)
        uv_close((uv_handle_t *)&t->uv, on_closed);
}

void timer_background(struct timer *t)
{
    uv_unref((uv_handle_t *)&t->uv);
}
