/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Cargo's checkouts of git repositories: <home>/git/checkouts/<repository>-<hash>/<the
 * beginning of the commit>/. A commit never changes, so what a checkout holds is looked at
 * once.
 */
#ifndef PM_CARGO_CHECKOUT_H
#define PM_CARGO_CHECKOUT_H

#include "catalog.h"

#define CHECKOUT_MAX_DEPTH 8
#define CHECKOUT_MAX_DIRS  20000

struct checkouts;

struct checkouts *checkouts_new(const char *home); /* NULL: there is none */
void checkouts_free(struct checkouts *c);

/* The directory of a package that is locked to a commit; NULL when it is not checked out.
 * Several packages of one name in a repository: that of the locked version, else the one
 * nearest to the top. */
const char *checkouts_find(struct checkouts *c, const struct known *k);

#endif
