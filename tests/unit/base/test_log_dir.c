/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/log_dir.h"
#include "base/path.h"

static char top[PATH_MAX];
static struct arena a;
static char *dir;

static int set_up(void **state)
{
    make_temp_dir(top);
    dir = path_join(&a, top, "state/logs");
    log_set_level(LOG_INFO);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(top);
    arena_free(&a);
    return 0;
}

static char *in_dir(const char *name)
{
    return path_join(&a, dir, name);
}

/* A file last written so many seconds ago. */
static void put(const char *name, int age)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - age } };

    assert_true(file_write_atomic(in_dir(name), STR("old\n"), 0600, NULL));
    assert_int_equal(utimensat(AT_FDCWD, in_dir(name), times, 0), 0);
}

/* How many entries there are, and the name of one of them. */
static int entries(const char **ret_name)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int n = 0;

    assert_non_null(d);
    while ((e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        if (ret_name)
            *ret_name = arena_z(&a, str_of(e->d_name));
    }
    closedir(d);
    return n;
}

/* CF-5, CF-1: made at the first write, 0700 and 0600. */
static void a_run_logs_to_a_file_with_its_time_in_its_name(void **state)
{
    auto_buf text = BUF(4096);
    const char *name = "";
    struct stat st;
    time_t now = time(NULL);
    char day[64];

    assert_true(log_to_dir(dir, NULL));
    log_info("hello");
    assert_int_equal(entries(&name), 1);
    strftime(day, sizeof day, "symposium-%Y%m%d-", gmtime(&now));
    assert_true(str_starts(str_of(name), str_of(day)) || now % 86400 == 0);
    assert_int_equal(strlen(name), strlen("symposium-YYYYMMDD-HHMMSS.log"));
    assert_true(str_ends(str_of(name), STR(".log")));
    assert_true(file_read(in_dir(name), &text, NULL));
    assert_true(str_ends(buf_str(&text), STR("] info: hello\n")));
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(in_dir(name), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* security.md 3.8: ten are kept, the newest, rotated ones included; nothing else is touched. */
static void the_oldest_files_of_earlier_runs_go(void **state)
{
    static const char *const others[] = {
        "notes.txt",
        "symposium-20260101-000000.txt",
        "symposium-20260101-000000.log.old",
        "symposium-20260101-000000.log.",
        "symposium-2026010-000000.log",
        "xsymposium-20260101-000000.log",
    };

    assert_true(file_mkdirs(dir, NULL));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        put(others[i], 100000);
    for (int i = 0; i < 12; i++)
        put(arena_printf(&a, "symposium-202601%02d-000000.log", i + 1), 1000 - i);
    put("symposium-20260101-000000.log.1", 5000);
    put("symposium-20250101-000000.log.2", 5);
    assert_int_equal(symlink("notes.txt", in_dir("symposium-20240101-000000.log")), 0);
    assert_true(log_to_dir(dir, NULL));
    assert_int_equal(entries(NULL), ARRAY_LEN(others) + LOG_DIR_KEPT + 1);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_true(file_exists(in_dir(others[i])));
    assert_true(file_exists(in_dir("symposium-20250101-000000.log.2")));
    assert_true(file_exists(in_dir("symposium-20260105-000000.log")));
    assert_false(file_exists(in_dir("symposium-20260104-000000.log")));
    assert_false(file_exists(in_dir("symposium-20260101-000000.log.1")));
}

static void a_directory_that_cannot_be_made_leaves_the_log_where_it_was(void **state)
{
    struct error e;

    assert_true(file_write_atomic(path_join(&a, top, "state"), STR(""), 0600, NULL));
    assert_false(log_to_dir(dir, &e));
    assert_int_equal(e.kind, ERR_SYS);
}

/* SEC-86: the name can be foreseen, so somebody may have put a link there. */
static void a_link_in_the_place_of_the_file_is_not_followed(void **state)
{
    char *victim = path_join(&a, top, "victim");
    auto_buf text = BUF(4096);
    time_t now = time(NULL);
    struct error e;
    char name[64];

    assert_true(file_mkdirs(dir, NULL));
    assert_true(file_write_atomic(victim, STR("mine"), 0644, NULL));
    for (int i = 0; i < 60; i++, now++) { /* more seconds than the test takes */
        strftime(name, sizeof name, "symposium-%Y%m%d-%H%M%S.log", gmtime(&now));
        assert_int_equal(symlink(victim, in_dir(name)), 0);
    }
    assert_false(log_to_dir(dir, &e));
    assert_int_equal(e.kind, ERR_DENIED);
    log_error("x");
    assert_true(file_read(victim, &text, NULL));
    assert_str(buf_str(&text), "mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_logs_to_a_file_with_its_time_in_its_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_files_of_earlier_runs_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_directory_that_cannot_be_made_leaves_the_log_where_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_in_the_place_of_the_file_is_not_followed, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
