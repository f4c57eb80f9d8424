/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A shallow walk over the members of an object's JSON text, so that a large result gets its
 * envelope without being parsed again. The text must be valid JSON of ours (trusted); of
 * anything else the walk only promises to end within it.
 *
 *     for (struct shallow m = shallow_of(text); shallow_next(&m);) uses m.key, m.val, m.text
 */
#ifndef SYM_MCP_SHALLOW_H
#define SYM_MCP_SHALLOW_H

#include "base/str.h"

struct shallow {
    const char *at, *end;
    struct str key;  /* between its quotes, escapes as written */
    struct str val;  /* JSON text */
    struct str text; /* the whole member, "key":value */
};

struct shallow shallow_of(struct str object);
bool shallow_next(struct shallow *m);

#endif
