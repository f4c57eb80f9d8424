/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The skills server (servers.md 8): the skills of a workspace as one tool, activate_skill, and
 * for modern clients as the protocol's skills extension.
 */
#ifndef SYM_SERVERS_SKILLS_H
#define SYM_SERVERS_SKILLS_H

#include <stdbool.h>

struct skills_opts {
    const char *workspace;
    bool user; /* the user's own skills too, behind the workspace's */
};

/* Serves on stdin and stdout; the exit status. 1, and a line on stderr: the workspace is no
 * directory (SV-7). */
int skills_run(const struct skills_opts *o);

#endif
