/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time: monotonic for deadlines, wall clock for stamps and people. */
#ifndef SYM_BASE_CLOCK_H
#define SYM_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void);      /* CLOCK_MONOTONIC, milliseconds */
int64_t clock_us(void);      /* CLOCK_MONOTONIC, microseconds */
int64_t clock_wall_ms(void); /* since 1970, UTC */

#endif
