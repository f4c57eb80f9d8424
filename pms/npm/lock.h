/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * package-lock.json and npm-shrinkwrap.json, as far as direct dependencies need them. No I/O.
 *
 *     lockfileVersion 2, 3    "packages": { "<location>": { "version", "name"?, "link"?,
 *                                                           "resolved"? } }
 *     lockfileVersion 1       "dependencies": { "<key>": { "version" } }
 *
 * A location is a path relative to the root with '/': "node_modules/@s/a", "packages/x",
 * "packages/x/node_modules/b". Those of version 1 are made up in the same form.
 */
#ifndef PM_NPM_LOCK_H
#define PM_NPM_LOCK_H

#include "base/map.h"
#include "text/json.h"

#define LOCK_MAX_BYTES   ((size_t)64 << 20)
#define LOCK_MAX_ENTRIES 500000

struct npm_lock {
    struct json doc;
    struct map entries; /* by location */
    bool v1;
};

/* What the lockfile says of one dependency. Texts belong to the lock, or are the caller's key;
 * what the file says is not yet checked. */
struct lock_entry {
    struct str name;    /* the package's real name */
    struct str version; /* empty: the lockfile knows none that is a version */
    bool is_link;
    struct str target; /* of a link: the location it leads to, as written */
};

/* ERR_INVALID when it is no lockfile, ERR_LIMIT past LOCK_MAX_ENTRIES. After a success
 * lock_free() ends it. */
bool lock_parse(struct npm_lock *ret, struct str text, struct error *e);
void lock_free(struct npm_lock *l);

/*
 * The dependency `key` of the package at `from` (a location; empty: the root): the nearest
 * node_modules upward from there. False when there is none.
 */
bool lock_find(const struct npm_lock *l, struct str from, struct str key,
               struct lock_entry *ret);

#endif
