/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/offers_cache.h"

#include "base/path.h"
#include "pm/deps_cache.h"

#define VERSION 1

const char *offers_cache_path(struct arena *a, const char *cache_dir, struct str root)
{
    return path_join(a, workspace_cache_dir(a, cache_dir, root), "offers.json");
}

static struct answer *read_answer(struct arena *a, yyjson_val *v)
{
    struct answer *ans = ARENA_NEW(a, struct answer);

    ans->pm = arena_str(a, json_str(json_get(v, "pm")));
    ans->question = arena_str(a, json_str(json_get(v, "question")));
    ans->problem = arena_str(a, json_str(json_get(v, "problem")));
    ans->offers = json_get(v, "offers");
    if (!ans->pm.n || !ans->question.n || !json_is_arr(ans->offers) ||
        !inputs_read(&ans->inputs, a, json_get(v, "inputs")))
        return NULL;
    return ans;
}

void answers_read(struct answers *ret, struct arena *a, const char *path, struct str root)
{
    auto_buf text = BUF(OFFERS_CACHE_MAX_BYTES);
    int64_t version;

    *ret = (struct answers){ 0 };
    if (!file_read(path, &text, NULL) || !json_parse(&ret->doc, buf_str(&text), NULL) ||
        !json_int(json_get(ret->doc.root, "version"), &version) || version != VERSION ||
        !str_eq(json_str(json_get(ret->doc.root, "root")), root))
        return;
    for (struct json_iter it = json_iter(json_get(ret->doc.root, "answers")); json_next(&it);) {
        struct answer *ans = read_answer(a, it.val);

        if (ans)
            ARENA_PUSH(a, &ret->list) = ans;
    }
}

static void put_answer(struct jw *w, const struct answer *ans)
{
    jw_obj(w);
    jw_kstr(w, "pm", ans->pm);
    jw_kstr(w, "question", ans->question);
    jw_key(w, "inputs");
    inputs_put(w, &ans->inputs);
    jw_key(w, "offers");
    jw_val(w, ans->offers);
    if (ans->problem.n)
        jw_kstr(w, "problem", ans->problem);
    jw_end(w);
}

bool answers_write(const struct answers *l, const char *path, struct str root, struct error *e)
{
    auto_buf text = BUF(OFFERS_CACHE_MAX_BYTES);
    auto_arena a = ARENA;
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kint(&w, "version", VERSION);
    jw_kstr(&w, "root", root);
    jw_key(&w, "answers");
    jw_arr(&w);
    for (size_t i = 0; i < l->list.n; i++)
        if (l->list.v[i]->used && !l->list.v[i]->racy)
            put_answer(&w, l->list.v[i]);
    jw_end(&w);
    jw_end(&w);
    buf_addc(&text, '\n');
    return buf_ok(&text, e) && file_mkdirs(path_dir(&a, path), e) &&
           file_write_cache(path, buf_str(&text), e);
}

struct answer *answers_find(const struct answers *l, struct str pm, struct str question)
{
    for (size_t i = 0; i < l->list.n; i++)
        if (str_eq(l->list.v[i]->pm, pm) && str_eq(l->list.v[i]->question, question))
            return l->list.v[i];
    return NULL;
}

void answers_free(struct answers *l)
{
    json_free(&l->doc);
}
