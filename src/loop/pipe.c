/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Readiness (uv_poll) and our own read and write, not libuv's streams: one path for pipes,
 * sockets and terminals, a write goes to the kernel at once without a request object, and the
 * queue is ours to bound. What cannot be polled (a regular file, /dev/null) is read on the
 * thread pool and written directly.
 *
 * Failures of a write are found inside pipe_write(), where nothing may be called back: they are
 * put off (`later`), and what the other side sent before it went away is read first.
 */
#include "loop/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/internal.h"

/*
 * One pipe's share of a turn of the loop: then others get theirs, however much more there is
 * and however slowly its bytes are used up (security.md 3.1). A read once begun may overrun the
 * time.
 */
#define TURN_US    2000
#define TURN_BYTES ((size_t)256 << 10)
/* Before a pipe is given up: what an ordinary one holds at most, then what time allows. */
#define LAST_SURE ((size_t)64 << 10)
#define LAST_MAX  ((size_t)4 << 20)
#define KEEP_BYTES \
    ((size_t)64 << 10) /* an empty queue larger than this gives its memory back */

struct pipe {
    struct loop *loop;
    uv_poll_t poll;
    uv_timer_t stall;
    uv_fs_t fs;
    struct deferred later;
    struct pipe_ops ops;
    void *ctx;
    int fd;
    int shared_flags; /* of a descriptor 0..2, put back at the end; -1: untouched */
    int events;       /* what uv_poll watches now */
    size_t max_queue;
    int stall_ms;
    struct buf queue; /* [head, n) is not yet written */
    size_t head;
    void (*done)(void *ctx);
    void *done_ctx;
    struct error why;
    char *file_buf;   /* the thread pool reads into it */
    size_t file_held; /* bytes that came while paused */
    unsigned handles; /* libuv handles that still know us */
    bool is_file, is_socket, fs_busy;
    bool paused, read_ended, write_ended, finishing, finished;
    bool broken, ended, freed, reset_seen;
};

static void watch_events(struct pipe *p);
static void file_read_more(struct pipe *p);

static bool reads(const struct pipe *p)
{
    return p->ops.on_data != NULL;
}

/* ---- the end of memory ---- */

static void release(struct pipe *p)
{
    if (p->handles || p->fs_busy)
        return;
    if (p->fd > STDERR_FILENO)
        close(p->fd);
    else if (p->fd >= 0 && p->shared_flags >= 0)
        fcntl(p->fd, F_SETFL, p->shared_flags);
    buf_free(&p->queue);
    free(p->file_buf);
    free(p);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct pipe *p = h->data;

    p->handles--;
    if (p->freed)
        release(p);
}

static void close_poll(struct pipe *p)
{
    if (!p->is_file && !uv_is_closing((uv_handle_t *)&p->poll))
        uv_close((uv_handle_t *)&p->poll, on_handle_closed);
}

/* ---- ends and failures ---- */

static void end_once(struct pipe *p, const struct error *why)
{
    if (p->ended)
        return;
    p->ended = true;
    p->read_ended = true;
    watch_events(p);
    if (p->ops.on_end)
        p->ops.on_end(p->ctx, why);
}

/* The pipe is of no more use. Reported later, never from inside a call of the owner. */
static void break_pipe(struct pipe *p, enum err_kind kind, const char *what)
{
    if (p->broken)
        return;
    p->broken = true;
    if (kind == ERR_SYS && (errno == EPIPE || errno == ECONNRESET))
        error_set(&p->why, ERR_CLOSED, "the other side closed the pipe");
    else
        error_set(&p->why, kind, "%s", what);
    p->write_ended = true;
    buf_free(&p->queue);
    p->head = 0;
    uv_timer_stop(&p->stall);
    watch_events(p);
    defer(p->loop, &p->later);
}

/* As read(2). A packet socket tells a reset before the packets that are still in it, and tells
 * it once. */
static ssize_t read_some(struct pipe *p, char *to)
{
    for (;;) {
        ssize_t n = read(p->fd, to, LOOP_READ_SIZE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == ECONNRESET && p->is_socket && !p->reset_seen) {
            p->reset_seen = true;
            continue;
        }
        return n;
    }
}

/* How much is read in one go: `sure` bytes whatever they take, then up to `most` within
 * TURN_US.
 */
