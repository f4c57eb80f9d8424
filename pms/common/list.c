/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "common/nested.h"
#include "common/offer.h"

struct lister {
    const struct lister_kind *kind;
    char *workspace;
    struct arena arena;   /* of the answer that is kept */
    struct inputs inputs; /* what it came from */
    struct buf json;      /* empty: none is kept */
};

struct lister *lister_new(const struct lister_kind *kind, const char *workspace)
{
    struct lister *l = NEW(struct lister);

    l->kind = kind;
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

static void collect_nested(const struct listing *l, const struct lister_kind *kind,
                           const char *root)
{
    struct dir_list dirs = { 0 };

    nested_find(l->in, root, kind->manifest, &dirs);
    for (size_t i = 0; i < dirs.n; i++) {
        struct error why = { 0 };

        if (!map_has(l->members, str_of(dirs.v[i])) && !kind->read(l, dirs.v[i], &why))
            log_warn("workspace left out: %s", why.msg);
    }
}

bool list_collect(const struct listing *l, const struct lister_kind *kind, const char *root,
                  struct error *e)
{
    struct error why = { 0 };

    l->in->known_root = root;
    if (kind->read(l, root, &why))
        return true;
    if (why.kind != ERR_NOT_FOUND)
        return error_set(e, why.kind, "%s", why.msg);
    l->in->known_root = NULL;
    collect_nested(l, kind, root);
    return true;
}

static bool collect(struct lister *l, struct deps *list, struct error *e)
{
    struct map members = MAP;
    const struct listing listing = { .in = &l->inputs, .deps = list, .members = &members };
    bool ok = list_collect(&listing, l->kind, path_clean(&l->arena, l->workspace), e);

    map_free(&members);
    deps_sort(list);
    return ok;
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

static void put_deps(struct jw *w, const char *pm, const struct deps *list)
{
    jw_arr(w);
    for (size_t i = 0; i < list->n; i++) {
        id_put(w, &(struct id){ str_of(pm), list->v[i].name, list->v[i].version });
    }
    jw_end(w);
}

static void put_answer(struct lister *l, const struct deps *list)
{
    struct dir_list watch = to_watch(l);
    struct jw w = jw_to(&l->json);

    if (watch.n == 0) {
        put_deps(&w, l->kind->pm, list);
        return;
    }
    jw_obj(&w);
    jw_key(&w, "deps");
    put_deps(&w, l->kind->pm, list);
    jw_key(&w, "watch");
    jw_arr(&w);
    for (size_t i = 0; i < watch.n; i++)
        jw_strz(&w, watch.v[i]);
    jw_end(&w);
    jw_end(&w);
}

bool lister_list(struct lister *l, struct str *ret_json, struct error *e)
{
    struct deps list = { 0 };

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
