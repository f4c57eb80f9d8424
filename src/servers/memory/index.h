/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A hash index over things that live elsewhere. It knows their hashes only; whoever looks one
 * up compares the candidates:
 *
 *     for (size_t at = INDEX_FIRST; (e = index_next(ix, hash, &at));)
 *         if (str_eq(e->name, name))
 *             return e;
 *
 * Hashes come from str_hash(), which is seeded: names from outside cannot pile up on one place.
 */
#ifndef SYM_SERVERS_MEMORY_INDEX_H
#define SYM_SERVERS_MEMORY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define INDEX_FIRST SIZE_MAX

struct index_slot {
    uint64_t hash;
    void *item; /* NULL: free */
};

/* Zeroed: empty. */
struct index {
    struct index_slot *v;
    size_t cap, n; /* open addressing, at most 2/3 full; cap is a power of two */
};

void index_put(struct index *ix, uint64_t hash, void *item);
void *index_next(const struct index *ix, uint64_t hash, size_t *at); /* NULL: no more */
void index_del(struct index *ix, uint64_t hash, const void *item);
void index_free(struct index *ix);

/* The items are `struct str *`. */
struct str *index_find_str(const struct index *ix, uint64_t hash, struct str s);

/* Of several hashes, in order. */
uint64_t index_mix(uint64_t a, uint64_t b);

#endif
