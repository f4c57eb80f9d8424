/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Going on with an earlier session (ACP-19, TK-25). */
#include "script.h"

#define V "{\"jsonrpc\":\"2.0\","
#define AGENT(load, session)                                              \
    "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":" load \
    ",\"sessionCapabilities\":{" session "}}}"
#define LIST   "\"list\":{}"
#define RESUME "\"resume\":{}"
#define BOTH   LIST "," RESUME
#define CHUNK(text)                                                                       \
    "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":" \
    "\"" text "\"}}"
#define USER(text)                                                                       \
    "{\"sessionUpdate\":\"user_message_chunk\",\"content\":{\"type\":\"text\",\"text\":" \
    "\"" text "\"}}"
#define TOOL     "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"old\",\"title\":\"t\"}"
#define COMMANDS "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[]}"
#define LISTED                                                                     \
    "{\"sessions\":[7,{\"sessionId\":\"s0\",\"cwd\":\"/\"},{\"sessionId\":\"s1\"," \
    "\"cwd\":\"/work\"}]}"
#define SETTLE         \
    {                  \
        WAIT, .n = 400 \
    }
#define TO_OLD_PROMPT                                                           \
    { EVENT, "session", "{\"session_id\":\"s1\"}" }, { GOT, "session/prompt" }, \
    {                                                                           \
        PROMPTS                                                                 \
    }

static const struct acp_turn old = { .resume = "s1" };

static void resume_is_preferred_when_it_is_offered(void **state)
{
    PLAY(
        &old, { GOT, "initialize" }, { ANSWER, AGENT("true", RESUME) },
        { GOT, "session/resume", "{\"sessionId\":\"s1\",\"cwd\":\"/work\",\"mcpServers\":[]}" },
        { ANSWER, "{}" }, TO_OLD_PROMPT, TO_END);
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) },
         { GOT, "session/list", "{\"cwd\":\"/work\",\"cursor\":\"<absent>\"}" },
         { ANSWER, LISTED }, { GOT, "session/resume" }, { ANSWER, "{}" }, TO_OLD_PROMPT,
         TO_END);
}

/* TK-25: the past is never recorded, told before the answer or behind it (gemini). */
static void a_replayed_history_is_dropped(void **state)
{
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") },
         { GOT, "session/load", "{\"sessionId\":\"s1\",\"cwd\":\"/work\",\"mcpServers\":[]}" },
         { UPDATE, USER("q") }, { UPDATE, CHUNK("a") }, { UPDATE, TOOL }, { UPDATE, COMMANDS },
         { ANSWER, "{}" }, { NOTHING }, { WAIT, .n = 200 }, { UPDATE, CHUNK("b") },
         { WAIT, .n = 200 }, { UPDATE, COMMANDS },
         { EVENT, "update", "{\"update\":{\"sessionUpdate\":\"available_commands_update\"}}" },
         { NOTHING }, SETTLE, TO_OLD_PROMPT, { UPDATE, CHUNK("new") },
         { ANSWER, "{\"stopReason\":\"end_turn\"}" },
         { EVENT, "message", "{\"text\":\"new\"}" }, { STOPS, "end_turn" });
}

static void a_resumed_session_is_set_up_anew(void **state)
{
    const struct acp_setting pin = { "pin", ACP_MODE, NULL, "ask" };
    const struct acp_turn t = { .resume = "s1", .settings = &pin, .nsettings = 1 };

    PLAY(&t, { GOT, "initialize" }, { ANSWER, AGENT("false", RESUME) },
         { GOT, "session/resume" },
         { ANSWER, "{\"modes\":{\"currentModeId\":\"yolo\",\"availableModes\":[{\"id\":\"ask\","
                   "\"name\":\"A\"}]}}" },
         { EVENT, "session" }, { GOT, "session/set_mode", "{\"modeId\":\"ask\"}" },
         { ANSWER, "{}" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

/* ACP-19: whatever the code, the failure names the id. */
static void a_session_that_the_agent_refuses_is_named(void **state)
{
    static const struct {
        const char *error, *text;
    } cases[] = {
        { "{\"code\":-32002,\"message\":\"Resource not found\"}",
          "session 's1': Resource not found (code -32002)" },
        { "{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"details\":\"no "
          "rollout\"}}",
          "session 's1': Internal error (code -32603): no rollout" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", RESUME) },
             { GOT, "session/resume" }, { REFUSE, cases[i].error },
             { FAILS, "resume_session", cases[i].text });
        PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") },
             { GOT, "session/load" }, { REFUSE, cases[i].error },
             { FAILS, "load_session", cases[i].text });
    }
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") }, { GOT, "session/load" },
         { GONE, "no answer" }, { FAILS, "load_session", "session 's1': no answer" });
}

/* ACP-19: qwen says yes to any id; a list or a history shows whether it was true. */
static void an_agent_that_agrees_to_any_session_is_found_out(void **state)
{
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", LIST) },
         { GOT, "session/list", "{\"cwd\":\"/work\"}" }, { ANSWER, "{\"sessions\":[]}" },
         { GOT, "session/list", "{\"cwd\":\"<absent>\"}" },
         { ANSWER, "{\"sessions\":[{\"sessionId\":\"s2\",\"cwd\":\"/\"}]}" },
         { FAILS, "resume_session", "knows no session 's1'" });
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") }, { GOT, "session/load" },
         { UPDATE, COMMANDS }, { ANSWER, "{}" }, SETTLE,
         { FAILS, "resume_session", "knows no session 's1'" });
    /* in the list, so an empty history is what it has */
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", LIST) }, { GOT, "session/list" },
         { ANSWER, LISTED }, { GOT, "session/load" }, { ANSWER, "{}" }, SETTLE, TO_OLD_PROMPT,
         TO_END);
    /* a list that cannot be had after all: the history decides */
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) }, { GOT, "session/list" },
         { REFUSE, "{\"code\":-32601,\"message\":\"Method not found\"}" },
         { GOT, "session/load" }, { UPDATE, USER("q") }, { ANSWER, "{}" }, SETTLE,
         TO_OLD_PROMPT, TO_END);
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", LIST) }, { GOT, "session/list" },
         { ANSWER, "{\"sessions\":7}" }, { GOT, "session/load" }, { ANSWER, "{}" }, SETTLE,
         { FAILS, "resume_session", "knows no session 's1'" });
}

