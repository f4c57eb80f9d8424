/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "catalog.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <sys/wait.h>
#include <unistd.h>

#include "lockdown/keeper.h"
#include "lockdown/offline.h"
#include "network.h"
#include "pm/resolving.h"

struct bench {
    struct catalogs c;
    enum update_level level;
    int timeout_ms;
    bool own;
    struct resolution *res;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){ 0 };
    catalogs_set_up(&b->c);
    scratch_write(&b->c.scratch, "root/.git/HEAD", "");
}

static void tear_down(struct bench *b)
{
    resolution_free(b->res);
    catalogs_tear_down(&b->c);
}

static void on_done(void *ctx, struct resolution *res)
{
    struct bench *b = ctx;

    resolution_free(b->res);
    b->res = res;
    loop_stop(b->c.loop);
}

static struct resolving *begin(struct bench *b, void (*done)(void *, struct resolution *))
{
    struct resolving_opts o = { .dirs = &b->c.dirs,
                                .start_dir = scratch_path(&b->c.scratch, "root"),
                                .level = b->level,
                                .timeout_ms = b->timeout_ms,
                                .pms = b->own ? NULL : b->c.pms };
    struct error e;
    struct resolving *r = resolving_begin(b->c.loop, &o, done, b, &e);

    if (!r)
        fail_msg("%s", e.msg);
    return r;
}

static void resolve(struct bench *b)
{
    resolution_free(b->res);
    b->res = NULL;
    begin(b, on_done);
    assert_null(b->res); /* never from inside */
    run_until_stopped(b->c.loop, 12000);
    assert_non_null(b->res);
}

/* The configuration names the fake as package manager; `more` comes first. */
static void config(struct bench *b, const char *more)
{
    scratch_write(&b->c.scratch, "config/config.toml",
                  arena_printf(&b->c.scratch.arena,
                               "%s\n[defaults]\nsymposium-recommendations = false\n"
                               "[[package-manager]]\nname = \"a\"\nexecutable = \"%s\"\nargs = "
                               "[\"a\", \"%s\"]\n",
                               more, FAKE_CATALOG, scratch_path(&b->c.scratch, "catalogs/a")));
}

#define DEP(name) "{\"pm\":\"a\",\"name\":\"" name "\",\"version\":\"1.0.0\"}"
#define DEPS(...) "\"list_deps\":{\"result\":[" __VA_ARGS__ "]}"
#define OFFER(name, manifest) \
    "{\"id\":" DEP(name) ",\"root\":\"@/store/" name "\",\"manifest\":{" manifest "}}"
#define SERVER(name) "\"mcp_servers\":[{\"name\":\"" name "\",\"command\":\"/bin/sh\"}]"
#define EDGE(name)   "\"plugins\":[{\"source\":{\"a\":\"" name "\"}}]"

static void assert_servers(struct bench *b, const char *want)
{
    auto_buf got = BUF(1 << 16);

    for (size_t i = 0; i < b->res->servers.n; i++)
        buf_addf(&got, "%s%.*s", i ? " " : "", STR_F(b->res->servers.v[i].name));
    if (strcmp(buf_z(&got), want) == 0)
        return;
    for (size_t i = 0; i < b->res->problems.n; i++)
        print_error("%.*s\n", STR_F(b->res->problems.v[i]));
    fail_msg("'%s' instead of '%s'", buf_z(&got), want);
}

static const char whole[] = "{" DEPS(DEP("w")) ",\"active_plugins\":{\"result\":[" OFFER(
    "w", SERVER("s") "," EDGE(
             "v")) "]},\"load_plugin\":{\"v\":{\"result\":[" OFFER("v", SERVER("t")) "]}}}";

static void set_up_whole(struct bench *b)
{
    struct timespec past[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    static const char *const dirs[] = { "store/w", "store/v" };

    set_up(b);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        file_mkdirs(scratch_path(&b->c.scratch, dirs[i]), NULL);
        utimensat(AT_FDCWD, scratch_path(&b->c.scratch, dirs[i]), past, 0);
    }
    catalog_write(&b->c, "a", whole);
}

/* PL-34: from dependencies to servers, over an edge; then MS-2: from the caches alone. */
static void a_whole_resolution_and_then_from_caches(void **state)
{
    for (int own = 0; own < 2; own++) {
        struct bench b;

        set_up_whole(&b);
        b.own = own;
        config(&b, "");
        resolve(&b);
        assert_servers(&b, "");
        assert_int_equal(b.res->plugins.v[0].state, PLUGIN_CANDIDATE);
        config(&b, "[plugins]\nauto-enable = [\"*\"]\n");
        assert_true(resolution_stale(b.res)); /* MS-60 */
        catalogs_new_run(&b.c);
        resolve(&b);
        assert_servers(&b, "s t");
        assert_has(catalog_log(&b.c, "a"), "start");
        catalogs_new_run(&b.c);
        resolve(&b);
        assert_servers(&b, "s t");
        assert_string_equal(catalog_log(&b.c, "a"), "");
        assert_false(resolution_stale(b.res));
        /* SEC-49: the root vanishes */
        remove_tree(scratch_path(&b.c.scratch, "store/v"));
        assert_true(resolution_stale(b.res));
        resolve(&b);
        assert_servers(&b, "s");
        tear_down(&b);
    }
}

