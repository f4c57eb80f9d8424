/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ledger_check.h"

#include <sqlite3.h>

#include "tasks/ledger_sqlite.h"

/* ---- the world ---- */

void ledger_of(struct world *w)
{
    w->ledger = ledger_new(w->loop, &ledger_sqlite, &w->config);
}

void world_open(struct world *w)
{
    make_temp_dir(w->dir);
    snprintf(w->state, sizeof w->state, "%.*s/state", PATH_MAX - 10, w->dir);
    w->loop = loop_new();
    w->config = (struct ledger_config){ .state_dir = w->state };
    ledger_of(w);
}

void world_reopen(struct world *w)
{
    ledger_free(w->ledger);
    ledger_of(w);
}

void world_close(struct world *w)
{
    ledger_free(w->ledger);
    loop_free(w->loop);
    remove_tree(w->dir);
}

/* ---- one answer ---- */

static struct str copy(struct got *g, struct str s)
{
    return s.n ? arena_str(&g->arena, s) : s;
}

static struct task_record copy_task(struct got *g, const struct task_record *t)
{
    struct task_record c = *t;

    c.id = copy(g, t->id);
    c.agent = copy(g, t->agent);
    c.workspace = copy(g, t->workspace);
    c.stop_reason = copy(g, t->stop_reason);
    c.session_id = copy(g, t->session_id);
    c.note = copy(g, t->note);
    c.initiator_id = copy(g, t->initiator_id);
    c.executor_id = copy(g, t->executor_id);
    c.parent_id = copy(g, t->parent_id);
    c.labels = copy(g, t->labels);
    c.options = copy(g, t->options);
    c.worktree = copy(g, t->worktree);
    c.branch = copy(g, t->branch);
    c.usage = copy(g, t->usage);
    c.result_text = copy(g, t->result_text);
    c.prompt = copy(g, t->prompt);
    return c;
}

static void copy_answer(struct got *g, const struct ledger_answer *a)
{
    struct task_record *tasks = ARENA_ARRAY(&g->arena, struct task_record, a->ntasks);
    struct task_event_row *events = ARENA_ARRAY(&g->arena, struct task_event_row, a->nevents);

    for (size_t i = 0; i < a->ntasks; i++)
        tasks[i] = copy_task(g, &a->tasks[i]);
    for (size_t i = 0; i < a->nevents; i++) {
        events[i] = a->events[i];
        events[i].data = copy(g, a->events[i].data);
    }
    g->a = *a;
    g->a.tasks = tasks;
    g->a.events = events;
    g->a.text = copy(g, a->text);
}

void on_got(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct got *g = ctx;

    g->times++;
    g->e = e ? *e : (struct error){ 0 };
    copy_answer(g, a);
    if (g->loop)
        loop_stop(g->loop);
}

void got_free(struct got *g)
{
    arena_free(&g->arena);
    *g = (struct got){ 0 };
}

static void begin(struct world *w, struct got *g)
{
    got_free(g);
    g->loop = w->loop;
}

void await(struct got *g)
{
    while (!g->times) /* others may stop the loop, too */
        run_until_stopped(g->loop, ASK_MS);
    assert_int_equal(g->times, 1);
}

void ask_submit(struct world *w, const struct task_new *t, struct got *g)
{
    begin(w, g);
    ledger_submit(w->ledger, t, on_got, g);
    await(g);
}

void ask_claim(struct world *w, const char *id, int max_running, struct got *g)
{
    begin(w, g);
    ledger_claim(w->ledger, str_of(id), max_running, on_got, g);
    await(g);
}

void ask_change(struct world *w, const struct task_change *c, struct got *g)
{
    begin(w, g);
    ledger_change(w->ledger, c, on_got, g);
    await(g);
}

void ask_append(struct world *w, const char *id, enum task_event type, const char *data,
                struct got *g)
{
    begin(w, g);
    ledger_append(w->ledger, str_of(id), type, str_of(data), on_got, g);
    await(g);
}

