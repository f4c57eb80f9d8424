/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/replace.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rand.h"

#define TEMP_PREFIX ".symposium-"
#define TEMP_SUFFIX ".tmp"
#define TEMP_HEX    16
#define TEMP_NAME   (sizeof TEMP_PREFIX - 1 + TEMP_HEX + sizeof TEMP_SUFFIX)
#define TEMP_TRIES  16

#define ACL_XATTR "system.posix_acl_access"
#define ACL_MAX   8192 /* a thousand entries; one with more counts as not kept */

static_assert(TEMP_NAME <= REPLACE_TEMP_NAME, "a name and its end fit");

bool replace_is_temp(const char *name)
{
    struct str s = str_of(name);

    if (s.n != TEMP_NAME - 1 || !str_starts(s, STR(TEMP_PREFIX)) ||
        !str_ends(s, STR(TEMP_SUFFIX)))
        return false;
    return strspn(name + sizeof TEMP_PREFIX - 1, "0123456789abcdef") == TEMP_HEX;
}

/* ---- temp files of the dead ---- */

/*
 * A writer holds a lock on its temp file as long as it lives; the kernel drops it with the
 * process, however that ends. Where the file system has no locks, age decides.
 */
static bool is_left_behind(int fd, const struct stat *st)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    return errno != EWOULDBLOCK && time(NULL) - st->st_mtime > REPLACE_STALE_SECS;
}

static void remove_if_left(int dir, const char *name)
{
    struct stat named, st;

    if (fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(named.st_mode))
        return;
    auto_close int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    /* Nobody makes the same name twice, so that what is unlinked is what was looked at. */
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_left_behind(fd, &st))
        unlinkat(dir, name, 0);
}

/* `dir` is open for reading. */
static void sweep(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (!d) {
        mem_cleanup_close(&fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(d));)
        if (replace_is_temp(entry->d_name))
            remove_if_left(dir, entry->d_name);
    closedir(d);
}

/* ---- a new one ---- */

/* Whether the new temp file is ours: a sweep may have come between its creation and its lock,
 * and then have removed it. Nobody else makes a file of this name. */
static bool claim(int dir, const char *name, int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int replace_make_temp(int dir, char name[REPLACE_TEMP_NAME], mode_t mode)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        char hex[TEMP_HEX + 1];
        int fd;

        rand_hex(hex, TEMP_HEX / 2);
        snprintf(name, TEMP_NAME, TEMP_PREFIX "%s" TEMP_SUFFIX, hex);
        fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && claim(dir, name, fd))
            return fd;
        if (fd >= 0) {
            unlinkat(dir, name, 0);
            close(fd);
        }
    }
    errno = EAGAIN;
    return -1;
}

/*
 * The access control list of `like`; without one, none, also where the directory has a default
 * for new files: in a file with a list the group's bits of the mode are the most that anybody
 * named in it may do. False when it cannot be kept.
 */
static bool copy_acl(int fd, int like)
{
    char acl[ACL_MAX];
    ssize_t n = like >= 0 ? fgetxattr(like, ACL_XATTR, acl, sizeof acl) : -1;

    if (n >= 0)
        return fsetxattr(fd, ACL_XATTR, acl, (size_t)n, 0) == 0;
    if (like < 0 || (errno != ENODATA && errno != ENOTSUP))
        return false;
    return fremovexattr(fd, ACL_XATTR) == 0 || errno == ENODATA || errno == ENOTSUP;
}

/* Where the group or the list cannot be kept, the bits of the group would be for others than
 * they were meant for: then it gets those of everybody. */
bool replace_dress(int fd, int like, const struct stat *st, mode_t keep)
{
    bool owned = fchown(fd, st->st_uid, st->st_gid) == 0;
    bool grouped = owned || fchown(fd, (uid_t)-1, st->st_gid) == 0;
    mode_t mode = st->st_mode & keep & (owned ? 07777 : 01777);

    if (grouped && fchmod(fd, mode & 01707) == 0 && copy_acl(fd, like))
        return fchmod(fd, mode) == 0;
    fremovexattr(fd, ACL_XATTR);
    return fchmod(fd, (mode & 01707) | (mode & 07) << 3) == 0;
}

static bool dress_as(int fd, int dir, const char *name, const struct stat *old)
{
    auto_close int like = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return replace_dress(fd, like, old, 01777);
}

/* What stands there: a regular file that we may write, or nothing. The link in a symbolic
 * link's place would be lost, and the caller has followed those. */
static bool look_at_old(int dir, const char *name, struct stat *ret, bool *ret_exists)
{
    *ret_exists = fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_exists)
        return errno == ENOENT;
    if (!S_ISREG(ret->st_mode)) {
        errno = S_ISDIR(ret->st_mode) ? EISDIR : S_ISLNK(ret->st_mode) ? ELOOP : EINVAL;
        return false;
    }
    /* A file made read-only stays as it is, though renaming over it would be allowed. */
    return faccessat(dir, name, W_OK, AT_EACCESS) == 0;
}

/* One try; false with errno, and nothing left behind. */
static bool replace_once(int dir, const char *name, struct str content, mode_t fresh_mode)
{
    char temp[REPLACE_TEMP_NAME];
    struct stat old;
    bool exists;
    int sys;

    if (!look_at_old(dir, name, &old, &exists))
        return false;
    /* A new file has its mode from the start, so that umask and default ACLs count. */
    auto_close int fd = replace_make_temp(dir, temp, exists ? 0600 : fresh_mode);

    if (fd < 0)
        return false;
    if (file_write_all(fd, content, NULL) && (!exists || dress_as(fd, dir, name, &old)) &&
        fsync(fd) == 0 && renameat(dir, temp, dir, name) == 0)
        return true;
    sys = errno;
    unlinkat(dir, temp, 0);
    errno = sys;
    return false;
}

bool replace_file(int dir, const char *name, struct str content, mode_t fresh_mode,
                  struct error *e)
{
    /* Not given where a directory may be written but not read: it then cannot be synced. */
    auto_close int readable = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = false;

    if (readable >= 0)
        sweep(readable);
    /* ENOENT: the temp file is gone. Only another host can have taken it for one of the dead,
     * on a file system whose locks it does not see. */
    for (int i = 0; i < TEMP_TRIES && !done; i++) {
        done = replace_once(dir, name, content, fresh_mode);
        if (!done && errno != ENOENT)
            break;
    }
    if (!done)
        return error_set(e, ERR_SYS, "write '%s'", name);
    /* The new content is in place; that its name may not outlive a power cut is no reason to
     * say that it was not written. */
    if (readable >= 0)
        fsync(readable);
    return true;
}
