/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The direct dependencies of a workspace (PM-15): what its members depend on, in any way, minus
 * the members. Versions are those of Cargo.lock; a name the lockfile does not (yet) know for
 * that member has version "*", as has every name when there is no lockfile.
 */
#ifndef PM_CARGO_DIRECT_H
#define PM_CARGO_DIRECT_H

#include "common/list.h"
#include "workspace.h"

/* Adds the workspace's direct dependencies to the list; reads its lockfile through `in`. A
 * malformed lockfile is logged and counts as none. */
void direct_add(struct deps *list, struct inputs *in, const struct cargo_workspace *w);

extern const struct lister_kind cargo_lister;

#endif
