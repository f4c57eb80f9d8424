/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From an [[installations]] entry (docs/spec/plugins.md PL-11) to the program it names. */
#ifndef SYM_PLUGINS_INSTALLATION_H
#define SYM_PLUGINS_INSTALLATION_H

#include "plugins/plugin.h"

/*
 * The command of the plugin's installation `name`: program, then the entry's own args.
 * `executable` and `script` are paths relative to the manifest's directory; a bare `executable`
 * that is not there is left for the search in PATH; a `script` without the exec bit is run by
 * sh.
 *
 * ERR_NOT_FOUND "references unknown installation .."; ERR_INVALID when the entry is pure setup;
 * ERR_DENIED
 * "'<key>' is not supported yet" for what would have to be acquired first.
 */
bool installation_argv(struct arena *a, const struct plugin *owner, struct str name,
                       struct strs *ret, struct error *e);

#endif
