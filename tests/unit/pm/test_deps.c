/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "pm/deps.h"
#include "pm/deps_cache.h"
#include "pm/locate.h"
#include "text/json.h"

/* A workspace with its caches, and what the last query found. */
struct bench {
    struct loop *loop;
    struct scratch scratch;
    struct dirs dirs;
    struct config config;
    struct workspace workspace;
    const char *log, *cache_file;
    struct buf packages, watch, problems;
    bool degraded;
    int answers;
};

static void set_up(struct bench *b)
{
    const char *root;

    *b = (struct bench){ .loop = loop_new(),
                         .packages = BUF(1 << 20),
                         .watch = BUF(1 << 22),
                         .problems = BUF(1 << 16) };
    scratch_make(&b->scratch);
    root = scratch_path(&b->scratch, "root");
    scratch_write(&b->scratch, "root/Cargo.toml", "[package]\nname=\"r\"\n");
    b->log = scratch_path(&b->scratch, "starts");
    setenv("FAKE_PM_LOG", b->log, 1);
    b->dirs = (struct dirs){ .config = scratch_path(&b->scratch, "config"),
                             .cache = scratch_path(&b->scratch, "cache") };
    b->config.path = str_of(scratch_path(&b->scratch, "config/config.toml"));
    b->workspace = (struct workspace){ .root = str_of(root), .found = true };
    b->cache_file = deps_cache_path(&b->scratch.arena, b->dirs.cache, b->workspace.root);
}

static void tear_down(struct bench *b)
{
    buf_free(&b->packages);
    buf_free(&b->watch);
    buf_free(&b->problems);
    loop_free(b->loop);
    scratch_free(&b->scratch);
    unsetenv("FAKE_PM_LOG");
}

/* A [[package-manager]] entry that runs the fake. */
static void add_pm(struct bench *b, const char *name, const char *mode, const char *arg)
{
    struct arena *a = &b->scratch.arena;
    struct pm_config c = { .name = str_of(name) };

    ARENA_PUSH(a, &c.pass_env) = STR("FAKE_PM_LOG");
    c.how.executable = str_of(FAKE_PM);
    ARENA_PUSH(a, &c.how.args) = str_of(name);
    ARENA_PUSH(a, &c.how.args) = str_of(mode);
    ARENA_PUSH(a, &c.how.args) = arena_str(a, str_of(arg));
    ARENA_PUSH(a, &b->config.pms) = c;
}

static void on_found(void *ctx, const struct found_deps *found)
{
    struct bench *b = ctx;

    buf_clear(&b->packages);
    buf_clear(&b->watch);
    buf_clear(&b->problems);
    for (size_t i = 0; i < found->n; i++)
        buf_addf(&b->packages, "%.*s:%.*s:%.*s ", STR_F(found->v[i].pm),
                 STR_F(found->v[i].name), STR_F(found->v[i].version));
    for (size_t i = 0; i < found->nwatch; i++)
        buf_addf(&b->watch, "%.*s\n", STR_F(found->watch[i]));
    for (size_t i = 0; i < found->nproblems; i++)
        buf_addf(&b->problems, "%.*s\n", STR_F(found->problems[i]));
    b->degraded = found->degraded;
    b->answers++;
    loop_stop(b->loop);
}

static struct deps_opts opts(const struct bench *b, struct pm_set *pms)
{
    return (struct deps_opts){ .dirs = &b->dirs,
                               .config = &b->config,
                               .workspace = &b->workspace,
                               .write_cache = true,
                               .pms = pms };
}

static void find(struct bench *b)
{
    struct deps_opts o = opts(b, NULL);
    int before = b->answers;

    deps_find(b->loop, &o, on_found, b);
    assert_int_equal(b->answers, before);
    run_until_stopped(b->loop, 6000);
}

static void assert_packages(const struct bench *b, const char *want)
{
    if (strcmp(buf_z(&b->packages), want) != 0)
        fail_msg("'%s' instead of '%s' (%s)", buf_z(&b->packages), want, buf_z(&b->problems));
}

