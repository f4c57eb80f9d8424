/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patterns applied to a walk (FS-15, FS-17): compiled once, with a state for each depth. */
#ifndef SYM_SERVERS_FS_PATTERNS_H
#define SYM_SERVERS_FS_PATTERNS_H

#include "servers/fs/fs_impl.h"
#include "text/glob_set.h"

enum patterns_for {
    PATTERNS_FOR_PATHS, /* each is for the whole path from where the walk began */
    PATTERNS_FOR_TAILS, /* one without '*' also for the end of a path */
};

struct patterns {
    struct glob_set *set;
    uint64_t *states; /* of the current directory and those above it */
    size_t words;
};

/* ERR_INVALID, ERR_LIMIT: 'Invalid pattern "<p>": <why>'. Owned by the arena. */
bool patterns_compile(struct patterns *p, struct arena *a, const struct arg_strings *all,
                      enum patterns_for what, struct error *e);

/* An entry of a directory at this depth; should the walk enter it, its state stands ready. */
struct glob_step patterns_step(struct patterns *p, size_t depth, struct str name);

#endif
