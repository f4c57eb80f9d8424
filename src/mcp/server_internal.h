/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the server role share: the server, its requests and listens, the table of
 * methods. */
#ifndef SYM_MCP_SERVER_INTERNAL_H
#define SYM_MCP_SERVER_INTERNAL_H

#include "base/arena.h"
#include "loop/timer.h"
#include "mcp/server.h"
#include "rpc/peer.h"

/* Most bytes of one message of ours; a result that would pass it is answered -32603. */
#define MCP_MESSAGE_MAX PEER_MESSAGE_MAX

/* list_changed at most once a second (MS-75). */
#define MCP_LIST_CHANGED_MS 1000

/* Between two progress notifications of one request; with the last one, sent before the answer,
 * at most 20 a second (MS-77). */
#define MCP_PROGRESS_MS 55

#define MCP_PROGRESS_TEXT_MAX 512

/* Which rule turns a modern result into an older revision's. */
enum mcp_shape {
    SHAPE_PLAIN,
    SHAPE_CALL,
    SHAPE_TOOLS,
    SHAPE_PROMPTS,
    SHAPE_MESSAGES,
    SHAPE_RESOURCES,
    SHAPE_TEMPLATES,
    SHAPE_CONTENTS,
};

/* What a definition offers, or not. */
enum mcp_capability {
    CAP_NONE, /* always there */
    CAP_TOOLS,
    CAP_PROMPTS,
    CAP_RESOURCES,
    CAP_WATCH, /* resources.subscribe */
    CAP_EXTENSIONS,
};

/* A cacheable result of a modern revision carries ttlMs and cacheScope. */
enum mcp_cache { CACHE_NONE, CACHE_LIST, CACHE_RESOURCE };

struct method {
    const char *name;
    void (*run)(struct mcp_req *r);
    enum mcp_capability needs;
    enum mcp_cache cache;
    enum mcp_shape shape;
    bool legacy, modern; /* eras that have it */
    bool by_handler;     /* answered by the definition, so it may stay open: counts against the
                            limit */
};

const struct method *mcp_method(struct str name);
/* The row of a method of the definition's own. */
const struct method *mcp_extra_method(const struct mcp_method_def *extra);

enum req_state {
    REQ_OPEN,
    REQ_CANCELLING, /* inside its cancel function */
    REQ_ORPHAN,     /* cancelled without a cancel function: its handler will still answer, into
                       nothing */
};

struct mcp_req {
    struct mcp_server *s; /* NULL for an orphan */
    struct mcp_req *prev, *next;
    const struct method *method;
    const struct mcp_method_def *extra; /* the definition's own method, or NULL */
    enum mcp_rev rev;
    enum req_state state;
    struct arena arena;
    size_t line_n; /* of the line it came in, which lives as long as it */
    struct rpc_doc *doc;
    yyjson_val *params;
    struct str id; /* JSON text, as received */

    struct str token; /* progressToken as JSON text; empty: none */
    bool has_progress;
    double progress;    /* the last one accepted */
    struct timer *pace; /* set while the interval since the last notification runs */
    bool pending;       /* `late` waits for it */
    double total;
    struct buf late; /* message */
    struct buf late_meta;

    void (*cancel)(void *ctx);
    void *cancel_ctx;
};

/* A set of URIs, in the order they came. */
struct uris {
    struct uri {
        struct uri *next;
        char text[];
    } * first;
    size_t n;
};

/* An open subscriptions/listen. */
struct listen {
    struct listen *next;
    bool tools_changed;
    struct uris watched;
    char id[]; /* JSON text */
};

struct mcp_server {
    struct loop *loop;
    const struct mcp_server_def *def;
    void *def_ctx;
    const struct mcp_server_ops *ops;
    void *ops_ctx;
    struct peer *peer;

    struct mcp_req *reqs; /* open, newest first */
    size_t nreqs;
    size_t held;            /* bytes of the lines that open requests came in */
    size_t line_n;          /* of the line being fed */
    struct listen *listens; /* oldest first */
    size_t nlistens;

    /* Legacy session. Modern requests neither read nor write it (MCP-M16). */
    enum mcp_rev legacy_rev;
    bool negotiated;  /* initialize was answered */
    bool initialized; /* notifications/initialized came */

    bool legacy_seen, modern_seen; /* what was served; server/discover alone proves nothing */
    bool in_batch;
    bool ending;   /* freed: nothing goes out any more */
    unsigned busy; /* calls out that we come back from: memory stays until then */
    bool session_told;
    struct timer *session; /* on_session in the next loop turn, behind the answer */
    struct timer *changed_pace;
    bool changed_pending;

    struct rpc_doc *hello;   /* the last initialize, and in it */
    yyjson_val *client_caps; /* capabilities of the legacy client */

    struct uris watched; /* resources/subscribe */
    size_t nwatched;     /* subscriptions of all kinds: these and those of listens */
    struct uris updated; /* changed, and to be told when the pace allows */
    struct timer *updated_pace;

    void (*idle)(void *ctx);
    void *idle_ctx;
};

/* mcp_server_new with a context of its own for `ops`. */
struct mcp_server *mcp_server_new_split(struct loop *l, const struct mcp_server_def *def,
                                        void *def_ctx, const struct mcp_server_ops *ops,
                                        void *ops_ctx);

/* server_req.c */
struct mcp_req *mcp_req_new(struct mcp_server *s, const struct rpc_msg *m,
                            const struct method *method, enum mcp_rev rev);
void mcp_req_cancel(struct mcp_req *r);
void mcp_req_drop(struct mcp_req *r); /* ends it without an answer: it became a listen */
struct mcp_req *mcp_req_find(struct mcp_server *s, struct str id);

/* server_listen.c */
bool mcp_listen_open(struct mcp_req *r, yyjson_val *filter);
struct listen **mcp_listen_find(struct mcp_server *s, struct str id);
void mcp_listen_drop(struct mcp_server *s, struct listen **at);

/* server_watch.c */
bool mcp_uris_has(const struct uris *u, struct str uri);
/* False when it is full. A URI that is there already is not added again. */
bool mcp_uris_add(struct uris *u, struct str uri);
bool mcp_uris_remove(struct uris *u, struct str uri); /* false: it was not there */
void mcp_uris_free(struct uris *u);
bool mcp_watchable(const struct mcp_server *s, struct str uri);
/* Subscriptions were added or removed: keeps count, and tells the definition. */
void mcp_watch_count(struct mcp_server *s, size_t added, size_t removed);
void mcp_flush_updated(struct mcp_server *s);
void mcp_run_subscribe(struct mcp_req *r);
void mcp_run_unsubscribe(struct mcp_req *r);

/* server_roots.c */
bool mcp_client_has_roots(const struct mcp_server *s); /* of the legacy session */

/* server_listen.c, again */
void mcp_put_subscription(struct jw *w, const struct listen *l); /* the member _meta */

/* envelope.c: pure. */
bool mcp_offers(const struct mcp_server_def *def, enum mcp_capability cap, enum mcp_rev rev);
void mcp_put_modern_revisions(struct jw *w); /* array of their names */
void mcp_put_implementation(struct jw *w, const struct mcp_server_def *def, enum mcp_rev rev);
void mcp_put_capabilities(struct jw *w, const struct mcp_server_def *def, enum mcp_rev rev);
/* The handler's result in the form of the request's revision. False: *e says why it cannot be
 * sent. */
bool mcp_put_envelope(struct buf *out, struct str result, const struct mcp_server_def *def,
                      const struct method *method, enum mcp_rev rev, struct error *e);

#endif
