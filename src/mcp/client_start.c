/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which era a server speaks (mcp.md 1.3), and its handshake.
 *
 *   probe ── DiscoverResult, -32022 naming ours ────────────────> modern
 *     │ any other answer, 3 s of silence (both stay open then), exit (one respawn)
 *     v
 *   initialize ── InitializeResult ──> legacy     -32022 naming ours ──> modern
 *
 * A server known as legacy is not probed; if its initialize fails, it is.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "mcp/client_internal.h"

#define DISCOVER_TRIES 2
/* The handshake's calls end with the startup deadline, which must come first: it tells the step
 * and stderr. */
#define CALL_SLACK_MS 1000

static void legacy(struct mcp_client *c);

/* ---- what a server says it speaks ---- */

enum support {
    SUPPORT_UNKNOWN, /* no list of versions */
    SUPPORT_LEGACY,  /* only revisions before the modern ones */
    SUPPORT_OTHER,   /* modern ones, but none of ours */
    SUPPORT_OURS,
};

static enum support support_of(yyjson_val *versions, enum mcp_rev *ret_best)
{
    struct str first_modern = str_of(mcp_rev_info(MCP_2026_07_28)->name);
    enum support found = json_is_arr(versions) ? SUPPORT_LEGACY : SUPPORT_UNKNOWN;

    for (struct json_iter it = json_iter(versions); json_next(&it);) {
        struct str v = json_str(it.val);
        enum mcp_rev rev;

        if (mcp_rev_parse(v, &rev) && mcp_rev_info(rev)->modern) {
            *ret_best = found == SUPPORT_OURS && *ret_best > rev ? *ret_best : rev;
            found = SUPPORT_OURS;
        } else if (found == SUPPORT_LEGACY && str_cmp(v, first_modern) > 0) {
            found = SUPPORT_OTHER;
        }
    }
    return found;
}

/* ---- changes of a modern server's list ---- */

static void listen_for_changes(struct mcp_client *c);

void client_on_relisten(void *ctx)
{
    struct mcp_client *c = ctx;

    if (c->state == CLIENT_READY && !c->listen)
        listen_for_changes(c);
}

/* What changed while nobody listened is not told again: the list is read anew. */
void client_listen_acknowledged(struct mcp_client *c)
{
    if (!c->listen_tries)
        return;
    c->listen_tries = 0;
    c->tools_changed = true;
    timer_set(c->soon, 0);
}

/* A stream over HTTP ends with its connection, or because the server restarts. */
static bool listen_again(struct mcp_client *c, const struct rpc_msg *reply)
{
    int wait = MCP_HTTP_RETRY_MS;

    if (!c->remote || (reply && reply->kind == RPC_ERROR) ||
        (c->http_status >= 400 && c->http_status < 500))
        return false;
    for (int i = 0; i < c->listen_tries && wait < MCP_HTTP_RETRY_MAX_MS; i++)
        wait *= 2;
    c->listen_tries++;
    timer_set(c->relisten, wait < MCP_HTTP_RETRY_MAX_MS ? wait : MCP_HTTP_RETRY_MAX_MS);
    return true;
}

static void on_listen_end(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct mcp_client *c = ctx;

    c->listen = 0;
    if (c->state != CLIENT_READY)
        return;
    if ((reply || e->kind != ERR_TIMEOUT) && listen_again(c, reply)) {
        free(take_ptr(&c->listen_id));
        return;
    }
    /* Only our own hard maximum ends it so: the next one is opened. */
    if (!reply && e->kind == ERR_TIMEOUT) {
        client_notify_cancelled(c, str_of(c->listen_id), "renewed");
        listen_for_changes(c);
        return;
    }
    free(take_ptr(&c->listen_id));
}

