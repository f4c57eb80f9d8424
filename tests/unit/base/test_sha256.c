/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/sha256.h"

/* The examples of FIPS 180-4 and of NIST's CAVP byte-oriented set. */
static void digests_are_those_of_nist(void **state)
{
    static const struct {
        struct str in;
        const char *hex;
    } cases[] = {
        { STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { STR("\xd3"), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
    };
    char hex[SHA256_HEX_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sha256_hex(cases[i].in, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

static void a_million_letters_too(void **state)
{
    auto_buf b = BUF(1000000);
    char hex[SHA256_HEX_SIZE];

    buf_fill(&b, 'a', 1000000);
    sha256_hex(buf_str(&b), hex);
    assert_string_equal(hex,
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_nist),
        cmocka_unit_test(a_million_letters_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
