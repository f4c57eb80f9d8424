/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "plugins/hook_match.h"
#include "plugins/hook_wire.h"

static const struct hook_dialect *dialect(const char *name)
{
    const struct hook_dialect *d = hook_dialect_find(str_of(name));

    assert_non_null(d);
    return d;
}

static void events_go_by_the_agents_name_and_by_ours(void **state) /* HK-1 */
{
    static const struct {
        const char *agent, *event;
        int want; /* -1: none */
    } rows[] = {
        { "claude", "PreToolUse", HOOK_PRE_TOOL_USE },
        { "claude", "pre-tool-use", HOOK_PRE_TOOL_USE },
        { "claude", "session_start", HOOK_SESSION_START },
        { "claude", "BeforeTool", -1 },
        { "claude", "", -1 },
        { "claude", "PreToolUseX", -1 },
        { "claude", "PreToolUs", -1 },
        { "codex", "Stop", HOOK_STOP },
        { "gemini", "BeforeTool", HOOK_PRE_TOOL_USE },
        { "gemini", "AfterTool", HOOK_POST_TOOL_USE },
        { "gemini", "BeforeAgent", HOOK_USER_PROMPT_SUBMIT },
        { "gemini", "PreToolUse", HOOK_PRE_TOOL_USE },
        { "gemini", "Stop", -1 },
        { "copilot", "userPromptSubmitted", HOOK_USER_PROMPT_SUBMIT },
        { "copilot", "sessionStart", HOOK_SESSION_START },
        { "kiro", "agentSpawn", HOOK_SESSION_START },
        { "kiro", "postToolUse", HOOK_POST_TOOL_USE },
        { "antigravity", "PreInvocation", HOOK_USER_PROMPT_SUBMIT },
        { "antigravity", "Stop", HOOK_STOP },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum hook_event e = HOOK_STOP;
        bool found = hook_event_parse(dialect(rows[i].agent), str_of(rows[i].event), &e);

        assert_int_equal(found, rows[i].want >= 0);
        if (found)
            assert_int_equal(e, rows[i].want);
    }
    assert_null(hook_dialect_find(STR("goose")));
    assert_null(hook_dialect_find(STR("opencode")));
    assert_null(hook_dialect_find(STR("pi")));
    assert_null(hook_dialect_find(STR("")));
}

