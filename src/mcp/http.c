/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * MCP over HTTP (mcp.md 5), client side: Streamable HTTP of all revisions, and HTTP+SSE of
 * 2024-11-05.
 *
 *   send ──> queue ──(addresses judged, session there, endpoint known)──> exchange
 *                                                    │ events, JSON ──> client_on_message()
 *                                                    │ cut off, legacy ──> queue (GET, resumed)
 *                                                    └ refused, lost ──> peer_call_fail()
 *
 * A request that nobody answered at all, because the server could not be reached or went away,
 * ends the client: whoever owns it connects anew within his budget.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "mcp/http_link.h"
#include "text/url.h"

#define RESOLVE_MS 30000 /* the start-up and call deadlines come first */

static void pump_soon(struct link *t)
{
    timer_set(t->pump, 0);
}

/* ---- the end ---- */

void link_unreachable(struct link *t, const struct error *why)
{
    struct mcp_client *c = t->c;
    struct error e;

    if (c->state == CLIENT_STARTING) {
        client_fail_start(c, "connect", why);
        return;
    }
    error_set(&e, ERR_CLOSED, "connection to the server was lost: %s", why->msg);
    if (c->state == CLIENT_STOPPING)
        error_set(&e, ERR_CLOSED, "stopped");
    client_close(c, &e);
}

void link_lost(struct exchange *x, const struct error *why)
{
    struct mcp_client *c = x->t->c;
    auto_free char *id = x->id;
    struct error e = *why;

    /* The peer's own deadline is another thing. */
    if (e.kind == ERR_TIMEOUT)
        e.kind = ERR_CLOSED;
    x->id = NULL;
    client_hold(c); /* whose request fails may be done with the client */
    c->http_status = x->status;
    exchange_end(x);
    if (id && c->peer)
        peer_call_fail(c->peer, str_of(id), &e);
    c->http_status = 0;
    client_release(c);
}

static void drop(struct mcp_client *c)
{
    struct link *t = c->link;

    c->link = NULL;
    if (!t)
        return;
    while (t->first)
        exchange_end(t->first);
    resolve_forget(t->resolve);
    http_free(t->http);
    timer_free(t->pump);
    timer_free(t->sweep);
    timer_free(t->end);
    mcp_place_free(&t->place);
    free(t->session);
    arena_free(&t->arena);
    free(t);
}

static void on_end(void *ctx)
{
    struct link *t = ctx;
    struct error e;

    error_set(&e, ERR_CLOSED, "stopped");
    client_close(t->c, &e);
}

/* A session is ended where there is one; a server that does not answer is not waited for. */
static void stop(struct mcp_client *c, struct child_ladder ladder)
{
    struct link *t = c->link;

    while (t->first)
        exchange_end(t->first);
    if (t->session && mcp_place_is_vetted(&t->place)) {
        exchange_new(t, EXCHANGE_DELETE);
        pump_soon(t);
        timer_set(t->end, ladder.term_ms);
    } else {
        timer_set(t->end, 0);
    }
}

/* ---- the queue ---- */

/* While the session begins, nothing else is sent. */
static bool handshake_is_open(const struct link *t)
{
    for (const struct exchange *x = t->first; x; x = x->next)
        if (x->initialized)
            return true;
    return false;
}

static bool may_start(const struct exchange *x)
{
    const struct link *t = x->t;

    if (x->call || (x->pause && timer_is_set(x->pause)) || x->status || x->answered_ms)
        return false;
    if (t->sse && !t->has_endpoint)
        return x->kind == EXCHANGE_STREAM;
    return x->handshake || (!t->renewing && !handshake_is_open(t));
}

static struct exchange *next_to_start(const struct link *t)
{
    struct exchange *x = t->first;

    while (x && !may_start(x))
        x = x->next;
    return x;
}

