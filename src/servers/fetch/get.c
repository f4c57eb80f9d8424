/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/get.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "loop/resolve.h"
#include "loop/timer.h"

#define RESOLVE_MS   30000 /* the caller's own deadline comes first */
#define LOCATION_MAX HTTP_URL_MAX
#define TYPE_MAX     1024

struct get {
    struct net *net;
    struct get_ops ops;
    void *ctx;
    struct http_url url; /* its text is in the arena */
    struct arena arena;
    struct str user_agent;
    bool cut, named;

    struct resolve *resolve;
    struct http_call *call;
    struct timer *soon; /* to fail from outside of get_start() */
    struct error why;   /* what `soon` tells */

    struct got got;
    int64_t length;
};

void net_close(struct net *n)
{
    http_free(take_ptr(&n->http));
}

static void get_free(struct get *g)
{
    resolve_forget(g->resolve);
    http_cancel(g->call);
    timer_free(g->soon);
    buf_free(&g->got.body);
    arena_free(&g->arena);
    free(g);
}

void get_cancel(struct get *g)
{
    if (g)
        get_free(g);
}

/* The owner hears of it while all is still there, and may then not touch it any more. */
static void finish(struct get *g, enum get_end end, const struct error *why)
{
    g->got.end = end;
    g->got.why = why;
    g->ops.done(g->ctx, &g->got);
    get_free(g);
}

/* ---- the answer ---- */

static bool is_redirect(int status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

static const char *copy(struct get *g, struct str s, size_t max)
{
    return arena_z(&g->arena, str_upto(s, max));
}

static void on_headers(void *ctx, const struct http_head *h)
{
    struct get *g = ctx;
    struct str location = http_head_get(h, "location");

    g->got.status = h->status;
    g->got.type = copy(g, http_head_get(h, "content-type"), TYPE_MAX);
    g->length = h->length;
    if (is_redirect(h->status) && location.n) /* one that is too long fails as a URL */
        g->got.location = copy(g, location, LOCATION_MAX + 1);
    if (g->got.location || h->status >= 400)
        finish(g, GET_OK, NULL);
}

static void on_body(void *ctx, struct str bytes)
{
    struct get *g = ctx;
    size_t room = g->got.body.max - g->got.body.n;

    buf_add(&g->got.body, str_upto(bytes, room));
    if (g->cut && bytes.n >= room) {
        finish(g, GET_OK, NULL);
        return;
    }
    if (g->ops.advance)
        g->ops.advance(g->ctx, g->got.body.n, g->length);
}

static void on_done(void *ctx, const struct error *why)
{
    struct get *g = ctx;

    g->call = NULL;
    finish(g, !why ? GET_OK : why->kind == ERR_LIMIT ? GET_TOO_LONG : GET_FAILED, why);
}

/* ---- the request ---- */

static bool open_http(struct net *n, struct error *e)
{
    struct http_opts opts = { .proxy = n->proxy };

    if (!n->http)
        n->http = http_new(n->loop, &opts, e);
    return n->http != NULL;
}

static bool connect_to(struct get *g, const struct netaddr *pins, size_t npins, struct error *e)
{
    static const struct http_ops ops = { on_headers, on_body, on_done };
    struct http_field agent = { STR("User-Agent"), g->user_agent };
    struct http_request r = {
        .url = &g->url,
        .headers = &agent,
        .nheaders = 1,
        .pins = pins,
        .npins = npins,
        .encodings = "",
        .slow_bytes = GET_SLOW_BYTES,
        .slow_secs = GET_SLOW_SECS,
        .max_body = g->cut ? 0 : g->got.body.max,
        .fresh = true,
    };

    if (!open_http(g->net, e))
        return false;
    g->call = http_start(g->net->http, &r, &ops, g, e);
    return g->call != NULL;
}

/* One address that may not be reached refuses the name: which one a later lookup, or a proxy,
 * would take is not ours to guess. */
static bool judge(const struct get *g, const struct netaddr *v, size_t n, struct error *e)
{
    char text[NETADDR_TEXT];

    for (size_t i = 0; i < n && !g->named; i++) {
        if (policy_admits(&g->net->policy, &v[i]))
            continue;
        netaddr_text(&v[i], text);
        return error_set(e, ERR_DENIED, "Access to private network address %s is not allowed",
                         text);
    }
    return true;
}

static void on_resolved(void *ctx, const struct netaddr *v, size_t n, const struct error *why)
{
    struct get *g = ctx;
    bool direct = !g->net->proxy;
    struct error e;

    g->resolve = NULL;
    if (why)
        finish(g, GET_FAILED, why);
    else if (!judge(g, v, n, &e))
        finish(g, GET_REFUSED, &e);
    else if (!connect_to(g, direct ? v : NULL, direct ? n : 0, &e))
        finish(g, GET_FAILED, &e);
}

static void on_soon(void *ctx)
{
    struct get *g = ctx;

    finish(g, GET_FAILED, &g->why);
}

static void copy_url(struct get *g, const struct http_url *u)
{
    g->url = (struct http_url){
        .text = arena_z(&g->arena, str_of(u->text)),
        .scheme = arena_z(&g->arena, str_of(u->scheme)),
        .host = arena_z(&g->arena, str_of(u->host)),
        .written = arena_z(&g->arena, str_of(u->written)),
        .port = u->port,
        .target = arena_z(&g->arena, str_of(u->target)),
        .origin = arena_z(&g->arena, str_of(u->origin)),
    };
}

struct get *get_start(struct net *n, const struct get_request *r, const struct get_ops *ops,
                      void *ctx)
{
    struct get *g = NEW(struct get);
    struct netaddr literal;

    g->net = n;
    g->ops = *ops;
    g->ctx = ctx;
    g->cut = r->cut;
    g->got.type = "";
    g->got.body = BUF(r->max_body);
    g->user_agent = arena_str(&g->arena, r->user_agent);
    g->named = policy_names(&n->policy, r->url);
    copy_url(g, r->url);
    /* Behind a proxy names are its business; addresses, and what is always one, are ours. */
    if (!n->proxy || resolve_literal(g->url.host, &literal) ||
        resolve_is_localhost(g->url.host)) {
        g->resolve = resolve_start(n->loop, g->url.host, RESOLVE_MS, on_resolved, g);
        return g;
    }
    if (!connect_to(g, NULL, 0, &g->why)) {
        g->soon = timer_new(n->loop, on_soon, g);
        timer_set(g->soon, 0);
    }
    return g;
}
