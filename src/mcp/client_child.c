/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transport of a local server: its process under a keeper, one message a line. */
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "loop/lines.h"
#include "loop/pipe.h"
#include "mcp/client_internal.h"

/* A server whose stdin or stdout broke is usually about to exit; its exit status says more
 * than the broken pipe. */
static const struct child_ladder broken_ladder = { .term_ms = 200, .kill_ms = 500 };

#define COMMAND_SHOWN     200
#define STDERR_LINE_SHOWN 300

/* ---- texts ---- */

/* The last `max` code points. */
static struct str tail_chars(struct str s, size_t max)
{
    size_t at = s.n;

    while (at > 0 && max > 0)
        if (((unsigned char)s.p[--at] & 0xc0) != 0x80)
            max--;
    return str_from(s, at);
}

static void put_command(struct buf *out, const struct mcp_client *c)
{
    auto_buf all = BUF(64 << 10);

    for (size_t i = 0; c->argv[i]; i++)
        buf_addf(&all, "%s%s", i ? " " : "", c->argv[i]);
    utf8_put_clean(out, utf8_cut(buf_str(&all), COMMAND_SHOWN));
    if (all.n > COMMAND_SHOWN)
        buf_addz(out, "...");
}

static void put_who(const struct mcp_client *c, struct buf *out)
{
    struct str err = c->child ? str_trim(child_stderr(c->child)) : (struct str){ 0 };

    buf_addz(out, " (command: ");
    put_command(out, c);
    buf_addz(out, ")");
    if (err.n) {
        buf_addz(out, "; stderr: ");
        utf8_put_clean(out, tail_chars(err, MCP_STDERR_SHOWN));
    }
}

static void put_last_stderr_line(struct buf *out, struct str err)
{
    struct str head, line;

    line = err = str_trim(err);
    while (str_cut(err, '\n', &head, &err))
        line = err;
    if (line.n) {
        buf_addz(out, "; stderr: ");
        utf8_put_clean(out, utf8_cut(str_trim(line), STDERR_LINE_SHOWN));
    }
}

static void exit_text(const struct child_exit *how, struct buf *out)
{
    if (how->signal)
        buf_addf(out, "server was killed by signal %d (%s)", how->signal,
                 strsignal(how->signal));
    else
        buf_addf(out, "server exited with status %d", how->code);
}

/* ---- the process ---- */

static void on_line(void *ctx, struct str line, bool too_long)
{
    client_on_message(ctx, line, too_long);
}

static void starting_exit(struct mcp_client *c, const struct child_exit *how)
{
    auto_buf text = BUF(ERROR_MSG_MAX);
    struct error e;

    /* Status 127: the program could not be executed, and a second try will not help. */
    if (!c->broken.kind && how->code != 127 && client_start_again(c))
        return;
    exit_text(how, &text);
    error_set(&e, ERR_CLOSED, "%s", buf_z(&text));
    if (c->broken.kind && how->signal)
        e = c->broken;
    client_fail_start(c, how->code == 127 ? "spawn" : "handshake", &e);
}

/* MS-50: exit status and the last line of stderr, unless it was us who ended it. */
static void on_exit_of_child(void *ctx, const struct child_exit *how)
{
    struct mcp_client *c = ctx;
    auto_buf text = BUF(ERROR_MSG_MAX);
    struct error e;

    if (child_discarded_run(c->child) > CHILD_DISCARD_MAX)
        error_set(&c->broken, ERR_LIMIT,
                  "server was stopped: more than %llu bytes in a row had to be discarded",
                  (unsigned long long)CHILD_DISCARD_MAX);
    if (c->state == CLIENT_STARTING) {
        starting_exit(c, how);
        return;
    }
    exit_text(how, &text);
    put_last_stderr_line(&text, child_stderr(c->child));
    error_set(&e, ERR_CLOSED, "%s", buf_z(&text));
    if (c->broken.kind && how->signal)
        e = c->broken;
    else if (c->state == CLIENT_STOPPING)
        error_set(&e, ERR_CLOSED, "stopped");
    client_close(c, &e);
}

static void on_stdin_broken(void *ctx, const struct error *why)
{
    struct mcp_client *c = ctx;

    if (why->kind != ERR_CLOSED) {
        c->broken = *why;
        error_wrap(&c->broken, "server does not read its input");
    } else if (c->state == CLIENT_READY) {
        error_set(&c->broken, ERR_CLOSED, "server closed its input");
    }
    child_stop(c->child, broken_ladder);
}

/* Nothing will be answered any more, however long it lives. */
static void on_stdout_closed(void *ctx)
{
    struct mcp_client *c = ctx;

    if (c->state == CLIENT_READY)
        error_set(&c->broken, ERR_CLOSED, "server closed its output");
    child_stop(c->child, broken_ladder);
}

static const struct child_ops child_ops = {
    .on_line = on_line,
    .on_exit = on_exit_of_child,
    .on_stdin_broken = on_stdin_broken,
    .on_stdout_closed = on_stdout_closed,
};

static bool start(struct mcp_client *c, struct error *e)
{
    struct child_opts o = {
        .path = c->path,
        .argv = c->argv,
        .env = c->env,
        .cwd = c->cwd,
        .keeper = true,
        .max_line = LINES_MAX_DEFAULT,
        .max_stdin_queue = PIPE_QUEUE_DEFAULT,
        .stdin_stall_ms = MCP_STDIN_STALL_MS,
    };

    c->child = child_start(c->loop, &o, &child_ops, c, e);
    return c->child != NULL;
}

static bool send_text(struct mcp_client *c, struct str message, struct error *e)
{
    if (!c->child)
        return error_set(e, ERR_CLOSED, "the server is gone");
    return child_write_line(c->child, message, e);
}

static bool forget(struct mcp_client *c, struct str id)
{
    (void)c, (void)id;
    return false;
}

static void stop(struct mcp_client *c, struct child_ladder ladder)
{
    child_stop(c->child, ladder);
}

static void drop(struct mcp_client *c)
{
    child_free(take_ptr(&c->child));
}

const struct transport_ops transport_child = {
    .start = start,
    .send = send_text,
    .forget = forget,
    .stop = stop,
    .drop = drop,
    .put_who = put_who,
    .silent_probe = true,
};
