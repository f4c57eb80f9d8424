/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* security.md 3.6, SEC-81 to SEC-84 */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "base/file.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "sync/rewrite.h"

#define MAX ((size_t)4 << 20)

static char tree[PATH_MAX];
static struct dirs dirs;
static struct arena arena;

static const char *in_tree(const char *name)
{
    return path_join(&arena, tree, name);
}

static int set_up(void **state)
{
    make_temp_dir(tree);
    assert_int_equal(chmod(tree, 0755), 0);
    dirs = (struct dirs){ .state = in_tree("state") };
    assert_int_equal(mkdir(in_tree("d"), 0755), 0);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(tree);
    arena_free(&arena);
    return 0;
}

static void put(const char *path, const char *content, mode_t mode)
{
    assert_true(file_write_cache(path, str_of(content), NULL));
    assert_int_equal(chmod(path, mode), 0);
}

static struct str get(const char *path)
{
    auto_buf b = BUF(MAX);

    return file_read(path, &b, NULL) ? arena_str(&arena, buf_str(&b)) : STR("(none)");
}

static struct stat look(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st;
}

/* Files in a directory whose names hold the part. */
static size_t count(const char *dir, const char *part)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    for (struct dirent *entry; d && (entry = readdir(d));)
        n += entry->d_name[0] && strstr(entry->d_name, part) != NULL &&
             strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

static const char *backups_of(const char *path)
{
    char id[SHA256_HEX_SIZE];

    sha256_hex(str_of(path_real(&arena, path, NULL)), id);
    return path_join(&arena, tree, arena_printf(&arena, "state/backups/%s", id));
}

/* This one is linked in place of libc's, to be a file system that cannot exchange. */
static bool no_exchange;

int renameat2(int old_dir, const char *old, int new_dir, const char *new, unsigned flags)
{
    if (no_exchange && flags == RENAME_EXCHANGE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, old_dir, old, new_dir, new, flags);
}

/* ---- edits ---- */

/* Puts a line behind the text. */
static bool append(void *ctx, struct str text, struct buf *out, struct error *e)
{
    buf_add(out, text);
    buf_addz(out, ctx);
    return true;
}

static bool keep(void *ctx, struct str text, struct buf *out, struct error *e)
{
    buf_add(out, text);
    return true;
}

static bool refuse(void *ctx, struct str text, struct buf *out, struct error *e)
{
    return error_set(e, ERR_INVALID, "line 3, column 4: no");
}

static struct rewrite how(const char *path, rewrite_fn edit, const void *ctx)
{
    return (struct rewrite){ .dirs = &dirs,
                             .path = path,
                             .edit = edit,
                             .ctx = (void *)(uintptr_t)ctx,
                             .mode = REWRITE_NEW_MODE };
}

static bool run(const struct rewrite *r, enum rewrite_end *ret, struct error *e)
{
    return rewrite_file(r, ret, NULL, NULL, e);
}

static void rewrite(const char *path, rewrite_fn edit, const void *ctx)
{
    struct rewrite r = how(path, edit, ctx);
    enum rewrite_end end;
    struct error e = { 0 };

    if (!run(&r, &end, &e))
        fail_msg("%s", e.msg);
}

/* ---- what is kept ---- */

static void a_file_keeps_mode_owner_and_attributes(void **state) /* SY-8, SEC-82 */
{
    static const mode_t modes[] = { 0600, 0644, 0640, 0755, 0666 };
    const char *f = in_tree("d/f");

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        bool attribute;
        char value[8] = "";

        put(f, "a\n", modes[i]);
        if (geteuid() == 0)
            assert_int_equal(chown(f, 1234, 2345), 0);
        attribute = setxattr(f, "user.mine", "yes", 3, 0) == 0;
        rewrite(f, append, "b\n");
        assert_str(get(f), "a\nb\n");
        assert_int_equal(look(f).st_mode & 07777, modes[i]);
        if (geteuid() == 0) {
            assert_int_equal(look(f).st_uid, 1234);
            assert_int_equal(look(f).st_gid, 2345);
        }
        if (attribute) {
            assert_int_equal(getxattr(f, "user.mine", value, sizeof value), 3);
            assert_string_equal(value, "yes");
        }
        assert_int_equal(unlink(f), 0);
    }
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

