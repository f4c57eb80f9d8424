/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each test that says "either way" runs its programs directly and under a keeper: the contract
 * is the same. */
#include "../loop_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "lockdown/keeper.h"
#include "loop/child.h"
#include "loop/signal.h"

#define GRACE_MS 3000 /* plenty for a few processes, before slack */

struct kid {
    struct loop *loop;
    struct child *c;
    struct buf lines; /* each followed by '|' */
    int exits, broken, mute, too_long;
    struct child_exit how;
    struct error why;
    char err[1024];
    bool look_at_stderr, stop_at_line, free_at_line, free_at_exit, free_at_broken,
        stop_at_broken;
};

static void on_line(void *ctx, struct str line, bool too_long)
{
    struct kid *k = ctx;

    assert_int_equal(k->exits, 0);
    k->too_long += too_long;
    if (k->look_at_stderr)
        assert_true(child_stderr(k->c).n > 0);
    buf_add(&k->lines, line);
    buf_addc(&k->lines, '|');
    if (k->free_at_line) {
        child_free(k->c);
        k->c = NULL;
    }
    if (k->stop_at_line || k->free_at_line)
        loop_stop(k->loop);
}

static void on_exit_(void *ctx, const struct child_exit *how)
{
    struct kid *k = ctx;
    struct str err = child_stderr(k->c);

    k->exits++;
    k->how = *how;
    err = str_upto(err, sizeof k->err - 1);
    memcpy(k->err, err.n ? err.p : "", err.n);
    if (k->free_at_exit) {
        child_free(k->c);
        k->c = NULL;
    }
    loop_stop(k->loop);
}

static void on_broken(void *ctx, const struct error *why)
{
    struct kid *k = ctx;

    k->broken++;
    k->why = *why;
    if (k->free_at_broken) {
        child_free(k->c);
        k->c = NULL;
    }
    if (k->free_at_broken || k->stop_at_broken)
        loop_stop(k->loop);
}

static void on_mute(void *ctx)
{
    struct kid *k = ctx;

    k->mute++;
    loop_stop(k->loop);
}

static const struct child_ops ops = { .on_line = on_line,
                                      .on_exit = on_exit_,
                                      .on_stdin_broken = on_broken,
                                      .on_stdout_closed = on_mute };

static void kid_start_in(struct kid *k, struct loop *l, const char *script, struct child_opts o)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct error e;

    k->loop = l;
    k->lines = BUF((size_t)32 << 20);
    o.argv = argv;
    k->c = child_start(l, &o, &ops, k, &e);
    if (!k->c)
        fail_msg("%s", e.msg);
}

static void kid_end_in(struct kid *k)
{
    child_free(k->c);
    k->c = NULL;
    buf_free(&k->lines);
}

static void empty_loop(struct loop *l)
{
    int64_t until = clock_ms() + GRACE_MS * slack();

    while (child_lingering(l) && clock_ms() < until)
        run_for(l, 5);
    assert_int_equal(child_lingering(l), 0);
}

static void kid_start(struct kid *k, const char *script, bool keeper)
{
    kid_start_in(k, loop_new(), script, (struct child_opts){ .keeper = keeper });
}

static void kid_end(struct kid *k)
{
    struct loop *l = k->loop;

    kid_end_in(k);
    empty_loop(l);
    loop_free(l);
}

static void wait_exit(struct kid *k)
{
    while (!k->exits)
        run_until_stopped(k->loop, GRACE_MS);
    assert_int_equal(k->exits, 1);
}

static void wait_line(struct kid *k)
{
    k->stop_at_line = true;
    run_until_stopped(k->loop, GRACE_MS);
    k->stop_at_line = false;
}

static int lines_seen(const struct kid *k)
{
    int n = 0;

    for (size_t i = 0; i < k->lines.n; i++)
        n += k->lines.p[i] == '|';
    return n;
}

/* A keeper's word on it may come after the program's first line. */
static pid_t wait_pid(struct kid *k)
{
    while (!child_pid(k->c))
        run_for(k->loop, 1);
    return child_pid(k->c);
}

/* Several lines may come with one read. */
static void wait_lines(struct kid *k, int n)
{
    while (lines_seen(k) < n)
        wait_line(k);
}

