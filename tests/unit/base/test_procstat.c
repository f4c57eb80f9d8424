/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/procstat.h"

static void of_this_process_it_knows_parent_and_start(void **state)
{
    struct procstat first, again;

    (void)state;
    assert_true(procstat_read("/proc", getpid(), &first));
    assert_int_equal(first.parent, getppid());
    assert_true(first.start > 0);
    assert_true(procstat_read("/proc", getpid(), &again));
    assert_true(again.start == first.start);
}

/* 22 fields, of which the name may look like more. */
static void a_name_cannot_shift_the_fields(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int parent;
        unsigned long start;
    } cases[] = {
        { "7 (sh) S 3 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n", true, 3, 4711 },
        { "7 (a) S 1 2) S 3 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n", true, 3, 99 },
        { "7 (\n 5 5) Z 0 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n", true, 0, 5 },
        { "7 (sh) S 3 7\n", true, 3, 0 },
        { "7 (sh) S\n", false, 0, 0 },
        { "7 sh S 3 4 5\n", false, 0, 0 },
        { "", false, 0, 0 },
    };
    char dir[PATH_MAX], path[PATH_MAX + 32];

    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof path, "%s/7", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/7/stat", dir);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct procstat got = { 0 };

        assert_true(file_write_cache(path, str_of(cases[i].text), NULL));
        assert_int_equal(procstat_read(dir, 7, &got), cases[i].ok);
        assert_int_equal(got.parent, cases[i].parent);
        assert_int_equal(got.start, cases[i].start);
    }
    remove_tree(dir);
}

static void one_that_is_gone_is_told_and_a_zombie_is_there(void **state)
{
    struct procstat st;
    siginfo_t si;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
    assert_true(procstat_read("/proc", pid, &st));
    assert_int_equal(st.parent, getpid());
    waitpid(pid, NULL, 0);
    assert_false(procstat_read("/proc", pid, &st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_this_process_it_knows_parent_and_start),
        cmocka_unit_test(a_name_cannot_shift_the_fields),
        cmocka_unit_test(one_that_is_gone_is_told_and_a_zombie_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
