/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Life of a session: its lines, its state, its failures. */
#include "acp/session.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/internal.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"

#define RPC_AUTH_REQUIRED (-32000)

/* ---- state ---- */

static const char *const state_names[] = {
    [ACP_INITIALIZING] = "initializing", [ACP_AUTHENTICATING] = "authenticating",
    [ACP_LISTING] = "listing",           [ACP_OPENING] = "opening",
    [ACP_SETTING] = "setting",           [ACP_PROMPTING] = "prompting",
    [ACP_STOPPED] = "stopped",           [ACP_FAILED] = "failed",
};

static const unsigned next_of[] = {
    [ACP_INITIALIZING] =
        1u << ACP_AUTHENTICATING | 1u << ACP_LISTING | 1u << ACP_OPENING | 1u << ACP_FAILED,
    [ACP_AUTHENTICATING] = 1u << ACP_LISTING | 1u << ACP_OPENING | 1u << ACP_FAILED,
    [ACP_LISTING] = 1u << ACP_OPENING | 1u << ACP_FAILED,
    [ACP_OPENING] = 1u << ACP_SETTING | 1u << ACP_FAILED,
    [ACP_SETTING] = 1u << ACP_PROMPTING | 1u << ACP_FAILED,
    [ACP_PROMPTING] = 1u << ACP_STOPPED,
    [ACP_STOPPED] = 0,
    [ACP_FAILED] = 0,
};

void acp_enter(struct acp_session *s, enum acp_state to)
{
    assert(next_of[s->state] & 1u << to);
    log_debug("acp: %s -> %s", state_names[s->state], state_names[to]);
    s->state = to;
}

bool acp_is_over(const struct acp_session *s)
{
    return s->state == ACP_STOPPED || s->state == ACP_FAILED;
}

/* ---- life ---- */

void acp_keep(struct acp_kept *k, struct rpc_doc *doc, yyjson_val *v)
{
    struct rpc_doc *old = k->doc;

    k->doc = v ? rpc_doc_ref(doc) : NULL;
    k->v = v;
    rpc_doc_unref(old);
}

void acp_hold(struct acp_session *s)
{
    s->busy++;
}

static void destroy(struct acp_session *s)
{
    acp_asks_free(s);
    acp_text_free(&s->text);
    acp_tools_free(&s->tools);
    acp_keep(&s->initialized, NULL, NULL);
    acp_keep(&s->config, NULL, NULL);
    acp_keep(&s->modes, NULL, NULL);
    acp_keep(&s->models, NULL, NULL);
    acp_keep(&s->idle, NULL, NULL);
    acp_keep(&s->opened, NULL, NULL);
    buf_free(&s->mode);
    buf_free(&s->model);
    buf_free(&s->unsent);
    buf_free(&s->logins);
    arena_free(&s->arena);
    free(s);
}

bool acp_release(struct acp_session *s)
{
    bool alive = !s->freed;

    if (--s->busy == 0 && !alive)
        destroy(s);
    return alive;
}

void acp_session_free(struct acp_session *s)
{
    if (!s || s->freed)
        return;
    acp_hold(s);
    s->freed = true;
    peer_free(take_ptr(&s->peer));
    timer_free(take_ptr(&s->flush));
    timer_free(take_ptr(&s->settle));
    acp_release(s);
}

/* ---- requests of ours ---- */

bool acp_call(struct acp_session *s, const char *method, const char *step,
              const struct buf *params, reply_fn done)
{
    struct peer_call c = {
        .method = method,
        .params = buf_str(params),
        .timeout_ms = s->turn.request_ms,
    };
    auto_buf text = BUF(2 * ACP_TEXT_SHOWN);
    struct error e;

    s->step = step;
    s->call = buf_ok(params, &e) ? peer_call(s->peer, &c, done, s, &e) : 0;
    if (s->call)
        return true;
    acp_put_error(&text, s, NULL, &e);
    acp_fail(s, step, "%s", buf_z(&text));
    return false;
}

bool acp_answered(struct acp_session *s)
{
    s->call = 0;
    return !s->freed && !acp_is_over(s);
}

/* An answer that we no longer wait for: the agent may stop working on it. */
static void cancel_request(struct acp_session *s, uint64_t call)
{
    auto_buf params = BUF(RPC_ID_MAX + 64);
    struct str id = peer_call_id(s->peer, call);

    if (!id.n)
        return;
    buf_addf(&params, "{\"requestId\":%.*s}", STR_F(id));
    peer_notify(s->peer, "$/cancel_request", buf_str(&params), NULL);
}

