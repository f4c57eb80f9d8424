/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The life of backing servers (meta-server.md section 9), with real processes. */
#include "support.h"

#include "meta/launch.h"
#include "meta/toolcache.h"

#define ECHO "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}"
#define TOOLS                                                                                \
    "\"tools\":[" ECHO ",{\"name\":\"hang\"},{\"name\":\"crash\"},{\"name\":\"read_file\"}," \
    "{\"name\":\"slow\"}]"
#define CALLS                                                                      \
    "\"calls\":{\"hang\":[],\"crash\":[{\"stderr\":\"last words\"},{\"exit\":7}]," \
    "\"slow\":[{\"sleep\":200},{\"text\":\"late\"}]}"
#define USUAL "{" TOOLS "," CALLS "}"

static void first_uses_share_one_start(void **state)
{
    struct active_server *def;
    struct told t[4];
    struct backend *b;
    struct world w;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", USUAL);
    b = backend_new(&w.env, def);
    world_run(&w, 30);
    assert_int_equal(world_logged(&w, "a", "start"), 0); /* MS-44 */
    assert_int_equal(backend_state(b), BACKEND_COLD);
    describe_begin(&t[0], &w, b);
    for (int i = 1; i < 4; i++)
        call_begin(&t[i], &w, b, "echo", "{\"n\":1}");
    for (int i = 0; i < 4; i++)
        world_until(&w, &t[i].done, 10000);
    assert_int_equal(world_logged(&w, "a", "start"), 1); /* MS-52 */
    assert_int_equal(backend_state(b), BACKEND_READY);
    assert_int_equal(t[0].why.kind, ERR_NONE);
    assert_str(t[3].tool, "echo");
    assert_has(buf_z(&t[3].result), "{\\\"n\\\":1}");
    for (int i = 0; i < 4; i++)
        told_free(&t[i]);
    backend_unref(b);
    world_close(&w);
}

static void on_refused(void *ctx, const struct backend_answer *answer)
{
    struct told *t = ctx;

    assert_null(answer->tool);
    t->why = *answer->e;
    t->done = true;
}

/* MS-61: described from the cache, started by the call alone, and not probed for its era. */
static void a_fresh_cache_describes_without_starting(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", USUAL);
    world_cache(&w, def, "[" ECHO "]");
    b = backend_new(&w.env, def);
    describe(&t, &w, b);
    assert_int_equal(t.why.kind, ERR_NONE);
    assert_int_equal(backend_names(b)->n, 1);
    told_free(&t);
    call_tool(&t, &w, b, "ecko", "{}"); /* MS-45: what does not resolve needs no server */
    assert_str(t.tool, "");
    assert_has(t.why.msg, "the closest is 'echo'");
    told_free(&t);
    t = (struct told){ .w = &w };
    backend_call(b, BYTES("echo\0junk"), STR("{}"), on_refused, &t);
    world_until(&w, &t.done, 5000);
    assert_has(t.why.msg, "no such tool"); /* not cut at the NUL */
    assert_int_equal(world_logged(&w, "a", "start"), 0);
    call_tool(&t, &w, b, "ECHO", "{}");
    assert_str(t.tool, "echo");
    told_free(&t);
    assert_int_equal(world_received(&w, "a", "server/discover"), 0);
    assert_int_equal(backend_names(b)->n, 5); /* the real list has replaced the cached one */
    backend_unref(b);
    b = backend_new(&w.env, def); /* and the file on disk as well */
    assert_int_equal(backend_names(b)->n, 5);
    backend_unref(b);
    world_close(&w);
}

