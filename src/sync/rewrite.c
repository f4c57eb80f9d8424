/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/rewrite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/sha256.h"

#define LOCK_POLL_MS  5
#define LOCK_STALE_MS 10000 /* a `lock_dir` of this age is of a crash (security.md 3.6) */
#define XATTR_MAX     (64u << 10)
#define WRITER_MS     1000 /* for a program that is writing the version we took away */
#define WRITER_POLL   2

#define PUT_BACK_TRIES 1000 /* each takes microseconds */
#define JOURNAL_MAX    (PATH_MAX + 4096)

/* A version of the file, exactly. */
struct version {
    bool exists;
    struct stat st;
    char sha256[SHA256_HEX_SIZE];
};

struct target {
    const struct rewrite *r;
    struct arena *a;
    const char *path; /* links resolved */
    const char *dir;
    char id[SHA256_HEX_SIZE]; /* of the path */
    const char *backups;      /* directory of its former versions, and of the journal */
    const char *journal;
};

/* ---- locks ----
 *
 * Waiting is counted in naps, not by the clock: who was stopped together with the holder of a
 * lock must not find its time over when both go on.
 */

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Held until closed; -1 on failure. */
static int lock_ours(const struct target *t, int wait_ms, struct error *e)
{
    const char *dir = path_join(t->a, t->r->dirs->state, "locks");
    const char *path = path_join(t->a, dir, t->id);
    int waited = 0;
    auto_close int fd = -1;

    if (!file_mkdirs(dir, e))
        return -1;
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        error_set(e, ERR_SYS, "open '%s'", path);
        return -1;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            error_set(e, ERR_SYS, "lock '%s'", path);
            return -1;
        }
        if (waited >= wait_ms) {
            error_set(e, ERR_TIMEOUT, "another symposium has been writing it for %d s",
                      wait_ms / 1000);
            return -1;
        }
        sleep_ms(LOCK_POLL_MS);
        waited += LOCK_POLL_MS;
    }
    return take_fd(&fd);
}

static bool is_stale(const struct stat *st)
{
    return clock_wall_ms() - (int64_t)st->st_mtim.tv_sec * 1000 -
               st->st_mtim.tv_nsec / 1000000 >
           LOCK_STALE_MS;
}

/* What stands where their lock belongs: goes when it is of a crash. False: it will never go by
 * itself, so nobody waits for it. */
static bool clear_stale(const char *path, bool *ret_cleared, struct error *e)
{
    struct stat st;

    *ret_cleared = false;
    if (lstat(path, &st) != 0)
        return true;
    if (!S_ISDIR(st.st_mode))
        return error_set(e, ERR_INVALID,
                         "'%s' is no lock, which is a directory: remove it, and try again",
                         path);
    if (!is_stale(&st))
        return true;
    *ret_cleared = rmdir(path) == 0;
    return *ret_cleared || errno == ENOENT ||
           error_set(e, ERR_SYS, "'%s' is a lock of a program that was killed; remove it",
                     path);
}

/* The lock that the other program takes itself: a directory beside the file. */
static bool lock_theirs(const struct target *t, const char **ret, struct error *e)
{
    const char *path = arena_printf(t->a, "%s.lock", t->r->path);
    int waited = 0;
    bool cleared;

    while (mkdir(path, 0700) != 0) {
        if (errno != EEXIST)
            return error_set(e, errno == EACCES || errno == EROFS ? ERR_DENIED : ERR_SYS,
                             "cannot make '%s'%s", path,
                             errno == EACCES || errno == EROFS ? ": permission denied" : "");
        if (!clear_stale(path, &cleared, e))
            return false;
        if (cleared)
            continue;
        if (waited >= REWRITE_LOCK_MS)
            return error_set(e, ERR_TIMEOUT, "'%s' has been held for %d s", path,
                             REWRITE_LOCK_MS / 1000);
        sleep_ms(LOCK_POLL_MS);
        waited += LOCK_POLL_MS;
    }
    *ret = path;
    return true;
}

/* ---- versions ---- */

static bool read_version(const char *path, struct buf *text, struct version *ret,
                         struct error *e)
{
    struct error why;

    *ret = (struct version){ 0 };
    buf_clear(text);
    if (lstat(path, &ret->st) != 0)
        return errno == ENOENT || error_set(e, ERR_SYS, "read");
    if (!file_read(path, text, &why)) {
        if (why.kind == ERR_NOT_FOUND)
            return true;
        if (e)
            *e = why;
        return false;
    }
    ret->exists = true;
    sha256_hex(buf_str(text), ret->sha256);
    return true;
}

