/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libcurl's multi interface on libuv: it names sockets to watch and one timer, we tell it what
 * happened.
 *
 * libcurl must not be entered again from inside its own callbacks (`inside`), and the owner may
 * free everything from inside ours. So what arrives meanwhile is only marked, and settle() does
 * it once the outermost call is back.
 */
#include "loop/http.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/http_call.h"
#include "loop/internal.h"

struct http {
    const struct http_lib *curl;
    struct loop *loop;
    CURLM *multi;
    uv_timer_t timer;
    char *proxy, *ca_file;
    struct http_call *first;
    struct deferred kick; /* calls to add, and those that were held */
    unsigned turn;        /* of kicks */
    int64_t entered_us;   /* when the present stay in libcurl began */
    unsigned inside;      /* of libcurl */
    unsigned hold;        /* frames of ours that go on with this client */
    bool sweep;           /* some calls are dead */
    bool freed;
};

struct watched {
    uv_poll_t poll;
    struct http *h;
    curl_socket_t fd;
};

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *t)
{
    struct http *h = t->data;

    free(h->proxy);
    free(h->ca_file);
    free(h);
}

static void destroy(struct http *h)
{
    defer_cancel(h->loop, &h->kick);
    h->curl->multi_cleanup(
        h->multi); /* ends with on_socket(CURL_POLL_REMOVE) for what is open */
    uv_close((uv_handle_t *)&h->timer, on_timer_closed);
}

static void unlink_call(struct http_call *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        c->http->first = c->next;
    if (c->next)
        c->next->prev = c->prev;
}

/* Not from inside libcurl. */
static void drop_call(struct http_call *c)
{
    unlink_call(c);
    if (c->added)
        c->http->curl->multi_remove_handle(c->http->multi, c->easy);
    http_call_free(c);
}

static void finish(struct http_call *c, CURLcode code)
{
    struct http_ops ops = c->ops;
    void *ctx = c->ctx;
    bool dead = c->dead;
    struct error why = { 0 };
    bool ok = http_call_result(c, code, &why);

    drop_call(c);
    if (!dead)
        ops.on_done(ctx, ok ? NULL : &why);
}

static void sweep(struct http *h)
{
    struct http_call *next;

    h->sweep = false;
    for (struct http_call *c = h->first; c; c = next) {
        next = c->next;
        if (c->dead)
            drop_call(c);
    }
}

/* After each stay in libcurl: what it finished, and what was put off meanwhile. */
static void settle(struct http *h)
{
    CURLMsg *m;
    int left;

    h->hold++;
    while ((m = h->curl->multi_info_read(h->multi, &left))) {
        struct http_call *c = NULL;

        if (m->msg != CURLMSG_DONE)
            continue;
        h->curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
        finish(c, m->data.result);
    }
    if (h->sweep)
        sweep(h);
    h->hold--;
    if (h->freed && !h->hold && !h->inside)
        destroy(h);
}

/* ---- between libcurl and libuv ---- */

static void enter(struct http *h)
{
    h->inside++;
    h->entered_us = clock_us();
}

bool http_slice_is_over(const struct http *h)
{
    return clock_us() - h->entered_us >= HTTP_SLICE_US;
}

void http_hold(struct http_call *c)
{
    c->held = true;
    defer(c->http->loop, &c->http->kick);
}

static void act(struct http *h, curl_socket_t fd, int what)
{
    int running;

    enter(h);
    h->curl->multi_socket_action(h->multi, fd, what, &running);
    h->inside--;
    settle(h);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
    struct watched *w = p->data;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) |
               (status < 0 ? CURL_CSELECT_ERR : 0);

    act(w->h, w->fd, what);
}

static void on_watched_closed(uv_handle_t *p)
{
    free(p->data);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    struct http *h = ctx;
    struct watched *w = socket_ctx;
    int events =
        (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w)
            uv_close((uv_handle_t *)&w->poll, on_watched_closed);
        h->curl->multi_assign(h->multi, fd, NULL);
        return 0;
    }
    if (!w) {
        w = NEW(struct watched);
        w->h = h;
        w->fd = fd;
        if (uv_poll_init(&h->loop->uv, &w->poll, fd) != 0) {
            free(w);
            return -1;
        }
        w->poll.data = w;
        h->curl->multi_assign(h->multi, fd, w);
    }
    uv_poll_start(&w->poll, events, on_poll);
    return 0;
}

static void on_timeout(uv_timer_t *t)
{
    act(t->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    struct http *h = ctx;

    (void)multi;
    if (ms < 0) {
        uv_timer_stop(&h->timer);
        return 0;
    }
    uv_update_time(&h->loop->uv);
    uv_timer_start(&h->timer, on_timeout, (uint64_t)ms, 0);
    return 0;
}

/* ---- calls that begin, or go on ---- */

static struct http_call *next_to_kick(struct http *h)
{
    struct http_call *c = h->first;

    while (c && (c->dead || (c->added && (!c->held || c->turn == h->turn))))
        c = c->next;
    return c;
}

static void kick_one(struct http *h, struct http_call *c)
{
    CURLcode code = CURLE_OK;

    enter(h);
    if (c->added) {
        c->held = false;
        c->turn = h->turn;
        code = h->curl->easy_pause(c->easy, CURLPAUSE_CONT); /* may hand on what it kept */
    } else {
        c->added = true;
        if (h->curl->multi_add_handle(h->multi, c->easy) != CURLM_OK)
            code = CURLE_FAILED_INIT;
    }
    h->inside--;
    if (code != CURLE_OK)
        finish(c, code);
}

static void on_kick(void *ctx)
{
    struct http *h = ctx;
    struct http_call *c;

    h->hold++;
    h->turn++; /* each held one goes on once: what is held again waits for the next turn */
    while ((c = next_to_kick(h)))
        kick_one(h, c);
    h->hold--;
    settle(h);
}

struct http *http_new(struct loop *l, const struct http_opts *opts, struct error *e)
{
    const struct http_lib *curl = http_lib(e);
    struct http *h;

    if (!curl)
        return NULL;
    h = NEW(struct http);
    h->curl = curl;
    h->loop = l;
    h->kick = (struct deferred){ .fn = on_kick, .ctx = h };
    h->proxy = mem_strdup(opts ? opts->proxy : NULL);
    h->ca_file = mem_strdup(opts ? opts->ca_file : NULL);
    h->multi = curl->multi_init();
    if (!h->multi)
        mem_exhausted();
    uv_timer_init(&l->uv, &h->timer);
    h->timer.data = h;
    curl->multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl->multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl->multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl->multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    h->freed = true;
    for (struct http_call *c = h->first; c; c = c->next)
        c->dead = true;
    h->sweep = true;
    if (h->inside)
        return;
    settle(h);
}

struct http_call *http_start(struct http *h, const struct http_request *r,
                             const struct http_ops *ops, void *ctx, struct error *e)
{
    struct http_call *c = http_call_new(h->curl, r, e);

    if (!c || !http_call_route(c, h->proxy, h->ca_file, e)) {
        http_call_free(c);
        return NULL;
    }
    c->http = h;
    c->ops = *ops;
    c->ctx = ctx;
    c->next = h->first;
    if (c->next)
        c->next->prev = c;
    h->first = c;
    defer(h->loop, &h->kick);
    return c;
}

void http_cancel(struct http_call *c)
{
    if (!c)
        return;
    if (!c->http->inside) {
        drop_call(c);
        return;
    }
    c->dead = true;
    c->http->sweep = true;
}
