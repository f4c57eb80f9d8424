/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a process gives up about itself by prctl and rlimits. Each is one step, so that the
 * caller's order is visible. */
#ifndef SYM_LOCKDOWN_CONFINE_H
#define SYM_LOCKDOWN_CONFINE_H

#include <stddef.h>

#include "base/error.h"

struct confine_limits {
    size_t address_space; /* bytes; 0: as it is */
    size_t stack;         /* bytes the main stack may grow to */
    unsigned cpu_secs;    /* then SIGXCPU, a second later SIGKILL */
    unsigned open_files;  /* descriptors below this number stay usable */
};

/* The above, and: no core file, no file may grow, no new process (which does not bind root). */
bool confine_limits(const struct confine_limits *l, struct error *e);

/* Closes every descriptor from `first` on. */
bool confine_close_from(unsigned first, struct error *e);

/* SIGKILL when the thread that started us ends; no core dump, no ptrace by equals. */
bool confine_die_with_parent(struct error *e);
bool confine_not_dumpable(struct error *e);

bool confine_no_new_privs(struct error *e);

/* No memory may become executable any more (Linux 6.3). False where the kernel cannot. */
bool confine_no_exec_memory(void);

/* For doctor: whether this kernel has these two. */
bool confine_has_no_new_privs(void);
bool confine_has_no_exec_memory(void);

#endif
