/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ids of JSON-RPC messages as JSON text. A number is echoed as it was received and compared by
 * its value (docs/spec/mcp.md section 2): 1, 1.0 and 10e-1 are one id.
 */
#ifndef SYM_RPC_ID_H
#define SYM_RPC_ID_H

#include "base/str.h"

#define RPC_ID_MAX \
    ((size_t)1024) /* bytes of an id's JSON text; a longer one counts as malformed */

/* Both are the JSON text of a string or a number; strings are equal when their texts are. */
bool rpc_id_eq(struct str a, struct str b);

/* `number` is the text of a JSON number; true when its value is an integer of any size. */
bool rpc_id_is_integer(struct str number);

/* The value, when the id is a number and an integer from 1 to INT64_MAX; else 0. */
int64_t rpc_id_value(struct str id);

#endif
