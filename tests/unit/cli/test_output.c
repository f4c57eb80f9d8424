/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is printed, when stdout is not a terminal, and the pieces that a terminal gets. */
#include "../check.h"

#include "cli/doctor.h"
#include "cli/output.h"

static char *printed(struct str text)
{
    char *out = NULL;
    size_t n;
    FILE *f = open_memstream(&out, &n);

    out_put_text(f, text);
    fclose(f);
    return out;
}

static void text_ends_with_one_newline_and_is_not_touched_in_a_pipe(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "", "" },
        { "a", "a\n" },
        { "a\n", "a\n" },
        { "\033[31mred\tb", "\033[31mred\tb\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *out = printed(str_of(cases[i].in));

        assert_string_equal(out ? out : "", cases[i].out);
    }
}

static void what_a_terminal_gets_keeps_lines_and_tabs_alone(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "", "" },
        { "a\tb\nc", "a\tb\nc" },
        { "\n\n\t", "\n\n\t" },
        { "\033[31mred\033[0m\r\n\033]0;owned\a\t\xff\n", "red \n\t\xef\xbf\xbd\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf out = BUF(4096);

        out_add_clean(&out, str_of(cases[i].in));
        assert_str(buf_str(&out), cases[i].out);
    }
}

static void values_are_indented_and_show_no_hidden_characters(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "1", "1" },
        { "{}", "{}" },
        { "[]", "[]" },
        { "{\"a\":[1,{\"b\":\"x\"}],\"c\":null}",
          "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x\"\n    }\n  ],\n  \"c\": null\n}" },
        { "[\"\\u202e\\u001b\"]", "[\n  \"\\u202e\\u001b\"\n]" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json doc = { 0 };
        auto_buf out = BUF(4096);
        struct error e;

        assert_true(json_parse(&doc, str_of(cases[i].in), &e));
        out_put_indented(&out, doc.root, 0);
        assert_str(buf_str(&out), cases[i].out);
    }
}

static void CL_2_a_report_is_one_array_of_tagged_events(void **state)
{
    struct report r;
    struct jw *w;

    (void)state;
    report_begin(&r);
    w = report_event(&r, "plugin");
    jw_kstrz(w, "name", "x");
    jw_end(w);
    report_text(&r, "note", STR("y"));
    jw_end(&r.w);
    assert_str(buf_str(&r.text),
               "[{\"type\":\"plugin\",\"name\":\"x\"},{\"type\":\"note\",\"text\":\"y\"}]");
    buf_free(&r.text);
}

static void doctor_knows_what_to_do_about_the_problems_we_report(void **state)
{
    static const struct {
        const char *problem, *advice;
    } cases[] = {
        { "fs: this workspace is not trusted yet; run 'symposium trust'", "" },
        { "fs: start failed at spawn: cannot execute 'x': no such program in PATH",
          "install the program, or give 'command' an absolute path" },
        { "skipping /a/SYMPOSIUM.toml: line 3: 'x' is unknown",
          "correct that file; nothing in it counts until then" },
        { "fs: start failed at spawn: cannot execute 'npx -y x': no such program in PATH",
          "'command' is the program alone; its arguments belong into 'args'" },
        { "fs: start failed at spawn: working directory '/a' cannot be entered: no such "
          "directory",
          "correct 'cwd', or make the directory" },
        { "package manager 'cargo': list_deps: invalid input: '/a/Cargo.toml': line 1",
          "correct that file; until then the workspace has no dependencies" },
        { "fs: start failed at server/discover after 0.1 s: HTTP 401: the server wants "
          "credentials",
          "give the credentials in 'headers' of this server" },
        { "fs: start failed at handshake after 0.0 s: server exited with status 1 (command: "
          "symposium filesystem /a); stderr: Warning: Cannot access directory /a, skipping",
          "run its command in a terminal to see what it says" },
        { "fs: start failed at spawn after 0.0 s: server exited with status 127 (command: "
          "/x); stderr: cannot execute '/x': No such file or directory",
          "install the program, or give 'command' an absolute path" },
        { "fs: something nobody foresaw", "run its command in a terminal to see what it says" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(advice_for(str_of(cases[i].problem)), cases[i].advice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_ends_with_one_newline_and_is_not_touched_in_a_pipe),
        cmocka_unit_test(what_a_terminal_gets_keeps_lines_and_tabs_alone),
        cmocka_unit_test(values_are_indented_and_show_no_hidden_characters),
        cmocka_unit_test(CL_2_a_report_is_one_array_of_tagged_events),
        cmocka_unit_test(doctor_knows_what_to_do_about_the_problems_we_report),
    };

    return cmocka_run_group_tests_name("cli/output", tests, NULL, NULL);
}
