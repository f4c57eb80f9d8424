/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A command of the ecosystem's own tool, run for a request: bounded output, a deadline, and an
 * end of its whole process group on timeout, on too much output and when the program ends. What
 * a command that ended by itself left running, or what left its group, ends with the program.
 */
#ifndef PMS_COMMON_RUN_H
#define PMS_COMMON_RUN_H

#include "common/serve.h"

#define RUN_MAX_OUTPUT ((size_t)8 << 20)  /* of stdout; more is ERR_LIMIT, the command ends */
#define RUN_MAX_STDERR ((size_t)16 << 10) /* the last bytes are kept */
#define RUN_PARALLEL   4                  /* commands at once; further ones wait their turn */

struct run_opts {
    const char *const *argv; /* NULL-terminated; argv[0] with a slash or searched in PATH */
    const char *const *env;  /* complete, NULL-terminated; NULL: ours */
    const char *cwd;
    int timeout_ms; /* from the call on */
    /* For a person who waits, "fetching serde 1.0.219 (cargo fetch)": a line of stderr of its
     * own, with PROGRESS_PREFIX, when the command starts. NULL: none. */
    const char *progress;
    /* What a person does about it where the program is missing: "install Rust". NULL: nothing
     */
    const char *install;
};

#define PROGRESS_PREFIX "progress: "

struct run_result {
    int code;       /* exit code; -1 when a signal ended it */
    struct str out; /* whole stdout */
    struct str err; /* the end of stderr, from the beginning of a line */
};

/*
 * Once, never from inside run_command(). `why` NULL: the command ended by itself, whatever its
 * code. Else it is not installed (ERR_SYS with ENOPKG: -32005) or could not be started
 * (ERR_SYS), took too long (ERR_TIMEOUT), wrote too much (ERR_LIMIT) or the program ends
 * (ERR_CLOSED); nothing of its group is left.
 * *result is valid during the call in every case.
 */
typedef void (*run_fn)(void *ctx, const struct run_result *result, const struct error *why);

/* What the options point to must live until `done`, as in the request's arena; the request must
 * stay open until then. Replaces its request_on_end(). */
void run_command(struct request *r, const struct run_opts *o, run_fn done, void *ctx);

/* Of the server. Freeing kills what still runs; `done` is not called. */
struct runs *runs_new(void);
void runs_free(struct runs *all);

/* The line of the tool's stderr that says what is wrong: the first with "error", else the last
 * one that is not blank. Empty when there is none. */
struct str run_complaint(struct str err);

#endif
