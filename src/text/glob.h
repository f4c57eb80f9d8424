/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Wildcards. Two small languages, both anchored at both ends, case-sensitive and compared as
 * bytes except that one code point is one character for '?' and classes. No pattern can make
 * matching slow: time is at most proportional to pattern length times text length, with no
 * backtracking over more than the last star.
 */
#ifndef SYM_TEXT_GLOB_H
#define SYM_TEXT_GLOB_H

#include "base/error.h"
#include "base/str.h"

#define GLOB_PATTERN_MAX 1024 /* bytes; glob_check() refuses more */

/* Names (MS-16): '*' matches any run of characters, everything else matches itself. */
bool glob_name(struct str pattern, struct str name);

/*
 * Paths, as in Cargo's workspace members. Within one component: '*' any run, '?' one character,
 * '[a-z_]' one of,
 * '[!a-z]' one not of (']' first and '-' first or last stand for themselves). A component '**'
 * matches any number of whole components, none included. '/' is matched by nothing else.
 * Leading "./", doubled and trailing slashes count for nothing on either side. There is no
 * escape character: '[*]' matches a star.
 */
bool glob_path(struct str pattern, struct str path);

/* One component of such a pattern against one directory entry's name; "**" is the walker's
 * affair. */
bool glob_component(struct str pattern, struct str name);

/* False, with a reason, for a path pattern that means nothing: too long, a class without end or
 * without members,
 * '**' inside a component. The matchers take any pattern; what is senseless in it matches
 * itself. */
bool glob_check(struct str pattern, struct error *e);

/* Length of the class at the start of s, brackets included; 0 when none begins there. */
size_t glob_class(struct str s);

/* The pattern (or component) holds a wildcard; otherwise it can be compared as it is. */
bool glob_has_wildcard(struct str pattern);

#endif
