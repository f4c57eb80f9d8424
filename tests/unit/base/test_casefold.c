/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/casefold.h"

static void texts_that_differ_in_case_fold_alike(void **state)
{
    static const struct {
        const char *text, *folded;
    } cases[] = {
        { "", "" },
        { "Hello, WORLD [42]", "hello, world [42]" },
        { "ÄÖÜ ß ẞ", "äöü ß ß" },
        { "ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ σίσυφοσ" }, /* both small sigmas are one */
        { "ЖЁ їЇ", "жё її" },
        { "ǅ Ǆ ǆ", "ǆ ǆ ǆ" },
        { "\u212a \u017f \u00b5", "k s \u03bc" }, /* Kelvin sign, long s, micro sign */
        { "I i \u0130 \u0131", "i i i\u0307 \u0131" },
        { "\U00010400 \U0001e900", "\U00010428 \U0001e922" },
        { "Ⴀ Ა ꭰ", "ⴀ ა ꭰ" },
        { "日本語 😀 \u0301", "日本語 😀 \u0301" },
        { "A\xff\xc3Z\xe2\x84", "a\xff\xc3z\xe2\x84" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf out = BUF(1 << 10);

        casefold_put(&out, str_of(cases[i].text));
        assert_str(buf_str(&out), cases[i].folded);
    }
}

static void folding_twice_changes_nothing_more(void **state)
{
    for (uint32_t cp = 0; cp <= 0x110000; cp++)
        assert_int_equal(casefold(casefold(cp)), casefold(cp));
}

static void what_does_not_fit_is_dropped(void **state)
{
    auto_buf out = BUF(4);

    casefold_put(&out, STR("ABCDE"));
    assert_true(out.over);
    assert_int_equal(out.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_differ_in_case_fold_alike),
        cmocka_unit_test(folding_twice_changes_nothing_more),
        cmocka_unit_test(what_does_not_fit_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
