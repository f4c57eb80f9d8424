/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From initialize to the prompt, and what stands in the way. */
#include "script.h"

#define V "{\"jsonrpc\":\"2.0\","

static const struct acp_turn plain = { .version = 1 };

/* ACP-1, ACP-6, ACP-7, ACP-9: every message as the schema has it, checked in script.c. */
static void a_turn_goes_from_initialize_to_its_stop_reason(void **state)
{
    PLAY(
        &plain,
        { GOT, "initialize",
          "{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":\"<absent>\",\"terminal\":"
          "\"<absent>\",\"elicitation\":\"<absent>\",\"session\":{\"configOptions\":"
          "{\"boolean\":{}}}},\"clientInfo\":{\"name\":\"symposium\",\"version\":\"<any>\"}}" },
        { ANSWER, "{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"x\",\"version\":\"1\"}}" },
        { GOT, "session/new", "{\"cwd\":\"/work\",\"mcpServers\":[]}" },
        { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session", "{\"session_id\":\"s1\"}" },
        { GOT, "session/prompt",
          "{\"sessionId\":\"s1\",\"prompt\":[{\"type\":\"text\",\"text\":\"do it\"}]}" },
        { PROMPTS }, { ANSWER, "{\"stopReason\":\"end_turn\",\"usage\":{\"totalTokens\":18}}" },
        { STOPS, "end_turn", "{\"totalTokens\":18}" });
}

static void servers_of_mcp_stand_in_the_request_of_the_session(void **state)
{
    const struct acp_mcp_server servers[] = {
        { "one", "/bin/one", (const char *const[]){ "-a", "b c", NULL },
          (const char *const[]){ "A=1=2", "B=", NULL } },
        { "two", "/bin/two", NULL, NULL },
    };
    struct acp_turn t = { .servers = servers, .nservers = 2 };

    PLAY(&t, { GOT, "initialize" }, { ANSWER, "{\"protocolVersion\":1}" },
         { GOT, "session/new",
           "{\"mcpServers\":[{\"type\":\"<absent>\",\"name\":\"one\",\"command\":\"/bin/one\","
           "\"args\":[\"-a\",\"b c\"],\"env\":[{\"name\":\"A\",\"value\":\"1=2\"},"
           "{\"name\":\"B\",\"value\":\"\"}]},{\"name\":\"two\",\"command\":\"/bin/two\","
           "\"args\":[],\"env\":[]}]}" });
    t.version = 2;
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{\"mcp\":"
                   "{\"stdio\":{}}}}}" },
         { GOT, "session/new",
           "{\"mcpServers\":[{\"type\":\"stdio\",\"name\":\"one\"},"
           "{\"type\":\"stdio\",\"name\":\"two\"}]}" });
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}" },
         { FAILS, "new_session", "no MCP servers over stdio" });
}

/* ACP-6, ACP-16: what is not spoken ends the task; the draft's offer may be answered with 1. */
static void an_agent_of_another_version_is_refused(void **state)
{
    static const struct {
        int version;
        const char *answer, *text;
    } cases[] = {
        { 1, "{\"protocolVersion\":2}", "version 2 of the protocol, not 1" },
        { 1, "{\"protocolVersion\":0}", "version 0" },
        { 1, "{\"protocolVersion\":\"1\"}", "version 0" },
        { 1, "{}", "version 0" },
        { 1, "null", "version 0" },
        { 1, "[]", "version 0" },
        { 2, "{\"protocolVersion\":3}", "version 3 of the protocol, not 2" },
    };
    const struct acp_turn newer = { .version = 2 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct acp_turn t = { .version = cases[i].version };

        PLAY(&t, { GOT, "initialize" }, { ANSWER, cases[i].answer },
             { FAILS, "initialize", cases[i].text });
    }
    PLAY(&newer, { GOT, "initialize", "{\"protocolVersion\":2}" },
         { ANSWER, "{\"protocolVersion\":1}" }, { SPEAKS, .n = 1 },
         { GOT, "session/new", "{\"mcpServers\":[]}" });
}

