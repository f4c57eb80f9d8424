/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The two sides of a ledger: ledger.c on the loop's thread makes requests and answers them,
 * ledger_thread.c in between has the engine serve them.
 *
 *   open ─────────> request ── request ── request ── request     all of them, in order (loop)
 *                   ready      ready         ^
 *   queue ───────────────────────────────────┴── request         not yet taken (lock)
 *
 * A request belongs to the thread from when it is queued until it is `ready`, except for
 * `done`, `ctx` and `dropped`, which are always the loop's.
 */
#ifndef SYM_TASKS_LEDGER_QUEUE_H
#define SYM_TASKS_LEDGER_QUEUE_H

#include <pthread.h>

#include "loop/bell.h"
#include "loop/filewatch.h"
#include "loop/timer.h"
#include "tasks/ledger_engine.h"

#define LEDGER_GROUP_MAX     512 /* events of one transaction */
#define LEDGER_GROUP_BYTES   ((size_t)1 << 20)
#define LEDGER_GATHER_MS     100  /* how long output waits for more; <= LEDGER_GROUP_MS */
#define LEDGER_NOTICE_GAP_MS 20   /* watches are called at most this often */
#define LEDGER_RECOVER_MS    5000 /* between two looks for dead owners (TK-5) */
#define LEDGER_REOPEN_MS     1000
#define LEDGER_TIDY_FIRST_MS 2000  /* after opening */
#define LEDGER_TIDY_MS       60000 /* after a write */
#define LEDGER_TIDY_PAUSE_MS 20    /* between slices: others write too */
#define LEDGER_TURN_MS       5     /* of answers in one turn of the loop */

enum ledger_op {
    OP_SUBMIT,
    OP_CLAIM,
    OP_CHANGE,
    OP_APPEND,
    OP_CANCELS,
    OP_GET,
    OP_RESULT,
    OP_EVENTS,
    OP_LIST,
    OP_RUNNING,
    OP_FLUSH,
};

struct request {
    struct request *next;   /* of all open ones */
    struct request *queued; /* of those that the thread has not taken */
    enum ledger_op op;
    struct arena arena; /* what it asks and the answer */
    size_t bytes;       /* of what it asks */
    union {
        struct task_new submit;
        struct {
            struct str id;
            int max_running;
        } claim;
        struct task_change change;
        struct {
            struct str id, data;
            enum task_event type;
        } append;
        struct {
            struct str *ids;
            size_t n;
            bool whole;
        } get;
        struct str id; /* result */
        struct events_query events;
        struct list_query list;
    } in;
    struct ledger_reply reply;
    struct ledger_answer answer;
    struct error *failed; /* in the arena; NULL: it was done */
    bool ready;           /* lock */
    /* the loop's */
    ledger_fn done;
    ledger_running_fn running_done;
    void (*flushed)(void *ctx);
    void *ctx;
    bool dropped;
};

/* The thread's own. A time of INT64_MAX is never. */
struct ledger_keeping {
    void *db; /* NULL: not open */
    struct error not_open;
    int64_t opened_ms; /* of the last attempt */
    struct request *group[LEDGER_GROUP_MAX];
    size_t ngroup, group_bytes;
    int64_t group_due, check_due, recover_due, tidy_due, heartbeat_due;
    size_t check_step; /* of the looks that follow a touch of the file */
    uint64_t version;
    int64_t recovered_ms;
    bool others;   /* there may be open tasks of other owners */
    bool troubled; /* that those of dead ones cannot be ended was told */
};

struct ledger {
    /* fixed */
    struct loop *loop;
    const struct ledger_engine *engine;
    struct ledger_config config;
    struct bell *bell;
    pthread_t thread;
    bool has_thread;
    /* the loop's */
    struct request *open, **open_end;
    size_t nopen, bytes;
    struct ledger_watch *watches;
    struct filewatch *file;
    struct timer *notice;
    int64_t noticed_ms;
    bool watch_ready, told_loss;
    int calling; /* callbacks that are under way */
    bool ended;  /* freed from inside one of them: it goes with the last */
    /* between the threads */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct request *queue, **queue_end;
    bool stopping, touched, watching, polling; /* said to the thread */
    bool changed, opened;                      /* said by the thread */
    char *watch_dir, *watch_name, *note;       /* set before `opened` */
    char *trouble;                             /* to be told; NULL: none */
    /* the thread's */
    struct ledger_keeping keep;
};

/* ledger_thread.c: runs until `stopping` is set and the queue is empty. */
void *ledger_thread(void *ledger);

#endif
