/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The line that says what is wrong. Commands themselves: tests/e2e/pm_cargo_plugins.test.mjs.
 */
#include "../check.h"

#include "common/run.h"

static void the_complaint_is_the_error_line_or_the_last(void **state)
{
    static const struct {
        const char *err, *want;
    } cases[] = {
        { "", "" },
        { "\n\n  \n", "" },
        { "one\ntwo\n", "two" },
        { "one\n\n  two", "two" },
        { "    Updating index\nerror: no such thing\n\nCaused by:\n  deep\n",
          "error: no such thing" },
        { "npm ERR! code E404\nnpm ERR! 404\n", "npm ERR! code E404" },
        { "npm warn x\nnpm error code E401\n", "npm error code E401" },
        { "no error here\nlast\n", "last" },
        { "error: first\nerror: second\n", "error: first" },
        { "a\r\nerror: b\r\n", "error: b" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(run_complaint(str_of(cases[i].err)), cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_complaint_is_the_error_line_or_the_last),
    };

    return cmocka_run_group_tests_name("pms/run", tests, NULL, NULL);
}
