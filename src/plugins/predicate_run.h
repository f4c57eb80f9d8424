/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One program that answers a predicate by its exit status (docs/spec/plugins.md PL-22, PL-25):
 * 0 is true. A custom predicate may say on stdout, one JSON object a line, what its answer
 * rests on:
 *
 *     {"watchFile":"path"}    relative to the workspace root
 *     {"watchEnv":"NAME"}
 *     {"watchTime":ms}        good for that long; the smallest wins; 0: not kept at all
 *
 * Other lines are skipped with one warning; "selectedCrate" without one.
 */
#ifndef SYM_PLUGINS_PREDICATE_RUN_H
#define SYM_PLUGINS_PREDICATE_RUN_H

#include "loop/loop.h"
#include "plugins/predicate_cache.h"

#define PREDICATE_MAX_LINE ((size_t)64 << 10)

struct run_opts {
    const char *const *argv; /* the first as child_opts.argv */
    const char *cwd;         /* the workspace root */
    int timeout_ms;
    bool events; /* false: stdout is thrown away */
};

struct run_outcome {
    struct predicate_answer answer; /* in the arena given at the start */
    bool keep;                      /* may be kept: it exited by itself and did not forbid it */
    const char *warning;            /* NULL, or what a person should know */
};

typedef void (*run_fn)(void *ctx, const struct run_outcome *how);

struct predicate_run;

/* Never fails: a program that cannot be started is an answer, too. `done` is called once, never
 * from inside; it may free the run. */
struct predicate_run *predicate_run_start(struct loop *l, const struct run_opts *o,
                                          struct arena *a, run_fn done, void *ctx);
void predicate_run_free(struct predicate_run *r); /* kills it when it still runs */

#endif
