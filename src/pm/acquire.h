/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Installations on first use (docs/spec/plugins.md PL-11): the steps of a plan in their order,
 * each done once for as long as what it consists of does not change, one process at a time
 * (others wait and find it done). Sources: cargo (`cargo install` into the cache), github (a
 * checkout, pm/git.h); then install_commands by `sh -c`. What they print goes to the log, never
 * to stdout; the last of it to the error.
 *
 *   next step ─> lock ─> source ─> commands one by one ─> stamp ─> next step ... ─> done
 *
 * Trust is the caller's: whoever asks runs programs on the plugin's word (PL-32).
 */
#ifndef SYM_PM_ACQUIRE_H
#define SYM_PM_ACQUIRE_H

#include "plugins/dirs.h"
#include "plugins/installation.h"
#include "pm/git.h"

#define ACQUIRE_STEP_MS    (20 * 60 * 1000) /* one `cargo install`, one command */
#define ACQUIRE_WAIT_MS    (30 * 60 * 1000) /* for another process that does the same */
#define ACQUIRE_LAST_WORDS 1000             /* bytes of what a command said last, in an error */

struct acquire_opts {
    const char *cache_dir;
    const struct install_plan *plan; /* copied */
    /* none: nothing is run, what is there counts; check: what is missing; fetch: all anew. */
    enum update_level level;
    bool refresh; /* check: the remotes of checkouts that are there are asked, too */
    int step_ms;  /* 0: ACQUIRE_STEP_MS */
};

struct acquired {
    struct strs argv; /* of the plan's program; empty without one */
    struct strs
        problems; /* requirements that failed: the program may run all the same (MS-59) */
};

struct acquire_ops {
    /* Optional: for a person who waits, "plugin 'p': installing 'x': cargo install y". */
    void (*progress)(void *ctx, struct str line);
    /* Once, never from inside. `why` is NULL, or the program cannot run: the text names
     * installation, command and the last that it said. Valid during the call. */
    void (*done)(void *ctx, const struct acquired *got, const struct error *why);
};

struct acquire;

struct acquire *acquire_start(struct loop *l, const struct acquire_opts *o,
                              const struct acquire_ops *ops, void *ctx);
/* Kills what runs, `done` is not called. NULL is accepted. */
void acquire_cancel(struct acquire *q);

/* What is there now, nothing run: for hooks and subcommands. ERR_NOT_FOUND "installation 'x' is
 * not there yet; run 'symposium sync'", and as install_plan_make(). */
bool acquire_argv(struct arena *a, const struct dirs *dirs, const struct plugin *owner,
                  const struct install_use *use, struct strs *ret, struct error *e);

#endif
