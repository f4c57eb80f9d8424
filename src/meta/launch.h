/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* With what a backing server is started: command line, environment, directory (MS-13, MS-71).
 */
#ifndef SYM_META_LAUNCH_H
#define SYM_META_LAUNCH_H

#include "mcp/client.h"
#include "plugins/resolve.h"

/* `s` with the program that was acquired (pm/acquire.h) in the place of the installation's
 * words. Points into `s` and `program`. */
struct active_server launch_with(struct arena *a, const struct active_server *s,
                                 const struct strs *program);

/* Fills label, argv, env, cwd and startup_timeout_ms; all of it lives in the arena or in *s.
 * The values of the server's own environment are kept out of logs from here on. */
void launch_options(struct arena *a, const struct active_server *s,
                    struct mcp_client_opts *ret);

#endif
