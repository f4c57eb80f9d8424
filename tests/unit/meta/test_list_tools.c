/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* list_tools (MS-16 to MS-22, MS-64, MS-65) over servers that are known from the cache. */
#include "support.h"

#include "loop/timer.h"
#include "meta/list_tools.h"

#define MAX_SERVERS 60

static const char fs_tools[] =
    "[{\"name\":\"read_file\",\"description\":\"Read the complete contents of a file.\\nSecond "
    "line\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}"
    "},"
    "\"required\":[\"path\"]},\"annotations\":{\"readOnlyHint\":true}},"
    "{\"name\":\"write-file\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":"
    "{\"type\":\"string\"}}}},"
    "{\"name\":\"list\",\"description\":\"" /* 80 characters would end within a word */
    "One two three four five six seven eight nine ten eleven twelve thirteen "
    "sixteen-and-more\","
    "\"outputSchema\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}]";
static const char git_tools[] =
    "[{\"name\":\"log\",\"description\":\"\\u001b[31mShow\\u202e the \\u200bfile history\"}]";

struct listed {
    struct world w;
    struct active_server *defs[MAX_SERVERS];
    size_t n;
    struct catalog *c;
    bool done;
    char *text;
    struct json args;
    struct list_query q;
    struct arena a;
};

static void on_done(void *ctx, struct str text)
{
    struct listed *l = ctx;

    assert_false(l->done);
    l->done = true;
    l->text = str_dup(text);
}

static void add(struct listed *l, const char *name, const char *tools)
{
    struct active_server *s = world_server(&l->w, name, "{\"tools\":[{\"name\":\"echo\"}]}");

    if (tools)
        world_cache(&l->w, s, tools);
    l->defs[l->n++] = s;
}

static void open_usual(struct listed *l)
{
    *l = (struct listed){ 0 };
    world_open(&l->w);
    add(l, "fs", fs_tools);
    add(l, "git-x", git_tools);
}

static struct listing *begin(struct listed *l, const char *args)
{
    struct error e;

    free(l->text);
    l->text = NULL;
    l->done = false;
    json_free(&l->args);
    if (!l->c)
        l->c = world_catalog(&l->w, l->defs, l->n, NULL);
    if (!json_parse(&l->args, str_of(args), &e) ||
        !list_query_read(&l->q, l->args.root, &l->a, &e))
        fail_msg("%s", e.msg);
    return list_tools_run(l->c, &l->q, on_done, l);
}

static const char *list(struct listed *l, const char *args)
{
    begin(l, args);
    world_until(&l->w, &l->done, 20000);
    return l->text;
}

static void list_close(struct listed *l)
{
    for (size_t i = 0; i < l->n; i++)
        assert_int_equal(world_logged(&l->w, l->defs[i]->name.p, "start"), 0); /* MS-19 */
    catalog_unref(l->c);
    world_close(&l->w);
    json_free(&l->args);
    arena_free(&l->a);
    free(l->text);
}

#define LINE_READ "read_file - Read the complete contents of a file."
#define LINE_LIST                                                            \
    "list - One two three four five six seven eight nine ten eleven twelve " \
    "thirteen\xe2\x80\xa6"
#define FULL_READ                                                  \
    "  /** Read the complete contents of a file. Second line */\n" \
    "  read_file(params: {\n    path: string;\n  }): Promise<unknown>;\n"

