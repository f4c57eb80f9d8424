/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A network with nothing in it, for programs that must not make a connection
 * (docs/spec/plugins.md PM-7). */
#ifndef SYM_LOCKDOWN_OFFLINE_H
#define SYM_LOCKDOWN_OFFLINE_H

#include "base/error.h"

/*
 * Enters a user and a network namespace of our own, with the ids that we have now; children are
 * born into them. The process must have one thread and share its memory with nobody. ERR_SYS:
 * the host does not allow it, and nothing has changed.
 */
bool offline_enter(struct error *e);

#endif
