/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The command line of the everyday servers, and of the program under the name
 * `modelcontextprotocol` (SV-1 to SV-9, SV-29). */
#ifndef SYM_CLI_SERVERS_H
#define SYM_CLI_SERVERS_H

#include <stdbool.h>

#include "base/arena.h"

/* Does this line select a server, or try to? Then it is none of the other commands'. */
bool cli_is_servers(int argc, char **argv);

/* Serves; the exit status. */
int cli_servers(struct arena *a, int argc, char **argv);

#endif
