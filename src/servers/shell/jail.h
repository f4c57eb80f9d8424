/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The sandbox of `symposium shell --sandbox` (SH-10): what is made once for all commands, which
 * enter it in lockdown/keeper. Files are written only beneath the roots, in a private TMPDIR
 * and to a few devices; sockets are AF_UNIX only.
 *
 * The TMPDIR is locked (flock) while the server lives, so that the next one removes what a
 * killed one left behind.
 */
#ifndef SYM_SERVERS_SHELL_JAIL_H
#define SYM_SERVERS_SHELL_JAIL_H

#include "servers/access.h"

#define JAIL_STALE_SECS 60 /* an unlocked TMPDIR younger than this may be just being made */

struct jail;

/* Makes the TMPDIR. ERR_DENIED when the kernel has no Landlock or no seccomp, ERR_SYS. */
struct jail *jail_new(const struct access *roots, struct error *e);
/* New roots for the commands that start from now on. */
bool jail_set_roots(struct jail *j, const struct access *roots, struct error *e);

int jail_ruleset(const struct jail *j);            /* the jail's descriptor */
const char *const *jail_env(const struct jail *j); /* ours, with that TMPDIR */
const char *jail_tmpdir(const struct jail *j);
void jail_free(struct jail *j); /* removes the TMPDIR and all in it; NULL is accepted */

#endif
