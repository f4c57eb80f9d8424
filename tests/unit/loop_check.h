/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* check.h for tests that run a loop. */
#ifndef SYM_TEST_LOOP_CHECK_H
#define SYM_TEST_LOOP_CHECK_H

#include "check.h"

#include "loop/loop.h"
#include "loop/timer.h"

struct patience {
    struct loop *loop;
    bool over;
};

static inline void lose_patience(void *ctx)
{
    struct patience *p = ctx;

    p->over = true;
    loop_stop(p->loop);
}

/* Runs the loop until somebody stops it; fails the test when that takes longer than ms * slack.
 */
static inline void run_until_stopped(struct loop *l, int ms)
{
    struct patience p = { .loop = l };
    struct timer *t = timer_new(l, lose_patience, &p);

    timer_set(t, ms * slack());
    loop_run(l);
    timer_free(t);
    if (p.over)
        fail_msg("nothing stopped the loop within %d ms", ms * slack());
}

static inline void stop_loop(void *ctx)
{
    loop_stop(ctx);
}

/* Lets the loop run for so long, whatever happens and whoever stops it. */
static inline void run_for(struct loop *l, int ms)
{
    struct patience p = { .loop = l };
    struct timer *t = timer_new(l, lose_patience, &p);

    timer_set(t, ms);
    while (!p.over)
        loop_run(l);
    timer_free(t);
}

#endif
