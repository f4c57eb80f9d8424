/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The prompt, permissions, the end. */
#include "script.h"

#define V "{\"jsonrpc\":\"2.0\","
#define OPTIONS                                                                 \
    "\"options\":[{\"optionId\":\"y\",\"name\":\"Y\",\"kind\":\"allow_once\"}," \
    "{\"optionId\":\"Y\",\"name\":\"Y!\",\"kind\":\"allow_always\"},"           \
    "{\"optionId\":\"n\",\"name\":\"N\",\"kind\":\"reject_once\"}]"
#define ALWAYS         "\"options\":[{\"optionId\":\"Y\",\"name\":\"Y!\",\"kind\":\"allow_always\"}]"
#define CALL(id, kind) "\"toolCall\":{\"toolCallId\":\"" id "\",\"kind\":\"" kind "\"}"
#define ALLOW(k)       (&(const struct acp_turn){ .allow = 1u << (k) })
#define SELECTED(id)   "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"" id "\"}}"
#define CANCELLED      "{\"outcome\":{\"outcome\":\"cancelled\",\"optionId\":\"<absent>\"}}"
#define TOOL(id, more) \
    "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"" id "\",\"title\":\"t\"" more "}"

static const struct acp_turn plain = { .version = 1 };

/* ACP-9: whatever the reason, it is told as sent. ACP-5: an error is told in words. */
static void a_turn_ends_with_the_reason_that_the_agent_gives(void **state)
{
    static const struct {
        const char *answer, *reason, *rest;
    } cases[] = {
        { "{\"stopReason\":\"refusal\"}", "refusal", NULL },
        { "{\"stopReason\":\"max_tokens\",\"usage\":[]}", "max_tokens", NULL },
        { "{\"stopReason\":\"of a kind to come\",\"usage\":{\"a\":1}}", "of a kind to come",
          "{\"a\":1}" },
        { "{}", "", NULL },
        { "null", "", NULL },
        { "{\"stopReason\":7}", "", NULL },
        { "{\"stopReason\":\"cancelled\"}", "cancelled", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        PLAY(&plain, TO_PROMPT, { ANSWER, cases[i].answer },
             { STOPS, cases[i].reason, cases[i].rest });
    PLAY(&plain, TO_PROMPT, { REFUSE, "{\"code\":-32603,\"message\":\"boom\"}" },
         { STOPS, "", "boom (code -32603)" });
    PLAY(&plain, TO_PROMPT, { REFUSE, "{\"code\":-32800,\"message\":\"cancelled\"}" },
         { STOPS, "", "cancelled (code -32800)" });
    PLAY(&plain, TO_PROMPT, { SAY, V "\"id\":@,\"result\":{},\"error\":{}}" },
         { STOPS, "", "exactly one of" });
    PLAY(&plain, TO_PROMPT, { GONE, "exited with status 1" },
         { STOPS, "", "exited with status 1" }, { GONE, "again" });
}

static void a_usage_that_is_too_long_is_not_kept(void **state)
{
    auto_buf answer = BUF(64 << 10);

    buf_addz(&answer, "{\"stopReason\":\"end_turn\",\"usage\":{\"x\":\"");
    buf_fill(&answer, 'u', 5000);
    buf_addz(&answer, "\"}}");
    PLAY(&plain, TO_PROMPT, { ANSWER, buf_z(&answer) }, { STOPS, "end_turn" });
}

/* TK-31: recorded first, answered then; by kind, once. */
static void a_permission_is_recorded_before_it_is_answered(void **state)
{
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { KEPT, "edit allow_once y" }, { NOTHING },
         { ANSWER, "{\"stopReason\":\"end_turn\"}" }, { GOT_ANSWER, "0", CANCELLED },
         { STOPS, "end_turn" });
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { PERMIT, "edit allow_once y" }, { GOT_ANSWER, "0", SELECTED("y") }, TO_END);
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "\"x-1\"", CALL("c", "execute") "," OPTIONS },
         { PERMIT, "execute reject_once n" }, { GOT_ANSWER, "\"x-1\"", SELECTED("n") }, TO_END);
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "null", CALL("c", "edit") "," OPTIONS },
         { PERMIT, "edit allow_once y" }, { GOT_ANSWER, "null", SELECTED("y") }, TO_END);
}

/* TK-31: what cannot be recorded is not granted. */
static void a_decision_that_could_not_be_recorded_is_answered_cancelled(void **state)
{
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { UNSAVED, "edit allow_once y" }, { GOT_ANSWER, "0", CANCELLED }, TO_END);
}

/* SEC-52 */
static void a_choice_of_always_alone_is_answered_cancelled_and_recorded(void **state)
{
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," ALWAYS },
         { PERMIT, "edit cancelled" }, { GOT_ANSWER, "0", CANCELLED }, TO_END);
    PLAY(&plain, TO_PROMPT, { ASK, "0", CALL("c", "edit") "," ALWAYS },
         { PERMIT, "edit cancelled" }, { GOT_ANSWER, "0", CANCELLED }, TO_END);
}