static void on_resolved(void *ctx, const struct netaddr *v, size_t n, const struct error *why)
{
    struct link *t = ctx;
    struct error e;

    t->resolve = NULL;
    t->c->route.resolve_ms = (int)(clock_ms() - t->resolving_ms);
    t->c->route.addresses = n;
    if (why)
        link_unreachable(t, why);
    else if (!mcp_place_vet(&t->place, t->c->remote, v, n, &e))
        link_unreachable(t, &e);
    else
        pump_soon(t);
}

static void look_up(struct link *t)
{
    t->resolving_ms = clock_ms();
    t->resolve = resolve_start(t->c->loop, t->place.url.host, RESOLVE_MS, on_resolved, t);
}

/* A message that cannot become a request, because of what is in its headers. */
static void start_failed(struct exchange *x, const struct error *why)
{
    struct link *t = x->t;

    if (x->kind == EXCHANGE_REQUEST && t->c->state == CLIENT_READY)
        link_lost(x, why);
    else if (x->kind == EXCHANGE_REQUEST)
        link_unreachable(t, why);
    else
        link_ended(x, NULL);
}

static void on_pump(void *ctx)
{
    struct link *t = ctx;
    struct mcp_client *c = t->c;
    struct exchange *x;
    struct error e;

    client_hold(c);
    while (c->link == t && (x = next_to_start(t))) {
        if (!mcp_place_is_vetted(&t->place)) {
            if (!t->resolve)
                look_up(t);
            break;
        }
        if (t->sse && x->kind != EXCHANGE_STREAM && !x->redirects)
            x->url = t->endpoint;
        if (!exchange_start(x, &e))
            start_failed(x, &e);
    }
    client_release(c);
}

static void on_paused(void *ctx)
{
    struct exchange *x = ctx;

    pump_soon(x->t);
}

void link_again(struct exchange *x, int wait_ms)
{
    x->status = 0;
    if (!wait_ms) {
        pump_soon(x->t);
        return;
    }
    if (!x->pause)
        x->pause = timer_new(x->t->c->loop, on_paused, x);
    timer_set(x->pause, wait_ms);
}

/* Nobody waits any more for what these do: a stream that was not closed after its answer, or a
 * call that ended in another way. */
static void on_sweep(void *ctx)
{
    struct link *t = ctx;
    struct exchange *next;
    bool any = false;

    for (struct exchange *x = t->first; x; x = next) {
        bool waits = x->id && t->c->peer && peer_waits_for(t->c->peer, str_of(x->id));

        next = x->next;
        any |= x->kind == EXCHANGE_REQUEST;
        if (x->kind != EXCHANGE_REQUEST || waits)
            continue;
        if (!x->answered_ms)
            x->answered_ms = clock_ms();
        else if (clock_ms() - x->answered_ms >= LINK_SWEEP_MS)
            exchange_end(x);
    }
    if (any)
        timer_set(t->sweep, LINK_SWEEP_MS);
}

/* ---- sending ---- */

static bool send_text(struct mcp_client *c, struct str message, struct error *e)
{
    struct link *t = c->link;
    struct exchange *x;
    auto_json m = { 0 };
    auto_buf id = BUF(RPC_ID_MAX);
    struct str method;

    if (!t || c->state == CLIENT_STOPPING)
        return error_set(e, ERR_CLOSED, "the connection is closed");
    if (!json_parse(&m, message, e))
        return false;
    method = json_str(json_get(m.root, "method"));
    x = exchange_new(t, method.n && json_get(m.root, "id") ? EXCHANGE_REQUEST : EXCHANGE_NOTE);
    x->message = str_dup(message);
    x->n = message.n;
    x->initialized = str_is(method, "notifications/initialized");
    x->handshake = x->initialized || str_is(method, "initialize");
    if (x->kind == EXCHANGE_REQUEST) {
        json_put_val(&id, json_get(m.root, "id"));
        x->id = str_dup(buf_str(&id));
        if (!timer_is_set(t->sweep))
            timer_set(t->sweep, LINK_SWEEP_MS);
    }
    pump_soon(t);
    return true;
}

