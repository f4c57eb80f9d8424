/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Children in raw mode, and commands: what SH-5, SH-6 and SH-7 need of loop/child. */
#include "../loop_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "lockdown/keeper.h"
#include "loop/child.h"

#define GRACE_MS 3000 /* plenty for a few processes, before slack */
#define KEPT_MAX ((size_t)1 << 20)

struct run {
    struct loop *loop;
    struct child *c;
    struct buf out[2]; /* the first KEPT_MAX bytes of each stream */
    uint64_t total[2];
    int exits;
    struct child_exit how;
    int64_t began, took;
    bool free_at_bytes, stop_at_bytes;
};

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct run *r = ctx;

    assert_int_equal(r->exits, 0);
    r->total[stream] += bytes.n;
    buf_add(&r->out[stream], str_upto(bytes, KEPT_MAX - r->out[stream].n));
    if (r->free_at_bytes) {
        child_free(r->c);
        r->c = NULL;
    }
    if (r->free_at_bytes || r->stop_at_bytes)
        loop_stop(r->loop);
}

static void on_exit_(void *ctx, const struct child_exit *how)
{
    struct run *r = ctx;

    r->exits++;
    r->how = *how;
    r->took = clock_ms() - r->began;
    loop_stop(r->loop);
}

static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_ };

static void begin(struct run *r, const char *const *argv, struct child_opts o)
{
    struct error e;

    *r = (struct run){ .loop = loop_new(), .out = { BUF(KEPT_MAX), BUF(KEPT_MAX) } };
    o.argv = argv;
    o.no_stdin = true;
    r->began = clock_ms();
    r->c = child_start(r->loop, &o, &ops, r, &e);
    if (!r->c)
        fail_msg("%s", e.msg);
}

static void begin_sh(struct run *r, const char *script)
{
    const char *argv[] = { "sh", "-c", script, NULL };

    begin(r, argv,
          (struct child_opts){
              .path = "/bin/sh", .keeper = true, .command = true, .drain_ms = 1000 });
}

static void wait_exit(struct run *r, int ms)
{
    while (!r->exits)
        run_until_stopped(r->loop, ms);
    assert_int_equal(r->exits, 1);
}

static void finish(struct run *r)
{
    int64_t until = clock_ms() + GRACE_MS * slack();

    child_free(r->c);
    while (child_lingering(r->loop) && clock_ms() < until)
        run_for(r->loop, 2);
    assert_int_equal(child_lingering(r->loop), 0);
    loop_free(r->loop);
    buf_free(&r->out[0]);
    buf_free(&r->out[1]);
}

/* A pid that the script wrote to its stdout. */
static pid_t pid_said(const struct run *r)
{
    pid_t pid = (pid_t)atoi(buf_z(&r->out[CHILD_STDOUT]));

    assert_true(pid > 1);
    return pid;
}

static bool alive(pid_t pid)
{
    char path[64], text[512] = "";
    const char *after;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    after = n > 0 ? strrchr(text, ')') : NULL;
    return after && after[2] != 'Z' && after[2] != 'X';
}

static void assert_dead_soon(pid_t pid)
{
    int64_t until = clock_ms() + GRACE_MS * slack();

    while (alive(pid) && clock_ms() < until)
        usleep(1000);
    assert_false(alive(pid));
}

/* ---- output ---- */

static void both_outputs_come_as_they_are(void **state)
{
    static const struct {
        const char *script;
        struct str out, err;
        int code;
    } cases[] = {
        { "printf 'a\\0b\\n\\nc'; printf 'x\\0' >&2; exit 7", BYTES("a\0b\n\nc"), BYTES("x\0"),
          7 },
        { "exit 0", BYTES(""), BYTES(""), 0 },
        { "exec >&- 2>&-; exit 3", BYTES(""), BYTES(""), 3 },
        { "printf '\\r\\n'", BYTES("\r\n"), BYTES(""), 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int keeper = 0; keeper < 2; keeper++) {
            struct run r;
            const char *argv[] = { "/bin/sh", "-c", cases[i].script, NULL };

            begin(&r, argv, (struct child_opts){ .keeper = keeper });
            wait_exit(&r, GRACE_MS);
            assert_bytes(buf_str(&r.out[CHILD_STDOUT]), cases[i].out);
            assert_bytes(buf_str(&r.out[CHILD_STDERR]), cases[i].err);
            assert_int_equal(r.how.code, cases[i].code);
            finish(&r);
        }
    }
    (void)state;
}

