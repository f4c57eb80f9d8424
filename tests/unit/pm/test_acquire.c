/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PL-11: installations, with a script in place of cargo and repositories on this disk. */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lockdown/keeper.h"
#include "pm/acquire_all.h"
#include "pm/locate.h"

#define PATIENCE_MS 20000

struct bench {
    struct scratch scratch;
    struct loop *loop;
    struct dirs dirs;
    const char *cache;
    struct plugin plugin;
    /* of the last acquisition */
    struct buf argv, problems, progress; /* joined by '|' */
    struct error why;
    unsigned calls;
};

static void sh(struct bench *b, const char *script)
{
    const char *line =
        arena_printf(&b->scratch.arena,
                     "cd '%s' && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com "
                     "GIT_COMMITTER_NAME=a "
                     "GIT_COMMITTER_EMAIL=a@example.com && set -e && { %s\n} >>log 2>&1",
                     b->scratch.dir, script);

    if (system(line) != 0) /* NOLINT(cert-env33-c): the script is ours */
        fail_msg("set-up failed: %s", script);
}

static void set_up(struct bench *b)
{
    *b = (struct bench){ .argv = BUF(10000), .problems = BUF(10000), .progress = BUF(10000) };
    scratch_make(&b->scratch);
    b->loop = loop_new();
    b->cache = scratch_path(&b->scratch, "cache");
    b->dirs.cache = b->cache;
    b->plugin =
        (struct plugin){ .name = STR("p"), .dir = str_of(scratch_path(&b->scratch, "plugin")) };
    setenv("HOME", b->scratch.dir, 1);
    setenv("SYMPOSIUM_CARGO", scratch_path(&b->scratch, "fake-cargo"), 1);
    unsetenv("CARGO_HOME");
    unsetenv("CARGO_INSTALL_ROOT");
    sh(b, "mkdir plugin");
    /* Notes its arguments; installs the programs that $TOOLS names. */
    scratch_write(
        &b->scratch, "fake-cargo",
        "#!/bin/sh\n"
        "cd \"$(dirname \"$0\")\"\n"
        "echo \"$*\" >>calls\n"
        "root=$HOME/.cargo crate=\n"
        "while [ $# -gt 0 ]; do case $1 in --root) root=$2; shift;; esac; crate=$1; shift; "
        "done\n"
        "echo noise on stdout; echo noise on stderr >&2\n"
        "[ -z \"$SLOW\" ] || sleep $SLOW\n"
        "[ ! -e refuse ] || { echo 'error: could not compile' >&2; exit 101; }\n"
        "mkdir -p $root/bin\n"
        "for t in ${TOOLS:-$crate}; do printf '#!/bin/sh\\necho '$t >$root/bin/$t; chmod +x "
        "$root/bin/$t; done\n");
    sh(b, "chmod +x fake-cargo");
    unsetenv("TOOLS");
    unsetenv("SLOW");
}

static void tear_down(struct bench *b)
{
    loop_free(b->loop);
    buf_free(&b->argv);
    buf_free(&b->problems);
    buf_free(&b->progress);
    scratch_free(&b->scratch);
}

static struct strs words(struct bench *b, const char *spaced)
{
    struct strs l = { 0 };
    struct str rest = str_of(spaced), word;

    while (str_cut(rest, ' ', &word, &rest))
        ARENA_PUSH(&b->scratch.arena, &l) = word;
    if (rest.n)
        ARENA_PUSH(&b->scratch.arena, &l) = rest;
    return l;
}

static struct installation *add(struct bench *b, const char *name, const char *requirements)
{
    ARENA_PUSH(&b->scratch.arena, &b->plugin.installations) =
        (struct installation){ .name = str_of(name), .requirements = words(b, requirements) };
    return &b->plugin.installations.v[b->plugin.installations.n - 1];
}

static void add_commands(struct bench *b, const char *name, const char *requirements,
                         const char *command)
{
    struct installation *in = add(b, name, requirements);

    ARENA_PUSH(&b->scratch.arena, &in->install_commands) = str_of(command);
}

static void join(struct buf *to, const struct strs *l)
{
    buf_clear(to);
    for (size_t i = 0; i < l->n; i++)
        buf_addf(to, "%s%.*s", i ? "|" : "", STR_F(l->v[i]));
}

