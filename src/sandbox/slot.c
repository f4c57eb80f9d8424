/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sandbox/slot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/pipe.h"
#include "loop/signal.h"
#include "loop/spawn.h"
#include "loop/timer.h"
#include "sandbox/worker.h"

#define SLOT_QUEUE_MAX (2 * FRAME_TRAFFIC_HARD)

struct slot {
    struct loop *loop;
    const struct sandbox_limits *limits;
    struct slot_ops ops;
    void *ctx;
    struct spawned process;
    struct pipe *pipe;
    struct timer *start_limit;
    struct frame_reader reader;
    struct frame_guard guard;
    bool exited, ended; /* both halves of "gone" (style 1.4) */
    struct slot_gone how;
    bool given; /* it has a script */
    int busy;   /* our frames are on the stack: memory must stay */
    bool freed;
};

static void release(struct slot *s)
{
    if (s->busy || !s->freed)
        return;
    frame_reader_free(&s->reader);
    frame_guard_free(&s->guard);
    free(s);
}

void slot_kill(struct slot *s)
{
    if (!s->exited)
        spawned_signal(&s->process, SIGKILL, false);
}

static void break_off(struct slot *s, const struct error *why)
{
    log_debug("script worker %d killed: %s", (int)s->process.pid, why->msg);
    if (!s->how.broke_protocol) {
        s->how.broke_protocol = true;
        s->how.why = *why;
    }
    slot_kill(s);
}

static void describe_exit(struct slot *s)
{
    int status = s->how.wait_status;

    if (s->how.broke_protocol)
        return;
    if (WIFSIGNALED(status))
        error_set(&s->how.why, ERR_CLOSED, "script engine crashed (signal %d)",
                  WTERMSIG(status));
    else
        error_set(&s->how.why, ERR_CLOSED, "script engine crashed (exit status %d)",
                  WEXITSTATUS(status));
}

static void if_gone(struct slot *s)
{
    if (!s->exited || !s->ended || s->freed)
        return;
    describe_exit(s);
    s->ops.on_gone(s->ctx, s, &s->how);
}

static void on_exit_seen(void *ctx, pid_t pid, int status)
{
    struct slot *s = ctx;

    (void)pid;
    s->exited = true;
    s->how.wait_status = status;
    if_gone(s);
}

static void on_pipe_end(void *ctx, const struct error *why)
{
    struct slot *s = ctx;

    (void)why;
    s->ended = true;
    /* A worker that has closed its socket but lives is of no use, and must not be waited for.
     */
    slot_kill(s);
    if_gone(s);
}

static bool on_payload(void *ctx, struct str payload)
{
    struct slot *s = ctx;
    struct error e = { 0 };
    struct frame f;

    if (s->how.broke_protocol)
        return false;
    if (!frame_decode(&f, payload, &e)) {
        break_off(s, &e);
        return false;
    }
    if (!frame_guard_check(&s->guard, &f, payload.n, &e)) {
        break_off(s, &e);
    } else if (f.type == FRAME_READY) {
        timer_clear(s->start_limit);
        s->ops.on_ready(s->ctx, s);
    } else if (s->given) {
        s->ops.on_frame(s->ctx, &f);
    }
    frame_free(&f);
    return !s->freed && !s->how.broke_protocol;
}

static void on_data(void *ctx, struct str bytes)
{
    struct slot *s = ctx;
    struct error e = { 0 };

    s->busy++;
    if (!s->how.broke_protocol && !frame_feed(&s->reader, bytes, on_payload, s, &e) && e.kind &&
        !s->freed)
        break_off(s, &e);
    s->busy--;
    release(s);
}

static void on_start_limit(void *ctx)
{
    struct slot *s = ctx;
    struct error e = { 0 };

    error_set(&e, ERR_TIMEOUT, "not ready after %d ms", SLOT_START_MS);
    break_off(s, &e);
}

