/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Process creation between fork and exec, by vfork: libuv's spawn has no hook there. Exec
 * failure comes back in a volatile of the suspended parent. Signals are blocked around it and
 * reset in the child; every descriptor but the given ones is closed on exec (close_range).
 */
#ifndef SYM_LOOP_SPAWN_H
#define SYM_LOOP_SPAWN_H

#include <sys/types.h>

#include "base/error.h"

#define SPAWN_MAX_FDS 4

struct spawn_opts {
    const char *path;        /* file to execute; NULL: our own image (self_exe_fd) */
    const char *const *argv; /* NULL-terminated */
    const char *const *env;  /* complete environment, NULL-terminated; NULL: empty */
    const char *cwd;         /* NULL: ours. Opened before the fork, entered by descriptor */
    int cwd_fd;              /* a directory, instead of cwd; 0: none */
    int fds[SPAWN_MAX_FDS];  /* descriptor i of the child; -1: /dev/null, of 3: absent */
    int fd4;                 /* descriptor 4 of the child, beside a 3; 0: absent */
    bool new_session; /* setsid: own session and process group; else own process group only */
    bool die_with_parent; /* PR_SET_PDEATHSIG SIGKILL; spawn from a thread that lives as long as
                             we do */
};

struct spawned {
    pid_t pid;
    int pidfd; /* -1 where the kernel has none; owned by the caller, O_CLOEXEC */
};

/* ERR_NOT_FOUND / ERR_DENIED / ERR_SYS name the program and, for a missing cwd, the directory.
 * Nothing runs then. */
bool spawn(const struct spawn_opts *o, struct spawned *ret, struct error *e);

/* Our own executable image, opened once at the first call (call it at start): an upgrade on
 * disk cannot mix versions. */
int self_exe_fd(void);

/* Sends through the pidfd when there is one, else to the unreaped pid; to the process group
 * when `group`. */
void spawned_signal(const struct spawned *s, int signo, bool group);

#endif
