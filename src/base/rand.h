/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random bytes from getrandom(2); a failure ends the process: every handle depends on it. */
#ifndef SYM_BASE_RAND_H
#define SYM_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

void rand_bytes(void *p, size_t n);
uint64_t rand_u64(void);

/* 2*n lower-case hex digits and a NUL into out[2*n + 1]. 16 bytes make a 128-bit handle. */
void rand_hex(char *out, size_t n);

#endif