/* ---- failures ---- */

void acp_put_cut(struct buf *b, struct str text)
{
    utf8_put_clean(b, utf8_cut(text, ACP_TEXT_SHOWN));
    buf_addz(b, text.n > ACP_TEXT_SHOWN ? "..." : "");
}

/* `data` is a string, an object that has one, or a tree (ACP-5). */
static void put_data(struct buf *b, yyjson_val *data)
{
    static const char *const keys[] = { "message", "details", "error", "reason" };
    auto_buf json = BUF((size_t)1 << 20);

    if (json_is_str(data)) {
        acp_put_cut(b, json_str(data));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (json_is_str(json_get(data, keys[i]))) {
            acp_put_cut(b, json_str(json_get(data, keys[i])));
            return;
        }
    }
    json_put_val(&json, data);
    acp_put_cut(b, buf_str(&json));
}

static bool wants_login(const struct rpc_msg *reply)
{
    return reply && reply->kind == RPC_ERROR && reply->code == RPC_AUTH_REQUIRED;
}

void acp_put_error(struct buf *b, const struct acp_session *s, const struct rpc_msg *reply,
                   const struct error *e)
{
    if (!reply || reply->kind != RPC_ERROR) {
        acp_put_cut(b, str_of(e->msg));
        return;
    }
    if (wants_login(reply))
        buf_addf(b, "authentication required (methods of the agent: %s): ",
                 s->logins.n ? buf_z(&s->logins) : "none");
    acp_put_cut(b, reply->message);
    buf_addf(b, " (code %lld)", (long long)reply->code);
    if (reply->data && !json_is_null(reply->data)) {
        buf_addz(b, ": ");
        put_data(b, reply->data);
    }
}

static void fail(struct acp_session *s, const struct acp_failure *why)
{
    log_debug("acp: failed at %s: %.*s", why->step, STR_F(why->text));
    acp_enter(s, ACP_FAILED);
    acp_hold(s);
    acp_text_flush(&s->text);
    if (!s->freed)
        s->ops.on_failed(s->ctx, why);
    acp_release(s);
}

void acp_fail(struct acp_session *s, const char *step, const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        mem_exhausted();
    va_end(ap);
    fail(s, &(struct acp_failure){ .step = step, .text = str_of(text) });
    free(text);
}

void acp_fail_setting(struct acp_session *s, const struct acp_setting *set, struct str text)
{
    fail(s, &(struct acp_failure){ .step = set->what,
                                   .text = text,
                                   .setting = set->id                ? set->id
                                              : set->how == ACP_MODE ? "mode"
                                                                     : "model",
                                   .value = set->value });
}

void acp_fail_reply(struct acp_session *s, const char *step, const struct rpc_msg *reply,
                    const struct error *e)
{
    auto_buf text = BUF(8 * ACP_TEXT_SHOWN);

    acp_put_error(&text, s, reply, e);
    acp_fail(s, step, "%s", buf_z(&text));
}

/* ---- events ---- */

void acp_emit(struct acp_session *s, enum acp_event type, struct str data)
{
    if (s->freed)
        return;
    if (s->muted && type != ACP_EV_SESSION)
        s->dropped++; /* most were in acp_on_update() already */
    else
        s->ops.on_event(s->ctx, type, data);
}

/* ---- what the agent says ---- */

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct acp_session *s = ctx;

    return s->ops.send(s->ctx, message, e);
}

/* fs, terminal and elicitation were not announced (ACP-15); what begins with '_' is unknown. */
static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct acp_session *s = ctx;
    auto_buf text = BUF(256);

    if (str_is(m->method, "session/request_permission")) {
        acp_on_ask(s, m);
        return;
    }
    buf_addf(&text, "'%.*s' is not supported by this client", STR_F(str_upto(m->method, 128)));
    peer_reply_error(s->peer, m->id, RPC_METHOD_NOT_FOUND, buf_str(&text), STR(""), NULL);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    struct acp_session *s = ctx;

    if (str_is(m->method, "session/update"))
        acp_on_update(s, m);
    else if (str_is(m->method, "$/cancel_request"))
        acp_on_cancel_request(s, m->params);
}

