/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *fault_name(enum fault_kind k)
{
    static const char *const names[] = {
        [FAULT_NONE] = "none",
        [FAULT_INVALID_REQUEST] = "invalid_request",
        [FAULT_UNKNOWN_AGENT] = "unknown_agent",
        [FAULT_UNKNOWN_TOOL] = "unknown_tool",
        [FAULT_MISSING_VARIABLE] = "missing_environment_variable",
        [FAULT_CONFIGURATION] = "configuration_error",
        [FAULT_CAPACITY] = "capacity_exceeded",
        [FAULT_QUEUE_FULL] = "queue_full",
        [FAULT_NON_RESUMABLE] = "non_resumable",
        [FAULT_CHILD_STARTUP] = "child_mcp_startup_error",
        [FAULT_CHILD_TOOL] = "child_mcp_tool_error",
        [FAULT_INTERRUPTED] = "run_interrupted",
        [FAULT_PROVIDER] = "provider_error",
        [FAULT_TIMEOUT] = "provider_timeout",
        [FAULT_CONTEXT] = "context_limit",
        [FAULT_INTERNAL] = "internal_error",
        [FAULT_RUNTIME] = "runtime_error",
    };

    return names[k];
}

bool fault_set(struct fault *f, enum fault_kind k, const char *fmt, ...)
{
    char text[4096];
    auto_buf clean = BUF(sizeof text * 3);
    struct str s;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    utf8_put_clean(&clean, str_of(text));
    s = utf8_cut(buf_str(&clean), FAULT_MESSAGE_MAX);
    f->kind = k;
    if (s.n)
        memcpy(f->msg, s.p, s.n);
    f->msg[s.n] = '\0';
    return false;
}