/* ACP-4: optional members of any shape do not matter. */
static void what_is_optional_and_wrong_counts_as_absent(void **state)
{
    static const char *const answers[] = {
        "{\"protocolVersion\":1,\"agentCapabilities\":7,\"authMethods\":\"x\",\"agentInfo\":[]"
        "}",
        "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":\"yes\","
        "\"sessionCapabilities\":{\"list\":true,\"resume\":[]}},\"_meta\":{\"a\":1}}",
        "{\"protocolVersion\":1.0,\"authMethods\":[7,null,{\"type\":\"new\",\"id\":\"z\"}],"
        "\"unknown\":{}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        PLAY(&plain, { GOT, "initialize" }, { ANSWER, answers[i] }, { GOT, "session/new" },
             { ANSWER, "{\"sessionId\":\"s1\",\"modes\":7,\"configOptions\":\"x\"}" },
             { EVENT, "session" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

/* ACP-4: what is required and wrong ends it. */
static void a_session_needs_an_id(void **state)
{
    static const char *const answers[] = { "{}", "{\"sessionId\":7}", "{\"sessionId\":\"\"}",
                                           "null" };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        PLAY(&plain, TO_NEW, { ANSWER, answers[i] }, { FAILS, "new_session", "sessionId" });
}

/* ACP-2: the id of a request of the agent and of one of ours may be the same. ACP-3: unknown
 * requests and notifications. ACP-15: what was not announced. */
static void requests_that_were_not_announced_are_refused_and_notifications_ignored(void **state)
{
    PLAY(&plain, TO_NEW, { SAY, V "\"method\":\"_auth/status_update\",\"params\":{}}" },
         { SAY, V "\"method\":\"_x/y\",\"id\":2}" },
         { GOT_REFUSAL, "2",
           "{\"code\":-32601,\"message\":\"'_x/y' is not supported by this "
           "client\"}" },
         { SAY, V "\"method\":\"fs/read_text_file\",\"id\":0,\"params\":{\"path\":\"/a\"}}" },
         { GOT_REFUSAL, "0", "{\"code\":-32601}" },
         { SAY, V "\"method\":\"fs/write_text_file\",\"id\":\"1\",\"params\":{}}" },
         { GOT_REFUSAL, "\"1\"", "{\"code\":-32601}" },
         { SAY, V "\"method\":\"terminal/create\",\"id\":1,\"params\":{}}" },
         { GOT_REFUSAL, "1", "{\"code\":-32601}" },
         { SAY, V "\"method\":\"elicitation/create\",\"id\":3,\"params\":{}}" },
         { GOT_REFUSAL, "3", "{\"code\":-32601}" },
         /* ACP-1: null is an id */
         { SAY, V "\"method\":\"terminal/kill\",\"id\":null,\"params\":{}}" },
         { GOT_REFUSAL, "null", "{\"code\":-32601}" }, { ANSWER, "{\"sessionId\":\"s1\"}" },
         { EVENT, "session" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

/* ACP-2: `result` before `id`; answers that belong to nobody; lines that are none. */
static void answers_are_matched_by_their_id_whatever_the_order_of_their_members(void **state)
{
    PLAY(&plain, { SAY, "starting up ..." }, { SAY, "" }, { SAY, "[" }, { SAY, "7" },
         { GOT, "initialize" }, { SAY, V "\"id\":99,\"result\":{\"protocolVersion\":1}}" },
         { SAY, V "\"id\":\"1\",\"result\":{\"protocolVersion\":1}}" }, { NOTHING },
         { SAY, "{\"result\":{\"protocolVersion\":1},\"jsonrpc\":\"2.0\",\"id\":@}" },
         { GOT, "session/new" }, { SAY, V "\"id\":1,\"result\":{\"protocolVersion\":1}}" },
         { NOTHING },
         { SAY, "{\"result\":{\"sessionId\":\"s1\"},\"id\":@,\"jsonrpc\":\"2.0\"}" },
         { EVENT, "session" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

/* ACP-6: logins. */
static void a_login_is_made_when_it_was_asked_for(void **state)
{
    const struct acp_turn t = { .auth_method = "key" },
                          t2 = { .version = 2, .auth_method = "key" };

    PLAY(&t, { GOT, "initialize" },
         { ANSWER,
           "{\"protocolVersion\":1,\"authMethods\":[{\"id\":\"key\",\"name\":\"Key\"}]}" },
         { GOT, "authenticate", "{\"methodId\":\"key\"}" }, { ANSWER, "{}" },
         { GOT, "session/new" });
    PLAY(&t, { GOT, "initialize" }, { ANSWER, "{\"protocolVersion\":1}" },
         { GOT, "authenticate" }, { REFUSE, "{\"code\":-32602,\"message\":\"no\"}" },
         { FAILS, "authenticate", "no (code -32602)" });
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":1,\"authMethods\":[{\"type\":\"terminal\",\"id\":"
                   "\"key\",\"name\":\"Key\",\"args\":[]}]}" },
         { FAILS, "authenticate", "'key' needs a person at a terminal" });
    PLAY(&t2, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"authMethods\":[{\"type\":\"agent\",\"methodId\":"
                   "\"key\",\"name\":\"Key\"}]}" },
         { GOT, "auth/login", "{\"methodId\":\"key\"}" });
}

/* ACP-6: -32000 names the methods. */
static void a_session_that_needs_a_login_says_which(void **state)
{
    PLAY(&plain, { GOT, "initialize" },
         { ANSWER,
           "{\"protocolVersion\":1,\"authMethods\":[{\"id\":\"key\",\"name\":\"Key\"},7,"
           "{\"id\":\"web\",\"name\":\"Web\"}]}" },
         { GOT, "session/new" },
         { REFUSE, "{\"code\":-32000,\"message\":\"Authentication required\"}" },
         { FAILS, "new_session",
           "authentication required (methods of the agent: 'key', 'web')" });
    PLAY(&plain, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":1,\"authMethods\":[{\"id\":\"key\"}]}" },
         { GOT, "session/new" }, { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session" },
         { GOT, "session/prompt" }, { PROMPTS },
         { REFUSE, "{\"code\":-32000,\"message\":\"expired\"}" },
         { STOPS, "", "authentication required (methods of the agent: 'key'): expired" });
    PLAY(&plain, TO_NEW, { REFUSE, "{\"code\":-32000,\"message\":\"sign in\"}" },
         { FAILS, "new_session", "methods of the agent: none): sign in" });
}

/* ACP-5: the data of an error is a text, an object or a tree. */
static void an_error_of_the_agent_is_told_in_its_own_words(void **state)
{
    static const struct {
        const char *error, *text;
    } cases[] = {
        { "{\"code\":-32603,\"message\":\"Internal error\",\"data\":\"disk full\"}",
          "Internal error (code -32603): disk full|" },
        { "{\"code\":-32603,\"message\":\"Internal error\",\"data\":{\"details\":\"no disk\"}}",
          "Internal error (code -32603): no disk|" },
        { "{\"code\":7,\"message\":\"m\",\"data\":{\"a\":{\"b\":[1]}}}",
          "m (code 7): {\"a\":{\"b\":[1]}}|" },
        { "{\"code\":7,\"message\":\"a\\nb\\u001b[2Jc\",\"data\":null}", "a bc (code 7)|" },
        { "{\"code\":\"7\",\"message\":\"m\"}", "'code' must be an integer|" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        PLAY(&plain, TO_NEW, { REFUSE, cases[i].error },
             { FAILS, "new_session", cases[i].text });
}

static void the_end_of_the_agent_fails_the_step_it_was_at(void **state)
{
    PLAY(&plain, { GOT, "initialize" }, { GONE, "exited with status 3" },
         { FAILS, "initialize", "exited with status 3" }, { GONE, "again" });
    PLAY(&plain, TO_NEW, { GONE, "killed" }, { FAILS, "new_session", "killed" });
    PLAY(&plain, TO_NEW, { LONG }, { FAILS, "new_session", "more than 16777216 bytes" });
}

/* TK-20: each request before the prompt has its deadline; the prompt has none. */
static void a_request_that_is_not_answered_fails_the_step_by_name(void **state)
{
    const struct acp_setting pin = { "pin", ACP_MODE, NULL, "ask" };
    const struct acp_turn t = { .request_ms = 30, .settings = &pin, .nsettings = 1 };
    const struct acp_turn old = { .request_ms = 30, .resume = "s1" };

    PLAY(&t, { GOT, "initialize" }, { WAIT, .n = 60 },
         { FAILS, "initialize", "no answer to 'initialize' within 30 ms" });
    PLAY(&t, TO_NEW, { WAIT, .n = 60 }, { FAILS, "new_session", "no answer to 'session/new'" });
    PLAY(&old, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}" },
         { GOT, "session/load" }, { WAIT, .n = 60 },
         { FAILS, "load_session", "session 's1': no answer to 'session/load'" });
    PLAY(&t, TO_NEW,
         { ANSWER, "{\"sessionId\":\"s1\",\"modes\":{\"availableModes\":[{\"id\":\"ask\"}]}}" },
         { EVENT, "session" }, { GOT, "session/set_mode" }, { WAIT, .n = 60 },
         { FAILS, "pin", "'mode' = 'ask': no answer to 'session/set_mode' within 30 ms" },
         { ANSWER, "{}" }, { NOTHING });
    PLAY(&(const struct acp_turn){ .request_ms = 30 }, TO_PROMPT, { WAIT, .n = 100 },
         { NOTHING }, TO_END);
}

/* ACP-11: `$/cancel_request` for what we no longer wait for. */
static void a_cancel_before_the_prompt_fails_the_session_at_once(void **state)
{
    PLAY(&plain, TO_NEW, { CANCEL }, { GOT_NOTICE, "$/cancel_request", "{\"requestId\":2}" },
         { FAILS, "cancelled", "before the prompt" }, { CANCEL },
         { ANSWER, "{\"sessionId\":\"s1\"}" }, { NOTHING });
}

static void what_cannot_be_sent_fails_the_step(void **state)
{
    PLAY(&plain, { GOT, "initialize" }, { DEAF }, { ANSWER, "{\"protocolVersion\":1}" },
         { FAILS, "new_session", "the pipe is closed" });
    PLAY(&plain, TO_NEW, { DEAF }, { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session" },
         { FAILS, "prompt", "the pipe is closed" });
    PLAY(&plain, TO_NEW, { DEAF }, { SAY, V "\"method\":\"_x\",\"id\":5}" }, { CANCEL },
         { FAILS, "cancelled" });
}

/* A send that fails at once is told from the loop, never from inside acp_session_new(). */
static bool refuse_to_send(void *ctx, struct str line, struct error *e)
{
    return error_set(e, ERR_CLOSED, "the pipe is closed");
}

static void note_failure(void *ctx, const struct acp_failure *why)
{
    assert_string_equal(why->step, "initialize");
    assert_str(why->text, "the pipe is closed");
    ++*(int *)ctx;
}

static void an_agent_that_cannot_be_reached_is_told_from_the_loop(void **state)
{
    static const struct acp_session_ops ops = { .send = refuse_to_send,
                                                .on_failed = note_failure };
    const struct acp_turn t = { .version = 1, .cwd = "/", .prompt = STR("x") };
    struct loop *loop = loop_new();
    int failures = 0;
    struct acp_session *s = acp_session_new(loop, &t, &ops, &failures);

    assert_int_equal(failures, 0);
    run_for(loop, 20);
    assert_int_equal(failures, 1);
    acp_session_free(s);
    loop_free(loop);
}

/* Every message that we write is checked against the schemas; this says so when they are not
 * there. */
static void our_messages_are_what_the_schemas_of_v1_and_v2_allow(void **state)
{
    static const struct {
        int version;
        const char *name, *text;
        bool want;
    } cases[] = {
        { 1, "InitializeRequest", "{\"protocolVersion\":1}", true },
        { 1, "InitializeRequest", "{\"protocolVersion\":\"1\"}", false },
        { 1, "InitializeRequest", "{\"protocolVersion\":1,\"x\":1}", false },
        { 2, "InitializeRequest", "{\"protocolVersion\":2}", false },
        { 1, "NewSessionRequest", "{\"cwd\":\"/\"}", false },
        { 2, "NewSessionRequest", "{\"cwd\":\"/\"}", true },
        { 1, "RequestPermissionResponse", "{\"outcome\":{\"outcome\":\"selected\"}}", false },
        { 2, "SetSessionConfigOptionRequest",
          "{\"sessionId\":\"s\",\"configId\":\"c\",\"value\":\"v\"}", false },
    };

    if (!schemas_found())
        skip();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(schema_allows(cases[i].version, cases[i].name, cases[i].text),
                         cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_messages_are_what_the_schemas_of_v1_and_v2_allow),
        cmocka_unit_test(a_turn_goes_from_initialize_to_its_stop_reason),
        cmocka_unit_test(servers_of_mcp_stand_in_the_request_of_the_session),
        cmocka_unit_test(an_agent_of_another_version_is_refused),
        cmocka_unit_test(what_is_optional_and_wrong_counts_as_absent),
        cmocka_unit_test(a_session_needs_an_id),
        cmocka_unit_test(
            requests_that_were_not_announced_are_refused_and_notifications_ignored),
        cmocka_unit_test(answers_are_matched_by_their_id_whatever_the_order_of_their_members),
        cmocka_unit_test(a_login_is_made_when_it_was_asked_for),
        cmocka_unit_test(a_session_that_needs_a_login_says_which),
        cmocka_unit_test(an_error_of_the_agent_is_told_in_its_own_words),
        cmocka_unit_test(the_end_of_the_agent_fails_the_step_it_was_at),
        cmocka_unit_test(a_request_that_is_not_answered_fails_the_step_by_name),
        cmocka_unit_test(a_cancel_before_the_prompt_fails_the_session_at_once),
        cmocka_unit_test(what_cannot_be_sent_fails_the_step),
        cmocka_unit_test(an_agent_that_cannot_be_reached_is_told_from_the_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
