/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One execute_command under way:
 *
 *   finding --directory opened, program found--> running --on_exit--> answering
 *
 * Finding and answering are jobs on the thread pool. A cancelled command is ended as one that
 * timed out (SH-7), unanswered.
 */
#ifndef SYM_SERVERS_SHELL_COMMAND_H
#define SYM_SERVERS_SHELL_COMMAND_H

#include "servers/access.h"
#include "servers/server.h"

#define COMMANDS_MAX        64 /* at once: each may hold 2 MiB of output */
#define COMMAND_TIMEOUT_MS  120000
#define COMMAND_TIMEOUT_MAX 600000
#define COMMAND_GRACE_MS    2000 /* between SIGTERM and SIGKILL */
#define COMMAND_DRAIN_MS    1000 /* for output that comes after the exit */

struct commands;

/* What all commands of a server have in common; valid as long as they. */
struct command_setting {
    const char *const *env; /* NULL: ours */
    int sandbox_fd;         /* 0: none */
};

struct command_spec {
    const char *program;     /* as asked for, trimmed */
    const char *const *argv; /* NULL-terminated; argv[0] is the program */
    struct str cwd;          /* as asked for; p == NULL: the first root */
    int timeout_ms;
};

struct commands *commands_new(struct server *s);
/* Answers `r` once it is over. What `spec` points to is copied, a reference to `x` is held. */
void command_run(struct commands *all, struct mcp_req *r, const struct access *x,
                 const struct command_setting *setting, const struct command_spec *spec);

/* All requests were answered or cancelled: `done` is called, once, when the last command has
 * ended; perhaps from inside. Called again it kills those that still have their grace. */
void commands_stop(struct commands *all, void (*done)(void *ctx), void *ctx);
void commands_free(struct commands *all); /* stopped ones */

#endif
