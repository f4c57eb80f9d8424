/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TK-24: who works for whom, and how deep that may go. */
#include "ledger_check.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/procstat.h"
#include "tasks/chain.h"

#define A "0190c3c5-7e34-7000-8000-00000000000a"
#define B "0190c3c5-7e34-7000-8000-00000000000b"
#define C "0190c3c5-7e34-7000-8000-00000000000c"
#define D "0190c3c5-7e34-7000-8000-00000000000d"
#define E "0190c3c5-7e34-7000-8000-00000000000e"

static void the_variable_is_a_list_of_ids_or_nothing(void **state)
{
    static const struct {
        const char *value; /* NULL: absent */
        bool ok;
        size_t n;
        bool too_deep;
    } cases[] = {
        { NULL, false, 0, false },
        { "", false, 0, false },
        { A, true, 1, false },
        { A "," B "," C "," D, true, 4, false },
        { A "," B "," C "," D "," E, true, 4, true },
        { A ",", false, 0, false },
        { "," A, false, 0, false },
        { A " ," B, false, 0, false },
        { "../../../etc/passwd", false, 0, false },
        { A B, false, 0, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        const char *env[] = { "PATH=/bin", "SYMPOSIUM_TASK_CHAINS=" A, NULL, NULL };
        struct chain c;

        if (cases[i].value)
            env[2] = arena_printf(&a, "SYMPOSIUM_TASK_CHAIN=%s", cases[i].value);
        assert_int_equal(chain_read(&c, env), cases[i].ok);
        assert_int_equal(c.n, cases[i].n);
        assert_int_equal(c.too_deep, cases[i].too_deep);
        if (c.n)
            assert_string_equal(c.id[0], A);
    }
    (void)state;
}

/* A process of a /proc that is a copy. */
static void put_process(struct arena *a, const char *proc, int pid, int parent, int start)
{
    const char *dir = path_join(a, proc, arena_printf(a, "%d", pid));
    auto_buf stat = BUF(4096);

    assert_true(file_mkdirs(dir, NULL));
    buf_addf(&stat, "%d (a ) b) S %d", pid, parent);
    for (int i = 5; i < 22; i++)
        buf_addz(&stat, " 0");
    buf_addf(&stat, " %d 0 0\n", start);
    assert_true(file_write_cache(path_join(a, dir, "stat"), buf_str(&stat), NULL));
}

static void parents_that_are_agents_or_keepers_make_the_chain(void **state)
{
    /* 1 <- 10 server <- 11 keeper of A <- 12 agent A <- 13 server <- 14 keeper of B <- 15
     * agent B <- 16 shell <- 17 we */
    static const struct task_running running[] = {
        { STR(A), { .pid = 12, .keeper = 11, .pid_start = 1012, .keeper_start = 1011 } },
        { STR(B), { .pid = 15, .keeper = 14, .pid_start = 1015, .keeper_start = 1014 } },
        { STR(C),
          { .pid = 16, .keeper = 10, .pid_start = 999, .keeper_start = 999 } }, /* once */
        { STR(D), { 0 } },                            /* starting: it has no process yet */
        { STR(E), { .pid = 17, .pid_start = 1017 } }, /* we are nobody's parent */
    };
    static const struct {
        int pid;
        const char *want;
    } cases[] = {
        { 17, A "," B "," }, { 15, A "," B "," }, /* its keeper's parent too */
        { 13, A "," },       { 11, "" },          { 10, "" }, { 1, "" }, { 4242, "" },
    };
    char dir[PATH_MAX];
    auto_arena a = ARENA;

    make_temp_dir(dir);
    put_process(&a, dir, 1, 0, 1001);
    for (int pid = 10; pid < 18; pid++)
        put_process(&a, dir, pid, pid == 10 ? 1 : pid - 1, 1000 + pid);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf got = BUF(1000);
        struct chain c;

        chain_walk(&c, dir, cases[i].pid, running, ARRAY_LEN(running));
        for (size_t k = 0; k < c.n; k++)
            buf_addf(&got, "%s,", c.id[k]);
        assert_string_equal(buf_z(&got), cases[i].want);
    }
    remove_tree(dir);
    (void)state;
}

static void a_circle_of_parents_ends(void **state)
{
    static const struct task_running running[] = {
        { STR(A), { .pid = 2, .pid_start = 1002 } },
        { STR(B), { .pid = 3, .pid_start = 1003 } },
    };
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    struct chain c;

    make_temp_dir(dir);
    put_process(&a, dir, 2, 3, 1002);
    put_process(&a, dir, 3, 2, 1003);
    chain_walk(&c, dir, 2, running, ARRAY_LEN(running));
    assert_true(c.too_deep);
    remove_tree(dir);
    (void)state;
}

/* ---- the question ---- */

struct asked {
    struct loop *loop;
    int times;
    char chain[1000];
    struct error e;
};

static void on_checked(void *ctx, const char *chain, const struct error *e)
{
    struct asked *x = ctx;

    x->times++;
    snprintf(x->chain, sizeof x->chain, "%s", chain);
    x->e = e ? *e : (struct error){ 0 };
    loop_stop(x->loop);
}

