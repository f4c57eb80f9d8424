/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `symposium mcp-serve`: the engine behind MCP on stdin and stdout. */
#ifndef SYM_META_SERVICE_H
#define SYM_META_SERVICE_H

#include "plugins/dirs.h"

/* Serves until the client is gone; the return value is the exit status. start_dir: cwd or
 * --workspace. */
int service_run(const struct dirs *dirs, const char *start_dir);

#endif
