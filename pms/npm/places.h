/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the packages of a workspace are installed (PM-20), and which of them fits an id. */
#ifndef PM_NPM_PLACES_H
#define PM_NPM_PLACES_H

#include "common/offer.h"
#include "direct.h"

struct places {
    struct inputs in;
    const char *root;    /* of the workspace, clean; NULL: there is none */
    struct directs list; /* of the root, or of every workspace below it (PM-22) */
    struct map by_name;  /* number + 1 of the first direct of that name; `next` leads on */
    size_t *next;        /* number + 1 of the next one; 0: none */
    struct map members;  /* directories of members: their plugins are the workspace's own */
};

/* Reads the workspace (NULL: none). Malformed manifests are logged. The rest is in the arena
 * until places_free(). */
void places_read(struct places *ret, struct arena *a, const char *workspace);
void places_free(struct places *p);

/*
 * The installed package of that name whose version fits (id_fits); that of a direct dependency,
 * else <root>/node_modules/<name>. No member of the workspace. False: not installed.
 */
bool places_find(struct places *p, const struct id *id, struct installed *ret);

/* "*" fits all; a full version that one; a requirement what it says. With `widely` a full
 * version is a requirement too, as Cargo reads one: "1.2.3" is "^1.2.3". */
bool id_fits(struct str wanted, struct str version, bool widely);

#endif
