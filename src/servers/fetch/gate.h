/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * May the tool fetch this URL? Asks the origin's robots.txt (FE-10, FE-11), which is kept for
 * at most GATE_KEEP_MS. The file is parsed, and the URL matched, on a pool thread.
 */
#ifndef SYM_SERVERS_FETCH_GATE_H
#define SYM_SERVERS_FETCH_GATE_H

#include "servers/fetch/get.h"

#define GATE_KEEP_MS       (24 * 3600 * 1000)
#define GATE_KEEP_MAX      256               /* origins */
#define GATE_KEEP_BYTES    ((size_t)8 << 20) /* of all rules; beyond it the oldest goes */
#define GATE_BODY_MAX      ((size_t)512 << 10)
#define GATE_BODY_SHOWN    ((size_t)2 << 10)
#define GATE_REDIRECTS_MAX 5

struct gate;

/* The product token of `user_agent` is what the rules are read for. Both outlive the gate. */
struct gate *gate_new(struct net *n, struct str user_agent);
void gate_free(struct gate *g); /* what was started has been cancelled */

/* Once, last, never from inside gate_start(). `refusal` is empty when the URL may be fetched,
 * else the answer to give; valid during the call. */
typedef void (*gate_fn)(void *ctx, struct str refusal);

struct gate_check;
struct gate_check *gate_start(struct gate *g, const struct http_url *url, gate_fn done,
                              void *ctx);
void gate_cancel(struct gate_check *c); /* NULL is accepted */

/* Where the robots.txt of this URL is: for who gives up waiting and must say on what. */
const char *gate_url_of(struct arena *a, const struct http_url *url);

#endif