struct share {
    size_t sure, most;
    bool all; /* until the kernel has no more; else until the first short read */
};

static bool goes_on(const struct pipe *p, const struct share *s, size_t total, int64_t end_us)
{
    if (p->freed || p->paused || p->read_ended)
        return false;
    return total < s->sure || (total < s->most && clock_us() < end_us);
}

static void read_into(struct pipe *p, char *to, struct share s)
{
    int64_t end_us = clock_us() + TURN_US;

    for (size_t total = 0; goes_on(p, &s, total, end_us);) {
        ssize_t n = read_some(p, to);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n == 0) {
            if (!p->broken)
                end_once(p, NULL);
            else
                p->read_ended = true; /* `later` tells the reason */
            return;
        }
        if (n < 0) {
            p->read_ended = true;
            break_pipe(p, ERR_SYS, "cannot read");
            return;
        }
        total += (size_t)n;
        p->ops.on_data(p->ctx, (struct str){ to, (size_t)n });
        if ((size_t)n < LOOP_READ_SIZE && !s.all)
            return; /* readiness tells if more comes */
    }
}

void pipe_drain(struct pipe *p, size_t max)
{
    /* Not the loop's buffer: we may be called while the bytes of another read are being looked
     * at. */
    auto_free char *to = NULL;

    if (p->is_file || p->ended)
        return;
    to = mem_alloc(LOOP_READ_SIZE);
    read_into(p, to, (struct share){ .sure = LAST_SURE, .most = max, .all = true });
}

static void on_later(void *ctx)
{
    struct pipe *p = ctx;

    if (p->done && (p->finished || p->broken)) {
        void (*done)(void *) = p->done;

        p->done = NULL;
        done(p->done_ctx);
        if (p->freed)
            return;
    }
    if (p->file_held && !p->paused) {
        size_t n = p->file_held;

        p->file_held = 0;
        p->ops.on_data(p->ctx, (struct str){ p->file_buf, n });
        if (p->freed)
            return;
        file_read_more(p);
    }
    if (!p->broken || p->ended || p->paused)
        return;
    if (reads(p) && !p->is_file)
        read_into(p, loop_read_buf(p->loop),
                  (struct share){ .sure = LAST_SURE, .most = LAST_MAX, .all = true });
    if (!p->freed && !p->paused)
        end_once(p, &p->why);
}

/* ---- writing ---- */

static void close_write_side(struct pipe *p)
{
    if (!p->finishing || p->finished || p->head < p->queue.n)
        return;
    p->finished = true;
    p->write_ended = true;
    if (p->is_socket) {
        shutdown(p->fd, SHUT_WR);
    } else if (!reads(p) && p->fd > STDERR_FILENO && !p->fs_busy) {
        close_poll(p);
        close(p->fd);
        p->fd = -1;
    }
    if (p->done)
        defer(p->loop, &p->later);
}

/* Gives the kernel what it takes; -1 when the pipe broke. */
static ssize_t write_some(struct pipe *p, const struct iovec *v, int n)
{
    for (;;) {
        ssize_t got = writev(p->fd, v, n);

        if (got >= 0)
            return got;
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN)
            return 0;
        break_pipe(p, ERR_SYS, "cannot write");
        return -1;
    }
}

static void restart_stall(struct pipe *p);

static void flush(struct pipe *p)
{
    size_t at = p->head;

    while (p->head < p->queue.n) {
        struct iovec v = { p->queue.p + p->head, p->queue.n - p->head };
        ssize_t n = write_some(p, &v, 1);

        if (n < 0)
            return;
        p->head += (size_t)n;
        if ((size_t)n < v.iov_len)
            break;
    }
    if (p->head == p->queue.n) {
        p->head = 0;
        buf_clear(&p->queue);
        if (p->queue.cap > KEEP_BYTES)
            buf_free(&p->queue);
        uv_timer_stop(&p->stall);
        close_write_side(p);
    } else if (p->head > at) {
        restart_stall(p);
        if (p->head >= p->queue.n / 2) { /* each byte moves at most once on average */
            buf_drop_front(&p->queue, p->head);
            p->head = 0;
        }
    }
    watch_events(p);
}

