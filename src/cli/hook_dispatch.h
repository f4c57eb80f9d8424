/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All hooks of all plugins for one event (docs/spec/plugins.md HK-5): chosen, their gates
 * evaluated, run at the same time, their verdicts merged in the order of the plugins.
 *
 *     chosen ── agent, format, matcher ──> gates ──> run (HOOK_PARALLEL at a time) ──> merged
 *
 * Only plugins that are active and trusted have a say: the hooks of a workspace's own manifest
 * nobody consented to never run (PL-32). Nothing here fails: a hook that cannot run, ends badly
 * or is late has no say, and an outcome tells why.
 */
#ifndef SYM_CLI_HOOK_DISPATCH_H
#define SYM_CLI_HOOK_DISPATCH_H

#include "loop/loop.h"
#include "plugins/hook_wire.h"
#include "plugins/resolve.h"

#define HOOK_TIMEOUT_MS 10000 /* of one hook */
#define HOOK_PARALLEL   8
#define HOOK_MAX        64 /* hooks of one event; further ones have no say */

/* What became of one hook, for people and for SYMPOSIUM_HOOK_TRACE. */
struct hook_outcome {
    struct str plugin, hook;
    const char *what; /* "allowed", "denied", "answered", "gated", "failed", ... */
    const char *why;  /* NULL: nothing to add */
    int ms;
    bool warn; /* a person should know */
};

struct hook_decided {
    struct hook_verdict verdict;
    struct {
        struct hook_outcome *v;
        size_t n, cap;
    } outcomes; /* in the order of the hooks */
};

struct hook_dispatch_opts {
    const struct resolution *res;
    const char *cache_dir;
    const struct hook_input *input;
    struct str native; /* stdin as it came: what a hook of the agent's own format gets */
    int timeout_ms;    /* of everything; what has not answered then has no say */
};

struct hook_dispatch;

/* What the options point to must live until `done`, which comes once, never from inside; what
 * it gets is valid during the call. With no hook to run no process is started. */
struct hook_dispatch *hook_dispatch_start(struct loop *l, const struct hook_dispatch_opts *o,
                                          void (*done)(void *ctx, const struct hook_decided *d),
                                          void *ctx);
void hook_dispatch_free(struct hook_dispatch *d); /* kills what runs; NULL is accepted */

#endif
