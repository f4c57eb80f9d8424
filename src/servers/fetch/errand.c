/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/errand.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "loop/work.h"
#include "mcp/content.h"
#include "servers/fetch/page.h"
#include "servers/fetch/redirect.h"
#include "servers/sending.h"

#define REFUSED_URL_SHOWN 1024 /* bytes of a URL that is not accepted, in the answer */
#define AROUND_RESULT     ((size_t)4 << 10) /* of ANSWER_MAX: the id, name and version */
#define ERROR_TEXT_MAX    ((size_t)64 << 10)

struct errand {
    struct fetcher *f;
    struct mcp_req *r; /* NULL once cancelled */
    struct arena arena;
    struct errand_request in; /* its URL is in the arena */
    struct http_url url;      /* of the hop we are at */
    unsigned redirects;
    struct timer *deadline;
    struct errand *next; /* of those that wait */
    bool running;

    /* At most one of these at a time. */
    struct gate_check *checking;
    struct get *loading;
    struct work *rendering;

    /* RENDERING: the pool thread's, until its end. */
    struct str type;
    struct buf body;
    struct sending sending; /* its answer */
};

/* ---- answers ---- */

/* The result of prompts/get; a failure is a text like any other (FE-17). */
static struct buf prompt_json(const struct errand *x, struct str text, bool failed)
{
    struct buf out = BUF(ANSWER_MAX - AROUND_RESULT);
    auto_buf description = BUF(HTTP_URL_MAX + ERROR_TEXT_MAX);
    struct jw w = jw_to(&out);

    buf_addz(&description, failed ? "Failed to fetch " : "Contents of ");
    buf_add(&description, str_upto(x->in.url, HTTP_URL_MAX));
    jw_obj(&w);
    jw_kstr(&w, "description", buf_str(&description));
    jw_key(&w, "messages");
    jw_arr(&w);
    jw_obj(&w);
    jw_kstrz(&w, "role", "user");
    jw_key(&w, "content");
    mcp_put_text_block(&w, text);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    return out;
}

static struct buf tool_json(const struct errand *x, struct str text, bool failed)
{
    struct answer a = { .text = { (char *)(uintptr_t)text.p, text.n, 0, text.n, false },
                        .is_error = failed };

    return answer_json(&a, server_spec_of(x->f->server)); /* only reads */
}

static struct buf answer(const struct errand *x, struct str text, bool failed)
{
    return x->in.prompt ? prompt_json(x, text, failed) : tool_json(x, text, failed);
}

static void visit(struct errand *x);

/* Room for one more. */
static void let_in(struct fetcher *f)
{
    struct errand *x = f->waiting;

    if (!x || f->running >= ERRAND_MAX)
        return;
    f->waiting = x->next;
    f->running++;
    x->running = true;
    visit(x);
}

static void leave(struct errand *x)
{
    struct errand **at = &x->f->waiting;

    if (x->running) {
        x->f->running--;
        return;
    }
    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
}

static void errand_free(struct errand *x)
{
    struct fetcher *f = x->f;

    leave(x);
    timer_free(x->deadline);
    gate_cancel(x->checking);
    get_cancel(x->loading);
    buf_free(&x->body);
    arena_free(&x->arena);
    free(x);
    let_in(f);
}

static void fail_with(struct errand *x, struct str text)
{
    struct mcp_req *r = take_ptr(&x->r);
    auto_buf json = answer(x, text, true);

    mcp_req_on_cancel(r, NULL, NULL);
    mcp_reply(r, buf_str(&json));
    errand_free(x);
}