static void on_stall(uv_timer_t *h)
{
    struct pipe *p = h->data;
    char what[128];
    size_t before = pipe_queued(p);

    flush(p); /* it may have been us who did not come to it */
    if (p->broken || pipe_queued(p) < before)
        return;
    snprintf(what, sizeof what, "%zu bytes are waiting and none was taken for %d ms", before,
             p->stall_ms);
    break_pipe(p, ERR_TIMEOUT, what);
}

static void restart_stall(struct pipe *p)
{
    if (!p->stall_ms)
        return;
    uv_update_time(&p->loop->uv);
    uv_timer_start(&p->stall, on_stall, (uint64_t)p->stall_ms, 0);
}

size_t pipe_queued(const struct pipe *p)
{
    return p->queue.n - p->head;
}

static struct str rest_after(struct str s, size_t *skip)
{
    size_t n = *skip < s.n ? *skip : s.n;

    *skip -= n;
    return str_from(s, n);
}

bool pipe_write2(struct pipe *p, struct str a, struct str b, struct error *e)
{
    struct iovec v[2] = { { (void *)(uintptr_t)a.p, a.n }, { (void *)(uintptr_t)b.p, b.n } };
    ssize_t n = 0;
    size_t skip;

    if (p->broken && e)
        *e = p->why;
    if (p->broken)
        return false;
    if (p->write_ended || p->finishing || p->ended)
        return error_set(e, ERR_CLOSED, "the pipe is closed");
    if (a.n > p->max_queue - pipe_queued(p) || b.n > p->max_queue - pipe_queued(p) - a.n)
        return error_set(e, ERR_LIMIT, "more than %zu bytes wait to be written", p->max_queue);
    if (!pipe_queued(p) && a.n + b.n)
        n = write_some(p, v, 2);
    if (n < 0) {
        if (e)
            *e = p->why;
        return false;
    }
    skip = (size_t)n;
    if (skip == a.n + b.n)
        return true;
    bool first = !pipe_queued(p);
    buf_add(&p->queue, rest_after(a, &skip));
    buf_add(&p->queue, rest_after(b, &skip));
    if (first) {
        restart_stall(p);
        watch_events(p);
    }
    return true;
}

bool pipe_write(struct pipe *p, struct str bytes, struct error *e)
{
    return pipe_write2(p, bytes, (struct str){ 0 }, e);
}

void pipe_finish(struct pipe *p, void (*done)(void *ctx), void *ctx)
{
    p->done = done;
    p->done_ctx = ctx;
    if (p->broken || p->finished) {
        defer(p->loop, &p->later);
        return;
    }
    p->finishing = true;
    close_write_side(p);
}

/* ---- readiness ---- */

/* A write-only pipe with nothing to write asks for no event; the kernel tells an error all the
 * same. */
static bool reader_is_gone(struct pipe *p)
{
    struct pollfd f = { .fd = p->fd };

    return poll(&f, 1, 0) > 0 && f.revents & (POLLERR | POLLHUP | POLLNVAL);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    struct pipe *p = h->data;

    if (status < 0)
        p->events = 0; /* libuv has stopped the handle */
    if ((status < 0 || events & UV_WRITABLE) && pipe_queued(p))
        flush(p);
    if (p->broken)
        return;
    if (!reads(p)) {
        if (!pipe_queued(p) && p->fd >= 0 && reader_is_gone(p)) {
            errno = EPIPE;
            break_pipe(p, ERR_SYS, "");
        }
    } else if (status < 0 || events & UV_READABLE) {
        read_into(p, loop_read_buf(p->loop),
                  (struct share){ .sure = LOOP_READ_SIZE, .most = TURN_BYTES });
    }
    if (!p->freed)
        watch_events(p);
}

static void watch_events(struct pipe *p)
{
    int want = 0;

    if (p->is_file || p->freed || p->fd < 0)
        return;
    if (reads(p) && !p->paused && !p->read_ended && !p->broken)
        want |= UV_READABLE;
    if (pipe_queued(p))
        want |= UV_WRITABLE;
    bool idle_writer = !want && !reads(p) && !p->write_ended;
    if (idle_writer)
        want = UV_PRIORITIZED; /* never comes; an error on the descriptor does */
    if (want == p->events)
        return;
    p->events = want;
    if (want)
        uv_poll_start(&p->poll, want, on_poll);
    else
        uv_poll_stop(&p->poll);
    if (idle_writer)
        uv_unref((uv_handle_t *)&p->poll);
    else
        uv_ref((uv_handle_t *)&p->poll);
}

