/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The task hand-off server (docs/spec/tasks.md): tasks/service.h as seven MCP tools, resources
 * `task://<id>`, and handles of the protocol's tasks extension for modern clients (TK-60).
 */
#ifndef SYM_SERVERS_SYMM_SYMM_H
#define SYM_SERVERS_SYMM_SYMM_H

#include "plugins/config.h"

struct symm_opts {
    const struct config *config;
    const struct dirs *dirs;
    const char *cwd;  /* default workspace of tasks, absolute */
    const char *self; /* our executable */
};

/* Serves on stdin and stdout; the exit status. At the end all tasks of this process are ended
 * (TK-22). */
int symm_run(const struct symm_opts *o);

#endif
