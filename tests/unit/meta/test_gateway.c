/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The inventory kept fresh (MS-60), and never waited for too long (MS-2). */
#include "support.h"

#include <sys/stat.h>

#include "loop/timer.h"
#include "meta/gateway.h"

#define MANIFEST(name, more)                                                             \
    "name = \"" name "\"\ndepends-on = [\"*\"]\n" more "[[mcp_servers]]\nname = \"" name \
    "\"\ncommand = \"" PEER "\"\nargs = [\"%s\"]\n"

struct asked {
    struct site *g;
    bool done;
    struct catalog *c; /* counted */
};

struct site {
    struct world w;
    struct gateway *gateway;
    unsigned inventories;
    bool shut;
    bool executed;
    char *text;
};

static void on_inventory(void *ctx)
{
    struct site *g = ctx;

    g->inventories++;
}

static void put_plugin(struct site *g, const char *name, const char *manifest)
{
    const char *script =
        world_write(&g->w, arena_printf(&g->w.a, "%s.json", name),
                    "{\"tools\":[{\"name\":\"echo\"},{\"name\":\"slow\"}],"
                    "\"calls\":{\"slow\":[{\"sleep\":300},{\"text\":\"x\"}]}}");
    auto_buf text = BUF(1 << 16);
    const char *hole = strstr(manifest, "%s");

    buf_add(&text, (struct str){ manifest, (size_t)(hole - manifest) });
    buf_addf(&text, "%s%s", script, hole + 2);
    world_write(&g->w, arena_printf(&g->w.a, "config/plugins/%s/SYMPOSIUM.toml", name),
                buf_z(&text));
}

static void site_begin(struct site *g)
{
    struct gateway_opts o = { .loop = g->w.loop,
                              .dirs = &g->w.dirs,
                              .start_dir = arena_printf(&g->w.a, "%s/work", g->w.dir),
                              .on_inventory = on_inventory,
                              .ctx = g };

    mkdir(o.start_dir, 0700);
    g->gateway = gateway_new(&o);
}

static void site_open(struct site *g)
{
    *g = (struct site){ 0 };
    world_open(&g->w);
}

static void site_close(struct site *g)
{
    gateway_free(g->gateway);
    free(g->text);
    world_close(&g->w);
}

static void on_current(void *ctx, struct catalog *c)
{
    struct asked *a = ctx;

    assert_false(a->done);
    a->done = true;
    a->c = catalog_ref(c);
}

static uint64_t ask(struct asked *a, struct site *g)
{
    *a = (struct asked){ .g = g };
    return gateway_current(g->gateway, on_current, a);
}

/* The servers in scope, as the next request sees them: "a b". */
static const char *servers(struct site *g)
{
    auto_buf text = BUF(4096);
    struct asked a;

    ask(&a, g);
    world_until(&g->w, &a.done, 10000);
    for (size_t i = 0; i < a.c->n; i++)
        buf_addf(&text, "%s%.*s", i ? " " : "", STR_F(a.c->v[i].name));
    catalog_unref(a.c);
    return arena_z(&g->w.a, buf_str(&text));
}

static const char *first_problem(struct site *g)
{
    const struct catalog *c = gateway_catalog(g->gateway);

    return c && c->problems.n ? arena_z(&g->w.a, c->problems.v[0]) : "";
}

/* MS-60: what changed on disk is seen by the next request; nothing changed: answered at once.
 */
static void a_changed_plugin_is_seen_by_the_next_request(void **state)
{
    struct backend *kept;
    struct told t;
    struct site g;
    struct asked a;

    (void)state;
    site_open(&g);
    put_plugin(&g, "one", MANIFEST("one", ""));
    site_begin(&g);
    assert_null(gateway_catalog(g.gateway)); /* MS-2: nothing is read before a request */
    assert_string_equal(servers(&g), "one");
    assert_int_equal(g.inventories, 1);
    assert_int_equal(ask(&a, &g), 0); /* from inside: nothing changed */
    assert_true(a.done);
    kept = a.c->v[0].backend;
    call_tool(&t, &g.w, kept, "echo", "{}");
    told_free(&t);
    catalog_unref(a.c);
    put_plugin(&g, "two", MANIFEST("two", ""));
    assert_int_not_equal(ask(&a, &g), 0);
    world_until(&g.w, &a.done, 10000);
    assert_int_equal(a.c->n, 2);
    assert_ptr_equal(a.c->v[0].backend, kept);
    assert_int_equal(backend_state(kept), BACKEND_READY);
    catalog_unref(a.c);
    assert_int_equal(g.inventories, 2);
    remove_tree(arena_printf(&g.w.a, "%s/config/plugins/one", g.w.dir));
    assert_string_equal(servers(&g), "two");
    site_close(&g);
}

