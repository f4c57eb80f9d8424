/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The worker's memory limit (MS-37): every byte of the engine and of the frame buffers is
 * allocated here and counted, with its overhead. The allocation that would pass the limit does
 * not return: the frame `memory_exhausted` is written from constant bytes and the process ends
 * with status 3, so the engine's own recovery, which released engines get wrong, never runs.
 */
#ifndef SYM_SANDBOX_QUOTA_H
#define SYM_SANDBOX_QUOTA_H

#include <stddef.h>

#define QUOTA_EXIT 3

struct quota {
    size_t used, limit; /* bytes */
    int fd;             /* where the frame goes */
};

void *quota_alloc(struct quota *q, size_t n);
void *quota_zalloc(struct quota *q, size_t n);
void *quota_resize(struct quota *q, void *p, size_t n);
void quota_free(struct quota *q, void *p);

/* What a block really holds; for the engine, which fills the slack. */
size_t quota_usable_size(const void *p);

/* Books memory that somebody else allocates: on, and off again. */
void quota_charge(struct quota *q, size_t n);
void quota_release(struct quota *q, size_t n);

#endif