/* The user's directories are as others may see as the file is. */
static bool make_dirs(const struct target *t, struct error *e)
{
    char *path = arena_z(t->a, str_of(t->dir));

    for (char *at = path; *at;) {
        char *end = strchrnul(at + 1, '/'), kept = *end;

        *end = '\0';
        if (mkdir(path, t->r->mode & 0077 ? 0777 : 0700) != 0 && !file_is_dir(path))
            return error_set(e, errno == EACCES || errno == EROFS ? ERR_DENIED : ERR_SYS,
                             "cannot make the directory '%s': %s", path, strerror(errno));
        *end = kept;
        at = end;
    }
    return true;
}

static bool same_stat(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool same_version(const struct version *a, const struct version *b)
{
    return a->exists == b->exists && same_stat(&a->st, &b->st) && !strcmp(a->sha256, b->sha256);
}

/* Nothing is read: for the moments in which another program's version is out of its place. */
static bool is_at(const char *path, const struct stat *st)
{
    struct stat now;

    return lstat(path, &now) == 0 && same_stat(&now, st);
}

static bool may_write(const struct target *t, const struct version *v, struct error *e)
{
    /* root may write anything; a file without write permission is meant to stay as it is. */
    if (v->exists && !(v->st.st_mode & 0222))
        return error_set(e, ERR_DENIED, "the file is read-only; nothing was written");
    if (v->exists && access(t->path, W_OK) != 0)
        return error_set(e, ERR_DENIED, "no permission to write it; nothing was written");
    if (file_is_dir(t->dir)) {
        struct stat st;

        if (stat(t->dir, &st) == 0 && !(st.st_mode & 0222))
            return error_set(e, ERR_DENIED, "the directory is read-only; nothing was written");
        if (access(t->dir, W_OK) != 0)
            return error_set(e, ERR_DENIED,
                             "no permission to write in the directory; nothing was written");
    }
    return true;
}

/* ---- backups ---- */

static void prune(const char *dir)
{
    for (;;) {
        DIR *d = opendir(dir);
        char oldest[NAME_MAX + 1] = "";
        struct timespec when = { 0 };
        int n = 0;

        for (struct dirent *entry; d && (entry = readdir(d));) {
            struct stat st;

            if (entry->d_name[0] == '.' || fstatat(dirfd(d), entry->d_name, &st, 0) != 0)
                continue;
            n++;
            if (!*oldest || st.st_mtim.tv_sec < when.tv_sec ||
                (st.st_mtim.tv_sec == when.tv_sec && st.st_mtim.tv_nsec < when.tv_nsec)) {
                snprintf(oldest, sizeof oldest, "%s", entry->d_name);
                when = st.st_mtim;
            }
        }
        if (n > REWRITE_BACKUPS)
            unlinkat(dirfd(d), oldest, 0);
        if (d)
            closedir(d);
        if (n <= REWRITE_BACKUPS)
            return;
    }
}

static bool keep_version(const struct target *t, const char *sha256, struct str text,
                         struct error *e)
{
    const char *path = path_join(t->a, t->backups, sha256);

    if (file_exists(path)) {
        utimensat(AT_FDCWD, path, NULL, 0); /* the youngest again */
        return true;
    }
    if (!file_write_atomic(path, text, REWRITE_SECRET_MODE, e))
        return error_wrap(e, "back up");
    prune(t->backups);
    return true;
}

/* One for each content: a second sync of the same text adds none. */
static bool back_up(const struct target *t, const struct version *v, struct str text,
                    struct error *e)
{
    const char *name = path_join(t->a, t->backups, ".path"); /* for people */

    if (!file_mkdirs(t->backups, e))
        return error_wrap(e, "back up");
    if (!file_exists(name))
        file_write_cache(name, str_of(t->path), NULL);
    return !v->exists || keep_version(t, v->sha256, text, e);
}

/* ---- the journal ----
 *
 * Killed between the exchange and what follows it, we would leave another program's version
 * under a name that nobody knows. So the name and both contents are noted before, and whoever
 * holds the lock next, and so knows the writer dead, looks what became of it.
 */

static bool note(const struct target *t, const char *temp, const char *old_sha256,
                 struct str new_text, struct error *e)
{
    char new_sha256[SHA256_HEX_SIZE];
    const char *text;

    sha256_hex(new_text, new_sha256);
    text = arena_printf(t->a, "%s\n%s\n%s\n", *old_sha256 ? old_sha256 : "-", new_sha256, temp);
    return file_write_cache(t->journal, str_of(text), e);
}

static void sync_dir(const char *dir);

/* `taken` lies in the temp file of a dead writer: neither what it read nor what it wrote. */
static bool give_back(const struct target *t, const char *temp, const struct version *taken,
                      struct str text, struct str new_sha256, struct error *e)
{
    auto_buf now = BUF(REWRITE_MAX_BYTES);
    struct version in_place;

    if (!read_version(t->path, &now, &in_place, e))
        return false;
    if (in_place.exists && str_is(new_sha256, in_place.sha256)) {
        if (renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_EXCHANGE) != 0)
            return error_set(e, ERR_SYS, "put back what is in '%s'", temp);
        sync_dir(t->dir);
        return true;
    }
    /* Begun and never placed, or since overwritten: nobody waits for it, but it is kept. */
    return keep_version(t, taken->sha256, text, e);
}

