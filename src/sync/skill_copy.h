/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A skill's directory as a list of what is in it, and copies of it (docs/spec/plugins.md SY-14,
 * SY-17). All work is done on descriptors; no link is followed.
 */
#ifndef SYM_SYNC_SKILL_COPY_H
#define SYM_SYNC_SKILL_COPY_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"

#define SKILL_COPY_MAX_FILES 5000 /* entries of one skill, directories included */
#define SKILL_COPY_MAX_BYTES ((uint64_t)128 << 20)
#define SKILL_COPY_MAX_DEPTH 32

#define SKILL_IGNORE_FILE ".gitignore"

struct skill_entry {
    const char *rel;
    mode_t mode; /* type and permissions; owners of directories may always do all */
    off_t size;  /* regular files */
    struct timespec mtime;
    const char *target; /* links, else NULL */
};

struct skill_tree {
    struct skill_entry *v; /* by path: a directory stands before what is in it */
    size_t n, cap;
};

/*
 * Lists the directory, without what sync itself adds at its top (marker, .gitignore) and
 * without `.git`. ERR_INVALID names what cannot be copied: a link that leads out or nowhere, a
 * device, socket or FIFO; ERR_LIMIT: too much; ERR_SYS: something that cannot be read.
 */
bool skill_tree_read(struct skill_tree *ret, struct arena *a, int dir, struct error *e);

/* Equal entries, types, permissions and contents (SY-17). */
bool skill_tree_same(const struct skill_tree *a, int a_dir, const struct skill_tree *b,
                     int b_dir);

/* Into an empty directory, SKILL.md last, so that nobody takes half a skill for one. Times of
 * files are kept. ERR_CLOSED: the source has changed meanwhile; ERR_DENIED: something in it
 * cannot be read; else it is the copy that cannot be written. */
bool skill_tree_copy(const struct skill_tree *t, int from, int to, struct error *e);

/* The directory holds a marker, an empty file (SY-14): sync made it. */
bool skill_is_marked(int parent, const char *name);

/* Makes the directory, empty but for marker and .gitignore; its descriptor, or -1. */
int skill_make_marked(int parent, const char *name, struct error *e);

/* Removes such a directory, SKILL.md first and the marker last: killed on the way, what is left
 * is marked or empty. */
bool skill_remove_marked(int parent, const char *name);

#endif
