/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which workspace a directory belongs to, and its members (docs/spec/plugins.md CF-2). */
#ifndef SYM_PLUGINS_WORKSPACE_H
#define SYM_PLUGINS_WORKSPACE_H

#include "base/file.h"
#include "plugins/plugin.h"

#define WORKSPACE_MAX_MANIFEST ((size_t)1 << 20)  /* bytes of one Cargo.toml, package.json */
#define WORKSPACE_MAX_BYTES    ((size_t)16 << 20) /* of all manifests read in one search */
#define WORKSPACE_MAX_MEMBERS  2000               /* further ones are not seen */
#define WORKSPACE_MAX_DIRS     5000               /* directories that member globs look into */
#define WORKSPACE_MAX_STEPS    10000 /* patterns and directories named, in one search */
#define WORKSPACE_MAX_EXCLUDES 200   /* patterns that take members away; further ones do not */

struct watched {
    struct str path;
    bool existence_only;     /* its content may change freely (.git) */
    struct file_stamp stamp; /* as it was just before the decision read it */
};

/* Every path that a decision looked at, absent ones included: what must be watched (MS-60).
 * Insertion order, no duplicates. Start from zero; all memory is the arena's. */
struct watch_list {
    struct watched *v;
    size_t n, cap;
    uint32_t *index; /* open addressing by path: place + 1 */
    size_t index_cap;
};

/* Call it before reading the path, so that a change in between is seen later. Returns the
 * stamp: `exists` answers the commonest question without another system call. */
struct file_stamp watch_add(struct watch_list *w, struct arena *a, const char *path);
struct file_stamp watch_existence(struct watch_list *w, struct arena *a, const char *path);

/* True when a path changed since it was added (mtime, size, inode, existence). */
bool watch_stale(const struct watched *v, size_t n);

struct workspace {
    struct str root;     /* canonical; the start directory when there is none */
    bool found;          /* some marker was found */
    bool cargo, npm;     /* which manifests the root (or a directory below, PM-22) holds */
    struct strs members; /* canonical directories beneath root, sorted, root not included */
};

/* `start` is the cwd or --workspace. ERR_NOT_FOUND when it is no directory. A manifest that
 * does not parse declares no members; that is for its own tool to report. */
bool workspace_find(struct workspace *ret, const char *start, struct arena *a,
                    struct watch_list *watch, struct error *e);

#endif
