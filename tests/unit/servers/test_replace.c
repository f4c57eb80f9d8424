/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/rand.h"
#include "servers/replace.h"

#define LEFTOVER ".symposium-0123456789abcdef.tmp"
#define KILLS    1000

static char tree[PATH_MAX];
static int dir = -1;

/* What was synced, in order: 'f' a file that still had a temp name, 'F' one in place, 'd' a
 * directory. This one is linked in place of libc's. */
static char synced[16];
int fsync(int fd);

int fsync(int fd)
{
    struct stat st, named;
    size_t n = strlen(synced);

    if (n + 1 < sizeof synced && fstat(fd, &st) == 0)
        synced[n] = S_ISDIR(st.st_mode)                                              ? 'd'
                    : fstatat(dir, "f", &named, 0) == 0 && named.st_ino == st.st_ino ? 'F'
                                                                                     : 'f';
    return (int)syscall(SYS_fsync, fd);
}

static int set_up(void **state)
{
    memset(synced, 0, sizeof synced);
    make_temp_dir(tree);
    dir = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return 0;
}

static int tear_down(void **state)
{
    close(dir);
    remove_tree(tree);
    return 0;
}

static char *in_tree(struct arena *a, const char *name)
{
    return path_join(a, tree, name);
}

static void put(const char *name, const char *content, mode_t mode)
{
    auto_arena a = ARENA;

    assert_true(file_write_cache(in_tree(&a, name), str_of(content), NULL));
    assert_int_equal(chmod(in_tree(&a, name), mode), 0);
}

static void assert_content(const char *name, const char *want)
{
    auto_arena a = ARENA;
    auto_buf b = BUF(1 << 20);

    assert_true(file_read(in_tree(&a, name), &b, NULL));
    assert_str(buf_str(&b), want);
}

