/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tasks/ledger_queue.h"

#define NEVER INT64_MAX

/*
 * Looks at the version after somebody touched the file, in milliseconds after the touch: a
 * change can be seen a little later than its bytes can, as the writer waits for the disk in
 * between.
 */
static const int looks_ms[] = { 0, 10, 50, 150, 1000, 5000 };

/* ---- to the loop ---- */

static void fail(struct request *r, const struct error *e)
{
    r->failed = ARENA_NEW(&r->arena, struct error);
    *r->failed = *e;
}

static void ready_all(struct ledger *l, struct request **v, size_t n)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < n; i++)
        v[i]->ready = true;
    pthread_mutex_unlock(&l->lock);
    bell_ring(l->bell);
}

/* e may be NULL: it was done. */
static void ready(struct ledger *l, struct request *r, const struct error *e)
{
    if (e)
        fail(r, e);
    ready_all(l, &r, 1);
}

static void say_changed(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    l->changed = true;
    pthread_mutex_unlock(&l->lock);
    bell_ring(l->bell);
}

static void say_opened(struct ledger *l)
{
    struct ledger_traits t;

    l->engine->traits(l->keep.db, &t);
    pthread_mutex_lock(&l->lock);
    l->watch_dir = mem_strdup(t.watch_dir);
    l->watch_name = mem_strdup(t.watch_name);
    l->note = mem_strdup(t.note);
    l->opened = true;
    pthread_mutex_unlock(&l->lock);
    bell_ring(l->bell);
}

/* ---- what is done now and then ---- */

static void check_version(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;
    uint64_t version;

    if (!l->engine->version(k->db, &version, NULL) || version == k->version)
        return;
    k->version = version;
    k->others = true;
    say_changed(l);
}

static bool is_polling(struct ledger *l, bool *ret_watching)
{
    bool polling;

    pthread_mutex_lock(&l->lock);
    *ret_watching = l->watching;
    polling = l->watching && l->polling;
    pthread_mutex_unlock(&l->lock);
    return polling;
}

static void check(struct ledger *l, int64_t now)
{
    struct ledger_keeping *k = &l->keep;
    bool watching, polling = is_polling(l, &watching);

    check_version(l);
    if (polling)
        k->check_due = now + LEDGER_NOTICE_MS;
    else if (++k->check_step < ARRAY_LEN(looks_ms))
        k->check_due = now + looks_ms[k->check_step] - looks_ms[k->check_step - 1];
    else
        k->check_due = NEVER;
    if (watching && k->others && k->recover_due == NEVER)
        k->recover_due = k->recovered_ms + LEDGER_RECOVER_MS;
}

/* While somebody watches tasks of others, their owners are looked after without being asked
 * for: the death of one changes nothing in the ledger. */
/* Said once: whoever waits for such a task would not know why it does not end. */
static void tell_trouble(struct ledger *l, const struct error *why)
{
    struct ledger_keeping *k = &l->keep;

    if (k->troubled)
        return;
    k->troubled = true;
    pthread_mutex_lock(&l->lock);
    free(l->trouble);
    l->trouble = mem_strdup(why->msg);
    pthread_mutex_unlock(&l->lock);
    bell_ring(l->bell);
}

static void recover(struct ledger *l, int64_t now)
{
    struct ledger_keeping *k = &l->keep;
    struct error why;
    bool watching;

    if (!l->engine->recover(k->db, &k->others, &why)) {
        k->others = true; /* tried again */
        tell_trouble(l, &why);
    }
    k->recovered_ms = now;
    is_polling(l, &watching);
    k->recover_due = watching && k->others ? clock_ms() + LEDGER_RECOVER_MS : NEVER;
    if (watching)
        check_version(l);
}

static void tidy(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;
    bool more;

    if (!l->engine->tidy(k->db, &more, NULL))
        more = false;
    k->tidy_due = more ? clock_ms() + LEDGER_TIDY_PAUSE_MS : NEVER;
}

static void beat(struct ledger *l, int64_t now)
{
    l->engine->heartbeat(l->keep.db, NULL);
    l->keep.heartbeat_due = now + LEDGER_HEARTBEAT_MS;
}

static void wrote(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;

    if (k->tidy_due == NEVER)
        k->tidy_due = clock_ms() + LEDGER_TIDY_MS;
    check_version(l);
}

/* ---- opening ---- */

