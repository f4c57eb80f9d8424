/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The skills in a directory tree (docs/spec/plugins.md PL-27, PL-28), whoever owns it: a skill
 * group, a package, a directory that is being validated. Disk only; gates are not evaluated.
 */
#ifndef SYM_PLUGINS_SKILL_SEARCH_H
#define SYM_PLUGINS_SKILL_SEARCH_H

#include "base/sha256.h"
#include "plugins/skill.h"

#define SKILL_MARKER       ".symposium" /* in a directory that sync made (SY-14) */
#define SKILL_DIR_NAME_MAX 200          /* bytes; it becomes the name of a directory */
#define SKILL_ORIGIN_SIZE  9

#define SKILL_SEARCH_MAX_DEPTH   16    /* directories below the place */
#define SKILL_SEARCH_MAX_ENTRIES 20000 /* directory entries looked at */
#define SKILL_SEARCH_MAX_SKILLS  1000
#define SKILL_SEARCH_MAX_BYTES   ((size_t)16 << 20) /* of all SKILL.md together */

struct skill_place {
    const char *dir;  /* searched, itself included; need not exist */
    const char *home; /* canonical; nothing that leads out of it is looked at. NULL: dir */
    bool lenient;     /* a workspace's own: front matter, name and description are optional */
};

/* Strings are the arena's. */
struct found_skill {
    struct str name, description;   /* the description may be empty only in a lenient place */
    const char *dir;                /* canonical, below the place's home */
    const char *file;               /* its SKILL.md, canonical */
    char origin[SKILL_ORIGIN_SIZE]; /* SY-13: of `file`, hex */
    char sha256[SHA256_HEX_SIZE];   /* of its text, for consent (PL-32) */
    struct gate gate;
};

struct found_skills {
    struct found_skill *v; /* by path */
    size_t n, cap;
    struct strs warnings; /* "<path>: why it is left out", one for each bad skill */
};

/*
 * Adds what is found; a skill inside a skill is none of its own, directories with the marker
 * (told of, unless they are sync's copies in a workspace) and `.git` are not entered, a link to
 * a directory counts when that lies beneath the home. Never fails: what cannot be read or is
 * too much is a warning.
 */
void skill_search(struct arena *a, const struct skill_place *p, struct found_skills *ret);

/* A skill's name must do as the name of a directory: no slash, no control bytes, no leading
 * dot, valid UTF-8, at most SKILL_DIR_NAME_MAX bytes. */
bool skill_name_check(struct str name, struct error *e);

#endif