static struct stat look(const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static size_t temp_files(void)
{
    DIR *d = opendir(tree);
    size_t n = 0;

    for (struct dirent *entry; (entry = readdir(d));)
        n += replace_is_temp(entry->d_name);
    closedir(d);
    return n;
}

static void only_our_temp_names_are_hidden(void **state) /* SV-27 */
{
    static const struct {
        const char *name;
        bool want;
    } cases[] = {
        { LEFTOVER, true },
        { ".symposium-ffffffffffffffff.tmp", true },
        { ".symposium-0123456789abcde.tmp", false },
        { ".symposium-0123456789abcdef0.tmp", false },
        { ".symposium-0123456789ABCDEF.tmp", false },
        { ".symposium-0123456789abcdeg.tmp", false },
        { "symposium-0123456789abcdef.tmp", false },
        { ".symposium-0123456789abcdef.tmpx", false },
        { ".symposium-0123456789abcdef.txt", false },
        { "", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(replace_is_temp(cases[i].name), cases[i].want);
}

static void the_mode_of_what_stands_there_is_kept_without_its_set_bits(void **state)
{
    static const struct {
        mode_t old, want;
    } cases[] = {
        { 0600, 0600 },  { 0755, 0755 },  { 0644, 0644 },  { 0640, 0640 },
        { 04755, 0755 }, { 02755, 0755 }, { 06777, 0777 }, /* SV-27: setuid, setgid */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put("f", "old", cases[i].old);
        assert_true(replace_file(dir, "f", STR("new"), 0666, NULL));
        assert_content("f", "new");
        assert_int_equal(look("f").st_mode & 07777, cases[i].want);
        assert_int_equal(temp_files(), 0);
    }
}

static void a_new_file_has_the_mode_that_umask_leaves(void **state) /* SV-27 */
{
    static const struct {
        mode_t fresh, umask, want;
    } cases[] = {
        { 0666, 022, 0644 }, { 0666, 077, 0600 }, { 0666, 0, 0666 }, { 0600, 0, 0600 }
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mode_t before = umask(cases[i].umask);

        assert_true(replace_file(dir, "fresh", STR("x"), cases[i].fresh, NULL));
        umask(before);
        assert_int_equal(look("fresh").st_mode & 07777, cases[i].want);
        assert_int_equal(unlinkat(dir, "fresh", 0), 0);
    }
}

static void the_owner_and_group_are_kept(void **state) /* SV-27 */
{
    auto_arena a = ARENA;
    struct stat st;

    if (geteuid() != 0) {
        print_message("SKIP: only root can give files away\n");
        skip();
    }
    put("f", "old", 0640);
    assert_int_equal(chown(in_tree(&a, "f"), 1234, 2345), 0);
    assert_true(replace_file(dir, "f", STR("new"), 0666, NULL));
    st = look("f");
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 2345);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void the_file_is_synced_before_its_rename_and_the_directory_after(void **state)
{
    put("f", "old", 0600);
    assert_true(replace_file(dir, "f", STR("new"), 0666, NULL)); /* SV-27 */
    assert_string_equal(synced, "fd");
}

/* In a child that is nobody special. */
static int as_user(bool (*run)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setgid(3000) != 0 || setuid(3000) != 0)
            _exit(2);
        _exit(!run());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static bool write_as_user(void)
{
    return replace_file(dir, "f", STR("new"), 0666, NULL);
}

static bool write_is_refused(void)
{
    struct error e;

    return !replace_file(dir, "f", STR("new"), 0666, &e) && e.sys == EACCES;
}

static void a_group_that_cannot_be_kept_leaves_no_rights_to_another(void **state)
{
    auto_arena a = ARENA;

    if (geteuid() != 0) {
        print_message("SKIP: needs root, to have a file of another group\n");
        skip();
    }
    assert_int_equal(chmod(tree, 0777), 0);
    put("f", "old", 0666);
    assert_int_equal(chown(in_tree(&a, "f"), 1234, 2345), 0);
    assert_int_equal(chmod(in_tree(&a, "f"), 0672), 0);
    assert_int_equal(as_user(write_as_user), 0);
    assert_content("f", "new");
    assert_int_equal(look("f").st_uid, 3000);
    assert_int_equal(look("f").st_mode & 07777, 0622);
}

/* ---- access control lists, as the kernel stores them ---- */

struct acl_entry {
    uint16_t tag, perm;
    uint32_t id;
};
struct acl {
    uint32_t version;
    struct acl_entry v[5];
};

/* user::rw- user:1234:<named> group::--- mask::<named> other::--- */
static struct acl acl_of(uint16_t named)
{
    return (struct acl){ 2,
                         { { 0x01, 6, UINT32_MAX },
                           { 0x02, named, 1234 },
                           { 0x04, 0, UINT32_MAX },
                           { 0x10, named, UINT32_MAX },
                           { 0x20, 0, UINT32_MAX } } };
}

static bool set_acl(const char *path, const char *name, uint16_t named)
{
    struct acl acl = acl_of(named);

    return setxattr(path, name, &acl, sizeof acl, 0) == 0;
}

/* In a file with a list the mode's group bits are the list's mask: without the list they would
 * open it to the group. */
static void an_access_control_list_is_kept(void **state)
{
    auto_arena a = ARENA;
    struct acl want = acl_of(6), got;
    const char *path = in_tree(&a, "f");

    put("f", "old", 0600);
    if (!set_acl(path, "system.posix_acl_access", 6)) {
        print_message("SKIP: this file system has no access control lists\n");
        skip();
    }
    assert_int_equal(look("f").st_mode & 07777, 0660);
    assert_true(replace_file(dir, "f", STR("new"), 0666, NULL));
    assert_int_equal(getxattr(path, "system.posix_acl_access", &got, sizeof got), sizeof got);
    assert_memory_equal(&got, &want, sizeof got);
    assert_int_equal(look("f").st_mode & 07777, 0660);
}

static void a_default_list_of_the_directory_opens_no_existing_file(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_tree(&a, "f");
    struct acl got;

    put("f", "old", 0640);
    if (!set_acl(tree, "system.posix_acl_default", 6)) {
        print_message("SKIP: this file system has no access control lists\n");
        skip();
    }
    assert_true(replace_file(dir, "f", STR("new"), 0666, NULL));
    assert_int_equal(getxattr(path, "system.posix_acl_access", &got, sizeof got), -1);
    assert_int_equal(look("f").st_mode & 07777, 0640);
    /* It is for new ones. */
    assert_true(replace_file(dir, "fresh", STR("new"), 0666, NULL));
    assert_int_equal(
        getxattr(in_tree(&a, "fresh"), "system.posix_acl_access", &got, sizeof got),
        sizeof got);
}

static void a_read_only_file_stays_as_it_is(void **state)
{
    put("f", "old", 0444);
    assert_int_equal(chmod(tree, 0777), 0);
    if (geteuid() == 0)
        assert_int_equal(as_user(write_is_refused), 0);
    else
        assert_true(write_is_refused());
    assert_content("f", "old");
    assert_int_equal(temp_files(), 0);
}

static void another_hard_link_keeps_the_old_content(void **state) /* SV-27, SEC-62 */
{
    auto_arena a = ARENA;
    ino_t ino;

    put("outside", "old", 0600);
    ino = look("outside").st_ino;
    assert_int_equal(link(in_tree(&a, "outside"), in_tree(&a, "f")), 0);
    assert_true(replace_file(dir, "f", STR("new"), 0666, NULL));
    assert_content("f", "new");
    assert_content("outside", "old");
    assert_int_equal(look("outside").st_ino, ino);
    assert_int_equal(look("outside").st_nlink, 1);
}

static void what_is_no_regular_file_is_not_replaced(void **state)
{
    static const struct {
        const char *name;
        int sys;
    } cases[] = {
        { "dir", EISDIR }, { "link", ELOOP }, { "fifo", EINVAL }, { "none/f", ENOENT }
    };
    auto_arena a = ARENA;

    put("f", "f", 0600);
    assert_int_equal(mkdir(in_tree(&a, "dir"), 0755), 0);
    assert_int_equal(symlink("f", in_tree(&a, "link")), 0);
    assert_int_equal(mkfifo(in_tree(&a, "fifo"), 0600), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e;

        assert_false(replace_file(dir, cases[i].name, STR("new"), 0666, &e));
        assert_int_equal(e.kind, ERR_SYS);
        assert_int_equal(e.sys, cases[i].sys);
        assert_int_equal(temp_files(), 0);
    }
    assert_content("f", "f");
}

/* What a copy of another file is dressed as, by root and by who cannot give files away. */
static bool dress_new(void)
{
    auto_close int like = openat(dir, "f", O_RDONLY | O_CLOEXEC);
    struct stat st = look("f");
    char name[REPLACE_TEMP_NAME];
    auto_close int fd = replace_make_temp(dir, name, 0600);

    return like >= 0 && fd >= 0 && replace_is_temp(name) &&
           replace_dress(fd, like, &st, 07777) && renameat(dir, name, dir, "copy") == 0;
}

static void a_copy_is_never_setuid_for_another_owner(void **state)
{
    auto_arena a = ARENA;

    if (geteuid() != 0) {
        print_message("SKIP: needs root, to have a file of another owner\n");
        skip();
    }
    assert_int_equal(chmod(tree, 0777), 0);
    put("f", "x", 0600);
    assert_int_equal(chown(in_tree(&a, "f"), 1234, 2345), 0);
    assert_int_equal(chmod(in_tree(&a, "f"), 06755), 0);
    assert_true(dress_new());
    assert_int_equal(look("copy").st_uid, 1234);
    assert_int_equal(look("copy").st_mode & 07777, 06755);
    assert_int_equal(as_user(dress_new), 0);
    assert_int_equal(look("copy").st_uid, 3000);
    assert_int_equal(look("copy").st_mode & 07777, 0755);
}

/* ---- failures ---- */

static void a_failed_write_leaves_the_old_file_and_no_temp_file(void **state)
{
    struct rlimit before, small = { 1000, RLIM_INFINITY };
    char big[5000];
    struct error e;

    memset(big, 'x', sizeof big);
    put("f", "old", 0600);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_false(replace_file(dir, "f", (struct str){ big, sizeof big }, 0666, &e));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(e.sys, EFBIG);
    assert_content("f", "old");
    assert_int_equal(temp_files(), 0);
}

static bool write_proc(const char *path, const char *text)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && file_write_all(fd, str_of(text), NULL);
}

/* Alone with its mounts; who is not root becomes it in a user namespace. */
static bool enter_mount_namespace(void)
{
    auto_arena a = ARENA;
    unsigned uid = geteuid(), gid = getegid();

    if (unshare(CLONE_NEWNS) != 0 &&
        !(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
          write_proc("/proc/self/setgroups", "deny") &&
          write_proc("/proc/self/uid_map", arena_printf(&a, "0 %u 1", uid)) &&
          write_proc("/proc/self/gid_map", arena_printf(&a, "0 %u 1", gid))))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* In a child, on a file system of two pages; the exit status: 77 where there can be none. */
static int fill_the_disk(void)
{
    auto_arena a = ARENA;
    auto_buf content = BUF(100);
    char big[100000];
    struct error e;

    if (!enter_mount_namespace() || mount("none", tree, "tmpfs", 0, "size=8k") != 0)
        return 77;
    auto_close int small = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
    memset(big, 'x', sizeof big);
    if (!file_write_cache(in_tree(&a, "f"), STR("old"), NULL))
        return 1;
    if (replace_file(small, "f", (struct str){ big, sizeof big }, 0666, &e) ||
        e.sys != ENOSPC || !strstr(e.msg, "No space left on device"))
        return 2;
    if (!file_read(in_tree(&a, "f"), &content, NULL) || !str_is(buf_str(&content), "old") ||
        temp_files() != 0)
        return 3;
    return replace_file(small, "f", STR("new"), 0666, &e) ? 0 : 4;
}

static void a_full_disk_leaves_the_old_file_and_is_named(void **state) /* SEC-64 */
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(fill_the_disk());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("SKIP: no tmpfs can be mounted here, not even in a user namespace\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* ---- what the dead leave ---- */

static void a_write_removes_what_a_dead_writer_left_and_nothing_else(void **state) /* SV-27 */
{
    auto_arena a = ARENA;
    auto_close int live = -1;
    struct stat st;

    put(LEFTOVER, "of a dead one", 0600);
    put(".symposium-1111111111111111.tmp", "of a living one", 0600);
    put(".symposium-note.tmp", "the user's", 0600);
    assert_int_equal(symlink("f", in_tree(&a, ".symposium-2222222222222222.tmp")), 0);
    assert_int_equal(mkfifo(in_tree(&a, ".symposium-3333333333333333.tmp"), 0600), 0);
    live = openat(dir, ".symposium-1111111111111111.tmp", O_WRONLY | O_CLOEXEC);
    assert_int_equal(flock(live, LOCK_EX), 0);

    assert_true(replace_file(dir, "f", STR("x"), 0666, NULL));
    assert_int_equal(fstatat(dir, LEFTOVER, &st, 0), -1);
    look(".symposium-1111111111111111.tmp");
    look(".symposium-note.tmp");
    look(".symposium-2222222222222222.tmp");
    look(".symposium-3333333333333333.tmp");

    close(take_fd(&live));
    assert_true(replace_file(dir, "f", STR("x"), 0666, NULL));
    assert_int_equal(temp_files(), 2); /* the link and the FIFO, which we never made */
}

static void fill(char *text, size_t n, char c)
{
    memset(text, c, n);
}

/* Writes "aaa..." and "bbb..." in turns until it is killed. */
static void write_for_ever(void)
{
    static char a[200000], b[200000];

    fill(a, sizeof a, 'a'), fill(b, sizeof b, 'b');
    for (;;) {
        replace_file(dir, "f", (struct str){ a, sizeof a }, 0666, NULL);
        replace_file(dir, "f", (struct str){ b, sizeof b }, 0666, NULL);
    }
}

static void assert_one_of_both(void)
{
    auto_arena a = ARENA;
    auto_buf b = BUF(1 << 20);

    assert_true(file_read(in_tree(&a, "f"), &b, NULL));
    assert_int_equal(b.n, 200000);
    for (size_t i = 1; i < b.n; i++)
        if (b.p[i] != b.p[0])
            fail_msg("the file is a mix at byte %zu", i);
}

/*
 * SV-27: "old or new, never else, and no temp file left after the next write into that
 * directory".
 */
static void a_kill_at_any_moment_leaves_the_old_or_the_new_file(void **state)
{
    size_t leftovers = 0;

    for (int i = 0; i < KILLS; i++) {
        pid_t pid = fork();

        if (pid == 0)
            write_for_ever();
        usleep((useconds_t)(rand_u64() % 4000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        leftovers += temp_files();
        if (faccessat(dir, "f", F_OK, 0) == 0)
            assert_one_of_both();
        assert_true(replace_file(dir, "g", STR("next"), 0666, NULL));
        assert_int_equal(temp_files(), 0);
    }
    print_message("%d kills, %zu of them during a write\n", KILLS, leftovers);
    assert_true(leftovers > 0);
}

/* Sweeping never takes the temp file of a living writer: all writes succeed. */
static void writers_in_one_directory_do_not_disturb_each_other(void **state)
{
    pid_t pids[4];
    int status;

    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            char name[2] = { (char)('0' + (int)i), 0 };

            for (int k = 0; k < 200; k++)
                if (!replace_file(dir, k % 2 ? name : "f", STR("content"), 0666, NULL))
                    _exit(1);
            _exit(0);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_content("f", "content");
    assert_int_equal(temp_files(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_our_temp_names_are_hidden),
        TEST(the_mode_of_what_stands_there_is_kept_without_its_set_bits),
        TEST(a_new_file_has_the_mode_that_umask_leaves),
        TEST(the_file_is_synced_before_its_rename_and_the_directory_after),
        TEST(the_owner_and_group_are_kept),
        TEST(a_group_that_cannot_be_kept_leaves_no_rights_to_another),
        TEST(an_access_control_list_is_kept),
        TEST(a_default_list_of_the_directory_opens_no_existing_file),
        TEST(a_copy_is_never_setuid_for_another_owner),
        TEST(a_read_only_file_stays_as_it_is),
        TEST(another_hard_link_keeps_the_old_content),
        TEST(what_is_no_regular_file_is_not_replaced),
        TEST(a_failed_write_leaves_the_old_file_and_no_temp_file),
        TEST(a_full_disk_leaves_the_old_file_and_is_named),
        TEST(a_write_removes_what_a_dead_writer_left_and_nothing_else),
        TEST(a_kill_at_any_moment_leaves_the_old_or_the_new_file),
        TEST(writers_in_one_directory_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
