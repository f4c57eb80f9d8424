/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "graph_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "base/path.h"
#include "servers/memory/store.h"

#define E(name, obs)                                                                         \
    "{\"type\":\"entity\",\"name\":\"" name "\",\"entityType\":\"t\",\"observations\":[" obs \
    "]}\n"
#define FILE_MAX ((size_t)256 << 20)

static char dir[PATH_MAX];

static int set_up(void **state)
{
    make_temp_dir(dir);
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(dir);
    return 0;
}

static const char *in_dir(struct arena *a, const char *name)
{
    return path_join(a, dir, name);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_file(const char *path, const char *text)
{
    auto_buf got = BUF(FILE_MAX);

    assert_true(file_read(path, &got, NULL));
    assert_str(buf_str(&got), text);
}

/* Names of the files in `at` that hold `part`; the last one's to *ret_path. */
static size_t count_files(struct arena *a, const char *at, const char *part,
                          const char **ret_path)
{
    DIR *d = opendir(at);
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (!strstr(entry->d_name, part))
            continue;
        n++;
        if (ret_path)
            *ret_path = path_join(a, at, entry->d_name);
    }
    closedir(d);
    return n;
}

static void sleep_ms(int ms)
{
    usleep((unsigned)ms * 1000);
}

/* ---- reads and changes ---- */

static void dump_graph(void *ctx, const struct graph *g)
{
    dump(ctx, g);
}

static void assert_graph(struct store *s, const char *want)
{
    auto_buf got = BUF(FILE_MAX);
    struct error e = { 0 };

    if (!store_read(s, dump_graph, &got, &e))
        fail_msg("%s", e.msg);
    assert_str(buf_str(&got), want);
}

struct wish {
    const char *name;
    int calls;
    bool cancel;
};

static bool add_wish(void *ctx, struct change *c)
{
    struct wish *w = ctx;

    w->calls++;
    change_add_entity(c, str_of(w->name), STR("t"), (struct strings){ 0 });
    return true;
}

static bool wants_cancel(void *ctx)
{
    const struct wish *w = ctx;

    return w->cancel;
}

static bool add(struct store *s, struct wish *w, bool *changed, struct error *e)
{
    const struct plan p = { add_wish, wants_cancel, w };

    return store_change(s, &p, changed, e);
}

static void add_entity(struct store *s, const char *name)
{
    struct wish w = { .name = name };
    struct error e = { 0 };
    bool changed = false;

    if (!add(s, &w, &changed, &e))
        fail_msg("%s", e.msg);
    assert_true(changed);
}

/* ---- tests ---- */

/* ME-1, ME-2, ME-22, SV-8 */
static void the_file_and_its_directories_come_with_the_first_change(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "x/y/m.jsonl");
    struct store *s = store_new(path);
    struct wish w = { .name = "a" };
    struct stat st;
    bool changed = true;
    struct error e;

    assert_graph(s, "");
    assert_false(file_exists(in_dir(&a, "x")));
    w.cancel = true; /* nothing is made for what is not written */
    assert_false(add(s, &w, &changed, &e));
    assert_int_equal(e.kind, ERR_CLOSED);
    assert_false(file_exists(in_dir(&a, "x")));
    assert_int_equal(file_mkdirs(in_dir(&a, "x/y"), NULL), true);
    assert_false(add(s, &w, &changed, &e));
    assert_int_equal(count_files(&a, in_dir(&a, "x/y"), "m.jsonl", NULL),
                     0); /* no lock either */
    add_entity(s, "a");
    assert_file(path, E("a", ""));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(in_dir(&a, "x"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);

    /* again: nothing to do, nothing written */
    assert_int_equal(stat(path, &st), 0);
    w = (struct wish){ .name = "a" };
    assert_true(add(s, &w, &changed, &e));
    assert_false(changed);
    ino_t ino = st.st_ino;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_ino, ino);
    assert_int_equal(count_files(&a, in_dir(&a, "x/y"), ".tmp", NULL), 0);
    store_free(s);
}

/* ME-1, SV-27 */
static void links_are_followed_and_modes_kept(void **state)
{
    auto_arena a = ARENA;
    const char *link = in_dir(&a, "link"), *real = in_dir(&a, "real/m.jsonl");
    struct store *s = store_new(link);
    struct stat st;

    assert_int_equal(symlink("hop", link), 0);
    assert_int_equal(symlink(real, in_dir(&a, "hop")), 0);
    assert_graph(s, "");
    add_entity(s, "a"); /* through a dangling link, to a directory that is not there */
    assert_file(real, E("a", ""));
    assert_int_equal(chmod(real, 0640), 0);
    add_entity(s, "b");
    assert_file(real, E("a", "") E("b", ""));
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(file_exists(in_dir(&a, "real/m.jsonl.lock")));
    store_free(s);
}

