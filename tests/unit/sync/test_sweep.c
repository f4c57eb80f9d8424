/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/path.h"
#include "sync/sweep.h"

#define TEMP ".symposium-0123456789abcdef.tmp"

static char tree[PATH_MAX];

static int set_up(void **state)
{
    make_temp_dir(tree);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(tree);
    return 0;
}

static void each_of_our_directories_is_swept_and_no_other(void **state) /* CF-5 */
{
    static const struct {
        const char *dir;
        bool ours;
    } cases[] = {
        { "cache/workspaces/app-01234567", true },
        { "cache/predicates", true },
        { "cache/tools", true },
        { "cache/binaries/.done", true },
        { "state", true },
        { "state/backups/0123", true },
        { "state/imports/1", true },
        { "cache/binaries/tool/1.0.0/bin", false },
        { "home", false },
    };
    time_t then = time(NULL) - FILE_TEMP_OLD_SECS - 60;
    struct timespec old[2] = { { .tv_sec = then }, { .tv_sec = then } };
    auto_arena a = ARENA;
    struct dirs dirs = { .cache = path_join(&a, tree, "cache"),
                         .state = path_join(&a, tree, "state") };

    sync_sweep(&dirs); /* nothing is there yet, and nothing is made */
    assert_false(file_exists(dirs.state));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *dir = path_join(&a, tree, cases[i].dir);
        const char *temp = path_join(&a, dir, TEMP);

        assert_true(file_mkdirs(dir, NULL));
        assert_true(file_write_cache(temp, STR("half"), NULL));
        assert_true(file_write_cache(path_join(&a, dir, "kept"), STR("x"), NULL));
        assert_int_equal(utimensat(AT_FDCWD, temp, old, 0), 0);
    }
    sync_sweep(&dirs);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *dir = path_join(&a, tree, cases[i].dir);

        if (file_exists(path_join(&a, dir, TEMP)) == cases[i].ours)
            fail_msg("%s", cases[i].dir);
        assert_true(file_exists(path_join(&a, dir, "kept")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_of_our_directories_is_swept_and_no_other, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
