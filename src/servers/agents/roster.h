/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which agents there are (AG-1): found once, at start, and unchanging from then on. */
#ifndef SYM_SERVERS_AGENTS_ROSTER_H
#define SYM_SERVERS_AGENTS_ROSTER_H

#include "servers/agents/definition.h"

#define ROSTER_MAX_AGENTS  1000
#define ROSTER_MAX_DEPTH   8     /* of directories below a root */
#define ROSTER_MAX_ENTRIES 10000 /* directory entries looked at, in all */
/* Names and descriptions together: they stand in tools/list. */
#define ROSTER_MAX_TEXT ((size_t)384 << 10)

struct roster {
    struct agent_def *v; /* sorted by name */
    size_t n;
    const char *workspace; /* canonical */
};

struct roster_opts {
    const struct agent_settings *settings;
    /* One line for each file that is left out, and for what is odd about one. May be NULL. */
    void (*warn)(void *ctx, const char *line);
    void *ctx;
};

/* All memory is the arena's. False only when the workspace is no directory that can be read. */
bool roster_load(struct roster *ret, struct arena *a, const char *workspace,
                 const struct roster_opts *o, struct error *e);
const struct agent_def *roster_find(const struct roster *c, struct str name);

#endif
