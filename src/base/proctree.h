/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Everything that descends from this process: found and killed. Complete only for a child
 * subreaper (PR_SET_CHILD_SUBREAPER): there an orphan, also after setsid and a double fork,
 * comes back to us, so that "waitpid says ECHILD" proves the tree empty.
 *
 * The tree is frozen before it is killed: SIGSTOP to all of it, again and again, until a look
 * finds nothing new. A frozen process neither forks nor reaps, so a fork bomb stands still and
 * a listed pid keeps its meaning. The newest processes come first: one that forks and exits in
 * a circle has a new pid before a look in the usual order gets to it. Before that the process
 * groups of our children are killed, each as one: a fork bomb that stays in its group (and what
 * a shell starts in the background does) ends there and then, whatever its size.
 */
#ifndef SYM_BASE_PROCTREE_H
#define SYM_BASE_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCTREE_LOOKS_MAX \
    200 /* before the killing begins although each look found something new */

/* In the order of finding, each once. A fork bomb has tens of thousands: what is known already
 * must be known at once. */
struct pid_list {
    pid_t *v;
    size_t n, cap;
    pid_t *known; /* open addressing, 0 is free; a power of two, at most half full */
    size_t known_cap;
};

void pid_list_free(struct pid_list *l); /* usable again */

/* Where the relation of parent and child is read. */
enum proctree_source {
    PROCTREE_CHILDREN, /* <proc>/<pid>/task/<tid>/children; the kernel may lack it
                          (CONFIG_PROC_CHILDREN) */
    PROCTREE_STAT,     /* field 4 of <proc>/<pid>/stat of every process */
};

/* The best source that this kernel has. */
enum proctree_source proctree_source(void);

/*
 * Appends the descendants of `root` that are not yet in `found`, and calls `visit` (may be
 * NULL) on each as soon as it is known to be one. `proc` is "/proc", or a copy of its shape in
 * tests. False when `proc` cannot be read.
 */
bool proctree_look(enum proctree_source source, const char *proc, pid_t root,
                   struct pid_list *found, void (*visit)(pid_t pid));

/*
 * Kills all descendants, reaps them, and repeats until waitpid says ECHILD (returns 0) or `ms`
 * have passed (returns how many were left). ms < 0: as long as it takes. `reaped`, may be NULL,
 * hears of every child that was reaped.
 */
int proctree_kill(int ms, void (*reaped)(void *ctx, pid_t pid, int status), void *ctx);

/* Reaps what has exited; true when there are no children at all (ECHILD). */
bool proctree_reap(void (*reaped)(void *ctx, pid_t pid, int status), void *ctx);

#endif
