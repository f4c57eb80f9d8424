/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "loop/timer.h"
#include "plugins/predicate_cache.h"
#include "plugins/predicate_eval.h"

#define MAX_GATES 40

/* A workspace directory, one plugin in it, and what is evaluated there. */
struct place {
    struct arena a;
    struct loop *loop;
    char root[64], cache[80];
    struct plugin plugin;
    struct {
        const struct custom_predicate *def;
        bool trusted;
    } customs[8];
    size_t ncustoms;
    struct watch_list watch;
    struct eval_world world;
    struct deps deps;
    struct gate_job jobs[MAX_GATES];
    struct evaluator *ev;
    bool trusted;
    bool done;
};

static void write_file(const char *path, const char *text, mode_t mode)
{
    struct error e = { 0 };

    if (!file_write_atomic(path, str_of(text), mode, &e))
        fail_msg("%s", e.msg);
}

static const char *in(struct place *p, const char *name)
{
    return path_join(&p->a, p->root, name);
}

static struct place *place_new(void)
{
    static struct dep list[] = { { STR("cargo"), STR("serde"), STR("1.0.5") } };
    struct place *p = NEW(struct place);

    strcpy(p->root, "/tmp/symposium-eval-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(p->cache, sizeof p->cache, "%s/cache", p->root);
    p->loop = loop_new();
    p->plugin =
        (struct plugin){ .name = STR("p"), .origin = ORIGIN_REGISTRY, .dir = str_of(p->root) };
    p->deps = (struct deps){ .v = list, .n = 1 };
    p->world = (struct eval_world){ .root = str_of(p->root),
                                    .deps = &p->deps,
                                    .cache_dir = p->cache,
                                    .write_cache = true,
                                    .watch_arena = &p->a,
                                    .watch = &p->watch };
    p->trusted = true;
    return p;
}

static void place_free(struct place *p)
{
    auto_free char *cmd = mem_printf("rm -rf '%s'", p->root);

    evaluator_free(p->ev);
    loop_run(p->loop); /* lets the loop reap what was killed */
    loop_free(p->loop);
    assert_int_equal(system(cmd), 0);
    arena_free(&p->a);
    free(p);
}

/* Defines [[predicate]] name with a script of the workspace that runs `body`. */
static void define(struct place *p, const char *name, const char *body, bool trusted)
{
    struct custom_predicate *def = ARENA_NEW(&p->a, struct custom_predicate);
    struct installation *all = ARENA_ARRAY(&p->a, struct installation, 8);
    char *file = arena_printf(&p->a, "%s%zu.sh", name, p->ncustoms);
    size_t n = p->plugin.installations.n;

    write_file(in(p, file), body, 0600);
    for (size_t i = 0; i < n; i++)
        all[i] = p->plugin.installations.v[i];
    all[n] = (struct installation){ .name = str_of(file), .script = str_of(file) };
    p->plugin.installations.v = all;
    p->plugin.installations.n = n + 1;
    def->name = str_of(name);
    def->command = str_of(file);
    def->owner = &p->plugin;
    p->customs[p->ncustoms].def = def;
    p->customs[p->ncustoms++].trusted = trusted;
}

static void on_done(void *ctx)
{
    struct place *p = ctx;

    assert_false(p->done);
    p->done = true;
    loop_stop(p->loop);
}

static void set_gate(struct place *p, struct gate_job *job, const char *predicate)
{
    struct gate *g = ARENA_NEW(&p->a, struct gate);
    struct str text = str_of(predicate);
    struct error e = { 0 };

    if (!gate_add_predicates(&p->a, g, &(struct strs){ .v = &text, .n = text.n > 0 }, &e))
        fail_msg("%s", e.msg);
    *job = (struct gate_job){ .gate = g, .owner = &p->plugin, .may_run = p->trusted };
}

/* One batch on a fresh evaluator, as a new resolution does it. */
static void evaluate(struct place *p, size_t n)
{
    evaluator_free(p->ev);
    p->ev = evaluator_new(p->loop, &p->world);
    for (size_t i = 0; i < p->ncustoms; i++)
        evaluator_define(p->ev, p->customs[i].def, p->customs[i].trusted);
    p->done = false;
    evaluator_run(p->ev, p->jobs, n, on_done, p);
    assert_false(p->done);
    loop_run(p->loop);
    assert_true(p->done);
}

static bool holds(struct place *p, const char *predicate)
{
    set_gate(p, &p->jobs[0], predicate);
    evaluate(p, 1);
    return p->jobs[0].holds;
}

static size_t lines_in(struct place *p, const char *name)
{
    auto_buf text = BUF(1 << 16);
    size_t n = 0;

    file_read(in(p, name), &text, NULL);
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

static bool warned(struct place *p, const char *part)
{
    const struct strs *all = evaluator_warnings(p->ev);

    for (size_t i = 0; i < all->n; i++)
        if (str_find(all->v[i], str_of(part)) != SIZE_MAX)
            return true;
    return false;
}

/* ---- built-ins ---- */

/* PL-22 */
static void each_built_in_is_true_when_its_row_says_so(void **state)
{
    static const struct {
        const char *predicate;
        bool holds;
    } cases[] = {
        { "", true },
        { "depends-on(serde>=1)", true },
        { "depends-on(npm:serde)", false },
        { "depends-on(*)", true },
        { "shell(true)", true },
        { "shell(exit 3)", false },
        { "shell(kill -9 $$)", false },
        { "shell(test -f there)", true }, /* the workspace root is its cwd */
        { "shell(no-such-program-anywhere)", false },
        { "shell(read x)", false }, /* stdin is empty */
        { "path_exists(there)", true },
        { "path_exists(./there)", true },
        { "path_exists(sub)", true },
        { "path_exists(absent)", false },
        { "path_exists(/)", true },
        { "path_exists()", false },
        { "path_exists(only-in-path)", true }, /* no exec bit needed */
        { "path_exists(./only-in-path)", false },
        { "env(SYM_T)", true },
        { "env(SYM_T=a=b)", true },
        { "env(SYM_T=a)", false },
        { "env(SYM_EMPTY)", true },
        { "env(SYM_EMPTY=)", true },
        { "env(SYM_UNSET)", false },
        { "env(SYM_UNSET=)", false },
        { "workspace-member()", false },
        { "not(env(SYM_T))", false },
        { "not(shell(false))", true },
        { "any(env(SYM_UNSET), shell(false), shell(true))", true },
        { "any(env(SYM_UNSET), shell(false))", false },
        { "all(env(SYM_T), shell(true), depends-on(serde))", true },
        { "all(env(SYM_T), shell(true), depends-on(tokio))", false },
        { "nobody_defines_me(x)", false },
        { "not(nobody_defines_me(x))", true },
    };
    struct place *p = place_new();
    auto_free char *path = mem_printf("%s/bin:%s", p->root, getenv("PATH"));

    (void)state;
    setenv("SYM_T", "a=b", 1);
    setenv("SYM_EMPTY", "", 1);
    unsetenv("SYM_UNSET");
    setenv("PATH", path, 1);
    mkdir(in(p, "sub"), 0700);
    mkdir(in(p, "bin"), 0700);
    write_file(in(p, "bin/only-in-path"), "", 0600);
    write_file(in(p, "there"), "", 0600);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (holds(p, cases[i].predicate) != cases[i].holds)
            fail_msg("%s", cases[i].predicate);
    assert_true(warned(p, "'nobody_defines_me' is defined by no plugin"));
    p->plugin.origin = ORIGIN_WORKSPACE;
    assert_true(holds(p, "workspace-member()"));
    place_free(p);
}

/* A manifest of a clone may ask for any number of paths, which are watched from then on. It
 * uses up nothing that a trusted one needs. */
static void the_number_of_paths_looked_up_is_bounded(void **state)
{
    enum { TRUSTED = 5 };
    struct place *p = place_new();
    auto_buf text = BUF(PREDICATE_MAX_BYTES);

    (void)state;
    write_file(in(p, "there"), "", 0600);
    for (int i = 0; i <= TRUSTED; i++) {
        buf_clear(&text);
        buf_addz(&text, "any(");
        for (int k = 0; text.n < PREDICATE_MAX_BYTES - 64; k++)
            buf_addf(&text, "path_exists(./%d.%d),", i, k);
        buf_addz(&text, "path_exists(there))");
        p->trusted = i == TRUSTED;
        set_gate(p, &p->jobs[i], buf_z(&text));
    }
    evaluate(p, TRUSTED + 1);
    assert_true(p->jobs[0].holds);
    assert_false(p->jobs[TRUSTED - 1].holds);
    assert_true(p->jobs[TRUSTED].holds);
    assert_true(p->watch.n <= 2 * EVAL_MAX_LOOKUPS);
    assert_true(warned(p, "more than 10000 paths are asked for"));
    place_free(p);
}

static void evaluation_goes_left_to_right_and_no_further_than_needed(void **state)
{
    struct place *p = place_new();

    (void)state;
    assert_true(holds(p, "any(depends-on(serde), shell(echo >> ran))"));
    assert_false(holds(p, "all(depends-on(tokio), shell(echo >> ran))"));
    assert_int_equal(lines_in(p, "ran"), 0);
    assert_true(holds(p, "all(shell(echo >> ran), any(shell(exit 1), shell(echo >> ran)))"));
    assert_int_equal(lines_in(p, "ran"), 2);
    place_free(p);
}

/* PL-22: 10 s by default; here 200 ms */
static void a_program_that_does_not_end_is_false_and_gone(void **state)
{
    struct place *p = place_new();
    int64_t start = clock_ms();

    (void)state;
    p->world.timeout_ms = 200;
    assert_false(holds(p, "shell(sleep 60; true)"));
    assert_true(clock_ms() - start >= 200);
    assert_true(clock_ms() - start < 500 * slack());
    assert_true(warned(p, "did not end within 200 ms"));
    place_free(p);
}

static void output_of_shell_is_thrown_away_however_much(void **state)
{
    struct place *p = place_new();

    (void)state;
    assert_true(holds(p, "shell(head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2)"));
    place_free(p);
}

static void gates_of_one_batch_run_side_by_side(void **state)
{
    struct place *p = place_new();
    int64_t start;

    (void)state;
    for (int i = 0; i < MAX_GATES; i++)
        set_gate(p, &p->jobs[i],
                 i % 4 ? "shell(sleep 0.1)" : "all(shell(sleep 0.1), shell(false))");
    start = clock_ms();
    evaluate(p, MAX_GATES);
    assert_true(clock_ms() - start < 1000 * slack());
    for (int i = 0; i < MAX_GATES; i++)
        assert_int_equal(p->jobs[i].holds, i % 4 != 0);
    place_free(p);
}

static void an_empty_batch_is_answered_too(void **state)
{
    struct place *p = place_new();

    (void)state;
    evaluate(p, 0);
    place_free(p);
}

static void one_evaluator_takes_a_second_batch_and_remembers(void **state)
{
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo >> ran\n", true);
    assert_true(holds(p, "probe()"));
    p->done = false;
    set_gate(p, &p->jobs[0], "probe()");
    evaluator_run(p->ev, p->jobs, 1, on_done, p);
    loop_run(p->loop);
    assert_true(p->done && p->jobs[0].holds);
    assert_int_equal(lines_in(p, "ran"), 1);
    place_free(p);
}

static void on_enough(void *ctx)
{
    loop_stop(((struct place *)ctx)->loop);
}

static void a_freed_evaluator_calls_nobody_and_leaves_nothing_running(void **state)
{
    struct place *p = place_new();
    struct timer *t = timer_new(p->loop, on_enough, p);

    (void)state;
    set_gate(p, &p->jobs[0], "shell(sleep 0.4; touch survived)");
    p->ev = evaluator_new(p->loop, &p->world);
    evaluator_run(p->ev, p->jobs, 1, on_done, p);
    timer_set(t, 100);
    loop_run(p->loop);
    evaluator_free(p->ev);
    p->ev = NULL;
    timer_set(t, 600);
    loop_run(p->loop);
    timer_free(t);
    assert_false(p->done);
    assert_false(file_exists(in(p, "survived")));
    place_free(p);
}

/* ---- trust ---- */

/* PL-32 */
static void nothing_runs_on_the_word_of_an_untrusted_manifest(void **state)
{
    static const struct {
        const char *predicate;
        bool holds, refused;
    } cases[] = {
        { "shell(echo >> ran)", false, true },
        { "not(shell(echo >> ran; false))", false, true },
        { "probe()", false, true },
        { "not(probe())", false, true },
        { "any(shell(echo >> ran), depends-on(serde))", true, false },
        { "any(shell(echo >> ran), depends-on(tokio))", false, true },
        { "all(shell(echo >> ran), depends-on(tokio))", false, false },
        { "not(all(shell(echo >> ran), depends-on(tokio)))", true, false },
        { "depends-on(serde)", true, false },
        { "depends-on(tokio)", false, false },
    };
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo >> ran\n", true);
    p->trusted = false;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (holds(p, cases[i].predicate) != cases[i].holds ||
            p->jobs[0].refused != cases[i].refused)
            fail_msg("%s", cases[i].predicate);
    assert_int_equal(lines_in(p, "ran"), 0);
    p->trusted = true;
    assert_true(holds(p, "probe()")); /* now its answer is in the cache, */
    p->trusted = false;
    assert_false(holds(p, "probe()")); /* which is no way round */
    place_free(p);
}

/* PL-32: a trusted plugin may ask for a predicate that an untrusted workspace defines. */
static void a_predicate_defined_by_an_untrusted_manifest_does_not_run(void **state)
{
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo >> ran\n", false);
    assert_false(holds(p, "probe()"));
    assert_false(holds(p, "not(probe())"));
    assert_int_equal(lines_in(p, "ran"), 0);
    place_free(p);
}

/* ---- custom predicates ---- */

/* PL-15, PL-22 */
static void a_custom_predicate_gets_static_args_then_the_argument(void **state)
{
    struct place *p = place_new();
    struct str fixed[] = { STR("fixed"), STR("two words") };
    struct custom_predicate *def;

    (void)state;
    define(p, "probe", "test \"$#:$1:$2:$3\" = '3:fixed:two words:x, (y) z'", true);
    define(p, "bare", "test $# = 0 && test \"$(pwd)\" = \"$(cd \"$(dirname \"$0\")\" && pwd)\"",
           true);
    def = (struct custom_predicate *)p->customs[0].def;
    def->args = (struct strs){ .v = fixed, .n = 2 };
    assert_true(holds(p, "probe( x, (y) z )"));
    assert_false(holds(p, "probe(other)"));
    assert_true(holds(p, "bare()"));
    place_free(p);
}

/* PL-26: in memory by (name, arg) for one run */
static void a_custom_predicate_runs_once_for_each_argument(void **state)
{
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo '{\"watchTime\":0}'; echo >> ran; sleep 0.05; test \"$1\" = a",
           true);
    for (int i = 0; i < 12; i++)
        set_gate(p, &p->jobs[i], i % 2 ? "probe(a)" : "not(probe(b))");
    evaluate(p, 12);
    for (int i = 0; i < 12; i++)
        assert_true(p->jobs[i].holds);
    assert_int_equal(lines_in(p, "ran"), 2);
    place_free(p);
}

/* PL-15, PL-37 */
static void a_predicate_defined_twice_is_dropped_with_a_warning(void **state)
{
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo >> ran", true);
    define(p, "probe", "echo >> ran", true);
    define(p, "other", "true", true);
    assert_false(holds(p, "any(probe(), probe(x))"));
    assert_true(warned(p, "'probe' is defined more than once"));
    assert_int_equal(evaluator_warnings(p->ev)->n, 1);
    assert_int_equal(lines_in(p, "ran"), 0);
    assert_true(holds(p, "other()"));
    place_free(p);
}

static void a_predicate_that_cannot_run_is_false_with_the_reason(void **state)
{
    static const struct {
        struct installation in;
        const char *warning;
    } cases[] = {
        { { .name = STR("i"), .source = INSTALL_CARGO, .crate = STR("probe") },
          "installation 'i' is not there yet; run 'symposium sync'" },
        { { .name = STR("i") }, "has no 'executable' or 'script' to run" },
        { { .name = STR("other") }, "references unknown installation 'i'" },
        { { .name = STR("i"), .executable = STR("./absent") }, "cannot be started" },
    };
    struct custom_predicate def = { .name = STR("probe"), .command = STR("i") };
    struct place *p = place_new();

    (void)state;
    def.owner = &p->plugin;
    p->customs[0].def = &def;
    p->customs[0].trusted = true;
    p->ncustoms = 1;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct installation in = cases[i].in;

        p->plugin.installations.v = &in;
        p->plugin.installations.n = 1;
        assert_false(holds(p, "probe()"));
        if (!warned(p, cases[i].warning))
            fail_msg("no warning: %s", cases[i].warning);
    }
    place_free(p);
}

