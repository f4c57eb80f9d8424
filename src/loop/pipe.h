/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A byte stream over a descriptor of any kind: pipe, socket, terminal, regular file (a
 * redirected stdin). Reads are handed on at once, from each pipe no more than its share of a
 * turn of the loop: a flood keeps nobody waiting. Writes never block the loop: what the kernel
 * does not take waits in a queue with a ceiling.
 */
#ifndef SYM_LOOP_PIPE_H
#define SYM_LOOP_PIPE_H

#include "base/buf.h"
#include "loop/loop.h"

#define PIPE_QUEUE_DEFAULT ((size_t)32 << 20)

struct pipe_ops {
    /* Bytes are valid during the call only. NULL: the pipe is write-only. */
    void (*on_data)(void *ctx, struct str bytes);
    /* Once, nothing after it: end of file (why == NULL), or a read or write failure. A
     * write-only pipe reports only failure (EPIPE is ERR_CLOSED). */
    void (*on_end)(void *ctx, const struct error *why);
};

struct pipe_opts {
    size_t max_queue; /* most bytes waiting to be written; 0: PIPE_QUEUE_DEFAULT */
    int stall_ms;     /* queue not empty and no progress that long: on_end with ERR_TIMEOUT; 0:
                         never */
};

struct pipe;

/* Takes the descriptor, which is closed by pipe_free(); 0, 1, 2 are not closed and get their
 * flags back. opts NULL: defaults. */
struct pipe *pipe_new(struct loop *l, int fd, const struct pipe_opts *opts,
                      const struct pipe_ops *ops, void *ctx);

/* Queues all or nothing. ERR_LIMIT when the queue would pass its ceiling, ERR_CLOSED after the
 * end or after pipe_finish(). */
bool pipe_write(struct pipe *p, struct str bytes, struct error *e);
/* The same for several pieces, as one write. */
bool pipe_write2(struct pipe *p, struct str a, struct str b, struct error *e);
size_t pipe_queued(const struct pipe *p);

/* Closes our writing end once the queue is empty; `done` (may be NULL) is called then, or when
 * the pipe breaks. */
void pipe_finish(struct pipe *p, void (*done)(void *ctx), void *ctx);

void pipe_pause(struct pipe *p); /* stop reading: back-pressure */
void pipe_resume(struct pipe *p);
void pipe_free(struct pipe *p); /* queued bytes are lost */

#endif
