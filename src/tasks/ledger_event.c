/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Adding events: dense numbers, and the cap of TK-6. */
#include "tasks/ledger_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* At the cap room is made for this part of it at once, so that not each event deletes one. */
#define TRIM_PART 64
/* Beyond the cap, for what is always recorded (permissions, errors, changes): an agent that
 * floods us with it comes to an end too. */
#define RESERVE_BYTES ((int64_t)8 << 20)

bool head_read(struct db *d, struct str id, struct head *ret, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_TASK_HEAD, e);
    int rc;

    if (!s || !task_id_valid(id))
        return s ? no_such_task(id, e) : false;
    db_bind_str(s, 1, id);
    rc = db_step(d, s, "read the task", e);
    if (rc < 0)
        return false;
    if (rc == 0)
        return no_such_task(id, e);
    *ret = (struct head){
        .no = sqlite3_column_int64(s, 0),
        .status = (enum task_status)sqlite3_column_int(s, 1),
        .last_seq = sqlite3_column_int64(s, 2),
        .first_seq = sqlite3_column_int64(s, 3),
        .trim_seq = sqlite3_column_int64(s, 4),
        .bytes = sqlite3_column_int64(s, 5),
        .max_bytes = sqlite3_column_int64(s, 6),
        .capped = sqlite3_column_int(s, 7) != 0,
    };
    memcpy(ret->id, id.p, TASK_ID_LEN);
    sqlite3_reset(s);
    if ((unsigned)ret->status > TASK_CANCELLED)
        return error_set(e, ERR_INVALID, "task '%s' has status %d in '%s', which is none",
                         ret->id, (int)ret->status, d->path);
    return true;
}

bool head_write(struct db *d, const struct head *h, struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_TASK_SET_HEAD, e);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, h->no);
    sqlite3_bind_int64(s, 2, h->last_seq);
    sqlite3_bind_int64(s, 3, h->first_seq);
    sqlite3_bind_int64(s, 4, h->trim_seq);
    sqlite3_bind_int64(s, 5, h->bytes);
    sqlite3_bind_int(s, 6, h->capped);
    return db_run(d, s, "record events", e);
}

static bool insert(struct db *d, struct head *h, enum task_event type, struct str data,
                   struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_EVENT_ADD, e);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, h->no << DB_SEQ_BITS | (h->last_seq + 1));
    sqlite3_bind_int(s, 2, type);
    sqlite3_bind_int64(s, 3, clock_wall_ms());
    db_bind_str(s, 4, data.n ? data : STR("{}"));
    if (!db_run(d, s, "record an event", e))
        return false;
    h->last_seq++;
    h->bytes += (int64_t)data.n;
    return true;
}

/* The oldest output event, from trim_seq on; 0: none, and trim_seq is behind the last. */
static bool oldest_output(struct db *d, struct head *h, int64_t *ret_id, int64_t *ret_bytes,
                          struct error *e)
{
    sqlite3_stmt *s = db_sql(d, SQL_EVENT_OUTPUT, e);
    int rc;

    *ret_id = 0;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, h->no << DB_SEQ_BITS | h->trim_seq);
    sqlite3_bind_int64(s, 2, h->no << DB_SEQ_BITS | DB_SEQ_MAX);
    rc = db_step(d, s, "make room", e);
    if (rc > 0) {
        *ret_id = sqlite3_column_int64(s, 0);
        *ret_bytes = (int64_t)db_column(s, 1).n;
        sqlite3_reset(s);
    } else if (rc == 0) {
        h->trim_seq = h->last_seq + 1;
    }
    return rc >= 0;
}

/* Deletes the oldest output until the task has at most `bytes`, or no output. */
static bool trim_to(struct db *d, struct head *h, int64_t bytes, struct error *e)
{
    while (h->bytes > bytes && h->trim_seq <= h->last_seq) {
        int64_t id, size;
        sqlite3_stmt *s;

        if (!oldest_output(d, h, &id, &size, e))
            return false;
        if (!id)
            break;
        s = db_sql(d, SQL_EVENT_DELETE, e);
        if (!s)
            return false;
        sqlite3_bind_int64(s, 1, id);
        if (!db_run(d, s, "make room", e))
            return false;
        h->bytes -= size;
        h->first_seq = h->trim_seq = (id & DB_SEQ_MAX) + 1;
    }
    return true;
}

