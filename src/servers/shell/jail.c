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
#include "base/tree.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"

#define TMPDIR_PREFIX "symposium-shell-"

static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };

struct jail {
    char tmpdir[PATH_MAX];
    int tmpdir_fd; /* holds the lock */
    int ruleset;
    char *tmpdir_var; /* "TMPDIR=..." */
    const char **env;
};

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
            tree_remove(dirfd(d), e->d_name);
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
    if (j->tmpdir[0] && !tree_remove(AT_FDCWD, j->tmpdir))
        log_warn("cannot remove the private TMPDIR '%s': %s", j->tmpdir, strerror(errno));
    if (j->tmpdir_fd >= 0)
        close(j->tmpdir_fd);
    if (j->ruleset >= 0)
        close(j->ruleset);
    free(j->tmpdir_var);
    free(j->env);
    free(j);
}
