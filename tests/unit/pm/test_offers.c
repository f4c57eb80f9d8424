/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "catalog.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/offer.h"
#include "pm/offers.h"
#include "pm/offers_cache.h"

struct bench {
    struct catalogs c;
    struct deps deps;
    enum update_level level;
    bool read_only, local;
    int timeout_ms;
    struct buf offers, problems, watch; /* of the last answer */
    bool degraded;
    int answers;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){ .offers = BUF(1 << 20),
                         .problems = BUF(1 << 20),
                         .watch = BUF(1 << 20) };
    catalogs_set_up(&b->c);
}

static void tear_down(struct bench *b)
{
    buf_free(&b->offers);
    buf_free(&b->problems);
    buf_free(&b->watch);
    catalogs_tear_down(&b->c);
}

static void depend(struct bench *b, const char *pm, const char *name, const char *version)
{
    ARENA_PUSH(&b->c.scratch.arena, &b->deps) =
        (struct dep){ str_of(pm), str_of(name), str_of(version) };
}

static void on_answer(void *arg, const struct package_offers *found)
{
    struct bench *b = arg;

    buf_clear(&b->offers);
    buf_clear(&b->problems);
    buf_clear(&b->watch);
    for (size_t i = 0; i < found->n; i++) {
        const struct package_offer *o = &found->v[i];
        const char *dir = b->c.scratch.dir;

        buf_addf(&b->offers, "%.*s:%.*s:%.*s", STR_F(o->id.pm), STR_F(o->id.name),
                 STR_F(o->id.version));
        if (str_starts(o->root, str_of(dir)))
            buf_addf(&b->offers, " .%.*s", STR_F(str_from(o->root, strlen(dir))));
        if (o->manifest) {
            buf_addc(&b->offers, ' ');
            json_put_val(&b->offers, o->manifest);
        }
        buf_addc(&b->offers, '\n');
    }
    for (size_t i = 0; i < found->nproblems; i++)
        buf_addf(&b->problems, "%.*s\n", STR_F(found->problems[i]));
    for (size_t i = 0; i < found->nwatch; i++)
        buf_addf(&b->watch, "%.*s\n", STR_F(found->watch[i]));
    b->degraded = found->degraded;
    b->answers++;
    loop_stop(b->c.loop);
}

static struct offers *open_offers(struct bench *b)
{
    struct offers_opts o = { .dirs = &b->c.dirs,
                             .config = &b->c.config,
                             .workspace = &b->c.workspace,
                             .write_cache = !b->read_only,
                             .level = b->level,
                             .timeout_ms = b->timeout_ms,
                             .pms = b->c.pms };

    return offers_new(b->c.loop, &o);
}

static void wait_answer(struct bench *b, int before)
{
    assert_int_equal(b->answers, before); /* never from inside */
    run_until_stopped(b->c.loop, 12000);
    assert_int_equal(b->answers, before + 1);
}

/* active_plugins, as one resolution asks it. */
static void ask(struct bench *b)
{
    struct offers *o = open_offers(b);
    const struct package_source *s = offers_source(o);
    int before = b->answers;

    s->offers(s->ctx, &b->deps, on_answer, b);
    wait_answer(b, before);
    offers_save(o);
    offers_free(o);
}

static void load(struct bench *b, const char *pm, const char *name, const char *version)
{
    struct offers *o = open_offers(b);
    const struct package_source *s = offers_source(o);
    struct package_id id = { str_of(pm), str_of(name), str_of(version) };
    int before = b->answers;

    s->load(s->ctx, &id, b->local, on_answer, b);
    wait_answer(b, before);
    offers_save(o);
    offers_free(o);
}

static void assert_text(const struct buf *b, const char *want)
{
    struct buf copy = *b;

    assert_string_equal(copy.n ? copy.p : "", want);
}

static void assert_offers(struct bench *b, const char *want)
{
    if (strcmp(buf_z(&b->offers), want) != 0)
        fail_msg("'%s' instead of '%s' (%s)", buf_z(&b->offers), want, buf_z(&b->problems));
}

static bool started(struct bench *b, const char *pm)
{
    return strstr(catalog_log(&b->c, pm), "start") != NULL;
}