/* Ids may hold any character. */
static void an_option_id_is_answered_whole(void **state)
{
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT,
         { ASK, "0",
           CALL("c",
                "edit") ",\"options\":[{\"optionId\":\"y\\u0000z\",\"name\":"
                        "\"Y\",\"kind\":\"allow_once\"},{\"optionId\":\"y\",\"name\":\"Y!\","
                        "\"kind\":\"allow_always\"}]" },
         { KEPT, "edit allow_once y" }, { CANCEL }, { GOT_NOTICE, "session/cancel" },
         { GOT_ANSWER, "0", CANCELLED }, { ANSWER, "{\"stopReason\":\"cancelled\"}" },
         { STOPS, "cancelled" });
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT,
         { ASK, "0",
           CALL("c",
                "edit") ",\"options\":[{\"optionId\":\"y\\u0000z\",\"name\":"
                        "\"Y\",\"kind\":\"allow_once\"},{\"optionId\":\"y\",\"name\":\"Y!\","
                        "\"kind\":\"allow_always\"}]" },
         { PERMIT, "edit allow_once y" }, { GOT_ANSWER, "0", SELECTED("y\\u0000z") }, TO_END);
}

/* ACP-2: both sides count from the same number; answers come in another order. */
static void requests_of_both_sides_may_have_the_same_id(void **state)
{
    PLAY(ALLOW(ACP_READ), TO_PROMPT, { ASK, "3", CALL("a", "read") "," OPTIONS },
         { KEPT, "read allow_once y" }, { ASK, "4", CALL("b", "read") "," OPTIONS },
         { PERMIT, "read allow_once y" }, { GOT_ANSWER, "4", SELECTED("y") },
         { ANSWER, "{\"stopReason\":\"end_turn\"}" }, { GOT_ANSWER, "3", CANCELLED },
         { STOPS, "end_turn" });
}

/* ACP-14 */
static void the_kind_is_remembered_from_what_was_said_of_the_tool_call_before(void **state)
{
    PLAY(ALLOW(ACP_EXECUTE), TO_PROMPT, { UPDATE, TOOL("c", ",\"kind\":\"execute\"") },
         { EVENT, "tool_call" },
         { UPDATE, "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c\",\"status\":"
                   "\"in_progress\"}" },
         { EVENT, "tool_update" }, { ASK, "0", "\"toolCall\":{\"toolCallId\":\"c\"}," OPTIONS },
         { PERMIT, "execute allow_once y" }, { GOT_ANSWER, "0", SELECTED("y") },
         /* nothing said: other */
         { ASK, "1", "\"toolCall\":{\"toolCallId\":\"d\"}," OPTIONS },
         { PERMIT, "other reject_once n" }, { GOT_ANSWER, "1", SELECTED("n") },
         /* a word that we do not know: other */
         { ASK, "2", CALL("c", "hack") "," OPTIONS }, { PERMIT, "other reject_once n" },
         { GOT_ANSWER, "2", SELECTED("n") },
         /* no tool call at all */
         { ASK, "3", "\"toolCall\":7," OPTIONS }, { PERMIT, "other reject_once n" },
         { GOT_ANSWER, "3", SELECTED("n") }, TO_END);
}

