/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The HTTP transport's inside. http_place.c: where it may connect. http_exchange.c: one request
 * and what comes of it. http.c: the link as a whole: queue, session, streams, end.
 */
#ifndef SYM_MCP_HTTP_LINK_H
#define SYM_MCP_HTTP_LINK_H

#include "loop/resolve.h"
#include "mcp/client_internal.h"
#include "text/sse.h"

#define LINK_SESSION_MAX 1024 /* bytes of a session id; a longer one is not taken */
#define LINK_ERROR_BODY  ((size_t)64 << 10) /* kept of an answer that is no success */
#define LINK_SWEEP_MS    1000 /* answered and given-up exchanges end within twice this */

/* ---- where it may connect ---- */

struct place {
    struct http_url url;
    bool loopback; /* the URL itself says so, in a form that means nothing else */
    bool proxied;
    struct netaddr *pins; /* judged addresses */
    size_t npins;
    int64_t vetted_ms;
};

/* ERR_DENIED for plain http to anywhere but loopback (MS-63). */
bool mcp_place_read(struct place *p, struct arena *a, const struct mcp_remote *r,
                    struct error *e);
/* The addresses are known, or are the proxy's business. */
bool mcp_place_is_vetted(const struct place *p);
/* Takes over what a name resolved to, if each of them may be connected to. */
bool mcp_place_vet(struct place *p, const struct mcp_remote *r, const struct netaddr *v,
                   size_t n, struct error *e);
void mcp_place_free(struct place *p);

/* ---- exchanges ---- */

enum exchange_kind {
    EXCHANGE_REQUEST, /* has an id that waits for its answer */
    EXCHANGE_NOTE,    /* a notification, or our answer to a server's request */
    EXCHANGE_STREAM,  /* GET: what a legacy server says unasked; of HTTP+SSE everything */
    EXCHANGE_DELETE,  /* the session's end */
};

enum body_kind { BODY_NONE, BODY_JSON, BODY_EVENTS, BODY_ERROR };

struct exchange {
    struct link *t;
    struct exchange *prev, *next;
    enum exchange_kind kind;
    char *id; /* JSON text; NULL: none */
    char *message;
    size_t n;
    bool handshake;   /* initialize and its notification: not held back for a session */
    bool initialized; /* that notification: others wait for its end */

    struct http_call *call; /* NULL: not under way */
    struct timer *pause;    /* set: begins, or goes on, when it fires */
    struct http_url url;    /* where it goes now */
    struct arena arena;     /* of a redirect's URL */
    unsigned redirects;
    bool bare;           /* redirected: goes without the configured headers */
    bool retried;        /* once, after the session was lost */
    unsigned session_no; /* it was sent in; 0: in none */
    bool resumes;        /* this is the GET that goes on with a stream that was cut */

    int status; /* 0: no answer yet */
    char *location, *challenge;
    enum body_kind body_kind;
    struct buf body;
    struct sse sse;
    int attempts;        /* in a row without an event */
    int64_t answered_ms; /* 0: not */

    unsigned busy;
    bool dead;
};

struct link {
    struct mcp_client *c;
    struct http *http;
    struct arena arena;
    struct place place;
    struct resolve *resolve;
    int64_t resolving_ms; /* when that began */
    struct timer *pump, *sweep, *end;
    struct exchange *first; /* oldest first */
    char *session;
    unsigned session_no; /* rises with each session */
    bool renewing;       /* the session: all but the handshake wait */
    bool sse;            /* HTTP+SSE of 2024-11-05 */
    bool has_endpoint;
    struct http_url endpoint; /* where it takes messages */
    bool wants_stream;
};

/* http_exchange.c. Both may end the client; hold it. */
struct exchange *exchange_new(struct link *t, enum exchange_kind kind);
bool exchange_start(struct exchange *x, struct error *e);
void exchange_end(struct exchange *x); /* silently */

/* http.c: what the exchanges tell. Each may end the client, and the link with it. */
void link_unreachable(struct link *t, const struct error *why);
/* No answer to this request will come. */
void link_lost(struct exchange *x, const struct error *why);
void link_session_lost(struct exchange *x);
/* An event of HTTP+SSE that names the place for messages. */
void link_on_endpoint(struct link *t, struct str reference);
/* A note, a stream: over; `why` is NULL where an answer ended it. */
void link_ended(struct exchange *x, const struct error *why);
void link_again(struct exchange *x, int wait_ms); /* goes back into the queue */
void link_set_session(struct link *t, struct str id);

#endif
