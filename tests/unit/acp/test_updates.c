/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* session/update into events. */
#include "script.h"

#include "acp/text.h"
#include "acp/tools.h"

#define V "{\"jsonrpc\":\"2.0\","
#define CHUNK(id, text)                                                                \
    "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"" id "\",\"content\":" \
    "{\"type\":\"text\",\"text\":\"" text "\"}}"
#define BARE(text)                                                                        \
    "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":" \
    "\"" text "\"}}"
#define THOUGHT(text)                                                                     \
    "{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\",\"text\":" \
    "\"" text "\"}}"
#define TOOL  "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"t\"}"
#define USAGE "{\"sessionUpdate\":\"usage_update\",\"used\":1,\"size\":2}"
#define FIRST "\"continues\":\"<absent>\",\"replaces\":\"<absent>\""
#define AGAIN "\"continues\":true"

static const struct acp_turn plain = { .version = 1 };

/* ACP-12, ACP-18: as long as kind and id stay, it is one text. */
static void chunks_are_put_together_by_message_and_kind(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, CHUNK("m", "one ") }, { UPDATE, CHUNK("m", "two") },
         { UPDATE, CHUNK("m", "") }, { NOTHING }, { UPDATE, CHUNK("n", "three") },
         { EVENT, "message", "{\"text\":\"one two\",\"message_id\":\"m\"," FIRST "}" },
         { UPDATE, THOUGHT("hm") },
         { EVENT, "message", "{\"text\":\"three\",\"message_id\":\"n\"," FIRST "}" },
         { UPDATE, BARE("four") },
         { EVENT, "thought", "{\"text\":\"hm\",\"message_id\":\"<absent>\"," FIRST "}" },
         { UPDATE, BARE("Warning: five") }, { ANSWER, "{\"stopReason\":\"end_turn\"}" },
         { EVENT, "message",
           "{\"text\":\"fourWarning: five\",\"message_id\":\"<absent>\"," FIRST "}" },
         { STOPS, "end_turn" });
}

/* TK-16: any other event comes behind the text that was said before it. */
static void pending_text_goes_out_before_any_other_event(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, BARE("a") }, { UPDATE, TOOL },
         { EVENT, "message", "{\"text\":\"a\"," FIRST "}" }, { EVENT, "tool_call" },
         /* a message without an id ends with a tool call, but not with a word on the usage */
         { UPDATE, BARE("b") }, { UPDATE, USAGE },
         { EVENT, "message", "{\"text\":\"b\"," FIRST "}" },
         { EVENT, "update", "{\"update\":{\"sessionUpdate\":\"usage_update\",\"used\":1}}" },
         { UPDATE, BARE("c") }, { FLUSH }, { EVENT, "message", "{\"text\":\"c\"," AGAIN "}" },
         /* one with an id goes on behind anything */
         { UPDATE, CHUNK("m", "d") }, { UPDATE, TOOL }, { EVENT, "message" },
         { EVENT, "tool_call" }, { UPDATE, CHUNK("m", "e") }, { GONE, "done" },
         { EVENT, "message", "{\"text\":\"e\",\"message_id\":\"m\"," AGAIN "}" },
         { STOPS, "", "done" });
}

/* ACP-12: at least each second, though chunks keep coming. */
static void pending_text_goes_out_within_a_second(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, BARE("a") }, { WAIT, .n = ACP_FLUSH_MS * 6 / 10 },
         { UPDATE, BARE("b") }, { NOTHING }, { WAIT, .n = ACP_FLUSH_MS * 6 / 10 },
         { EVENT, "message", "{\"text\":\"ab\"}" }, { NOTHING }, TO_END);
}

static void count_event(void *ctx, enum acp_event type, struct str data)
{
    size_t *sizes = ctx;
    auto_json j = { 0 };

    assert_true(json_parse(&j, data, NULL));
    assert_true(json_str(json_get(j.root, "text")).n <= ACP_PIECE_MAX);
    assert_int_equal(json_is_true(json_get(j.root, "continues")), sizes[0] > 0);
    sizes[0]++;
    sizes[1] += json_str(json_get(j.root, "text")).n;
}

