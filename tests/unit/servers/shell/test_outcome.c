/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SH-3, SH-4: both forms of how a command ended. */
#include "../../check.h"

#include <signal.h>

#include "servers/shell/outcome.h"

static struct outcome outcome(int code, int sig, bool timed_out, const char *out,
                              const char *err)
{
    struct outcome o = { .code = code,
                         .signal = sig,
                         .timed_out = timed_out,
                         .duration_ms = 5,
                         .out = CAPTURE,
                         .err = CAPTURE };

    capture_add(&o.out, str_of(out));
    capture_add(&o.err, str_of(err));
    return o;
}

static void outcome_free(struct outcome *o)
{
    capture_free(&o->out);
    capture_free(&o->err);
}

static void both_forms_say_the_same(void **state)
{
    static const struct {
        int code, sig;
        bool timed_out;
        const char *text, *json;
    } cases[] = {
        { 0, 0, false, "exit code: 0\nstdout (full): o\n\nstderr (full): e",
          "{\"exit_code\":0,\"stdout\":\"o\\n\",\"stderr\":\"e\",\"timed_out\":false,"
          "\"stdout_truncated\":false,\"stderr_truncated\":false,\"signal\":null,"
          "\"duration_ms\":5}" },
        { 255, 0, false, "exit code: 255\nstdout (full): o\n\nstderr (full): e",
          "{\"exit_code\":255,\"stdout\":\"o\\n\",\"stderr\":\"e\",\"timed_out\":false,"
          "\"stdout_truncated\":false,\"stderr_truncated\":false,\"signal\":null,"
          "\"duration_ms\":5}" },
        { -1, SIGKILL, false, "exit code: (none)\nstdout (full): o\n\nstderr (full): e",
          "{\"exit_code\":null,\"stdout\":\"o\\n\",\"stderr\":\"e\",\"timed_out\":false,"
          "\"stdout_truncated\":false,\"stderr_truncated\":false,\"signal\":\"SIGKILL\","
          "\"duration_ms\":5}" },
        { -1, SIGTERM, true,
          "command timed out - process terminated\nstdout (full): o\n\nstderr (full): e",
          "{\"exit_code\":null,\"stdout\":\"o\\n\",\"stderr\":\"e\",\"timed_out\":true,"
          "\"stdout_truncated\":false,\"stderr_truncated\":false,\"signal\":\"SIGTERM\","
          "\"duration_ms\":5}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = outcome(cases[i].code, cases[i].sig, cases[i].timed_out, "o\n", "e");
        struct answer a = ANSWER;

        outcome_put(&o, &a);
        assert_str(buf_str(&a.text), cases[i].text);
        assert_str(buf_str(&a.structured), cases[i].json);
        assert_false(a.is_error);
        answer_free(&a);
        outcome_free(&o);
    }
    (void)state;
}

/* Characters are counted, not bytes. */
static void the_text_shows_sixteen_thousand_characters(void **state)
{
    static const struct {
        size_t n;
        const char *left_out; /* NULL: all is shown */
    } cases[] = { { 15999, NULL }, { 16000, NULL }, { 16001, "1" }, { 100000, "84000" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = outcome(0, 0, false, "", "e");
        struct answer a = ANSWER;
        auto_buf want = BUF(ANSWER_MAX);
        size_t n = cases[i].n;

        for (size_t c = 0; c < n; c++)
            capture_add(&o.out, c % 2 ? STR("é") : c < n / 2 ? STR("a") : STR("z"));
        outcome_put(&o, &a);
        buf_addf(&want,
                 "exit code: 0\nstdout (%s): ", cases[i].left_out ? "truncated" : "full");
        for (size_t c = 0; c < n; c++) {
            if (cases[i].left_out && c == OUTCOME_SHOWN_FIRST) {
                buf_addf(&want, "… %s characters left out …", cases[i].left_out);
                c = n - OUTCOME_SHOWN_LAST;
            }
            buf_addz(&want, c % 2 ? "é" : c < n / 2 ? "a" : "z");
        }
        buf_addz(&want, "\nstderr (full): e");
        assert_bytes(buf_str(&a.text), buf_str(&want));
        assert_has(buf_z(&a.structured), "\"stdout_truncated\":false");
        answer_free(&a);
        outcome_free(&o);
    }
    (void)state;
}

static void signals_have_their_names(void **state)
{
    static const struct {
        int sig;
        const char *name;
    } cases[] = { { SIGKILL, "SIGKILL" }, { SIGTERM, "SIGTERM" }, { SIGSEGV, "SIGSEGV" },
                  { SIGABRT, "SIGABRT" }, { SIGPIPE, "SIGPIPE" }, { SIGSYS, "SIGSYS" },
                  { 40, "SIGRTMIN+6" } };

    assert_null(outcome_signal_name(0));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(outcome_signal_name(cases[i].sig), cases[i].name);
    (void)state;
}

/* SV-30, SH-5: two streams of the costliest bytes still make one answer; so do two of letters,
 * of which nothing more is left out. */
static void the_largest_outcome_is_an_answer(void **state)
{
    static const struct server_spec def = { .split_advice = "x" };
    static const struct {
        char fill;
        size_t each, min;
        const char *has;
    } cases[] = {
        { '\x01', (size_t)4 << 20, 0, "characters left out" },
        { '\x01', (size_t)1 << 20, 0, "\"stdout_truncated\":true,\"stderr_truncated\":true" },
        { '\xff', (size_t)1 << 20, 6u << 20, "\"stdout_truncated\":false" },
        { 'x', (size_t)1 << 20, 2u << 20, "\"stderr_truncated\":false" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = outcome(0, 0, false, "", "");
        struct answer a = ANSWER;
        auto_buf bytes = BUF((size_t)4 << 20), json = BUF(0);

        buf_fill(&bytes, cases[i].fill, cases[i].each);
        capture_add(&o.out, buf_str(&bytes));
        capture_add(&o.err, buf_str(&bytes));
        outcome_put(&o, &a);
        assert_false(a.structured.over || a.text.over);
        json = answer_json(&a, &def);
        assert_has(buf_z(&json), "\"isError\":false");
        assert_has(buf_z(&json), cases[i].has);
        assert_in_range(json.n, cases[i].min, ANSWER_MAX);
        answer_free(&a);
        outcome_free(&o);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(the_text_shows_sixteen_thousand_characters),
        cmocka_unit_test(signals_have_their_names),
        cmocka_unit_test(the_largest_outcome_is_an_answer),
    };

    return cmocka_run_group_tests_name("servers/shell/outcome", tests, NULL, NULL);
}