static void make_old(struct bench *b, const char *name)
{
    struct timespec past[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    assert_int_equal(utimensat(AT_FDCWD, scratch_path(&b->c.scratch, name), past, 0), 0);
}

/* A package's directory that has been there for long. */
static void old_package(struct bench *b, const char *name)
{
    struct arena *a = &b->c.scratch.arena;

    scratch_write(&b->c.scratch, arena_printf(a, "%s/SYMPOSIUM.toml", name), "");
    make_old(b, arena_printf(a, "%s/SYMPOSIUM.toml", name));
    make_old(b, name);
}

#define OFFER(pm, name, version, root)                                        \
    "{\"id\":{\"pm\":\"" pm "\",\"name\":\"" name "\",\"version\":\"" version \
    "\"},\"root\":\"" root "\"}"
#define W_1 OFFER("a", "w", "1.0.0", "@/w")

/* ---- questions and answers ---- */

/* PM-2, PM-3: both forms, `label_root` and other members ignored; dependencies of all package
 * managers are sent (PL-34). */
static void both_forms_of_an_answer_count(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(&b.c, "a",
                "{\"active_plugins\":{\"result\":[{\"id\":{\"pm\":\"a\",\"name\":\"w\","
                "\"version\":\"1.0.0\"},\"root\":\"@/w\",\"manifest\":{\"name\":\"x\"},"
                "\"trusted\":true}]}}");
    catalog_add(&b.c, "b",
                "{\"active_plugins\":{\"result\":{\"offers\":[{\"id\":{\"pm\":\"b\",\"name\":"
                "\"v\",\"version\":\"2\"},\"root\":\"@/v\",\"label_root\":\"x\","
                "\"manifest\":null}],\"watch\":[\"state\",\"/abs\"]}}}");
    depend(&b, "a", "w", "1.0.0");
    depend(&b, "b", "v", "2");
    ask(&b);
    assert_offers(&b, "a:w:1.0.0 ./w {\"name\":\"x\"}\nb:v:2 ./v\n");
    assert_text(&b.problems, "");
    assert_false(b.degraded);
    assert_has(catalog_log(&b.c, "b"),
               "active_plugins {\"deps\":[{\"pm\":\"a\",\"name\":\"w\",\"version\":\"1.0.0\"},"
               "{\"pm\":\"b\",\"name\":\"v\",\"version\":\"2\"}]}");
    /* MS-60 */
    assert_has(buf_z(&b.watch), "/root/state\n");
    assert_has(buf_z(&b.watch), "\n/abs\n");
    assert_has(buf_z(&b.watch), "/w/SYMPOSIUM.toml\n");
    assert_has(buf_z(&b.watch), "/config/config.toml\n");
    tear_down(&b);
}

static void a_package_is_asked_for_by_name(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(&b.c, "a",
                "{\"load_plugin\":{\"w\":{\"result\":[" W_1
                "]},\"w ^2\":{\"result\":{\"offers\":[" OFFER(
                    "a", "w", "2.0.0", "@/w2") "]}},\"none\":{\"result\":[]}}}");
    catalog_add(&b.c, "b",
                "{\"load_plugin\":{\"w\":{\"result\":[" OFFER("b", "w", "7", "@/bw") "]}}}");
    load(&b, "a", "w", "");
    assert_offers(&b, "a:w:1.0.0 ./w\n");
    assert_text(&b.problems, "");
    assert_has(catalog_log(&b.c, "a"),
               "load_plugin "
               "{\"id\":{\"pm\":\"a\",\"name\":\"w\",\"version\":\"*\"},\"update\":\"none\"}");
    load(&b, "a", "w", "^2");
    assert_offers(&b, "a:w:2.0.0 ./w2\n");
    /* an empty answer is no error (PM-2), and says that there is nothing */
    load(&b, "a", "none", "");
    assert_offers(&b, "");
    assert_text(&b.problems, "package manager 'a': it has no plugin there\n");
    assert_false(b.degraded);
    load(&b, "a", "unknown", "");
    assert_has(buf_z(&b.problems), "package manager 'a': load_plugin: found nothing: because");
    assert_false(b.degraded);
    assert_false(started(&b, "b"));
    /* any: each is asked for its own; who does not know it does not matter */
    load(&b, "", "w", "");
    assert_offers(&b, "a:w:1.0.0 ./w\nb:w:7 ./bw\n");
    assert_text(&b.problems, "");
    assert_has(catalog_log(&b.c, "b"), "{\"id\":{\"pm\":\"b\",\"name\":\"w\"");
    load(&b, "", "unknown", "");
    assert_text(&b.problems, "no package manager here knows it\n");
    load(&b, "z", "w", "");
    assert_text(&b.problems, "package manager 'z' is not set up; add a [[package-manager]] to "
                             "config.toml\n");
    tear_down(&b);
}

/* PL-10: an edge may name a package manager that no manifest of the workspace speaks of. */
static void a_package_managers_absence_from_the_workspace_is_no_obstacle(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(
        &b.c, "npm",
        "{\"active_plugins\":{\"do\":\"die\"},\"load_plugin\":{\"w\":{\"result\":[" OFFER(
            "npm", "w", "1.0.0", "@/w") "]}}}");
    ask(&b);
    assert_false(started(&b, "npm"));
    load(&b, "npm", "w", "");
    assert_offers(&b, "npm:w:1.0.0 ./w\n");
    tear_down(&b);
}

/* What is malformed is dropped, the rest counts. */
static void malformed_offers_are_dropped(void **state)
{
    static const char *const bad[] = {
        "7",
        "null",
        "{}",
        OFFER("b", "w", "1.0.0", "@/w"), /* not its to give */
        OFFER("a", "", "1.0.0", "@/w"),
        OFFER("a", "w", "", "@/w"),
        OFFER("a", "w", "*", "@/w"), /* PM-2: exact */
        OFFER("a", "w", "^1.0.0", "@/w"),
        OFFER("a", "../../evil", "1.0.0", "@/w"),
        OFFER("a", "/etc", "1.0.0", "@/w"),
        OFFER("a", "a//b", "1.0.0", "@/w"),
        OFFER("a", "a/./b", "1.0.0", "@/w"),
        OFFER("a", "a/", "1.0.0", "@/w"),
        OFFER("a", "..", "1.0.0", "@/w"),
        OFFER("a", "w\\u001b[31m", "1", "@/w"),
        OFFER("a", "w", "1\\n2", "@/w"),
        OFFER("a", "w", "1.0.0", ""),
        "{\"id\":{\"pm\":\"a\",\"name\":\"w\",\"version\":\"1\"}}",
        "{\"id\":\"a:w:1\",\"root\":\"@/w\"}",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct bench b;

        set_up(&b);
        catalog_add(&b.c, "a",
                    arena_printf(&b.c.scratch.arena,
                                 "{\"active_plugins\":{\"result\":[%s," W_1 "]}}", bad[i]));
        depend(&b, "a", "w", "1.0.0");
        ask(&b);
        assert_offers(&b, "a:w:1.0.0 ./w\n");
        assert_text(&b.problems,
                    "package manager 'a': active_plugins: 1 malformed offers dropped\n");
        tear_down(&b);
    }
}

static void no_list_is_no_answer(void **state)
{
    static const char *const results[] = { "7", "\"x\"", "{}", "{\"offers\":7}",
                                           "{\"plugins\":[]}" };

    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        struct bench b;

        set_up(&b);
        catalog_add(&b.c, "a",
                    arena_printf(&b.c.scratch.arena, "{\"active_plugins\":{\"result\":%s}}",
                                 results[i]));
        ask(&b);
        assert_offers(&b, "");
        assert_has(buf_z(&b.problems), "not a list");
        assert_true(b.degraded);
        tear_down(&b);
    }
}

