/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a killed keeper leaves (security.md WK-8). A supervised program has our own user id, so
 * it may SIGKILL its keeper; what came from it then falls to us, if this process adopts orphans
 * (reaper_adopt_orphans()), and is ended here.
 *
 * A stray is a child of this process that was never started by us (no watch of the reaper
 * names it), that is in another session than ours, as all that comes from a keeper is, and that
 * began no sooner than the keeper. So other keepers' trees are never touched: their roots are
 * watched, and what is beneath those is no child of ours. What a program without a keeper left
 * by setsid in the same time cannot be told from a stray, and ends with it; it would have ended
 * with this process.
 *
 * Each look kills all strays there are, each with its process group. The children of what was
 * killed come to us, which SIGCHLD tells, and the next look finds them. A look reads our own
 * lists of children only, which takes far less than 10 ms; between looks the loop runs. Only we
 * reap our children, and not during a look, so no pid of a stray can be another's, and a look
 * that finds none proves that there is none.
 */
#ifndef SYM_LOOP_STRAYS_H
#define SYM_LOOP_STRAYS_H

#include <stdint.h>

#include "loop/loop.h"

struct stray_wait {
    uint64_t born;           /* the keeper's start (base/procstat.h); 0: unknown */
    void (*done)(void *ctx); /* nothing is left; never called from inside strays_end() */
    void *ctx;
    struct stray_wait *next;
};

/*
 * Call it when the keeper has been reaped. False when its orphans did not come to this process:
 * nobody can know then. `w` must live until done; loop_free() drops it without a call. What
 * cannot be killed (another user's) is tried again, less and less often, without keeping the
 * loop going.
 */
bool strays_end(struct loop *l, struct stray_wait *w);

bool strays_awaits(const struct loop *l, const struct stray_wait *w); /* done is to come */
void strays_look(struct loop *l); /* for the reaper: something has ended */
void strays_close(struct loop *l);

#endif
