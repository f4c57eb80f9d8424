/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/index.h"

#include <stdlib.h>

#include "base/mem.h"

#define CAP_FIRST 64

static void place(struct index *ix, uint64_t hash, void *item)
{
    size_t mask = ix->cap - 1, at = hash & mask;

    while (ix->v[at].item)
        at = (at + 1) & mask;
    ix->v[at] = (struct index_slot){ hash, item };
}

static void grow(struct index *ix)
{
    struct index old = *ix;

    ix->cap = old.cap ? 2 * old.cap : CAP_FIRST;
    if (ix->cap > SIZE_MAX / sizeof *ix->v)
        mem_exhausted();
    ix->v = mem_alloc(ix->cap * sizeof *ix->v);
    for (size_t i = 0; i < old.cap; i++)
        if (old.v[i].item)
            place(ix, old.v[i].hash, old.v[i].item);
    free(old.v);
}

void index_put(struct index *ix, uint64_t hash, void *item)
{
    if (3 * (ix->n + 1) > 2 * ix->cap)
        grow(ix);
    place(ix, hash, item);
    ix->n++;
}

void *index_next(const struct index *ix, uint64_t hash, size_t *at)
{
    size_t mask = ix->cap - 1;

    if (!ix->cap)
        return NULL;
    for (size_t i = *at == INDEX_FIRST ? hash & mask : (*at + 1) & mask; ix->v[i].item;
         i = (i + 1) & mask) {
        if (ix->v[i].hash != hash)
            continue;
        *at = i;
        return ix->v[i].item;
    }
    return NULL;
}

/* What stood behind it in the same run moves up, so that no search ends too early. */
static void close_gap(struct index *ix, size_t gap)
{
    size_t mask = ix->cap - 1;

    for (size_t i = (gap + 1) & mask; ix->v[i].item; i = (i + 1) & mask) {
        size_t home = ix->v[i].hash & mask;

        if (((i - home) & mask) < ((i - gap) & mask))
            continue; /* its place is behind the gap */
        ix->v[gap] = ix->v[i];
        gap = i;
    }
    ix->v[gap].item = NULL;
}

void index_del(struct index *ix, uint64_t hash, const void *item)
{
    size_t at = INDEX_FIRST;
    void *found;

    while ((found = index_next(ix, hash, &at))) {
        if (found != item)
            continue;
        close_gap(ix, at);
        ix->n--;
        return;
    }
}

void index_free(struct index *ix)
{
    free(ix->v);
    *ix = (struct index){ 0 };
}

struct str *index_find_str(const struct index *ix, uint64_t hash, struct str s)
{
    size_t at = INDEX_FIRST;
    struct str *found;

    while ((found = index_next(ix, hash, &at)))
        if (str_eq(*found, s))
            return found;
    return NULL;
}

uint64_t index_mix(uint64_t a, uint64_t b)
{
    a = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
    return a ^ a >> 32;
}
