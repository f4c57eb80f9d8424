/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A list of directory patterns as npm's `workspaces` holds it: some name directories, some take
 * them away again. Single patterns: text/glob.h. */
#ifndef SYM_TEXT_PATTERN_SET_H
#define SYM_TEXT_PATTERN_SET_H

#include "base/arena.h"

#define PATTERN_SET_MAX  500  /* of one set, braces expanded; the rest is left out */
#define PATTERN_SET_TEXT 1024 /* bytes of one; a longer one names nothing */
/* Pattern bytes times path bytes that are compared for what takes away; then it does no more.
 */
#define PATTERN_SET_WORK ((uint64_t)1 << 29)

struct pattern_list {
    struct str *v;
    size_t n, cap;
};

struct pattern_set {
    struct pattern_list yes, no; /* without "./", "/" and '!' in front */
    size_t spelt;                /* alternatives met */
    uint64_t work;
};

/*
 * Adds one pattern: `{a,b}` gives one for each; an odd number of '!' in front takes away, until
 * a later pattern names the same again. The texts live in the arena, each with a NUL behind it.
 * False when PATTERN_SET_MAX is reached.
 */
bool pattern_set_add(struct pattern_set *set, struct arena *a, struct str text);

/* A pattern takes this directory (relative to the root) away. */
bool pattern_set_deny(struct pattern_set *set, struct str rel);

#endif