static bool make_room(struct db *d, struct head *h, int64_t need, struct error *e)
{
    if (h->bytes + need <= h->max_bytes)
        return true;
    return trim_to(d, h, h->max_bytes - need - h->max_bytes / TRIM_PART, e);
}

bool head_add(struct db *d, struct head *h, enum task_event type, struct str data,
              enum ledger_appended *ret, struct error *e)
{
    int64_t need = (int64_t)data.n;

    *ret = LEDGER_APPENDED;
    if (h->last_seq >= DB_SEQ_MAX) {
        *ret = LEDGER_OVERFULL;
        return true;
    }
    if (!make_room(d, h, need, e))
        return false;
    if (h->bytes + need <= h->max_bytes)
        return insert(d, h, type, data, e);
    if (ledger_is_bulk(type)) {
        *ret = LEDGER_DROPPED;
        if (h->capped)
            return true;
        h->capped = true;
        return insert(d, h, TASK_EV_ERROR, STR("{\"message\":\"output cap\"}"), e);
    }
    if (h->bytes + need > h->max_bytes + RESERVE_BYTES) {
        *ret = LEDGER_OVERFULL;
        return true;
    }
    return insert(d, h, type, data, e);
}

bool head_add_last(struct db *d, struct head *h, enum task_event type, struct str data,
                   struct error *e)
{
    enum ledger_appended became;

    if (!head_add(d, h, type, data, &became, e))
        return false;
    return became != LEDGER_OVERFULL || h->last_seq >= DB_SEQ_MAX ||
           insert(d, h, type, data, e);
}

/* ---- groups ---- */

#define NONE SIZE_MAX

/* The events of one task in a group, by their places in it. */
struct part {
    struct head head;
    size_t first, last;
};

struct group {
    struct part *v;
    size_t n, cap;
    size_t *next; /* of the same task, for each event; NONE at the end */
};

/* NULL with e->kind ERR_NOT_FOUND: no such task. */
static struct part *part_of(struct db *d, struct group *g, struct str id, struct error *e)
{
    struct part p = { .first = NONE };

    for (size_t i = 0; id.n == TASK_ID_LEN && i < g->n; i++) {
        if (memcmp(id.p, g->v[i].head.id, TASK_ID_LEN) == 0)
            return &g->v[i];
    }
    if (!head_read(d, id, &p.head, e))
        return NULL;
    VEC_PUSH(g) = p;
    return &g->v[g->n - 1];
}

static void put_into(struct group *g, struct part *p, size_t at)
{
    g->next[at] = NONE;
    if (p->first == NONE)
        p->first = at;
    else
        g->next[p->last] = at;
    p->last = at;
}

static bool divide(struct db *d, struct group *g, struct ledger_append *v, size_t n,
                   struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        struct error why;
        struct part *p = part_of(d, g, v[i].id, &why);

        if (!p && why.kind != ERR_NOT_FOUND) {
            if (e)
                *e = why;
            return false;
        }
        if (p)
            put_into(g, p, i);
        else
            v[i].became = LEDGER_NO_TASK;
    }
    return true;
}

/* Task by task: what lies side by side in the file is written together. */
static bool append_all(struct db *d, struct group *g, struct ledger_append *v, size_t n,
                       struct error *e)
{
    if (!divide(d, g, v, n, e))
        return false;
    for (size_t k = 0; k < g->n; k++) {
        struct part *p = &g->v[k];

        for (size_t i = p->first; i != NONE; i = g->next[i]) {
            if (!head_add(d, &p->head, v[i].type, v[i].data, &v[i].became, e))
                return false;
        }
        if (!head_write(d, &p->head, e))
            return false;
    }
    return true;
}

bool rows_append(void *db, struct ledger_append *v, size_t n, bool durable, struct error *e)
{
    enum db_mode mode = durable ? DB_DURABLE : DB_WRITE;
    struct db *d = db;
    struct group g = { .next = mem_alloc(n * sizeof *g.next) };
    bool ok = db_begin(d, mode, e) && db_end(d, append_all(d, &g, v, n, e), e);

    free(g.v);
    free(g.next);
    return ok;
}
