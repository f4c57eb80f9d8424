/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The script worker's system-call filter (security.md WK-3): an allow list, everything else
 * ends the process with SIGSYS (SECCOMP_RET_KILL_PROCESS). The filter is written in BPF by
 * hand: libseccomp builds the same one, but needs 0.7 ms for it, more than all the rest of a
 * worker's start.
 */
#ifndef SYM_LOCKDOWN_SECCOMP_H
#define SYM_LOCKDOWN_SECCOMP_H

#include "base/error.h"

/* This kernel and this architecture can carry the filter. */
bool seccomp_available(void);

/*
 * From now on the process may read and write `fd`, wait on it, read clocks and random bytes,
 * get and return anonymous memory that is not executable, and exit. There is no way back. Needs
 * no_new_privs. ERR_SYS, ERR_DENIED (not available).
 */
bool seccomp_lock_worker(int fd, struct error *e);

#endif
