/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes as a TOML text and an edit of it: see edit_check.h. */
#include "edit_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_edits(SYNC_TOML, data, size);
}
