/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Members of a Cargo or npm workspace, from its manifests alone (docs/spec/plugins.md CF-2). */
#ifndef SYM_PLUGINS_MEMBERS_H
#define SYM_PLUGINS_MEMBERS_H

#include "plugins/workspace.h"

/* What one search needs; everything read is recorded in `watch`. */
struct member_search {
    struct arena *a;    /* scratch: what is found lives here, too */
    struct arena *keep; /* of the watch list */
    struct watch_list *watch;
    unsigned dirs_left;  /* of WORKSPACE_MAX_DIRS */
    unsigned steps_left; /* of WORKSPACE_MAX_STEPS */
    size_t bytes_left;   /* of WORKSPACE_MAX_BYTES */
};

/*
 * Appends the canonical directories of the members that `root` declares, itself excluded,
 * unsorted and without duplicates: Cargo `[workspace] members` without `exclude`, and path
 * dependencies beneath the root; npm `workspaces`, in both its forms, and `packages` of
 * pnpm-workspace.yaml, with negated patterns. A
 * root that declares no workspace appends nothing. A member outside the root is not taken.
 */
void members_cargo(struct member_search *s, const char *root, struct strs *out);
void members_npm(struct member_search *s, const char *root, struct strs *out);

/* One pattern or directory more; false when there were too many. */
bool members_step(struct member_search *s);

#endif
