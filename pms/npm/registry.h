/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * search and fetch (PM-21): the only methods that run npm, and so the only ones that may touch
 * the network. npm gets an empty directory to work in, so that no .npmrc of a workspace tells
 * it which registry, proxy or program to use; the user's own settings hold.
 */
#ifndef PM_NPM_REGISTRY_H
#define PM_NPM_REGISTRY_H

#include "common/offer.h"
#include "common/serve.h"
#include "installed.h"

#define SEARCH_MAX_QUERY  256 /* bytes */
#define SEARCH_MAX_HITS   10
#define SEARCH_MAX_TEXT   1024 /* bytes of a hit's description; cut */
#define SEARCH_TIMEOUT_MS (20 * 1000)
#define PACK_TIMEOUT_MS   (90 * 1000) /* with what follows within the asker's 120 s */
#define GUNZIP_TIMEOUT_MS (20 * 1000)
#define GUNZIP_MAX_BYTES  "335544320" /* 320 MiB: TAR_MAX_BYTES and the headers */

void on_search(struct request *r);

/* The installed package, or one fetched before, if its version fits; else, unless update is
 * "none", what `npm pack` gives, unpacked into the cache. */
void on_fetch(struct request *r);

/* That last part alone: `found` answers with the package, a failure is answered here. Without a
 * cache directory it is not found. */
typedef void (*package_fn)(struct request *r, const struct installed *package);
void fetch_package(struct request *r, const struct id *id, package_fn found);

/* What npm's JSON on stdout says went wrong; also used for texts that are none. */
void npm_complaint(struct str out, struct str err, struct error *e);

/* A requirement as Cargo writes it in npm's words, "^1.2, <3" as "^1.2 <3". Texts that are none
 * are ERR_INVALID. */
bool npm_range(struct str requirement, struct buf *out, struct error *e);

#endif