/* ME-5: a change in place, of the same size and within the same tick, is seen too */
static void a_change_by_somebody_else_is_always_noticed(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "m.jsonl");
    struct store *s = store_new(path);
    struct stat st;

    write_text(path, E("a", ""));
    assert_graph(s, "E a:t[]\n");
    for (char c = 'b'; c <= 'z'; c++) {
        const char *want = arena_printf(&a, "E %c:t[]\n", c);
        int fd = open(path, O_WRONLY);

        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(pwrite(fd, &c, 1, strlen("{\"type\":\"entity\",\"name\":\"")), 1);
        futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim });
        close(fd);
        assert_graph(s, want);
    }
    assert_int_equal(store_foreign(s), 25);
    add_entity(s, "own");
    assert_graph(s, "E z:t[]\nE own:t[]\n");
    assert_int_equal(store_foreign(s), 25); /* our own change is none of somebody else */
    unlink(path);
    assert_graph(s, "");
    assert_int_equal(store_foreign(s), 26);
    store_free(s);
}

struct later {
    const char *path;
    int64_t done_ms;
};

static void *write_later(void *ctx)
{
    struct later *l = ctx;

    sleep_ms(10);
    write_text(l->path, E("a", "") E("b", ""));
    l->done_ms = clock_ms();
    return NULL;
}

/* What a reader gets while another program finishes the file 10 ms later. False: that program
 * was held up for too long to prove anything. */
static bool read_half(const char *path, const char *half, struct buf *out)
{
    struct store *s = store_new(path);
    struct later l = { .path = path };
    int64_t from;
    pthread_t t;

    write_text(path, half);
    from = clock_ms();
    pthread_create(&t, NULL, write_later, &l);
    buf_clear(out);
    assert_true(store_read(s, dump_graph, out, NULL));
    pthread_join(t, NULL);
    store_free(s);
    return l.done_ms - from < STORE_SETTLE_MS - 5;
}

/* ME-4: other programs truncate first */
static void a_file_that_is_being_written_is_waited_for(void **state)
{
    static const char *const halves[] = { E("a", "") "{\"type\":\"ent", "" };

    for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
        auto_arena a = ARENA;
        auto_buf got = BUF(1 << 10);
        int tries = 0;

        while (!read_half(in_dir(&a, "m.jsonl"), halves[i], &got) && ++tries < 100)
            continue;
        assert_true(tries < 100);
        assert_str(buf_str(&got), "E a:t[]\nE b:t[]\n");
    }
}

static struct buf warned = { .max = 1 << 16 };

static void note_warning(const char *line)
{
    buf_addf(&warned, "%s\n", line);
}

