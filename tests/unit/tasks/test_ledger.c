/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ledger of one process: what is asked and what is answered. */
#include "ledger_check.h"

/* TK-3: what was answered is there after the process has ended; a change of status and its
 * event are one. */
static void a_task_goes_through_its_life_and_is_there_after_reopening(void **state)
{
    static const enum task_event types[] = {
        TASK_EV_CREATED, TASK_EV_STATUS,     TASK_EV_STATUS,
        TASK_EV_MESSAGE, TASK_EV_PERMISSION, TASK_EV_STATUS,
    };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ok_run(&w, id);
    ok_append(&w, id, TASK_EV_MESSAGE, "{\"text\":\"hello\"}");
    ok_append(&w, id, TASK_EV_PERMISSION, "{\"kind\":\"edit\"}");
    ok_end(&w, id, TASK_SUCCEEDED);
    world_reopen(&w);
    ask_get(&w, id, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_int_equal(g.a.tasks[0].status, TASK_SUCCEEDED);
    assert_str(g.a.tasks[0].agent, "qwen");
    assert_str(g.a.tasks[0].prompt, "do it");
    assert_str(g.a.tasks[0].labels, "[\"red\",\"big\"]");
    assert_str(g.a.tasks[0].options, "{\"model\":\"m\"}");
    assert_int_equal(g.a.tasks[0].exit_code, -1);
    assert_true(g.a.tasks[0].created_ms > 0);
    assert_true(g.a.tasks[0].finished_ms >= g.a.tasks[0].started_ms);
    assert_int_equal(g.a.tasks[0].last_seq, 6);
    ask_events(&w, id, 0, 100, &g);
    assert_int_equal(g.a.nevents, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(g.a.events[i].type, types[i]);
    assert_str(g.a.events[0].data,
               "{\"agent\":\"qwen\",\"workspace\":\"/w\",\"labels\":[\"red\",\"big\"]}");
    assert_str(g.a.events[5].data, "{\"from\":\"running\",\"to\":\"succeeded\"}");
    assert_int_equal(check_dense(&w, id), 6);
    got_free(&g);
    world_close(&w);
}

/* TK-16: `task_created` says where and with which labels also when there are none. */
static void a_task_without_labels_and_options_has_empty_ones(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct task_new t = task_like(id);
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    t.record.labels = t.record.options = (struct str){ 0 };
    ask_submit(&w, &t, &g);
    assert_str(g.a.tasks[0].labels, "[]");
    assert_str(g.a.tasks[0].options, "{}");
    got_free(&g);
    world_close(&w);
}

/* ---- changes ---- */

static void put_status(struct world *w, const char *id, enum task_status to)
{
    char sql[128];

    snprintf(sql, sizeof sql, "UPDATE task SET status=%d WHERE id='%s'", to, id);
    sql_do(w, sql);
}

/* TK-2: from whatever status, only an arrow is followed; else nothing is written. */
static void a_change_of_status_follows_an_arrow_or_is_not_done(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (int from = TASK_CREATED; from <= TASK_CANCELLED; from++) {
        for (int to = TASK_CREATED; to <= TASK_CANCELLED; to++) {
            bool arrow = task_may_become((enum task_status)from, (enum task_status)to);
            struct task_change c = { .id = str_of(id),
                                     .from = ~0u,
                                     .to = (enum task_status)to };
            int64_t seq;

            put_status(&w, id, (enum task_status)from);
            ask_get(&w, id, &g);
            seq = g.a.tasks[0].last_seq;
            ask_change(&w, &c, &g);
            assert_int_equal(g.e.kind, ERR_NONE);
            assert_int_equal(g.a.yes, arrow || from == to);
            assert_int_equal(g.a.tasks[0].status, arrow ? to : from);
            assert_int_equal(g.a.tasks[0].last_seq, seq + arrow);
        }
    }
    check_dense(&w, id);
    got_free(&g);
    world_close(&w);
}

static void a_change_from_another_status_is_not_done_and_says_how_it_is(void **state)
{
    static const struct task_event_row error = { .type = TASK_EV_ERROR };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ask_change(&w,
               &(struct task_change){ .id = str_of(id),
                                      .from = 1u << TASK_STARTING | 1u << TASK_RUNNING,
                                      .to = TASK_FAILED,
                                      .set = { .finished = true, .stop_reason = STR("x") },
                                      .events = &error,
                                      .nevents = 1 },
               &g);
    assert_false(g.a.yes);
    assert_int_equal(g.a.tasks[0].status, TASK_CREATED);
    assert_int_equal(g.a.tasks[0].last_seq, 1);
    assert_int_equal(g.a.tasks[0].finished_ms, 0);
    assert_int_equal(g.a.tasks[0].stop_reason.n, 0);
    got_free(&g);
    world_close(&w);
}

static void check_set(const struct task_record *t)
{
    assert_int_equal(t->exit_code, 0);
    assert_int_equal(t->signal, 9);
    assert_str(t->stop_reason, "end_turn");
    assert_str(t->session_id, "s");
    assert_str(t->usage, "{\"used\":3}");
    assert_str(t->worktree, "/t");
    assert_str(t->branch, "b");
    assert_str(t->result_text, "r");
    assert_true(t->started_ms > 0);
    assert_true(t->finished_ms > 0);
    assert_true(t->cancel_requested);
}

static void a_member_that_is_left_out_keeps_its_value(void **state)
{
    const int code = 0, sig = 9;
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    struct task_change c = {
        .from = ~0u,
        .keep_status = true,
        .set = { .started = true,
                 .finished = true,
                 .cancel_requested = true,
                 .stop_reason = STR("end_turn"),
                 .session_id = STR("s"),
                 .usage = STR("{\"used\":3}"),
                 .worktree = STR("/t"),
                 .branch = STR("b"),
                 .result_text = STR("r"),
                 .exit_code = &code,
                 .signal = &sig,
                 .process = { .pid = 1, .pid_start = 2, .keeper = 3, .keeper_start = 4 } },
    };

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    c.id = str_of(id);
    ask_change(&w, &c, &g);
    assert_true(g.a.yes);
    check_set(&g.a.tasks[0]);
    ask_change(&w, &(struct task_change){ .id = str_of(id), .from = ~0u, .keep_status = true },
               &g);
    assert_true(g.a.yes);
    check_set(&g.a.tasks[0]);
    assert_int_equal(g.a.tasks[0].last_seq, 1);
    assert_int_equal(sql_number(&w, "SELECT pid*1000+pid_start*100+keeper*10+keeper_start "
                                    "FROM task"),
                     1234);
    got_free(&g);
    world_close(&w);
}

static void resolve(struct world *w, const char *id, enum task_resolution r, const char *note,
                    struct got *g)
{
    struct task_event_row ev = { .type = TASK_EV_RESOLVED, .data = STR("{}") };
    struct task_change c = {
        .id = str_of(id),
        .from = 1u << TASK_SUCCEEDED | 1u << TASK_FAILED | 1u << TASK_CANCELLED,
        .keep_status = true,
        .set = { .resolve = true, .resolution = r, .note = str_of(note) },
        .events = &ev,
        .nevents = 1,
    };

    ask_change(w, &c, g);
}

/* TK-1: a judgement changes no status, and the end of a task no judgement; TK-13: it may be
 * revised, its note goes with it; not before the end. */
static void a_resolution_and_a_status_never_change_each_other(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ok_run(&w, id);
    resolve(&w, id, TASK_ACCEPTED, "early", &g);
    assert_false(g.a.yes);
    assert_int_equal(g.a.tasks[0].resolution, TASK_UNRESOLVED);
    ok_end(&w, id, TASK_FAILED);
    for (int r = TASK_ACCEPTED; r <= TASK_SUPERSEDED; r++) {
        resolve(&w, id, (enum task_resolution)r, r == TASK_SUPERSEDED ? NULL : "n", &g);
        assert_true(g.a.yes);
        assert_int_equal(g.a.tasks[0].resolution, r);
        assert_int_equal(g.a.tasks[0].status, TASK_FAILED);
        assert_str(g.a.tasks[0].note, r == TASK_SUPERSEDED ? "" : "n");
        assert_true(g.a.tasks[0].resolved_ms > 0);
    }
    assert_int_equal(check_dense(&w, id), 8);
    got_free(&g);
    world_close(&w);
}

/* ---- the queue ---- */

struct sequence {
    struct world *w;
    int n, last; /* how many were answered; stop at the last */
    bool inside, disordered;
};

struct place {
    struct sequence *all;
    int at;
};

static void in_turn(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct place *p = ctx;

    p->all->disordered |= p->at != p->all->n || p->all->inside;
    if (++p->all->n == p->all->last)
        loop_stop(p->all->w->loop);
}

/* Whatever each takes: appends that wait for their group, reads, failures. */
static void answers_come_once_in_the_order_of_the_requests_and_never_from_inside(void **state)
{
    struct place places[300];
    char id[TASK_ID_LEN + 1];
    struct sequence all = { .last = ARRAY_LEN(places) };
    struct world w;

    (void)state;
    world_open(&w);
    all.w = &w;
    ok_submit(&w, id);
    all.inside = true;
    for (int i = 0; i < all.last; i++) {
        places[i] = (struct place){ &all, i };
        switch (i % 5) {
        case 0:
            ledger_get(w.ledger, str_of(id), in_turn, &places[i]);
            break;
        case 1:
            ledger_get(w.ledger, STR("nobody"), in_turn, &places[i]);
            break;
        case 2:
            ledger_append(w.ledger, str_of(id), TASK_EV_ERROR, STR("{}"), in_turn, &places[i]);
            break;
        default:
            ledger_append(w.ledger, str_of(id), TASK_EV_STDOUT, STR("{}"), in_turn, &places[i]);
            break;
        }
    }
    all.inside = false;
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(all.n, all.last);
    assert_false(all.disordered);
    assert_int_equal(check_dense(&w, id), 1 + 180);
    world_close(&w);
}

/* TK-3: events of output are committed at least once a second, without another request. */
static void output_is_committed_within_a_second(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    int64_t began;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    began = clock_ms();
    ok_append(&w, id, TASK_EV_STDOUT, "{\"text\":\"x\"}");
    assert_in_range(clock_ms() - began, 0, LEDGER_GROUP_MS * slack());
    assert_int_equal(sql_number(&w, "SELECT count(*) FROM event WHERE type = 4"), 1);
    got_free(&g);
    world_close(&w);
}

static void nobody(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    fail_msg("called back after ledger_drop()");
}

static void of_a_dropped_context_nothing_is_heard_and_all_is_done(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;
    int dropped;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ledger_append(w.ledger, str_of(id), TASK_EV_STDOUT, STR("{}"), nobody, &dropped);
    ledger_get(w.ledger, str_of(id), nobody, &dropped);
    ledger_drop(w.ledger, &dropped);
    ok_append(&w, id, TASK_EV_STDOUT, "{}");
    assert_int_equal(check_dense(&w, id), 3);
    world_close(&w);
}

static void free_in_the_middle(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct world *w = ctx;

    ledger_free(w->ledger);
    w->ledger = NULL;
    loop_stop(w->loop);
}

/* Also from inside an answer; what was asked is done. */
static void freeing_commits_what_was_asked_and_calls_nobody(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ledger_get(w.ledger, str_of(id), free_in_the_middle, &w);
    for (int i = 0; i < 100; i++)
        ledger_append(w.ledger, str_of(id), TASK_EV_STDOUT, STR("{}"), nobody, NULL);
    run_until_stopped(w.loop, ASK_MS);
    ledger_of(&w);
    /* Its owner is gone: `error` and `status_changed` come behind (TK-5). */
    assert_int_equal(check_dense(&w, id), 101 + 2);
    world_close(&w);
}

static void stop_it(void *ctx)
{
    loop_stop(ctx);
}

/* TK-3: the queue's bound, by number and by bytes. */
static void the_queue_says_when_it_is_full(void **state)
{
    auto_free char *big = mem_alloc((size_t)1 << 20);
    char id[TASK_ID_LEN + 1];
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (int i = 0; i < LEDGER_QUEUE_MAX; i++) {
        assert_false(ledger_is_full(w.ledger));
        ledger_append(w.ledger, str_of(id), TASK_EV_STDOUT, STR("{}"), NULL, NULL);
    }
    assert_true(ledger_is_full(w.ledger));
    ledger_flush(w.ledger, stop_it, w.loop);
    run_until_stopped(w.loop, ASK_MS);
    assert_false(ledger_is_full(w.ledger));
    memset(big, 'x', (size_t)1 << 20);
    for (int i = 0; i < 32; i++)
        ledger_append(w.ledger, str_of(id), TASK_EV_STDOUT,
                      (struct str){ big, (size_t)1 << 20 }, NULL, NULL);
    assert_true(ledger_is_full(w.ledger));
    ledger_flush(w.ledger, stop_it, w.loop);
    run_until_stopped(w.loop, ASK_MS);
    assert_false(ledger_is_full(w.ledger));
    assert_int_equal(check_dense(&w, id), 1 + LEDGER_QUEUE_MAX + 32);
    world_close(&w);
}

/* ---- reading ---- */

/* TK-10. */
static void events_come_after_a_cursor_up_to_a_limit(void **state)
{
    static const struct {
        int64_t after;
        int limit;
        uint32_t types;
        size_t max_bytes;
        size_t n;
        int64_t first, cursor;
        bool more;
    } cases[] = {
        { 0, 500, 0, 1 << 20, 21, 1, 21, false },
        { 0, 5, 0, 1 << 20, 5, 1, 5, true },
        { 16, 5, 0, 1 << 20, 5, 17, 21, false },
        { 20, 500, 0, 1 << 20, 1, 21, 21, false },
        { 21, 500, 0, 1 << 20, 0, 0, 21, false },
        { 1000, 500, 0, 1 << 20, 0, 0, 1000, false },
        { INT64_MAX, 500, 0, 1 << 20, 0, 0, INT64_MAX, false },
        { -5, 1, 0, 1 << 20, 1, 1, 1, true },
        { 1, 500, 0, 1, 1, 2, 2, true },  /* at least one comes */
        { 1, 500, 0, 26, 2, 2, 3, true }, /* of 13 bytes each */
        { 0, 500, 1u << TASK_EV_ERROR, 1 << 20, 10, 3, 21, false },
        { 0, 3, 1u << TASK_EV_STDERR, 1 << 20, 3, 2, 6, true },
        { 0, 500, 1u << TASK_EV_PLAN, 1 << 20, 0, 0, 0, false },
    };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (int i = 0; i < 10; i++) {
        ledger_append(w.ledger, str_of(id), TASK_EV_STDERR, STR("{\"text\":\"ab\"}"), NULL,
                      NULL);
        ledger_append(w.ledger, str_of(id), TASK_EV_ERROR, STR("{\"text\":\"cd\"}"), NULL,
                      NULL);
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct events_query q = { .id = str_of(id),
                                  .after = cases[i].after,
                                  .limit = cases[i].limit,
                                  .types = cases[i].types,
                                  .max_bytes = cases[i].max_bytes };

        got_free(&g);
        g.loop = w.loop;
        ledger_events(w.ledger, &q, on_got, &g);
        await(&g);
        assert_int_equal(g.e.kind, ERR_NONE);
        assert_int_equal(g.a.nevents, cases[i].n);
        assert_int_equal(g.a.cursor, cases[i].cursor);
        assert_int_equal(g.a.more, cases[i].more);
        assert_int_equal(g.a.first_seq, 1);
        assert_str(g.a.tasks[0].id, id);
        if (cases[i].n)
            assert_int_equal(g.a.events[0].seq, cases[i].first);
    }
    got_free(&g);
    world_close(&w);
}

/* TK-10: a question for what is rare ends early, and says where to go on. */
static void a_rare_type_is_looked_for_piece_by_piece(void **state)
{
    struct events_query q = { .limit = 10, .types = 1u << TASK_EV_ERROR, .max_bytes = 1 << 20 };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    q.id = str_of(id);
    for (int i = 0; i < LEDGER_EVENTS_SCANNED + 100; i++) {
        ledger_append(w.ledger, q.id, TASK_EV_STDOUT, STR("{}"), NULL, NULL);
        if (i % 1000 == 0) {
            ledger_flush(w.ledger, stop_it, w.loop);
            run_until_stopped(w.loop, ASK_MS);
        }
    }
    ok_append(&w, id, TASK_EV_ERROR, "{\"text\":\"at last\"}");
    g.loop = w.loop;
    ledger_events(w.ledger, &q, on_got, &g);
    await(&g);
    assert_int_equal(g.a.nevents, 0);
    assert_int_equal(g.a.cursor, LEDGER_EVENTS_SCANNED);
    assert_true(g.a.more);
    q.after = g.a.cursor;
    got_free(&g);
    g.loop = w.loop;
    ledger_events(w.ledger, &q, on_got, &g);
    await(&g);
    assert_int_equal(g.a.nevents, 1);
    assert_int_equal(g.a.cursor, LEDGER_EVENTS_SCANNED + 102);
    assert_false(g.a.more);
    got_free(&g);
    world_close(&w);
}

/* TK-10, TK-12: 1..5000, 1..500. */
static void limits_outside_their_range_are_refused(void **state)
{
    static const int limits[] = { -1, 0, 100000 };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        ask_events(&w, id, 0, limits[i], &g);
        assert_int_equal(g.e.kind, ERR_INVALID);
        ask_list(&w, &(struct list_query){ .status = -1, .kind = -1, .limit = limits[i] }, &g);
        assert_int_equal(g.e.kind, ERR_INVALID);
    }
    got_free(&g);
    world_close(&w);
}

static void what_is_not_there_is_named(void **state)
{
    char id[TASK_ID_LEN + 1], none[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    struct str ids[2];

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    task_id_new(none);
    ids[0] = str_of(id);
    ids[1] = str_of(none);
    ask_get(&w, none, &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    assert_has(g.e.msg, none);
    ask_events(&w, none, 0, 1, &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    ask_append(&w, none, TASK_EV_STDOUT, "{}", &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    ask_append(&w, none, TASK_EV_ERROR, "{}", &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    ask_claim(&w, none, 16, &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    ask_change(&w, &(struct task_change){ .id = str_of(none), .from = ~0u }, &g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    got_free(&g);
    g.loop = w.loop;
    ledger_get_many(w.ledger, ids, 2, on_got, &g);
    await(&g);
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    assert_has(g.e.msg, none);
    assert_int_equal(g.a.ntasks, 0);
    got_free(&g);
    world_close(&w);
}

static void many_come_in_the_order_asked_as_in_lists(void **state)
{
    char id[3][TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    struct str ids[4];

    (void)state;
    world_open(&w);
    for (int i = 0; i < 3; i++)
        ok_submit(&w, id[i]);
    for (int i = 0; i < 4; i++)
        ids[i] = str_of(id[(i + 2) % 3]);
    g.loop = w.loop;
    ledger_get_many(w.ledger, ids, 4, on_got, &g);
    await(&g);
    assert_int_equal(g.a.ntasks, 4);
    for (int i = 0; i < 4; i++) {
        assert_bytes(g.a.tasks[i].id, ids[i]);
        assert_str(g.a.tasks[i].prompt, "do it");
    }
    got_free(&g);
    world_close(&w);
}

/* TK-12: newest first, by pages, by each filter. */
static void lists_are_newest_first_filtered_and_by_pages(void **state)
{
    static const struct {
        struct list_query q;
        const char *want; /* the tasks by their letters */
    } cases[] = {
        { { .status = -1, .kind = -1, .limit = 50 }, "fedcba" },
        { { .status = TASK_FAILED, .kind = -1, .limit = 50 }, "fb" },
        { { .status = -1, .kind = TASK_CLI, .limit = 50 }, "db" },
        { { .status = -1, .kind = -1, .workspace = STR("/w2"), .limit = 50 }, "ec" },
        { { .status = -1, .kind = -1, .label = STR("big"), .limit = 50 }, "fa" },
        { { .status = -1, .kind = -1, .label = STR("bi"), .limit = 50 }, "" },
        { { .status = -1, .kind = -1, .label = STR("%"), .limit = 50 }, "" },
        { { .status = -1, .kind = -1, .initiator_id = STR("me"), .limit = 50 }, "cb" },
        { { .status = TASK_FAILED, .kind = TASK_CLI, .initiator_id = STR("me"), .limit = 50 },
          "b" },
        { { .status = -1, .kind = -1, .limit = 4 }, "fedc+" },
    };
    struct got g = { 0 };
    struct world w;
    char id[TASK_ID_LEN + 1], cursor[64];

    (void)state;
    world_open(&w);
    for (char c = 'a'; c <= 'f'; c++) {
        struct task_new t = task_like(id);

        t.record.agent = (struct str){ &c, 1 };
        t.record.kind = c == 'b' || c == 'd' ? TASK_CLI : TASK_ACP;
        t.record.workspace = c == 'c' || c == 'e' ? STR("/w2") : STR("/w");
        t.record.labels = c == 'a' || c == 'f' ? STR("[\"x\",\"big\"]") : STR("[]");
        t.record.initiator_id = c == 'b' || c == 'c' ? STR("me") : STR("");
        ask_submit(&w, &t, &g);
        if (c == 'b' || c == 'f')
            ok_end(&w, id, TASK_FAILED);
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char got[16] = "";

        ask_list(&w, &cases[i].q, &g);
        assert_int_equal(g.e.kind, ERR_NONE);
        for (size_t k = 0; k < g.a.ntasks; k++)
            got[k] = g.a.tasks[k].agent.p[0];
        if (g.a.more)
            strcat(got, "+");
        assert_string_equal(got, cases[i].want);
        assert_int_equal(g.a.more, g.a.text.n > 0);
    }
    snprintf(cursor, sizeof cursor, "%.*s", STR_F(g.a.text));
    ask_list(
        &w,
        &(struct list_query){ .status = -1, .kind = -1, .limit = 4, .cursor = str_of(cursor) },
        &g);
    assert_int_equal(g.a.ntasks, 2);
    assert_str(g.a.tasks[0].agent, "b");
    assert_false(g.a.more);
    got_free(&g);
    world_close(&w);
}

static void a_cursor_of_somebody_elses_is_refused(void **state)
{
    static const char *const cursors[] = {
        "x", "t", "t0", "t-1", "1", "t1 ", "t99999999999999999999"
    };
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(cursors); i++) {
        ask_list(&w,
                 &(struct list_query){
                     .status = -1, .kind = -1, .limit = 4, .cursor = str_of(cursors[i]) },
                 &g);
        assert_int_equal(g.e.kind, ERR_INVALID);
    }
    got_free(&g);
    world_close(&w);
}

/* TK-23: the text of all agent messages. */
static void the_result_is_what_the_agent_said(void **state)
{
    static const struct {
        enum task_event type;
        const char *data;
    } events[] = {
        { TASK_EV_MESSAGE, "{\"text\":\"one \"}" },
        { TASK_EV_THOUGHT, "{\"text\":\"hm\"}" },
        { TASK_EV_MESSAGE, "{\"text\":\"message\"}" },
        { TASK_EV_TOOL_CALL, "{}" },
        { TASK_EV_MESSAGE, "{\"text\":\"two\"}" },
        { TASK_EV_MESSAGE, "{\"text\":\"three \",\"message_id\":\"a\"}" },
        { TASK_EV_TOOL_CALL, "{}" },
        { TASK_EV_MESSAGE, "{\"text\":\"goes on\",\"message_id\":\"a\"}" },
        { TASK_EV_MESSAGE, "{\"text\":\"f\\u00fcnf\",\"message_id\":\"b\"}" },
    };
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        ledger_append(w.ledger, str_of(id), events[i].type, str_of(events[i].data), NULL, NULL);
    g.loop = w.loop;
    ledger_result(w.ledger, str_of(id), on_got, &g);
    await(&g);
    assert_str(g.a.text, "one message\n\ntwo\n\nthree goes on\n\nf\xc3\xbcnf");
    got_free(&g);
    world_close(&w);
}

/* ---- submitting ---- */

/* TK-8: the same key of the same initiator is the same task. */
static void a_key_makes_one_task_per_initiator(void **state)
{
    char id[4][TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    struct task_new t;

    (void)state;
    world_open(&w);
    t = task_like(id[0]);
    t.idempotency_key = STR("k");
    ask_submit(&w, &t, &g);
    assert_false(g.a.yes);
    t.record.id = (task_id_new(id[1]), str_of(id[1]));
    ask_submit(&w, &t, &g);
    assert_true(g.a.yes);
    assert_str(g.a.tasks[0].id, id[0]);
    t.record.id = (task_id_new(id[2]), str_of(id[2]));
    t.record.initiator_id = STR("other");
    ask_submit(&w, &t, &g);
    assert_false(g.a.yes);
    assert_str(g.a.tasks[0].id, id[2]);
    t.record.id = (task_id_new(id[3]), str_of(id[3]));
    t.idempotency_key = (struct str){ 0 };
    ask_submit(&w, &t, &g);
    assert_false(g.a.yes);
    assert_int_equal(sql_number(&w, "SELECT count(*) FROM task"), 3);
    got_free(&g);
    world_close(&w);
}

static void what_is_no_id_is_refused(void **state)
{
    struct task_new t = { .record = { .id = STR("1'; DROP TABLE task; --") } };
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ask_submit(&w, &t, &g);
    assert_int_equal(g.e.kind, ERR_INVALID);
    got_free(&g);
    world_close(&w);
}

/* ---- the cap ---- */

static char *text_of(size_t n)
{
    char *p = mem_alloc(n + 1);

    memset(p, 'x', n);
    return p;
}

static void submit_capped(struct world *w, char id[TASK_ID_LEN + 1], int64_t max)
{
    struct task_new t = task_like(id);
    struct got g = { 0 };

    t.max_output = max;
    ask_submit(w, &t, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    got_free(&g);
}

/* TK-6: the oldest output goes, first_seq says so, the rest stays. TK-10: below it first_seq is
 * told. */
static void at_the_cap_the_oldest_output_goes_first(void **state)
{
    static const enum task_event output[] = { TASK_EV_STDOUT, TASK_EV_STDERR, TASK_EV_THOUGHT,
                                              TASK_EV_TOOL_UPDATE };
    auto_free char *kb = text_of(1000);
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    submit_capped(&w, id, 100000);
    ok_append(&w, id, TASK_EV_MESSAGE, "{\"text\":\"kept\"}");
    for (int i = 0; i < 1000; i++)
        ledger_append(w.ledger, str_of(id), output[i / 7 % 4], str_of(kb), NULL, NULL);
    ask_get(&w, id, &g);
    assert_int_equal(g.a.tasks[0].last_seq, 1002);
    assert_in_range(g.a.tasks[0].first_seq, 1002 - 100, 1002 - 90);
    check_dense(&w, id);
    assert_true(sql_number(&w, "SELECT sum(length(payload)) FROM event") <= 100000);
    assert_int_equal(sql_number(&w, "SELECT bytes - (SELECT sum(length(payload)) FROM event)"
                                    " FROM task"),
                     0);
    ask_events(&w, id, 0, 3, &g);
    assert_int_equal(g.a.events[0].seq, 1);
    assert_int_equal(g.a.events[1].seq, 2);
    assert_int_equal(g.a.events[2].seq, g.a.first_seq);
    assert_true(g.a.first_seq > 3);
    got_free(&g);
    world_close(&w);
}

/* ACP-17: what does not fit even without output is dropped, with one `error`; permissions,
 * errors and the end are still recorded. */
static void what_does_not_fit_is_dropped_with_one_error(void **state)
{
    auto_free char *kb = text_of(1000);
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    submit_capped(&w, id, 10000);
    for (int i = 0; i < 100; i++)
        ledger_append(w.ledger, str_of(id), TASK_EV_MESSAGE, str_of(kb), NULL, NULL);
    ask_append(&w, id, TASK_EV_STDOUT, kb, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_false(g.a.yes);
    ask_append(&w, id, TASK_EV_PERMISSION, "{}", &g);
    assert_true(g.a.yes);
    ok_end(&w, id, TASK_FAILED);
    assert_int_equal(sql_number(&w, "SELECT count(*) FROM event WHERE type = 16"
                                    " AND payload = '{\"message\":\"output cap\"}'"),
                     1);
    assert_int_equal(check_dense(&w, id), 1 + 9 + 1 + 1 + 1);
    got_free(&g);
    world_close(&w);
}

/* Nothing that an agent can make us write is without an end. */
static void a_flood_of_permissions_ends_too(void **state)
{
    auto_free char *big = text_of(1000000);
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;
    int i;

    (void)state;
    world_open(&w);
    submit_capped(&w, id, 1000);
    for (i = 0; i < 20 && g.e.kind == ERR_NONE; i++)
        ask_append(&w, id, TASK_EV_PERMISSION, big, &g);
    assert_int_equal(g.e.kind, ERR_LIMIT);
    assert_in_range(i, 5, 12);
    check_dense(&w, id);
    got_free(&g);
    world_close(&w);
}

/* TK-3, TK-6: whatever an agent has filled up, its task can be called off, and ends. */
static void a_full_task_can_be_called_off_and_ends(void **state)
{
    char id[TASK_ID_LEN + 1];
    const struct task_event_row asked = { .type = TASK_EV_CANCELLED,
                                          .data = STR("{\"reason\":\"enough\"}") };
    struct task_change cancel = { .from = 1u << TASK_CREATED,
                                  .to = TASK_CREATED,
                                  .set.cancel_requested = true,
                                  .events = &asked,
                                  .nevents = 1 };
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    submit_capped(&w, id, 1000);
    for (int i = 0; i < 20 && g.e.kind == ERR_NONE; i++) {
        auto_free char *big = text_of(1000000);

        ask_append(&w, id, TASK_EV_PERMISSION, big, &g);
    }
    got_free(&g);
    for (bool room = true; room;) {
        auto_free char *small = text_of(30000);

        ask_append(&w, id, TASK_EV_PERMISSION, small, &g);
        room = g.e.kind == ERR_NONE;
        got_free(&g);
    }
    for (bool room = true; room;) {
        ask_append(&w, id, TASK_EV_PERMISSION, "{\"kind\":\"edit\",\"title\":\"x\"}", &g);
        room = g.e.kind == ERR_NONE;
        got_free(&g);
    }
    cancel.id = str_of(id);
    ask_change(&w, &cancel, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_true(g.a.yes && g.a.tasks[0].cancel_requested);
    got_free(&g);
    ok_end(&w, id, TASK_CANCELLED);
    check_dense(&w, id);
    world_close(&w);
}

/* ---- claims ---- */

static void submit_at(struct world *w, char id[TASK_ID_LEN + 1], int priority,
                      enum task_kind kind)
{
    struct task_new t = task_like(id);
    struct got g = { 0 };

    t.record.priority = priority;
    t.record.kind = kind;
    ask_submit(w, &t, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    got_free(&g);
}

static bool claim(struct world *w, const char *id, int max_running)
{
    struct got g = { 0 };
    bool yes;

    ask_claim(w, id, max_running, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    yes = g.a.yes;
    assert_true(!yes || g.a.tasks[0].status == TASK_STARTING);
    got_free(&g);
    return yes;
}

/* TK-24: at most so many run, by priority, then age. */
static void the_next_place_is_for_the_best_claim(void **state)
{
    char first[TASK_ID_LEN + 1], old[TASK_ID_LEN + 1], young[TASK_ID_LEN + 1],
        high[TASK_ID_LEN + 1], agent[TASK_ID_LEN + 1];
    struct world w;

    (void)state;
    world_open(&w);
    submit_at(&w, first, 0, TASK_ACP);
    assert_true(claim(&w, first, 1));
    submit_at(&w, old, 0, TASK_CLI);
    submit_at(&w, young, 0, TASK_ACP);
    submit_at(&w, high, 5, TASK_ACP);
    submit_at(&w, agent, 10, TASK_AGENT); /* counts for nobody (TK-61) */
    assert_false(claim(&w, old, 1));
    assert_false(claim(&w, high, 1));
    assert_false(claim(&w, old, 2));   /* the free place is high's */
    assert_false(claim(&w, young, 3)); /* and the next one old's */
    assert_true(claim(&w, old, 3));    /* there is room for both */
    assert_false(claim(&w, young, 3));
    assert_true(claim(&w, high, 3));
    assert_false(claim(&w, young, 3));
    ok_end(&w, agent, TASK_FAILED);
    assert_true(claim(&w, young, 4));
    assert_false(claim(&w, young, 100)); /* it has started */
    world_close(&w);
}

static void list_running(void *ctx, const struct task_running *v, size_t n,
                         const struct error *e)
{
    struct got *g = ctx;

    g->times++;
    g->a.nevents = n;
    if (n)
        g->a.cursor = v[0].process.pid * 10 + (int64_t)v[0].process.pid_start;
    loop_stop(g->loop);
}

/* TK-24: what the chain is found by. */
static void the_running_ones_are_listed_with_their_processes(void **state)
{
    char id[TASK_ID_LEN + 1], waits[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ok_run(&w, id);
    ok_submit(&w, waits);
    ask_change(&w,
               &(struct task_change){ .id = str_of(id),
                                      .from = ~0u,
                                      .keep_status = true,
                                      .set = { .process = { .pid = 4, .pid_start = 2 } } },
               &g);
    got_free(&g);
    g.loop = w.loop;
    ledger_running(w.ledger, list_running, &g);
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(g.a.nevents, 1);
    assert_int_equal(g.a.cursor, 42);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_goes_through_its_life_and_is_there_after_reopening),
        cmocka_unit_test(a_task_without_labels_and_options_has_empty_ones),
        cmocka_unit_test(a_change_of_status_follows_an_arrow_or_is_not_done),
        cmocka_unit_test(a_change_from_another_status_is_not_done_and_says_how_it_is),
        cmocka_unit_test(a_member_that_is_left_out_keeps_its_value),
        cmocka_unit_test(a_resolution_and_a_status_never_change_each_other),
        cmocka_unit_test(answers_come_once_in_the_order_of_the_requests_and_never_from_inside),
        cmocka_unit_test(output_is_committed_within_a_second),
        cmocka_unit_test(of_a_dropped_context_nothing_is_heard_and_all_is_done),
        cmocka_unit_test(freeing_commits_what_was_asked_and_calls_nobody),
        cmocka_unit_test(the_queue_says_when_it_is_full),
        cmocka_unit_test(events_come_after_a_cursor_up_to_a_limit),
        cmocka_unit_test(a_rare_type_is_looked_for_piece_by_piece),
        cmocka_unit_test(limits_outside_their_range_are_refused),
        cmocka_unit_test(what_is_not_there_is_named),
        cmocka_unit_test(many_come_in_the_order_asked_as_in_lists),
        cmocka_unit_test(lists_are_newest_first_filtered_and_by_pages),
        cmocka_unit_test(a_cursor_of_somebody_elses_is_refused),
        cmocka_unit_test(the_result_is_what_the_agent_said),
        cmocka_unit_test(a_key_makes_one_task_per_initiator),
        cmocka_unit_test(what_is_no_id_is_refused),
        cmocka_unit_test(at_the_cap_the_oldest_output_goes_first),
        cmocka_unit_test(what_does_not_fit_is_dropped_with_one_error),
        cmocka_unit_test(a_flood_of_permissions_ends_too),
        cmocka_unit_test(a_full_task_can_be_called_off_and_ends),
        cmocka_unit_test(the_next_place_is_for_the_best_claim),
        cmocka_unit_test(the_running_ones_are_listed_with_their_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
