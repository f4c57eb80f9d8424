/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a thread of one's own calls the loop. Only ringing is for other threads. */
#ifndef SYM_LOOP_BELL_H
#define SYM_LOOP_BELL_H

#include "loop/loop.h"

struct bell;

/* `fn` is called on the loop's thread after each ring; several rings may come as one. At first
 * the bell does not keep the loop going. */
struct bell *bell_new(struct loop *l, void (*fn)(void *ctx), void *ctx);
void bell_ring(struct bell *b); /* from any thread */
void bell_keep_going(struct bell *b, bool on);
void bell_free(struct bell *b); /* no other thread may ring it any more */

#endif