/* MS-60: auto-sync = false is static for the session. */
static void without_auto_sync_nothing_changes(void **state)
{
    struct site g;

    (void)state;
    site_open(&g);
    world_write(&g.w, "config/config.toml", "auto-sync = false\n");
    put_plugin(&g, "one", MANIFEST("one", ""));
    site_begin(&g);
    assert_string_equal(servers(&g), "one");
    put_plugin(&g, "two", MANIFEST("two", ""));
    assert_string_equal(servers(&g), "one");
    assert_int_equal(g.inventories, 1);
    site_close(&g);
}

/* MS-62, MS-60: a mode that changed reaches the server that goes on running. */
static void a_new_configuration_is_in_force_at_once(void **state)
{
    struct asked a;
    struct site g;
    struct told t;

    (void)state;
    site_open(&g);
    put_plugin(&g, "one", MANIFEST("one", ""));
    site_begin(&g);
    servers(&g);
    call_tool(&t, &g.w, gateway_catalog(g.gateway)->v[0].backend, "echo", "{}");
    told_free(&t);
    assert_int_equal(backend_names(gateway_catalog(g.gateway)->v[0].backend)->n, 2);
    world_write(&g.w, "config/config.toml", "[mcp]\nread-only = true\nmax-tool-calls = 7\n");
    ask(&a, &g);
    world_until(&g.w, &a.done, 10000);
    assert_int_equal(backend_names(a.c->v[0].backend)->n, 0);
    assert_int_equal(backend_state(a.c->v[0].backend), BACKEND_READY);
    assert_int_equal(gateway_config(g.gateway)->mcp.max_tool_calls, 7);
    catalog_unref(a.c);
    site_close(&g);
}

static void on_executed(void *ctx, struct str text, bool is_error)
{
    struct site *g = ctx;

    free(g->text);
    g->text = str_dup(text);
    g->executed = true;
}

/* MS-60: a running script keeps the servers and limits it began with; the sandbox of former
 * limits goes after it. */
static void a_running_script_keeps_what_it_began_with(void **state)
{
    static const struct execution_ops ops = { NULL, on_executed, NULL };
    struct site g;

    (void)state;
    site_open(&g);
    put_plugin(&g, "one", MANIFEST("one", ""));
    site_begin(&g);
    servers(&g);
    assert_non_null(gateway_execute(g.gateway, gateway_catalog(g.gateway),
                                    STR("const out = []; for (let i = 0; i < 3; i++) "
                                        "out.push(await one.slow()); out.join()"),
                                    &ops, &g));
    world_run(&g.w, 50);
    remove_tree(arena_printf(&g.w.a, "%s/config/plugins/one", g.w.dir));
    put_plugin(&g, "two", MANIFEST("two", ""));
    world_write(&g.w, "config/config.toml", "[mcp]\nmax-tool-calls = 1\n");
    assert_string_equal(servers(&g), "two");
    assert_false(g.executed);
    world_until(&g.w, &g.executed, 20000);
    assert_string_equal(g.text, "\"x,x,x\"");
    g.executed = false;
    gateway_execute(g.gateway, gateway_catalog(g.gateway),
                    STR("await two.echo(); await two.echo()"), &ops, &g);
    world_until(&g.w, &g.executed, 20000);
    assert_has(g.text, "{\"error\":\"tool_call_limit\",\"limit\":1}");
    world_run(&g.w, 1200);                                   /* a sweep */
    assert_int_equal(world_logged(&g.w, "two", "start"), 0); /* no log in these scripts */
    site_close(&g);
}

