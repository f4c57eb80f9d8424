/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 *   send ──> answer 2xx ───────────────────────────> done
 *    ^         ├─ 429 5xx, no connection ─> wait ─┐
 *    └─────────┴──────────────────────────────────┘   at most PROVIDER_RETRIES times
 */
#include "servers/agents/provider.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "loop/timer.h"

struct provider_call {
    struct provider *p;
    struct wire_request request;
    provider_fn done;
    void *ctx;
    struct http_call *call;
    struct timer *timer; /* until the next try, or to fail from outside of provider_start() */
    struct buf body;     /* of the request */
    struct buf answer;
    int status;
    int64_t retry_after_ms; /* -1: not said */
    int retries;
    bool fewer_tokens;  /* tried */
    struct fault fault; /* what `timer` tells */
};

static void call_free(struct provider_call *c)
{
    http_cancel(c->call);
    timer_free(c->timer);
    buf_free(&c->body);
    buf_free(&c->answer);
    free(c);
}

void provider_cancel(struct provider_call *c)
{
    if (c)
        call_free(c);
}

/* `answer` belongs to a document that outlives the call. */
static void finish(struct provider_call *c, yyjson_val *answer, const struct fault *f)
{
    provider_fn done = c->done;
    void *ctx = c->ctx;
    struct fault fault = f ? *f : (struct fault){ 0 };

    call_free(c);
    done(ctx, answer, f ? &fault : NULL);
}

/* From outside of whatever happens now. */
static void fail_soon(struct provider_call *c)
{
    timer_set(c->timer, 0);
}

/* ---- what an answer means ---- */

static bool is_worth_retrying(int status)
{
    static const int statuses[] = { 429, 500, 502, 503, 529 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (status == statuses[i])
            return true;
    return false;
}

/* Seconds, or a date. */
static int64_t retry_after(struct str v)
{
    struct tm tm = { 0 };
    char text[64];
    int64_t n;

    if (str_to_int(str_trim(v), 0, INT32_MAX, &n))
        return n * 1000;
    snprintf(text, sizeof text, "%.*s", STR_F(str_upto(v, sizeof text - 1)));
    if (!v.n || !strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm))
        return -1;
    n = (int64_t)timegm(&tm) * 1000 - clock_wall_ms();
    return n > 0 ? n : 0;
}

/* Up to a quarter more, so that many do not come back at once. */
static int64_t delay_ms(const struct provider_call *c)
{
    int64_t ms = (int64_t)PROVIDER_RETRY_MS << c->retries;

    if (c->retry_after_ms >= 0)
        return c->retry_after_ms < PROVIDER_RETRY_MAX_MS ? c->retry_after_ms
                                                         : PROVIDER_RETRY_MAX_MS;
    return ms + (int64_t)(rand_u64() % ((uint64_t)ms / 4));
}

static bool retry(struct provider_call *c)
{
    if (c->retries == PROVIDER_RETRIES)
        return false;
    timer_set(c->timer, (int)delay_ms(c));
    c->retries++;
    log_debug("agent '%.*s': the request is repeated (%d of %d)", STR_F(c->p->def->name),
              c->retries, PROVIDER_RETRIES);
    return true;
}

static bool make_body(struct provider_call *c);

/* The model allows less than the definition asks for. */
static bool retry_with_fewer_tokens(struct provider_call *c)
{
    if (c->p->def->wire != WIRE_MESSAGES || c->fewer_tokens ||
        c->request.max_tokens <= PROVIDER_FEWER_TOKENS ||
        !wire_names_max_tokens(c->status, buf_str(&c->answer)))
        return false;
    c->fewer_tokens = true;
    c->request.max_tokens = c->p->max_tokens = PROVIDER_FEWER_TOKENS;
    make_body(c);
    timer_set(c->timer, 0);
    return true;
}

static void on_answer(struct provider_call *c)
{
    auto_json doc = { 0 };
    struct fault f;

    if (c->status >= 200 && c->status < 300) {
        if (!json_parse(&doc, buf_str(&c->answer), NULL)) {
            fault_set(&f, FAULT_PROVIDER, "the provider's answer is no JSON");
            finish(c, NULL, &f);
            return;
        }
        finish(c, doc.root, NULL);
        return;
    }
    if (retry_with_fewer_tokens(c) || (is_worth_retrying(c->status) && retry(c)))
        return;
    if (wire_is_context_limit(c->status, buf_str(&c->answer)))
        fault_set(&f, FAULT_CONTEXT, "%s",
                  "the conversation no longer fits the model's context");
    else
        fault_set(&f, FAULT_PROVIDER, "provider returned HTTP status %d", c->status);
    finish(c, NULL, &f);
}

