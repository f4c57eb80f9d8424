/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <pthread.h>

#include "tasks/task.h"

/* TK-2: the arrows, each other pair is none. */
static void a_task_moves_along_the_arrows_only(void **state)
{
    static const char *const arrows[] = {
        "created starting",  "created failed",  "created cancelled",
        "starting running",  "starting failed", "starting cancelled",
        "running succeeded", "running failed",  "running cancelled",
    };

    (void)state;
    for (int from = TASK_CREATED; from <= TASK_CANCELLED; from++) {
        for (int to = TASK_CREATED; to <= TASK_CANCELLED; to++) {
            char pair[64];
            bool want = false;

            snprintf(pair, sizeof pair, "%s %s", task_status_name((enum task_status)from),
                     task_status_name((enum task_status)to));
            for (size_t i = 0; i < ARRAY_LEN(arrows); i++)
                want |= strcmp(pair, arrows[i]) == 0;
            if (task_may_become((enum task_status)from, (enum task_status)to) != want)
                fail_msg("%s: %s", pair, want ? "must be an arrow" : "must be none");
        }
        assert_int_equal(task_is_terminal((enum task_status)from), from >= TASK_SUCCEEDED);
    }
}

/* TK-16: the closed set of 17 types, in its order; TK-6: which go first. */
static void the_words_of_the_wire_are_these(void **state)
{
    static const char *const types[TASK_EVENTS] = {
        "task_created",  "status_changed", "process_started",  "process_exited",
        "stdout",        "stderr",         "session_started",  "agent_message",
        "agent_thought", "tool_call",      "tool_call_update", "plan",
        "permission",    "agent_update",   "task_cancelled",   "task_resolved",
        "error",
    };
    static const char *const output[] = { "stdout", "stderr", "agent_thought",
                                          "tool_call_update" };
    static const char *const resolutions[] = { "accepted", "rejected", "needs_followup",
                                               "superseded" };

    (void)state;
    for (int i = 0; i < TASK_EVENTS; i++) {
        enum task_event t = (enum task_event)i;
        bool want = false;

        assert_string_equal(task_event_name(t), types[i]);
        for (size_t k = 0; k < ARRAY_LEN(output); k++)
            want |= strcmp(types[i], output[k]) == 0;
        assert_int_equal(task_event_is_output(t), want);
    }
    for (int i = 0; i < 4; i++)
        assert_string_equal(task_resolution_name((enum task_resolution)(i + 1)),
                            resolutions[i]);
    assert_null(task_resolution_name(TASK_UNRESOLVED));
}

static void any_other_word_is_refused(void **state)
{
    static const char *const words[] = {
        "", "Running", "running ", "done", "unresolved", "acp2"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        enum task_status s;

        assert_false(task_status_parse(str_of(words[i]), &s));
    }
}

static char *put(const struct task_record *t, bool with_result)
{
    struct buf out = BUF((size_t)1 << 20);
    struct jw w = jw_to(&out);

    task_put(&w, t, with_result);
    return buf_take(&out);
}

/* TK-9: what is not there is null, times are RFC 3339 with milliseconds. TK-1: status and
 * resolution side by side. */
static void a_record_is_written_as_callers_see_it(void **state)
{
    const struct task_record bare = {
        .id = STR("i"),
        .agent = STR("qwen"),
        .workspace = STR("/w"),
        .exit_code = -1,
        .signal = -1,
        .created_ms = 1772366400123,
        .first_seq = 1,
    };
    const struct task_record full = {
        .id = STR("i"),
        .agent = STR("qwen"),
        .workspace = STR("/w"),
        .status = TASK_FAILED,
        .resolution = TASK_REJECTED,
        .created_ms = 1,
        .started_ms = 1000,
        .finished_ms = 61007,
        .resolved_ms = 253402300799999,
        .exit_code = 0,
        .signal = 9,
        .stop_reason = STR("end_turn"),
        .session_id = STR("s\"1"),
        .note = STR("n"),
        .initiator_id = STR("me"),
        .executor_id = STR("it"),
        .parent_id = STR("p"),
        .labels = STR("[\"a\"]"),
        .usage = STR("{\"used\":1}"),
        .last_seq = 7,
        .result_text = STR("done\n"),
        .worktree = STR("/t"),
        .branch = STR("b"),
    };
    auto_free char *got = put(&bare, true);

    (void)state;
    assert_string_equal(
        got,
        "{\"task_id\":\"i\",\"kind\":\"acp\",\"agent\":\"qwen\",\"workspace\":\"/"
        "w\",\"prompt\":\"\",\"status\":\"created\","
        "\"created_at\":\"2026-03-01T12:00:00.123Z\",\"started_at\":null,\"finished_at\":null,"
        "\"exit_code\":null,\"signal\":null,\"stop_reason\":null,\"session_id\":null,"
        "\"resolution\":null,\"note\":null,\"resolved_at\":null,\"initiator_id\":null,"
        "\"executor_id\":null,\"parent_task_id\":null,\"labels\":[],\"last_seq\":0,"
        "\"usage\":null,\"worktree\":null,\"branch\":null,\"result_text\":\"\"}");
    free(take_ptr(&got));
    got = put(&full, true);
    assert_string_equal(
        got,
        "{\"task_id\":\"i\",\"kind\":\"acp\",\"agent\":\"qwen\",\"workspace\":\"/"
        "w\",\"prompt\":\"\",\"status\":\"failed\","
        "\"created_at\":\"1970-01-01T00:00:00.001Z\","
        "\"started_at\":\"1970-01-01T00:00:01.000Z\","
        "\"finished_at\":\"1970-01-01T00:01:01.007Z\","
        "\"exit_code\":0,\"signal\":9,\"stop_reason\":\"end_turn\",\"session_id\":\"s\\\"1\","
        "\"resolution\":\"rejected\",\"note\":\"n\","
        "\"resolved_at\":\"9999-12-31T23:59:59.999Z\",\"initiator_id\":\"me\","
        "\"executor_id\":\"it\",\"parent_task_id\":\"p\",\"labels\":[\"a\"],\"last_seq\":7,"
        "\"usage\":{\"used\":1},\"worktree\":\"/"
        "t\",\"branch\":\"b\",\"result_text\":\"done\\n\"}");
}

