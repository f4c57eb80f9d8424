/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SH-10: what a sandboxed command may not do, and what it still may. Each case runs in a
 * process of its own that has entered the Landlock ruleset and the filter. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lockdown/confine.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"

static char in[PATH_MAX], out[PATH_MAX]; /* directories: may be written, may not */

/* 0, or the errno of what failed. */
static int try_in_sandbox(int (*what)(const char *dir), const char *dir, bool no_truncate)
{
    int root = open(in, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int null = open("/dev/null", O_PATH | O_CLOEXEC), status;
    int ruleset = landlock_writes_ruleset((int[]){ root, null }, 2, NULL);

    assert_true(ruleset >= 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (!confine_no_new_privs(NULL) || !landlock_enter(ruleset, NULL) ||
            !seccomp_lock_command(no_truncate, NULL))
            _exit(255);
        _exit(what(dir));
    }
    close(root);
    close(null);
    close(ruleset);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return -WTERMSIG(status);
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

static const char *at(const char *dir, const char *name)
{
    static char path[2][PATH_MAX + 64];
    static int i;

    i ^= 1;
    snprintf(path[i], sizeof path[i], "%s/%s", dir, name);
    return path[i];
}

static int result(long r)
{
    return r < 0 ? errno : 0;
}

static int create(const char *d)
{
    return result(open(at(d, "new"), O_WRONLY | O_CREAT | O_EXCL, 0600));
}
static int overwrite(const char *d)
{
    return result(open(at(d, "file"), O_WRONLY));
}
static int append(const char *d)
{
    return result(open(at(d, "file"), O_WRONLY | O_APPEND));
}
static int empty_it(const char *d)
{
    return result(truncate(at(d, "file"), 0));
}
static int empty_while_reading(const char *d)
{
    return result(open(at(d, "file"), O_RDONLY | O_TRUNC));
}
static int remove_file(const char *d)
{
    return result(unlink(at(d, "file")));
}
static int remove_dir(const char *d)
{
    return result(rmdir(at(d, "dir")));
}
static int make_dir(const char *d)
{
    return result(mkdir(at(d, "new"), 0700));
}
static int make_link(const char *d)
{
    return result(symlink("file", at(d, "new")));
}
static int make_fifo(const char *d)
{
    return result(mkfifo(at(d, "new"), 0600));
}
static int rename_it(const char *d)
{
    return result(rename(at(d, "file"), at(d, "new")));
}
/* A hard link inside would make the file outside writable. */
static int link_in(const char *d)
{
    return result(link(at(d, "file"), at(in, "stolen")));
}
static int move_in(const char *d)
{
    return result(rename(at(d, "file"), at(in, "stolen")));
}
static int in_a_child(const char *d)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "echo x >\"$1/new\"", "sh", d, NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) ? EACCES : 0;
}
static int read_it(const char *d)
{
    return result(open(at(d, "file"), O_RDONLY));
}
static int write_null(const char *d)
{
    return result(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600));
}
static int write_own_pipe(const char *d)
{
    int p[2];
    char path[64];

    if (pipe(p) != 0)
        return errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", p[1]);
    return result(open(path, O_WRONLY));
}

static void fresh(const char *dir)
{
    mkdir(at(dir, "dir"), 0700);
    unlink(at(dir, "new"));
    rmdir(at(dir, "new"));
    unlink(at(dir, "stolen"));
    int fd = open(at(dir, "file"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "text", 4), 4);
    close(fd);
}

static void it_writes_within_and_nowhere_else(void **state)
{
    static const struct {
        int (*what)(const char *dir);
        int inside, outside;
    } cases[] = {
        { create, 0, EACCES },      { overwrite, 0, EACCES },
        { append, 0, EACCES },      { empty_it, 0, EACCES },
        { remove_file, 0, EACCES }, { remove_dir, 0, EACCES },
        { make_dir, 0, EACCES },    { make_link, 0, EACCES },
        { make_fifo, 0, EACCES },   { rename_it, 0, EACCES },
        { link_in, 0, EXDEV },      { move_in, 0, EACCES },
        { in_a_child, 0, EACCES },  { empty_while_reading, 0, EACCES },
        { read_it, 0, 0 },          { write_null, 0, 0 },
        { write_own_pipe, 0, 0 },
    };
    bool knows_truncate = landlock_abi() >= LANDLOCK_ABI_TRUNCATE;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stat st;

        if (!knows_truncate &&
            (cases[i].what == empty_it || cases[i].what == empty_while_reading))
            continue;
        fresh(in);
        fresh(out);
        assert_int_equal(try_in_sandbox(cases[i].what, in, false), cases[i].inside);
        fresh(in);
        assert_int_equal(try_in_sandbox(cases[i].what, out, false), cases[i].outside);
        assert_int_equal(stat(at(out, "file"), &st), 0);
        assert_int_equal(st.st_size, 4);
    }
    (void)state;
}

