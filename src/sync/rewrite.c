/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/rewrite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

#define LOCK_POLL_MS  20
#define LOCK_STALE_MS 10000 /* a `lock_dir` of this age is of a crash (security.md 3.6) */
#define XATTR_MAX     (64u << 10)

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
};

/* ---- locks ---- */

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Held until closed; -1 on failure. */
static int lock_ours(const struct target *t, struct error *e)
{
    const char *dir = path_join(t->a, t->r->dirs->state, "locks");
    const char *path = path_join(t->a, dir, t->id);
    int64_t end = clock_ms() + REWRITE_LOCK_MS;
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
        if (clock_ms() > end) {
            error_set(e, ERR_TIMEOUT, "another symposium has been writing it for %d s",
                      REWRITE_LOCK_MS / 1000);
            return -1;
        }
        sleep_ms(LOCK_POLL_MS);
    }
    return take_fd(&fd);
}

static bool is_stale(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 &&
           clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 - st.st_mtim.tv_nsec / 1000000 >
               LOCK_STALE_MS;
}

/* The lock that the other program takes itself: a directory beside the file. */
static bool lock_theirs(const struct target *t, const char **ret, struct error *e)
{
    const char *path = arena_printf(t->a, "%s.lock", t->r->path);
    int64_t end = clock_ms() + REWRITE_LOCK_MS;

    while (mkdir(path, 0700) != 0) {
        if (errno != EEXIST)
            return error_set(e, errno == EACCES || errno == EROFS ? ERR_DENIED : ERR_SYS,
                             "cannot make '%s'%s", path,
                             errno == EACCES || errno == EROFS ? ": permission denied" : "");
        if (is_stale(path) && rmdir(path) == 0)
            continue;
        if (clock_ms() > end)
            return error_set(e, ERR_TIMEOUT, "'%s' has been held for %d s", path,
                             REWRITE_LOCK_MS / 1000);
        sleep_ms(LOCK_POLL_MS);
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

static bool same_version(const struct version *a, const struct version *b)
{
    return a->exists == b->exists && a->st.st_ino == b->st.st_ino &&
           a->st.st_dev == b->st.st_dev && a->st.st_size == b->st.st_size &&
           a->st.st_mtim.tv_sec == b->st.st_mtim.tv_sec &&
           a->st.st_mtim.tv_nsec == b->st.st_mtim.tv_nsec && !strcmp(a->sha256, b->sha256);
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

/* One for each content: a second sync of the same text adds none. */
static bool back_up(const struct target *t, const struct version *v, struct str text,
                    struct error *e)
{
    const char *dir =
        path_join(t->a, t->r->dirs->state, arena_printf(t->a, "backups/%s", t->id));
    const char *path = path_join(t->a, dir, v->sha256);

    if (file_exists(path)) {
        utimensat(AT_FDCWD, path, NULL, 0); /* the youngest again */
        return true;
    }
    if (!file_mkdirs(dir, e) || !file_write_atomic(path, text, REWRITE_SECRET_MODE, e))
        return error_wrap(e, "back up");
    prune(dir);
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

static bool dress(const struct target *t, int fd, const struct version *old)
{
    if (!old->exists)
        return true;
    if (fchown(fd, old->st.st_uid, old->st.st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old->st.st_gid) != 0 && (old->st.st_mode & 070))
        log_debug("the group of '%s' is not kept", t->path);
    copy_xattrs(t->path, fd);
    return fchmod(fd, old->st.st_mode & 07777) == 0;
}

/* Its path, or NULL; nothing is left behind then. */
static const char *write_temp(const struct target *t, const struct version *old,
                              struct str text, struct error *e)
{
    char hex[17];
    const char *path;
    auto_close int fd = -1;

    rand_hex(hex, 8);
    path = path_join(t->a, t->dir, arena_printf(t->a, ".symposium-%s.tmp", hex));
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
              old->exists ? 0600 : t->r->mode);
    if (fd < 0) {
        error_set(e, ERR_SYS, "create a file in '%s'", t->dir);
        return NULL;
    }
    if (file_write_all(fd, text, e) && dress(t, fd, old) && fsync(fd) == 0)
        return path;
    error_set(e, ERR_SYS, "write");
    unlink(path);
    return NULL;
}

static void sync_dir(const char *dir)
{
    auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fsync(fd);
}

/* ---- exchange ---- */

enum outcome {
    PLACED,
    CHANGED_MEANWHILE,
    FAILED,
    FAILED_APART, /* and the temp file is another program's version: it stays */
};

/* A version of another program lies in `temp` and an older one in its place: put the newest
 * back, also if yet another comes between. `ours` was placed by us. */
static enum outcome put_back(const struct target *t, const char *temp, struct version ours,
                             struct error *e)
{
    for (int i = 0; i < REWRITE_TRIES; i++) {
        auto_buf text = BUF(REWRITE_MAX_BYTES);
        struct version placed, out;

        if (!read_version(temp, &text, &placed, e))
            return FAILED_APART;
        if (renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_EXCHANGE) != 0) {
            error_set(e, ERR_SYS, "put the other program's version back; it is in '%s'", temp);
            return FAILED_APART;
        }
        if (!read_version(temp, &text, &out, e))
            return FAILED_APART;
        if (same_version(&out, &ours))
            return CHANGED_MEANWHILE;
        ours = placed;
    }
    error_set(e, ERR_CLOSED, "it is being written all the time; the last version is in '%s'",
              temp);
    return FAILED_APART;
}

static enum outcome exchange(const struct target *t, const char *temp,
                             const struct version *old, struct error *e)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct version ours, out;

    if (!read_version(temp, &text, &ours, e))
        return FAILED;
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_EXCHANGE) != 0) {
        if (errno == ENOENT) /* removed meanwhile */
            return CHANGED_MEANWHILE;
        error_set(e, ERR_SYS, "replace");
        return FAILED;
    }
    if (!read_version(temp, &text, &out, e))
        return FAILED_APART;
    if (!same_version(&out, old))
        return put_back(t, temp, ours, e);
    return PLACED;
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
        if (o == FAILED && e->kind == ERR_SYS && (e->sys == EINVAL || e->sys == ENOSYS))
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
    const char *temp;
    enum outcome o;

    if (!may_write(t, old, e) || (!old->exists && !file_mkdirs(t->dir, e)) ||
        (old->exists && !back_up(t, old, old_text, e)))
        return FAILED;
    temp = write_temp(t, old, new_text, e);
    if (!temp)
        return FAILED;
    o = place(t, temp, old, e);
    if (o != FAILED_APART)
        unlink(temp); /* ours, or the former version; gone already after a rename */
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

