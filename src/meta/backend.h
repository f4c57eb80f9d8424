/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One backing server over its whole life: started at first use, described from the cache where
 * that is fresh, restarted within a budget, closed when idle (docs/spec/meta-server.md section
 * 9).
 *
 *   COLD --use--> STARTING --handshake and tools/list--> READY --crash, idle, retire--> COLD
 *                    └-- failed start: back-off, attempts + 1 --> COLD
 *   attempts over max-server-restarts --> FAILED, for the session
 *
 * What its installations need comes before the handshake, in STARTING, outside the start-up
 * time-out (MS-59).
 *
 * Backends are counted references: each catalog snapshot holds one. Callbacks never come from
 * inside the function that asked.
 */
#ifndef SYM_META_BACKEND_H
#define SYM_META_BACKEND_H

#include "mcp/client.h"
#include "meta/names.h"
#include "plugins/resolve.h"

#define BACKEND_IDLE_MS \
    (60 * 1000) /* started only to be described: closed after this (MS-19) */
#define BACKEND_MAX_DELAY_MS (60 * 1000)
#define BACKEND_MAX_STARTS \
    8 /* starts for descriptions at a time, over all servers of a loop (MS-19) */

enum backend_state { BACKEND_COLD, BACKEND_STARTING, BACKEND_READY, BACKEND_FAILED };
const char *backend_state_name(enum backend_state s);

struct backend;
struct inventory; /* meta/inventory.h */

/* What all backends of one meta-server share; must outlive them. */
struct backend_env {
    struct loop *loop;
    const char *cache_dir; /* of the tool cache; NULL: none is read or written */
    int max_restarts;
    int stable_reset_ms;
    struct child_ladder ladder; /* orderly stop of one server */
    bool read_only;
    /* What is listed changed: tools, problems, or state; each end of a process is a change. Not
     * the place to free anything. */
    void (*on_change)(void *ctx);
    void *ctx;
    int idle_ms;         /* 0: BACKEND_IDLE_MS */
    size_t starting;     /* descriptions being started now */
    struct backend *all; /* all that still exist, retired ones too; oldest first */
};

struct backend *backend_new(struct backend_env *env, const struct active_server *def);
struct backend *backend_ref(struct backend *b);
/* The last reference shuts the server down after its calls in flight. */
void backend_unref(struct backend *b);

/* Same program: name, command, args, env, cwd (MS-60). */
bool backend_same(const struct backend *b, const struct active_server *def);
/* Takes over filters and timeouts of a new resolution. */
void backend_update(struct backend *b, const struct active_server *def);

struct str backend_name(const struct backend *b);
struct loop *backend_loop(const struct backend *b);
enum backend_state backend_state(const struct backend *b);
/* NULL while the tools are not known (no fresh cache, never listed). Valid until the loop runs
 * again. */
const struct names *backend_names(const struct backend *b);
/* The same, but NULL also while the cache has not been read. */
const struct names *backend_names_read(const struct backend *b);
/* The same with its problem lines and a count; take a reference to keep it. */
struct inventory *backend_inventory(const struct backend *b);
/* Lines about this server for Problems, without brackets, "name: ...": what its tool lists gave
 * reason for, and why it is not tried again in this session. */
void backend_put_problems(const struct backend *b, void (*line)(void *ctx, struct str text),
                          void *ctx);
/* The revision spoken; NULL while there is no connection. */
const char *backend_revision(const struct backend *b);
/* How it was reached the last time; of a server with a URL. */
const struct mcp_route *backend_route(const struct backend *b);
/* What is being installed for it now, for a person who waits; empty when nothing is. */
struct str backend_installing(const struct backend *b);

/*
 * Makes the tools known, from the cache or by starting the server. `why` NULL: backend_names()
 * is there. A server in back-off or failed answers at once, without waiting. Returns a handle
 * for backend_cancel().
 */
typedef void (*backend_known_fn)(void *ctx, const struct error *why);
uint64_t backend_describe(struct backend *b, backend_known_fn done, void *ctx);

/*
 * One call. The key is resolved as MS-45 says. `tool` is NULL when it did not resolve or the
 * server never came up. On failure `result` is NULL and *e holds the message without the
 * "server.tool: " prefix. `tool` and `result` are valid during the call.
 */
struct backend_answer {
    const struct tool *tool;
    yyjson_val *result;
    const struct error *e;
};
typedef void (*backend_answer_fn)(void *ctx, const struct backend_answer *answer);
uint64_t backend_call(struct backend *b, struct str key, struct str args,
                      backend_answer_fn done, void *ctx);

/* Ends a description or a call without its callback; a call in flight is cancelled at the
 * server. */
void backend_cancel(struct backend *b, uint64_t handle);

/* Stops every process by the ladder, all in parallel; nothing is started afterwards. */
void backends_shutdown(struct backend_env *env, struct child_ladder ladder);
/* Servers whose process has not ended. */
size_t backends_running(const struct backend_env *env);
/* The end of everything: kills what runs, frees what exists, whoever holds references. No
 * callbacks. */
void backends_free(struct backend_env *env);

#endif
