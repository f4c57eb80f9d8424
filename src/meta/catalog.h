/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The servers in scope at one moment, with the script variables they are reached by (MS-10,
 * MS-12). A catalog is immutable and counted: a running script keeps the one it began with, and
 * with it the servers, while a newer one replaces it for everybody else (MS-60).
 */
#ifndef SYM_META_CATALOG_H
#define SYM_META_CATALOG_H

#include "meta/backend.h"

struct catalog_server {
    struct backend *backend;
    struct str name, global;
    const struct active_server *def;
};

struct catalog {
    int refs;
    struct resolution *res;   /* owned */
    struct catalog_server *v; /* sorted bytewise by name */
    size_t n;
    struct strs problems; /* of resolution and of globals, without brackets */
    struct str *globals;  /* parallel to v */
};

/* Takes the resolution. Servers of `before` (may be NULL) that are the same programs keep
 * running. */
struct catalog *catalog_new(struct backend_env *env, struct resolution *res,
                            const struct catalog *before);
struct catalog *catalog_ref(struct catalog *c);
void catalog_unref(struct catalog *c);

const struct catalog_server *catalog_by_global(const struct catalog *c, struct str global);
/* By configured name, else by global. */
const struct catalog_server *catalog_find(const struct catalog *c, struct str name);

/* One of the resolution's remarks: told by list_tools, and where nothing can run. */
bool catalog_is_remark(const struct catalog *c, struct str line);

/* Adds all problem lines: of the resolution, then of each server. */
void catalog_put_problems(const struct catalog *c, void (*line)(void *ctx, struct str text),
                          void *ctx);

#endif