static pid_t pid_in_line(const struct kid *k, int i)
{
    const char *p = buf_z(&k->lines);

    while (i-- > 0 && p)
        p = strchr(p, '|') + 1;
    return (pid_t)atoi(p);
}

/* A zombie is gone: it may have been left to an init that is slow to reap. */
static bool gone(pid_t pid)
{
    char path[64], text[512] = "";
    const char *after;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return true;
    after = strrchr(text, ')');
    return after && (after[2] == 'Z' || after[2] == 'X');
}

static void assert_gone_soon(pid_t pid)
{
    int64_t until = clock_ms() + GRACE_MS * slack();

    assert_true(pid > 1);
    while (!gone(pid) && clock_ms() < until)
        usleep(1000);
    assert_true(gone(pid));
}

/* ---- output and exit ---- */

static void lines_exit_and_stderr_arrive_either_way(void **state)
{
    static const struct {
        const char *script, *lines, *err;
        int code, signal;
    } cases[] = {
        { "echo one; echo two; echo bad >&2; exit 3", "one|two|", "bad\n", 3, 0 },
        { "exit 0", "", "", 0, 0 },
        { "printf 'no newline'", "no newline|", "", 0, 0 },
        { "echo a; kill -KILL $$", "a|", "", -1, SIGKILL },
        { "exec >&-; echo late >&2; exit 4", "", "late\n", 4, 0 },
    };

    for (int keeper = 0; keeper < 2; keeper++) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct kid k = { 0 };

            kid_start(&k, cases[i].script, keeper);
            wait_exit(&k);
            assert_str(buf_str(&k.lines), cases[i].lines);
            assert_string_equal(k.err, cases[i].err);
            assert_int_equal(k.how.code, cases[i].code);
            assert_int_equal(k.how.signal, cases[i].signal);
            assert_true(k.how.stdout_ended);
            assert_int_equal(k.broken, 0);
            kid_end(&k);
        }
    }
    (void)state;
}

static void much_output_before_the_exit_is_not_lost(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };

        kid_start(&k, "seq 1 200000", keeper);
        wait_exit(&k);
        assert_true(str_starts(buf_str(&k.lines), STR("1|2|3|")));
        assert_true(str_ends(buf_str(&k.lines), STR("|199999|200000|")));
        kid_end(&k);
    }
    (void)state;
}

/* MS-53: stderr is always drained, and only its last 64 KiB are kept. */
static void stderr_is_drained_into_a_bounded_ring(void **state)
{
    struct kid k = { 0 };

    kid_start(&k, "head -c 3000000 /dev/zero | tr '\\0' e >&2; printf 'the end' >&2; echo done",
              true);
    wait_exit(&k);
    assert_str(buf_str(&k.lines), "done|");
    struct str err = child_stderr(k.c);
    assert_int_equal(err.n, CHILD_STDERR_RING);
    assert_true(str_ends(err, STR("eeethe end")));
    kid_end(&k);
    (void)state;
}

static void looking_at_stderr_from_a_line_disturbs_no_line(void **state)
{
    struct kid k = { .look_at_stderr = true };

    kid_start(&k, "printf 'EEEEEEEEEEEEEEEEEEEEEEEEE' >&2; printf 'a\\nb\\nc\\n'", true);
    wait_exit(&k);
    assert_str(buf_str(&k.lines), "a|b|c|");
    kid_end(&k);
    (void)state;
}

static void a_program_that_cannot_run_is_an_error_or_exit_127(void **state)
{
    static const struct {
        const char *name;
        bool keeper;
        enum err_kind kind;
        const char *says;
    } cases[] = {
        { "no-such-program-here", false, ERR_NOT_FOUND, "no-such-program-here" },
        { "no-such-program-here", true, ERR_NOT_FOUND, "no-such-program-here" },
        { "", true, ERR_NOT_FOUND, "PATH" },
        { "/no/such", false, ERR_NOT_FOUND, "/no/such" },
        { "/etc", false, ERR_DENIED, "/etc" },
        { "/no/such", true, ERR_NONE, "/no/such" },
        { "/etc", true, ERR_NONE, "ermission denied" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kid k = { .loop = loop_new() };
        const char *argv[] = { cases[i].name, NULL };
        struct child_opts o = { .argv = argv, .keeper = cases[i].keeper };
        struct error e = { 0 };

        k.c = child_start(k.loop, &o, &ops, &k, &e);
        assert_int_equal(e.kind, cases[i].kind);
        if (k.c) {
            wait_exit(&k);
            assert_int_equal(k.how.code, 127);
            assert_non_null(strstr(k.err, cases[i].says));
        } else {
            assert_non_null(strstr(e.msg, cases[i].says));
        }
        kid_end(&k);
    }
    (void)state;
}

static void the_last_lines_wait_for_a_paused_owner(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };

        kid_start(&k, "echo x; echo y", keeper);
        child_pause(k.c);
        run_for(k.loop, CHILD_DRAIN_MS + 100);
        assert_int_equal(k.exits, 0);
        assert_int_equal(k.lines.n, 0);
        child_resume(k.c);
        wait_exit(&k);
        assert_str(buf_str(&k.lines), "x|y|");
        assert_true(k.how.stdout_ended);
        kid_end(&k);
    }
    (void)state;
}

