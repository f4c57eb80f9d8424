/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The SQLite connection of the ledger: the file and its checks, statements, transactions,
 * errors. For ledger_sqlite's files alone; the ledger's thread only.
 *
 *   task    one row each, by `no` (rising, never used again); large texts are the last columns
 *   event   id = task.no << 32 | seq: the events of a task lie side by side in the order of
 *           seq, unique without an index. The view task_event shows them by task and seq
 *   owner   who owns tasks that have not ended
 *   doomed  numbers of deleted tasks whose events are still to be deleted
 *
 * `status`, `kind`, `resolution` and `type` are the numbers of the enums of tasks/task.h.
 */
#ifndef SYM_TASKS_LEDGER_DB_H
#define SYM_TASKS_LEDGER_DB_H

#include "tasks/ledger_engine.h"
#include "tasks/ledger_lib.h"
#include "tasks/owner.h"

#define DB_FILE           "tasks.db"
#define DB_APPLICATION_ID 0x53796d70 /* "Symp" */
#define DB_SCHEMA_VERSION 1
#define DB_SEQ_BITS       32
#define DB_SEQ_MAX        (((int64_t)1 << DB_SEQ_BITS) - 1)

/* One prepared statement each, made when first used. */
enum db_sql {
    SQL_TASK_BY_ID,
    SQL_TASK_BRIEF,
    SQL_TASK_BY_KEY,
    SQL_TASK_ADD,
    SQL_TASK_CHANGE,
    SQL_TASK_HEAD,
    SQL_TASK_SET_HEAD,
    SQL_TASK_LIST,
    SQL_TASK_CANCELS,
    SQL_TASK_RUNNING,
    SQL_CLAIM_ROOM,
    SQL_CLAIM_BETTER,
    SQL_CLAIM_TAKE,
    SQL_EVENT_ADD,
    SQL_EVENT_READ,
    SQL_EVENT_OUTPUT,
    SQL_EVENT_DELETE,
    SQL_EVENT_FIRST,
    SQL_EVENT_SAID,
    SQL_OWNER_ADD,
    SQL_OWNER_DELETE,
    SQL_OWNER_HAS_TASKS,
    SQL_OWNER_OTHERS,
    SQL_OWNER_TASKS,
    SQL_DOOMED_FIRST,
    SQL_DOOMED_ADD,
    SQL_DOOMED_DELETE,
    SQL_TASK_DELETE,
    SQL_TASK_OLDEST,
    SQL_TASK_ENDED_COUNT,
    SQL_DATA_VERSION,
    SQL_PAGE_COUNT,
    SQL_FREE_COUNT,
    SQL_VACUUM,
    SQL_COUNT,
};

struct db {
    sqlite3 *sqlite;
    struct arena arena;              /* the paths */
    const char *dir, *path, *owners; /* owners: the directory of locks */
    struct ledger_config config;
    bool network;          /* of the file system: no WAL, nobody tells of changes (TK-3) */
    bool full_sync, swept; /* swept: old lock files were looked for */
    sqlite3_stmt *statements[SQL_COUNT];
    struct owner self;
    int lock; /* our owner's; -1: no task yet */
    uint64_t page_size;
    int64_t busy_since; /* of the wait for others that is under way */
};

/* Opens, checks, makes the schema. A database that is not ours, is newer or is damaged is left
 * as it is. */
bool db_open(struct db *d, const struct ledger_config *c, struct error *e);
void db_close(struct db *d);

/* NFS and the like, by statfs(2)'s type. */
bool db_is_network(long fs_type);
void db_take_for_network(bool always); /* for tests: whatever the type */

/* ---- statements ---- */

/* Reset and without bindings; NULL: *e. Valid until it is asked for again. */
sqlite3_stmt *db_sql(struct db *d, enum db_sql which, struct error *e);
void db_bind_str(sqlite3_stmt *s, int at, struct str text); /* empty is ''; not copied */
void db_bind_opt(sqlite3_stmt *s, int at, struct str text); /* empty is NULL; not copied */
struct str db_column(sqlite3_stmt *s, int at);              /* valid until the next step */
struct str db_column_copy(sqlite3_stmt *s, int at, struct arena *a);

/* SQLITE_ROW: 1, SQLITE_DONE: 0, else -1 and *e. `what` names the deed, for people. */
int db_step(struct db *d, sqlite3_stmt *s, const char *what, struct error *e);
/* For statements without rows. */
bool db_run(struct db *d, sqlite3_stmt *s, const char *what, struct error *e);
/* A single number; *ret is 0 when there is no row. */
bool db_number(struct db *d, sqlite3_stmt *s, const char *what, int64_t *ret, struct error *e);
/* What SQLite said last, as one of our errors. */
bool db_failed(struct db *d, const char *what, struct error *e);

/* ---- transactions ---- */

enum db_mode {
    DB_READ,
    DB_WRITE,   /* survives the end of the process */
    DB_DURABLE, /* and a power cut */
};
bool db_begin(struct db *d, enum db_mode mode, struct error *e);
/* Commits if `ok`, else takes all back; answers whether it is committed. */
bool db_end(struct db *d, bool ok, struct error *e);

#endif
