/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ledger shared with other processes: numbers, notices, owners that die. */
#include "ledger_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/procstat.h"
#include "tasks/owner.h"

#define PEER_LINE_MAX 256

/* ---- other processes ---- */

struct peer {
    pid_t pid;
    FILE *out;
    int in; /* its stdin */
};

static struct peer start_peer(const char *const *argv)
{
    int in[2], out[2];
    struct peer p;

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    p.pid = fork();
    if (p.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    p.in = in[1];
    p.out = fdopen(out[0], "r");
    return p;
}

#define PEER(w, ...) \
    start_peer((const char *const[]){ LEDGER_PEER, (w)->state, __VA_ARGS__, NULL })

static void read_line(struct peer *p, char line[PEER_LINE_MAX])
{
    if (!fgets(line, PEER_LINE_MAX, p->out))
        fail_msg("the peer ended early");
    line[strcspn(line, "\n")] = '\0';
}

static int end_peer(struct peer *p)
{
    int status;

    close(p->in);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    fclose(p->out);
    return status;
}

static void kill_peer(struct peer *p)
{
    kill(p->pid, SIGKILL);
    end_peer(p);
}

/* An owner of `n` tasks, the first of which runs, with that process as its agent. */
static struct peer start_owner(struct world *w, const char *n, pid_t agent,
                               char ids[][TASK_ID_LEN + 1])
{
    char pid[32], start[32], line[PEER_LINE_MAX];
    struct procstat st = { 0 };
    struct peer p;

    if (agent)
        procstat_read("/proc", agent, &st);
    snprintf(pid, sizeof pid, "%d", (int)agent);
    snprintf(start, sizeof start, "%llu", (unsigned long long)st.start);
    p = agent ? PEER(w, "own", n, pid, start) : PEER(w, "own", n);
    for (int i = 0; i < atoi(n); i++) {
        read_line(&p, line);
        memcpy(ids[i], line + 5, TASK_ID_LEN + 1);
    }
    read_line(&p, line);
    assert_string_equal(line, "ready");
    return p;
}

/* ---- numbers ---- */

/* TK-3: one sequence however many write, and nothing is lost. */
static void numbers_are_dense_when_processes_append_at_once(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct peer peers[4];
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    for (int i = 0; i < 4; i++)
        peers[i] = PEER(&w, "append", id, "500", i ? i > 1 ? i > 2 ? "d" : "c" : "b" : "a");
    for (int i = 0; i < 200; i++)
        ok_append(&w, id, TASK_EV_ERROR, "{\"text\":\"own\"}");
    for (int i = 0; i < 4; i++)
        assert_int_equal(end_peer(&peers[i]), 0);
    assert_int_equal(check_dense(&w, id), 1 + 4 * 500 + 200);
    assert_int_equal(sql_number(&w, "SELECT count(DISTINCT payload) FROM task_event"),
                     1 + 4 * 500 + 1);
    /* Each process' own stay in their order. */
    assert_int_equal(
        sql_number(&w, "WITH e AS (SELECT substr(payload, 10, 1) AS who,"
                       " CAST(substr(payload, 12) AS INTEGER) AS i, seq FROM task_event"
                       " WHERE payload LIKE '%-%')"
                       " SELECT count(*) FROM e a JOIN e b ON a.who = b.who"
                       " WHERE a.i + 1 = b.i AND a.seq > b.seq"),
        0);
    world_close(&w);
}

/* ---- notices ---- */

struct watching {
    struct world *w;
    int64_t heard_ms;
    int times;
};

static void on_change(void *ctx)
{
    struct watching *t = ctx;

    t->heard_ms = clock_ms();
    t->times++;
    loop_stop(t->w->loop);
}

static void await_change(struct watching *t)
{
    int before = t->times;

    while (t->times == before)
        run_until_stopped(t->w->loop, ASK_MS);
}

/* TK-4: what another process asks for is seen by the owner within 250 ms, and by whoever
 * waits. */
static void a_cancel_of_another_process_is_noticed(void **state)
{
    struct watching t = { 0 };
    char id[TASK_ID_LEN + 1];
    struct ledger_watch *watch;
    struct got g = { 0 };
    struct peer p;
    struct world w;
    int64_t ended;

    (void)state;
    world_open(&w);
    t.w = &w;
    ok_submit(&w, id);
    ok_run(&w, id);
    watch = ledger_watch_new(w.ledger, on_change, &t);
    run_for(w.loop, 200);
    p = PEER(&w, "cancel", id);
    assert_int_equal(end_peer(&p), 0);
    ended = clock_ms();
    t.heard_ms = 0;
    do {
        if (!t.heard_ms)
            await_change(&t);
        got_free(&g);
        g.loop = w.loop;
        ledger_cancels(w.ledger, on_got, &g);
        await(&g);
        t.heard_ms = g.a.ntasks ? t.heard_ms : 0;
    } while (!g.a.ntasks);
    assert_in_range(clock_ms() - ended, 0, LEDGER_NOTICE_MS * slack());
    assert_str(g.a.tasks[0].id, id);
    got_free(&g);
    ledger_watch_free(watch);
    world_close(&w);
}

/* TK-4: wait and get_events work across processes: each event is told soon after it is there.
 */
static void appends_of_another_process_are_noticed(void **state)
{
    struct watching t = { 0 };
    char id[TASK_ID_LEN + 1];
    struct ledger_watch *watch;
    struct got g = { 0 };
    struct peer p;
    struct world w;

    (void)state;
    world_open(&w);
    t.w = &w;
    ok_submit(&w, id);
    watch = ledger_watch_new(w.ledger, on_change, &t);
    p = PEER(&w, "append", id, "200", "x");
    do {
        await_change(&t);
        ask_get(&w, id, &g);
    } while (g.a.tasks[0].last_seq < 201);
    assert_int_equal(end_peer(&p), 0);
    got_free(&g);
    ledger_watch_free(watch);
    world_close(&w);
}

static void own_changes_are_noticed_and_a_quiet_ledger_is_quiet(void **state)
{
    struct watching t = { 0 };
    char id[TASK_ID_LEN + 1];
    struct ledger_watch *watch;
    struct world w;

    (void)state;
    world_open(&w);
    t.w = &w;
    ok_submit(&w, id);
    watch = ledger_watch_new(w.ledger, on_change, &t);
    run_for(w.loop, 200);
    t.times = 0;
    ledger_append(w.ledger, str_of(id), TASK_EV_ERROR, STR("{}"), NULL, NULL);
    await_change(&t);
    run_for(w.loop, 300);
    assert_in_range(t.times, 1, 3);
    t.times = 0;
    run_for(w.loop, 1000);
    assert_int_equal(t.times, 0);
    ledger_watch_free(watch);
    world_close(&w);
}

/* ---- owners ---- */

static int owner_files(struct world *w)
{
    char cmd[PATH_MAX + 64];
    FILE *f;
    int n = -1;

    snprintf(cmd, sizeof cmd, "ls %s/owners | grep -c lock", w->state);
    f = popen(cmd, "r"); /* NOLINT(cert-env33-c) */
    if (fscanf(f, "%d", &n) != 1)
        n = -1;
    pclose(f);
    return n;
}

static void check_lost(struct world *w, const char *id)
{
    struct got g = { 0 };

    ask_get(w, id, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_int_equal(g.a.tasks[0].status, TASK_FAILED);
    assert_true(g.a.tasks[0].finished_ms > 0);
    ask_events(w, id, g.a.tasks[0].last_seq - 2, 10, &g);
    assert_int_equal(g.a.nevents, 2);
    assert_int_equal(g.a.events[0].type, TASK_EV_ERROR);
    assert_str(g.a.events[0].data, "{\"message\":\"owner lost\"}");
    assert_int_equal(g.a.events[1].type, TASK_EV_STATUS);
    check_dense(w, id);
    got_free(&g);
}

static void check_status(struct world *w, const char *id, enum task_status want)
{
    struct got g = { 0 };

    ask_get(w, id, &g);
    assert_int_equal(g.a.tasks[0].status, want);
    got_free(&g);
}

static pid_t start_agent(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}

static bool is_alive(pid_t agent)
{
    return waitpid(agent, NULL, WNOHANG) == 0;
}

static void end_agent(pid_t agent)
{
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
}

/* TK-5: the living are left alone, whatever is asked; the dead are not. */
static void tasks_of_a_dead_owner_end_failed(void **state)
{
    char ids[3][TASK_ID_LEN + 1];
    pid_t agent = start_agent();
    struct peer p;
    struct world w;

    (void)state;
    world_open(&w);
    p = start_owner(&w, "3", agent, ids);
    world_reopen(&w);
    check_status(&w, ids[0], TASK_RUNNING);
    check_status(&w, ids[1], TASK_CREATED);
    assert_int_equal(owner_files(&w), 1);
    kill_peer(&p);
    world_reopen(&w); /* looks at once */
    for (int i = 0; i < 3; i++)
        check_lost(&w, ids[i]);
    assert_false(is_alive(agent));
    assert_int_equal(owner_files(&w), 0);
    assert_int_equal(sql_number(&w, "SELECT count(*) FROM owner"), 0);
    world_close(&w);
}

/* TK-5: while somebody watches, nobody has to ask. */
static void whoever_waits_hears_of_an_owners_death(void **state)
{
    char ids[1][TASK_ID_LEN + 1];
    struct watching t = { 0 };
    struct ledger_watch *watch;
    struct got g = { 0 };
    struct peer p;
    struct world w;

    (void)state;
    world_open(&w);
    t.w = &w;
    p = start_owner(&w, "1", 0, ids);
    watch = ledger_watch_new(w.ledger, on_change, &t);
    run_for(w.loop, 300);
    kill_peer(&p);
    do {
        await_change(&t);
        ask_get(&w, ids[0], &g);
    } while (g.a.tasks[0].status != TASK_FAILED);
    got_free(&g);
    ledger_watch_free(watch);
    world_close(&w);
}

/* TK-5, the three proofs: without one of them nothing is killed, and the task ends all the
 * same. */
static void a_process_is_killed_only_if_it_is_surely_the_recorded_one(void **state)
{
    static const char *const forgeries[] = {
        "UPDATE owner SET boot_id = '00000000-0000-0000-0000-000000000000'",
        "UPDATE owner SET boot_id = ''",
        "UPDATE owner SET pidns = pidns + 1",
        "UPDATE owner SET pidns = 0",
        "UPDATE task SET pid_start = pid_start + 1",
        "UPDATE task SET pid_start = NULL",
        "DELETE FROM owner",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forgeries); i++) {
        char ids[1][TASK_ID_LEN + 1];
        pid_t agent = start_agent();
        struct peer p;
        struct world w;

        world_open(&w);
        p = start_owner(&w, "1", agent, ids);
        sql_do(&w, forgeries[i]);
        kill_peer(&p);
        world_reopen(&w);
        check_lost(&w, ids[0]);
        if (!is_alive(agent))
            fail_msg("killed in spite of '%s'", forgeries[i]);
        end_agent(agent);
        world_close(&w);
    }
}

/* A file that somebody removed is no proof as long as the owner's process is there. */
static void a_removed_lock_file_ends_no_living_owners_tasks(void **state)
{
    char ids[1][TASK_ID_LEN + 1], cmd[PATH_MAX + 64];
    struct peer p;
    struct world w;

    (void)state;
    world_open(&w);
    p = start_owner(&w, "1", 0, ids);
    snprintf(cmd, sizeof cmd, "rm %s/owners/*.lock", w.state);
    assert_int_equal(system(cmd), 0); /* NOLINT(cert-env33-c) */
    world_reopen(&w);
    check_status(&w, ids[0], TASK_RUNNING);
    kill_peer(&p);
    world_reopen(&w);
    check_lost(&w, ids[0]);
    world_close(&w);
}

/* TK-24: what a dead owner waits with or runs takes no place; recovery is due before. */
static void a_dead_owners_tasks_take_no_place(void **state)
{
    char ids[2][TASK_ID_LEN + 1], id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct peer p;
    struct world w;

    (void)state;
    world_open(&w);
    p = start_owner(&w, "2", 0, ids); /* one runs, one waits */
    ok_submit(&w, id);
    ask_claim(&w, id, 2, &g);
    assert_false(g.a.yes); /* the free place is the older one's */
    kill_peer(&p);
    ask_claim(&w, id, 2, &g);
    assert_true(g.a.yes);
    got_free(&g);
    world_close(&w);
}

/* An orderly end leaves neither lock file nor row. */
static void an_owner_whose_tasks_have_ended_leaves_nothing(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    assert_int_equal(owner_files(&w), 1);
    ok_end(&w, id, TASK_CANCELLED);
    world_reopen(&w);
    check_status(&w, id, TASK_CANCELLED);
    assert_int_equal(owner_files(&w), 0);
    assert_int_equal(sql_number(&w, "SELECT count(*) FROM owner"), 0);
    world_close(&w);
}

/* ---- owner.h alone ---- */

static void make_old(const char *path)
{
    const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool has_tasks(void *ctx, const char *uuid)
{
    return strcmp(ctx, uuid) == 0;
}

/* Left by a kill between the lock and the first task: only if old, unheld, and of no use. */
static void old_lock_files_are_swept_away(void **state)
{
    char dir[PATH_MAX], path[4][PATH_MAX + 512];
    struct owner o[4];
    int fd[4];

    (void)state;
    make_temp_dir(dir);
    for (int i = 0; i < 4; i++) {
        owner_self(&o[i]);
        fd[i] = owner_lock(dir, &o[i], NULL);
        assert_true(fd[i] >= 0);
        snprintf(path[i], sizeof path[i], "%s/%s.lock", dir, o[i].uuid);
        if (i != 0)
            make_old(path[i]);
        if (i != 1)
            close(fd[i]);
    }
    owner_sweep(dir, has_tasks, o[2].uuid);
    assert_true(file_exists(path[0])); /* young */
    assert_true(file_exists(path[1])); /* held */
    assert_true(file_exists(path[2])); /* has tasks */
    assert_false(file_exists(path[3]));
    assert_int_equal(owner_take(dir, &o[1]), -1);
    owner_unlock(dir, o[1].uuid, fd[1]);
    assert_false(file_exists(path[1]));
    remove_tree(dir);
}

/* A keeper that was stopped, or does not end by itself, goes with all that descends from it. */
static void a_tree_is_ended_with_its_root(void **state)
{
    struct procstat st;
    struct owner self;
    int alive[2];
    pid_t root;
    char c;

    (void)state;
    owner_self(&self);
    assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
    root = fork();
    if (root == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (fork() == 0) {
            setsid();
            if (fork() == 0) {
                setsid();
                if (write(alive[1], "x", 1) == 1)
                    for (;;)
                        pause();
            }
            _exit(0);
        }
        for (;;)
            pause();
    }
    close(alive[1]);
    assert_int_equal(read(alive[0], &c, 1), 1);
    kill(root, SIGSTOP);
    assert_true(procstat_read("/proc", root, &st));
    owner_end_process(&self, root, st.start + 1, 0); /* another's */
    assert_true(is_alive(root));
    owner_end_process(&self, root, st.start, 100);
    assert_int_equal(waitpid(root, NULL, 0), root);
    assert_int_equal(read(alive[0], &c, 1), 0); /* nobody holds the other end */
    close(alive[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_dense_when_processes_append_at_once),
        cmocka_unit_test(a_cancel_of_another_process_is_noticed),
        cmocka_unit_test(appends_of_another_process_are_noticed),
        cmocka_unit_test(own_changes_are_noticed_and_a_quiet_ledger_is_quiet),
        cmocka_unit_test(tasks_of_a_dead_owner_end_failed),
        cmocka_unit_test(whoever_waits_hears_of_an_owners_death),
        cmocka_unit_test(a_process_is_killed_only_if_it_is_surely_the_recorded_one),
        cmocka_unit_test(a_removed_lock_file_ends_no_living_owners_tasks),
        cmocka_unit_test(a_dead_owners_tasks_take_no_place),
        cmocka_unit_test(an_owner_whose_tasks_have_ended_leaves_nothing),
        cmocka_unit_test(old_lock_files_are_swept_away),
        cmocka_unit_test(a_tree_is_ended_with_its_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
