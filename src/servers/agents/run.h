/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One run of an agent (AG-10, AG-13, AG-14): its servers, and turn after turn as long as there
 * are messages.
 *
 *   NEXT ──message──> STARTING ──> MODEL <──> TOOLS
 *    ^ │                 │           │          │
 *    │ └─ none ─> STOPPING ─> gone   │          │
 *    └────────────── a turn ended ───┴──────────┘
 *
 * The history of the session is changed in place; a turn that fails leaves it as it was.
 */
#ifndef SYM_SERVERS_AGENTS_RUN_H
#define SYM_SERVERS_AGENTS_RUN_H

#include "servers/agents/activity.h"
#include "servers/agents/children.h"
#include "servers/agents/provider.h"

#define AGENT_RUN_FAILED_BATCHES 8                 /* in a row: the turn ends (AG-25) */
#define AGENT_RUN_OUTPUT_MAX     ((size_t)1 << 20) /* of one tool, towards the model (AG-27) */

struct run_env {
    struct loop *loop;
    const char *workspace, *self;
    const struct active_source *active;
    const struct mcp_config *mcp;
    const struct strs *credentials; /* names of the variables that hold providers' keys */
};

/* A tool that was called, for the ledger. */
struct run_call {
    struct str id, name;
    bool ended, failed;
};

struct run_ops {
    /* The next message, owned by the run from then on; NULL: none now. */
    char *(*next)(void *ctx);
    void (*on_activity)(void *ctx);
    void (*on_call)(void *ctx, const struct run_call *call);
    /* A turn ended: its text, or why it failed. */
    void (*on_turn)(void *ctx, struct str text, const struct fault *f);
    /* No message is left and the servers have ended; the run is gone. */
    void (*on_end)(void *ctx);
};

struct run_opts {
    const struct run_env *env;
    const struct agent_def *def;
    struct str system;
    struct str credential; /* copied; wiped at the end */
    struct buf *history;
    struct activity *activity;
};

struct agent_run;
/* Calls nothing back from inside. */
struct agent_run *agent_run_start(const struct run_opts *o, const struct run_ops *ops,
                                  void *ctx);

/* The turn or the start that is under way ends with run_interrupted, soon and by on_turn. */
void agent_run_interrupt(struct agent_run *r);

/* At once: nothing is called back, servers are killed. NULL is accepted. */
void agent_run_free(struct agent_run *r);

#endif
