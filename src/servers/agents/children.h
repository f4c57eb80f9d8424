/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The servers of one run (AG-26): started together, their tools gathered, called, stopped.
 * They get a small environment of their own, in which no credential of a provider is.
 */
#ifndef SYM_SERVERS_AGENTS_CHILDREN_H
#define SYM_SERVERS_AGENTS_CHILDREN_H

#include "loop/loop.h"
#include "plugins/resolve.h"
#include "servers/agents/fault.h"
#include "servers/agents/toolset.h"

#define CHILDREN_STARTUP_MS  15000
#define CHILDREN_CALL_MS     60000 /* of tools/list too */
#define CHILDREN_SHUTDOWN_MS 5000

/* Where the active plugin set comes from: package managers stand above this folder. `begin`:
 * as resolving_begin() of pm/resolving.h. */
struct active_source {
    void *(*begin)(const struct active_source *s, struct loop *l,
                   void (*done)(void *ctx, struct resolution *res), void *ctx, struct error *e);
    void (*cancel)(void *resolving);
    const void *ctx;
};

struct children_opts {
    struct loop *loop;
    const struct agent_def *def;
    const char *workspace;
    const char *self; /* our executable, for the servers of ours */
    const struct active_source *active;
    const struct mcp_config *mcp;   /* the proxy and the authorities for remote ones */
    const struct strs *credentials; /* variables that no server gets (AG-26) */
};

/* One of the two, once, never from inside children_new(). */
struct children_ops {
    void (*on_ready)(void *ctx);
    void (*on_failed)(void *ctx, const struct fault *f);
};

struct children;
struct children *children_new(const struct children_opts *o, const struct children_ops *ops,
                              void *ctx); /* what *o points to must live as long */
const struct toolset *children_tools(const struct children *c); /* once ready */

/* `result` is the CallToolResult; NULL with *e set on failure. Once, but not after
 * children_cancel() and its like; never from inside. */
typedef void (*children_fn)(void *ctx, yyjson_val *result, const struct error *e);
struct children_call;
struct children_call *children_call(struct children *c, const struct toolset_entry *tool,
                                    struct str args_json, children_fn done, void *ctx);
void children_cancel(struct children_call *call); /* NULL is accepted */

/* Stops them all, in CHILDREN_SHUTDOWN_MS at most; then `done`, never from inside, and they are
 * gone. Open calls must have ended. */
void children_stop(struct children *c, void (*done)(void *ctx), void *ctx);
/* At once, without a call back. */
void children_free(struct children *c); /* NULL is accepted */

#endif