/* SH-5: drained throughout, no line limit, nothing of it kept. */
static void a_flood_to_both_outputs_is_read_to_its_end(void **state)
{
    struct run r;

    begin_sh(&r, "head -c 100000000 /dev/zero & head -c 70000000 /dev/zero >&2; wait");
    wait_exit(&r, 10000);
    assert_true(r.total[CHILD_STDOUT] == 100000000);
    assert_true(r.total[CHILD_STDERR] == 70000000);
    assert_int_equal(r.how.code, 0);
    finish(&r);
    (void)state;
}

/* SH-6 */
static void it_has_a_session_of_its_own_and_nothing_else(void **state)
{
    struct run r;
    int leak = open("/etc/passwd", O_RDONLY); /* not close-on-exec */

    assert_true(leak > 2);
    signal(SIGUSR1, SIG_IGN);
    begin_sh(&r, "echo $(ps -o sid= -p $$) $(ps -o pgid= -p $$) $$; readlink /proc/self/fd/0;"
                 "ls /proc/self/fd | tr '\\n' ' '; grep -E '^Sig(Blk|Ign)' /proc/self/status");
    wait_exit(&r, GRACE_MS);
    signal(SIGUSR1, SIG_DFL);
    close(leak);
    int sid, pgid, pid;
    assert_int_equal(sscanf(buf_z(&r.out[0]), "%d %d %d", &sid, &pgid, &pid), 3);
    assert_int_equal(sid, pid);
    assert_int_equal(pgid, pid);
    assert_has(buf_z(&r.out[0]), "/dev/null\n");
    assert_has(buf_z(&r.out[0]), "\n0 1 2 3 "); /* 3 is the directory that ls reads */
    assert_lacks(buf_z(&r.out[0]), "3 4 ");
    assert_has(buf_z(&r.out[0]), "SigBlk:\t0000000000000000");
    assert_has(buf_z(&r.out[0]), "SigIgn:\t0000000000000000");
    finish(&r);
    (void)state;
}

