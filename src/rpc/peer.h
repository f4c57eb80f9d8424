/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A JSON-RPC 2.0 peer: both sides may call, each with its own id space. Blind to the transport:
 * the owner feeds it lines and gives it a send function. It is the one place where deadlines,
 * cancellation, crashes, floods and late answers of calls are handled.
 *
 * Every accepted call ends in exactly one reply_fn, also when the peer closes. Nothing is
 * called back from inside peer_call(). An answer with an id that is unknown, of another type,
 * already answered, timed out or cancelled is dropped and counted. Callbacks come last, after
 * the peer is consistent: they may call it, or free it.
 */
#ifndef SYM_RPC_PEER_H
#define SYM_RPC_PEER_H

#include "loop/loop.h"
#include "rpc/message.h"

#define PEER_MAX_INFLIGHT 1024 /* open calls; one more fails with ERR_LIMIT at once */
#define PEER_HARD_TIMEOUT_MS \
    (3600 *                  \
     1000) /* no call with a timeout lives longer, whatever progress it reports (MCP-C21) */
#define PEER_NO_TIMEOUT \
    (-1) /* waits until the answer, a cancel or the end; no ceiling either */
#define PEER_MESSAGE_MAX ((size_t)32 << 20) /* bytes of one message that we send */

struct peer;

/*
 * The answer of a call. e == NULL: reply->result holds it. Otherwise the call failed: reply !=
 * NULL is the other side's error answer (code, message, data; kind ERR_INVALID); reply == NULL
 * means that none came (ERR_TIMEOUT, ERR_CLOSED, ERR_LIMIT) or that it broke the protocol
 * (ERR_PROTOCOL: both or neither of result and error, no "jsonrpc", in a batch where none may
 * be: SEC-29). `reply` is valid during the call; take a reference on reply->doc to keep views.
 */
typedef void (*reply_fn)(void *ctx, const struct rpc_msg *reply, const struct error *e);

enum peer_fault {
    PEER_NOT_JSON,     /* not valid UTF-8 JSON, or too deep */
    PEER_NOT_MESSAGE,  /* JSON, but not a JSON-RPC message; `id` may be known */
    PEER_TOO_LONG,     /* reported by the owner through peer_feed_too_long() */
    PEER_STRAY_ANSWER, /* an answer to a call that we never made; a late or second one is only
                          counted */
};

struct peer_ops {
    /* Writes one message, without the newline. False: the call fails with that error. */
    bool (*send)(void *ctx, struct str message, struct error *e);
    /* Answer it, now or later, with peer_reply() or peer_reply_error() and its id. */
    void (*on_request)(void *ctx, const struct rpc_msg *m);
    void (*on_notification)(void *ctx, const struct rpc_msg *m);
    /* A line that is no message, or a stray answer. `id` is empty when unknown. Optional. */
    void (*on_fault)(void *ctx, enum peer_fault fault, struct str id, const struct error *why);
    /* An array (batch). NULL: batches are PEER_NOT_MESSAGE. Feed the members with
     * peer_feed_value(). */
    void (*on_batch)(void *ctx, struct rpc_doc *doc);
};

struct peer_stats {
    uint64_t calls, answers; /* made; answered in time */
    uint64_t late;  /* answers to calls that had ended: timed out, cancelled, answered before */
    uint64_t stray; /* answers whose id is of no call, or of the wrong type */
    uint64_t malformed; /* lines and values that are no message */
};

struct peer *peer_new(struct loop *l, const struct peer_ops *ops, void *ctx);

/* One line. The peer may be freed by a callback: false is returned then, and the caller must
 * not touch it again. */
bool peer_feed(struct peer *p, struct str line);
bool peer_feed_value(struct peer *p, struct rpc_doc *doc, yyjson_val *v);
/* A line was too long and discarded: the oldest open call fails with ERR_LIMIT
 * (security.md 3.2). */
bool peer_feed_too_long(struct peer *p, size_t limit);

struct peer_call {
    const char *method;
    struct str params; /* JSON object text; empty: no params member */
    int timeout_ms;    /* > 0, or PEER_NO_TIMEOUT */
    bool string_id;    /* use a string id ("probe-1"), equal to no number (mcp.md 1.3) */
};

/* Returns the call's handle (> 0), or 0 with *e set, and then `done` is never called. */
uint64_t peer_call(struct peer *p, const struct peer_call *opts, reply_fn done, void *ctx,
                   struct error *e);

/* The id of a call as JSON text, for notifications/cancelled; empty when it is no longer open.
 * Valid until it ends. */
struct str peer_call_id(const struct peer *p, uint64_t call);

/* Progress came: the timeout starts again, up to PEER_HARD_TIMEOUT_MS after the call began. */
void peer_call_touch(struct peer *p, uint64_t call);

/* Ends an open call: its reply_fn gets ERR_CLOSED "cancelled" before this returns. The other
 * side is not told: that is the dialect's message. False when it is not open. */
bool peer_call_cancel(struct peer *p, uint64_t call);

/* The same by the id's JSON text, with a reason: the transport knows that no answer will come.
 */
bool peer_call_fail(struct peer *p, struct str id, const struct error *why);
/* A call with this id waits for its answer. */
bool peer_waits_for(const struct peer *p, struct str id);

bool peer_notify(struct peer *p, const char *method, struct str params, struct error *e);

/* Answers a request of the other side; `id` as received. `result` is one JSON value, `data` too
 * or empty. */
bool peer_reply(struct peer *p, struct str id, struct str result, struct error *e);
/* The same; an empty id is left out (mcp.md section 0, 10). */
bool peer_reply_error(struct peer *p, struct str id, int64_t code, struct str message,
                      struct str data, struct error *e);

size_t peer_inflight(const struct peer *p);
struct peer_stats peer_stats(const struct peer *p);

/* A lower ceiling than PEER_HARD_TIMEOUT_MS for calls made from now on. */
void peer_set_hard_timeout(struct peer *p, int ms);

/* All open calls end with `why` (copied); later calls fail with it, later input is dropped. */
void peer_close(struct peer *p, const struct error *why);
void peer_free(struct peer *p); /* closes first, with ERR_CLOSED */

#endif
