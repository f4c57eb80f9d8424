/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A path beneath the roots taken one component at a time (SV-23): where openat2 is missing, and
 * where it says no, to follow links from root to root and to find the words for the refusal. It
 * never opens anything but O_PATH | O_NOFOLLOW under a descriptor it holds, so that whoever
 * moves things meanwhile can make it fail but not leave the roots.
 */
#ifndef SYM_SERVERS_ACCESS_WALK_H
#define SYM_SERVERS_ACCESS_WALK_H

#include <limits.h>

#include "base/buf.h"
#include "servers/access.h"

enum walk_goal {
    WALK_FILE,   /* what the path leads to; it must exist */
    WALK_ITSELF, /* the last component, also when it is a link; it must exist */
    WALK_ENTRY,  /* the last component itself; it may be missing */
    WALK_TARGET, /* a link as last component is followed; what it leads to may be missing */
};

struct walked {
    int fd;                  /* O_PATH; -1 when missing */
    int dir;                 /* O_PATH, holds `name`; -1 when the path led to a directory
                                otherwise than by its name ("link -> ..") */
    char name[NAME_MAX + 1]; /* "" with dir == -1 */
    const struct access_root *root;
    struct buf rel; /* links resolved, "" is the root itself */
    bool by_link;   /* the last component was a link, and followed */
};

/* The caller ends *ret with walked_free() whatever was returned. Errors as access_open(). */
bool access_walk(const struct access *x, const struct access_at *at, enum walk_goal goal,
                 struct walked *ret, struct error *e);
void walked_free(struct walked *w);

#define auto_walked __attribute__((cleanup(walked_free))) struct walked

/* "Failed to access <path>: <errno>"; false. */
bool access_failed(const struct access_at *at, struct error *e);

#endif
