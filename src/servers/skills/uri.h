/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* skill://<name>/<path> (SK-30): a path in percent-encoding, segment by segment. */
#ifndef SYM_SERVERS_SKILLS_URI_H
#define SYM_SERVERS_SKILLS_URI_H

#include "base/arena.h"
#include "base/buf.h"

#define SKILL_URI_MAX ((size_t)16 << 10) /* bytes; a longer one names nothing */

struct skill_uri {
    struct str name;
    struct str path; /* decoded; empty: the skill's directory itself */
    bool directory;  /* it ended with a slash, or had no path */
};

/* path may be empty; any bytes but NUL. */
void skill_uri_put(struct buf *out, struct str name, struct str path);

/* False when it is none: another scheme, a query or fragment, a bad escape, a segment that is
 * empty, "." or "..", or decodes to one with a slash or NUL. */
bool skill_uri_parse(struct arena *a, struct str uri, struct skill_uri *ret);

#endif
