/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Life of a client: its messages, its end and the texts of failures. */
#include "mcp/client.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/lines.h"
#include "mcp/client_internal.h"

/* ---- texts ---- */

bool mcp_client_start_error(const struct mcp_client *c, const char *step,
                            const struct error *why, struct error *ret)
{
    auto_buf text = BUF(ERROR_MSG_MAX);

    buf_addf(&text, "start failed at %s after %.1f s: %s", step,
             (double)(clock_ms() - c->started_ms) / 1000, why->msg);
    c->transport->put_who(c, &text);
    return error_set(ret, why->kind, "%s", buf_z(&text));
}

/* ---- the end ---- */

void client_hold(struct mcp_client *c)
{
    c->busy++;
}

static void destroy(struct mcp_client *c)
{
    struct str key;
    void *v;

    map_free(&c->task_tools);
    for (size_t i = 0; map_next(&c->params, &i, &key, &v);) {
        tool_params_free(v);
        free(v);
    }
    map_free(&c->params);
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
    timer_clear(c->relisten);
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
    c->transport->drop(c);
    c->ops->on_closed(c->ctx, &kept);
}

void client_fail_start(struct mcp_client *c, const char *step, const struct error *why)
{
    struct error e;

    mcp_client_start_error(c, step, why, &e);
    client_close(c, &e);
}

/* ---- messages ---- */

void client_on_message(struct mcp_client *c, struct str text, bool too_long)
{
    struct error e;

    if (c->state == CLIENT_CLOSED || !c->peer)
        return;
    if (too_long) {
        error_set(&e, ERR_LIMIT, "answer of more than %zu bytes discarded", LINES_MAX_DEFAULT);
        client_fail_oldest(c, &e);
        return;
    }
    c->line_n = text.n;
    c->faulted = false;
    client_hold(c);
    peer_feed(c->peer, text);
    if (client_release(c) && c->state == CLIENT_READY && !c->faulted)
        c->junk_bytes = 0;
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
        client_fail_start(c, c->remote ? "connect" : "spawn", &c->start_error);
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

static const struct mcp_remote *copy_remote(struct arena *a, const struct mcp_remote *r)
{
    struct mcp_remote *copy = ARENA_NEW(a, struct mcp_remote);
    struct http_field *fields = ARENA_ARRAY(a, struct http_field, r->nheaders + 1);

    for (size_t i = 0; i < r->nheaders; i++)
        fields[i] = (struct http_field){ arena_str(a, r->headers[i].name),
                                         arena_str(a, r->headers[i].value) };
    *copy = *r;
    copy->url = arena_z(a, str_of(r->url));
    copy->headers = fields;
    copy->proxy = r->proxy ? arena_z(a, str_of(r->proxy)) : NULL;
    copy->ca_file = r->ca_file ? arena_z(a, str_of(r->ca_file)) : NULL;
    return copy;
}

bool client_open(struct mcp_client *c, struct error *e)
{
    if (!c->transport->start(c, e))
        return false;
    c->peer = client_peer_new(c);
    c->probed = false;
    return true;
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
    c->transport = o->remote ? &transport_http : &transport_child;
    c->remote = o->remote ? copy_remote(&c->arena, o->remote) : NULL;
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
    c->relisten = timer_new(l, client_on_relisten, c);
    timer_background(c->relisten);
    if (client_open(c, &c->start_error)) {
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

const struct mcp_route *mcp_client_route(const struct mcp_client *c)
{
    return &c->route;
}

size_t mcp_client_inflight(const struct mcp_client *c)
{
    return c->ncalls;
}

void mcp_client_stop(struct mcp_client *c, struct child_ladder ladder)
{
    if (c->state == CLIENT_CLOSED || (!c->child && !c->link))
        return;
    c->state = CLIENT_STOPPING;
    clear_timers(c);
    c->transport->stop(c, ladder);
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
    timer_free(c->relisten);
    peer_free(take_ptr(&c->peer));
    c->transport->drop(c);
    client_release(c);
}
