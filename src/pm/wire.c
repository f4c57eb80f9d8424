/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/wire.h"

#include <string.h>

bool wire_is_text(struct str s)
{
    return s.n > 0 && s.n <= WIRE_MAX_TEXT && !str_has_control(s);
}

static bool is_name(struct str s)
{
    struct str part, rest = s;

    if (!wire_is_text(s) || str_ends(s, STR("/")))
        return false;
    while (str_next(&rest, '/', &part))
        if (!part.n || str_is(part, ".") || str_is(part, ".."))
            return false;
    return true;
}

bool wire_is_exact(struct str version)
{
    return version.n && !strchr("*<>=^~ ", version.p[0]);
}

bool wire_id(yyjson_val *v, const char *pm, struct package_id *ret)
{
    *ret = (struct package_id){ .pm = json_str(json_get(v, "pm")),
                                .name = json_str(json_get(v, "name")),
                                .version = json_str(json_get(v, "version")) };
    return str_is(ret->pm, pm) && is_name(ret->name) && wire_is_text(ret->version);
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
