/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The files and directories of one checkout on disk (plugins/checkout.h draws them), and the
 * steps of replacing it that are not git's. */
#ifndef SYM_PM_PLACE_H
#define SYM_PM_PLACE_H

#include "plugins/checkout.h"

struct place {
    const char *dir;        /* the checkout */
    const char *lock;       /* held exclusively while dir is exchanged */
    const char *fetch_lock; /* held while fetching; its mtime says when that was tried last */
    const char *build;      /* where the new one is made; */
    const char *git_dir, *tree; /* in it */
};

void place_of(struct place *ret, struct arena *a, const char *cache_dir,
              const struct git_source *s);

/* Makes the directories around it, and opens the fetch lock: -1 with *e. */
int place_open_lock(const struct place *p, struct error *e);

/* An empty `build` with git_dir and tree in it: what a killed fetch left is removed. May take
 * long; holds nothing of the loop's. */
bool place_prepare(const struct place *p, struct error *e);
void place_clear(const struct place *p); /* the same for `build` as a whole */

/* Bytes of the packs received so far. */
uint64_t place_received(const struct place *p);

/* Into `tree`, whatever the repository has at that name. */
bool place_write_meta(const struct place *p, const struct git_source *s, struct str commit,
                      struct error *e);

enum place_swap { PLACE_SWAPPED, PLACE_BUSY, PLACE_FAILED };
/* Exchanges `tree` and `dir`; busy: somebody is reading, try again. */
enum place_swap place_exchange(const struct place *p, struct error *e);

#endif
