/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ledger append DIR TASKS EVENTS   events appended per second, until the last is committed
 * ledger plain DIR TASKS EVENTS    the same rows by a loop of SQLite alone: INSERT into a table
 *                                  with a unique (task, seq), as many to a transaction as the
 *                                  ledger takes
 * ledger read DIR EVENTS           fills a ledger with EVENTS of ten tasks; then milliseconds,
 *                                  median and longest, of asking for 500 events after a cursor
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "tasks/ledger.h"
#include "tasks/ledger_queue.h"
#include "tasks/ledger_sqlite.h"

#define READ_TASKS 10
#define READ_LIMIT 500
#define READS      200

static const char data[] =
    "{\"text\":\"src/main.c:120: note: expanded from macro 'ARRAY_LEN', in a line as compilers "
    "write them\\n\"}";

static struct loop *loop;
static struct ledger *ledger;

static void stop(void *ctx)
{
    loop_stop(loop);
}

static void fail(const char *why)
{
    fprintf(stderr, "ledger: %s\n", why);
    exit(1);
}

static void on_done(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    if (e)
        fail(e->msg);
}

static void open_ledger(const char *dir)
{
    loop = loop_new();
    ledger = ledger_new(loop, &ledger_sqlite, &(struct ledger_config){ .state_dir = dir });
}

static void close_ledger(void)
{
    ledger_free(ledger);
    loop_free(loop);
}

static void flush(void)
{
    ledger_flush(ledger, stop, NULL);
    loop_run(loop);
}

typedef char id_text[TASK_ID_LEN + 1];

static id_text *submit(int tasks)
{
    id_text *ids = mem_alloc((size_t)tasks * sizeof *ids);

    for (int i = 0; i < tasks; i++) {
        task_id_new(ids[i]);
        ledger_submit(ledger,
                      &(struct task_new){ .record = { .id = str_of(ids[i]),
                                                      .agent = STR("bench"),
                                                      .workspace = STR("/"),
                                                      .prompt = STR("p") } },
                      on_done, NULL);
    }
    flush();
    return ids;
}

/* As many as the queue takes, then on with the answers: as a reader of agents' pipes would. */
static void append(id_text *ids, int tasks, long events)
{
    for (long i = 0; i < events; i++) {
        if (ledger_is_full(ledger))
            flush();
        ledger_append(ledger, str_of(ids[i % tasks]), TASK_EV_STDOUT, str_of(data), on_done,
                      NULL);
    }
    flush();
}

static int run_append(char **args)
{
    int tasks = atoi(args[1]);
    long events = atol(args[2]);
    id_text *ids;
    int64_t began;

    open_ledger(args[0]);
    ids = submit(tasks);
    began = clock_us();
    append(ids, tasks, events);
    printf("%.0f\n", (double)events * 1e6 / (double)(clock_us() - began));
    close_ledger();
    free(ids);
    return 0;
}

/* ---- plain ---- */

static void sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(db));
}

static int run_plain(char **args)
{
    auto_free char *path = mem_printf("%s/plain.db", args[0]);
    int tasks = atoi(args[1]);
    long events = atol(args[2]);
    sqlite3_stmt *s;
    int64_t began;
    sqlite3 *db;

    if (sqlite3_open(path, &db) != SQLITE_OK)
        fail("cannot open the database");
    sql(db,
        "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "CREATE TABLE event(task INTEGER, seq INTEGER, type INTEGER, ts INTEGER,"
        " payload TEXT, UNIQUE(task, seq))");
    if (sqlite3_prepare_v2(db, "INSERT INTO event VALUES(?4, ?1, 4, ?2, ?3)", -1, &s, NULL) !=
        SQLITE_OK)
        fail(sqlite3_errmsg(db));
    began = clock_us();
    for (long i = 0; i < events; i++) {
        if (i % LEDGER_GROUP_MAX == 0)
            sql(db, i ? "COMMIT; BEGIN IMMEDIATE" : "BEGIN IMMEDIATE");
        sqlite3_bind_int64(s, 1, i / tasks);
        sqlite3_bind_int64(s, 2, clock_wall_ms());
        sqlite3_bind_text(s, 3, data, sizeof data - 1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, i % tasks);
        if (sqlite3_step(s) != SQLITE_DONE)
            fail(sqlite3_errmsg(db));
        sqlite3_reset(s);
    }
    sql(db, "COMMIT");
    printf("%.0f\n", (double)events * 1e6 / (double)(clock_us() - began));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return 0;
}

/* ---- read ---- */

static void on_events(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    if (e)
        fail(e->msg);
    if (a->nevents != READ_LIMIT)
        fail("not as many events as asked for");
    loop_stop(loop);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int run_read(char **args)
{
    long events = atol(args[1]), each = events / READ_TASKS;
    double ms[READS];
    id_text *ids;

    if (each <= READ_LIMIT)
        fail("too few events");
    open_ledger(args[0]);
    ids = submit(READ_TASKS);
    append(ids, READ_TASKS, events);
    for (int i = 0; i < READS; i++) {
        struct events_query q = { .id = str_of(ids[i % READ_TASKS]),
                                  .after = (i * 7919L) % (each - READ_LIMIT),
                                  .limit = READ_LIMIT,
                                  .max_bytes = 262144 };
        int64_t began = clock_us();

        ledger_events(ledger, &q, on_events, NULL);
        loop_run(loop);
        ms[i] = (double)(clock_us() - began) / 1000;
    }
    qsort(ms, READS, sizeof *ms, by_size);
    printf("%.3f %.3f\n", ms[READS / 2], ms[READS - 1]);
    close_ledger();
    free(ids);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "append") == 0)
        return run_append(argv + 2);
    if (argc == 5 && strcmp(argv[1], "plain") == 0)
        return run_plain(argv + 2);
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return run_read(argv + 2);
    return 2;
}
