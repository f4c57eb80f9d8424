/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * slots[] holds the entries in order of insertion; index[] is an open-addressed table of slot
 * numbers + 1, twice as large as slots[], so a probe always meets a 0. A removed entry keeps
 * its slot and its index place (a tombstone) until slots[] is full and rebuild() compacts both.
 */
#define SLOTS_FIRST 8
#define SLOTS_LAST  (UINT32_MAX / 4) /* an index entry is 32 bits */

/* The index place of the key, or of the 0 where its probe ended. */
static size_t probe(const struct map *m, struct str key, uint64_t hash)
{
    size_t mask = m->index_cap - 1;
    size_t i = (size_t)hash & mask;

    for (; m->index[i]; i = (i + 1) & mask) {
        const struct map_slot *s = &m->slots[m->index[i] - 1];

        if (s->key.p && s->hash == hash && str_eq(s->key, key))
            break;
    }
    return i;
}

static struct map_slot *find(const struct map *m, struct str key)
{
    size_t i;

    if (m->live == 0)
        return NULL;
    i = probe(m, key, str_hash(key));
    return m->index[i] ? &m->slots[m->index[i] - 1] : NULL;
}

/* Drops removed slots, doubles the room unless that alone freed a quarter, and indexes anew. */
static void rebuild(struct map *m)
{
    size_t cap = m->slots_cap ? m->slots_cap : SLOTS_FIRST, n = 0;

    if (m->slots_cap && m->live > m->slots_cap / 4 * 3)
        cap *= 2;
    if (cap > SLOTS_LAST)
        mem_exhausted();
    for (size_t i = 0; i < m->nslots; i++) {
        if (m->slots[i].key.p)
            m->slots[n++] = m->slots[i];
    }
    m->nslots = n;
    m->slots = mem_resize(m->slots, cap * sizeof *m->slots);
    m->slots_cap = cap;
    free(m->index);
    m->index_cap = cap * 2;
    m->index = mem_alloc(m->index_cap * sizeof *m->index);
    for (size_t i = 0; i < n; i++)
        m->index[probe(m, m->slots[i].key, m->slots[i].hash)] = (uint32_t)i + 1;
}

void *map_get(const struct map *m, struct str key)
{
    struct map_slot *s = find(m, key);

    return s ? s->value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
    return find(m, key) != NULL;
}

void *map_put(struct map *m, struct str key, void *value)
{
    struct map_slot *s = find(m, key);
    uint64_t hash;

    if (s) {
        void *former = s->value;

        s->value = value;
        return former;
    }
    if (m->nslots == m->slots_cap)
        rebuild(m);
    hash = str_hash(key);
    m->index[probe(m, key, hash)] = (uint32_t)m->nslots + 1;
    m->slots[m->nslots++] = (struct map_slot){ { str_dup(key), key.n }, value, hash };
    m->live++;
    return NULL;
}

void *map_del(struct map *m, struct str key)
{
    struct map_slot *s = find(m, key);
    void *former;

    if (!s)
        return NULL;
    former = s->value;
    free((char *)s->key.p);
    *s = (struct map_slot){ 0 };
    m->live--;
    return former;
}

size_t map_count(const struct map *m)
{
    return m->live;
}

bool map_next(const struct map *m, size_t *i, struct str *ret_key, void **ret_value)
{
    while (*i < m->nslots) {
        const struct map_slot *s = &m->slots[(*i)++];

        if (!s->key.p)
            continue;
        if (ret_key)
            *ret_key = s->key;
        if (ret_value)
            *ret_value = s->value;
        return true;
    }
    return false;
}

void map_free(struct map *m)
{
    for (size_t i = 0; i < m->nslots; i++)
        free((char *)m->slots[i].key.p);
    free(m->slots);
    free(m->index);
    *m = MAP;
}
