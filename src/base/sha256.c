/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/sha256.h"

#include <sha2.h>

void sha256_hex(struct str s, char ret_hex[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum[SHA256_DIGEST_LENGTH];
    SHA2_CTX ctx;

    SHA256Init(&ctx);
    SHA256Update(&ctx, (const uint8_t *)s.p, s.n);
    SHA256Final(sum, &ctx);
    for (size_t i = 0; i < sizeof sum; i++) {
        ret_hex[2 * i] = digits[sum[i] >> 4];
        ret_hex[2 * i + 1] = digits[sum[i] & 15];
    }
    ret_hex[SHA256_HEX_SIZE - 1] = '\0';
}
