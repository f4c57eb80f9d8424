/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "loop/signal.h"

struct note {
    struct loop *loop;
    char text[64];
    struct timer *timer;
    int calls;
};

static void note_a(void *ctx)
{
    strcat(((struct note *)ctx)->text, "a");
}

static void note_b_then_a(void *ctx)
{
    struct note *n = ctx;

    loop_defer(n->loop, note_a, n);
    strcat(n->text, "b");
}

static void deferred_calls_come_once_in_order_before_the_loop_sleeps(void **state)
{
    struct note n = { .loop = loop_new() };

    loop_defer(n.loop, note_b_then_a, &n);
    loop_defer(n.loop, note_a, &n);
    assert_string_equal(n.text, "");
    loop_run(n.loop); /* ends: nothing is left that could call back */
    assert_string_equal(n.text, "baa");
    loop_free(n.loop);
    (void)state;
}

static void defer_forever(void *ctx)
{
    struct note *n = ctx;

    n->calls++;
    loop_defer(n->loop, defer_forever, n);
}

static void deferring_again_and_again_does_not_starve_timers(void **state)
{
    struct note n = { .loop = loop_new() };

    loop_defer(n.loop, defer_forever, &n);
    run_for(n.loop, 5);
    assert_true(n.calls > 1);
    loop_free(n.loop); /* the one still queued is dropped */
    (void)state;
}

static void a_loop_without_work_ends_at_once(void **state)
{
    struct loop *l = loop_new();
    struct timer *t = timer_new(l, stop_loop, l), *background = timer_new(l, stop_loop, l);

    timer_background(background);
    timer_set(background, 60000);
    loop_run(l);
    assert_false(timer_is_set(t));
    assert_true(timer_is_set(background));
    timer_free(t);
    timer_free(background);
    loop_free(l);
    (void)state;
}

static void note_timer(void *ctx)
{
    struct note *n = ctx;

    n->calls++;
    timer_free(n->timer); /* from inside its own callback */
    n->timer = NULL;
}

static void a_timer_fires_once_and_never_early_after_a_long_callback(void **state)
{
    struct note n = { .loop = loop_new() };
    int64_t at;

    n.timer = timer_new(n.loop, note_timer, &n);
    timer_set(n.timer, 60000);
    usleep(30000); /* the loop's idea of now is old */
    at = clock_ms();
    timer_set(n.timer, 20);
    loop_run(n.loop);
    assert_true(clock_ms() - at >= 20);
    assert_int_equal(n.calls, 1);
    loop_free(n.loop);
    (void)state;
}

static void a_cleared_timer_stays_silent(void **state)
{
    struct note n = { .loop = loop_new() };

    n.timer = timer_new(n.loop, note_timer, &n);
    timer_set(n.timer, 0);
    timer_clear(n.timer);
    assert_false(timer_is_set(n.timer));
    loop_run(n.loop);
    assert_int_equal(n.calls, 0);
    timer_free(n.timer);
    timer_free(NULL);
    loop_free(n.loop);
    (void)state;
}

static void note_signal(void *ctx, int signo)
{
    struct note *n = ctx;

    n->calls += signo;
    loop_stop(n->loop);
}

static void end_signals_are_told_and_do_not_hold_the_loop(void **state)
{
    static const int all[] = { SIGTERM, SIGINT, SIGHUP };
    struct note n = { .loop = loop_new() };
    struct signals *s = signals_new(n.loop, note_signal, &n);

    loop_run(n.loop);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        n.calls = 0;
        kill(getpid(), all[i]);
        run_until_stopped(n.loop, 1000);
        assert_int_equal(n.calls, all[i]);
    }
    signals_free(s);
    loop_free(n.loop);
    (void)state;
}

struct exits {
    struct loop *loop;
    pid_t pid[8];
    int status[8];
    size_t n, wanted;
};

static void note_exit(void *ctx, pid_t pid, int status)
{
    struct exits *x = ctx;

    x->pid[x->n] = pid;
    x->status[x->n++] = status;
    if (x->n == x->wanted)
        loop_stop(x->loop);
}

