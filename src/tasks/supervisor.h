/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The run of one task by its owner (docs/spec/tasks.md 4): claim, worktree, process under its
 * keeper, ACP turn or CLI, events into the ledger, the end and its proof.
 *
 *   waiting (created) ─claim─ starting ─ running ─ ending (stop ladder) ─ done
 *
 * All state that others may know is in the ledger; this object is only what acts. `done` comes
 * once, after the last status is committed and nothing of the process tree is left, or that
 * could not be shown (then the task is `failed`: TK-21).
 */
#ifndef SYM_TASKS_SUPERVISOR_H
#define SYM_TASKS_SUPERVISOR_H

#include "tasks/adapter.h"
#include "tasks/ledger.h"

#define RUN_CANCEL_MS   5000  /* session/cancel until SIGTERM (TK-21) */
#define RUN_TERM_MS     3000  /* SIGTERM until SIGKILL */
#define RUN_KILL_MS     2000  /* SIGKILL until "not provably empty" */
#define RUN_SHUTDOWN_MS 12000 /* all tasks, in parallel (TK-22) */

struct run_env {
    struct loop *loop;
    struct ledger *ledger;
    const char *state_dir;           /* worktrees (TK-19) */
    const char *path;                /* PATH as it was when the process began */
    int max_concurrent, min_free_mb; /* TK-24 */
};

/*
 * All runs of the process: the queue for room (TK-24) and the cancels that other processes ask
 * for (TK-4). It watches the ledger while there is a run.
 */
struct runs;

struct runs *runs_new(const struct run_env *env); /* strings are copied */
/* TK-22: ends all of them, in parallel; each has its `done` within RUN_SHUTDOWN_MS. */
void runs_shutdown(struct runs *all);
void runs_free(struct runs *all); /* when every run was freed */

struct run;

struct run_ops {
    /* The process runs (TK-8): once, before `done`. Not called when the start fails. */
    void (*on_running)(void *ctx);
    /* Optional: there is no room (TK-24), the task stays `created` for now. Once, at most. */
    void (*on_queued)(void *ctx);
    void (*done)(void *ctx);
};

struct run_opts {
    struct str id;                /* the row is in the ledger, `created` */
    const struct task_plan *plan; /* copied */
    int priority;
    int deadline_s;        /* 0: none (TK-20); counted from the start of the process */
    int64_t max_output;    /* bytes of output (ACP-17); 0: TASK_OUTPUT_MAX */
    bool worktree;         /* run in a worktree of `workspace` (TK-19) */
    const char *workspace; /* absolute */
};

/* Waits for room (TK-24), then starts. */
struct run *run_new(struct runs *all, const struct run_opts *o, const struct run_ops *ops,
                    void *ctx);
/* The run of this process with that id; NULL: none, or it is done. */
struct run *run_find(const struct runs *all, struct str id);
/* TK-14, TK-21; `reason` may be empty. A second call is nothing. */
void run_cancel(struct run *r, struct str reason);
void run_free(struct run *r); /* after `done` */

#endif
