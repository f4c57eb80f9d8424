/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

static void equality_and_order_are_bytewise(void **state)
{
    static const struct {
        struct str a, b;
        int order;
    } cases[] = {
        { STR(""), STR(""), 0 },      { STR("a"), STR("a"), 0 },
        { STR("a"), STR("b"), -1 },   { STR("a"), STR("ab"), -1 },
        { STR("b"), STR("ab"), 1 },   { { NULL, 0 }, STR(""), 0 },
        { STR("\xff"), STR("a"), 1 }, { STR("a\0b"), STR("a\0c"), -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int order = str_cmp(cases[i].a, cases[i].b);

        assert_int_equal((order > 0) - (order < 0), cases[i].order);
        assert_int_equal(str_eq(cases[i].a, cases[i].b), cases[i].order == 0);
    }
    assert_true(str_icase_eq(STR("AbZ-1"), STR("aBz-1")));
    assert_false(str_icase_eq(STR("[a"), STR("{a")));
    assert_true(str_is(str_of(NULL), ""));
}

static void parts_never_leave_the_slice(void **state)
{
    struct str s = STR("hello");

    assert_str(str_from(s, 2), "llo");
    assert_str(str_from(s, 5), "");
    assert_str(str_from(s, 99), "");
    assert_str(str_upto(s, 2), "he");
    assert_str(str_upto(s, 99), "hello");
    assert_str(str_part(s, 1, 4), "ell");
    assert_str(str_part(s, 5, 5), "");
    assert_true(str_starts(s, STR("he")) && !str_starts(s, STR("hello!")));
    assert_true(str_ends(s, STR("lo")) && !str_ends(s, STR("xhello")));
    assert_str(str_trim(STR(" \t\r\nx y\v\f ")), "x y");
    assert_str(str_trim(STR(" \n ")), "");
    assert_str(str_from((struct str){ NULL, 0 }, 3), "");
}

static void finding_gives_the_first_offset(void **state)
{
    assert_int_equal(str_find(STR("abcabc"), STR("ca")), 2);
    assert_int_equal(str_find(STR("abc"), STR("abcd")), SIZE_MAX);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find((struct str){ NULL, 0 }, STR("a")), SIZE_MAX);
    assert_int_equal(str_find_char(STR("abc"), 'c'), 2);
    assert_int_equal(str_find_char(STR("abc"), 'x'), SIZE_MAX);
}

