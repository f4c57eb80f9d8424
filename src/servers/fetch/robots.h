/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * robots.txt (RFC 9309), read for one product token and asked for one target at a time. Pure;
 * reading is linear in the text, asking linear in the rules and the target, so both may run on
 * a pool thread.
 */
#ifndef SYM_SERVERS_FETCH_ROBOTS_H
#define SYM_SERVERS_FETCH_ROBOTS_H

#include "base/str.h"

#define ROBOTS_MAX \
    ((size_t)500 << 10) /* bytes that are read; a line cut by it does not count */

struct robots;

/* `token` is compared without case with what stands before a '/' in each user-agent line. */
struct robots *robots_parse(struct str text, struct str token);

/* The target is a URL's path and query. Longest rule first, Allow before Disallow of equal
 * length; /robots.txt itself is always allowed. */
bool robots_allows(const struct robots *r, struct str target);

size_t robots_size(const struct robots *r); /* bytes of memory */
void robots_free(struct robots *r);         /* NULL is accepted */

#endif
