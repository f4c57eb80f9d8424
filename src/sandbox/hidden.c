/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sandbox/hidden.h"

#include "base/mem.h"

bool script_hides(struct str key)
{
    static const char *const hidden[] = {
        "then",      "catch",  "finally",  "constructor", "prototype",
        "__proto__", "toJSON", "toString", "valueOf",     "inspect",
    };

    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (str_is(key, hidden[i]))
            return true;
    return false;
}

bool script_always_hides(struct str key)
{
    return str_is(key, "then") || str_is(key, "toJSON");
}