static void on_done(void *ctx, const struct acquired *got, const struct error *why)
{
    struct bench *b = ctx;

    join(&b->argv, &got->argv);
    join(&b->problems, &got->problems);
    b->why = why ? *why : (struct error){ 0 };
    b->calls++;
    loop_stop(b->loop);
}

static void on_progress(void *ctx, struct str line)
{
    struct bench *b = ctx;

    buf_addf(&b->progress, "%.*s\n", STR_F(line));
}

static struct acquire *start(struct bench *b, const char *name, const char *requirements,
                             struct acquire_opts o)
{
    static const struct acquire_ops ops = { on_progress, on_done };
    struct install_use use = { .name = str_of(name), .requirements = words(b, requirements) };
    struct install_plan plan;
    struct error e = { 0 };

    if (!install_plan_make(&plan, &b->scratch.arena, &b->plugin, &use, &e))
        fail_msg("%s", e.msg);
    o.cache_dir = b->cache;
    o.plan = &plan;
    return acquire_start(b->loop, &o, &ops, b);
}

static void run(struct bench *b, const char *name, enum update_level level)
{
    unsigned calls = b->calls;

    buf_clear(&b->progress);
    start(b, name, "", (struct acquire_opts){ .level = level });
    run_until_stopped(b->loop, PATIENCE_MS);
    assert_int_equal(b->calls, calls + 1);
}

static void run_well(struct bench *b, const char *name, enum update_level level)
{
    run(b, name, level);
    if (b->why.kind)
        fail_msg("%s", b->why.msg);
}

static const char *text_of(struct bench *b, const char *name)
{
    struct buf text = BUF(100000);
    const char *kept;

    file_read(scratch_path(&b->scratch, name), &text, NULL);
    kept = arena_z(&b->scratch.arena, buf_str(&text));
    buf_free(&text);
    return kept;
}

static size_t lines_in(struct bench *b, const char *name)
{
    size_t n = 0;

    for (const char *at = text_of(b, name); *at; at++)
        n += *at == '\n';
    return n;
}

/* ---- plans ---- */

static void requirements_stand_before_what_requires_them(void **state)
{
    static const struct {
        const char *name, *requirements, *want;
    } cases[] = {
        { "d", "", "a b c d" },    { "a", "", "a" },      { "", "c", "a c" },
        { "b", "d", "a b c d b" }, { "a", "b", "a b a" }, { "c", "c c", "a c" },
    };
    struct bench b;

    set_up(&b);
    add(&b, "a", "")->executable = STR("x");
    add(&b, "b", "a")->executable = STR("x");
    add(&b, "c", "a")->executable = STR("x");
    add(&b, "d", "b c")->executable = STR("x");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct install_use use = { .name = str_of(cases[i].name),
                                   .requirements = words(&b, cases[i].requirements) };
        struct install_plan plan, copy;
        auto_buf got = BUF(1000);

        assert_true(install_plan_make(&plan, &b.scratch.arena, &b.plugin, &use, NULL));
        for (size_t k = 0; k < plan.n; k++) {
            buf_addf(&got, "%s%.*s", k ? " " : "", STR_F(plan.v[k].in.name));
            for (size_t m = 0; m < plan.v[k].needs.n; m++)
                assert_true(plan.v[k].needs.v[m] < k);
        }
        assert_string_equal(buf_z(&got), cases[i].want);
        assert_int_equal(plan.runs, *cases[i].name != 0);
        copy = install_plan_copy(&b.scratch.arena, &plan);
        assert_true(install_plan_same(&plan, &copy));
        copy.runs = !copy.runs;
        assert_false(install_plan_same(&plan, &copy));
    }
    tear_down(&b);
}

