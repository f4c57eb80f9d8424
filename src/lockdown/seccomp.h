/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * System-call filters, which pass on to all that the process starts. They are written in BPF by
 * hand: libseccomp builds the same, but needs 0.7 ms for it, more than all the rest of a
 * worker's start.
 *
 * The script worker's (security.md WK-3) is an allow list, everything else ends the process
 * with SIGSYS (SECCOMP_RET_KILL_PROCESS). A sandboxed command's (SH-10) takes little away, and
 * says so with an errno.
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

/*
 * From now on socket() and socketpair() make AF_UNIX sockets only and answer EACCES for every
 * other family; there is no io_uring (EPERM), by which others could be made. Programs of
 * another architecture than ours (32 bits, x32), whose calls have other numbers, end with
 * SIGSYS. no_truncate, for a Landlock that does not know of it (LANDLOCK_ABI_TRUNCATE):
 * truncate(), and opening with O_TRUNC what is not opened for writing, answer EACCES too, and
 * openat2() ENOSYS. Needs no_new_privs. ERR_SYS, ERR_DENIED (not available).
 */
bool seccomp_lock_command(bool no_truncate, struct error *e);

#endif
