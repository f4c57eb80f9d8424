/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The lock that the processes which change one memory file agree on: flock(2) on
 * `<name>.lock` beside it (ME-5). */
#ifndef SYM_SERVERS_MEMORY_LOCKFILE_H
#define SYM_SERVERS_MEMORY_LOCKFILE_H

#include "base/error.h"

/*
 * Waits up to STORE_LOCK_MS; the lock is held until the descriptor is closed. -1: ERR_TIMEOUT,
 * ERR_CLOSED when `cancelled` says so, ERR_SYS. The lock's file stays: removing it would let
 * two processes hold locks of different files.
 */
int lockfile_take(int dir, const char *name, bool (*cancelled)(void *ctx), void *ctx,
                  struct error *e);

#endif
