/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Landlock by raw system calls: rights of the process over files, TCP ports, and processes
 * outside it (security.md section 2). Each call here limits the calling thread and all that
 * it starts from then on, threads and children; call it before the first of them exists.
 * There is no way back, and each needs no_new_privs (confine.h). Errors: ERR_DENIED when the
 * kernel has no Landlock or too old a one, else ERR_SYS.
 */
#ifndef SYM_LOCKDOWN_LANDLOCK_H
#define SYM_LOCKDOWN_LANDLOCK_H

#include <stddef.h>

#include "base/error.h"

/* Before it no rename between directories can be allowed, not even beneath one rule. */
#define LANDLOCK_ABI_RENAMES 2
/* Before it a file that may not be written can still be truncated. */
#define LANDLOCK_ABI_TRUNCATE 3

/* The kernel's ABI version; 0 where Landlock is absent or switched off. */
int landlock_abi(void);

/*
 * Takes away every right that this kernel's ABI knows, with no exception: no file can be
 * opened, no TCP port bound or connected (ABI 4), no outside process signalled (ABI 6).
 * Descriptors already open stay as they are.
 */
bool landlock_deny_all(struct error *e);

enum landlock_right {
    LANDLOCK_READ,  /* open for reading, list */
    LANDLOCK_WRITE, /* that, and write, create, remove, rename; never execute or make a device
                     */
};

struct landlock_rule {
    int fd; /* a directory and all beneath it, or one file; O_PATH will do */
    enum landlock_right right;
};

/*
 * As landlock_deny_all(), with these exceptions: for a process that works on some directories
 * and nothing else. Looking at a path (stat, O_PATH, readlink) is never forbidden. ERR_DENIED
 * below LANDLOCK_ABI_RENAMES.
 */
bool landlock_confine(const struct landlock_rule *v, size_t n, struct error *e);

/*
 * For a program that is to change nothing elsewhere (SH-10), made once and entered in each of
 * its processes: a ruleset, as a descriptor that the caller closes, by which nothing is
 * written, created, removed or renamed but beneath (or at) these `n` descriptors, and no device
 * made there either. Reading, executing, devices already open, permissions, owners and times of
 * files, and the network stay as they are. -1: ERR_DENIED, ERR_SYS. Needs no no_new_privs yet.
 */
int landlock_writes_ruleset(const int *fds, size_t n, struct error *e);
bool landlock_enter(int ruleset, struct error *e);

#endif