/* PL-25 */
static void output_that_is_no_event_is_warned_about_and_skipped(void **state)
{
    static const struct {
        const char *body;
        bool warns;
    } cases[] = {
        { "echo '{\"selectedCrate\":{\"name\":\"x\"}}'", false },
        { "echo '{\"watchFile\":\"f\"}'; echo '{\"watchEnv\":\"E\"}'; echo '{\"watchTime\":5}'",
          false },
        { "echo hello", true },
        { "echo '{\"other\":1}'", true },
        { "echo '{\"watchFile\":1}'", true },
        { "echo '{\"watchFile\":\"\"}'", true },
        { "echo '{\"watchEnv\":\"A=B\"}'", true },
        { "echo '{\"watchTime\":-1}'", true },
        { "echo '{\"watchTime\":\"5\"}'", true },
        { "echo '[1]'", true },
        { "head -c 200000 /dev/zero", true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct place *p = place_new();

        define(p, "probe", cases[i].body, true);
        assert_true(holds(p, "probe()"));
        if (warned(p, "printed a line that is not understood") != cases[i].warns)
            fail_msg("%s", cases[i].body);
        place_free(p);
    }
}

/* ---- the disk cache ---- */

/* PL-26: what keeps an answer and what makes it stale */
static void an_answer_is_kept_while_what_it_rests_on_is_unchanged(void **state)
{
    struct place *p = place_new();

    (void)state;
    setenv("SYM_W", "1", 1);
    define(p, "ever", "echo ever >> ran", true);
    define(p, "file",
           "echo '{\"watchFile\":\"f\"}'; echo '{\"watchFile\":\"sub/../g\"}'; echo >> ran; "
           "exit 1",
           true);
    define(p, "envs",
           "echo '{\"watchEnv\":\"SYM_W\"}'; echo '{\"watchEnv\":\"SYM_NO\"}'; echo >> ran",
           true);
    define(p, "time", "echo '{\"watchTime\":1}'; echo '{\"watchTime\":90000}'; echo >> ran",
           true);
    define(p, "none", "echo '{\"watchTime\":0}'; echo '{\"watchTime\":90000}'; echo >> ran",
           true);
    const struct {
        const char *predicate;
        size_t runs; /* in all, after asking */
    } steps[] = {
        { "ever()", 1 },      { "ever()", 1 }, { "not(file())", 2 },
        { "not(file())", 2 }, { "envs()", 3 }, { "envs()", 3 },
        { "none()", 4 },      { "none()", 5 }, { "time()", 6 },
    };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        assert_true(holds(p, steps[i].predicate));
        assert_int_equal(lines_in(p, "ran"), steps[i].runs);
    }
    usleep(3000); /* the smallest positive time has passed */
    assert_true(holds(p, "time()"));
    assert_int_equal(lines_in(p, "ran"), 7);
    write_file(in(p, "f"), "", 0600); /* absent before */
    assert_true(holds(p, "not(file())"));
    assert_int_equal(lines_in(p, "ran"), 8);
    write_file(in(p, "g"), "x", 0600);
    assert_true(holds(p, "not(file())"));
    assert_int_equal(lines_in(p, "ran"), 9);
    setenv("SYM_W", "2", 1);
    assert_true(holds(p, "envs()"));
    assert_int_equal(lines_in(p, "ran"), 10);
    setenv("SYM_NO", "", 1);
    assert_true(holds(p, "envs()"));
    assert_int_equal(lines_in(p, "ran"), 11);
    unsetenv("SYM_NO");
    place_free(p);
}