/* security.md 3.2: an over-long line is told once; 64 MiB of them in a row end the program. */
static void a_flood_without_newline_is_discarded_and_then_ended(void **state)
{
    struct kid k = { 0 };

    kid_start_in(&k, loop_new(), "exec cat /dev/zero",
                 (struct child_opts){ .keeper = true, .max_line = 1000 });
    while (!k.exits)
        run_until_stopped(k.loop, 20000);
    assert_int_equal(k.too_long, 1);
    assert_true(child_discarded_run(k.c) > CHILD_DISCARD_MAX);
    assert_true(child_discarded_run(k.c) < 2 * CHILD_DISCARD_MAX);
    assert_int_equal(k.how.signal, SIGKILL);
    kid_end(&k);
    (void)state;
}

/* ---- stdin ---- */

static void what_is_written_arrives_and_closing_ends_it(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };
        struct error e;

        kid_start(&k, "cat", keeper);
        assert_true(child_write_line(k.c, STR("ping"), &e));
        wait_line(&k);
        assert_true(wait_pid(&k) > 1);
        assert_true(child_write(k.c, STR("pong"), &e));
        child_close_stdin(k.c);
        assert_false(child_write(k.c, STR("more"), &e));
        assert_int_equal(e.kind, ERR_CLOSED);
        wait_exit(&k);
        assert_str(buf_str(&k.lines), "ping|pong|");
        assert_int_equal(k.how.code, 0);
        kid_end(&k);
    }
    (void)state;
}

static void without_stdin_it_is_dev_null(void **state)
{
    struct kid k = { 0 };

    kid_start_in(&k, loop_new(), "readlink /proc/self/fd/0",
                 (struct child_opts){ .no_stdin = true });
    assert_false(child_write(k.c, STR("x"), NULL));
    wait_exit(&k);
    assert_str(buf_str(&k.lines), "/dev/null|");
    kid_end(&k);
    (void)state;
}

/* SEC-47: a program that stops reading is reported; the loop and the others go on meanwhile. */
static void a_stalled_stdin_is_reported_while_others_proceed(void **state)
{
    struct kid stuck = { .stop_at_broken = true }, other = { 0 };
    struct loop *l = loop_new();
    size_t n = (size_t)10 << 20;
    auto_free char *big = mem_alloc(n);
    int64_t at;

    kid_start_in(&stuck, l, "exec sleep 100",
                 (struct child_opts){ .keeper = true, .stdin_stall_ms = 300 * slack() });
    kid_start_in(&other, l, "cat", (struct child_opts){ .keeper = true });
    assert_true(child_write(stuck.c, (struct str){ big, n }, NULL));
    at = clock_ms();
    assert_true(child_write_line(other.c, STR("hello"), NULL));
    wait_line(&other);
    assert_true(clock_ms() - at < 300 * slack());
    assert_int_equal(stuck.broken, 0);
    run_until_stopped(l, 2000);
    assert_int_equal(stuck.broken, 1);
    assert_int_equal(stuck.why.kind, ERR_TIMEOUT);
    assert_int_equal(stuck.exits, 0); /* it may still run: that is the owner's to decide */
    assert_false(child_write(stuck.c, STR("x"), NULL));
    kid_end_in(&stuck);
    kid_end(&other);
    (void)state;
}