/* MS-53: command, elapsed time, step and the end of stderr. MS-54: the next try. */
static void a_failed_start_tells_why_and_when_the_next_try_is(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = world_server(
        &w, "a", "{\"on_start\":[{\"stderr\":\"cannot find my database\"},{\"exit\":3}]}");
    def->tool_call_timeout_ms = 100;
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_has(t.why.msg, "start failed at handshake after ");
    assert_has(t.why.msg, "exited with status 3");
    assert_has(t.why.msg, "(command: " PEER " ");
    assert_has(t.why.msg, "cannot find my database");
    told_free(&t);
    call_tool(&t, &w, b, "echo", "{}"); /* its timeout does not allow to wait */
    assert_has(t.why.msg, "next try in 1 s: start failed");
    told_free(&t);
    describe(&t, &w, b); /* MS-19: in back-off, answered without waiting */
    assert_has(t.why.msg, "next try in 1 s");
    told_free(&t);
    assert_int_equal(backend_state(b), BACKEND_COLD);
    assert_string_equal(problems_of(&w, b), "");
    backend_unref(b);
    world_close(&w);
}

/* A server of an installation whose program is the peer, with commands to run before. */
static struct active_server *installed(struct world *w, const char *command,
                                       const char *requirement)
{
    struct active_server *def = world_server(w, "a", USUAL);
    struct install_step need = { .in = { .name = STR("need") },
                                 .plugin = STR("p"),
                                 .dir = str_of(w->dir) },
                        tool = { .in = { .name = STR("tool"), .executable = STR(PEER) },
                                 .plugin = STR("p"),
                                 .dir = str_of(w->dir) };

    ARENA_PUSH(&w->a, &need.in.install_commands) = str_of(requirement);
    ARENA_PUSH(&w->a, &tool.in.install_commands) = str_of(command);
    ARENA_PUSH(&w->a, &def->plan) = need;
    ARENA_PUSH(&w->a, &def->plan) = tool;
    def->plan.runs = true;
    def->argv.v[0] = STR("tool");
    def->nprogram = 1;
    return def;
}

/* MS-59: before the first start, outside its time-out, and once. */
static void what_a_server_needs_is_installed_before_it_starts(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = installed(&w, arena_printf(&w.a, "echo >>made; sleep %d.5", slack()),
                    "echo >>made; echo '{\"jsonrpc\":\"2.0\"}'");
    def->startup_timeout_ms = 1000 * slack();
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_string_equal(t.why.msg, "");
    assert_str(t.tool, "echo");
    told_free(&t);
    assert_string_equal(problems_of(&w, b), "");
    assert_int_equal(file_stamp(arena_printf(&w.a, "%s/made", w.dir)).size, 2);
    backend_unref(b);
    def->startup_timeout_ms = 10000 * slack();
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_str(t.tool, "echo");
    told_free(&t);
    assert_int_equal(file_stamp(arena_printf(&w.a, "%s/made", w.dir)).size, 2);
    backend_unref(b);
    world_close(&w);
}

/* MS-59 */
static void a_failed_requirement_is_only_a_problem(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = installed(&w, "true", "echo broken >&2; exit 3");
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_str(t.tool, "echo");
    told_free(&t);
    assert_string_equal(
        problems_of(&w, b),
        "a: installation 'need': 'echo broken >&2; exit 3' exited with status 3: "
        "broken\n");
    backend_unref(b);
    world_close(&w);
}

static void a_program_that_cannot_be_installed_is_a_failed_start(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = installed(&w, "echo broken; exit 3", "true");
    def->tool_call_timeout_ms = 100;
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_has(t.why.msg,
               "installation 'tool': 'echo broken; exit 3' exited with status 3: broken");
    told_free(&t);
    call_tool(&t, &w, b, "echo", "{}");
    assert_has(t.why.msg, "next try in 1 s: ");
    told_free(&t);
    assert_int_equal(world_logged(&w, "a", "start"), 0);
    backend_unref(b);
    world_close(&w);
}

