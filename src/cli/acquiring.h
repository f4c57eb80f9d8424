/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The installations that active plugins will need (docs/spec/plugins.md PL-11), brought in
 * before: a hook cannot wait for a program to be built, and a server that needs not build one
 * starts at once. One after the other; what cannot be had is a problem line.
 */
#ifndef SYM_CLI_ACQUIRING_H
#define SYM_CLI_ACQUIRING_H

#include "plugins/resolve.h"
#include "pm/acquire.h"

struct acquiring_ops {
    void (*progress)(void *ctx, struct str line);
    /* Once, never from inside; the problems are valid during the call. */
    void (*done)(void *ctx, const struct strs *problems);
};

struct acquiring;

/* Of active plugins that may run programs: their servers, hooks and custom predicates. Level as
 * in struct acquire_opts. The resolution must live until `done`. */
struct acquiring *acquiring_begin(struct loop *l, const struct dirs *dirs,
                                  const struct resolution *res, enum update_level level,
                                  const struct acquiring_ops *ops, void *ctx);
void acquiring_cancel(struct acquiring *q); /* `done` is not called; NULL is accepted */

#endif