/* A program without stdout that lives is told of, one that ends at once is not. */
static void a_closed_stdout_is_reported_once(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };

        kid_start(&k, "echo last; exec 1>&-; exec sleep 100", keeper);
        run_until_stopped(k.loop, GRACE_MS);
        assert_int_equal(k.mute, 1);
        assert_int_equal(k.exits, 0);
        assert_string_equal(buf_z(&k.lines), "last|");
        child_stop(k.c, (struct child_ladder){ 0, 500 });
        wait_exit(&k);
        assert_int_equal(k.mute, 1);
        kid_end(&k);

        k = (struct kid){ 0 };
        kid_start(&k, "exec 1>&-; exit 3", keeper);
        wait_exit(&k);
        assert_int_equal(k.mute, 0);
        assert_int_equal(k.how.code, 3);
        kid_end(&k);
    }
}

static void a_closed_stdin_is_reported_once(void **state)
{
    struct kid k = { .stop_at_broken = true };

    kid_start(&k, "exec <&-; sleep 100", true);
    run_until_stopped(k.loop, GRACE_MS);
    assert_int_equal(k.broken, 1);
    assert_int_equal(k.why.kind, ERR_CLOSED);
    kid_end(&k);
    (void)state;
}

/* ---- what a program sees ---- */

/* MS-71: nothing but the three pipes, exactly the given environment, its own process group; the
 * session: next test. */
static void a_program_sees_only_what_it_was_given(void **state)
{
    const char *env[] = { "PATH=/usr/bin:/bin", "LD_PRELOAD=", "X=~y", "EMPTY=", NULL };
    const char *script = "tr '\\0' '\\n' </proc/$$/environ; pwd; cd /proc/$$/fd; for f in "
                         "[0-9]*; do [ -e $f ] && printf '%s ' $f; done; echo;"
                         "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && echo group;"
                         "grep -E '^Sig(Blk|Ign)' /proc/$$/status | cut -f2";
    int kept = open("/dev/null", O_RDONLY);

    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };

        kid_start_in(&k, loop_new(), script,
                     (struct child_opts){ .env = env, .cwd = "/proc", .keeper = keeper });
        wait_exit(&k);
        assert_str(buf_str(&k.lines),
                   "PATH=/usr/bin:/bin|LD_PRELOAD=|X=~y|EMPTY=|/proc|0 1 2 |group|"
                   "0000000000000000|0000000000000000|");
        kid_end(&k);
    }
    close(kept);
    (void)state;
}

/* WK-8: the keeper is in its own session and holds no copy of the program's pipes, only its
 * control socket. */
static void the_keeper_lets_go_of_the_pipes(void **state)
{
    const char *script = "sleep 0.05; for f in 0 1 2; do readlink /proc/$PPID/fd/$f; done; "
                         "readlink /proc/$PPID/fd/3 | cut -c1-6;"
                         "cat /proc/$PPID/comm; set -- $(cat /proc/$PPID/stat | sed "
                         "'s/([^)]*)/x/'); [ $6 = $PPID ] && echo leader";
    struct kid k = { 0 };

    kid_start(&k, script, true);
    wait_exit(&k);
    assert_str(buf_str(&k.lines),
               "/dev/null|/dev/null|/dev/null|socket|symposium-keep|leader|");
    kid_end(&k);
    (void)state;
}

/* What is meant for the program must not act on the keeper: the loader complains once, for the
 * program, not twice. */
static void the_environment_does_not_act_on_the_keeper(void **state)
{
    const char *env[] = { "PATH=/usr/bin:/bin", "LD_PRELOAD=/no/such/library.so", NULL };
    struct kid k = { 0 };
    int complaints = 0;

    kid_start_in(&k, loop_new(), "exit 0", (struct child_opts){ .env = env, .keeper = true });
    wait_exit(&k);
    for (const char *p = k.err; (p = strstr(p, "library.so")); p++)
        complaints++;
    assert_int_equal(complaints, 1);
    kid_end(&k);
    (void)state;
}

/* ---- stopping ---- */

/* MS-58: a well-behaved program is gone soon after stdin closes; nobody waits for the ladder.
 */
