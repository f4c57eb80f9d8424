/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mcp/stdio.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/lines.h"
#include "loop/pipe.h"
#include "loop/signal.h"
#include "loop/timer.h"
#include "mcp/server_internal.h"

#define STDIN_FD  0
#define STDOUT_FD 1

/* Above this much waiting for stdout no more requests are taken, not even of those already
 * read: a client that does not read its answers gets no new ones made. */
#define HIGH_WATER    ((size_t)4 << 20)
#define OUT_QUEUE_MAX ((size_t)64 << 20)

/* Beyond OUT_QUEUE_MAX there is room for what is short: the errors that stand for answers which
 * no longer fit, so that each request has one. */
#define SHORT_MESSAGE   ((size_t)16 << 10)
#define OUT_QUEUE_SHORT ((size_t)16 << 20)

#define HELD_MAX ((size_t)1 << 20) /* never reached: what one read gave */

/* How often the queue is looked at while above HIGH_WATER, and stdout's reader after the end of
 * stdin. */
#define TICK_MS 50

/* After the end of stdin: a client that takes nothing of what waits for it for so long is gone,
 * though something still holds its end of stdout. */
#define UNREAD_MS 10000

/* At the end, as long as the client goes on reading: in all, in times of flush_ms. */
#define FLUSH_ROUNDS 5

struct mcp_stdio {
    struct loop *loop;
    struct mcp_server *server;
    struct pipe *in, *out;
    struct lines lines;
    struct buf held; /* read, but not taken before stdout has room */
    struct signals *signals;
    struct timer *tick;
    bool eof, over;
    size_t unread;        /* after the end of stdin: what waited at the last look */
    int64_t unread_since; /* that it is as much */
    int flush_ms;
    unsigned flush_rounds;
    size_t unflushed; /* at the last look */
    void *ctx;
    void (*done)(void *ctx, enum stdio_end why);
};

/* The last act of whatever calls it: `done` may free us. */
static void finish(struct mcp_stdio *s, enum stdio_end why)
{
    if (s->over)
        return;
    s->over = true;
    timer_clear(s->tick);
    s->done(s->ctx, why);
}

/* ---- output ---- */

static bool send_line(void *ctx, struct str message, struct error *e)
{
    struct mcp_stdio *s = ctx;
    size_t queued = pipe_queued(s->out);

    if (message.n > SHORT_MESSAGE && queued + message.n > OUT_QUEUE_MAX)
        return error_set(e, ERR_LIMIT, "no room for %zu bytes: the client has not read %zu",
                         message.n, queued);
    return pipe_write2(s->out, message, STR("\n"), e);
}

static void on_out_end(void *ctx, const struct error *why)
{
    struct mcp_stdio *s = ctx;

    log_debug("stdout: %s", why ? why->msg : "closed");
    finish(s, STDIO_HANGUP);
}