/* Closing the stream cancels, in the modern revisions; in the others it means nothing. */
static bool forget(struct mcp_client *c, struct str id)
{
    struct link *t = c->link;
    bool was_sent = false;

    for (struct exchange *x = t ? t->first : NULL; x; x = x->next) {
        if (!x->id || !str_is(id, x->id))
            continue;
        was_sent = x->call || x->status;
        exchange_end(x);
        break;
    }
    return mcp_client_modern(c) || !was_sent;
}

/* ---- sessions ---- */

void link_set_session(struct link *t, struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < 0x21 || (unsigned char)id.p[i] > 0x7e)
            id.n = 0;
    free(t->session);
    t->session = id.n && id.n <= LINK_SESSION_MAX ? str_dup(id) : NULL;
    t->session_no++;
}

void link_session_lost(struct exchange *x)
{
    struct link *t = x->t;

    x->retried = true;
    x->resumes = false;
    buf_clear(&x->sse.id);
    link_again(x, 0);
    if (t->renewing || x->session_no != t->session_no)
        return; /* another request had noticed before */
    log_debug("%s: the session is gone, beginning another", t->c->label);
    t->renewing = true;
    free(take_ptr(&t->session));
    client_initialize_again(t->c);
}

void link_session_is_back(struct mcp_client *c)
{
    struct link *t = c->link;

    t->renewing = false;
    for (struct exchange *x = t->first; x; x = x->next) {
        if (x->kind == EXCHANGE_STREAM && !t->sse) {
            exchange_end(x); /* of the former session */
            break;
        }
    }
    if (t->wants_stream)
        link_open_stream(c);
    pump_soon(t);
}

/* ---- streams ---- */

void link_open_stream(struct mcp_client *c)
{
    struct link *t = c->link;

    if (!t || t->sse)
        return;
    t->wants_stream = true;
    exchange_new(t, EXCHANGE_STREAM);
    pump_soon(t);
}

/* The stream of HTTP+SSE is the connection; the other one is opened again, unless there is
 * none: 405. */
static void stream_ended(struct exchange *x, const struct error *lost)
{
    struct link *t = x->t;
    struct error why;
    int wait = x->sse.retry_ms < 0 ? MCP_HTTP_RETRY_MS : x->sse.retry_ms;

    if (t->sse) {
        if (t->has_endpoint)
            error_set(&why, ERR_CLOSED, "the server closed its event stream");
        else if (lost && !x->status)
            why = *lost;
        else
            error_set(&why, ERR_PROTOCOL,
                      "the server speaks neither Streamable HTTP nor HTTP+SSE (GET: HTTP %d)",
                      x->status);
        link_unreachable(t, &why);
        return;
    }
    if (x->status >= 400 && x->status < 500) {
        t->wants_stream = false;
        exchange_end(x);
        return;
    }
    for (int i = 0; i < x->attempts && wait < MCP_HTTP_RETRY_MAX_MS; i++)
        wait *= 2;
    x->attempts++;
    if (x->status / 100 == 2) { /* what changed meanwhile is told by nobody */
        t->c->tools_changed = true;
        timer_set(t->c->soon, 0);
    }
    link_again(x, wait < MCP_HTTP_RETRY_MAX_MS ? wait + 1 : MCP_HTTP_RETRY_MAX_MS);
    timer_background(x->pause);
}

void link_ended(struct exchange *x, const struct error *why)
{
    struct link *t = x->t;
    bool last = x->kind == EXCHANGE_DELETE;

    if (x->kind == EXCHANGE_STREAM) {
        stream_ended(x, why);
        return;
    }
    exchange_end(x);
    if (last)
        timer_set(t->end, 0);
    else
        pump_soon(t); /* others may have waited for it */
}

