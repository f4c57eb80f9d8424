/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/rand.h"

static void handles_are_hex_of_the_asked_length_and_differ(void **state)
{
    char a[33], b[33], none[1];

    rand_hex(a, 16);
    rand_hex(b, 16);
    rand_hex(none, 0);
    assert_int_equal(strlen(a), 32);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_string_not_equal(a, b);
    assert_string_equal(none, "");
}

static void all_bytes_are_written(void **state)
{
    unsigned char p[1024];
    size_t same = 0;

    memset(p, 0x5a, sizeof p);
    rand_bytes(p, sizeof p);
    for (size_t i = 0; i < sizeof p; i++)
        same += p[i] == 0x5a;
    assert_true(same < 64); /* 4 are expected */
    assert_true(rand_u64() != rand_u64());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_are_hex_of_the_asked_length_and_differ),
        cmocka_unit_test(all_bytes_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