static void all_pages_of_a_list_are_read(void **state)
{
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) },
         { GOT, "session/list", "{\"cursor\":\"<absent>\"}" },
         { ANSWER,
           "{\"sessions\":[{\"sessionId\":\"x\",\"cwd\":\"/\"}],\"nextCursor\":\"p2\"}" },
         { GOT, "session/list", "{\"cwd\":\"/work\",\"cursor\":\"p2\"}" }, { ANSWER, LISTED },
         { GOT, "session/resume" });
}

/* A list without end proves nothing. */
static void a_list_that_never_ends_is_given_up(void **state)
{
    struct row rows[600] = { { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) } };
    size_t n = 2;

    for (int i = 0; i < 2 * 64; i++) {
        rows[n++] = (struct row){ GOT, "session/list" };
        rows[n++] = (struct row){ ANSWER, "{\"sessions\":[],\"nextCursor\":\"again\"}" };
    }
    rows[n++] = (struct row){ GOT, "session/load" };
    rows[n++] = (struct row){ UPDATE, USER("q") };
    rows[n++] = (struct row){ ANSWER, "{}" };
    rows[n++] = (struct row){ WAIT, .n = 400 };
    rows[n++] = (struct row){ EVENT, "session" };
    rows[n++] = (struct row){ GOT, "session/prompt" };
    rows[n++] = (struct row){ PROMPTS };
    play(&old, rows, __FILE__, __LINE__);
}

/* qwen offers session/resume and does not know it. */
static void resume_that_is_offered_but_not_there_is_made_by_load(void **state)
{
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) }, { GOT, "session/list" },
         { ANSWER, LISTED }, { GOT, "session/resume" },
         { REFUSE, "{\"code\":-32601,\"message\":\"Method not found\"}" },
         { GOT, "session/load" }, { UPDATE, USER("q") }, { ANSWER, "{}" }, SETTLE,
         TO_OLD_PROMPT, TO_END);
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("false", RESUME) },
         { GOT, "session/resume" }, { REFUSE, "{\"code\":-32601,\"message\":\"no\"}" },
         { FAILS, "resume_session", "session 's1': no (code -32601)" });
}

/* TK-25 */
static void an_agent_that_cannot_resume_fails_before_the_prompt(void **state)
{
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("false", "") },
         { FAILS, "resume_session", "cannot go on with an earlier session" });
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") }, { GOT, "session/load" },
         { UPDATE, USER("q") }, { ANSWER, "{}" }, { CANCEL }, { FAILS, "cancelled", "before" },
         SETTLE, { NOTHING });
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", "") }, { GOT, "session/load" },
         { UPDATE, USER("q") }, { ANSWER, "{}" }, { GONE, "exited" },
         { FAILS, "load_session", "exited" }, SETTLE, { NOTHING });
    PLAY(&old, { GOT, "initialize" }, { ANSWER, AGENT("true", BOTH) }, { GOT, "session/list" },
         { GONE, "exited" }, { FAILS, "list_sessions", "exited" });
}

/* ACP-16: no load in version 2; the list comes with the sessions. */
static void in_version_2_resume_tells_the_history_when_asked(void **state)
{
    const struct acp_turn t = { .version = 2, .resume = "s1" };

    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}" },
         { GOT, "session/list" }, { ANSWER, LISTED },
         { GOT, "session/resume", "{\"sessionId\":\"s1\",\"replayFrom\":\"<absent>\"}" },
         { ANSWER, "{}" }, TO_OLD_PROMPT);
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}" },
         { GOT, "session/list" }, { REFUSE, "{\"code\":-32601,\"message\":\"no\"}" },
         { GOT, "session/resume", "{\"replayFrom\":{\"type\":\"start\"}}" },
         { UPDATE, "{\"sessionUpdate\":\"user_message\",\"messageId\":\"m\",\"content\":[]}" },
         { ANSWER, "{}" }, SETTLE, TO_OLD_PROMPT);
    PLAY(&t, { GOT, "initialize" }, { ANSWER, "{\"protocolVersion\":2}" },
         { FAILS, "resume_session", "cannot go on" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_is_preferred_when_it_is_offered),
        cmocka_unit_test(a_replayed_history_is_dropped),
        cmocka_unit_test(a_resumed_session_is_set_up_anew),
        cmocka_unit_test(a_session_that_the_agent_refuses_is_named),
        cmocka_unit_test(an_agent_that_agrees_to_any_session_is_found_out),
        cmocka_unit_test(all_pages_of_a_list_are_read),
        cmocka_unit_test(a_list_that_never_ends_is_given_up),
        cmocka_unit_test(resume_that_is_offered_but_not_there_is_made_by_load),
        cmocka_unit_test(an_agent_that_cannot_resume_fails_before_the_prompt),
        cmocka_unit_test(in_version_2_resume_tells_the_history_when_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