bool link_use_sse(struct mcp_client *c)
{
    struct link *t = c->link;

    if (!t || t->sse)
        return false;
    log_debug("%s: no Streamable HTTP here, trying HTTP+SSE", c->label);
    t->sse = true;
    exchange_new(t, EXCHANGE_STREAM);
    pump_soon(t);
    return true;
}

void link_on_endpoint(struct link *t, struct str reference)
{
    auto_buf to = BUF(2 * HTTP_URL_MAX);
    struct error e;

    if (t->has_endpoint)
        return;
    if (!url_resolve(str_of(t->place.url.text), str_trim(reference), &to) ||
        !buf_ok(&to, NULL) || !http_url_parse(&t->arena, buf_str(&to), &t->endpoint, &e)) {
        error_set(&e, ERR_PROTOCOL, "the server names no usable endpoint for messages");
        link_unreachable(t, &e);
        return;
    }
    if (strcmp(t->endpoint.origin, t->place.url.origin) != 0) {
        error_set(&e, ERR_DENIED, "the server's endpoint for messages is of another origin");
        link_unreachable(t, &e);
        return;
    }
    t->has_endpoint = true;
    pump_soon(t);
}

/* ---- the beginning ---- */

/* Headers that are ours to set: configured ones would contradict them. */
static bool check_headers(const struct mcp_remote *r, struct error *e)
{
    static const char *const ours[] = { "accept",
                                        "connection",
                                        "content-length",
                                        "content-type",
                                        "host",
                                        "last-event-id",
                                        "mcp-method",
                                        "mcp-name",
                                        "mcp-protocol-version",
                                        "mcp-session-id",
                                        "transfer-encoding" };

    for (size_t i = 0; i < r->nheaders; i++)
        for (size_t k = 0; k < ARRAY_LEN(ours); k++)
            if (str_icase_eq(r->headers[i].name, str_of(ours[k])))
                return error_set(e, ERR_INVALID,
                                 "the header '%s' is set by the protocol; take it out of "
                                 "'headers'",
                                 ours[k]);
    return true;
}

bool mcp_remote_check(const struct mcp_remote *r, struct error *e)
{
    auto_arena a = ARENA;
    struct place p = { 0 };

    return check_headers(r, e) && mcp_place_read(&p, &a, r, e);
}

static bool start(struct mcp_client *c, struct error *e)
{
    struct link *t = NEW(struct link);
    struct http_opts opts = { .ca_file = c->remote->ca_file };

    t->c = c;
    c->link = t;
    c->route = (struct mcp_route){ 0, -1, -1, -1 };
    t->pump = timer_new(c->loop, on_pump, t);
    t->sweep = timer_new(c->loop, on_sweep, t);
    t->end = timer_new(c->loop, on_end, t);
    timer_background(t->sweep);
    if (!check_headers(c->remote, e) || !mcp_place_read(&t->place, &t->arena, c->remote, e))
        return false;
    opts.proxy = t->place.proxied ? c->remote->proxy : NULL;
    t->http = http_new(c->loop, &opts, e);
    if (!t->http)
        return false;
    if (c->remote->sse)
        link_use_sse(c);
    return true;
}

/* Without user information and query, where keys are. Of one that cannot be read only what is
 * behind the last '@' can be shown: what is before may be anything. */
static void put_who(const struct mcp_client *c, struct buf *out)
{
    const char *read = c->link ? c->link->place.url.text : NULL;
    struct str url = str_of(read ? read : c->remote->url), rest;
    bool hidden = false;

    for (size_t i = url.n; !read && !hidden && i; i--)
        if (url.p[i - 1] == '@') {
            url = str_from(url, i);
            hidden = true;
        }
    str_cut(url, '?', &url, &rest);
    buf_addf(out, " (url: %s%.*s)", hidden ? "***@" : "", STR_F(str_upto(url, 120)));
}

const struct transport_ops transport_http = {
    .start = start,
    .send = send_text,
    .forget = forget,
    .stop = stop,
    .drop = drop,
    .put_who = put_who,
};
