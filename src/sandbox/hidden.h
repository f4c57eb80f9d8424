/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Names that a server's global hides from a script, because a promise, a printer or a class
 * test looks for them: `await server` is harmless then (MS-43).
 */
#ifndef SYM_SANDBOX_HIDDEN_H
#define SYM_SANDBOX_HIDDEN_H

#include "base/str.h"

/* Unless a tool is declared under it: see script_global.exact. */
bool script_hides(struct str key);

/* Whatever is declared: `then` and `toJSON`. Such a tool is reached by an alias. */
bool script_always_hides(struct str key);

#endif
