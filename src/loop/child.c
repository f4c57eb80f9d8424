/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/keeper_wire.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "loop/internal.h"
#include "loop/lines.h"
#include "loop/spawn.h"
#include "loop/timer.h"

/* What is looked for in the pipes of a program that has exited; a pipe holds at most this much
 * (F_SETPIPE_SZ). */
#define LAST_BYTES_MAX   ((size_t)1 << 20)
#define NEVER            INT64_MAX
#define KILL_AGAIN_MS    10000
#define EXEC_FAILED_CODE 127
#define PATH_DEFAULT     "/usr/local/bin:/usr/bin:/bin"

enum child_state { CHILD_RUNNING, CHILD_DRAINING, CHILD_ENDED };

static const char *const state_name[] = { "running", "draining", "ended" };

static const unsigned next_of[] = {
    [CHILD_RUNNING] = 1u << CHILD_DRAINING,
    [CHILD_DRAINING] = 1u << CHILD_ENDED,
    [CHILD_ENDED] = 0,
};

struct child {
    struct loop *loop;
    struct child_ops ops;
    void *ctx;
    char *name;
    struct spawned proc; /* the keeper, or the program itself */
    pid_t pid;           /* the program; 0: not yet known */
    struct pipe *in, *out, *err, *control;
    struct lines lines;
    struct buf ring;     /* up to twice the ring: then the older half goes */
    struct timer *timer; /* one for all deadlines; made when first needed */
    int64_t term_at, kill_at, drain_at, broken_at, mute_at;
    struct error stdin_why; /* to be told at broken_at */
    enum child_state state;
    struct child_exit how;
    int drain_ms;
    bool keeper, command;
    bool reaped, stdout_ended, stderr_ended, paused, tree_empty;
    bool stopping, ending, killed, freed;
    unsigned refs;      /* the owner, the unreaped process, and callbacks under way */
    struct child *next; /* in loop.lingering */
};

/* ---- life ---- */

static void unlinger(struct child *c)
{
    for (struct child **at = &c->loop->lingering; *at; at = &(*at)->next) {
        if (*at != c)
            continue;
        *at = c->next;
        c->loop->lingering_count--;
        if (!c->loop->lingering_count && c->loop->gone.fn)
            defer(c->loop, &c->loop->gone);
        return;
    }
}

static void hold(struct child *c)
{
    assert(c->refs > 0);
    c->refs++;
}

/* False when the owner has freed the child meanwhile; it may be gone then. */
static bool drop(struct child *c)
{
    bool alive = !c->freed;

    if (--c->refs)
        return alive;
    lines_free(&c->lines);
    buf_free(&c->ring);
    free(c->name);
    free(c);
    return false;
}

static void enter(struct child *c, enum child_state to)
{
    assert(next_of[c->state] & 1u << to);
    log_debug("child '%s': %s -> %s", c->name, state_name[c->state], state_name[to]);
    c->state = to;
}

static void close_pipes(struct child *c)
{
    struct pipe **all[] = { &c->in, &c->out, &c->err, &c->control };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        pipe_free(*all[i]);
        *all[i] = NULL;
    }
}

/* ---- signals ---- */

static void order(struct child *c, enum keeper_order kind)
{
    struct keeper_msg m = { (int32_t)kind, 0 };

    /* A failure means that the keeper is gone, which its exit tells. */
    if (c->control)
        pipe_write(c->control, (struct str){ (const char *)&m, sizeof m }, NULL);
}

static bool is_raw(const struct child *c)
{
    return c->ops.on_bytes != NULL;
}

/* stderr is the owner's, as it comes: then it is paused and awaited as stdout is. */
static bool hands_on_stderr(const struct child *c)
{
    return is_raw(c) || c->ops.on_stderr;
}

static void signal_group(struct child *c, bool kill)
{
    if (c->keeper)
        order(c, kill ? KEEPER_KILL : KEEPER_TERM);
    else if (!c->reaped)
        spawned_signal(&c->proc, kill ? SIGKILL : SIGTERM, true);
}

