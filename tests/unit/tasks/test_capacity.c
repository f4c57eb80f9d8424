/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TK-24: the queue for room; with runs it is tested in test_run.c. */
#include "ledger_check.h"

#include "base/file.h"
#include "base/path.h"
#include "tasks/capacity.h"

static void available_memory_is_read_from_meminfo(void **state)
{
    static const struct {
        const char *text;
        int64_t mb;
    } cases[] = {
        { "MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:   2097152 kB\nBuffers: 0 kB\n",
          2048 },
        { "MemAvailable: 1023 kB", 0 },
        { "MemAvailable: 1024 kB\n", 1 },
        { "MemTotal: 4096 kB\n", -1 },
        { "MemAvailable: lots kB\n", -1 },
        { "MemAvailable: 2048 MB\n", -1 },
        { "MemAvailable:\n", -1 },
        { "", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(capacity_available_mb(str_of(cases[i].text)), cases[i].mb);
    (void)state;
}

struct waiter {
    struct world *w;
    int waits, claims;
    enum err_kind kind;
};

static void on_wait(void *ctx)
{
    struct waiter *x = ctx;

    x->waits++;
    loop_stop(x->w->loop);
}

static void on_claim(void *ctx, const struct error *e)
{
    struct waiter *x = ctx;

    x->claims++;
    x->kind = e ? e->kind : ERR_NONE;
    loop_stop(x->w->loop);
}

static const struct ticket_ops ops = { on_wait, on_claim };

static struct capacity *capacity_of(struct world *w, int max, int mb, const char *meminfo)
{
    return capacity_new(&(struct capacity_opts){ .loop = w->loop,
                                                 .ledger = w->ledger,
                                                 .max_running = max,
                                                 .min_free_mb = mb,
                                                 .meminfo = meminfo });
}

static void memory_that_comes_back_lets_a_task_start(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;
    struct waiter x = { .w = &w };
    struct capacity *c;
    const char *meminfo;
    auto_arena a = ARENA;

    world_open(&w);
    meminfo = path_join(&a, w.dir, "meminfo");
    assert_true(file_write_cache(meminfo, STR("MemAvailable: 102400 kB\n"), NULL));
    c = capacity_of(&w, 16, 101, meminfo);
    ok_submit(&w, id);
    ticket_new(c, str_of(id), 0, &ops, &x);
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(x.waits, 1);
    assert_true(file_write_cache(meminfo, STR("MemAvailable: 103424 kB\n"), NULL));
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(x.claims, 1);
    assert_int_equal(x.kind, ERR_NONE);
    assert_int_equal(x.waits, 1);
    capacity_free(c);
    world_close(&w);
    (void)state;
}

static void where_memory_is_not_told_tasks_start(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;
    struct waiter x = { .w = &w };
    struct capacity *c;

    world_open(&w);
    c = capacity_of(&w, 16, 1000, "/nowhere/meminfo");
    ok_submit(&w, id);
    ticket_new(c, str_of(id), 0, &ops, &x);
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(x.claims, 1);
    assert_int_equal(x.waits, 0);
    capacity_free(c);
    world_close(&w);
    (void)state;
}

static void a_task_that_is_not_there_cannot_be_claimed(void **state)
{
    struct world w;
    struct waiter x = { .w = &w };
    struct capacity *c;

    world_open(&w);
    c = capacity_of(&w, 16, 0, NULL);
    ticket_new(c, STR("0190c3c5-7e34-7000-8000-00000000000a"), 0, &ops, &x);
    run_until_stopped(w.loop, ASK_MS);
    assert_int_equal(x.claims, 1);
    assert_int_equal(x.kind, ERR_NOT_FOUND);
    capacity_free(c);
    world_close(&w);
    (void)state;
}

/* Also one whose claim is under way. */
static void a_ticket_may_be_given_up_at_any_time(void **state)
{
    char id[3][TASK_ID_LEN + 1];
    struct world w;
    struct waiter x[3] = { { .w = &w }, { .w = &w }, { .w = &w } };
    struct ticket *t[3];
    struct capacity *c;

    for (int wait_ms = 0; wait_ms < 3; wait_ms++) {
        world_open(&w);
        c = capacity_of(&w, 1, 0, NULL);
        for (size_t i = 0; i < 3; i++) {
            ok_submit(&w, id[i]);
            t[i] = ticket_new(c, str_of(id[i]), 0, &ops, &x[i]);
            x[i].claims = x[i].waits = 0;
        }
        if (wait_ms)
            run_for(w.loop, wait_ms);
        for (size_t i = 0; i < 3; i++)
            if (!x[i].claims)
                ticket_free(t[i]);
        run_for(w.loop, 50);
        assert_int_equal(x[1].claims + x[2].claims, 0);
        capacity_free(c);
        world_close(&w);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(available_memory_is_read_from_meminfo),
        cmocka_unit_test(memory_that_comes_back_lets_a_task_start),
        cmocka_unit_test(where_memory_is_not_told_tasks_start),
        cmocka_unit_test(a_task_that_is_not_there_cannot_be_claimed),
        cmocka_unit_test(a_ticket_may_be_given_up_at_any_time),
    };

    return cmocka_run_group_tests_name("tasks/capacity", tests, NULL, NULL);
}
