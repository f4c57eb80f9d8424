/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the SQLite engine share: the functions behind the table of
 * tasks/ledger_engine.h, and the parts they are made of. */
#ifndef SYM_TASKS_LEDGER_ROWS_H
#define SYM_TASKS_LEDGER_ROWS_H

#include "tasks/ledger_db.h"

/* ---- ledger_read.c ---- */

void read_task(sqlite3_stmt *s, struct arena *a, struct task_record *ret); /* WHOLE or BRIEF */
/* ERR_NOT_FOUND names it. Within a transaction of the caller's, or alone. */
bool find_task(struct db *d, struct str id, bool whole, struct ledger_reply *r,
               struct error *e);
bool no_such_task(struct str id, struct error *e); /* sets *e, returns false */

bool rows_get(void *db, const struct str *ids, size_t n, bool whole, struct ledger_reply *r,
              struct error *e);
bool rows_result(void *db, struct str id, struct ledger_reply *r, struct error *e);
bool rows_events(void *db, const struct events_query *q, struct ledger_reply *r,
                 struct error *e);
bool rows_list(void *db, const struct list_query *q, struct ledger_reply *r, struct error *e);
bool rows_running(void *db, struct ledger_reply *r, struct error *e);
bool rows_cancels(void *db, struct ledger_reply *r, struct error *e);

/* ---- ledger_event.c ---- */

/* What grows with a task's events: read once, changed by each event, written back. */
struct head {
    char id[TASK_ID_LEN + 1];
    int64_t no, last_seq, first_seq, trim_seq, bytes, max_bytes;
    enum task_status status;
    bool capped;
};
bool head_read(struct db *d, struct str id, struct head *ret, struct error *e);
bool head_write(struct db *d, const struct head *h, struct error *e);
/* Makes room within the cap if it must. *ret says what became of it. */
bool head_add(struct db *d, struct head *h, enum task_event type, struct str data,
              enum ledger_appended *ret, struct error *e);
/* The same for what ends a task, or asks for its end: it gets in past every cap. There are few
 * of these in a task's life. */
bool head_add_last(struct db *d, struct head *h, enum task_event type, struct str data,
                   struct error *e);
bool rows_append(void *db, struct ledger_append *v, size_t n, bool durable, struct error *e);

/* ---- ledger_write.c ---- */

/* Within a transaction of the caller's; *ret: done, or the task was not as it had to be. */
bool change_task(struct db *d, const struct task_change *c, bool *ret, struct error *e);
bool rows_submit(void *db, const struct task_new *t, struct ledger_reply *r, struct error *e);
bool rows_claim(void *db, struct str id, int max_running, struct ledger_reply *r,
                struct error *e);
bool rows_change(void *db, const struct task_change *c, struct ledger_reply *r,
                 struct error *e);

/* ---- ledger_recover.c ---- */

/* The owner of a row of SQL_OWNER_OTHERS or SQL_CLAIM_BETTER. */
void read_owner(sqlite3_stmt *s, struct owner *ret);
/* This process becomes an owner, if it is none yet; within a transaction. */
bool become_owner(struct db *d, struct error *e);
void resign_owner(struct db *d); /* when all its tasks have ended */
bool rows_recover(void *db, bool *ret_others, struct error *e);

/* ---- ledger_tidy.c ---- */

bool rows_tidy(void *db, bool *ret_more, struct error *e);

#endif
