/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/jail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"

#define TMPDIR_PREFIX "symposium-shell-"
#define MOVED_PREFIX  ".symposium-remove-"
#define REMOVE_MS     5000 /* for one tree: what still runs in there may go on filling it */

static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };

struct jail {
    char tmpdir[PATH_MAX];
    int tmpdir_fd; /* holds the lock */
    int ruleset;
    char *tmpdir_var; /* "TMPDIR=..." */
    const char **env;
};

/* ---- removing a tree ---- */

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

bool jail_remove_tree(int parent, const char *name)
{
    int64_t end = clock_ms() + REMOVE_MS;
    unsigned serial = 0;
    DIR *top = open_dir(parent, name);

    while (top && remove_round(dirfd(top), &serial) && clock_ms() < end)
        continue;
    if (top)
        closedir(top);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* ---- the TMPDIR ---- */

static bool is_stale(int base, const char *name)
{
    struct stat st;
    auto_close int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
           time(NULL) - st.st_mtime > JAIL_STALE_SECS && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_stale(const char *base)
{
    DIR *d = opendir(base);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        if (!strncmp(e->d_name, TMPDIR_PREFIX, strlen(TMPDIR_PREFIX)) &&
            is_stale(dirfd(d), e->d_name))
            jail_remove_tree(dirfd(d), e->d_name);
    }
    if (d)
        closedir(d);
}

static bool make_tmpdir(struct jail *j, struct error *e)
{
    const char *base = getenv("TMPDIR");

    if (!base || base[0] != '/' || strlen(base) > PATH_MAX - 64)
        base = "/tmp";
    remove_stale(base);
    snprintf(j->tmpdir, sizeof j->tmpdir, "%s/" TMPDIR_PREFIX "XXXXXX", base);
    if (!mkdtemp(j->tmpdir)) {
        j->tmpdir[0] = '\0';
        return error_set(e, ERR_SYS, "make a private TMPDIR in '%s'", base);
    }
    j->tmpdir_fd = open(j->tmpdir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (j->tmpdir_fd < 0 || flock(j->tmpdir_fd, LOCK_EX | LOCK_NB) != 0)
        return error_set(e, ERR_SYS, "lock the private TMPDIR '%s'", j->tmpdir);
    return true;
}

static void make_env(struct jail *j)
{
    size_t n = 0, kept = 0;

    while (environ[n])
        n++;
    j->env = mem_alloc((n + 2) * sizeof *j->env);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            j->env[kept++] = environ[i];
    }
    j->tmpdir_var = mem_printf("TMPDIR=%s", j->tmpdir);
    j->env[kept] = j->tmpdir_var;
}

/* ---- the sandbox ---- */

bool jail_set_roots(struct jail *j, const struct access *roots, struct error *e)
{
    size_t n = 0, given = roots->n + 1;
    int *fds = mem_alloc((given + ARRAY_LEN(devices)) * sizeof *fds);
    int ruleset;

    for (size_t i = 0; i < roots->n; i++)
        fds[n++] = roots->v[i].fd;
    fds[n++] = j->tmpdir_fd;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        int fd = open(devices[i], O_PATH | O_CLOEXEC);

        if (fd >= 0)
            fds[n++] = fd;
    }
    ruleset = landlock_writes_ruleset(fds, n, e);
    while (n > given)
        close(fds[--n]);
    free(fds);
    if (ruleset < 0)
        return false;
    if (j->ruleset >= 0)
        close(j->ruleset);
    j->ruleset = ruleset;
    return true;
}

struct jail *jail_new(const struct access *roots, struct error *e)
{
    struct jail *j;

    if (!landlock_abi() || !seccomp_available()) {
        error_set(e, ERR_DENIED, "this kernel has no %s, or it is switched off",
                  landlock_abi() ? "seccomp filters" : "Landlock");
        return NULL;
    }
    j = NEW(struct jail);
    j->tmpdir_fd = j->ruleset = -1;
    if (!make_tmpdir(j, e) || !jail_set_roots(j, roots, e)) {
        jail_free(j);
        return NULL;
    }
    make_env(j);
    return j;
}

int jail_ruleset(const struct jail *j)
{
    return j->ruleset;
}

const char *const *jail_env(const struct jail *j)
{
    return j->env;
}

const char *jail_tmpdir(const struct jail *j)
{
    return j->tmpdir;
}

void jail_free(struct jail *j)
{
    if (!j)
        return;
    if (j->tmpdir[0] && !jail_remove_tree(AT_FDCWD, j->tmpdir))
        log_warn("cannot remove the private TMPDIR '%s': %s", j->tmpdir, strerror(errno));
    if (j->tmpdir_fd >= 0)
        close(j->tmpdir_fd);
    if (j->ruleset >= 0)
        close(j->ruleset);
    free(j->tmpdir_var);
    free(j->env);
    free(j);
}
