/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the files of a run share: supervisor.c (all runs of the process, the way to the start,
 * being called off), run_process.c (the agent's process and its end), run_turn.c (its turn over
 * ACP), run_record.c (what goes into the ledger).
 */
#ifndef SYM_TASKS_RUN_IMPL_H
#define SYM_TASKS_RUN_IMPL_H

#include "base/arena.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "tasks/capacity.h"
#include "tasks/supervisor.h"
#include "tasks/worktree.h"

/* After the turn stdin is closed; agents end by themselves within 2 s, most of them (ACP-20).
 * One that was called off is not waited for as long. */
#define RUN_EOF_MS         2000
#define RUN_EOF_CALLED_OFF 500
/* A machine that stood still rings our timers first: before we give up, what was sent meanwhile
 * is read. */
#define RUN_LAST_LOOK_MS 100
#define RUN_TEXT_MS      250 /* stdout and stderr are collected so long into one event */
/* What was handed to the ledger and is not yet in it: beyond it the agent's pipes are not read.
 * Times the runs of a process this is what a flood may cost us in memory. */
#define RUN_PENDING_MAX ((size_t)4 << 20)
/*
 * At the task's cap the ledger lets the oldest output go for the newest (TK-6); what cannot
 * make room so is dropped there (ACP-17). But a flood must not keep the disk busy for hours:
 * output ends at the cap times this.
 */
#define RUN_OUTPUT_TIMES 4
/* The last status must not be lost because the disk was full for a moment. */
#define RUN_RECORD_TRIES    5
#define RUN_RECORD_RETRY_MS 1000
/* Of ERROR_MSG_MAX and names around it. */
#define RUN_DATA_MAX ((size_t)32 << 10)

enum run_state {
    RUN_WAITING,    /* for room: `created` */
    RUN_PREPARING,  /* claimed: `starting`; git makes the worktree */
    RUN_STARTING,   /* the keeper was started, and has not yet said that the agent runs */
    RUN_RUNNING,    /* `running`, or on the way into the ledger as that */
    RUN_CANCELLING, /* session/cancel was sent: the end of the turn is awaited */
    RUN_ENDING,     /* the stop ladder, and the proof that nothing is left */
    RUN_RECORDING,  /* nothing runs any more: the last status is on its way */
    RUN_DONE,
};

struct permit; /* a decision that is being recorded */

struct run {
    struct runs *all;
    struct run *next;
    struct arena arena;
    char id[TASK_ID_LEN + 1];
    struct task_plan plan;
    const char *workspace, *cwd, *program;
    int deadline_s;
    int64_t max_output;
    bool worktree;
    struct run_ops ops;
    void *ctx;

    enum run_state state;
    struct ticket *ticket;
    struct worktree_job *job;
    struct child *child;
    struct acp_session *session;
    struct timer *timer;    /* what the state waits for at most */
    struct timer *deadline; /* NULL: none */
    int64_t give_up_at;     /* RUN_ENDING: when the ladder is over */
    bool last_look;         /* it is, and RUN_LAST_LOOK_MS runs */

    /* How it ends. */
    enum task_status verdict;
    bool called_off; /* by a cancel, the deadline, a failure of ours: what the agent says about
                        its end does not count any more */
    bool prompting;  /* the prompt went out */
    bool stopped;    /* the turn is over, or failed */
    bool started;    /* process_started was recorded */
    bool exited;     /* and `how` says how */
    struct child_exit how;
    struct str stop_reason, usage; /* in the arena */
    struct buf result; /* the end of the last message, or of what a CLI said on stdout */
    char *message_id;  /* of what is in `result`; NULL: it had none */

    /* On the way into the ledger. */
    int64_t output;      /* bytes of what the ledger lets go again */
    bool muted;          /* the output cap was reached (ACP-17) */
    unsigned unanswered; /* events */
    size_t pending;      /* their bytes, since all were answered */
    bool paused;
    struct buf text[2]; /* by enum child_stream */
    struct timer *text_timer;
    struct permit *permits;
    int tries; /* of the last status */
};

struct runs {
    struct run_env env;
    struct arena arena;
    struct capacity *capacity;
    struct ledger_watch *watch; /* while there is a run */
    struct run *first;
    size_t n; /* that are not done */
    bool closing, asking;
};

/* The only writer of state. */
void run_enter(struct run *r, enum run_state to);

/* ---- supervisor.c ---- */

/* The end of all: `done` follows. */
void run_done(struct run *r);
/* Ends it early, as TK-21 says; the verdict is set by the caller. A second call is nothing. */
void run_call_off(struct run *r);

/* ---- run_process.c ---- */

void run_start(struct run *r);    /* from RUN_WAITING or RUN_PREPARING */
void run_recorded(struct run *r); /* the ledger has its process */
/* Starts the ladder; what ends by itself before is fine. */
void run_stop_process(struct run *r, struct child_ladder ladder);
void run_give_up(struct run *r); /* the ladder is over, and something may be left */

/* ---- run_turn.c ---- */

void run_begin_turn(struct run *r);
void run_feed(struct run *r, struct str line, bool too_long);
void run_cancel_turn(struct run *r);
/* No more input: what the session holds back comes out. */
void run_close_turn(struct run *r, const struct error *why);
void run_end_turn(struct run *r); /* the session and its open permissions are freed */

/* ---- run_record.c ---- */

/* An event that does not count as output. */
void run_event(struct run *r, enum task_event type, struct str data);
/* One that does: dropped, with one `error`, when there was too much. */
void run_output(struct run *r, enum task_event type, struct str data);
/* `error` {"message","step"?}; step may be NULL. */
__attribute__((format(printf, 3, 4))) void run_error(struct run *r, const char *step,
                                                     const char *fmt, ...);
void run_text(struct run *r, enum child_stream stream, struct str bytes);
void run_flush_text(struct run *r);

/* `starting` -> `running`, with the process' ids. */
void run_record_running(struct run *r);
void run_record_session(struct run *r, struct str session_id, struct str data);
void run_record_worktree(struct run *r, const char *branch);
/* The last status; run_done() follows. */
void run_record_end(struct run *r);
void run_record_again(struct run *r);

#endif
