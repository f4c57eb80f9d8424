/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Base64 as in RFC 4648, section 4: the standard alphabet, padded, on one line. */
#ifndef SYM_BASE_BASE64_H
#define SYM_BASE_BASE64_H

#include "base/buf.h"

/* Appends s encoded. */
void base64_put(struct buf *b, struct str s);

/* Bytes that n bytes take when encoded. */
size_t base64_length(size_t n);

#endif
