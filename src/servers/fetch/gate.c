/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/work.h"
#include "servers/fetch/redirect.h"
#include "servers/fetch/robots.h"

#define REFUSAL_MAX ((size_t)64 << 10)

/* What one origin said. Immutable once it is in the cache; counted, since a check may go on
 * with it after it was dropped there. */
struct site {
    unsigned refs;
    int status;
    struct robots *robots; /* of a 2xx */
    struct buf body;       /* of a 2xx; once parsed only its beginning, to be shown */
    int64_t since;
    size_t bytes;
};

struct gate {
    struct net *net;
    struct str user_agent, token;
    struct map sites; /* origin to site; in order of age */
    size_t bytes;
};

struct gate_check {
    struct gate *gate; /* gone when nobody waits any more */
    struct str token;  /* the gate's */
    struct arena arena;
    gate_fn done; /* NULL: nobody waits any more */
    void *ctx;
    const char *url, *target, *origin, *robots_url;
    struct http_url at; /* of the redirects' last */
    unsigned redirects;
    struct get *get;
    struct work *work;
    struct site *site;
    bool fresh; /* the site is not in the cache yet: `work` may write to it */
    bool allowed;
};

/* ---- sites ---- */

static void site_unref(struct site *s)
{
    if (!s || --s->refs)
        return;
    robots_free(s->robots);
    buf_free(&s->body);
    free(s);
}

static void forget(struct gate *g, struct str origin)
{
    struct site *s = map_del(&g->sites, origin);

    if (!s)
        return;
    g->bytes -= s->bytes;
    site_unref(s);
}

static struct site *known(struct gate *g, struct str origin)
{
    struct site *s = map_get(&g->sites, origin);

    if (s && clock_ms() - s->since >= GATE_KEEP_MS) {
        forget(g, origin);
        return NULL;
    }
    return s;
}

static void forget_oldest(struct gate *g)
{
    struct str origin;
    void *s;
    size_t i = 0;

    if (map_next(&g->sites, &i, &origin, &s))
        forget(g, origin);
}

/* A server's trouble is not remembered: the next call asks again. */
static void remember(struct gate *g, struct str origin, struct site *s)
{
    s->bytes = sizeof *s + s->body.cap + (s->robots ? robots_size(s->robots) : 0);
    if (s->status >= 500 || s->bytes > GATE_KEEP_BYTES / 4)
        return;
    forget(g, origin);
    while (map_count(&g->sites) >= GATE_KEEP_MAX || g->bytes + s->bytes > GATE_KEEP_BYTES)
        forget_oldest(g);
    s->refs++;
    g->bytes += s->bytes;
    map_put(&g->sites, origin, s);
}

struct gate *gate_new(struct net *n, struct str user_agent)
{
    struct gate *g = NEW(struct gate);
    struct str rest;

    g->net = n;
    g->user_agent = g->token = user_agent;
    str_cut(user_agent, '/', &g->token, &rest);
    g->token = str_trim(g->token);
    return g;
}

void gate_free(struct gate *g)
{
    if (!g)
        return;
    while (map_count(&g->sites))
        forget_oldest(g);
    map_free(&g->sites);
    free(g);
}

/* ---- the verdict ---- */

static void check_free(struct gate_check *c)
{
    get_cancel(c->get);
    site_unref(c->site);
    arena_free(&c->arena);
    free(c);
}

static void finish(struct gate_check *c, struct str refusal)
{
    gate_fn done = c->done;

    if (done)
        done(c->ctx, refusal);
    check_free(c);
}

static void put_disallowed(const struct gate_check *c, struct buf *out)
{
    buf_addf(
        out,
        "The sites robots.txt (%s), specifies that autonomous fetching of this page is not "
        "allowed, <useragent>%.*s</useragent>\n<url>%s</url>\n<robots>\n",
        c->robots_url, STR_F(c->gate->user_agent), c->url);
    utf8_put_lossy(out, buf_str(&c->site->body));
    buf_addz(out,
             "\n</robots>\n"
             "Tell the user that the page could not be fetched because of this. The user can "
             "try to fetch it manually by using the fetch prompt.");
}

static void put_status(const struct gate_check *c, struct buf *out)
{
    buf_addf(out, "When fetching robots.txt (%s), received status %d", c->robots_url,
             c->site->status);
    buf_addz(out,
             c->site->status >= 500
                 ? ", so this site cannot be fetched autonomously now"
                 : " so assuming that autonomous fetching is not allowed, the user can try "
                   "manually fetching by using the fetch prompt");
}

static void conclude(struct gate_check *c)
{
    int status = c->site->status;
    auto_buf refusal = BUF(REFUSAL_MAX);

    if (status == 401 || status == 403 || status >= 500)
        put_status(c, &refusal);
    else if (!c->allowed)
        put_disallowed(c, &refusal);
    finish(c, buf_str(&refusal));
}

