/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger_rows.h"

#include <stdio.h>

#include "base/mem.h"

/* All messages of one task are at most what its cap lets in, and what was there before. */
#define RESULT_WHOLE_MAX ((size_t)2 * TASK_OUTPUT_MAX)
#define LIST_BYTES_MAX   ((size_t)16 << 20) /* of one page, whatever its limit */

bool no_such_task(struct str id, struct error *e)
{
    return error_set(e, ERR_NOT_FOUND, "no task '%.*s'", STR_F(id));
}

static int column_or(sqlite3_stmt *s, int at, int none)
{
    return sqlite3_column_type(s, at) == SQLITE_NULL ? none : sqlite3_column_int(s, at);
}

/* A number of the file as one of the first `n` of an enum: it may have been changed by hand. */
static int column_enum(sqlite3_stmt *s, int at, int n)
{
    int v = sqlite3_column_int(s, at);

    return v >= 0 && v < n ? v : 0;
}

void read_task(sqlite3_stmt *s, struct arena *a, struct task_record *ret)
{
    *ret = (struct task_record){
        .id = db_column_copy(s, 1, a),
        .kind = (enum task_kind)column_enum(s, 2, TASK_AGENT + 1),
        .status = (enum task_status)column_enum(s, 3, TASK_CANCELLED + 1),
        .resolution = (enum task_resolution)column_enum(s, 4, TASK_SUPERSEDED + 1),
        .agent = db_column_copy(s, 5, a),
        .workspace = db_column_copy(s, 6, a),
        .created_ms = sqlite3_column_int64(s, 7),
        .started_ms = sqlite3_column_int64(s, 8),
        .finished_ms = sqlite3_column_int64(s, 9),
        .resolved_ms = sqlite3_column_int64(s, 10),
        .exit_code = column_or(s, 11, -1),
        .signal = column_or(s, 12, -1),
        .stop_reason = db_column_copy(s, 13, a),
        .session_id = db_column_copy(s, 14, a),
        .note = db_column_copy(s, 15, a),
        .initiator_id = db_column_copy(s, 16, a),
        .executor_id = db_column_copy(s, 17, a),
        .parent_id = db_column_copy(s, 18, a),
        .labels = db_column_copy(s, 19, a),
        .options = db_column_copy(s, 20, a),
        .worktree = db_column_copy(s, 21, a),
        .branch = db_column_copy(s, 22, a),
        .usage = db_column_copy(s, 23, a),
        .priority = sqlite3_column_int(s, 24),
        .last_seq = sqlite3_column_int64(s, 25),
        .first_seq = sqlite3_column_int64(s, 26),
        .cancel_requested = sqlite3_column_int(s, 27) != 0,
        .result_text = db_column_copy(s, 28, a),
        .prompt = db_column_copy(s, 29, a),
    };
}

/* Into *ret; the number of the row. 0: *e. */
static int64_t load(struct db *d, struct str id, bool whole, struct arena *a,
                    struct task_record *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, whole ? SQL_TASK_BY_ID : SQL_TASK_BRIEF, e);
    int64_t no;
    int rc;

    if (!s)
        return 0;
    db_bind_str(s, 1, id);
    rc = db_step(d, s, "read the task", e);
    if (rc < 0)
        return 0;
    if (rc == 0)
        return no_such_task(id, e);
    no = sqlite3_column_int64(s, 0);
    read_task(s, a, ret);
    sqlite3_reset(s);
    return no;
}

bool find_task(struct db *d, struct str id, bool whole, struct ledger_reply *r, struct error *e)
{
    struct task_record *t = ARENA_NEW(r->arena, struct task_record);

    if (!load(d, id, whole, r->arena, t, e))
        return false;
    r->answer->tasks = t;
    r->answer->ntasks = 1;
    return true;
}

static bool get_all(struct db *d, const struct str *ids, size_t n, bool whole,
                    struct ledger_reply *r, struct error *e)
{
    struct task_record *v = ARENA_ARRAY(r->arena, struct task_record, n);

    for (size_t i = 0; i < n; i++) {
        if (!load(d, ids[i], whole, r->arena, &v[i], e))
            return false;
    }
    r->answer->tasks = v;
    r->answer->ntasks = n;
    return true;
}

bool rows_get(void *db, const struct str *ids, size_t n, bool whole, struct ledger_reply *r,
              struct error *e)
{
    struct db *d = db;

    return db_begin(d, DB_READ, e) && db_end(d, get_all(d, ids, n, whole, r, e), e);
}

/* ---- events ---- */