/* PL-26: an answer that came of a failure is not one. */
static void a_killed_or_late_program_leaves_nothing_in_the_cache(void **state)
{
    struct place *p = place_new();

    (void)state;
    p->world.timeout_ms = 300;
    define(p, "killed", "echo >> ran; kill -9 $$", true);
    define(p, "late", "echo >> ran; sleep 60", true);
    for (int i = 0; i < 2; i++)
        assert_false(holds(p, "any(killed(), late())"));
    assert_int_equal(lines_in(p, "ran"), 4);
    place_free(p);
}

/* MS-60: a later change of what an answer rests on must be seen. */
static void the_paths_an_answer_rests_on_are_watched(void **state)
{
    static const char *const paths[] = { "f", "some/where", "absent" };
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo '{\"watchFile\":\"f\"}'", true);
    for (int from_cache = 0; from_cache < 2; from_cache++) {
        p->watch = (struct watch_list){ 0 };
        assert_true(
            holds(p, "all(probe(), not(path_exists(absent)), not(path_exists(some/where)))"));
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            bool found = false;

            for (size_t k = 0; k < p->watch.n; k++)
                found |= str_is(p->watch.v[k].path, in(p, paths[i]));
            assert_true(found);
        }
    }
    place_free(p);
}

static void a_read_only_cache_is_read_and_not_written(void **state)
{
    struct place *p = place_new();

    (void)state;
    define(p, "probe", "echo >> ran", true);
    p->world.write_cache = false;
    assert_true(holds(p, "probe()"));
    assert_false(file_exists(p->cache));
    p->world.write_cache = true;
    assert_true(holds(p, "probe()"));
    p->world.write_cache = false;
    assert_true(holds(p, "probe()"));
    assert_int_equal(lines_in(p, "ran"), 2);
    p->world.cache_dir = NULL;
    assert_true(holds(p, "probe()"));
    assert_int_equal(lines_in(p, "ran"), 3);
    place_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_built_in_is_true_when_its_row_says_so),
        cmocka_unit_test(the_number_of_paths_looked_up_is_bounded),
        cmocka_unit_test(evaluation_goes_left_to_right_and_no_further_than_needed),
        cmocka_unit_test(a_program_that_does_not_end_is_false_and_gone),
        cmocka_unit_test(output_of_shell_is_thrown_away_however_much),
        cmocka_unit_test(gates_of_one_batch_run_side_by_side),
        cmocka_unit_test(an_empty_batch_is_answered_too),
        cmocka_unit_test(one_evaluator_takes_a_second_batch_and_remembers),
        cmocka_unit_test(a_freed_evaluator_calls_nobody_and_leaves_nothing_running),
        cmocka_unit_test(nothing_runs_on_the_word_of_an_untrusted_manifest),
        cmocka_unit_test(a_predicate_defined_by_an_untrusted_manifest_does_not_run),
        cmocka_unit_test(a_custom_predicate_gets_static_args_then_the_argument),
        cmocka_unit_test(a_custom_predicate_runs_once_for_each_argument),
        cmocka_unit_test(a_predicate_defined_twice_is_dropped_with_a_warning),
        cmocka_unit_test(a_predicate_that_cannot_run_is_false_with_the_reason),
        cmocka_unit_test(output_that_is_no_event_is_warned_about_and_skipped),
        cmocka_unit_test(an_answer_is_kept_while_what_it_rests_on_is_unchanged),
        cmocka_unit_test(a_killed_or_late_program_leaves_nothing_in_the_cache),
        cmocka_unit_test(the_paths_an_answer_rests_on_are_watched),
        cmocka_unit_test(a_read_only_cache_is_read_and_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
