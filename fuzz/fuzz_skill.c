/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes as a SKILL.md: front matter within its bounds, or a message. */
#include <stdlib.h>

#include "plugins/skill.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct skill_front front;
    bool ok = skill_front_parse(&a, (struct str){ (const char *)data, size }, &front, &e);

    if (ok == (e.kind != ERR_NONE))
        abort();
    if (ok && (front.name.n > MANIFEST_MAX_DESCRIPTION ||
               front.description.n > MANIFEST_MAX_DESCRIPTION))
        abort();
    return 0;
}
