/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of the filesystem server's tools (FS-1), and what its handlers work on. */
#ifndef SYM_SERVERS_FS_TOOLS_H
#define SYM_SERVERS_FS_TOOLS_H

#include "servers/roots.h"
#include "servers/server.h"

/* server_run()'s context. */
struct fs {
    struct server *server;
    struct roots *roots;
};

#define FS_NTOOLS 14

extern const struct tool fs_tools[FS_NTOOLS];

#endif
