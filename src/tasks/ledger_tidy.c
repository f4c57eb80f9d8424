/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Retention (TK-6) in slices of a few milliseconds. A task goes at once, its events after it:
 * its number stands in `doomed` until they are gone, whoever deletes them.
 */
#include "base/clock.h"
#include "tasks/ledger_rows.h"

#define SLICE_MS 10
#define DAY_MS   ((int64_t)24 * 3600 * 1000)
#define MB       ((uint64_t)1 << 20)
/* Free pages below this are kept for what comes next; beyond it the file shrinks. */
#define FREE_BYTES ((uint64_t)16 << 20)

static bool run_with(struct db *d, enum db_sql which, int64_t value, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, which, e);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, value);
    return db_run(d, s, "tidy up", e);
}

static bool number(struct db *d, enum db_sql which, int64_t *ret, struct error *e)
{
    return db_number(d, db_sql(d, which, e), "tidy up", ret, e);
}

/* ---- events of deleted tasks ---- */

static bool first_event(struct db *d, int64_t no, int64_t *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_EVENT_FIRST, e);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, no << DB_SEQ_BITS);
    sqlite3_bind_int64(s, 2, no << DB_SEQ_BITS | DB_SEQ_MAX);
    return db_number(d, s, "tidy up", ret, e);
}

static bool delete_events(struct db *d, int64_t no, struct error *e)
{
    int64_t end = clock_ms() + SLICE_MS, id;

    while (clock_ms() < end) {
        if (!first_event(d, no, &id, e))
            return false;
        if (!id)
            return run_with(d, SQL_DOOMED_DELETE, no, e);
        if (!run_with(d, SQL_EVENT_DELETE, id, e))
            return false;
    }
    return true;
}

/* ---- which task goes next ---- */

static bool used_bytes(struct db *d, uint64_t *ret, struct error *e)
{
    int64_t pages, free_pages;

    if (!number(d, SQL_PAGE_COUNT, &pages, e) || !number(d, SQL_FREE_COUNT, &free_pages, e))
        return false;
    *ret = (uint64_t)(pages - free_pages) * d->page_size;
    return true;
}

/* Bounds of 0 are none. */
static bool is_due(struct db *d, int64_t finished_ms, bool *ret, struct error *e)
{
    const struct ledger_config *c = &d->config;
    int64_t ended = 0;
    uint64_t used = 0;

    if (!number(d, SQL_TASK_ENDED_COUNT, &ended, e) || !used_bytes(d, &used, e))
        return false;
    *ret = (c->keep_days && finished_ms < clock_wall_ms() - c->keep_days * DAY_MS) ||
           (c->keep_tasks && ended > c->keep_tasks) ||
           (c->keep_mb && used > (uint64_t)c->keep_mb * MB);
    return true;
}

/* *ret: one went. */
static bool delete_oldest(struct db *d, bool *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_TASK_OLDEST, e);
    int64_t no, finished_ms;
    int rc;

    *ret = false;
    rc = s ? db_step(d, s, "tidy up", e) : -1;
    if (rc <= 0)
        return rc == 0;
    no = sqlite3_column_int64(s, 0);
    finished_ms = sqlite3_column_int64(s, 1);
    sqlite3_reset(s);
    if (!is_due(d, finished_ms, ret, e))
        return false;
    return !*ret || (run_with(d, SQL_TASK_DELETE, no, e) && run_with(d, SQL_DOOMED_ADD, no, e));
}

/* ---- one slice ---- */

static bool tidy_in(struct db *d, bool *ret_more, struct error *e)
{
    int64_t doomed, free_pages;

    if (!number(d, SQL_DOOMED_FIRST, &doomed, e))
        return false;
    *ret_more = doomed > 0;
    if (doomed)
        return delete_events(d, doomed, e);
    if (!delete_oldest(d, ret_more, e))
        return false;
    if (*ret_more)
        return true;
    if (!number(d, SQL_FREE_COUNT, &free_pages, e))
        return false;
    *ret_more = (uint64_t)free_pages * d->page_size > FREE_BYTES;
    return !*ret_more || db_run(d, db_sql(d, SQL_VACUUM, e), "shrink the file", e);
}

bool rows_tidy(void *db, bool *ret_more, struct error *e)
{
    struct db *d = db;

    *ret_more = false;
    return db_begin(d, DB_WRITE, e) && db_end(d, tidy_in(d, ret_more, e), e);
}