/* PM-2, PM-3: both forms of an answer; PL-20: all package managers united. */
static void lists_of_all_package_managers_are_united_and_sorted(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    add_pm(&b, "pip", "good",
           "{\"deps\":[{\"pm\":\"pip\",\"name\":\"requests\",\"version\":\"2.32.3\"}],"
           "\"watch\":[\"env/list\",\"/abs\"]}");
    add_pm(&b, "go", "good",
           "[{\"pm\":\"go\",\"name\":\"b/"
           "x\",\"version\":\"v1.0.0\"},{\"pm\":\"go\",\"name\":\"a\",\"version\":\"*\","
           "\"extra\":1},{\"pm\":\"go\",\"name\":\"b/x\",\"version\":\"v1.0.0\"}]");
    find(&b);
    assert_packages(&b, "go:a:* go:b/x:v1.0.0 pip:requests:2.32.3 ");
    assert_false(b.degraded);
    assert_has(buf_z(&b.watch), "root/env/list\n");
    assert_has(buf_z(&b.watch), "/abs\n");
    assert_has(buf_z(&b.watch), "config/config.toml\n");
    assert_has(buf_z(&b.watch), "root/go.mod\n");
    tear_down(&b);
}

/* PM-8: the others still count. SEC-50: also when one never answers. */
static void a_failing_package_manager_costs_only_its_own_part(void **state)
{
    static const struct {
        const char *mode, *problem;
    } cases[] = {
        { "garbage", "malformed" },
        { "exit", "exited with status 7" },
        { "hang", "package manager 'bad'" },
        { "name", "refused" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;
        int64_t began = clock_ms();

        set_up(&b);
        add_pm(&b, "bad", cases[i].mode, "");
        add_pm(&b, "good", "good", "[{\"pm\":\"good\",\"name\":\"x\",\"version\":\"1\"}]");
        find(&b);
        assert_packages(&b, "good:x:1 ");
        assert_true(b.degraded);
        assert_has(buf_z(&b.problems), cases[i].problem);
        assert_true(clock_ms() - began < PM_LIST_TIMEOUT_MS + 2500 + 250 * slack());
        assert_false(file_exists(b.cache_file)); /* a part is no truth to keep */
        tear_down(&b);
    }
}

static void ids_that_are_malformed_or_not_its_own_are_dropped(void **state)
{
    static const struct {
        const char *answer, *packages;
        bool degraded;
    } cases[] = {
        { "[{\"pm\":\"cargo\",\"name\":\"serde\",\"version\":\"1\"},{\"pm\":\"x\",\"name\":"
          "\"a\",\"version\":\"1\"}]",
          "x:a:1 ", true },
        { "[{\"pm\":\"x\",\"version\":\"1\"},{\"pm\":\"x\",\"name\":\"\",\"version\":\"1\"},{"
          "\"pm\":\"x\",\"name\":\"a\"},"
          "{\"name\":\"a\",\"version\":\"1\"},7,null]",
          "", true },
        { "\"none\"", "", true },
        { "{\"watch\":[]}", "", true },
        { "{\"deps\":[]}", "", false },
        { "[]", "", false },
        { "{\"deps\":[{\"pm\":\"x\",\"name\":\"a\",\"version\":\"not a "
          "version\"}],\"watch\":[1,\"\"]}",
          "x:a:not a version ", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up(&b);
        add_pm(&b, "x", "good", cases[i].answer);
        find(&b);
        assert_packages(&b, cases[i].packages);
        assert_int_equal(b.degraded, cases[i].degraded);
        tear_down(&b);
    }
}

static const char *const one = "[{\"pm\":\"cargo\",\"name\":\"serde\",\"version\":\"1.0.0\"}]";

/* CF-5, MS-2: a fresh cache answers without a process. */
static void the_second_question_starts_no_process(void **state)
{
    auto_buf text = BUF(1 << 16);
    auto_json doc = { 0 };
    struct stat st;
    struct bench b;

    (void)state;
    set_up(&b);
    b.workspace.cargo = true;
    ARENA_PUSH(&b.scratch.arena, &b.workspace.members) =
        str_of(scratch_path(&b.scratch, "root/m"));
    add_pm(&b, "cargo", "good", one);
    find(&b);
    find(&b);
    assert_packages(&b, "cargo:serde:1.0.0 ");
    assert_int_equal(starts_in(b.log), 1);
    assert_has(buf_z(&b.watch), "root/m/Cargo.toml\n");
    assert_has(buf_z(&b.watch), "root/Cargo.lock\n");

    /* The file as CF-5 has it. */
    assert_true(file_read(b.cache_file, &text, NULL));
    assert_true(json_parse(&doc, buf_str(&text), NULL));
    assert_has(b.cache_file, "cache/workspaces/root-");
    assert_true(str_is(json_num_text(json_get(doc.root, "version")), "1"));
    assert_true(str_eq(json_str(json_get(doc.root, "root")), b.workspace.root));
    assert_int_equal(json_len(json_get(doc.root, "members")), 1);
    assert_int_equal(json_len(json_get(doc.root, "packages")), 1);
    assert_true(json_is_null(
        json_get(json_get(doc.root, "inputs"), scratch_path(&b.scratch, "root/Cargo.lock"))));
    assert_int_equal(json_len(json_get(json_get(doc.root, "inputs"),
                                       scratch_path(&b.scratch, "root/Cargo.toml"))),
                     3);
    assert_int_equal(stat(b.cache_file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    tear_down(&b);
}

static void touch_ns(const char *path)
{
    struct stat st;
    struct timespec times[2];

    assert_int_equal(stat(path, &st), 0);
    times[0] = times[1] = st.st_mtim;
    times[1].tv_nsec += times[1].tv_nsec == 999999999 ? -1 : 1;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* CF-5: every input counts, to the nanosecond, absent ones included; the file may be damaged or
 * deleted at any time. */
static void a_cache_that_does_not_fit_any_more_is_not_used(void **state)
{
    enum change {
        NOTHING,
        LOCK_CAME,
        MANIFEST_NS,
        MANIFEST_GONE,
        WATCHED_CAME,
        CONFIG_CAME,
        CACHE_GONE,
        CACHE_GARBAGE,
        CACHE_VERSION,
        CACHE_ROOT,
        CACHE_SHAPE,
        MEMBERS,
        OTHER_PROGRAM,
    };
    static const struct {
        enum change change;
        int starts;
    } cases[] = {
        { NOTHING, 1 },       { LOCK_CAME, 2 },   { MANIFEST_NS, 2 }, { MANIFEST_GONE, 2 },
        { WATCHED_CAME, 2 },  { CONFIG_CAME, 2 }, { CACHE_GONE, 2 },  { CACHE_GARBAGE, 2 },
        { CACHE_VERSION, 2 }, { CACHE_ROOT, 2 },  { CACHE_SHAPE, 2 }, { MEMBERS, 2 },
        { OTHER_PROGRAM, 3 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *cache = "cache/x", *answer = "{\"deps\":[],\"watch\":[\"seen\"]}";
        struct bench b;

        set_up(&b);
        b.workspace.cargo = true;
        add_pm(&b, "cargo", "good", answer);
        find(&b);
        cache = b.cache_file + strlen(b.scratch.dir) + 1;
        switch (cases[i].change) {
        case NOTHING:
            break;
        case LOCK_CAME:
            scratch_write(&b.scratch, "root/Cargo.lock", "version = 4\n");
            break;
        case MANIFEST_NS:
            touch_ns(scratch_path(&b.scratch, "root/Cargo.toml"));
            break;
        case MANIFEST_GONE:
            unlink(scratch_path(&b.scratch, "root/Cargo.toml"));
            break;
        case WATCHED_CAME:
            scratch_write(&b.scratch, "root/seen", "");
            break;
        case CONFIG_CAME:
            scratch_write(&b.scratch, "config/config.toml", "");
            break;
        case CACHE_GONE:
            unlink(b.cache_file);
            break;
        case CACHE_GARBAGE:
            scratch_write(&b.scratch, cache, "{\"version\":1,");
            break;
        case CACHE_VERSION:
            scratch_write(&b.scratch, cache,
                          arena_printf(&b.scratch.arena,
                                       "{\"version\":2,\"root\":\"%s\",\"members\":[],"
                                       "\"inputs\":{\"%s\":null},\"packages\":[]}",
                                       b.workspace.root.p, FAKE_PM));
            break;
        case CACHE_ROOT:
            scratch_write(&b.scratch, cache,
                          "{\"version\":1,\"root\":\"/"
                          "other\",\"members\":[],\"inputs\":{},\"packages\":[]}");
            break;
        case CACHE_SHAPE:
            scratch_write(&b.scratch, cache,
                          arena_printf(&b.scratch.arena,
                                       "{\"version\":1,\"root\":\"%s\",\"members\":[],"
                                       "\"inputs\":{\"%s\":{}},\"packages\":7}",
                                       b.workspace.root.p, FAKE_PM));
            break;
        case MEMBERS:
            ARENA_PUSH(&b.scratch.arena, &b.workspace.members) = str_of("/m");
            break;
        case OTHER_PROGRAM:
            add_pm(&b, "other", "good", "[]");
            b.config.pms.v[1].how.executable = str_of(scratch_path(&b.scratch, "link"));
            assert_int_equal(symlink(FAKE_PM, scratch_path(&b.scratch, "link")), 0);
            break;
        }
        usleep(20 * 1000); /* a watched file younger than the question is not cached */
        find(&b);
        if (starts_in(b.log) != cases[i].starts)
            fail_msg("case %zu: %lld starts", i, (long long)starts_in(b.log));
        find(&b); /* fresh again */
        assert_int_equal(starts_in(b.log), cases[i].starts);
        tear_down(&b);
    }
}

/* MS-2: a probing client starts us without side effects. */
static void without_write_cache_nothing_is_written_but_a_cache_is_read(void **state)
{
    struct bench b;
    struct deps_opts o;

    (void)state;
    set_up(&b);
    b.workspace.cargo = true;
    add_pm(&b, "cargo", "good", one);
    o = opts(&b, NULL);
    o.write_cache = false;
    deps_find(b.loop, &o, on_found, &b);
    run_until_stopped(b.loop, 5000);
    assert_false(file_exists(b.dirs.cache));
    find(&b);
    deps_find(b.loop, &o, on_found, &b);
    run_until_stopped(b.loop, 5000);
    assert_packages(&b, "cargo:serde:1.0.0 ");
    assert_int_equal(starts_in(b.log), 2);
    tear_down(&b);
}

/* What changed while the package manager looked is not taken for seen. */
static void a_watched_file_that_is_younger_than_the_question_is_not_cached(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    b.workspace.cargo = true;
    add_pm(&b, "cargo", "good",
           "{\"deps\":[],\"watch\":[\"../starts\"]}"); /* it writes there itself */
    find(&b);
    assert_false(file_exists(b.cache_file));
    tear_down(&b);
}

/* A program of the built-in package manager `pm`, whose only package has that name. */
static void write_program(struct bench *b, const char *pm, const char *path,
                          const char *package)
{
    struct error e = { 0 };
    const char *text = arena_printf(&b->scratch.arena,
                                    "#!/bin/sh\nexec %s %s good "
                                    "'[{\"pm\":\"%s\",\"name\":\"%s\",\"version\":\"1\"}]'\n",
                                    FAKE_PM, pm, pm, package);

    if (!file_mkdirs(path_dir(&b->scratch.arena, path), &e) ||
        !file_write_atomic(path, str_of(text), 0700, &e))
        fail_msg("%s", e.msg);
}

static void find_built_in(struct bench *b, const char *pm)
{
    struct arena *a = &b->scratch.arena;
    const char *name = arena_printf(a, "symposium-pm-%s", pm);
    const char *self = path_real(a, "/proc/self/exe", NULL);
    const char *beside = path_join(a, path_dir(a, self), name);

    unlink(beside); /* of a run that was killed */
    setenv("PATH", "/usr/bin:/bin", 1);
    find(b);
    assert_true(b->degraded);
    assert_has(buf_z(&b->problems), name);

    write_program(b, pm, path_join(a, scratch_path(&b->scratch, "bin"), name), "from-path");
    setenv("PATH", arena_printf(a, "%s/bin:/usr/bin:/bin", b->scratch.dir), 1);
    find(b);
    assert_packages(b, arena_printf(a, "%s:from-path:1 ", pm));

    write_program(b, pm, beside, "from-beside");
    find(b);
    unlink(beside);
    assert_packages(b, arena_printf(a, "%s:from-beside:1 ", pm));

    add_pm(b, pm, "good",
           arena_printf(a, "[{\"pm\":\"%s\",\"name\":\"own\",\"version\":\"1\"}]", pm));
    find(b);
    assert_packages(b, arena_printf(a, "%s:own:1 ", pm));
}

/* PM-11: next to our program, else in PATH; [[package-manager]] overrides. */
static void the_built_in_package_managers_are_found_by_name(void **state)
{
    static const char *const names[] = { "cargo", "npm" };
    char *path = mem_strdup(getenv("PATH"));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct bench b;

        set_up(&b);
        b.workspace.cargo = strcmp(names[i], "cargo") == 0;
        b.workspace.npm = !b.workspace.cargo;
        assert_true(pm_is_builtin(str_of(names[i])));
        find_built_in(&b, names[i]);
        tear_down(&b);
    }
    assert_false(pm_is_builtin(STR("pip")));
    setenv("PATH", path, 1);
    free(path);
}

static void only_package_managers_that_concern_the_workspace_are_asked(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    add_pm(&b, "cargo", "exit", "");
    add_pm(&b, "npm", "exit", "");
    find(&b);
    assert_packages(&b, "");
    assert_false(b.degraded);
    assert_false(file_exists(b.log));
    assert_false(file_exists(b.dirs.cache));
    tear_down(&b);
}

static void an_entry_that_cannot_run_says_why(void **state)
{
    static const struct {
        struct installation how;
        const char *problem;
    } cases[] = {
        { { .source = INSTALL_CARGO, .crate = { "x", 1 } },
          "package manager 'x': installation 'x' is not there yet; run 'symposium sync'" },
        { { .executable = { "no-such-program-anywhere", 24 } },
          "'no-such-program-anywhere' is not in PATH" },
        { { .executable = { "./gone", 6 } }, "config/gone" },
        { { .global = false }, "neither 'executable' nor 'script'" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up(&b);
        ARENA_PUSH(&b.scratch.arena, &b.config.pms) =
            (struct pm_config){ .name = STR("x"), .how = cases[i].how };
        find(&b);
        assert_true(b.degraded);
        assert_has(buf_z(&b.problems), cases[i].problem);
        tear_down(&b);
    }
}

static void a_script_without_the_exec_bit_is_run_by_sh(void **state)
{
    struct bench b;
    struct pm_config c = { .name = STR("x") };

    (void)state;
    set_up(&b);
    scratch_write(&b.scratch, "config/pm.sh", "exec \"$@\"\n");
    c.how.script = STR("pm.sh");
    ARENA_PUSH(&b.scratch.arena, &c.how.args) = str_of(FAKE_PM);
    ARENA_PUSH(&b.scratch.arena, &c.how.args) = STR("x");
    ARENA_PUSH(&b.scratch.arena, &b.config.pms) = c;
    find(&b);
    if (b.degraded)
        fail_msg("%s", buf_z(&b.problems));
    tear_down(&b);
}

static void on_gone(void *ctx)
{
    loop_stop(ctx);
}

/* PM-9: one process a run; a dead one stays dead, one with another definition is another. */
static void a_set_keeps_one_process_per_package_manager(void **state)
{
    struct bench b;
    struct pm_set *set;
    struct deps_opts o;

    (void)state;
    set_up(&b);
    set = pm_set_new(b.loop);
    add_pm(&b, "x", "good", "[]");
    o = opts(&b, set);
    o.write_cache = false;
    for (int i = 0; i < 3; i++) {
        deps_find(b.loop, &o, on_found, &b);
        run_until_stopped(b.loop, 5000);
    }
    assert_int_equal(starts_in(b.log), 1);
    b.config.pms.n = 0;
    add_pm(&b, "x", "die", "");
    for (int i = 0; i < 3; i++) {
        deps_find(b.loop, &o, on_found, &b);
        run_until_stopped(b.loop, 5000);
        assert_true(b.degraded);
    }
    assert_int_equal(starts_in(b.log), 2);
    pm_set_close(set, on_gone, b.loop);
    run_until_stopped(b.loop, 3000);
    pm_set_free(set);
    pm_set_free(NULL);

    set = pm_set_new(b.loop);
    pm_set_close(set, on_gone, b.loop); /* empty */
    run_until_stopped(b.loop, 100);
    pm_set_free(set);
    tear_down(&b);
}

static void a_cancelled_query_says_nothing(void **state)
{
    static const int after_ms[] = { 0, 30, 100 };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(after_ms); i++) {
        struct bench b;
        struct pm_set *set;
        struct deps_opts o;
        struct deps_query *q;

        set_up(&b);
        set = i % 2 ? pm_set_new(b.loop) : NULL;
        add_pm(&b, "x", "hang", "");
        o = opts(&b, set);
        q = deps_find(b.loop, &o, on_found, &b);
        run_for(b.loop, after_ms[i / 2]);
        deps_cancel(q);
        run_for(b.loop, 30);
        assert_int_equal(b.answers, 0);
        pm_set_free(set);
        tear_down(&b);
    }
    deps_cancel(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_all_package_managers_are_united_and_sorted),
        cmocka_unit_test(a_failing_package_manager_costs_only_its_own_part),
        cmocka_unit_test(ids_that_are_malformed_or_not_its_own_are_dropped),
        cmocka_unit_test(the_second_question_starts_no_process),
        cmocka_unit_test(a_cache_that_does_not_fit_any_more_is_not_used),
        cmocka_unit_test(without_write_cache_nothing_is_written_but_a_cache_is_read),
        cmocka_unit_test(a_watched_file_that_is_younger_than_the_question_is_not_cached),
        cmocka_unit_test(the_built_in_package_managers_are_found_by_name),
        cmocka_unit_test(only_package_managers_that_concern_the_workspace_are_asked),
        cmocka_unit_test(an_entry_that_cannot_run_says_why),
        cmocka_unit_test(a_script_without_the_exec_bit_is_run_by_sh),
        cmocka_unit_test(a_set_keeps_one_process_per_package_manager),
        cmocka_unit_test(a_cancelled_query_says_nothing),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests_name("pm/deps", tests, NULL, NULL);
}
