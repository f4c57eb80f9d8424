/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Patterns for relative paths, compiled, and matched while a tree is walked: a walker keeps one
 * state a directory and steps with each entry's name, so a path is never read twice and a
 * directory below which nothing can match need not be opened.
 *
 * The language (servers.md FS-17) is glob_path()'s, and further: '{a,b}' stands for each of its
 * alternatives, nested and with slashes too (without a comma the braces are themselves); '**'
 * that is only a part of a component is a '*'; as the last component it matches one at least,
 * so what begins with "a/" and ends with it is what lies in a, not a. Names that begin with a
 * dot are matched like others; backslash, '!' and '#' are themselves. An empty or absolute
 * pattern matches nothing.
 *
 * Time of a step is at most proportional to the length of all patterns times the name's.
 */
#ifndef SYM_TEXT_GLOB_SET_H
#define SYM_TEXT_GLOB_SET_H

#include "base/arena.h"
#include "base/error.h"

#define GLOB_SET_ALTERNATIVES_MAX 256  /* that the braces of one pattern stand for */
#define GLOB_SET_NESTING_MAX      16   /* braces in braces */
#define GLOB_SET_PARTS_MAX        8192 /* components of all patterns, alternatives spelt out */

struct glob_set;

/* Empty: matches nothing. Owned by the arena. */
struct glob_set *glob_set_new(struct arena *a);

/* ERR_INVALID: a class or a brace without end, a NUL. ERR_LIMIT: longer than GLOB_PATTERN_MAX,
 * or one of the above. */
bool glob_set_add(struct glob_set *s, struct str pattern, struct error *e);

/* Uint64_t words of a state; the set must not grow any more. */
size_t glob_set_words(const struct glob_set *s);

/* The state of the directory that paths are relative to. */
void glob_set_start(const struct glob_set *s, uint64_t *ret_state);

struct glob_step {
    bool matches; /* the path up to and with this name */
    bool goes_on; /* something below it could */
};

/* The entry `name` of the directory with the state `from`; *to is the entry's own, should it be
 * a directory. */
struct glob_step glob_set_step(const struct glob_set *s, const uint64_t *from, struct str name,
                               uint64_t *to);

/* A whole path at once. */
bool glob_set_match(const struct glob_set *s, struct str path);

#endif
