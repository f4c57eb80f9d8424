/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The file that a command's name means. */
#ifndef SYM_SERVERS_SHELL_PROGRAM_H
#define SYM_SERVERS_SHELL_PROGRAM_H

#include "base/arena.h"

/*
 * As execvp(3) would in the directory `dir`: a name with a slash is the file itself, any other
 * is the first program in `path_var` (NULL: the system's default path) that may be executed;
 * relative elements of it are of `dir` too. NULL with *ret_errno: EACCES when all that has the
 * name may not be executed, else ENOENT. Reads the disk.
 */
const char *program_find(struct arena *a, int dir, const char *name, const char *path_var,
                         int *ret_errno);

#endif
