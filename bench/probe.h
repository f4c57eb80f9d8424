/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The processes below one process, from /proc: who they are and what memory they hold.
 */
#ifndef SYM_BENCH_PROBE_H
#define SYM_BENCH_PROBE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TREE_MAX 512

struct tree {
    pid_t pids[TREE_MAX]; /* the root is the first */
    unsigned long long
        started[TREE_MAX]; /* ticks since boot: a pid used again is another one */
    size_t n;
};

void tree_read(pid_t root, struct tree *ret);
/* Those of `before` that still run. */
void tree_left(const struct tree *before, struct tree *ret);

/* One JSON line: the memory of the tree without the programs called `except`. */
void memory_print(pid_t root, const char *label, const char *except);

#endif
