/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One tools/call done on the thread pool: the handler copies what it needs into the job's
 * arena, `run` fills the answer, the answer goes out by itself. A cancelled request ends the
 * job unanswered; progress is sent while it runs when the client asked for it.
 */
#ifndef SYM_SERVERS_JOB_H
#define SYM_SERVERS_JOB_H

#include "servers/sending.h"

struct job {
    struct arena arena;   /* lives until the job is freed; the job alone uses it once started */
    struct answer answer; /* filled by `run` */
    void *ctx;            /* the handler's own; may point into the arena */
    void (*cleanup)(struct job *j); /* optional: on the loop's thread, last of all */
    const struct server_spec *def;
    /* the rest is job.c's */
    struct server *server;
    struct mcp_req *r; /* NULL once cancelled */
    struct work *work;
    struct work *running; /* the same, for the pool's thread */
    struct sending sending;
    struct timer *tick;
    void (*run)(struct job *j);
};

struct job *job_new(struct server *s, struct mcp_req *r);
/* Takes the job and its request. */
void job_start(struct job *j, enum work_kind kind, void (*run)(struct job *j));
/* Instead: answers with what j->answer holds now, without a run. Takes both too. */
void job_reply(struct job *j);

/* From `run`. */
bool job_cancelled(const struct job *j);
void job_advance(struct job *j, uint64_t by);

#endif
