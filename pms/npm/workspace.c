/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "workspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "common/expand.h"
#include "text/pattern_set.h"
#include "text/yaml.h"

struct search {
    struct npm_workspace *w;
    struct inputs *in;
    const char *real_root;
    struct pattern_set patterns;
};

static void add_patterns(struct search *s, const struct pattern_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (pattern_set_add(&s->patterns, s->in->arena, list->v[i]))
            continue;
        log_warn("'%s': more than %d patterns of members; the rest left out", s->w->root,
                 PATTERN_SET_MAX);
        return;
    }
}

/* Whoever asks does not look for the members that it names. */
static bool read_pnpm(struct search *s, struct pattern_list *ret)
{
    struct arena *a = s->in->arena;
    const char *path = path_join(a, s->w->root, "pnpm-workspace.yaml");
    const struct yaml *list;
    struct error why = { 0 };
    struct str text;
    struct yaml *doc = NULL;

    if (input_read_max(s->in, path, YAML_MAX_BYTES, &text, &why))
        doc = yaml_parse(a, text, &why);
    else if (why.kind == ERR_NOT_FOUND)
        return false;
    if (!doc)
        log_warn("'%s' left out: %s", path, why.msg);
    list = yaml_get(doc, "packages");
    for (const struct yaml *item = yaml_is(list, YAML_LIST) ? list->first : NULL; item;
         item = item->next)
        ARENA_PUSH(a, ret) = yaml_str(item);
    return true;
}

static void take(struct search *s, struct npm_package *p, const char *real)
{
    struct npm_workspace *w = s->w;
    bool is_root = w->members.n == 0;

    ARENA_PUSH(s->in->arena, &w->members) = p;
    map_put(&w->by_dir, str_of(p->dir), p);
    map_put(&w->by_dir, str_of(real), p);
    if (p->name.n && !is_root)
        map_put(&w->by_name, p->name, p);
}

/* False when there are too many. */
static bool add_member(struct search *s, const char *dir)
{
    struct error why = { 0 };
    struct npm_package *p;
    const char *real;

    if (pattern_set_deny(&s->patterns, str_from(str_of(dir), strlen(s->w->root) + 1)))
        return true;
    real = path_real(s->in->arena, dir, NULL);
    if (!real) {
        input_note(s->in, path_join(s->in->arena, dir, "package.json"));
        return true;
    }
    if (!path_beneath(s->real_root, real) || map_has(&s->w->by_dir, str_of(real)))
        return true;
    if (s->w->members.n > WORKSPACE_MAX_MEMBERS) {
        log_warn("'%s': more than %d members; the rest left out", s->w->root,
                 WORKSPACE_MAX_MEMBERS);
        return false;
    }
    p = package_read(s->in, dir, &why);
    if (p)
        take(s, p, real);
    else if (why.kind != ERR_NOT_FOUND)
        log_warn("member left out: %s", why.msg);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_members(struct search *s)
{
    struct dir_list dirs = { 0 };
    struct error why = { 0 };

    for (size_t i = 0; i < s->patterns.yes.n; i++)
        if (!expand_visible(s->in, s->w->root, s->patterns.yes.v[i], &dirs, &why)) {
            log_warn("'%s': %s; further members left out", s->w->root, why.msg);
            break;
        }
    if (dirs.n)
        qsort(dirs.v, dirs.n, sizeof *dirs.v, by_text);
    for (size_t i = 0; i < dirs.n; i++)
        if (path_beneath(s->w->root, dirs.v[i]) && !add_member(s, dirs.v[i]))
            return;
}

static bool is_npm(struct str manager)
{
    return str_is(manager, "npm") || str_starts(manager, STR("npm@"));
}

bool workspace_read(struct npm_workspace *ret, struct inputs *in, const char *dir,
                    struct error *e)
{
    struct search s = { .w = ret, .in = in };
    struct npm_package *root = package_read(in, dir, e);
    const char *known = in->known_root;
    struct pattern_list pnpm = { 0 };

    *ret = (struct npm_workspace){ .root = root ? root->dir : NULL };
    if (!root)
        return false;
    s.real_root = path_real(in->arena, dir, e);
    if (!s.real_root)
        return false;
    take(&s, root, s.real_root);
    ret->foreign = read_pnpm(&s, &pnpm);
    if (ret->foreign)
        inputs_foreign(in);
    if (root->manager.n)
        ret->foreign = !is_npm(root->manager);
    add_patterns(&s, &root->workspaces);
    add_patterns(&s, &pnpm);
    find_members(&s);
    in->known_root = known;
    return true;
}

void workspace_free(struct npm_workspace *w)
{
    map_free(&w->by_dir);
    map_free(&w->by_name);
}

bool workspace_has(const struct npm_workspace *w, const char *dir)
{
    return map_has(&w->by_dir, str_of(dir));
}
