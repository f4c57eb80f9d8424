/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The sandbox of `symposium shell --sandbox` (SH-10): what is made once for all commands, which
 * enter it in lockdown/keeper. Files are written only beneath the roots, in a private TMPDIR
 * and to a few devices; sockets are AF_UNIX only.
 *
 * The TMPDIR is locked (flock) while the server lives, so that the next one removes what a
 * killed one left behind.
 */
#ifndef SYM_SERVERS_SHELL_SANDBOX_H
#define SYM_SERVERS_SHELL_SANDBOX_H

#include "servers/access.h"

#define SANDBOX_STALE_SECS 60 /* an unlocked TMPDIR younger than this may be just being made */

struct sandbox;

/* Makes the TMPDIR. ERR_DENIED when the kernel has no Landlock or no seccomp, ERR_SYS. */
struct sandbox *shell_sandbox_new(const struct access *roots, struct error *e);
/* New roots for the commands that start from now on. */
bool sandbox_set_roots(struct sandbox *s, const struct access *roots, struct error *e);

int sandbox_ruleset(const struct sandbox *s);            /* a descriptor of the sandbox's */
const char *const *sandbox_env(const struct sandbox *s); /* ours, with that TMPDIR */
const char *sandbox_tmpdir(const struct sandbox *s);
void shell_sandbox_free(struct sandbox *s); /* removes the TMPDIR and all in it; NULL is accepted */

/* rm -r, of any depth; links are not followed. */
bool sandbox_remove_tree(int parent, const char *name);

#endif
