/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which plugins exist: directory trees of manifests (PL-1 to PL-6, PL-16), and the workspace's
 * own. A bad entry never hides its neighbours: it becomes a load_failure, and the rest is
 * loaded.
 */
#ifndef SYM_PLUGINS_REGISTRY_H
#define SYM_PLUGINS_REGISTRY_H

#include "plugins/config.h"
#include "plugins/workspace.h"

#define REGISTRY_MAX_DEPTH   16    /* directories below the root */
#define REGISTRY_MAX_ENTRIES 10000 /* plugins of one registry */
#define REGISTRY_MAX_DIRS    20000 /* directories read in one registry */

/* Of all manifests together: a parsed one takes many times its text, and a clone is not the
 * user's. */
#define REGISTRY_MAX_BYTES         ((size_t)16 << 20)
#define WORKSPACE_MAX_PLUGIN_BYTES ((size_t)2 << 20)

struct load_failure {
    struct str name; /* subpath or directory */
    struct str registry;
    struct str reason; /* "skipping <path>: <error chain>" (PL-16) */
    bool unfetched;    /* a whole registry that was never fetched */
};

struct loaded {
    struct plugins plugins; /* in the order of PL-36 */
    struct {
        struct load_failure *v;
        size_t n, cap;
    } failures;
    struct strs warnings; /* for people; something loaded all the same */
};

struct load_ctx {
    struct arena *a;
    struct watch_list *watch;
    struct loaded *out;
    size_t bytes_left; /* set by each of the functions below */
};

/*
 * All entries below `root`, sorted by subpath. A missing root is an empty registry. Directories
 * named .git are not entered; links to directories are not followed: what lies within the root
 * is found at its own place, what lies outside does not belong to it.
 */
void registry_load(struct load_ctx *l, struct str name, const char *root);

/*
 * The registries of the configuration in the order of PL-36. Of a git registry the checkout
 * that is there is read, all of it at one commit, without links that lead out of it; nothing is
 * fetched. Without one it is a failure that says what to do, of the recommendations only a
 * warning: they are not the user's doing.
 */
void registries_load(struct load_ctx *l, const struct config *config, const struct dirs *dirs);

/* Workspace root, then members by path. */
void workspace_plugins_load(struct load_ctx *l, const struct workspace *ws,
                            bool agents_syncing);

#endif
