/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT STR("\xef\xbf\xbd")
#define CP_MAX      0x10ffff

/* What may follow a lead byte: the sequence's length and the range of its second byte (RFC
 * 3629, section 4). */
struct lead {
    unsigned char len, lo, hi;
};

static struct lead lead_of(unsigned char c)
{
    if (c < 0x80)
        return (struct lead){ 1, 0, 0 };
    if (c < 0xc2 || c > 0xf4)
        return (struct lead){ 0, 0, 0 };
    if (c < 0xe0)
        return (struct lead){ 2, 0x80, 0xbf };
    if (c < 0xf0)
        return (struct lead){ 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
    return (struct lead){ 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
}

/*
 * How many bytes at the start of s belong together: all of a valid sequence (*ret_ok), or the
 * longest beginning of one, at least 1 (not ok). The latter is what one U+FFFD stands for.
 */
static size_t sequence(struct str s, bool *ret_ok)
{
    const unsigned char *p = (const unsigned char *)s.p;
    struct lead l = lead_of(p[0]);
    size_t i = 1;

    if (l.len > 1 && s.n > 1 && p[1] >= l.lo && p[1] <= l.hi) {
        for (i = 2; i < l.len && i < s.n && (p[i] & 0xc0) == 0x80;)
            i++;
    }
    *ret_ok = l.len == i;
    return i;
}

struct str utf8_skip_bom(struct str s)
{
    return str_starts(s, STR(UTF8_BOM)) ? str_from(s, sizeof UTF8_BOM - 1) : s;
}

/* Length of the pure ASCII prefix, a word at a time. */
static size_t ascii_prefix(struct str s)
{
    size_t i = 0;
    uint64_t word;

    for (; s.n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80)
        i++;
    return i;
}

bool utf8_valid(struct str s)
{
    bool ok;

    for (;;) {
        s = str_from(s, ascii_prefix(s));
        if (s.n == 0)
            return true;
        s = str_from(s, sequence(s, &ok));
        if (!ok)
            return false;
    }
}

size_t utf8_decode(struct str s, uint32_t *ret_cp)
{
    const unsigned char *p = (const unsigned char *)s.p;
    bool ok;
    size_t n = sequence(s, &ok);

    if (!ok)
        return 0;
    switch (n) {
    case 1:
        *ret_cp = p[0];
        break;
    case 2:
        *ret_cp = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        break;
    case 3:
        *ret_cp = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        break;
    default:
        *ret_cp = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
                  (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    }
    return n;
}

void utf8_put(struct buf *b, uint32_t cp)
{
    char out[4];
    size_t n;

    if (cp < 0x80) {
        buf_addc(b, (char)cp);
        return;
    }
    if (cp > CP_MAX || (cp >= 0xd800 && cp <= 0xdfff))
        cp = 0xfffd;
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        n = 2;
    } else if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        n = 3;
    } else {
        out[0] = (char)(0xf0 | cp >> 18);
        n = 4;
    }
    for (size_t i = 1; i < n; i++)
        out[i] = (char)(0x80 | (cp >> 6 * (n - 1 - i) & 0x3f));
    buf_add(b, (struct str){ out, n });
}

struct str utf8_cut(struct str s, size_t max)
{
    bool ok;

    if (s.n <= max)
        return s;
    for (size_t back = 1; back <= 3 && back <= max; back++) {
        struct str tail = str_from(s, max - back);

        if (((unsigned char)tail.p[0] & 0xc0) == 0x80)
            continue;
        if (sequence(tail, &ok) > back && ok)
            return str_upto(s, max - back);
        break;
    }
    return str_upto(s, max);
}

struct str utf8_whole(struct str s)
{
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        unsigned char c = (unsigned char)s.p[s.n - back];
        size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

        if ((c & 0xc0) != 0x80)
            return need > back ? str_upto(s, s.n - back) : s;
    }
    return s;
}

struct str utf8_cut_chars(struct str s, size_t max)
{
    size_t at = 0, n;
    uint32_t cp;

    for (; max > 0 && at < s.n; max--) {
        n = utf8_decode(str_from(s, at), &cp);
        at += n ? n : 1;
    }
    return str_upto(s, at);
}

