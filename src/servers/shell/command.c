/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "servers/job.h"
#include "servers/shell/outcome.h"
#include "servers/shell/program.h"

/* Output up to this size is made into an answer on the loop's thread: it takes less time than
 * the way to another. */
#define ANSWER_INLINE_MAX ((uint64_t)64 << 10)

/* How long the keepers of ended commands are awaited at the end, and how often looked at. */
#define KEEPERS_MS 1000

struct command {
    struct commands *all;
    struct command *next; /* of all->first */
    struct arena arena;
    struct mcp_req *r; /* NULL once cancelled or answered */
    struct access *access;
    struct command_setting setting;
    struct command_spec spec;
    struct work *finding;
    int cwd;          /* -1 until found */
    const char *path; /* of the program; NULL: not found */
    struct error why; /* kind is ERR_NONE when all was found */
    struct child *child;
    struct timer *timer;
    struct outcome outcome;
    int64_t began;
};

struct commands {
    struct server *server;
    struct command *first;
    unsigned n;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
    struct timer *last_words; /* set while keepers of ended commands are awaited */
    int64_t stop_at;          /* not longer than that */
};

/* ---- life ---- */

struct commands *commands_new(struct server *s)
{
    struct commands *all = NEW(struct commands);

    all->server = s;
    return all;
}

/*
 * A keeper that was told to leave, or to kill, may not have come to it yet. If we ended before,
 * the last sweep of the process would take with it what is to be left alone.
 */
static void tell_if_stopped(void *ctx)
{
    struct commands *all = ctx;
    void (*stopped)(void *) = all->n ? NULL : all->stopped;
    struct loop *l = server_loop(all->server);

    if (!stopped)
        return;
    if (!all->stop_at)
        all->stop_at = clock_ms() + KEEPERS_MS;
    if (child_lingering(l) && clock_ms() < all->stop_at) {
        if (!all->last_words)
            all->last_words = timer_new(l, tell_if_stopped, all);
        timer_set(all->last_words, (int)(all->stop_at - clock_ms()));
        child_on_gone(l, tell_if_stopped, all);
        return;
    }
    child_on_gone(l, NULL, NULL);
    all->stopped = NULL;
    stopped(all->stopped_ctx);
}

static void command_free(struct command *c)
{
    struct commands *all = c->all;

    for (struct command **at = &all->first; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            break;
        }
    }
    all->n--;
    child_free(c->child);
    timer_free(c->timer);
    if (c->cwd >= 0)
        close(c->cwd);
    access_unref(c->access);
    capture_free(&c->outcome.out);
    capture_free(&c->outcome.err);
    arena_free(&c->arena);
    free(c);
    tell_if_stopped(all);
}

static void copy_spec(struct command *c, const struct command_spec *spec)
{
    size_t argc = 0;
    const char **argv;

    while (spec->argv[argc])
        argc++;
    argv = ARENA_ARRAY(&c->arena, const char *, argc + 1);
    for (size_t i = 0; i < argc; i++)
        argv[i] = arena_z(&c->arena, str_of(spec->argv[i]));
    c->spec = *spec;
    c->spec.argv = argv;
    c->spec.program = argv[0];
    if (spec->cwd.p)
        c->spec.cwd = arena_str(&c->arena, spec->cwd);
}

/* ---- the answer ---- */

/* Ends it; the text is the answer. */
static void fail(struct command *c, const char *text)
{
    if (c->r) {
        mcp_req_on_cancel(c->r, NULL, NULL);
        tool_fail(c->r, "%s", text);
    }
    command_free(c);
}

static void on_answering(struct job *j)
{
    const struct command *c = j->ctx;

    outcome_put(&c->outcome, &j->answer);
}

static void on_answered(struct job *j)
{
    command_free(j->ctx);
}

static void answer(struct command *c)
{
    struct job *j = job_new(c->all->server, take_ptr(&c->r));

    j->ctx = c;
    j->cleanup = on_answered;
    mcp_req_on_cancel(j->r, NULL, NULL);
    if (c->outcome.out.total + c->outcome.err.total > ANSWER_INLINE_MAX) {
        job_start(j, WORK_SHORT, on_answering);
        return;
    }
    on_answering(j);
    job_reply(j);
}

/* ---- running ---- */

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct command *c = ctx;

    if (c->r) /* a cancelled one is drained all the same */
        capture_add(stream == CHILD_STDOUT ? &c->outcome.out : &c->outcome.err, bytes);
}

/* A name that no system call takes is not repeated whole. */
static const char *not_spawned(struct command *c, const char *why)
{
    return arena_printf(&c->arena, "Failed to spawn %.*s: %s", PATH_MAX, c->spec.program, why);
}

static void fail_spawn(struct command *c, int err)
{
    fail(c, not_spawned(c, strerror(err)));
}

