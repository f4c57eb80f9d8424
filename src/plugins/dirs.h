/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The four directories of a user (docs/spec/plugins.md CF-1). Each row resolves on its own;
 * nothing is created here. */
#ifndef SYM_PLUGINS_DIRS_H
#define SYM_PLUGINS_DIRS_H

#include "base/arena.h"
#include "base/error.h"

struct dirs {
    const char *config, *cache, *logs, *state; /* absolute, in the arena */
};

/* From SYMPOSIUM_HOME, XDG_*_HOME and the home directory; ERR_NOT_FOUND when there is none. */
bool dirs_find(struct dirs *ret, struct arena *a, struct error *e);

/* HOME, or what the system's list of users says: agents may start us with hardly any
 * environment. NULL when neither knows. */
const char *dirs_home(struct arena *a);

#endif