static pid_t fork_exiting(int code, int after_ms)
{
    pid_t pid = fork();

    if (pid == 0) {
        usleep((unsigned)after_ms * 1000);
        _exit(code);
    }
    return pid;
}

static void exits_reach_their_watchers_also_when_they_come_before_the_first_watch(void **state)
{
    struct exits x = { .loop = loop_new(), .wanted = 3 };

    for (int i = 0; i < 3; i++) {
        pid_t pid = fork_exiting(i + 1, i == 0 ? 0 : 5);

        if (i == 0)
            usleep(20000); /* exited before SIGCHLD is caught */
        reaper_watch(x.loop, pid, note_exit, &x);
    }
    run_until_stopped(x.loop, 2000);
    assert_int_equal(x.n, 3);
    assert_int_equal(WEXITSTATUS(x.status[0]), 1);
    loop_run(x.loop); /* no watch is left to hold it */
    loop_free(x.loop);
    (void)state;
}

static void exits_are_seen_also_when_we_were_started_deaf(void **state)
{
    struct exits x = { .wanted = 1 };
    sigset_t set;

    signal(SIGCHLD, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    x.loop = loop_new();
    reaper_watch(x.loop, fork_exiting(4, 0), note_exit, &x);
    run_until_stopped(x.loop, 2000);
    assert_int_equal(WEXITSTATUS(x.status[0]), 4);
    loop_free(x.loop);
    (void)state;
}

static void a_forgotten_child_and_a_stranger_are_reaped_silently(void **state)
{
    struct exits x = { .loop = loop_new(), .wanted = 1 };
    pid_t forgotten = fork_exiting(1, 0), stranger = fork_exiting(2, 0),
          watched = fork_exiting(3, 20);

    reaper_watch(x.loop, forgotten, note_exit, &x);
    reaper_forget(x.loop, forgotten);
    reaper_watch(x.loop, watched, note_exit, &x);
    run_until_stopped(x.loop, 2000);
    assert_int_equal(x.n, 1);
    assert_int_equal(x.pid[0], watched);
    assert_int_equal(kill(forgotten, 0), -1);
    assert_int_equal(kill(stranger, 0), -1);
    loop_free(x.loop);
    (void)state;
}

static void the_last_sweep_leaves_nothing(void **state)
{
    reaper_adopt_orphans();
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            if (fork() == 0)
                setsid();
            else if (i == 0)
                _exit(0); /* its child becomes an orphan, that is ours */
            for (;;)
                pause();
        }
    }
    usleep(20000);
    assert_int_equal(reaper_sweep(2000 * slack()), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    (void)state;
}

/* ulimit -f: a write past it fails, and is no end. Children get the signal back (spawn.h). */
static void a_limit_on_file_sizes_does_not_kill(void **state)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        int fd = memfd_create("log", MFD_CLOEXEC);

        loop_new();
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
        _exit(write(fd, "x", 1) < 0 && errno == EFBIG ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred_calls_come_once_in_order_before_the_loop_sleeps),
        cmocka_unit_test(deferring_again_and_again_does_not_starve_timers),
        cmocka_unit_test(a_loop_without_work_ends_at_once),
        cmocka_unit_test(a_limit_on_file_sizes_does_not_kill),
        cmocka_unit_test(a_timer_fires_once_and_never_early_after_a_long_callback),
        cmocka_unit_test(a_cleared_timer_stays_silent),
        cmocka_unit_test(end_signals_are_told_and_do_not_hold_the_loop),
        cmocka_unit_test(exits_reach_their_watchers_also_when_they_come_before_the_first_watch),
        cmocka_unit_test(exits_are_seen_also_when_we_were_started_deaf),
        cmocka_unit_test(a_forgotten_child_and_a_stranger_are_reaped_silently),
        cmocka_unit_test(the_last_sweep_leaves_nothing),
    };

    return cmocka_run_group_tests_name("loop/loop", tests, NULL, NULL);
}