static void a_well_behaved_program_needs_no_signal(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };
        int64_t at;

        kid_start(&k, "echo up; cat >/dev/null; exit 5", keeper);
        wait_line(&k);
        at = clock_ms();
        child_stop(k.c, (struct child_ladder){ 60000, 90000 });
        wait_exit(&k);
        assert_int_equal(k.how.code, 5);
        assert_true(clock_ms() - at < 100 * slack());
        kid_end(&k);
    }
    (void)state;
}

static void the_ladder_terminates_then_kills(void **state)
{
    static const struct {
        const char *script;
        int signal, min_ms;
    } cases[] = {
        { "echo up; exec sleep 100", SIGTERM, 30 },
        { "trap '' TERM; echo up; while :; do sleep 100; done", SIGKILL, 120 },
    };

    for (int keeper = 0; keeper < 2; keeper++) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct kid k = { 0 };
            int64_t at;

            kid_start(&k, cases[i].script, keeper);
            wait_line(&k);
            at = clock_ms();
            child_stop(k.c, (struct child_ladder){ 30, 120 });
            wait_exit(&k);
            assert_int_equal(k.how.signal, cases[i].signal);
            assert_true(clock_ms() - at >= cases[i].min_ms);
            kid_end(&k);
        }
    }
    (void)state;
}

static void a_second_stop_may_only_be_sooner(void **state)
{
    struct kid k = { 0 };
    int64_t at = clock_ms();

    kid_start(&k, "exec sleep 100", true);
    child_stop(k.c, (struct child_ladder){ 60000, 60000 });
    child_stop(k.c, (struct child_ladder){ 60000, 20 });
    child_stop(k.c, (struct child_ladder){ 90000, 90000 });
    wait_exit(&k);
    assert_int_equal(k.how.signal, SIGKILL);
    assert_true(clock_ms() - at < GRACE_MS * slack());
    child_stop(k.c, (struct child_ladder){ 0, 0 }); /* after the end: nothing */
    kid_end(&k);
    (void)state;
}

/* SEC-46, MS-58: fifty programs that ignore SIGTERM and the end of stdin, stopped together. */
static void fifty_deaf_programs_are_gone_within_the_ladder(void **state)
{
    static struct kid k[50];
    struct loop *l = loop_new();
    pid_t pid[ARRAY_LEN(k)];
    int64_t at;
    int up = 0;

    memset(k, 0, sizeof k);
    for (size_t i = 0; i < ARRAY_LEN(k); i++)
        kid_start_in(&k[i], l, "trap '' TERM HUP INT; echo $$; while :; do sleep 1000; done",
                     (struct child_opts){ .keeper = true });
    while (up < (int)ARRAY_LEN(k)) {
        run_for(l, 10);
        up = 0;
        for (size_t i = 0; i < ARRAY_LEN(k); i++)
            up += k[i].lines.n > 0;
    }
    at = clock_ms();
    for (size_t i = 0; i < ARRAY_LEN(k); i++) {
        pid[i] = pid_in_line(&k[i], 0);
        child_stop(k[i].c, (struct child_ladder){ 100, 300 });
    }
    for (size_t i = 0; i < ARRAY_LEN(k); i++) {
        while (!k[i].exits)
            run_until_stopped(l, 5000);
        assert_int_equal(k[i].how.signal, SIGKILL);
        assert_true(gone(pid[i]));
    }
    assert_true(clock_ms() - at < 1000 * slack());
    for (size_t i = 0; i < ARRAY_LEN(k); i++)
        kid_end_in(&k[i]);
    empty_loop(l);
    loop_free(l);
    (void)state;
}

/* ---- trees ---- */

/* Says the pid of a daemon that has left session and process group, and whose parent has
 * exited. */
#define DAEMON                                                                              \
    "setsid sh -c '(trap \"\" TERM HUP; exec sh -c \"echo \\$\\$; while :; do sleep 1000; " \
    "done\")& exit 0' & "

/* SEC-45: found by the exit, not by the end of stdout; what is left of the tree is killed then.
 */
static void a_daemon_that_holds_stdout_delays_the_exit_only_a_little(void **state)
{
    struct kid k = { 0 };
    int64_t at = clock_ms();

    kid_start(&k, "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.05; exit 6", true);
    wait_exit(&k);
    assert_int_equal(k.how.code, 6);
    assert_false(k.how.stdout_ended);
    assert_true(clock_ms() - at < 1000 * slack());
    assert_gone_soon(pid_in_line(&k, 0));
    while (!child_tree_empty(k.c))
        run_for(k.loop, 5);
    kid_end(&k);
    (void)state;
}