__attribute__((format(printf, 2, 3))) static void fail(struct errand *x, const char *fmt, ...)
{
    char text[2 * HTTP_URL_MAX + ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fail_with(x, str_of(text));
}

static void fail_fetch(struct errand *x, const char *why)
{
    fail(x, "Failed to fetch %.*s: %s", STR_F(x->in.url), why);
}

/* ---- RENDERING ---- */

static void too_long(const struct errand *x, size_t size, struct buf *text)
{
    buf_clear(text);
    buf_addf(
        text,
        "The content of %.*s has more than %zu bytes, a prompt at most %zu; the fetch tool "
        "gives it in parts",
        STR_F(x->in.url), size < ANSWER_MAX ? ANSWER_MAX : size, ANSWER_MAX);
}

static void on_render(void *ctx, struct work *w)
{
    struct errand *x = ctx;
    struct page page = {
        .body = buf_str(&x->body),
        .type = x->type,
        .given = x->in.url,
        .url = str_of(x->url.text),
        .raw = x->in.raw,
        .whole = x->in.prompt,
        .start = x->in.start_index,
        .max = x->in.max_length,
    };
    auto_buf text = BUF(8 * ANSWER_MAX), json = { 0 };
    struct error e;

    page_render(&page, &text);
    buf_free(&x->body);
    if (work_cancelled(w))
        return;
    json = answer(x, buf_str(&text), false);
    if (x->in.prompt && (text.over || json.over)) { /* of a tool: answer_json() (SV-30) */
        size_t size = text.n;

        buf_free(&json);
        too_long(x, size, &text);
        json = answer(x, buf_str(&text), true);
    }
    if (!sending_put(&x->sending, buf_str(&json), &e)) {
        buf_free(&json);
        json = answer(x, str_of(e.msg), true);
        sending_put(&x->sending, buf_str(&json), &e);
    }
    sending_enter(&x->sending, w);
}

static void on_rendered(void *ctx, bool cancelled)
{
    struct errand *x = ctx;

    (void)cancelled; /* by on_cancel(): r is NULL then */
    x->rendering = NULL;
    if (x->r)
        sending_reply(&x->sending, take_ptr(&x->r));
    else
        sending_drop(&x->sending);
    errand_free(x);
}

static void render(struct errand *x, struct got *got)
{
    static const struct work_ops ops = { on_render, on_rendered };

    timer_clear(x->deadline);
    sending_begin(&x->sending, x->f->server, x->r);
    x->type = arena_str(&x->arena, str_of(got->type));
    x->body = got->body;
    got->body = BUF(0);
    x->rendering = work_start(x->f->net.loop, WORK_SHORT, &ops, x);
}

/* ---- LOADING ---- */

static void follow(struct errand *x, const char *location)
{
    struct error e;

    if (++x->redirects > ERRAND_REDIRECTS_MAX) {
        fail(x, "Failed to fetch %.*s: more than %d redirects", STR_F(x->in.url),
             ERRAND_REDIRECTS_MAX);
        return;
    }
    if (redirect(&x->arena, &x->url, location, &x->url, &e))
        visit(x);
    else
        fail_fetch(x, e.msg);
}

static void on_advance(void *ctx, size_t received, int64_t total)
{
    struct errand *x = ctx;
    char text[64];

    if (!mcp_req_wants_progress(x->r))
        return;
    snprintf(text, sizeof text, "%zu bytes received", received);
    mcp_progress(x->r, (double)received, total > 0 ? (double)total : 0, str_of(text));
}

static void on_got(void *ctx, struct got *got)
{
    struct errand *x = ctx;

    x->loading = NULL;
    switch (got->end) {
    case GET_REFUSED:
        fail_with(x, str_of(got->why->msg));
        return;
    case GET_TOO_LONG:
        fail(x, "Response body from %.*s exceeds the %zu byte safety limit", STR_F(x->in.url),
             ERRAND_BODY_MAX);
        return;
    case GET_FAILED:
        fail_fetch(x, got->why->msg);
        return;
    case GET_OK:
        break;
    }
    if (got->location)
        follow(x, got->location);
    else if (got->status >= 400)
        fail(x, "Failed to fetch %.*s - status code %d", STR_F(x->in.url), got->status);
    else
        render(x, got);
}

static void load(struct errand *x)
{
    static const struct get_ops ops = { on_advance, on_got };
    struct get_request r = {
        .url = &x->url,
        .user_agent = x->in.prompt ? x->f->prompt_agent : x->f->tool_agent,
        .max_body = ERRAND_BODY_MAX,
    };

    x->loading = get_start(&x->f->net, &r, &ops, x);
}

/* ---- CHECKING ---- */

static void on_checked(void *ctx, struct str refusal)
{
    struct errand *x = ctx;

    x->checking = NULL;
    if (refusal.n)
        fail_with(x, refusal);
    else
        load(x);
}

/* The first URL, and the target of each redirect. */
static void visit(struct errand *x)
{
    if (x->in.prompt || !x->f->gate)
        load(x);
    else
        x->checking = gate_start(x->f->gate, &x->url, on_checked, x);
}

/* ---- the whole ---- */

static void on_deadline(void *ctx)
{
    struct errand *x = ctx;

    if (x->checking)
        fail(x, "Failed to fetch robots.txt %s due to a connection issue: not within %d s",
             gate_url_of(&x->arena, &x->url), ERRAND_MS / 1000);
    else
        fail(x, "Failed to fetch %.*s: not within %d s", STR_F(x->in.url), ERRAND_MS / 1000);
}

static void on_cancel(void *ctx)
{
    struct errand *x = ctx;

    x->r = NULL;
    if (!x->rendering) {
        errand_free(x);
        return;
    }
    timer_clear(x->deadline);
    work_cancel(x->rendering); /* on_rendered() frees it */
    sending_wake(&x->sending);
}

static void refuse_url(struct errand *x, const struct error *why)
{
    auto_buf text = BUF(ERROR_TEXT_MAX);

    if (why->kind == ERR_NOT_FOUND) { /* no libcurl */
        fail_fetch(x, why->msg);
        return;
    }
    if (why->kind == ERR_DENIED) { /* the scheme; FE-2's words already */
        fail_with(x, str_of(why->msg));
        return;
    }
    buf_addz(&text, "Invalid URL \"");
    buf_add(&text, utf8_cut(x->in.url, REFUSED_URL_SHOWN)); /* which may hold a NUL */
    buf_addf(&text, "%s\": %s", x->in.url.n > REFUSED_URL_SHOWN ? "…" : "", why->msg);
    fail_with(x, buf_str(&text));
}

/* FE-2, in its order. False: answered. */
static bool check_request(struct errand *x)
{
    struct error e;

    if (!http_url_parse(&x->arena, x->in.url, &x->url, &e)) {
        refuse_url(x, &e);
        return false;
    }
    if (x->in.max_length < 1 || x->in.max_length > ERRAND_LENGTH_MAX) {
        fail(x, "max_length must be between 1 and %d, got %" PRId64, ERRAND_LENGTH_MAX,
             x->in.max_length);
        return false;
    }
    if (x->in.start_index < 0) {
        fail(x, "start_index must be non-negative, got %" PRId64, x->in.start_index);
        return false;
    }
    return true;
}

void errand_start(struct fetcher *f, struct mcp_req *r, const struct errand_request *in)
{
    struct errand *x = NEW(struct errand), **at = &f->waiting;

    x->f = f;
    x->r = r;
    x->in = *in;
    x->in.url = arena_str(&x->arena, in->url);
    if (!check_request(x))
        return;
    x->deadline = timer_new(f->net.loop, on_deadline, x);
    timer_set(x->deadline, ERRAND_MS);
    mcp_req_on_cancel(r, on_cancel, x);
    while (*at)
        at = &(*at)->next;
    *at = x;
    let_in(f);
}
