/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Arrival of messages: faults, batches, the era of each request (mcp.md 1.1), notifications. */
#include "mcp/server.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "mcp/server_internal.h"

/* ---- the era of one request ---- */

enum claim {
    CLAIM_NONE,
    CLAIM_MALFORMED, /* the version is named, but _meta lacks or mistypes something */
    CLAIM_UNSUPPORTED,
    CLAIM_VALID,
};

static bool is_log_level(struct str level)
{
    static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency" };

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_is(level, levels[i]))
            return true;
    return false;
}

static enum claim claim_of(yyjson_val *params, enum mcp_rev *ret_rev)
{
    yyjson_val *meta = json_get(params, "_meta");
    yyjson_val *version = json_get(meta, MCP_META_VERSION);
    yyjson_val *level = json_get(meta, MCP_META_LOG_LEVEL);

    if (!version)
        return CLAIM_NONE;
    if (!json_is_str(version) || !json_is_obj(json_get(meta, MCP_META_CAPABILITIES)) ||
        (level && !is_log_level(json_str(level))))
        return CLAIM_MALFORMED;
    if (!mcp_rev_parse(json_str(version), ret_rev) || !mcp_rev_info(*ret_rev)->modern)
        return CLAIM_UNSUPPORTED;
    return CLAIM_VALID;
}

static void refuse(struct mcp_server *s, struct str id, int code, const char *text)
{
    peer_reply_error(s->peer, id, code, str_of(text), STR(""), NULL);
}

/* Names what a modern request lacks (MCP-M3). */
static void refuse_meta(struct mcp_server *s, const struct rpc_msg *m)
{
    yyjson_val *meta = json_get(m->params, "_meta");
    bool version = json_is_str(json_get(meta, MCP_META_VERSION));
    bool capabilities = json_is_obj(json_get(meta, MCP_META_CAPABILITIES));

    refuse(s, m->id, RPC_INVALID_PARAMS,
           !version && !capabilities ? "missing _meta: params._meta needs '" MCP_META_VERSION
                                       "' (string) and '" MCP_META_CAPABILITIES "' (object)"
           : !version      ? "missing _meta: params._meta needs '" MCP_META_VERSION "' (string)"
           : !capabilities ? "missing _meta: params._meta needs '" MCP_META_CAPABILITIES
                             "' (object)"
                           : "params._meta '" MCP_META_LOG_LEVEL "' is not a log level");
}

static void refuse_version(struct mcp_server *s, const struct rpc_msg *m)
{
    auto_buf data = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    jw_key(&w, "supported");
    mcp_put_modern_revisions(&w);
    jw_key(&w, "requested");
    jw_val(&w, json_get(json_get(m->params, "_meta"), MCP_META_VERSION));
    jw_end(&w);
    peer_reply_error(s->peer, m->id, MCP_UNSUPPORTED_VERSION,
                     STR("unsupported protocol version"), buf_str(&data), NULL);
}

/* The table of mcp.md 1.1. False: refused and answered. */
static bool classify(struct mcp_server *s, const struct rpc_msg *m, enum mcp_rev *ret_rev)
{
    enum claim claim = claim_of(m->params, ret_rev);
    bool initialize = str_is(m->method, "initialize");

    if (claim == CLAIM_VALID) {
        s->modern_seen |= !str_is(m->method, "server/discover");
        return true;
    }
    if (!initialize && claim == CLAIM_UNSUPPORTED) {
        refuse_version(s, m);
        return false;
    }
    if (!initialize &&
        (claim == CLAIM_MALFORMED || str_is(m->method, "server/discover") ||
         str_is(m->method, "subscriptions/listen") || (s->modern_seen && !s->legacy_seen))) {
        refuse_meta(s, m);
        return false;
    }
    s->legacy_seen = true;
    *ret_rev = s->legacy_rev;
    return true;
}

/* ---- requests ---- */

static void on_session_timer(void *ctx)
{
    struct mcp_server *s = ctx;

    s->def->on_session(s->def_ctx);
}

/* A real session, not a client's probe (MS-2). Told behind the answer, since its listener
 * starts processes. */
static void prove_session(struct mcp_server *s, struct str method)
{
    if (s->session_told || !s->def->on_session || str_is(method, "server/discover"))
        return;
    s->session_told = true;
    s->session = timer_new(s->loop, on_session_timer, s);
    timer_set(s->session, 0);
}

