/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From text to value: MS-29 to MS-33, SEC-12, SEC-17. */
#include "support.h"

/* MS-29 */
static void what_surrounds_a_script_is_removed(void **state)
{
    static const struct row rows[] = {
        { "```js\n1+1\n```", SCRIPT_OK, "2" },
        { "  ```typescript\nconst a = 3;\na\n```  \n", SCRIPT_OK, "3" },
        { "````\n`x`\n````", SCRIPT_OK, "\"x\"" },
        { "```\n```", SCRIPT_OK, "null" },
        { "\xef\xbb\xbf"
          "1+2",
          SCRIPT_OK, "3" },
        { "\xef\xbb\xbf```js\n#!/usr/bin/env node\nexport default 5;\n```", SCRIPT_OK, "5" },
        { "#!/usr/bin/env node\nconst x = 4; x", SCRIPT_OK, "4" },
        { "export default async () => 7", SCRIPT_OK, "7" },
        { "// said first\nexport default function main() { return 8 }", SCRIPT_OK, "8" },
        { "export default {a: 1};", SCRIPT_OK, "{\"a\":1}" },
        { "1 + 1;;; \n ;", SCRIPT_OK, "2" },
        { "let i = 0; while (i++ < 5); i", SCRIPT_OK, "6" },
        { "let i = 0; while (i++ < 5);", SCRIPT_OK, "null" },
        { "exports_default = 1", SCRIPT_OK, "1" },
        { "'```'", SCRIPT_OK, "\"```\"" },
        { "```js\n1", SCRIPT_ERROR, NULL, "did not parse" },
    };

    RUN_ROWS(rows);
}

/* MS-30 */
static void a_script_has_the_value_of_its_return_or_last_expression(void **state)
{
    static const struct row rows[] = {
        { "{ a: 1, b: [2] }", SCRIPT_OK, "{\"a\":1,\"b\":[2]}" },
        { "() => 5", SCRIPT_OK, "5" },
        { "async () => { const r = await srv.echo({ q: 1 }); return r.q }", SCRIPT_OK, "1" },
        { "async function main() { return 6 }", SCRIPT_OK, "6" },
        { "[1, 2].map(x => x * 2)", SCRIPT_OK, "[2,4]" },
        { "await srv.echo({ n: 3 })", SCRIPT_OK, "{\"n\":3}" },
        { "srv.echo({ n: 3 })", SCRIPT_OK, "{\"n\":3}" },
        { "const x = await srv.echo({ n: 3 }); x", SCRIPT_OK, "{\"n\":3}" },
        { "if (true) { 1 } else { 2 }", SCRIPT_OK, "1" },
        { "let s = 0; for (const i of [1, 2, 3]) { s += i }", SCRIPT_OK, "6" },
        { "const a = 1", SCRIPT_OK, "null" },
        { "const a = await srv.echo({ n: 1 }); return a.n + 1", SCRIPT_OK, "2" },
        { "if (1) return 'early'; 'late'", SCRIPT_OK, "\"early\"" },
        { "if (0) return 'early'; 'late'", SCRIPT_OK, "null" },
        { "Promise.resolve(() => 4)", SCRIPT_OK, "4" },
        { "const p = Promise.resolve(9); p", SCRIPT_OK, "9" },
        { "({ then(ok) { ok(11) } })", SCRIPT_OK, "11" },
        { "const t = { then(ok) { ok(12) } }; t", SCRIPT_OK, "12" },
        { "() => () => 1", SCRIPT_OK, "null" },
        { "(a, b) => [a, b].length", SCRIPT_OK, "2" },
        { "'use strict'; (function () { return this })() === undefined", SCRIPT_OK, "true" },
        { "var undefinedLater = typeof arguments; undefinedLater", SCRIPT_OK, "\"undefined\"" },
        { "class A { static #p = 3; static get() { return A.#p } } A.get()", SCRIPT_OK, "3" },
        { "1 // a comment at the end", SCRIPT_OK, "1" },
        { "const fs = 1; fs", SCRIPT_OK, "1" },
        { "const srv = 1; srv", SCRIPT_OK, "1" }, /* a script may reuse a server's name */
    };

    RUN_ROWS(rows);
}

/* MS-30: no attempt runs more than once, and none runs before it is taken. */
static void attempts_compile_without_running(void **state)
{
    static const struct row rows[] = {
        { "const n = await srv.echo({ once: 1 }); return n", SCRIPT_OK, "{\"once\":1}" },
    };
    struct run r;

    RUN_ROWS(rows);
    run_script(&r, "srv.count({}); return 1");
    assert_int_equal(r.ncalls, 1);
    run_close(&r);
}

