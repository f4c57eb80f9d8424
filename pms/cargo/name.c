/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "name.h"

bool name_is_sound(struct str name)
{
    if (name.n == 0 || name.n > NAME_MAX_BYTES || name.p[0] == '-')
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!ascii_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_')
            return false;
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
