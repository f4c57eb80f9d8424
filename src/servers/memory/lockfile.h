/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lock that the processes which change one memory file agree on: flock(2) on
 * `<name>.lock` beside it (ME-5). */
#ifndef SYM_SERVERS_MEMORY_LOCKFILE_H
#define SYM_SERVERS_MEMORY_LOCKFILE_H

#include "servers/memory/store.h"

/*
 * Waits up to STORE_LOCK_MS, or as the plan says; the lock is held until the descriptor is
 * closed. -1: ERR_TIMEOUT, ERR_CLOSED when the plan's `cancelled` says so, ERR_SYS. The lock's
 * file stays: removing it would let two processes hold locks of different files.
 */
int lockfile_take(int dir, const char *name, const struct plan *plan, struct error *e);

#endif
