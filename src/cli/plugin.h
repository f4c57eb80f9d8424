/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `symposium plugin validate` is a file of its own. */
#ifndef SYM_CLI_PLUGIN_H
#define SYM_CLI_PLUGIN_H

#include "cli/command.h"

#define VALIDATE_MAX_NAMES 1000 /* asked of package managers in one run */

/* PL-31. args->words: "validate", a directory or a file. */
int plugin_validate(struct arena *a, const struct args *args);

#endif
