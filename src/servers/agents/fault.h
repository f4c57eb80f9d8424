/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What can go wrong with an agent, as callers see it (AG-9). */
#ifndef SYM_SERVERS_AGENTS_FAULT_H
#define SYM_SERVERS_AGENTS_FAULT_H

#include "base/buf.h"

#define FAULT_MESSAGE_MAX 256 /* bytes (AG-25) */

enum fault_kind {
    FAULT_NONE,
    FAULT_INVALID_REQUEST,
    FAULT_UNKNOWN_AGENT,
    FAULT_UNKNOWN_TOOL,
    FAULT_MISSING_VARIABLE,
    FAULT_CONFIGURATION,
    FAULT_CAPACITY,
    FAULT_QUEUE_FULL,
    FAULT_NON_RESUMABLE,
    FAULT_CHILD_STARTUP,
    FAULT_CHILD_TOOL,
    FAULT_INTERRUPTED,
    FAULT_PROVIDER,
    FAULT_TIMEOUT,
    FAULT_CONTEXT,
    FAULT_INTERNAL,
    FAULT_RUNTIME,
};

struct fault {
    enum fault_kind kind;
    char msg[FAULT_MESSAGE_MAX + 1]; /* clean, on a UTF-8 border */
};

const char *fault_name(enum fault_kind k); /* "invalid_request" */

/* Always false. */
__attribute__((format(printf, 3, 4))) bool fault_set(struct fault *f, enum fault_kind k,
                                                     const char *fmt, ...);

#endif
