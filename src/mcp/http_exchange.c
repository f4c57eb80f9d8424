/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One request over HTTP and what comes of it: a JSON answer, a stream of events, a refusal,
 * silence. What is said in headers is read from the very message that is sent, so the two never
 * differ.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/lines.h"
#include "mcp/http_link.h"
#include "text/url.h"

/* ---- life ---- */

struct exchange *exchange_new(struct link *t, enum exchange_kind kind)
{
    struct exchange *x = NEW(struct exchange), *last = t->first;

    *x = (struct exchange){ .t = t, .kind = kind, .url = t->place.url };
    while (last && last->next)
        last = last->next;
    x->prev = last;
    *(last ? &last->next : &t->first) = x;
    sse_init(&x->sse, LINES_MAX_DEFAULT);
    return x;
}

static void destroy(struct exchange *x)
{
    sse_free(&x->sse);
    buf_free(&x->body);
    arena_free(&x->arena);
    free(x->location);
    free(x->challenge);
    free(x->id);
    free(x->message);
    free(x);
}

void exchange_end(struct exchange *x)
{
    if (x->dead)
        return;
    x->dead = true;
    if (x->prev)
        x->prev->next = x->next;
    else
        x->t->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    http_cancel(take_ptr(&x->call));
    timer_free(take_ptr(&x->pause));
    if (!x->busy)
        destroy(x);
}

/* While held the memory stays; false: it was ended meanwhile, and is gone now. */
static void hold(struct exchange *x)
{
    x->busy++;
}

static bool release(struct exchange *x)
{
    bool alive = !x->dead;

    if (--x->busy == 0 && !alive)
        destroy(x);
    return alive;
}

/* ---- the request ---- */

struct fields {
    struct http_field *v;
    size_t n, cap;
    struct arena a;
    struct error too_long; /* of the first value that no server would take */
};

static void fields_free(struct fields *f)
{
    free(f->v);
    arena_free(&f->a);
}

static void put(struct fields *f, const char *name, struct str value)
{
    VEC_PUSH(f) = (struct http_field){ str_of(name), value };
}

static void put_encoded(struct fields *f, const char *name, struct str value)
{
    auto_buf out = BUF(HTTP_HEADER_MAX);

    http_put_value(&out, value);
    if (value.n < HTTP_HEADER_MAX && buf_ok(&out, NULL))
        put(f, name, arena_str(&f->a, buf_str(&out)));
    else if (!f->too_long.kind)
        error_set(&f->too_long, ERR_LIMIT,
                  "what the header '%.100s' repeats is longer than the %zu bytes it may have",
                  name, HTTP_HEADER_MAX);
}

