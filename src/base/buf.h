/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A growing byte buffer that cannot exist without a ceiling. Appending never fails visibly:
 * what would pass `max` is dropped whole, `over` is set, and later appends are dropped too, so
 * a writer of many pieces checks once, at the end, with buf_ok(). The bytes are always followed
 * by a NUL that is not counted.
 *
 *     struct buf out = BUF(MAX_LINE);
 *     buf_addf(&out, "%d", n);
 *     if (!buf_ok(&out, e)) ...
 *     buf_free(&out);
 */
#ifndef SYM_BASE_BUF_H
#define SYM_BASE_BUF_H

#include "base/error.h"
#include "base/str.h"

struct buf {
    char *p; /* NULL until the first append */
    size_t n, cap;
    size_t max; /* most bytes it may ever hold */
    bool over;  /* something was dropped */
};

#define BUF(max_bytes) ((struct buf){ .max = (max_bytes) })

void buf_add(struct buf *b, struct str s);
void buf_addz(struct buf *b, const char *z);
void buf_addc(struct buf *b, char c);
__attribute__((format(printf, 2, 3))) void buf_addf(struct buf *b, const char *fmt, ...);
void buf_fill(struct buf *b, char c, size_t times);

/* Appends, and drops from the front what passes max: the last bytes are there, never `over`. */
void buf_add_last(struct buf *b, struct str s);

/* Room for n more bytes to be written directly at b->p + b->n (the caller then adds to b->n);
 * NULL and `over` when that would pass max. */
char *buf_room(struct buf *b, size_t n);

/* True when nothing was dropped; else ERR_LIMIT "more than N bytes". */
bool buf_ok(const struct buf *b, struct error *e);

struct str buf_str(const struct buf *b);
const char *buf_z(const struct buf *b); /* never NULL */
void buf_clear(struct buf *b);          /* empty, memory kept, `over` reset */
void buf_drop_front(struct buf *b, size_t n);
void buf_truncate(struct buf *b, size_t n);  /* keeps the first n bytes; n <= b->n */
void buf_free(struct buf *b);                /* empty, memory gone; usable again */
char *buf_take(struct buf *b);               /* owned NUL-terminated bytes; b is empty after */
void buf_swap(struct buf *x, struct buf *y); /* ceilings too */

void buf_cleanup(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_cleanup))) struct buf

#endif