/* Every ceiling, and that what is below it stays. */
static void an_answer_has_its_ceilings(void **state)
{
    auto_buf many = BUF((size_t)16 << 20);
    auto_buf big = BUF((size_t)2 << 20);
    struct bench b;

    set_up(&b);
    buf_addz(&many, "{\"active_plugins\":{\"result\":[");
    for (int i = 0; i < OFFERS_MAX + 3; i++)
        buf_addf(&many, "%s" OFFER("a", "p%d", "1", "/r"), i ? "," : "", i);
    buf_addz(&many, "]}}");
    catalog_add(&b.c, "a", buf_z(&many));
    ask(&b);
    assert_has(buf_z(&b.problems), "more than 4096 offers");
    assert_has(buf_z(&b.offers), "a:p4095:1\n");
    assert_null(strstr(buf_z(&b.offers), "a:p4096:1\n"));
    tear_down(&b);

    set_up(&b);
    buf_addz(&big, "{\"active_plugins\":{\"result\":[" W_1
                   ",{\"id\":{\"pm\":\"a\",\"name\":\"fat\",\"version\":\"1\"},\"root\":\"/r\","
                   "\"manifest\":{\"name\":\"");
    for (size_t i = 0; i < OFFER_MAX_MANIFEST; i++)
        buf_addc(&big, 'x');
    buf_addz(&big, "\"}}]}}");
    catalog_add(&b.c, "a", buf_z(&big));
    ask(&b);
    assert_offers(&b, "a:w:1.0.0 ./w\n");
    assert_has(buf_z(&b.problems), "1 malformed offers dropped");
    tear_down(&b);
}

