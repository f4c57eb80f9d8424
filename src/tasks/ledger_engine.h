/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a ledger's engine is (docs/spec/tasks.md FL-1): a table of functions behind the queue of
 * tasks/ledger.h. All run on the ledger's thread, one at a time, and may block; none logs. An
 * answer's memory is of the arena that comes with it. A function that writes returns when its
 * write is committed; false: nothing of it is, and *e says why.
 */
#ifndef SYM_TASKS_LEDGER_ENGINE_H
#define SYM_TASKS_LEDGER_ENGINE_H

#include "tasks/ledger.h"

/* Where an answer goes. */
struct ledger_reply {
    struct arena *arena;
    struct ledger_answer *answer;
    const struct task_running *running; /* of `running` alone */
    size_t nrunning;
};

/* One event of a group; what became of it is told one by one. */
enum ledger_appended { LEDGER_APPENDED, LEDGER_DROPPED, LEDGER_NO_TASK, LEDGER_OVERFULL };
struct ledger_append {
    struct str id, data;
    enum task_event type;
    enum ledger_appended became;
};

/* What the front has to know of an open engine. */
struct ledger_traits {
    const char *watch_dir, *watch_name; /* a file that other writers touch; NULL: none */
    const char *note;                   /* to be said once; NULL: nothing */
};

struct ledger_engine {
    const char *name;
    /* NULL: *e names the place. Tried again at later requests. */
    void *(*open)(const struct ledger_config *c, struct error *e);
    void (*close)(void *db);
    void (*traits)(void *db, struct ledger_traits *ret);

    bool (*submit)(void *db, const struct task_new *t, struct ledger_reply *r, struct error *e);
    bool (*claim)(void *db, struct str id, int max_running, struct ledger_reply *r,
                  struct error *e);
    bool (*change)(void *db, const struct task_change *c, struct ledger_reply *r,
                   struct error *e);
    /* One transaction; `durable`: it outlives a power cut too. */
    bool (*append)(void *db, struct ledger_append *v, size_t n, bool durable, struct error *e);
    bool (*cancels)(void *db, struct ledger_reply *r, struct error *e);
    bool (*get)(void *db, const struct str *ids, size_t n, bool whole, struct ledger_reply *r,
                struct error *e);
    bool (*result)(void *db, struct str id, struct ledger_reply *r, struct error *e);
    bool (*events)(void *db, const struct events_query *q, struct ledger_reply *r,
                   struct error *e);
    bool (*list)(void *db, const struct list_query *q, struct ledger_reply *r, struct error *e);
    bool (*running)(void *db, struct ledger_reply *r, struct error *e);

    /* Ends the tasks whose owners are gone (TK-5). *ret_others: there are tasks of others that
     * have not ended, so ask again. */
    bool (*recover)(void *db, bool *ret_others, struct error *e);
    /* A number that changes whenever anybody has committed a change. */
    bool (*version)(void *db, uint64_t *ret, struct error *e);
    /* One slice of retention (TK-6), a few milliseconds. *ret_more: there is more to do. */
    bool (*tidy)(void *db, bool *ret_more, struct error *e);
    /* Says that this process lives; at least each LEDGER_HEARTBEAT_MS. NULL: not needed. */
    bool (*heartbeat)(void *db, struct error *e);
};

#define LEDGER_HEARTBEAT_MS 10000

/* What an agent can make any amount of: it is committed in groups, and dropped at the cap. All
 * else is always recorded. */
bool ledger_is_bulk(enum task_event t);

#endif
