/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs as tasks of the ledger (docs/spec/tasks.md TK-61), so that `symposium task ls` shows
 * them. The ledger is a record, not a condition: when it cannot be used there is one warning
 * and the runs go on.
 */
#ifndef SYM_SERVERS_AGENTS_RECORD_H
#define SYM_SERVERS_AGENTS_RECORD_H

#include "loop/loop.h"
#include "servers/agents/fault.h"
#include "servers/agents/run.h"
#include "tasks/ledger.h"

struct recorder; /* one a server */
struct record;   /* one a run */

/* on_cancel: somebody asked for the end of that run (TK-4); `owner` is record_begin()'s. */
struct recorder *recorder_new(struct loop *l, const struct ledger_config *config,
                              void (*on_cancel)(void *owner));
/* `done` once all is written, or cannot be. */
void recorder_flush(struct recorder *r, void (*done)(void *ctx), void *ctx);
void recorder_free(struct recorder *r);

struct record_new {
    struct str agent, workspace, session, prompt;
};

/* All accept a NULL recorder or record. */
struct record *record_begin(struct recorder *r, const struct record_new *n, void *owner);
void record_call(struct record *t, const struct run_call *call);
void record_message(struct record *t, struct str text);
/* The end; the record is gone. f == NULL: succeeded. */
void record_end(struct record *t, struct str text, const struct fault *f);

#endif