static bool is_open(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;
    int64_t now = clock_ms();

    if (k->db || (k->opened_ms && now - k->opened_ms < LEDGER_REOPEN_MS))
        return k->db != NULL;
    k->db = l->engine->open(&l->config, &k->not_open);
    k->opened_ms = now;
    if (!k->db)
        return false;
    recover(l, now);
    l->engine->version(k->db, &k->version, NULL);
    k->tidy_due = now + LEDGER_TIDY_FIRST_MS;
    if (l->engine->heartbeat)
        k->heartbeat_due = now + LEDGER_HEARTBEAT_MS;
    say_opened(l);
    return true;
}

/* ---- output in groups ---- */

static void appended(struct request *r, enum ledger_appended became)
{
    struct error e;

    e.kind = ERR_NONE; /* not all of it, for each event */
    r->answer.yes = became == LEDGER_APPENDED;
    if (became == LEDGER_NO_TASK)
        error_set(&e, ERR_NOT_FOUND, "no task '%.*s'", STR_F(r->in.append.id));
    else if (became == LEDGER_OVERFULL)
        error_set(&e, ERR_LIMIT, "task '%.*s' has no room for one more event",
                  STR_F(r->in.append.id));
    if (e.kind)
        fail(r, &e);
}

static void append(struct ledger *l, struct request **v, size_t n, bool durable)
{
    auto_free struct ledger_append *events = mem_alloc(n * sizeof *events);
    struct error e = { 0 };
    bool ok;

    for (size_t i = 0; i < n; i++)
        events[i] = (struct ledger_append){ .id = v[i]->in.append.id,
                                            .data = v[i]->in.append.data,
                                            .type = v[i]->in.append.type };
    ok = l->engine->append(l->keep.db, events, n, durable, &e);
    if (ok)
        wrote(l);
    for (size_t i = 0; i < n; i++) {
        if (ok)
            appended(v[i], events[i].became);
        else
            fail(v[i], &e);
    }
    ready_all(l, v, n);
}

static void commit_group(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;
    size_t n = k->ngroup;

    k->ngroup = k->group_bytes = 0;
    k->group_due = NEVER;
    if (n)
        append(l, k->group, n, false);
}

static void gather(struct ledger *l, struct request *r)
{
    struct ledger_keeping *k = &l->keep;

    if (!k->ngroup)
        k->group_due = clock_ms() + LEDGER_GATHER_MS;
    k->group[k->ngroup++] = r;
    k->group_bytes += r->bytes;
    if (k->ngroup == LEDGER_GROUP_MAX || k->group_bytes >= LEDGER_GROUP_BYTES)
        commit_group(l);
}

/* ---- requests ---- */

static bool run_submit(const struct ledger_engine *g, void *db, struct request *r,
                       struct error *e)
{
    return g->submit(db, &r->in.submit, &r->reply, e);
}

static bool run_claim(const struct ledger_engine *g, void *db, struct request *r,
                      struct error *e)
{
    return g->claim(db, r->in.claim.id, r->in.claim.max_running, &r->reply, e);
}

static bool run_change(const struct ledger_engine *g, void *db, struct request *r,
                       struct error *e)
{
    return g->change(db, &r->in.change, &r->reply, e);
}

static bool run_cancels(const struct ledger_engine *g, void *db, struct request *r,
                        struct error *e)
{
    return g->cancels(db, &r->reply, e);
}

static bool run_get(const struct ledger_engine *g, void *db, struct request *r, struct error *e)
{
    return g->get(db, r->in.get.ids, r->in.get.n, r->in.get.whole, &r->reply, e);
}

static bool run_result(const struct ledger_engine *g, void *db, struct request *r,
                       struct error *e)
{
    return g->result(db, r->in.id, &r->reply, e);
}

static bool run_events(const struct ledger_engine *g, void *db, struct request *r,
                       struct error *e)
{
    return g->events(db, &r->in.events, &r->reply, e);
}

static bool run_list(const struct ledger_engine *g, void *db, struct request *r,
                     struct error *e)
{
    return g->list(db, &r->in.list, &r->reply, e);
}

static bool run_running(const struct ledger_engine *g, void *db, struct request *r,
                        struct error *e)
{
    return g->running(db, &r->reply, e);
}