/* TK-31: outside of the turn nothing is granted and nothing recorded. */
static void a_request_outside_of_the_turn_is_answered_cancelled_without_a_word(void **state)
{
#define ASK_OF(id, session)                                                                \
    V "\"id\":" id ",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":" \
      "\"" session "\"," CALL("c", "edit") "," OPTIONS "}}"
    PLAY(ALLOW(ACP_EDIT), TO_NEW, { SAY, ASK_OF("7", "s1") }, { GOT_ANSWER, "7", CANCELLED },
         { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session" }, { GOT, "session/prompt" },
         { PROMPTS }, { SAY, ASK_OF("8", "another") }, { GOT_ANSWER, "8", CANCELLED },
         { SAY, V "\"id\":9,\"method\":\"session/request_permission\"}" },
         { GOT_ANSWER, "9", CANCELLED }, TO_END, { SAY, ASK_OF("10", "s1") },
         { GOT_ANSWER, "10", CANCELLED });
}

static void more_open_requests_than_are_kept_are_answered_cancelled(void **state)
{
    struct row *rows = mem_alloc((2 * ACP_ASKS_MAX + 32) * sizeof *rows);
    const struct row first[] = { TO_PROMPT }, *from = first;
    size_t n = 0;

    while (n < ARRAY_LEN(first))
        rows[n++] = *from++;
    for (int i = 0; i < ACP_ASKS_MAX; i++) {
        rows[n++] = (struct row){ ASK, "0", CALL("c", "edit") "," OPTIONS };
        rows[n++] = (struct row){ KEPT, "edit allow_once y" };
    }
    rows[n++] = (struct row){ ASK, "1", CALL("c", "edit") "," OPTIONS };
    rows[n++] = (struct row){ GOT_ANSWER, "1", CANCELLED };
    rows[n++] = (struct row){ GONE, "done" };
    rows[n++] = (struct row){ STOPS, "", "done" };
    rows[n] = (struct row){ END };
    play(ALLOW(ACP_EDIT), rows, __FILE__, __LINE__);
    free(rows);
}

/* ACP-11 */
static void a_cancel_is_a_notice_and_the_stop_is_awaited(void **state)
{
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { UPDATE, TOOL("a", ",\"status\":\"pending\"") },
         { EVENT, "tool_call" }, { UPDATE, TOOL("b", ",\"status\":\"completed\"") },
         { EVENT, "tool_call" }, { ASK, "0", CALL("a", "edit") "," OPTIONS },
         { KEPT, "edit allow_once y" },
         { UPDATE, "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
                   "\"text\":\"so far\"}}" },
         { CANCEL }, { GOT_NOTICE, "session/cancel", "{\"sessionId\":\"s1\"}" },
         { GOT_ANSWER, "0", CANCELLED }, { EVENT, "message", "{\"text\":\"so far\"}" },
         { EVENT, "tool_update", "{\"toolCallId\":\"a\",\"status\":\"cancelled\"}" },
         { CANCEL }, { NOTHING },
         /* updates are still accepted, permissions not granted but recorded */
         { UPDATE, TOOL("c", "") }, { EVENT, "tool_call" },
         { ASK, "1", CALL("a", "edit") "," OPTIONS }, { PERMIT, "edit cancelled" },
         { GOT_ANSWER, "1", CANCELLED }, { ANSWER, "{\"stopReason\":\"cancelled\"}" },
         { STOPS, "cancelled" }, { CANCEL }, { NOTHING });
    PLAY(&plain, TO_PROMPT, { CANCEL }, { GOT_NOTICE, "session/cancel" },
         { REFUSE, "{\"code\":-32800,\"message\":\"cancelled\"}" }, { STOPS, "cancelled" });
    PLAY(&plain, TO_PROMPT, { CANCEL }, { GOT_NOTICE, "session/cancel" },
         { ANSWER, "{\"stopReason\":\"end_turn\"}" }, { STOPS, "end_turn" });
}

/* ACP-11: the agent takes a request back. */
static void a_request_that_the_agent_takes_back_is_answered_so(void **state)
{
#define TAKE_BACK(id) V "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":" id "}}"
    PLAY(ALLOW(ACP_EDIT), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { KEPT, "edit allow_once y" }, { SAY, TAKE_BACK("5") }, { SAY, TAKE_BACK("\"0\"") },
         { SAY, V "\"method\":\"$/cancel_request\"}" }, { NOTHING }, { SAY, TAKE_BACK("0") },
         { GOT_REFUSAL, "0", "{\"code\":-32800}" }, { SAY, TAKE_BACK("0") }, { NOTHING },
         TO_END);
}

/* TK-32 */
static void a_turn_that_a_rejection_interrupted_says_so(void **state)
{
    PLAY(&plain, TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { PERMIT, "edit reject_once n" }, { GOT_ANSWER, "0", SELECTED("n") },
         { ANSWER, "{\"stopReason\":\"cancelled\"}" },
         { STOPS, "cancelled", "after a reject" });
    PLAY(ALLOW(ACP_READ), TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { PERMIT, "edit reject_once n" }, { GOT_ANSWER, "0", SELECTED("n") },
         { ASK, "1", CALL("d", "read") "," OPTIONS }, { PERMIT, "read allow_once y" },
         { GOT_ANSWER, "1", SELECTED("y") }, { ANSWER, "{\"stopReason\":\"cancelled\"}" },
         { STOPS, "cancelled" });
    PLAY(&plain, TO_PROMPT, { ASK, "0", CALL("c", "edit") "," OPTIONS },
         { PERMIT, "edit reject_once n" }, { GOT_ANSWER, "0", SELECTED("n") }, { CANCEL },
         { GOT_NOTICE, "session/cancel" }, { ANSWER, "{\"stopReason\":\"cancelled\"}" },
         { STOPS, "cancelled" });
}

/* An owner may free the session in whatever it is told. */
struct brief {
    struct acp_session *session;
    int left; /* callbacks until it is freed */
};

static void maybe_free(struct brief *b)
{
    if (b->session && --b->left == 0)
        acp_session_free(take_ptr(&b->session));
}

static bool brief_send(void *ctx, struct str line, struct error *e)
{
    return true;
}