static bool recover(const struct target *t, struct error *e)
{
    auto_buf journal = BUF(JOURNAL_MAX), text = BUF(REWRITE_MAX_BYTES);
    struct str old, new, rest;
    struct version taken;
    const char *temp;

    if (!file_read(t->journal, &journal, NULL))
        return true;
    if (!str_cut(buf_str(&journal), '\n', &old, &rest) || !str_cut(rest, '\n', &new, &rest) ||
        !str_cut(rest, '\n', &rest, &(struct str){ 0 })) {
        unlink(t->journal); /* torn: the writer died before it began */
        return true;
    }
    temp = arena_z(t->a, rest);
    if (!read_version(temp, &text, &taken, e))
        return error_wrap(e, "left by a symposium that was killed");
    if (taken.exists && !str_is(old, taken.sha256) && !str_is(new, taken.sha256) &&
        !give_back(t, temp, &taken, buf_str(&text), new, e))
        return false;
    if (taken.exists)
        unlink(temp);
    unlink(t->journal);
    return true;
}

/* ---- the new file ---- */

static void copy_xattrs(const char *from, int to)
{
    auto_free char *names = mem_alloc(XATTR_MAX), *value = mem_alloc(XATTR_MAX);
    ssize_t n = listxattr(from, names, XATTR_MAX);

    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
        ssize_t size = getxattr(from, names + at, value, XATTR_MAX);

        if (size >= 0 && fsetxattr(to, names + at, value, (size_t)size, 0) != 0)
            log_debug("extended attribute '%s' of '%s' is not kept: %s", names + at, from,
                      strerror(errno));
    }
}

/* An owner that cannot be kept would hand the file over to us. */
static bool dress(const struct target *t, int fd, const struct version *old, struct error *e)
{
    mode_t mode = old->st.st_mode & 07777;

    if (!old->exists)
        return true;
    if (old->st.st_uid != geteuid() && fchown(fd, old->st.st_uid, (gid_t)-1) != 0)
        return error_set(e, ERR_DENIED, "the file belongs to another user");
    if (fchown(fd, (uid_t)-1, old->st.st_gid) != 0)
        mode &= ~(mode_t)070; /* they were another group's rights */
    copy_xattrs(t->path, fd);
    return fchmod(fd, mode) == 0 || error_set(e, ERR_SYS, "set the mode");
}

/* Nothing is left behind on failure. */
static bool write_temp(const struct target *t, const char *path, const struct version *old,
                       struct str text, struct error *e)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             old->exists ? 0600 : t->r->mode);

    if (fd < 0)
        return error_set(e, ERR_SYS, "create a file in '%s'", t->dir);
    if (file_write_all(fd, text, e) && dress(t, fd, old, e) &&
        (fsync(fd) == 0 || error_set(e, ERR_SYS, "write")))
        return true;
    unlink(path);
    return false;
}

static void sync_dir(const char *dir)
{
    auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fsync(fd);
}

/* ---- exchange ---- */

/*
 * Who writes a file without renaming may have opened it before it was taken out of its place:
 * what it goes on to write is to be seen too. A lease for reading is refused as long as
 * somebody has the file open for writing. Who opens it just then would have us signalled: by
 * one that is ignored, since the default one ends the process.
 */
