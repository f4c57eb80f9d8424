/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "base/log_redact.h"
#include "base/path.h"
#include "base/utf8.h"

static char dir[PATH_MAX];
static struct arena a;
static char *path;

static int set_up(void **state)
{
    make_temp_dir(dir);
    path = path_join(&a, dir, "x.log");
    log_set_level(LOG_WARN);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(dir);
    arena_free(&a);
    return 0;
}

static struct str content(const char *file)
{
    auto_buf b = BUF(64 << 20);
    struct error e;

    if (!file_read(file, &b, &e))
        fail_msg("%s", e.msg);
    return arena_str(&a, buf_str(&b));
}

static size_t count(struct str s, const char *needle)
{
    size_t n = 0, at;

    while ((at = str_find(s, str_of(needle))) != SIZE_MAX) {
        n++;
        s = str_from(s, at + 1);
    }
    return n;
}

static void lines_carry_time_level_and_text(void **state)
{
    assert_true(log_to_file(path, NULL));
    log_info("not shown at this level");
    log_warn("server '%s' failed", "fs");
    log_set_level(LOG_TRACE);
    log_trace("t");
    log_error("e");
    log_set_level(LOG_OFF);
    log_error("never");
    assert_int_equal(count(content(path), "\n"), 3);
    assert_int_equal(count(content(path), "Z ["), 3);
    assert_int_equal(count(content(path), "] warn: server 'fs' failed\n"), 1);
    assert_int_equal(count(content(path), "] trace: t\n"), 1);
    assert_int_equal(count(content(path), "] error: e\n"), 1);
}

/* Without a file: stderr, and stdout stays untouched. */
static void without_a_file_lines_go_to_stderr(void **state)
{
    char *out = path_join(&a, dir, "out"), *err = path_join(&a, dir, "err");
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr))
            _exit(1);
        log_warn("server 'fs' failed: token=%s", "abc");
        fflush(stdout);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_str(content(out), "");
    assert_str(content(err), "symposium: warn: server 'fs' failed: token=[redacted]\n");
}

/* With one: everything to the file, and what a person must see to stderr as well. */
static void warnings_go_to_stderr_also_with_a_file(void **state)
{
    char *err = path_join(&a, dir, "err");
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (!freopen(err, "w", stderr) || !log_to_file(path, NULL))
            _exit(1);
        log_set_level(LOG_INFO);
        log_info("token=%s", "abc");
        log_warn("token=%s", "def");
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_str(content(err), "symposium: warn: token=[redacted]\n");
    assert_int_equal(count(content(path), "] info: token=[redacted]\n"), 1);
    assert_int_equal(count(content(path), "] warn: token=[redacted]\n"), 1);
    assert_int_equal(count(content(path), "\n"), 2);
}

