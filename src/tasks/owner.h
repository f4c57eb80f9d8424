/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Who owns tasks, and whether it lives (docs/spec/tasks.md TK-5). An owner holds
 * flock(LOCK_EX) on <state>/owners/<uuid>.lock from before its first task to its end: whoever
 * gets that lock has the proof that it is gone, across pid namespaces and however long the
 * machine slept. Any thread; nothing is logged.
 */
#ifndef SYM_TASKS_OWNER_H
#define SYM_TASKS_OWNER_H

#include <sys/types.h>

#include "tasks/task.h"

#define OWNER_BOOT_ID_LEN 36
/* How long an agent's keeper, which ends by itself when its owner died, is waited for before it
 * is ended by force. */
#define OWNER_KEEPER_MS 1000
#define OWNER_KILL_MS   1000 /* from SIGKILL to the end, at most */

struct owner {
    char uuid[TASK_ID_LEN + 1];
    int64_t pid;
    uint64_t pid_start;                  /* base/procstat.h */
    char boot_id[OWNER_BOOT_ID_LEN + 1]; /* empty: the kernel does not say */
    uint64_t pidns; /* inode of /proc/self/ns/pid; 0: the kernel does not say */
};

/* This process, with a new uuid. */
void owner_self(struct owner *ret);

/* Makes `dir` if need be and takes our lock in it: a descriptor to be held, which no child
 * inherits. -1: *e. */
int owner_lock(const char *dir, const struct owner *o, struct error *e);
/* Removes the lock file and closes the descriptor. */
void owner_unlock(const char *dir, const char *uuid, int fd);

/*
 * Is that owner gone? Then a descriptor that holds its lock: owner_unlock() it when all its
 * tasks have been ended. -1: it lives, or nothing is known. A lock file that somebody removed
 * proves nothing as long as the recorded process is there.
 */
int owner_take(const char *dir, const struct owner *o);

/*
 * Ends the process and all that descends from it, if the owner was on this machine since its
 * start, in our pid namespace, and the pid still has that start time: else it is nothing. A
 * process that ends by itself within `wait_ms` is not touched. Blocks so long and
 * OWNER_KILL_MS at most.
 */
void owner_end_process(const struct owner *o, pid_t pid, uint64_t start, int wait_ms);

/* Lock files of owners without tasks are left by kills: removes those that nobody holds.
 * `has_tasks` says of an owner's uuid that it still counts. */
void owner_sweep(const char *dir, bool (*has_tasks)(void *ctx, const char *uuid), void *ctx);

#endif