/* WK-8: setsid and a double fork do not lead out of the tree. */
static void nothing_of_a_tree_survives_its_end(void **state)
{
    for (int how = 0; how < 3; how++) {
        struct kid k = { 0 };
        pid_t daemon, other;

        kid_start(&k, DAEMON DAEMON "while :; do sleep 1000; done", true);
        wait_lines(&k, 2);
        daemon = pid_in_line(&k, 0);
        other = pid_in_line(&k, 1);
        assert_false(gone(daemon) || gone(other));
        if (how == 0) {
            child_stop(k.c, (struct child_ladder){ 0, 30 });
            wait_exit(&k);
            while (!child_tree_empty(k.c))
                run_for(k.loop, 5);
        } else if (how == 1) {
            child_free(k.c);
            k.c = NULL;
            assert_int_equal(child_lingering(k.loop), 1);
            empty_loop(k.loop);
        } else {
            kill(wait_pid(&k), SIGKILL);
            wait_exit(&k);
            assert_int_equal(k.how.signal, SIGKILL);
        }
        assert_gone_soon(daemon);
        assert_gone_soon(other);
        kid_end(&k);
    }
    (void)state;
}

static void count_gone(void *ctx)
{
    (*(int *)ctx)++;
}

static void the_end_of_the_last_freed_child_is_told(void **state)
{
    struct kid a = { 0 }, b = { 0 };
    int told = 0;

    kid_start(&a, "while :; do sleep 1000; done", true);
    kid_start_in(&b, a.loop, "while :; do sleep 1000; done", (struct child_opts){ 0 });
    child_on_gone(a.loop, count_gone, &told);
    child_free(a.c);
    a.c = NULL;
    child_free(b.c);
    b.c = NULL;
    assert_int_equal(told, 0);
    empty_loop(a.loop);
    run_for(a.loop, 5);
    assert_int_equal(told, 1);
    child_on_gone(a.loop, NULL, NULL);
    buf_free(&b.lines);
    kid_end(&a);
}

/* WK-8, MS-58: we are killed with SIGKILL; the keeper sees the end of its control socket. */
static void nothing_survives_the_sigkill_of_its_owner(void **state)
{
    int told[2];
    pid_t tree[3];

    assert_int_equal(pipe2(told, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0) {
        struct kid k = { 0 };

        kid_start(&k, DAEMON "echo $$; trap '' TERM; while :; do sleep 1000; done", true);
        wait_lines(&k, 2);
        tree[0] = pid_in_line(&k, 0);
        tree[1] = pid_in_line(&k, 1);
        tree[2] = wait_pid(&k);
        if (write(told[1], tree, sizeof tree) != (ssize_t)sizeof tree)
            _exit(1);
        for (;;)
            pause(); /* not even in the loop: the kernel alone must do it */
    }
    close(told[1]);
    assert_int_equal(read(told[0], tree, sizeof tree), sizeof tree);
    close(told[0]);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    for (size_t i = 0; i < ARRAY_LEN(tree); i++)
        assert_gone_soon(tree[i]);
    (void)state;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return atoi(strrchr(text, ')') + 4);
}

/* WK-8: the program dies by the parent-death signal, the rest falls to our own subreaper. */
static void nothing_survives_the_sigkill_of_its_keeper(void **state)
{
    struct kid k = { 0 };
    pid_t daemon, program, keeper;

    reaper_adopt_orphans();
    kid_start(&k,
              "setsid sh -c '(echo $$; exec sleep 1000) & echo; sleep 1000' & while :; do "
              "sleep 1000; done",
              true);
    wait_line(&k);
    daemon = pid_in_line(&k, 0);
    program = wait_pid(&k);
    keeper = parent_of(program);
    assert_true(keeper != getpid());
    kill(keeper, SIGKILL);
    wait_exit(&k);
    assert_int_equal(k.how.code, -1);
    assert_int_equal(k.how.signal, SIGKILL);
    assert_false(child_tree_empty(k.c)); /* nobody is left who could know */
    assert_gone_soon(program);
    assert_false(gone(daemon));
    kid_end(&k);
    assert_int_equal(reaper_sweep(GRACE_MS * slack()), 0);
    assert_true(gone(daemon));
    (void)state;
}

/* ---- freeing ---- */

static void a_child_may_be_freed_by_each_of_its_callbacks(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        for (int where = 0; where < 3; where++) {
            struct kid k = { .free_at_line = where == 0,
                             .free_at_exit = where == 1,
                             .free_at_broken = where == 2 };

            kid_start(&k,
                      where == 2   ? "exec <&-; sleep 100"
                      : where == 1 ? "exit 0"
                                   : "echo a; echo b; sleep 100",
                      keeper);
            run_until_stopped(k.loop, GRACE_MS);
            assert_null(k.c);
            empty_loop(k.loop);
            assert_int_equal(k.exits, where == 1);
            if (where == 0)
                assert_str(buf_str(&k.lines), "a|");
            kid_end(&k);
        }
    }
    (void)state;
}

