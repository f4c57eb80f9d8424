/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "direct.h"
#include "nested.h"

struct lister {
    char *workspace;
    struct arena arena;   /* of the answer that is kept */
    struct inputs inputs; /* what it came from */
    struct buf json;      /* empty: none is kept */
};

struct lister *lister_new(const char *workspace)
{
    struct lister *l = NEW(struct lister);

    l->workspace = mem_strdup(workspace);
    l->json = BUF(LIST_MAX_JSON);
    return l;
}

void lister_free(struct lister *l)
{
    if (!l)
        return;
    arena_free(&l->arena);
    buf_free(&l->json);
    free(l->workspace);
    free(l);
}

static void forget(struct lister *l)
{
    arena_free(&l->arena);
    l->inputs = (struct inputs){ .arena = &l->arena };
    buf_clear(&l->json);
}

/* A directory that is a member of a workspace already read is no workspace of its own. */
static void add_nested(struct lister *l, const char *dir, struct map *members,
                       struct directs *list)
{
    struct cargo_workspace w;
    struct error why = { 0 };

    if (map_has(members, str_of(dir)))
        return;
    if (!workspace_read(&w, &l->inputs, dir, &why)) {
        log_warn("workspace left out: %s", why.msg);
        return;
    }
    for (size_t i = 0; i < w.members.n; i++)
        map_put(members, str_of(w.members.v[i]->dir), list);
    directs_add(list, &l->inputs, &w);
    workspace_free(&w);
}

static void collect_nested(struct lister *l, const char *root, struct directs *list)
{
    struct dir_list dirs = { 0 };
    struct map members = MAP;

    nested_find(&l->inputs, root, &dirs);
    for (size_t i = 0; i < dirs.n; i++)
        add_nested(l, dirs.v[i], &members, list);
    map_free(&members);
}

static bool collect(struct lister *l, struct directs *list, struct error *e)
{
    const char *root = path_clean(&l->arena, l->workspace);
    struct cargo_workspace w;
    struct error why = { 0 };

    l->inputs.known_root = root;
    if (workspace_read(&w, &l->inputs, root, &why)) {
        directs_add(list, &l->inputs, &w);
        workspace_free(&w);
    } else if (why.kind == ERR_NOT_FOUND) {
        l->inputs.known_root = NULL;
        collect_nested(l, root, list);
    } else {
        return error_set(e, why.kind, "%s", why.msg);
    }
    directs_sort(list);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What the asker cannot know, sorted, each once. */
static struct dir_list to_watch(struct lister *l)
{
    struct dir_list all = { 0 }, once = { 0 };

    for (size_t i = 0; i < l->inputs.n; i++)
        if (!l->inputs.v[i].known)
            ARENA_PUSH(&l->arena, &all) = l->inputs.v[i].path;
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, by_text);
    for (size_t i = 0; i < all.n; i++)
        if (i == 0 || strcmp(all.v[i], all.v[i - 1]) != 0)
            ARENA_PUSH(&l->arena, &once) = all.v[i];
    return once;
}

static void put_deps(struct jw *w, const struct directs *list)
{
    jw_arr(w);
    for (size_t i = 0; i < list->n; i++) {
        jw_obj(w);
        jw_kstr(w, "pm", STR("cargo"));
        jw_kstr(w, "name", list->v[i].name);
        jw_kstr(w, "version", list->v[i].version);
        jw_end(w);
    }
    jw_end(w);
}

static void put_answer(struct lister *l, const struct directs *list)
{
    struct dir_list watch = to_watch(l);
    struct jw w = jw_to(&l->json);

    if (watch.n == 0) {
        put_deps(&w, list);
        return;
    }
    jw_obj(&w);
    jw_key(&w, "deps");
    put_deps(&w, list);
    jw_key(&w, "watch");
    jw_arr(&w);
    for (size_t i = 0; i < watch.n; i++)
        jw_strz(&w, watch.v[i]);
    jw_end(&w);
    jw_end(&w);
}

bool lister_list(struct lister *l, struct str *ret_json, struct error *e)
{
    struct directs list = { 0 };

    if (l->json.n == 0 || inputs_changed(&l->inputs)) {
        forget(l);
        if (l->workspace && !collect(l, &list, e)) {
            forget(l);
            return false;
        }
        put_answer(l, &list);
        if (!buf_ok(&l->json, e)) {
            forget(l);
            return false;
        }
    }
    *ret_json = buf_str(&l->json);
    return true;
}