/* PL-11, PL-12 */
static void a_plan_that_cannot_be_made_says_why(void **state)
{
    static const struct {
        const char *name;
        enum err_kind kind;
        const char *says;
    } cases[] = {
        { "one", ERR_INVALID, "require each other: 'one' -> 'two' -> 'three' -> 'one'" },
        { "self", ERR_INVALID, "'self' -> 'self'" },
        { "into", ERR_INVALID, "'one' -> 'two'" },
        { "absent", ERR_NOT_FOUND, "references unknown installation 'absent'" },
        { "half", ERR_NOT_FOUND, "references unknown installation 'nothing'" },
        { "setup", ERR_INVALID, "has no 'executable' or 'script' to run" },
    };
    struct bench b;

    set_up(&b);
    add(&b, "one", "two");
    add(&b, "two", "three");
    add(&b, "three", "one");
    add(&b, "self", "self");
    add(&b, "into", "one");
    add(&b, "half", "nothing");
    add_commands(&b, "setup", "", "true");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct install_use use = { .name = str_of(cases[i].name) };
        struct install_plan plan;
        struct error e = { 0 };

        assert_false(install_plan_make(&plan, &b.scratch.arena, &b.plugin, &use, &e));
        assert_int_equal(e.kind, cases[i].kind);
        assert_has(e.msg, cases[i].says);
    }
    tear_down(&b);
}

/* ---- commands ---- */

static void commands_run_once_in_order_behind_their_requirements(void **state)
{
    struct bench b;
    struct installation *in;

    set_up(&b);
    add_commands(&b, "base", "", "echo base >>order");
    in = add(&b, "tool", "base");
    in->script = STR("run");
    ARENA_PUSH(&b.scratch.arena, &in->install_commands) = STR("echo one >>order; echo out");
    ARENA_PUSH(&b.scratch.arena, &in->install_commands) = STR("pwd >>order; echo err >&2");
    in->args = words(&b, "x y");
    run(&b, "tool", UPDATE_NONE);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    assert_has(b.why.msg, "not there yet; run 'symposium sync'");
    assert_false(file_exists(b.cache));

    run_well(&b, "tool", UPDATE_CHECK);
    assert_string_equal(
        text_of(&b, "plugin/order"),
        arena_printf(&b.scratch.arena, "base\none\n%s/plugin\n", b.scratch.dir));
    assert_string_equal(
        buf_z(&b.argv),
        arena_printf(&b.scratch.arena, "/bin/sh|%s/plugin/run|x|y", b.scratch.dir));
    assert_has(buf_z(&b.progress), "plugin 'p': installing 'base': echo base");

    run_well(&b, "tool", UPDATE_CHECK);
    assert_int_equal(lines_in(&b, "plugin/order"), 3);
    assert_string_equal(buf_z(&b.progress), "");
    run_well(&b, "tool", UPDATE_NONE);
    run_well(&b, "tool", UPDATE_FETCH); /* all anew */
    assert_int_equal(lines_in(&b, "plugin/order"), 6);

    /* another command is another step; so is another directory under the name */
    b.plugin.installations.v[0].install_commands.v[0] = STR("echo base2 >>order");
    run_well(&b, "tool", UPDATE_CHECK);
    assert_int_equal(lines_in(&b, "plugin/order"), 7);
    sh(&b, "mv plugin old && cp -r old plugin");
    run_well(&b, "tool", UPDATE_CHECK);
    assert_int_equal(lines_in(&b, "plugin/order"), 10);
    tear_down(&b);
}

static void a_failing_command_is_told_and_tried_again(void **state)
{
    struct bench b;

    set_up(&b);
    add_commands(&b, "tool", "",
                 "echo >>tries; echo working; printf 'first\\nlast \\033[31mwords\\n' >&2; "
                 "test -e ok");
    b.plugin.installations.v[0].executable = STR("./x");
    run(&b, "tool", UPDATE_CHECK);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    assert_has(b.why.msg, "installation 'tool': 'echo >>tries; echo working");
    assert_has(b.why.msg, "exited with status 1: working | first | last words");
    assert_string_equal(buf_z(&b.argv), "");
    sh(&b, "echo >plugin/ok");
    run_well(&b, "tool", UPDATE_CHECK);
    run_well(&b, "tool", UPDATE_CHECK);
    assert_int_equal(lines_in(&b, "plugin/tries"), 2);
    tear_down(&b);
}

