/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define MOVED_PREFIX ".symposium-remove-"

/*
 * With all rights for its owner, who may have taken them away: without, nothing in it can be
 * removed (Go's module cache is made so), and it cannot be moved. They are given back through a
 * descriptor, so that a link put in its place is not followed.
 */
static DIR *open_dir(int parent, const char *name)
{
    auto_close int at = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];
    struct stat st;
    DIR *d;
    int fd;

    if (at < 0 || fstat(at, &st) != 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", at);
    if ((st.st_mode & S_IRWXU) != S_IRWXU)
        chmod(path, S_IRWXU);
    fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static bool unlink_any(int dir, const char *name)
{
    return unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/*
 * Empties the directory `name` of `top`. A subdirectory that is not empty is moved up into
 * `top`, where its turn comes: however deep the tree, two descriptors do. Its name there is
 * made of *serial.
 */
static void empty_into(int top, const char *name, unsigned *serial)
{
    DIR *d = open_dir(top, name), *sub;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        char moved[64];

        if (is_dots(e->d_name) || unlink_any(dirfd(d), e->d_name))
            continue;
        sub = open_dir(dirfd(d), e->d_name);
        if (sub)
            closedir(sub);
        snprintf(moved, sizeof moved, MOVED_PREFIX "%u", (*serial)++);
        if (renameat(dirfd(d), e->d_name, top, moved) != 0)
            log_debug("cannot move '%s' to remove it: %s", e->d_name, strerror(errno));
    }
    if (d)
        closedir(d);
}

/* One round over the entries of `top`; true when something was removed. */
static bool remove_round(int top, unsigned *serial)
{
    int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    bool any = false;

    while (d && (e = readdir(d))) {
        if (is_dots(e->d_name))
            continue;
        if (!unlink_any(top, e->d_name)) {
            empty_into(top, e->d_name, serial);
            if (unlinkat(top, e->d_name, AT_REMOVEDIR) != 0)
                continue;
        }
        any = true;
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return any;
}

bool tree_remove(int parent, const char *name)
{
    int64_t end = clock_ms() + TREE_REMOVE_MS;
    unsigned serial = 0;
    DIR *top = open_dir(parent, name);

    while (top && remove_round(dirfd(top), &serial) && clock_ms() < end)
        continue;
    if (top)
        closedir(top);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* Where the file system cannot exchange. */
static bool exchange_by_steps(const char *fresh, const char *place, struct error *e)
{
    auto_free char *aside = mem_printf("%s.old", fresh);

    if (rename(place, aside) != 0)
        return error_set(e, ERR_SYS, "cannot replace '%s'", place);
    if (rename(fresh, place) != 0) {
        error_set(e, ERR_SYS, "cannot replace '%s'", place);
        rename(aside, place);
        return false;
    }
    return rename(aside, fresh) == 0 || error_set(e, ERR_SYS, "cannot replace '%s'", place);
}

bool tree_exchange(const char *fresh, const char *place, struct error *e)
{
    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, place, RENAME_EXCHANGE) == 0)
        return true;
    if (errno == ENOENT)
        return renameat2(AT_FDCWD, fresh, AT_FDCWD, place, 0) == 0 ||
               error_set(e, ERR_SYS, "cannot make '%s'", place);
    if (errno == EINVAL || errno == ENOSYS)
        return exchange_by_steps(fresh, place, e);
    return error_set(e, ERR_SYS, "cannot replace '%s'", place);
}
