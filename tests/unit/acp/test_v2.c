/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is different in the draft of version 2 (ACP-16). */
#include "script.h"

#define V "{\"jsonrpc\":\"2.0\","
#define STATE(state, more) \
    "{\"sessionUpdate\":\"state_update\",\"state\":\"" state "\"" more "}"
#define IDLE_EVENT                                                           \
    {                                                                        \
        EVENT, "update", "{\"update\":{\"sessionUpdate\":\"state_update\"}}" \
    }
#define CHUNK(id, text)                                                                \
    "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"" id "\",\"content\":" \
    "{\"type\":\"text\",\"text\":\"" text "\"}}"
#define WHOLE(id, blocks) \
    "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"" id "\",\"content\":[" blocks "]}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define IN_UPDATE(u) \
    V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":" u "}}"
#define TO_END_V2                                                          \
    { UPDATE, STATE("idle", ",\"stopReason\":\"end_turn\"") }, IDLE_EVENT, \
    {                                                                      \
        STOPS, "end_turn"                                                  \
    }
#define OPTIONS                                                                 \
    "\"options\":[{\"optionId\":\"y\",\"name\":\"Y\",\"kind\":\"allow_once\"}," \
    "{\"optionId\":\"n\",\"name\":\"N\",\"kind\":\"reject_once\"}]"

static const struct acp_turn two = { .version = 2 };

static void the_answer_to_the_prompt_only_accepts_it_and_idle_ends_the_turn(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { UPDATE, STATE("running", "") }, IDLE_EVENT, { ANSWER, "{}" },
         { NOTHING }, { UPDATE, STATE("requires_action", "") }, IDLE_EVENT,
         { UPDATE, STATE("idle", ",\"stopReason\":\"refusal\",\"usage\":{\"a\":1}") },
         IDLE_EVENT, { STOPS, "refusal", "{\"a\":1}" }, { UPDATE, STATE("running", "") },
         IDLE_EVENT, { UPDATE, STATE("idle", ",\"stopReason\":\"end_turn\"") }, IDLE_EVENT,
         { NOTHING });
}

static void idle_may_come_before_the_answer_to_the_prompt(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { UPDATE, STATE("idle", ",\"stopReason\":\"end_turn\"") },
         IDLE_EVENT, { NOTHING }, { ANSWER, "{}" }, { STOPS, "end_turn" });
}

static void idle_without_a_reason_ends_only_what_was_running(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { UPDATE, STATE("idle", "") }, IDLE_EVENT, { ANSWER, "{}" },
         { UPDATE, STATE("idle", ",\"stopReason\":null") }, IDLE_EVENT, { NOTHING },
         { UPDATE, STATE("running", "") }, IDLE_EVENT, { UPDATE, STATE("idle", "") },
         IDLE_EVENT, { STOPS, "" });
}

static void a_prompt_that_is_not_accepted_ends_the_turn(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { REFUSE, "{\"code\":-32602,\"message\":\"busy\"}" },
         { STOPS, "", "busy (code -32602)" });
    PLAY(&two, TO_PROMPT_V2, { ANSWER, "{}" }, { GONE, "exited" }, { STOPS, "", "exited" });
}

/* A whole message stands for all that was said under its id. */
static void a_whole_message_tells_only_what_is_new_of_it(void **state)
{
    PLAY(
        &two, TO_PROMPT_V2, { ANSWER, "{}" }, { UPDATE, CHUNK("m", "one ") }, { FLUSH },
        { EVENT, "message", "{\"text\":\"one \"}" },
        /* goes on */
        { UPDATE, WHOLE("m", TEXT("one ") "," TEXT("two")) }, { FLUSH },
        { EVENT, "message", "{\"text\":\"two\",\"continues\":true,\"replaces\":\"<absent>\"}" },
        /* the same again: nothing */
        { UPDATE, WHOLE("m", TEXT("one two")) }, { FLUSH }, { NOTHING },
        /* another text */
        { UPDATE, WHOLE("m", TEXT("three")) }, { FLUSH },
        { EVENT, "message",
          "{\"text\":\"three\",\"replaces\":true,\"continues\":\"<absent>\"}" },
        { UPDATE, CHUNK("m", "!") }, { FLUSH },
        { EVENT, "message", "{\"text\":\"!\",\"continues\":true}" },
        /* cleared */
        { UPDATE,
          "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":null}" },
        { FLUSH }, { EVENT, "message", "{\"text\":\"\",\"replaces\":true}" },
        /* never told: only the last */
        { UPDATE, CHUNK("n", "draft") }, { UPDATE, WHOLE("n", TEXT("final")) }, { FLUSH },
        { EVENT, "message",
          "{\"text\":\"final\",\"message_id\":\"n\",\"replaces\":\"<absent>\"}" },
        /* without content: the text stays */
        { UPDATE, "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"n\"}" },
        { EVENT, "update" },
        { UPDATE, "{\"sessionUpdate\":\"agent_thought\",\"messageId\":\"t\",\"content\":[" TEXT(
                      "hm") ",{\"type\":\"image\"}]}" },
        { EVENT, "thought", "{\"text\":\"hm\"}" },
        { EVENT, "update", "{\"update\":{\"sessionUpdate\":\"agent_thought\"}}" }, TO_END_V2);
}

