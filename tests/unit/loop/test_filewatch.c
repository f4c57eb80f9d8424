/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "loop/filewatch.h"

static char dir[PATH_MAX];

static int set_up(void **state)
{
    make_temp_dir(dir);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(dir);
    return 0;
}

static char *in_dir(const char *name)
{
    return mem_printf("%s/%s", dir, name);
}

static void write_to(const char *name, int flags)
{
    auto_free char *path = in_dir(name);
    int fd = open(path, O_WRONLY | flags, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static void create(void)
{
    write_to("f", O_CREAT | O_EXCL);
}

static void append(void)
{
    write_to("f", O_APPEND);
}

static void replace(void)
{
    auto_free char *from = in_dir("g"), *to = in_dir("f");

    write_to("g", O_CREAT);
    assert_int_equal(rename(from, to), 0);
}

static void take_away(void)
{
    auto_free char *path = in_dir("f");

    unlink(path);
}

static void take_directory_away(void)
{
    rmdir(dir);
}

struct seen {
    struct loop *loop;
    int n;
};

static void on_change(void *ctx)
{
    struct seen *s = ctx;

    s->n++;
    loop_stop(s->loop);
}

static void every_way_to_change_a_file_is_told(void **state)
{
    static void (*const ways[])(void) = { create, append, replace, take_away,
                                          take_directory_away };
    struct loop *l = loop_new();
    struct seen seen = { .loop = l };
    struct filewatch *w = filewatch_new(l, dir, "f", on_change, &seen, NULL);

    assert_non_null(w);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        seen.n = 0;
        ways[i]();
        run_until_stopped(l, 1000);
        assert_true(seen.n > 0);
        run_for(l, 10);
    }
    filewatch_free(w);
    loop_free(l);
}

static void other_files_are_not_and_nobody_is_kept_waiting(void **state)
{
    struct loop *l = loop_new();
    struct seen seen = { .loop = l };
    struct filewatch *w = filewatch_new(l, dir, "f", on_change, &seen, NULL);

    write_to("other", O_CREAT);
    run_for(l, 50);
    assert_int_equal(seen.n, 0);
    loop_run(l); /* returns: a watch does not hold the loop */
    filewatch_free(w);
    loop_free(l);
}

static void without_a_directory_there_is_no_watch(void **state)
{
    struct loop *l = loop_new();
    struct error e;

    assert_null(filewatch_new(l, "/dev/null/none/x", "f", on_change, NULL, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    filewatch_free(NULL);
    loop_free(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_way_to_change_a_file_is_told),
        TEST(other_files_are_not_and_nobody_is_kept_waiting),
        TEST(without_a_directory_there_is_no_watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
