/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parent: queue, warm workers, back-off, callbacks that free what calls them. MS-35, WK-7,
 * SEC-21 (waiting), WK-1. */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "loop/signal.h"

/* A worker asked for this much memory plays one that cannot start. */
#define BROKEN_MEMORY ((size_t)7777777)

static int count_children(pid_t *ret_any)
{
    struct dirent *d;
    int n = 0;
    DIR *proc = opendir("/proc");

    while ((d = readdir(proc))) {
        auto_free char *path = mem_printf("/proc/%s/stat", d->d_name);
        FILE *f = d->d_name[0] >= '0' && d->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        int pid, parent;
        char state;

        if (!f)
            continue;
        if (fscanf(f, "%d (%*[^)]) %c %d", &pid, &state, &parent) == 3 && parent == getpid() &&
            state != 'Z') {
            n++;
            if (ret_any)
                *ret_any = pid;
        }
        fclose(f);
    }
    closedir(proc);
    return n;
}

static void stop(void *ctx)
{
    loop_stop(ctx);
}

static void pass_ms(struct loop *l, int ms)
{
    struct timer *t = timer_new(l, stop, l);

    timer_set(t, ms);
    loop_run(l);
    timer_free(t);
}

static bool wait_for_children(struct loop *l, int want, int ms)
{
    for (int64_t end = clock_ms() + ms * slack(); clock_ms() < end; pass_ms(l, 5)) {
        if (count_children(NULL) == want)
            return true;
    }
    return false;
}

/* MS-35 */
static void prewarming_keeps_workers_ready_and_refills_them(void **state)
{
    struct run r;

    run_open(&r, NULL);
    assert_int_equal(count_children(NULL), 0); /* nothing before it is asked for */
    sandbox_prewarm(r.sandbox);
    sandbox_prewarm(r.sandbox);
    assert_int_equal(count_children(NULL), 0); /* nor at once */
    assert_true(wait_for_children(r.loop, 1, 500));
    pass_ms(r.loop, 100 * slack());
    assert_int_equal(count_children(NULL), 1); /* many sessions never run a script */
    run_begin(&r, STR("1"));
    run_wait(&r);
    assert_true(wait_for_children(r.loop, SANDBOX_WARM, 500));
    run_close(&r);
    for (int i = 0; i < 1000 && count_children(NULL); i++)
        usleep(1000);
    assert_int_equal(count_children(NULL), 0);
}

/* MS-35: also while a long script runs */
static void a_running_script_does_not_keep_others_from_a_warm_worker(void **state)
{
    struct run r;

    run_open(&r, NULL);
    sandbox_prewarm(r.sandbox);
    assert_true(wait_for_children(r.loop, 1, 500));
    pass_ms(r.loop, 50 * slack());
    run_begin(&r, STR("await srv.never({})"));
    assert_true(wait_for_children(r.loop, SANDBOX_WARM + 1, 500));
    script_cancel(r.script);
    assert_true(wait_for_children(r.loop, SANDBOX_WARM, 500));
    run_close(&r);
}

/* ---- many scripts ---- */

struct many {
    struct loop *loop;
    struct sandbox *sb;
    int order[512];
    int ended, open, most_children;
};

struct one {
    struct many *m;
    int number;
};

static void many_end(void *ctx, const struct script_end *end)
{
    struct one *o = ctx;

    if (end->outcome != SCRIPT_OK)
        fail_msg("script %d: outcome %d %.*s", o->number, (int)end->outcome,
                 STR_F(end->message));
    o->m->order[o->m->ended++] = o->number;
    if (--o->m->open == 0)
        loop_stop(o->m->loop);
}

