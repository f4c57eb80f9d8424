/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The shell server (servers.md 7): one tool, execute_command, that runs one program with an
 * explicit argv, without a shell in between. Each command runs under its own keeper, so that
 * its end is the end of its tree. With `sandbox` a command can write only beneath the
 * directories and reach no network (SH-10).
 */
#ifndef SYM_SERVERS_SHELL_SHELL_H
#define SYM_SERVERS_SHELL_SHELL_H

#include <stdbool.h>
#include <stddef.h>

struct shell_opts {
    const char *const *dirs; /* for cwd; the first is the default */
    size_t ndirs;            /* 0: none was given (SV-26) */
    bool allow_root;         /* admit "/" */
    bool sandbox;
};

/* Serves on stdin and stdout; the exit status. 1, with lines on stderr, when no directory is
 * usable or the sandbox cannot be had. */
int shell_run(const struct shell_opts *o);

#endif