static void listen_for_changes(struct mcp_client *c)
{
    auto_buf params = BUF(64 << 10);
    struct jw w = jw_to(&params);
    struct peer_call call = { .method = "subscriptions/listen",
                              .timeout_ms = PEER_HARD_TIMEOUT_MS };

    jw_obj(&w);
    jw_key(&w, "notifications");
    jw_obj(&w);
    jw_kbool(&w, "toolsListChanged", true);
    jw_end(&w);
    jw_key(&w, "_meta");
    client_put_modern_meta(&w, c, c->rev, 0);
    jw_end(&w);
    call.params = buf_str(&params);
    c->listen = peer_call(c->peer, &call, on_listen_end, c, NULL);
    free(c->listen_id);
    c->listen_id = c->listen ? str_dup(peer_call_id(c->peer, c->listen)) : NULL;
}

/* ---- ready ---- */

static void keep_server_info(struct mcp_client *c, yyjson_val *info)
{
    auto_buf b = BUF(64 << 10);

    if (!json_is_obj(info))
        return;
    json_put_val(&b, info);
    if (buf_ok(&b, NULL)) {
        free(c->server_info);
        c->server_info = buf_take(&b);
    }
}

static void drop_call(struct mcp_client *c, uint64_t *call)
{
    uint64_t open = *call;

    *call = 0;
    if (open)
        peer_call_cancel(c->peer, open);
}

static void become_ready(struct mcp_client *c, enum mcp_rev rev)
{
    c->state = CLIENT_READY;
    c->rev = rev;
    timer_clear(c->startup);
    timer_clear(c->probe_wait);
    drop_call(c, &c->probe);
    drop_call(c, &c->initialize);
    c->junk_bytes = 0;
    log_debug("%s: ready, revision %s", c->label, mcp_rev_info(rev)->name);
    if (!mcp_rev_info(rev)->modern)
        peer_notify(c->peer, "notifications/initialized", STR(""), NULL);
    else if (c->listens)
        listen_for_changes(c);
    if (c->remote && c->listens && !mcp_rev_info(rev)->modern)
        link_open_stream(c);
    c->ops->on_ready(c->ctx);
}

/* `discovered` is NULL when the server proved its era in another way; what it can do is unknown
 * then. */
static void become_modern(struct mcp_client *c, enum mcp_rev rev, yyjson_val *discovered)
{
    keep_server_info(c, json_get(json_get(discovered, "_meta"), MCP_META_SERVER_INFO));
    c->listens = json_is_true(json_path(discovered, "capabilities.tools.listChanged"));
    become_ready(c, rev);
}

/* ---- initialize ---- */

static void on_initialize(void *ctx, const struct rpc_msg *reply, const struct error *e);
static void on_probe(void *ctx, const struct rpc_msg *reply, const struct error *e);

static void send_call(struct mcp_client *c, const char *method, struct buf *params,
                      uint64_t *ret_call, reply_fn done)
{
    struct peer_call call = {
        .method = method,
        .params = buf_str(params),
        .timeout_ms = c->startup_ms + CALL_SLACK_MS,
        .string_id = done == on_probe,
    };
    struct error e;

    /* A pipe that is broken already is followed by the exit, silence by the startup deadline.
     */
    *ret_call = peer_call(c->peer, &call, done, c, &e);
    if (!*ret_call)
        log_debug("%s: %s: %s", c->label, method, e.msg);
}

static void send_initialize(struct mcp_client *c, reply_fn done)
{
    auto_buf params = BUF(64 << 10);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_kstrz(&w, "protocolVersion", mcp_rev_info(MCP_LATEST_LEGACY)->name);
    jw_key(&w, "capabilities");
    jw_obj(&w);
    jw_end(&w);
    jw_key(&w, "clientInfo");
    jw_obj(&w);
    jw_kstrz(&w, "name", c->name);
    jw_kstrz(&w, "version", c->version);
    jw_end(&w);
    jw_end(&w);
    send_call(c, "initialize", &params, &c->initialize, done);
}

static void send_probe(struct mcp_client *c);

static void initialize_failed(struct mcp_client *c, const struct error *why)
{
    if (c->hint == MCP_ERA_LEGACY && !c->hint_failed) {
        c->hint_failed = true;
        send_probe(c);
    } else if (c->probe) {
        c->init_error =
            *why; /* a slow modern-only server: its answer to the probe will decide */
    } else {
        client_fail_start(c, "handshake", why);
    }
}

