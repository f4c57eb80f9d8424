/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the running server share: its state, its tools, its resource. */
#ifndef SYM_SERVERS_MEMORY_SERVICE_H
#define SYM_SERVERS_MEMORY_SERVICE_H

#include "servers/memory/store.h"
#include "servers/server.h"

#define MEMORY_URI "memory://knowledge-graph"

struct call;   /* calls.c */
struct follow; /* follow.c */

struct memory {
    struct store *store;
    struct server *server;
    bool stopped; /* there is no MCP server any more */

    /* Mutations, one at a time (ME-5). */
    struct call *first, **last;
    struct call *running;

    struct follow *follow; /* NULL: nobody is subscribed */
};

/* tools.c */
extern const struct tool memory_tools[];
extern const size_t memory_ntools;

/* resource.c */
void resource_list(void *ctx, struct mcp_req *r);
void resource_read(void *ctx, struct mcp_req *r, struct str uri);
bool resource_is(void *ctx, struct str uri);

/*
 * follow.c: while somebody is subscribed, changes of the file by others are noticed and told
 * (ME-24). follow_start() knows of no change before it; follow_stop() may come at any time.
 */
void follow_start(struct memory *m);
void follow_stop(struct memory *m);

/* Tells subscribers, prints warnings; what a job leaves to the loop's thread. */
void memory_changed(struct memory *m);
void memory_warn(struct memory *m);

#endif
