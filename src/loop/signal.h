/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Signals that end us, and the reaping of children. SIGPIPE and SIGXFSZ are ignored from
 * loop_new() on. */
#ifndef SYM_LOOP_SIGNAL_H
#define SYM_LOOP_SIGNAL_H

#include <sys/types.h>

#include "loop/loop.h"

/* Calls fn for each SIGTERM, SIGINT or SIGHUP until freed. Does not keep the loop going. One
 * per loop. */
struct signals;
struct signals *signals_new(struct loop *l, void (*fn)(void *ctx, int signo), void *ctx);
void signals_free(struct signals *s);

/*
 * Exits are collected in one place: SIGCHLD wakes one loop of waitpid(-1, WNOHANG). A watched
 * pid goes to its watcher (then unwatched), any other is an adopted orphan and dropped. The
 * watch must be placed before the loop runs again after the fork.
 */
typedef void (*exit_fn)(void *ctx, pid_t pid, int wait_status);
void reaper_watch(struct loop *l, pid_t pid, exit_fn fn, void *ctx);
void reaper_forget(struct loop *l, pid_t pid); /* the exit will be reaped and dropped */

/* Adopt orphans of our children (PR_SET_CHILD_SUBREAPER). */
void reaper_adopt_orphans(void);
/* No longer: they are somebody else's from now on. */
void reaper_disown_orphans(void);

/* SIGKILLs everything that /proc/self/task/<tid>/children, followed recursively, still lists,
 * and reaps it; waits at most `ms`. The last act of a process. Returns how many were left at
 * the end. */
int reaper_sweep(int ms);

#endif
