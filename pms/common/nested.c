/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/nested.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"

static bool is_skipped(const char *name)
{
    static const char *const names[] = { "node_modules", "target", "vendor" };

    if (name[0] == '.')
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Appends the subdirectories of `dir` to the level below, as far as the budget goes. */
static void add_level(struct inputs *in, const char *dir, struct dir_list *level,
                      size_t *budget)
{
    struct dir_names names;

    input_list(in, dir, false, &names);
    for (size_t i = 0; i < names.n && *budget; i++) {
        if (is_skipped(names.v[i]))
            continue;
        ARENA_PUSH(in->arena, level) = path_join(in->arena, dir, names.v[i]);
        --*budget;
    }
}

void nested_find(struct inputs *in, const char *root, const char *manifest,
                 struct dir_list *ret)
{
    struct dir_list level = { 0 }, below = { 0 };
    size_t budget = NESTED_MAX_DIRS;

    ARENA_PUSH(in->arena, &level) = root;
    for (int depth = 1; depth <= NESTED_MAX_DEPTH; depth++) {
        below = (struct dir_list){ 0 };
        for (size_t i = 0; i < level.n && budget > 0; i++)
            add_level(in, level.v[i], &below, &budget);
        for (size_t i = 0; i < below.n; i++) {
            const char *path = path_join(in->arena, below.v[i], manifest);

            input_note(in, path); /* also where there is none yet */
            if (file_exists(path))
                ARENA_PUSH(in->arena, ret) = below.v[i];
        }
        level = below;
    }
}