/* MS-35: 64 run, 192 wait in order, one more is refused */
static void scripts_beyond_the_limit_wait_in_order_and_then_are_refused(void **state)
{
    static const struct script_ops ops = { .on_end = many_end };
    static struct one ones[SANDBOX_MAX_RUNNING + SANDBOX_MAX_WAITING];
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct script_job job = { .source = STR("await new Promise(r => setTimeout(r, 30)); 1") };
    struct many m = { .loop = loop_new() };
    struct error e = { 0 };
    int late = 0;

    l.timeout_ms = 20000;
    m.sb = sandbox_new(m.loop, &l);
    for (size_t i = 0; i < ARRAY_LEN(ones); i++) {
        ones[i] = (struct one){ &m, (int)i };
        assert_non_null(sandbox_run(m.sb, &job, &ops, &ones[i], &e));
        m.open++;
    }
    assert_null(sandbox_run(m.sb, &job, &ops, &ones[0], &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "too many scripts");
    loop_run(m.loop);
    assert_int_equal(m.ended, (int)ARRAY_LEN(ones));
    for (int i = 0; i < m.ended; i++)
        late +=
            m.order[i] >
            i + SANDBOX_MAX_RUNNING; /* started in order, so ends differ by one round at most */
    assert_int_equal(late, 0);
    sandbox_free(m.sb);
    loop_free(m.loop);
}

/* ---- deaths without a script ---- */

/* MS-35, WK-7: replaced, with a pause that grows */
static void a_warm_worker_that_dies_is_replaced_without_a_spin(void **state)
{
    struct run r;
    pid_t victim = 0, next = 0;

    run_open(&r, NULL);
    sandbox_prewarm(r.sandbox);
    assert_true(wait_for_children(r.loop, 1, 500));
    pass_ms(r.loop, 50 * slack());
    count_children(&victim);
    kill(victim, SIGKILL);
    pass_ms(r.loop, 20);
    assert_int_equal(count_children(NULL), 0); /* not yet: the pause */
    assert_true(wait_for_children(r.loop, 1, 500));
    count_children(&next);
    assert_true(next != victim);
    run_begin(&r, STR("1 + 1"));
    run_wait(&r);
    assert_z(r.result, "2");
    run_close(&r);
}

/* A script must not wait for ever for workers that cannot start; and none are started in a
 * loop. */
static void workers_that_cannot_start_are_told_to_the_script(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.memory_bytes = BROKEN_MEMORY;
    run_with(&r, "1", &l);
    assert_int_equal(r.outcome, SCRIPT_CRASHED);
    assert_has(r.message,
               "no script worker could be started: script engine crashed (exit status 9)");
    assert_true(r.ms >= 300 &&
                r.ms < 2000 * slack()); /* 100 + 200 ms of pauses between three tries */
    run_close(&r);
}

/* ---- callbacks that free ---- */

struct freer {
    struct loop *loop;
    struct sandbox *sb;
    struct script *script;
    int calls, drops, ends;
    enum { IN_CALL, IN_DROP, IN_END } where;
    bool cancel_only;
};

static void act(struct freer *f)
{
    if (f->cancel_only) {
        script_cancel(f->script);
    } else {
        sandbox_free(f->sb);
        f->sb = NULL;
    }
    loop_stop(f->loop);
}

static void freer_call(void *ctx, uint32_t id, struct str global, struct str key,
                       struct str args)
{
    struct freer *f = ctx;

    f->calls++;
    if (f->where == IN_CALL)
        act(f);
}

static void freer_drop(void *ctx, uint32_t id)
{
    struct freer *f = ctx;

    f->drops++;
    if (f->where == IN_DROP && f->drops == 1)
        act(f);
}

static void freer_end(void *ctx, const struct script_end *end)
{
    struct freer *f = ctx;

    f->ends++;
    if (f->where == IN_END)
        act(f);
    loop_stop(f->loop);
}

static void everything_may_be_freed_from_inside_a_callback(void **state)
{
    static const struct script_ops ops = { freer_call, NULL, freer_drop, freer_end };
    static const struct script_global globals[] = { { { "srv", 3 }, NULL, 0 } };
    struct script_job job = { STR("srv.a({}); srv.b({}); srv.c({}); await new Promise(r => "
                                  "setTimeout(r, 20)); throw 1"),
                              globals, 1 };
    struct sandbox_limits l = DEFAULT_LIMITS;

    for (int where = IN_CALL; where <= IN_END; where++) {
        for (int cancel = 0; cancel < 2; cancel++) {
            struct freer f = { .loop = loop_new(), .where = where, .cancel_only = cancel };

            f.sb = sandbox_new(f.loop, &l);
            f.script = sandbox_run(f.sb, &job, &ops, &f, NULL);
            assert_non_null(f.script);
            loop_run(f.loop);
            if (f.sb)
                pass_ms(f.loop, 50);
            assert_int_equal(f.ends, where == IN_END ? 1 : 0);
            sandbox_free(f.sb);
            loop_free(f.loop);
        }
    }
}

/* A reply that comes after the script is over, or for a call that never was, does nothing. */
static void replies_to_nobody_are_ignored(void **state)
{
    struct run r;

    run_open(&r, NULL);
    run_begin(&r, STR("await srv.delay({ ms: 30 }); 1"));
    script_reply(r.script, 77, STR("1"));
    script_reply_error(r.script, 0, STR("no"));
    pass_ms(r.loop, 10);
    script_reply(r.script, 2, STR("1"));
    run_wait(&r);
    assert_z(r.result, "1");
    run_close(&r);
}

static void a_waiting_script_can_be_cancelled(void **state)
{
    struct run r;

    run_open(&r, NULL);
    run_begin(&r, STR("1"));
    script_cancel(r.script);
    pass_ms(r.loop, 50);
    assert_int_equal(r.end_count, 0);
    run_close(&r);
}

/* ---- a machine without the filter ---- */

/* From here on this process sees a kernel without seccomp(2). */
static void hide_seccomp(void)
{
    struct sock_filter code[] = {
        { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
        { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_seccomp },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
    };
    struct sock_fprog prog = { ARRAY_LEN(code), code };

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

static int without_seccomp(void)
{
    static const struct script_ops ops = { 0 };
    struct script_job job = { .source = STR("1") };
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct error e = { 0 };
    struct run r;
    struct sandbox *sb;
    struct loop *loop = loop_new();

    hide_seccomp();
    sb = sandbox_new(loop, &l);
    if (sandbox_run(sb, &job, &ops, NULL, &e) || e.kind != ERR_DENIED ||
        !strstr(e.msg, "SYMPOSIUM_ALLOW_UNSANDBOXED=1"))
        return 1;
    sandbox_prewarm(sb);
    pass_ms(loop, 30);
    if (count_children(NULL) != 0)
        return 2;
    sandbox_free(sb);
    loop_free(loop);
    setenv("SYMPOSIUM_ALLOW_UNSANDBOXED", "1", 1);
    run_script(&r, "1 + 1");
    if (r.outcome != SCRIPT_OK || strcmp(r.result, "2") != 0)
        return 3;
    run_close(&r);
    return 0;
}

/* security.md section 2: without a filter there is no script, unless the user says so */
static void without_a_filter_scripts_are_denied(void **state)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(without_seccomp());
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(prewarming_keeps_workers_ready_and_refills_them),
    cmocka_unit_test(a_running_script_does_not_keep_others_from_a_warm_worker),
    cmocka_unit_test(scripts_beyond_the_limit_wait_in_order_and_then_are_refused),
    cmocka_unit_test(a_warm_worker_that_dies_is_replaced_without_a_spin),
    cmocka_unit_test(workers_that_cannot_start_are_told_to_the_script),
    cmocka_unit_test(everything_may_be_freed_from_inside_a_callback),
    cmocka_unit_test(replies_to_nobody_are_ignored),
    cmocka_unit_test(a_waiting_script_can_be_cancelled),
    cmocka_unit_test(without_a_filter_scripts_are_denied),
};

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "worker") == 0 && (size_t)atoll(argv[2]) == BROKEN_MEMORY)
        return 9;
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
