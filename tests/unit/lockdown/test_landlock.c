/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* landlock_confine(): what stays possible beneath a rule, and what does not (SV-28). */
#include "../confined.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/path.h"
#include "lockdown/confine.h"

static char tree[PATH_MAX];

static const char *in_tree(struct arena *a, const char *name)
{
    return path_join(a, tree, name);
}

static int set_up(void **state)
{
    static const char *const dirs[] = { "write", "write/sub", "read", "none" };
    static const char *const files[] = { "write/f", "read/f", "none/f", "single" };
    auto_arena a = ARENA;

    make_temp_dir(tree);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        assert_int_equal(mkdir(in_tree(&a, dirs[i]), 0755), 0);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        assert_true(file_write_cache(in_tree(&a, files[i]), STR("content"), NULL));
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(tree);
    return 0;
}

enum act { READ, LIST, WRITE, MAKE, RENAME, MAKE_DEVICE, RUN, LOOK };

static bool opens(const char *path, int flags)
{
    auto_close int fd = open(path, flags | O_CLOEXEC, 0600);

    return fd >= 0;
}

static bool make_and_remove(const char *path)
{
    return opens(path, O_WRONLY | O_CREAT | O_EXCL) && truncate(path, 0) == 0 &&
           unlink(path) == 0;
}

static bool runs(const char *path)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execl(path, path, (char *)NULL);
        _exit(errno == EACCES ? 1 : 0); /* ENOEXEC: it was let to try */
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static bool do_act(enum act act, const char *path)
{
    auto_arena a = ARENA;
    struct stat st;

    switch (act) {
    case READ:
        return opens(path, O_RDONLY);
    case LIST:
        return opens(path, O_RDONLY | O_DIRECTORY);
    case WRITE:
        return opens(path, O_WRONLY | O_TRUNC);
    case MAKE:
        return make_and_remove(path);
    case RENAME:
        return rename(path, in_tree(&a, "write/sub/moved")) == 0 &&
               rename(in_tree(&a, "write/sub/moved"), path) == 0;
    case MAKE_DEVICE:
        return mknod(path, S_IFCHR | 0600, makedev(1, 3)) == 0;
    case RUN:
        return chmod(path, 0755) == 0 && runs(path);
    case LOOK:
        return stat(path, &st) == 0 && opens(path, O_PATH);
    }
    return false;
}

static const struct row {
    enum act act;
    const char *path;
    bool want;
} rows[] = {
    { READ, "write/f", true },
    { WRITE, "write/f", true },
    { LIST, "write", true },
    { MAKE, "write/sub/new", true },
    { RENAME, "write/f", true }, /* between directories */
    { RUN, "write/f", false },
    { MAKE_DEVICE, "write/null", false },
    { READ, "read/f", true },
    { LIST, "read", true },
    { WRITE, "read/f", false },
    { MAKE, "read/new", false },
    { RENAME, "read/f", false },
    { RUN, "read/f", false },
    { READ, "none/f", false },
    { LIST, "none", false },
    { WRITE, "none/f", false },
    { MAKE, "none/new", false },
    { RENAME, "none/f", false },
    { LOOK, "none/f", true },
    { READ, "single", true },
    { WRITE, "single", true },
    { MAKE, "new", false },
    { RENAME, "single", false },
    { READ, "/etc/passwd", false },
    { LIST, "/", false },
    { READ, "/proc/self/status", false },
};

static int wrong_rows(void)
{
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;

        if (do_act(rows[i].act, in_tree(&a, rows[i].path)) == rows[i].want)
            continue;
        print_error("act %d on '%s' %s\n", rows[i].act, rows[i].path,
                    rows[i].want ? "failed" : "succeeded");
        wrong++;
    }
    return wrong;
}

static void *in_thread(void *wrong)
{
    *(int *)wrong = wrong_rows();
    return NULL;
}

/* The exit status of a child that confines itself: 77 where that is not possible. */
static int confined(void)
{
    auto_arena a = ARENA;
    struct landlock_rule rules[3] = { { .right = LANDLOCK_WRITE },
                                      { .right = LANDLOCK_READ },
                                      { .right = LANDLOCK_WRITE } };
    static const char *const paths[] = { "write", "read", "single" };
    struct error e;
    pthread_t thread;
    int wrong = 1;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        rules[i].fd = open(in_tree(&a, paths[i]), O_PATH | O_CLOEXEC);
    if (!confine_no_new_privs(&e) || !landlock_confine(rules, ARRAY_LEN(rules), &e))
        return e.kind == ERR_DENIED ? 77 : 1;
    if (wrong_rows() != 0)
        return 2;
    if (pthread_create(&thread, NULL, in_thread, &wrong) != 0)
        return 3;
    pthread_join(thread, NULL);
    return wrong ? 4 : 0;
}

static void a_confined_process_works_in_its_directories_and_nowhere_else(void **state)
{
    check_confined(confined);
}

static void a_rule_for_nothing_is_an_error_and_confines_nothing(void **state)
{
    struct landlock_rule rule = { .fd = -1, .right = LANDLOCK_WRITE };
    struct error e;

    if (landlock_abi() < LANDLOCK_ABI_RENAMES) {
        print_message("SKIP: Landlock has ABI %d here\n", landlock_abi());
        skip();
    }
    assert_false(landlock_confine(&rule, 1, &e));
    assert_int_equal(e.kind, ERR_SYS);
    assert_true(opens("/etc/passwd", O_RDONLY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_confined_process_works_in_its_directories_and_nowhere_else),
        cmocka_unit_test(a_rule_for_nothing_is_an_error_and_confines_nothing),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
