/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which skills there are: found once, at start (SK-1), and unchanging from then on, so jobs on
 * the thread pool read it freely. What a skill's files hold is read anew each time.
 */
#ifndef SYM_SERVERS_SKILLS_SKILLSET_H
#define SYM_SERVERS_SKILLS_SKILLSET_H

#include "base/arena.h"
#include "base/error.h"

#define SKILLSET_MAX_SKILLS  1000
#define SKILLSET_MAX_ENTRIES 10000 /* directory entries looked at in one root */

/* Names and descriptions together: they stand in tools/list. A skill that finds no room is left
 * out with a warning. */
#define SKILLSET_MAX_TEXT ((size_t)384 << 10)

struct skill {
    struct str name, description; /* the description without blanks around it */
    const char *dir;              /* canonical */
    const char *file;             /* canonical path of its SKILL.md, beneath dir */
};

struct skillset {
    struct skill *v; /* sorted by name */
    size_t n;
    struct arena arena;
};

/* Called with one line for each skill that is left out, and for what is odd about one. */
typedef void (*skillset_warn_fn)(const char *line);

/*
 * `home`: the user's skills beneath it come last; NULL: none. False only when the workspace is
 * no directory that can be read.
 */
bool skillset_load(struct skillset *ret, const char *workspace, const char *home,
                   skillset_warn_fn warn, struct error *e);
const struct skill *skillset_find(const struct skillset *c, struct str name);
void skillset_free(struct skillset *c);

#endif
