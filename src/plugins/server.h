/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One [[mcp_servers]] entry to a server that can be started, or to the reason why not
 * (meta-server.md MS-11 to MS-15). */
#ifndef SYM_PLUGINS_SERVER_H
#define SYM_PLUGINS_SERVER_H

#include "base/map.h"
#include "plugins/resolve.h"

struct server_world {
    struct arena *a;
    struct watch_list *watch; /* gets the executables found; may be NULL */
    struct str root;          /* canonical workspace root */
    const char *cache_dir;    /* where installations are; NULL: nowhere */
    const struct mcp_config *mcp;
    struct map *programs; /* memo of the search in PATH, empty at first; may be NULL */
};

/* ${VAR} and ${VAR:-default}; ERR_NOT_FOUND names an unset variable without default. */
bool server_expand(struct arena *a, struct str text, struct str *ret, struct error *e);

/* False: *e says why, without the server's name. `trusted` is the plugin's (PL-32). */
bool server_prepare(const struct server_world *w, const struct plugin *p,
                    const struct server_def *def, bool trusted, struct active_server *ret,
                    struct error *e);

#endif
