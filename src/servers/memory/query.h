/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The three tools that read. The views' arrays are the arena's; what they point at is the
 * graph's. */
#ifndef SYM_SERVERS_MEMORY_QUERY_H
#define SYM_SERVERS_MEMORY_QUERY_H

#include "servers/memory/output.h"
#include "servers/memory/request.h"

#define QUERY_WORDS_MAX 64 /* of a query, in the ranked search; more are not looked for */

struct query {
    const struct request *r;
    struct arena *arena;
    bool (*cancelled)(void *ctx); /* asked now and then; the view is then of no use */
    void *ctx;
};

typedef struct view (*query_fn)(const struct query *q, const struct graph *g);

struct view query_all(const struct query *q, const struct graph *g);
/* Entities with the whole query in name, type or an observation, whatever the case; if there is
 * none, those with any of its words, most words first. Relations that touch one of them. */
struct view query_search(const struct query *q, const struct graph *g);
struct view query_open(const struct query *q, const struct graph *g);

#endif
