/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The files that come with a skill (SK-8, SK-9). */
#ifndef SYM_SERVERS_SKILLS_MANIFEST_H
#define SYM_SERVERS_SKILLS_MANIFEST_H

#include "servers/skills/place.h"

#define MANIFEST_MAX_FILES   1000
#define MANIFEST_MAX_DEPTH   8     /* of directories, the skill's own children being 0 */
#define MANIFEST_MAX_ENTRIES 20000 /* directory entries looked at */

struct manifest {
    struct str *v; /* relative paths, sorted */
    size_t n;
};

/*
 * Regular files beneath the skill's directory, without its SKILL.md. Real directories are
 * descended into, links to directories are not; of several names of one file the first counts.
 * Whatever cannot be listed whole is an error: a link that leads out or nowhere, an unreadable
 * directory, a limit. `stop` is asked now and then; true ends the walk with ERR_CLOSED.
 */
bool manifest_read(const struct place *p, struct arena *a, bool (*stop)(const void *ctx),
                   const void *ctx, struct manifest *ret, struct error *e);

#endif