/* Its chunks then count as those of a message without one. */
static void a_message_id_that_is_too_long_is_not_kept(void **state)
{
    auto_buf chunk = BUF(8 * ACP_ID_MAX);

    buf_addz(&chunk, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"");
    buf_fill(&chunk, 'm', ACP_ID_MAX + 1);
    buf_addz(&chunk, "\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}");
    PLAY(&plain, TO_PROMPT, { UPDATE, buf_z(&chunk) }, { UPDATE, buf_z(&chunk) }, { FLUSH },
         { EVENT, "message", "{\"text\":\"xx\",\"message_id\":\"<absent>\"}" }, TO_END);
}

static void a_long_text_is_told_in_pieces_that_cut_no_character(void **state)
{
    struct acp_text t;
    size_t sizes[2] = { 0 };
    auto_buf text = BUF((size_t)8 << 20);

    buf_addz(&text, "x");
    while (text.n < 5 * ACP_PIECE_MAX / 2)
        buf_addz(&text, "\xe2\x82\xac");
    acp_text_init(&t, count_event, sizes);
    acp_text_chunk(&t, ACP_TEXT_MESSAGE, STR("m"), buf_str(&text));
    acp_text_flush(&t);
    acp_text_free(&t);
    assert_int_equal(sizes[0], 3);
    assert_int_equal(sizes[1], text.n);
}

/* TK-16: content blocks are left out, a large raw output is a preview. */
static void tool_calls_come_without_content_and_with_a_cut_output(void **state)
{
    auto_buf big = BUF(64 << 10), whole = BUF(64 << 10);

    for (int i = 0; i < ACP_PREVIEW_MAX - 2; i++) {
        buf_addz(&whole, "\xc3\xa9");
        buf_addz(&big, "\xc3\xa9");
    }
    buf_addz(&big, "!");
    {
        auto_buf small_update = BUF(64 << 10), small_event = BUF(64 << 10);
        auto_buf big_update = BUF(64 << 10);

        buf_addf(&small_update,
                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"rawOutput\":"
                 "\"%s\"}",
                 buf_z(&whole));
        buf_addf(&small_event, "{\"rawOutput\":\"%s\"}", buf_z(&whole));
        buf_addf(&big_update,
                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"rawOutput\":"
                 "\"%s\"}",
                 buf_z(&big));
        PLAY(&plain, TO_PROMPT,
             { UPDATE,
               "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"t\","
               "\"kind\":\"edit\",\"status\":\"in_progress\",\"content\":[{\"type\":"
               "\"content\"}],\"locations\":[{\"path\":\"/a\"}],\"rawInput\":{\"a\":1}}" },
             { EVENT, "tool_call",
               "{\"sessionUpdate\":\"<absent>\",\"content\":\"<absent>\",\"toolCallId\":\"c\","
               "\"title\":\"t\",\"kind\":\"edit\",\"status\":\"in_progress\",\"locations\":"
               "[{\"path\":\"/a\"}],\"rawInput\":{\"a\":1}}" },
             { UPDATE, buf_z(&small_update) }, { EVENT, "tool_update", buf_z(&small_event) },
             { UPDATE, buf_z(&big_update) },
             { EVENT, "tool_update",
               "{\"rawOutput\":{\"truncated\":true,\"characters\":4001,\"preview\":\"<any>\"}"
               "}" },
             TO_END);
    }
}

/* ACP-12 (qwen): an update without its tool call. ACP-4: wrong values count as absent. */
static void an_update_may_come_before_its_tool_call_or_without(void **state)
{
    PLAY(&plain, TO_PROMPT,
         { UPDATE,
           "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"title\":null,"
           "\"kind\":\"hack\",\"status\":7,\"locations\":\"x\",\"rawOutput\":null}" },
         { EVENT, "tool_update",
           "{\"toolCallId\":\"c\",\"title\":\"<absent>\",\"kind\":\"<absent>\",\"status\":"
           "\"<absent>\",\"locations\":\"<absent>\",\"rawOutput\":null}" },
         { UPDATE, TOOL }, { EVENT, "tool_call", "{\"toolCallId\":\"c\"}" },
         /* without what it must have it is no tool call */
         { UPDATE, "{\"sessionUpdate\":\"tool_call\",\"title\":\"t\"}" },
         { EVENT, "update", "{\"update\":{\"sessionUpdate\":\"tool_call\",\"title\":\"t\"}}" },
         TO_END);
}

