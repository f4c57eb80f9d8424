/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One request from its arrival to its one answer: progress, cancellation, reply. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "mcp/content.h"
#include "mcp/server_internal.h"

#define ERROR_TEXT_MAX 4096

/* A longer URI is not repeated in an error's data: the answer would be as long as the request.
 */
#define URI_DATA_MAX ((size_t)64 << 10)

/* A progressToken is a string or an integer; of anything else we take no notice. */
static struct str token_of(struct arena *a, yyjson_val *params)
{
    yyjson_val *token = json_path(params, "_meta.progressToken");
    auto_buf b = BUF(64 << 10);
    int64_t n;

    if (!json_is_str(token) && !json_int(token, &n))
        return (struct str){ 0 };
    json_put_val(&b, token);
    return buf_ok(&b, NULL) ? arena_str(a, buf_str(&b)) : (struct str){ 0 };
}

struct mcp_req *mcp_req_new(struct mcp_server *s, const struct rpc_msg *m,
                            const struct method *method, enum mcp_rev rev)
{
    struct mcp_req *r = NEW(struct mcp_req);

    r->s = s;
    r->method = method;
    r->rev = rev;
    r->doc = rpc_doc_ref(m->doc);
    r->line_n = s->line_n;
    s->held += r->line_n;
    r->params = m->params;
    r->id = arena_str(&r->arena, m->id);
    r->token = token_of(&r->arena, m->params);
    r->late = BUF(MCP_PROGRESS_TEXT_MAX);
    r->late_meta = BUF(MCP_PROGRESS_META_MAX);
    r->next = s->reqs;
    if (r->next)
        r->next->prev = r;
    s->reqs = r;
    s->nreqs++;
    return r;
}

struct mcp_req *mcp_req_find(struct mcp_server *s, struct str id)
{
    for (struct mcp_req *r = s->reqs; r; r = r->next)
        if (rpc_id_eq(r->id, id))
            return r;
    return NULL;
}

/* Out of the server's list; the request lives on until freed. */
static void unlink_req(struct mcp_req *r)
{
    struct mcp_server *s = r->s;

    if (r->prev)
        r->prev->next = r->next;
    else
        s->reqs = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->prev = r->next = NULL;
    r->s = NULL;
    s->nreqs--;
    s->held -= r->line_n;
    timer_free(r->pace);
    r->pace = NULL;
}

static void free_req(struct mcp_req *r)
{
    rpc_doc_unref(r->doc);
    buf_free(&r->late);
    buf_free(&r->late_meta);
    arena_free(&r->arena);
    free(r);
}

/* The last act of an answer or cancel: it may end the server. */
static void tell_idle(struct mcp_server *s)
{
    if (s->nreqs == 0 && s->idle)
        s->idle(s->idle_ctx);
}

/* Without a cancel function the handler does not know, and will answer: its request waits for
 * that outside the server. */
void mcp_req_cancel(struct mcp_req *r)
{
    unlink_req(r);
    if (!r->cancel) {
        r->state = REQ_ORPHAN;
        return;
    }
    r->state = REQ_CANCELLING;
    r->cancel(r->cancel_ctx);
    free_req(r);
}

/* ---- progress ---- */

static void send_progress(struct mcp_req *r, double total, struct str message, struct str meta)
{
    auto_buf params = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_key(&w, "progressToken");
    jw_raw(&w, r->token);
    jw_key(&w, "progress");
    jw_num(&w, r->progress);
    if (total > 0) {
        jw_key(&w, "total");
        jw_num(&w, total);
    }
    if (message.n && mcp_rev_info(r->rev)->annotations)
        jw_kstr(&w, "message", message);
    if (meta.n) {
        jw_key(&w, "_meta");
        jw_raw(&w, meta);
    }
    jw_end(&w);
    peer_notify(r->s->peer, "notifications/progress", buf_str(&params), NULL);
}

static void send_pending_progress(struct mcp_req *r)
{
    if (!r->pending)
        return;
    r->pending = false;
    send_progress(r, r->total, buf_str(&r->late), buf_str(&r->late_meta));
}

static void on_pace(void *ctx)
{
    struct mcp_req *r = ctx;

    if (!r->pending)
        return;
    send_pending_progress(r);
    timer_set(r->pace, MCP_PROGRESS_MS);
}

void mcp_progress(struct mcp_req *r, double progress, double total, struct str message)
{
    mcp_progress_meta(r, progress, total, message, (struct str){ 0 });
}

void mcp_progress_meta(struct mcp_req *r, double progress, double total, struct str message,
                       struct str meta)
{
    if (!r->s || !r->token.n || (r->has_progress && progress <= r->progress))
        return;
    r->has_progress = true;
    r->progress = progress;
    if (!r->pace) {
        r->pace = timer_new(r->s->loop, on_pace, r);
        timer_background(r->pace);
    }
    if (!timer_is_set(r->pace)) {
        send_progress(r, total, message, meta);
        timer_set(r->pace, MCP_PROGRESS_MS);
        return;
    }
    /* Within the interval: the last one wins. */
    r->pending = true;
    r->total = total;
    buf_clear(&r->late);
    buf_add(&r->late, str_upto(message, MCP_PROGRESS_TEXT_MAX));
    buf_clear(&r->late_meta);
    buf_add(&r->late_meta, meta);
}