static void the_first_word_of_a_tool_call_is_its_call(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { ANSWER, "{}" },
         { UPDATE, "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"kind\":"
                   "\"of_a_kind_to_come\",\"status\":\"waiting\",\"content\":[1]}" },
         { EVENT, "tool_call",
           "{\"toolCallId\":\"c\",\"kind\":\"of_a_kind_to_come\",\"status\":"
           "\"waiting\",\"content\":\"<absent>\"}" },
         { UPDATE, "{\"sessionUpdate\":\"tool_call_content_chunk\",\"toolCallId\":\"c\","
                   "\"content\":{}}" },
         { UPDATE, "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"status\":"
                   "\"completed\"}" },
         { EVENT, "tool_update", "{\"toolCallId\":\"c\",\"status\":\"completed\"}" },
         TO_END_V2);
}

static void a_plan_of_items_is_a_plan_and_others_are_updates(void **state)
{
    PLAY(&two, TO_PROMPT_V2, { ANSWER, "{}" },
         { UPDATE, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"items\",\"planId\":"
                   "\"p\",\"entries\":[{\"content\":\"a\",\"priority\":\"urgent\",\"status\":"
                   "\"cancelled\"},7]}}" },
         { EVENT, "plan", "{\"entries\":[{\"content\":\"a\",\"priority\":\"urgent\"}]}" },
         { UPDATE, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"markdown\"}}" },
         { EVENT, "update" },
         { UPDATE, "{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"t\",\"data\":"
                   "\"AA\"}" },
         { EVENT, "update" }, TO_END_V2);
}

static void the_subject_of_a_permission_request_has_a_type(void **state)
{
    const struct acp_turn t = { .version = 2, .allow = 1u << ACP_EXECUTE };

    PLAY(&t, TO_PROMPT_V2, { ANSWER, "{}" },
         { ASK, "0",
           "\"title\":\"t\",\"subject\":{\"type\":\"tool_call\",\"toolCall\":"
           "{\"toolCallId\":\"c\",\"kind\":\"execute\"}}," OPTIONS },
         { PERMIT, "execute allow_once y" }, { GOT_ANSWER, "0" },
         { ASK, "1",
           "\"title\":\"t\",\"subject\":{\"type\":\"command\",\"command\":\"ls\","
           "\"cwd\":\"/\"}," OPTIONS },
         { PERMIT, "execute allow_once y" }, { GOT_ANSWER, "1" },
         { ASK, "2", "\"title\":\"t\",\"subject\":{\"type\":\"of_a_kind_to_come\"}," OPTIONS },
         { PERMIT, "other reject_once n" }, { GOT_ANSWER, "2" },
         { ASK, "3", "\"title\":\"t\",\"subject\":null," OPTIONS },
         { PERMIT, "other reject_once n" }, { GOT_ANSWER, "3" }, TO_END_V2);
}

static void messages_may_come_in_batches(void **state)
{
    PLAY(&two, { GOT, "initialize" },
         { SAY,
           "[" V "\"id\":1,\"result\":{\"protocolVersion\":2,\"capabilities\":{\"session\":"
           "{}}}}]" },
         { GOT, "session/new" }, { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session" },
         { GOT, "session/prompt" }, { PROMPTS },
         { SAY,
           "[" V "\"id\":@,\"result\":{}}," IN_UPDATE(CHUNK("m", "a")) ",7,[],null," IN_UPDATE(
               CHUNK("m", "b")) "," V "\"id\":5,\"method\":\"_x\"}]" },
         { GOT_REFUSAL, "5", "{\"code\":-32601}" }, { SAY, "[]" },
         { SAY, "[" IN_UPDATE(STATE("idle", ",\"stopReason\":\"end_turn\"")) "]" },
         { EVENT, "message", "{\"text\":\"ab\"}" }, IDLE_EVENT, { STOPS, "end_turn" });
}

static void the_members_of_a_batch_are_read_up_to_a_number(void **state)
{
    auto_buf batch = BUF((size_t)4 << 20);

    buf_addz(&batch, "[{}");
    for (int i = 0; i < 10000; i++)
        buf_addz(&batch, ",{}");
    buf_addz(&batch, "," IN_UPDATE(CHUNK("m", "behind")) "]");
    PLAY(&two, TO_PROMPT_V2, { SAY, buf_z(&batch) }, { FLUSH }, { NOTHING });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_to_the_prompt_only_accepts_it_and_idle_ends_the_turn),
        cmocka_unit_test(idle_may_come_before_the_answer_to_the_prompt),
        cmocka_unit_test(idle_without_a_reason_ends_only_what_was_running),
        cmocka_unit_test(a_prompt_that_is_not_accepted_ends_the_turn),
        cmocka_unit_test(a_whole_message_tells_only_what_is_new_of_it),
        cmocka_unit_test(the_first_word_of_a_tool_call_is_its_call),
        cmocka_unit_test(a_plan_of_items_is_a_plan_and_others_are_updates),
        cmocka_unit_test(the_subject_of_a_permission_request_has_a_type),
        cmocka_unit_test(the_members_of_a_batch_are_read_up_to_a_number),
        cmocka_unit_test(messages_may_come_in_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
