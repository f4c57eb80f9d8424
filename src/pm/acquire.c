/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/acquire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "pm/command.h"

#define LOCK_PAUSE_MS 100
#define MAX_SHOWN     200 /* bytes of a command in a message */

enum phase { NEXT, LOCKING, SOURCE, COMMANDS };

struct outcome {
    bool failed;
    struct str why; /* without the plugin's name */
};

struct acquire {
    struct loop *loop;
    struct arena arena;
    const char *cache_dir;
    struct install_plan plan;
    enum update_level level;
    bool refresh;
    int step_ms;
    int64_t began_ns; /* wall clock */

    size_t at;      /* step; plan.n: all done */
    size_t command; /* of install_commands */
    enum phase phase;
    struct outcome *outcomes; /* one a step */
    int lock;                 /* -1: not held */
    int64_t lock_until;
    const char *staging; /* of cargo's root, while it installs */
    struct command *running;
    struct git_fetch *fetch;
    struct timer *timer; /* what comes next, or the next try of the lock */

    struct acquire_ops ops;
    void *ctx;
};

static void go(struct acquire *q, enum phase phase)
{
    q->phase = phase;
    timer_set(q->timer, 0);
}

static const struct install_step *step_of(const struct acquire *q)
{
    return &q->plan.v[q->at];
}

