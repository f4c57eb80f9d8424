/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `symposium mcp-serve`: the engine behind MCP on stdin and stdout. */
#ifndef SYM_META_SERVICE_H
#define SYM_META_SERVICE_H

#include "plugins/dirs.h"

/*
 * Serves until the client is gone; the return value is the exit status. start_dir: cwd or
 * --workspace. log_dir: once the session is real, the log goes to a file in it, at the level of
 * config.toml (CF-5); NULL: it stays on stderr, at the level it has.
 */
int service_run(const struct dirs *dirs, const char *start_dir, const char *log_dir);

#endif