/* An installation takes as long as it takes: the end of the session does not. */
static void an_installation_ends_with_its_server(void **state)
{
    for (int shut = 0; shut < 2; shut++) {
        struct active_server *def;
        struct backend *b;
        struct world w;
        struct told t = { 0 };

        (void)state;
        world_open(&w);
        def = installed(&w, "exec sleep 1000", "true");
        t.w = &w;
        b = backend_new(&w.env, def);
        backend_call(b, STR("echo"), STR("{}"), on_refused, &t);
        while (!backend_installing(b).n || !strstr(backend_installing(b).p, "sleep"))
            world_run(&w, 5);
        assert_int_equal(backend_state(b), BACKEND_STARTING);
        if (shut) {
            backends_shutdown(&w.env, (struct child_ladder){ 0, 100 });
            assert_int_equal(backends_running(&w.env), 0);
        }
        backend_unref(b);
        world_close(&w);
    }
}

/* The definition is the same before and after its program came. */
static void acquiring_a_program_makes_no_other_server(void **state)
{
    struct active_server *def, before, after;
    struct backend *b;
    struct world w;

    (void)state;
    world_open(&w);
    def = installed(&w, "true", "true");
    before = after = *def;
    after.argv = (struct strs){ 0 };
    ARENA_PUSH(&w.a, &after.argv) = STR("/somewhere/tool");
    ARENA_PUSH(&w.a, &after.argv) = STR("--its");
    ARENA_PUSH(&w.a, &after.argv) = def->argv.v[1];
    after.nprogram = 2;
    b = backend_new(&w.env, &before);
    assert_true(backend_same(b, &after));
    after.argv.v[2] = STR("other");
    assert_false(backend_same(b, &after));
    after.argv.v[2] = def->argv.v[1];
    after.plan = install_plan_copy(&w.a, &after.plan);
    after.plan.v[1].in.install_commands.v[0] = STR("false");
    assert_false(backend_same(b, &after));
    backend_unref(b);
    world_close(&w);
}

/* The first start fails twice: a server that ends at the probe of its era gets a second
 * process. */
static void a_call_waits_for_the_next_try_when_its_timeout_allows(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;
    int64_t from;

    (void)state;
    world_open(&w);
    def = world_server(
        &w, "a",
        arena_printf(&w.a, "{\"counter\":\"%s/n\",\"fail_starts\":2," TOOLS "}", w.dir));
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    assert_int_not_equal(t.why.kind, ERR_NONE);
    told_free(&t);
    from = clock_ms();
    call_tool(&t, &w, b, "echo", "{}"); /* MS-54 */
    assert_int_equal(t.why.kind, ERR_NONE);
    assert_true(clock_ms() - from > 500);
    told_free(&t);
    assert_int_equal(world_logged(&w, "a", "start"), 3);
    backend_unref(b);
    world_close(&w);
}

static void too_many_failed_starts_are_final(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    w.env.max_restarts = 0;
    def = world_server(&w, "a", "{\"on_start\":[{\"exit\":3}]}");
    b = backend_new(&w.env, def);
    for (int i = 0; i < 3; i++) { /* MS-54: later calls answer immediately */
        call_tool(&t, &w, b, "echo", "{}");
        assert_has(t.why.msg, "failed 1 time, not tried again in this session: start failed");
        told_free(&t);
    }
    assert_int_equal(backend_state(b), BACKEND_FAILED);
    assert_has(problems_of(&w, b), "a: failed 1 time, not tried again in this session: ");
    describe(&t, &w, b);
    assert_int_not_equal(t.why.kind, ERR_NONE);
    told_free(&t);
    backend_unref(b);
    world_close(&w);
}

