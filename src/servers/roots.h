/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which directories the filesystem and shell servers may touch, over the life of a session:
 * those of the command line for ever; or, when none was given, "." until a legacy client that
 * declares roots has named its own (SV-26). The client is asked when its first call comes, and
 * again after its roots changed; calls wait for the answer, at most ROOTS_WAIT_MS. Names that
 * lead to no directory, and "/", are left out; when none is left all stays as it is.
 */
#ifndef SYM_SERVERS_ROOTS_H
#define SYM_SERVERS_ROOTS_H

#include "servers/access.h"
#include "servers/server.h"

#define ROOTS_WAIT_MS 2000

struct roots;

/* NULL when no directory is usable: stderr then has SV-7's lines with `usage`, the exit status
 * is 1. Lines about single ones go to stderr too. */
struct roots *roots_new(const char *const *dirs, size_t ndirs, bool allow_root,
                        const char *usage);
/* In server_def.start. `changed` (may be NULL) hears of new directories before a call does. */
void roots_start(struct roots *o, struct server *s,
                 void (*changed)(void *ctx, const struct access *x), void *ctx);
/* In mcp_server_def.roots_changed. */
void roots_changed(struct roots *o);

/*
 * First in each handler: true when the client is to be asked first; `call` is then called with
 * the same arguments once that is settled, unless the request was cancelled.
 *
 *     if (roots_wait(o, r, args, list_directory, ctx))
 *         return;
 */
bool roots_wait(struct roots *o, struct mcp_req *r, yyjson_val *args,
                void (*call)(void *ctx, struct mcp_req *r, yyjson_val *args), void *ctx);

/* Now; access_ref() what a job is to keep. */
struct access *roots_now(const struct roots *o);

/* In server_def.stop, or if the server never ran. Nothing is called any more. NULL is
 * accepted. */
void roots_free(struct roots *o);

#endif
