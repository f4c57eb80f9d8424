/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Package managers as separate programs over newline-delimited JSON-RPC (docs/spec/plugins.md
 * section 9.1). Best effort by rule: whatever a program does (cannot start, garbage, silence, a
 * wrong name, death in mid-answer), the answer is empty with a reason, never an abort (PM-8).
 * One process per package manager and run, started at the first need, marked dead after a
 * failure and not started again (PM-9). Calls made meanwhile wait for the handshake; several
 * may be open.
 *
 *   cold --first call--> starting --initialize answered--> ready --failure, close--> dead
 */
#ifndef SYM_PM_PROCESS_H
#define SYM_PM_PROCESS_H

#include "loop/loop.h"
#include "text/json.h"

#define PM_PROTOCOL_VERSION     1
#define PM_TIMEOUT_MS           (120 * 1000)
#define PM_HANDSHAKE_TIMEOUT_MS 5000
#define PM_LIST_TIMEOUT_MS      5000
#define PM_MAX_LINE             ((size_t)16 << 20)
#define PM_NETWORK_RETRIES \
    3 /* of a call answered with -32002 (PM-5), while as long as the last try took is left */

struct pm_process;

struct pm_opts {
    const char *name;           /* must be what the program answers to initialize */
    const char *const *argv;    /* NULL-terminated; argv[0] as in loop/child.h */
    const struct str *pass_env; /* more names for its environment (PM-10) */
    size_t npass_env;
    const char *workspace, *cache_dir; /* sent with initialize; NULL: not sent */
    /* It gets a network without anything in it where the host allows that, and a network that
     * fails is not tried again (PM-7). It then runs under a keeper. */
    bool offline;
};

/* Starts nothing; opts are copied. */
struct pm_process *pm_process_new(struct loop *l, const struct pm_opts *o);

/*
 * `result` is NULL when the call contributed nothing; then *why says so (for a problem line),
 * and its kind what kind of nothing:
 *
 *   ERR_NOT_FOUND  -32001, or the method is not offered: skip silently
 *   ERR_INVALID    -32003: a hard error of that entry
 *   ERR_DENIED     -32004: authentication required; report the message
 *   ERR_PROTOCOL   it broke the protocol, or another code
 *   ERR_CLOSED     the process died, or -32002: pm_is_network()
 *   ERR_SYS        -32005, what it would run is not installed: pm_is_missing(); or as below
 *   others         the process failed: ERR_TIMEOUT, ERR_LIMIT, ERR_SYS
 *
 * Both are valid during the call only. It may free the process.
 */
typedef void (*pm_answer_fn)(void *ctx, yyjson_val *result, const struct error *why);

/* Milliseconds before retry number n, from 0, of what the network failed. */
int pm_backoff_ms(int n);

/* The network failed, also after the retries (PM-5): what is cached may be used instead. */
bool pm_is_network(const struct error *why);

/* The package manager's own tool is not installed; the message says what to do (PM-5). */
bool pm_is_missing(const struct error *why);

/* `params`: JSON object text, or empty. `timeout_ms` counts from now, start and handshake
 * included. `done` is called exactly once, never from inside; the only exceptions are
 * pm_process_drop() and pm_process_free(). */
void pm_process_call(struct pm_process *p, const char *method, struct str params,
                     int timeout_ms, pm_answer_fn done, void *ctx);

/* Forgets the calls that were made with this ctx: their `done` is not called any more. */
void pm_process_drop(struct pm_process *p, const void *ctx);

bool pm_process_dead(const struct pm_process *p);

/* Ends the program by closing stdin, then SIGTERM, then SIGKILL (PM-9); open calls fail with
 * ERR_CLOSED. `gone` (may be NULL) is called once no process is left, never from inside.
 * Afterwards it is dead. */
void pm_process_close(struct pm_process *p, void (*gone)(void *ctx), void *ctx);

/* Kills what is left; open calls end with ERR_CLOSED before this returns. NULL is accepted. */
void pm_process_free(struct pm_process *p);

#endif
