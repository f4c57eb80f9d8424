/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/hook_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "plugins/installation.h"

#define WHY_MAX 256

/* ---- command and environment ---- */

struct building {
    struct arena *a;
    const char *cache_dir;
    const struct plugin *owner;
    struct key_values vars; /* HK-6 */
    struct str path;        /* directories in front of PATH, the command's first */
};

/* The program in a command line: a script without exec bit stands behind the shell. */
static struct str program_of(const struct strs *argv)
{
    bool shell = argv->n > 1 && str_is(argv->v[0], "/bin/sh");

    return argv->v[shell ? 1 : 0];
}

/* Ours mean something to whatever symposium a hook may start. */
static bool is_our_own(const char *name)
{
    static const char *const own[] = { "SYMPOSIUM_HOME", "SYMPOSIUM_HOOK_TRACE" };

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (!strcmp(name, own[i]))
            return true;
    return false;
}

static void add_var(struct building *b, const char *prefix, struct str name, struct str value)
{
    char *key = arena_printf(b->a, "%s%.*s", prefix, STR_F(name));

    for (char *c = key; *c; c++)
        if (!ascii_alnum(*c))
            *c = '_';
    if (!is_our_own(key))
        ARENA_PUSH(b->a, &b->vars) = (struct key_value){ str_of(key), value };
}

static void add_program(struct building *b, struct str name, const struct strs *argv)
{
    struct str program = program_of(argv);
    const char *dir;

    if (!program.n || program.p[0] != '/')
        return;
    add_var(b, "SYMPOSIUM_", name, program);
    dir = path_dir(b->a, arena_z(b->a, program));
    if (!strchr(dir, ':'))
        b->path =
            str_of(arena_printf(b->a, "%s%s%.*s", dir, b->path.n ? ":" : "", STR_F(b->path)));
}

/* A requirement is for the hook to miss, not for us. */
static void add_requirement(struct building *b, const struct install_step *s)
{
    struct install_plan plan;
    struct strs argv = { 0 };
    struct error e = { 0 };

    if (!install_step_ready(s, b->cache_dir)) {
        log_debug("plugin '%.*s': requirement '%.*s' is not there yet; 'symposium sync' brings "
                  "it",
                  STR_F(b->owner->name), STR_F(s->in.name));
        return;
    }
    if (install_plan_make(&plan, b->a, b->owner, &(struct install_use){ .name = s->in.name },
                          &e) &&
        install_plan_argv(b->a, &plan, b->cache_dir, &argv, &e))
        add_program(b, s->in.name, &argv);
}

/* What later stands in front replaces, so the list is ours without the names that are set. */
static const char **environment(const struct building *b)
{
    struct strs all = { 0 };
    const char **env, *path = getenv("PATH");

    for (char **v = environ; *v; v++) {
        struct str name = { *v, strcspn(*v, "=") };
        bool replaced = b->path.n && str_is(name, "PATH");

        for (size_t i = 0; i < b->vars.n && !replaced; i++)
            replaced = str_eq(b->vars.v[i].key, name);
        if (!replaced)
            ARENA_PUSH(b->a, &all) = str_of(*v);
    }
    for (size_t i = 0; i < b->vars.n; i++)
        ARENA_PUSH(b->a, &all) = str_of(arena_printf(b->a, "%.*s=%.*s", STR_F(b->vars.v[i].key),
                                                     STR_F(b->vars.v[i].value)));
    if (b->path.n)
        ARENA_PUSH(b->a, &all) = str_of(arena_printf(b->a, "PATH=%.*s%s%s", STR_F(b->path),
                                                     path ? ":" : "", path ? path : ""));
    env = ARENA_ARRAY(b->a, const char *, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        env[i] = all.v[i].p;
    return env;
}

bool hook_command_make(struct hook_command *ret, struct arena *a, const char *cache_dir,
                       const struct plugin *owner, const struct hook *hook, struct error *e)
{
    struct building b = { .a = a, .cache_dir = cache_dir, .owner = owner };
    struct install_use use = install_use_of_hook(hook);
    struct install_plan plan;
    struct strs argv = { 0 };

    if (!install_plan_make(&plan, a, owner, &use, e) ||
        !install_plan_argv(a, &plan, cache_dir, &argv, e))
        return false;
    for (size_t i = 0; i < plan.n; i++) {
        const struct install_step *s = &plan.v[i];

        if (s->in.source != INSTALL_NONE)
            add_var(&b, "SYMPOSIUM_DIR_", s->in.name,
                    str_of(install_step_dir(a, cache_dir, s)));
        if (i + 1 < plan.n)
            add_requirement(&b, s);
    }
    add_program(&b, plan.v[plan.n - 1].in.name, &argv);
    ret->argv = ARENA_ARRAY(a, const char *, argv.n + 1);
    for (size_t i = 0; i < argv.n; i++)
        ret->argv[i] = arena_z(a, argv.v[i]);
    ret->env = environment(&b);
    return true;
}

/* ---- running ---- */

struct hook_run {
    struct child *child;    /* NULL: could not be started */
    struct timer *deadline; /* also reports a failed start, at 0 ms */
    struct buf out, err;
    int64_t began_ms;
    int timeout_ms;
    char why[WHY_MAX]; /* it failed, by our own doing; else empty */
    void (*done)(void *ctx, const struct hook_result *how);
    void *ctx;
};

static const struct child_ladder at_deadline = { .term_ms = 0, .kill_ms = HOOK_KILL_MS };

/* The last act: `done` may free the run. */
static void finish(struct hook_run *r, enum hook_end end)
{
    struct hook_result how = { .end = end,
                               .out = buf_str(&r->out),
                               .err = str_trim(buf_str(&r->err)),
                               .why = r->why,
                               .ms = (int)(clock_ms() - r->began_ms) };

    timer_clear(r->deadline);
    child_free(r->child);
    r->child = NULL;
    r->done(r->ctx, &how);
}

static void give_up(struct hook_run *r)
{
    timer_clear(r->deadline);
    child_stop(r->child, at_deadline);
}

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct hook_run *r = ctx;

    if (stream == CHILD_STDERR) {
        buf_add_last(&r->err, bytes);
        return;
    }
    buf_add(&r->out, bytes);
    if (r->out.over && !r->why[0]) {
        snprintf(r->why, sizeof r->why, "printed more than %zu bytes", HOOK_MAX_OUTPUT);
        give_up(r);
    }
}

