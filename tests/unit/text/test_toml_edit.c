/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CF-4, SY-6: edits by text span. Each row is a whole text before and after. */
#include "edit_check.h"

#include "text/toml_edit.h"

static bool remove_at(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e)
{
    (void)value;
    return toml_edit_remove(out, text, at, e);
}

static void a_key_is_put_into_its_table_as_that_is_written(void **state)
{
    static const struct edit_row rows[] = {
        { "an empty text", "", "a", "1", "a = 1\n" },
        { "a byte order mark", "\xef\xbb\xbf", "a", "1",
          "\xef\xbb\xbf"
          "a = 1\n" },
        { "a missing table", "x = 1\n", "s.t.c", "\"v\"", "x = 1\n\n[s.t]\nc = \"v\"\n" },
        { "in an empty text", "", "s.c", "1", "[s]\nc = 1\n" },
        { "no line break at the end", "x = 1", "s.c", "1", "x = 1\n\n[s]\nc = 1\n" },
        { "an empty line is there", "x = 1\n\n", "s.c", "1", "x = 1\n\n[s]\nc = 1\n" },
        { "CRLF", "x = 1\r\n", "s.c", "1", "x = 1\r\n\r\n[s]\r\nc = 1\r\n" },
        { "behind the last of a header", "[s]\n  a = 1 # one\n\n[t]\nb = 2\n", "s.c", "3",
          "[s]\n  a = 1 # one\n  c = 3\n\n[t]\nb = 2\n" },
        { "a header without lines", "[s]\n[t]\n", "s.c", "3", "[s]\nc = 3\n[t]\n" },
        { "a header at the end", "[s]", "s.c", "3", "[s]\nc = 3\n" },
        { "the root stands before headers", "# top\na = 1\n[s]\n", "b", "2",
          "# top\na = 1\nb = 2\n[s]\n" },
        { "a root without own lines", "[s]\na = 1\n", "b", "2", "b = 2\n[s]\na = 1\n" },
        { "an inline table", "s = { a = 1 }\n", "s.b", "2", "s = { a = 1, b = 2 }\n" },
        { "an inline table without blanks", "s = {a = 1}", "s.b", "2", "s = {a = 1, b = 2}" },
        { "an empty inline table", "s = {}", "s.b", "2", "s = { b = 2 }" },
        { "deeper in an inline table", "s = { a = 1 }\n", "s.b.c", "2",
          "s = { a = 1, b.c = 2 }\n" },
        { "dotted keys", "s.a = 1\n[t]\n", "s.b", "2", "s.a = 1\ns.b = 2\n[t]\n" },
        { "dotted keys in a header", "[t]\ns.x.a = 1\n", "t.s.x.b", "2",
          "[t]\ns.x.a = 1\ns.x.b = 2\n" },
        { "a table that only a longer header names", "[s.t]\na = 1\n", "s.b", "2",
          "[s.t]\na = 1\n\n[s]\nb = 2\n" },
        { "beside a longer header", "[s.t]\na = 1\n", "s.u.b", "2",
          "[s.t]\na = 1\n\n[s.u]\nb = 2\n" },
        { "keys that are not bare", "", "s.a b.c/d", "1", "[s.\"a b\"]\n\"c/d\" = 1\n" },
        { "another value", "[s]\nc = 'old' # why\n", "s.c", "\"new\"",
          "[s]\nc = \"new\" # why\n" },
        { "an equal value in another layout", "[s]\nargs = [\n  'a', # x\n]\n", "s.args",
          "[\"a\"]", "[s]\nargs = [\n  'a', # x\n]\n" },
        { "the last of an array of tables", "[[x]]\na = 1\n[[x]]\nb = 2\n", "x.1.c", "3",
          "[[x]]\na = 1\n[[x]]\nb = 2\nc = 3\n" },
        { "a table below the last of them", "[[x]]\na = 1\n", "x.0.t.c", "3",
          "[[x]]\na = 1\n\n[x.t]\nc = 3\n" },
        { "a table below another", "[[x]]\n[[x]]\n", "x.0.t.c", "3", NULL },
        { "a value where a table is needed", "s = 1\n", "s.c", "1", NULL },
        { "a table where a value is needed", "[s]\n", "s", "1", NULL },
        { "no TOML", "s = \n", "s", "1", NULL },
        { "no value", "", "s", "1 2", NULL },
    };

    check_edits(toml_edit_set, rows, ARRAY_LEN(rows));
}