/* MS-59: what fails of the requirements is a problem, what fails of the program is its end. */
static void a_failed_requirement_stops_only_what_needs_it(void **state)
{
    struct bench b;

    set_up(&b);
    add_commands(&b, "bad", "", "exit 3");
    add_commands(&b, "worse", "bad", "echo >>ran");
    add_commands(&b, "fine", "", "echo >>ran");
    add(&b, "tool", "")->executable = STR("./x");
    add(&b, "needy", "worse")->executable = STR("./x");

    start(&b, "tool", "bad worse fine", (struct acquire_opts){ .level = UPDATE_CHECK });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_has(buf_z(&b.argv), "/plugin/x");
    assert_string_equal(
        buf_z(&b.problems),
        "installation 'bad': 'exit 3' exited with status 3|installation 'worse': what "
        "it requires failed: installation 'bad': 'exit 3' exited with status 3");
    assert_int_equal(lines_in(&b, "plugin/ran"), 1);

    start(&b, "", "bad", (struct acquire_opts){ .level = UPDATE_CHECK });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_has(buf_z(&b.problems), "status 3");

    run(&b, "needy", UPDATE_CHECK);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    assert_has(b.why.msg,
               "installation 'needy': what it requires failed: installation 'worse'");
    tear_down(&b);
}

static void a_command_that_does_not_end_is_ended_with_all_it_started(void **state)
{
    struct bench b;

    set_up(&b);
    add_commands(&b, "tool", "", "setsid sleep 1000 & echo $! >pid; sleep 1000");
    b.plugin.installations.v[0].executable = STR("./x");
    start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK, .step_ms = 500 });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_has(b.why.msg, "did not end in time");
    run_for(b.loop, 500);
    sh(&b, "! kill -0 $(cat plugin/pid)");
    tear_down(&b);
}

/* What they print is nobody's protocol (MS-1): fd 1 of ours stays clean, and they have no
 * stdin. */
static void commands_get_neither_our_stdin_nor_our_stdout(void **state)
{
    struct bench b;
    int pipefd[2], kept = dup(1);
    char got[100];

    set_up(&b);
    add_commands(&b, "tool", "", "echo loud; cat >stdin; env >env");
    b.plugin.installations.v[0].executable = STR("./x");
    setenv("SYMPOSIUM_SECRET", "1", 1);
    setenv("GIT_DIR", "/elsewhere", 1);
    assert_int_equal(pipe2(pipefd, O_CLOEXEC | O_NONBLOCK), 0);
    fflush(stdout);
    dup2(pipefd[1], 1);
    run(&b, "tool", UPDATE_CHECK);
    dup2(kept, 1);
    close(kept);
    assert_int_equal(read(pipefd[0], got, sizeof got), -1);
    close(pipefd[0]);
    close(pipefd[1]);
    unsetenv("SYMPOSIUM_SECRET");
    unsetenv("GIT_DIR");
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_string_equal(text_of(&b, "plugin/stdin"), "");
    assert_lacks(text_of(&b, "plugin/env"), "SYMPOSIUM_");
    assert_lacks(text_of(&b, "plugin/env"), "GIT_DIR");
    tear_down(&b);
}

/* ---- cargo ---- */

