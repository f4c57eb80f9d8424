/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Heap allocation that cannot fail: out of memory writes one line to stderr and ends the
 * process with status 3 (nothing half written: files are replaced by rename only). Every
 * outside input has a byte ceiling, so running out of memory is a fault of the machine, not of
 * an input.
 *
 * Cleanup attributes make failure paths one line: `auto_free char *p = ...;` frees at scope
 * end, `take_ptr(&p)` and `take_fd(&fd)` hand the value out and disarm the cleanup.
 */
#ifndef SYM_BASE_MEM_H
#define SYM_BASE_MEM_H

#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Once, at the start of main(): what is freed of large blocks goes back to the system. Left to
 * itself glibc keeps, after the first free of one, up to 64 MiB in the arena of each thread:
 * after a hundred files read at once a server held 400 MB instead of 5.
 */
void mem_give_back_large(void);

void *mem_alloc(size_t n);                  /* zeroed; n == 0 gives a unique pointer */
void *mem_resize(void *p, size_t n);        /* new bytes are not zeroed */
_Noreturn void mem_exhausted(void);         /* that end; for a size that overflows */
char *mem_strdup(const char *s);            /* NULL stays NULL */
char *mem_strndup(const char *s, size_t n); /* always NUL-terminated */
__attribute__((format(printf, 1, 2))) char *mem_printf(const char *fmt, ...);

/* One zeroed object of a type. */
#define NEW(type) ((type *)mem_alloc(sizeof(type)))

/*
 * Growing arrays: `struct { T *v; size_t n, cap; } list = { 0 };`
 * VEC_PUSH makes room for one more and yields the lvalue to assign; free(list.v) ends it.
 */
void *mem_grow(void *p, size_t elem, size_t need, size_t *cap);
#define VEC_PUSH(l) \
    (*((l)->v = mem_grow((l)->v, sizeof *(l)->v, (l)->n + 1, &(l)->cap), &(l)->v[(l)->n++]))

void mem_cleanup_free(void *pp);
void mem_cleanup_close(int *fd);
#define auto_free  __attribute__((cleanup(mem_cleanup_free)))
#define auto_close __attribute__((cleanup(mem_cleanup_close)))

/* take_ptr(&p): returns p and sets it to NULL. */
#define take_ptr(pp)                      \
    ({                                    \
        __typeof__(*(pp)) taken_ = *(pp); \
        *(pp) = NULL;                     \
        taken_;                           \
    })
int take_fd(int *fd);

#endif
