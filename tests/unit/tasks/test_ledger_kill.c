/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writers that are killed at any point: the ledger opens, numbers are dense, nothing that was
 * acknowledged is lost, and what the dead owned has ended (TK-3, TK-5). 300 kills, 10,000 with
 * TEST_SLOW.
 */
#include "ledger_check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "base/map.h"
#include "base/rand.h"

#define WRITERS     3
#define KILLS       300
#define KILLS_SLOW  10000
#define LIFE_MAX_US 60000 /* of a writer, from its first acknowledgement on */
/* The ledger is begun anew now and then, so that checking does not take ever longer. */
#define ROUND 100

struct writer {
    pid_t pid;
    int out;
};

/* What was acknowledged of one task. */
struct acked {
    int events; /* 0..events-1 */
    enum task_status status;
};

struct campaign {
    struct world w;
    struct writer writers[WRITERS];
    struct map acked; /* id -> struct acked */
    size_t acknowledged;
};

static struct writer start_writer(struct campaign *c)
{
    int out[2];
    struct writer p;

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fcntl(out[1], F_SETPIPE_SZ, 1 << 20); /* what it says must fit: nobody reads meanwhile */
    p.pid = fork();
    if (p.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], 1);
        execl(LEDGER_PEER, LEDGER_PEER, c->w.state, "write", NULL);
        _exit(127);
    }
    close(out[1]);
    p.out = out[0];
    return p;
}

static struct acked *acked_of(struct campaign *c, struct str id)
{
    struct acked *a = map_get(&c->acked, id);

    if (!a) {
        a = NEW(struct acked);
        map_put(&c->acked, id, a);
    }
    return a;
}

/* "T id", "A id i", "D id status"; a line that was cut off promises nothing. */
static void note(struct campaign *c, struct str line)
{
    struct str id = str_part(line, 2, 2 + TASK_ID_LEN), rest;
    struct acked *a = acked_of(c, id);
    int64_t i;

    c->acknowledged++;
    rest = str_from(line, 3 + TASK_ID_LEN);
    if (line.p[0] == 'A') {
        assert_true(str_to_int(rest, 0, INT32_MAX, &i));
        assert_int_equal(i, a->events);
        a->events++;
    } else if (line.p[0] == 'D') {
        assert_true(task_status_parse(rest, &a->status));
    }
}

static void read_acks(struct campaign *c, int fd)
{
    struct buf all = BUF((size_t)16 << 20);
    struct str rest, line;
    char *room;
    ssize_t n;

    do {
        room = buf_room(&all, 65536);
        n = read(fd, room, 65536);
        all.n += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    for (rest = buf_str(&all); str_cut(rest, '\n', &line, &rest);)
        note(c, line);
    buf_free(&all);
}

static void kill_writer(struct campaign *c, struct writer *p)
{
    int status;

    kill(p->pid, SIGKILL);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    if (!WIFSIGNALED(status))
        fail_msg("a writer ended by itself, with %d", WEXITSTATUS(status));
    read_acks(c, p->out);
    close(p->out);
}

/* Until it has written something, then a little longer. */
static void let_live(const struct writer *p)
{
    struct pollfd fd = { .fd = p->out, .events = POLLIN };

    poll(&fd, 1, 20000 * slack());
    usleep((useconds_t)(rand_u64() % LIFE_MAX_US));
}

/* ---- what is there ---- */

static void check_one(struct campaign *c, struct str id, const struct acked *a)
{
    char sql[512];
    int64_t have;

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM task_event WHERE task_id = '%.*s'"
             " AND payload LIKE '{\"text\":%%'",
             STR_F(id));
    have = sql_number(&c->w, sql);
    if (have < a->events)
        fail_msg("task %.*s: %d events were acknowledged, %lld are there", STR_F(id), a->events,
                 (long long)have);
    snprintf(sql, sizeof sql, "SELECT status FROM task WHERE id = '%.*s'", STR_F(id));
    have = sql_number(&c->w, sql);
    if (have < (int64_t)a->status)
        fail_msg("task %.*s: it was acknowledged as %s", STR_F(id),
                 task_status_name(a->status));
}

static void check_all(struct campaign *c)
{
    struct str id;
    void *a;

    assert_int_equal(sql_number(&c->w, "SELECT integrity_check = 'ok' FROM "
                                       "pragma_integrity_check"),
                     1);
    /* Dense, and each event of a task once, in the order it was sent. */
    assert_int_equal(sql_number(&c->w, "SELECT count(*) FROM task t WHERE last_seq <>"
                                       " (SELECT count(*) FROM task_event e"
                                       " WHERE e.task_id = t.id) OR last_seq <>"
                                       " (SELECT max(seq) FROM task_event e"
                                       " WHERE e.task_id = t.id)"),
                     0);
    assert_int_equal(sql_number(&c->w, "WITH e AS (SELECT task_id, payload, row_number() OVER"
                                       " (PARTITION BY task_id ORDER BY seq) - 1 AS n"
                                       " FROM task_event WHERE payload LIKE '{\"text\":%')"
                                       " SELECT count(*) FROM e"
                                       " WHERE payload <> '{\"text\":\"' || n || '\"}'"),
                     0);
    for (size_t i = 0; map_next(&c->acked, &i, &id, &a);)
        check_one(c, id, a);
}

/* Whoever opens the ledger next ends what the dead owned. */
static void check_ended(struct campaign *c)
{
    char id[TASK_ID_LEN + 1];

    ledger_of(&c->w);
    ok_submit(&c->w, id);
    ok_end(&c->w, id, TASK_FAILED);
    ledger_free(c->w.ledger);
    assert_int_equal(sql_number(&c->w, "SELECT count(*) FROM task WHERE status < 3"), 0);
    assert_int_equal(sql_number(&c->w, "SELECT count(*) FROM owner"), 0);
}

static void forget(struct campaign *c)
{
    struct str id;
    void *a;

    for (size_t i = 0; map_next(&c->acked, &i, &id, &a);)
        free(a);
    map_free(&c->acked);
}

static size_t run_round(int kills)
{
    struct campaign c = { .w.loop = loop_new() };

    make_temp_dir(c.w.dir);
    snprintf(c.w.state, sizeof c.w.state, "%.*s/state", PATH_MAX - 10, c.w.dir);
    c.w.config.state_dir = c.w.state;
    for (int i = 0; i < WRITERS; i++)
        c.writers[i] = start_writer(&c);
    for (int i = 0; i < kills; i++) {
        struct writer *p = &c.writers[i % WRITERS];

        let_live(p);
        kill_writer(&c, p);
        *p = start_writer(&c);
    }
    for (int i = 0; i < WRITERS; i++)
        kill_writer(&c, &c.writers[i]);
    check_all(&c);
    check_ended(&c);
    check_all(&c);
    forget(&c);
    loop_free(c.w.loop);
    remove_tree(c.w.dir);
    return c.acknowledged;
}

static void what_was_acknowledged_survives_any_kill(void **state)
{
    int kills = getenv("TEST_SLOW") ? KILLS_SLOW : KILLS;
    size_t acknowledged = 0;

    (void)state;
    for (int done = 0; done < kills; done += ROUND)
        acknowledged += run_round(ROUND);
    print_message("%d kills, %zu acknowledged writes\n", kills, acknowledged);
    assert_true(acknowledged > (size_t)kills);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_acknowledged_survives_any_kill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
