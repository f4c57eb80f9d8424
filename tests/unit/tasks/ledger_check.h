/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A ledger in a directory of its own, asked one thing after the other. */
#ifndef SYM_TEST_LEDGER_CHECK_H
#define SYM_TEST_LEDGER_CHECK_H

#include "../loop_check.h"

#include "tasks/ledger.h"

#define ASK_MS 10000

struct world {
    struct loop *loop;
    struct ledger *ledger;
    char dir[PATH_MAX];   /* of the test */
    char state[PATH_MAX]; /* of the ledger: dir/state */
    struct ledger_config config;
};

/* What one request brought; lives until the next `ask_` on it or got_free(). */
struct got {
    struct loop *loop;
    struct arena arena;
    struct ledger_answer a;
    struct error e; /* ERR_NONE: it was done */
    int times;
};

void world_open(struct world *w);   /* a new directory and its ledger */
void world_reopen(struct world *w); /* as after an orderly end */
void world_close(struct world *w);
void ledger_of(struct world *w); /* opens the ledger of w->config */

void on_got(void *ctx, const struct ledger_answer *a, const struct error *e);
void await(struct got *g); /* until it has come */
void got_free(struct got *g);

/* Each asks, waits, and leaves the answer in *g; the ones with `ok_` fail the test on an error.
 */
void ask_submit(struct world *w, const struct task_new *t, struct got *g);
void ask_claim(struct world *w, const char *id, int max_running, struct got *g);
void ask_change(struct world *w, const struct task_change *c, struct got *g);
void ask_append(struct world *w, const char *id, enum task_event type, const char *data,
                struct got *g);
void ask_get(struct world *w, const char *id, struct got *g);
void ask_events(struct world *w, const char *id, int64_t after, int limit, struct got *g);
void ask_list(struct world *w, const struct list_query *q, struct got *g);

/* A task like most, with a new id into `id`. */
struct task_new task_like(char id[TASK_ID_LEN + 1]);
void ok_submit(struct world *w, char id[TASK_ID_LEN + 1]); /* task_like() */
void ok_run(struct world *w, const char *id);              /* created -> running */
void ok_end(struct world *w, const char *id, enum task_status to);
void ok_append(struct world *w, const char *id, enum task_event type, const char *data);

/* Events 1..last_seq are there without a gap, from first_seq on; returns last_seq. */
int64_t check_dense(struct world *w, const char *id);

/* One number that the SQL gives, read by a connection of its own. */
int64_t sql_number(struct world *w, const char *sql);
void sql_do(struct world *w, const char *sql);

#endif