/* ME-4, SEC-68 */
static void bad_lines_are_copied_before_a_change_leaves_them_out(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "m.jsonl"), *copy = NULL;
    struct store *s = store_new(path);
    struct stat st;

    write_text(path,
               "\xef\xbb\xbf" E("a", "") "what?\n" E("b", "") E("a", "\"2\"") "{\"torn\":\"");
    assert_graph(s, "E a:t[]\nE b:t[]\n"
                    "K {\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\","
                    "\"observations\":[\"2\"]}\n"
                    "B 2 is not a JSON object\nB 5 is cut off\n");
    assert_int_equal(count_files(&a, dir, ".corrupt-", NULL), 0); /* a read copies nothing */
    store_warnings(s, note_warning);
    assert_str(buf_str(&warned),
               arena_printf(&a,
                            "%s: line 2 is not a JSON object; it is left out\n"
                            "%s: line 5 is cut off; it is left out\n",
                            path, path));
    buf_clear(&warned);
    store_warnings(s, note_warning); /* each is told once */
    assert_int_equal(warned.n, 0);
    buf_free(&warned);

    add_entity(s, "c");
    assert_file(path, E("a", "") E("b", "") E("c", "") E("a", "\"2\""));
    assert_int_equal(count_files(&a, dir, ".corrupt-", &copy), 1);
    assert_file(copy, "what?\n{\"torn\":\"\n");
    assert_int_equal(stat(copy, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_has(copy, "m.jsonl.corrupt-20");
    assert_int_equal(copy[strlen(copy) - 1], 'Z');

    add_entity(s, "d");
    assert_int_equal(count_files(&a, dir, ".corrupt-", NULL), 1);
    write_text(path, "bad\n"); /* in the same second, most likely */
    add_entity(s, "e");
    assert_int_equal(count_files(&a, dir, ".corrupt-", NULL), 2);
    store_free(s);
}

/* ME-4 */
static void without_the_copy_there_is_no_change(void **state)
{
    auto_arena a = ARENA;
    auto_free char *name = mem_alloc(NAME_MAX + 1);
    const char *path;
    struct store *s;
    struct wish w = { .name = "a" };
    struct error e;
    bool changed;

    memset(name, 'm',
           NAME_MAX - strlen(".corrupt")); /* the name of the copy would be too long */
    path = in_dir(&a, name);
    s = store_new(path);
    write_text(path, "bad\n");
    assert_false(add(s, &w, &changed, &e));
    assert_has(e.msg, "for the bad lines of");
    assert_file(path, "bad\n");
    store_free(s);
}

static void what_is_no_file_of_ours_is_an_error(void **state)
{
    auto_arena a = ARENA;
    const char *fifo = in_dir(&a, "fifo"), *big = in_dir(&a, "big");
    struct store *s = store_new(dir), *f = store_new(fifo), *b = store_new(big);
    auto_buf out = BUF(1 << 10);
    struct error e;

    assert_false(store_read(s, dump_graph, &out, &e));
    assert_has(e.msg, "not a regular file");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_false(store_read(f, dump_graph, &out, &e));
    assert_has(e.msg, "not a regular file");
    write_text(big, "");
    assert_int_equal(truncate(big, (off_t)MEMORY_FILE_MAX + 1), 0);
    assert_false(store_read(b, dump_graph, &out, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    unlink(big);
    assert_true(store_read(b, dump_graph, &out, &e)); /* all is well again */
    store_free(s);
    store_free(f);
    store_free(b);
}

/* ---- others at the same time ---- */

static bool cancels_soon(void *ctx)
{
    struct wish *w = ctx;

    return ++w->calls > 3;
}

/* ME-5, SV-14 */
static void a_change_waits_for_the_lock_a_read_does_not(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "m.jsonl");
    struct store *s = store_new(path);
    struct wish w = { .name = "b" };
    int64_t before = clock_ms();
    const struct plan p = { add_wish, cancels_soon, &w };
    const struct plan in_time = { add_wish, cancels_soon, &w, before + 100 };
    struct error e;
    bool changed;
    int lock;

    add_entity(s, "a");
    lock = open(in_dir(&a, "m.jsonl.lock"), O_RDWR);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_graph(s, "E a:t[]\n");
    assert_false(store_change(s, &p, &changed, &e));
    assert_int_equal(e.kind, ERR_CLOSED);
    assert_file(path, E("a", ""));
    /* Those that queue have one time together, and a try when it is over. */
    for (int i = 0; i < 3; i++) {
        w.calls = -1000000;
        assert_false(store_change(s, &in_time, &changed, &e));
        assert_int_equal(e.kind, ERR_TIMEOUT);
    }
    assert_in_range(clock_ms() - before, 100, 100 + 150 * slack());
    close(lock);
    assert_true(store_change(s, &in_time, &changed, &e));
    assert_graph(s, "E a:t[]\nE b:t[]\n");
    store_free(s);
}

static void add_many(const char *path, const char *who, int n)
{
    auto_arena a = ARENA;
    struct store *s = store_new(path);

    for (int i = 0; i < n; i++)
        add_entity(s, arena_printf(&a, "%s%d", who, i));
    store_free(s);
}

static void count_entities(void *ctx, const struct graph *g)
{
    assert_int_equal(g->bad.n, 0);
    *(size_t *)ctx = g->entities.n;
}

/* ME-5, SEC-69: the figures of the specification are the end-to-end test's */
static void processes_lose_no_change_of_one_another(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "m.jsonl");
    struct store *s = store_new(path);
    size_t n = 0, last = 0;
    pid_t pids[3];
    int status;

    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            add_many(path, (const char *[]){ "a", "b", "c" }[i], 100);
            _exit(0);
        }
    }
    while (n < 300) { /* a reader beside them sees whole files only, and none go */
        assert_true(store_read(s, count_entities, &n, NULL));
        assert_true(n >= last);
        last = n;
        if (waitpid(-1, &status, WNOHANG) < 0)
            break;
    }
    assert_true(store_read(s, count_entities, &n, NULL));
    assert_int_equal(n, 300);
    store_free(s);
}

struct readers {
    struct store *store;
    atomic_bool stop;
};

