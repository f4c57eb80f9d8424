/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The ledger: the durable record of all tasks of a user, shared by every symposium process
 * (docs/spec/tasks.md TK-3 to TK-6, FL-1). This header is the interface; an engine is a table
 * of functions (struct ledger_engine). The one engine here is SQLite (ledger_sqlite.h).
 *
 *   loop thread                       ledger thread (owns the connection)
 *     ledger_xxx() ── closed request ──> queue ──> transaction
 *     done(ctx, answer, e) <── loop ────────────── rows, after the commit
 *
 * Every request is answered exactly once, in the order of the requests, on the loop's thread,
 * never from inside the call; after ledger_drop(l, ctx) the callbacks of that ctx are not made.
 * What the answer holds is valid during the call. An answer that says a write was done comes
 * after its commit (status: synchronous=FULL). Opening never fails: when the database cannot
 * be used (directory not writable, newer schema, no space) each request is answered with that
 * error, which names the file.
 */
#ifndef SYM_TASKS_LEDGER_H
#define SYM_TASKS_LEDGER_H

#include "loop/loop.h"
#include "tasks/task.h"

#define LEDGER_QUEUE_MAX   4096 /* open requests; beyond it ledger_is_full() (TK-3) */
#define LEDGER_QUEUE_BYTES ((size_t)32 << 20) /* of what they hold; the same */
#define LEDGER_GROUP_MS    1000 /* output events are committed at least this often */
#define LEDGER_BUSY_MS     5000
#define LEDGER_NOTICE_MS   250 /* a change of another process is seen within this (TK-4) */
#define LEDGER_EVENTS_MAX  5000
/* Events looked at by one question for some types of them (TK-10). */
#define LEDGER_EVENTS_SCANNED 20000
#define LEDGER_LIST_MAX       500

struct ledger;

struct ledger_config {
    const char *state_dir;              /* made 0700 when absent; copied */
    int keep_days, keep_tasks, keep_mb; /* TK-6; 0: no such limit */
};

/* Never fails; the thread opens the database at once, and takes over what dead owners left
 * (TK-5). An engine: &ledger_sqlite of tasks/ledger_sqlite.h. */
struct ledger_engine;
struct ledger *ledger_new(struct loop *l, const struct ledger_engine *engine,
                          const struct ledger_config *c);

/* What a request brought. Members that a request does not fill are zero. */
struct ledger_answer {
    const struct task_record *tasks;
    size_t ntasks;
    const struct task_event_row *events;
    size_t nevents;
    bool yes;  /* submit: it is an older task of the same key; claim, change: it was done;
                  append: it is in the ledger, and was not dropped at the cap */
    bool more; /* events, list: there is more behind */
    int64_t cursor, first_seq; /* events */
    struct str text;           /* result: all agent messages; list: the next cursor */
};

typedef void (*ledger_fn)(void *ctx, const struct ledger_answer *a, const struct error *e);

/* ---- writing ---- */

/* A task to be (TK-8). Its owner is this process. Strings are copied. */
struct task_new {
    struct task_record record;  /* id, kind, agent, workspace, prompt, ids, labels, options,
                                   priority; the rest is ignored */
    struct str idempotency_key; /* empty: none; unique per initiator_id */
    int64_t max_output;         /* bytes; 0: TASK_OUTPUT_MAX */
};
/* Row and `task_created` in one transaction. answer: tasks[0]; yes: it existed (TK-8). */
void ledger_submit(struct ledger *l, const struct task_new *t, ledger_fn done, void *ctx);

/*
 * created -> starting with its event, if fewer than `max_running` tasks of kind acp and cli are
 * starting or running and no created task of a live owner has a better claim: higher priority,
 * then older (TK-24). answer.yes: it may start.
 */
void ledger_claim(struct ledger *l, struct str id, int max_running, ledger_fn done, void *ctx);

/*
 * Compare and set (TK-2): the status must be one of `from` and `to` one of its arrows, or the
 * same status for a change of fields alone. All in one transaction, with a `status_changed`
 * when the status changes, behind `events`. answer: yes, and tasks[0] as it is now either way.
 * A member of `set` that is left zero keeps its value.
 */
