/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arguments of the seven tools (TK-8 to TK-15), as a table of refusals and of what is
 * read. */
#include "../check.h"

#include "tasks/service_args.h"

#define ID "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"

enum tool { SPAWN, GET, EVENTS, WAIT, LIST, RESOLVE, CANCEL };

static bool read_tool(enum tool tool, struct arena *a, yyjson_val *args, struct error *e)
{
    struct spawn_args spawn;
    struct cancel_args cancel;
    struct resolve_args resolve;
    struct events_query events;
    struct list_query list;
    struct wait_args wait;
    struct str id;

    switch (tool) {
    case SPAWN:
        return spawn_args_read(&spawn, a, args, e);
    case GET:
        return id_args_read(&id, a, args, e);
    case EVENTS:
        return events_args_read(&events, a, args, e);
    case WAIT:
        return wait_args_read(&wait, a, args, e);
    case LIST:
        return list_args_read(&list, a, args, e);
    case RESOLVE:
        return resolve_args_read(&resolve, a, args, e);
    case CANCEL:
        return cancel_args_read(&cancel, a, args, e);
    }
    return false;
}

static void what_is_wrong_is_refused_by_name(void **state)
{
    /* clang-format off */
    static const struct { enum tool tool; const char *args, *says; } rows[] = {
        { SPAWN, "{}", "'agent' is missing" },
        { SPAWN, "{\"agent\":\"a\"}", "'prompt' is missing" },
        { SPAWN, "{\"agent\":1,\"prompt\":\"p\"}", "'agent' must be a string" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"\"}", "'prompt' must be a string that is not empty" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":null}", "'prompt' must be a string" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"workspace\":\"rel\"}",
          "'workspace' must be an absolute path, not 'rel'" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"workspace\":\"/a\\u0000b\"}", "'workspace' must be an absolute path" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"deadline_s\":0}",
          "'deadline_s' must be an integer from 1 to 86400" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"deadline_s\":\"5\"}", "'deadline_s' must be an integer" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"priority\":11}", "'priority' must be an integer from -10 to 10" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"worktree\":\"yes\"}", "'worktree' must be true or false" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"worktree\":1}", "'worktree' must be true or false" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"follow\":0}", "'follow' must be true or false" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"options\":[]}", "'options' must be an object" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"options\":{\"model\":\"m\"},\"model\":\"m\"}",
          "'model' stands both in 'options' and beside it" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"labels\":\"x\"}", "'labels' must be an array of strings" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"labels\":[\"\"]}", "'labels' must hold strings of 1 to 64 bytes" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"labels\":[1]}", "'labels' must hold strings" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"labels\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\","
                 "\"10\",\"11\",\"12\",\"13\",\"14\",\"15\",\"16\",\"17\"]}", "'labels' has 17 items, at most 16" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"parent_task_id\":\"x\"}", "'parent_task_id' must be the id of a task" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"max_output_bytes\":1}", "'max_output_bytes' must be an integer" },
        { GET, "{}", "'task_id' is missing" },
        { GET, "{\"task_id\":7}", "'task_id' must be a string" },
        { GET, "{\"task_id\":\"" ID "\",\"taskid\":1}", "unknown key 'taskid'" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"limit\":0}", "'limit' must be an integer from 1 to 5000" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"after_seq\":-1}", "'after_seq' must be an integer" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"types\":[]}", "'types' must be an array of types of events" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"types\":[\"message\"]}", "'types' must be one of: task_created" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"max_bytes\":4194305}", "'max_bytes' must be an integer" },
        { EVENTS, "{\"task_id\":\"" ID "\",\"seq\":1}", "unknown key 'seq'" },
        { WAIT, "{}", "'task_ids' is missing" },
        { WAIT, "{\"task_ids\":[]}", "'task_ids' must be an array of 1 to 64 ids" },
        { WAIT, "{\"task_ids\":\"" ID "\"}", "'task_ids' must be an array of 1 to 64 ids" },
        { WAIT, "{\"task_ids\":[1]}", "'task_ids' must be a string" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"mode\":\"some\"}", "'mode' must be one of: any all" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"until\":\"end\"}", "'until' must be one of: terminal event" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"timeout_s\":601}", "'timeout_s' must be an integer from 0 to 600" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"after\":[1]}", "'after' must be an object: task_id to seq" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"after\":{\"" ID "\":\"1\"}}", "'after' must be an object: task_id to seq" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"after\":{\"x\":1}}", "'after' names 'x', which is not in 'task_ids'" },
        { WAIT, "{\"task_ids\":[\"" ID "\"],\"timeout\":1}", "unknown key 'timeout'" },
        { LIST, "{\"status\":\"done\"}", "'status' must be one of: created starting running succeeded failed cancelled" },
        { LIST, "{\"kind\":\"x\"}", "'kind' must be one of: acp cli agent" },
        { LIST, "{\"limit\":501}", "'limit' must be an integer from 1 to 500" },
        { LIST, "{\"workspace\":\"x\"}", "'workspace' must be an absolute path" },
        { LIST, "{\"labels\":[]}", "unknown key 'labels'" },
        { RESOLVE, "{\"task_id\":\"" ID "\"}", "'resolution' is missing" },
        { RESOLVE, "{\"task_id\":\"" ID "\",\"resolution\":\"unresolved\"}",
          "'resolution' must be one of: accepted rejected needs_followup superseded" },
        { RESOLVE, "{\"task_id\":\"" ID "\",\"resolution\":null}", "'resolution' must be one of" },
        { CANCEL, "{\"task_id\":\"" ID "\",\"reason\":1}", "'reason' must be a string" },
        { CANCEL, "{\"task_id\":\"" ID "\",\"force\":true}", "unknown key 'force'" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        auto_json doc = { 0 };
        struct error e = { 0 };

        assert_true(json_parse(&doc, str_of(rows[i].args), &e));
        if (read_tool(rows[i].tool, &a, doc.root, &e))
            fail_msg("accepted: %s", rows[i].args);
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, rows[i].says);
    }
}

