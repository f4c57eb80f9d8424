/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes: whole or in pieces, the same events. The first byte is the size of the pieces. */
#include <stdlib.h>

#include "text/sse.h"

#define DATA_MAX 64 /* small, so that it is reached */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_event(void *ctx, const struct sse_event *event)
{
    if (event->data.n > DATA_MAX || event->type.n > SSE_TYPE_MAX)
        abort();
    buf_addc(ctx, event->too_long ? '!' : '=');
    buf_add(ctx, event->type);
    buf_addc(ctx, '\n');
    buf_add(ctx, event->data);
    buf_addc(ctx, '\n');
    return true;
}

static void read_in_pieces(struct str text, size_t piece, struct buf *out)
{
    struct sse s;

    sse_init(&s, DATA_MAX);
    for (; text.n; text = str_from(text, piece))
        sse_feed(&s, str_upto(text, piece), on_event, out);
    buf_addf(out, "%d", s.retry_ms);
    buf_add(out, buf_str(&s.id));
    sse_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf whole = BUF(1 << 20), pieces = BUF(1 << 20);
    struct str text = { (const char *)data + 1, size - 1 };

    if (size < 2)
        return 0;
    read_in_pieces(text, text.n, &whole);
    read_in_pieces(text, data[0] % 16 + 1u, &pieces);
    if (!str_eq(buf_str(&whole), buf_str(&pieces)))
        abort();
    return 0;
}