/* PL-11 */
static void cargo_installs_into_the_cache(void **state)
{
    static const struct {
        struct installation in;
        const char *tools, *call, *argv; /* call: what follows --root DIR */
    } cases[] = {
        { { .crate = STR("ripgrep") },
          NULL,
          "ripgrep",
          "/binaries/ripgrep/latest/bin/ripgrep" },
        { { .crate = STR("ripgrep"), .version = STR("1.2.3") },
          "rg",
          "--version 1.2.3 ripgrep",
          "/binaries/ripgrep/1.2.3/bin/rg" },
        { { .crate = STR("ripgrep"), .executable = STR("rg") },
          "rg other",
          "ripgrep",
          "/binaries/ripgrep/latest/bin/rg" },
        { { .crate = STR("ripgrep"), .version = STR("^1") },
          NULL,
          "--version ^1 ripgrep",
          "/binaries/ripgrep/req-" },
        { { .crate = STR("x"), .git = STR("https://example.com/x"), .executable = STR("x") },
          NULL,
          "--git https://example.com/x x",
          "/binaries/x/git-" },
        { { .crate = STR("x_y-2") }, "x_y-2 z", "x_y-2", "/binaries/x_y-2/latest/bin/x_y-2" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;
        struct installation *in;
        const char *call;

        set_up(&b);
        if (cases[i].tools)
            setenv("TOOLS", cases[i].tools, 1);
        in = add(&b, "tool", "");
        *in = cases[i].in;
        in->name = STR("tool");
        in->source = INSTALL_CARGO;
        in->args = words(&b, "--serve");
        run_well(&b, "tool", UPDATE_CHECK);
        assert_has(buf_z(&b.argv), cases[i].argv);
        assert_has(buf_z(&b.argv), "|--serve");
        call = text_of(&b, "calls");
        assert_true(str_starts(str_of(call), STR("install --locked --root /")));
        assert_has(call, arena_printf(&b.scratch.arena, " %s\n", cases[i].call));
        assert_has(buf_z(&b.progress), "installing 'tool': cargo install");
        run_well(&b, "tool", UPDATE_CHECK);
        assert_int_equal(lines_in(&b, "calls"), 1);
        run_well(&b, "tool", UPDATE_FETCH);
        assert_int_equal(lines_in(&b, "calls"), 2);
        sh(&b, "test -z \"$(ls cache/binaries/.new)\"");
        tear_down(&b);
    }
}

static void what_cargo_cannot_do_is_told(void **state)
{
    static const struct {
        struct installation in;
        const char *prepare, *tools, *says;
    } cases[] = {
        { { .crate = STR("x") },
          "touch refuse",
          NULL,
          "'cargo install x' exited with status 101: noise on stdout | noise on stderr | "
          "error: could "
          "not compile" },
        { { .crate = STR("x") }, "rm fake-cargo", NULL, "no 'cargo' in PATH; install it" },
        { { .crate = STR("x") }, "true", "a b", "several programs (a, b); name one" },
        { { .crate = STR("x"), .executable = STR("y") },
          "true",
          NULL,
          "installed no program 'y'" },
        { { .crate = STR("x"), .executable = STR("../../../../fake-cargo") },
          "true",
          NULL,
          "installed no program" },
        { { .crate = STR("--config=x") }, "true", NULL, "no name of a crate" },
        { { .crate = STR("../x") }, "true", NULL, "no name of a crate" },
        { { .crate = STR("x"), .version = STR("--config=x") }, "true", NULL, "must not begin" },
        { { .crate = STR("x"), .git = STR("-x"), .executable = STR("x") },
          "true",
          NULL,
          "must not begin" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;
        struct installation *in;

        set_up(&b);
        sh(&b, cases[i].prepare);
        if (cases[i].tools)
            setenv("TOOLS", cases[i].tools, 1);
        in = add(&b, "tool", "");
        *in = cases[i].in;
        in->name = STR("tool");
        in->source = INSTALL_CARGO;
        run(&b, "tool", UPDATE_CHECK);
        assert_int_not_equal(b.why.kind, ERR_NONE);
        assert_has(b.why.msg, cases[i].says);
        assert_has(b.why.msg, "'tool'");
        tear_down(&b);
    }
}

static void a_global_program_is_cargo_s_own(void **state)
{
    struct bench b;
    struct installation *in;

    set_up(&b);
    in = add(&b, "tool", "");
    in->source = INSTALL_CARGO;
    in->crate = STR("some-global-tool");
    in->executable = STR("some-global-tool");
    in->global = true;
    run_well(&b, "tool", UPDATE_CHECK);
    assert_string_equal(text_of(&b, "calls"), "install --locked some-global-tool\n");
    assert_string_equal(buf_z(&b.argv),
                        scratch_path(&b.scratch, ".cargo/bin/some-global-tool"));
    run_well(&b, "tool", UPDATE_CHECK);
    assert_int_equal(lines_in(&b, "calls"), 1);
    tear_down(&b);
}

/* A crash in the middle leaves what was there, and no half-made program. */
static void an_installation_killed_in_the_middle_is_made_again(void **state)
{
    struct bench b;
    struct installation *in;

    set_up(&b);
    setenv("SLOW", "1000", 1);
    in = add(&b, "tool", "");
    in->source = INSTALL_CARGO;
    in->crate = STR("x");
    for (int ms = 0; ms < 100; ms += 20) {
        struct acquire *q =
            start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK });

        run_for(b.loop, ms);
        acquire_cancel(q);
    }
    assert_int_equal(b.calls, 0);
    assert_false(file_exists(scratch_path(&b.scratch, "cache/binaries/x/latest")));
    unsetenv("SLOW");
    run_well(&b, "tool", UPDATE_CHECK);
    tear_down(&b);
}

