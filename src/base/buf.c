/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BUF_FIRST 64 /* bytes of the first allocation */

char *buf_room(struct buf *b, size_t n)
{
    size_t need, cap;

    if (b->over || n > b->max - b->n) {
        b->over = true;
        return NULL;
    }
    need = b->n + n + 1;
    if (need == 0) /* max was SIZE_MAX: no such block exists */
        mem_exhausted();
    if (need > b->cap) {
        cap = b->cap > SIZE_MAX / 2 ? need : b->cap * 2;
        if (cap < BUF_FIRST)
            cap = BUF_FIRST;
        if (cap > b->max)
            cap = b->max + 1 ? b->max + 1 : b->max;
        if (cap < need)
            cap = need;
        b->p = mem_resize(b->p, cap);
        b->cap = cap;
    }
    b->p[b->n + n] = '\0';
    return b->p + b->n;
}

/* Where n more bytes go: the common case, room at hand, is decided without a call (cap never
 * passes max + 1). */
static inline char *place(struct buf *b, size_t n)
{
    if (!b->over && n < b->cap - b->n) {
        b->p[b->n + n] = '\0';
        return b->p + b->n;
    }
    return buf_room(b, n);
}

void buf_add(struct buf *b, struct str s)
{
    char *to = place(b, s.n);

    if (!to)
        return;
    if (s.n)
        memcpy(to, s.p, s.n);
    b->n += s.n;
}

void buf_addz(struct buf *b, const char *z)
{
    buf_add(b, str_of(z));
}

void buf_addc(struct buf *b, char c)
{
    char *to = place(b, 1);

    if (!to)
        return;
    *to = c;
    b->n++;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    char *to;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0 || !(to = buf_room(b, (size_t)n))) {
        b->over = true;
        return;
    }
    if ((size_t)n < sizeof small) {
        memcpy(to, small, (size_t)n);
    } else {
        va_start(ap, fmt);
        vsnprintf(to, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    b->n += (size_t)n;
}

void buf_fill(struct buf *b, char c, size_t times)
{
    char *to = buf_room(b, times);

    if (!to)
        return;
    memset(to, c, times);
    b->n += times;
}

bool buf_ok(const struct buf *b, struct error *e)
{
    return !b->over || error_set(e, ERR_LIMIT, "more than %zu bytes", b->max);
}

struct str buf_str(const struct buf *b)
{
    return (struct str){ b->p, b->n };
}

const char *buf_z(const struct buf *b)
{
    if (!b->p)
        return "";
    b->p[b->n] = '\0'; /* after buf_room() the caller may have used less than it asked for */
    return b->p;
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->over = false;
    if (b->p)
        b->p[0] = '\0';
}

void buf_drop_front(struct buf *b, size_t n)
{
    if (n > b->n)
        n = b->n;
    if (n == 0)
        return;
    b->n -= n;
    memmove(b->p, b->p + n, b->n);
    b->p[b->n] = '\0';
}

void buf_free(struct buf *b)
{
    free(b->p);
    *b = BUF(b->max);
}

char *buf_take(struct buf *b)
{
    char *p = b->p ? b->p : mem_alloc(1);

    p[b->n] = '\0';
    *b = BUF(b->max);
    return p;
}

void buf_add_last(struct buf *b, struct str s)
{
    if (s.n > b->max)
        s = str_from(s, s.n - b->max);
    if (b->n + s.n > b->max)
        buf_drop_front(b, b->n + s.n - b->max);
    buf_add(b, s);
}

void buf_swap(struct buf *x, struct buf *y)
{
    struct buf was = *x;

    *x = *y;
    *y = was;
}

void buf_cleanup(struct buf *b)
{
    buf_free(b);
}

void buf_truncate(struct buf *b, size_t n)
{
    if (n >= b->n)
        return;
    b->n = n;
    b->p[n] = '\0';
}
