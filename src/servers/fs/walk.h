/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A tree read directory by directory, on descriptors: a directory is read whole when it is
 * entered, its entries are then handed out one by one. Nothing is followed, nothing is stat'ed
 * as long as the file system tells what an entry is, and what cannot be read is empty. The
 * caller decides which directories to enter; there is no recursion.
 *
 *     walk_begin(&w, c, fd, WALK_SORTED);
 *     for (;;)
 *         if (walk_next(&w)) { ...w.name...; if (walk_is_dir(&w)) walk_enter(&w); }
 *         else if (!walk_leave(&w)) break;
 *     walk_end(&w);
 */
#ifndef SYM_SERVERS_FS_WALK_H
#define SYM_SERVERS_FS_WALK_H

#include "servers/fs/fs_impl.h"

struct walk_entry;
struct walk_dir;

enum walk_order { WALK_AS_READ, WALK_SORTED };

struct walk {
    struct str name; /* of the current entry; NUL-terminated; valid until the next call */
    size_t depth;    /* of the current directory: 0 is the one begun with */
    bool cut; /* not all of the current directory was read: FS_ENTRIES_MAX, or FS_DEPTH_MAX,
                 or there were no descriptors left */
    bool ever_cut; /* the same, of any directory so far */
    /* the rest is walk.c's */
    const struct fs_call *c;
    enum walk_order order;
    struct walk_dir *dirs; /* the current one and those above it */
    struct walk_entry *entries;
    size_t nentries, entries_cap;
    struct buf names; /* of all of them, NUL-terminated */
    size_t total;     /* entries ever read */
    char *block;
};

/* Takes fd, a directory open for reading. */
void walk_begin(struct walk *w, const struct fs_call *c, int fd, enum walk_order order);

/* The next entry of the current directory; false: it has no more, or the call was cancelled. */
bool walk_next(struct walk *w);

/* The current entry is a directory, and no link to one. */
bool walk_is_dir(struct walk *w);

/* Makes the current entry, a directory, the current directory; empty if it cannot be read. */
void walk_enter(struct walk *w);

/* Back to the directory above; false: there is none. */
bool walk_leave(struct walk *w);

int walk_fd(const struct walk *w); /* of the current directory; -1 when it could not be read */

void walk_end(struct walk *w);

#endif
