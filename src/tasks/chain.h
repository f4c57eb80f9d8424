/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks that stand above this process (docs/spec/tasks.md TK-24): an agent that we started may
 * start another one through its own symposium, and so on. Known from SYMPOSIUM_TASK_CHAIN,
 * which every agent gets, or, as agents filter environments, from the parents of this process
 * in /proc that are an agent or a keeper of a running task.
 */
#ifndef SYM_TASKS_CHAIN_H
#define SYM_TASKS_CHAIN_H

#include "tasks/ledger.h"

#define CHAIN_VARIABLE    "SYMPOSIUM_TASK_CHAIN"
#define CHAIN_DEPTH_MAX   4   /* tasks in a row, the new one included */
#define CHAIN_PARENTS_MAX 256 /* processes that are looked at on the way up */

/* The ids in order, the first task first. */
struct chain {
    char id[CHAIN_DEPTH_MAX][TASK_ID_LEN + 1];
    size_t n;
    bool too_deep; /* there are more */
};

/* "id,id,...": false, and *ret empty, when it is absent or anything else than that. Pure. */
bool chain_read(struct chain *ret, const char *const *env);

/* From the parents of `pid` in `proc` ("/proc", or a copy of its shape in tests). Each is
 * compared by pid and start time. Reads the disk. */
void chain_walk(struct chain *ret, const char *proc, int64_t pid, const struct task_running *v,
                size_t n);

struct chain_spawn {
    const char *const *env; /* ours */
    struct str id;          /* of the task to be */
    struct str agent, workspace, prompt;
};

/*
 * May this task be spawned? `chain`: its ancestors and itself, comma-separated, for
 * plan_request.chain and for CHAIN_VARIABLE of a process that is to run it; valid during the
 * call. ERR_INVALID: too deep, or an ancestor has the same agent, workspace and prompt; the
 * text after "invalid_request: "; ERR_CLOSED: the ledger failed. An ancestor that the ledger no
 * longer knows counts for the depth alone. `done` comes once, never from inside; the object is
 * gone with it.
 */
struct chain_check;
struct chain_check *chain_check(
    struct loop *l, struct ledger *ledger, const struct chain_spawn *s,
    void (*done)(void *ctx, const char *chain, const struct error *e), void *ctx);
void chain_check_free(struct chain_check *c); /* before `done`: none then. NULL is accepted */

#endif
