/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Bytes of the web as UTF-8 (FE-8). The encodings and their labels are those of the WHATWG
 * Encoding standard, which is what pages are written for ("latin1" means windows-1252); the
 * tables are libc's iconv. Pure and linear, for a pool thread.
 */
#ifndef SYM_SERVERS_FETCH_CHARSET_H
#define SYM_SERVERS_FETCH_CHARSET_H

#include "base/buf.h"

/* UTF-8 has at most so many bytes for one byte of any encoding here. */
#define CHARSET_GROWTH 3

/*
 * iconv's name of the encoding: the charset of the content type, else the byte order mark, else
 * a <meta> in the first 1,024 bytes, else UTF-8. A label that nobody knows is UTF-8.
 */
const char *charset_of(struct str bytes, struct str content_type);

/* Appends it as UTF-8 without byte order mark; what the encoding does not allow is U+FFFD.
 * `encoding` comes from charset_of(). */
void charset_decode(struct str bytes, const char *encoding, struct buf *out);

#endif
