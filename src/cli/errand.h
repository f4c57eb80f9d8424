/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The life of a command that needs the loop and the package managers but no server: begin, wait
 * for callbacks, end, leave no process behind. (Commands that need servers: cli/session.h.)
 *
 *   errand_run ─> job.begin ─ ... ─> errand_end ─> package managers end ─> returns
 *                    └── SIGINT, SIGTERM, SIGHUP ──> job.cancel ──┘ (and dies of it)
 *
 * What is being waited for stands on one line of the terminal, and is gone before anything else
 * is printed; with -v each such line stays, on stderr.
 */
#ifndef SYM_CLI_ERRAND_H
#define SYM_CLI_ERRAND_H

#include "cli/command.h"
#include "pm/resolving.h"

#define ERRAND_PATIENCE_MS 400 /* before the line appears */
#define ERRAND_REDRAW_MS   250
#define ERRAND_SWEEP_MS    1000

struct errand {
    struct arena *a; /* of the command */
    const struct args *args;
    struct loop *loop;
    struct pm_set *pms;
    const struct dirs *dirs;
    const char *start_dir;   /* canonical */
    enum update_level level; /* --update; else none */
    bool level_given;
    /* The rest is errand.c's. */
    const struct errand_job *job;
    void *ctx;
    struct timer *redraw;
    int64_t since_ms;
    char line[256];
    bool drawn, ending;
    int status, signo;
};

struct errand_job {
    void (*begin)(struct errand *e, void *ctx);
    /* A signal: let go of what is under way. Also called at an orderly end, when nothing is. */
    void (*cancel)(void *ctx);
};

/* Returns the exit status, or does not return when a signal ended it. */
int errand_run(struct arena *a, const struct args *args, const struct errand_job *job,
               void *ctx);

/* What is being waited for, "fetching x"; empty: nothing. Cleaned for a terminal. */
void errand_say(struct errand *e, struct str line);
/* Takes the line away. Call it before printing. */
void errand_clear(struct errand *e);
/* Begins a whole resolution as the command line has it, and says so. NULL: *why; the errand
 * goes on. */
struct resolving *errand_resolve(struct errand *e,
                                 void (*done)(void *ctx, struct resolution *res), void *ctx,
                                 struct error *why);
/* From a callback of the loop; the job's cancel follows. */
void errand_end(struct errand *e, int status);

/* People are at both ends, and want to be asked. */
bool cli_interactive(void);

#endif
