/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/hook_wire.h"

#include <ctype.h>

#include "base/mem.h"
#include "plugins/hook_impl.h"

#define WORDS_MAX 64 /* bytes of an event's name */

static const char *const event_names[HOOK_EVENTS] = {
    [HOOK_PRE_TOOL_USE] = "PreToolUse",
    [HOOK_POST_TOOL_USE] = "PostToolUse",
    [HOOK_USER_PROMPT_SUBMIT] = "UserPromptSubmit",
    [HOOK_SESSION_START] = "SessionStart",
    [HOOK_STOP] = "Stop",
};

/* clang-format off */
#define SNAKE_CASE \
    { "session_id", "cwd", "tool_name", "tool_input", "tool_response", "prompt" }

/* Limits: Codex, Gemini, Copilot and Antigravity get theirs with the registration. Claude Code
 * gives a prompt's hook 30 s (others more), Kiro all of them. */
static const struct hook_dialect dialects[] = {
    { .name = "claude",
      .events = { "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop" },
      .limit_ms = 30000,
      .input = SNAKE_CASE,
      .prints = PRINTS_JSON_OR_TEXT, .answer = answer_claude },
    { .name = "codex",
      .events = { "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop" },
      .limit_ms = 10000,
      .input = SNAKE_CASE,
      .prints = PRINTS_JSON_OR_TEXT, .answer = answer_codex },
    { .name = "gemini",
      .events = { "BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", NULL },
      .limit_ms = 10000,
      .input = SNAKE_CASE,
      .answer = answer_gemini },
    { .name = "copilot",
      .events = { "preToolUse", "postToolUse", "userPromptSubmitted", "sessionStart", NULL },
      .limit_ms = 10000,
      .input = { "sessionId", "cwd", "toolName", "toolArgs", "toolResult", "prompt" },
      .answer = answer_copilot },
    { .name = "kiro",
      .events = { "preToolUse", "postToolUse", "userPromptSubmit", "agentSpawn", NULL },
      .limit_ms = 30000,
      .input = SNAKE_CASE,
      .prints = PRINTS_TEXT, .answer = answer_kiro },
    { .name = "antigravity",
      .events = { "PreToolUse", "PostToolUse", "PreInvocation", "SessionStart", "Stop" },
      .limit_ms = 10000,
      .input = { "conversationId", "workspacePaths", "toolCall.name", "toolCall.args", "error",
                 "prompt" },
      .answer = answer_antigravity },
};
/* clang-format on */

const char *hook_event_name(enum hook_event e)
{
    return event_names[e];
}

const struct hook_dialect *hook_dialect_find(struct str agent)
{
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
        if (str_is(agent, dialects[i].name))
            return &dialects[i];
    return NULL;
}

const char *hook_dialect_name(const struct hook_dialect *d)
{
    return d->name;
}

const char *hook_dialect_event(const struct hook_dialect *d, enum hook_event e)
{
    return d->events[e];
}

int hook_dialect_limit_ms(const struct hook_dialect *d)
{
    return d->limit_ms;
}

/* ---- names of events ---- */

/* "pre-tool-use", "PRE_TOOL_USE" and "PreToolUse" are one. */
static bool same_words(struct str a, const char *b)
{
    for (size_t i = 0; i < a.n; i++) {
        if (a.p[i] == '-' || a.p[i] == '_')
            continue;
        if (tolower((unsigned char)a.p[i]) != tolower((unsigned char)*b))
            return false;
        b++;
    }
    return *b == '\0';
}

bool hook_event_parse(const struct hook_dialect *d, struct str name, enum hook_event *ret)
{
    for (int e = 0; e < HOOK_EVENTS && name.n <= WORDS_MAX; e++)
        if (d->events[e] &&
            (same_words(name, d->events[e]) || same_words(name, event_names[e]))) {
            *ret = (enum hook_event)e;
            return true;
        }
    return false;
}

/* ---- input ---- */

/* A text, or the first one of a list: Antigravity names all open directories. */
static struct str text_at(yyjson_val *native, const char *path)
{
    yyjson_val *v = json_path(native, path);

    return json_str(json_is_arr(v) ? json_at(v, 0) : v);
}

/* Arguments that come as a string are JSON in it (HK-3); what is none stays a string. */
static yyjson_val *arguments(struct hook_input *in, yyjson_val *v)
{
    if (!json_is_str(v) || !json_parse(&in->args, json_str(v), NULL))
        return v;
    return in->args.root;
}

/* An empty error is no response. */
static yyjson_val *response(yyjson_val *v)
{
    return json_is_str(v) && !json_str(v).n ? NULL : v;
}

bool hook_input_read(struct hook_input *ret, const struct hook_dialect *d, enum hook_event e,
                     yyjson_val *native, struct error *err)
{
    const struct input_names *n = &d->input;
    int64_t invocation = 0;

    if (!json_is_obj(native))
        return error_set(err, ERR_INVALID, "the input must be a JSON object, not %s",
                         json_type_name(native));
    *ret = (struct hook_input){ .dialect = d,
                                .event = e,
                                .session_id = text_at(native, n->session_id),
                                .cwd = text_at(native, n->cwd) };
    json_int(json_get(native, "invocationNum"), &invocation);
    ret->ignore = e == HOOK_USER_PROMPT_SUBMIT && d->answer == answer_antigravity && invocation;
    if (e == HOOK_PRE_TOOL_USE || e == HOOK_POST_TOOL_USE) {
        ret->tool_name = text_at(native, n->tool_name);
        ret->tool_input = arguments(ret, json_path(native, n->tool_input));
    }
    if (e == HOOK_POST_TOOL_USE)
        ret->tool_response = response(json_path(native, n->tool_response));
    if (e == HOOK_USER_PROMPT_SUBMIT)
        ret->prompt = text_at(native, n->prompt);
    return true;
}

void hook_input_free(struct hook_input *in)
{
    json_free(&in->args);
}

static void put_text(struct jw *w, const char *key, struct str s)
{
    jw_key(w, key);
    if (s.n)
        jw_str(w, s);
    else
        jw_null(w);
}

void hook_input_put(struct buf *out, const struct hook_input *in)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, event_names[in->event]);
    jw_obj(&w);
    if (in->event == HOOK_PRE_TOOL_USE || in->event == HOOK_POST_TOOL_USE) {
        jw_kstr(&w, "tool_name", in->tool_name);
        jw_key(&w, "tool_input");
        jw_val(&w, in->tool_input);
    }
    if (in->event == HOOK_POST_TOOL_USE) {
        jw_key(&w, "tool_response");
        jw_val(&w, in->tool_response);
    }
    if (in->event == HOOK_USER_PROMPT_SUBMIT)
        jw_kstr(&w, "prompt", in->prompt);
    put_text(&w, "session_id", in->session_id);
    put_text(&w, "cwd", in->cwd);
    jw_end(&w);
    jw_end(&w);
}
