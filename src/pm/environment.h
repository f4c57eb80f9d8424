/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The environment of a package manager's process: a list of names, and nothing else
 * (docs/spec/plugins.md PM-10). */
#ifndef SYM_PM_ENVIRONMENT_H
#define SYM_PM_ENVIRONMENT_H

#include "base/str.h"

/* From ours: the names of PM-10 and those in `pass`. NULL-terminated; owned by the caller:
 * environment_free(). */
char **environment_new(const struct str *pass, size_t npass);
void environment_free(char **env);

#endif