__attribute__((format(printf, 2, 3))) static void say(struct acquire *q, const char *fmt, ...)
{
    const struct install_step *s = step_of(q);
    auto_buf line = BUF(4000);
    char text[1000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_addf(&line, "plugin '%.*s': installing '%.*s': ", STR_F(s->plugin), STR_F(s->in.name));
    utf8_put_clean(&line, str_of(text));
    log_info("%s", buf_z(&line));
    if (q->ops.progress)
        q->ops.progress(q->ctx, buf_str(&line));
}

/* ---- the end of a step ---- */

static void unlock(struct acquire *q)
{
    if (q->lock >= 0)
        close(q->lock);
    q->lock = -1;
}

static void step_done(struct acquire *q)
{
    unlock(q);
    q->at++;
    go(q, NEXT);
}

static void step_failed(struct acquire *q, const char *why)
{
    const struct install_step *s = step_of(q);

    q->outcomes[q->at] = (struct outcome){
        .failed = true,
        .why =
            str_of(arena_printf(&q->arena, "installation '%.*s': %s", STR_F(s->in.name), why)),
    };
    log_info("plugin '%.*s': %s", STR_F(s->plugin), q->outcomes[q->at].why.p);
    step_done(q);
}

/* ---- programs ---- */

/* Ours without SYMPOSIUM_* and what a git that started us set; what the plan installed so far
 * comes first in PATH. */
static const char *const *environment(struct acquire *q)
{
    struct arena *a = &q->arena;
    const char *path = getenv("PATH");
    struct {
        const char **v;
        size_t n, cap;
    } env = { 0 };

    for (char **at = environ; *at; at++) {
        struct str entry = str_of(*at);

        if (!str_starts(entry, STR("SYMPOSIUM_")) && !str_starts(entry, STR("GIT_")) &&
            !str_starts(entry, STR("PATH=")) && !str_starts(entry, STR("CARGO_TERM_")))
            ARENA_PUSH(a, &env) = *at;
    }
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (size_t i = q->at; i-- > 0;) {
        const char *root = install_root(a, q->cache_dir, &q->plan.v[i]);

        if (root)
            path = arena_printf(a, "%s/bin:%s", root, path);
    }
    ARENA_PUSH(a, &env) = arena_printf(a, "PATH=%s", path);
    ARENA_PUSH(a, &env) = "CARGO_TERM_COLOR=never";
    ARENA_PUSH(a, &env) = "CARGO_TERM_PROGRESS_WHEN=never";
    ARENA_PUSH(a, &env) = NULL;
    return env.v;
}

static void run(struct acquire *q, const char *const *argv, const char *cwd,
                void (*done)(void *ctx, const struct command_end *how))
{
    q->running = command_start(
        q->loop,
        &(struct command_opts){
            .argv = argv, .env = environment(q), .cwd = cwd, .timeout_ms = q->step_ms },
        done, q);
}

/* "'cargo install x' exited with status 1: last words". */
static const char *explain(struct acquire *q, const char *what, const struct command_end *how)
{
    const char *words = command_last_words(&q->arena, how->said, ACQUIRE_LAST_WORDS);

    return arena_printf(&q->arena, "'%s' %s%s%s", what, how->why->msg, *words ? ": " : "",
                        words);
}

static void drop_running(struct acquire *q)
{
    struct command *c = q->running;

    q->running = NULL;
    command_free(c);
}

/* ---- commands ---- */

static const char *command_shown(struct acquire *q)
{
    auto_buf text = BUF(4 * MAX_SHOWN);

    utf8_put_clean(&text, utf8_cut(step_of(q)->in.install_commands.v[q->command], MAX_SHOWN));
    return arena_z(&q->arena, buf_str(&text));
}

static void on_command(void *ctx, const struct command_end *how)
{
    struct acquire *q = ctx;
    const char *why = how->why ? explain(q, command_shown(q), how) : NULL;

    drop_running(q);
    if (why) {
        step_failed(q, why);
        return;
    }
    q->command++;
    go(q, COMMANDS);
}

/* What was done stands on disk only when all of it was. */
static void stamp(struct acquire *q)
{
    struct arena *a = &q->arena;
    const struct install_step *s = step_of(q);
    const char *path = install_stamp_path(a, q->cache_dir, s);
    struct error e = { 0 };

    if (!file_mkdirs(path_dir(a, path), &e) ||
        !file_write_cache(
            path, str_of(arena_printf(a, "%.*s %.*s\n", STR_F(s->plugin), STR_F(s->in.name))),
            &e))
        log_warn("%s; its commands run again next time", e.msg);
}

static void next_command(struct acquire *q)
{
    const struct strs *commands = &step_of(q)->in.install_commands;

    if (q->command < commands->n) {
        const char *const argv[] = { "/bin/sh", "-c",
                                     arena_z(&q->arena, commands->v[q->command]), NULL };

        say(q, "%s", command_shown(q));
        run(q, argv, install_command_dir(&q->arena, q->cache_dir, step_of(q)), on_command);
        return;
    }
    if (commands->n)
        stamp(q);
    step_done(q);
}

static void start_commands(struct acquire *q)
{
    q->command = 0;
    go(q, COMMANDS);
}

/* ---- cargo ---- */

static void remove_staging(struct acquire *q)
{
    if (q->staging)
        tree_remove(AT_FDCWD, q->staging);
    q->staging = NULL;
}

static const char *cargo_shown(struct acquire *q)
{
    const struct installation *in = &step_of(q)->in;

    return arena_printf(&q->arena, "cargo install %.*s%s%.*s", STR_F(in->crate),
                        in->version.n ? "@" : "", STR_F(in->version));
}

static bool put_in_place(struct acquire *q, struct error *e)
{
    const char *root = install_root(&q->arena, q->cache_dir, step_of(q));

    return file_mkdirs(path_dir(&q->arena, root), e) && tree_exchange(q->staging, root, e);
}

static void on_cargo(void *ctx, const struct command_end *how)
{
    struct acquire *q = ctx;
    struct error e = { 0 };
    const char *why = NULL;

    if (how->why && how->why->kind == ERR_NOT_FOUND)
        why = "there is no 'cargo' in PATH; install it, or set SYMPOSIUM_CARGO";
    else if (how->why)
        why = explain(q, cargo_shown(q), how);
    else if (q->staging && !put_in_place(q, &e))
        why = arena_z(&q->arena, str_of(e.msg));
    drop_running(q);
    remove_staging(q);
    if (why)
        step_failed(q, why);
    else
        start_commands(q);
}

/* Not a word of a manifest may be an option of cargo's. */
static bool check_cargo(const struct installation *in, struct error *e)
{
    if (!install_crate_valid(in->crate))
        return error_set(e, ERR_INVALID, "'%.*s' is no name of a crate", STR_F(in->crate));
    if (str_starts(in->version, STR("-")) || str_starts(in->git, STR("-")))
        return error_set(e, ERR_INVALID, "'version' and 'git' must not begin with '-'");
    return true;
}

static bool make_staging(struct acquire *q, struct error *e)
{
    struct arena *a = &q->arena;
    const char *root = install_root(a, q->cache_dir, step_of(q));
    char hex[SHA256_HEX_SIZE];

    if (!root)
        return true; /* global */
    sha256_hex(str_of(root), hex);
    q->staging = path_join(a, q->cache_dir, arena_printf(a, "binaries/.new/%.16s", hex));
    tree_remove(AT_FDCWD, q->staging);
    return file_mkdirs(q->staging, e);
}

static void start_cargo(struct acquire *q)
{
    struct arena *a = &q->arena;
    const struct installation *in = &step_of(q)->in;
    const char *cargo = getenv("SYMPOSIUM_CARGO"), *argv[16];
    struct error e = { 0 };
    size_t n = 0;

    if (!check_cargo(in, &e) || !make_staging(q, &e)) {
        step_failed(q, e.msg);
        return;
    }
    argv[n++] = cargo && *cargo ? cargo : "cargo";
    argv[n++] = "install";
    argv[n++] = "--locked";
    if (q->staging) {
        argv[n++] = "--root";
        argv[n++] = q->staging;
    }
    if (in->git.n) {
        argv[n++] = "--git";
        argv[n++] = arena_z(a, in->git);
    } else if (in->version.n) {
        argv[n++] = "--version";
        argv[n++] = arena_z(a, in->version);
    }
    if (q->level == UPDATE_FETCH && !q->staging)
        argv[n++] = "--force";
    argv[n++] = arena_z(a, in->crate);
    argv[n] = NULL;
    say(q, "%s", cargo_shown(q));
    /* Not in the workspace, whose .cargo/config.toml and toolchain file would count. */
    run(q, argv, q->staging ? q->staging : "/", on_cargo);
}

/* ---- github ---- */

static void on_fetched(void *ctx, const struct git_result *r, const struct error *why)
{
    struct acquire *q = ctx;

    q->fetch = NULL;
    if (why && r->dir)
        log_info("%s (the copy from earlier is used)", why->msg);
    if (!r->dir) {
        step_failed(q, why ? why->msg : "nothing was fetched");
        return;
    }
    /* The same directory as before: what the commands made in it is still there. */
    if (q->level != UPDATE_FETCH && install_step_ready(step_of(q), q->cache_dir))
        step_done(q);
    else
        start_commands(q);
}

static void start_github(struct acquire *q)
{
    const struct installation *in = &step_of(q)->in;
    struct git_source source;
    struct error e = { 0 };
    bool there;

    if (!git_source_parse(&source, &q->arena, in->url, &e)) {
        step_failed(q, e.msg);
        return;
    }
    there = checkout_find(&q->arena, q->cache_dir, &source, NULL);
    if (!there)
        say(q, "fetching %.*s", STR_F(source.shown));
    q->fetch = git_fetch_start(
        q->loop,
        &(struct git_opts){ .cache_dir = q->cache_dir,
                            .source = &source,
                            .level = there && q->level == UPDATE_CHECK && !q->refresh
                                         ? UPDATE_NONE
                                         : q->level },
        on_fetched, q);
}

/* ---- one step ---- */

static void start_source(struct acquire *q)
{
    const struct install_step *s = step_of(q);
    const char *root;

    switch (s->in.source) {
    case INSTALL_NONE:
        start_commands(q);
        return;
    case INSTALL_GITHUB:
        start_github(q);
        return;
    case INSTALL_CARGO:
        root = install_root(&q->arena, q->cache_dir, s);
        if (q->level != UPDATE_FETCH && root && file_is_dir(root))
            start_commands(q);
        else
            start_cargo(q);
        return;
    }
}

/* Whoever works in one place takes turns. */
static int open_lock(struct acquire *q, struct error *e)
{
    struct arena *a = &q->arena;
    const struct install_step *s = step_of(q);
    const char *place = install_root(a, q->cache_dir, s), *path;
    char hex[SHA256_HEX_SIZE];
    int fd;

    if (!place)
        place = s->in.global ? "global" : install_command_dir(a, q->cache_dir, s);
    sha256_hex(str_of(place), hex);
    path = path_join(a, q->cache_dir, arena_printf(a, "binaries/.locks/%s", hex));
    if (!file_mkdirs(path_dir(a, path), e))
        return -1;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        error_set(e, ERR_SYS, "cannot open '%s'", path);
    return fd;
}

/* By another process, while we waited for it. */
static bool done_meanwhile(const struct acquire *q, bool waited)
{
    auto_arena a = ARENA;
    const struct install_step *s = step_of(q);
    const char *root = install_root(&a, q->cache_dir, s);
    struct file_stamp made = file_stamp(
        s->in.install_commands.n || !root ? install_stamp_path(&a, q->cache_dir, s) : root);

    return install_step_ready(s, q->cache_dir) &&
           (q->level != UPDATE_FETCH || (waited && made.mtime_ns >= q->began_ns));
}

static void try_lock(struct acquire *q)
{
    struct error e = { 0 };
    bool waited = q->lock >= 0;

    if (!waited) {
        q->lock = open_lock(q, &e);
        q->lock_until = clock_ms() + ACQUIRE_WAIT_MS;
    }
    if (q->lock < 0) {
        step_failed(q, e.msg);
    } else if (flock(q->lock, LOCK_EX | LOCK_NB) == 0) {
        if (!q->refresh && done_meanwhile(q, waited))
            step_done(q);
        else
            go(q, SOURCE);
    } else if (clock_ms() >= q->lock_until) {
        step_failed(q, "another process is still installing it; try again later");
    } else {
        if (!waited)
            say(q, "waiting for another process that does");
        timer_set(q->timer, LOCK_PAUSE_MS);
    }
}

static bool has_work(const struct install_step *s)
{
    return s->in.source != INSTALL_NONE || s->in.install_commands.n;
}

/* A step whose requirement failed is not tried. */
static bool needs_are_met(struct acquire *q)
{
    const struct install_step *s = step_of(q);

    for (size_t i = 0; i < s->needs.n; i++)
        if (q->outcomes[s->needs.v[i]].failed) {
            step_failed(q, arena_printf(&q->arena, "what it requires failed: %.*s",
                                        STR_F(q->outcomes[s->needs.v[i]].why)));
            return false;
        }
    return true;
}

static void begin_step(struct acquire *q)
{
    const struct install_step *s = step_of(q);
    bool ready = install_step_ready(s, q->cache_dir),
         ask = q->refresh && s->in.source == INSTALL_GITHUB;

    if (!needs_are_met(q))
        return;
    if (!has_work(s) || (ready && q->level != UPDATE_FETCH && !ask))
        step_done(q);
    else if (q->level == UPDATE_NONE && ready)
        step_done(q);
    else if (q->level == UPDATE_NONE)
        step_failed(q, "it is not there yet; run 'symposium sync'");
    else
        go(q, LOCKING);
}

/* ---- the whole ---- */

static void free_acquire(struct acquire *q)
{
    command_free(q->running);
    git_fetch_cancel(q->fetch);
    timer_free(q->timer);
    unlock(q);
    arena_free(&q->arena);
    free(q);
}

static void report(struct acquire *q)
{
    size_t last = q->plan.runs ? q->plan.n - 1 : q->plan.n;
    struct acquired got = { 0 };
    struct error why = { 0 };

    for (size_t i = 0; i < last; i++)
        if (q->outcomes[i].failed)
            ARENA_PUSH(&q->arena, &got.problems) = q->outcomes[i].why;
    if (q->plan.runs && q->outcomes[last].failed)
        error_set(&why, ERR_NOT_FOUND, "%.*s", STR_F(q->outcomes[last].why));
    else if (q->plan.runs)
        install_plan_argv(&q->arena, &q->plan, q->cache_dir, &got.argv, &why);
    q->ops.done(q->ctx, &got, why.kind ? &why : NULL);
    free_acquire(q);
}

static void on_timer(void *ctx)
{
    struct acquire *q = ctx;

    switch (q->phase) {
    case NEXT:
        if (q->at == q->plan.n)
            report(q);
        else
            begin_step(q);
        return;
    case LOCKING:
        try_lock(q);
        return;
    case SOURCE:
        start_source(q);
        return;
    case COMMANDS:
        next_command(q);
        return;
    }
}

static int64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock that file stamps are taken from */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct acquire *acquire_start(struct loop *l, const struct acquire_opts *o,
                              const struct acquire_ops *ops, void *ctx)
{
    struct acquire *q = NEW(struct acquire);

    q->loop = l;
    q->cache_dir = arena_z(&q->arena, str_of(o->cache_dir));
    q->plan = install_plan_copy(&q->arena, o->plan);
    q->outcomes = ARENA_ARRAY(&q->arena, struct outcome, q->plan.n + 1);
    q->level = o->level;
    q->refresh = o->refresh && o->level == UPDATE_CHECK;
    q->step_ms = o->step_ms ? o->step_ms : ACQUIRE_STEP_MS;
    q->began_ns = wall_ns();
    q->lock = -1;
    q->ops = *ops;
    q->ctx = ctx;
    q->timer = timer_new(l, on_timer, q);
    go(q, NEXT);
    return q;
}

void acquire_cancel(struct acquire *q)
{
    if (q)
        free_acquire(q);
}

bool acquire_argv(struct arena *a, const struct dirs *dirs, const struct plugin *owner,
                  const struct install_use *use, struct strs *ret, struct error *e)
{
    struct install_plan plan;

    return install_plan_make(&plan, a, owner, use, e) &&
           install_plan_argv(a, &plan, dirs->cache, ret, e);
}
