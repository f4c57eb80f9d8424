/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/beneath.h"

struct place {
    char dir[PATH_MAX];
    int fd;
};

static int set_up(void **state)
{
    struct place *p = mem_alloc(sizeof *p);

    make_temp_dir(p->dir);
    p->fd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(p->fd, "a", 0755), 0);
    assert_int_equal(mkdirat(p->fd, "a/b", 0755), 0);
    close(openat(p->fd, "a/b/file", O_CREAT | O_WRONLY, 0644));
    assert_int_equal(symlinkat("a/b", p->fd, "in"), 0);
    assert_int_equal(symlinkat("..", p->fd, "up"), 0);
    assert_int_equal(symlinkat("/etc", p->fd, "out"), 0);
    assert_int_equal(symlinkat("nowhere", p->fd, "dangling"), 0);
    assert_int_equal(symlinkat("../../a/b", p->fd, "a/b/back"), 0);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    beneath_without_openat2(false);
    close(p->fd);
    remove_tree(p->dir);
    free(p);
    return 0;
}

struct opened {
    const char *rel;
    int flags;
    int sys, sys_without; /* 0: it opens */
};

static void check(const struct place *p, const struct opened *c, int want)
{
    int fd = open_beneath(p->fd, c->rel, c->flags), sys = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    if (sys != want)
        fail_msg("%s: errno %d, not %d", c->rel, sys, want);
}

static void nothing_leads_out_of_the_directory(void **state)
{
    static const struct opened cases[] = {
        { "a/b/file", O_RDONLY, 0, 0 },
        { "a//b/./file", O_RDONLY, 0, 0 },
        { "", O_RDONLY | O_DIRECTORY, 0, 0 },
        { "in/file", O_RDONLY, 0, ELOOP },
        { "in/file", O_RDONLY | O_NOFOLLOW, ELOOP, ELOOP },
        { "in", O_PATH, 0, ELOOP },
        { "a/b/back", O_PATH, 0, ELOOP },
        { "up", O_PATH, EXDEV, ELOOP },
        { "out", O_PATH, EXDEV, ELOOP },
        { "out/passwd", O_RDONLY, EXDEV, ELOOP },
        { "dangling", O_PATH, ENOENT, ELOOP },
        { "..", O_RDONLY, EXDEV, EXDEV },
        { "/etc/passwd", O_RDONLY, EXDEV, EXDEV },
        { "a/b/file/x", O_RDONLY, ENOTDIR, ENOTDIR },
        { "a/none", O_RDONLY, ENOENT, ENOENT },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        beneath_without_openat2(false);
        check(*state, &cases[i], cases[i].sys);
        beneath_without_openat2(true);
        check(*state, &cases[i], cases[i].sys_without);
    }
}

static void missing_directories_are_made_beneath(void **state)
{
    struct place *p = *state;
    struct stat st;
    int fd = mkdirs_beneath(p->fd, "in/x/y");

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(fstatat(p->fd, "a/b/x/y", &st, 0), 0);
    assert_int_equal(mkdirs_beneath(p->fd, "out/x"), -1);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(mkdirs_beneath(p->fd, "a/b/file/x"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_leads_out_of_the_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_directories_are_made_beneath, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
