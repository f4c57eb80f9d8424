/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/rand.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#define EXIT_NO_RANDOM 3

static _Noreturn void no_random(void)
{
    static const char line[] = "symposium: the system gives no random bytes\n";

    if (write(STDERR_FILENO, line, sizeof line - 1) < 0)
        _exit(EXIT_NO_RANDOM);
    _exit(EXIT_NO_RANDOM);
}

void rand_bytes(void *p, size_t n)
{
    unsigned char *to = p;

    while (n) {
        ssize_t got = getrandom(to, n, 0);

        if (got < 0 && errno != EINTR)
            no_random();
        if (got > 0) {
            to += got;
            n -= (size_t)got;
        }
    }
}

uint64_t rand_u64(void)
{
    uint64_t r;

    rand_bytes(&r, sizeof r);
    return r;
}

void rand_hex(char *out, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char *raw = (unsigned char *)out + n;

    /* The bytes sit in the upper half and are spread from the front: 2i never passes n + i. */
    rand_bytes(raw, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = raw[i];

        out[2 * i] = digits[c >> 4];
        out[2 * i + 1] = digits[c & 15];
    }
    out[2 * n] = '\0';
}