static void wait_for_writer(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int waited = 0;

    if (fd < 0)
        return;
    fcntl(fd, F_SETSIG, SIGURG);
    while (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) {
        if (errno != EAGAIN || waited >= WRITER_MS)
            return;
        sleep_ms(WRITER_POLL);
        waited += WRITER_POLL;
    }
    fcntl(fd, F_SETLEASE, F_UNLCK);
}

enum outcome {
    PLACED,
    CHANGED_MEANWHILE,
    FAILED,
    FAILED_APART, /* and the temp file is another program's version: it stays */
};

/* The file in `temp` is that version, also once nobody has it open for writing any more. */
static bool is_version(const char *temp, const struct version *v)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct version found;

    if (!is_at(temp, &v->st))
        return false;
    wait_for_writer(temp);
    return read_version(temp, &text, &found, NULL) && same_version(&found, v);
}

/*
 * A version of another program lies in `temp` and an older one, first ours, in its place: put
 * the newest back, also if yet another comes between. Who reads meanwhile sees the older one,
 * so it is made quick.
 */
static enum outcome put_back(const struct target *t, const char *temp,
                             const struct version *ours, struct error *e)
{
    struct stat in_place = ours->st, taken;

    for (int i = 0; i < PUT_BACK_TRIES; i++) {
        if (lstat(temp, &taken) != 0 ||
            renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_EXCHANGE) != 0) {
            error_set(e, ERR_SYS, "put the other program's version back; it is in '%s'", temp);
            return FAILED_APART;
        }
        if (is_at(temp, &in_place) && (i > 0 || is_version(temp, ours)))
            return CHANGED_MEANWHILE;
        in_place = taken;
    }
    error_set(e, ERR_CLOSED, "it is being written all the time; the last version is in '%s'",
              temp);
    return FAILED_APART;
}

static enum outcome exchange(const struct target *t, const char *temp,
                             const struct version *old, struct error *e)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct version ours;

    if (!read_version(temp, &text, &ours, e))
        return FAILED;
    if (!is_at(t->path, &old->st))
        return CHANGED_MEANWHILE;
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_EXCHANGE) != 0) {
        if (errno == ENOENT) /* removed meanwhile */
            return CHANGED_MEANWHILE;
        error_set(e, ERR_SYS, "replace");
        return FAILED;
    }
    return is_version(temp, old) ? PLACED : put_back(t, temp, &ours, e);
}

/* Where the file system cannot exchange: as narrow a window as there is. */
static enum outcome compare_and_rename(const struct target *t, const char *temp,
                                       const struct version *old, struct error *e)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct version now;

    if (!read_version(t->path, &text, &now, e))
        return FAILED;
    if (!same_version(&now, old))
        return CHANGED_MEANWHILE;
    if (rename(temp, t->path) == 0)
        return PLACED;
    error_set(e, ERR_SYS, "replace");
    return FAILED;
}

static enum outcome place(const struct target *t, const char *temp, const struct version *old,
                          struct error *e)
{
    enum outcome o;

    if (old->exists) {
        o = exchange(t, temp, old, e);
        if (o == FAILED && e->kind == ERR_SYS &&
            (e->sys == EINVAL || e->sys == ENOSYS || e->sys == EOPNOTSUPP))
            o = compare_and_rename(t, temp, old, e);
        return o;
    }
    if (link(temp, t->path) == 0)
        return PLACED;
    if (errno == EEXIST)
        return CHANGED_MEANWHILE;
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_NOREPLACE) == 0)
        return PLACED;
    if (errno == EEXIST)
        return CHANGED_MEANWHILE;
    error_set(e, ERR_SYS, "make");
    return FAILED;
}

/* ---- the whole ---- */

static enum outcome write_once(const struct target *t, const struct version *old,
                               struct str old_text, struct str new_text, struct error *e)
{
    char hex[17];
    const char *temp;
    enum outcome o;

    rand_hex(hex, 8);
    temp = path_join(t->a, t->dir, arena_printf(t->a, ".symposium-%s.swap", hex));
    if (!may_write(t, old, e) || (!old->exists && !make_dirs(t, e)) ||
        !back_up(t, old, old_text, e) || !note(t, temp, old->sha256, new_text, e))
        return FAILED;
    o = write_temp(t, temp, old, new_text, e) ? place(t, temp, old, e) : FAILED;
    if (o != FAILED_APART) {
        unlink(temp); /* ours, or the former version; gone already after a rename */
        unlink(t->journal);
    }
    if (o == PLACED)
        sync_dir(t->dir);
    return o;
}

