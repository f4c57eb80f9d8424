/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The queue of the tasks of this process that wait for room (docs/spec/tasks.md TK-24). Who may
 * start is decided in the ledger, for all processes of the user: a claim. Only the best of ours
 * is ever tried, for no other could get it: on each change of the ledger and each second, for
 * memory comes back without a word.
 */
#ifndef SYM_TASKS_CAPACITY_H
#define SYM_TASKS_CAPACITY_H

#include "tasks/ledger.h"

#define CAPACITY_RETRY_MS 1000

struct capacity;

struct capacity_opts {
    struct loop *loop;
    struct ledger *ledger;
    int max_running, min_free_mb;
    const char *meminfo; /* NULL: /proc/meminfo */
};
struct capacity *capacity_new(const struct capacity_opts *o);
void capacity_free(struct capacity *c); /* when no ticket is left */

struct ticket;
struct ticket_ops {
    /* There was no room at the first try: it waits. At most once. */
    void (*on_wait)(void *ctx);
    /* e NULL: the task is `starting` now. Else it cannot be claimed. Once; the ticket is gone
     * with it. */
    void (*on_claim)(void *ctx, const struct error *e);
};
/* Higher priority first, then the older id. Never calls back from inside. */
struct ticket *ticket_new(struct capacity *c, struct str id, int priority,
                          const struct ticket_ops *ops, void *ctx);
/* Gives up; the row stays as it is. True: a claim is under way, and may yet succeed: the row is
 * `created` or `starting`. */
bool ticket_free(struct ticket *t);

/* The ledger changed. */
void capacity_look(struct capacity *c);

/* MemAvailable of a text like /proc/meminfo, in MiB; -1: it has none. Pure. */
int64_t capacity_available_mb(struct str meminfo);

#endif