/* MS-31 */
static void a_parse_error_names_line_and_column_of_the_submitted_text(void **state)
{
    static const struct row rows[] = {
        { "let a = 1;\nlet z: number = 5", SCRIPT_ERROR, NULL,
          "script did not parse as JavaScript: SyntaxError: expecting ';' (line 2, column 6)" },
        { "let a = 1;\nlet z: number = 5", SCRIPT_ERROR, NULL, "leave out type annotations" },
        { "```js\nlet a = 1;\nlet z: number = 5\n```", SCRIPT_ERROR, NULL,
          "(line 3, column 6)" },
        { "#!x\n  let z: number = 5", SCRIPT_ERROR, NULL, "(line 2, column 8)" },
        /* the text of attempt 3, where there is a top-level return before the fault */
        { "return 1;\nlet z: number = 5", SCRIPT_ERROR, NULL, "(line 2, column 6)" },
        { "import x from 'y'", SCRIPT_ERROR, NULL, "did not parse as JavaScript" },
        { "export const a = 1", SCRIPT_ERROR, NULL, "did not parse as JavaScript" },
        { "const f = `unterminated", SCRIPT_ERROR, NULL, "did not parse as JavaScript" },
        { "function (", SCRIPT_ERROR, NULL, "did not parse as JavaScript" },
    };

    RUN_ROWS(rows);
}

/* MS-33 */
static void a_text_cannot_close_its_wrapper(void **state)
{
    static const struct row rows[] = {
        { "1); f(", SCRIPT_ERROR, NULL, "did not parse" },
        { "} f(); {", SCRIPT_ERROR, NULL, "did not parse" },
        { "return 1 } f(); {", SCRIPT_ERROR, NULL, "did not parse" },
        { "return 1 }, async g(){", SCRIPT_ERROR, NULL, "did not parse" },
        { "return 1 }) ; (async () => {", SCRIPT_ERROR, NULL, "did not parse" },
        { "1], [2", SCRIPT_ERROR, NULL, "did not parse" },
        { "x) => (y", SCRIPT_ERROR, NULL, "did not parse" },
        { "1) + (2", SCRIPT_ERROR, NULL, "did not parse" },
        { "1 /*", SCRIPT_ERROR, NULL, "did not parse" },
        { "typeof f", SCRIPT_OK, "\"undefined\"" }, /* no wrapper variable */
        { "return typeof f", SCRIPT_OK, "\"undefined\"" },
        { "return typeof arguments", SCRIPT_OK, "\"undefined\"" },
    };

    RUN_ROWS(rows);
}

/* MS-33, MS-38: whichever wrapper ran, positions are those of the submitted text, and only the
 * script is named */
