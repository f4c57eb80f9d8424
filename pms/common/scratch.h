/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Directories in which a tool works for a request. Whoever makes one removes it; what a killed
 * program left is removed by the next one that makes one at the same place.
 */
#ifndef PMS_COMMON_SCRATCH_H
#define PMS_COMMON_SCRATCH_H

#include "base/arena.h"
#include "base/error.h"

#define SCRATCH_STALE_SECS  3600  /* no request lives as long */
#define SCRATCH_MAX_SWEPT   4     /* at a time: removing is work, and somebody waits */
#define SCRATCH_MAX_ENTRIES 10000 /* of the place that are looked at */

/*
 * A fresh directory <place>/<prefix>XXXXXX, mode 0700; the place is made when it is missing.
 * Directories of ours with such a name that nobody has touched for SCRATCH_STALE_SECS go.
 */
const char *scratch_new(struct arena *a, const char *place, const char *prefix,
                        struct error *e);

/* With all in it; links are not followed. NULL is accepted. */
void scratch_remove(const char *dir);

#endif
