/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SYMPOSIUM_HOOK_TRACE=FILE (docs/spec/plugins.md CF-6): each call of a hook adds one JSON
 * object, on a line of its own, to the file:
 *
 *     {"time_ms":..,"agent":"claude","event":"PreToolUse","cwd":..,"input":..,
 *      "hooks":[{"plugin":..,"hook":..,"what":..,"why":..,"ms":..}],
 *      "output":"..","error":"..","status":0,"ms":12,"note":..}
 *
 * It holds what the agent said, as it said it. Best effort: a file that cannot be written
 * changes nothing.
 */
#ifndef SYM_CLI_HOOK_TRACE_H
#define SYM_CLI_HOOK_TRACE_H

#include "cli/hook_dispatch.h"

struct hook_call {
    const char *agent, *event; /* as they were called */
    const char *cwd;           /* where it was looked for a workspace; NULL: not got that far */
    struct str input;          /* as it came */
    yyjson_val *parsed;        /* NULL: it is no JSON */
    const struct hook_decided *decided; /* NULL: no hook was asked */
    const struct hook_answer *answer;
    int ms;
    const char *note; /* what else a reader should know; NULL */
};

/* Does nothing without the variable. */
void hook_trace(const struct hook_call *call);

#endif