void utf8_put_lossy(struct buf *b, struct str s)
{
    struct str good = { s.p, 0 };
    bool ok;
    size_t n;

    while (s.n) {
        n = ascii_prefix(s);
        ok = true;
        if (n == 0)
            n = sequence(s, &ok);
        s = str_from(s, n);
        if (ok) {
            good.n += n;
            continue;
        }
        buf_add(b, good);
        buf_add(b, REPLACEMENT);
        good = (struct str){ s.p, 0 };
    }
    buf_add(b, good);
}

struct utf8_pos utf8_pos(struct str text, size_t at)
{
    struct utf8_pos pos = { .line = 1, .column = 1 };

    text = str_upto(text, at);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n')
            pos = (struct utf8_pos){ .line = pos.line + 1, .column = 1 };
        else if (((unsigned char)text.p[i] & 0xc0) != 0x80)
            pos.column++;
    }
    return pos;
}

/* ---- text safe to show ---- */

enum {
    ESC = 0x1b,
    BEL = 0x07,
    CSI = 0x9b,
    ST = 0x9c,
};

/* Ranges that never reach a screen: they hide text, reorder it, or carry it unseen. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x061c, 0x061c }, { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
    { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

static bool is_hidden(uint32_t cp)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (cp >= hidden[i].first && cp <= hidden[i].last)
            return true;
    }
    return false;
}

static bool is_break(uint32_t cp)
{
    return (cp >= '\t' && cp <= '\r') || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f);
}

/* A body: parameters from lo to hi, intermediates from ' ' to '/', one final byte. */
static size_t escape_body(struct str s, char lo, char hi, char final)
{
    size_t i = 0;

    while (i < s.n && s.p[i] >= lo && s.p[i] <= hi)
        i++;
    while (i < s.n && s.p[i] >= ' ' && s.p[i] <= '/')
        i++;
    if (i < s.n && s.p[i] >= final && s.p[i] <= '~')
        i++;
    return i;
}

/* Length up to and with the terminator (BEL, ESC \, or U+009C); 0 when there is none. */
static size_t string_body(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        unsigned char next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;

        if (c == BEL)
            return i + 1;
        if ((c == ESC && next == '\\') || (c == 0xc2 && next == ST))
            return i + 2;
    }
    return 0;
}

/* The C1 control that begins a sequence at s, in its one-character or its ESC form; *ret_n is
 * its length. */
static uint32_t introducer(struct str s, uint32_t cp, size_t cp_len, size_t *ret_n)
{
    *ret_n = cp_len;
    if (cp != ESC || s.n < 2 || s.p[1] < '@' || s.p[1] > '_')
        return cp;
    *ret_n = 2;
    return (uint32_t)s.p[1] + 0x40;
}

/*
 * Length of the escape sequence at s. A string sequence (OSC, DCS, SOS, PM, APC) without
 * terminator loses only its introducer: its text stays visible, and *unterminated keeps the
 * search from being repeated.
 */
static size_t escape_length(struct str s, uint32_t cp, size_t cp_len, bool *unterminated)
{
    size_t n, body;
    uint32_t c1 = introducer(s, cp, cp_len, &n);

    if (c1 == ESC)
        return n + escape_body(str_from(s, n), ' ', '/', '0');
    if (c1 == CSI)
        return n + escape_body(str_from(s, n), '0', '?', '@');
    if (c1 == 0x90 || c1 == 0x98 || (c1 >= 0x9d && c1 <= 0x9f)) {
        body = *unterminated ? 0 : string_body(str_from(s, n));
        *unterminated = body == 0;
        return n + body;
    }
    return n;
}

void utf8_put_clean(struct buf *b, struct str s)
{
    bool unterminated = false, ok;
    size_t start = b->n;
    uint32_t cp = 0;

    while (s.n) {
        size_t n = sequence(s, &ok);

        if (!ok) {
            buf_add(b, REPLACEMENT);
        } else if (utf8_decode(s, &cp) && is_break(cp)) {
            if (b->n == start || b->p[b->n - 1] != ' ')
                buf_addc(b, ' ');
        } else if (is_control(cp)) {
            n = escape_length(s, cp, n, &unterminated);
        } else if (!is_hidden(cp)) {
            buf_add(b, str_upto(s, n));
        }
        s = str_from(s, n);
    }
}