/* A file that is not there yet is found through its directory, so that two names of one place
 * share a lock. */
static bool find_target(struct target *t, struct error *e)
{
    const char *real = path_real(t->a, t->r->path, NULL);

    if (!real) {
        struct stat st;
        const char *dir = path_real(t->a, path_dir(t->a, t->r->path), NULL);

        if (lstat(t->r->path, &st) == 0)
            return error_set(e, ERR_NOT_FOUND, "the link leads nowhere");
        real = path_join(t->a, dir ? dir : path_dir(t->a, t->r->path), path_base(t->r->path));
    }
    t->path = real;
    t->dir = path_dir(t->a, real);
    sha256_hex(str_of(real), t->id);
    return true;
}

static bool rewrite_target(struct target *t, enum rewrite_end *ret, struct buf *old,
                           struct buf *new, struct error *e)
{
    const char *theirs = NULL;
    auto_close int ours = -1;
    bool ok;

    if (!t->r->dry_run) {
        ours = lock_ours(t, e);
        if (ours < 0)
            return false;
        if (t->r->lock_dir && file_is_dir(t->dir) && !lock_theirs(t, &theirs, e))
            return false;
    }
    ok = rewrite_locked(t, ret, old, new, e);
    if (theirs)
        rmdir(theirs);
    return ok;
}

bool rewrite_file(const struct rewrite *r, enum rewrite_end *ret, struct buf *old,
                  struct buf *new, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf spare_old = BUF(REWRITE_MAX_BYTES), spare_new = BUF(REWRITE_MAX_BYTES);
    struct target t = { .r = r, .a = &a, .path = r->path };
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