/* Looking each member up in so many would take hours. */
static void a_tool_call_of_endless_members_is_kept_as_it_is(void **state)
{
    auto_buf update = BUF((size_t)32 << 20);

    buf_addz(&update, "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\"");
    for (int i = 0; i < 300000; i++)
        buf_addf(&update, ",\"%d\":0", i);
    buf_addz(&update, "}");
    PLAY(&plain, TO_PROMPT, { UPDATE, buf_z(&update) },
         { EVENT, "update", "{\"update\":{\"toolCallId\":\"c\",\"299999\":0}}" }, TO_END);
}

static void a_plan_is_its_entries_without_the_bad_ones(void **state)
{
#define ENTRY(p, s) "{\"content\":\"a\",\"priority\":\"" p "\",\"status\":\"" s "\"}"
    PLAY(&plain, TO_PROMPT,
         { UPDATE,
           "{\"sessionUpdate\":\"plan\",\"entries\":[" ENTRY(
               "high", "pending") ",7,"
                                  "{\"content\":1}," ENTRY("urgent", "pending") "," ENTRY(
                                      "low", "failed") "," ENTRY("low", "completed") "]}" },
         { EVENT, "plan",
           "{\"entries\":[" ENTRY("high", "pending") "," ENTRY("low", "completed") "]}" },
         { UPDATE, "{\"sessionUpdate\":\"plan\",\"entries\":{}}" },
         { EVENT, "plan", "{\"entries\":[]}" }, { UPDATE, "{\"sessionUpdate\":\"plan\"}" },
         { EVENT, "update" }, TO_END);
}

/* ACP-12: all the rest is kept, never a failure; ACP-10: so are content blocks that are no
 * text. */
static void every_other_update_is_kept_as_it_is(void **state)
{
    static const char *const updates[] = {
        "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[{\"name\":"
        "\"x\"}]}",
        "{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"yolo\"}",
        "{\"sessionUpdate\":\"config_option_update\",\"configOptions\":7}",
        "{\"sessionUpdate\":\"session_info_update\",\"title\":null}",
        "{\"sessionUpdate\":\"user_message_chunk\",\"content\":{\"type\":\"text\",\"text\":"
        "\"x\"}}",
        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\",\"data\":"
        "\"AA\"}}",
        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":[]}",
        "{\"sessionUpdate\":\"agent_thought_chunk\"}",
        "{\"sessionUpdate\":\"_of_a_kind_to_come\",\"x\":{\"y\":[1,2.50,\"\\u0000\"]}}",
        "{\"sessionUpdate\":7}",
        "{}",
    };

    for (size_t i = 0; i < ARRAY_LEN(updates); i++) {
        auto_buf want = BUF(4096);

        buf_addf(&want, "{\"update\":%s}", updates[i]);
        PLAY(&plain, TO_PROMPT, { UPDATE, updates[i] }, { EVENT, "update", buf_z(&want) },
             TO_END);
    }
}

static void updates_that_are_none_or_of_another_session_are_dropped(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, "7" }, { UPDATE, "null" }, { UPDATE, "[]" },
         { SAY, V "\"method\":\"session/update\"}" },
         { SAY, V "\"method\":\"session/update\",\"params\":[1]}" },
         { SAY,
           V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s2\",\"update\":" BARE(
               "not ours") "}}" },
         { SAY, V "\"method\":\"session/update\",\"params\":{\"update\":" BARE("whose") "}}" },
         { NOTHING }, TO_END);
}

/* ACP-13 */
static void updates_behind_the_stop_are_told_and_do_not_revive_the_turn(void **state)
{
    PLAY(&plain, TO_PROMPT, TO_END, { UPDATE, BARE("late") }, { UPDATE, USAGE },
         { EVENT, "message", "{\"text\":\"late\"}" }, { EVENT, "update" },
         { UPDATE, BARE("later") }, { ANSWER, "{\"stopReason\":\"end_turn\"}" }, { NOTHING },
         { GONE, "exited" }, { EVENT, "message", "{\"text\":\"later\"}" });
}