/* ---- deadlines ---- */

static void end(struct child *c);
static bool settle(struct child *c);
static void on_deadline(void *ctx);

static int64_t min_ms(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void set_timer(struct child *c)
{
    int64_t stop = min_ms(c->term_at, c->kill_at), pipes = min_ms(c->broken_at, c->mute_at);
    int64_t at = min_ms(min_ms(stop, pipes), c->drain_at);
    int64_t ms = at - clock_ms();

    if (at == NEVER) {
        if (c->timer)
            timer_clear(c->timer);
        return;
    }
    if (!c->timer)
        c->timer = timer_new(c->loop, on_deadline, c);
    timer_set(c->timer, ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms);
}

/* The last rung comes twice: a keeper that does not obey (stopped by somebody) is killed
 * itself. */
static void kill_tree(struct child *c, int64_t now)
{
    c->term_at = NEVER;
    if (!c->killed) {
        signal_group(c, true);
        c->kill_at = now + KILL_AGAIN_MS;
    } else {
        if (!c->reaped)
            spawned_signal(&c->proc, SIGKILL, false);
        c->kill_at = NEVER;
    }
    c->killed = true;
    if (c->command) /* even if something cannot be killed */
        c->drain_at = now + c->drain_ms;
}

static void on_deadline(void *ctx)
{
    struct child *c = ctx;
    int64_t now = clock_ms();
    bool broken = c->broken_at <= now, mute = c->mute_at <= now;

    if (c->drain_at <= now) {
        c->drain_at = NEVER;
        end(c);
        return;
    }
    if (c->kill_at <= now) {
        kill_tree(c, now);
    } else if (c->term_at <= now) {
        c->term_at = NEVER;
        signal_group(c, false);
    }
    if (broken)
        c->broken_at = NEVER;
    if (mute)
        c->mute_at = NEVER;
    set_timer(c);
    hold(c);
    if (broken && c->ops.on_stdin_broken)
        c->ops.on_stdin_broken(c->ctx, &c->stdin_why);
    if (drop(c) && mute && c->ops.on_stdout_closed)
        c->ops.on_stdout_closed(c->ctx);
}

/* ---- stdout and stderr ---- */

static bool on_line(void *ctx, struct str line, bool too_long)
{
    struct child *c = ctx;

    c->ops.on_line(c->ctx, line, too_long);
    return !c->freed;
}

static void on_stdout(void *ctx, struct str bytes)
{
    struct child *c = ctx;

    if (is_raw(c)) {
        c->ops.on_bytes(c->ctx, CHILD_STDOUT, bytes);
        return;
    }
    hold(c);
    lines_feed(&c->lines, bytes, on_line, c);
    if (drop(c) && c->lines.discarded_run > CHILD_DISCARD_MAX && c->state == CHILD_RUNNING &&
        !c->killed) {
        kill_tree(c, clock_ms());
        set_timer(c);
    }
}

static void on_stdout_end(void *ctx, const struct error *why)
{
    struct child *c = ctx;
    struct str rest = lines_rest(&c->lines);

    (void)why; /* a read failure of a pipe means no more than its end */
    c->stdout_ended = true;
    hold(c);
    if (rest.n)
        c->ops.on_line(c->ctx, rest, false);
    if (!drop(c))
        return;
    if (c->state == CHILD_RUNNING && c->ops.on_stdout_closed) {
        c->mute_at = clock_ms() + CHILD_DRAIN_MS; /* as for stdin: the exit says more */
        set_timer(c);
    }
    settle(c);
}

static void ring_add(struct child *c, struct str s)
{
    if (s.n > CHILD_STDERR_RING)
        s = str_from(s, s.n - CHILD_STDERR_RING);
    if (c->ring.n + s.n > c->ring.max)
        buf_drop_front(&c->ring, c->ring.n - (CHILD_STDERR_RING - s.n));
    buf_add(&c->ring, s);
}

static void on_stderr(void *ctx, struct str bytes)
{
    struct child *c = ctx;

    if (is_raw(c))
        c->ops.on_bytes(c->ctx, CHILD_STDERR, bytes);
    else if (c->ops.on_stderr)
        c->ops.on_stderr(c->ctx, bytes);
    else
        ring_add(c, bytes);
}

static void on_stderr_end(void *ctx, const struct error *why)
{
    struct child *c = ctx;

    (void)why;
    c->stderr_ended = true;
    settle(c);
}

struct str child_stderr(struct child *c)
{
    struct str all;

    if (c->err)
        pipe_drain(c->err, LAST_BYTES_MAX);
    all = buf_str(&c->ring);
    return all.n > CHILD_STDERR_RING ? str_from(all, all.n - CHILD_STDERR_RING) : all;
}

/* A stdin that closes is mostly the first sign of the exit, which says more: wait for that
 * first. */
static void on_stdin_end(void *ctx, const struct error *why)
{
    struct child *c = ctx;

    pipe_free(c->in);
    c->in = NULL;
    if (c->state != CHILD_RUNNING || !why)
        return;
    c->stdin_why = *why;
    c->broken_at = clock_ms() + (why->kind == ERR_CLOSED ? CHILD_DRAIN_MS : 0);
    set_timer(c);
}

/* ---- exit ---- */

/* Reads what is in the pipes now; false when the owner has freed the child meanwhile. */
static bool drain(struct child *c)
{
    hold(c);
    if (!c->stdout_ended)
        pipe_drain(c->out, LAST_BYTES_MAX);
    if (!c->freed && !c->stdout_ended && lines_rest(&c->lines).n)
        c->ops.on_line(c->ctx, lines_rest(&c->lines), false);
    if (!c->freed)
        pipe_drain(c->err, LAST_BYTES_MAX);
    return drop(c);
}

/* Exit and end of output were both seen, or the wait for the latter is over: tell the owner,
 * kill what is left. */
static void end(struct child *c)
{
    struct child_exit how;

    if (c->ending)
        return; /* from within the draining below */
    c->ending = true;
    if (c->state == CHILD_RUNNING) {
        /* A command that no signal ends, in the kernel's depths; or it has stopped its keeper,
         * which then has not yet heard that it is to kill. */
        spawned_signal(&c->proc, SIGCONT, false);
        c->how = (struct child_exit){ .code = -1, .signal = SIGKILL };
        enter(c, CHILD_DRAINING);
    }
    if (!drain(c))
        return;
    c->how.stdout_ended = c->stdout_ended;
    c->term_at = c->kill_at = c->drain_at = c->mute_at = NEVER;
    set_timer(c);
    pipe_free(c->in);
    pipe_free(c->out);
    c->in = c->out = NULL;
    if (hands_on_stderr(c)) {
        pipe_free(c->err);
        c->err = NULL;
    }
    if (c->command && !c->stopping)
        order(c, KEEPER_LEAVE);
    else if (!c->tree_empty)
        signal_group(c, true);
    enter(c, CHILD_ENDED);
    how = c->how;
    c->ops.on_exit(c->ctx, &how);
}

/* Ends it if nothing is waited for any more: true, and the child may be gone. */
static bool settle(struct child *c)
{
    bool output_ended = c->stdout_ended && (c->stderr_ended || !hands_on_stderr(c));

    if (c->state != CHILD_DRAINING || !output_ended)
        return false;
    if (c->command && c->stopping && !c->tree_empty)
        return false;
    end(c);
    return true;
}

static void exit_seen(struct child *c, int status)
{
    if (c->state != CHILD_RUNNING)
        return;
    c->how.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->how.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    enter(c, CHILD_DRAINING);
    c->broken_at = c->mute_at = NEVER;
    if (settle(c) || c->paused || (c->command && c->stopping))
        return;
    c->drain_at = clock_ms() + c->drain_ms;
    set_timer(c);
}

static void on_keeper_msg(struct child *c, const struct keeper_msg *m)
{
    char text[256];

    switch ((enum keeper_event)m->kind) {
    case KEEPER_STARTED:
        c->pid = m->value;
        if (c->ops.on_started)
            c->ops.on_started(c->ctx);
        break;
    case KEEPER_FAILED: {
        struct error why;

        errno = c->how.exec_errno = m->value;
        error_set(&why, ERR_SYS, "cannot execute '%.100s'", c->name);
        snprintf(text, sizeof text, "%.250s\n", why.msg);
        ring_add(c, str_of(text));
        exit_seen(c, EXEC_FAILED_CODE << 8);
        break;
    }
    case KEEPER_EXITED:
        exit_seen(c, m->value);
        break;
    case KEEPER_EMPTY:
        c->tree_empty = true;
        if (c->state == CHILD_ENDED && c->ops.on_empty)
            c->ops.on_empty(c->ctx);
        else
            settle(c);
        break;
    }
}

static void on_control(void *ctx, struct str bytes)
{
    struct child *c = ctx;
    struct keeper_msg m;

    /* One datagram is one message. Copied first: what follows may read other pipes into the
     * same buffer. */
    if (bytes.n != sizeof m)
        return;
    memcpy(&m, bytes.p, sizeof m);
    on_keeper_msg(c, &m);
}

static void on_control_end(void *ctx, const struct error *why)
{
    (void)ctx; /* the keeper exits; its exit is reaped */
    (void)why;
}

static void on_reaped(void *ctx, pid_t pid, int status)
{
    struct child *c = ctx;

    (void)pid;
    assert(c->refs > 0); /* one is ours */
    c->reaped = true;
    if (c->proc.pidfd >= 0)
        close(c->proc.pidfd);
    c->proc.pidfd = -1;
    if (c->freed)
        unlinger(c);
    if (c->control)
        pipe_drain(c->control, LAST_BYTES_MAX); /* its last words come before its end */
    if (!c->freed) {
        c->tree_empty = c->tree_empty || !c->keeper;
        exit_seen(c, status); /* of a keeper: only if it was killed before the program's exit */
    }
    drop(c);
}

/* ---- start ---- */

struct fds {
    int in[2], out[2], err[2], control[2]; /* [0] the program's or keeper's, [1] ours */
};

static void close_fds(struct fds *f)
{
    int *all = f->in;

    for (size_t i = 0; i < sizeof *f / sizeof *all; i++) {
        if (all[i] >= 0)
            close(all[i]);
    }
}

static bool make_pipe(int *ret_read, int *ret_write, struct error *e)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) != 0)
        return error_set(e, ERR_SYS, "cannot make a pipe");
    *ret_read = p[0];
    *ret_write = p[1];
    return true;
}

