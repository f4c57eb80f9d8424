/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Names of npm packages and what a package.json says behind them. Pure text. */
#ifndef PM_NPM_NAME_H
#define PM_NPM_NAME_H

#include "base/str.h"

#define NPM_NAME_MAX 214 /* npm's own bound */

/*
 * "name" or "@scope/name" of the characters that npm takes, old names with capitals included.
 * Such a name is safe as a path below node_modules: no part is empty, begins with a dot, or is
 * "node_modules".
 */
bool npm_name_ok(struct str name);

/* A full version by semver. */
bool npm_version_ok(struct str version);

/* What stands behind a dependency's key. */
struct npm_spec {
    struct str real; /* npm:<real>@<range>: a name that is npm_name_ok; else empty */
    struct str path; /* file:, link:, portal: or a bare path: the path as written; else empty */
    bool workspace;  /* workspace:<range>: a member, by the rules of pnpm and yarn */
};

struct npm_spec npm_spec_read(struct str text);

#endif
