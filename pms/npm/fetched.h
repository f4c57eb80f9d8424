/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packages that fetch has unpacked: <cache_dir>/plugins/npm/<name>/<version>. Each directory
 * appears whole, by rename, and never changes: same id, same content (PM-7).
 */
#ifndef PM_NPM_FETCHED_H
#define PM_NPM_FETCHED_H

#include "common/offer.h"
#include "installed.h"

#define FETCHED_MAX_VERSIONS 1000 /* of one package that are looked at */

/* The highest fetched version that fits (id_fits). False when there is none, also without
 * `cache_dir`. */
bool fetched_find(struct inputs *in, const char *cache_dir, const struct id *id,
                  struct installed *ret);

/* The directory of a version; name and version are ok by name.h. */
const char *fetched_dir(struct arena *a, const char *cache_dir, struct str name,
                        struct str version);

/* A fresh directory in the cache (common/scratch.h). */
const char *fetched_temp(struct arena *a, const char *cache_dir, struct error *e);

/* Gives the unpacked package in `dir` its place. Of two processes that fetched the same the
 * first wins. */
bool fetched_keep(struct arena *a, const char *cache_dir, const char *dir,
                  const struct installed *package, struct error *e);

#endif