static void each_agents_input_becomes_ours(void **state) /* HK-3 */
{
    static const struct {
        const char *agent, *event, *native, *want;
    } rows[] = {
        { "claude", "PreToolUse",
          "{\"session_id\":\"s\",\"transcript_path\":\"/t\",\"cwd\":\"/w\",\"hook_event_name\":"
          "\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},"
          "\"tool_use_id\":\"u\"}",
          "{\"PreToolUse\":{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},"
          "\"session_id\":\"s\",\"cwd\":\"/w\"}}" },
        { "codex", "PostToolUse",
          "{\"session_id\":\"s\",\"cwd\":\"/"
          "w\",\"tool_name\":\"shell\",\"tool_input\":{\"a\":1},"
          "\"tool_response\":\"ok\",\"turn_id\":\"t\"}",
          "{\"PostToolUse\":{\"tool_name\":\"shell\",\"tool_input\":{\"a\":1},"
          "\"tool_response\":\"ok\",\"session_id\":\"s\",\"cwd\":\"/w\"}}" },
        { "gemini", "BeforeAgent",
          "{\"session_id\":\"s\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeAgent\","
          "\"timestamp\":\"t\",\"prompt\":\"hi\"}",
          "{\"UserPromptSubmit\":{\"prompt\":\"hi\",\"session_id\":\"s\",\"cwd\":\"/w\"}}" },
        { "copilot", "preToolUse",
          "{\"sessionId\":\"s\",\"timestamp\":1,\"cwd\":\"/w\",\"toolName\":\"bash\","
          "\"toolArgs\":\"{\\\"command\\\":\\\"ls\\\"}\"}",
          "{\"PreToolUse\":{\"tool_name\":\"bash\",\"tool_input\":{\"command\":\"ls\"},"
          "\"session_id\":\"s\",\"cwd\":\"/w\"}}" },
        { "copilot", "preToolUse", "{\"toolName\":\"bash\",\"toolArgs\":{\"command\":\"ls\"}}",
          "{\"PreToolUse\":{\"tool_name\":\"bash\",\"tool_input\":{\"command\":\"ls\"},"
          "\"session_id\":null,\"cwd\":null}}" },
        { "copilot", "preToolUse", "{\"toolName\":\"bash\",\"toolArgs\":\"{not json\"}",
          "{\"PreToolUse\":{\"tool_name\":\"bash\",\"tool_input\":\"{not json\","
          "\"session_id\":null,\"cwd\":null}}" },
        { "copilot", "postToolUse",
          "{\"sessionId\":\"s\",\"cwd\":\"/w\",\"toolName\":\"bash\",\"toolArgs\":\"{}\","
          "\"toolResult\":{\"resultType\":\"success\",\"textResultForLlm\":\"x\"}}",
          "{\"PostToolUse\":{\"tool_name\":\"bash\",\"tool_input\":{},\"tool_response\":"
          "{\"resultType\":\"success\",\"textResultForLlm\":\"x\"},\"session_id\":\"s\","
          "\"cwd\":\"/w\"}}" },
        { "kiro", "agentSpawn", "{\"hook_event_name\":\"agentSpawn\",\"cwd\":\"/w\"}",
          "{\"SessionStart\":{\"session_id\":null,\"cwd\":\"/w\"}}" },
        { "antigravity", "PreToolUse",
          "{\"toolCall\":{\"name\":\"run_command\",\"args\":{\"CommandLine\":\"ls\"}},"
          "\"conversationId\":\"c\",\"workspacePaths\":[\"/w\",\"/v\"],\"stepIdx\":2}",
          "{\"PreToolUse\":{\"tool_name\":\"run_command\",\"tool_input\":{\"CommandLine\":"
          "\"ls\"}"
          ",\"session_id\":\"c\",\"cwd\":\"/w\"}}" },
        { "antigravity", "PostToolUse",
          "{\"toolCall\":{\"name\":\"x\",\"args\":{}},\"error\":\"\",\"workspacePaths\":[]}",
          "{\"PostToolUse\":{\"tool_name\":\"x\",\"tool_input\":{},\"tool_response\":null,"
          "\"session_id\":null,\"cwd\":null}}" },
        { "claude", "Stop", "{\"session_id\":\"s\",\"cwd\":\"/w\",\"stop_hook_active\":false}",
          "{\"Stop\":{\"session_id\":\"s\",\"cwd\":\"/w\"}}" },
        /* Nothing that is expected, or of another type. */
        { "claude", "PreToolUse", "{}",
          "{\"PreToolUse\":{\"tool_name\":\"\",\"tool_input\":null,\"session_id\":null,"
          "\"cwd\":null}}" },
        { "claude", "PreToolUse", "{\"tool_name\":[1],\"cwd\":7,\"session_id\":{}}",
          "{\"PreToolUse\":{\"tool_name\":\"\",\"tool_input\":null,\"session_id\":null,"
          "\"cwd\":null}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct hook_dialect *d = dialect(rows[i].agent);
        struct hook_input in;
        enum hook_event e;
        auto_json j = { 0 };
        auto_buf out = BUF(4096);

        assert_true(hook_event_parse(d, str_of(rows[i].event), &e));
        assert_true(json_parse(&j, str_of(rows[i].native), NULL));
        assert_true(hook_input_read(&in, d, e, j.root, NULL));
        hook_input_put(&out, &in);
        assert_str(buf_str(&out), rows[i].want);
        assert_false(in.ignore);
        hook_input_free(&in);
    }
}

static void only_the_first_call_of_a_turn_is_a_prompt_of_antigravity(void **state) /* HK-3 */
{
    static const struct {
        const char *agent, *native;
        bool ignore;
    } rows[] = {
        { "antigravity", "{\"invocationNum\":0}", false },
        { "antigravity", "{}", false },
        { "antigravity", "{\"invocationNum\":\"x\"}", false },
        { "antigravity", "{\"invocationNum\":1}", true },
        { "claude", "{\"invocationNum\":1}", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hook_input in;
        auto_json j = { 0 };

        assert_true(json_parse(&j, str_of(rows[i].native), NULL));
        assert_true(hook_input_read(&in, dialect(rows[i].agent), HOOK_USER_PROMPT_SUBMIT,
                                    j.root, NULL));
        assert_int_equal(in.ignore, rows[i].ignore);
        hook_input_free(&in);
    }
}

static void input_that_is_no_object_is_refused(void **state)
{
    static const char *const texts[] = { "[]", "1", "\"x\"", "null" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct hook_input in;
        struct error e = { 0 };
        auto_json j = { 0 };

        assert_true(json_parse(&j, str_of(texts[i]), NULL));
        assert_false(hook_input_read(&in, dialect("claude"), HOOK_STOP, j.root, &e));
        assert_int_equal(e.kind, ERR_INVALID);
    }
}

/* ---- verdicts ---- */

static bool read_one(struct hook_verdict *ret, struct arena *a, const char *agent,
                     enum hook_event event, const char *format, const char *text,
                     struct error *e)
{
    struct hook_input in = { .dialect = dialect(agent), .event = event };

    return hook_verdict_read(ret, a, &in, str_of(format), str_of(text), e);
}

static void a_canonical_output_is_read_by_its_event(void **state) /* HK-4 */
{
    static const struct {
        enum hook_event event;
        const char *text;
        enum hook_decision decision;
        const char *reason, *context, *input;
    } rows[] = {
        { HOOK_PRE_TOOL_USE, "", HOOK_UNDECIDED, "", "", "" },
        { HOOK_PRE_TOOL_USE, "{\"PreToolUse\":{}}", HOOK_UNDECIDED, "", "", "" },
        { HOOK_PRE_TOOL_USE, "{\"PreToolUse\":{\"decision\":null}}\n", HOOK_UNDECIDED, "", "",
          "" },
        { HOOK_PRE_TOOL_USE,
          "{\"PreToolUse\":{\"decision\":\"allow\",\"additionalContext\":\"c\","
          "\"updatedInput\":"
          "{\"a\":1.0}}}",
          HOOK_ALLOW, "", "c", "{\"a\":1.0}" },
        { HOOK_PRE_TOOL_USE,
          "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"no\"}}", HOOK_DENY,
          "no", "", "" },
        { HOOK_STOP, "{\"Stop\":{\"additionalContext\":\"c\"}}", HOOK_UNDECIDED, "", "c", "" },
        { HOOK_POST_TOOL_USE, "{\"PostToolUse\":{\"updatedInput\":{}}}", HOOK_UNDECIDED, "", "",
          "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct hook_verdict v;

        assert_true(read_one(&v, &a, "claude", rows[i].event, "symposium", rows[i].text, NULL));
        assert_int_equal(v.decision, rows[i].decision);
        assert_str(v.reason, rows[i].reason);
        assert_str(v.context, rows[i].context);
        assert_str(v.updated_input, rows[i].input);
    }
}

static void an_output_that_is_not_understood_says_why(void **state) /* HK-5 */
{
    static const struct {
        const char *agent, *format, *text, *why;
    } rows[] = {
        { "claude", "symposium", "hello", "no JSON" },
        { "claude", "symposium", "{\"PreToolUse\":", "no JSON" },
        { "claude", "symposium", "{\"decision\":\"deny\"}", "no object 'PreToolUse'" },
        { "claude", "symposium", "{\"PreToolUse\":{\"decision\":\"maybe\"}}", "decision" },
        { "claude", "symposium", "[]", "no object" },
        { "gemini", "gemini", "hello", "no JSON" },
        { "copilot", "copilot", "[1]", "object" },
        { "claude", "claude", "{\"a\"", "no JSON" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct hook_verdict v = { .decision = HOOK_ASK };
        struct error e = { 0 };

        assert_false(read_one(&v, &a, rows[i].agent, HOOK_PRE_TOOL_USE, rows[i].format,
                              rows[i].text, &e));
        assert_has(e.msg, rows[i].why);
        assert_int_equal(v.decision, HOOK_ASK);
    }
}

static void an_output_in_the_agents_own_form_keeps_what_we_do_not_know(void **state) /* HK-5 */
{
    static const struct {
        const char *agent, *text;
        enum hook_decision decision;
        const char *reason, *context, *input;
        size_t own, own_specific;
    } rows[] = {
        { "claude",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"r\",\"additionalContext\":\"c\","
          "\"updatedInput\":{\"b\":2},\"other\":1},\"systemMessage\":\"m\",\"continue\":true}",
          HOOK_DENY, "r", "c", "{\"b\":2}", 2, 1 },
        { "claude", "{\"decision\":\"block\",\"reason\":\"r\"}", HOOK_DENY, "r", "", "", 0, 0 },
        { "claude", "{\"decision\":\"approve\"}", HOOK_ALLOW, "", "", "", 0, 0 },
        /* A decision that we do not know is not left to stand beside ours. */
        { "claude", "{\"hookSpecificOutput\":{\"permissionDecision\":\"defer\"}}",
          HOOK_UNDECIDED, "", "", "", 0, 0 },
        { "gemini",
          "{\"decision\":\"deny\",\"reason\":\"r\",\"hookSpecificOutput\":{\"tool_input\":"
          "{\"c\":3}}}",
          HOOK_DENY, "r", "", "{\"c\":3}", 0, 0 },
        { "copilot",
          "{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"r\",\"modifiedArgs\":"
          "{\"d\":4},\"suppressOutput\":true}",
          HOOK_ASK, "r", "", "{\"d\":4}", 1, 0 },
        { "codex", "text before a tool is nothing", HOOK_UNDECIDED, "", "", "", 0, 0 },
        { "kiro", "{\"decision\":\"deny\"}", HOOK_UNDECIDED, "", "", "", 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct hook_verdict v;

        assert_true(read_one(&v, &a, rows[i].agent, HOOK_PRE_TOOL_USE, rows[i].agent,
                             rows[i].text, NULL));
        assert_int_equal(v.decision, rows[i].decision);
        assert_str(v.reason, rows[i].reason);
        assert_str(v.context, rows[i].context);
        assert_str(v.updated_input, rows[i].input);
        assert_int_equal(v.own.n, rows[i].own);
        assert_int_equal(v.own_specific.n, rows[i].own_specific);
    }
}

static void plain_text_is_context_where_the_agent_takes_it(void **state)
{
    static const struct {
        const char *agent;
        enum hook_event event;
        const char *context;
    } rows[] = {
        { "claude", HOOK_SESSION_START, "hello" },
        { "codex", HOOK_USER_PROMPT_SUBMIT, "hello" },
        { "kiro", HOOK_SESSION_START, "hello" },
        { "claude", HOOK_POST_TOOL_USE, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct hook_verdict v;

        assert_true(
            read_one(&v, &a, rows[i].agent, rows[i].event, rows[i].agent, " hello\n", NULL));
        assert_str(v.context, rows[i].context);
    }
}

static void outputs_are_merged_and_the_stronger_decision_wins(void **state) /* HK-5 */
{
    static const struct {
        const char *first, *second, *want;
    } rows[] = {
        /* deny wins, whichever comes first, and its reason is the denier's */
        { "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"no\"}}",
          "{\"PreToolUse\":{\"decision\":\"allow\",\"additionalContext\":\"c\"}}",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"no\",\"additionalContext\":\"c\"}}" },
        { "{\"PreToolUse\":{\"decision\":\"allow\"}}",
          "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"no\"}}",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"no\"}}" },
        { "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"a\"}}",
          "{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"b\"}}",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"a\\nb\"}}" },
        /* the later input wins; contexts are joined; a denied input is not said */
        { "{\"PreToolUse\":{\"updatedInput\":{\"a\":1},\"additionalContext\":\"x\"}}",
          "{\"PreToolUse\":{\"updatedInput\":{\"b\":2},\"additionalContext\":\"y\"}}",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"b\":2}"
          ","
          "\"additionalContext\":\"x\\ny\"}}" },
        { "{\"PreToolUse\":{\"updatedInput\":{\"a\":1}}}",
          "{\"PreToolUse\":{\"decision\":\"deny\"}}",
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"a hook of a plugin denied this and gave no "
          "reason\"}}" },
        { "", "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct hook_verdict all = { 0 }, v;
        struct hook_answer answer;

        assert_true(
            read_one(&v, &a, "claude", HOOK_PRE_TOOL_USE, "symposium", rows[i].first, NULL));
        hook_verdict_merge(&all, &a, &v);
        assert_true(
            read_one(&v, &a, "claude", HOOK_PRE_TOOL_USE, "symposium", rows[i].second, NULL));
        hook_verdict_merge(&all, &a, &v);
        hook_answer_put(&answer, dialect("claude"), HOOK_PRE_TOOL_USE, &all);
        assert_str(buf_str(&answer.out), rows[i].want);
        assert_int_equal(answer.status, 0);
        hook_answer_free(&answer);
    }
}

static void own_members_of_the_agents_form_come_back_and_the_later_wins(void **state) /* HK-5 */
{
    auto_arena a = ARENA;
    struct hook_verdict all = { 0 }, v;
    struct hook_answer answer;

    assert_true(read_one(&v, &a, "claude", HOOK_SESSION_START, "claude",
                         "{\"systemMessage\":\"one\",\"hookSpecificOutput\":{\"hookEventName\":"
                         "\"X\",\"sessionTitle\":\"t\"}}",
                         NULL));
    hook_verdict_merge(&all, &a, &v);
    assert_true(
        read_one(&v, &a, "claude", HOOK_SESSION_START, "claude",
                 "{\"systemMessage\":\"two\",\"hookSpecificOutput\":{\"additionalContext\":"
                 "\"c\"}}",
                 NULL));
    hook_verdict_merge(&all, &a, &v);
    hook_answer_put(&answer, dialect("claude"), HOOK_SESSION_START, &all);
    assert_str(
        buf_str(&answer.out),
        "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\","
        "\"additionalContext\":\"c\",\"sessionTitle\":\"t\"},\"systemMessage\":\"two\"}");
    hook_answer_free(&answer);
}

#define V_DENY                                       \
    {                                                \
        .decision = HOOK_DENY, .reason = { "no", 2 } \
    }
#define V_ALLOW                \
    {                          \
        .decision = HOOK_ALLOW \
    }
#define V_ASK                \
    {                        \
        .decision = HOOK_ASK \
    }
#define V_INPUT                             \
    {                                       \
        .updated_input = { "{\"a\":1}", 7 } \
    }
#define V_CONTEXT             \
    {                         \
        .context = { "c", 1 } \
    }
#define V_NOTHING \
    {             \
        0         \
    }

static void each_agent_gets_its_own_form(void **state) /* HK-4 */
{
    static const struct {
        const char *agent;
        enum hook_event event;
        struct hook_verdict v;
        const char *out;
    } rows[] = {
        { "claude", HOOK_PRE_TOOL_USE, V_NOTHING, "" },
        { "claude", HOOK_PRE_TOOL_USE, V_ALLOW,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"allow\"}}" },
        { "claude", HOOK_POST_TOOL_USE, V_DENY, "{\"decision\":\"block\",\"reason\":\"no\"}" },
        { "claude", HOOK_USER_PROMPT_SUBMIT, V_CONTEXT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"UserPromptSubmit\","
          "\"additionalContext\":\"c\"}}" },
        { "claude", HOOK_SESSION_START, V_DENY, "{}" },
        { "claude", HOOK_STOP, V_DENY, "{\"decision\":\"block\",\"reason\":\"no\"}" },
        /* Codex rejects a bare "allow" and "ask", and any context at the end. */
        { "codex", HOOK_PRE_TOOL_USE, V_ALLOW, "" },
        { "codex", HOOK_PRE_TOOL_USE, V_ASK, "" },
        { "codex", HOOK_PRE_TOOL_USE, V_INPUT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"allow\",\"updatedInput\":{\"a\":1}}}" },
        { "codex", HOOK_PRE_TOOL_USE, V_DENY,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"
          "\"deny\",\"permissionDecisionReason\":\"no\"}}" },
        { "codex", HOOK_STOP, V_CONTEXT, "" },
        { "codex", HOOK_STOP, V_DENY, "{\"decision\":\"block\",\"reason\":\"no\"}" },
        { "codex", HOOK_SESSION_START, V_CONTEXT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":"
          "\"c\"}}" },
        { "gemini", HOOK_PRE_TOOL_USE, V_DENY, "{\"decision\":\"deny\",\"reason\":\"no\"}" },
        { "gemini", HOOK_PRE_TOOL_USE, V_ALLOW, "{\"decision\":\"allow\"}" },
        { "gemini", HOOK_PRE_TOOL_USE, V_INPUT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"BeforeTool\",\"tool_input\":{\"a\":1}}"
          "}" },
        { "gemini", HOOK_POST_TOOL_USE, V_CONTEXT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"AfterTool\",\"additionalContext\":"
          "\"c\"}}" },
        { "gemini", HOOK_SESSION_START, V_CONTEXT,
          "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":"
          "\"c\"}}" },
        { "copilot", HOOK_PRE_TOOL_USE, V_DENY,
          "{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}" },
        { "copilot", HOOK_PRE_TOOL_USE, V_INPUT, "{\"modifiedArgs\":{\"a\":1}}" },
        { "copilot", HOOK_POST_TOOL_USE, V_DENY, "{\"additionalContext\":\"no\"}" },
        { "copilot", HOOK_USER_PROMPT_SUBMIT, V_DENY,
          "{\"decision\":\"block\",\"reason\":\"no\"}" },
        { "copilot", HOOK_SESSION_START, V_CONTEXT, "{\"additionalContext\":\"c\"}" },
        { "kiro", HOOK_SESSION_START, V_CONTEXT, "c" },
        { "kiro", HOOK_PRE_TOOL_USE, V_CONTEXT, "" },
        { "kiro", HOOK_PRE_TOOL_USE, V_ALLOW, "" },
        /* Antigravity takes silence for a denial. */
        { "antigravity", HOOK_PRE_TOOL_USE, V_NOTHING, "{\"decision\":\"allow\"}" },
        { "antigravity", HOOK_PRE_TOOL_USE, V_ASK, "{\"decision\":\"ask\"}" },
        { "antigravity", HOOK_PRE_TOOL_USE, V_DENY,
          "{\"decision\":\"deny\",\"reason\":\"no\"}" },
        { "antigravity", HOOK_PRE_TOOL_USE, V_INPUT,
          "{\"decision\":\"allow\",\"overwrite\":{\"a\":1}}" },
        { "antigravity", HOOK_POST_TOOL_USE, V_CONTEXT, "{}" },
        { "antigravity", HOOK_USER_PROMPT_SUBMIT, V_CONTEXT,
          "{\"injectSteps\":[{\"ephemeralMessage\":\"c\"}]}" },
        { "antigravity", HOOK_SESSION_START, V_NOTHING, "{}" },
        { "antigravity", HOOK_STOP, V_DENY, "{\"decision\":\"continue\",\"reason\":\"no\"}" },
        { "antigravity", HOOK_STOP, V_CONTEXT, "{}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hook_answer answer;

        hook_answer_put(&answer, dialect(rows[i].agent), rows[i].event, &rows[i].v);
        assert_str(buf_str(&answer.out), rows[i].out);
        assert_str(buf_str(&answer.err), "");
        assert_int_equal(answer.status, 0);
        hook_answer_free(&answer);
    }
}

static void kiro_is_denied_by_status_2_before_a_tool_alone(void **state) /* HK-4 */
{
    static const struct hook_verdict deny = V_DENY;

    for (int e = 0; e < HOOK_EVENTS; e++) {
        struct hook_answer answer;
        bool before = e == HOOK_PRE_TOOL_USE;

        hook_answer_put(&answer, dialect("kiro"), (enum hook_event)e, &deny);
        assert_int_equal(answer.status, before ? 2 : 0);
        assert_str(buf_str(&answer.err), before ? "no" : "");
        assert_str(buf_str(&answer.out), "");
        hook_answer_free(&answer);
    }
}

static void a_decision_survives_what_is_too_long_to_be_said(void **state)
{
    struct buf huge = BUF(HOOK_MAX_TEXT);
    struct hook_verdict v = V_DENY;
    struct hook_answer answer;
    auto_arena a = ARENA;

    buf_fill(&huge, '\x01', HOOK_MAX_TEXT);
    v.context = buf_str(&huge);
    for (int i = 0; i < 3; i++) /* each 24 MiB as an escaped string */
        ARENA_PUSH(&a, &v.own) = (struct key_value){ STR("x"), v.context };
    for (size_t i = 0; i < v.own.n; i++) {
        auto_buf json = BUF(HOOK_MAX_ANSWER);

        json_put_str(&json, v.context);
        v.own.v[i].value = arena_str(&a, buf_str(&json));
    }
    hook_answer_put(&answer, dialect("claude"), HOOK_STOP, &v);
    assert_str(buf_str(&answer.out), "{\"decision\":\"block\",\"reason\":\"no\"}");
    hook_answer_free(&answer);
    buf_free(&huge);
}

/* ---- matchers ---- */

static void matchers_are_names_or_expressions(void **state) /* HK-5, PL-13 */
{
    static const struct {
        const char *matcher, *tool;
        bool match;
    } rows[] = {
        { "", "Bash", true },
        { "*", "Bash", true },
        { "*", "", true },
        { "Bash", "Bash", true },
        { "Bash", "BashOutput", false },
        { "Edit|Write", "Write", true },
        { "Edit|Write", "Edit", true },
        { "Edit|Write", "MultiEdit", false },
        { "Edit|", "", true },
        { ".*", "anything", true },
        { "mcp__.*__write.*", "mcp__fs__write_file", true },
        { "mcp__.*__write.*", "mcp__fs__read_file", false },
        { "^Notebook", "NotebookEdit", true },
        { "Edit.*", "MultiEdit", true },
        { "^(Edit|Write)$", "MultiEdit", false },
        { "[BM]ash", "Mash", true },
        { "bash", "Bash", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };

        assert_int_equal(hook_matches(str_of(rows[i].matcher), str_of(rows[i].tool), &e),
                         rows[i].match);
        assert_int_equal(e.kind, ERR_NONE);
    }
}

static void a_matcher_that_is_none_matches_nothing_and_none_takes_long(void **state)
{
    static const char *const bad[] = { "(", "[a", "a{1,255}", "(a*)\\1", "x\\", "+a" };
    static const char *const slow[] = { "^((a*)*)*b$", "(a|aa)+b|(a|a?)+b",
                                        "cr+++++++++++++++e", "((((((((a+)+)+)+)+)+)+)+)+b" };
    auto_buf tool = BUF(HOOK_TOOL_NAME_MAX + 1), longest = BUF(HOOK_MATCHER_MAX + 1);
    int64_t began = clock_ms();

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct error e = { 0 };

        assert_false(hook_matches(str_of(bad[i]), STR("a"), &e));
        assert_true(e.kind == ERR_INVALID);
        assert_has(e.msg, "matcher '");
    }
    buf_fill(&tool, 'a', HOOK_TOOL_NAME_MAX);
    for (size_t i = 0; i < ARRAY_LEN(slow); i++)
        assert_false(hook_matches(str_of(slow[i]), buf_str(&tool), NULL));
    for (int i = 0; i < HOOK_MATCHER_MAX / 2; i++)
        buf_addz(&longest, "a?");
    assert_true(hook_matches(buf_str(&longest), buf_str(&tool), NULL));
    buf_fill(&tool, 'a', 1);
    assert_false(hook_matches(STR("^a+$"), buf_str(&tool), NULL));
    buf_fill(&longest, 'a', 1);
    assert_false(hook_matches(buf_str(&longest), STR("a"), NULL));
    assert_true(clock_ms() - began < 500 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_go_by_the_agents_name_and_by_ours),
        cmocka_unit_test(each_agents_input_becomes_ours),
        cmocka_unit_test(only_the_first_call_of_a_turn_is_a_prompt_of_antigravity),
        cmocka_unit_test(input_that_is_no_object_is_refused),
        cmocka_unit_test(a_canonical_output_is_read_by_its_event),
        cmocka_unit_test(an_output_that_is_not_understood_says_why),
        cmocka_unit_test(an_output_in_the_agents_own_form_keeps_what_we_do_not_know),
        cmocka_unit_test(plain_text_is_context_where_the_agent_takes_it),
        cmocka_unit_test(outputs_are_merged_and_the_stronger_decision_wins),
        cmocka_unit_test(own_members_of_the_agents_form_come_back_and_the_later_wins),
        cmocka_unit_test(each_agent_gets_its_own_form),
        cmocka_unit_test(kiro_is_denied_by_status_2_before_a_tool_alone),
        cmocka_unit_test(a_decision_survives_what_is_too_long_to_be_said),
        cmocka_unit_test(matchers_are_names_or_expressions),
        cmocka_unit_test(a_matcher_that_is_none_matches_nothing_and_none_takes_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