static int64_t event_id(int64_t no, int64_t seq)
{
    return no << DB_SEQ_BITS | (seq < 0 ? 0 : seq > DB_SEQ_MAX ? DB_SEQ_MAX : seq);
}

struct events_found {
    struct task_event_row *v;
    size_t n, cap;
};

static struct task_event_row read_event(sqlite3_stmt *s, struct str data, struct arena *a)
{
    return (struct task_event_row){
        .seq = sqlite3_column_int64(s, 0) & DB_SEQ_MAX,
        .type = (enum task_event)column_enum(s, 1, TASK_EVENTS),
        .ts_ms = sqlite3_column_int64(s, 2),
        .data = arena_str(a, data),
    };
}

/* Where the look for some types ends this time: no question may take the whole of a long task.
 */
static int64_t scan_end(const struct events_query *q, int64_t last_seq)
{
    return q->types && last_seq - q->after > LEDGER_EVENTS_SCANNED
               ? q->after + LEDGER_EVENTS_SCANNED
               : last_seq;
}

static bool read_events(struct db *d, int64_t no, const struct events_query *q,
                        struct ledger_reply *r, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_EVENT_READ, e);
    struct events_found found = { 0 };
    int64_t last = r->answer->tasks->last_seq, end = scan_end(q, last);
    size_t bytes = 0;
    int rc;

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, event_id(no, q->after));
    sqlite3_bind_int64(s, 2, event_id(no, end));
    sqlite3_bind_int64(s, 3, q->types);
    sqlite3_bind_int64(s, 4, (int64_t)q->limit + 1); /* whether there is more */
    while ((rc = db_step(d, s, "read events", e)) > 0) {
        struct str data = db_column(s, 3);

        bytes += data.n;
        if (found.n == (size_t)q->limit || (found.n && bytes > q->max_bytes)) {
            r->answer->more = true;
            sqlite3_reset(s);
            break;
        }
        ARENA_PUSH(r->arena, &found) = read_event(s, data, r->arena);
    }
    r->answer->events = found.v;
    r->answer->nevents = found.n;
    r->answer->cursor = found.n ? found.v[found.n - 1].seq : q->after;
    if (!r->answer->more && end < last) { /* all up to there was looked at */
        r->answer->more = true;
        r->answer->cursor = end;
    }
    return rc >= 0;
}

static bool events_in(struct db *d, const struct events_query *q, struct ledger_reply *r,
                      struct error *e)
{
    struct task_record *t = ARENA_NEW(r->arena, struct task_record);
    int64_t no = load(d, q->id, false, r->arena, t, e);

    if (!no)
        return false;
    r->answer->tasks = t;
    r->answer->ntasks = 1;
    r->answer->first_seq = t->first_seq;
    return read_events(d, no, q, r, e);
}

bool rows_events(void *db, const struct events_query *q, struct ledger_reply *r,
                 struct error *e)
{
    struct db *d = db;

    if (q->limit < 1 || q->limit > LEDGER_EVENTS_MAX)
        return error_set(e, ERR_INVALID, "limit must be from 1 to %d", LEDGER_EVENTS_MAX);
    return db_begin(d, DB_READ, e) && db_end(d, events_in(d, q, r, e), e);
}

/*
 * The text of all that the agent said. The pieces of one message have its id; of an agent that
 * gives none, pieces belong together until a tool call comes between. Messages stand apart by
 * an empty line.
 */
struct said {
    struct buf text, id;
    bool apart; /* a tool call came */
};

static void add_said(struct said *t, enum task_event type, struct str payload)
{
    auto_json doc = { 0 };
    struct str id;

    if (type == TASK_EV_TOOL_CALL) {
        t->apart = true;
        return;
    }
    if (!json_parse(&doc, payload, NULL))
        return; /* not written by us */
    id = json_str(json_get(doc.root, "message_id"));
    if (t->text.n && (!str_eq(id, buf_str(&t->id)) || (!id.n && t->apart)))
        buf_addz(&t->text, "\n\n");
    buf_add(&t->text, json_str(json_get(doc.root, "text")));
    buf_clear(&t->id);
    buf_add(&t->id, id);
    t->apart = false;
}

static bool read_said(struct db *d, int64_t no, struct said *t, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_EVENT_SAID, e);
    int rc;

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, event_id(no, 0));
    sqlite3_bind_int64(s, 2, event_id(no, DB_SEQ_MAX));
    while ((rc = db_step(d, s, "read the result", e)) > 0)
        add_said(t, (enum task_event)sqlite3_column_int(s, 0), db_column(s, 1));
    return rc == 0;
}

