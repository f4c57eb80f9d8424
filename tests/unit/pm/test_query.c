/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "catalog.h"

#include "pm/query.h"

struct bench {
    struct catalogs c;
    bool everywhere, own;
    int timeout_ms;
    struct buf found, problems;
    int answers;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){ .found = BUF(1 << 20), .problems = BUF(1 << 20) };
    catalogs_set_up(&b->c);
}

static void tear_down(struct bench *b)
{
    buf_free(&b->found);
    buf_free(&b->problems);
    catalogs_tear_down(&b->c);
}

static struct query_opts opts(struct bench *b)
{
    return (struct query_opts){ .dirs = &b->c.dirs,
                                .config = &b->c.config,
                                .workspace = &b->c.workspace,
                                .everywhere = b->everywhere,
                                .timeout_ms = b->timeout_ms,
                                .pms = b->own ? NULL : b->c.pms };
}

static void take_problems(struct bench *b, const struct str *v, size_t n)
{
    buf_clear(&b->problems);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b->problems, "%.*s\n", STR_F(v[i]));
    b->answers++;
    loop_stop(b->c.loop);
}

static void on_hits(void *ctx, const struct query_found *found)
{
    struct bench *b = ctx;

    buf_clear(&b->found);
    for (size_t i = 0; i < found->n; i++)
        buf_addf(&b->found, "%.*s:%.*s:%.*s %.*s\n", STR_F(found->v[i].id.pm),
                 STR_F(found->v[i].id.name), STR_F(found->v[i].id.version),
                 STR_F(found->v[i].description));
    take_problems(b, found->problems, found->nproblems);
}

static void on_fetched(void *ctx, const struct fetched *found)
{
    struct bench *b = ctx;

    buf_clear(&b->found);
    for (size_t i = 0; i < found->n; i++)
        buf_addf(&b->found, "%.*s:%.*s:%.*s .%s\n", STR_F(found->v[i].id.pm),
                 STR_F(found->v[i].id.name), STR_F(found->v[i].id.version),
                 found->v[i].root + strlen(b->c.scratch.dir));
    take_problems(b, found->problems, found->nproblems);
}

static void on_refreshed(void *ctx, const struct strs *problems)
{
    take_problems(ctx, problems->v, problems->n);
}

static void wait_answer(struct bench *b, int before)
{
    assert_int_equal(b->answers, before); /* never from inside */
    run_until_stopped(b->c.loop, 12000);
    assert_int_equal(b->answers, before + 1);
}

static void search(struct bench *b, const char *words)
{
    struct query_opts o = opts(b);
    int before = b->answers;

    pm_search(b->c.loop, &o, str_of(words), on_hits, b);
    wait_answer(b, before);
}

static void fetch(struct bench *b, const char *pm, const char *name, const char *version,
                  enum update_level level)
{
    struct query_opts o = opts(b);
    struct package_id id = { str_of(pm), str_of(name), str_of(version) };
    int before = b->answers;

    pm_fetch(b->c.loop, &o, &id, level, on_fetched, b);
    wait_answer(b, before);
}

static void refresh(struct bench *b, enum update_level level, bool force)
{
    struct query_opts o = opts(b);
    int before = b->answers;

    pm_refresh(b->c.loop, &o, level, force, on_refreshed, b);
    wait_answer(b, before);
}

static void assert_text(struct buf *b, const char *want)
{
    assert_string_equal(buf_z(b), want);
}

#define HIT(pm, name, more) \
    "{\"id\":{\"pm\":\"" pm "\",\"name\":\"" name "\",\"version\":\"1.0.0\"}" more "}"
#define PACKAGE(pm, name, version, root)                                      \
    "{\"id\":{\"pm\":\"" pm "\",\"name\":\"" name "\",\"version\":\"" version \
    "\"},\"root\":\"" root "\"}"

/* PM-2, PM-3: both forms; one that does not offer it, or fails, costs only its own part (PM-8).
 */