static bool make_fds(struct fds *f, const struct child_opts *o, struct error *e)
{
    if (!o->no_stdin && !make_pipe(&f->in[0], &f->in[1], e))
        return false;
    if (!make_pipe(&f->out[1], &f->out[0], e) || !make_pipe(&f->err[1], &f->err[0], e))
        return false;
    if (o->keeper && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f->control) != 0)
        return error_set(e, ERR_SYS, "cannot make a socket pair");
    return true;
}

static const char *env_get(const char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++) {
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    }
    return NULL;
}

static const char *find_program(struct arena *a, const struct child_opts *o,
                                const char *const *env, struct error *e)
{
    const char *path = env_get(env, "PATH"), *name = o->argv[0], *found;

    if (o->path)
        return o->path;
    if (strchr(name, '/'))
        return name; /* relative to cwd, as for a shell */
    found = *name ? path_search(a, name, path ? path : PATH_DEFAULT) : NULL;
    if (!found)
        error_set(e, ERR_NOT_FOUND, "cannot execute '%s': no such program in PATH", name);
    return found;
}

/* symposium keeper [option...] -- program argument..., and its environment marked as the
 * program's. */
static void under_keeper(struct arena *a, struct spawn_opts *s, const char *program,
                         const struct child_opts *o)
{
    struct {
        const char **v;
        size_t n, cap;
    } argv = { 0 }, env = { 0 };

    ARENA_PUSH(a, &argv) = "symposium";
    ARENA_PUSH(a, &argv) = "keeper";
    if (o->command)
        ARENA_PUSH(a, &argv) = KEEPER_OPT_COMMAND;
    if (o->sandbox_fd)
        ARENA_PUSH(a, &argv) = KEEPER_OPT_SANDBOX;
    if (o->offline)
        ARENA_PUSH(a, &argv) = KEEPER_OPT_OFFLINE;
    if (o->path) {
        ARENA_PUSH(a, &argv) = KEEPER_OPT_AS;
        ARENA_PUSH(a, &argv) = o->argv[0];
    }
    ARENA_PUSH(a, &argv) = "--";
    ARENA_PUSH(a, &argv) = program;
    for (const char *const *at = o->argv + 1; *at; at++)
        ARENA_PUSH(a, &argv) = *at;
    ARENA_PUSH(a, &argv) = NULL;
    for (const char *const *at = s->env; *at; at++)
        ARENA_PUSH(a, &env) = arena_printf(a, "%c%s", KEEPER_ENV_MARK, *at);
    ARENA_PUSH(a, &env) = NULL;
    s->path = NULL;
    s->argv = argv.v;
    s->env = env.v;
    s->new_session = true;
    s->die_with_parent = false; /* it must outlive us to end the tree */
}