static void a_crash_is_reported_and_never_repeated(void **state)
{
    struct backend *b;
    struct told t, hung;
    struct world w;

    (void)state;
    world_open(&w);
    b = backend_new(&w.env, world_server(&w, "a", USUAL));
    call_tool(&t, &w, b, "echo", "{}");
    told_free(&t);
    call_begin(&hung, &w, b, "hang", "{}");
    call_tool(&t, &w, b, "crash", "{}"); /* MS-50: exit status and the last line of stderr */
    assert_has(t.why.msg, "exited with status 7; stderr: last words");
    world_until(&w, &hung.done, 5000);
    assert_has(hung.why.msg, "exited with status 7");
    told_free(&t);
    told_free(&hung);
    world_run(&w, 50);
    assert_int_equal(world_logged(&w, "a", "start"), 1); /* MS-56: only the next call starts */
    call_tool(&t, &w, b, "echo", "{}");
    assert_int_equal(t.why.kind, ERR_NONE);
    told_free(&t);
    assert_int_equal(world_logged(&w, "a", "start"), 2);
    assert_int_equal(world_received(&w, "a", "\"crash\""), 1);
    assert_int_equal(world_received(&w, "a", "\"hang\""), 1);
    assert_int_equal(world_received(&w, "a", "tools/list"), 2); /* listed again */
    backend_unref(b);
    world_close(&w);
}

/* MS-55: a crash before restart-stable-reset-secs counts as an attempt, a later one clears. */
static void crashes_are_budgeted_unless_the_connection_was_stable(void **state)
{
    static const struct {
        int stable_ms, crashes;
        enum backend_state end;
    } cases[] = { { 300000, 2, BACKEND_FAILED }, { 0, 4, BACKEND_COLD } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct backend *b;
        struct world w;
        struct told t;

        world_open(&w);
        w.env.max_restarts = 1;
        w.env.stable_reset_ms = cases[i].stable_ms;
        b = backend_new(&w.env, world_server(&w, "a", USUAL));
        for (int k = 0; k < cases[i].crashes; k++) {
            call_tool(&t, &w, b, "crash", "{}");
            assert_has(t.why.msg, "status 7");
            told_free(&t);
        }
        world_run(&w, 20);
        assert_int_equal(backend_state(b), cases[i].end);
        call_tool(&t, &w, b, "echo", "{}");
        if (cases[i].end == BACKEND_FAILED)
            assert_has(t.why.msg, "crashed 2 times, not started again in this session: ");
        else
            assert_int_equal(t.why.kind, ERR_NONE);
        told_free(&t);
        backend_unref(b);
        world_close(&w);
    }
}

/* MS-57: told to the server, which lives on. */
static void a_timeout_or_cancel_leaves_the_server_alive(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", USUAL);
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    told_free(&t);
    def->tool_call_timeout_ms = 100;
    backend_update(b, def);
    call_tool(&t, &w, b, "hang", "{}");
    assert_string_equal(t.why.msg, "timed out after 0.1 s");
    told_free(&t);
    def->tool_call_timeout_ms = 60000;
    backend_update(b, def);
    call_begin(&t, &w, b, "hang", "{}");
    world_run(&w, 20);
    backend_cancel(b, t.handle);
    world_run(&w, 50);
    assert_false(t.done); /* MS-76: no callback */
    told_free(&t);
    assert_int_equal(world_received(&w, "a", "notifications/cancelled"), 2);
    call_tool(&t, &w, b, "echo", "{}");
    assert_int_equal(t.why.kind, ERR_NONE);
    told_free(&t);
    assert_int_equal(world_logged(&w, "a", "start"), 1);
    backend_unref(b);
    world_close(&w);
}

/* MS-19: at most eight starts for descriptions at a time, in order; calls do not wait for them.
 */
