/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rpc/peer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/timer.h"

#define BUCKETS      256 /* ids count up, so open calls spread over them evenly */
#define METHOD_SHOWN 48
#define KEEP_BYTES   ((size_t)64 << 10) /* a send buffer larger than this is not kept */

/* An open call: in its bucket, and in the list of all by age. */
struct call {
    uint64_t handle; /* also its id, bare or within a string */
    char id[32];     /* JSON text, as sent and as it must come back */
    char method[METHOD_SHOWN];
    int64_t deadline, hard_deadline;
    int timeout_ms;
    reply_fn done;
    void *ctx;
    struct call *bucket_next, *older, *newer;
};

struct peer {
    struct loop *loop;
    struct peer_ops ops;
    void *ctx;
    struct call *buckets[BUCKETS];
    struct call *oldest, *newest;
    size_t inflight;
    uint64_t last_handle;
    struct timer *timer; /* set to timer_at, which no open call's deadline precedes */
    int64_t timer_at;
    int hard_ms;
    struct buf out;
    struct peer_stats stats;
    struct error why; /* of the close */
    bool closed, freed;
    unsigned refs; /* the owner, and callbacks under way */
};

/* ---- life ---- */

static void hold(struct peer *p)
{
    assert(p->refs > 0);
    p->refs++;
}

/* False when the peer was freed meanwhile; its memory may be gone then. */
static bool drop(struct peer *p)
{
    bool alive = !p->freed;

    if (--p->refs)
        return alive;
    buf_free(&p->out);
    free(p);
    return false;
}

/* ---- the table of open calls ---- */

static struct call **bucket_of(const struct peer *p, uint64_t handle)
{
    return (struct call **)(uintptr_t)&p->buckets[handle % BUCKETS];
}

static struct call *call_of(const struct peer *p, uint64_t handle)
{
    struct call *c = *bucket_of(p, handle);

    while (c && c->handle != handle)
        c = c->bucket_next;
    return c;
}

/* 0 when the id has not the form of one of ours. */
static uint64_t handle_of(struct str id)
{
    int64_t n;

    if (!str_starts(id, STR("\"probe-")) || !str_ends(id, STR("\"")) || id.n <= 8)
        return (uint64_t)rpc_id_value(id);
    id = str_upto(str_from(id, 7), id.n - 8);
    return str_to_int(id, 1, INT64_MAX, &n) ? (uint64_t)n : 0;
}

static struct call *call_of_id(const struct peer *p, struct str id)
{
    struct call *c = call_of(p, handle_of(id));

    return c && rpc_id_eq(id, str_of(c->id)) ? c : NULL;
}

static void call_link(struct peer *p, struct call *c)
{
    struct call **bucket = bucket_of(p, c->handle);

    c->bucket_next = *bucket;
    *bucket = c;
    c->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = c;
    p->newest = c;
    p->inflight++;
}

static void call_unlink(struct peer *p, struct call *c)
{
    struct call **at = bucket_of(p, c->handle);

    while (*at != c)
        at = &(*at)->bucket_next;
    *at = c->bucket_next;
    *(c->older ? &c->older->newer : &p->oldest) = c->newer;
    *(c->newer ? &c->newer->older : &p->newest) = c->older;
    if (--p->inflight == 0 && p->timer)
        timer_clear(p->timer);
}

/* The one place where a call ends: out of the table first, called last. The callback may free
 * the peer. */
static void finish(struct peer *p, struct call *c, const struct rpc_msg *reply,
                   const struct error *e)
{
    reply_fn done = c->done;
    void *ctx = c->ctx;

    call_unlink(p, c);
    free(c);
    done(ctx, reply, e);
}

static void finish_all(struct peer *p)
{
    while (p->oldest)
        finish(p, p->oldest, NULL, &p->why);
}

/* ---- deadlines ---- */

static void on_timer(void *ctx);

static void set_timer(struct peer *p, int64_t at)
{
    int64_t ms = at - clock_ms();

    if (!p->timer)
        p->timer = timer_new(p->loop, on_timer, p);
    p->timer_at = at;
    timer_set(p->timer, ms > 0 ? (int)ms : 0);
}

