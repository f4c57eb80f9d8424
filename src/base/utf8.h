/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* UTF-8 by RFC 3629: overlong forms, surrogates and values over U+10FFFF are invalid. */
#ifndef SYM_BASE_UTF8_H
#define SYM_BASE_UTF8_H

#include "base/buf.h"

#define UTF8_BOM "\xef\xbb\xbf" /* a byte order mark */

bool utf8_valid(struct str s);

struct str utf8_skip_bom(
    struct str s); /* s behind the byte order mark that it may begin with */

/* Decodes one code point at the start of s (s.n >= 1). Its length, or 0 when invalid. */
size_t utf8_decode(struct str s, uint32_t *ret_cp);

/* Where a byte of a text stands: line and column (in code points), both from 1. */
struct utf8_pos {
    uint32_t line, column;
};
struct utf8_pos utf8_pos(struct str text, size_t at);

/* Appends the code point; a surrogate or a value out of range becomes U+FFFD. */
void utf8_put(struct buf *b, uint32_t cp);

/* The longest prefix of at most max bytes that does not split a code point. */
struct str utf8_cut(struct str s, size_t max);

/* Without a character at its end of which a part is missing. */
struct str utf8_whole(struct str s);

/* The longest prefix of at most max code points (an invalid byte counts as one). */
struct str utf8_cut_chars(struct str s, size_t max);

/* Appends s with each maximal invalid sequence replaced by U+FFFD. */
void utf8_put_lossy(struct buf *b, struct str s);

/*
 * Appends text made safe to show on one line (MS-65): C0 and C1 controls, ANSI CSI and OSC
 * sequences, bidi controls and zero-width characters are removed, line breaks and tabs become
 * one space, invalid bytes U+FFFD.
 */
void utf8_put_clean(struct buf *b, struct str s);

#endif