static void on_exit_seen(void *ctx, const struct child_exit *how)
{
    struct hook_run *r = ctx;

    if (!r->why[0] && how->exec_errno)
        snprintf(r->why, sizeof r->why, "cannot be executed: %s", strerror(how->exec_errno));
    else if (!r->why[0] && !how->signal && how->code != 0 && how->code != 2)
        snprintf(r->why, sizeof r->why, "exited with status %d", how->code);
    finish(r, r->why[0]                       ? HOOK_FAILED
              : how->signal || how->code == 2 ? HOOK_BLOCKED
                                              : HOOK_ANSWERED);
}

static void on_deadline(void *ctx)
{
    struct hook_run *r = ctx;

    if (!r->child) {
        finish(r, HOOK_FAILED);
        return;
    }
    if (!r->why[0])
        snprintf(r->why, sizeof r->why, "did not end within %d ms", r->timeout_ms);
    give_up(r);
}

/* Whether the hook reads it or not is its own affair. */
static void feed(struct hook_run *r, struct str input)
{
    struct error e = { 0 };

    if (!child_write(r->child, input, &e))
        log_debug("hook: %s", e.msg);
    child_close_stdin(r->child);
}

struct hook_run *hook_run_start(struct loop *l, const struct hook_run_opts *o,
                                void (*done)(void *ctx, const struct hook_result *how),
                                void *ctx)
{
    static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_seen };
    struct child_opts co = { .argv = o->command->argv,
                             .env = o->command->env,
                             .cwd = o->cwd,
                             .keeper = true,
                             .command = true,
                             .max_stdin_queue = HOOK_MAX_ANSWER };
    struct hook_run *r = NEW(struct hook_run);
    struct error e = { 0 };

    *r = (struct hook_run){ .out = BUF(HOOK_MAX_OUTPUT),
                            .err = BUF(HOOK_STDERR_MAX),
                            .began_ms = clock_ms(),
                            .timeout_ms = o->timeout_ms,
                            .done = done,
                            .ctx = ctx };
    r->deadline = timer_new(l, on_deadline, r);
    r->child = child_start(l, &co, &ops, r, &e);
    if (r->child)
        feed(r, o->input);
    else
        snprintf(r->why, sizeof r->why, "cannot be started: %.200s", e.msg);
    timer_set(r->deadline, r->child ? o->timeout_ms : 0);
    return r;
}

void hook_run_free(struct hook_run *r)
{
    if (!r)
        return;
    timer_free(r->deadline);
    child_free(r->child);
    buf_free(&r->out);
    buf_free(&r->err);
    free(r);
}
