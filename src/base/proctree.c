/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/proctree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procstat.h"

#define PATH_SIZE   128
#define KNOWN_FIRST 64
/* Something may be unkillable for long (a process of another user, a hung file system): wait
 * for it cheaply. */
#define NAP_FIRST_US        200
#define NAP_LAST_US         12800
#define KILL_PAUSE_FIRST_MS 4
#define KILL_PAUSE_LAST_MS  256

struct link {
    pid_t pid, parent;
};

/* ---- what is known ---- */

/* The place of pid in `known`, or the free one where it belongs. */
static pid_t *known_at(const struct pid_list *l, pid_t pid)
{
    size_t i = (uint32_t)pid * 2654435769u & (l->known_cap - 1);

    while (l->known[i] && l->known[i] != pid)
        i = (i + 1) & (l->known_cap - 1);
    return &l->known[i];
}

static void make_room(struct pid_list *l)
{
    if (l->n * 2 < l->known_cap)
        return;
    free(l->known);
    l->known_cap = l->known_cap ? l->known_cap * 4 : KNOWN_FIRST;
    l->known = mem_alloc(l->known_cap * sizeof *l->known);
    for (size_t i = 0; i < l->n; i++)
        *known_at(l, l->v[i]) = l->v[i];
}

static void found_one(struct pid_list *found, pid_t pid, void (*visit)(pid_t pid))
{
    pid_t *at;

    make_room(found);
    at = known_at(found, pid);
    if (*at)
        return;
    *at = pid;
    VEC_PUSH(found) = pid;
    if (visit)
        visit(pid);
}

void pid_list_free(struct pid_list *l)
{
    free(l->v);
    free(l->known);
    *l = (struct pid_list){ 0 };
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
    pid_list_free(&all);
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

static pid_t parent_of(const char *proc, pid_t pid)
{
    struct procstat st;

    return procstat_read(proc, pid, &st) ? st.parent : 0;
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

static int by_parent(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    return x->parent < y->parent ? -1 : x->parent > y->parent;
}

/* The first of the sorted links whose parent is not less. */
static size_t first_child(const struct link *v, size_t n, pid_t parent)
{
    size_t from = 0;

    while (n) {
        size_t half = n / 2;

        if (v[from + half].parent < parent) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
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
    if (others.n)
        qsort(others.v, others.n, sizeof *others.v, by_parent);
    for (size_t at = 0; at < found->n; at++) {
        pid_t parent = found->v[at];

        for (size_t i = first_child(others.v, others.n, parent);
             i < others.n && others.v[i].parent == parent; i++)
            found_one(found, others.v[i].pid, visit);
    }
    free(others.v);
    pid_list_free(&pids);
    return true;
}

bool proctree_look(enum proctree_source source, const char *proc, pid_t root,
                   struct pid_list *found, void (*visit)(pid_t pid))
{
    return source == PROCTREE_CHILDREN ? look_children(proc, root, found, visit)
                                       : look_stat(proc, root, found, visit);
}

/* Our own children only. */
static void list_children(enum proctree_source source, struct pid_list *ret)
{
    struct pid_list pids = { 0 };

    if (source == PROCTREE_CHILDREN) {
        children_of("/proc", getpid(), ret, NULL);
        return;
    }
    list_pids("/proc", &pids);
    for (size_t i = 0; i < pids.n; i++) {
        if (parent_of("/proc", pids.v[i]) == getpid())
            VEC_PUSH(ret) = pids.v[i];
    }
    pid_list_free(&pids);
}

/* ---- killing ---- */

static void freeze(pid_t pid)
{
    kill(pid, SIGSTOP);
}

/*
 * A group that `child`, ours and not reaped, is in: its number is held by that. If it is of
 * another session than ours, or of the one that we lead, only what descends from us is in it,
 * as nobody joins a session from outside.
 */
static bool is_group_below(pid_t child, pid_t group)
{
    pid_t session = getsid(child);

    return group > 1 && session > 1 && group != getpgrp() &&
           (session == getpid() || session != getsid(0));
}

static void kill_group(pid_t group)
{
    kill(-group, SIGKILL);
}

/* The groups of our own children, each as one: no fork in a group outruns the kernel, while a
 * look at thousands of processes is slower than they multiply. */
static void kill_groups(enum proctree_source source)
{
    struct pid_list children = { 0 }, groups = { 0 };

    list_children(source, &children);
    for (size_t i = 0; i < children.n; i++) {
        pid_t group = getpgid(children.v[i]);

        if (is_group_below(children.v[i], group))
            found_one(&groups, group, kill_group);
    }
    pid_list_free(&children);
    pid_list_free(&groups);
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

    kill_groups(source);
    do {
        before = tree.n;
        proctree_look(source, "/proc", getpid(), &tree, freeze);
    } while (tree.n > before && ++looks < PROCTREE_LOOKS_MAX);
    *ret_calm = tree.n == before;
    for (size_t i = 0; i < tree.n; i++)
        kill(tree.v[i], SIGKILL);
    n = (int)tree.n;
    pid_list_free(&tree);
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
