/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Small regular expressions whose time is at most proportional to pattern length times text
 * length, for patterns and texts that come from outside: all states are followed at once,
 * nothing is tried twice. (The C library's regcomp() takes exponential time for "a++++".)
 *
 *     a  .  [a-z_]  [^/]  \d \w \s \D \W \S  \.      one byte ("." is any)
 *     (x) (?:x)  x|y  x* x+ x?  (also x*? and so on, which find the same)
 *     ^ $                                             ends of the text
 *
 * Bytes are compared, there is no case folding and no capture. Counted repetition, references
 * back and lookaround are errors.
 */
#ifndef SYM_TEXT_REGEX_H
#define SYM_TEXT_REGEX_H

#include "base/error.h"
#include "base/str.h"

#define REGEX_MAX_BYTES 1024 /* of a pattern */
#define REGEX_MAX_DEPTH 64   /* of groups */

struct regex;

/* NULL: ERR_INVALID, ERR_LIMIT; the text tells where ("at byte N"). */
struct regex *regex_new(struct str pattern, struct error *e);
void regex_free(struct regex *re); /* NULL is accepted */

/* It is found anywhere in the text. */
bool regex_finds(const struct regex *re, struct str text);

#endif