/* The two texts are the caller's. */
static bool rewrite_locked(const struct target *t, enum rewrite_end *ret, struct buf *old,
                           struct buf *new, struct error *e)
{
    for (int i = 0; i < REWRITE_TRIES; i++) {
        struct version v;
        enum outcome o;

        buf_clear(new);
        if (!read_version(t->path, old, &v, e) ||
            !t->r->edit(t->r->ctx, buf_str(old), new, e) || !buf_ok(new, e))
            return false;
        *ret = str_eq(buf_str(old), buf_str(new)) ? REWRITE_SAME : REWRITE_DONE;
        if (*ret == REWRITE_SAME || t->r->dry_run)
            return true;
        o = write_once(t, &v, buf_str(old), buf_str(new), e);
        if (o != CHANGED_MEANWHILE)
            return o == PLACED;
    }
    return error_set(e, ERR_CLOSED, "another program wrote it %d times meanwhile; try again",
                     REWRITE_TRIES);
}

static void take_path(struct target *t, const char *real)
{
    t->path = real;
    t->dir = path_dir(t->a, real);
    sha256_hex(str_of(real), t->id);
    t->backups = path_join(t->a, t->r->dirs->state, arena_printf(t->a, "backups/%s", t->id));
    t->journal = path_join(t->a, t->backups, ".journal");
}

/* A file that is not there yet is found through its directory, so that two names of one place
 * share a lock. */
static bool find_target(struct target *t, struct error *e)
{
    const char *real = path_real(t->a, t->r->path, NULL);

    if (!real) {
        struct stat st;
        const char *dir = path_real(t->a, path_dir(t->a, t->r->path), NULL);

        if (lstat(t->r->path, &st) != 0)
            real =
                path_join(t->a, dir ? dir : path_dir(t->a, t->r->path), path_base(t->r->path));
        else if (!(real = path_real(t->a, t->r->path, NULL))) /* not made just now, then */
            return error_set(e, ERR_NOT_FOUND, "the link leads nowhere");
    }
    take_path(t, real);
    return true;
}

static bool rewrite_target(struct target *t, enum rewrite_end *ret, struct buf *old,
                           struct buf *new, struct error *e)
{
    const char *theirs = NULL;
    auto_close int ours = -1;
    bool ok;

    if (!t->r->dry_run) {
        ours = lock_ours(t, REWRITE_LOCK_MS, e);
        if (ours < 0)
            return false;
        if (t->r->lock_dir && file_is_dir(t->dir) && !lock_theirs(t, &theirs, e))
            return false;
    }
    ok = (t->r->dry_run || recover(t, e)) && rewrite_locked(t, ret, old, new, e);
    if (theirs)
        rmdir(theirs);
    return ok;
}

bool rewrite_file(const struct rewrite *r, enum rewrite_end *ret, struct buf *old,
                  struct buf *new, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf spare_old = BUF(REWRITE_MAX_BYTES), spare_new = BUF(REWRITE_MAX_BYTES);
    struct target t = { .r = r, .a = &a, .path = r->path, .journal = "", .backups = "" };
    struct error why = { 0 };

    *ret = REWRITE_SAME;
    if (find_target(&t, &why) &&
        rewrite_target(&t, ret, old ? old : &spare_old, new ? new : &spare_new, &why))
        return true;
    *ret = REWRITE_SAME;
    if (e)
        *e = why;
    return error_wrap(e, "%s", r->path);
}

/* `id`: a directory of backups. */
static void recover_one(const struct dirs *dirs, const char *id)
{
    auto_arena a = ARENA;
    auto_buf path = BUF(PATH_MAX);
    struct rewrite r = { .dirs = dirs };
    struct target t = { .r = &r, .a = &a };
    struct error e;
    auto_close int lock = -1;

    if (!file_read(path_join(&a, dirs->state, arena_printf(&a, "backups/%s/.path", id)), &path,
                   &e))
        return;
    take_path(&t, arena_z(&a, buf_str(&path)));
    if (strcmp(t.id, id) != 0 || !file_exists(t.journal))
        return;
    lock = lock_ours(&t, 0, &e);
    if (lock < 0 || !recover(&t, &e))
        log_debug("'%s': %s", t.path, e.msg);
}

void rewrite_recover(const struct dirs *dirs)
{
    auto_arena a = ARENA;
    DIR *d = opendir(path_join(&a, dirs->state, "backups"));

    for (struct dirent *entry; d && (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            recover_one(dirs, entry->d_name);
    if (d)
        closedir(d);
}
