/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/wire.h"

bool wire_is_text(struct str s)
{
    return s.n > 0 && s.n <= WIRE_MAX_TEXT && !str_has_control(s);
}

bool wire_id(yyjson_val *v, const char *pm, struct package_id *ret)
{
    *ret = (struct package_id){ .pm = json_str(json_get(v, "pm")),
                                .name = json_str(json_get(v, "name")),
                                .version = json_str(json_get(v, "version")) };
    return str_is(ret->pm, pm) && wire_is_text(ret->name) && wire_is_text(ret->version);
}

void wire_put_id(struct jw *w, const struct package_id *id)
{
    jw_obj(w);
    jw_kstr(w, "pm", id->pm);
    jw_kstr(w, "name", id->name);
    jw_kstr(w, "version", id->version.n ? id->version : STR("*"));
    jw_end(w);
}

yyjson_val *wire_list(yyjson_val *result, const char *key)
{
    yyjson_val *list = json_is_arr(result) ? result : json_get(result, key);

    return json_is_arr(list) ? list : NULL;
}