/* Mcp-Name, where the method has one (mcp.md 5.4). */
static void put_name(struct fields *f, struct str method, yyjson_val *params)
{
    static const struct {
        const char *method, *member;
    } names[] = {
        { "tools/call", "name" },  { "prompts/get", "name" },    { "resources/read", "uri" },
        { "tasks/get", "taskId" }, { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        yyjson_val *v = json_get(params, names[i].member);

        if (str_is(method, names[i].method) && json_is_str(v))
            put_encoded(f, "Mcp-Name", json_str(v));
    }
}

static void put_params(struct fields *f, struct mcp_client *c, yyjson_val *params)
{
    const struct tool_params *tool = map_get(&c->params, json_str(json_get(params, "name")));

    for (size_t i = 0; tool && i < tool->n; i++) {
        auto_buf value = BUF(LINES_MAX_DEFAULT);

        if (tool_param_value(&tool->v[i], json_get(params, "arguments"), &value))
            put_encoded(f, tool->v[i].field, buf_str(&value));
    }
}

/* What a modern message says of itself, said again; else the revision that was agreed on. */
static bool put_era(struct fields *f, struct exchange *x, struct error *e)
{
    struct mcp_client *c = x->t->c;
    auto_json m = { 0 };
    yyjson_val *params, *version;
    struct str method;

    if (x->n && !json_parse(&m, (struct str){ x->message, x->n }, e))
        return false;
    method = json_str(json_get(m.root, "method"));
    params = json_get(m.root, "params");
    version = json_get(json_get(params, "_meta"), MCP_META_VERSION);
    if (json_is_str(version)) {
        put(f, "MCP-Protocol-Version", arena_str(&f->a, json_str(version)));
        put(f, "Mcp-Method", arena_str(&f->a, method));
        put_name(f, method, params);
        if (str_is(method, "tools/call"))
            put_params(f, c, params);
        if (f->too_long.kind)
            *e = f->too_long;
        return !f->too_long.kind;
    }
    x->session_no = x->t->session && !x->bare ? x->t->session_no : 0;
    if (x->session_no)
        put(f, "Mcp-Session-Id", str_of(x->t->session));
    if (c->state != CLIENT_STARTING && c->rev >= MCP_2025_06_18 &&
        !str_is(method, "initialize"))
        put(f, "MCP-Protocol-Version", str_of(mcp_rev_info(c->rev)->name));
    return true;
}

/* The one place for credentials: what the configuration gives, until there is more (OAuth). */
static void put_credentials(struct fields *f, const struct exchange *x)
{
    const struct mcp_remote *r = x->t->c->remote;

    for (size_t i = 0; !x->bare && i < r->nheaders; i++)
        VEC_PUSH(f) = r->headers[i];
}

static const char *method_of(const struct exchange *x)
{
    if (x->kind == EXCHANGE_DELETE)
        return "DELETE";
    return x->kind == EXCHANGE_STREAM || x->resumes ? "GET" : "POST";
}

static void reset_answer(struct exchange *x)
{
    x->status = 0;
    x->body_kind = BODY_NONE;
    free(take_ptr(&x->location));
    free(take_ptr(&x->challenge));
    buf_free(&x->body);
}

static const struct http_ops http_ops;

bool exchange_start(struct exchange *x, struct error *e)
{
    struct link *t = x->t;
    __attribute__((cleanup(fields_free))) struct fields f = { 0 };
    const char *method = method_of(x);
    bool post = method[0] == 'P';
    struct http_request r = {
        .method = method,
        .url = &x->url,
        .body = post ? (struct str){ x->message, x->n } : (struct str){ 0 },
        .pins = t->place.proxied ? NULL : t->place.pins,
        .npins = t->place.proxied ? 0 : t->place.npins,
        .once = true,
    };

    reset_answer(x);
    if (post)
        put(&f, "Content-Type", STR("application/json"));
    put(&f, "Accept",
        post ? STR("application/json, text/event-stream") : STR("text/event-stream"));
    if (method[0] == 'G' && x->sse.id.n)
        put(&f, "Last-Event-ID", buf_str(&x->sse.id));
    if (!put_era(&f, x, e))
        return false;
    put_credentials(&f, x);
    r.headers = f.v;
    r.nheaders = f.n;
    x->call = http_start(t->http, &r, &http_ops, x, e);
    return x->call != NULL;
}

/* ---- the answer's head ---- */

static bool is_type(struct str type, const char *want)
{
    struct str rest;

    str_cut(type, ';', &type, &rest);
    return str_icase_eq(str_trim(type), str_of(want));
}

static void on_connected(void *ctx, int connect_ms, int tls_ms)
{
    const struct exchange *x = ctx;

    if (connect_ms < 0)
        return;
    x->t->c->route.connect_ms = connect_ms;
    x->t->c->route.tls_ms = tls_ms;
}

static void on_headers(void *ctx, const struct http_head *h)
{
    struct exchange *x = ctx;
    struct str type = http_head_get(h, "content-type");
    size_t max = LINK_ERROR_BODY;

    x->status = h->status;
    x->location = str_dup(str_upto(http_head_get(h, "location"), HTTP_URL_MAX + 1));
    x->challenge = str_dup(str_upto(http_head_get(h, "www-authenticate"), 200));
    if (h->status / 100 != 2) {
        x->body_kind = BODY_ERROR;
    } else if (is_type(type, "text/event-stream")) {
        x->body_kind = BODY_EVENTS;
    } else if (is_type(type, "application/json") && x->kind == EXCHANGE_REQUEST && !x->t->sse) {
        x->body_kind = BODY_JSON;
        max = LINES_MAX_DEFAULT;
    }
    x->body = BUF(max);
    if (x->handshake && !x->initialized && h->status == 200)
        link_set_session(x->t, http_head_get(h, "mcp-session-id"));
}

/* ---- messages ---- */

/* False: the exchange is gone. */
static bool deliver(struct exchange *x, struct str text, bool too_long)
{
    struct mcp_client *c = x->t->c;

    hold(x);
    client_on_message(c, text, too_long);
    if (!release(x))
        return false;
    if (x->id && !x->answered_ms && c->peer && !peer_waits_for(c->peer, str_of(x->id)))
        x->answered_ms = clock_ms();
    return true;
}

/* Too long: what was asked here has its answer in it, and it is not the oldest call's. */
static bool deliver_too_long(struct exchange *x)
{
    struct error e;

    error_set(&e, ERR_LIMIT, "answer of more than %zu bytes discarded", LINES_MAX_DEFAULT);
    if (x->kind == EXCHANGE_STREAM)
        return deliver(x, (struct str){ 0 }, true);
    link_lost(x, &e);
    return false;
}

static bool on_event(void *ctx, const struct sse_event *event)
{
    struct exchange *x = ctx;

    x->attempts = 0;
    if (event->too_long)
        return deliver_too_long(x);
    if (x->t->sse && str_is(event->type, "endpoint")) {
        hold(x);
        link_on_endpoint(x->t, event->data);
        return release(x);
    }
    if (event->type.n && !str_is(event->type, "message"))
        return true;
    return deliver(x, event->data, false);
}

static void on_body(void *ctx, struct str bytes)
{
    struct exchange *x = ctx;

    if (x->body_kind == BODY_EVENTS) {
        hold(x);
        sse_feed(&x->sse, bytes, on_event, x);
        release(x);
        return;
    }
    if (x->body_kind == BODY_NONE)
        return;
    if (x->body_kind == BODY_ERROR)
        bytes = str_upto(bytes, x->body.max - x->body.n);
    buf_add(&x->body, bytes);
    if (x->body.over)
        deliver_too_long(x);
}

/* ---- refusals ---- */

static void refusal_text(const struct exchange *x, struct error *e)
{
    const struct mcp_remote *r = x->t->c->remote;

    if (x->status == 401)
        error_set(e, ERR_DENIED,
                  "HTTP 401: the server %s%s; give it in 'headers', e.g. "
                  "Authorization = \"Bearer ${TOKEN}\"%s",
                  r->nheaders && !x->bare ? "does not accept the credentials it was given"
                                          : "wants credentials",
                  x->bare ? " and redirects, where none are sent: correct 'url'" : "",
                  x->challenge && *x->challenge ? " (OAuth is not offered)" : "");
    else if (x->status == 403)
        error_set(e, ERR_DENIED,
                  "HTTP 403: the server refuses%s; check the credentials in 'headers'",
                  r->nheaders ? " these credentials" : "");
    else if (x->status == 407)
        error_set(e, ERR_DENIED, "HTTP 407: the proxy wants credentials; give them in its URL");
    else
        error_set(e, ERR_PROTOCOL, "HTTP %d%s", x->status,
                  x->status / 100 == 2 ? " without an answer" : "");
}

/* A refusal may come as a JSON-RPC error without an id: it is this request's. */
static bool deliver_error(struct exchange *x)
{
    struct mcp_client *c = x->t->c;
    auto_json body = { 0 };
    auto_buf text = BUF(2 * LINK_ERROR_BODY);
    struct jw w = jw_to(&text);
    yyjson_val *error;
    int64_t code;

    if (!json_parse(&body, buf_str(&x->body), NULL))
        return false;
    error = json_get(body.root, "error");
    if (!json_int(json_get(error, "code"), &code) || !json_is_str(json_get(error, "message")))
        return false;
    jw_obj(&w);
    jw_kstrz(&w, "jsonrpc", "2.0");
    jw_key(&w, "id");
    jw_raw(&w, str_of(x->id));
    jw_key(&w, "error");
    jw_val(&w, error);
    jw_end(&w);
    hold(x); /* and on_done() the client */
    c->http_status = x->status;
    client_on_message(c, buf_str(&text), false);
    c->http_status = 0;
    if (release(x))
        exchange_end(x);
    return true;
}

/* 404 is what the revisions say; servers made after the SDK's example answer 400. */
static bool is_session_loss(const struct exchange *x)
{
    if (!x->session_no || x->handshake || x->retried || x->kind != EXCHANGE_REQUEST)
        return false;
    return x->status == 404 ||
           (x->status == 400 && str_find(buf_str(&x->body), STR("-32000")) != SIZE_MAX);
}

/* ---- redirects ---- */

/* Within the origin, with the same method and body, without the configured headers (MS-63). */
static bool redirect(struct exchange *x, struct error *e)
{
    auto_buf to = BUF(2 * HTTP_URL_MAX);
    struct http_url u;

    if (x->status != 307 && x->status != 308)
        return error_set(e, ERR_PROTOCOL, "HTTP %d: the server is elsewhere; correct 'url'",
                         x->status);
    if (++x->redirects > MCP_HTTP_REDIRECTS)
        return error_set(e, ERR_LIMIT, "more than %d redirects", MCP_HTTP_REDIRECTS);
    if (!x->location || !url_resolve(str_of(x->url.text), str_of(x->location), &to) ||
        !buf_ok(&to, NULL) || !http_url_parse(&x->arena, buf_str(&to), &u, e))
        return error_set(e, ERR_PROTOCOL, "HTTP %d to nowhere", x->status);
    if (strcmp(u.origin, x->t->place.url.origin) != 0)
        return error_set(e, ERR_DENIED,
                         "the server redirects to another place, '%.100s'; if it is right, "
                         "give it as 'url'",
                         u.origin);
    x->url = u;
    x->bare = true;
    return true;
}

/* ---- the end ---- */

static bool may_resume(struct exchange *x)
{
    const struct mcp_client *c = x->t->c;

    return x->kind == EXCHANGE_REQUEST && x->sse.id.n && !x->answered_ms &&
           !mcp_client_modern(c) && !x->t->sse && c->state == CLIENT_READY &&
           ++x->attempts <= MCP_HTTP_RESUMES;
}

/* A stream or body that ended, or was cut, before the answer. */
static void cut_off(struct exchange *x, const struct error *why)
{
    struct error e;
    int wait = x->sse.retry_ms < 0 ? MCP_HTTP_RETRY_MS : x->sse.retry_ms;

    if (x->kind != EXCHANGE_REQUEST) {
        link_ended(x, why);
    } else if (x->answered_ms) {
        exchange_end(x);
    } else if (may_resume(x)) {
        x->resumes = true;
        link_again(x, wait < MCP_HTTP_RETRY_MAX_MS ? wait : MCP_HTTP_RETRY_MAX_MS);
    } else {
        error_set(&e, ERR_CLOSED, "the server's answer ended before it was complete%s%s",
                  why ? ": " : "", why ? why->msg : "");
        link_lost(x, &e);
    }
}

static void on_success(struct exchange *x)
{
    struct error e;

    if (x->kind != EXCHANGE_REQUEST || (x->t->sse && x->body_kind != BODY_EVENTS)) {
        if (x->kind == EXCHANGE_REQUEST)
            return; /* accepted; the answer comes on the stream */
        link_ended(x, NULL);
        return;
    }
    if (x->body_kind == BODY_EVENTS) {
        cut_off(x, NULL);
        return;
    }
    if (x->body_kind == BODY_JSON && !deliver(x, buf_str(&x->body), false))
        return;
    if (x->answered_ms) {
        exchange_end(x);
        return;
    }
    refusal_text(x, &e);
    link_lost(x, &e);
}

static void on_refusal(struct exchange *x)
{
    struct error e;

    if (x->status / 100 == 3) {
        if (redirect(x, &e)) {
            link_again(x, 0);
            return;
        }
    } else if (is_session_loss(x)) {
        link_session_lost(x);
        return;
    } else if (x->kind == EXCHANGE_REQUEST && x->status != 401 && x->status != 403 &&
               deliver_error(x)) {
        return;
    } else {
        refusal_text(x, &e);
    }
    log_debug("%s: %s", x->t->c->label, e.msg);
    if (x->kind != EXCHANGE_REQUEST)
        link_ended(x, NULL);
    else if (x->resumes && x->status >= 500 && may_resume(x))
        link_again(x, MCP_HTTP_RETRY_MS);
    else
        link_lost(x, &e);
}

static void on_done(void *ctx, const struct error *why)
{
    struct exchange *x = ctx;
    struct mcp_client *c = x->t->c;

    x->call = NULL;
    client_hold(c);
    if (why && (x->kind == EXCHANGE_STREAM || x->kind == EXCHANGE_DELETE))
        link_ended(x, why);
    else if (why && !x->status && x->resumes && may_resume(x))
        link_again(x, MCP_HTTP_RETRY_MS);
    else if (why && !x->status)
        link_unreachable(x->t, why);
    else if (why)
        cut_off(x, why);
    else if (x->status / 100 == 2)
        on_success(x);
    else
        on_refusal(x);
    client_release(c);
}

static const struct http_ops http_ops = { on_headers, on_body, on_done, on_connected };