/* A banner or a log line on stdout, or an answer that came too late. */
static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    log_debug("acp: skipped: %s", why->msg);
}

/* ACP-1: an id may be null, which peers do not take; the request is one all the same. */
static bool is_null_request(yyjson_val *v)
{
    return json_is_obj(v) && json_is_str(json_get(v, "method")) &&
           json_is_null(json_get(v, "id")) && str_is(json_str(json_get(v, "jsonrpc")), "2.0");
}

static void feed_value(struct acp_session *s, struct rpc_doc *doc, yyjson_val *v)
{
    struct rpc_msg m = {
        .kind = RPC_REQUEST,
        .doc = doc,
        .id = STR("null"),
        .method = json_str(json_get(v, "method")),
        .params = json_get(v, "params"),
    };

    if (is_null_request(v))
        on_request(s, &m);
    else
        peer_feed_value(s->peer, doc, v);
}

/* Batches are part of the draft alone (ACP-16). */
static void feed_batch(struct acp_session *s, struct rpc_doc *doc)
{
    int n = 0;

    for (struct json_iter it = json_iter(doc->json.root); json_next(&it) && !s->freed;) {
        if (++n > ACP_BATCH_MAX) {
            log_debug("acp: the members of a batch behind the first %d were dropped",
                      ACP_BATCH_MAX);
            return;
        }
        feed_value(s, doc, it.val);
    }
}

bool acp_session_feed(struct acp_session *s, struct str line)
{
    struct error e;
    struct rpc_doc *doc = rpc_doc_parse(line, &e);

    if (!doc) {
        on_fault(s, PEER_NOT_JSON, (struct str){ 0 }, &e);
        return true;
    }
    acp_hold(s);
    if (!json_is_arr(doc->json.root))
        feed_value(s, doc, doc->json.root);
    else if (s->turn.version > 1)
        feed_batch(s, doc);
    else
        peer_feed(s->peer, line); /* refuses it, and ends the calls that it answers */
    rpc_doc_unref(doc);
    return acp_release(s);
}

bool acp_session_feed_too_long(struct acp_session *s)
{
    auto_buf data = BUF(256);

    acp_hold(s);
    if (s->state < ACP_PROMPTING) {
        peer_feed_too_long(s->peer, ACP_LINE_MAX);
    } else {
        acp_text_break(&s->text);
        buf_addf(&data,
                 "{\"update\":{\"sessionUpdate\":\"_dropped\",\"reason\":\"a line of more than "
                 "%zu bytes\"}}",
                 ACP_LINE_MAX);
        acp_emit(s, ACP_EV_UPDATE, buf_str(&data));
    }
    return acp_release(s);
}

/* ---- the owner's wishes ---- */

static void mark_tools_cancelled(struct acp_session *s)
{
    struct str id;

    while (!s->freed && (id = acp_tools_close_one(&s->tools)).n) {
        auto_buf data = BUF(8 * ACP_ID_MAX);
        struct jw w = jw_to(&data);

        jw_obj(&w);
        jw_kstr(&w, "toolCallId", id);
        jw_kstrz(&w, "status", "cancelled");
        jw_end(&w);
        acp_emit(s, ACP_EV_TOOL_UPDATE, buf_str(&data));
    }
}

static void cancel_turn(struct acp_session *s)
{
    auto_buf params = BUF(8 * ACP_ID_MAX);
    struct jw w = jw_to(&params);

    s->cancelled = true;
    jw_obj(&w);
    jw_kstr(&w, "sessionId", s->id);
    jw_end(&w);
    peer_notify(s->peer, "session/cancel", buf_str(&params), NULL);
    acp_asks_cancel(s);
    acp_text_break(&s->text);
    mark_tools_cancelled(s);
}

void acp_session_cancel(struct acp_session *s)
{
    acp_hold(s);
    if (s->state < ACP_PROMPTING) {
        cancel_request(s, s->call);
        acp_fail(s, "cancelled", "cancelled before the prompt was sent");
    } else if (s->state == ACP_PROMPTING && !s->cancelled) {
        cancel_turn(s);
    }
    acp_release(s);
}

void acp_session_mute(struct acp_session *s)
{
    acp_hold(s);
    acp_text_flush(&s->text);
    s->muted = true;
    acp_release(s);
}

