/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

#include <grp.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static struct fs_args move(const char *source, const char *destination)
{
    return (struct fs_args){ .source = str_of(source), .destination = str_of(destination) };
}

/* FS-16. */
static void entries_are_moved_whatever_they_are(void **state)
{
    struct place *p = *state;

    put(p, "f", "x");
    make_dir(p, "d");
    put(p, "d/g", "y");
    assert_int_equal(symlink("../out/none", at(p, "link")), 0);
    assert_says(call(p, fs_move, move("f", "d/f2")), "Successfully moved f to d/f2");
    assert_file(p, "d/f2", "x");
    assert_false(exists(p, "f"));
    assert_says(call(p, fs_move, move("d", "e")), "Successfully moved d to e");
    assert_file(p, "e/g", "y");
    /* A link is moved itself, wherever it points (SEC-58). */
    assert_false(call(p, fs_move, move("link", "e/link")).failed);
    assert_true(exists(p, "e/link") && !exists(p, "link"));
    assert_false(call(p, fs_move, move("e/", "d/")).failed);
    assert_true(exists(p, "d/g"));
}

static void nothing_is_ever_replaced(void **state)
{
    struct place *p = *state;

    put(p, "a", "a");
    put(p, "b", "b");
    make_dir(p, "d");
    make_dir(p, "empty");
    assert_int_equal(symlink("none", at(p, "dangling")), 0);
    assert_fails(call(p, fs_move, move("a", "b")), "Destination already exists: b");
    assert_fails(call(p, fs_move, move("a", "dangling")),
                 "Destination already exists: dangling");
    assert_fails(call(p, fs_move, move("d", "empty")), "Destination already exists: empty");
    assert_fails(call(p, fs_move, move("a", "a")), "Destination already exists: a");
    assert_file(p, "a", "a");
    assert_file(p, "b", "b");
    assert_true(exists(p, "d") && exists(p, "dangling"));
}

static void what_cannot_be_moved_says_why(void **state)
{
    struct place *p = *state;

    make_dir(p, "d");
    make_dir(p, "d/sub");
    put(p, "f", "x");
    assert_fails(call(p, fs_move, move("none", "x")), "Failed to move none to x: No such file");
    assert_fails(call(p, fs_move, move("d", "d/sub/d")), "Failed to move d to d/sub/d: ");
    assert_fails(call(p, fs_move, move("f", "no/f")), "Parent directory does not exist");
    assert_fails(call(p, fs_move, move(".", "d/x")), "Access denied");
    assert_fails(call(p, fs_move, move("f", ".")), "Access denied");
    assert_fails(call(p, fs_move, move("f", "../out/f")), "Access denied - path outside");
    assert_fails(call(p, fs_move, move("../out", "o")), "Access denied - path outside");
    assert_int_equal(symlink("../out", at(p, "dir")), 0);
    assert_fails(call(p, fs_move, move("f", "dir/f")), "Access denied");
    assert_true(exists(p, "f") && exists(p, "d/sub"));
}

/* A root within a root, and what holds it, stay where they are. */
static void a_root_and_what_holds_it_stay(void **state)
{
    struct place *p = *state;
    const char *dirs[2] = { p->in, at(p, "a/b/root") };

    make_dir(p, "a");
    make_dir(p, "a/b");
    make_dir(p, "a/b/root");
    make_dir(p, "a/c");
    access_unref(p->x);
    p->x = access_new(dirs, 2, false, NULL, NULL);
    assert_fails(call(p, fs_move, move("a/b/root", "x")), "");
    assert_fails(call(p, fs_move, move("a/b", "x")), "it holds an allowed directory");
    assert_fails(call(p, fs_move, move("a", "x")), "it holds an allowed directory");
    assert_false(call(p, fs_move, move("a/c", "x")).failed);
    assert_true(exists(p, "a/b/root") && exists(p, "x"));
}

/* ---- across file systems ---- */

