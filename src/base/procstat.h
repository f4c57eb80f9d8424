/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What /proc says of another process. A pid is given to others later; pid and start time
 * together name one process for as long as the machine is up. */
#ifndef SYM_BASE_PROCSTAT_H
#define SYM_BASE_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procstat {
    pid_t parent;   /* 0: none that we can see */
    uint64_t start; /* clock ticks since the machine's start; 0: not told */
};

/* `proc` is "/proc", or a copy of its shape in tests. False when there is no such process; a
 * zombie is one. */
bool procstat_read(const char *proc, pid_t pid, struct procstat *ret);

#endif
