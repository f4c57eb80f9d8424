/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Plugins embedded in dependencies that wait for the user's word (docs/spec/plugins.md PL-34,
 * PL-35): the question, and where its answer goes.
 */
#ifndef SYM_CLI_CANDIDATES_H
#define SYM_CLI_CANDIDATES_H

#include "plugins/resolve.h"

/* Packages that wait. */
size_t candidates_count(const struct resolution *res);

/*
 * Asks about each in turn, on the terminal: later (the default, records nothing), enable (into
 * [plugins] auto-enable), never (into [plugins] disable). Escape leaves the rest undecided.
 * True when something was recorded. A file that cannot be written is said, and ends it.
 */
bool candidates_ask(struct arena *a, const struct dirs *dirs, const struct resolution *res);

#endif