static struct call *first_expired(const struct peer *p, int64_t now)
{
    struct call *c = p->oldest;

    while (c && c->deadline > now)
        c = c->newer;
    return c;
}

/* Answered and touched calls leave the timer as it was; it looks anew when it fires. */
static void on_timer(void *ctx)
{
    struct peer *p = ctx;
    int64_t now = clock_ms(), next = INT64_MAX;
    struct call *c;

    hold(p);
    while ((c = first_expired(p, now))) {
        struct error e;

        error_set(&e, ERR_TIMEOUT, "no answer to '%s' within %d ms", c->method,
                  c->deadline == c->hard_deadline ? p->hard_ms : c->timeout_ms);
        finish(p, c, NULL, &e);
    }
    if (!drop(p))
        return;
    for (c = p->oldest; c; c = c->newer)
        next = c->deadline < next ? c->deadline : next;
    if (next != INT64_MAX)
        set_timer(p, next);
}

static void set_deadline(struct call *c, int64_t now)
{
    if (c->timeout_ms == PEER_NO_TIMEOUT)
        return;
    c->deadline = now + c->timeout_ms;
    if (c->deadline > c->hard_deadline)
        c->deadline = c->hard_deadline;
}

/* ---- sending ---- */

static struct buf *message_begin(struct peer *p)
{
    buf_clear(&p->out);
    buf_addz(&p->out, "{\"jsonrpc\":\"2.0\"");
    return &p->out;
}

static void member(struct buf *b, const char *key, struct str json)
{
    buf_addf(b, ",\"%s\":", key);
    buf_add(b, json);
}

static void member_str(struct buf *b, const char *key, struct str s)
{
    buf_addf(b, ",\"%s\":", key);
    json_put_str(b, s);
}

/* A line break between tokens of what others wrote would cut the message in two. Within strings
 * JSON has none. */
static void blank_line_breaks(struct buf *b)
{
    char *at = b->p, *end = b->p + b->n;

    while ((at = memchr(at, '\n', (size_t)(end - at))))
        *at++ = ' ';
}

static bool message_send(struct peer *p, struct error *e)
{
    bool sent;

    buf_addc(&p->out, '}');
    if (!buf_ok(&p->out, e))
        return error_wrap(e, "message too large");
    blank_line_breaks(&p->out);
    sent = p->ops.send(p->ctx, buf_str(&p->out), e);
    if (p->out.cap > KEEP_BYTES)
        buf_free(&p->out);
    return sent;
}

static bool is_open(const struct peer *p, struct error *e)
{
    if (p->closed && e)
        *e = p->why;
    return !p->closed;
}

uint64_t peer_call(struct peer *p, const struct peer_call *opts, reply_fn done, void *ctx,
                   struct error *e)
{
    int64_t now = clock_ms();
    struct call *c;
    struct buf *b;

    if (!is_open(p, e))
        return 0;
    if (p->inflight >= PEER_MAX_INFLIGHT) {
        error_set(e, ERR_LIMIT, "more than %d calls are waiting for an answer",
                  PEER_MAX_INFLIGHT);
        return 0;
    }
    c = NEW(struct call);
    *c = (struct call){
        .handle = ++p->last_handle,
        .done = done,
        .ctx = ctx,
        .deadline = INT64_MAX,
        .hard_deadline = now + p->hard_ms,
        .timeout_ms = opts->timeout_ms,
    };
    if (c->timeout_ms <= 0 && c->timeout_ms != PEER_NO_TIMEOUT)
        c->timeout_ms = 1;
    snprintf(c->id, sizeof c->id, opts->string_id ? "\"probe-%llu\"" : "%llu",
             (unsigned long long)c->handle);
    snprintf(c->method, sizeof c->method, "%s", opts->method);
    set_deadline(c, now);
    b = message_begin(p);
    member(b, "id", str_of(c->id));
    member_str(b, "method", str_of(opts->method));
    if (opts->params.n)
        member(b, "params", opts->params);
    call_link(p, c);
    if (!message_send(p, e)) {
        call_unlink(p, c);
        free(c);
        return 0;
    }
    p->stats.calls++;
    if (c->timeout_ms != PEER_NO_TIMEOUT &&
        (!p->timer || !timer_is_set(p->timer) || c->deadline < p->timer_at))
        set_timer(p, c->deadline);
    return c->handle;
}

