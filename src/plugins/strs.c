/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/strs.h"

bool strs_has(const struct strs *l, struct str s)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->v[i], s))
            return true;
    return false;
}

void strs_put(struct jw *w, const char *key, const struct strs *l)
{
    jw_key(w, key);
    jw_arr(w);
    for (size_t i = 0; i < l->n; i++)
        jw_str(w, l->v[i]);
    jw_end(w);
}
