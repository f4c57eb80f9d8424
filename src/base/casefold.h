/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Text made comparable without regard to case: Unicode's simple case folding (17.0), which maps
 * one code point to one, and U+0130 to "i" and U+0307 as every lower-casing does. Two texts
 * that lower-case alike fold alike; so do a few more: both sigmas, long s, the Kelvin sign.
 */
#ifndef SYM_BASE_CASEFOLD_H
#define SYM_BASE_CASEFOLD_H

#include "base/buf.h"

uint32_t casefold(uint32_t cp); /* any value; what has no case is itself */

/* Appends s folded, at most 3/2 of its bytes; invalid bytes stay as they are. */
void casefold_put(struct buf *b, struct str s);

#endif