static void on_failure(struct provider_call *c, const struct error *why)
{
    bool nothing_came = c->status == 0;
    struct fault f;

    if (nothing_came && (why->kind == ERR_CLOSED || why->kind == ERR_NOT_FOUND) && retry(c))
        return;
    if (why->kind == ERR_TIMEOUT)
        fault_set(&f, FAULT_TIMEOUT, "the provider did not answer within %d s",
                  PROVIDER_REQUEST_MS / 1000);
    else if (why->kind == ERR_LIMIT)
        fault_set(&f, FAULT_PROVIDER, "the provider's answer has more than %zu bytes",
                  WIRE_BODY_MAX);
    else
        fault_set(&f, FAULT_PROVIDER,
                  why->kind == ERR_PROTOCOL ? "the provider's answer cannot be read: %s"
                  : nothing_came            ? "the provider cannot be reached: %s"
                                            : "the provider's answer broke off: %s",
                  why->msg);
    finish(c, NULL, &f);
}

/* ---- one exchange ---- */

static void on_headers(void *ctx, const struct http_head *h)
{
    struct provider_call *c = ctx;

    c->status = h->status;
    c->retry_after_ms = retry_after(http_head_get(h, "retry-after"));
}

static void on_body(void *ctx, struct str bytes)
{
    struct provider_call *c = ctx;

    buf_add(&c->answer, bytes);
}

static void on_done(void *ctx, const struct error *why)
{
    struct provider_call *c = ctx;

    c->call = NULL;
    if (why)
        on_failure(c, why);
    else
        on_answer(c);
}

static bool make_body(struct provider_call *c)
{
    buf_clear(&c->body);
    wire_put_request(&c->body, &c->request);
    return !c->body.over ||
           fault_set(&c->fault, FAULT_CONTEXT,
                     "the conversation has become longer than %zu bytes", WIRE_BODY_MAX);
}

static bool open_http(struct provider *p, struct fault *f)
{
    struct error e;

    if (!p->http)
        p->http = http_new(p->loop, &(struct http_opts){ 0 }, &e);
    return p->http || fault_set(f, FAULT_CONFIGURATION, "%s", e.msg);
}

static size_t put_headers(const struct provider *p, struct arena *a, struct http_field v[4])
{
    size_t n = 0;

    v[n++] = (struct http_field){ STR("content-type"), STR("application/json") };
    v[n++] = (struct http_field){ STR("accept"), STR("application/json") };
    if (p->def->wire == WIRE_MESSAGES) {
        v[n++] = (struct http_field){ STR("anthropic-version"), STR("2023-06-01") };
        if (p->credential.n)
            v[n++] = (struct http_field){ STR("x-api-key"), p->credential };
    } else if (p->credential.n) {
        v[n++] =
            (struct http_field){ STR("authorization"),
                                 str_of(arena_printf(a, "Bearer %.*s", STR_F(p->credential))) };
    }
    return n;
}

static bool send_request(struct provider_call *c)
{
    static const struct http_ops ops = { on_headers, on_body, on_done };
    auto_arena a = ARENA;
    struct http_field headers[4];
    struct http_url url;
    struct error e;
    struct http_request r = {
        .method = "POST",
        .url = &url,
        .headers = headers,
        .body = buf_str(&c->body),
        .total_ms = PROVIDER_REQUEST_MS,
        .connect_ms = PROVIDER_CONNECT_MS,
        .max_body = WIRE_BODY_MAX,
        .encodings = "gzip",
    };

    if (!open_http(c->p, &c->fault))
        return false;
    if (!http_url_parse(&a,
                        str_of(arena_printf(&a, "%.*s%s", STR_F(c->p->def->base_url),
                                            wire_path(c->p->def->wire))),
                        &url, &e))
        return fault_set(&c->fault, FAULT_CONFIGURATION, "baseUrl: %s", e.msg);
    r.nheaders = put_headers(c->p, &a, headers);
    buf_clear(&c->answer);
    c->status = 0;
    c->retry_after_ms = -1;
    c->call = http_start(c->p->http, &r, &ops, c, &e);
    if (!c->call)
        return fault_set(&c->fault, FAULT_CONFIGURATION, "the request cannot be made: %s",
                         e.msg);
    return true;
}

static void on_timer(void *ctx)
{
    struct provider_call *c = ctx;

    if (c->fault.kind || !send_request(c))
        finish(c, NULL, &c->fault);
}

struct provider_call *provider_start(struct provider *p, const struct wire_request *r,
                                     provider_fn done, void *ctx)
{
    struct provider_call *c = NEW(struct provider_call);

    c->p = p;
    c->request = *r;
    c->done = done;
    c->ctx = ctx;
    c->body = BUF(WIRE_BODY_MAX);
    c->answer = BUF(WIRE_BODY_MAX);
    c->timer = timer_new(p->loop, on_timer, c);
    if (!make_body(c) || !send_request(c))
        fail_soon(c);
    return c;
}
