/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/str.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/rand.h"

struct str str_of(const char *z)
{
    return (struct str){ z, z ? strlen(z) : 0 };
}

char *str_dup(struct str s)
{
    return mem_strndup(s.p, s.n);
}

bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_upto(s, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_from(s, s.n - suffix.n), suffix);
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool str_icase_eq(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    }
    return true;
}

struct str str_from(struct str s, size_t at)
{
    if (at >= s.n)
        return (struct str){ s.p ? s.p + s.n : NULL, 0 };
    return (struct str){ s.p + at, s.n - at };
}

struct str str_upto(struct str s, size_t n)
{
    return (struct str){ s.p, n < s.n ? n : s.n };
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank(s.p[0]))
        s = str_from(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

size_t str_find(struct str s, struct str needle)
{
    const char *at;

    if (needle.n == 0)
        return 0;
    at = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_char(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

struct str str_part(struct str s, size_t from, size_t to)
{
    return (struct str){ s.p + from, to - from };
}

bool str_cut(struct str s, char sep, struct str *ret_head, struct str *ret_tail)
{
    size_t at = str_find_char(s, sep);

    if (at == SIZE_MAX)
        return false;
    *ret_head = str_upto(s, at);
    *ret_tail = str_from(s, at + 1);
    return true;
}

bool str_next(struct str *rest, char sep, struct str *ret)
{
    if (!rest->n)
        return false;
    if (!str_cut(*rest, sep, ret, rest)) {
        *ret = *rest;
        rest->n = 0;
    }
    return true;
}

int str_hex(char c)
{
    if (ascii_digit(c))
        return c - '0';
    c = (char)lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int str_percent(struct str s)
{
    int high = s.n >= 3 && s.p[0] == '%' ? str_hex(s.p[1]) : -1;
    int low = high < 0 ? -1 : str_hex(s.p[2]);

    return low < 0 ? -1 : high << 4 | low;
}

bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = s.n && s.p[0] == '-';
    int64_t value = 0;

    if (negative)
        s = str_from(s, 1);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = s.p[i] - '0';

        /* Built towards the sign, so that the smallest integer is reached without overflow. */
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    if (value < min || value > max)
        return false;
    *ret = value;
    return true;
}

unsigned str_distance(struct str a, struct str b)
{
    unsigned row[STR_DISTANCE_MAX + 1]; /* from the first i bytes of a to each start of b */

    if (a.n > STR_DISTANCE_MAX || b.n > STR_DISTANCE_MAX)
        return UINT_MAX;
    for (unsigned k = 0; k <= b.n; k++)
        row[k] = k;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned k = 1; k <= b.n; k++) {
            unsigned change = diagonal + (a.p[i - 1] != b.p[k - 1]);
            unsigned step = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;

            diagonal = row[k];
            row[k] = change < step ? change : step;
        }
    }
    return row[b.n];
}

/* ---- hashing: SipHash-1-3, keyed per process ---- */

static uint64_t hash_key[2];
static pthread_once_t hash_key_once = PTHREAD_ONCE_INIT;

static void make_hash_key(void)
{
    rand_bytes(hash_key, sizeof hash_key);
}

static inline uint64_t rotl(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] = rotl(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t str_hash(struct str s)
{
    uint64_t v[4], word;
    size_t at = 0;

    pthread_once(&hash_key_once, make_hash_key);
    v[0] = hash_key[0] ^ 0x736f6d6570736575u;
    v[1] = hash_key[1] ^ 0x646f72616e646f6du;
    v[2] = hash_key[0] ^ 0x6c7967656e657261u;
    v[3] = hash_key[1] ^ 0x7465646279746573u;
    for (; s.n - at >= sizeof word; at += sizeof word) {
        memcpy(&word, s.p + at, sizeof word);
        sip_word(v, word);
    }
    word = (uint64_t)s.n << 56;
    for (unsigned i = 0; at + i < s.n; i++)
        word |= (uint64_t)(unsigned char)s.p[at + i] << 8 * i;
    sip_word(v, word);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
