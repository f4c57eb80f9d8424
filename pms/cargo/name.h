/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Names of crates. */
#ifndef PM_CARGO_NAME_H
#define PM_CARGO_NAME_H

#include "base/arena.h"

#define NAME_MAX_BYTES 256

/* Letters, digits, '-' and '_', none of it outside ASCII: what a registry takes, and what may
 * stand in a path of ours or on a command line. */
bool name_is_sound(struct str name);

/* The name under which it is looked up: '-' and '_' are the same (PL-20). */
struct str name_key(struct arena *a, struct str name);

#endif