static void control_characters_are_those_of_ascii(void **state)
{
    static const struct {
        struct str in;
        bool has;
    } cases[] = {
        { STR("a b~"), false },  { STR(""), false },    { STR("\xc2\x85\xff"), false },
        { STR("a\n"), true },    { STR("\x7f"), true }, { STR("a\0b"), true },
        { STR("\x1b[m"), true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(str_has_control(cases[i].in), cases[i].has);
}

static void cut_splits_at_first_separator(void **state)
{
    static const struct {
        const char *in, *head, *tail;
    } cases[] = {
        { "a=b", "a", "b" },
        { "a=b=c", "a", "b=c" },
        { "=", "", "" },
        { "a=", "a", "" },
    };
    struct str head = STR("kept"), tail = STR("kept");

    assert_false(str_cut(STR("ab"), '=', &head, &tail));
    assert_str(head, "kept");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(str_cut(str_of(cases[i].in), '=', &head, &tail));
        assert_str(head, cases[i].head);
        assert_str(tail, cases[i].tail);
    }
}

static void next_gives_each_piece_and_nothing_behind_a_last_separator(void **state)
{
    static const struct {
        const char *in, *pieces;
    } cases[] = {
        { "", "" },        { "a", "<a>" },         { "a/b", "<a><b>" }, { "a/b/", "<a><b>" },
        { "/a", "<><a>" }, { "a//b", "<a><><b>" }, { "/", "<>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str rest = str_of(cases[i].in), piece;
        char got[64] = "";

        while (str_next(&rest, '/', &piece))
            snprintf(got + strlen(got), sizeof got - strlen(got), "<%.*s>", STR_F(piece));
        assert_string_equal(got, cases[i].pieces);
    }
    assert_false(str_next(&(struct str){ NULL, 0 }, '/', &(struct str){ 0 }));
}

static void percent_gives_the_byte_of_two_hex_digits(void **state)
{
    static const struct {
        const char *in;
        int want;
    } cases[] = {
        { "%20x", ' ' }, { "%fF", 255 }, { "%00", 0 }, { "%2", -1 },
        { "%g0", -1 },   { "%0g", -1 },  { "20", -1 }, { "", -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(str_percent(str_of(cases[i].in)), cases[i].want);
}

static void integers_are_whole_and_in_range(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        int64_t want;
    } cases[] = {
        { "0", true, 0 },
        { "-5", true, -5 },
        { "007", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+1", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "1x", false, 0 },
        { "0x1", false, 0 },
        { "--1", false, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t n = 42;

        assert_int_equal(str_to_int(str_of(cases[i].in), INT64_MIN, INT64_MAX, &n),
                         cases[i].ok);
        assert_int_equal(n, cases[i].ok ? cases[i].want : 42);
    }
    assert_false(str_to_int(STR("11"), 1, 10, &(int64_t){ 0 }));
    assert_false(str_to_int(STR("0"), 1, 10, &(int64_t){ 0 }));
}

static void distance_counts_letters_inserted_dropped_or_changed(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned want;
    } cases[] = {
        { "", "", 0 },
        { "", "abc", 3 },
        { "abc", "", 3 },
        { "args", "args", 0 },
        { "arg", "args", 1 },
        { "comand", "command", 1 },
        { "kitten", "sitting", 3 },
        { "mcp-servers", "mcp_servers", 1 },
    };
    char full[STR_DISTANCE_MAX + 1] = { 0 };
    struct str longest = { full, STR_DISTANCE_MAX }, over = { full, STR_DISTANCE_MAX + 1 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(str_distance(str_of(cases[i].a), str_of(cases[i].b)), cases[i].want);
    assert_int_equal(str_distance(longest, longest), 0);
    assert_int_equal(str_distance(longest, STR("")), STR_DISTANCE_MAX);
    assert_true(str_distance(over, STR("a")) == UINT_MAX);
    assert_true(str_distance(STR("a"), over) == UINT_MAX);
}

static void hashes_depend_on_every_byte_and_on_the_length(void **state)
{
    char text[40];
    struct str s = { text, sizeof text };
    uint64_t whole;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)i;
    whole = str_hash(s);
    assert_true(whole == str_hash(s));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] ^= 1;
        assert_true(str_hash(s) != whole);
        text[i] ^= 1;
        assert_true(str_hash(str_upto(s, i)) != whole);
    }
    assert_true(str_hash(BYTES("")) != str_hash(BYTES("\0")));
}

static void hex_digits_have_a_value_and_nothing_else_has(void **state)
{
    static const char digits[] = "0123456789abcdefABCDEF";

    (void)state;
    for (int c = CHAR_MIN; c <= CHAR_MAX; c++) {
        const char *at = c ? strchr(digits, c) : NULL;
        int want = at ? (int)(at - digits) : -1;

        assert_int_equal(str_hex((char)c), want >= 16 ? want - 6 : want);
    }
}

static void copies_are_terminated(void **state)
{
    auto_free char *z = str_dup(str_upto(STR("hello"), 4)), *empty = str_dup((struct str){ 0 });

    assert_string_equal(z, "hell");
    assert_string_equal(empty, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_and_order_are_bytewise),
        cmocka_unit_test(parts_never_leave_the_slice),
        cmocka_unit_test(finding_gives_the_first_offset),
        cmocka_unit_test(control_characters_are_those_of_ascii),
        cmocka_unit_test(cut_splits_at_first_separator),
        cmocka_unit_test(next_gives_each_piece_and_nothing_behind_a_last_separator),
        cmocka_unit_test(percent_gives_the_byte_of_two_hex_digits),
        cmocka_unit_test(integers_are_whole_and_in_range),
        cmocka_unit_test(distance_counts_letters_inserted_dropped_or_changed),
        cmocka_unit_test(hashes_depend_on_every_byte_and_on_the_length),
        cmocka_unit_test(hex_digits_have_a_value_and_nothing_else_has),
        cmocka_unit_test(copies_are_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
