/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Newline framing with a ceiling; pure, no loop. The usual case, a line that lies within one
 * read, is not copied. A trailing CR is dropped, blank lines are skipped. A line longer than
 * max is discarded up to its newline and reported once with too_long (line: its first
 * LINES_HEAD bytes). Bytes after the last newline wait; lines_rest() gives them at the end.
 */
#ifndef SYM_LOOP_LINES_H
#define SYM_LOOP_LINES_H

#include "base/buf.h"

#define LINES_MAX_DEFAULT ((size_t)16 << 20)
#define LINES_HEAD        256

struct lines {
    struct buf acc;
    size_t max;
    size_t skipped;         /* bytes discarded of the over-long line being skipped */
    uint64_t discarded_run; /* bytes discarded since the last good line (a server that only
                               floods: 3.2) */
    bool skipping;
};

/* Returns false to stop feeding, e.g. because the owner (and the struct lines in it) is gone:
 * nothing is touched then. */
typedef bool (*line_fn)(void *ctx, struct str line, bool too_long);

void lines_init(struct lines *l, size_t max); /* 0: LINES_MAX_DEFAULT */
/* False when line_fn returned false. */
bool lines_feed(struct lines *l, struct str bytes, line_fn fn, void *ctx);
/* An unterminated last line; empty when none. Valid until the next call. */
struct str lines_rest(const struct lines *l);
void lines_free(struct lines *l);

#endif