/* SEC-50: a package manager that hangs costs its deadline, and nothing else. */
static void one_that_hangs_is_waited_for_no_longer_than_its_deadline(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_write(&b.c, "a", "{" DEPS(DEP("w")) ",\"active_plugins\":{\"do\":\"silent\"}}");
    config(&b, "");
    scratch_write(
        &b.c.scratch, "config/plugins/p/SYMPOSIUM.toml",
        "name = \"p\"\ndepends-on = [\"w\"]\n[[mcp_servers]]\nname = \"s\"\ncommand = "
        "\"/bin/sh\"\n");
    b.timeout_ms = 300;
    resolve(&b);
    assert_servers(&b, "s");
    assert_true(b.res->pm_degraded);
    assert_int_equal(b.res->problems.n, 1);
    tear_down(&b);

    set_up(&b);
    catalog_write(&b.c, "a", "{\"list_deps\":{\"do\":\"silent\"}}");
    config(&b, "");
    resolve(&b); /* PM_LIST_TIMEOUT_MS */
    assert_true(b.res->pm_degraded);
    tear_down(&b);
}

/* PM-2: check and fetch refresh first. */
static void levels_above_none_refresh_first(void **state)
{
    static const struct {
        enum update_level level;
        const char *call;
    } cases[] = { { UPDATE_CHECK, "refresh {\"update\":\"check\",\"force\":false}" },
                  { UPDATE_FETCH, "refresh {\"update\":\"fetch\",\"force\":true}" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up_whole(&b);
        config(&b, "[plugins]\nauto-enable = [\"*\"]\n");
        b.level = cases[i].level;
        resolve(&b);
        assert_servers(&b, "s t");
        assert_has(catalog_log(&b.c, "a"), cases[i].call);
        tear_down(&b);
    }
}

/* PM-7: a run at level none gets an empty network, where the host allows one; check needs one.
 */
static void level_none_makes_no_connection(void **state)
{
    struct bench b;
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        _exit(offline_enter(NULL) ? 0 : 1);
    waitpid(pid, &status, 0);
    if (status != 0)
        skip();
    set_up_whole(&b);
    b.own = true;
    config(&b, "[plugins]\nauto-enable = [\"*\"]\n");
    resolve(&b);
    assert_servers(&b, "s t");
    assert_has(catalog_log(&b.c, "a"), "start offline\n");
    b.level = UPDATE_CHECK;
    resolve(&b);
    assert_has(catalog_log(&b.c, "a"), has_network() ? "start online\n" : "start ");
    tear_down(&b);
}

/* There no failure of the network is tried again: nothing could have changed. */
static void without_network_nothing_is_tried_again(void **state)
{
    struct bench b;
    const char *log;

    set_up(&b);
    b.own = true;
    config(&b, "[plugins]\nuse = [\"v\"]\n");
    catalog_write(&b.c, "a",
                  "{\"list_deps\":{\"result\":[]},\"active_plugins\":{\"result\":[]},"
                  "\"load_plugin\":{\"v\":{\"error\":-32002}}}");
    resolve(&b);
    log = strstr(catalog_log(&b.c, "a"), "load_plugin");
    assert_non_null(log);
    assert_null(strstr(log + 1, "load_plugin"));
    assert_true(b.res->pm_degraded);
    tear_down(&b);
}

static void on_never(void *ctx, struct resolution *res)
{
    fail_msg("called");
}

/* It may be given up at any step. */
static void a_cancelled_resolution_is_never_finished(void **state)
{
    static const char *const catalogs[] = {
        "{\"refresh\":{\"do\":\"silent\"}}",
        "{\"list_deps\":{\"do\":\"silent\"}}",
        "{\"list_deps\":{\"result\":[]},\"active_plugins\":{\"do\":\"silent\"}}",
        "{" DEPS(DEP("w")) ",\"active_plugins\":{\"result\":[" OFFER(
            "w", EDGE("v")) "]},\"load_plugin\":{\"v\":{\"do\":\"silent\"}}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(catalogs); i++) {
        for (int own = 0; own < 2; own++) {
            struct bench b;
            struct resolving *r;

            set_up_whole(&b);
            config(&b, "[plugins]\nauto-enable = [\"*\"]\n");
            catalog_write(&b.c, "a", catalogs[i]);
            b.own = own;
            b.level = i ? UPDATE_NONE : UPDATE_CHECK;
            r = begin(&b, on_never);
            assert_non_null(resolving_config(r));
            assert_non_null(resolving_workspace(r));
            run_for(b.c.loop, 300);
            resolving_cancel(r);
            run_for(b.c.loop, 50);
            tear_down(&b);
        }
    }
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
    struct bench b;
    struct error e = { 0 };
    struct resolving_opts o;

    set_up(&b);
    o = (struct resolving_opts){ .dirs = &b.c.dirs, .start_dir = "/no/such/directory" };
    assert_null(resolving_begin(b.c.loop, &o, on_never, NULL, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    tear_down(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_resolution_and_then_from_caches),
        cmocka_unit_test(one_that_hangs_is_waited_for_no_longer_than_its_deadline),
        cmocka_unit_test(level_none_makes_no_connection),
        cmocka_unit_test(without_network_nothing_is_tried_again),
        cmocka_unit_test(levels_above_none_refresh_first),
        cmocka_unit_test(a_cancelled_resolution_is_never_finished),
        cmocka_unit_test(a_directory_that_is_not_there_is_an_error),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
