/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The words of `symposium call` (CL-1): which tool, and which arguments. Pure. */
#ifndef SYM_CLI_VALUES_H
#define SYM_CLI_VALUES_H

#include "meta/catalog.h"

#define VALUES_MAX_BYTES \
    ((size_t)1 << 20)         /* arguments as JSON, as for a script's call (MS-46) */
#define VALUES_REF_DEPTH 16   /* of $ref, anyOf and the like looked through */
#define VALUES_REF_STEPS 1000 /* of one schema: its references may branch without end */

/*
 * "SERVER.TOOL": SERVER is the longest server name or global that is a prefix before a '.'.
 * NULL: *e names the servers there are.
 */
const struct catalog_server *values_target(const struct catalog *c, struct str target,
                                           struct str *ret_tool, struct error *e);

/*
 * Writes the arguments object: the members of `json` (object text; empty: none), then each
 * "key=value" converted by the type that `schema` (an inputSchema, or NULL) gives the key:
 *
 *     string, no type     as it is
 *     number, integer     a JSON number
 *     boolean             true or false
 *     object, array       JSON of that type
 *     null                null
 *     several types       the first above that fits, a string last
 *
 * ERR_INVALID names the key and the type wanted; also for a key given twice.
 */
bool values_put(struct buf *out, yyjson_val *schema, const char *const *pairs, size_t n,
                struct str json, struct error *e);

#endif
