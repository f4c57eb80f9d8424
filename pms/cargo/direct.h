/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The direct dependencies of a workspace (PM-15): what its members depend on, in any way, minus
 * the members. Versions are those of Cargo.lock; a name the lockfile does not (yet) know for
 * that member has version "*", as has every name when there is no lockfile.
 */
#ifndef PM_CARGO_DIRECT_H
#define PM_CARGO_DIRECT_H

#include "workspace.h"

struct direct {
    struct str name, version;
};

struct directs {
    struct direct *v; /* directs_sort(): bytewise by (name, version), each once */
    size_t n, cap;
};

/* Adds the workspace's direct dependencies to the list; reads its lockfile through `in`. A
 * malformed lockfile is logged and counts as none. */
void directs_add(struct directs *list, struct inputs *in, const struct cargo_workspace *w);
void directs_sort(struct directs *list);

#endif
