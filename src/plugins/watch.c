/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "plugins/workspace.h"

static void index_put(struct watch_list *w, size_t place)
{
    size_t mask = w->index_cap - 1;
    size_t at = str_hash(w->v[place].path) & mask;

    while (w->index[at])
        at = (at + 1) & mask;
    w->index[at] = (uint32_t)place + 1;
}

static struct watched *find(const struct watch_list *w, struct str path)
{
    size_t mask = w->index_cap - 1;

    if (!w->index_cap)
        return NULL;
    for (size_t at = str_hash(path) & mask; w->index[at]; at = (at + 1) & mask)
        if (str_eq(w->v[w->index[at] - 1].path, path))
            return &w->v[w->index[at] - 1];
    return NULL;
}

/* At most half full, so that a lookup always ends at a free place. */
static void make_room(struct watch_list *w, struct arena *a)
{
    if (2 * (w->n + 1) <= w->index_cap)
        return;
    w->index_cap = w->index_cap ? 2 * w->index_cap : 256;
    w->index = ARENA_ARRAY(a, uint32_t, w->index_cap);
    for (size_t i = 0; i < w->n; i++)
        index_put(w, i);
}

static struct file_stamp add(struct watch_list *w, struct arena *a, const char *path,
                             bool existence_only)
{
    struct watched *known = find(w, str_of(path));

    if (known) {
        known->existence_only &= existence_only;
        return known->stamp;
    }
    make_room(w, a);
    ARENA_PUSH(a, w) = (struct watched){ .path = arena_str(a, str_of(path)),
                                         .existence_only = existence_only,
                                         .stamp = file_stamp(path) };
    index_put(w, w->n - 1);
    return w->v[w->n - 1].stamp;
}

struct file_stamp watch_add(struct watch_list *w, struct arena *a, const char *path)
{
    return add(w, a, path, false);
}

struct file_stamp watch_existence(struct watch_list *w, struct arena *a, const char *path)
{
    return add(w, a, path, true);
}

bool watch_stale(const struct watched *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct file_stamp now = file_stamp(v[i].path.p);

        if (v[i].existence_only ? now.exists != v[i].stamp.exists
                                : !file_stamp_eq(&now, &v[i].stamp))
            return true;
    }
    return false;
}