/* What comes of a spawn under that chain. */
static struct asked check(struct world *w, const char *chain, const struct chain_spawn *like)
{
    auto_arena a = ARENA;
    const char *env[] = { chain ? arena_printf(&a, "SYMPOSIUM_TASK_CHAIN=%s", chain) : "X=1",
                          NULL };
    struct chain_spawn s = *like;
    struct asked x = { .loop = w->loop };

    s.env = env;
    s.id = STR(E);
    chain_check(w->loop, w->ledger, &s, on_checked, &x);
    assert_int_equal(x.times, 0);
    while (!x.times)
        run_until_stopped(w->loop, ASK_MS);
    assert_int_equal(x.times, 1);
    return x;
}

static void at_most_four_tasks_hand_on_and_none_to_its_like(void **state)
{
    char first[TASK_ID_LEN + 1];
    struct world w;
    struct task_new t;
    struct got g = { 0 };
    struct chain_spawn same, other;
    struct asked x;
    auto_arena a = ARENA;

    world_open(&w);
    t = task_like(first);
    ask_submit(&w, &t, &g);
    same = (struct chain_spawn){ .agent = t.record.agent,
                                 .workspace = t.record.workspace,
                                 .prompt = t.record.prompt };
    other = same;
    other.prompt = STR("something else");

    x = check(&w, NULL, &same); /* no task is above us */
    assert_int_equal(x.e.kind, ERR_NONE);
    assert_string_equal(x.chain, E);
    x = check(&w, first, &other);
    assert_int_equal(x.e.kind, ERR_NONE);
    assert_string_equal(x.chain, arena_printf(&a, "%s,%s", first, E));
    x = check(&w, first, &same);
    assert_int_equal(x.e.kind, ERR_INVALID);
    assert_has(x.e.msg, first);
    assert_has(x.e.msg, "has the same agent, workspace and prompt");
    x = check(&w, arena_printf(&a, "%s,%s", first, B), &same); /* not the nearest */
    assert_int_equal(x.e.kind, ERR_INVALID);
    x = check(&w, arena_printf(&a, "%s,%s,%s", A, B, C), &same); /* unknown ones count */
    assert_int_equal(x.e.kind, ERR_NONE);
    x = check(&w, arena_printf(&a, "%s,%s,%s,%s", A, B, C, D), &other);
    assert_int_equal(x.e.kind, ERR_INVALID);
    assert_has(x.e.msg, "at most 4 deep");
    got_free(&g);
    world_close(&w);
    (void)state;
}

/* An agent filters its environment: we are found by our parents. */
static void without_the_variable_our_parents_are_looked_at(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;
    struct task_new t;
    struct got g = { 0 };
    struct procstat st;
    struct task_change c = { .from = 1u << TASK_STARTING, .to = TASK_RUNNING };
    struct asked x;
    auto_arena a = ARENA;

    world_open(&w);
    t = task_like(id);
    ask_submit(&w, &t, &g);
    ask_claim(&w, id, 16, &g);
    assert_true(g.a.yes);
    assert_true(procstat_read("/proc", getppid(), &st));
    c.id = str_of(id);
    c.set.process.pid = getppid();
    c.set.process.pid_start = st.start;
    ask_change(&w, &c, &g);
    assert_true(g.a.yes);
    x = check(
        &w, NULL,
        &(struct chain_spawn){ .agent = STR("a"), .workspace = STR("/"), .prompt = STR("p") });
    assert_int_equal(x.e.kind, ERR_NONE);
    assert_string_equal(x.chain, arena_printf(&a, "%s,%s", id, E));
    got_free(&g);
    world_close(&w);
    (void)state;
}

static void a_question_may_be_given_up(void **state)
{
    static const char *const deep[] = { "SYMPOSIUM_TASK_CHAIN=" A "," B "," C "," D, NULL };
    static const char *const none[] = { NULL };
    struct chain_spawn s = { .id = STR(E), .agent = STR("a") };
    struct asked x = { 0 };
    struct world w;

    world_open(&w);
    s.env = deep;
    chain_check_free(chain_check(w.loop, w.ledger, &s, on_checked, &x));
    s.env = none;
    chain_check_free(chain_check(w.loop, w.ledger, &s, on_checked, &x));
    chain_check_free(NULL);
    run_for(w.loop, 100);
    assert_int_equal(x.times, 0);
    world_close(&w);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variable_is_a_list_of_ids_or_nothing),
        cmocka_unit_test(parents_that_are_agents_or_keepers_make_the_chain),
        cmocka_unit_test(a_circle_of_parents_ends),
        cmocka_unit_test(at_most_four_tasks_hand_on_and_none_to_its_like),
        cmocka_unit_test(without_the_variable_our_parents_are_looked_at),
        cmocka_unit_test(a_question_may_be_given_up),
    };

    return cmocka_run_group_tests_name("tasks/chain", tests, NULL, NULL);
}