struct str peer_call_id(const struct peer *p, uint64_t call)
{
    const struct call *c = call_of(p, call);

    return str_of(c ? c->id : NULL);
}

void peer_call_touch(struct peer *p, uint64_t call)
{
    struct call *c = call_of(p, call);

    if (c)
        set_deadline(c, clock_ms());
}

bool peer_call_cancel(struct peer *p, uint64_t call)
{
    struct call *c = call_of(p, call);
    struct error e;

    if (!c)
        return false;
    error_set(&e, ERR_CLOSED, "cancelled");
    finish(p, c, NULL, &e);
    return true;
}

bool peer_call_fail(struct peer *p, struct str id, const struct error *why)
{
    struct call *c = call_of_id(p, id);

    if (c)
        finish(p, c, NULL, why);
    return c != NULL;
}

bool peer_waits_for(const struct peer *p, struct str id)
{
    return call_of_id(p, id) != NULL;
}

bool peer_notify(struct peer *p, const char *method, struct str params, struct error *e)
{
    struct buf *b;

    if (!is_open(p, e))
        return false;
    b = message_begin(p);
    member_str(b, "method", str_of(method));
    if (params.n)
        member(b, "params", params);
    return message_send(p, e);
}

bool peer_reply(struct peer *p, struct str id, struct str result, struct error *e)
{
    struct buf *b;

    if (!is_open(p, e))
        return false;
    b = message_begin(p);
    member(b, "id", id);
    member(b, "result", result);
    return message_send(p, e);
}

bool peer_reply_error(struct peer *p, struct str id, int64_t code, struct str message,
                      struct str data, struct error *e)
{
    struct buf *b;

    if (!is_open(p, e))
        return false;
    b = message_begin(p);
    if (id.n)
        member(b, "id", id);
    buf_addf(b, ",\"error\":{\"code\":%lld", (long long)code);
    member_str(b, "message", message);
    if (data.n)
        member(b, "data", data);
    buf_addc(b, '}');
    return message_send(p, e);
}

/* ---- receiving ---- */

static void fault(struct peer *p, enum peer_fault kind, struct str id, const struct error *why)
{
    if (p->ops.on_fault)
        p->ops.on_fault(p->ctx, kind, id, why);
}

static void answer(struct peer *p, const struct rpc_msg *m)
{
    struct call *c = call_of_id(p, m->id);
    uint64_t handle = handle_of(m->id);
    struct error e;

    if (c && m->kind == RPC_RESULT) {
        p->stats.answers++;
        finish(p, c, m, NULL);
    } else if (c) {
        p->stats.answers++;
        error_set(&e, ERR_INVALID, "'%s' failed: %.*s (code %lld)", c->method,
                  STR_F(str_upto(m->message, ERROR_MSG_MAX)), (long long)m->code);
        finish(p, c, m, &e);
    } else if (handle && handle <= p->last_handle && !call_of(p, handle)) {
        p->stats.late++;
    } else {
        p->stats.stray++;
        error_set(&e, ERR_PROTOCOL, "an answer with the id %.*s, which is of no open call",
                  STR_F(str_upto(m->id, 64)));
        fault(p, PEER_STRAY_ANSWER, m->id, &e);
    }
}

/* A broken answer to an open call ends that call: nothing better will come. */
static void malformed(struct peer *p, yyjson_val *v, const struct rpc_msg *m,
                      const struct error *why)
{
    struct call *c = json_get(v, "method") ? NULL : call_of_id(p, m->id);

    p->stats.malformed++;
    if (c)
        finish(p, c, NULL, why);
    else
        fault(p, PEER_NOT_MESSAGE, m->id, why);
}