static bool start_process(struct slot *s, bool unsandboxed, int socket, struct error *e)
{
    char memory[24], stack[24], timeout[24];
    const char *argv[] = { "symposium", "worker", memory,
                           stack,       timeout,  unsandboxed ? WORKER_UNSANDBOXED : NULL,
                           NULL };
    struct spawn_opts o = {
        .argv = argv,
#ifdef SYM_SANITIZED
        .fds = { -1, -1, STDERR_FILENO, socket },
#else
        .fds = { -1, -1, -1, socket },
#endif
        .die_with_parent = true,
    };

    snprintf(memory, sizeof memory, "%zu", s->limits->memory_bytes);
    snprintf(stack, sizeof stack, "%zu", s->limits->stack_bytes);
    snprintf(timeout, sizeof timeout, "%d", s->limits->timeout_ms);
    return spawn(&o, &s->process, e);
}

struct slot *slot_start(struct loop *l, const struct sandbox_limits *limits, bool unsandboxed,
                        const struct slot_ops *ops, void *ctx, struct error *e)
{
    static const struct pipe_ops pipe_ops = { on_data, on_pipe_end };
    struct pipe_opts pipe_opts = { .max_queue = SLOT_QUEUE_MAX };
    int pair[2];
    auto_close int theirs = -1, ours = -1;
    auto_free struct slot *s = NULL;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        error_set(e, ERR_SYS, "make a socket for a script worker");
        return NULL;
    }
    ours = pair[0];
    theirs = pair[1];
    s = NEW(struct slot);
    *s = (struct slot){
        .loop = l, .limits = limits, .ops = *ops, .ctx = ctx, .process = { .pidfd = -1 }
    };
    if (!start_process(s, unsandboxed, theirs, e)) {
        error_wrap(e, "start a script worker");
        return NULL;
    }
    frame_reader_init(&s->reader);
    reaper_watch(l, s->process.pid, on_exit_seen, s);
    s->pipe = pipe_new(l, take_fd(&ours), &pipe_opts, &pipe_ops, s);
    s->start_limit = timer_new(l, on_start_limit, s);
    timer_set(s->start_limit, SLOT_START_MS);
    return take_ptr(&s);
}

bool slot_is_ready(const struct slot *s)
{
    return s->guard.state == GUARD_READY && !s->exited && !s->ended;
}

void slot_give(struct slot *s, struct str script_frame, size_t nglobals,
               const struct slot_ops *ops, void *ctx)
{
    s->ops = *ops;
    s->ctx = ctx;
    s->given = true;
    s->guard.state = GUARD_RUNNING;
    s->guard.nglobals = nglobals;
    s->guard.console_max = s->limits->console_bytes;
    s->guard.max_calls = s->limits->max_calls;
    slot_send(s, script_frame);
}

void slot_send(struct slot *s, struct str frame)
{
    struct error e = { 0 };

    /* A closed pipe has its own end, which is told; a full queue is a worker that does not
     * read. */
    if (!pipe_write(s->pipe, frame, &e) && e.kind == ERR_LIMIT)
        break_off(s, &e);
}

static void ignore_frame(void *ctx, const struct frame *f)
{
    (void)ctx;
    (void)f;
}

static void ignore_gone(void *ctx, struct slot *s, const struct slot_gone *how)
{
    (void)ctx;
    (void)s;
    (void)how;
}

void slot_mute(struct slot *s)
{
    s->ops = (struct slot_ops){ .on_frame = ignore_frame, .on_gone = ignore_gone };
}

struct frame_guard *slot_guard(struct slot *s)
{
    return &s->guard;
}

void slot_free(struct slot *s)
{
    if (!s || s->freed)
        return;
    s->freed = true;
    slot_kill(s);
    if (!s->exited)
        reaper_forget(s->loop, s->process.pid);
    if (s->process.pidfd >= 0)
        close(s->process.pidfd);
    pipe_free(s->pipe);
    timer_free(s->start_limit);
    release(s);
}