static bool result_in(struct db *d, struct str id, struct ledger_reply *r, struct error *e)
{
    struct said t = { .text = BUF(RESULT_WHOLE_MAX), .id = BUF(RESULT_WHOLE_MAX) };
    struct task_record *task = ARENA_NEW(r->arena, struct task_record);
    int64_t no = load(d, id, false, r->arena, task, e);
    bool ok = no && read_said(d, no, &t, e);

    if (ok) {
        r->answer->tasks = task;
        r->answer->ntasks = 1;
        r->answer->text = arena_str(r->arena, buf_str(&t.text));
    }
    buf_free(&t.text);
    buf_free(&t.id);
    return ok;
}

bool rows_result(void *db, struct str id, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;

    return db_begin(d, DB_READ, e) && db_end(d, result_in(d, id, r, e), e);
}

/* ---- lists ---- */

struct tasks_found {
    struct task_record *v;
    size_t n, cap;
};

/* A cursor is "t" and the number of the last row that was shown. */
static bool read_cursor(struct str cursor, int64_t *ret, struct error *e)
{
    if (!cursor.n) {
        *ret = INT64_MAX;
        return true;
    }
    if (cursor.p[0] != 't' || !str_to_int(str_from(cursor, 1), 1, INT64_MAX, ret))
        return error_set(e, ERR_INVALID, "'cursor' is none that list_tasks gave");
    return true;
}

static void bind_enum(sqlite3_stmt *s, int at, int value)
{
    if (value >= 0)
        sqlite3_bind_int(s, at, value);
}

bool rows_list(void *db, const struct list_query *q, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;
    struct tasks_found found = { 0 };
    size_t began = r->arena->used;
    int64_t before = 0, last = 0;
    sqlite3_stmt *s;
    int rc;

    if (q->limit < 1 || q->limit > LEDGER_LIST_MAX)
        return error_set(e, ERR_INVALID, "limit must be from 1 to %d", LEDGER_LIST_MAX);
    if (!read_cursor(q->cursor, &before, e) || !(s = db_sql(d, SQL_TASK_LIST, e)))
        return false;
    sqlite3_bind_int64(s, 1, before);
    bind_enum(s, 2, q->status);
    bind_enum(s, 3, q->kind);
    db_bind_opt(s, 4, q->workspace);
    db_bind_opt(s, 5, q->initiator_id);
    db_bind_opt(s, 6, q->label);
    sqlite3_bind_int64(s, 7, (int64_t)q->limit + 1);
    while ((rc = db_step(d, s, "list tasks", e)) > 0) {
        if (found.n == (size_t)q->limit ||
            (found.n && r->arena->used - began > LIST_BYTES_MAX)) {
            r->answer->more = true;
            sqlite3_reset(s);
            break;
        }
        last = sqlite3_column_int64(s, 0);
        read_task(s, r->arena, &ARENA_PUSH(r->arena, &found));
    }
    r->answer->tasks = found.v;
    r->answer->ntasks = found.n;
    if (r->answer->more)
        r->answer->text = str_of(arena_printf(r->arena, "t%lld", (long long)last));
    return rc >= 0;
}

bool rows_cancels(void *db, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;
    struct tasks_found found = { 0 };
    sqlite3_stmt *s = db_sql(d, SQL_TASK_CANCELS, e);
    int rc;

    if (!s)
        return false;
    db_bind_str(s, 1, str_of(d->self.uuid));
    while ((rc = db_step(d, s, "look for cancelled tasks", e)) > 0)
        read_task(s, r->arena, &ARENA_PUSH(r->arena, &found));
    r->answer->tasks = found.v;
    r->answer->ntasks = found.n;
    return rc == 0;
}

bool rows_running(void *db, struct ledger_reply *r, struct error *e)
{
    struct db *d = db;
    struct {
        struct task_running *v;
        size_t n, cap;
    } found = { 0 };
    sqlite3_stmt *s = db_sql(d, SQL_TASK_RUNNING, e);
    int rc;

    if (!s)
        return false;
    while ((rc = db_step(d, s, "look for running tasks", e)) > 0)
        ARENA_PUSH(r->arena, &found) = (struct task_running){
            .id = db_column_copy(s, 0, r->arena),
            .process = { .pid = sqlite3_column_int64(s, 1),
                         .pid_start = (uint64_t)sqlite3_column_int64(s, 2),
                         .keeper = sqlite3_column_int64(s, 3),
                         .keeper_start = (uint64_t)sqlite3_column_int64(s, 4) },
        };
    r->running = found.v;
    r->nrunning = found.n;
    return rc == 0;
}