static void freeing_at_the_last_line_of_a_draining_child_is_safe(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        static const char *const scripts[] = { "printf last", "echo last",
                                               "(sleep 100)& printf last" };

        for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
            struct kid k = { 0 };

            kid_start(&k, scripts[i], keeper);
            child_pause(k.c);
            run_for(k.loop, 50); /* the exit is seen, the line is not */
            k.free_at_line = true;
            child_resume(k.c);
            run_until_stopped(k.loop, GRACE_MS);
            assert_int_equal(k.exits, 0);
            assert_str(buf_str(&k.lines), "last|");
            kid_end(&k);
        }
    }
    (void)state;
}

static void stopping_or_freeing_right_after_the_start_is_safe(void **state)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        struct kid k = { 0 };

        kid_start(&k, "sleep 1000", keeper);
        child_stop(k.c, (struct child_ladder){ 0, 0 });
        wait_exit(&k);
        kid_end(&k);
        kid_start(&k, "sleep 1000", keeper);
        kid_end(&k);
    }
    child_free(NULL);
    (void)state;
}

/* ---- an owner that wants stderr as it comes, and the tree's end ---- */

struct watched {
    struct kid k;
    struct buf err;
    int started, empty;
    bool told_before; /* the tree was empty at the exit */
};

static void on_watched_stderr(void *ctx, struct str bytes)
{
    struct watched *w = ctx;

    assert_int_equal(w->k.exits, 0);
    buf_add(&w->err, bytes);
}

static void on_watched_start(void *ctx)
{
    struct watched *w = ctx;

    w->started++;
    assert_true(child_pid(w->k.c) > 1);
    assert_true(child_keeper(w->k.c) > 1);
    assert_int_not_equal(child_pid(w->k.c), child_keeper(w->k.c));
}

static void on_watched_exit(void *ctx, const struct child_exit *how)
{
    struct watched *w = ctx;

    w->told_before = child_tree_empty(w->k.c);
    on_exit_(ctx, how);
}

static void on_watched_empty(void *ctx)
{
    struct watched *w = ctx;

    assert_int_equal(w->k.exits, 1);
    assert_true(child_tree_empty(w->k.c));
    w->empty++;
    loop_stop(w->k.loop);
}

