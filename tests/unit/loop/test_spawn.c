/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "loop/spawn.h"

static int wait_code(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Runs `sh -c script` with stdout in a file and returns what it printed (static). */
static const char *output_of(const char *script, const struct spawn_opts *like)
{
    static char text[4096];
    const char *argv[] = { "sh", "-c", script, NULL };
    const char *env[] = { "PATH=/usr/bin:/bin", "MARK=1", NULL };
    struct spawn_opts o = like ? *like : (struct spawn_opts){ .fds = { -1, -1, -1, -1 } };
    int fd = memfd_create("out", MFD_CLOEXEC);
    struct spawned s;
    struct error e;

    o.path = "/bin/sh";
    o.argv = argv;
    o.env = env;
    o.fds[1] = fd;
    if (!spawn(&o, &s, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(wait_code(s.pid), 0);
    if (s.pidfd >= 0)
        close(s.pidfd);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

static void a_program_gets_its_descriptors_and_no_others(void **state)
{
    int kept =
        open("/dev/null", O_RDONLY); /* not close-on-exec: must not leak all the same (MS-71) */

    assert_true(kept >= 0);
    assert_string_equal(
        output_of(
            "cd /proc/self/fd; for f in [0-9]*; do [ -e $f ] && printf '%s ' $f; done; true",
            NULL),
        "0 1 2 ");
    struct spawn_opts four = { .fds = { -1, -1, -1, kept } };
    assert_string_equal(
        output_of(
            "cd /proc/self/fd; for f in [0-9]*; do [ -e $f ] && printf '%s ' $f; done; true",
            &four),
        "0 1 2 3 ");
    close(kept);
    (void)state;
}

static void missing_descriptors_are_dev_null(void **state)
{
    assert_string_equal(output_of("readlink /proc/self/fd/0; readlink /proc/self/fd/2", NULL),
                        "/dev/null\n/dev/null\n");
    (void)state;
}

/* Sources within 0..3 that are also targets: each must arrive where it was meant. */
static void descriptors_may_be_permuted(void **state)
{
    int a = memfd_create("a", 0), b = memfd_create("b", 0), saved0 = dup(0), saved3 = dup(3);
    struct spawn_opts o = { .fds = { 3, -1, 3, 0 } };

    assert_int_equal(dup2(a, 0), 0);
    assert_int_equal(dup2(b, 3), 3);
    const char *got =
        output_of("readlink /proc/self/fd/0 /proc/self/fd/2 /proc/self/fd/3 | cut -c1-8", &o);
    dup2(saved0, 0);
    if (saved3 >= 0)
        dup2(saved3, 3);
    else
        close(3);
    assert_string_equal(got, "/memfd:b\n/memfd:b\n/memfd:a\n");
    close(a);
    close(b);
    close(saved0);
    if (saved3 >= 0)
        close(saved3);
    (void)state;
}

static void the_environment_is_exactly_the_given_one(void **state)
{
    setenv("SYM_TEST_SECRET", "x", 1);
    const char *text = output_of(
        "cat /proc/self/environ | tr '\\0' '\\n' | grep -c -e '^MARK=1$' -e '^PATH=' -e SECRET",
        NULL);
    assert_string_equal(text, "2\n");
    (void)state;
}

static void the_working_directory_is_entered(void **state)
{
    struct spawn_opts o = { .fds = { -1, -1, -1, -1 }, .cwd = "/proc" };

    assert_string_equal(output_of("pwd", &o), "/proc\n");
    (void)state;
}

static void group_and_session_are_its_own(void **state)
{
    struct spawn_opts session = { .fds = { -1, -1, -1, -1 }, .new_session = true };
    /* fields 5 and 6 of stat: process group, session; the shell's own pid is both */
    const char *script = "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && printf 'group '; [ $6 = "
                         "$$ ] && printf session; true";

    assert_string_equal(output_of(script, NULL), "group ");
    assert_string_equal(output_of(script, &session), "group session");
    (void)state;
}

/* We ignore SIGPIPE and block much; a program must not inherit that. */
static void signals_are_at_their_defaults(void **state)
{
    sigset_t set, old;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    const char *got = output_of("grep -E '^Sig(Blk|Ign):' /proc/self/status | cut -f2", NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    assert_string_equal(got, "0000000000000000\n0000000000000000\n");
    (void)state;
}

static void what_cannot_run_is_said_and_nothing_runs(void **state)
{
    static const struct {
        const char *path, *cwd;
        enum err_kind kind;
        const char *says;
    } cases[] = {
        { "/no/such/program", NULL, ERR_NOT_FOUND, "/no/such/program" },
        { "/etc/passwd/x", NULL, ERR_NOT_FOUND, "/etc/passwd/x" },
        { "/etc", NULL, ERR_DENIED, "permission denied" },
        { "/bin/sh", "/no/such/dir", ERR_NOT_FOUND, "/no/such/dir" },
        { "/bin/sh", "/etc/passwd", ERR_NOT_FOUND, "no such directory" },
        { "/proc/self/status/../maps", NULL, ERR_NOT_FOUND, "cannot execute" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *argv[] = { cases[i].path, "-c", "exit 0", NULL };
        struct spawn_opts o = {
            .path = cases[i].path, .argv = argv, .cwd = cases[i].cwd, .fds = { -1, -1, -1, -1 }
        };
        struct spawned s;
        struct error e;

        assert_false(spawn(&o, &s, &e));
        assert_int_equal(e.kind, cases[i].kind);
        assert_non_null(strstr(e.msg, cases[i].says));
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process, no zombie */
    }
    (void)state;
}

static void no_descriptor_of_ours_stays_open(void **state)
{
    struct stat st;
    int probe = dup(0);
    struct spawned s;
    struct error e;
    const char *argv[] = { "true", NULL };
    struct spawn_opts o = {
        .path = "/bin/true", .argv = argv, .cwd = "/", .fds = { -1, -1, -1, -1 }
    };

    close(probe);
    self_exe_fd();
    assert_true(spawn(&o, &s, &e));
    assert_true(s.pidfd <= probe + 1); /* the directory's descriptor was still open */
    if (s.pidfd >= 0)
        close(s.pidfd);
    assert_int_equal(wait_code(s.pid), 0);
    o.path = "/no/such";
    assert_false(spawn(&o, &s, &e));
    for (int fd = probe; fd < probe + 4; fd++)
        assert_int_equal(fstat(fd, &st), -1);
    (void)state;
}

static void our_own_image_is_executed_by_descriptor(void **state)
{
    const char *argv[] = { "test", "say-seven", NULL };
    struct spawn_opts o = { .argv = argv, .fds = { -1, -1, -1, -1 } };
    struct spawned s;
    struct error e;

    assert_true(fcntl(self_exe_fd(), F_GETFD) & FD_CLOEXEC);
    assert_true(spawn(&o, &s, &e));
    assert_int_equal(wait_code(s.pid), 7);
    if (s.pidfd >= 0)
        close(s.pidfd);
    (void)state;
}

static void a_signal_reaches_the_process_or_its_group(void **state)
{
    for (int group = 0; group < 2; group++) {
        const char *argv[] = { "sleep", "100", NULL };
        struct spawn_opts o = { .path = "/bin/sleep", .argv = argv, .fds = { -1, -1, -1, -1 } };
        struct spawned s;
        struct error e;

        assert_true(spawn(&o, &s, &e));
        spawned_signal(&s, SIGTERM, group);
        assert_int_equal(wait_code(s.pid), 1000 + SIGTERM);
        if (s.pidfd >= 0)
            close(s.pidfd);
    }
    (void)state;
}

/* The middle process is ours and dies; what it spawned with die_with_parent must follow. */
static void a_program_dies_with_its_parent_when_asked_to(void **state)
{
    int fd[2];
    char c;

    assert_int_equal(pipe(fd), 0);
    pid_t middle = fork();
    if (middle == 0) {
        const char *argv[] = { "sleep", "100", NULL };
        struct spawn_opts o = { .path = "/bin/sleep",
                                .argv = argv,
                                .fds = { -1, fd[1], -1, -1 },
                                .die_with_parent = true };
        struct spawned s;
        struct error e;

        if (!spawn(&o, &s, &e) || write(fd[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(fd[1]);
    assert_int_equal(read(fd[0], &c, 1), 1);
    kill(middle, SIGKILL);
    assert_int_equal(wait_code(middle), 1000 + SIGKILL);
    assert_int_equal(read(fd[0], &c, 1), 0); /* the only other holder of the pipe is gone too */
    close(fd[0]);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_its_descriptors_and_no_others),
        cmocka_unit_test(missing_descriptors_are_dev_null),
        cmocka_unit_test(descriptors_may_be_permuted),
        cmocka_unit_test(the_environment_is_exactly_the_given_one),
        cmocka_unit_test(the_working_directory_is_entered),
        cmocka_unit_test(group_and_session_are_its_own),
        cmocka_unit_test(signals_are_at_their_defaults),
        cmocka_unit_test(what_cannot_run_is_said_and_nothing_runs),
        cmocka_unit_test(no_descriptor_of_ours_stays_open),
        cmocka_unit_test(our_own_image_is_executed_by_descriptor),
        cmocka_unit_test(a_signal_reaches_the_process_or_its_group),
        cmocka_unit_test(a_program_dies_with_its_parent_when_asked_to),
    };

    if (argc > 1 && strcmp(argv[1], "say-seven") == 0)
        return 7;
    return cmocka_run_group_tests_name("loop/spawn", tests, NULL, NULL);
}
