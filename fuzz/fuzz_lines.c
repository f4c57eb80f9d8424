/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loop/lines against a plain reading of its contract. Byte 0: the ceiling, byte 1: the size of
 * the reads, the rest: the stream. Whatever the reads, the good lines and the number of refused
 * ones are those of the whole text.
 */
#include <stdlib.h>
#include <string.h>

#include "loop/lines.h"

struct tally {
    struct buf good; /* each line behind its length */
    size_t refused;
};

static bool on_line(void *ctx, struct str line, bool too_long)
{
    struct tally *t = ctx;

    if (too_long) {
        t->refused++;
        return true;
    }
    buf_addf(&t->good, "%zu:", line.n);
    buf_add(&t->good, line);
    return true;
}

static struct str trim_cr(struct str s)
{
    return s.n && s.p[s.n - 1] == '\r' ? str_upto(s, s.n - 1) : s;
}

/* The contract, without any cleverness. Returns the unfinished rest; empty when it is too long
 * already. */
static struct str by_the_book(struct str in, size_t max, struct tally *t)
{
    struct str line;

    while (str_cut(in, '\n', &line, &in)) {
        line = trim_cr(line);
        if (line.n)
            on_line(t, line, line.n > max);
    }
    if (in.n <= max + 1)
        return trim_cr(in);
    t->refused++;
    return (struct str){ 0 };
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    struct tally got = { BUF(SIZE_MAX / 4), 0 }, want = { BUF(SIZE_MAX / 4), 0 };
    struct str in, rest;
    struct lines l;
    size_t max, step;

    if (n < 2)
        return 0;
    max = (size_t)data[0] + 1;
    step = (size_t)data[1] + 1;
    in = (struct str){ (const char *)data + 2, n - 2 };
    lines_init(&l, max);
    for (size_t at = 0; at < in.n; at += step)
        lines_feed(&l, str_upto(str_from(in, at), step), on_line, &got);
    rest = by_the_book(in, max, &want);
    if (!str_eq(buf_str(&got.good), buf_str(&want.good)) || got.refused != want.refused ||
        !str_eq(lines_rest(&l), rest))
        abort();
    lines_free(&l);
    buf_free(&got.good);
    buf_free(&want.good);
    return 0;
}