static void eight_servers_are_started_at_a_time_to_be_described(void **state)
{
    struct backend *b[12], *called;
    struct told t[12], call;
    struct world w;
    size_t most = 0;
    bool all = false;

    (void)state;
    world_open(&w);
    for (int i = 0; i < 12; i++) {
        const char *name = arena_printf(&w.a, "s%d", i);

        b[i] =
            backend_new(&w.env, world_server(&w, name, "{\"start_delay_ms\":400," TOOLS "}"));
        describe_begin(&t[i], &w, b[i]);
    }
    called = backend_new(&w.env, world_server(&w, "called", USUAL));
    for (int i = 0; i < 200 && w.env.starting < BACKEND_MAX_STARTS; i++)
        world_run(&w, 1);
    assert_int_equal(w.env.starting, BACKEND_MAX_STARTS);
    assert_int_equal(backend_state(b[7]), BACKEND_STARTING);
    assert_int_equal(backend_state(b[8]), BACKEND_COLD);
    backend_cancel(b[9], t[9].handle); /* what nobody wants any more is not started */
    call_begin(&call, &w, called, "echo", "{}");
    world_run(&w, 1);
    assert_int_equal(backend_state(called), BACKEND_STARTING);
    for (int64_t end = clock_ms() + 20000 * slack(); !all && clock_ms() < end;) {
        world_run(&w, 1);
        most = w.env.starting > most ? w.env.starting : most;
        all = call.done;
        for (int i = 0; i < 12; i++)
            all = all && (t[i].done || i == 9);
    }
    assert_true(all);
    assert_int_equal(most, BACKEND_MAX_STARTS);
    assert_int_equal(w.env.starting, 0);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(backend_state(b[i]), i == 9 ? BACKEND_COLD : BACKEND_READY);
        told_free(&t[i]);
        backend_unref(b[i]);
    }
    told_free(&call);
    backend_unref(called);
    world_close(&w);
}

/* MS-19: closed again when nobody calls it; a call that comes meanwhile is not lost. */
static void a_server_started_only_to_be_described_is_closed_again(void **state)
{
    struct active_server *lazy;
    struct backend *b, *c;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    w.env.idle_ms = 100;
    w.env.ladder = (struct child_ladder){ 300, 600 };
    lazy = world_server(&w, "a", "{\"ignore_eof\":true," TOOLS "," CALLS "}");
    b = backend_new(&w.env, lazy);
    c = backend_new(&w.env, world_server(&w, "called", USUAL));
    call_tool(&t, &w, c, "echo", "{}");
    told_free(&t);
    describe(&t, &w, b);
    told_free(&t);
    world_run(&w, 250); /* between the end of its input and SIGTERM */
    assert_int_equal(world_logged(&w, "a", "eof"), 1);
    call_tool(&t, &w, b, "echo", "{}");
    assert_int_equal(t.why.kind, ERR_NONE);
    told_free(&t);
    assert_int_equal(world_logged(&w, "a", "start"), 2);
    world_run(&w, 250);
    assert_int_equal(backend_state(b), BACKEND_READY); /* it has been called now */
    assert_int_equal(backend_state(c), BACKEND_READY);
    assert_int_equal(world_logged(&w, "called", "start"), 1);
    backend_unref(b);
    backend_unref(c);
    world_close(&w);
}

/* MS-74: against the cache, and against the list before; MS-62: hidden in read-only mode. */
static void a_changed_tool_is_a_problem_line_for_the_rest_of_the_session(void **state)
{
    static const char script[] =
        "{\"tools\":[{\"name\":\"echo\",\"description\":\"now\",\"annotations\":"
        "{\"readOnlyHint\":true}},{\"name\":\"new\"},{\"name\":\"swap\"}],\"calls\":{"
        "\"swap\":[{\"set_tools\":[{\"name\":\"echo\",\"description\":\"now\",\"annotations\":"
        "{\"readOnlyHint\":true}},{\"name\":\"swap\",\"description\":\"other\"}]},"
        "{\"line\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":"
        "\\\"notifications/tools/list_changed\\\"}\"},{\"text\":\"ok\"}]}}";
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", script);
    world_cache(&w, def,
                "[{\"name\":\"echo\",\"description\":\"before\"},{\"name\":\"gone\"}]");
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    told_free(&t);
    /* New and vanished tools are no problem. */
    assert_string_equal(problems_of(&w, b), "a: tool echo changed since last seen\n");
    call_tool(&t, &w, b, "swap", "{}");
    told_free(&t);
    for (int i = 0; i < 500 && !strstr(problems_of(&w, b), "swap"); i++)
        world_run(&w, 10);
    assert_string_equal(problems_of(&w, b), "a: tool echo changed since last seen\n"
                                            "a: tool swap changed since last seen\n");
    assert_int_equal(world_received(&w, "a", "tools/list"), 2);
    w.env.read_only = true;
    backend_update(b, def);
    assert_int_equal(backend_names(b)->n, 0); /* annotated, but changed */
    assert_has(problems_of(&w, b), "tool echo changed");
    backend_unref(b);
    w.env.read_only = false;
    b = backend_new(&w.env, def); /* the next session has seen it */
    assert_int_equal(backend_names(b)->n, 2);
    assert_string_equal(problems_of(&w, b), "");
    backend_unref(b);
    world_close(&w);
}

