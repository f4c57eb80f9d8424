/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks and events as people see them (TK-34, TK-18). */
#include "../check.h"

#include "cli/task.h"

#define NOW 1767225600000 /* 2026-01-01T00:00:00Z */

static void ages_are_short(void **state)
{
    static const struct {
        const char *time, *age;
    } rows[] = {
        { "2026-01-01T00:00:00.000Z", "0s" },
        { "2025-12-31T23:59:00.500Z", "60s" },
        { "2025-12-31T23:57:59.000Z", "2m" },
        { "2025-12-31T21:00:00.000Z", "3h" },
        { "2025-12-31T00:00:00.000Z", "24h" },
        { "2025-12-20T00:00:00.000Z", "12d" },
        { "2027-01-01T00:00:00.000Z", "0s" },
        { "never", "" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(64);

        task_put_age(&out, str_of(rows[i].time), NOW);
        assert_str(buf_str(&out), rows[i].age);
    }
}

#define ID "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
#define TASK(agent, status, resolution, prompt)                                                \
    "{\"task_id\":\"" ID "\",\"agent\":\"" agent "\",\"status\":\"" status                     \
    "\",\"resolution\":" resolution ",\"created_at\":\"2025-12-31T23:00:00.000Z\",\"prompt\":" \
    "\"" prompt "\"}"

static void the_table_fits_the_terminal(void **state)
{
    static const struct {
        size_t width;
        const char *in, *out;
    } rows[] = {
        { 0, "[" TASK("qwen", "running", "null", "look at the long file of tests") "]",
          "ID                                    STATUS   AGENT  RESOLUTION  AGE  "
          "PROMPT\n" ID "  running  qwen               60m  look at the long file of tests\n" },
        { 97, "[" TASK("qwen", "running", "null", "look at the long file of tests") "]",
          "ID                                    STATUS   AGENT  RESOLUTION  AGE  "
          "PROMPT\n" ID "  running  qwen               60m  look at the long file o...\n" },
        { 72, "[" TASK("qwen", "succeeded", "\"accepted\"", "/w") "]",
          "ID                                    STATUS     AGENT  RESOLUTION  AGE\n" ID
          "  succeeded  qwen   accepted    60m\n" },
        { 55, "[" TASK("qwen", "succeeded", "\"accepted\"", "/w") "]",
          "ID                                    STATUS     AGENT\n" ID "  succeeded  qwen\n" },
        { 0, "[" TASK("a\\u001b[2Jb", "failed", "null", "/w\\nx") "]",
          "ID                                    STATUS  AGENT  RESOLUTION  AGE  PROMPT\n" ID
          "  failed  ab                 60m  /w x\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(65536);
        auto_json doc = { 0 };
        struct str line, rest;

        assert_true(json_parse(&doc, str_of(rows[i].in), NULL));
        task_put_table(&out, doc.root, NOW, rows[i].width);
        assert_str(buf_str(&out), rows[i].out);
        rest = buf_str(&out);
        while (rows[i].width && str_next(&rest, '\n', &line))
            assert_true(line.n <= rows[i].width);
    }
}

static void a_record_is_shown_field_by_field(void **state)
{
    auto_buf out = BUF(65536);
    auto_json doc = { 0 };

    (void)state;
    assert_true(json_parse(
        &doc,
        STR("{\"task_id\":\"" ID
            "\",\"agent\":\"qwen\",\"workspace\":\"/w\",\"prompt\":\"do it\",\"status\":"
            "\"succeeded\",\"stop_reason\":\"end_turn\",\"session_id\":null,\"exit_code\":0,"
            "\"created_at\":\"2025-12-31T23:00:00.000Z\",\"labels\":[\"x\"],\"usage\":"
            "{\"totalTokens\":18},\"note\":null,\"result_text\":\"done\\u0007\\nreally\"}"),
        NULL));
    task_put_record(&out, doc.root, NOW);
    assert_str(buf_str(&out), "task        " ID "\n"
                              "agent       qwen\n"
                              "workspace   /w\n"
                              "prompt      do it\n"
                              "status      succeeded\n"
                              "stop reason end_turn\n"
                              "exit code   0\n"
                              "created     2025-12-31T23:00:00.000Z (60m ago)\n"
                              "labels      [\"x\"]\n"
                              "usage       {\"totalTokens\":18}\n"
                              "\nResult\ndone\nreally\n");
}

static void events_are_a_live_view(void **state)
{
    static const struct {
        const char *event, *text;
    } rows[] = {
        { "{\"type\":\"status_changed\",\"data\":{\"from\":\"starting\",\"to\":\"running\"}}",
          "status running\n" },
        { "{\"type\":\"agent_message\",\"data\":{\"text\":\"Hello \"}}", "Hello " },
        { "{\"type\":\"agent_message\",\"data\":{\"text\":\"wor\\u001b[1mld\",\"continues\":"
          "true}}",
          "world" },
        { "{\"type\":\"agent_message\",\"data\":{\"text\":\"Next.\\n\"}}", "\nNext.\n" },
        { "{\"type\":\"agent_message\",\"data\":{\"text\":\"open\"}}", "open" },
        { "{\"type\":\"tool_call\",\"data\":{\"toolCallId\":\"1\",\"title\":\"Edit "
          "a\\u0007.txt\",\"kind\":\"edit\",\"status\":\"pending\"}}",
          "\ntool   edit: Edit a.txt (pending)\n" },
        { "{\"type\":\"tool_call_update\",\"data\":{\"toolCallId\":\"1\",\"status\":"
          "\"completed\"}}",
          "tool   1 (completed)\n" },
        { "{\"type\":\"tool_call_update\",\"data\":{\"toolCallId\":\"1\",\"rawInput\":{}}}",
          "" },
        { "{\"type\":\"plan\",\"data\":{\"entries\":[{\"content\":\"one\",\"status\":"
          "\"completed\"},"
          "{\"content\":\"two\",\"status\":\"in_progress\"},{\"content\":\"three\"}]}}",
          "plan   [x] one\n       [>] two\n       [ ] three\n" },
        { "{\"type\":\"stderr\",\"data\":{\"text\":\"a\\nb\"}}", "stderr a\nstderr b\n" },
        { "{\"type\":\"error\",\"data\":{\"message\":\"deadline\"}}", "error  deadline\n" },
        { "{\"type\":\"process_started\",\"data\":{\"pid\":1}}", "" },
        { "{\"type\":\"agent_update\",\"data\":{}}", "" },
        { "{\"type\":\"task_cancelled\",\"data\":{\"reason\":\"enough\"}}", "cancel enough\n" },
        { "{\"type\":\"permission\",\"data\":{\"kind\":\"edit\",\"outcome\":\"selected\"}}",
          "asked  kind: edit, outcome: selected\n" },
    };
    struct task_view v = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(65536);
        auto_json doc = { 0 };

        assert_true(json_parse(&doc, str_of(rows[i].event), NULL));
        task_put_event_text(&out, &v, doc.root);
        assert_str(buf_str(&out), rows[i].text);
    }
}

static void nothing_is_left_out_when_everything_is_wanted(void **state)
{
    struct task_view v = { .verbose = true };
    auto_buf out = BUF(65536);
    auto_json doc = { 0 };

    (void)state;
    assert_true(json_parse(
        &doc, STR("{\"type\":\"process_started\",\"data\":{\"pid\":7,\"argv0\":\"/bin/a\"}}"),
        NULL));
    task_put_event_text(&out, &v, doc.root);
    assert_str(buf_str(&out), "process_started pid: 7, argv0: /bin/a\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ages_are_short),
        cmocka_unit_test(the_table_fits_the_terminal),
        cmocka_unit_test(a_record_is_shown_field_by_field),
        cmocka_unit_test(events_are_a_live_view),
        cmocka_unit_test(nothing_is_left_out_when_everything_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
