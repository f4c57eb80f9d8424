/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The meta-server without a protocol: the current inventory, kept fresh, and the two tools over
 * it. `mcp-serve` puts MCP in front of it (meta/service), the commands for people use it as it
 * is.
 *
 * Freshness (MS-60): each request first asks gateway_current(). A watched path that changed
 * since the last resolution makes a new one; requests wait for it, GATEWAY_RESOLVE_MS at most,
 * and then get the last known inventory with a problem line.
 */
#ifndef SYM_META_GATEWAY_H
#define SYM_META_GATEWAY_H

#include "meta/execute.h"
#include "meta/list_tools.h"
#include "pm/git.h"

#define GATEWAY_RESOLVE_MS 5000

struct gateway;

struct gateway_opts {
    struct loop *loop;
    const struct dirs *dirs; /* must outlive the engine */
    const char *start_dir;   /* cwd or --workspace */
    /* --update, for the first resolution. none: a start makes no connection (MS-2) */
    enum update_level level;
    /* Optional. A new inventory is in force. */
    void (*on_inventory)(void *ctx);
    /* Optional. A server began or ended something: for progress lines on a terminal. */
    void (*on_server_change)(void *ctx);
    void *ctx;
};

struct gateway *gateway_new(const struct gateway_opts *o);
/* Scripts end without a reply, servers are killed. Call gateway_shutdown() first for an orderly
 * end. */
void gateway_free(struct gateway *g);

/* Works for another directory from now on. What was resolved for the former one stays in force
 * until that of the new one is there; whoever asks meanwhile waits for it. */
void gateway_move(struct gateway *g, const char *start_dir);

/* Calls fn with the current inventory (borrowed: take a reference to keep it): from inside when
 * nothing changed, else later. Returns 0 when it was called, else a handle for
 * gateway_forget(). */
typedef void (*gateway_fn)(void *ctx, struct catalog *c);
uint64_t gateway_current(struct gateway *g, gateway_fn fn, void *ctx);
void gateway_forget(struct gateway *g, uint64_t handle);

/* The inventory in force without asking for freshness; NULL before the first resolution. */
struct catalog *gateway_catalog(const struct gateway *g);
/* Configuration in force (defaults before the first resolution). */
const struct config *gateway_config(const struct gateway *g);

/* Starts the warm workers. */
void gateway_prewarm(struct gateway *g);

/* One script on the inventory; see execute_run(). */
struct execution *gateway_execute(struct gateway *g, struct catalog *c, struct str source,
                                  const struct execution_ops *ops, void *ctx);
struct str gateway_result(const struct gateway *g, struct str uri); /* p == NULL: unknown */

/* Stops all servers in parallel by the ladder and calls `done` when no process is left, or at
 * the ladder's end (MS-58). */
void gateway_shutdown(struct gateway *g, struct child_ladder ladder, void (*done)(void *ctx),
                      void *ctx);
/* The ladder of an orderly end (60 % and 90 % of shutdown-grace-secs) or of a signal or
 * hang-up. */
struct child_ladder gateway_ladder(const struct gateway *g, bool at_once);

#endif
