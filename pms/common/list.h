/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * list_deps (PM-15, PM-19, PM-22): the answer as JSON, kept until a lockfile, a manifest or a
 * directory it came from has another modification time in nanoseconds, size or inode.
 */
#ifndef PMS_COMMON_LIST_H
#define PMS_COMMON_LIST_H

#include "base/map.h"
#include "common/deps.h"
#include "common/inputs.h"

#define LIST_MAX_JSON ((size_t)12 << 20) /* below the protocol's 16 MiB a line (PM-1) */

/* What is found of one workspace. */
struct listing {
    struct inputs *in;   /* read everything through it; in->arena lives as long as the answer */
    struct deps *deps;   /* append here, in any order */
    struct map *members; /* put each member's directory, with any value but NULL */
    void *ctx;           /* list_collect()'s caller's */
};

struct lister_kind {
    const char *pm;       /* of the ids */
    const char *manifest; /* the file that makes a directory a workspace: "Cargo.toml" */
    /* Reads the workspace whose root is `dir` (absolute, clean). ERR_NOT_FOUND when it holds no
     * manifest; ERR_INVALID when that is malformed. */
    bool (*read)(const struct listing *l, const char *dir, struct error *e);
};

/*
 * Reads the workspace at `root`; or, when that holds no manifest, those of directories further
 * down (nested.h), each as a workspace of its own unless it is a member of one read before;
 * malformed ones of these are logged and left out.
 */
bool list_collect(const struct listing *l, const struct lister_kind *kind, const char *root,
                  struct error *e);

struct lister;

/* `workspace` is copied; NULL: there is none, and every list is empty. */
struct lister *lister_new(const struct lister_kind *kind, const char *workspace);

/*
 * An array of ids sorted by (name, version), or {"deps":[id],"watch":[path]} when it depends on
 * files that whoever asks does not find by itself. Valid until the next call. ERR_INVALID when
 * the root manifest is malformed, ERR_LIMIT.
 */
bool lister_list(struct lister *l, struct str *ret_json, struct error *e);
void lister_free(struct lister *l);

#endif
