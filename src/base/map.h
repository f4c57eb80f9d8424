/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hash map from byte strings to pointers. Keys are copied; values are the caller's. Iteration
 * is in order of insertion of the keys still present, so equal inputs give equal outputs.
 */
#ifndef SYM_BASE_MAP_H
#define SYM_BASE_MAP_H

#include "base/str.h"

struct map_slot {
    struct str key; /* owned by the map; p == NULL: removed */
    void *value;
    uint64_t hash;
};

struct map {
    struct map_slot *slots; /* in order of insertion */
    uint32_t *index;        /* open addressing: slot number + 1 */
    size_t nslots, slots_cap, index_cap, live;
};

#define MAP ((struct map){ 0 })

void *map_get(const struct map *m, struct str key); /* NULL when absent */
bool map_has(const struct map *m, struct str key);
void *map_put(struct map *m, struct str key,
              void *value);                   /* returns the former value or NULL */
void *map_del(struct map *m, struct str key); /* returns the former value or NULL */
size_t map_count(const struct map *m);

/* for (size_t i = 0; map_next(&m, &i, &key, &value);) - deleting the current key inside is
 * allowed. */
bool map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value);
void map_free(struct map *m); /* values are not touched */

#endif
