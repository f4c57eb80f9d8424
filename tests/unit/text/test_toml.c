/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/toml.h"

static struct toml_val *parse(struct arena *a, const char *z)
{
    struct error e = { 0 };
    struct toml_val *root = toml_parse(a, str_of(z), &e);

    if (!root)
        fail_msg("%s\n%s", e.msg, z);
    return root;
}

static void assert_msg(const char *in, const char *want)
{
    auto_arena a = ARENA;
    struct error e = { 0 };

    if (toml_parse(&a, str_of(in), &e))
        fail_msg("accepted: %s", in);
    assert_string_equal(e.msg, want);
}

static void assert_cut(const char *text, struct toml_span s, const char *want)
{
    assert_true(s.end >= s.start);
    assert_int_equal(s.end - s.start, strlen(want));
    assert_memory_equal(text + s.start, want, strlen(want));
}

static void assert_json(const struct toml_val *v, const char *want)
{
    auto_buf b = BUF(1 << 20);

    toml_put_json(&b, v);
    assert_string_equal(buf_z(&b), want);
}

static struct toml_val *at_path(struct toml_val *v, const char *dotted)
{
    struct str head, rest = str_of(dotted);

    while (str_cut(rest, '.', &head, &rest))
        v = toml_get_s(v, head);
    return toml_get_s(v, rest);
}

/* ---- the tree ---- */

static void values_keep_their_order_and_kind(void **state)
{
    static const struct {
        const char *in, *json;
    } cases[] = {
        { "", "{}" },
        { "b = 1\na = 2", "{\"b\":1,\"a\":2}" },
        { "a = [1, 'x', [true], {k = 1.5},]", "{\"a\":[1,\"x\",[true],{\"k\":1.5}]}" },
        { "x.y.z = 1\nx.w = 2", "{\"x\":{\"y\":{\"z\":1},\"w\":2}}" },
        { "[b.c]\nk = 1\n[b]\nk = 2", "{\"b\":{\"c\":{\"k\":1},\"k\":2}}" },
        { "[[t]]\nn = 1\n[t.s]\nk = 1\n[[t]]\nn = 2",
          "{\"t\":[{\"n\":1,\"s\":{\"k\":1}},{\"n\":2}]}" },
        { "i = 0x_", NULL },
        { "i = [0xFF, 0o17, 0b101, -1_000, +7, -0]", "{\"i\":[255,15,5,-1000,7,0]}" },
        { "i = [9223372036854775807, -9223372036854775808]",
          "{\"i\":[9223372036854775807,-9223372036854775808]}" },
        { "i = 9223372036854775808", NULL },
        { "f = [inf, -inf, nan]", "{\"f\":[\"inf\",\"inf\",\"nan\"]}" },
        { "d = 1979-05-27 07:32:00.5Z", "{\"d\":\"1979-05-27 07:32:00.5Z\"}" },
        { "d = [07:32:00, 1979-05-27]", "{\"d\":[\"07:32:00\",\"1979-05-27\"]}" },
        { "s = \"a\\tb\\u00e9\\U0001F600\"", "{\"s\":\"a\\tb\xc3\xa9\xf0\x9f\x98\x80\"}" },
        { "s = \"\"\"\na \\\n   b\"\"\"\"", "{\"s\":\"a b\\\"\"}" },
        { "s = '''\n'a'\n'''''", "{\"s\":\"'a'\\n''\"}" },
        { "\"\" = 1\n'a.b' = 2\n3 = 4", "{\"\":1,\"a.b\":2,\"3\":4}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;

        if (cases[i].json)
            assert_json(parse(&a, cases[i].in), cases[i].json);
        else
            assert_null(toml_parse(&a, str_of(cases[i].in), NULL));
    }
}

static void date_times_are_read_field_by_field(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root =
        parse(&a, "a = 1979-05-27T23:59:60.123456789123-07:30\n"
                  "b = 2024-02-29\nc = 00:00:01.25\nd = 0001-01-01t00:00:00");
    const struct toml_val *v = toml_get(root, "a");

    (void)state;
    assert_int_equal(v->kind, TOML_OFFSET_DATETIME);
    assert_int_equal(v->time.year, 1979);
    assert_int_equal(v->time.month, 5);
    assert_int_equal(v->time.day, 27);
    assert_int_equal(v->time.second, 60);
    assert_int_equal(v->time.nanos, 123456789);
    assert_int_equal(v->time.offset_min, -450);
    assert_int_equal(toml_get(root, "b")->kind, TOML_LOCAL_DATE);
    assert_int_equal(toml_get(root, "c")->time.nanos, 250000000);
    assert_int_equal(toml_get(root, "d")->kind, TOML_LOCAL_DATETIME);
    assert_true(toml_is_time(toml_get(root, "c")));
    assert_false(toml_is_time(root));
}

/* ---- spans ---- */

static const char spanned[] = "\xEF\xBB\xBF# top\r\n"
                              "first = 'x' # why\r\n"
                              "\r\n"
                              "[ server . \"a b\" ]  # head\r\n"
                              "host . name = \"n\"\r\n"
                              "list = [ 1, # one\r\n  { k = 2 }, ]\r\n"
                              "# belongs to whom?\r\n"
                              "[[jobs]]\r\n"
                              "n = 1\r\n"
                              "[[jobs]]\r\n"
                              "[deep.er]\r\n";

static void spans_cut_out_exactly_what_was_written(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, spanned), *table, *v;

    (void)state;
    v = toml_get(root, "first");
    assert_cut(spanned, v->span, "'x'");
    assert_cut(spanned, v->key_span, "first");
    table = toml_get(toml_get(root, "server"), "a b");
    assert_int_equal(table->origin, TOML_HEADER);
    assert_cut(spanned, table->span, "[ server . \"a b\" ]");
    assert_cut(spanned, table->key_span, "\"a b\"");
    v = at_path(table, "host.name");
    assert_cut(spanned, v->key_span, "name");
    assert_cut(spanned, (struct toml_span){ v->stmt, v->span.end }, "host . name = \"n\"");
    v = toml_get(table, "list");
    assert_cut(spanned, v->span, "[ 1, # one\r\n  { k = 2 }, ]");
    assert_cut(spanned, (struct toml_span){ v->items.tail, v->span.end }, " ]");
    assert_cut(spanned, toml_at(v, 1)->span, "{ k = 2 }");
    assert_cut(spanned, toml_get(toml_at(v, 1), "k")->span, "2");
    v = toml_at(toml_get(root, "jobs"), 1);
    assert_cut(spanned, v->span, "[[jobs]]");
}