static void stderr_is_handed_on_beside_lines_and_the_trees_end_is_told(void **state)
{
    static const struct child_ops watching = { .on_line = on_line,
                                               .on_stderr = on_watched_stderr,
                                               .on_started = on_watched_start,
                                               .on_exit = on_watched_exit,
                                               .on_empty = on_watched_empty };
    static const struct {
        const char *script;
        bool left_over; /* something outlives the program */
    } cases[] = {
        { "echo line; printf bad >&2; exit 3", false },
        { "echo line; printf bad >&2; setsid sleep 1000 >&- 2>&- & exit 3", true },
        { "echo line; printf bad >&2; (sleep 1000)& exit 3", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *argv[] = { "sh", "-c", cases[i].script, NULL };
        struct child_opts o = { .argv = argv, .keeper = true };
        struct watched w = { .err = BUF(64) };

        w.k.loop = loop_new();
        w.k.lines = BUF(64);
        w.k.c = child_start(w.k.loop, &o, &watching, &w, NULL);
        assert_non_null(w.k.c);
        wait_exit(&w.k);
        while (!w.told_before && !w.empty)
            run_until_stopped(w.k.loop, GRACE_MS);
        assert_int_equal(w.empty, !w.told_before);
        assert_false(w.told_before && cases[i].left_over);
        assert_int_equal(w.started, 1);
        assert_int_equal(w.k.how.code, 3);
        assert_str(buf_str(&w.k.lines), "line|");
        assert_str(buf_str(&w.err), "bad");
        buf_free(&w.err);
        kid_end(&w.k);
    }
    (void)state;
}

static void a_paused_owner_gets_no_stderr_either(void **state)
{
    static const struct child_ops watching = { .on_line = on_line,
                                               .on_stderr = on_watched_stderr,
                                               .on_exit = on_exit_ };
    const char *argv[] = { "sh", "-c", "printf bad >&2; echo line", NULL };
    struct child_opts o = { .argv = argv, .keeper = true };
    struct watched w = { .err = BUF(64) };

    w.k.loop = loop_new();
    w.k.lines = BUF(64);
    w.k.c = child_start(w.k.loop, &o, &watching, &w, NULL);
    assert_non_null(w.k.c);
    child_pause(w.k.c);
    run_for(w.k.loop, 100);
    assert_int_equal(w.err.n + w.k.lines.n, 0);
    child_resume(w.k.c);
    wait_exit(&w.k);
    assert_str(buf_str(&w.err), "bad");
    assert_str(buf_str(&w.k.lines), "line|");
    buf_free(&w.err);
    kid_end(&w.k);
    (void)state;
}

static void a_loop_may_end_before_its_freed_children_do(void **state)
{
    struct kid k = { 0 };

    kid_start(&k, "sleep 1000", true);
    child_free(k.c);
    assert_int_equal(child_lingering(k.loop), 1);
    buf_free(&k.lines);
    loop_free(k.loop);
    assert_int_equal(reaper_sweep(GRACE_MS * slack()), 0);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_exit_and_stderr_arrive_either_way),
        cmocka_unit_test(much_output_before_the_exit_is_not_lost),
        cmocka_unit_test(stderr_is_drained_into_a_bounded_ring),
        cmocka_unit_test(looking_at_stderr_from_a_line_disturbs_no_line),
        cmocka_unit_test(a_program_that_cannot_run_is_an_error_or_exit_127),
        cmocka_unit_test(the_last_lines_wait_for_a_paused_owner),
        cmocka_unit_test(a_flood_without_newline_is_discarded_and_then_ended),
        cmocka_unit_test(what_is_written_arrives_and_closing_ends_it),
        cmocka_unit_test(without_stdin_it_is_dev_null),
        cmocka_unit_test(a_stalled_stdin_is_reported_while_others_proceed),
        cmocka_unit_test(a_closed_stdin_is_reported_once),
        cmocka_unit_test(a_closed_stdout_is_reported_once),
        cmocka_unit_test(a_program_sees_only_what_it_was_given),
        cmocka_unit_test(the_keeper_lets_go_of_the_pipes),
        cmocka_unit_test(the_environment_does_not_act_on_the_keeper),
        cmocka_unit_test(a_well_behaved_program_needs_no_signal),
        cmocka_unit_test(the_ladder_terminates_then_kills),
        cmocka_unit_test(a_second_stop_may_only_be_sooner),
        cmocka_unit_test(fifty_deaf_programs_are_gone_within_the_ladder),
        cmocka_unit_test(a_daemon_that_holds_stdout_delays_the_exit_only_a_little),
        cmocka_unit_test(nothing_of_a_tree_survives_its_end),
        cmocka_unit_test(the_end_of_the_last_freed_child_is_told),
        cmocka_unit_test(nothing_survives_the_sigkill_of_its_owner),
        cmocka_unit_test(nothing_survives_the_sigkill_of_its_keeper),
        cmocka_unit_test(a_child_may_be_freed_by_each_of_its_callbacks),
        cmocka_unit_test(freeing_at_the_last_line_of_a_draining_child_is_safe),
        cmocka_unit_test(stopping_or_freeing_right_after_the_start_is_safe),
        cmocka_unit_test(stderr_is_handed_on_beside_lines_and_the_trees_end_is_told),
        cmocka_unit_test(a_paused_owner_gets_no_stderr_either),
        cmocka_unit_test(a_loop_may_end_before_its_freed_children_do),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("loop/child", tests, NULL, NULL);
}
