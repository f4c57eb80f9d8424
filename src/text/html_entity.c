/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Character references and what becomes of bytes that no page should show. */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/html_impl.h"

#define BARE_MIN       2 /* bytes of a name that is read without its ';' */
#define BARE_MAX       6
#define CODE_POINT_MAX 0x10ffff

struct entity {
    char name[HTML_ENTITY_NAME_MAX + 1];
    bool bare; /* also without ';' */
    uint32_t first, second;
};

#include "text/entities.h" /* entities[], made of entities.txt */

/* What a number from 0x80 to 0x9f means: windows-1252, as the standard has it. */
static const uint16_t c1_numbers[] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
};

static const struct entity *entity_find(struct str name)
{
    char key[sizeof entities[0].name] = { 0 };
    size_t lo = 0, hi = ARRAY_LEN(entities);

    if (name.n >= sizeof key)
        return NULL;
    memcpy(key, name.p, name.n);
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = memcmp(key, entities[mid].name, sizeof key);

        if (order == 0)
            return &entities[mid];
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

static bool is_control(uint32_t cp)
{
    return (cp < 0x20 && !html_is_space((char)cp)) || (cp >= 0x7f && cp < 0xa0);
}

static void put_char(struct buf *out, uint32_t cp)
{
    if (!is_control(cp))
        utf8_put(out, cp);
}

static unsigned digit_of(char c, unsigned base)
{
    int d = str_hex(c);

    return d >= 0 && (unsigned)d < base ? (unsigned)d : base;
}

/* s begins behind "&#". How much of it belongs to the reference, 0 when it is none. */
static size_t put_number(struct buf *out, struct str s)
{
    size_t at = s.n > 0 && (s.p[0] | 0x20) == 'x', first = at;
    unsigned base = at ? 16 : 10;
    uint32_t cp = 0;

    for (; at < s.n && digit_of(s.p[at], base) < base; at++) {
        cp = cp * base + digit_of(s.p[at], base);
        if (cp > CODE_POINT_MAX)
            cp = CODE_POINT_MAX + 1; /* stays too large, whatever follows */
    }
    if (at == first)
        return 0;
    if (cp >= 0x80 && cp <= 0x9f)
        cp = c1_numbers[cp - 0x80];
    put_char(out, cp == 0 ? 0xfffd : cp); /* utf8_put() replaces what is no character */
    return at + (at < s.n && s.p[at] == ';');
}

/* s begins behind "&". The longest name counts: the whole word with its ';', else the longest
 * of the old names that are read without one. */
static size_t put_named(struct buf *out, struct str s, enum html_chars kind)
{
    const struct entity *found = NULL;
    size_t word = 0, n;

    while (word < s.n && word <= HTML_ENTITY_NAME_MAX && ascii_alnum(s.p[word]))
        word++;
    n = word;
    if (word < s.n && s.p[word] == ';' && (found = entity_find(str_upto(s, word))))
        n++;
    for (size_t len = word < BARE_MAX ? word : BARE_MAX; !found && len >= BARE_MIN; len--) {
        found = entity_find(str_upto(s, n = len));
        if (found && !found->bare)
            found = NULL;
    }
    if (!found)
        return 0;
    /* "?a=1&copy=2" in an address is no copyright sign. */
    if (kind == CHARS_ATTR && s.p[n - 1] != ';' && n < s.n &&
        (s.p[n] == '=' || ascii_alnum(s.p[n])))
        return 0;
    put_char(out, found->first);
    if (found->second)
        put_char(out, found->second);
    return n;
}

/* Appends s, which holds no reference, without control characters and with U+FFFD for what is
 * no UTF-8. */
static void put_plain(struct buf *out, struct str s)
{
    size_t start = out->n, to = start;

    utf8_put_lossy(out, s);
    for (size_t at = start; at < out->n;) {
        unsigned char c = (unsigned char)out->p[at];
        size_t n = c == 0xc2 ? 2 : 1;

        if (is_control(n == 2 ? (unsigned char)out->p[at + 1] : c < 0x80 ? c : 0xa0)) {
            at += n;
            continue;
        }
        while (n-- > 0)
            out->p[to++] = out->p[at++];
    }
    buf_truncate(out, to);
}

/* Nothing in it has to change. */
static bool is_plain(struct str s, bool references)
{
    bool ascii = true;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c < 0x20 && !html_is_space(s.p[i])) || c == 0x7f || (references && c == '&'))
            return false;
        if (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0)
            return false;
        ascii &= c < 0x80;
    }
    return ascii || utf8_valid(s);
}

/* rest begins behind "&". How much of it belongs to the reference, 0 when it is none. */
static size_t put_reference(struct buf *out, struct str rest, enum html_chars kind)
{
    size_t n;

    if (!str_starts(rest, STR("#")))
        return put_named(out, rest, kind);
    n = put_number(out, str_from(rest, 1));
    return n > 0 ? n + 1 : 0;
}

struct str html_chars(struct str raw, enum html_chars kind, struct buf *scratch)
{
    struct str rest = raw;

    if (is_plain(raw, kind != CHARS_RAW))
        return raw;
    buf_clear(scratch);
    for (;;) {
        size_t n = kind == CHARS_RAW ? SIZE_MAX : str_find_char(rest, '&');

        put_plain(scratch, str_upto(rest, n));
        if (n >= rest.n)
            return buf_str(scratch);
        rest = str_from(rest, n + 1);
        n = put_reference(scratch, rest, kind);
        if (n == 0)
            buf_addc(scratch, '&');
        rest = str_from(rest, n);
    }
}