/* MS-74, bounded: a server that changed everything does not fill every reply. */
static void many_changed_tools_are_counted(void **state)
{
    auto_buf old = BUF(1 << 20), new = BUF(1 << 20);
    struct inventory *before, *now;
    struct tool_filter all = { 0 };
    struct toolset set;

    (void)state;
    for (int i = 0; i < 50; i++) {
        buf_addf(&old, "%s{\"name\":\"t%d\"}", i ? "," : "[", i);
        buf_addf(&new, "%s{\"name\":\"t%d\",\"description\":\"x\"}", i ? "," : "[", i);
    }
    buf_addc(&old, ']');
    buf_addz(&new, ",7]");
    assert_true(toolset_load(&set, buf_str(&old), NULL));
    before = inventory_new(STR("s"), &set, NULL, &all, (struct str){ 0 });
    assert_int_equal(before->problems.n, 0);
    assert_true(toolset_load(&set, buf_str(&new), NULL));
    now = inventory_new(STR("s"), &set, before, &all, STR("a note"));
    assert_int_equal(now->problems.n, INVENTORY_CHANGED_SHOWN + 3);
    assert_str(now->problems.v[19], "s: tool t19 changed since last seen");
    assert_str(now->problems.v[20], "s: 30 more tools changed since last seen");
    assert_str(now->problems.v[21], "s: 1 entries of its tool list are no tools");
    assert_str(now->problems.v[22], "s: a note");
    inventory_unref(before);
    inventory_unref(now);
}

static void a_list_that_is_empty_now_is_a_problem(void **state)
{
    struct active_server *def;
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", "{\"tools\":[]}");
    world_cache(&w, def, "[" ECHO "]");
    b = backend_new(&w.env, def);
    call_tool(&t, &w, b, "echo", "{}");
    told_free(&t);
    assert_string_equal(problems_of(&w, b),
                        "a: lists no tools now, it had some before\n"); /* MS-56 */
    backend_unref(b);
    world_close(&w);
}

/* A start that finds the list of the cache writes nothing (no fsync on the loop). */
static void an_unchanged_list_is_not_written_again(void **state)
{
    static const struct {
        const char *tools;
        bool same;
    } cases[] = { { "[" ECHO "]", true },
                  { "[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"},"
                    "\"annotations\":{\"readOnlyHint\":true}}]",
                    false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char dir[PATH_MAX];
        struct toolcache_entry entry;
        struct toolset now;
        struct error e;

        make_temp_dir(dir);
        assert_true(toolset_load(&now, STR("[" ECHO "]"), &e));
        assert_true(toolcache_store(dir, STR("[1]"), &now, true, STR("{\"name\":\"x\"}"), &e));
        toolset_free(&now);
        assert_true(toolcache_load(dir, STR("[1]"), &entry));
        assert_true(toolset_load(&now, str_of(cases[i].tools), &e));
        assert_int_equal(toolcache_is_same(&entry.tools, &now, true, STR("{\"name\":\"x\"}")),
                         cases[i].same);
        assert_false(toolcache_is_same(&entry.tools, &now, false, STR("{\"name\":\"x\"}")));
        assert_false(toolcache_is_same(&entry.tools, &now, true, STR("{\"name\":\"y\"}")));
        assert_false(toolcache_is_same(&now, &now, true, STR("{}"))); /* not from disk */
        toolset_free(&now);
        toolset_free(&entry.tools);
        remove_tree(dir);
    }
}