static void brief_event(void *ctx, enum acp_event type, struct str data)
{
    maybe_free(ctx);
}

static void brief_permission(void *ctx, uint64_t id, const struct acp_permission *p)
{
    struct brief *b = ctx;

    acp_session_permit(b->session, id, true);
    maybe_free(ctx);
}

static void brief_prompting(void *ctx)
{
    maybe_free(ctx);
}

static void brief_failed(void *ctx, const struct acp_failure *why)
{
    maybe_free(ctx);
}

static void brief_stopped(void *ctx, const struct acp_stop *how)
{
    maybe_free(ctx);
}

static void a_session_may_be_freed_in_each_of_its_callbacks(void **state)
{
    static const struct acp_session_ops ops = { brief_send,      brief_event,  brief_permission,
                                                brief_prompting, brief_failed, brief_stopped };
    static const char *const lines[] = {
        V "\"id\":1,\"result\":{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}}",
        V "\"id\":2,\"result\":{\"sessionId\":\"s1\"}}",
        "[" V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
        "\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":"
        "\"text\",\"text\":\"x\"}}}}," V
        "\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s1\","
        "\"title\":\"t\"," OPTIONS "}}," V
        "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
        "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"m\"}}}]",
        V "\"id\":3,\"result\":{}}",
        V
        "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
        "\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":\"end_turn\"}}}",
    };
    const struct acp_turn t = { .version = 2, .cwd = "/", .prompt = STR("x") };

    for (int left = 1; left < 12; left++) {
        struct loop *loop = loop_new();
        struct brief b = { .left = left };

        b.session = acp_session_new(loop, &t, &ops, &b);
        for (size_t i = 0; i < ARRAY_LEN(lines) && b.session; i++) {
            bool alive = acp_session_feed(b.session, str_of(lines[i]));

            assert_int_equal(alive, b.session != NULL);
        }
        if (b.session)
            acp_session_cancel(b.session);
        acp_session_free(b.session);
        loop_free(loop);
    }
}

/* A cancel out of an event that the request itself pushes out. */
static void cancel_on_message(void *ctx, enum acp_event type, struct str data)
{
    struct brief *b = ctx;

    if (type == ACP_EV_MESSAGE)
        acp_session_cancel(b->session);
}

static int decisions;

static void note_decision(void *ctx, uint64_t id, const struct acp_permission *p)
{
    assert_false(p->decision.selected);
    decisions++;
}

static void a_cancel_just_before_a_decision_leaves_nothing_to_grant(void **state)
{
    static const struct acp_session_ops ops = { brief_send,    cancel_on_message,
                                                note_decision, brief_prompting,
                                                brief_failed,  brief_stopped };
    static const char *const lines[] = {
        V "\"id\":1,\"result\":{\"protocolVersion\":1}}",
        V "\"id\":2,\"result\":{\"sessionId\":\"s1\"}}",
        V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
          "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
          "\"text\":\"x\"}}}}",
        V "\"id\":0,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
          "\"s1\"," CALL("c", "edit") "," OPTIONS "}}",
    };
    struct acp_turn t = *ALLOW(ACP_EDIT);
    struct loop *loop = loop_new();
    struct brief b = { .left = INT_MAX };

    decisions = 0;
    t.version = 1;
    t.cwd = "/";
    t.prompt = STR("x");
    b.session = acp_session_new(loop, &t, &ops, &b);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_true(acp_session_feed(b.session, str_of(lines[i])));
    assert_int_equal(decisions, 1);
    acp_session_free(b.session);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancel_just_before_a_decision_leaves_nothing_to_grant),
        cmocka_unit_test(a_turn_ends_with_the_reason_that_the_agent_gives),
        cmocka_unit_test(a_usage_that_is_too_long_is_not_kept),
        cmocka_unit_test(a_permission_is_recorded_before_it_is_answered),
        cmocka_unit_test(a_decision_that_could_not_be_recorded_is_answered_cancelled),
        cmocka_unit_test(a_choice_of_always_alone_is_answered_cancelled_and_recorded),
        cmocka_unit_test(an_option_id_is_answered_whole),
        cmocka_unit_test(requests_of_both_sides_may_have_the_same_id),
        cmocka_unit_test(the_kind_is_remembered_from_what_was_said_of_the_tool_call_before),
        cmocka_unit_test(a_request_outside_of_the_turn_is_answered_cancelled_without_a_word),
        cmocka_unit_test(more_open_requests_than_are_kept_are_answered_cancelled),
        cmocka_unit_test(a_cancel_is_a_notice_and_the_stop_is_awaited),
        cmocka_unit_test(a_request_that_the_agent_takes_back_is_answered_so),
        cmocka_unit_test(a_turn_that_a_rejection_interrupted_says_so),
        cmocka_unit_test(a_session_may_be_freed_in_each_of_its_callbacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
