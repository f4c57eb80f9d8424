/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/lines.h"

#include <string.h>

/* A line that needed more than this gives its memory back when it is done. */
#define KEEP_BYTES ((size_t)64 << 10)

void lines_init(struct lines *l, size_t max)
{
    *l = (struct lines){ .max = max ? max : LINES_MAX_DEFAULT };
    l->acc = BUF(l->max + 1); /* one more: the CR is not part of the line */
}

void lines_free(struct lines *l)
{
    buf_free(&l->acc);
}

static struct str without_cr(struct str s)
{
    return s.n && s.p[s.n - 1] == '\r' ? str_upto(s, s.n - 1) : s;
}

struct str lines_rest(const struct lines *l)
{
    if (l->skipping)
        return (struct str){ 0 };
    return without_cr(buf_str(&l->acc));
}

/*
 * The line that begins in acc and goes on with `more` is too long. Told at once, not at its
 * newline, which may be a gigabyte away or never come.
 */
static bool refuse(struct lines *l, struct str more, bool complete, line_fn fn, void *ctx)
{
    char head[LINES_HEAD];
    size_t from_acc = l->acc.n < LINES_HEAD ? l->acc.n : LINES_HEAD;
    size_t from_more = more.n < LINES_HEAD - from_acc ? more.n : LINES_HEAD - from_acc;

    if (from_acc)
        memcpy(head, l->acc.p, from_acc);
    if (from_more)
        memcpy(head + from_acc, more.p, from_more);
    l->skipped = l->acc.n + more.n;
    l->discarded_run += l->skipped;
    l->skipping = !complete;
    buf_free(&l->acc);
    return fn(ctx, (struct str){ head, from_acc + from_more }, true);
}

/* One piece without a newline: the end of a line if `complete`, else a beginning or middle. */
static bool take(struct lines *l, struct str piece, bool complete, line_fn fn, void *ctx)
{
    struct str line = piece;

    if (l->skipping) {
        l->skipped += piece.n;
        l->discarded_run += piece.n;
        l->skipping = !complete;
        return true;
    }
    if (piece.n > l->max + 1 - l->acc.n)
        return refuse(l, piece, complete, fn, ctx);
    if (l->acc.n || !complete) {
        buf_add(&l->acc, piece);
        line = buf_str(&l->acc);
    }
    if (!complete)
        return true;
    line = without_cr(line);
    if (line.n > l->max)
        return refuse(l, str_upto(piece, l->acc.n ? 0 : piece.n), true, fn, ctx);
    l->acc.n = 0; /* before the call, which may end us; `line` stays readable */
    if (!line.n)
        return true;
    l->discarded_run = 0;
    if (!fn(ctx, line, false))
        return false;
    if (l->acc.cap > KEEP_BYTES)
        buf_free(&l->acc);
    return true;
}

bool lines_feed(struct lines *l, struct str bytes, line_fn fn, void *ctx)
{
    struct str piece;

    while (str_cut(bytes, '\n', &piece, &bytes)) {
        if (!take(l, piece, true, fn, ctx))
            return false;
    }
    return !bytes.n || take(l, bytes, false, fn, ctx);
}
