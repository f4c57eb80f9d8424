/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The filesystem server (servers.md 4): 14 tools over the directories it was given. */
#ifndef SYM_SERVERS_FS_FS_H
#define SYM_SERVERS_FS_FS_H

#include <stdbool.h>
#include <stddef.h>

struct fs_opts {
    const char *const *dirs;
    size_t ndirs; /* 0: ".", or the roots of a client that has some (SV-26) */
    bool allow_root;
};

/* Serves on stdin and stdout; the exit status. */
int fs_run(const struct fs_opts *o);

#endif
