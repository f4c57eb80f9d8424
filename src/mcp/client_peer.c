/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What we say around every request, and what the server says besides answering. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/lines.h"
#include "mcp/client_internal.h"

/* ---- what we say ---- */

void client_put_modern_meta(struct jw *w, const struct mcp_client *c, enum mcp_rev rev,
                            uint64_t token)
{
    jw_obj(w);
    jw_kstrz(w, MCP_META_VERSION, mcp_rev_info(rev)->name);
    jw_key(w, MCP_META_CAPABILITIES);
    jw_obj(w);
    jw_end(w);
    jw_key(w, MCP_META_CLIENT_INFO);
    jw_obj(w);
    jw_kstrz(w, "name", c->name);
    jw_kstrz(w, "version", c->version);
    jw_end(w);
    if (token)
        jw_kint(w, "progressToken", (int64_t)token);
    jw_end(w);
}

void client_notify_cancelled(struct mcp_client *c, struct str id, const char *reason)
{
    auto_buf params = BUF(4096);
    struct jw w = jw_to(&params);

    if (c->transport->forget(c, id))
        return;
    jw_obj(&w);
    jw_key(&w, "requestId");
    jw_raw(&w, id);
    jw_kstrz(&w, "reason", reason);
    jw_end(&w);
    peer_notify(c->peer, "notifications/cancelled", buf_str(&params), NULL);
}

/* ---- what the server says ---- */

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct mcp_client *c = ctx;

    return c->transport->send(c, message, e);
}

/* MS-73. A modern server has no business asking, and a client never answers then (MCP-C18). */
static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct mcp_client *c = ctx;
    int64_t now = clock_ms();
    auto_buf text = BUF(256);

    if (now - c->window_ms >= 1000) {
        c->window_ms = now;
        c->window_n = 0;
    }
    if (++c->window_n > MCP_SERVER_REQUESTS_PER_S || mcp_client_modern(c))
        return;
    if (str_is(m->method, "ping")) {
        peer_reply(c->peer, m->id, STR("{}"), NULL);
        return;
    }
    buf_addf(&text, "'%.*s' is not supported by this client", STR_F(str_upto(m->method, 128)));
    peer_reply_error(c->peer, m->id, RPC_METHOD_NOT_FOUND, buf_str(&text), STR(""), NULL);
}

static struct str json_text(struct buf *b, yyjson_val *v)
{
    json_put_val(b, v);
    return buf_str(b);
}

/* Modern: only what carries the id of our stream (MCP-C20). Legacy: any time (MCP-C11). */
static void on_list_changed(struct mcp_client *c, yyjson_val *params)
{
    auto_buf id = BUF(4096);
    yyjson_val *sub = json_get(json_get(params, "_meta"), MCP_META_SUBSCRIPTION);

    if (c->state != CLIENT_READY)
        return;
    if (mcp_client_modern(c) &&
        (!c->listen_id || !sub || !str_is(json_text(&id, sub), c->listen_id)))
        return;
    c->tools_changed = true;
    timer_set(c->soon, 0);
}

/* A server that ends our stream may say so in this way (mcp.md 13.1). */
static void on_cancelled(struct mcp_client *c, yyjson_val *params)
{
    auto_buf id = BUF(4096);
    yyjson_val *request = json_get(params, "requestId");

    if (c->listen && c->listen_id && request && str_is(json_text(&id, request), c->listen_id))
        peer_call_cancel(c->peer, c->listen);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    struct mcp_client *c = ctx;

    if (str_is(m->method, "notifications/tools/list_changed"))
        on_list_changed(c, m->params);
    else if (str_is(m->method, "notifications/progress"))
        client_call_progress(c, json_get(m->params, "progressToken"));
    else if (str_is(m->method, "notifications/cancelled"))
        on_cancelled(c, m->params);
    else if (str_is(m->method, "notifications/subscriptions/acknowledged"))
        client_listen_acknowledged(c);
}

/* Lines that are no messages: banners and log lines before the handshake, a flood at any time
 * (security.md 3.2). */
static void count_junk(struct mcp_client *c)
{
    struct error e;

    c->faulted = true;
    c->junk_lines++;
    c->junk_bytes += c->line_n;
    if (!c->junk_warned) {
        c->junk_warned = true;
        log_warn("%s: %s not protocol messages; skipped", c->label,
                 c->remote ? "sends events or answers that are"
                           : "prints lines on stdout that are");
    }
    if (c->state == CLIENT_STARTING &&
        (c->junk_lines > MCP_JUNK_LINES || c->junk_bytes > MCP_JUNK_BYTES)) {
        error_set(&e, ERR_PROTOCOL,
                  "more than %d lines or %zu bytes on stdout that are not protocol messages",
                  MCP_JUNK_LINES, MCP_JUNK_BYTES);
        client_fail_start(c, "handshake", &e);
    } else if (c->state == CLIENT_READY && c->junk_bytes > (size_t)CHILD_DISCARD_MAX) {
        error_set(&e, ERR_PROTOCOL,
                  "more than %zu bytes in a row on stdout that are not protocol messages",
                  (size_t)CHILD_DISCARD_MAX);
        client_close(c, &e);
    }
}

/* An answer that cannot be read, so that nobody knows whose it is: the oldest call fails. */
void client_fail_oldest(struct mcp_client *c, const struct error *why)
{
    struct mcp_call *oldest = client_oldest_call(c);

    /* Not left to the peer when there is one: its oldest call may be our listen, which never
     * ends. */
    if (oldest)
        client_call_fail(c, oldest, why);
    else
        peer_feed_too_long(c->peer, LINES_MAX_DEFAULT);
}

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    struct mcp_client *c = ctx;
    bool too_deep = fault == PEER_NOT_JSON && why->kind == ERR_LIMIT;

    if (fault != PEER_NOT_JSON && fault != PEER_NOT_MESSAGE)
        return;
    client_hold(c);
    if (too_deep)
        client_fail_oldest(c, why);
    if (client_release(c) && c->state != CLIENT_CLOSED)
        count_junk(c);
}

/* The call that an element of a refused array answers fails, and nothing waits for its timeout
 * (SEC-29). */
static void refuse_element(struct mcp_client *c, yyjson_val *element)
{
    auto_buf id = BUF(RPC_ID_MAX);
    struct mcp_call *call = NULL;
    struct error e;

    if (json_get(element, "id"))
        call = client_call_by_wire_id(c, json_text(&id, json_get(element, "id")));
    error_set(&e, ERR_PROTOCOL,
              "invalid answer: batches are not part of this protocol revision");
    if (call)
        client_call_fail(c, call, &e);
}

/* Only a 2025-03-26 server may send arrays. */
static void on_batch(void *ctx, struct rpc_doc *doc)
{
    struct mcp_client *c = ctx;
    bool allowed = c->state == CLIENT_READY && mcp_rev_info(c->rev)->batch;

    client_hold(c);
    for (struct json_iter it = json_iter(doc->json.root); json_next(&it) && c->peer;) {
        if (!allowed)
            refuse_element(c, it.val);
        else if (!json_is_arr(it.val))
            peer_feed_value(c->peer, doc, it.val);
    }
    if (client_release(c) && !allowed)
        count_junk(c);
}

static const struct peer_ops peer_ops = {
    .send = send_message,
    .on_request = on_request,
    .on_notification = on_notification,
    .on_fault = on_fault,
    .on_batch = on_batch,
};

struct peer *client_peer_new(struct mcp_client *c)
{
    return peer_new(c->loop, &peer_ops, c);
}
