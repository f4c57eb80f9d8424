/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/child.h"
#include "loop/timer.h"

#define MAX_LINES 8

struct command {
    struct child *child; /* NULL: could not be started */
    struct timer *timer; /* deadline; also reports a failed start, at 0 ms */
    size_t max_out;
    bool killed; /* why holds our reason */
    struct buf out, said;
    struct error why;
    void (*done)(void *ctx, const struct command_end *how);
    void *ctx;
};

static const struct child_ladder at_once = { .term_ms = 0, .kill_ms = 200 };

/* The last act: `done` may free the command. */
static void finish(struct command *c)
{
    timer_clear(c->timer);
    child_free(c->child);
    c->child = NULL;
    c->done(c->ctx, &(struct command_end){ .out = buf_str(&c->out),
                                           .said = buf_str(&c->said),
                                           .why = c->why.kind ? &c->why : NULL });
}

void command_kill(struct command *c, const struct error *why)
{
    if (c->killed)
        return;
    c->killed = true;
    c->why = *why;
    if (c->child)
        child_stop(c->child, at_once);
}

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    struct command *c = ctx;
    struct error e = { 0 };

    if (stream == CHILD_STDERR || !c->max_out) {
        buf_add_last(&c->said, bytes);
        return;
    }
    buf_add(&c->out, bytes);
    if (!buf_ok(&c->out, &e))
        command_kill(c, &e);
}

static void on_exit_seen(void *ctx, const struct child_exit *how)
{
    struct command *c = ctx;

    if (c->killed)
        ; /* as said */
    else if (how->exec_errno)
        error_set(&c->why, how->exec_errno == ENOENT ? ERR_NOT_FOUND : ERR_CLOSED,
                  "cannot be executed: %s", strerror(how->exec_errno));
    else if (how->signal)
        error_set(&c->why, ERR_CLOSED, "was ended by signal %d", how->signal);
    else if (how->code)
        error_set(&c->why, ERR_CLOSED, "exited with status %d", how->code);
    finish(c);
}

static void on_timer(void *ctx)
{
    struct command *c = ctx;
    struct error e = { 0 };

    if (!c->child) {
        finish(c);
        return;
    }
    error_set(&e, ERR_TIMEOUT, "did not end in time");
    command_kill(c, &e);
}

struct command *command_start(struct loop *l, const struct command_opts *o,
                              void (*done)(void *ctx, const struct command_end *how), void *ctx)
{
    static const struct child_ops ops = { .on_bytes = on_bytes, .on_exit = on_exit_seen };
    struct command *c = NEW(struct command);
    struct child_opts co = {
        .argv = o->argv, .env = o->env, .cwd = o->cwd, .keeper = true, .no_stdin = true
    };

    *c = (struct command){ .max_out = o->max_out,
                           .out = BUF(o->max_out),
                           .said = BUF(COMMAND_LAST_BYTES),
                           .done = done,
                           .ctx = ctx };
    c->timer = timer_new(l, on_timer, c);
    c->child = child_start(l, &co, &ops, c, &c->why);
    timer_set(c->timer, c->child ? o->timeout_ms : 0);
    return c;
}

void command_free(struct command *c)
{
    if (!c)
        return;
    child_free(c->child);
    timer_free(c->timer);
    buf_free(&c->out);
    buf_free(&c->said);
    free(c);
}

/* Newlines and carriage returns both end a line: progress bars come with the latter. */
static struct str take_last_line(struct str *s)
{
    size_t at = s->n;

    while (at && s->p[at - 1] != '\n' && s->p[at - 1] != '\r')
        at--;
    struct str line = str_trim(str_from(*s, at));

    s->n = at ? at - 1 : 0;
    return line;
}

const char *command_last_words(struct arena *a, struct str said, size_t max)
{
    struct str lines[MAX_LINES];
    auto_buf text = BUF(4 * COMMAND_LAST_BYTES);
    size_t n = 0, used = 0;

    while (said.n && n < MAX_LINES) {
        struct str line = take_last_line(&said);

        if (!line.n)
            continue;
        if (n && used + line.n > max)
            break;
        lines[n++] = utf8_cut(line, max);
        used += line.n;
    }
    while (n--) {
        utf8_put_clean(&text, lines[n]);
        if (n)
            buf_addz(&text, " | ");
    }
    return arena_z(a, buf_str(&text));
}