uint64_t acp_session_dropped(const struct acp_session *s)
{
    return s->dropped;
}

void acp_session_flush(struct acp_session *s)
{
    acp_hold(s);
    acp_text_flush(&s->text);
    acp_release(s);
}

/* Most often the open request ends by this; a turn of v2 has none. */
void acp_session_closed(struct acp_session *s, const struct error *why)
{
    auto_buf text = BUF(2 * ACP_TEXT_SHOWN);

    acp_hold(s);
    acp_asks_free(s);
    acp_text_flush(&s->text);
    if (!s->freed)
        peer_close(s->peer, why);
    acp_put_error(&text, s, NULL, why);
    if (!s->freed && s->state == ACP_PROMPTING)
        acp_stop(s, &(struct acp_stop){ .error = buf_str(&text) });
    else if (!s->freed && s->state < ACP_PROMPTING)
        acp_fail(s, s->step, "%s", buf_z(&text));
    acp_release(s);
}

/* ---- making one ---- */

static const struct acp_setting *copy_settings(struct arena *a, const struct acp_turn *t)
{
    struct acp_setting *v = ARENA_ARRAY(a, struct acp_setting, t->nsettings);

    for (size_t i = 0; i < t->nsettings; i++) {
        const struct acp_setting *from = &t->settings[i];

        v[i] = (struct acp_setting){
            .what = arena_z(a, str_of(from->what)),
            .how = from->how,
            .id = from->id ? arena_z(a, str_of(from->id)) : NULL,
            .value = arena_z(a, str_of(from->value)),
        };
    }
    return v;
}

static const char *const *copy_list(struct arena *a, const char *const *list)
{
    size_t n = 0;
    const char **v;

    while (list && list[n])
        n++;
    v = ARENA_ARRAY(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = arena_z(a, str_of(list[i]));
    return v;
}

static const struct acp_mcp_server *copy_servers(struct arena *a, const struct acp_turn *t)
{
    struct acp_mcp_server *v = ARENA_ARRAY(a, struct acp_mcp_server, t->nservers);

    for (size_t i = 0; i < t->nservers; i++) {
        const struct acp_mcp_server *from = &t->servers[i];

        v[i] = (struct acp_mcp_server){
            .name = arena_z(a, str_of(from->name)),
            .command = arena_z(a, str_of(from->command)),
            .args = copy_list(a, from->args),
            .env = copy_list(a, from->env),
        };
    }
    return v;
}

static void copy_turn(struct acp_session *s, const struct acp_turn *t)
{
    struct arena *a = &s->arena;

    s->turn = (struct acp_turn){
        .version = t->version,
        .cwd = arena_z(a, str_of(t->cwd)),
        .prompt = arena_str(a, t->prompt),
        .resume = t->resume ? arena_z(a, str_of(t->resume)) : NULL,
        .auth_method = t->auth_method ? arena_z(a, str_of(t->auth_method)) : NULL,
        .settings = copy_settings(a, t),
        .nsettings = t->nsettings,
        .allow = t->allow,
        .servers = copy_servers(a, t),
        .nservers = t->nservers,
        .request_ms = t->request_ms > 0 ? t->request_ms : ACP_REQUEST_MS,
    };
}

static const struct peer_ops peer_ops = {
    .send = send_message,
    .on_request = on_request,
    .on_notification = on_notification,
    .on_fault = on_fault,
};

struct acp_session *acp_session_new(struct loop *l, const struct acp_turn *turn,
                                    const struct acp_session_ops *ops, void *ctx)
{
    struct acp_session *s = NEW(struct acp_session);

    s->loop = l;
    s->ops = *ops;
    s->ctx = ctx;
    copy_turn(s, turn);
    s->codec = acp_codec_of(turn->version);
    assert(s->codec);
    s->mode = BUF(ACP_ID_MAX);
    s->model = BUF(ACP_ID_MAX);
    s->logins = BUF(8 * ACP_TEXT_SHOWN);
    s->unsent = BUF(2 * ACP_TEXT_SHOWN);
    s->tools = ACP_TOOLS;
    acp_text_init(&s->text, acp_text_event, s);
    s->flush = timer_new(l, acp_on_flush, s);
    s->settle = timer_new(l, acp_on_settled, s);
    s->peer = peer_new(l, &peer_ops, s);
    acp_begin(s);
    return s;
}
