/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One-shot timers on the monotonic clock. */
#ifndef SYM_LOOP_TIMER_H
#define SYM_LOOP_TIMER_H

#include "loop/loop.h"

struct timer;

struct timer *timer_new(struct loop *l, void (*fn)(void *ctx), void *ctx); /* not set */
void timer_set(struct timer *t, int ms); /* fires once in ms; replaces an earlier setting */
void timer_clear(struct timer *t);
bool timer_is_set(const struct timer *t);
void timer_free(struct timer *t);

/* A set timer normally keeps loop_run() going; a background one does not. */
void timer_background(struct timer *t);

#endif
