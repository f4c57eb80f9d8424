/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/member_glob.h"

#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "text/glob.h"

#define MAX_COMPONENTS 32 /* of a pattern; a longer one names nothing */

static struct str first_component(struct str path, struct str *ret_rest)
{
    struct str head = path, rest = { 0 };

    str_cut(path, '/', &head, &rest);
    *ret_rest = rest;
    return head;
}

static bool is_hidden(const char *name)
{
    return name[0] == '.' || strcmp(name, "node_modules") == 0;
}

static void expand(struct member_search *s, const char *dir, struct str pattern, unsigned depth,
                   struct strs *out);

/* `any`: the component is '**', which also stands for nothing and stays in force below. */
static void expand_children(struct member_search *s, const char *dir, struct str pattern,
                            unsigned depth, struct strs *out)
{
    struct str rest, head = first_component(pattern, &rest);
    bool any = str_is(head, "**");
    DIR *d;

    if (s->dirs_left == 0)
        return;
    s->dirs_left--;
    watch_add(s->watch, s->keep, dir);
    d = opendir(dir);
    if (!d)
        return;
    if (any)
        expand(s, dir, rest, depth + 1, out);
    for (struct dirent *entry; (entry = readdir(d)) && out->n < WORKSPACE_MAX_MEMBERS;) {
        if (is_hidden(entry->d_name) || !file_entry_is_dir(d, entry))
            continue;
        if (any || glob_component(head, str_of(entry->d_name)))
            expand(s, path_join(s->a, dir, entry->d_name), any ? pattern : rest, depth + 1,
                   out);
    }
    closedir(d);
}

static void expand(struct member_search *s, const char *dir, struct str pattern, unsigned depth,
                   struct strs *out)
{
    struct str rest, head = first_component(pattern, &rest);

    if (pattern.n == 0) {
        if (out->n < WORKSPACE_MAX_MEMBERS && !strs_has(out, str_of(dir)))
            ARENA_PUSH(s->a, out) = str_of(dir);
    } else if (depth < MAX_COMPONENTS) {
        if (glob_has_wildcard(head))
            expand_children(s, dir, pattern, depth, out);
        else
            expand(s, path_join(s->a, dir, arena_z(s->a, head)), rest, depth + 1, out);
    }
}

void member_glob_expand(struct member_search *s, const char *root, struct str pattern,
                        struct strs *out)
{
    const char *clean;

    if (pattern.n > GLOB_PATTERN_MAX || !members_step(s))
        return;
    clean = path_clean(s->a, arena_z(s->a, pattern));
    if (path_is_abs(clean) || str_starts(str_of(clean), STR("..")))
        return; /* outside the root */
    expand(s, root, strcmp(clean, ".") == 0 ? STR("") : str_of(clean), 0, out);
}