static const struct {
    bool (*run)(const struct ledger_engine *g, void *db, struct request *r, struct error *e);
    bool writes;
    bool asks; /* what others' tasks are doing: their owners are looked after first */
} ops[] = {
    [OP_SUBMIT] = { run_submit, .writes = true },
    [OP_CLAIM] = { run_claim, .writes = true, .asks = true },
    [OP_CHANGE] = { run_change, .writes = true },
    [OP_APPEND] = { NULL },
    [OP_CANCELS] = { run_cancels },
    [OP_GET] = { run_get, .asks = true },
    [OP_RESULT] = { run_result, .asks = true },
    [OP_EVENTS] = { run_events, .asks = true },
    [OP_LIST] = { run_list, .asks = true },
    [OP_RUNNING] = { run_running, .asks = true },
    [OP_FLUSH] = { NULL },
};

static void serve(struct ledger *l, struct request *r)
{
    struct ledger_keeping *k = &l->keep;
    struct error e = { 0 };
    int64_t now = clock_ms();

    if (r->op == OP_FLUSH) {
        ready(l, r, NULL);
        return;
    }
    if (!is_open(l)) {
        ready(l, r, &k->not_open);
        return;
    }
    if (r->op == OP_APPEND) {
        append(l, &r, 1, true);
        return;
    }
    if (ops[r->op].asks && now - k->recovered_ms >= LEDGER_RECOVER_MS)
        recover(l, now);
    r->reply = (struct ledger_reply){ .arena = &r->arena, .answer = &r->answer };
    if (!ops[r->op].run(l->engine, k->db, r, &e)) {
        r->answer = (struct ledger_answer){ 0 };
        ready(l, r, &e);
        return;
    }
    if (ops[r->op].writes)
        wrote(l);
    ready(l, r, NULL);
}

/* ---- the thread ---- */

static int64_t next_due(const struct ledger_keeping *k)
{
    const int64_t all[] = { k->group_due, k->check_due, k->recover_due, k->tidy_due,
                            k->heartbeat_due };
    int64_t due = NEVER;

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        due = all[i] < due ? all[i] : due;
    return due;
}

static void wait_until(struct ledger *l, int64_t due_ms)
{
    struct timespec at = { .tv_sec = (time_t)(due_ms / 1000),
                           .tv_nsec = (long)(due_ms % 1000) * 1000000 };

    if (due_ms == NEVER)
        pthread_cond_wait(&l->wake, &l->lock);
    else
        pthread_cond_timedwait(&l->wake, &l->lock, &at);
}

static struct request *pop(struct ledger *l)
{
    struct request *r = l->queue;

    if (!r)
        return NULL;
    l->queue = r->queued;
    if (!l->queue)
        l->queue_end = &l->queue;
    return r;
}

/* The touch of the file begins the looks anew. */
static void heed(struct ledger *l, int64_t now)
{
    struct ledger_keeping *k = &l->keep;

    if (l->touched && k->db) {
        k->check_step = 0;
        k->check_due = now;
    }
    l->touched = false;
}

/* The next request; NULL when something is due, or at the end, which *ret_end says. */
static struct request *take(struct ledger *l, bool *ret_end)
{
    struct request *r = NULL;

    pthread_mutex_lock(&l->lock);
    for (;;) {
        int64_t now = clock_ms();

        heed(l, now);
        *ret_end = l->stopping && !l->queue;
        if (*ret_end || next_due(&l->keep) <= now || (r = pop(l)))
            break;
        wait_until(l, next_due(&l->keep));
    }
    pthread_mutex_unlock(&l->lock);
    return r;
}

static void keep_house(struct ledger *l)
{
    struct ledger_keeping *k = &l->keep;
    int64_t now = clock_ms();

    if (k->group_due <= now)
        commit_group(l);
    if (k->check_due <= now)
        check(l, now);
    if (k->recover_due <= now)
        recover(l, now);
    if (k->tidy_due <= now)
        tidy(l);
    if (k->heartbeat_due <= now)
        beat(l, now);
}

void *ledger_thread(void *ledger)
{
    struct ledger *l = ledger;
    struct ledger_keeping *k = &l->keep;
    bool end = false;

    k->group_due = k->check_due = k->recover_due = k->tidy_due = k->heartbeat_due = NEVER;
    is_open(l);
    while (!end) {
        struct request *r = take(l, &end);

        if (r && r->op == OP_APPEND && ledger_is_bulk(r->in.append.type) && is_open(l)) {
            gather(l, r);
            continue;
        }
        if (r || end)
            commit_group(l); /* answers keep their order */
        if (r)
            serve(l, r);
        else if (!end)
            keep_house(l);
    }
    if (k->db)
        l->engine->close(k->db);
    return NULL;
}
