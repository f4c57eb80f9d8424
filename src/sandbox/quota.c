/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sandbox/quota.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAP_OVERHEAD 16 /* glibc's header and rounding beyond malloc_usable_size */

static _Noreturn void exceeded(struct quota *q)
{
    static const char frame[] = "\x1b\0\0\0{\"type\":\"memory_exhausted\"}";
    ssize_t n;

    _Static_assert(sizeof frame - 1 == 4 + 0x1b, "the length in front is that of the JSON");
    /* One small write on a socket is whole or nothing; when it fails the exit status says the
     * same. */
    n = write(q->fd, frame, sizeof frame - 1);
    (void)n;
    _exit(QUOTA_EXIT);
}

void quota_charge(struct quota *q, size_t n)
{
    if (n > q->limit - q->used)
        exceeded(q);
    q->used += n;
}

void quota_release(struct quota *q, size_t n)
{
    q->used -= n;
}

size_t quota_usable_size(const void *p)
{
    return malloc_usable_size((void *)(uintptr_t)p);
}

static size_t cost_of(void *p)
{
    return malloc_usable_size(p) + HEAP_OVERHEAD;
}

/* Books a block that malloc has just given; its real size may be over what was asked. */
static void *booked(struct quota *q, void *p)
{
    size_t cost;

    if (!p)
        exceeded(q);
    cost = cost_of(p);
    if (cost > q->limit - q->used)
        exceeded(q);
    q->used += cost;
    return p;
}

/* Before malloc is asked, so that not even an untouched gigabyte is mapped. */
static void check(struct quota *q, size_t n)
{
    if (n > q->limit - q->used)
        exceeded(q);
}

void *quota_alloc(struct quota *q, size_t n)
{
    check(q, n);
    return booked(q, malloc(n ? n : 1));
}

void *quota_zalloc(struct quota *q, size_t n)
{
    check(q, n);
    return booked(q, calloc(1, n ? n : 1));
}

void *quota_resize(struct quota *q, void *p, size_t n)
{
    size_t before;

    if (!p)
        return quota_alloc(q, n);
    before = cost_of(p);
    if (n > before)
        check(q, n - before);
    q->used -= before;
    return booked(q, realloc(p, n ? n : 1));
}

void quota_free(struct quota *q, void *p)
{
    if (!p)
        return;
    q->used -= cost_of(p);
    free(p);
}