/* ---- what a handler asks ---- */

struct arena *mcp_req_arena(struct mcp_req *r)
{
    return &r->arena;
}

yyjson_val *mcp_req_params(const struct mcp_req *r)
{
    return r->params;
}

bool mcp_req_wants_progress(const struct mcp_req *r)
{
    return r->token.n > 0;
}

bool mcp_req_has_roots(const struct mcp_req *r)
{
    return r->s && !mcp_rev_info(r->rev)->modern && mcp_client_has_roots(r->s);
}

bool mcp_req_offers(const struct mcp_req *r, const char *extension)
{
    yyjson_val *meta = json_get(r->params, "_meta");
    yyjson_val *capabilities = json_get(meta, MCP_META_CAPABILITIES);

    return mcp_rev_info(r->rev)->modern &&
           json_is_obj(json_get(json_get(capabilities, "extensions"), extension));
}

void mcp_req_on_cancel(struct mcp_req *r, void (*fn)(void *ctx), void *ctx)
{
    r->cancel = fn;
    r->cancel_ctx = ctx;
}

/* ---- the answer ---- */

/* True when the answer may be sent. An answer from inside the cancel function is dropped there,
 * an orphan's here. */
static bool may_answer(struct mcp_req *r)
{
    if (r->state == REQ_ORPHAN)
        free_req(r);
    else if (r->state == REQ_OPEN)
        return true;
    return false;
}

static void finish(struct mcp_req *r)
{
    struct mcp_server *s = r->s;

    unlink_req(r);
    free_req(r);
    tell_idle(s);
}

void mcp_req_drop(struct mcp_req *r)
{
    finish(r);
}

/* `made` false: why not is in *e. */
static void send_result(struct mcp_req *r, bool made, struct str result, struct error *e)
{
    if (!made || !peer_reply(r->s->peer, r->id, result, e)) {
        /* Too large for a message, or for what the client has left unread: it is told so. */
        log_debug("answer to %s: %s", r->method->name, e->msg);
        peer_reply_error(r->s->peer, r->id, RPC_INTERNAL_ERROR, str_of(e->msg), STR(""), NULL);
    }
    finish(r);
}

struct mcp_form mcp_req_form(const struct mcp_req *r)
{
    return (struct mcp_form){ .def = r->s->def, .method = r->method, .rev = r->rev };
}

bool mcp_form_put(const struct mcp_form *f, struct buf *out, struct str result, struct error *e)
{
    return mcp_put_envelope(out, result, f->def, f->method, f->rev, e);
}

void mcp_reply_formed(struct mcp_req *r, struct str formed)
{
    struct error e = { 0 };

    if (!may_answer(r))
        return;
    send_pending_progress(r);
    send_result(r, true, formed, &e);
}

void mcp_reply(struct mcp_req *r, struct str result)
{
    struct error e = { 0 };
    auto_buf out = BUF(MCP_MESSAGE_MAX);
    bool made;

    if (!may_answer(r))
        return;
    send_pending_progress(r);
    made = mcp_put_envelope(&out, result, r->s->def, r->method, r->rev, &e);
    send_result(r, made, buf_str(&out), &e);
}

void mcp_reply_text(struct mcp_req *r, struct str text, bool is_error)
{
    struct error e = { 0 };
    auto_buf result = BUF(MCP_MESSAGE_MAX);
    bool made;

    if (mcp_rev_info(r->rev)->modern) {
        mcp_put_text_result(&result, text, is_error);
        mcp_reply(r, buf_str(&result));
        return;
    }
    if (!may_answer(r))
        return;
    send_pending_progress(r);
    mcp_put_text_result(&result, text, is_error);
    made = buf_ok(&result, &e);
    send_result(r, made, buf_str(&result), &e);
}

void mcp_reply_error(struct mcp_req *r, int code, struct str data_json, const char *fmt, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!may_answer(r))
        return;
    send_pending_progress(r);
    if (!peer_reply_error(r->s->peer, r->id, code, str_of(text), data_json, NULL))
        peer_reply_error(r->s->peer, r->id, code, str_of(text), STR(""), NULL);
    finish(r);
}

void mcp_reply_needs(struct mcp_req *r, const char *extension)
{
    auto_buf data = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    jw_key(&w, "requiredCapabilities");
    jw_obj(&w);
    jw_key(&w, "extensions");
    jw_obj(&w);
    jw_key(&w, extension);
    jw_obj(&w);
    for (int open = 4; open; open--)
        jw_end(&w);
    mcp_reply_error(r, MCP_MISSING_CAPABILITY, buf_str(&data),
                    "the request does not offer the extension '%s'", extension);
}

void mcp_reply_no_resource(struct mcp_req *r, struct str uri)
{
    auto_buf data = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&data);
    const char *text = r->s ? r->s->def->no_resource : NULL;

    if (uri.n <= URI_DATA_MAX) {
        jw_obj(&w);
        jw_kstr(&w, "uri", uri);
        jw_end(&w);
    }
    mcp_reply_error(r, mcp_rev_info(r->rev)->resource_not_found, buf_str(&data), "%s: %.*s",
                    text ? text : "resource not found", STR_F(str_upto(uri, 512)));
}
