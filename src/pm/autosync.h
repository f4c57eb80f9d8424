/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Whether a workspace changed since it was last synced (docs/spec/plugins.md SY-20, CF-5): time
 * and size of the lockfiles and manifests of its root, and of its members' manifests, in
 *
 *     <cache>/workspaces/<tail>-<8 hex of sha256(root)>/state.json
 *     {"version":1,"workspace-root":R,
 *      "last-sync-lock-mtime-ns":{"Cargo.lock":{"mtime_ns":n,"size":n},"a/Cargo.toml":..}}
 *
 * No program is started. An unreadable file means that it changed.
 */
#ifndef SYM_PM_AUTOSYNC_H
#define SYM_PM_AUTOSYNC_H

#include "plugins/workspace.h"

#define AUTOSYNC_MAX_BYTES ((size_t)4 << 20) /* of state.json */

bool autosync_due(const char *cache_dir, const struct workspace *w);

/* As it is now: what a sync that is about to begin will have seen. For autosync_note(). */
struct str autosync_stamp(struct arena *a, const struct workspace *w);

/* A sync is done. `stamp` is the workspace's before it began, or empty: as it is now. */
void autosync_note(const char *cache_dir, const struct workspace *w, struct str stamp);

#endif
