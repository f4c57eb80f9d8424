/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A Cargo workspace: its root manifest and its members, found the way cargo finds them.
 *
 * With [workspace]: the root package, what `members` names (globs), and from each of these,
 * again and again, the path dependencies that lie beneath the root or name it as
 * `package.workspace`; minus what an `exclude` entry names, or a directory above it, unless a
 * `members` entry without wildcards names it too.
 *
 * Without: the package alone; its path dependencies are dependencies like others.
 *
 * Wildcards in `exclude` count (PM-15), although cargo itself takes them literally.
 */
#ifndef PM_CARGO_WORKSPACE_H
#define PM_CARGO_WORKSPACE_H

#include "base/map.h"
#include "manifest.h"

#define WORKSPACE_MAX_MEMBERS 4096

struct workspace_members {
    struct manifest **v; /* each is_package; the root package first, if there is one */
    size_t n, cap;
};

struct cargo_workspace {
    const struct manifest *root;
    struct workspace_members members;
    struct map by_dir; /* member by its directory */
};

/*
 * Reads the workspace whose root manifest is <dir>/Cargo.toml. ERR_NOT_FOUND when there is
 * none, ERR_INVALID when it is malformed; a malformed member is logged and left out. After a
 * success workspace_free() ends it (the rest is in the arena).
 */
bool workspace_read(struct cargo_workspace *ret, struct inputs *in, const char *dir,
                    struct error *e);
void workspace_free(struct cargo_workspace *w);

/* The member in that directory (absolute, clean), or NULL. */
const struct manifest *workspace_member(const struct cargo_workspace *w, const char *dir);

#endif