static void a_new_statement_goes_to_the_end_of_the_tables_own_body(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, spanned);
    const struct toml_val *jobs = toml_get(root, "jobs");
    const struct {
        const struct toml_val *table;
        const char *next;
    } cases[] = {
        { root, "\r\n[ server" },
        { toml_get(toml_get(root, "server"), "a b"), "# belongs" },
        { toml_at(jobs, 0), "[[jobs]]\r\n[deep" },
        { toml_at(jobs, 1), "[deep.er]" },
        { at_path(root, "deep.er"), "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *at = spanned + cases[i].table->items.body_end;

        assert_true(strncmp(at, cases[i].next, strlen(cases[i].next)) == 0);
        assert_true(at[-1] == '\n');
    }
}

static void tables_without_text_of_their_own_say_so(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, spanned);
    static const struct {
        const char *path;
        enum toml_origin origin;
    } cases[] = {
        { "server", TOML_IMPLICIT },
        { "server.a b.host", TOML_DOTTED },
        { "jobs", TOML_TABLES },
        { "deep", TOML_IMPLICIT },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct toml_val *v = at_path(root, cases[i].path);

        assert_int_equal(v->origin, cases[i].origin);
        assert_int_equal(v->span.end, 0);
    }
}

/* Every value carries the line its text is on: what errors name (PL-16). */
static void lines_count_from_one_whatever_ends_them(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, spanned);
    const struct toml_val *list = at_path(root, "server.a b.list");

    (void)state;
    assert_int_equal(toml_get(root, "first")->line, 2);
    assert_int_equal(list->line, 6);
    assert_int_equal(toml_at(list, 1)->line, 7);
    assert_int_equal(toml_at(toml_get(root, "jobs"), 1)->line, 11);
    assert_int_equal(toml_get(parse(&a, "a = '''\n\n'''\nb = 1"), "b")->line, 4);
}

/* ---- what is refused ---- */