/* ACP-17 */
static void once_muted_only_permissions_and_the_end_are_told(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, BARE("a") }, { MUTE },
         { EVENT, "message", "{\"text\":\"a\"}" }, { UPDATE, BARE("b") }, { UPDATE, USAGE },
         { UPDATE, "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"t\","
                   "\"kind\":\"edit\"}" },
         { LONG },
         { ASK, "0",
           "\"toolCall\":{\"toolCallId\":\"c\"},\"options\":[{\"optionId\":\"n\","
           "\"name\":\"N\",\"kind\":\"reject_once\"}]" },
         { PERMIT, "edit reject_once n" }, { GOT_ANSWER, "0" }, { DROPPED, .n = 4 }, TO_END);
    PLAY(&(const struct acp_turn){ .version = 2 }, TO_PROMPT_V2, { ANSWER, "{}" }, { MUTE },
         { UPDATE, CHUNK("m", "x") },
         { UPDATE, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":"
                   "\"end_turn\"}" },
         { STOPS, "end_turn" });
}

/* ACP-1: the turn goes on behind it. */
static void a_line_that_is_too_long_is_told_and_does_not_end_the_turn(void **state)
{
    PLAY(&plain, TO_PROMPT, { UPDATE, BARE("a") }, { LONG }, { EVENT, "message" },
         { EVENT, "update",
           "{\"update\":{\"sessionUpdate\":\"_dropped\",\"reason\":\"a line of more than "
           "16777216 bytes\"}}" },
         TO_END);
}

/* ACP-1: no batches in version 1. */
static void a_batch_is_refused_in_version_1(void **state)
{
    PLAY(&plain, TO_PROMPT,
         { SAY, "[" V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\","
                "\"update\":" BARE("x") "}}]" },
         { NOTHING }, TO_END);
}

static void at_most_so_many_tool_calls_are_remembered(void **state)
{
    struct acp_tools tools = ACP_TOOLS;
    auto_json edit = { 0 };
    auto_buf long_id = BUF(2 * ACP_ID_MAX);
    char id[32];

    assert_true(json_parse(&edit, STR("{\"kind\":\"edit\",\"status\":\"completed\"}"), NULL));
    for (int i = 0; i < 3 * ACP_TOOLS_MAX; i++) {
        snprintf(id, sizeof id, "t%d", i);
        assert_true(acp_tools_note(&tools, str_of(id), edit.root));
        assert_int_equal(acp_tools_kind(&tools, STR("t0")), ACP_EDIT);
        acp_tools_note(&tools, STR("t0"), NULL); /* spoken of, so not forgotten */
    }
    assert_int_equal(map_count(&tools.by_id), ACP_TOOLS_MAX);
    assert_int_equal(acp_tools_kind(&tools, STR("t1")), ACP_OTHER);
    assert_false(acp_tools_note(&tools, str_of(id), edit.root));
    buf_fill(&long_id, 'x', ACP_ID_MAX + 1);
    assert_true(acp_tools_note(&tools, buf_str(&long_id), edit.root));
    assert_int_equal(acp_tools_kind(&tools, buf_str(&long_id)), ACP_OTHER);
    assert_int_equal(acp_tools_close_one(&tools).n, 0);
    acp_tools_free(&tools);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_put_together_by_message_and_kind),
        cmocka_unit_test(pending_text_goes_out_before_any_other_event),
        cmocka_unit_test(pending_text_goes_out_within_a_second),
        cmocka_unit_test(a_message_id_that_is_too_long_is_not_kept),
        cmocka_unit_test(a_long_text_is_told_in_pieces_that_cut_no_character),
        cmocka_unit_test(tool_calls_come_without_content_and_with_a_cut_output),
        cmocka_unit_test(an_update_may_come_before_its_tool_call_or_without),
        cmocka_unit_test(a_tool_call_of_endless_members_is_kept_as_it_is),
        cmocka_unit_test(a_plan_is_its_entries_without_the_bad_ones),
        cmocka_unit_test(every_other_update_is_kept_as_it_is),
        cmocka_unit_test(updates_that_are_none_or_of_another_session_are_dropped),
        cmocka_unit_test(updates_behind_the_stop_are_told_and_do_not_revive_the_turn),
        cmocka_unit_test(once_muted_only_permissions_and_the_end_are_told),
        cmocka_unit_test(a_line_that_is_too_long_is_told_and_does_not_end_the_turn),
        cmocka_unit_test(a_batch_is_refused_in_version_1),
        cmocka_unit_test(at_most_so_many_tool_calls_are_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
