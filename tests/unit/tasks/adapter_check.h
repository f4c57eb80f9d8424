/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A plan as text, so that a case of a test is one row. */
#ifndef SYM_TEST_ADAPTER_CHECK_H
#define SYM_TEST_ADAPTER_CHECK_H

#include "../check.h"

#include "tasks/adapter.h"

/* What is asked of an agent; NULL members: the usual. */
struct asked {
    const char *agent, *options, *prompt, *session_id, *chain;
    const char *const *env;
};

/*
 * "argv | setting=value ... | allow=N resume=ID auth=ID servers=N v=N stdin", what is not there
 * left out; of a refusal "! text". A mode is "mode:value". Both in the arena.
 */
const char *plan_text(struct arena *a, const struct adapters *all, const struct asked *asked);
/* The environment that the agent gets, a line each. */
const char *plan_env(struct arena *a, const struct adapters *all, const struct asked *asked);

/* The built-in adapters and those of `toml`, NULL: none. A refusal fails the test. */
void load_adapters(struct adapters *ret, struct arena *a, const char *toml);
/* Reads that config; the error's text, NULL: it is fine. */
const char *load_refusal(struct arena *a, const char *toml);

#endif
