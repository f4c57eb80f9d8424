/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the package managers last said about a workspace, on disk (docs/spec/plugins.md CF-5):
 *
 *     <cache>/workspaces/<tail>-<8 hex of sha256(root)>/workspace-deps.json
 *     {"version":1,"root":R,"members":[D],"inputs":{PATH:{"mtime_ns","size","ino"}|null},"packages":[{pm,name,version}]}
 *
 * It holds while every input is what it was, absent ones (null) included. The file may vanish
 * or be damaged at any time.
 */
#ifndef SYM_PM_DEPS_CACHE_H
#define SYM_PM_DEPS_CACHE_H

#include "pm/inputs.h"

#define DEPS_CACHE_MAX_BYTES ((size_t)32 << 20)

struct deps_snapshot {
    struct str root;
    struct strs members;
    struct inputs inputs; /* sorted by path, each once */
    struct deps packages;
};

/* Of the workspace: <cache>/workspaces/<tail>-<8 hex>. */
const char *workspace_cache_dir(struct arena *a, const char *cache_dir, struct str root);
const char *deps_cache_path(struct arena *a, const char *cache_dir, struct str root);

/* False when the file is absent, unreadable, of another version or shape: that is no error. */
bool deps_cache_read(struct deps_snapshot *ret, struct arena *a, const char *path);

/* Atomic; makes the directory. */
bool deps_cache_write(const char *path, const struct deps_snapshot *s, struct error *e);

#endif