static void a_link_stays_and_its_target_is_replaced(void **state) /* SEC-82 */
{
    const char *f = in_tree("f"), *link = in_tree("d/link");

    put(f, "a\n", 0600);
    assert_int_equal(symlink("../f", link), 0);
    rewrite(link, append, "b\n");
    assert_true(S_ISLNK(look(link).st_mode));
    assert_true(S_ISREG(look(f).st_mode));
    assert_str(get(f), "a\nb\n");
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
    assert_int_equal(count(tree, ".symposium"), 0);
}

static void a_link_that_leads_nowhere_is_an_error(void **state)
{
    struct rewrite r = how(in_tree("d/link"), append, "b\n");
    enum rewrite_end end;
    struct error e;

    assert_int_equal(symlink("nowhere", in_tree("d/link")), 0);
    assert_false(run(&r, &end, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_has(e.msg, "the link leads nowhere");
}

static void another_hard_link_keeps_the_old_text(void **state)
{
    put(in_tree("f"), "a\n", 0600);
    assert_int_equal(link(in_tree("f"), in_tree("d/g")), 0);
    rewrite(in_tree("f"), append, "b\n");
    assert_str(get(in_tree("d/g")), "a\n");
}

static void an_unchanged_file_is_not_touched(void **state) /* SY-4 */
{
    const char *f = in_tree("d/f");
    struct rewrite r = how(f, keep, NULL);
    enum rewrite_end end = REWRITE_DONE;
    struct stat before, after;

    put(f, "a\n", 0400);
    before = look(f);
    assert_true(run(&r, &end, NULL));
    assert_int_equal(end, REWRITE_SAME);
    after = look(f);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_memory_equal(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim);
    assert_int_equal(before.st_ino, after.st_ino);
}

static void an_absent_file_is_made_with_its_directories(void **state)
{
    struct rewrite r = how(in_tree("d/x/y/f"), append, "a\n");
    enum rewrite_end end;
    mode_t before = umask(022);

    assert_true(run(&r, &end, NULL));
    assert_int_equal(end, REWRITE_DONE);
    assert_str(get(r.path), "a\n");
    assert_int_equal(look(r.path).st_mode & 07777, 0644);
    assert_int_equal(look(in_tree("d/x/y")).st_mode & 07777, 0755);
    r.path = in_tree("d/z/f");
    r.mode = REWRITE_SECRET_MODE;
    assert_true(run(&r, &end, NULL));
    assert_int_equal(look(r.path).st_mode & 07777, 0600);
    assert_int_equal(look(in_tree("d/z")).st_mode & 07777, 0700);
    umask(before);
    r.path = in_tree("d/none/f");
    r.edit = keep;
    assert_true(run(&r, &end, NULL));
    assert_int_equal(end, REWRITE_SAME);
    assert_false(file_exists(in_tree("d/none")));
}

static void a_dry_run_leaves_no_trace(void **state) /* SY-11 */
{
    struct rewrite r = how(in_tree("d/f"), append, "b\n");
    auto_buf old = BUF(MAX), new = BUF(MAX);
    enum rewrite_end end;

    put(r.path, "a\n", 0600);
    r.dry_run = true;
    assert_true(rewrite_file(&r, &end, &old, &new, NULL));
    assert_int_equal(end, REWRITE_DONE);
    assert_str(buf_str(&old), "a\n");
    assert_str(buf_str(&new), "a\nb\n");
    assert_str(get(r.path), "a\n");
    assert_false(file_exists(dirs.state));
}

/* ---- what is refused ---- */

static void a_text_that_cannot_be_edited_stays(void **state) /* SEC-81 */
{
    struct rewrite r = how(in_tree("d/f"), refuse, NULL);
    enum rewrite_end end;
    struct error e;

    put(r.path, "{", 0600);
    assert_false(run(&r, &end, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_string_equal(e.msg, arena_printf(&arena, "%s: line 3, column 4: no", r.path));
    assert_str(get(r.path), "{");
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

static void what_is_no_file_is_refused(void **state)
{
    struct rewrite r = how(in_tree("d"), append, "b\n");
    enum rewrite_end end;
    struct error e;

    assert_false(run(&r, &end, &e));
    assert_has(e.msg, "is not a regular file");
    r.path = in_tree("fifo");
    assert_int_equal(mkfifo(r.path, 0600), 0);
    assert_false(run(&r, &end, &e));
    assert_has(e.msg, "is not a regular file");
}

static void a_read_only_file_or_directory_stays(void **state) /* SEC-82 */
{
    struct rewrite r = how(in_tree("d/f"), append, "b\n");
    enum rewrite_end end;
    struct error e;

    put(r.path, "a\n", 0400);
    assert_false(run(&r, &end, &e));
    assert_int_equal(e.kind, ERR_DENIED);
    assert_has(e.msg, "the file is read-only; nothing was written");
    assert_int_equal(look(r.path).st_mode & 07777, 0400);
    assert_int_equal(chmod(r.path, 0600), 0);
    assert_int_equal(chmod(in_tree("d"), 0555), 0);
    assert_false(run(&r, &end, &e));
    assert_int_equal(e.kind, ERR_DENIED);
    assert_has(e.msg, "the directory is read-only");
    assert_int_equal(look(in_tree("d")).st_mode & 07777, 0555);
    assert_str(get(r.path), "a\n");
    assert_int_equal(chmod(in_tree("d"), 0755), 0);
}

static bool make_long(void *ctx, struct str text, struct buf *out, struct error *e)
{
    buf_fill(out, 'x', 100000);
    return true;
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    struct rewrite r = how(in_tree("d/f"), make_long, NULL);
    int status;
    pid_t pid;

    put(r.path, "a\n", 0600);
    pid = fork();
    if (pid == 0) {
        enum rewrite_end end;
        struct error e;

        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 50000, 50000 });
        _exit(run(&r, &end, &e) || e.kind != ERR_SYS || e.sys != EFBIG);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_str(get(r.path), "a\n");
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

/* In a child that is nobody special, of whom the file is not. */
static void a_strangers_file_is_not_taken_over(void **state)
{
    struct rewrite r = how(in_tree("d/f"), append, "b\n");
    pid_t pid;
    int status;

    if (geteuid() != 0) {
        print_message("SKIP: only root can become somebody else\n");
        skip();
    }
    put(r.path, "a\n", 0666);
    assert_int_equal(mkdir(dirs.state, 0777), 0);
    assert_int_equal(chmod(dirs.state, 0777), 0);
    assert_int_equal(chmod(in_tree("d"), 0777), 0);
    pid = fork();
    if (pid == 0) {
        enum rewrite_end end;
        struct error e;

        if (setgroups(0, NULL) != 0 || setgid(3000) != 0 || setuid(3000) != 0)
            _exit(2);
        _exit(run(&r, &end, &e) || e.kind != ERR_DENIED ||
              !strstr(e.msg, "belongs to another user"));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_str(get(r.path), "a\n");
    assert_int_equal(look(r.path).st_uid, 0);
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

/* ---- other programs ---- */

struct meddler {
    const char *path;
    int times; /* that it comes between reading and writing */
    bool in_place;
    int calls;
};

/* As agents write: a new file over the old one; or into the old one. */
static void meddle(struct meddler *m)
{
    const char *text = arena_printf(&arena, "theirs %d\n", m->calls);

    if (m->in_place) {
        int fd = open(m->path, O_WRONLY | O_TRUNC);

        assert_true(file_write_all(fd, str_of(text), NULL));
        close(fd);
        return;
    }
    assert_true(file_write_cache(in_tree("d/new"), str_of(text), NULL));
    assert_int_equal(rename(in_tree("d/new"), m->path), 0);
}

static bool append_meddled(void *ctx, struct str text, struct buf *out, struct error *e)
{
    struct meddler *m = ctx;

    buf_add(out, text);
    buf_addz(out, "ours\n");
    if (m->calls++ < m->times)
        meddle(m);
    return true;
}

static void a_change_between_reading_and_writing_is_kept(void **state) /* SEC-84 */
{
    for (int in_place = 0; in_place < 2; in_place++)
        for (int times = 0; times < REWRITE_TRIES; times++) {
            struct meddler m = { in_tree("d/f"), times, in_place, 0 };

            put(m.path, "theirs 0\n", 0600);
            rewrite(m.path, append_meddled, &m);
            assert_int_equal(m.calls, times + 1);
            assert_str(get(m.path), arena_printf(&arena, "theirs %d\nours\n", times));
        }
}

static void without_exchange_it_is_compared_and_renamed(void **state)
{
    no_exchange = true;
    a_change_between_reading_and_writing_is_kept(state);
    no_exchange = false;
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

static void a_file_that_never_rests_is_given_up(void **state)
{
    struct meddler m = { in_tree("d/f"), INT_MAX, false, 0 };
    struct rewrite r = how(m.path, append_meddled, &m);
    enum rewrite_end end;
    struct error e;

    put(m.path, "theirs 0\n", 0600);
    assert_false(run(&r, &end, &e));
    assert_has(e.msg, "wrote it 5 times meanwhile");
    assert_str(get(m.path), "theirs 5\n");
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

static void a_file_made_or_removed_meanwhile_is_seen(void **state)
{
    struct meddler m = { in_tree("d/f"), 1, false, 0 };

    rewrite(m.path, append_meddled, &m); /* absent when it was read */
    assert_str(get(m.path), "theirs 1\nours\n");
}

/* Opened before our exchange, written behind it: the bytes go to the file that we took away. */
static void who_writes_in_place_and_slowly_loses_nothing(void **state) /* SEC-84 */
{
    const char *f = in_tree("d/f");
    int ready[2];
    char c;
    pid_t pid;

    put(f, "old\n", 0600);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        int fd = open(f, O_WRONLY | O_APPEND);
        bool ok = write(ready[1], "x", 1) == 1;

        usleep(200 * 1000);
        ok &= write(fd, "slow\n", 5) == 5;
        _exit(!ok);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    rewrite(f, append, "ours\n");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_str(get(f), "old\nslow\nours\n");
    close(ready[0]);
    close(ready[1]);
}

static void two_of_us_take_turns(void **state)
{
    const char *f = in_tree("d/f");
    pid_t pids[4];
    int status;

    put(f, "", 0600);
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct rewrite r = how(f, append, (char[]){ (char)('a' + (int)i), 0 });
            enum rewrite_end end;

            for (int k = 0; k < 50; k++)
                if (!run(&r, &end, NULL))
                    _exit(1);
            _exit(0);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(get(f).n, 200);
}

#define ROUNDS 300

/* The other side as agents do it: read, think, write a new file, rename. It knows how many of
 * its lines must be there, and the text is always whole lines. Exit status: 1 = one was lost.
 */
static void write_for_ever(const char *f)
{
    struct arena a = ARENA;
    const char *temp = path_join(&a, tree, "d/theirs");

    for (size_t mine = 0; mine < ROUNDS; mine++) {
        auto_buf text = BUF(MAX);
        size_t found = 0;

        if (!file_read(f, &text, NULL))
            _exit(2);
        for (struct str line, rest = buf_str(&text); str_cut(rest, '\n', &line, &rest);)
            found += str_is(line, "theirs");
        if (found != mine)
            _exit(1);
        usleep((useconds_t)(rand_u64() % 300));
        buf_addz(&text, "theirs\n");
        if (!file_write_cache(temp, buf_str(&text), NULL) || rename(temp, f) != 0)
            _exit(3);
        usleep((useconds_t)(rand_u64() % 300));
    }
    _exit(0);
}

static bool add_ours_once(void *ctx, struct str text, struct buf *out, struct error *e)
{
    buf_add(out, text);
    if (str_find(text, STR("ours\n")) == SIZE_MAX)
        buf_addz(out, "ours\n");
    return true;
}

/* Takes ours out again, so that there is something to do in every round. */
static bool remove_ours(void *ctx, struct str text, struct buf *out, struct error *e)
{
    size_t at = str_find(text, STR("ours\n"));

    buf_add(out, str_upto(text, at == SIZE_MAX ? text.n : at));
    if (at != SIZE_MAX)
        buf_add(out, str_from(text, at + 5));
    return true;
}

static void no_update_of_another_writer_is_lost(void **state) /* SEC-84 */
{
    const char *f = in_tree("d/f");
    int rewrites = 0, given_up = 0, status = 0;
    pid_t pid;

    put(f, "", 0600);
    pid = fork();
    if (pid == 0)
        write_for_ever(f);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct rewrite r = how(f, rewrites++ % 2 ? remove_ours : add_ours_once, NULL);
        enum rewrite_end end;
        struct error e;

        if (run(&r, &end, &e))
            continue;
        assert_int_equal(e.kind, ERR_CLOSED);
        given_up++;
    }
    print_message("%d rewrites against %d, %d given up\n", rewrites, ROUNDS, given_up);
    assert_int_equal(status, 0);
    rewrite(f, add_ours_once, NULL);
    assert_int_equal(get(f).n, ROUNDS * 7 + 5); /* all of theirs, and ours */
    assert_int_equal(count(in_tree("d"), ".symposium"), 0);
}

/* ---- locks ---- */

static void their_lock_is_waited_for_taken_and_given_back(void **state)
{
    struct rewrite r = how(in_tree("d/f"), append, "b\n");
    const char *lock = in_tree("d/f.lock");
    struct timespec old[2] = { { .tv_sec = time(NULL) - 60 }, { .tv_sec = time(NULL) - 60 } };
    enum rewrite_end end;
    int64_t before;
    pid_t pid;

    put(r.path, "a\n", 0600);
    r.lock_dir = true;
    assert_int_equal(mkdir(lock, 0700), 0);
    pid = fork();
    if (pid == 0) {
        usleep(300 * 1000);
        _exit(rmdir(lock) != 0);
    }
    before = clock_ms();
    assert_true(run(&r, &end, NULL));
    assert_true(clock_ms() - before >= 250);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(file_exists(lock));
    assert_int_equal(mkdir(lock, 0700), 0); /* of a program that was killed */
    assert_int_equal(utimensat(AT_FDCWD, lock, old, 0), 0);
    assert_true(run(&r, &end, NULL));
    assert_false(file_exists(lock));
    assert_str(get(r.path), "a\nb\nb\n");
}

/* It would never go by itself. */
static void what_is_no_lock_of_theirs_is_told_at_once(void **state)
{
    static const struct {
        enum { FILE_THERE, LINK_THERE, FULL_DIR } what;
        const char *says;
    } cases[] = {
        { FILE_THERE, "f.lock' is no lock, which is a directory: remove it, and try again" },
        { LINK_THERE, "f.lock' is no lock, which is a directory: remove it, and try again" },
        { FULL_DIR, "f.lock' is a lock of a program that was killed; remove it" },
    };
    struct rewrite r = how(in_tree("d/f"), append, "b\n");
    const char *lock = in_tree("d/f.lock");
    struct timespec old[2] = { { .tv_sec = time(NULL) - 60 }, { .tv_sec = time(NULL) - 60 } };

    put(r.path, "a\n", 0600);
    r.lock_dir = true;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum rewrite_end end;
        struct error e = { 0 };
        int64_t before = clock_ms();

        if (cases[i].what == FILE_THERE)
            put(lock, "", 0600);
        else if (cases[i].what == LINK_THERE)
            assert_int_equal(symlink("nowhere", lock), 0);
        else
            assert_int_equal(mkdir(lock, 0700), 0);
        if (cases[i].what == FULL_DIR) {
            put(path_join(&arena, lock, "x"), "", 0600);
            assert_int_equal(utimensat(AT_FDCWD, lock, old, 0), 0);
        }
        assert_false(run(&r, &end, &e));
        assert_non_null(strstr(e.msg, cases[i].says));
        assert_true(clock_ms() - before < REWRITE_LOCK_MS / 2);
        assert_str(get(r.path), "a\n");
        if (cases[i].what == FULL_DIR)
            remove_tree(lock);
        else
            assert_int_equal(unlink(lock), 0);
    }
}

/* ---- backups ---- */

static void each_former_text_is_kept_once_and_ten_at_most(void **state)
{
    const char *f = in_tree("d/f"), *dir;

    put(f, "a", 0644);
    dir = backups_of(f);
    for (int i = 0; i < 14; i++) {
        rewrite(f, append, "x");
        if (i < 10)
            assert_int_equal(count(dir, "") - count(dir, ".path"), (size_t)i + 1);
    }
    assert_int_equal(count(dir, "") - count(dir, ".path"), REWRITE_BACKUPS);
    assert_str(get(path_join(&arena, dir, ".path")), path_real(&arena, f, NULL));
    remove_tree(dir);
    for (int i = 0; i < 3; i++) {
        char id[SHA256_HEX_SIZE];

        put(f, "same", 0644);
        rewrite(f, append, "x");
        sha256_hex(STR("same"), id);
        assert_str(get(path_join(&arena, dir, id)), "same");
        assert_int_equal(look(path_join(&arena, dir, id)).st_mode & 07777, 0600);
        assert_int_equal(count(dir, "") - count(dir, ".path"), 1);
    }
}

/* ---- being killed ---- */

#define TEXT_BYTES 20000

static bool other_letter(void *ctx, struct str text, struct buf *out, struct error *e)
{
    buf_fill(out, text.n && text.p[0] == 'a' ? 'b' : 'a', TEXT_BYTES);
    return true;
}

static void rewrite_for_ever(const char *f)
{
    struct rewrite r = how(f, other_letter, NULL);
    enum rewrite_end end;

    for (;;)
        if (!run(&r, &end, NULL))
            _exit(1);
}

static void a_kill_at_any_moment_leaves_the_old_or_the_new_file(void **state) /* SEC-83 */
{
    const char *f = in_tree("d/f");
    int kills = getenv("TEST_SLOW") ? 1000 : 100;
    size_t leftovers = 0;

    put(f, "a", 0600);
    rewrite(f, other_letter, NULL);
    for (int i = 0; i < kills; i++) {
        pid_t pid = fork();
        struct str text;

        if (pid == 0)
            rewrite_for_ever(f);
        usleep((useconds_t)(rand_u64() % 6000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        text = get(f);
        assert_int_equal(text.n, TEXT_BYTES);
        for (size_t k = 0; k < text.n; k++)
            assert_int_equal(text.p[k], text.p[0]);
        leftovers += count(in_tree("d"), ".symposium");
        rewrite(f, other_letter, NULL);
        assert_int_equal(count(in_tree("d"), ".symposium"), 0);
        assert_int_equal(count(backups_of(f), ".journal"), 0);
        arena_free(&arena);
        f = in_tree("d/f");
        dirs.state = in_tree("state");
    }
    print_message("%d kills, %zu of them with a temp file\n", kills, leftovers);
    assert_true(leftovers > 0);
}

/* As a kill between the exchange and what follows it leaves things. */
static void what_a_killed_one_took_away_is_put_back(void **state)
{
    const char *f = in_tree("d/f"), *temp = in_tree("d/.symposium-0.swap"), *dir;
    char old[SHA256_HEX_SIZE], new[SHA256_HEX_SIZE];
    static const struct {
        const char *in_place, *in_temp, *want;
    } cases[] = {
        { "old\nours\n", "theirs\n", "theirs\nb\n" }, /* another's version, taken away */
        { "old\nours\n", "old\n", "old\nours\nb\n" }, /* the version that was read */
        { "old\n", "old\nours\n", "old\nb\n" },       /* not exchanged yet */
        { "old\n", "old\nou", "old\nb\n" },           /* not even written */
        { "old\n", NULL, "old\nb\n" },
    };

    put(f, "old\n", 0600);
    dir = backups_of(f);
    sha256_hex(STR("old\n"), old);
    sha256_hex(STR("old\nours\n"), new);
    assert_true(file_mkdirs(dir, NULL));
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        put(f, cases[i / 2].in_place, 0600);
        if (cases[i / 2].in_temp)
            put(temp, cases[i / 2].in_temp, 0600);
        put(path_join(&arena, dir, ".journal"),
            arena_printf(&arena, "%s\n%s\n%s\n", old, new, temp), 0600);
        if (i % 2) { /* by whoever comes next, too, not only by who writes this file */
            put(path_join(&arena, dir, ".path"), f, 0600);
            rewrite_recover(&dirs);
            assert_int_equal(count(in_tree("d"), ".symposium"), 0);
            assert_int_equal(count(dir, ".journal"), 0);
        }
        rewrite(f, append, "b\n");
        assert_str(get(f), cases[i / 2].want);
        assert_int_equal(count(in_tree("d"), ".symposium"), 0);
        assert_int_equal(count(dir, ".journal"), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_keeps_mode_owner_and_attributes),
        TEST(a_link_stays_and_its_target_is_replaced),
        TEST(a_link_that_leads_nowhere_is_an_error),
        TEST(another_hard_link_keeps_the_old_text),
        TEST(an_unchanged_file_is_not_touched),
        TEST(an_absent_file_is_made_with_its_directories),
        TEST(a_dry_run_leaves_no_trace),
        TEST(a_text_that_cannot_be_edited_stays),
        TEST(what_is_no_file_is_refused),
        TEST(a_read_only_file_or_directory_stays),
        TEST(a_full_disk_leaves_the_old_file),
        TEST(a_strangers_file_is_not_taken_over),
        TEST(a_change_between_reading_and_writing_is_kept),
        TEST(without_exchange_it_is_compared_and_renamed),
        TEST(a_file_that_never_rests_is_given_up),
        TEST(a_file_made_or_removed_meanwhile_is_seen),
        TEST(who_writes_in_place_and_slowly_loses_nothing),
        TEST(two_of_us_take_turns),
        TEST(no_update_of_another_writer_is_lost),
        TEST(their_lock_is_waited_for_taken_and_given_back),
        TEST(what_is_no_lock_of_theirs_is_told_at_once),
        TEST(each_former_text_is_kept_once_and_ten_at_most),
        TEST(a_kill_at_any_moment_leaves_the_old_or_the_new_file),
        TEST(what_a_killed_one_took_away_is_put_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