/* HK-6 */
static void installed_programs_are_a_prefix_of_the_path(void **state)
{
    struct bench b;
    const struct plugin *p = &b.plugin;
    struct installation *in;

    set_up(&b);
    in = add(&b, "tool", "");
    in->source = INSTALL_CARGO;
    in->crate = STR("x");
    add(&b, "other", "");
    assert_str(install_path_prefix(&b.scratch.arena, b.cache, &p, 1), "");
    run_well(&b, "tool", UPDATE_CHECK);
    assert_str(install_path_prefix(&b.scratch.arena, b.cache, &p, 1),
               scratch_path(&b.scratch, "cache/binaries/x/latest/bin"));
    tear_down(&b);
}

static void commands_find_what_their_requirements_installed(void **state)
{
    struct bench b;
    struct installation *in;

    set_up(&b);
    in = add(&b, "tool", "");
    in->source = INSTALL_CARGO;
    in->crate = STR("special-tool");
    add_commands(&b, "user", "tool", "special-tool >out");
    start(&b, "", "user", (struct acquire_opts){ .level = UPDATE_CHECK });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_string_equal(buf_z(&b.problems), "");
    assert_string_equal(text_of(&b, "plugin/out"), "special-tool\n");
    tear_down(&b);
}

/* ---- github ---- */

static void a_repository_brings_its_programs(void **state)
{
    struct bench b;
    struct installation *in;
    const char *dir;

    set_up(&b);
    sh(&b, "mkdir up && git init -q -b main up/repo && cd up/repo && mkdir bin && "
           "printf '#!/bin/sh\\necho hi\\n' >bin/tool && chmod +x bin/tool && git add -A && "
           "git commit -q -m one");
    in = add(&b, "tool", "");
    in->source = INSTALL_GITHUB;
    in->url = str_of(
        arena_printf(&b.scratch.arena, "file://%s/up/repo/tree/main/bin", b.scratch.dir));
    in->executable = STR("tool");
    ARENA_PUSH(&b.scratch.arena, &in->install_commands) =
        STR("echo >>made; cat made | wc -l >n");
    run(&b, "tool", UPDATE_NONE);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    run_well(&b, "tool", UPDATE_CHECK);
    assert_has(buf_z(&b.argv), "/cache/plugin-sources/up--repo@main--bin+");
    dir = buf_z(&b.argv);
    assert_true(str_ends(str_of(dir), STR("/tool")));
    assert_int_equal(access(dir, X_OK), 0);
    assert_has(buf_z(&b.progress), "fetching file:///");

    /* there: nobody is asked, nothing runs again */
    sh(&b, "mv up gone");
    run_well(&b, "tool", UPDATE_CHECK);
    assert_string_equal(buf_z(&b.progress), "");
    /* asked, in vain: what is there is used */
    start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK, .refresh = true });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    /* a new commit: the commands run in the new checkout */
    sh(&b,
       "mv gone up && cd up/repo && echo >new && git add -A && git commit -q -m two && find "
       "../../cache -name '*.fetch' -exec touch -d '1 hour ago' {} +");
    start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK, .refresh = true });
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    sh(&b, "test $(cat cache/plugin-sources/*/n) = 1");
    tear_down(&b);
}

static void a_url_that_git_could_misread_is_an_error(void **state)
{
    struct bench b;
    struct installation *in;

    set_up(&b);
    in = add(&b, "tool", "");
    in->source = INSTALL_GITHUB;
    in->url = STR("ext::sh -c touch% x");
    in->executable = STR("x");
    run(&b, "tool", UPDATE_CHECK);
    assert_has(b.why.msg, "installation 'tool': git source");
    tear_down(&b);
}

/* ---- several at a time ---- */

static pid_t acquire_in_process(struct bench *b)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    b->loop = loop_new();
    start(b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK });
    loop_run(b->loop);
    _exit(b->why.kind ? 1 : 0);
}

