/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The difference of two texts by lines, as a unified diff that patch(1) applies.
 *
 * Shortest script by Myers's algorithm in linear space, as long as that is cheap. Lines that
 * stand in one text only are set aside first, so a file rewritten wholly costs no search; past
 * a bounded effort the search goes on from the best point reached, and past DIFF_LINES_MAX it
 * is not begun: the diff is then longer than it need be, and still right. Time is at most
 * proportional to (lines of both texts) ^ 1.5, memory to the lines that differ.
 */
#ifndef SYM_TEXT_DIFF_H
#define SYM_TEXT_DIFF_H

#include "base/buf.h"

#define DIFF_CONTEXT   3      /* unchanged lines around a change */
#define DIFF_LINES_MAX 400000 /* between the first and the last difference, both texts */

/* A run of lines replaced by another: `old_n` of the old text from line `old_at` (counted from
 * 0) stand as `new_n` from `new_at` in the new one. One of the two may be 0. */
struct diff_change {
    size_t old_at, old_n, new_at, new_n;
};

struct diff_changes {
    struct diff_change *v; /* in order, never adjacent */
    size_t n, cap;
};

/* The changes; free(ret->v) ends them. */
void diff_lines(struct str old, struct str new, struct diff_changes *ret);

/*
 * Appends the header lines "--- <old_name>" and "+++ <new_name>" and the hunks, each
 * "@@ -from,count +from,count @@"; a last line without line break is followed by
 * "\ No newline at end of file". Equal texts give the header lines only.
 */
void diff_unified(struct buf *out, struct str old, struct str new, struct str old_name,
                  struct str new_name);

#endif