/* TK-12. */
static void a_record_in_a_list_has_no_result(void **state)
{
    const struct task_record t = { .id = STR("i"), .result_text = STR("secret") };
    auto_free char *got = put(&t, false);

    (void)state;
    assert_lacks(got, "result_text");
    assert_lacks(got, "secret");
}

/* TK-16: the envelope. */
static void an_event_is_seq_type_time_and_data(void **state)
{
    const struct task_event_row ev = { .seq = 3,
                                       .ts_ms = 1772366400000,
                                       .type = TASK_EV_STDOUT,
                                       .data = STR("{\"text\":\"x\"}") };
    auto_buf out = BUF(1024);
    struct jw w = jw_to(&out);

    (void)state;
    task_put_event(&w, &ev);
    assert_str(buf_str(&out),
               "{\"seq\":3,\"type\":\"stdout\",\"ts\":\"2026-03-01T12:00:00.000Z\","
               "\"data\":{\"text\":\"x\"}}");
}

/* Of a damaged ledger only what is whole gets out. */
static void what_is_no_json_is_left_out(void **state)
{
    static const char *const bad[] = { "{",    "{\"a\":1}}",     "[\"a\"",
                                       "\xff", "{\"a\":\"\n\"}", "nul" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct task_event_row ev = { .type = TASK_EV_PLAN, .data = str_of(bad[i]) };
        const struct task_record t = { .labels = str_of(bad[i]), .usage = str_of(bad[i]) };
        auto_free char *record = put(&t, true);
        auto_buf out = BUF(1024);
        struct jw w = jw_to(&out);

        task_put_event(&w, &ev);
        assert_has(buf_z(&out), "\"data\":{}}");
        assert_has(record, "\"labels\":[],");
        assert_has(record, "\"usage\":null,");
    }
}

/* TK-9: UUIDv7. */
static void ids_rise_and_are_version_7(void **state)
{
    char last[TASK_ID_LEN + 1] = "", id[TASK_ID_LEN + 1];
    int64_t before = clock_wall_ms(), ms;
    char hex[13];

    (void)state;
    for (int i = 0; i < 200000; i++) {
        task_id_new(id);
        if (strcmp(last, id) >= 0)
            fail_msg("%s after %s", id, last);
        memcpy(last, id, sizeof id);
    }
    assert_true(task_id_valid(str_of(id)));
    snprintf(hex, sizeof hex, "%.8s%.4s", id, id + 9);
    ms = strtoll(hex, NULL, 16);
    assert_in_range(ms, before, clock_wall_ms() + 1);
}

#define IDS_EACH 20000

static void *make_ids(void *ctx)
{
    char(*ids)[TASK_ID_LEN + 1] = ctx;

    for (int i = 0; i < IDS_EACH; i++)
        task_id_new(ids[i]);
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, TASK_ID_LEN);
}

static void no_two_threads_get_the_same_id(void **state)
{
    char(*ids)[TASK_ID_LEN + 1] = mem_alloc(sizeof *ids * 2 * IDS_EACH);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, make_ids, ids), 0);
    make_ids(ids + IDS_EACH);
    pthread_join(thread, NULL);
    qsort(ids, 2 * IDS_EACH, sizeof *ids, by_text);
    for (int i = 1; i < 2 * IDS_EACH; i++)
        assert_true(memcmp(ids[i - 1], ids[i], TASK_ID_LEN) < 0);
    free(ids);
}

static void only_the_text_of_a_uuid_7_is_an_id(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        { "01958f2a-7c3b-7abc-8def-0123456789ab", true },
        { "01958f2a-7c3b-7abc-bdef-0123456789ab", true },
        { "01958f2a-7c3b-4abc-8def-0123456789ab", false },
        { "01958f2a-7c3b-7abc-cdef-0123456789ab", false },
        { "01958F2A-7c3b-7abc-8def-0123456789ab", false },
        { "01958f2a-7c3b-7abc-8def-0123456789a", false },
        { "01958f2a-7c3b-7abc-8def-0123456789abc", false },
        { "01958f2a07c3b-7abc-8def-0123456789ab", false },
        { "../../../../../../../../../../../etc", false },
        { "", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(task_id_valid(str_of(cases[i].text)), cases[i].valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_moves_along_the_arrows_only),
        cmocka_unit_test(the_words_of_the_wire_are_these),
        cmocka_unit_test(any_other_word_is_refused),
        cmocka_unit_test(a_record_is_written_as_callers_see_it),
        cmocka_unit_test(a_record_in_a_list_has_no_result),
        cmocka_unit_test(an_event_is_seq_type_time_and_data),
        cmocka_unit_test(what_is_no_json_is_left_out),
        cmocka_unit_test(ids_rise_and_are_version_7),
        cmocka_unit_test(no_two_threads_get_the_same_id),
        cmocka_unit_test(only_the_text_of_a_uuid_7_is_an_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
