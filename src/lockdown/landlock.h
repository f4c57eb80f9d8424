/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Landlock by raw system calls: rights of the process over files, TCP ports, and processes
 * outside it (security.md section 2). */
#ifndef SYM_LOCKDOWN_LANDLOCK_H
#define SYM_LOCKDOWN_LANDLOCK_H

#include "base/error.h"

/* The kernel's ABI version; 0 where Landlock is absent or switched off. */
int landlock_abi(void);

/*
 * Takes away every right that this kernel's ABI knows, with no exception and no way back: no
 * file can be opened, no TCP port bound or connected (ABI 4), no outside process signalled (ABI
 * 6). Descriptors already open stay as they are. Needs no_new_privs. ERR_DENIED when absent,
 * else ERR_SYS.
 */
bool landlock_deny_all(struct error *e);

#endif
