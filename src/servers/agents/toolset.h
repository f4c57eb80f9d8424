/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The tools of one run (AG-26, AG-27): which of its servers' tools the agent may use, and what
 * they are called towards the provider. Pure.
 */
#ifndef SYM_SERVERS_AGENTS_TOOLSET_H
#define SYM_SERVERS_AGENTS_TOOLSET_H

#include "servers/agents/wire.h"

#define TOOLSET_MAX             256
#define TOOLSET_SCHEMA_MAX      ((size_t)1 << 20)
#define TOOLSET_SCHEMAS_MAX     ((size_t)4 << 20) /* together */
#define TOOLSET_DESCRIPTION_MAX 4096
#define TOOLSET_NAME_MAX        64
#define TOOLSET_PART_MAX        31 /* of a name that would be longer */

struct toolset {
    struct arena *a;
    const struct agent_def *def;
    struct toolset_entry {
        struct wire_tool tool; /* name: the provider's */
        size_t server;         /* index in def->servers */
        struct str original;
    } * v;
    size_t n, cap;
    size_t bytes;              /* of schemas */
    struct wire_tool *offered; /* by toolset_close(), in the order of v */
};

/* The tools/list of one server; those that are not allowed are left out. ERR_LIMIT. */
bool toolset_add(struct toolset *t, size_t server, yyjson_val *tools, struct error *e);
/* No more: names, sorted. */
void toolset_close(struct toolset *t);
const struct toolset_entry *toolset_find(const struct toolset *t, struct str name);

/* An entry of a list of tools against a tool: its own name, "server__tool" or "server_tool",
 * with '*' for any run of characters. */
bool toolset_matches(struct str pattern, struct str server, struct str tool);

#endif