static void search_asks_all_that_offer_it(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(
        &b.c, "a",
        "{\"search\":{\"result\":[" HIT("a", "one",
                                        ",\"description\":\"first\\n"
                                        "\\u001b[31mred\"") "," HIT("a", "two", "") "]}}");
    catalog_add(&b.c, "b",
                "{\"search\":{\"result\":{\"plugins\":[" HIT("b", "three", "") "]}}}");
    catalog_add(&b.c, "c", "{\"search\":{\"error\":-32601}}");
    catalog_add(&b.c, "d", "{\"search\":{\"do\":\"die\"}}");
    catalog_add(&b.c, "e", "{\"search\":{\"error\":-32004}}");
    catalog_add(&b.c, "npm", "{\"search\":{\"result\":[" HIT("npm", "four", "") "]}}");
    search(&b, "wor\"ds");
    assert_has(buf_z(&b.found), "a:one:1.0.0 first");
    assert_null(strchr(buf_z(&b.found), '\033'));
    assert_has(buf_z(&b.found), "a:two:1.0.0 \nb:three:1.0.0 \n");
    assert_null(strstr(buf_z(&b.found), "npm"));
    assert_has(buf_z(&b.problems), "package manager 'd': exited with status 3");
    assert_has(buf_z(&b.problems), "authentication required: because");
    assert_null(strstr(buf_z(&b.problems), "'c'"));
    assert_has(catalog_log(&b.c, "a"), "search {\"query\":\"wor\\\"ds\"}");
    b.everywhere = true;
    search(&b, "x");
    assert_has(buf_z(&b.found), "npm:four");
    tear_down(&b);
}

static void a_searchs_answer_is_checked_and_bounded(void **state)
{
    auto_buf many = BUF(1 << 20);
    struct bench b;

    set_up(&b);
    buf_addz(&many, "{\"search\":{\"result\":[7," HIT("b", "not-mine", "") ",");
    for (int i = 0; i < QUERY_MAX_HITS + 5; i++)
        buf_addf(&many, "%s" HIT("a", "p%d", ""), i ? "," : "", i);
    buf_addz(&many, "]}}");
    catalog_add(&b.c, "a", buf_z(&many));
    search(&b, "p");
    assert_has(buf_z(&b.found), "a:p99:1.0.0");
    assert_null(strstr(buf_z(&b.found), "a:p100:"));
    assert_null(strstr(buf_z(&b.found), "not-mine"));
    assert_has(buf_z(&b.problems), "malformed ids");
    catalog_write(&b.c, "a", "{\"search\":{\"result\":7}}");
    search(&b, "p");
    assert_text(&b.found, "");
    assert_text(&b.problems, "package manager 'a': search: the answer is no list\n");
    tear_down(&b);
}

/* PM-2, PM-7: the exact version and a checked root; `update` is passed on. */
static void fetch_gives_a_checked_root(void **state)
{
    static const struct {
        const char *result, *problem;
    } bad[] = {
        { "7", "the answer has no id with an exact version" },
        { PACKAGE("b", "w", "1.0.0", "@/w"), "the answer has no id with an exact version" },
        { PACKAGE("a", "v", "1.0.0", "@/w"),
          "it answers with 'a:v 1.0.0', which is not 'w ^1'" },
        { PACKAGE("a", "w", "2.0.0", "@/w"),
          "it answers with 'a:w 2.0.0', which is not 'w ^1'" },
        { PACKAGE("a", "w", "1.0.0", "/"), "is the whole system" },
        { PACKAGE("a", "w", "1.0.0", "w"), "is no absolute path" },
        { PACKAGE("a", "w", "1.0.0", "@/w/../w"), "holds '..'" },
        { PACKAGE("a", "w", "1.0.0", "@/gone"), "is not there" },
        { "{\"id\":{\"pm\":\"a\",\"name\":\"w\",\"version\":\"1.0.0\"}}",
          "is no absolute path" },
    };
    struct bench b;

    set_up(&b);
    scratch_write(&b.c.scratch, "w/x", "");
    catalog_add(&b.c, "a",
                "{\"fetch\":{\"w\":{\"result\":" PACKAGE("a", "w", "1.2.3", "@/w") "}}}");
    catalog_add(&b.c, "b", "{}");
    fetch(&b, "", "w", "^1", UPDATE_CHECK);
    assert_text(&b.found, "a:w:1.2.3 ./w\n");
    assert_text(&b.problems, ""); /* that b knows nothing does not matter */
    assert_has(catalog_log(&b.c, "a"), "fetch {\"id\":{\"pm\":\"a\",\"name\":\"w\",\"version\":"
                                       "\"^1\"},\"update\":\"check\"}");
    assert_has(catalog_log(&b.c, "b"), "\"pm\":\"b\"");
    fetch(&b, "a", "w", "", UPDATE_FETCH);
    assert_text(&b.found, "a:w:1.2.3 ./w\n");
    assert_has(catalog_log(&b.c, "a"), "\"version\":\"*\"},\"update\":\"fetch\"}");
    assert_string_equal(catalog_log(&b.c, "b"), "");
    fetch(&b, "", "nothing", "", UPDATE_NONE);
    assert_text(&b.found, "");
    assert_has(buf_z(&b.problems), "package manager 'a': fetch: found nothing: because");
    assert_has(buf_z(&b.problems), "package manager 'b': fetch: found nothing: because");
    fetch(&b, "z", "w", "", UPDATE_NONE);
    assert_text(&b.problems, "package manager 'z' is not set up\n");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        catalog_write(&b.c, "a",
                      arena_printf(&b.c.scratch.arena, "{\"fetch\":{\"w\":{\"result\":%s}}}",
                                   bad[i].result));
        fetch(&b, "", "w", "^1", UPDATE_NONE);
        assert_text(&b.found, "");
        assert_has(buf_z(&b.problems), bad[i].problem);
    }
    tear_down(&b);
}

