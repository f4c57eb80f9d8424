/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Blocks double from FIRST to LAST bytes; a request that would waste a good part of a block
 * gets one of its own, put behind the head so that the head's rest stays in use. Blocks come
 * zeroed and are never reused.
 */
#define BLOCK_FIRST 512
#define BLOCK_LAST  (64 * 1024)
#define GROW_FIRST  128 /* bytes of a list's first allocation, but at least one element */
#define ALIGN       _Alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* of data */
    max_align_t data[];
};

static struct arena_block *block_new(size_t size)
{
    size_t bytes;
    struct arena_block *b;

    if (__builtin_add_overflow(size, sizeof *b, &bytes))
        mem_exhausted();
    b = mem_alloc(bytes);
    b->size = size;
    return b;
}

static void *block_take(struct arena_block *b, size_t n)
{
    char *p = (char *)b->data + b->used;

    b->used += n;
    return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *head = a->head, *b;
    size_t size = head ? head->size * 2 : BLOCK_FIRST;

    if (n > SIZE_MAX - ALIGN)
        mem_exhausted();
    n = n ? (n + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    a->used += n;
    if (head && n <= head->size - head->used)
        return block_take(head, n);
    if (size > BLOCK_LAST)
        size = BLOCK_LAST;
    if (head && n > size / 4) {
        b = block_new(n);
        b->next = head->next;
        head->next = b;
        return block_take(b, n);
    }
    b = block_new(n > size ? n : size);
    b->next = head;
    a->head = b;
    return block_take(b, n);
}

void *arena_array(struct arena *a, size_t elem, size_t count)
{
    size_t bytes;

    if (__builtin_mul_overflow(elem, count, &bytes))
        mem_exhausted();
    return arena_alloc(a, bytes);
}

struct str arena_str(struct arena *a, struct str s)
{
    return (struct str){ arena_z(a, s), s.n };
}

char *arena_z(struct arena *a, struct str s)
{
    char *p;

    if (s.n == SIZE_MAX)
        mem_exhausted();
    p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
    if (n > 0)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

void *arena_grow(struct arena *a, void *p, size_t elem, size_t need, size_t *cap)
{
    size_t want = *cap ? *cap * 2 : GROW_FIRST / elem;
    void *q;

    if (need <= *cap)
        return p;
    if (want < need)
        want = need;
    q = arena_array(a, elem, want);
    if (*cap)
        memcpy(q, p, *cap * elem);
    *cap = want;
    return q;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = ARENA;
}

void arena_cleanup(struct arena *a)
{
    arena_free(a);
}