static void stacks_name_only_the_script(void **state)
{
    static const struct {
        const char *source, *place;
    } cases[] = {
        { "\n\nfoo.x", "script:3:" },
        { "const a = 1;\nfunction deep() {\n  null.x\n}\ndeep()", "    at deep (script:3:" },
        { "const a = 1;\nnull.x;\nreturn 5", "script:2:" },
        { "[1].map(function each() { throw new Error('e') })", "at each (script:1:" },
        { "eval('null.x')", "script:1:" },
        { "new URL('nope')", "script:1:" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;

        run_script(&r, cases[i].source);
        assert_int_equal(r.outcome, SCRIPT_ERROR);
        assert_has(r.stack, cases[i].place);
        assert_null(strstr(r.stack, "native"));
        assert_null(strstr(r.stack, "<"));
        run_close(&r);
    }
}

/* MS-32, SEC-12 */
static void a_result_is_the_engines_json(void **state)
{
    static const struct row rows[] = {
        { "", SCRIPT_OK, "null" },
        { " \n\t", SCRIPT_OK, "null" },
        { ";", SCRIPT_OK, "null" },
        { "// nothing", SCRIPT_OK, "null" },
        { "undefined", SCRIPT_OK, "null" },
        { "Symbol('x')", SCRIPT_OK, "null" },
        { "() => function () {}", SCRIPT_OK, "null" },
        { "NaN", SCRIPT_OK, "null" },
        { "[NaN, Infinity, undefined, () => 1, Symbol()]", SCRIPT_OK,
          "[null,null,null,null,null]" },
        { "new Date(0)", SCRIPT_OK, "\"1970-01-01T00:00:00.000Z\"" },
        { "({ toJSON() { return { j: 1 } } })", SCRIPT_OK, "{\"j\":1}" },
        { "'\\ud800'", SCRIPT_OK, "\"\\ud800\"" },
        { "'\\ud83d\\ude00\\u0000\\u2028'", SCRIPT_OK,
          "\"\xf0\x9f\x98\x80\\u0000\xe2\x80\xa8\"" },
        { "new Map([[1, 2]])", SCRIPT_OK, "{}" },
        { "-0", SCRIPT_OK, "0" },
        { "const a = {}; a.a = a; a", SCRIPT_ERROR, NULL, "circular" },
        { "1n", SCRIPT_ERROR, NULL, "TypeError" },
        { "({ get x() { throw new Error('from a getter') } })", SCRIPT_ERROR, NULL,
          "from a getter" },
    };

    RUN_ROWS(rows);
}

/* SEC-17 */
static void strange_texts_do_no_harm(void **state)
{
    static const struct {
        struct str source;
        enum script_outcome outcome;
    } cases[] = {
        { BYTES("1\0+1"), SCRIPT_ERROR },
        { BYTES("'a\0b'.length"), SCRIPT_OK },
        { BYTES("\0"), SCRIPT_ERROR },
        { BYTES("\xff\xfe"), SCRIPT_ERROR },
        { BYTES("`${"), SCRIPT_ERROR },
        { BYTES("/*"), SCRIPT_ERROR },
        { BYTES("\xef\xbb\xbf"), SCRIPT_OK },
        { BYTES("#!"), SCRIPT_OK },
        { BYTES("```"), SCRIPT_ERROR },
        { BYTES("export default"), SCRIPT_OK },
        { BYTES("export default class {"), SCRIPT_ERROR },
        { BYTES("\\u0061 = 1"), SCRIPT_OK },
        { BYTES("\xe2\x80\xa8"
                "1"),
          SCRIPT_OK },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;

        run_open(&r, NULL);
        run_begin(&r, cases[i].source);
        run_wait(&r);
        if (r.outcome != cases[i].outcome)
            fail_msg("case %zu: outcome %d: %s", i, (int)r.outcome, r.message);
        run_close(&r);
    }
}

/* SEC-17, SEC-8: the parser's recursion ends in an exception, not in a crash */
static void deep_nesting_in_the_text_is_a_script_error(void **state)
{
    static const char *const open[] = { "(", "[", "{", "!", "a=>", "`${", "({a:" };

    for (size_t i = 0; i < ARRAY_LEN(open); i++) {
        auto_buf text = BUF(SANDBOX_MAX_SOURCE);
        struct run r;

        while (text.n + 8 < 200000)
            buf_addz(&text, open[i]);
        run_open(&r, NULL);
        run_begin(&r, buf_str(&text));
        run_wait(&r);
        assert_int_equal(r.outcome, SCRIPT_ERROR);
        run_close(&r);
    }
}

/* MS-33, SEC-17: over 256 KiB */
static void a_source_over_the_limit_is_refused(void **state)
{
    auto_buf text = BUF(SANDBOX_MAX_SOURCE + 1);
    struct script_ops ops = { 0 };
    struct script_job job = { 0 };
    struct error e = { 0 };
    struct run r;

    buf_fill(&text, ' ', SANDBOX_MAX_SOURCE);
    run_open(&r, NULL);
    run_begin(&r, buf_str(&text));
    run_wait(&r);
    assert_int_equal(r.outcome, SCRIPT_OK);
    buf_addc(&text, ' ');
    job.source = buf_str(&text);
    assert_null(sandbox_run(r.sandbox, &job, &ops, NULL, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "source over 256 KiB");
    run_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_surrounds_a_script_is_removed),
    cmocka_unit_test(a_script_has_the_value_of_its_return_or_last_expression),
    cmocka_unit_test(attempts_compile_without_running),
    cmocka_unit_test(a_parse_error_names_line_and_column_of_the_submitted_text),
    cmocka_unit_test(a_text_cannot_close_its_wrapper),
    cmocka_unit_test(stacks_name_only_the_script),
    cmocka_unit_test(a_result_is_the_engines_json),
    cmocka_unit_test(strange_texts_do_no_harm),
    cmocka_unit_test(deep_nesting_in_the_text_is_a_script_error),
    cmocka_unit_test(a_source_over_the_limit_is_refused),
};

TEST_MAIN(tests)