/* ---- regular files ---- */

static void on_file_read(uv_fs_t *req)
{
    struct pipe *p = req->data;
    ssize_t n = req->result;

    uv_fs_req_cleanup(req);
    p->fs_busy = false;
    if (p->freed) {
        release(p);
        return;
    }
    if (n < 0) {
        errno = (int)-n;
        p->read_ended = true;
        break_pipe(p, ERR_SYS, "cannot read");
    } else if (n == 0) {
        end_once(p, NULL);
    } else {
        p->file_held = (size_t)n;
        on_later(p);
    }
}

static void file_read_more(struct pipe *p)
{
    uv_buf_t b;

    if (!p->is_file || !reads(p) || p->fs_busy || p->file_held || p->paused || p->read_ended ||
        p->freed)
        return;
    if (!p->file_buf)
        p->file_buf = mem_alloc(LOOP_READ_SIZE);
    b = uv_buf_init(p->file_buf, (unsigned)LOOP_READ_SIZE);
    p->fs.data = p;
    p->fs_busy = uv_fs_read(&p->loop->uv, &p->fs, p->fd, &b, 1, -1, on_file_read) == 0;
}

/* ---- life ---- */

/*
 * O_NONBLOCK belongs to the open file, which on 0, 1 and 2 we share with others (a shell, our
 * own stderr). Opening the same pipe or terminal anew gives one of our own; where that fails
 * the flags are changed and put back.
 */
static int own_description(int fd, const struct stat *st)
{
    char path[32];
    int mode = fcntl(fd, F_GETFL) & O_ACCMODE;

    if (fd > STDERR_FILENO || !(S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode)))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void open_poll(struct pipe *p)
{
    struct stat st;
    int own;

    if (fstat(p->fd, &st) != 0)
        st = (struct stat){ 0 };
    p->is_socket = S_ISSOCK(st.st_mode);
    own = own_description(p->fd, &st);
    if (own >= 0)
        p->fd = own;
    else if (p->fd <= STDERR_FILENO)
        p->shared_flags = fcntl(p->fd, F_GETFL);
    if (uv_poll_init(&p->loop->uv, &p->poll, p->fd) == 0) {
        p->poll.data = p;
        p->handles++;
    } else {
        p->is_file = true; /* EPERM: epoll knows no readiness of such a file */
    }
}

struct pipe *pipe_new(struct loop *l, int fd, const struct pipe_opts *opts,
                      const struct pipe_ops *ops, void *ctx)
{
    struct pipe *p = NEW(struct pipe);

    *p = (struct pipe){ .loop = l, .ops = *ops, .ctx = ctx, .fd = fd, .shared_flags = -1 };
    p->later = (struct deferred){ .fn = on_later, .ctx = p };
    p->max_queue = opts && opts->max_queue ? opts->max_queue : PIPE_QUEUE_DEFAULT;
    p->stall_ms = opts ? opts->stall_ms : 0;
    p->queue = BUF(SIZE_MAX / 4); /* the ceiling is max_queue, of what is not yet written */
    uv_timer_init(&l->uv, &p->stall);
    p->stall.data = p;
    uv_unref((uv_handle_t *)&p->stall); /* the poll handle keeps the loop going */
    p->handles = 1;
    open_poll(p);
    watch_events(p);
    file_read_more(p);
    return p;
}

void pipe_pause(struct pipe *p)
{
    p->paused = true;
    watch_events(p);
}

void pipe_resume(struct pipe *p)
{
    if (!p->paused)
        return;
    p->paused = false;
    watch_events(p);
    if (p->file_held || p->broken)
        defer(p->loop, &p->later);
    else
        file_read_more(p);
}

void pipe_free(struct pipe *p)
{
    if (!p || p->freed)
        return;
    p->freed = true;
    defer_cancel(p->loop, &p->later);
    close_poll(p);
    uv_close((uv_handle_t *)&p->stall, on_handle_closed);
    if (p->fd > STDERR_FILENO && !p->fs_busy) {
        close(p->fd); /* at once: the other side waits for this end of file */
        p->fd = -1;
    }
}