static void parse(struct site *s, struct str token)
{
    struct buf kept = BUF(GATE_BODY_SHOWN);

    s->robots = robots_parse(buf_str(&s->body), token);
    buf_add(&kept, utf8_cut(buf_str(&s->body), GATE_BODY_SHOWN));
    buf_free(&s->body);
    s->body = kept;
}

/* On a pool thread. */
static void on_run(void *ctx, struct work *w)
{
    struct gate_check *c = ctx;

    (void)w;
    if (c->fresh)
        parse(c->site, c->token);
    c->allowed = !c->site->robots || robots_allows(c->site->robots, str_of(c->target));
}

static void on_worked(void *ctx, bool cancelled)
{
    struct gate_check *c = ctx;

    c->work = NULL;
    if (cancelled || !c->done) {
        check_free(c);
        return;
    }
    if (c->fresh)
        remember(c->gate, str_of(c->origin), c->site);
    conclude(c);
}

static void judge(struct gate_check *c)
{
    static const struct work_ops ops = { on_run, on_worked };

    c->work = work_start(c->gate->net->loop, WORK_SHORT, &ops, c);
}

/* ---- the file ---- */

static void ask(struct gate_check *c);

static void fail(struct gate_check *c, const char *why)
{
    auto_buf text = BUF(REFUSAL_MAX);

    buf_addf(&text, "Failed to fetch robots.txt %s due to a connection issue: %s",
             c->robots_url, why);
    finish(c, buf_str(&text));
}

static void follow(struct gate_check *c, const char *location)
{
    struct error e;

    if (++c->redirects > GATE_REDIRECTS_MAX) {
        error_set(&e, ERR_LIMIT, "more than %d redirects", GATE_REDIRECTS_MAX);
        fail(c, e.msg);
    } else if (!redirect(&c->arena, &c->at, location, &c->at, &e)) {
        fail(c, e.msg);
    } else {
        ask(c);
    }
}

/* 2xx is read; of 3xx without a place to go to there is nothing to read; other 4xx mean that
 * there are no rules. */
static void take(struct gate_check *c, struct got *got)
{
    struct site *s = NEW(struct site);

    c->site = s;
    s->refs = 1;
    s->since = clock_ms();
    s->status = got->status;
    c->allowed = true;
    if (got->status >= 400) {
        remember(c->gate, str_of(c->origin), s);
        conclude(c);
        return;
    }
    s->body = got->body;
    got->body = BUF(0);
    c->fresh = true;
    judge(c);
}

static void on_got(void *ctx, struct got *got)
{
    struct gate_check *c = ctx;

    c->get = NULL;
    if (got->end == GET_REFUSED)
        finish(c, str_of(got->why->msg));
    else if (got->end != GET_OK)
        fail(c, got->why->msg);
    else if (got->location)
        follow(c, got->location);
    else
        take(c, got);
}

static void ask(struct gate_check *c)
{
    static const struct get_ops ops = { .done = on_got };
    struct get_request r = {
        .url = &c->at,
        .user_agent = c->gate->user_agent,
        .max_body = GATE_BODY_MAX,
        .cut = true,
    };

    c->get = get_start(c->gate->net, &r, &ops, c);
}

const char *gate_url_of(struct arena *a, const struct http_url *url)
{
    return arena_printf(a, "%s/robots.txt", url->origin);
}

struct gate_check *gate_start(struct gate *g, const struct http_url *url, gate_fn done,
                              void *ctx)
{
    struct gate_check *c = NEW(struct gate_check);

    c->gate = g;
    c->token = g->token;
    c->done = done;
    c->ctx = ctx;
    c->url = arena_z(&c->arena, str_of(url->text));
    c->target = arena_z(&c->arena, str_of(url->target));
    c->origin = arena_z(&c->arena, str_of(url->origin));
    c->robots_url = gate_url_of(&c->arena, url);
    c->site = known(g, str_of(c->origin));
    if (c->site) {
        c->site->refs++;
        judge(c);
        return c;
    }
    c->at = *url;
    c->at.host = arena_z(&c->arena, str_of(url->host));
    c->at.written = arena_z(&c->arena, str_of(url->written));
    c->at.scheme = arena_z(&c->arena, str_of(url->scheme));
    c->at.origin = c->origin;
    c->at.text = c->robots_url;
    c->at.target = "/robots.txt";
    ask(c);
    return c;
}

void gate_cancel(struct gate_check *c)
{
    if (!c)
        return;
    if (!c->work) {
        check_free(c);
        return;
    }
    c->done = NULL; /* on_worked() frees it */
    work_cancel(c->work);
}