/* MS-60: equal name, command, args, env and cwd are the same program. MS-21: its filter is not
 * part of that. */
static void the_same_program_is_told_by_five_things(void **state)
{
    struct active_server *def, other;
    struct backend *b;
    struct world w;

    (void)state;
    world_open(&w);
    def = world_server(&w, "a", USUAL);
    world_cache(&w, def, "[" ECHO ",{\"name\":\"b\"}]");
    b = backend_new(&w.env, def);
    assert_int_equal(backend_names(b)->n, 2);
    assert_true(backend_same(b, def));
    other = *def;
    other.cwd = STR("/");
    assert_false(backend_same(b, &other));
    other = *def;
    other.name = STR("b");
    assert_false(backend_same(b, &other));
    other = *def;
    other.argv.n--;
    assert_false(backend_same(b, &other));
    other = *def;
    ARENA_PUSH(&w.a, &other.env) = (struct key_value){ STR("K"), STR("v") };
    assert_false(backend_same(b, &other));
    other = *def;
    other.tool_call_timeout_ms++;
    assert_true(backend_same(b, &other));
    ((struct server_def *)def->def)->disabled_tools =
        (struct strs){ (struct str[]){ STR("b") }, 1, 1 };
    backend_update(b, def);
    assert_int_equal(backend_names(b)->n, 1);
    assert_int_equal(backend_names(b)->hidden, 1);
    backend_unref(b);
    world_close(&w);
}

/* MS-60: a server that is not wanted any more is shut down after its calls in flight. */
static void a_retired_server_finishes_its_calls(void **state)
{
    struct backend *b;
    struct world w;
    struct told t;

    (void)state;
    world_open(&w);
    b = backend_new(&w.env, world_server(&w, "a", USUAL));
    call_tool(&t, &w, b, "echo", "{}");
    told_free(&t);
    call_begin(&t, &w, b, "slow", "{}");
    world_run(&w, 20);
    backend_unref(b);
    world_run(&w, 50);
    assert_int_equal(world_logged(&w, "a", "eof"), 0);
    world_until(&w, &t.done, 5000);
    assert_int_equal(t.why.kind, ERR_NONE);
    assert_has(buf_z(&t.result), "late");
    told_free(&t);
    for (int i = 0; i < 500 && w.env.all; i++)
        world_run(&w, 10);
    assert_null(w.env.all);
    assert_int_equal(world_logged(&w, "a", "eof"), 1);
    world_close(&w);
}

/* MS-58: all in parallel, and nothing is started afterwards. */
static void shutdown_ends_all_and_starts_nothing(void **state)
{
    struct backend *b[6];
    struct told t[6], late;
    struct world w;
    int64_t from;

    (void)state;
    world_open(&w);
    for (int i = 0; i < 6; i++) {
        b[i] = backend_new(
            &w.env, world_server(&w, arena_printf(&w.a, "s%d", i),
                                 "{\"ignore_eof\":true,\"ignore_term\":true," TOOLS "}"));
        call_begin(&t[i], &w, b[i], "echo", "{}");
    }
    for (int i = 0; i < 6; i++)
        world_until(&w, &t[i].done, 20000);
    assert_int_equal(backends_running(&w.env), 6);
    from = clock_ms();
    backends_shutdown(&w.env, (struct child_ladder){ 100, 200 });
    while (backends_running(&w.env) && clock_ms() < from + 10000)
        world_run(&w, 5);
    assert_int_equal(backends_running(&w.env), 0);
    assert_true(clock_ms() - from < 400 * slack());
    call_begin(&late, &w, b[0], "echo", "{}");
    world_run(&w, 50);
    assert_int_equal(world_logged(&w, "s0", "start"), 1);
    backend_cancel(b[0], late.handle);
    assert_false(late.done);
    told_free(&late);
    for (int i = 0; i < 6; i++) {
        told_free(&t[i]);
        backend_unref(b[i]);
    }
    world_close(&w);
}

