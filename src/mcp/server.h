/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An MCP server for every revision, both eras on one pipe (mcp.md 1.1). The era is decided per
 * message from its body; legacy session state (negotiated revision, initialized) is kept apart
 * from modern requests, which are stateless. This module owns the envelope: handshake,
 * server/discover, ping, _meta checks, batches, cancellation, progress, subscriptions/listen,
 * resultType, ttlMs, cacheScope, serverInfo, error codes. The definition's functions own the
 * meaning.
 *
 * A handler gets a request and answers it exactly once, now or later, with mcp_reply() or
 * mcp_reply_error(); after that, or after its cancel function was called, the request is gone.
 * Never-ending and slow requests run beside each other.
 */
#ifndef SYM_MCP_SERVER_H
#define SYM_MCP_SERVER_H

#include "loop/loop.h"
#include "mcp/era.h"
#include "text/json.h"

#define MCP_SERVER_MAX_REQUESTS 512 /* open at once; one more is answered -32603 */
#define MCP_SERVER_MAX_LISTENS  64
#define MCP_SERVER_MAX_HELD     ((size_t)64 << 20) /* text of open requests; beyond: -32603 */
#define MCP_SERVER_MAX_BATCH \
    1024                  /* messages in one 2025-03-26 array; more is answered -32600 */
#define MCP_UPDATED_MS 50 /* between two rounds of notifications/resources/updated */

#define MCP_PROGRESS_META_MAX ((size_t)8 << 10)

#define MCP_SERVER_MAX_WATCHED     256 /* URIs subscribed to in one listen, or in the session */
#define MCP_SERVER_MAX_WATCHED_URI 4096 /* bytes of such a URI */

struct mcp_req;
struct mcp_server;

enum mcp_scope { MCP_SCOPE_PRIVATE, MCP_SCOPE_PUBLIC };

/* An extension that modern clients are offered (mcp.md 8). */
struct mcp_extension {
    const char *id;
    const char *settings; /* JSON object */
};

/* A method beyond the protocol's own, for modern clients only. Its result is a cacheable one of
 * the scope of resources, unless `uncached`. */
struct mcp_method_def {
    const char *name;
    void (*run)(void *ctx, struct mcp_req *r);
    const char
        *requires; /* an extension that the request must offer, else -32021; NULL: none */
    bool uncached;
};

/*
 * What is NULL is not offered: its capability is absent and its methods are -32601. tools/list
 * alone always answers. Zero is the default of all that follows `version`.
 */
struct mcp_server_def {
    const char *name, *title, *version;
    const char *instructions; /* NULL: none */
    bool tools_list_changed;  /* advertise tools.listChanged */

    /* cacheScope of server/discover and of the lists of tools and prompts; of all that concerns
     * resources, the extra methods too (SV-13). */
    enum mcp_scope list_scope, resource_scope;

    /* Optional: once, at the first message that proves a real session (MS-2): initialize, or a
     * request other than server/discover. In the next loop turn, behind the answer. */
    void (*on_session)(void *ctx);

    /* Answer {"tools":[...]} in the modern form; the server takes away what the client's
     * revision lacks. A cursor that is not ours has been answered -32602 before (we never hand
     * one out). NULL: {"tools":[]}. */
    void (*tools_list)(void *ctx, struct mcp_req *r);
    /* `args` is an object or NULL (absent counts as {}). Answer a CallToolResult in the modern
     * form. An unknown name is -32602. */
    void (*tools_call)(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args);

    /* Both or none. Answer {"prompts":[...]}; {"messages":[...]}, where `args` is an object
     * whose values are strings, or NULL. An unknown name or a missing argument is -32602. */
    void (*prompts_list)(void *ctx, struct mcp_req *r);
    void (*prompts_get)(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args);

    bool resources_modern_only; /* legacy clients are not offered resources */
    void (*resources_list)(void *ctx, struct mcp_req *r);
    void (*resources_templates_list)(void *ctx, struct mcp_req *r);
    /* NULL: the resources capability is not offered. */
    void (*resources_read)(void *ctx, struct mcp_req *r, struct str uri);
    const char *no_resource; /* how the text of mcp_reply_no_resource() begins; NULL: "resource
                                not found" */

    /* Which URIs can be subscribed to: others are refused, or left out of what a listen
     * acknowledges. NULL: resources.subscribe is not offered. */
    bool (*resources_watchable)(void *ctx, struct str uri);
    /* Optional. The first subscription of all began, or the last one ended. Not called by
     * mcp_server_free(), and must not call it. */
    void (*resources_watched)(void *ctx, bool any);

    /* Optional: a legacy client says that its roots changed. They can be asked for from the
     * next request on. */
    void (*roots_changed)(void *ctx);

    const struct mcp_extension *extensions;
    size_t nextensions;
    const struct mcp_method_def *methods;
    size_t nmethods;

    /* Optional. The client's input ended: what would stay open for long is to be answered. */
    void (*input_ended)(void *ctx);
};

struct mcp_server_ops {
    bool (*send)(void *ctx, struct str message, struct error *e);
};