static void write_script(const char *dir, const char *name, const char *text, mode_t mode)
{
    char path[PATH_MAX + 32];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

/* SH-6: entered by descriptor, so a directory that was moved meanwhile is still the same; and a
 * program with a slash is looked for from there. */
static void the_directory_is_a_descriptor_and_programs_are_relative_to_it(void **state)
{
    const char *argv[] = { "./hi", "x y", NULL };
    char dir[PATH_MAX], moved[PATH_MAX + 8];
    struct run r;
    int fd;

    make_temp_dir(dir);
    write_script(dir, "hi", "#!/bin/sh\npwd -P; echo \"$1\"\n", 0700);
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(moved, sizeof moved, "%s.moved", dir);
    assert_int_equal(rename(dir, moved), 0);
    begin(&r, argv, (struct child_opts){ .keeper = true, .command = true, .cwd_fd = fd });
    wait_exit(&r, GRACE_MS);
    assert_has(buf_z(&r.out[0]), moved);
    assert_has(buf_z(&r.out[0]), "\nx y\n");
    finish(&r);
    close(fd);
    remove_tree(moved);
    (void)state;
}

static void the_program_gets_the_name_that_it_was_called_by(void **state)
{
    const char *argv[] = { "a name", "-c", "echo $0", NULL };
    struct run r;

    begin(&r, argv, (struct child_opts){ .path = "/bin/sh", .keeper = true, .command = true });
    wait_exit(&r, GRACE_MS);
    assert_str(buf_str(&r.out[0]), "a name\n");
    finish(&r);
    (void)state;
}

/* SH-4 */
static void why_it_could_not_be_executed_is_an_errno(void **state)
{
    static const struct {
        const char *program;
        int err;
    } cases[] = {
        { "/no/such", ENOENT },         { "/etc", EACCES },    { "/etc/passwd", EACCES },
        { "/etc/passwd/x", ENOTDIR },   { "./junk", ENOEXEC }, { "./dangling", ENOENT },
        { "./no-interpreter", ENOENT },
    };
    char dir[PATH_MAX];
    int fd;

    make_temp_dir(dir);
    write_script(dir, "junk", "no program", 0700);
    write_script(dir, "no-interpreter", "#!/no/such/interpreter\n", 0700);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(symlinkat("nowhere", fd, "dangling"), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *argv[] = { cases[i].program, NULL };
        struct run r;

        begin(&r, argv, (struct child_opts){ .keeper = true, .command = true, .cwd_fd = fd });
        wait_exit(&r, GRACE_MS);
        assert_int_equal(r.how.exec_errno, cases[i].err);
        finish(&r);
    }
    close(fd);
    remove_tree(dir);
    (void)state;
}

/* ---- ends (SH-7) ---- */

static void after_its_own_end_only_its_group_is_killed(void **state)
{
    struct run group, left;

    begin_sh(&group, "sleep 1000 >/dev/null 2>&1 & echo $!");
    wait_exit(&group, GRACE_MS);
    assert_true(group.took < 900 * slack());
    assert_dead_soon(pid_said(&group));
    finish(&group);

    begin_sh(&left, "setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1'");
    left.stop_at_bytes = true;
    run_until_stopped(left.loop, GRACE_MS);
    left.stop_at_bytes = false;
    child_stop(left.c, (struct child_ladder){ 0, 500 }); /* its sh waits for it */
    wait_exit(&left, GRACE_MS);
    assert_dead_soon(pid_said(&left));
    finish(&left);

    begin_sh(&left, "setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & sleep 0.2");
    wait_exit(&left, GRACE_MS);
    assert_int_equal(left.how.code, 0);
    pid_t daemon = pid_said(&left);
    finish(&left); /* the keeper is gone, which child_lingering() tells */
    usleep(50000);
    assert_true(alive(daemon));
    kill(daemon, SIGKILL);
    (void)state;
}

static void output_after_the_exit_is_waited_for_a_second(void **state)
{
    struct run r;

    begin_sh(&r, "(sleep 0.3; echo late) & echo now");
    wait_exit(&r, GRACE_MS);
    assert_str(buf_str(&r.out[0]), "now\nlate\n");
    finish(&r);

    begin_sh(&r, "(sh -c 'echo $PPID'; while :; do echo more; sleep 0.05; done) &");
    wait_exit(&r, GRACE_MS);
    assert_in_range(r.took, 1000, 1000 + 700 * slack());
    assert_has(buf_z(&r.out[0]), "more\n");
    assert_dead_soon(pid_said(&r));
    finish(&r);

    begin_sh(&r, "setsid sleep 2 & exit 5"); /* holds both pipes */
    wait_exit(&r, GRACE_MS);
    assert_in_range(r.took, 1000, 1000 + 700 * slack());
    assert_int_equal(r.how.code, 5);
    finish(&r);
    (void)state;
}

static void a_stopped_one_has_its_grace_for_the_whole_group(void **state)
{
    struct run r;

    /* The sh is gone at once; what it started ends by itself, in time. */
    begin_sh(&r,
             "trap 'exit 4' TERM;"
             "(trap 'sleep 0.3; echo done; exit' TERM; echo r; while :; do sleep 0.01; done) &"
             "wait");
    r.stop_at_bytes = true;
    run_until_stopped(r.loop, GRACE_MS);
    r.stop_at_bytes = false;
    child_stop(r.c, (struct child_ladder){ 0, 2000 * slack() });
    wait_exit(&r, GRACE_MS);
    assert_str(buf_str(&r.out[0]), "r\ndone\n");
    assert_int_equal(r.how.code, 4);
    assert_true(child_tree_empty(r.c));
    finish(&r);
    (void)state;
}

static void a_stopped_one_that_is_deaf_is_killed_with_all_that_left_it(void **state)
{
    struct run r;

    begin_sh(&r, "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000; :' &"
                 "while :; do sleep 1000; done");
    r.stop_at_bytes = true;
    run_until_stopped(r.loop, GRACE_MS);
    r.stop_at_bytes = false;
    r.began = clock_ms();
    child_stop(r.c, (struct child_ladder){ 0, 300 });
    wait_exit(&r, GRACE_MS);
    assert_in_range(r.took, 300, 300 + 1200 * slack());
    assert_int_equal(r.how.signal, SIGKILL);
    assert_true(child_tree_empty(r.c));
    assert_false(alive(pid_said(&r)));
    finish(&r);
    (void)state;
}

/* What the program can do to its keeper delays the end, no more. */
static void one_that_stops_or_kills_its_keeper_ends_too(void **state)
{
    struct run r;

    begin_sh(&r, "kill -STOP $PPID; echo $$; sleep 1000; :");
    r.stop_at_bytes = true;
    run_until_stopped(r.loop, GRACE_MS);
    r.stop_at_bytes = false;
    child_stop(r.c, (struct child_ladder){ 0, 100 });
    wait_exit(&r, GRACE_MS);
    assert_int_equal(r.how.signal, SIGKILL);
    pid_t pid = pid_said(&r);
    finish(&r);
    assert_dead_soon(pid);

    begin_sh(&r, "echo $$; kill -KILL $PPID; exec sleep 1000");
    wait_exit(&r, GRACE_MS);
    assert_int_equal(r.how.signal, SIGKILL);
    assert_dead_soon(pid_said(&r));
    finish(&r);
    (void)state;
}

static void one_that_waits_for_its_last_output_can_be_stopped(void **state)
{
    struct run r;

    begin_sh(&r, "(trap '' TERM; sleep 1000; :) & setsid sh -c 'trap \"\" TERM; echo $$;"
                 "sleep 1000; :' & sleep 0.1");
    while (!child_exited(r.c))
        run_for(r.loop, 5);
    assert_int_equal(r.exits, 0);
    child_stop(r.c, (struct child_ladder){ 0, 100 });
    wait_exit(&r, GRACE_MS);
    assert_int_equal(r.how.code, 0);
    assert_false(alive(pid_said(&r)));
    finish(&r);
    (void)state;
}

static void one_that_is_let_go_of_is_killed_with_all_that_left_it(void **state)
{
    struct run r;

    begin_sh(&r, "trap '' TERM; setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000");
    r.free_at_bytes = true;
    run_until_stopped(r.loop, GRACE_MS);
    assert_int_equal(r.exits, 0);
    pid_t pid = pid_said(&r);
    finish(&r);
    assert_dead_soon(pid);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_outputs_come_as_they_are),
        cmocka_unit_test(a_flood_to_both_outputs_is_read_to_its_end),
        cmocka_unit_test(it_has_a_session_of_its_own_and_nothing_else),
        cmocka_unit_test(the_directory_is_a_descriptor_and_programs_are_relative_to_it),
        cmocka_unit_test(the_program_gets_the_name_that_it_was_called_by),
        cmocka_unit_test(why_it_could_not_be_executed_is_an_errno),
        cmocka_unit_test(after_its_own_end_only_its_group_is_killed),
        cmocka_unit_test(output_after_the_exit_is_waited_for_a_second),
        cmocka_unit_test(a_stopped_one_has_its_grace_for_the_whole_group),
        cmocka_unit_test(a_stopped_one_that_is_deaf_is_killed_with_all_that_left_it),
        cmocka_unit_test(one_that_stops_or_kills_its_keeper_ends_too),
        cmocka_unit_test(one_that_waits_for_its_last_output_can_be_stopped),
        cmocka_unit_test(one_that_is_let_go_of_is_killed_with_all_that_left_it),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("loop/command", tests, NULL, NULL);
}