/* CF-3: a parse failure is reported with line and column. */
static void a_syntax_error_names_line_and_column(void **state)
{
    static const struct {
        const char *in, *msg;
    } cases[] = {
        { "a = 1\nb = ", "line 2, column 5: expected a value" },
        { "a 1", "line 1, column 3: expected '=' behind the key" },
        { "= 1", "line 1, column 1: expected a key" },
        { "a = yes", "line 1, column 5: 'yes' is not a value; text needs quotes" },
        { "a = 1 b", "line 1, column 7: expected the end of the line" },
        { "\n a = \"x", "line 2, column 6: a string is not closed" },
        { "a = 'x\n'", "line 1, column 5: a literal string is not closed on its line" },
        { "a = \"\xc3\xa9\\q\"",
          "line 1, column 7: unknown escape in a string; write '\\\\' for a backslash" },
        { "a = \"\\ud800\"", "line 1, column 6: U+D800 is not a Unicode scalar value" },
        { "a = \"\\u12\"", "line 1, column 6: '\\u' needs 4 hexadecimal digits" },
        { "a = '\x01'", "line 1, column 6: control character U+0001 is not allowed in "
                        "a literal string" },
        { "# \x7f", "line 1, column 3: control character U+007F is not allowed in a comment" },
        { "a = 1\ra = 2", "line 1, column 6: expected the end of the line" },
        { "a = 1\na = 2", "line 2, column 1: 'a' is already defined (line 1)" },
        { "[a]\n[a]", "line 2, column 2: 'a' is already defined (line 1)" },
        { "a = {}\n[a.b]",
          "line 2, column 2: 'a' is a closed value and cannot get a table (line 1)" },
        { "[a.b]\n[a]\nb.c = 1", "line 3, column 1: 'b' cannot be extended by a dotted key: it "
                                 "is already defined (line 1)" },
        { "a = 1\n[[a]]", "line 2, column 3: 'a' is already defined as something else than an "
                          "array of tables (line 1)" },
        { "a = [1, 2", "line 1, column 5: the array is not closed" },
        { "a = [1 2]", "line 1, column 8: expected ',' or ']'" },
        { "a = {b = 1,\n}", "line 1, column 12: expected a key" },
        { "a = 2024-02-30", "line 1, column 5: '2024-02-30' is not a valid date or time" },
        { "a = 99999999999999999999",
          "line 1, column 5: '99999999999999999999' does not fit in 64 bits" },
        { "a = 01", "line 1, column 5: '01' is not a value; text needs quotes" },
        { "[a\nb = 1", "line 1, column 3: expected ']' behind the table's name" },
        { "a = \xff", "line 1, column 5: not valid UTF-8" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_msg(cases[i].in, cases[i].msg);
}

static void fill(struct buf *b, const char *piece, size_t times)
{
    for (size_t i = 0; i < times; i++)
        buf_addz(b, piece);
}

static enum err_kind kind_of_failure(struct str text)
{
    auto_arena a = ARENA;
    struct error e = { 0 };

    return toml_parse(&a, text, &e) ? ERR_NONE : e.kind;
}

static void every_ceiling_is_held(void **state)
{
    auto_buf arrays = BUF(1 << 20), header = BUF(1 << 20), many = BUF(8 << 20),
             big = BUF(8 << 20);
    auto_buf inlined = BUF(1 << 20), number = BUF(1 << 20);

    (void)state;
    buf_addz(&arrays, "a = ");
    fill(&arrays, "[", 127);
    fill(&arrays, "]", 127);
    assert_int_equal(kind_of_failure(buf_str(&arrays)), ERR_NONE);
    fill(&arrays, "\nb = ", 1);
    fill(&arrays, "[", 128);
    fill(&arrays, "]", 128);
    assert_int_equal(kind_of_failure(buf_str(&arrays)), ERR_LIMIT);
    fill(&inlined, "a={", 100000);
    assert_int_equal(kind_of_failure(buf_str(&inlined)), ERR_LIMIT);
    buf_addz(&header, "[");
    fill(&header, "a.", 126);
    buf_addz(&header, "a]\nk = 1\n[");
    assert_int_equal(kind_of_failure(str_upto(buf_str(&header), header.n - 1)), ERR_NONE);
    fill(&header, "b.", 127);
    buf_addz(&header, "b]");
    assert_int_equal(kind_of_failure(buf_str(&header)), ERR_LIMIT);
    buf_addz(&many, "a = [");
    fill(&many, "1,", TOML_MAX_VALUES);
    buf_addz(&many, "]");
    assert_int_equal(kind_of_failure(buf_str(&many)), ERR_LIMIT);
    buf_fill(&big, '#', TOML_MAX_BYTES);
    assert_int_equal(kind_of_failure(buf_str(&big)), ERR_NONE);
    buf_addc(&big, '#');
    assert_int_equal(kind_of_failure(buf_str(&big)), ERR_LIMIT);
    buf_addz(&number, "a = ");
    buf_fill(&number, '1', TOML_MAX_NUMBER + 1);
    assert_int_equal(kind_of_failure(buf_str(&number)), ERR_LIMIT);
}

/* A table searched one by one would need 1.25e9 comparisons here. */
static void many_keys_cost_no_more_than_their_number(void **state)
{
    auto_buf text = BUF(TOML_MAX_BYTES), json = BUF(TOML_MAX_BYTES);
    auto_arena a = ARENA;
    auto_json j = { 0 };
    struct toml_val *root;
    int64_t start = clock_ms();

    (void)state;
    buf_addc(&json, '{');
    for (int i = 0; i < 50000; i++) {
        buf_addf(&text, "key%d = %d\n[t.t%d]\n", i, i, i);
        buf_addf(&json, "%s\"k%d\":%d,\"k%d\":1", i ? "," : "", i / 2, i, i);
    }
    buf_addc(&json, '}');
    root = parse(&a, buf_z(&text));
    assert_int_equal(toml_len(toml_get(root, "t")), 50000);
    assert_int_equal(toml_get(at_path(root, "t.t7"), "key8")->i, 8);
    assert_true(json_parse(&j, buf_str(&json), NULL));
    root = toml_from_json(&a, j.root, NULL);
    assert_int_equal(toml_len(root), 50000);
    assert_true(clock_ms() - start < 500 * slack());
}

/* ---- reading with names for what is wrong ---- */

/* A typing error is answered with the key that was meant, anything else with all of them. */
static void a_mistyped_key_is_told_what_it_nearly_is(void **state)
{
    static const char *const known[] = { "name", "args", "command", "mcp_servers", NULL };
    static const struct {
        const char *key, *said;
    } cases[] = {
        { "comand", "is it 'command'?" },          { "commands", "is it 'command'?" },
        { "mcp-servers", "is it 'mcp_servers'?" }, { "Name", "is it 'name'?" },
        { "arg", "known here: name, args" },       { "cwd", "known here: name, args" },
        { "colour", "known here: name, args" },
    };
    auto_arena a = ARENA;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e;
        char text[64];

        snprintf(text, sizeof text, "%s = 1\n", cases[i].key);
        assert_false(toml_known_only(parse(&a, text), known, &e));
        assert_non_null(strstr(e.msg, cases[i].said));
    }
}

static const char settings[] = "name = 'n'\n"
                               "count = 70000\n"
                               "[[mcp_servers]]\n"
                               "name = 5\n"
                               "args = ['a',\n"
                               "  2]\n"
                               "\"odd key\\u0007\" = 1\n";

static bool read_all(const struct toml_val *root, int which, struct error *e)
{
    static const char *const known[] = { "name", "args", NULL };
    const struct toml_val *server = toml_at(toml_get(root, "mcp_servers"), 0);
    struct str s;
    struct toml_val *v;
    int64_t n;
    bool b;

    switch (which) {
    case 0:
        return toml_opt_str(server, "name", &s, e);
    case 1:
        return toml_opt_int(root, "count", (struct toml_range){ 1, 65535 }, &n, e);
    case 2:
        return toml_opt_array(server, "args", TOML_STRING, &v, e);
    case 3:
        return toml_known_only(server, known, e);
    case 4:
        return toml_opt_bool(root, "name", &b, e);
    case 5:
        return toml_opt_array(root, "name", TOML_TABLE, &v, e);
    case 6:
        return toml_opt_table(root, "mcp_servers", &v, e);
    case 7:
        return toml_opt_int(root, "count", (struct toml_range){ 80000, 90000 }, &n, e);
    case 8:
        return toml_fail(e, server, "needs a 'command'");
    default:
        return toml_fail(e, root, "needs a 'name'");
    }
}

/* PL-16: file, line and key; the file is the caller's to name. From JSON the key path alone. */
static void a_wrong_value_is_named_by_line_and_path(void **state)
{
    static const char *const messages[] = {
        "line 4: 'mcp_servers[0].name' must be a string, not an integer",
        "line 2: 'count' must be at most 65535, not 70000",
        "line 6: 'mcp_servers[0].args[1]' must be a string, not an integer",
        "line 7: 'mcp_servers[0].\"odd key\"' is not a known key; known here: name, args",
        "line 1: 'name' must be a boolean, not a string",
        "line 1: 'name' must be an array of tables, not a string",
        "line 3: 'mcp_servers' must be a table, not an array",
        "line 2: 'count' must be at least 80000, not 70000",
        "line 3: 'mcp_servers[0]' needs a 'command'",
        "the document needs a 'name'",
    };
    auto_arena a = ARENA;
    auto_buf json = BUF(1 << 16);
    auto_json j = { 0 };
    struct toml_val *from_toml = parse(&a, settings), *from_json;

    (void)state;
    toml_put_json(&json, from_toml);
    assert_true(json_parse(&j, buf_str(&json), NULL));
    from_json = toml_from_json(&a, j.root, NULL);
    for (int i = 0; i < (int)ARRAY_LEN(messages); i++) {
        struct error e = { 0 };
        const char *path = strstr(messages[i], ": '");

        assert_false(read_all(from_toml, i, &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_string_equal(e.msg, messages[i]);
        assert_false(read_all(from_json, i, &e));
        assert_string_equal(e.msg, path ? path + 2 : messages[i]);
    }
}

static void an_absent_key_keeps_the_default(void **state)
{
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, "x = 1"), *v = NULL;
    struct str s = STR("kept");
    int64_t n = 7;
    bool b = true;

    (void)state;
    assert_true(toml_opt_str(root, "s", &s, NULL));
    assert_true(toml_opt_int(root, "n", (struct toml_range){ 0, 1 }, &n, NULL));
    assert_true(toml_opt_bool(root, "b", &b, NULL));
    assert_true(toml_opt_table(root, "t", &v, NULL));
    assert_true(toml_opt_array(root, "a", TOML_INT, &v, NULL));
    assert_true(str_is(s, "kept") && n == 7 && b && !v);
    assert_null(toml_get(NULL, "x"));
    assert_null(toml_at(toml_get(root, "x"), 0));
    assert_int_equal(toml_len(NULL), 0);
    assert_string_equal(toml_kind_name(NULL), "nothing");
    assert_int_equal(toml_str(root).n, 0);
}

static void unknown_keys_can_be_listed_one_by_one(void **state)
{
    static const char *const known[] = { "b", NULL };
    auto_arena a = ARENA;
    struct toml_val *root = parse(&a, "a = 1\nb = 2\nc = 3\n");
    size_t from = 0;

    (void)state;
    assert_true(str_is(toml_unknown(root, known, &from)->key, "a"));
    assert_true(str_is(toml_unknown(root, known, &from)->key, "c"));
    assert_null(toml_unknown(root, known, &from));
}

/* PM-4: a manifest arrives as JSON with the TOML key names and must read like the file. */
static void json_gives_the_same_tree(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        { "{\"a\":{\"b\":[1,2.5,true,\"x\",{}]}}", "{\"a\":{\"b\":[1,2.5,true,\"x\",{}]}}" },
        { "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
        { "{\"a\":null,\"b\":{\"c\":null}}", "{\"b\":{}}" },
        { "{\"a\":1e2}", "{\"a\":100}" },
        { "[]", "the document must be an object, not array" },
        { "{\"a\":{\"b\":[1,null]}}", "'a.b' must not hold null" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_json j = { 0 };
        struct error e = { 0 };
        struct toml_val *root;

        assert_true(json_parse(&j, str_of(cases[i].json), &e));
        root = toml_from_json(&a, j.root, &e);
        if (root)
            assert_json(root, cases[i].want);
        else
            assert_string_equal(e.msg, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_order_and_kind),
        cmocka_unit_test(date_times_are_read_field_by_field),
        cmocka_unit_test(spans_cut_out_exactly_what_was_written),
        cmocka_unit_test(a_new_statement_goes_to_the_end_of_the_tables_own_body),
        cmocka_unit_test(tables_without_text_of_their_own_say_so),
        cmocka_unit_test(lines_count_from_one_whatever_ends_them),
        cmocka_unit_test(a_syntax_error_names_line_and_column),
        cmocka_unit_test(every_ceiling_is_held),
        cmocka_unit_test(many_keys_cost_no_more_than_their_number),
        cmocka_unit_test(a_mistyped_key_is_told_what_it_nearly_is),
        cmocka_unit_test(a_wrong_value_is_named_by_line_and_path),
        cmocka_unit_test(an_absent_key_keeps_the_default),
        cmocka_unit_test(unknown_keys_can_be_listed_one_by_one),
        cmocka_unit_test(json_gives_the_same_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
