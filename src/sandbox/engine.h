/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One JavaScript engine for one script. QuickJS stands behind this header and engine_*.c alone.
 * The engine knows nothing of descriptors: frames leave and come through `struct engine_io`.
 *
 * Host functions are C, take what they need through the engine's own API and read no property
 * that a script could have put there: what a script does to prototypes or globals changes
 * nothing for the host (SEC-13).
 */
#ifndef SYM_SANDBOX_ENGINE_H
#define SYM_SANDBOX_ENGINE_H

#include "base/buf.h"
#include "sandbox/quota.h"

struct engine;

struct engine_io {
    void *ctx;
    /* Writes one whole frame (length included); does not fail: without a parent the process
     * ends. */
    void (*send)(void *ctx, struct str frame);
    /* Waits up to timeout_ms for one payload, valid until the next call. False: none came. */
    bool (*receive)(void *ctx, int timeout_ms, struct str *ret_payload);
};

/* Runtime, context, prelude: all that can be done before a script is known. */
struct engine *engine_new(struct quota *q, size_t stack_bytes, const struct engine_io *io);

/* Runs the script of one `script` frame to its end and sends exactly one final frame, unless
 * memory runs out first. */
void engine_run(struct engine *en, struct str script_frame);

const char *engine_version(void); /* "quickjs-ng 0.11.0" */

#endif
