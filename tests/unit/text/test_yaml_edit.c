/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SY-7: edits by text span. Each row is a whole text before and after. */
#include "edit_check.h"

#include "text/yaml_edit.h"

#define ENTRY "{\"cmd\":\"symposium\",\"args\":[\"mcp-serve\"],\"envs\":{\"A\":\"1\"}}"
#define LINES(in, unit)                                                                \
    in "symposium:\n" in unit "cmd: symposium\n" in unit "args: [mcp-serve]\n" in unit \
       "envs:\n" in unit unit "A: \"1\"\n"

static bool remove_at(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e)
{
    (void)value;
    return yaml_edit_remove(out, text, at, e);
}

static void an_entry_is_put_behind_the_last_of_its_mapping(void **state)
{
    static const struct edit_row rows[] = {
        { "an empty text", "", "x.symposium", ENTRY, "x:\n" LINES("  ", "  ") },
        { "comments alone", "# mine\n", "x.symposium", ENTRY,
          "# mine\nx:\n" LINES("  ", "  ") },
        { "a byte order mark",
          "\xef\xbb\xbf"
          "a: 1\nb: 2\n",
          "x", "1",
          "\xef\xbb\xbf"
          "a: 1\nb: 2\nx: 1\n" },
        { "a byte order mark alone", "\xef\xbb\xbf", "x", "1",
          "\xef\xbb\xbf"
          "x: 1\n" },
        { "an empty root in braces", "{}\n", "x", "1", "x: 1\n" },
        { "a null root behind a marker", "---\n", "x", "1", "---\nx: 1\n" },
        { "no mapping yet", "a: 1\n", "x.symposium", ENTRY, "a: 1\nx:\n" LINES("  ", "  ") },
        { "a null mapping", "x:\na: 1\n", "x.symposium", ENTRY,
          "x:\n" LINES("  ", "  ") "a: 1\n" },
        { "a null mapping, remarked", "x: # all\n# more\na: 1\n", "x.s", "1",
          "x: # all\n  s: 1\n# more\na: 1\n" },
        { "one in braces", "x: {}\na: 1\n", "x.s", "1", "x:\n  s: 1\na: 1\n" },
        { "the word null", "x: null # none\n", "x.s", "1", "x: # none\n  s: 1\n" },
        { "wider indentation", "x:\n    dev:\n        a: 1\n\nb: 2\n", "x.symposium", ENTRY,
          "x:\n    dev:\n        a: 1\n" LINES("    ", "    ") "\nb: 2\n" },
        { "no line break at the end", "x:\n  a: 1", "x.s", "2", "x:\n  a: 1\n  s: 2\n" },
        { "CRLF", "x:\r\n  a: 1\r\nb: 2\r\n", "x.s", "{\"t\":2}",
          "x:\r\n  a: 1\r\n  s:\r\n    t: 2\r\nb: 2\r\n" },
        { "a remark stays with its value", "x:\n  a: 1 # one\n  # more\nb: 2\n", "x.s", "2",
          "x:\n  a: 1 # one\n  s: 2\n  # more\nb: 2\n" },
        { "behind a text over lines", "x:\n  a: |\n    s: 1\n\n    x: 2\n\nb: 2\n", "x.s", "2",
          "x:\n  a: |\n    s: 1\n\n    x: 2\n  s: 2\n\nb: 2\n" },
        { "behind dashes", "x:\n  a:\n  - 1\n  - 2\nb: 3\n", "x.s", "2",
          "x:\n  a:\n  - 1\n  - 2\n  s: 2\nb: 3\n" },
        { "the same word elsewhere is none of it",
          "# x:\na: 'x: s: 1'\nb: |\n  x:\n    s: 1\nc:\n  x:\n    s: 1\n", "x.s", "2",
          "# x:\na: 'x: s: 1'\nb: |\n  x:\n    s: 1\nc:\n  x:\n    s: 1\nx:\n  s: 2\n" },
        { "texts that would be something else", "x:\n  a: 1\n", "x.s",
          "{\"a\":\"yes\",\"b\":\"1\",\"c\":\"\",\"d\":\"a: b\",\"e\":\"/usr/bin/x\","
          "\"f\":\"\\u00fc\",\"g\":\"~\"}",
          "x:\n  a: 1\n  s:\n    a: \"yes\"\n    b: \"1\"\n    c: \"\"\n    d: \"a: b\"\n"
          "    e: /usr/bin/x\n    f: \"\xc3\xbc\"\n    g: \"~\"\n" },
        { "letters beyond ASCII before it", "\xc3\xbc: \xf0\x9f\x92\xa1\nx:\n  a: \xc3\xa9\n",
          "x.s", "2", "\xc3\xbc: \xf0\x9f\x92\xa1\nx:\n  a: \xc3\xa9\n  s: 2\n" },
        { "before the end of the document", "x:\n  a: 1\n...\n", "x.s", "2",
          "x:\n  a: 1\n  s: 2\n...\n" },
    };

    check_edits(yaml_edit_set, rows, ARRAY_LEN(rows));
}

