/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Owners, and the end of tasks whose owner is gone (TK-5). */
#include "tasks/ledger_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

void read_owner(sqlite3_stmt *s, struct owner *ret)
{
    *ret = (struct owner){
        .pid = sqlite3_column_int64(s, 2),
        .pid_start = (uint64_t)sqlite3_column_int64(s, 3),
        .pidns = (uint64_t)sqlite3_column_int64(s, 5),
    };
    snprintf(ret->uuid, sizeof ret->uuid, "%.*s", STR_F(db_column(s, 0)));
    snprintf(ret->boot_id, sizeof ret->boot_id, "%.*s", STR_F(db_column(s, 4)));
}

/* ---- ourselves ---- */

bool become_owner(struct db *d, struct error *e)
{
    sqlite3_stmt *s;

    if (d->lock < 0)
        d->lock = owner_lock(d->owners, &d->self, e);
    if (d->lock < 0)
        return false;
    s = db_sql(d, SQL_OWNER_ADD, e);
    if (!s)
        return false;
    db_bind_str(s, 1, str_of(d->self.uuid));
    sqlite3_bind_int64(s, 2, d->self.pid);
    sqlite3_bind_int64(s, 3, (int64_t)d->self.pid_start);
    db_bind_str(s, 4, str_of(d->self.boot_id));
    sqlite3_bind_int64(s, 5, (int64_t)d->self.pidns);
    return db_run(d, s, "record the owner", e);
}

static bool has_tasks(struct db *d, const char *uuid)
{
    sqlite3_stmt *s = db_sql(d, SQL_OWNER_HAS_TASKS, NULL);
    int64_t n = 1; /* when in doubt */

    if (s)
        db_bind_str(s, 1, str_of(uuid));
    return !db_number(d, s, "count tasks", &n, NULL) || n > 0;
}

static bool forget_owner(struct db *d, const char *uuid, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_OWNER_DELETE, e);

    if (s)
        db_bind_str(s, 1, str_of(uuid));
    return s && db_run(d, s, "forget the owner", e);
}

void resign_owner(struct db *d)
{
    if (d->lock < 0 || has_tasks(d, d->self.uuid) || !forget_owner(d, d->self.uuid, NULL))
        return;
    owner_unlock(d->owners, d->self.uuid, take_fd(&d->lock));
}

/* ---- the others ---- */

struct orphan {
    char id[TASK_ID_LEN + 1];
    struct task_process process;
};

struct orphans {
    struct orphan *v;
    size_t n, cap;
};

static bool list_orphans(struct db *d, const struct owner *o, struct orphans *ret,
                         struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_OWNER_TASKS, e);
    int rc;

    if (!s)
        return false;
    db_bind_str(s, 1, str_of(o->uuid));
    while ((rc = db_step(d, s, "list an owner's tasks", e)) > 0) {
        struct orphan *at = &VEC_PUSH(ret);

        *at = (struct orphan){
            .process = { .pid = sqlite3_column_int64(s, 2),
                         .pid_start = (uint64_t)sqlite3_column_int64(s, 3),
                         .keeper = sqlite3_column_int64(s, 4),
                         .keeper_start = (uint64_t)sqlite3_column_int64(s, 5) },
        };
        snprintf(at->id, sizeof at->id, "%.*s", STR_F(db_column(s, 0)));
    }
    return rc == 0;
}

static bool fail_orphan(struct db *d, const struct orphan *o, struct error *e)
{
    static const struct task_event_row lost = {
        .type = TASK_EV_ERROR, .data = { "{\"message\":\"owner lost\"}", 24 }
    };
    struct task_change c = {
        .id = str_of(o->id),
        .from = 1u << TASK_CREATED | 1u << TASK_STARTING | 1u << TASK_RUNNING,
        .to = TASK_FAILED,
        .set = { .finished = true },
        .events = &lost,
        .nevents = 1,
    };
    bool done;

    return change_task(d, &c, &done, e);
}

static bool fail_orphans(struct db *d, const struct owner *o, const struct orphans *all,
                         struct error *e)
{
    bool ok = db_begin(d, DB_DURABLE, e);

    if (!ok)
        return false;
    for (size_t i = 0; i < all->n && ok; i++)
        ok = fail_orphan(d, &all->v[i], e);
    return db_end(d, ok && forget_owner(d, o->uuid, e), e);
}

/*
 * Whatever ran is ended before the ledger says that it is: whoever reads `failed` may start the
 * next one in the same workspace. The agent's keeper ends its tree by itself when the owner
 * dies; only one that does not is ended by force, and the agent when even its keeper is gone.
 */
static bool bury(struct db *d, const struct owner *o, struct error *e)
{
    struct orphans all = { 0 };
    bool ok = list_orphans(d, o, &all, e);
    int64_t until = clock_ms() + OWNER_KEEPER_MS;

    for (size_t i = 0; i < all.n && ok; i++) {
        const struct task_process *p = &all.v[i].process;
        int64_t left = until - clock_ms(); /* all of them end at the same time */

        owner_end_process(o, (pid_t)p->keeper, p->keeper_start, left > 0 ? (int)left : 0);
        owner_end_process(o, (pid_t)p->pid, p->pid_start, 0);
    }
    ok = ok && fail_orphans(d, o, &all, e);
    free(all.v);
    return ok;
}

struct other {
    struct owner owner;
    bool has_tasks; /* that have not ended */
};

struct others {
    struct other *v;
    size_t n, cap;
};

static bool list_others(struct db *d, struct others *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_OWNER_OTHERS, e);
    int rc;

    if (!s)
        return false;
    db_bind_str(s, 1, str_of(d->self.uuid));
    while ((rc = db_step(d, s, "list owners", e)) > 0) {
        struct other *o = &VEC_PUSH(ret);

        o->has_tasks = sqlite3_column_int64(s, 1) > 0;
        read_owner(s, &o->owner);
    }
    return rc == 0;
}

static bool counts(void *ctx, const char *uuid)
{
    return has_tasks(ctx, uuid);
}

/* One that died between two tasks has left its row and its file only. */
static bool look_after(struct db *d, const struct other *o, bool *ret_others, struct error *e)
{
    int lock = owner_take(d->owners, &o->owner);

    if (lock < 0) {
        *ret_others |= o->has_tasks;
        return true;
    }
    if (!bury(d, &o->owner, e)) {
        close(lock);
        return false;
    }
    owner_unlock(d->owners, o->owner.uuid, lock);
    return true;
}

bool rows_recover(void *db, bool *ret_others, struct error *e)
{
    struct db *d = db;
    struct others all = { 0 };
    struct error more;
    bool ok = list_others(d, &all, e);

    *ret_others = false;
    for (size_t i = 0; i < all.n; i++) /* one that cannot be buried hides none behind it */
        ok = look_after(d, &all.v[i], ret_others, ok ? e : &more) && ok;
    free(all.v);
    if (ok && !d->swept)
        owner_sweep(d->owners, counts, d);
    d->swept = true;
    return ok;
}
