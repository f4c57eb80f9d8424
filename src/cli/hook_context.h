/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an agent is told about this workspace when a session begins (docs/spec/plugins.md
 * PL-34): how many servers stand behind its one entry, which commands are meant for it, and
 * what waits for the user's decision, which it is told not to take. Text from packages is names
 * only, and of those only characters that a name may have.
 */
#ifndef SYM_CLI_HOOK_CONTEXT_H
#define SYM_CLI_HOOK_CONTEXT_H

#include "plugins/resolve.h"

#define HOOK_CONTEXT_NAMES 20 /* of each list; the rest is a number */

/* Empty: there is nothing to say. */
struct str hook_context(struct arena *a, const struct resolution *res);

#endif
