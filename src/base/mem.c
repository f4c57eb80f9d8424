/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/mem.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROW_FIRST     8 /* elements of a list's first allocation */
#define EXIT_NO_MEMORY 3
#define LARGE          (1 << 20) /* bytes of a block that has pages of its own */

void mem_exhausted(void)
{
    static const char line[] = "symposium: out of memory\n";

    /* stdio may allocate; write(2) does not. Nothing is left to do if it fails. */
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        _exit(EXIT_NO_MEMORY);
    _exit(EXIT_NO_MEMORY);
}

void mem_give_back_large(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

void *mem_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);

    if (!p)
        mem_exhausted();
    return p;
}

void *mem_resize(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        mem_exhausted();
    return q;
}

char *mem_strdup(const char *s)
{
    return s ? mem_strndup(s, strlen(s)) : NULL;
}

char *mem_strndup(const char *s, size_t n)
{
    char *p;

    if (n == SIZE_MAX)
        mem_exhausted();
    p = mem_resize(NULL, n + 1);
    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

char *mem_printf(const char *fmt, ...)
{
    char *p = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&p, fmt, ap);
    va_end(ap);
    if (n < 0)
        mem_exhausted();
    return p;
}

void *mem_grow(void *p, size_t elem, size_t need, size_t *cap)
{
    size_t want = *cap < GROW_FIRST / 2 ? GROW_FIRST : *cap * 2, bytes;

    if (need <= *cap)
        return p;
    if (want < need)
        want = need;
    if (__builtin_mul_overflow(want, elem, &bytes))
        mem_exhausted();
    *cap = want;
    return mem_resize(p, bytes);
}

void mem_cleanup_free(void *pp)
{
    void *p;

    memcpy(&p, pp, sizeof p); /* pp points to a pointer of any type */
    free(p);
}

void mem_cleanup_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    errno = saved;
}

int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}