static void processes_that_want_the_same_do_it_once(void **state)
{
    struct bench b;
    struct installation *in;
    pid_t pid[4];

    set_up(&b);
    setenv("SLOW", "0.3", 1);
    in = add(&b, "tool", "");
    in->source = INSTALL_CARGO;
    in->crate = STR("x");
    ARENA_PUSH(&b.scratch.arena, &in->install_commands) = STR("echo >>made");
    for (size_t i = 0; i < ARRAY_LEN(pid); i++)
        pid[i] = acquire_in_process(&b);
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        int status;

        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    unsetenv("SLOW");
    assert_int_equal(lines_in(&b, "calls"), 1);
    assert_int_equal(lines_in(&b, "plugin/made"), 1);
    tear_down(&b);
}

static void two_in_one_process_do_it_once(void **state)
{
    struct bench b;

    set_up(&b);
    add_commands(&b, "tool", "", "echo >>made; sleep 0.2");
    b.plugin.installations.v[0].executable = STR("./x");
    start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK });
    start(&b, "tool", "", (struct acquire_opts){ .level = UPDATE_CHECK });
    while (b.calls < 2)
        run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_int_equal(lines_in(&b, "plugin/made"), 1);
    assert_has(buf_z(&b.progress), "waiting for another process");
    tear_down(&b);
}

/* ---- all that plugins and package managers need ---- */

static void on_all(void *ctx, const struct strs *problems)
{
    struct bench *b = ctx;

    join(&b->problems, problems);
    loop_stop(b->loop);
}

static const struct acquire_all_ops all_ops = { on_progress, on_all };

static void run_plugins(struct bench *b, enum update_level level, bool session_start)
{
    const struct plugin *p = &b->plugin;

    buf_clear(&b->progress);
    acquire_plugins(b->loop,
                    &(struct acquire_all_opts){
                        .cache_dir = b->cache, .level = level, .session_start = session_start },
                    &p, 1, &all_ops, b);
    run_until_stopped(b->loop, PATIENCE_MS);
}

/* A plugin with one of each: what each brings notes itself in `made`. */
static void add_one_of_each(struct bench *b)
{
    struct arena *a = &b->scratch.arena;
    static const char *const names[] = { "server", "need", "hook", "predicate", "command" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        add_commands(b, names[i], "", arena_printf(a, "echo %s >>made", names[i]));
        b->plugin.installations.v[i].executable = STR("./x");
    }
    ARENA_PUSH(a, &b->plugin.servers) = (struct server_def){ .name = STR("s"),
                                                             .installation = STR("server"),
                                                             .requirements = words(b, "need") };
    ARENA_PUSH(a, &b->plugin.hooks) = (struct hook){ .name = STR("h"), .command = STR("hook") };
    ARENA_PUSH(a, &b->plugin.predicates) =
        (struct custom_predicate){ .name = STR("p"), .command = STR("predicate") };
    ARENA_PUSH(a, &b->plugin.subcommands) =
        (struct subcommand){ .name = STR("c"), .command = STR("command") };
}

static void sync_acquires_all_that_a_plugin_names(void **state)
{
    struct bench b;

    set_up(&b);
    add_one_of_each(&b);
    run_plugins(&b, UPDATE_NONE, false);
    assert_has(buf_z(&b.problems),
               "plugin 'p', server 's': installation 'server': it is not there yet");
    assert_false(file_exists(b.cache));
    run_plugins(&b, UPDATE_CHECK, false);
    assert_string_equal(buf_z(&b.problems), "");
    assert_string_equal(text_of(&b, "plugin/made"), "need\nserver\nhook\npredicate\ncommand\n");
    run_plugins(&b, UPDATE_CHECK, false);
    assert_int_equal(lines_in(&b, "plugin/made"), 5);
    tear_down(&b);
}

/* MS-59: requirements, and what has no first use that could wait; a program that is there is
 * only brought up to date. */
