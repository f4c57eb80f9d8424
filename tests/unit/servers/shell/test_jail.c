/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SH-10: the private TMPDIR; what the sandbox forbids is in lockdown/test_sandbox and in the
 * end-to-end tests. */
#include "../../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/tree.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"
#include "servers/shell/jail.h"

#define DEEP     60
#define NAME_LEN 200 /* DEEP of them are far more than PATH_MAX */

static char base[PATH_MAX]; /* our TMPDIR */

static struct access *roots(void)
{
    const char *dirs[] = { base };
    struct access *x = access_new(dirs, 1, false, NULL, NULL);

    assert_non_null(x);
    return x;
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void the_tmpdir_is_made_named_and_removed(void **state)
{
    struct access *x = roots();
    struct error e;
    struct jail *s = jail_new(x, &e);
    char path[PATH_MAX], inside[PATH_MAX + 8];
    struct stat st;
    size_t vars = 0;

    assert_non_null(s);
    snprintf(path, sizeof path, "%s", jail_tmpdir(s));
    assert_has(path, base);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    for (const char *const *v = jail_env(s); *v; v++) {
        if (strncmp(*v, "TMPDIR=", 7) == 0) {
            vars++;
            assert_string_equal(*v + 7, path);
        }
    }
    assert_int_equal(vars, 1);
    assert_true(jail_ruleset(s) > 2);
    snprintf(inside, sizeof inside, "%s/file", path);
    close(open(inside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    jail_free(s);
    assert_false(exists(path));
    access_unref(x);
    (void)state;
}

/* What a killed server left: removed by the next; one in use, a fresh one and others' are not.
 */
static void one_that_was_left_behind_is_removed(void **state)
{
    static const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
    struct access *x = roots();
    struct jail *used = jail_new(x, NULL), *s;
    char path[4][PATH_MAX + 64];

    assert_non_null(used);
    snprintf(path[0], sizeof path[0], "%s/symposium-shell-stale", base);
    snprintf(path[1], sizeof path[1], "%s/symposium-shell-fresh", base);
    snprintf(path[2], sizeof path[2], "%s/other", base);
    snprintf(path[3], sizeof path[3], "%s", jail_tmpdir(used));
    for (int i = 0; i < 3; i++)
        assert_int_equal(mkdir(path[i], 0700), 0);
    for (int i = 0; i < 4; i++) {
        if (i != 1)
            assert_int_equal(utimensat(AT_FDCWD, path[i], old, 0), 0);
    }
    s = jail_new(x, NULL);
    assert_false(exists(path[0]));
    for (int i = 1; i < 4; i++)
        assert_true(exists(path[i]));
    jail_free(s);
    jail_free(used);
    access_unref(x);
    (void)state;
}

static void a_tree_of_any_shape_is_removed(void **state)
{
    int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), at, next;
    char kept[PATH_MAX + 64], name[NAME_LEN + 1];

    memset(name, 'd', NAME_LEN);
    name[NAME_LEN] = '\0';
    snprintf(kept, sizeof kept, "%s/kept", base);
    close(open(kept, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_int_equal(mkdirat(dir, "tree", 0700), 0);
    at = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(symlinkat("../kept", at, "link"), 0);
    assert_int_equal(symlinkat("..", at, "up"), 0);
    assert_int_equal(mknodat(at, "fifo", S_IFIFO | 0600, 0), 0);
    assert_int_equal(mkdirat(at, "locked", 0700), 0);
    assert_int_equal(mkdirat(at, "locked/sub", 0700), 0);
    assert_int_equal(fchmodat(at, "locked", 0, 0), 0);
    for (int i = 0; i < DEEP; i++) {
        assert_int_equal(mkdirat(at, name, 0700), 0);
        close(openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    close(at);
    assert_true(tree_remove(dir, "tree"));
    assert_true(exists(kept));
    assert_false(tree_remove(dir, "none"));
    assert_false(tree_remove(dir, "kept"));
    assert_true(exists(kept));
    close(dir);
    (void)state;
}

/* As who is not root: what others call read-only is so for its owner too. */
static bool read_only_tree_is_removed(int dir)
{
    static const char *const dirs[] = { "ro", "ro/a", "ro/a/b", "ro/c" };

    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(3000) != 0 || setuid(3000) != 0))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdirat(dir, dirs[i], 0700) != 0)
            return false;
    close(openat(dir, "ro/a/b/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0400));
    close(openat(dir, "ro/c/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0400));
    assert_int_equal(fchmodat(dir, "ro/a/b", 0555, 0), 0);
    assert_int_equal(fchmodat(dir, "ro/c", 0, 0), 0);
    assert_int_equal(fchmodat(dir, "ro/a", 0555, 0), 0);
    assert_int_equal(fchmodat(dir, "ro", 0555, 0), 0);
    return tree_remove(dir, "ro");
}

static void read_only_directories_are_removed(void **state)
{
    auto_close int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status;
    pid_t pid;

    assert_int_equal(chmod(base, 0777), 0);
    pid = fork();
    if (pid == 0)
        _exit(!read_only_tree_is_removed(dir));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tmpdir_is_made_named_and_removed),
        cmocka_unit_test(one_that_was_left_behind_is_removed),
        cmocka_unit_test(a_tree_of_any_shape_is_removed),
        cmocka_unit_test(read_only_directories_are_removed),
    };

    if (!landlock_abi() || !seccomp_available()) {
        print_message("servers/shell/jail: this kernel has no Landlock or no seccomp\n");
        return 77; /* meson: skipped */
    }
    make_temp_dir(base);
    setenv("TMPDIR", base, 1);
    int failed = cmocka_run_group_tests_name("servers/shell/jail", tests, NULL, NULL);
    remove_tree(base);
    return failed;
}
