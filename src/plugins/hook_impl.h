/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by hook_wire.c and hook_answer.c only: what a dialect is. */
#ifndef SYM_PLUGINS_HOOK_IMPL_H
#define SYM_PLUGINS_HOOK_IMPL_H

#include "plugins/hook_wire.h"

/* Dotted paths into the native input. */
struct input_names {
    const char *session_id, *cwd, *tool_name, *tool_input, *tool_response, *prompt;
};

/* What a hook written for the agent prints. Text is context for a prompt and at the start of a
 * session, and nothing elsewhere. */
enum hook_prints { PRINTS_JSON, PRINTS_JSON_OR_TEXT, PRINTS_TEXT };

/* One answer in the making. */
struct answering {
    struct hook_answer *to;
    const struct hook_dialect *dialect;
    enum hook_event event;
    const struct hook_verdict *v;
};

struct hook_dialect {
    const char *name;
    const char *events[HOOK_EVENTS];
    int limit_ms;
    struct input_names input;
    enum hook_prints prints;
    void (*answer)(const struct answering *a);
};

void answer_claude(const struct answering *a);
void answer_codex(const struct answering *a);
void answer_gemini(const struct answering *a);
void answer_copilot(const struct answering *a);
void answer_kiro(const struct answering *a);
void answer_antigravity(const struct answering *a);

#endif
