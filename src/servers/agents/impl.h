/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the agents server share. */
#ifndef SYM_SERVERS_AGENTS_IMPL_H
#define SYM_SERVERS_AGENTS_IMPL_H

#include "servers/agents/agents.h"
#include "servers/agents/sessions.h"
#include "servers/server.h"

#define AGENTS_SHUTDOWN_MS 5000 /* AG-19 */

struct waiter;

struct agents {
    const struct agents_opts *o;
    const struct server_spec *def;
    struct server *server; /* NULL: it stops */
    struct roster roster;
    struct skillset skills;
    struct run_env env;
    struct recorder *recorder;
    struct sessions *sessions;
    struct waiter *waiters;
    struct timer *last; /* of the time to stop in */
};

/* ---- calls.c: ctx is struct agents ---- */

#define AGENTS_TOOLS 3

/* The tools for this catalogue; texts live in the arena. */
void agents_tools_make(struct tool ret[AGENTS_TOOLS], struct arena *a, const struct roster *c);

/* {"kind":..., "message":...} as a tool error (AG-8). Ends the request. */
void agents_refuse(const struct agents *s, struct mcp_req *r, const struct fault *f);
/* `result`: one JSON object. Ends the request. */
void agents_accept(const struct agents *s, struct mcp_req *r, struct str result);

/* ---- wait.c ---- */

void agents_wait(void *ctx, struct mcp_req *r, yyjson_val *args);
void agents_changed(struct agents *s, struct session *session);
/* All of them are answered with what is there now. */
void agents_end_waits(struct agents *s);

#endif