/* A text of `n` bytes for a key of an object that is otherwise right. */
static bool read_long(enum tool tool, const char *before, size_t n, const char *behind)
{
    auto_arena a = ARENA;
    auto_json doc = { 0 };
    auto_buf text = BUF((size_t)4 << 20);
    struct error e;

    buf_addz(&text, before);
    buf_fill(&text, 'x', n);
    buf_addz(&text, behind);
    assert_true(json_parse(&doc, buf_str(&text), &e));
    return read_tool(tool, &a, doc.root, &e);
}

static void lengths_are_bounded_exactly(void **state)
{
    /* clang-format off */
    static const struct { enum tool tool; const char *before; size_t most; const char *behind; } rows[] = {
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"", TASK_PROMPT_MAX, "\"}" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"initiator_id\":\"", TASK_LABEL_MAX, "\"}" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"executor_id\":\"", TASK_LABEL_MAX, "\"}" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"idempotency_key\":\"", TASK_KEY_MAX, "\"}" },
        { SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"labels\":[\"", TASK_LABEL_LEN_MAX, "\"]}" },
        { RESOLVE, "{\"task_id\":\"x\",\"resolution\":\"accepted\",\"note\":\"", TASK_NOTE_MAX, "\"}" },
        { CANCEL, "{\"task_id\":\"x\",\"reason\":\"", SERVICE_REASON_MAX, "\"}" },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(read_long(rows[i].tool, rows[i].before, rows[i].most, rows[i].behind));
        assert_false(read_long(rows[i].tool, rows[i].before, rows[i].most + 1, rows[i].behind));
    }
    assert_false(read_long(SPAWN, "{\"agent\":\"a\",\"prompt\":\"p\",\"options\":{\"model\":\"",
                           SERVICE_OPTIONS_MAX, "\"}}"));
}

static struct spawn_args spawn_of(struct arena *a, const char *text)
{
    auto_json doc = { 0 };
    struct spawn_args ret;
    struct error e;

    assert_true(json_parse(&doc, str_of(text), &e));
    if (!spawn_args_read(&ret, a, doc.root, &e))
        fail_msg("%s: %s", text, e.msg);
    return ret;
}