static bool start(struct child *c, const struct child_opts *o, struct fds *f, struct error *e)
{
    auto_arena a = ARENA;
    struct spawn_opts s = {
        .argv = o->argv,
        .env = o->env ? o->env : (const char *const *)environ,
        .cwd = o->cwd,
        .cwd_fd = o->cwd_fd,
        .fd4 = o->sandbox_fd,
        .fds = { f->in[0], f->out[0], f->err[0], f->control[0] },
        .die_with_parent = true,
    };

    s.path = find_program(&a, o, s.env, e);
    if (!s.path)
        return false;
    if (o->keeper)
        under_keeper(&a, &s, s.path, o);
    return spawn(&s, &c->proc, e);
}

static void take_fds(struct child *c, const struct child_opts *o, struct fds *f)
{
    static const struct pipe_ops in = { .on_end = on_stdin_end };
    static const struct pipe_ops out = { .on_data = on_stdout, .on_end = on_stdout_end };
    static const struct pipe_ops err = { .on_data = on_stderr, .on_end = on_stderr_end };
    static const struct pipe_ops control = { .on_data = on_control, .on_end = on_control_end };
    struct pipe_opts in_opts = { .max_queue = o->max_stdin_queue,
                                 .stall_ms = o->stdin_stall_ms };

    if (f->in[1] >= 0)
        c->in = pipe_new(c->loop, take_fd(&f->in[1]), &in_opts, &in, c);
    c->out = pipe_new(c->loop, take_fd(&f->out[1]), NULL, &out, c);
    c->err = pipe_new(c->loop, take_fd(&f->err[1]), NULL, &err, c);
    if (f->control[1] >= 0)
        c->control = pipe_new(c->loop, take_fd(&f->control[1]), NULL, &control, c);
}