static const struct mcp_method_def *extra_method(const struct mcp_server_def *def,
                                                 struct str name)
{
    for (size_t i = 0; i < def->nmethods; i++)
        if (str_is(name, def->methods[i].name))
            return &def->methods[i];
    return NULL;
}

static const struct method *method_for(const struct mcp_server_def *def, struct str name,
                                       enum mcp_rev rev)
{
    const struct mcp_method_def *extra = extra_method(def, name);
    const struct method *method = extra ? mcp_extra_method(extra) : mcp_method(name);

    if (!method || !(mcp_rev_info(rev)->modern ? method->modern : method->legacy))
        return NULL;
    return mcp_offers(def, method->needs, rev) ? method : NULL;
}

static void refuse_method(struct mcp_server *s, const struct rpc_msg *m)
{
    auto_buf text = BUF(256);

    buf_addf(&text, "method '%.*s' not found", STR_F(str_upto(m->method, 128)));
    refuse(s, m->id, RPC_METHOD_NOT_FOUND, buf_z(&text));
}

static void run_method(struct mcp_req *r, const struct mcp_method_def *extra)
{
    r->extra = extra;
    r->method->run(r);
}

static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct mcp_server *s = ctx;
    const struct method *method;
    enum mcp_rev rev;

    /* With its own id the refusal would pass for the answer of the request that is open. */
    if (mcp_req_find(s, m->id) || mcp_listen_find(s, m->id)) {
        refuse(s, STR(""), RPC_INVALID_REQUEST, "the id of an open request was used again");
        return;
    }
    if (s->in_batch && str_is(m->method, "initialize")) {
        refuse(s, m->id, RPC_INVALID_REQUEST, "initialize must not be part of a batch");
        return;
    }
    if (!classify(s, m, &rev))
        return;
    prove_session(s, m->method);
    method = method_for(s->def, m->method, rev);
    if (!method)
        refuse_method(s, m);
    else if (method->by_handler &&
             (s->nreqs >= MCP_SERVER_MAX_REQUESTS || s->held + s->line_n > MCP_SERVER_MAX_HELD))
        refuse(s, m->id, RPC_INTERNAL_ERROR, "too many open requests");
    else
        run_method(mcp_req_new(s, m, method, rev), extra_method(s->def, m->method));
}

/* ---- notifications ---- */

/* False when the server was freed meanwhile. */
static bool release(struct mcp_server *s)
{
    bool alive = !s->ending;

    if (--s->busy == 0 && !alive)
        free(s);
    return alive;
}

/* Races are normal: the request may have been answered. `initialize` is answered before
 * anything else is read, so it is never found here. A listen ends silently (MCP-M12). */
static void on_cancelled(struct mcp_server *s, yyjson_val *params)
{
    yyjson_val *id = json_get(params, "requestId");
    auto_buf text = BUF(MCP_MESSAGE_MAX);
    struct mcp_req *r;
    struct listen **l;

    if (!json_is_str(id) && !json_is_num(id))
        return;
    json_put_val(&text, id);
    if ((l = mcp_listen_find(s, buf_str(&text))) != NULL) {
        mcp_listen_drop(s, l);
        return;
    }
    r = mcp_req_find(s, buf_str(&text));
    if (!r)
        return;
    s->busy++;
    mcp_req_cancel(r);
    if (release(s) && s->nreqs == 0 && s->idle)
        s->idle(s->idle_ctx);
}

static void tell_roots_changed(struct mcp_server *s)
{
    if (s->def->roots_changed)
        s->def->roots_changed(s->def_ctx);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    struct mcp_server *s = ctx;

    if (str_is(m->method, "notifications/cancelled"))
        on_cancelled(s, m->params);
    else if (str_is(m->method, "notifications/initialized"))
        s->initialized = s->negotiated;
    else if (str_is(m->method, "notifications/roots/list_changed") && mcp_client_has_roots(s))
        tell_roots_changed(s);
    else
        log_debug("client notification '%.*s' ignored", STR_F(str_upto(m->method, 64)));
}