/* ---- failures ---- */

/* PM-8: whatever one does, the others count, nothing is aborted, nothing is kept as the truth.
 */
static void a_failing_package_manager_costs_only_its_own_part(void **state)
{
    static const struct {
        const char *how, *says;
    } cases[] = {
        { "die", "exited with status 3: last words" },
        { "kill", "ended by signal 9" },
        { "half", "malformed answer" },
        { "garbage", "malformed answer" },
        { "wrong-id", "answered a request that was not made" },
        { "long", "line of more than" },
        { "silent", "no answer" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int loading = 0; loading < 2; loading++) {
            struct bench b;
            struct arena *a;

            set_up(&b);
            a = &b.c.scratch.arena;
            b.timeout_ms = strcmp(cases[i].how, "silent") == 0 ? 300 : 0;
            catalog_add(&b.c, "a",
                        arena_printf(a,
                                     "{\"active_plugins\":{\"do\":\"%s\"},\"load_plugin\":{"
                                     "\"w\":{\"do\":\"%s\"}}}",
                                     cases[i].how, cases[i].how));
            catalog_add(
                &b.c, "b",
                "{\"active_plugins\":{\"result\":[" OFFER(
                    "b", "w", "1",
                    "@/w") "]},\"load_plugin\":{\"w\":{\"result\":[" OFFER("b", "w", "1",
                                                                           "@/w") "]}}}");
            if (loading)
                load(&b, "", "w", "");
            else
                ask(&b);
            assert_offers(&b, "b:w:1 ./w\n");
            assert_true(b.degraded);
            assert_has(buf_z(&b.problems), "package manager 'a': ");
            if (b.timeout_ms == 0)
                assert_has(buf_z(&b.problems), cases[i].says);
            assert_false(file_exists(offers_cache_path(a, b.c.dirs.cache, b.c.workspace.root)));
            tear_down(&b);
        }
    }
}

/* SEC-48, PM-6 */
static void an_impostor_is_refused(void **state)
{
    static const char *const hellos[] = {
        "{\"protocol_version\":1,\"name\":\"other\"}",
        "{\"protocol_version\":999,\"name\":\"a\"}",
        "{\"name\":\"a\"}",
        "7",
    };

    for (size_t i = 0; i < ARRAY_LEN(hellos); i++) {
        struct bench b;

        set_up(&b);
        catalog_add(
            &b.c, "a",
            arena_printf(&b.c.scratch.arena,
                         "{\"initialize\":{\"result\":%s},\"active_plugins\":{\"result\":[" W_1
                         "]}}",
                         hellos[i]));
        ask(&b);
        assert_offers(&b, "");
        assert_has(buf_z(&b.problems), "package manager 'a': refused");
        assert_null(strstr(catalog_log(&b.c, "a"), "active_plugins"));
        tear_down(&b);
    }
}

