/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/capture.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

#define CHAR_MAX_BYTES 4

/* Appends what fits and takes it off. */
static void fill(struct buf *b, struct str *s)
{
    struct str part = str_upto(*s, b->max - b->n);

    buf_add(b, part);
    *s = str_from(*s, part.n);
}

void capture_add(struct capture *c, struct str bytes)
{
    c->total += bytes.n;
    fill(&c->head, &bytes);
    fill(&c->tail, &bytes);
    if (bytes.n > CAPTURE_TAIL)
        bytes = str_from(bytes, bytes.n - CAPTURE_TAIL);
    while (bytes.n) {
        struct str part = str_upto(bytes, CAPTURE_TAIL - c->oldest);

        memcpy(c->tail.p + c->oldest, part.p, part.n);
        c->oldest = (c->oldest + part.n) % CAPTURE_TAIL;
        bytes = str_from(bytes, part.n);
    }
}

bool capture_truncated(const struct capture *c)
{
    return c->total > CAPTURE_HEAD + CAPTURE_TAIL;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Without the rest of a character whose beginning is missing. */
static struct str cut_start(struct str s)
{
    size_t n = 0;

    while (n < CHAR_MAX_BYTES - 1 && n < s.n && is_continuation(s.p[n]))
        n++;
    return str_from(s, n);
}

void capture_put(const struct capture *c, struct buf *out)
{
    auto_buf whole = BUF(CAPTURE_HEAD + CAPTURE_TAIL);
    struct str tail = buf_str(&c->tail), head, rest;

    /* In one piece: a character may lie across the seams of head, tail and ring. */
    buf_add(&whole, buf_str(&c->head));
    buf_add(&whole, str_from(tail, c->oldest));
    buf_add(&whole, str_upto(tail, c->oldest));
    if (!capture_truncated(c)) {
        utf8_put_lossy(out, buf_str(&whole));
        return;
    }
    head = utf8_whole(str_upto(buf_str(&whole), CAPTURE_HEAD));
    rest = cut_start(str_from(buf_str(&whole), CAPTURE_HEAD));
    utf8_put_lossy(out, head);
    buf_addf(out, "\n[... %" PRIu64 " bytes left out ...]\n", c->total - head.n - rest.n);
    utf8_put_lossy(out, rest);
}

void capture_free(struct capture *c)
{
    buf_free(&c->head);
    buf_free(&c->tail);
}
