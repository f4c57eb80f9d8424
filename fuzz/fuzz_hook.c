/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What agents and hooks say, and agents' files. The first byte chooses what is done, the second
 * the agent and event; the rest is the text. What comes out is JSON, a denial is never lost, a
 * registration is idempotent and leaves nothing of ours when it is taken back.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "plugins/hook_match.h"
#include "plugins/hook_wire.h"
#include "sync/document.h"
#include "sync/hooks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const agents[] = { "claude",  "codex", "gemini",
                                      "copilot", "kiro",  "antigravity" };

static void fuzz_input(const struct hook_dialect *d, enum hook_event event, struct str text)
{
    struct hook_input in;
    auto_json j = { 0 }, back = { 0 };
    auto_buf out = BUF(HOOK_MAX_ANSWER);

    if (!json_parse(&j, text, NULL) || !hook_input_read(&in, d, event, j.root, NULL))
        return;
    hook_input_put(&out, &in);
    /* One level more than the agent's own text. */
    if (json_parse(&back, buf_str(&out), NULL))
        assert(json_is_obj(json_get(back.root, hook_event_name(event))));
    hook_input_free(&in);
}

static bool says_deny(yyjson_val *root)
{
    yyjson_val *of = json_get(root, "hookSpecificOutput");
    yyjson_val *v = json_get(json_is_obj(of) ? of : root, "permissionDecision");

    return str_is(json_str(v), "deny") || str_is(json_str(json_get(root, "decision")), "deny");
}

static void fuzz_verdict(const struct hook_dialect *d, enum hook_event event, struct str text)
{
    struct hook_input in = { .dialect = d, .event = event };
    struct str format =
        text.n && text.p[0] == 'n' ? str_of(hook_dialect_name(d)) : STR("symposium");
    struct hook_verdict v, all = { .decision = HOOK_DENY, .reason = STR("r") };
    struct hook_answer answer;
    auto_arena a = ARENA;
    auto_json j = { 0 };

    if (!hook_verdict_read(&v, &a, &in, format, str_from(text, 1), NULL))
        return;
    hook_answer_put(&answer, d, event, &v);
    if (answer.out.n && !str_is(str_of(hook_dialect_name(d)), "kiro")) {
        struct error e = { 0 };

        /* One level more than the hook's own text. */
        assert(json_parse(&j, buf_str(&answer.out), &e) || e.kind == ERR_LIMIT);
    }
    hook_answer_free(&answer);
    json_free(&j);
    hook_verdict_merge(&all, &a, &v);
    assert(all.decision == HOOK_DENY);
    hook_answer_put(&answer, d, HOOK_PRE_TOOL_USE, &all);
    if (answer.status == 0 && json_parse(&j, buf_str(&answer.out), NULL))
        assert(says_deny(j.root));
    hook_answer_free(&answer);
}

static void fuzz_file(const struct agent *g, struct str text)
{
    static const struct sync_env env = { .home = "/h", .root = "/w", .path = "" };
    struct hooks_edit t = { g, &env, "symposium", true };
    auto_buf once = BUF(1 << 22), twice = BUF(1 << 22), without = BUF(1 << 22),
             again = BUF(1 << 22);
    const char *what;

    if (hooks_put(&t, text, &once, &what, NULL)) {
        assert(hooks_put(&t, buf_str(&once), &twice, &what, NULL));
        assert(!what && str_eq(buf_str(&once), buf_str(&twice)));
        assert(hooks_take(&t, buf_str(&once), &without, &what, NULL));
        assert(hooks_take(&t, buf_str(&without), &again, &what, NULL));
        assert(!what && str_eq(buf_str(&without), buf_str(&again)));
    }
}

static void fuzz_matcher(struct str text)
{
    struct str matcher = text, tool = { 0 };

    str_cut(text, '\n', &matcher, &tool);
    hook_matches(matcher, tool, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data + 2, size - 2 };
    const char *agent;

    if (size < 2)
        return 0;
    agent = agents[data[1] % ARRAY_LEN(agents)];
    switch (data[0] % 4) {
    case 0:
        fuzz_input(hook_dialect_find(str_of(agent)),
                   (enum hook_event)(data[1] / 8 % HOOK_EVENTS), text);
        break;
    case 1:
        fuzz_verdict(hook_dialect_find(str_of(agent)),
                     (enum hook_event)(data[1] / 8 % HOOK_EVENTS), text);
        break;
    case 2:
        fuzz_file(agent_find(str_of(agent)), text);
        break;
    case 3:
        fuzz_matcher(text);
        break;
    }
    return 0;
}
