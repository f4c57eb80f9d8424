/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One hook of a plugin as a program (docs/spec/plugins.md HK-5, HK-6): its input on stdin, its
 * answer read within bounds, its group ended with it or at its deadline.
 */
#ifndef SYM_CLI_HOOK_RUN_H
#define SYM_CLI_HOOK_RUN_H

#include "loop/loop.h"
#include "plugins/hook_wire.h"

#define HOOK_STDERR_MAX ((size_t)64 << 10) /* the last bytes are kept */
#define HOOK_KILL_MS    300                /* from SIGTERM to SIGKILL at its deadline */

/* The command line and environment of a hook whose programs are there; a requirement that is
 * not is only logged. ERR_NOT_FOUND: 'symposium sync' brings it. */
struct hook_command {
    const char **argv;
    const char **env; /* ours, and HK-6's */
};
bool hook_command_make(struct hook_command *ret, struct arena *a, const char *cache_dir,
                       const struct plugin *owner, const struct hook *hook, struct error *e);

struct hook_run_opts {
    const struct hook_command *command;
    const char *cwd;
    struct str input; /* valid until the end */
    int timeout_ms;
};

enum hook_end {
    HOOK_ANSWERED, /* status 0: `out` is what it printed */
    HOOK_BLOCKED,  /* status 2, or killed by a signal not ours: `err` says why */
    HOOK_FAILED,   /* `why` says how; it has no say */
};

struct hook_result {
    enum hook_end end;
    struct str out, err; /* valid during the call */
    const char *why;
    int ms; /* it took */
};

struct hook_run;

/* Never fails: a program that cannot be started is an end, too. `done` comes once, never from
 * inside; it may free the run. */
struct hook_run *hook_run_start(struct loop *l, const struct hook_run_opts *o,
                                void (*done)(void *ctx, const struct hook_result *how),
                                void *ctx);
void hook_run_free(struct hook_run *r); /* kills what runs; NULL is accepted */

#endif