bool peer_feed_value(struct peer *p, struct rpc_doc *doc, yyjson_val *v)
{
    struct rpc_msg m;
    struct error e;

    if (p->closed)
        return true;
    hold(p);
    if (!rpc_msg_read(&m, doc, v, &e)) {
        malformed(p, v, &m, &e);
    } else {
        switch (m.kind) {
        case RPC_REQUEST:
            p->ops.on_request(p->ctx, &m);
            break;
        case RPC_NOTIFICATION:
            p->ops.on_notification(p->ctx, &m);
            break;
        case RPC_RESULT:
        case RPC_ERROR:
            answer(p, &m);
            break;
        }
    }
    rpc_msg_done(&m);
    return drop(p);
}

/* No batches here: the calls that it answers end, once each, and the rest is dropped as one
 * malformed line. */
static void refuse_batch(struct peer *p, struct rpc_doc *doc)
{
    struct error e;

    error_set(&e, ERR_PROTOCOL, "batches are not part of this protocol");
    p->stats.malformed++;
    for (struct json_iter it = json_iter(doc->json.root); json_next(&it) && !p->closed;) {
        struct rpc_msg m;
        struct call *c = NULL;

        if (rpc_msg_read(&m, doc, it.val, NULL) &&
            (m.kind == RPC_RESULT || m.kind == RPC_ERROR))
            c = call_of_id(p, m.id);
        rpc_msg_done(&m);
        if (c)
            finish(p, c, NULL, &e);
    }
    if (!p->closed)
        fault(p, PEER_NOT_MESSAGE, (struct str){ 0 }, &e);
}

bool peer_feed(struct peer *p, struct str line)
{
    struct rpc_doc *doc;
    struct error e;

    if (p->closed)
        return true;
    hold(p);
    doc = rpc_doc_parse(line, &e);
    if (!doc) {
        p->stats.malformed++;
        fault(p, PEER_NOT_JSON, (struct str){ 0 }, &e);
    } else if (!json_is_arr(doc->json.root)) {
        peer_feed_value(p, doc, doc->json.root);
    } else if (p->ops.on_batch) {
        p->ops.on_batch(p->ctx, doc);
    } else {
        refuse_batch(p, doc);
    }
    rpc_doc_unref(doc);
    return drop(p); /* NOLINT(clang-analyzer-unix.Malloc): counted, which it cannot see */
}

bool peer_feed_too_long(struct peer *p, size_t limit)
{
    struct error e;

    if (p->closed)
        return true;
    hold(p);
    p->stats.malformed++;
    error_set(&e, ERR_LIMIT, "a message of more than %zu bytes was discarded", limit);
    if (p->oldest)
        finish(p, p->oldest, NULL, &e);
    if (!p->closed)
        fault(p, PEER_TOO_LONG, (struct str){ 0 }, &e);
    return drop(p);
}

/* ---- life ---- */

struct peer *peer_new(struct loop *l, const struct peer_ops *ops, void *ctx)
{
    struct peer *p = NEW(struct peer);

    p->loop = l;
    p->ops = *ops;
    p->ctx = ctx;
    p->hard_ms = PEER_HARD_TIMEOUT_MS;
    p->out = BUF(PEER_MESSAGE_MAX);
    p->refs = 1;
    return p;
}

size_t peer_inflight(const struct peer *p)
{
    return p->inflight;
}

struct peer_stats peer_stats(const struct peer *p)
{
    return p->stats;
}

void peer_set_hard_timeout(struct peer *p, int ms)
{
    if (ms > 0 && ms < p->hard_ms)
        p->hard_ms = ms;
}

void peer_close(struct peer *p, const struct error *why)
{
    if (p->closed)
        return;
    p->closed = true;
    p->why = *why;
    hold(p);
    finish_all(p);
    drop(p);
}

void peer_free(struct peer *p)
{
    struct error e;

    if (!p || p->freed)
        return;
    error_set(&e, ERR_CLOSED, "the connection was closed");
    p->freed = true;
    peer_close(p, &e);
    /* We may be in a callback of an earlier peer_close(), and p is counted, which clang-tidy
     * cannot see. */
    finish_all(p); /* NOLINT(clang-analyzer-unix.Malloc) */
    timer_free(p->timer);
    p->timer = NULL;
    drop(p);
}