static bool has_env(const struct mcp_client_opts *o, const char *entry)
{
    for (const char *const *p = o->env; *p; p++)
        if (!strncmp(*p, entry, strlen(entry)))
            return true;
    return false;
}

/* MS-71 */
static void a_server_inherits_our_environment_but_what_is_ours_alone(void **state)
{
    struct active_server s = { .name = STR("a"), .cwd = STR("/tmp") };
    struct mcp_client_opts o;
    auto_arena a = ARENA;

    (void)state;
    setenv("SYMPOSIUM_HOME", "/home", 1);
    setenv("SYMPOSIUM_TASK_CHAIN", "x", 1);
    setenv("SYMPOSIUM_SECRET", "y", 1);
    setenv("META_TEST", "ours", 1);
    setenv("META_TEST_OTHER", "kept", 1);
    ARENA_PUSH(&a, &s.argv) = STR("prog");
    ARENA_PUSH(&a, &s.env) = (struct key_value){ STR("META_TEST"), STR("its own value") };
    launch_options(&a, &s, &o);
    assert_true(has_env(&o, "SYMPOSIUM_HOME=/home"));
    assert_true(has_env(&o, "SYMPOSIUM_TASK_CHAIN=x"));
    assert_false(has_env(&o, "SYMPOSIUM_SECRET"));
    assert_true(has_env(&o, "META_TEST=its own value"));
    assert_false(has_env(&o, "META_TEST=ours"));
    assert_true(has_env(&o, "META_TEST_OTHER=kept"));
    assert_string_equal(o.argv[0], "prog");
    assert_null(o.argv[1]);
    assert_string_equal(o.cwd, "/tmp");
    unsetenv("SYMPOSIUM_HOME");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(first_uses_share_one_start),
    cmocka_unit_test(a_fresh_cache_describes_without_starting),
    cmocka_unit_test(a_failed_start_tells_why_and_when_the_next_try_is),
    cmocka_unit_test(what_a_server_needs_is_installed_before_it_starts),
    cmocka_unit_test(a_failed_requirement_is_only_a_problem),
    cmocka_unit_test(a_program_that_cannot_be_installed_is_a_failed_start),
    cmocka_unit_test(an_installation_ends_with_its_server),
    cmocka_unit_test(acquiring_a_program_makes_no_other_server),
    cmocka_unit_test(a_call_waits_for_the_next_try_when_its_timeout_allows),
    cmocka_unit_test(too_many_failed_starts_are_final),
    cmocka_unit_test(a_crash_is_reported_and_never_repeated),
    cmocka_unit_test(crashes_are_budgeted_unless_the_connection_was_stable),
    cmocka_unit_test(a_timeout_or_cancel_leaves_the_server_alive),
    cmocka_unit_test(eight_servers_are_started_at_a_time_to_be_described),
    cmocka_unit_test(a_server_started_only_to_be_described_is_closed_again),
    cmocka_unit_test(a_changed_tool_is_a_problem_line_for_the_rest_of_the_session),
    cmocka_unit_test(many_changed_tools_are_counted),
    cmocka_unit_test(a_list_that_is_empty_now_is_a_problem),
    cmocka_unit_test(an_unchanged_list_is_not_written_again),
    cmocka_unit_test(the_same_program_is_told_by_five_things),
    cmocka_unit_test(a_retired_server_finishes_its_calls),
    cmocka_unit_test(shutdown_ends_all_and_starts_nothing),
    cmocka_unit_test(a_server_inherits_our_environment_but_what_is_ours_alone),
};

TEST_MAIN(tests)
