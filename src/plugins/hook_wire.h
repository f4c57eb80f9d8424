/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What agents say to a hook and what they want to hear, and our own form of both
 * (docs/spec/plugins.md HK-3, HK-4). Pure: text in, text out.
 *
 *   native stdin ──hook_input_read──> hook_input ──hook_input_put──> canonical stdin
 *                                                                        │ a plugin's hook
 *   native stdout <──hook_answer_put── hook_verdict <──hook_verdict_read─┘
 *                                       (merged)
 *
 * Agents differ in names, in where a decision stands, and in what silence means; all of that is
 * a row of one table (a dialect) here. Which file a hook is registered in is sync's affair.
 */
#ifndef SYM_PLUGINS_HOOK_WIRE_H
#define SYM_PLUGINS_HOOK_WIRE_H

#include "plugins/plugin.h"
#include "text/json.h"

#define HOOK_EVENTS     (HOOK_STOP + 1)
#define HOOK_MAX_INPUT  ((size_t)16 << 20) /* bytes of stdin, ours */
#define HOOK_MAX_OUTPUT ((size_t)1 << 20)  /* of a plugin's hook */
#define HOOK_MAX_TEXT   ((size_t)4 << 20)  /* reasons, or contexts, of all hooks together */
#define HOOK_MAX_ANSWER ((size_t)64 << 20) /* ours; what is too long for it is left out */

/* PL-13's names: "PreToolUse" .. "Stop". */
const char *hook_event_name(enum hook_event e);

struct hook_dialect;

/* By the agent's name in config.toml; NULL: an agent without hooks, or none at all. */
const struct hook_dialect *hook_dialect_find(struct str agent);
const char *hook_dialect_name(const struct hook_dialect *d);
/* The agent's own name of the event; NULL: it has none. */
const char *hook_dialect_event(const struct hook_dialect *d, enum hook_event e);
/* When the agent gives a hook up: as we register it, else its default. */
int hook_dialect_limit_ms(const struct hook_dialect *d);

/* The agent's name of an event or PL-13's, in any spelling of words ("pre-tool-use"). */
bool hook_event_parse(const struct hook_dialect *d, struct str name, enum hook_event *ret);

/* ---- what happened ---- */

/* Borrows the document it was read from. */
struct hook_input {
    const struct hook_dialect *dialect;
    enum hook_event event;
    struct str session_id, cwd; /* empty: not said */
    struct str tool_name, prompt;
    yyjson_val *tool_input, *tool_response; /* NULL: not said */
    struct json args;                       /* Copilot's arguments, which come as a string */
    /* Antigravity has no event for a prompt, only one before each call of the model: all but
     * the first of a turn are nobody's business. */
    bool ignore;
};

/* ERR_INVALID when it is no object. Everything else that is missing is only empty. */
bool hook_input_read(struct hook_input *ret, const struct hook_dialect *d, enum hook_event e,
                     yyjson_val *native, struct error *err);
void hook_input_free(struct hook_input *in);

/* HK-3: {"PreToolUse":{"tool_name":..,"tool_input":..,"session_id":..,"cwd":..}} */
void hook_input_put(struct buf *out, const struct hook_input *in);

/* ---- what is to be done ---- */

/* By weight: of two, the greater one counts (HK-5). */
enum hook_decision { HOOK_UNDECIDED, HOOK_ALLOW, HOOK_ASK, HOOK_DENY };

struct hook_verdict {
    enum hook_decision decision;
    struct str reason; /* of the decision */
    struct str context;
    struct str updated_input; /* JSON; empty: none */
    /* What only this agent's own format knows, as JSON; members of its hookSpecificOutput
     * apart. */
    struct key_values own, own_specific;
};

/*
 * What a hook of this format printed before it exited with 0; nothing at all is no opinion. The
 * format is "symposium" (HK-4: one member, named as the event) or the dialect's own, where
 * text that is no JSON is context if the agent takes it so. ERR_INVALID, *ret untouched. Memory
 * is the arena's.
 */
bool hook_verdict_read(struct hook_verdict *ret, struct arena *a, const struct hook_input *in,
                       struct str format, struct str text, struct error *e);

/* The other one comes later: its updated input and own members win, contexts are joined. */
void hook_verdict_merge(struct hook_verdict *into, struct arena *a,
                        const struct hook_verdict *later);

/* What the dispatcher prints on stdout and stderr, and its exit status. Empty texts and status
 * 0 say nothing where silence means no opinion. */
struct hook_answer {
    struct buf out, err;
    int status;
};

void hook_answer_put(struct hook_answer *ret, const struct hook_dialect *d, enum hook_event e,
                     const struct hook_verdict *v);
void hook_answer_free(struct hook_answer *answer);

#endif
