/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One request to a model provider, until it is answered or given up (AG-20, AG-21): no
 * redirect, bounded bodies, retries of what is worth it. The credential is in one header of the
 * request and nowhere else; it is kept out of logs, and nothing the provider says is passed on.
 */
#ifndef SYM_SERVERS_AGENTS_PROVIDER_H
#define SYM_SERVERS_AGENTS_PROVIDER_H

#include "loop/http.h"
#include "servers/agents/fault.h"
#include "servers/agents/wire.h"

#define PROVIDER_CONNECT_MS   10000
#define PROVIDER_REQUEST_MS   120000
#define PROVIDER_RETRIES      3
#define PROVIDER_RETRY_MS     1000 /* then twice as long, and twice again */
#define PROVIDER_RETRY_MAX_MS 30000
#define PROVIDER_FEWER_TOKENS 8192 /* when max_tokens is too much for the model (AG-2) */

/* What all requests of one run share. */
struct provider {
    struct loop *loop;
    struct http *http; /* made with the first request */
    const struct agent_def *def;
    struct str credential; /* empty: none */
    int max_tokens;        /* as it turned out */
};

struct provider_call;

/* `answer`: the whole body, valid during the call; NULL and *f on failure. Once, never from
 * inside provider_start(), not after provider_cancel(). The call is gone. */
typedef void (*provider_fn)(void *ctx, yyjson_val *answer, const struct fault *f);

/* `max_tokens` may have become less when the call is done. What `r` points to must live as long
 * as the call. */
struct provider_call *provider_start(struct provider *p, const struct wire_request *r,
                                     provider_fn done, void *ctx);
void provider_cancel(struct provider_call *c); /* NULL is accepted */

#endif