static void initialized(struct mcp_client *c, yyjson_val *result)
{
    struct str version = json_str(json_get(result, "protocolVersion"));
    enum mcp_rev rev;
    struct error e;

    if (!mcp_rev_parse(version, &rev) || mcp_rev_info(rev)->modern) {
        error_set(&e, ERR_PROTOCOL,
                  "initialize was answered with protocol version '%.*s', which we do not speak",
                  STR_F(str_upto(version, 64)));
        initialize_failed(c, &e);
        return;
    }
    keep_server_info(c, json_get(result, "serverInfo"));
    c->listens = json_is_true(json_path(result, "capabilities.tools.listChanged"));
    become_ready(c, rev);
}

static void on_initialize(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct mcp_client *c = ctx;
    enum mcp_rev rev;
    struct error why;

    c->initialize = 0;
    if (c->state != CLIENT_STARTING || (!reply && !c->http_status && e->kind == ERR_CLOSED))
        return; /* decided, or the process ended: on_exit goes on */
    if (!e) {
        initialized(c, reply ? reply->result : NULL);
        return;
    }
    if (reply && reply->code == MCP_UNSUPPORTED_VERSION &&
        support_of(json_get(reply->data, "supported"), &rev) == SUPPORT_OURS) {
        become_modern(c, rev, NULL);
        return;
    }
    /* Nothing here speaks Streamable HTTP (mcp.md 1.4, 4). */
    if (!reply && (c->http_status == 400 || c->http_status == 404 || c->http_status == 405) &&
        link_use_sse(c)) {
        send_initialize(c, on_initialize);
        return;
    }
    error_set(&why, reply ? ERR_PROTOCOL : e->kind, "initialize failed: %s", e->msg);
    initialize_failed(c, &why);
}

static void on_initialized_again(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct mcp_client *c = ctx;
    struct error why;
    enum mcp_rev rev;

    c->initialize = 0;
    if (c->state != CLIENT_READY)
        return;
    if (e) {
        error_set(&why, ERR_CLOSED, "the server ended the session, and no new one began: %s",
                  e->msg);
        client_close(c, &why);
        return;
    }
    if (!mcp_rev_parse(json_str(json_get(reply->result, "protocolVersion")), &rev) ||
        mcp_rev_info(rev)->modern) {
        error_set(
            &why, ERR_PROTOCOL,
            "the server ended the session, and answered initialize otherwise than before");
        client_close(c, &why);
        return;
    }
    c->rev = rev;
    peer_notify(c->peer, "notifications/initialized", STR(""), NULL);
    c->tools_changed = true; /* a server that was started anew may have others */
    timer_set(c->soon, 0);
    link_session_is_back(c);
}

void client_initialize_again(struct mcp_client *c)
{
    if (!c->initialize)
        send_initialize(c, on_initialized_again);
}

static void legacy(struct mcp_client *c)
{
    if (c->init_error.kind)
        client_fail_start(c, "handshake", &c->init_error);
    else if (!c->initialize)
        send_initialize(c, on_initialize);
}

/* ---- probe ---- */

static void discovered(struct mcp_client *c, yyjson_val *result)
{
    yyjson_val *type = json_get(result, "resultType");
    enum mcp_rev rev;

    if ((!type || str_is(json_str(type), "complete")) &&
        support_of(json_get(result, "supportedVersions"), &rev) == SUPPORT_OURS)
        become_modern(c, rev, result);
    else
        legacy(c);
}

/* Only -32022 with a list is evidence; every other code is overloaded by deployed servers
 * (mcp.md 1.3, 4). */
