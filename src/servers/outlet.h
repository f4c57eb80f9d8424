/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Back-pressure from stdout to the thread pool. A large result waits on its thread until the
 * client has read enough of those before it: each is answered in the end, however slowly that
 * goes, and what is held is bounded by the pool's threads instead of by the number of requests.
 */
#ifndef SYM_SERVERS_OUTLET_H
#define SYM_SERVERS_OUTLET_H

#include <stddef.h>

#include "loop/work.h"

#define OUTLET_MAX   ((size_t)32 << 20) /* bytes on their way; one result may pass it alone */
#define OUTLET_SMALL ((size_t)16 << 10) /* up to this none waits */

struct outlet;

/* `queued` says how many bytes wait for stdout. */
struct outlet *outlet_new(struct loop *l, size_t (*queued)(void *ctx), void *ctx);
void outlet_free(struct outlet *o); /* nobody waits any more; NULL is accepted */

/* On a pool thread: waits for room. False: the job was cancelled, and has not entered. */
bool outlet_enter(struct outlet *o, size_t n, const struct work *w);

/* On the loop's thread: what entered is queued for stdout by now, or was dropped. */
void outlet_leave(struct outlet *o, size_t n);
void outlet_wake(struct outlet *o); /* a job was cancelled: it may be waiting here */

#endif