void ask_get(struct world *w, const char *id, struct got *g)
{
    begin(w, g);
    ledger_get(w->ledger, str_of(id), on_got, g);
    await(g);
}

void ask_events(struct world *w, const char *id, int64_t after, int limit, struct got *g)
{
    struct events_query q = {
        .id = str_of(id), .after = after, .limit = limit, .max_bytes = (size_t)1 << 30
    };

    begin(w, g);
    ledger_events(w->ledger, &q, on_got, g);
    await(g);
}

void ask_list(struct world *w, const struct list_query *q, struct got *g)
{
    begin(w, g);
    ledger_list(w->ledger, q, on_got, g);
    await(g);
}

/* ---- tasks ---- */

struct task_new task_like(char id[TASK_ID_LEN + 1])
{
    task_id_new(id);
    return (struct task_new){
        .record = { .id = str_of(id),
                    .agent = STR("qwen"),
                    .workspace = STR("/w"),
                    .prompt = STR("do it"),
                    .labels = STR("[\"red\",\"big\"]"),
                    .options = STR("{\"model\":\"m\"}") },
    };
}

static void check_done(const struct got *g)
{
    if (g->e.kind)
        fail_msg("%s", g->e.msg);
}

void ok_submit(struct world *w, char id[TASK_ID_LEN + 1])
{
    struct task_new t = task_like(id);
    struct got g = { 0 };

    ask_submit(w, &t, &g);
    check_done(&g);
    assert_false(g.a.yes);
    got_free(&g);
}

static void ok_change(struct world *w, const struct task_change *c)
{
    struct got g = { 0 };

    ask_change(w, c, &g);
    check_done(&g);
    assert_true(g.a.yes);
    got_free(&g);
}

void ok_run(struct world *w, const char *id)
{
    struct got g = { 0 };

    ask_claim(w, id, 1000000, &g);
    check_done(&g);
    assert_true(g.a.yes);
    got_free(&g);
    ok_change(w, &(struct task_change){ .id = str_of(id),
                                        .from = 1u << TASK_STARTING,
                                        .to = TASK_RUNNING,
                                        .set = { .started = true } });
}

void ok_end(struct world *w, const char *id, enum task_status to)
{
    ok_change(w, &(struct task_change){ .id = str_of(id),
                                        .from = 1u << TASK_RUNNING | 1u << TASK_CREATED,
                                        .to = to,
                                        .set = { .finished = true } });
}

void ok_append(struct world *w, const char *id, enum task_event type, const char *data)
{
    struct got g = { 0 };

    ask_append(w, id, type, data, &g);
    check_done(&g);
    got_free(&g);
}

int64_t check_dense(struct world *w, const char *id)
{
    struct got g = { 0 };
    int64_t after = 0, last, first;

    ask_get(w, id, &g);
    check_done(&g);
    last = g.a.tasks[0].last_seq;
    first = g.a.tasks[0].first_seq;
    do {
        ask_events(w, id, after, LEDGER_EVENTS_MAX, &g);
        check_done(&g);
        for (size_t i = 0; i < g.a.nevents; i++) {
            int64_t seq = g.a.events[i].seq;

            if (seq >= first && after >= first - 1 && seq != after + 1)
                fail_msg("task %s: %lld follows %lld", id, (long long)seq, (long long)after);
            assert_true(seq > after);
            after = seq;
        }
    } while (g.a.more);
    assert_int_equal(after, last);
    got_free(&g);
    return last;
}

/* ---- beside the ledger ---- */

static sqlite3 *connect_to(struct world *w)
{
    char path[PATH_MAX + 16];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/tasks.db", w->state);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

int64_t sql_number(struct world *w, const char *sql)
{
    sqlite3 *db = connect_to(w);
    sqlite3_stmt *s;
    int64_t n = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

void sql_do(struct world *w, const char *sql)
{
    sqlite3 *db = connect_to(w);

    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}