struct mcp_server *mcp_server_new(struct loop *l, const struct mcp_server_def *def,
                                  const struct mcp_server_ops *ops, void *ctx);
/* One line from the client, without newline. False: freed inside. */
bool mcp_server_feed(struct mcp_server *s, struct str line);
bool mcp_server_feed_too_long(struct mcp_server *s);

/* The bytes of our tools/list changed: tells a legacy client after its `initialized`, and each
 * listen stream that asked; at most once a second, the last change is never lost (MS-75). */
void mcp_server_tools_changed(struct mcp_server *s);

/* The content of this resource changed: one notification to a legacy session that subscribed to
 * it and one to each listen that did. At most every MCP_UPDATED_MS, the last change is never
 * lost. Does nothing without a subscription to it. */
void mcp_server_resource_updated(struct mcp_server *s, struct str uri);
/* Somebody is subscribed to it. */
bool mcp_server_watches(const struct mcp_server *s, struct str uri);

/*
 * Asks a legacy client for its roots (SV-26). `done` is called once, never from inside: `roots`
 * is its array, as sent, valid during the call; NULL when none came, with the reason (also when
 * the server is freed meanwhile). ERR_INVALID, and `done` is never called, when the client may
 * not be asked: it is modern, did not declare `roots`, has not sent `initialized`, or has no
 * request open (MCP-L9).
 */
typedef void (*mcp_roots_fn)(void *ctx, yyjson_val *roots, const struct error *e);
bool mcp_server_list_roots(struct mcp_server *s, int timeout_ms, mcp_roots_fn done, void *ctx,
                           struct error *e);

/* End of input: open listens are answered with their closing result at once (MS-3), and the
 * definition is told. */
void mcp_server_end_listens(struct mcp_server *s);
size_t mcp_server_open_requests(const struct mcp_server *s); /* without listens */
/* Called whenever the number of open requests falls to 0. */
void mcp_server_on_idle(struct mcp_server *s, void (*fn)(void *ctx), void *ctx);
/* Cancels what is open (cancel functions are called), no answers any more. */
void mcp_server_free(struct mcp_server *s);

/* ---- one request ---- */

struct arena *mcp_req_arena(struct mcp_req *r); /* lives as long as the request */
yyjson_val *mcp_req_params(const struct mcp_req *r);
bool mcp_req_wants_progress(const struct mcp_req *r);
/* Its client is one that mcp_server_list_roots() may ask. */
bool mcp_req_has_roots(const struct mcp_req *r);

/* The client of this request opted in to the extension (mcp.md 8): modern ones alone can. */
bool mcp_req_offers(const struct mcp_req *r, const char *extension);

/* `fn` is called once if the client cancels or the server ends; the request is gone when it
 * returns. A handler without one is not told: it answers as usual, into nothing. */
void mcp_req_on_cancel(struct mcp_req *r, void (*fn)(void *ctx), void *ctx);

/* notifications/progress, only when the client gave a token; `progress` must grow. message may
 * be empty; dropped for revisions without it. total <= 0: unknown. At most 20 a
 * second: of a burst the first and the last are sent, the last at the latest before the
 * answer (MS-77). */
void mcp_progress(struct mcp_req *r, double progress, double total, struct str message);
/* The same with _meta: a JSON object, at most MCP_PROGRESS_META_MAX bytes; empty: none. */
void mcp_progress_meta(struct mcp_req *r, double progress, double total, struct str message,
                       struct str meta);

/* `result` is one JSON object in the modern form; resultType, ttlMs, cacheScope and serverInfo
 * are added here, or what the revision lacks is taken away. All these free the request. */
void mcp_reply(struct mcp_req *r, struct str result);

/*
 * mcp_reply() in two halves, for a result so large that its form must not be made on the loop's
 * thread: mcp_form_put() is pure and works on any thread, as long as the server lives.
 */
struct mcp_form {
    const struct mcp_server_def *def;
    const struct method *method;
    enum mcp_rev rev;
};
struct mcp_form mcp_req_form(const struct mcp_req *r);
/* Appends what mcp_reply() would send. False: it cannot be sent, *e says why. */
bool mcp_form_put(const struct mcp_form *f, struct buf *out, struct str result,
                  struct error *e);
void mcp_reply_formed(struct mcp_req *r, struct str formed);

/* The result of tools/call that is one text: the same, without the detour through a general
 * result, since a text block looks alike in every revision. */
void mcp_reply_text(struct mcp_req *r, struct str text, bool is_error);

__attribute__((format(printf, 4, 5))) void mcp_reply_error(struct mcp_req *r, int code,
                                                           struct str data_json,
                                                           const char *fmt, ...);

/* -32021: the request would have to offer this extension; data names it. */
void mcp_reply_needs(struct mcp_req *r, const char *extension);

/* The error of resources/read for a URI that does not exist, with the code of the request's era
 * and, unless it is absurdly long, data.uri. */
void mcp_reply_no_resource(struct mcp_req *r, struct str uri);

#endif
