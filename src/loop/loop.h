/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The one event loop of a process. Only this folder knows libuv. One thread; every callback
 * runs on it.
 *
 * Rule for all objects of this folder: xxx_free() may be called at any time, also from inside
 * the object's own callbacks; nothing is called back afterwards, and the memory goes when libuv
 * has let go of it. NULL is accepted.
 */
#ifndef SYM_LOOP_LOOP_H
#define SYM_LOOP_LOOP_H

#include <stdbool.h>

struct loop;

struct loop *loop_new(void);

/* Runs until loop_stop(), or until nothing is left that could call back. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Closes what is pending and frees the loop. Objects made on it must have been freed before;
 * jobs that still run are cancelled and waited for (work_settle()). */
void loop_free(struct loop *l);

/* Calls fn once, after the current callback has returned and before the loop sleeps. Not
 * cancellable: ctx must live; use a timer of 0 ms where it may die. */
void loop_defer(struct loop *l, void (*fn)(void *ctx), void *ctx);

#endif
