/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <pthread.h>

#include "loop/bell.h"

struct ringing {
    struct loop *loop;
    struct bell *bell;
    pthread_t loops_thread;
    int calls;
    bool elsewhere;
};

static void heard(void *ctx)
{
    struct ringing *r = ctx;

    r->calls++;
    r->elsewhere |= !pthread_equal(pthread_self(), r->loops_thread);
    loop_stop(r->loop);
}

static void *ring_often(void *ctx)
{
    struct ringing *r = ctx;

    for (int i = 0; i < 1000; i++)
        bell_ring(r->bell);
    return NULL;
}

static void rings_of_another_thread_are_heard_on_the_loops_thread(void **state)
{
    struct ringing r = { .loop = loop_new(), .loops_thread = pthread_self() };
    pthread_t thread;

    (void)state;
    r.bell = bell_new(r.loop, heard, &r);
    bell_keep_going(r.bell, true);
    assert_int_equal(pthread_create(&thread, NULL, ring_often, &r), 0);
    run_until_stopped(r.loop, 1000);
    pthread_join(thread, NULL);
    assert_in_range(r.calls, 1, 1000);
    assert_false(r.elsewhere);
    bell_free(r.bell);
    loop_free(r.loop);
}

static void a_bell_alone_does_not_keep_the_loop_going(void **state)
{
    struct ringing r = { .loop = loop_new() };

    (void)state;
    r.bell = bell_new(r.loop, heard, &r);
    loop_run(r.loop); /* comes back */
    bell_keep_going(r.bell, true);
    bell_keep_going(r.bell, false);
    loop_run(r.loop);
    bell_free(r.bell);
    loop_free(r.loop);
}

static void a_freed_bell_is_not_heard(void **state)
{
    struct ringing r = { .loop = loop_new() };

    (void)state;
    r.bell = bell_new(r.loop, heard, &r);
    bell_ring(r.bell);
    bell_free(r.bell);
    loop_run(r.loop);
    assert_int_equal(r.calls, 0);
    bell_free(NULL);
    loop_free(r.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_of_another_thread_are_heard_on_the_loops_thread),
        cmocka_unit_test(a_bell_alone_does_not_keep_the_loop_going),
        cmocka_unit_test(a_freed_bell_is_not_heard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