/* A client may never read our stderr. */
static void a_full_stderr_loses_lines_and_does_not_block(void **state)
{
    char text[PIPE_BUF];
    int fd[2], status;
    struct str all = { 0 };
    auto_buf read_back = BUF(1 << 20);
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fd[1], STDERR_FILENO);
        alarm((unsigned)(10 * slack()));
        for (int i = 0; i < 500; i++) /* some 500,000 bytes */
            log_warn("%01000d", i);
        while (read(fd[0], text, sizeof text) == (ssize_t)sizeof text)
            if (poll(&(struct pollfd){ .fd = fd[0], .events = POLLIN }, 1, 0) < 1)
                break;
        log_warn("again");
        _exit(0);
    }
    close(fd[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    while ((n = read(fd[0], text, sizeof text)) > 0)
        buf_add(&read_back, (struct str){ text, (size_t)n });
    close(fd[0]);
    all = buf_str(&read_back);
    assert_true(str_ends(all, STR(" lines dropped, stderr was full) again\n")));
}

static void levels_have_names(void **state)
{
    enum log_level level = LOG_OFF;

    assert_true(log_level_parse(STR("debug"), &level));
    assert_int_equal(level, LOG_DEBUG);
    assert_false(log_level_parse(STR("loud"), &level));
    assert_false(log_level_parse(STR("off"), &level));
    log_set_level(LOG_INFO);
    assert_int_equal(log_get_level(), LOG_INFO);
}

/* SEC-86 */
static void a_symbolic_link_as_log_file_is_not_followed(void **state)
{
    char *victim = path_join(&a, dir, "victim");
    struct error e;

    assert_true(file_write_atomic(victim, STR("mine"), 0644, NULL));
    assert_int_equal(symlink(victim, path), 0);
    assert_false(log_to_file(path, &e));
    assert_int_equal(e.kind, ERR_DENIED);
    log_error("x");
    assert_str(content(victim), "mine");
}

static void what_is_not_a_regular_file_is_no_log_file(void **state)
{
    auto_close int reader = -1;
    struct error e;

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(log_to_file(path, &e));
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* now the FIFO opens */
    assert_false(log_to_file(path, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_false(log_to_file(dir, &e));
}

static void the_file_is_private(void **state)
{
    struct stat st;

    assert_true(file_write_atomic(path, STR("old\n"), 0666, NULL));
    assert_true(log_to_file(path, NULL));
    log_error("new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(str_starts(content(path), STR("old\n"))); /* appended to */
}

static void files_rotate_at_10_mib_and_10_are_kept(void **state)
{
    char filler[8001];
    struct stat st;

    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    for (int i = 0; i < 12; i++) {
        auto_close int fd = -1;

        assert_true(log_to_file(path, NULL));
        log_error("generation %d", i);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(ftruncate(fd, 10 * 1024 * 1024 - 100), 0);
        assert_true(log_to_file(path, NULL)); /* sees the size */
        log_error("%s", filler);              /* does not fit: rotates first */
    }
    assert_int_equal(count(content(arena_printf(&a, "%s.1", path)), "generation 11"), 1);
    assert_int_equal(count(content(arena_printf(&a, "%s.10", path)), "generation 2"), 1);
    assert_int_equal(stat(arena_printf(&a, "%s.11", path), &st), -1);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 10000);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void rotation_by_another_process_is_noticed(void **state)
{
    char *other = path_join(&a, dir, "elsewhere");
    struct stat st;

    assert_true(log_to_file(path, NULL));
    log_error("first");
    assert_int_equal(truncate(path, 10 * 1024 * 1024), 0);
    assert_true(log_to_file(path, NULL));
    assert_int_equal(rename(path, other), 0);
    assert_true(file_write_atomic(path, STR("theirs\n"), 0600, NULL));
    log_error("second");
    assert_true(str_starts(content(path), STR("theirs\n")));
    assert_int_equal(count(content(path), "second"), 1);
    assert_int_equal(stat(arena_printf(&a, "%s.1", path), &st), -1);
}

static void control_bytes_are_escaped_and_a_line_stays_one(void **state)
{
    static const struct {
        struct str in;
        const char *want;
    } cases[] = {
        { STR("a\nb"), "a\\nb" },
        { STR("\x1b[2J\x07\r\t\x7f"), "\\x1b[2J\\x07\\x0d\\x09\\x7f" },
        { STR("\xc2\x9b"
              "2J"),
          "\\xc2\\x9b2J" },
        { STR("\xff"), "\xef\xbf\xbd" },
        { STR("\xc3\xa9"), "\xc3\xa9" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        log_put_escaped(&b, cases[i].in);
        assert_str(buf_str(&b), cases[i].want);
    }
}

static void long_lines_are_cut_on_a_code_point_border_with_a_mark(void **state)
{
    for (size_t max = 10; max < 16; max++) {
        auto_buf b = BUF(max), exact = BUF(7);

        log_put_escaped(
            &b,
            STR("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"));
        assert_true(utf8_valid(buf_str(&b)));
        assert_true(str_ends(buf_str(&b), STR("\xac...")));
        assert_true(b.n < max && !b.over);
        log_put_escaped(&exact, STR("123456"));
        assert_str(buf_str(&exact), "123456");
    }
}

static void messages_of_any_length_stay_one_bounded_line(void **state)
{
    auto_buf big = BUF(4 << 20);

    assert_true(log_to_file(path, NULL));
    buf_fill(&big, 'x', 3 << 20);
    log_error("%s", buf_z(&big));
    log_error("%.*s", 100000, buf_z(&big));
    assert_int_equal(count(content(path), "\n"), 2);
    assert_int_equal(count(content(path), "bytes is left out"), 1);
    assert_true(content(path).n < 9000);
}

static void assert_redacted(struct str in, const char *want)
{
    auto_buf b = BUF(4096);

    log_redact(&b, in);
    assert_str(buf_str(&b), want);
}

#define R "[redacted]"

static void values_behind_telling_names_are_redacted(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "token=abc def", "token=" R " def" },
        { "GITHUB_TOKEN=abc", "GITHUB_TOKEN=" R },
        { "apiKey: abc, x", "apiKey: " R ", x" },
        { "{\"api_key\": \"a b\\\"c\", \"x\": 1}", "{\"api_key\": \"" R "\", \"x\": 1}" },
        { "{\\\"secret\\\":\\\"abc\\\",\\\"x\\\":1}",
          "{\\\"secret\\\":\\\"" R "\\\",\\\"x\\\":1}" },
        { "password = 'a b' end", "password = '" R "' end" },
        { "Authorization: Bearer abc.def", "Authorization: " R },
        { "Cookie: a=b; c=d", "Cookie: " R },
        { "Set-Cookie: a=b\nnext", "Set-Cookie: " R "\nnext" },
        { "run --api-key abc --x y", "run --api-key " R " --x y" },
        { "run --token=abc", "run --token=" R },
        { "-token abc", "-token " R },
        { "the token was refused", "the token was refused" },
        { "unknown key 'x'", "unknown key 'x'" },
        { "token=", "token=" },
        { "PASSWORD:x", "PASSWORD:" R },
        { "token: {\"a\": \"b\"}", "token: " R },
        { "nothing here", "nothing here" },
        { "?key=abc&other=1", "?key=" R "&other=1" },
        { "/w/api-key.md: left out", "/w/api-key.md: left out" },
        { "/w/token: abc", "/w/token: " R },
        { "/w/api-key.md=abc", "/w/api-key.md=" R },
        { "api.key: abc", "api.key: " R },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_redacted(str_of(cases[i].in), cases[i].want);
}

static void urls_lose_userinfo_query_and_fragment(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "get http://u:p@h.example/p?q=1#f now", "get http://" R "@h.example/p?" R " now" },
        { "https://h.example/a/b", "https://h.example/a/b" },
        { "https://h.example?x", "https://h.example?" R },
        { "'https://h.example/#t'", "'https://h.example/#" R "'" },
        { "https://a@b@c/d", "https://" R "@c/d" },
        { "://", "://" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_redacted(str_of(cases[i].in), cases[i].want);
}

/* SEC-85. Registered values stay for the process, so each is its own. */
static void known_values_are_redacted_wherever_they_stand(void **state)
{
    log_secret(STR("hunter2-hunter2"));
    log_secret(STR("short"));
    log_secret(STR("-----BEGIN-----\nMIIabcdefgh\nMIIxyzxyzxyz\n"));
    log_secret(STR("qu\"ote\\d-value"));
    log_secret(STR("hunter2-hunter2-longer"));

    assert_redacted(STR("said hunter2-hunter2, twice hunter2-hunter2hunter2-hunter2"),
                    "said " R ", twice " R R);
    assert_redacted(STR("hunter2-hunter2-longer"), R);
    assert_redacted(STR("a short one"), "a short one"); /* under 8 bytes */
    assert_redacted(STR("line MIIxyzxyzxyz."), "line " R ".");
    assert_redacted(STR("{\"v\":\"qu\\\"ote\\\\d-value\"}"), "{\"v\":\"" R "\"}");
    assert_redacted(STR("cut off: hunter2-hun"), "cut off: " R);
    assert_redacted(STR("not it: hunter2"), "not it: hunter2");

    assert_true(log_to_file(path, NULL));
    log_error("env echo: hunter2-hunter2 and %s", "MIIabcdefgh");
    assert_int_equal(count(content(path), "hunter2"), 0);
    assert_int_equal(count(content(path), "MIIabc"), 0);
    assert_int_equal(count(content(path), R), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_lines_go_to_stderr), /* before a file is set */
        cmocka_unit_test(warnings_go_to_stderr_also_with_a_file),
        cmocka_unit_test(a_full_stderr_loses_lines_and_does_not_block),
        cmocka_unit_test(lines_carry_time_level_and_text),
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(a_symbolic_link_as_log_file_is_not_followed),
        cmocka_unit_test(what_is_not_a_regular_file_is_no_log_file),
        cmocka_unit_test(the_file_is_private),
        cmocka_unit_test(files_rotate_at_10_mib_and_10_are_kept),
        cmocka_unit_test(rotation_by_another_process_is_noticed),
        cmocka_unit_test(control_bytes_are_escaped_and_a_line_stays_one),
        cmocka_unit_test(long_lines_are_cut_on_a_code_point_border_with_a_mark),
        cmocka_unit_test(messages_of_any_length_stay_one_bounded_line),
        cmocka_unit_test(values_behind_telling_names_are_redacted),
        cmocka_unit_test(urls_lose_userinfo_query_and_fragment),
        cmocka_unit_test(known_values_are_redacted_wherever_they_stand),
    };
    struct CMUnitTest with_dir[ARRAY_LEN(tests)];

    for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
        with_dir[i] = tests[i];
        with_dir[i].setup_func = set_up;
        with_dir[i].teardown_func = tear_down;
    }
    return cmocka_run_group_tests(with_dir, NULL, NULL);
}
