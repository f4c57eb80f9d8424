/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/path.h"

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

static size_t entries(void)
{
    size_t n = 0;
    auto_free char *command = mem_printf("ls -A '%s' | wc -l", dir);
    FILE *p = popen(command, "r");

    assert_int_equal(fscanf(p, "%zu", &n), 1);
    pclose(p);
    return n;
}

static void written_content_is_read_back(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f");
    auto_buf b = BUF(100);
    struct stat st;

    assert_true(file_write_atomic(path, BYTES("a\0b"), 0640, NULL));
    assert_true(file_read(path, &b, NULL));
    assert_true(file_read(path, &b, NULL)); /* appends */
    assert_bytes(buf_str(&b), BYTES("a\0ba\0b"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_true(file_write_atomic(path, STR(""), 0600, NULL));
    buf_clear(&b);
    assert_true(file_read(path, &b, NULL));
    assert_int_equal(b.n, 0);
    assert_int_equal(entries(), 1); /* no temp file stays */
}

static void replacing_makes_a_new_file_and_leaves_the_open_one_alone(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f"), old[4] = "";

    file_write_atomic(path, STR("old"), 0600, NULL);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(file_write_atomic(path, STR("new"), 0600, NULL));
    assert_int_equal(read(fd, old, 3), 3);
    assert_string_equal(old, "old");
}

static void a_cache_file_is_replaced_as_a_whole_too(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f");
    auto_buf b = BUF(100);
    struct stat st;
    struct error e;

    assert_true(file_write_cache(path, STR("old"), NULL));
    assert_true(file_write_cache(path, STR("new"), NULL));
    assert_true(file_read(path, &b, NULL));
    assert_string_equal(buf_z(&b), "new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(entries(), 1);
    assert_false(file_write_cache(path_join(&a, dir, "no/f"), STR("x"), &e));
    assert_int_equal(e.sys, ENOENT);
}

static void failing_to_replace_says_so_and_leaves_nothing(void **state)
{
    auto_arena a = ARENA;
    char *sub = path_join(&a, dir, "sub");
    struct error e;

    assert_int_equal(mkdir(sub, 0700), 0);
    assert_false(file_write_atomic(sub, STR("x"), 0600, &e));
    assert_int_equal(e.kind, ERR_SYS);
    assert_int_equal(entries(), 1);
    assert_false(file_write_atomic(path_join(&a, dir, "no/f"), STR("x"), 0600, &e));
    assert_int_equal(e.sys, ENOENT);
}

/* A full disk, as far as a test can make one: SIGXFSZ ignored, writes past the limit fail. */
static void a_write_that_fails_half_way_leaves_the_old_file_and_no_temp(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f");
    auto_buf b = BUF(100);
    int status;
    pid_t pid;

    file_write_atomic(path, STR("old"), 0600, NULL);
    pid = fork();
    if (pid == 0) {
        struct rlimit limit = { 4096, 4096 };
        auto_buf big = BUF(100000);
        struct error e;

        buf_fill(&big, 'x', 100000);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (file_write_atomic(path, buf_str(&big), 0600, &e))
            _exit(1);
        buf_free(&big);
        _exit(e.kind == ERR_SYS && e.sys == EFBIG && strstr(e.msg, path) ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(file_read(path, &b, NULL));
    assert_string_equal(buf_z(&b), "old");
    assert_int_equal(entries(), 1);
}

static void a_descriptor_that_takes_nothing_is_an_error(void **state)
{
    auto_close int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct error e;

    assert_false(file_write_all(fd, STR("x"), &e));
    assert_int_equal(e.sys, ENOSPC);
}

static void reading_is_bounded_by_the_buffer(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f");
    auto_buf b = BUF(4);
    struct error e;

    file_write_atomic(path, STR("1234"), 0600, NULL);
    assert_true(file_read(path, &b, &e));
    buf_clear(&b);
    file_write_atomic(path, STR("12345"), 0600, NULL);
    assert_false(file_read(path, &b, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_int_equal(b.n, 0);
}

static void files_that_hide_their_size_are_read_and_bounded_too(void **state)
{
    auto_buf b = BUF(1 << 20), small = BUF(8);
    struct error e;

    assert_true(file_read("/proc/self/status", &b, &e));
    assert_true(str_starts(buf_str(&b), STR("Name:")));
    assert_false(file_read("/proc/self/status", &small, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_int_equal(small.n, 0);
}

static void what_is_not_a_regular_file_is_refused_without_hanging(void **state)
{
    auto_arena a = ARENA;
    char *fifo = path_join(&a, dir, "fifo");
    auto_buf b = BUF(100);
    struct error e;

    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_false(file_read(fifo, &b, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_false(file_read(dir, &b, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_false(file_read("/dev/zero", &b, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_false(file_read(path_join(&a, dir, "none"), &b, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(e.msg, "none"));
}

static void missing_parents_are_made_private(void **state)
{
    auto_arena a = ARENA;
    char *deep = path_join(&a, dir, "a/b//c/");
    struct stat st;
    struct error e;

    assert_true(file_mkdirs(deep, &e));
    assert_true(file_mkdirs(deep, &e));
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    file_write_atomic(path_join(&a, dir, "f"), STR(""), 0600, NULL);
    assert_false(file_mkdirs(path_join(&a, dir, "f/x"), &e));
    assert_int_equal(e.kind, ERR_SYS);
}

static void stamps_tell_versions_apart(void **state)
{
    auto_arena a = ARENA;
    char *path = path_join(&a, dir, "f");
    struct file_stamp none = file_stamp(path), one, again, two;

    assert_false(none.exists);
    assert_true(file_stamp_eq(&none, &none));
    file_write_atomic(path, STR("1"), 0600, NULL);
    one = file_stamp(path);
    again = file_stamp(path);
    assert_true(one.exists);
    assert_int_equal(one.size, 1);
    assert_true(file_stamp_eq(&one, &again));
    assert_false(file_stamp_eq(&none, &one));
    file_write_atomic(path, STR("2"), 0600, NULL); /* same size, perhaps the same time */
    two = file_stamp(path);
    assert_false(file_stamp_eq(&one, &two));
    assert_true(file_exists(path));
    assert_false(file_is_dir(path));
    assert_true(file_is_dir(dir));
}

static void an_entry_is_a_directory_also_where_the_file_system_does_not_tell(void **state)
{
    static const struct {
        const char *name;
        bool is_dir;
    } cases[] = { { "dir", true }, { "file", false }, { "link", false }, { "gone", false } };
    auto_free char *sub = mem_printf("%s/dir", dir), *file = mem_printf("%s/file", dir),
                   *link = mem_printf("%s/link", dir);
    DIR *d = opendir(dir);

    assert_int_equal(mkdir(sub, 0700), 0);
    assert_true(file_write_atomic(file, STR(""), 0600, NULL));
    assert_int_equal(symlink("dir", link), 0);
    assert_non_null(d);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dirent untold = { .d_type = DT_UNKNOWN };

        snprintf(untold.d_name, sizeof untold.d_name, "%s", cases[i].name);
        assert_int_equal(file_entry_is_dir(d, &untold), cases[i].is_dir);
    }
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            assert_int_equal(file_entry_is_dir(d, e), strcmp(e->d_name, "dir") == 0);
    closedir(d);
}

static void old_temps_of_killed_writers_are_swept_and_nothing_else(void **state)
{
    static const struct {
        const char *name;
        bool old, dir, stays;
    } cases[] = {
        { ".symposium-0123456789abcdef.tmp", true, false, false },
        { ".symposium-fedcba9876543210.tmp", false, false, true }, /* being written, maybe */
        { ".symposium-0123456789abcde0.tmp", true, true, true },
        { ".symposium-0123456789abcdef.tmp2", true, false, true },
        { ".symposium-0123456789abcdeg.tmp", true, false, true },
        { ".symposium-012345.tmp", true, false, true },
        { "symposium-0123456789abcdef.tmp", true, false, true },
        { ".symposium-0123456789abcdef.swap", true, false, true },
    };
    time_t then = time(NULL) - FILE_TEMP_OLD_SECS - 60;
    struct timespec old[2] = { { .tv_sec = then }, { .tv_sec = then } };
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *path = path_join(&a, dir, cases[i].name);

        assert_true(cases[i].dir ? mkdir(path, 0700) == 0
                                 : file_write_cache(path, STR("x"), NULL));
        if (cases[i].old)
            assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    }
    assert_int_equal(symlink("f", path_join(&a, dir, ".symposium-00000000000000ff.tmp")), 0);
    file_sweep_temps(dir);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (file_exists(path_join(&a, dir, cases[i].name)) != cases[i].stays)
            fail_msg("%s", cases[i].name);
    assert_int_equal(entries(), ARRAY_LEN(cases));
    file_sweep_temps(path_join(&a, dir, "none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_content_is_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            replacing_makes_a_new_file_and_leaves_the_open_one_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cache_file_is_replaced_as_a_whole_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failing_to_replace_says_so_and_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_write_that_fails_half_way_leaves_the_old_file_and_no_temp, set_up, tear_down),
        cmocka_unit_test(a_descriptor_that_takes_nothing_is_an_error),
        cmocka_unit_test_setup_teardown(reading_is_bounded_by_the_buffer, set_up, tear_down),
        cmocka_unit_test(files_that_hide_their_size_are_read_and_bounded_too),
        cmocka_unit_test_setup_teardown(what_is_not_a_regular_file_is_refused_without_hanging,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_parents_are_made_private, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_temps_of_killed_writers_are_swept_and_nothing_else,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(stamps_tell_versions_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_entry_is_a_directory_also_where_the_file_system_does_not_tell, set_up,
            tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