static void refused(struct mcp_client *c, const struct rpc_msg *reply)
{
    yyjson_val *versions = json_get(reply->data, "supported");
    struct error e;
    enum mcp_rev rev;

    /* Over HTTP these two are, and a probe holds nothing that could be corrected (1.4, 2). */
    if (c->remote &&
        (reply->code == MCP_HEADER_MISMATCH || reply->code == MCP_MISSING_CAPABILITY)) {
        error_set(&e, ERR_PROTOCOL, "server/discover was refused: %.*s",
                  STR_F(str_upto(reply->message, 128)));
        client_fail_start(c, "handshake", &e);
        return;
    }
    switch (reply->code == MCP_UNSUPPORTED_VERSION ? support_of(versions, &rev)
                                                   : SUPPORT_UNKNOWN) {
    case SUPPORT_UNKNOWN:
    case SUPPORT_LEGACY:
        legacy(c);
        return;
    case SUPPORT_OURS:
        if (c->discover_tries < DISCOVER_TRIES) {
            send_probe(c);
            return;
        }
        error_set(&e, ERR_PROTOCOL,
                  "server refuses the protocol version that it says it supports");
        break;
    case SUPPORT_OTHER:
        error_set(&e, ERR_PROTOCOL,
                  "server speaks no protocol revision that we do (it names '%.*s')",
                  STR_F(str_upto(json_str(json_at(versions, 0)), 64)));
        break;
    }
    client_fail_start(c, "handshake", &e);
}

/* Over HTTP only a refusal of this very request does: not an outage, nor what concerns who is
 * asking or how often (mcp.md 1.4, 5). */
static bool tells_era(const struct mcp_client *c)
{
    int status = c->http_status;

    return !c->remote || (status >= 400 && status < 500 && status != 401 && status != 403 &&
                          status != 407 && status != 408 && status != 429);
}

static void on_probe(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct mcp_client *c = ctx;

    c->probe = 0;
    if (c->state != CLIENT_STARTING || (!reply && !c->http_status && e->kind == ERR_CLOSED))
        return;
    timer_clear(c->probe_wait);
    if (!reply && !tells_era(c))
        client_fail_start(c, "server/discover", e);
    else if (!reply)
        legacy(c);
    else if (e)
        refused(c, reply);
    else
        discovered(c, reply->result);
}

static void send_probe(struct mcp_client *c)
{
    auto_buf params = BUF(64 << 10);
    struct jw w = jw_to(&params);
    int wait_ms = c->startup_ms / 2;

    jw_obj(&w);
    jw_key(&w, "_meta");
    client_put_modern_meta(&w, c, MCP_LATEST_MODERN, 0);
    jw_end(&w);
    c->probed = true;
    c->discover_tries++;
    if (c->transport->silent_probe)
        timer_set(c->probe_wait,
                  wait_ms < MCP_PROBE_TIMEOUT_MS ? wait_ms : MCP_PROBE_TIMEOUT_MS);
    send_call(c, "server/discover", &params, &c->probe, on_probe);
}

void client_on_probe_wait(void *ctx)
{
    struct mcp_client *c = ctx;

    log_debug("%s: no answer to the probe yet, trying initialize", c->label);
    if (!c->init_error.kind)
        legacy(c);
}

/* ---- processes ---- */

void client_handshake(struct mcp_client *c)
{
    if (c->probe_over || (c->remote && c->remote->sse) ||
        (c->hint == MCP_ERA_LEGACY && !c->hint_failed))
        send_initialize(c, on_initialize);
    else
        send_probe(c);
}

bool client_start_again(struct mcp_client *c)
{
    struct error e;

    if (c->hint == MCP_ERA_LEGACY && !c->hint_failed)
        c->hint_failed = true;
    else if (c->probed && !c->respawned)
        c->respawned = c->probe_over = true;
    else
        return false;
    log_debug("%s: exited in the handshake, started once more", c->label);
    timer_clear(c->probe_wait);
    peer_free(take_ptr(&c->peer)); /* the handshake's calls end with ERR_CLOSED, which they take
                                      no notice of */
    child_free(take_ptr(&c->child));
    if (client_open(c, &e))
        client_handshake(c);
    else
        client_fail_start(c, "spawn", &e);
    return true;
}
