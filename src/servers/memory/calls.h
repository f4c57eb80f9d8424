/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tool calls as jobs. Readings run beside each other and beside a mutation; mutations wait for
 * one another on the loop's thread, so that no more than one of them holds a thread of the
 * pool.
 */
#ifndef SYM_SERVERS_MEMORY_CALLS_H
#define SYM_SERVERS_MEMORY_CALLS_H

#include "servers/memory/mutate.h"
#include "servers/memory/query.h"
#include "servers/memory/service.h"

struct mutation {
    request_fn arguments;
    mutate_fn run;
};

struct reading {
    request_fn arguments;
    query_fn run;
};

void calls_mutate(struct memory *m, struct mcp_req *r, yyjson_val *args,
                  const struct mutation *what);
void calls_read(struct memory *m, struct mcp_req *r, yyjson_val *args,
                const struct reading *what);

#endif
