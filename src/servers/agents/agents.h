/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The agents server (servers.md 9): configured subagents as three tools. Each runs against the
 * model provider of its definition, with tools from servers of its own.
 */
#ifndef SYM_SERVERS_AGENTS_AGENTS_H
#define SYM_SERVERS_AGENTS_AGENTS_H

#include "plugins/config.h"
#include "servers/agents/children.h"

struct agents_opts {
    const char *workspace;
    struct str root;             /* of the workspace: where consent is given (PL-32) */
    const char *self;            /* our executable; NULL: servers of ours cannot be started */
    const struct config *config; /* [agents], [tasks] */
    const struct dirs *dirs;     /* NULL: no records, no consent */
    const struct active_source *active;
};

/* Serves on stdin and stdout; the exit status. 1, and a line on stderr: the workspace is no
 * directory (SV-7). */
int agents_run(const struct agents_opts *o);

#endif