/* PM-5: of a tool that is missing it is told when nobody knows, or the workspace speaks of it.
 */
static void a_missing_tool_is_told_where_it_matters(void **state)
{
    struct bench b;

    set_up(&b);
    b.everywhere = true;
    scratch_write(&b.c.scratch, "w/x", "");
    catalog_add(&b.c, "npm",
                "{\"search\":{\"result\":[" HIT("npm", "one",
                                                "") "]},"
                                                    "\"fetch\":{\"w\":{\"result\":" PACKAGE(
                                                        "npm", "w", "1.0.0", "@/w") "}}}");
    catalog_add(&b.c, "cargo",
                "{\"search\":{\"error\":-32005},\"fetch\":{\"w\":{\"error\":"
                "-32005},\"v\":{\"error\":-32005}}}");
    search(&b, "x");
    assert_text(&b.problems, "");
    fetch(&b, "", "w", "", UPDATE_CHECK);
    assert_text(&b.problems, "");
    fetch(&b, "", "v", "", UPDATE_CHECK);
    assert_has(buf_z(&b.problems), "'cargo': fetch: a program is missing: because");
    b.c.workspace.cargo = true;
    search(&b, "x");
    assert_has(buf_z(&b.found), "npm:one");
    assert_has(buf_z(&b.problems), "'cargo': search: a program is missing: because");
    catalog_write(&b.c, "npm", "{\"search\":{\"error\":-32001}}");
    search(&b, "x");
    assert_has(buf_z(&b.problems), "'npm': search: found nothing: because");
    tear_down(&b);
}

static void refresh_passes_level_and_force_on(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(&b.c, "a", "{\"refresh\":{\"result\":{\"refreshed\":true}}}");
    catalog_add(&b.c, "b", "{\"refresh\":{\"error\":-32601}}");
    catalog_add(&b.c, "c", "{\"refresh\":{\"do\":\"garbage\"}}");
    refresh(&b, UPDATE_FETCH, true);
    assert_has(catalog_log(&b.c, "a"), "refresh {\"update\":\"fetch\",\"force\":true}");
    assert_has(buf_z(&b.problems), "package manager 'c': malformed answer");
    assert_null(strstr(buf_z(&b.problems), "'b'"));
    tear_down(&b);
}

/* A query without a set starts its own processes, and none is left when it answers. */
static void a_query_of_its_own_ends_what_it_started(void **state)
{
    struct bench b;

    set_up(&b);
    b.own = true;
    catalog_add(&b.c, "a", "{\"search\":{\"result\":[" HIT("a", "one", "") "]}}");
    search(&b, "x");
    assert_text(&b.found, "a:one:1.0.0 \n");
    b.timeout_ms = 200;
    catalog_write(&b.c, "a", "{\"search\":{\"do\":\"silent\"}}");
    search(&b, "x");
    assert_has(buf_z(&b.problems), "package manager 'a': ");
    tear_down(&b);

    set_up(&b); /* no package manager at all */
    b.own = true;
    search(&b, "x");
    assert_text(&b.found, "");
    assert_text(&b.problems, "");
    tear_down(&b);
}

static void on_never(void *ctx, const struct query_found *found)
{
    fail_msg("called");
}

static void a_cancelled_query_is_never_answered(void **state)
{
    struct bench b;

    for (int own = 0; own < 2; own++) {
        struct query_opts o;
        struct pm_query *q;

        set_up(&b);
        b.own = own;
        catalog_add(&b.c, "a", "{\"search\":{\"result\":[]}}");
        o = opts(&b);
        q = pm_search(b.c.loop, &o, STR("x"), on_never, NULL);
        pm_query_cancel(q);
        run_for(b.c.loop, 200);
        tear_down(&b);
    }
    pm_query_cancel(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_asks_all_that_offer_it),
        cmocka_unit_test(a_searchs_answer_is_checked_and_bounded),
        cmocka_unit_test(fetch_gives_a_checked_root),
        cmocka_unit_test(a_missing_tool_is_told_where_it_matters),
        cmocka_unit_test(refresh_passes_level_and_force_on),
        cmocka_unit_test(a_query_of_its_own_ends_what_it_started),
        cmocka_unit_test(a_cancelled_query_is_never_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