/* PM-5: what each code means here. */
static void each_error_code_has_its_meaning(void **state)
{
    static const struct {
        int code;
        const char *of_all, *of_one; /* problems of active_plugins, of load_plugin */
        bool degraded;
    } cases[] = {
        { -32601, "", "does not offer it", false },
        { -32001, "", "found nothing: because", false },
        { -32003, "invalid input: because", "invalid input: because", false },
        { -32004, "authentication required: because", "authentication required: because",
          true },
        { -32602, "refused: because", "refused: because", true },
        { -1, "refused: because", "refused: because", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up(&b);
        catalog_add(&b.c, "a",
                    arena_printf(&b.c.scratch.arena,
                                 "{\"active_plugins\":{\"error\":%d},\"load_plugin\":{\"w\":{"
                                 "\"error\":%d}}}",
                                 cases[i].code, cases[i].code));
        ask(&b);
        assert_int_equal(b.problems.n == 0, *cases[i].of_all == '\0');
        assert_has(buf_z(&b.problems), cases[i].of_all);
        assert_int_equal(b.degraded, cases[i].degraded);
        load(&b, "a", "w", "");
        assert_has(buf_z(&b.problems), cases[i].of_one);
        assert_int_equal(b.degraded, cases[i].degraded);
        tear_down(&b);
    }
}

/* PM-5: the network is tried four times, then what is known counts. */
static void without_network_what_was_known_before_counts(void **state)
{
    struct bench b;
    const char *log;
    int calls = 0;

    set_up(&b);
    old_package(&b, "w");
    catalog_add(&b.c, "a", "{\"load_plugin\":{\"w\":{\"result\":[" W_1 "]}}}");
    load(&b, "a", "w", "");
    assert_offers(&b, "a:w:1.0.0 ./w\n");
    catalog_log(&b.c, "a");
    catalog_write(&b.c, "a", "{\"load_plugin\":{\"w\":{\"error\":-32002}}}");
    scratch_write(&b.c.scratch, "config/config.toml", "# changed\n"); /* no longer fresh */
    catalogs_new_run(&b.c);
    load(&b, "a", "w", "");
    assert_offers(&b, "a:w:1.0.0 ./w\n");
    assert_true(b.degraded);
    assert_has(buf_z(&b.problems), "the network failed");
    assert_has(buf_z(&b.problems), "what was known before is used");
    log = catalog_log(&b.c, "a");
    while ((log = strstr(log, "load_plugin")))
        calls++, log++;
    assert_int_equal(calls, 1 + PM_NETWORK_RETRIES);
    /* nothing known: nothing */
    catalog_write(&b.c, "a", "{\"load_plugin\":{\"v\":{\"error\":-32002}}}");
    load(&b, "a", "v", "");
    assert_offers(&b, "");
    assert_true(b.degraded);
    tear_down(&b);
}

/* PM-5: a tool that is missing says nothing about the package: nothing is kept, and it is told
 * unless another package manager knows it. */
static void a_missing_tool_is_no_answer(void **state)
{
    struct bench b;

    set_up(&b);
    old_package(&b, "w");
    catalog_add(&b.c, "a", "{\"load_plugin\":{\"w\":{\"result\":[" W_1 "]}}}");
    catalog_add(&b.c, "b",
                "{\"load_plugin\":{\"w\":{\"error\":-32005},\"v\":{\"error\":-32005}}}");
    load(&b, "", "w", "");
    assert_offers(&b, "a:w:1.0.0 ./w\n");
    assert_false(b.degraded);
    assert_null(strstr(buf_z(&b.problems), "missing"));
    load(&b, "", "v", "");
    assert_offers(&b, "");
    assert_true(b.degraded);
    assert_has(buf_z(&b.problems), "'b': load_plugin: a program is missing: because");
    load(&b, "b", "w", "");
    assert_offers(&b, "");
    assert_true(b.degraded);
    tear_down(&b);
}

/* PM-9: one process for all questions of a run; once dead it stays dead. */
static void a_dead_process_is_not_started_again(void **state)
{
    struct bench b;
    const char *log;

    set_up(&b);
    catalog_add(&b.c, "a",
                "{\"active_plugins\":{\"result\":[]},\"load_plugin\":{\"w\":{\"do\":"
                "\"die\"}}}");
    b.read_only = true;
    ask(&b);
    ask(&b);
    load(&b, "a", "w", "");
    load(&b, "a", "w", "");
    ask(&b);
    assert_true(b.degraded);
    log = strstr(catalog_log(&b.c, "a"), "start");
    assert_non_null(log);
    assert_null(strstr(log + 1, "start"));
    tear_down(&b);
}

static void a_program_that_is_not_there_is_a_problem(void **state)
{
    struct bench b;

    set_up(&b);
    catalog_add(&b.c, "a", "{}");
    b.c.config.pms.v[0].how.executable = STR("no-such-program");
    ask(&b);
    assert_true(b.degraded);
    assert_has(buf_z(&b.problems), "package manager 'a': 'no-such-program' is not in PATH");
    load(&b, "a", "w", "");
    assert_has(buf_z(&b.problems), "'no-such-program'");
    load(&b, "", "w", ""); /* nobody asked for that one */
    assert_text(&b.problems, "no package manager here knows it\n");
    tear_down(&b);
}

/* ---- the cache: CF-5, MS-2 ---- */

static void ask_everything(struct bench *b)
{
    struct offers *o = open_offers(b);
    const struct package_source *s = offers_source(o);
    struct package_id known = { STR("a"), STR("w"), STR("^1") },
                      unknown = { STR("a"), STR("v"), { 0 } };
    auto_buf all = BUF(1 << 16);
    int before = b->answers;

    s->offers(s->ctx, &b->deps, on_answer, b);
    wait_answer(b, before);
    buf_add(&all, buf_str(&b->offers));
    s->load(s->ctx, &known, b->local, on_answer, b);
    wait_answer(b, before + 1);
    buf_add(&all, buf_str(&b->offers));
    s->load(s->ctx, &unknown, b->local, on_answer, b);
    wait_answer(b, before + 2);
    buf_add(&all, buf_str(&b->problems));
    buf_clear(&b->offers);
    buf_add(&b->offers, buf_str(&all));
    offers_save(o);
    offers_free(o);
    catalogs_new_run(&b->c);
}

#define EVERYTHING                                                                            \
    "a:w:1.0.0 ./w {\"name\":\"n\"}\na:w:1.0.0 ./w\npackage manager 'a': load_plugin: found " \
    "nothing: because (code -32001)\n"

static void set_up_cached(struct bench *b)
{
    set_up(b);
    old_package(b, "w");
    scratch_write(&b->c.scratch, "root/state", "");
    make_old(b, "root/state");
    catalog_add(
        &b->c, "a",
        "{\"active_plugins\":{\"result\":{\"offers\":[{\"id\":{\"pm\":\"a\",\"name\":\"w\","
        "\"version\":\"1.0.0\"},\"root\":\"@/w\",\"manifest\":{\"name\":\"n\"}}],"
        "\"watch\":[\"state\"]}},\"load_plugin\":{\"w\":{\"result\":[" W_1 "]}}}");
    depend(b, "a", "w", "1.0.0");
    ask_everything(b);
    assert_offers(b, EVERYTHING);
    assert_true(started(b, "a"));
}

/* MS-2: with a fresh cache nobody is started, for edges and for what was not found neither. */
static void a_fresh_cache_starts_no_process(void **state)
{
    struct bench b;

    set_up_cached(&b);
    for (int i = 0; i < 2; i++) {
        ask_everything(&b);
        assert_offers(&b, EVERYTHING);
        assert_false(started(&b, "a"));
    }
    tear_down(&b);
}

static void touch(struct bench *b, const char *name)
{
    scratch_write(&b->c.scratch, name, "changed\n");
}

/* CF-5: each thing that an answer rests on makes it stale. */
static void what_changes_makes_the_answer_stale(void **state)
{
    static const char *const changes[] = { "w/SYMPOSIUM.toml", "w/skills/x",
                                           "w/package.json",   "root/state",
                                           "root/go.mod",      "config/config.toml" };

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct bench b;

        set_up_cached(&b);
        touch(&b, changes[i]);
        ask_everything(&b);
        assert_offers(&b, EVERYTHING);
        assert_true(started(&b, "a"));
        tear_down(&b);
    }
}

