/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A package or plugin as people write it: "name", or "pm:name" where pm is a package manager or
 * a registry. Pure. */
#ifndef SYM_CLI_NAMES_H
#define SYM_CLI_NAMES_H

#include "plugins/resolve.h"

#define NAME_MAX_BYTES 512

/* ERR_INVALID: empty, too long, or with control characters. Points into the text. */
bool name_read(struct package_id *ret, struct str text, struct error *e);

/* There is a registry of that name. */
bool name_is_registry(const struct config *c, struct str name);

/* The row is of that name: a package's as its package manager compares (PL-20). */
bool name_means(const struct package_id *id, const struct plugin_status *st);

/* The first row of that name, the active one first; NULL: none. *ret_n (may be NULL): how many.
 */
const struct plugin_status *name_find(const struct resolution *res, const struct package_id *id,
                                      size_t *ret_n);

#endif
