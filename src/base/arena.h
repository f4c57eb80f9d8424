/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An arena: many allocations, one free. One per request, per loaded manifest, per resolution.
 * Everything it gives is zeroed and lives until arena_free(). Not thread-safe; pass one to a
 * thread-pool job as a whole.
 */
#ifndef SYM_BASE_ARENA_H
#define SYM_BASE_ARENA_H

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used; /* bytes handed out, for accounting */
};

#define ARENA ((struct arena){ 0 })

void *arena_alloc(struct arena *a, size_t n); /* zeroed, aligned for any type */
#define ARENA_NEW(a, type)          ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_array((a), sizeof(type), (count)))
void *arena_array(struct arena *a, size_t elem, size_t count);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated behind its end */
char *arena_z(struct arena *a, struct str s);        /* same, as C string */
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a, const char *fmt, ...);

/* Growing array whose old copies stay in the arena: fine for lists of modest size. */
void *arena_grow(struct arena *a, void *p, size_t elem, size_t need, size_t *cap);
#define ARENA_PUSH(a, l)                                                        \
    (*((l)->v = arena_grow((a), (l)->v, sizeof *(l)->v, (l)->n + 1, &(l)->cap), \
       &(l)->v[(l)->n++]))

void arena_free(struct arena *a); /* frees all; usable again */
void arena_cleanup(struct arena *a);
#define auto_arena __attribute__((cleanup(arena_cleanup))) struct arena

#endif