static void a_value_is_replaced_where_it_stands(void **state)
{
    static const struct edit_row rows[] = {
        { "another text", "x:\n  c: 'old' # why\n  d: 1\n", "x.c", "\"new\"",
          "x:\n  c: new # why\n  d: 1\n" },
        { "a text over lines", "x:\n  c: |\n    old\n    er\n  d: 1\n", "x.c", "\"new\"",
          "x:\n  c: new\n  d: 1\n" },
        { "no value", "x:\n  c:\n  d: 1\n", "x.c", "\"new\"", "x:\n  c: new\n  d: 1\n" },
        { "a list in brackets", "x:\n  c: [a, 'b'] # l\n", "x.c", "[\"k\",\"m\"]",
          "x:\n  c: [k, m] # l\n" },
        { "a list with dashes", "x:\n  c:\n  - a\n  - b # l\n  d: 1\n", "x.c", "[\"k\",\"m\"]",
          "x:\n  c:\n  - k\n  - m # l\n  d: 1\n" },
        { "a list with dashes further in", "x:\n  c:\n      - a\n", "x.c", "[\"k\",\"m\"]",
          "x:\n  c:\n      - k\n      - m\n" },
        { "an equal list in another style", "x:\n  c:\n  - \"a\"\n  - b\n", "x.c",
          "[\"a\",\"b\"]", "x:\n  c:\n  - \"a\"\n  - b\n" },
        { "an equal word", "x:\n  c: True\n", "x.c", "true", "x:\n  c: True\n" },
        { "a number where a text is wanted", "x:\n  c: 1\n", "x.c", "\"1\"",
          "x:\n  c: \"1\"\n" },
        { "a mapping where a text is wanted", "x:\n  c:\n    d: 1\n", "x.c", "\"1\"", NULL,
          "line 3, column 5: 'c' is not of the kind" },
    };

    check_edits(yaml_edit_set, rows, ARRAY_LEN(rows));
}

static void foreign_styles_are_refused(void **state)
{
    static const struct edit_row rows[] = {
        { "braces", "x: {a: 1}\n", "x.s", "1", NULL,
          "line 1, column 4: 'x' is written in braces; write it in block style" },
        { "braces around all", "{x: {a: 1}}", "x.s", "1", NULL, "'the document'" },
        { "a comment in braces", "x: { # mine\n  }\n", "x.s", "1", NULL, "braces" },
        { "a list", "x:\n  - 1\n", "x.s", "1", NULL,
          "line 2, column 3: 'x' must be a mapping" },
        { "a text", "x: y\n", "x.s", "1", NULL, "must be a mapping" },
        { "an anchor", "a: &b 1\nx:\n", "x.s", "1", NULL, "line 1, column 4: anchors" },
        { "a key twice", "x:\n  a: 1\n  a: 2\n", "x.s", "1", NULL,
          "line 3, column 3: key 'a' is given twice" },
        { "a tab", "x:\n\ta: 1\n", "x.s", "1", NULL, "line 2" },
        { "two documents", "x: 1\n---\ny: 1\n", "x.s", "1", NULL, "second document" },
        { "no YAML", "x: [1\n", "x.s", "1", NULL, "line 2, column 1" },
        { "a loose colon is not mended", "a: b: c\n", "x", "1", NULL, "line 1, column 5" },
        { "a key with a mark of its own", "x:\n  ? a\n  : 1\n", "x.s", "2", NULL, "line" },
    };

    check_edits(yaml_edit_set, rows, ARRAY_LEN(rows));
}

static void what_is_removed_goes_with_its_lines(void **state) /* SY-9 */
{
    static const struct edit_row rows[] = {
        { "the last", "x:\n  a: 1\n  s:\n    c: |\n      1\n    d: 2 # no\nb: 2\n", "x.s", "",
          "x:\n  a: 1\nb: 2\n" },
        { "the first", "x:\n  s: 1\n\n  # about a\n  a: 1\n", "x.s", "",
          "x:\n\n  # about a\n  a: 1\n" },
        { "the only one", "x: # all\n  s:\n    - 1\nb: 2\n", "x.s", "", "x: {} # all\nb: 2\n" },
        { "the only one of the document", "s: 1\n", "s", "", "" },
        { "absent", "x:\n  a: 1\n", "x.s", "", "x:\n  a: 1\n" },
        { "absent, below a text", "x: 1\n", "x.s", "", "x: 1\n" },
        { "in braces", "x: {s: 1}\n", "x.s", "", NULL, "braces" },
        { "CRLF", "x:\r\n  s: 1\r\n  a: 1\r\n", "x.s", "", "x:\r\n  a: 1\r\n" },
    };

    check_edits(remove_at, rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_put_behind_the_last_of_its_mapping),
        cmocka_unit_test(a_value_is_replaced_where_it_stands),
        cmocka_unit_test(foreign_styles_are_refused),
        cmocka_unit_test(what_is_removed_goes_with_its_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
