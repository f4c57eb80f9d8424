/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Work off the loop's thread: disk walks, large reads, parsing. A job is a pure function on
 * libuv's thread pool; what it was given belongs to it until `done` runs, back on the loop's
 * thread. The pool has WORK_THREADS threads, at most WORK_LONG_MAX of which run long jobs, so
 * that a short one never waits behind walks; fewer under a small RLIMIT_DATA. A lookup, which
 * may hang for half a minute in code that is not ours, has a thread of its own, at most
 * WORK_LOOKUP_MAX at once.
 *
 * A job that was cancelled still ends by `done`: first it must notice, which a long one does by
 * asking work_cancelled() at least every few milliseconds of work.
 */
#ifndef SYM_LOOP_WORK_H
#define SYM_LOOP_WORK_H

#include <stdint.h>

#include "loop/loop.h"

#define WORK_THREADS    8
#define WORK_LONG_MAX   4
#define WORK_LOOKUP_MAX 32

/* How long loop_free() waits for jobs that were cancelled. */
#define WORK_END_MS 3000

enum work_kind {
    WORK_SHORT,
    WORK_LONG,
    WORK_LOOKUP, /* a question whose answer nobody needs any more at the end of the process */
};
#define WORK_KINDS 3

struct work;

struct work_ops {
    void (*run)(void *ctx, struct work *w); /* on a pool thread */
    /* On the loop's thread, exactly once, never from inside work_start(). `w` is gone after it;
     * ctx may be freed here. A job that was cancelled before it began was never run. */
    void (*done)(void *ctx, bool cancelled);
};

struct work *work_start(struct loop *l, enum work_kind kind, const struct work_ops *ops,
                        void *ctx);
void work_cancel(struct work *w); /* `done` follows, with true */

/* From any thread. */
bool work_cancelled(const struct work *w);
void work_advance(struct work *w, uint64_t by); /* for whoever shows progress */
uint64_t work_progress(const struct work *w);

/* Jobs whose `done` is still to come. */
unsigned work_open(const struct loop *l);

/*
 * Cancels all of them and runs the loop until each had its `done`, at most `ms`. False: one is
 * stuck, in the kernel most likely (a file system that does not answer), which is logged; or a
 * lookup is under way, which nobody waits for. Its thread still uses the loop, which
 * loop_free() then leaves alone; and as exit() waits for the pool, such a process ends by
 * _exit().
 */
bool work_settle(struct loop *l, int ms);

#endif
