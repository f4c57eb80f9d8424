/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The direct dependencies of a workspace (PM-19): what its root and its members name in their
 * package.json, the members themselves left out. The version is that of the lockfile
 * (npm-shrinkwrap.json before package-lock.json), looked for from the member upward, else that
 * of the package in node_modules, else "*". A peer dependency counts when one of the two knows
 * it. The name is the package's own, also where it is installed under another.
 */
#ifndef PM_NPM_DIRECT_H
#define PM_NPM_DIRECT_H

#include "common/list.h"
#include "installed.h"
#include "workspace.h"

struct direct {
    struct str name, version; /* version "*": not known */
    struct str key;           /* what it is called in node_modules */
    const char *from;         /* the directory of the member that names it */
};

struct directs {
    struct direct *v;
    size_t n, cap;
};

/* Adds the workspace's direct dependencies to the list, one for each member that names it;
 * reads its lockfile through `in`. A malformed lockfile is logged and counts as none. */
void direct_add(struct directs *list, struct inputs *in, const struct npm_workspace *w);

extern const struct lister_kind npm_lister;

#endif
