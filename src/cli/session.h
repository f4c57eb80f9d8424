/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The life of a command that needs the engine: find the inventory, do one thing, stop the
 * servers, leave nothing behind.
 *
 *   session_run ─ inventory found ─> job.begin ─ ... ─> session_end ─> servers stop ─> returns
 *                      └────── SIGINT, SIGTERM, SIGHUP ──> job.cancel ──┘ (and dies of it)
 *
 * While a server takes its time to start, a terminal shows one line on stderr; it is gone
 * before anything else is printed.
 */
#ifndef SYM_CLI_SESSION_H
#define SYM_CLI_SESSION_H

#include "cli/command.h"
#include "meta/gateway.h"

#define SESSION_PATIENCE_MS 400 /* before the line appears */
#define SESSION_REDRAW_MS   250
#define SESSION_SWEEP_MS    1000

struct session {
    struct loop *loop;
    struct gateway *gateway;
    struct catalog *catalog; /* the inventory, referenced */
    const struct dirs *dirs;
    /* The rest is session.c's. */
    const struct session_job *job;
    void *ctx;
    struct timer *redraw;
    int64_t began_ms;
    bool drawn, ending;
    int status, signo;
};

struct session_job {
    void (*begin)(struct session *s, void *ctx);
    /* A signal: let go of what is under way. session_end() need not be called any more. */
    void (*cancel)(void *ctx);
    /* Optional: adds ", name" for each server being waited for; else those of the catalog. */
    void (*waiting_for)(void *ctx, struct buf *names);
    /* Optional: frees what must go before the loop does. */
    void (*finish)(void *ctx);
    /* Offer to trust the workspace first, when people are at both ends (PL-32). */
    bool asks_trust;
    bool even_disabled; /* begin is called also with [mcp] enabled = false */
};

/* Returns the exit status, or does not return when a signal ended it. */
int session_run(struct arena *a, const struct args *args, const struct session_job *job,
                void *ctx);

/* Takes the progress line away. Call it before printing. */
void session_clear(struct session *s);
void session_end(struct session *s, int status);

/* Adds ", name" when that server is being started. */
void session_put_starting(struct buf *names, const struct backend *b);

#endif
