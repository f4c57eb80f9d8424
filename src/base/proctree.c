/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/proctree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define PATH_SIZE 128
/* Something may be unkillable for long (a process of another user, a hung file system): wait
 * for it cheaply. */
#define NAP_FIRST_US        200
#define NAP_LAST_US         12800
#define KILL_PAUSE_FIRST_MS 4
#define KILL_PAUSE_LAST_MS  256

struct link {
    pid_t pid, parent;
};

static bool list_has(const struct pid_list *l, pid_t pid)
{
    for (size_t i = l->n; i > 0;
         i--) { /* from the end: what is asked for was mostly added last */
        if (l->v[i - 1] == pid)
            return true;
    }
    return false;
}

static void found_one(struct pid_list *found, pid_t pid, void (*visit)(pid_t pid))
{
    if (list_has(found, pid))
        return;
    VEC_PUSH(found) = pid;
    if (visit)
        visit(pid);
}

static pid_t to_pid(const char *s)
{
    char *end;
    long n = strtol(s, &end, 10);

    return end != s && n > 0 && n <= INT32_MAX ? (pid_t)n : 0;
}

enum proctree_source proctree_source(void)
{
    return access("/proc/thread-self/children", R_OK) == 0 ? PROCTREE_CHILDREN : PROCTREE_STAT;
}

/* ---- children files ---- */

static void children_of_task(const char *path, struct pid_list *found, void (*visit)(pid_t pid))
{
    struct pid_list all = { 0 };
    FILE *f = fopen(path, "re");
    char *word = NULL;
    size_t cap = 0;

    if (!f)
        return; /* the task has just ended */
    while (getdelim(&word, &cap, ' ', f) > 0) {
        if (to_pid(word))
            VEC_PUSH(&all) = to_pid(word);
    }
    free(word);
    fclose(f);
    while (all.n > 0)
        found_one(found, all.v[--all.n], visit);
    free(all.v);
}

static bool children_of(const char *proc, pid_t pid, struct pid_list *found,
                        void (*visit)(pid_t pid))
{
    char path[PATH_SIZE];
    struct dirent *d;
    DIR *tasks;

    snprintf(path, sizeof path, "%s/%d/task", proc, (int)pid);
    tasks = opendir(path);
    if (!tasks)
        return false;
    while ((d = readdir(tasks))) {
        if (!to_pid(d->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%d/task/%.20s/children", proc, (int)pid, d->d_name);
        children_of_task(path, found, visit);
    }
    closedir(tasks);
    return true;
}

static bool look_children(const char *proc, pid_t root, struct pid_list *found,
                          void (*visit)(pid_t pid))
{
    if (!children_of(proc, root, found, visit))
        return false;
    for (size_t i = 0; i < found->n; i++)
        children_of(proc, found->v[i], found, visit);
    return true;
}

/* ---- stat files ---- */

/* "pid (name) state parent ...": the name may hold anything, blanks and parentheses too, so
 * count from the last ')'. */
static pid_t parent_of(const char *proc, pid_t pid)
{
    char path[PATH_SIZE], text[512];
    const char *after_name;
    ssize_t n;

    snprintf(path, sizeof path, "%s/%d/stat", proc, (int)pid);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    after_name = strrchr(text, ')');
    return after_name && strlen(after_name) > 4 ? to_pid(after_name + 4) : 0;
}

static bool list_pids(const char *proc, struct pid_list *ret)
{
    DIR *dir = opendir(proc);
    struct dirent *d;

    if (!dir)
        return false;
    while ((d = readdir(dir))) {
        pid_t pid = to_pid(d->d_name);

        if (pid)
            VEC_PUSH(ret) = pid;
    }
    closedir(dir);
    return true;
}

static bool look_stat(const char *proc, pid_t root, struct pid_list *found,
                      void (*visit)(pid_t pid))
{
    struct {
        struct link *v;
        size_t n, cap;
    } others = { 0 };
    struct pid_list pids = { 0 };

    if (!list_pids(proc, &pids))
        return false;
    while (pids.n > 0) {
        pid_t pid = pids.v[--pids.n], parent = parent_of(proc, pid);

        if (parent == root) /* at once: orphans, which are ours, are the quickest */
            found_one(found, pid, visit);
        else if (parent)
            VEC_PUSH(&others) = (struct link){ pid, parent };
    }
    for (size_t at = 0; at < found->n; at++) {
        for (size_t i = 0; i < others.n; i++) {
            if (others.v[i].parent == found->v[at])
                found_one(found, others.v[i].pid, visit);
        }
    }
    free(others.v);
    free(pids.v);
    return true;
}

bool proctree_look(enum proctree_source source, const char *proc, pid_t root,
                   struct pid_list *found, void (*visit)(pid_t pid))
{
    return source == PROCTREE_CHILDREN ? look_children(proc, root, found, visit)
                                       : look_stat(proc, root, found, visit);
}

/* ---- killing ---- */

static void freeze(pid_t pid)
{
    kill(pid, SIGSTOP);
}

bool proctree_reap(void (*reaped)(void *ctx, pid_t pid, int status), void *ctx)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);

        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return pid < 0;
        if (reaped)
            reaped(ctx, pid, status);
    }
}

static void nap(long us)
{
    nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/*
 * Nobody is reaped between the first look and the last kill, so our own children's pids cannot
 * be given to others. *ret_calm: the last look found nothing new.
 */
static int kill_once(enum proctree_source source, bool *ret_calm)
{
    struct pid_list tree = { 0 };
    size_t before;
    int looks = 0, n;

    do {
        before = tree.n;
        proctree_look(source, "/proc", getpid(), &tree, freeze);
    } while (tree.n > before && ++looks < PROCTREE_LOOKS_MAX);
    *ret_calm = tree.n == before;
    for (size_t i = 0; i < tree.n; i++)
        kill(tree.v[i], SIGKILL);
    n = (int)tree.n;
    free(tree.v);
    return n;
}

int proctree_kill(int ms, void (*reaped)(void *ctx, pid_t pid, int status), void *ctx)
{
    enum proctree_source source = proctree_source();
    int64_t end = clock_ms() + ms, next_kill = 0, pause_ms = KILL_PAUSE_FIRST_MS;
    long nap_us = NAP_FIRST_US;
    int left = 0;

    while (!proctree_reap(reaped, ctx)) {
        int64_t now = clock_ms();
        bool calm = true;

        if (ms >= 0 && now >= end)
            return left ? left : 1;
        if (now >= next_kill) { /* a look at all of /proc costs far more than a nap */
            left = kill_once(source, &calm);
            next_kill = now + pause_ms;
            pause_ms = pause_ms < KILL_PAUSE_LAST_MS ? pause_ms * 2 : pause_ms;
        }
        if (!calm) { /* something is still forking ahead of us */
            next_kill = 0;
            continue;
        }
        nap(nap_us);
        nap_us = nap_us < NAP_LAST_US ? nap_us * 2 : nap_us;
    }
    return 0;
}
