/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_rows.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define EVENT_MAX ((size_t)1 << 20) /* of the events made here */

/* ---- change ---- */

static void bind_int_opt(sqlite3_stmt *s, int at, const int *value)
{
    if (value)
        sqlite3_bind_int(s, at, *value);
}

static void bind_nonzero(sqlite3_stmt *s, int at, int64_t value)
{
    if (value)
        sqlite3_bind_int64(s, at, value);
}

static bool update_task(struct db *d, const struct head *h, const struct task_change *c,
                        enum task_status to, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_TASK_CHANGE, e);
    int64_t now = clock_wall_ms();

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, h->no);
    sqlite3_bind_int(s, 2, to);
    bind_nonzero(s, 3, c->set.started ? now : 0);
    bind_nonzero(s, 4, c->set.finished ? now : 0);
    sqlite3_bind_int(s, 5, c->set.cancel_requested);
    if (c->set.resolve) {
        sqlite3_bind_int(s, 6, c->set.resolution);
        sqlite3_bind_int64(s, 7, now);
    }
    db_bind_opt(s, 8, c->set.note);
    db_bind_opt(s, 9, c->set.stop_reason);
    db_bind_opt(s, 10, c->set.session_id);
    db_bind_opt(s, 11, c->set.usage);
    db_bind_opt(s, 12, c->set.worktree);
    db_bind_opt(s, 13, c->set.branch);
    db_bind_opt(s, 14, c->set.result_text);
    bind_int_opt(s, 15, c->set.exit_code);
    bind_int_opt(s, 16, c->set.signal);
    bind_nonzero(s, 17, c->set.process.pid);
    bind_nonzero(s, 18, (int64_t)c->set.process.pid_start);
    bind_nonzero(s, 19, c->set.process.keeper);
    bind_nonzero(s, 20, (int64_t)c->set.process.keeper_start);
    return db_run(d, s, "change the task", e);
}

/* An event that must get in, or the whole change is refused. */
static bool add_surely(struct db *d, struct head *h, enum task_event type, struct str data,
                       struct error *e)
{
    enum ledger_appended became;

    if (!head_add(d, h, type, data, &became, e))
        return false;
    if (became == LEDGER_OVERFULL)
        return error_set(e, ERR_LIMIT, "task '%s' has no room for one more event", h->id);
    return true;
}

static bool add_status_event(struct db *d, struct head *h, enum task_status to, struct error *e)
{
    auto_buf text = BUF(EVENT_MAX);
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kstrz(&w, "from", task_status_name(h->status));
    jw_kstrz(&w, "to", task_status_name(to));
    jw_end(&w);
    return head_add_last(d, h, TASK_EV_STATUS, buf_str(&text), e);
}

bool change_task(struct db *d, const struct task_change *c, bool *ret, struct error *e)
{
    enum task_status to;
    struct head h;
    bool last; /* words of the task, for which there is always room */

    *ret = false;
    if (!head_read(d, c->id, &h, e))
        return false;
    to = c->keep_status ? h.status : c->to;
    if (!(c->from & 1u << h.status) || (to != h.status && !task_may_become(h.status, to)))
        return true;
    last = to != h.status || c->set.cancel_requested;
    for (size_t i = 0; i < c->nevents; i++) {
        if (!(last ? head_add_last : add_surely)(d, &h, c->events[i].type, c->events[i].data,
                                                 e))
            return false;
    }
    if (to != h.status && !add_status_event(d, &h, to, e))
        return false;
    *ret = true;
    return head_write(d, &h, e) && update_task(d, &h, c, to, e);
}

bool rows_change(void *db, const struct task_change *c, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;

    return db_begin(d, DB_DURABLE, e) &&
           db_end(d, change_task(d, c, &r->answer->yes, e) && find_task(d, c->id, true, r, e),
                  e);
}

/* ---- submit ---- */

/* The task that has this key already (TK-8), as the answer; *ret: there is one. */
static bool find_by_key(struct db *d, const struct task_new *t, struct ledger_reply *r,
                        bool *ret, struct error *e)
{
    sqlite3_stmt *s;
    int rc;

    *ret = false;
    if (!t->idempotency_key.n)
        return true;
    s = db_sql(d, SQL_TASK_BY_KEY, e);
    if (!s)
        return false;
    db_bind_str(s, 1, t->record.initiator_id);
    db_bind_str(s, 2, t->idempotency_key);
    rc = db_step(d, s, "look for the key", e);
    if (rc > 0) {
        struct task_record *found = ARENA_NEW(r->arena, struct task_record);

        read_task(s, r->arena, found);
        sqlite3_reset(s);
        r->answer->tasks = found;
        r->answer->ntasks = 1;
        r->answer->yes = *ret = true;
    }
    return rc >= 0;
}

