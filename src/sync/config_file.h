/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Writing config.toml (docs/spec/plugins.md CF-4): each call changes one thing by text span and
 * leaves the rest as it is. The file is made when absent. Refused on a malformed file with the
 * line that is wrong, also when what is written would make it one.
 */
#ifndef SYM_SYNC_CONFIG_FILE_H
#define SYM_SYNC_CONFIG_FILE_H

#include "plugins/config.h"

enum config_list { CONFIG_AUTO_ENABLE, CONFIG_DISABLE, CONFIG_USE };

/* *ret_changed (may be NULL) tells whether the file was written. */

/* [[agent]] name = ...; nothing when it is there. */
bool config_add_agent(const struct dirs *dirs, struct str name, bool *ret_changed,
                      struct error *e);
bool config_remove_agent(const struct dirs *dirs, struct str name, bool *ret_changed,
                         struct error *e);

/* hook-scope = "global" or "project". */
bool config_set_hook_scope(const struct dirs *dirs, bool project, bool *ret_changed,
                           struct error *e);

/*
 * An entry of a list of [plugins]; `pm` and `workspace` of the reference may be empty. Adding
 * one that is there, by all three, changes nothing. Removing one that is not there changes
 * nothing either: the caller, who knows the scope, words the error.
 */
bool config_add_ref(const struct dirs *dirs, enum config_list list,
                    const struct plugin_ref *ref, bool *ret_changed, struct error *e);
bool config_remove_ref(const struct dirs *dirs, enum config_list list,
                       const struct plugin_ref *ref, bool *ret_changed, struct error *e);

#endif
