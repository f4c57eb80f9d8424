/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "loop/work.h"

#define VAR "UV_THREADPOOL_SIZE"

/* A job that waits until it is let go, cancelled, or for ever when `deaf`. */
struct job {
    struct loop *loop;
    struct work *work;
    atomic_bool *go;
    atomic_int *running, *most; /* of all jobs that share them */
    bool deaf;
    atomic_bool ran, ended;
    int done;
    bool cancelled;
    pthread_t thread;
    struct work *cancel_from_done;
};

static void run(void *ctx, struct work *w)
{
    struct job *j = ctx;
    int now = j->running ? atomic_fetch_add(j->running, 1) + 1 : 0;

    for (int was = now; j->most && was == now;) {
        int seen = atomic_load(j->most);

        if (seen >= now || atomic_compare_exchange_weak(j->most, &seen, now))
            was = 0;
    }
    j->thread = pthread_self();
    j->ran = true;
    work_advance(w, 3);
    while (j->go && !*j->go && (j->deaf || !work_cancelled(w)))
        usleep(1000);
    work_advance(w, 4);
    if (j->running)
        atomic_fetch_sub(j->running, 1);
    j->ended = true;
}

static void done(void *ctx, bool cancelled)
{
    struct job *j = ctx;

    j->done++;
    j->cancelled = cancelled;
    if (j->cancel_from_done)
        work_cancel(j->cancel_from_done);
    if (!work_open(j->loop))
        loop_stop(j->loop);
}

static const struct work_ops ops = { run, done };

static void wait_for(atomic_bool *flag)
{
    for (int ms = 0; !*flag; ms++) {
        if (ms > 2000 * slack())
            fail_msg("it did not happen");
        usleep(1000);
    }
}

static void a_job_runs_on_another_thread_and_is_done_on_ours(void **state)
{
    atomic_bool go = false;
    struct job j = { .loop = loop_new(), .go = &go };
    struct work *w = work_start(j.loop, WORK_SHORT, &ops, &j);

    assert_int_equal(work_open(j.loop), 1);
    wait_for(&j.ran);
    assert_int_equal(work_progress(w), 3);
    assert_int_equal(j.done, 0);
    go = true;
    wait_for(&j.ended);
    assert_int_equal(work_progress(w), 7);
    assert_int_equal(j.done, 0); /* only from the loop */
    loop_run(j.loop);            /* ends by itself: the job kept it going */
    assert_int_equal(j.done, 1);
    assert_false(j.cancelled);
    assert_false(pthread_equal(j.thread, pthread_self()));
    assert_int_equal(work_open(j.loop), 0);
    loop_free(j.loop);
    (void)state;
}

static void the_size_of_the_pool_is_no_matter_of_the_environment(void **state)
{
    atomic_bool go = false;
    atomic_int running = 0, most = 0;
    struct loop *l = loop_new();
    struct job j[WORK_THREADS + 3] = { 0 };

    /* main() has set it to 1 before the pool was made, and the children get it so. */
    assert_string_equal(getenv(VAR), "1");
    for (size_t i = 0; i < ARRAY_LEN(j); i++) {
        j[i] = (struct job){ .loop = l, .go = &go, .running = &running, .most = &most };
        work_start(l, WORK_SHORT, &ops, &j[i]);
    }
    for (int ms = 0; most < WORK_THREADS && ms < 2000 * slack(); ms++)
        usleep(1000);
    assert_int_equal(most, WORK_THREADS);
    go = true;
    run_until_stopped(l, 2000);
    assert_int_equal(most, WORK_THREADS);
    for (size_t i = 0; i < ARRAY_LEN(j); i++)
        assert_int_equal(j[i].done, 1);
    loop_free(l);
    (void)state;
}

static void short_jobs_never_wait_behind_long_ones(void **state)
{
    atomic_bool go = false;
    atomic_int running = 0, most = 0;
    struct loop *l = loop_new();
    struct job walks[2 * WORK_THREADS] = { 0 }, quick = { .loop = l };

    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        walks[i] = (struct job){ .loop = l, .go = &go, .running = &running, .most = &most };
        work_start(l, WORK_LONG, &ops, &walks[i]);
    }
    work_start(l, WORK_SHORT, &ops, &quick);
    wait_for(&quick.ended);
    go = true;
    run_until_stopped(l, 2000);
    assert_int_equal(most, WORK_LONG_MAX); /* the others began when one ended */
    for (size_t i = 0; i < ARRAY_LEN(walks); i++)
        assert_true(walks[i].done == 1 && walks[i].ran && !walks[i].cancelled);
    loop_free(l);
    (void)state;
}

static void a_job_that_is_cancelled_before_it_began_is_done_but_never_run(void **state)
{
    atomic_bool go = false;
    struct loop *l = loop_new();
    struct job walks[WORK_LONG_MAX + 3] = { 0 };
    struct work *w[ARRAY_LEN(walks)];

    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        walks[i] = (struct job){ .loop = l, .go = &go };
        w[i] = work_start(l, WORK_LONG, &ops, &walks[i]);
    }
    /* the last, then one in the middle of those that wait */
    work_cancel(w[WORK_LONG_MAX + 2]);
    work_cancel(w[WORK_LONG_MAX]);
    work_cancel(w[WORK_LONG_MAX]); /* twice is once */
    assert_int_equal(walks[WORK_LONG_MAX].done, 0);
    go = true;
    run_until_stopped(l, 2000);
    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        bool dropped = i == WORK_LONG_MAX || i == WORK_LONG_MAX + 2;

        assert_int_equal(walks[i].done, 1);
        assert_int_equal(walks[i].ran, !dropped);
        assert_int_equal(walks[i].cancelled, dropped);
    }
    loop_free(l);
    (void)state;
}