static bool add_task(struct db *d, const struct task_new *t, struct error *e)
{
    const struct task_record *n = &t->record;
    sqlite3_stmt *s = db_sql(d, SQL_TASK_ADD, e);

    if (!s)
        return false;
    db_bind_str(s, 1, n->id);
    sqlite3_bind_int(s, 2, n->kind);
    sqlite3_bind_int(s, 3, n->priority);
    db_bind_str(s, 4, str_of(d->self.uuid));
    sqlite3_bind_int64(s, 5, t->max_output > 0 ? t->max_output : TASK_OUTPUT_MAX);
    sqlite3_bind_int64(s, 6, clock_wall_ms());
    db_bind_str(s, 7, n->agent);
    db_bind_str(s, 8, n->workspace);
    db_bind_str(s, 9, n->initiator_id);
    db_bind_str(s, 10, n->executor_id);
    db_bind_str(s, 11, n->parent_id);
    db_bind_opt(s, 12, t->idempotency_key);
    db_bind_str(s, 13, n->labels.n ? n->labels : STR("[]"));
    db_bind_str(s, 14, n->options.n ? n->options : STR("{}"));
    db_bind_str(s, 15, n->prompt);
    db_bind_opt(s, 16, n->session_id);
    return db_run(d, s, "record the task", e);
}

static bool add_created_event(struct db *d, const struct task_record *n, struct error *e)
{
    auto_buf text = BUF(EVENT_MAX);
    struct jw w = jw_to(&text);
    struct head h;

    jw_obj(&w);
    jw_kstr(&w, "agent", n->agent);
    jw_kstr(&w, "workspace", n->workspace);
    jw_key(&w, "labels");
    jw_raw(&w, n->labels.n ? n->labels : STR("[]"));
    jw_end(&w);
    return buf_ok(&text, e) && head_read(d, n->id, &h, e) &&
           add_surely(d, &h, TASK_EV_CREATED, buf_str(&text), e) && head_write(d, &h, e);
}

static bool submit_in(struct db *d, const struct task_new *t, struct ledger_reply *r,
                      struct error *e)
{
    bool existed;

    if (!find_by_key(d, t, r, &existed, e))
        return false;
    return existed ||
           (become_owner(d, e) && add_task(d, t, e) && add_created_event(d, &t->record, e) &&
            find_task(d, t->record.id, true, r, e));
}

bool rows_submit(void *db, const struct task_new *t, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;

    if (!task_id_valid(t->record.id))
        return error_set(e, ERR_INVALID, "'%.*s' is no id of a task", STR_F(t->record.id));
    return db_begin(d, DB_DURABLE, e) && db_end(d, submit_in(d, t, r, e), e);
}

/* ---- claim ---- */

/* Created tasks of living owners that come before this one. */
static bool count_better(struct db *d, int64_t no, int priority, int64_t *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_CLAIM_BETTER, e);
    int rc;

    *ret = 0;
    if (!s)
        return false;
    sqlite3_bind_int(s, 1, priority);
    sqlite3_bind_int64(s, 2, no);
    while ((rc = db_step(d, s, "look for room", e)) > 0) {
        int64_t tasks = sqlite3_column_int64(s, 1);
        struct owner o;
        int lock;

        read_owner(s, &o);
        lock = str_is(str_of(o.uuid), d->self.uuid) ? -1 : owner_take(d->owners, &o);
        if (lock >= 0)
            close(lock); /* gone: recovery ends its tasks */
        else
            *ret += tasks;
    }
    return rc == 0;
}

/* There must be room for those with a better claim as well: they come first, and yet one whose
 * owner is slow keeps nobody from a place that is free anyway. */
static bool has_room(struct db *d, int64_t no, int priority, int max_running, bool *ret,
                     struct error *e)
{
    int64_t running, better;

    if (!db_number(d, db_sql(d, SQL_CLAIM_ROOM, e), "count running tasks", &running, e) ||
        !count_better(d, no, priority, &better, e))
        return false;
    *ret = running + better < max_running;
    return true;
}

static bool claim_in(struct db *d, struct str id, int max_running, bool *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_CLAIM_TAKE, e);
    bool room = false;
    int64_t no;
    int rc, priority;

    if (!s)
        return false;
    db_bind_str(s, 1, id);
    rc = db_step(d, s, "claim the task", e);
    if (rc <= 0)
        return rc < 0 ? false : no_such_task(id, e);
    no = sqlite3_column_int64(s, 0);
    priority = sqlite3_column_int(s, 2);
    sqlite3_reset(s);
    if (!has_room(d, no, priority, max_running, &room, e))
        return false;
    *ret = false;
    return !room || change_task(d,
                                &(struct task_change){
                                    .id = id, .from = 1u << TASK_CREATED, .to = TASK_STARTING },
                                ret, e);
}

bool rows_claim(void *db, struct str id, int max_running, struct ledger_reply *r,
                struct error *e)
{
    struct db *d = db;

    return db_begin(d, DB_DURABLE, e) &&
           db_end(d,
                  claim_in(d, id, max_running, &r->answer->yes, e) &&
                      find_task(d, id, true, r, e),
                  e);
}