static void on_exit_(void *ctx, const struct child_exit *how)
{
    struct command *c = ctx;

    c->outcome.code = how->code;
    c->outcome.signal = how->signal;
    c->outcome.duration_ms = clock_ms() - c->began;
    child_free(take_ptr(&c->child));
    if (how->exec_errno)
        fail_spawn(c, how->exec_errno);
    else if (c->r)
        answer(c);
    else
        command_free(c);
}

static void end(struct command *c)
{
    child_stop(c->child, (struct child_ladder){ 0, COMMAND_GRACE_MS });
}

static void on_timeout(void *ctx)
{
    struct command *c = ctx;

    if (child_exited(c->child))
        return; /* in time; its last output is being waited for, not for long */
    c->outcome.timed_out = true;
    end(c);
}

static void start(struct command *c)
{
    static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_ };
    struct child_opts o = {
        .argv = c->spec.argv,
        .path = c->path,
        .env = c->setting.env,
        .cwd_fd = c->cwd,
        .keeper = true,
        .no_stdin = true,
        .command = true,
        .sandbox_fd = c->setting.sandbox_fd,
        .drain_ms = COMMAND_DRAIN_MS,
    };

    c->began = clock_ms();
    c->child = child_start(server_loop(c->all->server), &o, &ops, c, &c->why);
    if (!c->child) {
        fail(c, not_spawned(c, c->why.sys ? strerror(c->why.sys) : c->why.msg));
        return;
    }
    c->timer = timer_new(server_loop(c->all->server), on_timeout, c);
    timer_set(c->timer, c->spec.timeout_ms);
}

/* ---- finding ---- */

static int open_cwd(struct command *c)
{
    struct str asked = c->spec.cwd.p ? c->spec.cwd : str_of(c->access->v[0].given);
    struct access_at at;
    struct stat st;
    auto_close int fd = -1;

    if (!access_locate(c->access, &c->arena, asked, &at, &c->why))
        return -1;
    fd = access_open(c->access, &at, O_PATH, &c->why);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode)) {
        error_set(&c->why, ERR_INVALID, "cwd is not a directory: %s", at.path);
        return -1;
    }
    return take_fd(&fd);
}

static const char *path_of(const char *const *env)
{
    for (; env && *env; env++) {
        if (!strncmp(*env, "PATH=", 5))
            return *env + 5;
    }
    return NULL;
}

/* On the pool's thread. */
static void find(void *ctx, struct work *w)
{
    struct command *c = ctx;
    const char *const *env = c->setting.env ? c->setting.env : (const char *const *)environ;
    int err;

    (void)w;
    c->cwd = open_cwd(c);
    if (c->cwd < 0)
        return;
    c->path = program_find(&c->arena, c->cwd, c->spec.program, path_of(env), &err);
    if (!c->path)
        error_set(&c->why, ERR_NOT_FOUND, "%s", not_spawned(c, strerror(err)));
}

static void on_found(void *ctx, bool cancelled)
{
    struct command *c = ctx;

    c->finding = NULL;
    if (cancelled)
        command_free(c);
    else if (c->why.kind != ERR_NONE)
        fail(c, c->why.msg);
    else
        start(c);
}

static void on_cancel(void *ctx)
{
    struct command *c = ctx;

    c->r = NULL;
    if (c->finding)
        work_cancel(c->finding);
    else
        end(c);
}

void command_run(struct commands *all, struct mcp_req *r, const struct access *x,
                 const struct command_setting *setting, const struct command_spec *spec)
{
    static const struct work_ops ops = { find, on_found };
    struct command *c;

    if (all->n >= COMMANDS_MAX) {
        tool_fail(r, "%d commands are running, no more can; wait until one has ended",
                  COMMANDS_MAX);
        return;
    }
    c = NEW(struct command);
    *c = (struct command){
        .all = all,
        .next = all->first,
        .arena = ARENA,
        .r = r,
        .access = access_ref((struct access *)(uintptr_t)x),
        .setting = *setting,
        .cwd = -1,
        .outcome = { .out = CAPTURE, .err = CAPTURE },
    };
    all->first = c;
    all->n++;
    copy_spec(c, spec);
    mcp_req_on_cancel(r, on_cancel, c);
    c->finding = work_start(server_loop(all->server), WORK_SHORT, &ops, c);
}

/* ---- the end ---- */

void commands_stop(struct commands *all, void (*done)(void *ctx), void *ctx)
{
    bool again = all->stopped != NULL;

    all->stopped = done;
    all->stopped_ctx = ctx;
    for (struct command *c = all->first; again && c; c = c->next) {
        if (c->child)
            child_stop(c->child, (struct child_ladder){ 0, 0 });
    }
    tell_if_stopped(all);
}

void commands_free(struct commands *all)
{
    if (all->last_words)
        child_on_gone(server_loop(all->server), NULL, NULL);
    timer_free(all->last_words);
    free(all);
}
