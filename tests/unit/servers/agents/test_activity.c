/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* AG-18: what others see of a call, from an allow-list. */
#include "../../check.h"

#include "servers/agents/activity.h"

static void a_call_is_told_by_allowed_words_alone(void **state)
{
    static const struct {
        const char *tool, *args, *summary, *target;
    } rows[] = {
        { "execute_command", "{\"program\":\"cargo\",\"args\":[\"test\",\"--all\"]}",
          "Running cargo test", "" },
        { "execute_command", "{\"program\":\"make\"}", "Running make", "" },
        { "execute_command", "{\"program\":\"make\",\"args\":[]}", "Running make", "" },
        { "execute_command", "{\"program\":\"makefoo\"}", "Running shell command", "" },
        { "execute_command", "{\"program\":\"curl\",\"args\":[\"secret\"]}",
          "Running shell command", "" },
        { "bash", "{\"command\":\"npm test -- x\"}", "Running npm test", "" },
        { "exec", "{\"command\":[\"go\",\"build\"]}", "Running go build", "" },
        { "shell", "{}", "Running shell command", "" },
        { "read_text_file", "{\"path\":\"src/a.c\"}", "Reading src/a.c", "src/a.c" },
        { "write_file", "{\"path\":\"/w/b\",\"content\":\"secret\"}", "Writing b", "b" },
        { "search_files", "{\"path\":\"/w\"}", "Searching .", "." },
        { "read_file", "{\"path\":\"/etc/passwd\"}", "Calling read_file", "" },
        { "read_file", "{\"path\":\"../up\"}", "Calling read_file", "" },
        { "read_file", "{\"path\":\"~/x\"}", "Calling read_file", "" },
        { "ask", "{\"question\":\"secret\"}", "Calling ask", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct activity a;
        auto_json doc = { 0 };

        assert_true(json_parse(&doc, str_of(rows[i].args), NULL));
        activity_tool(&a, "/w", str_of(rows[i].tool), doc.root);
        assert_string_equal(a.summary, rows[i].summary);
        assert_string_equal(a.target, rows[i].target);
        assert_string_equal(a.tool, rows[i].tool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        a_call_is_told_by_allowed_words_alone) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
