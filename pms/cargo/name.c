/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "name.h"

bool name_is_sound(struct str name)
{
    if (name.n == 0 || name.n > NAME_MAX_BYTES || name.p[0] == '-')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return true;
}

struct str name_key(struct arena *a, struct str name)
{
    char *key = arena_z(a, name);

    for (size_t i = 0; i < name.n; i++)
        if (key[i] == '-')
            key[i] = '_';
    return (struct str){ key, name.n };
}
