/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/procstat.h"
#include "base/proctree.h"

#define LOCK_SUFFIX    ".lock"
#define LOCK_PATH_MAX  4096
#define SWEEP_MAX      10000 /* entries of the directory that are looked at */
#define SWEEP_AGE_S    60    /* a lock file younger than this may be about to be locked */
#define KILL_LOOKS_MAX PROCTREE_LOOKS_MAX

/* ---- identity ---- */

static void read_boot_id(char ret[OWNER_BOOT_ID_LEN + 1])
{
    ssize_t n = -1;

    auto_close int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        n = read(fd, ret, OWNER_BOOT_ID_LEN);
    ret[n == OWNER_BOOT_ID_LEN ? n : 0] = '\0';
}

static uint64_t read_pidns(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void owner_self(struct owner *ret)
{
    struct procstat st = { 0 };

    procstat_read("/proc", getpid(), &st);
    *ret = (struct owner){ .pid = getpid(), .pid_start = st.start, .pidns = read_pidns() };
    task_id_new(ret->uuid);
    read_boot_id(ret->boot_id);
}

/* Pids of that owner's time and place mean the same processes here and now. */
static bool is_near(const struct owner *o)
{
    char boot_id[OWNER_BOOT_ID_LEN + 1];

    read_boot_id(boot_id);
    return boot_id[0] && strcmp(boot_id, o->boot_id) == 0 && o->pidns &&
           o->pidns == read_pidns();
}

/* ---- locks ---- */

static bool lock_path(char *ret, const char *dir, const char *uuid)
{
    int n = snprintf(ret, LOCK_PATH_MAX, "%s/%s" LOCK_SUFFIX, dir, uuid);

    return n > 0 && n < LOCK_PATH_MAX;
}

static int lock_new(const char *path, struct error *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    error_set(e, ERR_SYS, "lock '%s'", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

int owner_lock(const char *dir, const struct owner *o, struct error *e)
{
    char path[LOCK_PATH_MAX];

    if (!file_mkdirs(dir, e))
        return -1;
    if (lock_path(path, dir, o->uuid))
        return lock_new(path, e);
    error_set(e, ERR_LIMIT, "path '%s' is longer than %d bytes", dir, LOCK_PATH_MAX);
    return -1;
}

void owner_unlock(const char *dir, const char *uuid, int fd)
{
    char path[LOCK_PATH_MAX];

    if (lock_path(path, dir, uuid))
        unlink(path); /* while it is held: nobody else can have it */
    close(fd);
}

static bool process_is_there(const struct owner *o)
{
    struct procstat st;

    return is_near(o) && procstat_read("/proc", (pid_t)o->pid, &st) && st.start == o->pid_start;
}

int owner_take(const char *dir, const struct owner *o)
{
    char path[LOCK_PATH_MAX];
    int fd;

    if (!task_id_valid(str_of(o->uuid)) || !lock_path(path, dir, o->uuid))
        return -1;
    fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT && !process_is_there(o) ? lock_new(path, NULL) : -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

/* ---- ending what an owner left ---- */

/* A descriptor of this very process; -1 when it is gone. The start time is read after the
 * descriptor is there: if it is right, the descriptor cannot be another's. */
static int pin(pid_t pid, uint64_t start)
{
    struct procstat st;
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (fd < 0)
        return -1;
    if (procstat_read("/proc", pid, &st) && st.start == start)
        return fd;
    close(fd);
    return -1;
}

static bool ended_within(int pidfd, int ms)
{
    struct pollfd p = { .fd = pidfd, .events = POLLIN };
    int rc;

    do
        rc = poll(&p, 1, ms);
    while (rc < 0 && errno == EINTR);
    return rc > 0;
}

static bool is_known(const struct pid_list *tree, pid_t root, pid_t pid)
{
    for (size_t i = 0; i < tree->n; i++) {
        if (tree->v[i] == pid)
            return true;
    }
    return pid == root;
}

/* A pid that was just seen in the tree may be another's by now: what counts is the parent of
 * what the descriptor stands for. */
static void kill_below(const struct pid_list *tree, pid_t root, pid_t pid)
{
    struct procstat st;
    auto_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd >= 0 && procstat_read("/proc", pid, &st) && is_known(tree, root, st.parent))
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* The root last: it is the subreaper that keeps the tree together. */
static void kill_tree(pid_t root, int pidfd)
{
    enum proctree_source source = proctree_source();
    struct pid_list tree = { 0 };
    size_t killed = 0;

    for (int looks = 0; looks < KILL_LOOKS_MAX; looks++) {
        proctree_look(source, "/proc", root, &tree, NULL);
        if (killed == tree.n)
            break;
        for (; killed < tree.n; killed++)
            kill_below(&tree, root, tree.v[killed]);
    }
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    pid_list_free(&tree);
}

void owner_end_process(const struct owner *o, pid_t pid, uint64_t start, int wait_ms)
{
    auto_close int fd = is_near(o) ? pin(pid, start) : -1;

    if (fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0); /* a stopped one cannot end */
    if (ended_within(fd, wait_ms))
        return;
    kill_tree(pid, fd);
    ended_within(fd, OWNER_KILL_MS);
}

/* ---- what kills left ---- */

static bool is_old(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           time(NULL) - st.st_mtime > SWEEP_AGE_S;
}

static void sweep_one(int dir, const char *name)
{
    auto_close int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(dir, name, 0);
}

/* "<uuid>.lock": the uuid. */
static bool read_name(const char *name, char uuid[TASK_ID_LEN + 1])
{
    struct str s = str_of(name);

    if (s.n != TASK_ID_LEN + sizeof LOCK_SUFFIX - 1 || !str_ends(s, STR(LOCK_SUFFIX)) ||
        !task_id_valid(str_upto(s, TASK_ID_LEN)))
        return false;
    memcpy(uuid, name, TASK_ID_LEN);
    uuid[TASK_ID_LEN] = '\0';
    return true;
}

void owner_sweep(const char *dir, bool (*has_tasks)(void *ctx, const char *uuid), void *ctx)
{
    DIR *all = opendir(dir);
    struct dirent *entry;

    for (int i = 0; all && i < SWEEP_MAX && (entry = readdir(all)); i++) {
        char uuid[TASK_ID_LEN + 1];

        if (read_name(entry->d_name, uuid) && is_old(dirfd(all), entry->d_name) &&
            !has_tasks(ctx, uuid))
            sweep_one(dirfd(all), entry->d_name);
    }
    if (all)
        closedir(all);
}
