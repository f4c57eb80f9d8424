/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One GET to one URL, as FE-13 and FE-15 want it: the name is looked up once, every address of
 * it judged, the connection made to one of these and to nothing else, the body bounded. A
 * redirect is an answer like another; whoever asked follows it by the next GET.
 */
#ifndef SYM_SERVERS_FETCH_GET_H
#define SYM_SERVERS_FETCH_GET_H

#include "base/buf.h"
#include "loop/http.h"
#include "servers/fetch/policy.h"

#define GET_SLOW_BYTES 100 /* a second, for GET_SLOW_SECS: given up */
#define GET_SLOW_SECS  10

/* The network as this server may use it; lives as long as what was started on it. */
struct net {
    struct loop *loop;
    struct http *http; /* made by the first get_start() */
    const char *proxy; /* NULL: none */
    struct policy policy;
};

void net_close(struct net *n); /* what was started has been cancelled */

struct get_request {
    const struct http_url *url;
    struct str user_agent;
    size_t max_body; /* decoded bytes */
    bool cut;        /* a longer body ends there, instead of being an error */
};

enum get_end {
    GET_OK,
    GET_REFUSED,  /* an address that may not be reached; `why` says it in FE-15's words */
    GET_TOO_LONG, /* the body */
    GET_FAILED,
};

/* Valid during get_ops.done, which may take the body. Of a redirect (with Location) and of a
 * status from 400 on, the body is not waited for. */
struct got {
    enum get_end end;
    const struct error *why; /* unless GET_OK */
    int status;
    const char *type;     /* Content-Type, "" without */
    const char *location; /* NULL: no redirect */
    struct buf body;
};

struct get_ops {
    void (*advance)(void *ctx, size_t received,
                    int64_t total);         /* optional; total -1: unknown */
    void (*done)(void *ctx, struct got *g); /* once, last, never from inside get_start() */
};

struct get;
struct get *get_start(struct net *n, const struct get_request *r, const struct get_ops *ops,
                      void *ctx);
void get_cancel(struct get *g); /* `done` is not called; NULL is accepted */

#endif
