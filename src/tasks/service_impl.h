/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the service share: its state, and one call under way. */
#ifndef SYM_TASKS_SERVICE_IMPL_H
#define SYM_TASKS_SERVICE_IMPL_H

#include "loop/timer.h"
#include "tasks/service.h"
#include "tasks/service_args.h"

#define SERVICE_RESULT_MAX ((size_t)64 << 20) /* bytes of one result */

/*
 * One call from its arrival to its one answer. Those that ask the ledger or wait do so with the
 * op as ctx; whoever made it frees nothing: op_answer() and op_refuse() end it.
 */
struct op {
    struct op *next;
    struct service *s;
    struct arena arena;
    service_fn done; /* NULL: the caller is gone, and the op ends unanswered */
    void *ctx;
    void *own; /* of the kind of call; in the arena */

    /* Optional. The ledger changed: only while it waits. */
    void (*on_change)(struct op *o);
    /* Optional. No more input comes: answer soon. */
    void (*hurry)(struct op *o);
    /* Optional: frees what the arena does not. Also told when the service ends. */
    void (*cleanup)(struct op *o);
    bool survives; /* goes on when the caller is gone: it does something */

    /* An answer found inside the call that asked. */
    struct timer *soon;
    enum task_code code;
    struct str text;
};

/* A run of this process. */
struct hand {
    struct hand *next;
    struct service *s;
    struct run *run;
    struct op *spawner; /* waits to hear how it began; NULL: nobody */
};

/* A task whose changes somebody follows (TK-23). */
struct followed {
    struct followed *next;
    char id[TASK_ID_LEN + 1];
    int64_t seq;        /* that was told; -1: not known yet */
    bool asked, again;  /* a question is under way; and one is due after it */
    struct timer *pace; /* set while the second since it was told runs */
    bool pending;       /* to be told after it */
    struct service *s;
};

struct service {
    struct loop *loop;
    const struct service_config *config; /* and what it points to: the caller's */
    struct arena arena;
    struct adapters adapters;
    struct ledger *ledger;
    struct runs *runs;
    struct op *ops;
    size_t spawning; /* ops that may still make a run */
    struct hand *hands;

    struct ledger_watch *watch; /* while an op waits or a task is followed */
    struct followed *followed;
    void (*changed)(void *ctx, struct str id);
    void *changed_ctx;

    bool closing;  /* TK-22 */
    bool flushing; /* nothing runs any more */
    void (*idle)(void *ctx);
    void *idle_ctx;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

struct op *op_new(struct service *s, service_fn done, void *ctx);
/* From a callback: ends the op, the caller is told last of all. */
void op_answer(struct op *o, struct str result);
void op_refuse(struct op *o, enum task_code code, struct str text);
/* The same for an error of the ledger, by its kind. */
void op_refuse_error(struct op *o, const struct error *e);
/* From inside the call that made the op: the answer follows in the next turn of the loop. */
void op_refuse_soon(struct op *o, enum task_code code, struct str text);

/* The op begins or ends to wait for changes (on_change is set, or NULL). */
void op_wait(struct op *o, void (*on_change)(struct op *o));

/* A spawn or a run is over: what waits for the last one is told. */
void service_look_whether_stopped(struct service *s);

/* The answer of all tools that give a task. */
void op_answer_record(struct op *o, const struct task_record *t);

#endif