struct child *child_start(struct loop *l, const struct child_opts *o,
                          const struct child_ops *ops, void *ctx, struct error *e)
{
    struct fds f = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
    struct child *c = NEW(struct child);

    assert(!o->command || (o->keeper && ops->on_bytes));
    assert(!o->sandbox_fd || o->keeper);
    assert(!o->offline || o->keeper);
    *c = (struct child){
        .loop = l,
        .ops = *ops,
        .ctx = ctx,
        .name = mem_strdup(o->argv[0]),
        .drain_ms = o->drain_ms ? o->drain_ms : CHILD_DRAIN_MS,
        .keeper = o->keeper,
        .command = o->command,
        .refs = 1,
        .ring = BUF(2 * CHILD_STDERR_RING),
        .term_at = NEVER,
        .kill_at = NEVER,
        .drain_at = NEVER,
        .broken_at = NEVER,
        .mute_at = NEVER,
    };
    lines_init(&c->lines, o->max_line);
    if (!make_fds(&f, o, e) || !start(c, o, &f, e)) {
        close_fds(&f);
        drop(c);
        return NULL;
    }
    take_fds(c, o, &f);
    close_fds(&f); /* the program's ends */
    if (!c->keeper)
        c->pid = c->proc.pid;
    hold(c); /* until reaped */
    reaper_watch(l, c->proc.pid, on_reaped, c);
    log_debug("child '%s': started as %d", c->name, (int)c->proc.pid);
    return c;
}