/* MS-2: after 5 s the last known inventory is used, and a problem line says so. */
static void a_slow_resolution_is_not_waited_for(void **state)
{
    struct asked first, second, third;
    struct site g;
    int64_t from;

    (void)state;
    site_open(&g);
    put_plugin(&g, "slow", MANIFEST("slow", "predicates = [\"shell(sleep 7)\"]\n"));
    site_begin(&g);
    from = clock_ms();
    assert_int_not_equal(ask(&first, &g), 0);
    ask(&second, &g);
    gateway_forget(g.gateway, 2);
    world_until(&g.w, &first.done, GATEWAY_RESOLVE_MS + 1000);
    assert_true(clock_ms() - from >= GATEWAY_RESOLVE_MS - 50);
    assert_int_equal(first.c->n, 0);
    assert_has(first_problem(&g), "still being resolved after 5 s");
    assert_int_equal(g.inventories, 1);
    assert_int_equal(ask(&third, &g), 0); /* nobody waits another 5 s */
    assert_int_equal(third.c->problems.n, 1);
    catalog_unref(first.c);
    catalog_unref(third.c);
    assert_false(second.done);
    for (int i = 0; i < 1000 && g.inventories < 2; i++)
        world_run(&g.w, 10);
    assert_int_equal(gateway_catalog(g.gateway)->n, 1);
    assert_string_equal(first_problem(&g), "");
    site_close(&g);
}

/* A start directory that is not there is tried again by each request. */
static void a_resolution_that_failed_is_tried_again(void **state)
{
    struct gateway_opts o;
    struct site g;

    (void)state;
    site_open(&g);
    put_plugin(&g, "one", MANIFEST("one", ""));
    o = (struct gateway_opts){ .loop = g.w.loop,
                               .dirs = &g.w.dirs,
                               .start_dir = arena_printf(&g.w.a, "%s/work", g.w.dir),
                               .on_inventory = on_inventory,
                               .ctx = &g };
    g.gateway = gateway_new(&o);
    assert_string_equal(servers(&g), "");
    assert_has(first_problem(&g), "work");
    mkdir(o.start_dir, 0700);
    assert_string_equal(servers(&g), "one");
    site_close(&g);
}

static void on_shut(void *ctx)
{
    struct site *g = ctx;

    g->shut = true;
}

/* MS-3, MS-58 */
static void shutdown_is_over_when_no_process_is_left(void **state)
{
    struct told t;
    struct site g;

    (void)state;
    site_open(&g);
    put_plugin(&g, "one", MANIFEST("one", ""));
    site_begin(&g);
    gateway_shutdown(g.gateway, gateway_ladder(g.gateway, false), on_shut, &g);
    assert_true(g.shut); /* nothing runs */
    gateway_free(g.gateway);
    g.shut = false;
    site_begin(&g);
    servers(&g);
    call_tool(&t, &g.w, gateway_catalog(g.gateway)->v[0].backend, "echo", "{}");
    told_free(&t);
    assert_int_equal(gateway_ladder(g.gateway, false).term_ms, 3000); /* 60 % of 5 s */
    assert_int_equal(gateway_ladder(g.gateway, false).kill_ms, 4500);
    assert_int_equal(gateway_ladder(g.gateway, true).term_ms, 0);
    assert_int_equal(gateway_ladder(g.gateway, true).kill_ms, 1000);
    gateway_shutdown(g.gateway, gateway_ladder(g.gateway, false), on_shut, &g);
    assert_false(g.shut);
    world_until(&g.w, &g.shut, 1000);
    assert_int_equal(child_lingering(g.w.loop), 0);
    site_close(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_changed_plugin_is_seen_by_the_next_request),
    cmocka_unit_test(without_auto_sync_nothing_changes),
    cmocka_unit_test(a_new_configuration_is_in_force_at_once),
    cmocka_unit_test(a_running_script_keeps_what_it_began_with),
    cmocka_unit_test(a_slow_resolution_is_not_waited_for),
    cmocka_unit_test(a_resolution_that_failed_is_tried_again),
    cmocka_unit_test(shutdown_is_over_when_no_process_is_left),
};

TEST_MAIN(tests)
