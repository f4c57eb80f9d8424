/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <stdatomic.h>

#include "servers/outlet.h"

#define BIG ((size_t)20 << 20) /* two of them are too many at once */

struct world {
    struct loop *loop;
    struct outlet *outlet;
    size_t queued; /* what stdout is said to hold */
};

/* A job that only enters. */
struct job {
    struct world *w;
    size_t n;
    struct work *work;
    atomic_bool began, ended, entered;
    bool done;
};

static void run(void *ctx, struct work *w)
{
    struct job *j = ctx;

    j->began = true;
    j->entered = outlet_enter(j->w->outlet, j->n, w);
    j->ended = true;
}

static void done(void *ctx, bool cancelled)
{
    struct job *j = ctx;

    (void)cancelled;
    j->done = true;
}

static size_t queued(void *ctx)
{
    return ((struct world *)ctx)->queued;
}

static void begin(struct world *w)
{
    w->loop = loop_new();
    w->queued = 0;
    w->outlet = outlet_new(w->loop, queued, w);
}

static void end(struct world *w)
{
    assert_true(work_settle(w->loop, 2000 * slack()));
    outlet_free(w->outlet);
    loop_free(w->loop);
}

static void start(struct world *w, struct job *j, size_t n)
{
    static const struct work_ops ops = { run, done };

    *j = (struct job){ .w = w, .n = n };
    j->work = work_start(w->loop, WORK_SHORT, &ops, j);
    for (int ms = 0; !j->began && ms < 2000 * slack(); ms++)
        usleep(1000);
    assert_true(j->began);
}

/* Whether it came through, without the loop running meanwhile. */
static bool passes(struct job *j, int ms)
{
    for (int i = 0; !j->ended && i < ms; i++)
        usleep(1000);
    return j->ended;
}

static void a_large_one_waits_until_stdout_has_room(void **state)
{
    struct world w;
    struct job first, second, small;

    begin(&w);
    start(&w, &first, BIG);
    assert_true(passes(&first, 2000 * slack()));
    start(&w, &second, BIG);
    start(&w, &small, OUTLET_SMALL);
    assert_true(passes(&small, 2000 * slack())); /* never waits */
    assert_false(passes(&second, 30));

    /* queued, but not read: it waits on */
    w.queued = BIG;
    outlet_leave(w.outlet, BIG);
    run_for(w.loop, 50);
    assert_false(second.ended);

    /* read: found by looking */
    w.queued = 0;
    outlet_leave(w.outlet, OUTLET_SMALL);
    run_for(w.loop, 50);
    assert_true(passes(&second, 2000 * slack()) && second.entered);
    end(&w);
    (void)state;
}

static void one_that_is_too_large_goes_alone(void **state)
{
    struct world w;
    struct job one;

    begin(&w);
    start(&w, &one, OUTLET_MAX + 1);
    assert_true(passes(&one, 2000 * slack()) && one.entered);
    end(&w);
    (void)state;
}

static void a_cancelled_one_stops_waiting_and_has_not_entered(void **state)
{
    struct world w;
    struct job first, second, third;

    begin(&w);
    start(&w, &first, BIG);
    assert_true(passes(&first, 2000 * slack()));
    start(&w, &second, BIG);
    work_cancel(second.work);
    outlet_wake(w.outlet);
    assert_true(passes(&second, 2000 * slack()) && !second.entered);
    outlet_leave(w.outlet, BIG);
    start(&w, &third, OUTLET_MAX); /* fits only when the second left nothing behind */
    assert_true(passes(&third, 2000 * slack()) && third.entered);
    end(&w);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_one_waits_until_stdout_has_room),
        cmocka_unit_test(one_that_is_too_large_goes_alone),
        cmocka_unit_test(a_cancelled_one_stops_waiting_and_has_not_entered),
    };

    return cmocka_run_group_tests_name("servers/outlet", tests, NULL, NULL);
}