/* Each row: arguments and the whole answer. */
static void what_is_asked_is_answered(void **state)
{
    static const struct {
        const char *args, *want;
    } cases[] = {
        /* MS-16, MS-22: an index in the servers' own order; MS-65: cleaned */
        { "{}", "fs:\n  " LINE_READ "\n  write-file\n  " LINE_LIST
                "\ngit-x:\n  log - Show the file history" },
        { "{\"detail\":\"bogus\"}", "fs:\n  " LINE_READ "\n  write-file\n  " LINE_LIST
                                    "\ngit-x:\n  log - Show the file history" },
        { "{\"pattern\":\"*file\"}", "fs:\n  " LINE_READ "\n  write-file" },
        { "{\"pattern\":\"file\"}", "No tools matched." }, /* anchored at both ends */
        /* MS-17: naming raises the detail, an explicit one is respected */
        { "{\"tools\":[\"read_file\"]}", "declare const fs: {\n" FULL_READ "};" },
        { "{\"tools\":[\"fs.read_file\"],\"detail\":\"names\"}",
          "declare const fs: {\n" FULL_READ "};" },
        { "{\"tools\":[\"git-x.read_file\"]}", "No tools matched." },
        { "{\"servers\":[\"git_x\"]}",
          "declare const git_x: {\n  /** Show the file history */\n  log(): Promise<unknown>;\n"
          "};" },
        { "{\"servers\":[],\"tools\":null,\"query\":null,\"pattern\":\"log\"}",
          "git-x:\n  log - Show the file history" },
        /* MS-18 */
        { "{\"servers\":[\"fs\"],\"detail\":\"signatures\"}",
          "declare const fs: {\n  read_file(params: object): Promise<unknown>;\n"
          "  \"write-file\"(params?: object): Promise<unknown>;\n"
          "  /** Alias for write-file. */\n"
          "  write_file(params?: object): Promise<unknown>;\n"
          "  list(): Promise<string[]>;\n};" },
        { "{\"tools\":[\"write_file\"],\"detail\":\"signatures\"}", /* asked for by its alias */
          "declare const fs: {\n"
          "  \"write-file\"(params?: object): Promise<unknown>;\n"
          "  /** Alias for write-file. */\n"
          "  write_file(params?: object): Promise<unknown>;\n};" },
        /* MS-20 */
        { "{\"servers\":[\"nope\"]}",
          "No tools matched.\n\nProblems:\n  nope: no such server; available: fs, git-x" },
        { "{\"tools\":[\"nope\"]}", "No tools matched." },
        /* MS-64 */
        { "{\"query\":\"file\"}",
          "fs.write-file\nfs." LINE_READ "\ngit-x.log - Show the file history" },
        { "{\"query\":\"file\",\"limit\":1}", "fs.write-file" },
        { "{\"query\":\"write file\",\"limit\":1}", "fs.write-file" },
        { "{\"query\":\"history\",\"detail\":\"signatures\"}",
          "declare const git_x: {\n  log(): Promise<unknown>;\n};" },
        { "{\"query\":\"history read complete\",\"detail\":\"signatures\"}",
          "declare const fs: {\n  read_file(params: object): Promise<unknown>;\n};\n\n"
          "declare const git_x: {\n  log(): Promise<unknown>;\n};" },
        { "{\"query\":\"file\",\"servers\":[\"git-x\"],\"detail\":\"signatures\"}",
          "declare const git_x: {\n  log(): Promise<unknown>;\n};" },
        { "{\"query\":\"zebra\"}", "No tools matched." },
        { "{\"query\":\" \\t\",\"pattern\":\"log\"}", "git-x:\n  log - Show the file history" },
    };
    struct listed l;

    (void)state;
    open_usual(&l);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strcmp(list(&l, cases[i].args), cases[i].want))
            fail_msg("%s\n got: %s\nwant: %s", cases[i].args, l.text, cases[i].want);
    list_close(&l);
}

/* MS-7: a wrongly typed known key is an error that names it; unknown keys are ignored. */
static void arguments_are_checked(void **state)
{
    static const struct {
        const char *args, *error;
    } cases[] = {
        { "{\"servers\":\"fs\"}", "'servers' must be an array of strings, not string" },
        { "{\"servers\":[1]}", "'servers' must hold strings only, not number" },
        { "{\"tools\":{}}", "'tools' must be an array of strings, not object" },
        { "{\"pattern\":1}", "'pattern' must be a string" },
        { "{\"query\":[]}", "'query' must be a string" },
        { "{\"detail\":false}", "'detail' must be a string" },
        { "{\"limit\":\"9\"}", "'limit' must be an integer" },
        { "{\"limit\":1.5}", "'limit' must be an integer" },
        { "{\"unknown\":1,\"limit\":99}", NULL },
        { "{\"limit\":0}", NULL },
    };
    auto_arena a = ARENA;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json args = { 0 };
        struct list_query q;
        struct error e = { 0 };

        assert_true(json_parse(&args, str_of(cases[i].args), &e));
        assert_int_equal(list_query_read(&q, args.root, &a, &e), !cases[i].error);
        if (cases[i].error)
            assert_has(e.msg, cases[i].error);
        else
            assert_int_equal(q.limit, strstr(cases[i].args, "99") ? 50 : 1);
    }
}

