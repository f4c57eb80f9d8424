/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tells that a file may have changed, also when another one took its name (inotify on its
 * directory, so that a rename is seen). It holds nobody up: neither the loop, which it does not
 * keep going, nor the writer. Several changes may come as one; some that are told are none.
 */
#ifndef SYM_LOOP_FILEWATCH_H
#define SYM_LOOP_FILEWATCH_H

#include "base/error.h"
#include "loop/loop.h"

struct filewatch;

/* The directory must exist; the file need not. NULL: ERR_NOT_FOUND when there is no such
 * directory, ERR_SYS else (the kernel's limit of watches is one reason). `fn` is also called
 * when the directory itself goes: the watch is of no use from then on. */
struct filewatch *filewatch_new(struct loop *l, const char *dir, const char *name,
                                void (*fn)(void *ctx), void *ctx, struct error *e);
void filewatch_free(struct filewatch *w);

#endif