static void the_start_of_a_session_acquires_what_cannot_wait(void **state)
{
    struct bench b;

    set_up(&b);
    add_one_of_each(&b);
    run_plugins(&b, UPDATE_CHECK, true);
    assert_string_equal(buf_z(&b.problems), "");
    assert_string_equal(text_of(&b, "plugin/made"), "need\nhook\npredicate\n");
    run_well(&b, "server", UPDATE_CHECK);
    b.plugin.installations.v[0].install_commands.v[0] = STR("exit 1");
    run_plugins(&b, UPDATE_CHECK, true); /* not there as it is now: nothing is tried */
    assert_string_equal(buf_z(&b.problems), "");
    tear_down(&b);
}

static void one_failure_does_not_stop_the_rest(void **state)
{
    struct bench b;

    set_up(&b);
    add_one_of_each(&b);
    b.plugin.installations.v[0].install_commands.v[0] = STR("exit 4");
    b.plugin.installations.v[2].requirements = words(&b, "hook");
    run_plugins(&b, UPDATE_CHECK, false);
    assert_has(buf_z(&b.problems),
               "plugin 'p', server 's': installation 'server': 'exit 4' exited with");
    assert_has(buf_z(&b.problems), "plugin 'p', hook 'h': installations require each other");
    assert_string_equal(text_of(&b, "plugin/made"), "need\npredicate\ncommand\n");
    tear_down(&b);
}

/* PM-11, PL-11 */
static void a_package_manager_may_be_installed_too(void **state)
{
    struct bench b;
    struct config c = { 0 };
    struct workspace ws = { .root = STR("/") };
    struct pm_programs found;

    set_up(&b);
    b.dirs.config = scratch_path(&b.scratch, "plugin");
    ARENA_PUSH(&b.scratch.arena, &c.pms) = (struct pm_config){
        .name = STR("x"),
        .how = { .source = INSTALL_CARGO, .crate = STR("pm-x"), .args = words(&b, "--go") }
    };
    pm_locate(&found, &b.scratch.arena, &b.dirs, &c, &ws);
    assert_int_equal(found.n, 1);
    assert_null(found.v[0].argv);
    assert_str(found.v[0].problem,
               "package manager 'x': installation 'x' is not there yet; run 'symposium sync'");
    acquire_package_managers(
        b.loop, &(struct acquire_all_opts){ .cache_dir = b.cache, .level = UPDATE_CHECK },
        &b.dirs, &c, &ws, &all_ops, &b);
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_string_equal(buf_z(&b.problems), "");
    pm_locate(&found, &b.scratch.arena, &b.dirs, &c, &ws);
    assert_string_equal(found.v[0].argv[0],
                        scratch_path(&b.scratch, "cache/binaries/pm-x/latest/bin/pm-x"));
    assert_string_equal(found.v[0].argv[1], "--go");
    assert_string_equal(found.v[0].file, found.v[0].argv[0]);
    tear_down(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_stand_before_what_requires_them),
        cmocka_unit_test(a_plan_that_cannot_be_made_says_why),
        cmocka_unit_test(commands_run_once_in_order_behind_their_requirements),
        cmocka_unit_test(a_failing_command_is_told_and_tried_again),
        cmocka_unit_test(a_failed_requirement_stops_only_what_needs_it),
        cmocka_unit_test(a_command_that_does_not_end_is_ended_with_all_it_started),
        cmocka_unit_test(commands_get_neither_our_stdin_nor_our_stdout),
        cmocka_unit_test(cargo_installs_into_the_cache),
        cmocka_unit_test(what_cargo_cannot_do_is_told),
        cmocka_unit_test(a_global_program_is_cargo_s_own),
        cmocka_unit_test(an_installation_killed_in_the_middle_is_made_again),
        cmocka_unit_test(installed_programs_are_a_prefix_of_the_path),
        cmocka_unit_test(commands_find_what_their_requirements_installed),
        cmocka_unit_test(a_repository_brings_its_programs),
        cmocka_unit_test(a_url_that_git_could_misread_is_an_error),
        cmocka_unit_test(processes_that_want_the_same_do_it_once),
        cmocka_unit_test(two_in_one_process_do_it_once),
        cmocka_unit_test(sync_acquires_all_that_a_plugin_names),
        cmocka_unit_test(the_start_of_a_session_acquires_what_cannot_wait),
        cmocka_unit_test(one_failure_does_not_stop_the_rest),
        cmocka_unit_test(a_package_manager_may_be_installed_too),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("pm/acquire", tests, NULL, NULL);
}