/* MS-20, MS-21, MS-62: filters hide, and only an unnarrowed request is told. */
static void hidden_tools_are_counted(void **state)
{
    struct listed l;

    (void)state;
    open_usual(&l);
    l.w.env.read_only = true;
    assert_string_equal(list(&l, "{}"), "fs:\n  " LINE_READ
                                        "\n\nProblems:\n  git-x: no tools visible (1 hidden by "
                                        "filters)");
    assert_string_equal(list(&l, "{\"pattern\":\"log\"}"), "No tools matched.");
    assert_string_equal(list(&l, "{\"tools\":[\"list\"]}"), "No tools matched.");
    list_close(&l);
}

/* MS-8 */
static void without_servers_it_says_so(void **state)
{
    struct listed l = { 0 };

    (void)state;
    world_open(&l.w);
    assert_string_equal(list(&l, "{}"), "No MCP servers apply to this workspace.");
    ARENA_PUSH(&l.c->res->arena, &l.c->problems) = STR("plugin 'x': dormant");
    assert_string_equal(list(&l, "{\"servers\":[\"a\"]}"),
                        "No MCP servers apply to this workspace.\n\nProblems:\n  plugin 'x': "
                        "dormant");
    list_close(&l);
}

/* mcp.md 7.1: a tool that we cannot call is reported where it is listed, in every detail that
 * has room for it. */
static void a_tool_that_needs_a_task_is_listed_as_such(void **state)
{
    static const char tools[] = "[{\"name\":\"research\",\"description\":\"Looks far.\","
                                "\"execution\":{\"taskSupport\":\"required\"}}]";
    struct listed l = { 0 };

    (void)state;
    world_open(&l.w);
    add(&l, "far", tools);
    assert_string_equal(
        list(&l, "{}"),
        "far:\n  research (runs only as a task: cannot be called) - Looks far.");
    assert_string_equal(
        list(&l, "{\"detail\":\"full\"}"),
        "declare const far: {\n  /** Looks far. (runs only as a task: cannot be "
        "called here) */\n  research(): Promise<unknown>;\n};");
    list_close(&l);
}

static const char *many_tools(struct world *w, int n, size_t describe)
{
    auto_buf text = BUF((size_t)32 << 20);

    buf_addc(&text, '[');
    for (int i = 0; i < n; i++) {
        buf_addf(&text, "%s{\"name\":\"tool_%d\",\"description\":\"", i ? "," : "", i);
        buf_fill(&text, 'x', describe);
        buf_addz(&text, "\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}");
    }
    buf_addc(&text, ']');
    return arena_z(&w->a, buf_str(&text));
}

/* MS-16: over 6,000 bytes descriptions go, then names; the last line says what and how to ask.
 */