static void values_are_added_to_arrays(void **state)
{
    static const struct edit_row rows[] = {
        { "no array yet", "[p]\n", "p.use", "'a'", "[p]\nuse = ['a']\n" },
        { "an empty one", "use = []\n", "use", "'a'", "use = ['a']\n" },
        { "in one line", "use = ['a']\n", "use", "'b'", "use = ['a', 'b']\n" },
        { "over lines", "use = [\n  'a', # x\n]\n", "use", "'b'",
          "use = [\n  'a', # x\n  'b',\n]\n" },
        { "a remark without a comma", "use = [\r\n  'a' # x\r\n]\r\n", "use", "'b'",
          "use = [\r\n  'a', # x\r\n  'b'\r\n]\r\n" },
        { "over lines, no comma behind the last", "use = [\n  'a'\n]\n", "use", "'b'",
          "use = [\n  'a',\n  'b'\n]\n" },
        { "no array", "use = 1\n", "use", "'b'", NULL },
    };

    check_edits(toml_edit_append, rows, ARRAY_LEN(rows));
}

static void tables_are_added_to_arrays_of_tables(void **state)
{
    static const struct edit_row rows[] = {
        { "the first", "a = 1\n", "agent", "name = \"x\"\n",
          "a = 1\n\n[[agent]]\nname = \"x\"\n" },
        { "one more", "[[agent]]\nname = \"y\"\n", "agent", "name = \"x\"\n",
          "[[agent]]\nname = \"y\"\n\n[[agent]]\nname = \"x\"\n" },
        { "an array of values", "agent = []\n", "agent", "name = 1\n", NULL },
    };

    check_edits(toml_edit_append_table, rows, ARRAY_LEN(rows));
}

static void what_is_removed_goes_whole(void **state)
{
    static const struct edit_row rows[] = {
        { "a key", "a = 1 # x\nb = 2\n", "a", "", "b = 2\n" },
        { "a key over lines", "a = [\n 1,\n]\nb = 2\n", "a", "", "b = 2\n" },
        { "a table", "x = 1\n\n[s]\na = 1\n\n[t]\n", "s", "", "x = 1\n\n[t]\n" },
        { "a table with those below it, wherever they stand",
          "[s]\na = 1\n[s.env]\nb = 2\n[t]\n[s.u]\nc = 3\n", "s", "", "[t]\n" },
        { "as it came: an added table", "x = 1\n\n[s.t]\nc = 1\n", "s.t", "", "x = 1\n" },
        { "dotted keys", "s.a = 1\nx = 1\ns.b = 2\n", "s", "", "x = 1\n" },
        { "of an inline table", "s = { a = 1, b = 2, c = 3 }\n", "s.b", "",
          "s = { a = 1, c = 3 }\n" },
        { "the last of it", "s = { a = 1, b = 2 }\n", "s.b", "", "s = { a = 1 }\n" },
        { "an inline table", "[m]\ns = { a = 1 }\n", "m.s", "", "[m]\n" },
        { "an element", "use = ['a', 'b']\n", "use.0", "", "use = ['b']\n" },
        { "the last element", "use = [\n  'a',\n  'b',\n]\n", "use.1", "",
          "use = [\n  'a',\n]\n" },
        { "the only element", "use = ['a']\n", "use.0", "", "use = []\n" },
        { "a table of an array", "[[x]]\na = 1\n\n[[x]]\nb = 2\n", "x.0", "",
          "\n[[x]]\nb = 2\n" },
        { "absent", "a = 1\n", "b.c", "", "a = 1\n" },
        { "the first key behind a byte order mark", UTF8_BOM "a = 1\nb = 2\n", "a", "",
          UTF8_BOM "b = 2\n" },
        { "the first table behind one", UTF8_BOM "[s]\na = 1\n[t]\n", "s", "",
          UTF8_BOM "[t]\n" },
    };

    check_edits(remove_at, rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_put_into_its_table_as_that_is_written),
        cmocka_unit_test(values_are_added_to_arrays),
        cmocka_unit_test(tables_are_added_to_arrays_of_tables),
        cmocka_unit_test(what_is_removed_goes_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
