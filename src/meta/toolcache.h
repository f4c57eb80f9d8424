/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a server listed when it last ran, on disk, so that it can be described without being
 * started (MS-61). One file a server and configuration: <cache>/tools/<sha256 of the key>.json.
 * Anything unreadable, oversize or malformed counts as absent. Values of the environment are
 * never written, only their hashes.
 */
#ifndef SYM_META_TOOLCACHE_H
#define SYM_META_TOOLCACHE_H

#include "meta/toolset.h"
#include "plugins/resolve.h"

#define TOOLCACHE_MAX_BYTES ((size_t)16 << 20)

struct toolcache_entry {
    struct toolset tools;
    bool modern; /* the era the server spoke: skips the probe */
};

/* The key as JSON text: name, command as resolved, args, environment names with hashes, cwd,
 * mtime of the executable. Empty when over 4 MiB: such a server is not cached. */
struct str toolcache_key(struct arena *a, const struct active_server *s);

/* False: nothing fresh. */
bool toolcache_load(const char *cache_dir, struct str key, struct toolcache_entry *ret);

/* True when a list that toolcache_load() gave says byte for byte what would be stored now. */
bool toolcache_is_same(const struct toolset *loaded, const struct toolset *now, bool modern,
                       struct str server_info);

/* `tools` is the JSON array as the server sent it, parsed as `set`; `server_info` a JSON
 * object. Atomic, 0600. */
bool toolcache_store(const char *cache_dir, struct str key, const struct toolset *set,
                     bool modern, struct str server_info, struct error *e);

#endif
