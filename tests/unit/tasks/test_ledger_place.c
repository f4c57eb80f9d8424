/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the ledger is: directory, file, version, damage, disk. */
#include "ledger_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "base/file.h"
#include "base/sha256.h"
#include "tasks/ledger_db.h"
#include "tasks/ledger_sqlite.h"

static void path_of(const struct world *w, const char *name, char path[PATH_MAX + 64])
{
    snprintf(path, PATH_MAX + 64, "%s/%s", w->state, name);
}

static unsigned mode_of(const struct world *w, const char *name)
{
    char path[PATH_MAX + 64];
    struct stat st;

    path_of(w, name, path);
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

/* The first request's error; ERR_NONE when it was done. */
static struct error try_submit(struct world *w)
{
    char id[TASK_ID_LEN + 1];
    struct task_new t = task_like(id);
    struct got g = { 0 };
    struct error e;

    ask_submit(w, &t, &g);
    e = g.e;
    got_free(&g);
    return e;
}

/* TK-3: directory 0700, files 0600, WAL, auto_vacuum=INCREMENTAL (TK-6), whatever the umask. */
static void the_ledger_is_for_its_user_alone(void **state)
{
    mode_t was = umask(0);
    char id[TASK_ID_LEN + 1];
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    assert_int_equal(mode_of(&w, "."), 0700);
    assert_int_equal(mode_of(&w, "owners"), 0700);
    assert_int_equal(mode_of(&w, "tasks.db"), 0600);
    assert_int_equal(mode_of(&w, "tasks.db-wal"), 0600);
    assert_int_equal(mode_of(&w, "tasks.db-shm"), 0600);
    assert_int_equal(sql_number(&w, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_equal(sql_number(&w, "PRAGMA auto_vacuum"), 2);
    umask(was);
    world_close(&w);
}

static void an_open_mode_is_closed(void **state)
{
    char path[PATH_MAX + 64];
    struct world w;

    (void)state;
    world_open(&w);
    assert_int_equal(try_submit(&w).kind, ERR_NONE);
    path_of(&w, "tasks.db", path);
    chmod(path, 0666);
    chmod(w.state, 0777);
    world_reopen(&w);
    assert_int_equal(try_submit(&w).kind, ERR_NONE);
    assert_int_equal(mode_of(&w, "."), 0700);
    assert_int_equal(mode_of(&w, "tasks.db"), 0600);
    world_close(&w);
}

/* ---- what is refused ---- */

static void link_dir(struct world *w)
{
    char other[PATH_MAX + 64];

    snprintf(other, sizeof other, "%s/other", w->dir);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(symlink(other, w->state), 0);
}

static void link_file(struct world *w)
{
    char other[PATH_MAX + 64], path[PATH_MAX + 64];

    snprintf(other, sizeof other, "%s/other", w->dir);
    path_of(w, "tasks.db", path);
    assert_int_equal(mkdir(w->state, 0700), 0);
    assert_int_equal(symlink(other, path), 0);
}

static void file_as_dir(struct world *w)
{
    assert_true(file_write_cache(w->state, STR("x"), NULL));
}

static void dir_as_file(struct world *w)
{
    char path[PATH_MAX + 64];

    path_of(w, "tasks.db", path);
    assert_int_equal(mkdir(w->state, 0700), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void others_dir(struct world *w)
{
    assert_int_equal(mkdir(w->state, 0700), 0);
    if (chown(w->state, 65534, 65534) != 0)
        skip(); /* only root can make one */
}

static void others_file(struct world *w)
{
    char path[PATH_MAX + 64];

    path_of(w, "tasks.db", path);
    assert_int_equal(mkdir(w->state, 0700), 0);
    assert_true(file_write_cache(path, STR(""), NULL));
    if (chown(path, 65534, 65534) != 0)
        skip();
}

/* A place that is not ours, or leads elsewhere, is not written to; the error names it. */
static void a_place_that_is_not_ours_is_refused(void **state)
{
    static const struct {
        void (*make)(struct world *w);
        const char *named;
    } cases[] = {
        { link_dir, "/state'" },    { link_file, "/tasks.db'" },
        { file_as_dir, "/state'" }, { dir_as_file, "/tasks.db'" },
        { others_dir, "/state'" },  { others_file, "/tasks.db'" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char other[PATH_MAX + 64];
        struct world w = { 0 };
        struct error e;

        make_temp_dir(w.dir);
        snprintf(w.state, sizeof w.state, "%.*s/state", PATH_MAX - 10, w.dir);
        w.config.state_dir = w.state;
        w.loop = loop_new();
        cases[i].make(&w);
        ledger_of(&w);
        e = try_submit(&w);
        assert_int_not_equal(e.kind, ERR_NONE);
        assert_has(e.msg, cases[i].named);
        snprintf(other, sizeof other, "%s/other/tasks.db", w.dir);
        assert_false(file_exists(other));
        snprintf(other, sizeof other, "%s/other", w.dir);
        assert_true(!file_exists(other) || file_is_dir(other));
        world_close(&w);
    }
}

/* TK-3: an unwritable directory is an error that names it, for each request; once the cause is
 * gone the next one is done. */
static void a_place_that_becomes_usable_is_used(void **state)
{
    char parent[PATH_MAX + 64];
    struct world w = { 0 };
    struct error e;

    (void)state;
    make_temp_dir(w.dir);
    snprintf(parent, sizeof parent, "%s/parent", w.dir);
    snprintf(w.state, sizeof w.state, "%.*s/parent/state", PATH_MAX - 20, w.dir);
    w.config.state_dir = w.state;
    w.loop = loop_new();
    assert_true(file_write_cache(parent, STR("x"), NULL));
    ledger_of(&w);
    for (int i = 0; i < 2; i++) {
        e = try_submit(&w);
        assert_int_not_equal(e.kind, ERR_NONE);
        assert_has(e.msg, parent);
    }
    assert_int_equal(unlink(parent), 0);
    run_for(w.loop, 1100);
    assert_int_equal(try_submit(&w).kind, ERR_NONE);
    world_close(&w);
}

/* ---- versions and damage ---- */

static char *digest(const struct world *w)
{
    struct buf bytes = BUF((size_t)16 << 20);
    char path[PATH_MAX + 64];
    char *text = mem_alloc(SHA256_HEX_SIZE);

    path_of(w, "tasks.db", path);
    assert_true(file_read(path, &bytes, NULL));
    sha256_hex(buf_str(&bytes), text);
    buf_free(&bytes);
    return text;
}

static void newer(struct world *w)
{
    sql_do(w, "PRAGMA user_version=7");
}

static void foreign(struct world *w)
{
    sql_do(w, "PRAGMA application_id=1");
}

static void overwritten(struct world *w)
{
    char path[PATH_MAX + 64];
    auto_free char *junk = mem_alloc(20000);

    memset(junk, 'j', 20000);
    path_of(w, "tasks.db", path);
    assert_true(file_write_cache(path, (struct str){ junk, 20000 }, NULL));
}

/* The header is good, the first table's page is not. */
static void damaged(struct world *w)
{
    char path[PATH_MAX + 64], junk[100];

    memset(junk, 0xff, sizeof junk);
    path_of(w, "tasks.db", path);
    auto_close int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, junk, sizeof junk, 100), sizeof junk);
}

/* TK-3: a newer schema is an error and never rewritten; nor is what is none of ours, or
 * damaged. */
static void what_cannot_be_read_is_left_as_it_is(void **state)
{
    static const struct {
        void (*spoil)(struct world *w);
        const char *says;
    } cases[] = {
        { newer, "has schema version 7, this symposium knows 1" },
        { foreign, "is a database but no ledger" },
        { overwritten, "is damaged" },
        { damaged, "is damaged" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct error e;

        world_open(&w);
        assert_int_equal(try_submit(&w).kind, ERR_NONE);
        ledger_free(w.ledger);
        sql_do(&w, "PRAGMA wal_checkpoint(TRUNCATE)");
        cases[i].spoil(&w);
        auto_free char *before = digest(&w);
        ledger_of(&w);
        e = try_submit(&w);
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, cases[i].says);
        assert_has(e.msg, "/tasks.db'");
        ledger_free(w.ledger);
        w.ledger = NULL;
        auto_free char *after = digest(&w);
        assert_string_equal(before, after);
        world_close(&w);
    }
}

/* ---- disk ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit l;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    l.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* No room: an error for that request, nothing of it remains, and the next may succeed. */
static void without_room_a_request_fails_and_the_next_one_may_not(void **state)
{
    auto_free char *big = mem_alloc(600001);
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    memset(big, 'b', 600000);
    world_open(&w);
    ok_submit(&w, id);
    limit_files(300000);
    ask_append(&w, id, TASK_EV_STDOUT, big, &g);
    assert_int_not_equal(g.e.kind, ERR_NONE);
    assert_has(g.e.msg, "/tasks.db'");
    ask_append(&w, id, TASK_EV_ERROR, big, &g);
    assert_int_not_equal(g.e.kind, ERR_NONE);
    ask_get(&w, id, &g); /* reading goes on */
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_int_equal(g.a.tasks[0].last_seq, 1);
    limit_files(RLIM_INFINITY);
    ok_append(&w, id, TASK_EV_STDOUT, big);
    assert_int_equal(check_dense(&w, id), 2);
    got_free(&g);
    world_close(&w);
}

/* TK-3: the others' write lock is waited for, 5 s at most. */
static void a_ledger_in_use_is_waited_for(void **state)
{
    bool slow = getenv("TEST_SLOW") != NULL;
    struct got g = { 0 };
    char id[TASK_ID_LEN + 1], path[PATH_MAX + 64];
    struct world w;
    int64_t began;
    sqlite3 *db;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    path_of(&w, "tasks.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    g.loop = w.loop;
    ledger_append(w.ledger, str_of(id), TASK_EV_ERROR, STR("{}"), on_got, &g);
    run_for(w.loop, 300);
    assert_int_equal(g.times, 0);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    await(&g);
    assert_int_equal(g.e.kind, ERR_NONE);
    if (slow) {
        began = clock_ms();
        assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        ask_append(&w, id, TASK_EV_ERROR, "{}", &g);
        assert_int_equal(g.e.kind, ERR_TIMEOUT);
        assert_in_range(clock_ms() - began, LEDGER_BUSY_MS, LEDGER_BUSY_MS * 2 * slack());
    }
    sqlite3_close(db);
    got_free(&g);
    world_close(&w);
}

/* ---- network file systems ---- */

/* TK-3, by statfs(2)'s type. */
static void network_file_systems_are_known_by_their_types(void **state)
{
    static const struct {
        long type;
        bool network;
    } cases[] = {
        { 0x6969, true },          { 0xFF534D42, true },  { 0x65735546, true },
        { (int)0xFE534D42, true }, /* as a 32-bit machine gives it */
        { 0x01021997, true },      { 0xEF53, false },     { 0x58465342, false },
        { 0x01021994, false },     { 0x9123683E, false }, { 0x794c7630, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(db_is_network(cases[i].type), cases[i].network);
}

static void on_change(void *ctx)
{
    loop_stop(ctx);
}

/* TK-3: there journal_mode=TRUNCATE, said once; TK-4: changes are asked for each 250 ms. */
static void on_a_network_file_system_there_is_a_journal_and_polling(void **state)
{
    char id[TASK_ID_LEN + 1], path[PATH_MAX + 64];
    struct ledger_watch *watch;
    struct world w;

    (void)state;
    db_take_for_network(true);
    world_open(&w);
    ok_submit(&w, id);
    path_of(&w, "tasks.db-wal", path);
    assert_false(file_exists(path));
    path_of(&w, "tasks.db-journal", path);
    assert_true(file_exists(path));
    watch = ledger_watch_new(w.ledger, on_change, w.loop);
    run_for(w.loop, 300);
    sql_do(&w, "UPDATE task SET cancel_requested = 1");
    run_until_stopped(w.loop, 2 * LEDGER_NOTICE_MS);
    ledger_watch_free(watch);
    ok_end(&w, id, TASK_FAILED);
    assert_int_equal(check_dense(&w, id), 2);
    world_close(&w);
    db_take_for_network(false);
}

/* ---- how much an answer promises ---- */

/* TK-3: synchronous=FULL (2) for status transitions, NORMAL (1) for grouped output. */
static void a_change_of_status_waits_for_the_disk_and_output_does_not(void **state)
{
    struct ledger_append out = { .data = STR("{}"), .type = TASK_EV_STDOUT };
    char id[TASK_ID_LEN + 1];
    struct task_new t = task_like(id);
    struct ledger_answer answer = { 0 };
    struct world w = { 0 };
    auto_arena a = ARENA;
    struct ledger_reply r = { .arena = &a, .answer = &answer };
    struct error e;
    struct db *d;
    int64_t sync;

    (void)state;
    make_temp_dir(w.dir);
    d = ledger_sqlite.open(&(struct ledger_config){ .state_dir = w.dir }, &e);
    assert_non_null(d);
    assert_true(ledger_sqlite.submit(d, &t, &r, &e));
    out.id = str_of(id);
    for (int durable = 0; durable < 4; durable++) {
        sqlite3_stmt *s;

        assert_true(ledger_sqlite.append(d, &out, 1, durable % 2, &e));
        assert_int_equal(sqlite3_prepare_v2(d->sqlite, "PRAGMA synchronous", -1, &s, NULL), 0);
        assert_true(db_number(d, s, "test", &sync, &e));
        sqlite3_finalize(s);
        assert_int_equal(sync, durable % 2 ? 2 : 1);
    }
    ledger_sqlite.close(d);
    remove_tree(w.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_is_for_its_user_alone),
        cmocka_unit_test(an_open_mode_is_closed),
        cmocka_unit_test(a_place_that_is_not_ours_is_refused),
        cmocka_unit_test(a_place_that_becomes_usable_is_used),
        cmocka_unit_test(what_cannot_be_read_is_left_as_it_is),
        cmocka_unit_test(without_room_a_request_fails_and_the_next_one_may_not),
        cmocka_unit_test(a_ledger_in_use_is_waited_for),
        cmocka_unit_test(network_file_systems_are_known_by_their_types),
        cmocka_unit_test(on_a_network_file_system_there_is_a_journal_and_polling),
        cmocka_unit_test(a_change_of_status_waits_for_the_disk_and_output_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
