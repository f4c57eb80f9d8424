/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patterns that name the members of a workspace, turned into directories. */
#ifndef PMS_COMMON_EXPAND_H
#define PMS_COMMON_EXPAND_H

#include "common/inputs.h"

#define EXPAND_MAX_DIRS    20000 /* directories met by all patterns of one workspace */
#define EXPAND_MAX_DEPTH   32    /* levels that one "**" descends */
#define EXPAND_MAX_PATTERN 1024  /* bytes of one pattern; also bounds its components */

struct dir_list {
    const char **v; /* absolute, clean */
    size_t n, cap;
};

/*
 * Appends what `pattern` names the way cargo does it, relative to `root`, sorted: `*`, `?` and
 * `[..]` within one component, `**` for any number of them; hidden directories match too.
 * Without such characters that directory itself, existing or not. Directories listed on the way
 * are noted as inputs. ERR_LIMIT past EXPAND_MAX_DIRS or EXPAND_MAX_PATTERN.
 */
bool expand_member(struct inputs *in, const char *root, struct str pattern,
                   struct dir_list *ret, struct error *e);

/* The same the way npm does it: wildcards match neither hidden directories nor node_modules,
 * and no links. */
bool expand_visible(struct inputs *in, const char *root, struct str pattern,
                    struct dir_list *ret, struct error *e);

#endif