/* What the filter does where Landlock does not know of truncating. */
static void an_old_landlock_is_helped_out_by_the_filter(void **state)
{
    fresh(in);
    fresh(out);
    assert_int_equal(try_in_sandbox(empty_it, in, true), EACCES);
    assert_int_equal(try_in_sandbox(empty_while_reading, in, true), EACCES);
    assert_int_equal(try_in_sandbox(empty_while_reading, out, true), EACCES);
    assert_int_equal(try_in_sandbox(create, in, true), 0);
    assert_int_equal(try_in_sandbox(overwrite, in, true), 0);
    assert_int_equal(try_in_sandbox(write_null, in, true), 0);
    assert_int_equal(try_in_sandbox(read_it, out, true), 0);
    (void)state;
}

/* ---- sockets ---- */

static int inet4(const char *d)
{
    return result(socket(AF_INET, SOCK_STREAM, 0));
}
static int inet6(const char *d)
{
    return result(socket(AF_INET6, SOCK_DGRAM, 0));
}
static int raw(const char *d)
{
    return result(socket(AF_PACKET, SOCK_RAW, 0));
}
static int netlink(const char *d)
{
    return result(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
}
static int vsock(const char *d)
{
    return result(socket(AF_VSOCK, SOCK_STREAM, 0));
}
static int high_bits(const char *d)
{
    return result(syscall(SYS_socket, (1ull << 32) | AF_INET, SOCK_STREAM, 0));
}
static int tipc_pair(const char *d)
{
    int p[2];

    return result(socketpair(AF_TIPC, SOCK_STREAM, 0, p));
}
static int unix_pair(const char *d)
{
    int p[2];

    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
}
static int unix_bound(const char *d)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int s = socket(AF_UNIX, SOCK_STREAM, 0);

    if (s < 0)
        return errno;
    snprintf(a.sun_path, sizeof a.sun_path, "%.90s/new", d);
    if (bind(s, (struct sockaddr *)&a, sizeof a) != 0)
        return errno;
    if (listen(s, 1) != 0)
        return errno;
    return result(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a));
}
static int io_uring(const char *d)
{
    char params[256] = { 0 };

    return result(syscall(SYS_io_uring_setup, 1, params));
}

static void only_unix_sockets_are_made(void **state)
{
    static const struct {
        int (*what)(const char *dir);
        int want;
    } cases[] = {
        { inet4, EACCES }, { inet6, EACCES },     { raw, EACCES },       { netlink, EACCES },
        { vsock, EACCES }, { high_bits, EACCES }, { tipc_pair, EACCES }, { unix_pair, 0 },
        { unix_bound, 0 }, { io_uring, EPERM },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fresh(in);
        assert_int_equal(try_in_sandbox(cases[i].what, in, false), cases[i].want);
    }
    fresh(out);
    assert_int_equal(try_in_sandbox(unix_bound, out, false), EACCES);
    (void)state;
}

#ifdef __x86_64__
/* socket() by the numbers of 32 bits, which the filter does not know. */
static int by_int80(const char *d)
{
    int r;

    __asm__ volatile("int $0x80" : "=a"(r) : "a"(359), "b"(AF_INET), "c"(SOCK_STREAM), "d"(0));
    return r < 0 ? -r : 0;
}
static int by_x32(const char *d)
{
    return result(syscall(0x40000000 | SYS_socket, AF_INET, SOCK_STREAM, 0));
}
#endif

static void calls_by_other_numbers_end_the_process(void **state)
{
#ifdef __x86_64__
    assert_int_equal(try_in_sandbox(by_int80, in, false), -SIGSYS);
    assert_int_equal(try_in_sandbox(by_x32, in, false), -SIGSYS);
#endif
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_writes_within_and_nowhere_else),
        cmocka_unit_test(an_old_landlock_is_helped_out_by_the_filter),
        cmocka_unit_test(only_unix_sockets_are_made),
        cmocka_unit_test(calls_by_other_numbers_end_the_process),
    };

    if (!landlock_abi() || !seccomp_available()) {
        print_message("lockdown/sandbox: this kernel has no Landlock or no seccomp\n");
        return 77; /* meson: skipped */
    }
    make_temp_dir(in);
    make_temp_dir(out);
    int failed = cmocka_run_group_tests_name("lockdown/sandbox", tests, NULL, NULL);
    remove_tree(in);
    remove_tree(out);
    return failed;
}
