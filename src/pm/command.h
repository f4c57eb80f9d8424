/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One program run to its end, under a keeper: nothing of its tree is left behind, not after
 * setsid, not when we are killed. Without stdin; its output is collected within bounds, and
 * nothing of it reaches our own streams.
 */
#ifndef SYM_PM_COMMAND_H
#define SYM_PM_COMMAND_H

#include "base/arena.h"
#include "loop/loop.h"

#define COMMAND_LAST_BYTES ((size_t)4 << 10) /* kept of what it said last */

struct command_opts {
    const char *const *argv; /* argv[0] as in loop/child.h */
    const char *const *env;  /* complete */
    const char *cwd;         /* NULL: ours */
    int timeout_ms;
    size_t max_out; /* stdout is kept whole up to this, more is ERR_LIMIT; 0: it counts as
                       something said, as stderr does */
};

struct command_end {
    struct str out;  /* all of stdout */
    struct str said; /* the last COMMAND_LAST_BYTES of stderr */
    /* NULL: it exited with 0. ERR_CLOSED: another status or a signal; ERR_NOT_FOUND: no such
     * program; ERR_TIMEOUT, ERR_LIMIT: it was killed. The text says so without its name. */
    const struct error *why;
};

struct command;

/* Never fails: a program that cannot be started is an end, too. `done` comes once, never from
 * inside; what it gets is valid during the call, and it may free the command. */
struct command *command_start(struct loop *l, const struct command_opts *o,
                              void (*done)(void *ctx, const struct command_end *how),
                              void *ctx);
/* Kills it; it ends with `why` of this text. For whoever watches what it does. */
void command_kill(struct command *c, const struct error *why);
void command_free(struct command *c); /* kills it; `done` is not called. NULL is accepted */

/* The last lines of what a program said, cleaned for a message: at most `max` bytes, joined by
 * " | ". */
const char *command_last_words(struct arena *a, struct str said, size_t max);

#endif
