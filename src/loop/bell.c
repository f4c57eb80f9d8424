/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/bell.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/internal.h"

struct bell {
    uv_async_t uv;
    void (*fn)(void *ctx);
    void *ctx;
};

static void on_ring(uv_async_t *h)
{
    struct bell *b = h->data;

    b->fn(b->ctx);
}

static void on_closed(uv_handle_t *h)
{
    free(h->data);
}

struct bell *bell_new(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    struct bell *b = NEW(struct bell);

    b->fn = fn;
    b->ctx = ctx;
    uv_async_init(&l->uv, &b->uv, on_ring);
    b->uv.data = b;
    uv_unref((uv_handle_t *)&b->uv);
    return b;
}

void bell_ring(struct bell *b)
{
    uv_async_send(&b->uv);
}

void bell_keep_going(struct bell *b, bool on)
{
    if (on)
        uv_ref((uv_handle_t *)&b->uv);
    else
        uv_unref((uv_handle_t *)&b->uv);
}

/* libuv calls no closing async: `fn` is over. */
void bell_free(struct bell *b)
{
    if (b)
        uv_close((uv_handle_t *)&b->uv, on_closed);
}
