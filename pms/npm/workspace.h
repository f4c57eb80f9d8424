/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An npm workspace: its root package.json and its members, as `workspaces` (a list, or an
 * object with `packages`) and `packages` of pnpm-workspace.yaml name them: directories beneath
 * the root that hold a package.json.
 */
#ifndef PM_NPM_WORKSPACE_H
#define PM_NPM_WORKSPACE_H

#include "base/map.h"
#include "package.h"

#define WORKSPACE_MAX_MEMBERS 4096 /* further ones are left out with a warning */

struct npm_members {
    struct npm_package **v; /* the root first, then by directory */
    size_t n, cap;
};

struct npm_workspace {
    const char *root; /* absolute, as given */
    struct npm_members members;
    struct map by_dir;  /* member by its directory and by its canonical directory */
    struct map by_name; /* member by the name it has, the root excluded */
    bool foreign;       /* pnpm, yarn or bun installs it: npm's lockfile does not count */
};

/*
 * Reads the workspace whose root manifest is <dir>/package.json. ERR_NOT_FOUND when there is
 * none, ERR_INVALID when it is malformed; a malformed member is logged and left out. After a
 * success workspace_free() ends it (the rest is in the arena).
 */
bool workspace_read(struct npm_workspace *ret, struct inputs *in, const char *dir,
                    struct error *e);
void workspace_free(struct npm_workspace *w);

/* A member, or the root, is in that directory (absolute; canonical, or as it was found). */
bool workspace_has(const struct npm_workspace *w, const char *dir);

#endif
