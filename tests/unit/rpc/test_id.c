/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "rpc/id.h"

static void numbers_are_compared_by_value_and_strings_by_text(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        { "1", "1", true },
        { "1", "1.0", true },
        { "1e2", "100", true },
        { "100", "1.00E+2", true },
        { "0", "-0", true },
        { "0", "0.0e7", true },
        { "-7", "-70e-1", true },
        { "123456789012345678901234567890", "123456789012345678901234567890.0", true },
        { "123456789012345678901234567890", "123456789012345678901234567891", false },
        { "9007199254740993", "9007199254740992", false },
        { "1", "-1", false },
        { "1", "10", false },
        { "1", "2", false },
        { "1", "\"1\"", false },
        { "\"1\"", "\"1.0\"", false },
        { "\"a\"", "\"a\"", true },
        { "", "0", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (rpc_id_eq(str_of(cases[i].a), str_of(cases[i].b)) != cases[i].equal ||
            rpc_id_eq(str_of(cases[i].b), str_of(cases[i].a)) != cases[i].equal)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

static void whole_numbers_are_integers_in_any_notation(void **state)
{
    static const struct {
        const char *text;
        bool integer;
        int64_t value; /* from 1 to INT64_MAX; else 0 */
    } cases[] = {
        { "1", true, 1 },
        { "1.0", true, 1 },
        { "12.5e1", true, 125 },
        { "1e18", true, 1000000000000000000 },
        { "1e19", true, 0 },
        { "9223372036854775807", true, INT64_MAX },
        { "9223372036854775808", true, 0 },
        { "9223372036854775807.0", true, INT64_MAX },
        { "0", true, 0 },
        { "-3", true, 0 },
        { "-3.0", true, 0 },
        { "1.5", false, 0 },
        { "1e-1", false, 0 },
        { "0.10", false, 0 },
        { "1e1000000", true, 0 },
        { "1e1000001", false, 0 },
        { "1e99999999999999999999", false, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str s = str_of(cases[i].text);

        if (rpc_id_is_integer(s) != cases[i].integer || rpc_id_value(s) != cases[i].value)
            fail_msg("%s: %lld", cases[i].text, (long long)rpc_id_value(s));
    }
    assert_int_equal(rpc_id_value(STR("\"1\"")), 0);
}

static void a_number_longer_than_an_id_is_none(void **state)
{
    auto_buf b = BUF(2 * RPC_ID_MAX);

    buf_fill(&b, '7', RPC_ID_MAX);
    assert_true(rpc_id_is_integer(buf_str(&b)));
    buf_addc(&b, '7');
    assert_false(rpc_id_is_integer(buf_str(&b)));
    assert_false(rpc_id_eq(buf_str(&b), STR("7")));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_compared_by_value_and_strings_by_text),
        cmocka_unit_test(whole_numbers_are_integers_in_any_notation),
        cmocka_unit_test(a_number_longer_than_an_id_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
