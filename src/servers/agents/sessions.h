/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The agents that were spawned (AG-10 to AG-16): who runs, what waits for them, what is kept of
 * those that ended.
 *
 *   spawn ──> RUNNING ──> COMPLETED | FAILED ──send_input──> RUNNING
 *                             └── more than SESSIONS_KEPT: the least recently used goes
 */
#ifndef SYM_SERVERS_AGENTS_SESSIONS_H
#define SYM_SERVERS_AGENTS_SESSIONS_H

#include "servers/agents/record.h"
#include "servers/agents/roster.h"
#include "servers/agents/run.h"
#include "servers/skills/skillset.h"

#define SESSIONS_RUNNING   8
#define SESSIONS_QUEUE     16 /* messages that wait for one session */
#define SESSIONS_KEPT      64 /* that have ended */
#define SESSION_ID_LEN     36 /* "agt_" and 32 hex digits */
#define SESSION_SYSTEM_MAX ((size_t)4 << 20)
/* Of a result that is kept (AG-7): twice in an answer, and each byte may need six there. */
#define SESSION_RESULT_MAX ((size_t)512 << 10)

enum session_state { SESSION_RUNNING, SESSION_COMPLETED, SESSION_FAILED };
const char *session_state_name(enum session_state s);

struct session {
    char id[SESSION_ID_LEN + 1];
    const struct agent_def *def;
    enum session_state state;
    char *result;       /* COMPLETED */
    struct fault fault; /* FAILED */
    struct activity activity;
    int64_t began_ms, ended_ms; /* of the last run; clock_ms() */
    unsigned waits;             /* who waits for it: it is not evicted meanwhile */

    /* the rest is sessions.c's */
    struct sessions *all;
    struct session *next;
    char *system;
    struct buf history;
    char *queue[SESSIONS_QUEUE];
    size_t nqueue;
    struct agent_run *run;
    struct record *record;
    char *text;    /* of the last turn; NULL: it failed */
    uint64_t used; /* the tick of its last use */
};

struct sessions_ops {
    /* The activity or the state of a session changed. */
    void (*on_change)(void *ctx, struct session *s);
    /* Nothing runs any more. */
    void (*on_idle)(void *ctx);
};

struct sessions_opts {
    const struct run_env *env;
    const struct roster *roster;
    const struct skillset *skills;
    struct recorder *recorder; /* NULL: none */
    /* Whether the definition has the consent it needs (AG-28). */
    bool (*may_run)(void *ctx, const struct agent_def *d);
    void *ctx; /* of may_run */
};

struct sessions;
struct sessions *sessions_new(const struct sessions_opts *o, const struct sessions_ops *ops,
                              void *ctx);
/* Kills what runs. */
void sessions_free(struct sessions *all);

/* NULL, and why. The strings are copied. */
struct session *sessions_spawn(struct sessions *all, struct str name, struct str task,
                               struct fault *f);
struct session *sessions_find(struct sessions *all, struct str id); /* NULL: unknown */
bool sessions_send(struct sessions *all, struct session *s, struct str message, bool interrupt,
                   struct fault *f);
/* They count as used just now, all at the same time. */
void sessions_touch(struct sessions *all, struct session *const *v, size_t n);

/* From recorder_new(): ends that run, and what waits for it is dropped. */
void session_cancel(void *session);
/* The same for all; on_idle follows, at once when nothing runs. */
void sessions_cancel(struct sessions *all);

#endif
