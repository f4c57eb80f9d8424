/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Retention (TK-6), slice by slice on the engine itself. */
#include "ledger_check.h"

#include <sys/stat.h>
#include <time.h>

#include "tasks/ledger_db.h"
#include "tasks/ledger_sqlite.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

struct bench {
    struct world w; /* without a ledger of its own */
    struct db *d;
    char ids[64][TASK_ID_LEN + 1];
    int n;
};

static void bench_open(struct bench *b, int days, int tasks, int mb)
{
    struct error e;

    *b = (struct bench){ 0 };
    make_temp_dir(b->w.dir);
    snprintf(b->w.state, sizeof b->w.state, "%.*s/state", PATH_MAX - 10, b->w.dir);
    b->d = ledger_sqlite.open(
        &(struct ledger_config){
            .state_dir = b->w.state, .keep_days = days, .keep_tasks = tasks, .keep_mb = mb },
        &e);
    assert_non_null(b->d);
}

static void bench_close(struct bench *b)
{
    ledger_sqlite.close(b->d);
    remove_tree(b->w.dir);
}

/* A task with so many events of a size, ended so many days ago; < 0: it has not ended. */
static void add(struct bench *b, int events, size_t size, int days_ago)
{
    char *id = b->ids[b->n++], sql[256];
    struct task_new t = task_like(id);
    struct ledger_answer answer = { 0 };
    auto_arena a = ARENA;
    auto_free char *text = mem_alloc(size + 1);
    auto_free struct ledger_append *all = mem_alloc((size_t)events * sizeof *all);
    struct error e;

    memset(text, 't', size);
    for (int i = 0; i < events; i++)
        all[i] = (struct ledger_append){ .id = str_of(id),
                                         .type = TASK_EV_MESSAGE,
                                         .data = { text, size } };
    assert_true(ledger_sqlite.submit(
        b->d, &t, &(struct ledger_reply){ .arena = &a, .answer = &answer }, &e));
    assert_true(ledger_sqlite.append(b->d, all, (size_t)events, false, &e));
    if (days_ago < 0)
        return;
    snprintf(sql, sizeof sql, "UPDATE task SET status = %d, finished_ms = %lld WHERE id = '%s'",
             TASK_SUCCEEDED, (long long)(clock_wall_ms() - days_ago * DAY_MS), id);
    sql_do(&b->w, sql);
}

static int64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Runs slices until there is nothing to do; the processor time of the longest one. */
static int64_t tidy(struct bench *b)
{
    int64_t longest = 0;
    struct error e;
    bool more;
    int slices = 0;

    do {
        int64_t began = cpu_ms(), took;

        if (!ledger_sqlite.tidy(b->d, &more, &e))
            fail_msg("%s", e.msg);
        took = cpu_ms() - began;
        longest = took > longest ? took : longest;
        assert_true(++slices < 100000);
    } while (more);
    return longest;
}

/* The letters of the tasks that are left, 'a' for the first. */
static void check_left(struct bench *b, const char *want)
{
    char got[65] = "";
    size_t n = 0;

    for (int i = 0; i < b->n; i++) {
        struct ledger_answer answer = { 0 };
        auto_arena a = ARENA;
        struct str id = str_of(b->ids[i]);
        struct error e;

        if (ledger_sqlite.get(b->d, &id, 1, true,
                              &(struct ledger_reply){ .arena = &a, .answer = &answer }, &e))
            got[n++] = (char)('a' + i);
        else
            assert_int_equal(e.kind, ERR_NOT_FOUND); /* `task_not_found` */
    }
    assert_string_equal(got, want);
    /* No event is left without its task. */
    assert_int_equal(sql_number(&b->w, "SELECT count(*) FROM event WHERE id >> 32 NOT IN"
                                       " (SELECT no FROM task)"),
                     0);
    assert_int_equal(sql_number(&b->w, "SELECT count(*) FROM doomed"), 0);
}

