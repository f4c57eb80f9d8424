/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A peer with open calls reads hostile lines. Byte 0: which calls are open and whether batches
 * are taken; the rest: lines. Whatever comes, each call ends exactly once, and everything the
 * peer writes is valid JSON on one line.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/peer.h"

#define CALLS 6

struct world {
    struct peer *peer;
    int done[CALLS];
};

static bool send_(void *ctx, struct str message, struct error *e)
{
    struct json j;

    (void)ctx;
    if (memchr(message.p, '\n', message.n) || !json_parse(&j, message, e))
        abort();
    json_free(&j);
    return true;
}

/* Echoes id, method and params: what was read must be writable again. */
static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct world *w = ctx;
    struct buf b = BUF(PEER_MESSAGE_MAX);

    if (!m->id.n)
        abort();
    json_put_val(&b, m->params);
    peer_reply(w->peer, m->id, m->params ? buf_str(&b) : STR("{}"), NULL);
    peer_reply_error(w->peer, m->id, RPC_METHOD_NOT_FOUND, m->method, (struct str){ 0 }, NULL);
    buf_free(&b);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    (void)ctx;
    if (m->id.n)
        abort();
}

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    struct world *w = ctx;

    (void)fault;
    if (why->kind == ERR_NONE)
        abort();
    peer_reply_error(w->peer, id, RPC_INVALID_REQUEST, str_of(why->msg), (struct str){ 0 },
                     NULL);
}

static void on_batch(void *ctx, struct rpc_doc *doc)
{
    struct world *w = ctx;

    for (struct json_iter it = json_iter(doc->json.root); json_next(&it);)
        peer_feed_value(w->peer, doc, it.val);
}

static void done(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    if (!reply && !e)
        abort();
    (*(int *)ctx)++;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    static struct loop *loop;
    struct peer_ops ops = { send_, on_request, on_notification, on_fault, NULL };
    struct world w = { 0 };
    struct str in, line;

    if (!loop)
        loop = loop_new();
    if (n < 1)
        return 0;
    if (data[0] & 0x80)
        ops.on_batch = on_batch;
    w.peer = peer_new(loop, &ops, &w);
    for (int i = 0; i < CALLS; i++) {
        struct peer_call c = { .method = "m",
                               .timeout_ms = 1000,
                               .string_id = data[0] & 1 << i };

        peer_call(w.peer, &c, done, &w.done[i], NULL);
    }
    in = (struct str){ (const char *)data + 1, n - 1 };
    while (str_cut(in, '\n', &line, &in)) {
        if (str_is(line, "too long"))
            peer_feed_too_long(w.peer, 1);
        else
            peer_feed(w.peer, line);
    }
    peer_feed(w.peer, in);
    peer_free(w.peer);
    /* Lets go of the timer: what stays allocated makes libFuzzer look for leaks, each time. */
    loop_run(loop);
    for (int i = 0; i < CALLS; i++) {
        if (w.done[i] != 1)
            abort();
    }
    return 0;
}
