/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One worker process as its parent sees it: started, its frames cut, decoded and checked,
 * killed, reaped. It serves one script.
 *
 *   starting --"ready"--> ready --slot_give()--> running --final frame--> finished
 *   any of them --exit and end of socket--> gone
 *
 * A frame that breaks the protocol kills the worker at once; on_gone then tells what it did
 * (WK-5).
 */
#ifndef SYM_SANDBOX_SLOT_H
#define SYM_SANDBOX_SLOT_H

#include "sandbox/frame.h"

#define SLOT_START_MS 10000 /* from spawn to "ready"; then it counts as dead */

struct slot;

struct slot_gone {
    int wait_status; /* as from waitpid(2) */
    bool broke_protocol;
    struct error why; /* what it did then; else how it ended, in words */
};

struct slot_ops {
    void (*on_ready)(void *ctx, struct slot *s);
    /* Only while it runs a script. Valid during the call. */
    void (*on_frame)(void *ctx, const struct frame *f);
    /* Once: the process is reaped and its socket at its end. The slot is still to be freed. */
    void (*on_gone)(void *ctx, struct slot *s, const struct slot_gone *how);
};

/* NULL with *e: no process could be started. `limits` must outlive the slot. Nothing is called
 * back from inside. */
struct slot *slot_start(struct loop *l, const struct sandbox_limits *limits, bool unsandboxed,
                        const struct slot_ops *ops, void *ctx, struct error *e);
bool slot_is_ready(const struct slot *s);
/* Of a ready slot: hands the script's frame over, and with it the slot. Frames and the end go
 * to ctx from now on. */
void slot_give(struct slot *s, struct str script_frame, size_t nglobals,
               const struct slot_ops *ops, void *ctx);
/* One whole frame. A worker that reads nothing until the queue is full is killed. */
void slot_send(struct slot *s, struct str frame);
/* The books of what has been called and answered; the slot's own. */
struct frame_guard *slot_guard(struct slot *s);
/* Nothing is called back any more; slot_free() may come later. */
void slot_mute(struct slot *s);
void slot_kill(struct slot *s); /* on_gone follows */
/* Kills, and reaps in the background; nothing is called back any more. May be called from its
 * own callbacks. */
void slot_free(struct slot *s);

#endif
