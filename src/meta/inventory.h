/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What one backing server listed, as it may be shown and called: the tools, their names under
 * the filter in force, and the problem lines that came with them. Immutable and counted: the
 * backend holds the newest one, each call in flight the one it was resolved with.
 */
#ifndef SYM_META_INVENTORY_H
#define SYM_META_INVENTORY_H

#include "meta/names.h"
#include "plugins/resolve.h"

#define INVENTORY_CHANGED_SHOWN 20 /* changed tools with a line each; of more, the number */

struct inventory {
    int refs;
    struct arena arena; /* the problem lines */
    struct shared_tools *tools;
    struct names names;
    struct strs problems; /* "server: ...", without brackets */
};

/*
 * Takes the tools. Those that `before` (NULL: none) had with another content are marked as
 * changed, for the rest of the session, with a problem line each (MS-74); so is a list that is
 * empty where there were tools before (MS-56). `note`: one more line, empty for none.
 */
struct inventory *inventory_new(struct str server, struct toolset *tools,
                                const struct inventory *before,
                                const struct tool_filter *filter, struct str note);
/* The same tools and problem lines through another filter. */
struct inventory *inventory_refilter(const struct inventory *inv,
                                     const struct tool_filter *filter);
const struct toolset *inventory_tools(const struct inventory *inv);

struct inventory *inventory_ref(struct inventory *inv);
void inventory_unref(struct inventory *inv); /* NULL is accepted */

#endif