static void ended_tasks_go_after_so_many_days(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, 30, 0, 0);
    add(&b, 3, 10, 31);
    add(&b, 3, 10, 29);
    add(&b, 3, 10, -1);
    add(&b, 3, 10, 400);
    add(&b, 3, 10, 0);
    tidy(&b);
    check_left(&b, "bce");
    bench_close(&b);
}

/* Open ones are not counted and never go. */
static void beyond_a_number_the_oldest_ended_tasks_go(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, 0, 3, 0);
    add(&b, 1, 10, 5);
    add(&b, 1, 10, 9);
    add(&b, 1, 10, -1);
    add(&b, 1, 10, 1);
    add(&b, 1, 10, 7);
    add(&b, 1, 10, 3);
    add(&b, 1, 10, -1);
    tidy(&b);
    check_left(&b, "acdfg");
    bench_close(&b);
}

/* The file shrinks, too. */
static void beyond_a_size_the_oldest_ended_tasks_go(void **state)
{
    char path[PATH_MAX + 32];
    struct stat st;
    struct bench b;

    (void)state;
    bench_open(&b, 0, 0, 8);
    for (int i = 0; i < 10; i++)
        add(&b, 4, 1000000, 10 - i);
    add(&b, 1, 10, -1);
    tidy(&b);
    check_left(&b, "ijk"); /* 4 MB each: two fit below 8 MiB */
    sql_do(&b.w, "PRAGMA wal_checkpoint(TRUNCATE)");
    snprintf(path, sizeof path, "%s/tasks.db", b.w.state);
    assert_int_equal(stat(path, &st), 0);
    assert_in_range(st.st_size, 1, 30 << 20);
    bench_close(&b);
}

static void without_bounds_nothing_goes(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, 0, 0, 0);
    add(&b, 3, 10, 4000);
    tidy(&b);
    check_left(&b, "a");
    bench_close(&b);
}

/* Nobody waits long for retention, however large what goes is. */
static void slices_are_short(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, 30, 0, 0);
    add(&b, 40, 1000000, 31);
    add(&b, 3000, 10, 31);
    assert_in_range(tidy(&b), 0, 50 * slack());
    check_left(&b, "");
    bench_close(&b);
}

/* A kill between two slices: whoever comes next goes on. */
static void what_one_began_another_finishes(void **state)
{
    struct error e;
    struct bench b;
    bool more;

    (void)state;
    bench_open(&b, 30, 0, 0);
    add(&b, 40, 1000000, 31);
    assert_true(ledger_sqlite.tidy(b.d, &more, &e));
    assert_true(more);
    assert_int_equal(sql_number(&b.w, "SELECT count(*) FROM doomed"), 1);
    ledger_sqlite.close(b.d);
    b.d = ledger_sqlite.open(&(struct ledger_config){ .state_dir = b.w.state }, &e);
    assert_non_null(b.d);
    tidy(&b);
    check_left(&b, "");
    bench_close(&b);
}

/* The ledger does it by itself. */
static void a_ledger_tidies_up_soon_after_it_is_opened(void **state)
{
    struct got g = { 0 };
    struct bench b;

    (void)state;
    bench_open(&b, 30, 0, 0);
    add(&b, 3, 10, 31);
    b.w.loop = loop_new();
    b.w.config = (struct ledger_config){ .state_dir = b.w.state, .keep_days = 30 };
    ledger_of(&b.w);
    for (int i = 0; i < 100 * slack() && g.e.kind == ERR_NONE; i++) {
        run_for(b.w.loop, 50);
        ask_get(&b.w, b.ids[0], &g);
    }
    assert_int_equal(g.e.kind, ERR_NOT_FOUND);
    got_free(&g);
    ledger_free(b.w.ledger);
    loop_free(b.w.loop);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_tasks_go_after_so_many_days),
        cmocka_unit_test(beyond_a_number_the_oldest_ended_tasks_go),
        cmocka_unit_test(beyond_a_size_the_oldest_ended_tasks_go),
        cmocka_unit_test(without_bounds_nothing_goes),
        cmocka_unit_test(slices_are_short),
        cmocka_unit_test(what_one_began_another_finishes),
        cmocka_unit_test(a_ledger_tidies_up_soon_after_it_is_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