static void a_running_job_notices_that_it_is_cancelled(void **state)
{
    atomic_bool never = false;
    struct job j = { .loop = loop_new(), .go = &never };
    struct work *w = work_start(j.loop, WORK_LONG, &ops, &j);

    wait_for(&j.ran);
    work_cancel(w);
    run_until_stopped(j.loop, 2000);
    assert_true(j.done == 1 && j.cancelled);
    loop_free(j.loop);
    (void)state;
}

static void done_may_cancel_another_job(void **state)
{
    atomic_bool go = false;
    struct loop *l = loop_new();
    struct job first = { .loop = l }, walks[WORK_LONG_MAX + 1] = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        walks[i] = (struct job){ .loop = l, .go = &go };
        first.cancel_from_done = work_start(l, WORK_LONG, &ops, &walks[i]);
    }
    work_start(l, WORK_SHORT, &ops, &first);
    wait_for(&first.ended);
    run_for(l, 20);
    assert_true(walks[WORK_LONG_MAX].cancelled && !walks[WORK_LONG_MAX].ran);
    go = true;
    run_until_stopped(l, 2000);
    loop_free(l);
    (void)state;
}

static void freeing_a_loop_ends_its_jobs(void **state)
{
    atomic_bool never = false;
    struct loop *l = loop_new();
    struct job walks[WORK_LONG_MAX + 2] = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
        walks[i] = (struct job){ .loop = l, .go = &never };
        work_start(l, WORK_LONG, &ops, &walks[i]);
    }
    wait_for(&walks[0].ran);
    loop_stop(l); /* as its owner does */
    loop_free(l);
    for (size_t i = 0; i < ARRAY_LEN(walks); i++)
        assert_true(walks[i].done == 1 && walks[i].cancelled);
    (void)state;
}

static void waiting_for_a_job_that_is_stuck_has_an_end(void **state)
{
    atomic_bool go = false;
    struct job j = { .loop = loop_new(), .go = &go, .deaf = true };
    int64_t before = clock_ms();

    work_start(j.loop, WORK_SHORT, &ops, &j);
    wait_for(&j.ran);
    assert_false(work_settle(j.loop, 30));
    assert_in_range(clock_ms() - before, 30, 30 + 1000 * slack());
    assert_int_equal(work_open(j.loop), 1);
    go = true;
    assert_true(work_settle(j.loop, 2000 * slack()));
    assert_int_equal(j.done, 1);
    loop_free(j.loop);
    (void)state;
}

static void lookups_run_beside_the_pool_up_to_their_number(void **state)
{
    atomic_bool go = false;
    atomic_int running = 0, most = 0;
    struct loop *l = loop_new();
    struct job lookups[WORK_LOOKUP_MAX + 3] = { 0 }, quick = { .loop = l };
    struct work *w = NULL;

    for (size_t i = 0; i < ARRAY_LEN(lookups); i++) {
        lookups[i] = (struct job){ .loop = l, .go = &go, .running = &running, .most = &most };
        w = work_start(l, WORK_LOOKUP, &ops, &lookups[i]);
    }
    work_cancel(w);
    work_start(l, WORK_LONG, &ops, &quick);
    wait_for(&quick.ended);
    for (int ms = 0; most < WORK_LOOKUP_MAX && ms < 2000 * slack(); ms++)
        usleep(1000);
    go = true;
    run_until_stopped(l, 2000);
    assert_int_equal(most, WORK_LOOKUP_MAX);
    for (size_t i = 0; i < ARRAY_LEN(lookups); i++) {
        bool dropped = i + 1 == ARRAY_LEN(lookups);

        assert_int_equal(lookups[i].done, 1);
        assert_true(lookups[i].ran == !dropped && lookups[i].cancelled == dropped);
    }
    assert_int_equal(quick.done, 1);
    loop_run(l); /* returns: nothing keeps it */
    loop_free(l);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_runs_on_another_thread_and_is_done_on_ours),
        cmocka_unit_test(the_size_of_the_pool_is_no_matter_of_the_environment),
        cmocka_unit_test(short_jobs_never_wait_behind_long_ones),
        cmocka_unit_test(a_job_that_is_cancelled_before_it_began_is_done_but_never_run),
        cmocka_unit_test(a_running_job_notices_that_it_is_cancelled),
        cmocka_unit_test(done_may_cancel_another_job),
        cmocka_unit_test(freeing_a_loop_ends_its_jobs),
        cmocka_unit_test(lookups_run_beside_the_pool_up_to_their_number),
        cmocka_unit_test(waiting_for_a_job_that_is_stuck_has_an_end),
    };

    setenv(VAR, "1", 1);
    return cmocka_run_group_tests_name("loop/work", tests, NULL, NULL);
}