static void *read_all(void *ctx)
{
    struct readers *r = ctx;
    size_t n = 0, last = 0;

    while (!atomic_load(&r->stop)) {
        assert_true(store_read(r->store, count_entities, &n, NULL));
        assert_true(n >= last);
        last = n;
    }
    return NULL;
}

static void readers_see_each_change_whole(void **state)
{
    auto_arena a = ARENA;
    struct readers r = { .store = store_new(in_dir(&a, "m.jsonl")) };
    pthread_t t[3];

    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        pthread_create(&t[i], NULL, read_all, &r);
    for (int i = 0; i < 200; i++)
        add_entity(r.store, arena_printf(&a, "n%d", i));
    atomic_store(&r.stop, true);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        pthread_join(t[i], NULL);
    store_free(r.store);
}

/* ---- long use ---- */

static bool rewrite_observation(void *ctx, struct change *c)
{
    const struct entity *e = change_find(c, STR("a"));
    auto_buf text = BUF((size_t)1 << 20);
    struct str s;

    buf_fill(&text, *(char *)ctx, 300000);
    s = buf_str(&text);
    change_set_observations(c, e, (struct strings){ 0 }, (struct strings){ &s, 1 });
    return true;
}

static bool never(void *ctx)
{
    return false;
}

static void get_waste(void *ctx, const struct graph *g)
{
    size_t *most = ctx;

    *most = g->waste > *most ? g->waste : *most;
    assert_int_equal(g->entities.n, 2);
    assert_int_equal(g->kept.n, 1);
}

static void what_changes_leave_behind_is_given_back(void **state)
{
    auto_arena a = ARENA;
    const char *path = in_dir(&a, "m.jsonl");
    struct store *s = store_new(path), *fresh;
    auto_buf one = BUF(1 << 20), two = BUF(1 << 20);
    size_t waste = 0;

    write_text(path, "{\"k\":1}\n" E("a", "") E("b", ""));
    for (char c = 'a'; c <= 'z'; c++) {
        const struct plan p = { rewrite_observation, never, &c };
        bool changed = false;

        assert_true(store_change(s, &p, &changed, NULL));
        assert_true(changed && store_read(s, get_waste, &waste, NULL));
    }
    assert_in_range(waste, 1 << 20, 3 << 20);
    fresh = store_new(path);
    assert_true(store_read(s, dump_graph, &one, NULL));
    assert_true(store_read(fresh, dump_graph, &two, NULL));
    assert_bytes(buf_str(&one), buf_str(&two));
    store_free(s);
    store_free(fresh);
}

static bool add_too_much(void *ctx, struct change *c)
{
    auto_buf text = BUF(2 * MEMORY_LINE_MAX);
    struct str s;

    buf_fill(&text, 'x', *(size_t *)ctx);
    s = buf_str(&text);
    change_add_entity(c, STR("big"), STR("t"), (struct strings){ &s, 1 });
    return true;
}

/* ME-3: a line over 16 MiB would be a bad one at the next reading */
static void what_could_not_be_read_again_is_not_written(void **state)
{
    auto_arena a = ARENA;
    struct store *s = store_new(in_dir(&a, "m.jsonl"));
    size_t most = MEMORY_LINE_MAX - strlen(E("big", "\"\"")) + 1, more = most + 1;
    const struct plan too_much = { add_too_much, never, &more };
    const struct plan just_fits = { add_too_much, never, &most };
    struct error e = { 0 };
    bool changed = true;

    assert_false(store_change(s, &too_much, &changed, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_graph(s, "");
    assert_true(store_change(s, &just_fits, &changed, &e));
    store_free(s);
    s = store_new(in_dir(&a, "m.jsonl"));
    add_entity(s, "b"); /* has read the long line */
    assert_int_equal(count_files(&a, dir, ".corrupt-", NULL), 0);
    store_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_file_and_its_directories_come_with_the_first_change),
        TEST(links_are_followed_and_modes_kept),
        TEST(a_change_by_somebody_else_is_always_noticed),
        TEST(a_file_that_is_being_written_is_waited_for),
        TEST(bad_lines_are_copied_before_a_change_leaves_them_out),
        TEST(without_the_copy_there_is_no_change),
        TEST(what_is_no_file_of_ours_is_an_error),
        TEST(a_change_waits_for_the_lock_a_read_does_not),
        TEST(processes_lose_no_change_of_one_another),
        TEST(readers_see_each_change_whole),
        TEST(what_changes_leave_behind_is_given_back),
        TEST(what_could_not_be_read_again_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
