/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of this folder share. Include first: cmocka wants its own order of headers. */
#ifndef SYM_TEST_LOOP_SUPPORT_H
#define SYM_TEST_LOOP_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/loop.h"
#include "loop/timer.h"

/* Bounds on time are multiplied by this: sanitizers and busy machines are slow. */
static inline int slack(void)
{
    const char *s = getenv("TEST_SLACK");
    int n = s ? atoi(s) : 0;

    return n > 0 ? n : 4;
}

static inline void assert_str(struct str got, const char *want)
{
    if (!str_is(got, want))
        fail_msg("'%.*s' instead of '%s'", STR_F(got), want);
}

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

/* Lets the loop run for so long, whatever happens. */
static inline void run_for(struct loop *l, int ms)
{
    struct timer *t = timer_new(l, stop_loop, l);

    timer_set(t, ms);
    loop_run(l);
    timer_free(t);
}

#endif
