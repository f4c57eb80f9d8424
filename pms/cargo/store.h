/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which package an id means, and where its sources lie (PM-16). Nothing is run here and no
 * network is touched.
 *
 *     id ──> what the workspace knows of that name (catalog): the version that it uses, or the
 *            highest that fits ──> at its path; in registry/src; in a git checkout; vendored
 *        └─> it knows none: the highest on this disk that fits (shelf)
 *
 * A version of three numbers means that very one first, and what fits it as a requirement (a
 * bare number is a caret, as in Cargo.toml) only where it does not exist.
 */
#ifndef PM_CARGO_STORE_H
#define PM_CARGO_STORE_H

#include "base/arena.h"
#include "base/error.h"
#include "catalog.h"
#include "common/offer.h"
#include "text/semver.h"

/* A package whose sources are on this disk. */
struct crate {
    struct id id;    /* its own name and its exact version */
    const char *dir; /* absolute and clean, below "/" */
};

/* What would have to be fetched; empty texts: does not matter. */
struct need {
    struct str name;
    struct str requirement; /* for Cargo.toml: "=1.2.3", ">=1", "*" */
    struct str source;      /* as in a lockfile; of a package that the workspace has locked */
    struct str commit;      /* of a git source */
};

enum strictness {
    STRICT,  /* an exact version is exact: the ids of active_plugins */
    LENIENT, /* what fits it will do where that version is not locked: others */
};

struct store;

/* Both may be NULL, and are copied. `home`: cargo's. */
struct store *store_new(const char *workspace, const char *home);
void store_free(struct store *s);

/* Sees what has changed on the disk; once a request. */
void store_refresh(struct store *s);
/* The same after cargo has run: checkouts are looked at again. */
void store_renew(struct store *s);

/*
 * ERR_INVALID: the version is neither a version nor a requirement. ERR_NOT_FOUND: not on this
 * disk; then *need says what to fetch, and its name is empty when there is nothing to fetch (no
 * name that a registry could have) and lives in `a`. *ret lives until the next refresh.
 */
bool store_find(struct store *s, struct arena *a, const struct id *id, enum strictness how,
                struct crate *ret, struct need *need, struct error *e);

/* The highest on this disk that fits: where what store_find() wanted cannot be had. */
bool store_fallback(struct store *s, const struct id *id, struct crate *ret, struct error *e);

/* Where a locked package lies; false when it is not on this disk. */
bool store_locate(struct store *s, const struct known *k, struct crate *ret);

#endif