static void another_question_is_asked(void **state)
{
    struct bench b;

    set_up_cached(&b);
    depend(&b, "a", "x", "1");
    ask_everything(&b);
    assert_has(catalog_log(&b.c, "a"), "\"name\":\"x\"");
    ask_everything(&b);
    assert_false(started(&b, "a"));
    tear_down(&b);
}

/* The cache may vanish or be damaged at any time, and is for one workspace. */
static void a_damaged_cache_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"version\":2}",
        "{\"version\":1,\"root\":\"/other\",\"answers\":[]}",
        NULL, /* of this workspace, without one good answer */
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct bench b;
        const char *path, *text;

        set_up_cached(&b);
        path = offers_cache_path(&b.c.scratch.arena, b.c.dirs.cache, b.c.workspace.root);
        assert_true(file_exists(path));
        text = texts[i] ? texts[i]
                        : arena_printf(&b.c.scratch.arena,
                                       "{\"version\":1,\"root\":\"%s\",\"answers\":[7,{},{"
                                       "\"pm\":\"a\",\"question\":\"x\"}]}",
                                       b.c.workspace.root.p);
        assert_true(file_write_atomic(path, str_of(text), 0600, NULL));
        ask_everything(&b);
        assert_offers(&b, EVERYTHING);
        assert_true(started(&b, "a"));
        tear_down(&b);
    }
}

