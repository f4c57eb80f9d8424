/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "loop/child.h"
#include "loop/timer.h"

struct run {
    struct request *request;
    struct run_opts opts;
    run_fn done;
    void *ctx;
    struct child *child; /* NULL: not started, or ended */
    struct timer *timer; /* 0 ms: the next step; else the deadline */
    int64_t deadline;
    struct buf out, err;
    int code;
    bool failed;
    struct error why; /* failed */
    bool started;     /* it has one of the RUN_PARALLEL places */
    struct run *next; /* of all, oldest first */
};

struct runs {
    unsigned running;
    struct run *first, **last;
};

struct runs *runs_new(void)
{
    struct runs *all = NEW(struct runs);

    all->last = &all->first;
    return all;
}

static void run_free(struct run *r)
{
    timer_free(r->timer);
    child_free(r->child);
    buf_free(&r->out);
    buf_free(&r->err);
    free(r);
}

void runs_free(struct runs *all)
{
    for (struct run *r = all->first, *next; r; r = next) {
        next = r->next;
        run_free(r);
    }
    free(all);
}

static struct runs *all_of(const struct run *r)
{
    return r->request->session->runs;
}

/* ---- the end of one ---- */

static void let_next_start(struct runs *all)
{
    for (struct run *r = all->first; r && all->running < RUN_PARALLEL; r = r->next) {
        if (r->started || r->failed)
            continue;
        r->started = true;
        all->running++;
        timer_set(r->timer, 0);
    }
}

static void leave(struct run *r)
{
    struct runs *all = all_of(r);
    struct run **p = &all->first;

    while (*p != r)
        p = &(*p)->next;
    *p = r->next;
    if (!*p)
        all->last = p;
    if (r->started)
        all->running--;
    let_next_start(all);
}

/* The kept end of stderr without the line that was cut. */
static struct str whole_lines(const struct buf *err)
{
    struct str s = buf_str(err), head, tail;

    if (s.n > RUN_MAX_STDERR) {
        s = str_from(s, s.n - RUN_MAX_STDERR);
        if (str_cut(s, '\n', &head, &tail))
            s = tail;
    }
    return s;
}

static void finish(struct run *r)
{
    struct run_result result = { r->code, buf_str(&r->out), whole_lines(&r->err) };

    request_on_end(r->request, NULL, NULL);
    leave(r);
    r->done(r->ctx, &result, r->failed ? &r->why : NULL);
    run_free(r);
}

/*
 * Ends it with this reason: at once when nothing runs, else when its group is gone. There is no
 * polite signal first: a leader that heeds it leaves behind those of its group that do not, and
 * the tools here keep their caches sound whenever they die.
 */
static void give_up(struct run *r)
{
    r->failed = true;
    if (r->child)
        child_stop(r->child, (struct child_ladder){ .term_ms = 0, .kill_ms = 0 });
    else
        timer_set(r->timer, 0);
}

static void on_end(void *ctx)
{
    struct run *r = ctx;

    if (!r->failed)
        error_set(&r->why, ERR_CLOSED, "'%s' was ended before it was done", r->opts.argv[0]);
    give_up(r);
}

/* ---- the program ---- */

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct run *r = ctx;

    if (stream == CHILD_STDERR) {
        buf_add(&r->err,
                str_from(bytes, bytes.n > RUN_MAX_STDERR ? bytes.n - RUN_MAX_STDERR : 0));
        if (r->err.n > 2 * RUN_MAX_STDERR)
            buf_drop_front(&r->err, r->err.n - RUN_MAX_STDERR - 1);
        return;
    }
    buf_add(&r->out, bytes);
    if (r->out.over && !r->failed) {
        error_set(&r->why, ERR_LIMIT, "'%s' wrote more than %zu bytes", r->opts.argv[0],
                  RUN_MAX_OUTPUT);
        give_up(r);
    }
}

static void on_exit_seen(void *ctx, const struct child_exit *how)
{
    struct run *r = ctx;

    r->code = how->code;
    finish(r);
}

/* A stderr that nobody reads must not stop us. */
static void show_progress(const char *text)
{
    struct pollfd stderr_now = { .fd = STDERR_FILENO, .events = POLLOUT };
    auto_buf line = BUF(PIPE_BUF);

    buf_addf(&line, PROGRESS_PREFIX "%s\n", text);
    if (poll(&stderr_now, 1, 0) > 0 && stderr_now.revents & POLLOUT)
        file_write_all(STDERR_FILENO, buf_str(&line), NULL);
}

/* No answer about what was asked for, and asking again does not mend it (PM-5). */
static void explain_start(struct run *r)
{
    bool missing = r->why.kind == ERR_NOT_FOUND && file_is_dir(r->opts.cwd);
    const char *install = missing ? r->opts.install : NULL;
    auto_buf text = BUF(ERROR_MSG_MAX);

    buf_addz(&text, r->why.msg);
    error_set(&r->why, ERR_PROTOCOL, "%s%s%s", buf_z(&text), install ? "; " : "",
              install ? install : "");
    r->why.kind = ERR_SYS;
    r->why.sys = missing ? ENOPKG : 0;
}

static void start(struct run *r)
{
    static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_seen };
    const struct child_opts opts = {
        .argv = r->opts.argv, .env = r->opts.env, .cwd = r->opts.cwd, .no_stdin = true
    };

    if (r->opts.progress)
        show_progress(r->opts.progress);
    r->child = child_start(r->request->session->loop, &opts, &ops, r, &r->why);
    if (!r->child) {
        r->failed = true;
        explain_start(r);
        finish(r);
        return;
    }
    timer_set(r->timer, (int)(r->deadline > clock_ms() ? r->deadline - clock_ms() : 0));
}

/* Its turn has come, its deadline has, or there is only its end to report. */
static void on_timer(void *ctx)
{
    struct run *r = ctx;

    if (r->failed && !r->child) {
        finish(r);
        return;
    }
    if (r->started && !r->child && clock_ms() < r->deadline) {
        start(r);
        return;
    }
    if (r->failed)
        return; /* it is being ended already */
    error_set(&r->why, ERR_TIMEOUT, "'%s' took longer than %d s", r->opts.argv[0],
              r->opts.timeout_ms / 1000);
    give_up(r);
}

void run_command(struct request *request, const struct run_opts *o, run_fn done, void *ctx)
{
    struct run *r = NEW(struct run);
    struct runs *all = request->session->runs;

    *r = (struct run){ .request = request, .opts = *o, .done = done, .ctx = ctx, .code = -1 };
    r->out = BUF(RUN_MAX_OUTPUT);
    r->err = BUF(4 * RUN_MAX_STDERR);
    r->deadline = clock_ms() + o->timeout_ms;
    r->timer = timer_new(request->session->loop, on_timer, r);
    timer_set(r->timer, o->timeout_ms);
    *all->last = r;
    all->last = &r->next;
    request_on_end(request, on_end, r);
    if (request_ending(request))
        on_end(r);
    else
        let_next_start(all);
}

struct str run_complaint(struct str err)
{
    struct str line, rest = err, last = { 0 };

    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("error")) || str_starts(line, STR("npm ERR")) ||
            str_starts(line, STR("npm error")))
            return line;
        if (line.n)
            last = line;
    }
    return last;
}