/* ---- the owner's calls ---- */

pid_t child_pid(const struct child *c)
{
    return c->pid;
}

pid_t child_keeper(const struct child *c)
{
    return c->keeper ? c->proc.pid : 0;
}

static bool write_in(struct child *c, struct str a, struct str b, struct error *e)
{
    if (!c->in)
        return error_set(e, ERR_CLOSED, "stdin of '%s' is closed", c->name);
    return pipe_write2(c->in, a, b, e);
}

bool child_write(struct child *c, struct str bytes, struct error *e)
{
    return write_in(c, bytes, (struct str){ 0 }, e);
}

bool child_write_line(struct child *c, struct str line, struct error *e)
{
    return write_in(c, line, STR("\n"), e);
}

void child_close_stdin(struct child *c)
{
    if (c->in)
        pipe_finish(c->in, NULL, NULL);
}

void child_pause(struct child *c)
{
    c->paused = true;
    if (c->out)
        pipe_pause(c->out);
    if (c->err && hands_on_stderr(c))
        pipe_pause(c->err);
    c->drain_at = NEVER; /* what is left in the pipe waits for the owner */
    set_timer(c);
}

void child_resume(struct child *c)
{
    if (!c->paused)
        return;
    c->paused = false;
    if (c->out)
        pipe_resume(c->out);
    if (c->err && hands_on_stderr(c))
        pipe_resume(c->err);
    if (c->state == CHILD_DRAINING) {
        c->drain_at = clock_ms() + c->drain_ms;
        set_timer(c);
    }
}

uint64_t child_discarded_run(const struct child *c)
{
    return c->lines.discarded_run;
}

void child_stop(struct child *c, struct child_ladder ladder)
{
    int64_t now = clock_ms();

    if (c->state == CHILD_ENDED)
        return;
    child_close_stdin(c);
    child_resume(c); /* nobody may wait for output that nobody reads */
    if ((c->state == CHILD_DRAINING && !c->command) || c->killed)
        return;
    if (!c->stopping)
        c->drain_at = c->command ? NEVER : c->drain_at; /* the grace is for all of the tree */
    c->stopping = true;
    c->term_at = min_ms(c->term_at, now + ladder.term_ms);
    c->kill_at = min_ms(c->kill_at, now + ladder.kill_ms);
    set_timer(c);
}

bool child_exited(const struct child *c)
{
    return c->state != CHILD_RUNNING;
}

bool child_tree_empty(const struct child *c)
{
    return c->tree_empty;
}

void child_free(struct child *c)
{
    if (!c || c->freed)
        return;
    c->freed = true;
    if (!c->keeper)
        signal_group(c, true);
    close_pipes(c); /* a keeper kills everything when the control socket ends */
    timer_free(c->timer);
    c->timer = NULL;
    if (!c->reaped) {
        c->next = c->loop->lingering;
        c->loop->lingering = c;
        c->loop->lingering_count++;
    }
    drop(c);
}

int child_lingering(const struct loop *l)
{
    return l->lingering_count;
}

void child_on_gone(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    defer_cancel(l, &l->gone);
    l->gone = (struct deferred){ .fn = fn, .ctx = ctx };
}

void child_drop_lingering(struct loop *l)
{
    child_on_gone(l, NULL, NULL);
    while (l->lingering) {
        struct child *c = l->lingering;

        reaper_forget(l, c->proc.pid);
        if (c->proc.pidfd >= 0)
            close(c->proc.pidfd);
        unlinger(c);
        drop(c);
    }
}