static void the_index_gets_coarser_to_stay_small(void **state)
{
    static const struct {
        int servers, tools;
        const char *begin, *last;
    } cases[] = {
        { 2, 20, "server_00:\n  tool_0 - xxx", "  tool_19 - " },
        { 10, 20, "server_00: tool_0, tool_1, ",
          "(descriptions left out: use query, or servers for declarations)" },
        { 50, 100, "server_00: 100 tools\nserver_01: 100 tools\n",
          "(tool names left out: use query to find tools, or servers to list some)" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct listed l = { 0 };
        const char *tools, *last;

        world_open(&l.w);
        tools = many_tools(&l.w, cases[i].tools, 60);
        for (int k = 0; k < cases[i].servers; k++)
            add(&l, arena_printf(&l.w.a, "server_%02d", k), tools);
        list(&l, "{}");
        assert_int_equal(strncmp(l.text, cases[i].begin, strlen(cases[i].begin)), 0);
        last = strrchr(l.text, '\n') + 1;
        assert_int_equal(strncmp(last, cases[i].last, strlen(cases[i].last)), 0);
        assert_true(strlen(l.text) <= LIST_INDEX_MAX + 100);
        list_close(&l);
    }
}

struct ticker {
    struct world *w;
    struct timer *t;
    int64_t last_us, worst_us;
};

static void on_tick(void *ctx)
{
    struct ticker *t = ctx;
    int64_t now = clock_us();

    if (t->last_us && now - t->last_us > t->worst_us)
        t->worst_us = now - t->last_us;
    t->last_us = now;
    timer_set(t->t, 1);
}

/* security.md 3.1: neither reading nor declaring thousands of tools stops the loop. */
static void a_large_inventory_does_not_stop_the_loop(void **state)
{
    struct listed l = { 0 };
    struct ticker t = { 0 };
    int64_t from = clock_us();

    (void)state;
    world_open(&l.w);
    for (int k = 0; k < 20; k++)
        add(&l, arena_printf(&l.w.a, "server_%02d", k), many_tools(&l.w, 100, 200));
    t = (struct ticker){ &l.w, timer_new(l.w.loop, on_tick, &t), 0, 0 };
    timer_set(t.t, 0);
    world_run(&l.w, 10);
    from = clock_us();
    list(&l, "{\"detail\":\"full\"}");
    assert_has(l.text, "declare const server_19: {");
    assert_has(l.text, "tool_99(params?: {\n    a?: string;\n  }): Promise<unknown>;");
    /* A stop is what one server or one slice costs, a small part of the whole. */
    assert_true(clock_us() - from < 40000 || t.worst_us < (clock_us() - from) / 2);
    timer_free(t.t);
    list_close(&l);
}

/* MS-76: a cancelled listing never answers; MS-19: servers already starting go on starting. */
static void a_cancelled_listing_ends_the_wait_alone(void **state)
{
    struct listed l = { 0 };
    struct backend *b;
    struct listing *run;

    (void)state;
    world_open(&l.w);
    add(&l, "cold", NULL);
    run = begin(&l, "{}");
    assert_non_null(run);
    b = l.c->v[0].backend;
    for (int i = 0; i < 1000 && backend_state(b) == BACKEND_COLD; i++)
        world_run(&l.w, 0);
    assert_false(l.done);
    list_tools_cancel(run);
    for (int i = 0; i < 1000 && backend_state(b) != BACKEND_READY; i++)
        world_run(&l.w, 10);
    assert_int_equal(backend_state(b), BACKEND_READY);
    assert_false(l.done);
    assert_string_equal(list(&l, "{}"), "cold:\n  echo");
    assert_int_equal(world_logged(&l.w, "cold", "start"), 1);
    l.n = 0;
    list_close(&l);
}

/* MS-19: one that fails is a problem line, the others still answer. */
static void a_server_that_fails_to_start_is_a_problem(void **state)
{
    struct listed l;

    (void)state;
    open_usual(&l);
    add(&l, "bad", NULL);
    l.defs[2]->argv.v[0] = STR("/no/such/program");
    list(&l, "{}");
    assert_has(l.text, "git-x:\n  log - ");
    assert_has(l.text, "\n\nProblems:\n  bad: start failed at spawn after ");
    list(&l, "{}"); /* in back-off: at once */
    assert_has(l.text, "  bad: next try in 1 s: start failed at spawn");
    list_close(&l);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_asked_is_answered),
    cmocka_unit_test(arguments_are_checked),
    cmocka_unit_test(hidden_tools_are_counted),
    cmocka_unit_test(without_servers_it_says_so),
    cmocka_unit_test(a_tool_that_needs_a_task_is_listed_as_such),
    cmocka_unit_test(the_index_gets_coarser_to_stay_small),
    cmocka_unit_test(a_large_inventory_does_not_stop_the_loop),
    cmocka_unit_test(a_cancelled_listing_ends_the_wait_alone),
    cmocka_unit_test(a_server_that_fails_to_start_is_a_problem),
};

TEST_MAIN(tests)