static void options_stand_in_options_or_at_the_top(void **state)
{
    auto_arena a = ARENA;
    struct spawn_args s;

    (void)state;
    s = spawn_of(&a, "{\"agent\":\"a\",\"prompt\":\"p\",\"options\":{\"model\":\"m\",\"model\":"
                     "\"n\"},\"effort\":\"high\",\"allow\":[\"edit\"],\"follow\":true}");
    assert_str(s.options, "{\"model\":\"n\",\"effort\":\"high\",\"allow\":[\"edit\"]}");
    assert_true(s.follow);
    s = spawn_of(&a, "{\"agent\":\"a\",\"prompt\":\"p\",\"options\":{\"follow\":false}}");
    assert_str(s.options, "{}");
    assert_false(s.follow);
    /* Unknown ones are the adapter's to refuse, by name. */
    s = spawn_of(&a, "{\"agent\":\"a\",\"prompt\":\"p\",\"promtp\":1}");
    assert_str(s.options, "{\"promtp\":1}");
}

static void spawn_reads_all_that_it_is_given(void **state)
{
    auto_arena a = ARENA;
    struct spawn_args s =
        spawn_of(&a, "{\"agent\":\"qwen\",\"prompt\":\"a\\u0000b\",\"workspace\":\"/x/../y//\","
                     "\"session_id\":\"s\",\"initiator_id\":\"i\",\"executor_id\":\"e\","
                     "\"parent_task_id\":\"" ID "\",\"deadline_s\":86400,\"priority\":-10,"
                     "\"labels\":[\"l1\",\"l2\"],\"max_output_bytes\":4096,\"worktree\":true,"
                     "\"idempotency_key\":\"k\"}");

    (void)state;
    assert_str(s.agent, "qwen");
    assert_bytes(s.prompt, BYTES("a\0b"));
    assert_str(s.workspace, "/y");
    assert_str(s.session_id, "s");
    assert_str(s.initiator_id, "i");
    assert_str(s.executor_id, "e");
    assert_str(s.parent_id, ID);
    assert_str(s.labels, "[\"l1\",\"l2\"]");
    assert_str(s.key, "k");
    assert_int_equal(s.deadline_s, 86400);
    assert_int_equal(s.priority, -10);
    assert_int_equal(s.max_output, 4096);
    assert_true(s.worktree);
    s = spawn_of(&a, "{\"agent\":\"a\",\"prompt\":\"p\"}");
    assert_int_equal(s.workspace.n, 0);
    assert_int_equal(s.deadline_s, 0);
    assert_int_equal(s.max_output, 0);
    assert_str(s.labels, "[]");
}

static void queries_have_their_defaults(void **state)
{
    auto_arena a = ARENA;
    auto_json doc = { 0 }, ids = { 0 };
    struct events_query ev;
    struct list_query list;
    struct wait_args wait;
    struct error e;

    (void)state;
    assert_true(json_parse(&doc, STR("{\"task_id\":\"" ID "\"}"), &e));
    assert_true(events_args_read(&ev, &a, doc.root, &e));
    assert_int_equal(ev.after, 0);
    assert_int_equal(ev.limit, 500);
    assert_int_equal(ev.types, 0);
    assert_int_equal(ev.max_bytes, 262144);
    assert_true(list_args_read(&list, &a, NULL, &e));
    assert_int_equal(list.status, -1);
    assert_int_equal(list.kind, -1);
    assert_int_equal(list.limit, 50);
    assert_true(json_parse(&ids, STR("{\"task_ids\":[\"a\",\"b\"],\"after\":{\"b\":7}}"), &e));
    assert_true(wait_args_read(&wait, &a, ids.root, &e));
    assert_int_equal(wait.n, 2);
    assert_int_equal(wait.after[0], -1);
    assert_int_equal(wait.after[1], 7);
    assert_int_equal(wait.timeout_s, 45);
    assert_false(wait.all);
    assert_false(wait.until_event);
    assert_false(wait.timeout_given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_refused_by_name),
        cmocka_unit_test(lengths_are_bounded_exactly),
        cmocka_unit_test(options_stand_in_options_or_at_the_top),
        cmocka_unit_test(spawn_reads_all_that_it_is_given),
        cmocka_unit_test(queries_have_their_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