/* What is kept is looked at like what has come: an id of another package manager is not its. */
static void a_cache_is_believed_no_more_than_an_answer(void **state)
{
    struct bench b;
    const char *path;
    auto_buf text = BUF(1 << 20);
    auto_buf other = BUF(1 << 20);
    struct str head, tail;

    set_up_cached(&b);
    path = offers_cache_path(&b.c.scratch.arena, b.c.dirs.cache, b.c.workspace.root);
    assert_true(file_read(path, &text, NULL));
    tail = buf_str(&text);
    for (size_t at; (at = str_find(tail, STR("\"id\":{\"pm\":\"a\""))) != SIZE_MAX;) {
        head = str_upto(tail, at);
        buf_add(&other, head);
        buf_addz(&other, "\"id\":{\"pm\":\"z\"");
        tail = str_from(tail, at + strlen("\"id\":{\"pm\":\"a\""));
    }
    buf_add(&other, tail);
    assert_true(file_write_atomic(path, buf_str(&other), 0600, NULL));
    ask(&b);
    assert_offers(&b, "");
    tear_down(&b);
}

static void a_read_only_run_writes_nothing(void **state)
{
    struct bench b;

    set_up(&b);
    b.read_only = true;
    catalog_add(&b.c, "a", "{\"active_plugins\":{\"result\":[]}}");
    ask(&b);
    assert_false(file_exists(b.c.dirs.cache));
    tear_down(&b);
}

/* What changed while it was being asked was perhaps not seen. */
static void a_package_that_is_younger_than_the_question_is_not_kept(void **state)
{
    struct bench b;

    set_up(&b);
    old_package(&b, "w");
    assert_int_equal(
        utimensat(AT_FDCWD, scratch_path(&b.c.scratch, "w/SYMPOSIUM.toml"),
                  (struct timespec[]){ { .tv_sec = 4000000000 }, { .tv_sec = 4000000000 } }, 0),
        0);
    catalog_add(&b.c, "a", "{\"active_plugins\":{\"result\":[" W_1 "]}}");
    ask(&b);
    catalog_log(&b.c, "a");
    catalogs_new_run(&b.c);
    ask(&b);
    assert_true(started(&b, "a"));
    tear_down(&b);
}

/* check asks again for what was not found and for what dependencies embed; fetch for all. */
static void levels_say_what_is_asked_again(void **state)
{
    struct bench b;
    const char *log;

    set_up_cached(&b);
    b.level = UPDATE_CHECK;
    ask_everything(&b);
    log = catalog_log(&b.c, "a");
    assert_has(log, "active_plugins");
    assert_has(log, "\"name\":\"v\"");
    assert_null(strstr(log, "\"^1\""));
    b.level = UPDATE_FETCH;
    ask_everything(&b);
    log = catalog_log(&b.c, "a");
    assert_has(log, "active_plugins");
    assert_has(log, "\"name\":\"v\"");
    assert_has(log, "\"^1\"");
    /* PL-32: for whom nobody vouches, nothing is fetched at any level */
    b.local = true;
    load(&b, "a", "w", "^1");
    load(&b, "a", "other", "");
    assert_has(catalog_log(&b.c, "a"), "\"name\":\"other\",\"version\":\"*\"},\"update\":"
                                       "\"none\"}");
    b.local = false;
    /* and what came counts for the others */
    b.level = UPDATE_NONE;
    ask_everything(&b);
    assert_false(started(&b, "a"));
    tear_down(&b);
}