struct task_change {
    struct str id;
    unsigned from;       /* bits 1u << enum task_status */
    enum task_status to; /* the present status: fields alone */
    bool keep_status;    /* instead of `to`: fields alone, whichever of `from` it is */
    struct {
        bool started, finished; /* now */
        bool cancel_requested;  /* with its `task_cancelled` in `events` (TK-4) */
        bool resolve;           /* resolution, note, resolved_at = now */
        enum task_resolution resolution;
        struct str note, stop_reason, session_id, usage, worktree, branch, result_text;
        const int *exit_code, *signal;
        struct task_process { /* the agent and its keeper, for TK-5 and TK-24 */
            int64_t pid, keeper;
            uint64_t pid_start, keeper_start; /* clock ticks since boot, /proc/PID/stat */
        } process;
    } set;
    const struct task_event_row *events; /* type and data */
    size_t nevents;
};
void ledger_change(struct ledger *l, const struct task_change *c, ledger_fn done, void *ctx);

/* One event. Output may wait up to LEDGER_GROUP_MS for its commit. `done` may be NULL. At the
 * task's cap the oldest output goes (TK-6); what does not fit even then is dropped and one
 * `error` "output cap" stands for it (ACP-17). */
void ledger_append(struct ledger *l, struct str id, enum task_event type, struct str data,
                   ledger_fn done, void *ctx);

/* The tasks of this process with cancel_requested that are not terminal (TK-4). */
void ledger_cancels(struct ledger *l, ledger_fn done, void *ctx);

/* ---- reading ---- */

/* ERR_NOT_FOUND: no such task, or deleted by retention. */
void ledger_get(struct ledger *l, struct str id, ledger_fn done, void *ctx);
/* Many at once, in the order asked; as in lists. ERR_NOT_FOUND names it. */
void ledger_get_many(struct ledger *l, const struct str *ids, size_t n, ledger_fn done,
                     void *ctx);
void ledger_result(struct ledger *l, struct str id, ledger_fn done, void *ctx); /* TK-23 */

struct events_query {
    struct str id;
    int64_t after;    /* seq */
    int limit;        /* 1..LEDGER_EVENTS_MAX */
    uint32_t types;   /* bits 1u << enum task_event; 0: all */
    size_t max_bytes; /* of data; at least one event comes */
};
/* answer: events, cursor, more, first_seq, tasks[0] (TK-10). With `types` the cursor may lie
 * behind the last of them, and more be set without any. */
void ledger_events(struct ledger *l, const struct events_query *q, ledger_fn done, void *ctx);

struct list_query {
    int status;                                        /* enum task_status or -1 */
    int kind;                                          /* enum task_kind or -1 */
    struct str workspace, label, initiator_id, cursor; /* empty: any */
    int limit;
};
/* Newest first. ERR_INVALID: not a cursor of ours. */
void ledger_list(struct ledger *l, const struct list_query *q, ledger_fn done, void *ctx);

/* Tasks that are starting or running, with their processes, for the chain of TK-24. */
struct task_running {
    struct str id;
    struct task_process process;
};
typedef void (*ledger_running_fn)(void *ctx, const struct task_running *v, size_t n,
                                  const struct error *e);
void ledger_running(struct ledger *l, ledger_running_fn done, void *ctx);

/* ---- watching ---- */

/* `fn` is called, coalesced, after any change of the ledger by any process, within
 * LEDGER_NOTICE_MS. Ask again then. */
struct ledger_watch;
struct ledger_watch *ledger_watch_new(struct ledger *l, void (*fn)(void *ctx), void *ctx);
void ledger_watch_free(struct ledger_watch *w);

/* ---- life ---- */

bool ledger_is_full(const struct ledger *l); /* stop reading agents' pipes until the next
                                                answer */
void ledger_drop(struct ledger *l, const void *ctx);
/* `done` once all that was asked before is committed. */
void ledger_flush(struct ledger *l, void (*done)(void *ctx), void *ctx);
/* Waits for the thread: what was asked before is committed, nothing is called back. Its watches
 * are to be freed before. */
void ledger_free(struct ledger *l);

#endif
