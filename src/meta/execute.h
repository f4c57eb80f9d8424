/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The `execute` tool (docs/spec/meta-server.md sections 6 to 8): one script in its worker, its
 * calls carried to the backing servers and back, and the reply text: result or error JSON,
 * truncation note, console, finished calls, problem lines and tags (MS-41).
 */
#ifndef SYM_META_EXECUTE_H
#define SYM_META_EXECUTE_H

#include "meta/catalog.h"
#include "meta/results.h"
#include "sandbox/host.h"

#define EXECUTE_FINISHED_MAX ((size_t)1000) /* bytes of the "calls finished" line */
#define EXECUTE_MESSAGE_MAX \
    ((size_t)4096) /* bytes of a server's message in an exception (MS-50) */
#define EXECUTE_LOOSE_MAX \
    ((size_t)200) /* bytes of the message of a call nobody awaited (MS-70) */

struct reply; /* meta/reply.h */

struct execution_ops {
    /* A backing call finished: the count so far, and "server.tool". Optional. */
    void (*on_progress)(void *ctx, unsigned finished, struct str what);
    /* Once: the reply text, never from inside execute_run() of a script that runs. */
    void (*on_done)(void *ctx, struct str text, bool is_error);
    /* Optional, just before on_done: what the text was made of, valid during the call. A script
     * that was refused has none. */
    void (*on_reply)(void *ctx, const struct reply *r);
};

struct execution_opts {
    struct sandbox *sandbox;
    struct sandbox_limits limits; /* for texts */
    struct results *results;
};

struct execution;
/* NULL when on_done was called from inside: no servers in scope (MS-42), or the script was
 * refused. */
struct execution *execute_run(struct catalog *c, const struct execution_opts *o,
                              struct str source, const struct execution_ops *ops, void *ctx);
/* Kills the worker and cancels every backing call in flight; no on_done (MS-76). */
void execute_cancel(struct execution *x);

#endif
