/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/offer.h"

#include "base/mem.h"

static bool read_text(yyjson_val *v, const char *key, struct str *ret, struct error *e)
{
    if (!json_opt_str(v, key, ret, e))
        return false;
    if (ret->n > ID_MAX_TEXT)
        return error_set(e, ERR_INVALID, "'%s' is longer than %d bytes", key, ID_MAX_TEXT);
    return true;
}

bool id_read(yyjson_val *v, const char *pm, struct id *ret, struct error *e)
{
    *ret = (struct id){ 0 };
    if (!json_is_obj(v))
        return error_set(e, ERR_INVALID, "an id must be an object, not %s", json_type_name(v));
    if (!read_text(v, "pm", &ret->pm, e) || !read_text(v, "name", &ret->name, e) ||
        !read_text(v, "version", &ret->version, e))
        return false;
    if (ret->pm.n == 0)
        return error_set(e, ERR_INVALID, "an id needs a 'pm'");
    if (ret->name.n == 0)
        return error_set(e, ERR_INVALID, "an id needs a 'name'");
    if (ret->version.n == 0)
        ret->version = STR("*");
    if (!str_is(ret->pm, pm))
        return error_set(e, ERR_NOT_FOUND, "'%.*s' is no package of '%s'", STR_F(ret->pm), pm);
    return true;
}

void id_put(struct jw *w, const struct id *id)
{
    jw_obj(w);
    jw_kstr(w, "pm", id->pm);
    jw_kstr(w, "name", id->name);
    jw_kstr(w, "version", id->version);
    jw_end(w);
}

bool ids_read(struct arena *a, yyjson_val *params, const char *pm, struct ids *ret,
              struct error *e)
{
    yyjson_val *deps = json_get(params, "deps");

    *ret = (struct ids){ 0 };
    if (!json_is_arr(deps))
        return error_set(e, ERR_INVALID, "'deps' must be an array, not %s",
                         json_type_name(deps));
    for (struct json_iter it = json_iter(deps); json_next(&it);) {
        struct id id;

        if (it.i > ID_MAX_COUNT)
            return error_set(e, ERR_LIMIT, "'deps' holds more than %d ids", ID_MAX_COUNT);
        if (id_read(it.val, pm, &id, e))
            ARENA_PUSH(a, ret) = id;
        else if (e->kind != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

bool update_read(yyjson_val *params, enum update *ret, struct error *e)
{
    static const char *const words[] = {
        [UPDATE_NONE] = "none",
        [UPDATE_CHECK] = "check",
        [UPDATE_FETCH] = "fetch",
    };
    struct str word = STR("none");

    if (!json_opt_str(params, "update", &word, e))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_is(word, words[i])) {
            *ret = (enum update)i;
            return true;
        }
    }
    return error_set(e, ERR_INVALID, "'update' must be none, check or fetch");
}

void offer_put(struct jw *w, const struct id *id, const char *root, struct str manifest)
{
    jw_obj(w);
    jw_key(w, "id");
    id_put(w, id);
    jw_kstrz(w, "root", root);
    jw_key(w, "manifest");
    jw_raw(w, manifest);
    jw_end(w);
}
