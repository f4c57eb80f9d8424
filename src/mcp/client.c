/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Life of a client: its process, its lines, its end and the texts of failures. */
#include "mcp/client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
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

bool mcp_client_start_error(const struct mcp_client *c, const char *step,
                            const struct error *why, struct error *ret)
{
    struct str err = c->child ? str_trim(child_stderr(c->child)) : (struct str){ 0 };
    auto_buf text = BUF(ERROR_MSG_MAX);

    buf_addf(&text, "start failed at %s after %.1f s: %s (command: ", step,
             (double)(clock_ms() - c->started_ms) / 1000, why->msg);
    put_command(&text, c);
    buf_addz(&text, ")");
    if (err.n) {
        buf_addz(&text, "; stderr: ");
        utf8_put_clean(&text, tail_chars(err, MCP_STDERR_SHOWN));
    }
    return error_set(ret, why->kind, "%s", buf_z(&text));
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

/* ---- the end ---- */

void client_hold(struct mcp_client *c)
{
    c->busy++;
}

static void destroy(struct mcp_client *c)
{
    map_free(&c->task_tools);
    free(c->server_info);
    free(c->listen_id);
    arena_free(&c->arena);
    free(c);
}

bool client_release(struct mcp_client *c)
{
    bool alive = !c->freed;

    if (--c->busy == 0 && !alive)
        destroy(c);
    return alive;
}

static void clear_timers(struct mcp_client *c)
{
    timer_clear(c->startup);
    timer_clear(c->probe_wait);
}

/* All that is open ends with `why`. The caller holds. */
static void end_calls(struct mcp_client *c, const struct error *why)
{
    if (c->peer)
        peer_close(c->peer, why);
    client_end_early(c, why);
}

void client_close(struct mcp_client *c, const struct error *why)
{
    struct error kept = *why;

    if (c->state == CLIENT_CLOSED)
        return;
    log_debug("%s: closed: %s", c->label, why->msg);
    c->state = CLIENT_CLOSED;
    clear_timers(c);
    client_hold(c);
    end_calls(c, &kept);
    if (!client_release(c))
        return;
    peer_free(take_ptr(&c->peer));
    child_free(take_ptr(&c->child));
    c->ops->on_closed(c->ctx, &kept);
}

void client_fail_start(struct mcp_client *c, const char *step, const struct error *why)
{
    struct error e;

    mcp_client_start_error(c, step, why, &e);
    client_close(c, &e);
}

/* ---- lines ---- */

static void on_line(void *ctx, struct str line, bool too_long)
{
    struct mcp_client *c = ctx;
    struct error e;

    if (c->state == CLIENT_CLOSED || !c->peer)
        return;
    if (too_long) {
        error_set(&e, ERR_LIMIT, "answer of more than %zu bytes discarded", LINES_MAX_DEFAULT);
        client_fail_oldest(c, &e);
        return;
    }
    c->line_n = line.n;
    c->faulted = false;
    client_hold(c);
    peer_feed(c->peer, line);
    if (client_release(c) && c->state == CLIENT_READY && !c->faulted)
        c->junk_bytes = 0;
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

bool client_spawn(struct mcp_client *c, struct error *e)
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
    if (!c->child)
        return false;
    c->peer = client_peer_new(c);
    c->probed = false;
    return true;
}

/* ---- life ---- */

static void on_startup_timeout(void *ctx)
{
    struct mcp_client *c = ctx;
    struct error e;

    error_set(&e, ERR_TIMEOUT, "timed out after %.3g s", (double)c->startup_ms / 1000);
    client_fail_start(c, "handshake", &e);
}

/* Things told in the next loop turn, never from inside a function of ours. */
static void on_soon(void *ctx)
{
    struct mcp_client *c = ctx;

    if (c->state == CLIENT_STARTING && c->start_error.kind) {
        client_fail_start(c, "spawn", &c->start_error);
        return;
    }
    client_hold(c);
    client_end_early(c, NULL);
    if (client_release(c) && c->tools_changed && c->state == CLIENT_READY) {
        c->tools_changed = false;
        if (c->ops->on_tools_changed)
            c->ops->on_tools_changed(c->ctx);
    }
}

static const char *const *copy_strings(struct arena *a, const char *const *v)
{
    size_t n = 0;
    char **copy;

    while (v && v[n])
        n++;
    copy = ARENA_ARRAY(a, char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_z(a, str_of(v[i]));
    return (const char *const *)copy;
}

struct mcp_client *mcp_client_start(struct loop *l, const struct mcp_client_opts *o,
                                    const struct mcp_client_ops *ops, void *ctx)
{
    struct mcp_client *c = NEW(struct mcp_client);

    c->loop = l;
    c->ops = ops;
    c->ctx = ctx;
    c->label = arena_z(&c->arena, str_of(o->label));
    c->path = o->path ? arena_z(&c->arena, str_of(o->path)) : NULL;
    c->cwd = o->cwd ? arena_z(&c->arena, str_of(o->cwd)) : NULL;
    c->name = arena_z(&c->arena, str_of(o->client_name));
    c->version = arena_z(&c->arena, str_of(o->client_version));
    c->argv = copy_strings(&c->arena, o->argv);
    c->env = o->env ? copy_strings(&c->arena, o->env) : NULL;
    c->startup_ms = o->startup_timeout_ms;
    c->hint = o->era;
    c->rev = MCP_LATEST_LEGACY;
    c->started_ms = clock_ms();
    c->startup = timer_new(l, on_startup_timeout, c);
    c->probe_wait = timer_new(l, client_on_probe_wait, c);
    c->soon = timer_new(l, on_soon, c);
    if (client_spawn(c, &c->start_error)) {
        timer_set(c->startup, c->startup_ms);
        client_handshake(c);
    } else {
        timer_set(c->soon, 0);
    }
    return c;
}

bool mcp_client_ready(const struct mcp_client *c)
{
    return c->state == CLIENT_READY;
}

enum mcp_rev mcp_client_rev(const struct mcp_client *c)
{
    return c->rev;
}

bool mcp_client_modern(const struct mcp_client *c)
{
    return mcp_rev_info(c->rev)->modern;
}

struct str mcp_client_server_info(const struct mcp_client *c)
{
    return c->server_info ? str_of(c->server_info) : STR("{}");
}

pid_t mcp_client_pid(const struct mcp_client *c)
{
    return c->child ? child_pid(c->child) : 0;
}

size_t mcp_client_inflight(const struct mcp_client *c)
{
    return c->ncalls;
}

void mcp_client_stop(struct mcp_client *c, struct child_ladder ladder)
{
    if (c->state == CLIENT_CLOSED || !c->child)
        return;
    c->state = CLIENT_STOPPING;
    clear_timers(c);
    child_stop(c->child, ladder);
}

void mcp_client_free(struct mcp_client *c)
{
    struct error e;

    if (!c || c->freed)
        return;
    error_set(&e, ERR_CLOSED, "connection closed");
    client_hold(c);
    c->state = CLIENT_CLOSED;
    c->freed = true;
    end_calls(c, &e);
    timer_free(c->startup);
    timer_free(c->probe_wait);
    timer_free(c->soon);
    peer_free(take_ptr(&c->peer));
    child_free(take_ptr(&c->child));
    client_release(c);
}
