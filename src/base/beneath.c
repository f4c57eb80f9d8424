/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/beneath.h"

#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_RETRIES 100 /* EAGAIN: something was renamed while the kernel looked */

static bool no_openat2;

void beneath_without_openat2(bool without)
{
    no_openat2 = without;
}

static bool is_up(const char *name, size_t n)
{
    return n == 2 && name[0] == '.' && name[1] == '.';
}

/* O_PATH opens a link itself; who did not ask for that wants to know what it leads to. */
static bool is_link_refused(int fd, int flags)
{
    struct stat st;

    return flags & O_PATH && !(flags & O_NOFOLLOW) && fstat(fd, &st) == 0 &&
           S_ISLNK(st.st_mode);
}

/* One component after the other, none of them a link. */
static int open_by_steps(int dir, const char *rel, int flags)
{
    auto_close int at = -1;
    char name[NAME_MAX + 1];

    for (;;) {
        size_t n = strcspn(rel, "/");
        bool last = rel[n + strspn(rel + n, "/")] == '\0';
        int fd;

        if (rel[0] == '/' || is_up(rel, n)) {
            errno = EXDEV;
            return -1;
        }
        if (n >= sizeof name) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, rel, n);
        name[n] = '\0';
        fd = openat(at >= 0 ? at : dir, n ? name : ".",
                    (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOTDIR) {
            struct stat st;

            errno = fstatat(at >= 0 ? at : dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                            S_ISLNK(st.st_mode)
                        ? ELOOP
                        : ENOTDIR;
        }
        if (fd >= 0 && last && is_link_refused(fd, flags)) {
            close(fd);
            errno = ELOOP;
            return -1;
        }
        if (fd < 0 || last)
            return fd;
        if (at >= 0)
            close(at);
        at = fd;
        rel += n + strspn(rel + n, "/");
    }
}

int open_beneath(int dir, const char *rel, int flags)
{
    struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    long fd = -1;

    if (flags & O_NOFOLLOW)
        how.resolve |= RESOLVE_NO_SYMLINKS;
    if (no_openat2)
        return open_by_steps(dir, rel, flags);
    for (int i = 0; i < MAX_RETRIES; i++) {
        fd = syscall(SYS_openat2, dir, *rel ? rel : ".", &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        no_openat2 = errno == ENOSYS; /* EPERM: old filters of containers say it so */
        return open_by_steps(dir, rel, flags);
    }
    return (int)fd;
}

int mkdirs_beneath(int dir, const char *rel)
{
    auto_close int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    char path[PATH_MAX];
    size_t n = strlen(rel);

    if (at < 0)
        return -1;
    if (n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    /* Each prefix is opened from `dir`, so that a link in it may lead anywhere beneath. */
    for (size_t end = 0; end < n;) {
        size_t begin = end + strspn(rel + end, "/");
        int fd;

        end = begin + strcspn(rel + begin, "/");
        if (begin == end)
            break;
        memcpy(path, rel, end);
        path[end] = '\0';
        if (mkdirat(at, path + begin, 0777) != 0 && errno != EEXIST)
            return -1;
        fd = open_beneath(dir, path, O_RDONLY | O_DIRECTORY);
        if (fd < 0)
            return -1;
        close(at);
        at = fd;
    }
    return take_fd(&at);
}
