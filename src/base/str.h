/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Slices. A `struct str` borrows bytes that live elsewhere; it is passed by value, may hold NUL
 * bytes and is not NUL-terminated. The empty slice may have p == NULL. To keep one, copy it
 * (arena_str, str_dup).
 */
#ifndef SYM_BASE_STR_H
#define SYM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(lit) ((struct str){ "" lit, sizeof(lit) - 1 })
/* For printf: "%.*s" with STR_F(s). */
#define STR_F(s) (int)(s).n, (s).n ? (s).p : ""

struct str str_of(const char *z); /* NULL gives the empty slice */
char *str_dup(struct str s);      /* owned, NUL-terminated */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *z);
int str_cmp(struct str a, struct str b); /* bytewise; shorter first */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
bool str_icase_eq(struct str a, struct str b);    /* ASCII only */
struct str str_from(struct str s, size_t at);     /* bytes from `at`; empty past the end */
struct str str_upto(struct str s, size_t n);      /* at most the first n bytes */
struct str str_trim(struct str s);                /* ASCII white space at both ends */
bool str_has_control(struct str s);               /* a byte below ' ', or DEL */
size_t str_find(struct str s, struct str needle); /* offset or SIZE_MAX */
size_t str_find_char(struct str s, char c);       /* offset or SIZE_MAX */

struct str str_part(struct str s, size_t from, size_t to); /* [from, to), both within s */

/* Splits at the first `sep`; false (outputs untouched) when there is none. */
bool str_cut(struct str s, char sep, struct str *ret_head, struct str *ret_tail);

/* Takes the next piece, up to `sep` or the end, off *rest; false when nothing is left. Behind a
 * last `sep` stands no piece: "a//b/" has three. */
bool str_next(struct str *rest, char sep, struct str *ret);

/* Whole slice is a decimal integer in range, optional '-', no blanks. */
bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *ret);

/* ASCII, whatever the locale. */
static inline bool ascii_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_alnum(int c)
{
    return ascii_digit(c) || ascii_letter(c);
}

/* The value of a hex digit of either case, -1 when it is none. */
int str_hex(char c);

/* The byte that "%XX" at the start of s stands for, -1 when none does. */
int str_percent(struct str s);

/* Letters to insert, drop or change until one is the other (Levenshtein), for "did you mean";
 * UINT_MAX when one is longer than STR_DISTANCE_MAX. Time is the product of the lengths. */
#define STR_DISTANCE_MAX 64
unsigned str_distance(struct str a, struct str b);

/* Seeded per process: names come from outside, and a table must not be floodable. */
uint64_t str_hash(struct str s);

#endif