/* Nobody reads stdout any more; found without writing to it. */
static bool reader_gone(void)
{
    struct pollfd fd = { .fd = STDOUT_FD, .events = 0 };

    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* Nor will anybody, as it seems. */
static bool reader_asleep(struct mcp_stdio *s)
{
    size_t now = pipe_queued(s->out);

    if (now == 0 || now != s->unread) {
        s->unread = now;
        s->unread_since = clock_ms();
    }
    return clock_ms() - s->unread_since >= UNREAD_MS && now > 0;
}

/* ---- input ---- */

static bool on_line(void *ctx, struct str line, bool too_long)
{
    struct mcp_stdio *s = ctx;

    /* False when the server ended inside: we may be gone with it. */
    return too_long ? mcp_server_feed_too_long(s->server) : mcp_server_feed(s->server, line);
}

static bool is_congested(const struct mcp_stdio *s)
{
    return pipe_queued(s->out) > HIGH_WATER;
}

/* Line by line, as long as the answers find room; the rest is held, and no more is read. */
static void take(struct mcp_stdio *s, struct str bytes)
{
    while (bytes.n && !is_congested(s)) {
        size_t nl = str_find_char(bytes, '\n');
        struct str line = str_upto(bytes, nl < bytes.n ? nl + 1 : bytes.n);

        if (!lines_feed(&s->lines, line, on_line, s))
            return;
        bytes = str_from(bytes, line.n);
    }
    if (!is_congested(s)) {
        pipe_resume(s->in);
        return;
    }
    buf_add(&s->held, bytes);
    pipe_pause(s->in);
    timer_set(s->tick, TICK_MS);
}

static void on_data(void *ctx, struct str bytes)
{
    take(ctx, bytes);
}

static void on_idle(void *ctx)
{
    struct mcp_stdio *s = ctx;

    if (s->eof)
        finish(s, STDIO_EOF);
}

static void on_in_end(void *ctx, const struct error *why)
{
    struct mcp_stdio *s = ctx;
    struct str rest = lines_rest(&s->lines);

    if (why)
        log_debug("stdin: %s", why->msg);
    if (rest.n && !on_line(s, rest, false))
        return;
    s->eof = true;
    mcp_server_end_listens(s->server);
    if (reader_gone())
        finish(s, STDIO_HANGUP);
    else if (mcp_server_open_requests(s->server) == 0)
        finish(s, STDIO_EOF);
    else
        timer_set(s->tick, TICK_MS);
}

static void on_tick(void *ctx)
{
    struct mcp_stdio *s = ctx;

    if (s->eof && (reader_gone() || reader_asleep(s))) {
        finish(s, STDIO_HANGUP);
    } else if (s->eof || is_congested(s)) {
        timer_set(s->tick, TICK_MS);
    } else {
        auto_buf held = s->held;

        s->held = BUF(HELD_MAX);
        take(s, buf_str(&held));
    }
}

static void on_signal(void *ctx, int signo)
{
    (void)signo;
    finish(ctx, STDIO_SIGNAL);
}

/* ---- life ---- */

static const struct mcp_server_ops server_ops = { .send = send_line };
static const struct pipe_ops in_ops = { .on_data = on_data, .on_end = on_in_end };
static const struct pipe_ops out_ops = { .on_end = on_out_end };

struct mcp_stdio *mcp_stdio_new(struct loop *l, const struct mcp_server_def *def, void *ctx,
                                void (*done)(void *ctx, enum stdio_end why))
{
    struct mcp_stdio *s = NEW(struct mcp_stdio);
    struct pipe_opts out = { .max_queue = OUT_QUEUE_MAX + OUT_QUEUE_SHORT };

    s->loop = l;
    s->ctx = ctx;
    s->done = done;
    lines_init(&s->lines, 0);
    s->held = BUF(HELD_MAX);
    s->tick = timer_new(l, on_tick, s);
    s->server = mcp_server_new_split(l, def, ctx, &server_ops, s);
    mcp_server_on_idle(s->server, on_idle, s);
    s->signals = signals_new(l, on_signal, s);
    s->out = pipe_new(l, STDOUT_FD, &out, &out_ops, s);
    s->in = pipe_new(l, STDIN_FD, NULL, &in_ops, s);
    return s;
}

struct mcp_server *mcp_stdio_server(struct mcp_stdio *s)
{
    return s->server;
}

size_t mcp_stdio_queued(const struct mcp_stdio *s)
{
    return pipe_queued(s->out);
}

/* The last bytes are out, or never will be. */
static void on_flushed(void *ctx)
{
    struct mcp_stdio *s = ctx;

    pipe_free(s->out);
    timer_free(s->tick);
    free(s);
}

static void on_flush_tick(void *ctx)
{
    struct mcp_stdio *s = ctx;
    size_t now = pipe_queued(s->out);

    if (now == s->unflushed || ++s->flush_rounds == FLUSH_ROUNDS) {
        on_flushed(s);
        return;
    }
    s->unflushed = now;
    timer_set(s->tick, s->flush_ms);
}

void mcp_stdio_free(struct mcp_stdio *s, int flush_ms)
{
    if (!s)
        return;
    s->over = true;
    mcp_server_free(s->server);
    pipe_free(s->in);
    signals_free(s->signals);
    lines_free(&s->lines);
    buf_free(&s->held);
    timer_free(s->tick);
    s->tick = NULL;
    if (flush_ms <= 0 || pipe_queued(s->out) == 0) {
        on_flushed(s);
        return;
    }
    s->flush_ms = flush_ms;
    s->unflushed = pipe_queued(s->out);
    s->tick = timer_new(s->loop, on_flush_tick, s);
    timer_set(s->tick, flush_ms);
    pipe_finish(s->out, on_flushed, s);
}