/* A second root on another file system; NULL when this machine offers none. */
static const char *other_file_system(struct place *p)
{
    static char dir[64];
    const char *dirs[2] = { p->in, dir };
    struct stat here, there;

    strcpy(dir, "/dev/shm/symposium-test-XXXXXX");
    if (!mkdtemp(dir))
        return NULL;
    assert_int_equal(stat(p->in, &here) | stat(dir, &there), 0);
    if (here.st_dev == there.st_dev) {
        rmdir(dir);
        return NULL;
    }
    access_unref(p->x);
    p->x = access_new(dirs, 2, false, NULL, NULL);
    return dir;
}

static void a_file_crosses_with_its_mode_and_time(void **state)
{
    struct place *p = *state;
    const char *other = other_file_system(p);
    struct timespec times[2] = { { 1000000000, 0 }, { 1234567890, 0 } };
    auto_buf b = BUF(4 << 20);
    struct stat st;

    if (!other)
        skip();
    buf_fill(&b, 'x', 3000000);
    put_file(p, "big", buf_str(&b));
    assert_int_equal(chmod(at(p, "big"), 0751), 0);
    assert_int_equal(utimensat(AT_FDCWD, at(p, "big"), times, 0), 0);
    const char *to = path_join(&p->arena, other, "moved");
    assert_false(call(p, fs_move, move("big", to)).failed);
    assert_bytes(get_file(p, to), buf_str(&b));
    assert_false(exists(p, "big"));
    assert_int_equal(stat(to, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    assert_int_equal(st.st_mtime, 1234567890);
    put(p, "f", "x");
    assert_fails(call(p, fs_move, move("f", to)), "Destination already exists: ");
    assert_true(exists(p, "f"));
    assert_int_equal(symlink("/etc/passwd", at(p, "link")), 0);
    assert_false(call(p, fs_move, move("link", path_join(&p->arena, other, "link"))).failed);
    assert_false(exists(p, "link"));
    make_dir(p, "d");
    assert_fails(call(p, fs_move, move("d", path_join(&p->arena, other, "d"))),
                 "cannot move a directory across file systems");
    assert_int_equal(mkfifo(at(p, "fifo"), 0600), 0);
    assert_fails(call(p, fs_move, move("fifo", path_join(&p->arena, other, "fifo"))),
                 "cannot move such a file");
    /* No temp file is left. */
    auto_arena a = ARENA;
    struct answer out = ANSWER;
    struct fs_call c = { .x = p->x, .arena = &a, .out = &out, .in = with_path(other) };
    fs_list(&c);
    assert_str(buf_str(&out.text), "[FILE] link\n[FILE] moved");
    answer_free(&out);
    remove_tree(other);
}

/* user::rw- user:1234:rw- group::--- mask::rw- other::---, as the kernel stores it */
static const struct {
    uint32_t version;
    struct {
        uint16_t tag, perm;
        uint32_t id;
    } v[5];
} list = { 2,
           { { 0x01, 6, UINT32_MAX },
             { 0x02, 6, 1234 },
             { 0x04, 0, UINT32_MAX },
             { 0x10, 6, UINT32_MAX },
             { 0x20, 0, UINT32_MAX } } };

static ssize_t acl_size(const char *path)
{
    return getxattr(path, "system.posix_acl_access", NULL, 0);
}

/* The group's bits of a file with an access control list are the list's mask: without the list
 * they would open the copy to its group. */
static void what_a_file_allows_crosses_with_it_or_is_less(void **state)
{
    struct place *p = *state;
    const char *other = other_file_system(p), *to;
    struct stat st;

    if (!other)
        skip();
    put(p, "program", "x");
    assert_int_equal(chmod(at(p, "program"), 04751), 0);
    to = path_join(&p->arena, other, "program");
    assert_false(call(p, fs_move, move("program", to)).failed);
    assert_int_equal(stat(to, &st), 0);
    assert_int_equal(st.st_mode & 07777, 04751);

    put(p, "shared", "x");
    assert_int_equal(chmod(at(p, "shared"), 0600), 0);
    if (setxattr(at(p, "shared"), "system.posix_acl_access", &list, sizeof list, 0) == 0) {
        assert_int_equal(stat(at(p, "shared"), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0660);
        to = path_join(&p->arena, other, "shared");
        assert_false(call(p, fs_move, move("shared", to)).failed);
        assert_int_equal(stat(to, &st), 0);
        assert_int_equal(st.st_mode & 07777, acl_size(to) > 0 ? 0660 : 0600);
    } else {
        print_message("SKIP in part: this file system has no access control lists\n");
    }
    remove_tree(other);
}

/* As who may not write where the source lies. */
static bool nothing_is_left(struct place *p, const char *name, const char *to)
{
    struct said s;

    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(3000) != 0 || setuid(3000) != 0))
        return false;
    s = call(p, fs_move, move(name, to));
    return s.failed &&
           str_ends(s.text, STR("the source cannot be removed: Permission denied")) &&
           exists(p, name) && access(to, F_OK) != 0;
}

static void a_source_that_must_stay_leaves_no_copy(void **state)
{
    struct place *p = *state;
    const char *other = other_file_system(p), *names[] = { "ro/f", "ro/link" };

    if (!other)
        skip();
    make_dir(p, "ro");
    put(p, "ro/f", "x");
    assert_int_equal(symlink("f", at(p, "ro/link")), 0);
    assert_int_equal(chmod(at(p, "ro/f"), 0444) | chmod(at(p, "ro"), 0555), 0);
    assert_int_equal(chmod(other, 0777) | chmod(p->dir, 0755) | chmod(p->in, 0755), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *to = path_join(&p->arena, other, "copy");
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(!nothing_is_left(p, names[i], to));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    chmod(at(p, "ro"), 0755);
    remove_tree(other);
}

/* ---- get_file_info (FS-18) ---- */

static void the_state_of_a_file_is_told_line_by_line(void **state)
{
    struct timespec times[2] = { { 1000000000, 0 }, { 1234567890, 999 } };
    struct place *p = *state;
    struct said s;

    put(p, "f", "12345");
    assert_int_equal(chmod(at(p, "f"), 0640), 0);
    assert_int_equal(utimensat(AT_FDCWD, at(p, "f"), times, 0), 0);
    s = call(p, fs_info, with_path("f"));
    assert_true(str_starts(s.text, STR("size: 5\ncreated: ")));
    assert_has(s.text.p, "\nmodified: 2009-02-13T23:31:30Z\naccessed: 2001-09-09T01:46:40Z\n"
                         "isFile: true\nisDirectory: false\npermissions: 640");
    make_dir(p, "d");
    assert_int_equal(chmod(at(p, "d"), 01007), 0);
    s = call(p, fs_info, with_path("d"));
    assert_has(s.text.p, "isFile: false\nisDirectory: true\npermissions: 007");
    assert_int_equal(symlink("f", at(p, "link")), 0);
    assert_has(call(p, fs_info, with_path("link")).text.p, "size: 5\n");
    assert_int_equal(symlink("../out", at(p, "dir")), 0);
    assert_fails(call(p, fs_info, with_path("dir")), "Access denied - symlink target");
    assert_fails(call(p, fs_info, with_path("none")), "No such file or directory");
    assert_int_equal(mkfifo(at(p, "fifo"), 0600), 0); /* SEC-61: looked at, not opened */
    assert_has(call(p, fs_info, with_path("fifo")).text.p,
               "isFile: false\nisDirectory: false\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(entries_are_moved_whatever_they_are),
        PLACE_TEST(nothing_is_ever_replaced),
        PLACE_TEST(what_cannot_be_moved_says_why),
        PLACE_TEST(a_root_and_what_holds_it_stay),
        PLACE_TEST(a_file_crosses_with_its_mode_and_time),
        PLACE_TEST(what_a_file_allows_crosses_with_it_or_is_less),
        PLACE_TEST(a_source_that_must_stay_leaves_no_copy),
        PLACE_TEST(the_state_of_a_file_is_told_line_by_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
