/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/rand.h"

#define READ_STEP  (64u * 1024) /* for files that do not tell their size, as in /proc */
#define TEMP_TRIES 16
#define TEMP_FORM  ".symposium-%s.tmp"

/* read(2) that does not stop at a signal. */
static ssize_t read_some(int fd, char *to, size_t n)
{
    ssize_t got;

    do {
        got = read(fd, to, n);
    } while (got < 0 && errno == EINTR);
    return got;
}

/*
 * Reads to the end. One byte past out->max is asked for, to tell "exactly full" from "more". A
 * file that gives all of its size and less than asked has ended: no other call to hear so.
 */
static bool read_all(int fd, size_t expected, struct buf *out, struct error *e)
{
    for (;;) {
        size_t left = out->max - out->n, step = expected ? expected : READ_STEP;
        char probe, *to = &probe;
        ssize_t got;

        if (step > left)
            step = left;
        if (step)
            to = buf_room(out, step);
        got = read_some(fd, to, step ? step : 1);
        if (got < 0)
            return error_set(e, ERR_SYS, "read");
        if (got == 0)
            return true;
        if (step == 0)
            return error_set(e, ERR_LIMIT, "more than %zu bytes", out->max);
        out->n += (size_t)got;
        if (expected > 1 && step == expected && (size_t)got == step - 1)
            return true;
        expected -= (size_t)got < expected ? (size_t)got : expected;
    }
}

bool file_read(const char *path, struct buf *out, struct error *e)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t before = out->n;
    struct stat st;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(e, ERR_NOT_FOUND, "'%s' does not exist", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return error_set(e, ERR_SYS, "open '%s'", path);
    if (!S_ISREG(st.st_mode))
        return error_set(e, ERR_INVALID, "'%s' is not a regular file", path);
    if (out->over || (uint64_t)st.st_size > out->max - out->n)
        return error_set(e, ERR_LIMIT, "'%s' has more than %zu bytes", path, out->max);
    if (!read_all(fd, (size_t)st.st_size + 1, out, e)) {
        out->n = before;
        return error_wrap(e, "'%s'", path);
    }
    return true;
}

bool file_mkdirs(const char *dir, struct error *e)
{
    auto_free char *path = mem_strdup(dir);
    char *at = path;

    if (file_is_dir(dir))
        return true;
    while (*at) {
        char *end = strchrnul(at + 1, '/'), kept = *end;

        *end = '\0';
        if (mkdir(path, 0700) < 0 && !(errno == EEXIST && file_is_dir(path)))
            return error_set(e, ERR_SYS, "make directory '%s'", path);
        *end = kept;
        at = end;
    }
    return true;
}

/* Opens a new file with a random name beside `path`; its name goes to *ret_temp (arena). -1 on
 * failure. */
static int open_temp(struct arena *a, const char *dir, char **ret_temp, struct error *e)
{
    char hex[17];
    int fd = -1;

    for (int i = 0; i < TEMP_TRIES; i++) {
        rand_hex(hex, 8);
        *ret_temp = path_join(a, dir, arena_printf(a, TEMP_FORM, hex));
        fd = open(*ret_temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0)
        error_set(e, ERR_SYS, "create a file in '%s'", dir);
    return fd;
}

/* A rename is durable once its directory is. File systems that cannot sync a directory say
 * EINVAL. */
static bool sync_dir(const char *dir, struct error *e)
{
    auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return error_set(e, ERR_SYS, "sync directory '%s'", dir);
    return true;
}

static bool fill_temp(int fd, struct str content, mode_t mode, bool durable, struct error *e)
{
    if (!file_write_all(fd, content, e))
        return false;
    if (fchmod(fd, mode) < 0 || (durable && fsync(fd) < 0))
        return error_set(e, ERR_SYS, "sync");
    return true;
}

static bool replace(const char *path, struct str content, mode_t mode, bool durable,
                    struct error *e)
{
    auto_arena a = ARENA;
    char *dir = path_dir(&a, path), *temp;
    auto_close int fd = open_temp(&a, dir, &temp, e);

    if (fd < 0)
        return error_wrap(e, "write '%s'", path);
    if (!fill_temp(fd, content, mode, durable, e)) {
        unlink(temp);
        return error_wrap(e, "write '%s'", path);
    }
    if (rename(temp, path) < 0) {
        error_set(e, ERR_SYS, "replace '%s'", path);
        unlink(temp);
        return false;
    }
    return !durable || sync_dir(dir, e);
}

static bool is_temp_name(const char *name)
{
    char hex[17], again[sizeof TEMP_FORM + sizeof hex];

    if (sscanf(name, ".symposium-%16[0-9a-f]", hex) != 1)
        return false;
    snprintf(again, sizeof again, TEMP_FORM, hex);
    return strlen(hex) == sizeof hex - 1 && !strcmp(name, again);
}

void file_sweep_temps(const char *dir)
{
    DIR *d = opendir(dir);
    struct stat st;

    for (struct dirent *entry; d && (entry = readdir(d));)
        if (is_temp_name(entry->d_name) &&
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            time(NULL) - st.st_mtim.tv_sec > FILE_TEMP_OLD_SECS)
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

bool file_write_atomic(const char *path, struct str content, mode_t mode, struct error *e)
{
    return replace(path, content, mode, true, e);
}

bool file_write_cache(const char *path, struct str content, struct error *e)
{
    return replace(path, content, 0600, false, e);
}

struct file_stamp file_stamp(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return (struct file_stamp){ .exists = false };
    return (struct file_stamp){
        .exists = true,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
        .size = st.st_size,
        .ino = st.st_ino,
    };
}

bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->exists == b->exists && a->mtime_ns == b->mtime_ns && a->size == b->size &&
           a->ino == b->ino;
}

bool file_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool file_entry_is_dir(DIR *d, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN) /* some file systems do not tell */
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

bool file_write_all(int fd, struct str bytes, struct error *e)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(e, ERR_SYS, "write");
        bytes = str_from(bytes, (size_t)n);
    }
    return true;
}
