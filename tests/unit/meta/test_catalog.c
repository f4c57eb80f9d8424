/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Script variables of servers (MS-12), and one inventory replacing another (MS-60). */
#include "support.h"

#define MAX_NAMES 6

static void put_line(void *ctx, struct str line)
{
    buf_addf(ctx, "%.*s\n", STR_F(line));
}

static const char *all_problems(struct world *w, const struct catalog *c)
{
    auto_buf text = BUF(LOG_MAX);

    catalog_put_problems(c, put_line, &text);
    return arena_z(&w->a, buf_str(&text));
}

/* MS-12: names as configured, variables in sorted order of names, and the problem lines. */
static void a_server_gets_a_variable_of_its_own(void **state)
{
    static const struct {
        const char *names[MAX_NAMES], *globals, *problems;
    } cases[] = {
        { { "fs", "git-hub", "my.server", "1password" },
          "_1password fs git_hub my_server",
          "" },
        { { "a_b", "a-b", "a.b" },
          "a_b a_b_2 a_b_3",
          "a.b: use the script variable a_b_2 (a_b is taken)\n"
          "a_b: use the script variable a_b_3 (a_b is taken)\n" },
        { { "a_b", "a-b", "a_b_2" },
          "a_b a_b_2 a_b_2_2",
          "a_b: use the script variable a_b_2 (a_b is taken)\n"
          "a_b_2: use the script variable a_b_2_2 (a_b_2 is taken)\n" },
        { { "JSON", "console", "delete" },
          "JSON_2 console_2 delete_2",
          "JSON: use the script variable JSON_2 (JSON is taken)\n"
          "console: use the script variable console_2 (console is taken)\n"
          "delete: use the script variable delete_2 (delete is taken)\n" },
        { { "URL", "results", "__proto__" },
          "URL_2 __proto___2 results_2",
          "URL: use the script variable URL_2 (URL is taken)\n"
          "__proto__: use the script variable __proto___2 (__proto__ is taken)\n"
          "results: use the script variable results_2 (results is taken)\n" },
        /* Absent in a script, so free (MS-34). */
        { { "fetch", "memory", "process", "shell" }, "fetch memory process shell", "" },
        { { "\xc3\xa4", "x y" }, "x_y __", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct active_server *defs[MAX_NAMES];
        auto_buf got = BUF(4096);
        struct catalog *c;
        struct world w;
        size_t n = 0;

        world_open(&w);
        for (; n < MAX_NAMES && cases[i].names[n]; n++) {
            defs[n] = world_server(&w, "x", "{}");
            defs[n]->name = str_of(cases[i].names[n]);
        }
        c = world_catalog(&w, defs, n, NULL);
        for (size_t k = 0; k < c->n; k++) {
            buf_addf(&got, "%s%.*s", k ? " " : "", STR_F(c->v[k].global));
            assert_ptr_equal(catalog_by_global(c, c->v[k].global), &c->v[k]);
            assert_ptr_equal(catalog_find(c, c->v[k].name), &c->v[k]);
        }
        assert_string_equal(buf_z(&got), cases[i].globals);
        assert_string_equal(all_problems(&w, c), cases[i].problems);
        catalog_unref(c);
        world_close(&w);
    }
}

/* By configured name first, else by variable. */
static void a_server_is_found_by_either_name(void **state)
{
    struct active_server *defs[2];
    struct catalog *c;
    struct world w;

    (void)state;
    world_open(&w);
    defs[0] = world_server(&w, "a-b", "{}");
    defs[1] = world_server(&w, "a_b", "{}");
    c = world_catalog(&w, defs, 2, NULL);
    assert_str(catalog_find(c, STR("a_b"))->name, "a_b");
    assert_str(catalog_by_global(c, STR("a_b"))->name, "a-b");
    assert_str(catalog_find(c, STR("a_b_2"))->name, "a_b");
    assert_null(catalog_find(c, STR("nobody")));
    catalog_unref(c);
    world_close(&w);
}

/* MS-60: servers that are the same programs keep running, others go, and who holds the old
 * inventory keeps its servers until it lets go. */
static void a_new_inventory_keeps_what_is_the_same(void **state)
{
    static const char script[] = "{\"tools\":[{\"name\":\"echo\"}]}";
    struct active_server *defs[3];
    struct catalog *old, *new;
    struct told t[2];
    struct world w;

    (void)state;
    world_open(&w);
    defs[0] = world_server(&w, "stays", script);
    defs[1] = world_server(&w, "goes", script);
    defs[2] = world_server(&w, "comes", script);
    old = world_catalog(&w, defs, 2, NULL);
    call_tool(&t[0], &w, catalog_find(old, STR("stays"))->backend, "echo", "{}");
    call_tool(&t[1], &w, catalog_find(old, STR("goes"))->backend, "echo", "{}");
    told_free(&t[0]);
    told_free(&t[1]);
    defs[1] = defs[2];
    new = world_catalog(&w, defs, 2, old);
    assert_ptr_equal(catalog_find(new, STR("stays"))->backend,
                     catalog_find(old, STR("stays"))->backend);
    catalog_ref(old); /* a running script */
    catalog_unref(old);
    call_tool(&t[0], &w, catalog_find(old, STR("goes"))->backend, "echo", "{}");
    assert_int_equal(t[0].why.kind, ERR_NONE);
    assert_int_equal(world_logged(&w, "goes", "eof"), 0);
    told_free(&t[0]);
    catalog_unref(old);
    for (int i = 0; i < 500 && backends_running(&w.env) > 1; i++)
        world_run(&w, 10);
    assert_int_equal(backends_running(&w.env), 1);
    assert_int_equal(world_logged(&w, "goes", "eof"), 1);
    call_tool(&t[0], &w, catalog_find(new, STR("stays"))->backend, "echo", "{}");
    call_tool(&t[1], &w, catalog_find(new, STR("comes"))->backend, "echo", "{}");
    assert_int_equal(t[0].why.kind, ERR_NONE);
    assert_int_equal(t[1].why.kind, ERR_NONE);
    assert_int_equal(world_logged(&w, "stays", "start"), 1);
    told_free(&t[0]);
    told_free(&t[1]);
    catalog_unref(new);
    world_close(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_server_gets_a_variable_of_its_own),
    cmocka_unit_test(a_server_is_found_by_either_name),
    cmocka_unit_test(a_new_inventory_keeps_what_is_the_same),
};

TEST_MAIN(tests)
