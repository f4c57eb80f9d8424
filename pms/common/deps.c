/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/deps.h"

#include <stdlib.h>

static int by_name_version(const void *a, const void *b)
{
    const struct dep *x = a, *y = b;
    int order = str_cmp(x->name, y->name);

    return order ? order : str_cmp(x->version, y->version);
}

void deps_sort(struct deps *list)
{
    size_t kept = 0;

    if (list->n == 0)
        return;
    qsort(list->v, list->n, sizeof *list->v, by_name_version);
    for (size_t i = 1; i < list->n; i++)
        if (by_name_version(&list->v[kept], &list->v[i]) != 0)
            list->v[++kept] = list->v[i];
    list->n = kept + 1;
}
