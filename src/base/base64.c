/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/base64.h"

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_length(size_t n)
{
    return (n + 2) / 3 * 4;
}

/* The four letters of n (1 to 3) bytes. */
static void encode_group(char *out, const unsigned char *p, size_t n)
{
    uint32_t bits =
        (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

    out[0] = letters[bits >> 18];
    out[1] = letters[bits >> 12 & 63];
    out[2] = n > 1 ? letters[bits >> 6 & 63] : '=';
    out[3] = n > 2 ? letters[bits & 63] : '=';
}

void base64_put(struct buf *b, struct str s)
{
    size_t length = base64_length(s.n);
    char *out = buf_room(b, length);

    if (!out)
        return;
    for (size_t i = 0; i < s.n; i += 3, out += 4)
        encode_group(out, (const unsigned char *)s.p + i, s.n - i < 3 ? s.n - i : 3);
    b->n += length;
}
