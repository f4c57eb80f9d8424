/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a backing server is configured as, copied out of the resolution it came from, and
 * compared with what a newer one says. */
#ifndef SYM_META_DEFINITION_H
#define SYM_META_DEFINITION_H

#include "meta/toolset.h"
#include "plugins/resolve.h"

/* Deep copy without `plugin` and `def`. */
struct active_server definition_copy(struct arena *a, const struct active_server *s);
/* The same program: name, command, args, env and cwd are equal (MS-60). */
bool definition_same(const struct active_server *x, const struct active_server *y);

/* The entry's own lists and the mode (MS-21, MS-62); deep copy. */
struct tool_filter filter_copy(struct arena *a, const struct server_def *def, bool read_only);
bool filter_same(const struct tool_filter *x, const struct tool_filter *y);

#endif
