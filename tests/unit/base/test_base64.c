/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/base64.h"

/* RFC 4648, section 10. */
static void the_standards_vectors_come_out(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf b = BUF(100);

        base64_put(&b, str_of(cases[i].in));
        assert_str(buf_str(&b), cases[i].out);
        assert_int_equal(base64_length(strlen(cases[i].in)), b.n);
    }
}

static void every_letter_and_byte_value_is_used(void **state)
{
    auto_buf b = BUF(1000);
    char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    buf_addz(&b, "data:");
    base64_put(&b, (struct str){ all, sizeof all });
    assert_int_equal(b.n, 5 + 344);
    assert_true(
        str_starts(buf_str(&b), STR("data:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g")));
    assert_true(str_ends(buf_str(&b), STR("8PHy8/T19vf4+fr7/P3+/w==")));
}

static void past_the_ceiling_nothing_is_appended(void **state)
{
    auto_buf b = BUF(7);

    base64_put(&b, STR("abcd"));
    assert_true(b.over && b.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standards_vectors_come_out),
        cmocka_unit_test(every_letter_and_byte_value_is_used),
        cmocka_unit_test(past_the_ceiling_nothing_is_appended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
