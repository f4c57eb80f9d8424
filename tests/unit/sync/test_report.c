/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "sync/report.h"

static void a_line_is_for_people_or_an_event(void **state) /* CL-2 */
{
    static const struct {
        struct sync_line line;
        const char *text, *json;
    } cases[] = {
        { { SYNC_UNCHANGED, BYTES("kiro"), BYTES("/m.json"), BYTES("") },
          "kiro: unchanged /m.json",
          "{\"agent\":\"kiro\",\"path\":\"/m.json\"}" },
        { { SYNC_WRITTEN, BYTES("pi"), BYTES("/m.json"), BYTES("MCP entry added") },
          "pi: written /m.json: MCP entry added",
          "{\"agent\":\"pi\",\"path\":\"/m.json\",\"text\":\"MCP entry added\"}" },
        { { SYNC_NOTE, BYTES(""), BYTES(""), BYTES("look") }, "look", "{\"text\":\"look\"}" },
        { { SYNC_ERROR, BYTES("qwen"), BYTES(""), BYTES("/s: line 1, column 2: no") },
          "qwen: error: /s: line 1, column 2: no",
          "{\"agent\":\"qwen\",\"text\":\"/s: line 1, column 2: no\"}" },
        { { SYNC_DIFF, BYTES("qwen"), BYTES("/s"), BYTES("--- a\n+++ b\n") },
          "--- a\n+++ b\n",
          "{\"agent\":\"qwen\",\"path\":\"/s\",\"text\":\"--- a\\n+++ b\\n\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf text = BUF(1000), json = BUF(1000);
        struct jw w = jw_to(&json);

        sync_line_put_text(&text, &cases[i].line);
        assert_str(buf_str(&text), cases[i].text);
        jw_obj(&w);
        sync_line_put_json(&w, &cases[i].line);
        jw_end(&w);
        assert_str(buf_str(&json), cases[i].json);
    }
}

static void an_error_makes_the_report_a_failure(void **state)
{
    auto_arena a = ARENA;
    struct sync_report r = SYNC_REPORT(&a);

    sync_report_addf(&r, SYNC_NOTE, STR(""), "%d agents", 2);
    assert_false(r.failed);
    sync_report_addf(&r, SYNC_ERROR, STR("pi"), "no");
    assert_true(r.failed);
    assert_int_equal(r.n, 2);
    assert_str(r.v[0].text, "2 agents");
    assert_string_equal(sync_kind_name(r.v[1].kind), "error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_for_people_or_an_event),
        cmocka_unit_test(an_error_makes_the_report_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