/* ---- what is no single message ---- */

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    struct mcp_server *s = ctx;

    switch (fault) {
    case PEER_NOT_JSON:
        peer_reply_error(s->peer, STR(""), RPC_PARSE_ERROR, str_of(why->msg), STR(""), NULL);
        return;
    case PEER_NOT_MESSAGE:
    case PEER_TOO_LONG:
        peer_reply_error(s->peer, id, RPC_INVALID_REQUEST, str_of(why->msg), STR(""), NULL);
        return;
    case PEER_STRAY_ANSWER:
        log_debug("client answered something we never asked; dropped");
        return;
    }
}

static const char *batch_fault(const struct mcp_server *s, yyjson_val *batch)
{
    enum mcp_rev rev;

    if (json_len(batch) == 0)
        return "empty batch";
    if (!s->negotiated || !mcp_rev_info(s->legacy_rev)->batch)
        return "batches are not part of this protocol revision";
    if (json_len(batch) > MCP_SERVER_MAX_BATCH)
        return "a batch of more than 1024 messages";
    for (struct json_iter it = json_iter(batch); json_next(&it);) {
        if (json_is_arr(it.val))
            return "a batch inside a batch";
        if (claim_of(json_get(it.val, "params"), &rev) != CLAIM_NONE)
            return "a request with per-request _meta cannot be part of a batch";
    }
    return NULL;
}

/* 2025-03-26 only; its answers go out as separate messages, which that revision allows. */
static void on_batch(void *ctx, struct rpc_doc *doc)
{
    struct mcp_server *s = ctx;
    const char *fault = batch_fault(s, doc->json.root);

    if (fault) {
        refuse(s, STR(""), RPC_INVALID_REQUEST, fault);
        return;
    }
    rpc_doc_ref(doc);
    s->in_batch = true;
    for (struct json_iter it = json_iter(doc->json.root); json_next(&it);)
        if (!peer_feed_value(s->peer, doc, it.val))
            goto gone;
    s->in_batch = false;
gone:
    rpc_doc_unref(doc);
}

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct mcp_server *s = ctx;

    if (s->ending)
        return error_set(e, ERR_CLOSED, "the server has ended");
    return s->ops->send(s->ops_ctx, message, e);
}

/* ---- life ---- */

static const struct peer_ops peer_ops = {
    .send = send_message,
    .on_request = on_request,
    .on_notification = on_notification,
    .on_fault = on_fault,
    .on_batch = on_batch,
};

struct mcp_server *mcp_server_new_split(struct loop *l, const struct mcp_server_def *def,
                                        void *def_ctx, const struct mcp_server_ops *ops,
                                        void *ops_ctx)
{
    struct mcp_server *s = NEW(struct mcp_server);

    *s = (struct mcp_server){
        .loop = l,
        .def = def,
        .def_ctx = def_ctx,
        .ops = ops,
        .ops_ctx = ops_ctx,
        .legacy_rev = MCP_LATEST_LEGACY,
    };
    s->peer = peer_new(l, &peer_ops, s);
    return s;
}

struct mcp_server *mcp_server_new(struct loop *l, const struct mcp_server_def *def,
                                  const struct mcp_server_ops *ops, void *ctx)
{
    return mcp_server_new_split(l, def, ctx, ops, ctx);
}

bool mcp_server_feed(struct mcp_server *s, struct str line)
{
    s->line_n = line.n;
    return peer_feed(s->peer, line);
}

bool mcp_server_feed_too_long(struct mcp_server *s)
{
    refuse(s, STR(""), RPC_INVALID_REQUEST, "message too long, at most 16 MiB in one line");
    return true;
}

size_t mcp_server_open_requests(const struct mcp_server *s)
{
    return s->nreqs;
}

void mcp_server_on_idle(struct mcp_server *s, void (*fn)(void *ctx), void *ctx)
{
    s->idle = fn;
    s->idle_ctx = ctx;
}

void mcp_server_free(struct mcp_server *s)
{
    if (!s || s->ending)
        return;
    s->ending = true;
    s->busy++;
    s->idle = NULL;
    while (s->reqs)
        mcp_req_cancel(s->reqs);
    while (s->listens)
        mcp_listen_drop(s, &s->listens);
    timer_free(s->session);
    timer_free(s->changed_pace);
    timer_free(s->updated_pace);
    mcp_uris_free(&s->watched);
    mcp_uris_free(&s->updated);
    peer_free(s->peer);
    rpc_doc_unref(s->hello);
    release(s);
}
