/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SH-1, SH-4, SH-6: which file a program's name means. */
#include "../../check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "servers/shell/program.h"

static void put(int dir, const char *name, mode_t mode)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

    assert_true(fd >= 0);
    fchmod(fd, mode);
    close(fd);
}

static void it_is_found_as_execvp_would(void **state)
{
    static const struct {
        const char *name, *path, *want;
        int err;
    } cases[] = {
        { "tool", "bin", "bin/tool", 0 },
        { "tool", "none:bin", "bin/tool", 0 },
        { "tool", "bin:other", "bin/tool", 0 },
        { "plain", "bin:other", "other/plain", 0 }, /* the first may not be executed */
        { "plain", "bin", NULL, EACCES },
        { "dir", "bin", NULL, EACCES },
        { "none", "bin:other:", NULL, ENOENT },
        { "here", ":bin", "./here", 0 }, /* empty: the command's directory, not ours */
        { "here", "bin:", "./here", 0 },
        { "here", "bin", NULL, ENOENT },
        { "sh", NULL, "/bin/sh", 0 },
        { "x/y", "bin", "x/y", 0 }, /* exec says what is wrong with it */
        { "/no/such", "bin", "/no/such", 0 },
        { "tool", "", NULL, ENOENT },
    };
    char path[PATH_MAX];
    auto_arena a = ARENA;

    make_temp_dir(path);
    int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    mkdirat(dir, "bin", 0700);
    mkdirat(dir, "other", 0700);
    mkdirat(dir, "bin/dir", 0700);
    put(dir, "bin/tool", 0700);
    put(dir, "bin/plain", 0600);
    put(dir, "other/plain", 0700);
    put(dir, "here", 0700);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int err = 0;
        const char *got = program_find(&a, dir, cases[i].name, cases[i].path, &err);

        if (!cases[i].want) {
            assert_null(got);
            assert_int_equal(err, cases[i].err);
        } else if (cases[i].path) {
            assert_string_equal(got, cases[i].want);
        } else {
            assert_non_null(strstr(got, "/sh"));
        }
    }
    close(dir);
    remove_tree(path);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(it_is_found_as_execvp_would) };

    return cmocka_run_group_tests_name("servers/shell/program", tests, NULL, NULL);
}
