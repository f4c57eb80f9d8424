/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_sqlite.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tasks/ledger_rows.h"

static void close_db(void *db)
{
    struct db *d = db;

    if (d->sqlite)
        resign_owner(d);
    db_close(d);
    free(d);
}

static void *open_db(const struct ledger_config *c, struct error *e)
{
    struct db *d = NEW(struct db);

    if (db_open(d, c, e))
        return d;
    db_close(d);
    free(d);
    return NULL;
}

/* A file system of the network does not tell what other machines write. */
static void traits(void *db, struct ledger_traits *ret)
{
    struct db *d = db;

    *ret = (struct ledger_traits){ 0 };
    if (!d->network) {
        ret->watch_dir = d->dir;
        ret->watch_name = DB_FILE "-wal";
        return;
    }
    ret->note = arena_printf(&d->arena,
                             "'%s' is on a network file system: the ledger keeps a rollback "
                             "journal, and changes of others are asked for",
                             d->path);
}

/* data_version changes with the commits of others alone; our own count by rows. */
static bool version(void *db, uint64_t *ret, struct error *e)
{
    struct db *d = db;
    int64_t others;

    if (!db_number(d, db_sql(d, SQL_DATA_VERSION, e), "look for changes", &others, e))
        return false;
    *ret = (uint64_t)(others + sqlite3_total_changes64(d->sqlite));
    return true;
}

const struct ledger_engine ledger_sqlite = {
    .name = "sqlite",
    .open = open_db,
    .close = close_db,
    .traits = traits,
    .submit = rows_submit,
    .claim = rows_claim,
    .change = rows_change,
    .append = rows_append,
    .cancels = rows_cancels,
    .get = rows_get,
    .result = rows_result,
    .events = rows_events,
    .list = rows_list,
    .running = rows_running,
    .recover = rows_recover,
    .version = version,
    .tidy = rows_tidy,
};
