/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The packages that the workspace has to do with: all that its lockfiles name, direct
 * dependencies or not, and all that lie at a path: members, their path dependencies and those
 * of these, [patch] entries with a path.
 */
#ifndef PM_CARGO_CATALOG_H
#define PM_CARGO_CATALOG_H

#include "common/expand.h"

#define CATALOG_MAX_PATHS 4096 /* packages at paths; further ones are left out and logged */

struct known {
    struct str name, version;
    struct str source; /* as in the lockfile, without "#commit"; empty at a path */
    struct str commit; /* of a git source */
    const char *path;  /* its directory, absolute and clean; NULL for others */
    bool direct;       /* a direct dependency of a member (PM-15) */
    const struct known *same_name;
};

struct catalog;

struct catalog *catalog_new(const char *workspace); /* NULL: none, always empty */
void catalog_free(struct catalog *c);

/* Reads it, or reads it anew when something it came from has changed: true, and what was found
 * before is gone. Once a request. */
bool catalog_refresh(struct catalog *c);

/* The roots of the workspaces that were read: the one, or those below it (PM-22). */
const struct dir_list *catalog_roots(const struct catalog *c);

/* The first of the packages of that name, '-' and '_' being the same (PL-20); NULL: none. */
const struct known *catalog_find(const struct catalog *c, struct str name);

#endif
