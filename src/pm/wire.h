/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ids, offers and lists of the protocol as JSON (docs/spec/plugins.md PM-2, PM-3). What comes
 * from a package manager is checked for shape and size here; whether it is the truth is for
 * plugins/offer.h. */
#ifndef SYM_PM_WIRE_H
#define SYM_PM_WIRE_H

#include "plugins/package_source.h"

#define WIRE_MAX_TEXT 512 /* bytes of a name or version */

/* Not empty, at most WIRE_MAX_TEXT bytes, no control characters. */
bool wire_is_text(struct str s);

/* An id of package manager `pm` (an id of another is not its to give) whose name leads nowhere:
 * no part of it between '/' is empty, "." or "..". The texts belong to v. */
bool wire_id(yyjson_val *v, const char *pm, struct package_id *ret);

/* A version as answers have it (PM-2): neither "*" nor a requirement. */
bool wire_is_exact(struct str version);

/* An empty version is "*". */
void wire_put_id(struct jw *w, const struct package_id *id);

/* The list in either form: the bare array, or the member `key` of an object. NULL: neither. */
yyjson_val *wire_list(yyjson_val *result, const char *key);

#endif
