/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-7: a network with nothing in it. Each case runs in a process of its own. */
#include "../check.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockdown/offline.h"

enum { UNAVAILABLE = 77 };

/* Exit status of `what` in an empty network, UNAVAILABLE where the host allows none. */
static int offline(int (*what)(const char *arg), const char *arg)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(offline_enter(NULL) ? what(arg) : UNAVAILABLE);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The errno of connecting to an address of the documentation range. */
static int connect_out(const char *arg)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(80),
                              .sin_addr.s_addr = htonl(0xc0000201) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ? errno : 0;
}

static void nothing_can_be_reached(void **state)
{
    int got = offline(connect_out, NULL);

    if (got == UNAVAILABLE)
        skip();
    assert_int_equal(got, ENETUNREACH);
}

/* Who we are and what is ours stays as it was. */
static int write_a_file(const char *path)
{
    FILE *f = fopen(path, "w");
    struct stat st;

    if (!f || fclose(f) != 0 || stat(path, &st) != 0)
        return 1;
    return st.st_uid != geteuid() || st.st_gid != getegid();
}

static int ids_are(const char *arg)
{
    unsigned uid, gid;

    return sscanf(arg, "%u %u", &uid, &gid) != 2 || geteuid() != uid || getegid() != gid;
}

static void ids_and_files_stay_ours(void **state)
{
    char dir[PATH_MAX], path[PATH_MAX + 8], ids[64];
    struct stat st;

    make_temp_dir(dir);
    snprintf(path, sizeof path, "%s/file", dir);
    snprintf(ids, sizeof ids, "%u %u", geteuid(), getegid());
    if (offline(write_a_file, path) == UNAVAILABLE) {
        remove_tree(dir);
        skip();
    }
    assert_int_equal(offline(write_a_file, path), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    assert_int_equal(offline(ids_are, ids), 0);
    remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_can_be_reached),
        cmocka_unit_test(ids_and_files_stay_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