/* Where packages of the ecosystems that we know appear on this machine is watched. */
static void stores_of_known_ecosystems_are_watched(void **state)
{
    struct bench b;
    char *home = mem_strdup(getenv("CARGO_HOME"));

    set_up(&b);
    setenv("CARGO_HOME", scratch_path(&b.c.scratch, "cargo"), 1);
    scratch_write(&b.c.scratch, "cargo/registry/src/index/serde-1.0.0/Cargo.toml", "");
    b.c.workspace.cargo = b.c.workspace.npm = true;
    catalog_add(&b.c, "cargo", "{\"active_plugins\":{\"result\":[]}}");
    catalog_add(&b.c, "npm", "{\"active_plugins\":{\"result\":[]}}");
    depend(&b, "npm", "@s/n", "1.0.0");
    ask(&b);
    assert_has(buf_z(&b.watch), "/cargo/registry/src/index\n");
    assert_has(buf_z(&b.watch), "/root/vendor\n");
    assert_has(buf_z(&b.watch), "/root/node_modules/@s/n\n");
    assert_has(buf_z(&b.watch), "/root/node_modules/.package-lock.json\n");
    catalogs_new_run(&b.c);
    catalog_log(&b.c, "cargo");
    catalog_log(&b.c, "npm");
    scratch_write(&b.c.scratch, "cargo/registry/src/index/new-1.0.0/Cargo.toml", "");
    ask(&b);
    assert_true(started(&b, "cargo"));
    assert_false(started(&b, "npm"));
    if (home)
        setenv("CARGO_HOME", home, 1);
    else
        unsetenv("CARGO_HOME");
    free(home);
    tear_down(&b);
}

/* ---- letting go ---- */

static void on_never(void *arg, const struct package_offers *found)
{
    fail_msg("called");
}

static void what_is_dropped_is_never_answered(void **state)
{
    struct bench b;
    struct offers *o;
    const struct package_source *s;
    struct package_id id = { STR("a"), STR("w"), { 0 } };
    int arg;

    set_up(&b);
    catalog_add(
        &b.c, "a",
        "{\"active_plugins\":{\"do\":\"silent\"},\"load_plugin\":{\"w\":{\"result\":[]}}}");
    o = open_offers(&b);
    s = offers_source(o);
    s->offers(s->ctx, &b.deps, on_never, &arg);
    s->load(s->ctx, &id, false, on_never, &arg);
    s->drop(s->ctx, &arg);
    run_for(b.c.loop, 300);
    s->offers(s->ctx, &b.deps, on_never, &b);
    run_for(b.c.loop, 100);
    offers_free(o); /* with a question open */
    run_for(b.c.loop, 100);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_of_an_answer_count),
        cmocka_unit_test(a_package_is_asked_for_by_name),
        cmocka_unit_test(a_package_managers_absence_from_the_workspace_is_no_obstacle),
        cmocka_unit_test(malformed_offers_are_dropped),
        cmocka_unit_test(no_list_is_no_answer),
        cmocka_unit_test(an_answer_has_its_ceilings),
        cmocka_unit_test(a_failing_package_manager_costs_only_its_own_part),
        cmocka_unit_test(an_impostor_is_refused),
        cmocka_unit_test(each_error_code_has_its_meaning),
        cmocka_unit_test(without_network_what_was_known_before_counts),
        cmocka_unit_test(a_missing_tool_is_no_answer),
        cmocka_unit_test(a_dead_process_is_not_started_again),
        cmocka_unit_test(a_program_that_is_not_there_is_a_problem),
        cmocka_unit_test(a_fresh_cache_starts_no_process),
        cmocka_unit_test(what_changes_makes_the_answer_stale),
        cmocka_unit_test(another_question_is_asked),
        cmocka_unit_test(a_damaged_cache_is_none),
        cmocka_unit_test(a_cache_is_believed_no_more_than_an_answer),
        cmocka_unit_test(a_read_only_run_writes_nothing),
        cmocka_unit_test(a_package_that_is_younger_than_the_question_is_not_kept),
        cmocka_unit_test(levels_say_what_is_asked_again),
        cmocka_unit_test(stores_of_known_ecosystems_are_watched),
        cmocka_unit_test(what_is_dropped_is_never_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
