/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Subcommands that plugins bring (docs/spec/plugins.md PL-14): `symposium NAME ARG...` becomes
 * the program of that plugin's installation, with our standard streams and where we were
 * started. A name that two active plugins have runs neither.
 */
#ifndef SYM_CLI_SUBCOMMAND_H
#define SYM_CLI_SUBCOMMAND_H

#include "cli/command.h"
#include "cli/output.h"

/* argv[at] is no command of ours. Does not return when its program runs in our place. */
int subcommand_run(struct arena *a, char **argv, int at);

/* The list in `help`, by audience; nothing when there is none. */
void subcommands_put(struct arena *a, const struct args *args, FILE *to);
void subcommands_put_events(struct arena *a, const struct args *args, struct report *to);

#endif
