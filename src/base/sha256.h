/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256 (FIPS 180-4), by libmd. */
#ifndef SYM_BASE_SHA256_H
#define SYM_BASE_SHA256_H

#include "base/str.h"

#define SHA256_HEX_SIZE 65

void sha256_hex(struct str s, char ret_hex[SHA256_HEX_SIZE]);

#endif
