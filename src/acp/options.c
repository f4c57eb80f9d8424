/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acp/options.h"

#include "acp/codec.h"
#include "base/utf8.h"

#define VALUE_SHOWN 64 /* bytes */

/* False: not an option that we know how to read. */
static bool read_option(struct acp_option *ret, yyjson_val *v, const char *id_key)
{
    yyjson_val *id = json_get(v, id_key), *current = json_get(v, "currentValue");
    struct str type = json_str(json_get(v, "type"));

    *ret = (struct acp_option){ 0 };
    if (!json_is_str(id))
        return false;
    if (str_is(type, "boolean") && json_is_bool(current)) {
        ret->boolean = true;
        ret->on = json_is_true(current);
    } else if (str_is(type, "select") && json_is_str(current)) {
        ret->current = json_str(current);
        ret->options = json_get(v, "options");
    } else {
        return false;
    }
    ret->id = json_str(id);
    return ret->id.n > 0;
}

struct acp_option acp_option_find(yyjson_val *config, const char *id_key, struct str id)
{
    struct acp_option o;

    for (struct json_iter it = json_iter(config); json_is_arr(config) && json_next(&it);) {
        if (read_option(&o, it.val, id_key) && str_eq(o.id, id))
            return o;
    }
    return (struct acp_option){ 0 };
}

struct acp_option acp_option_of_category(yyjson_val *config, const char *id_key,
                                         const char *category)
{
    struct acp_option o;

    for (struct json_iter it = json_iter(config); json_is_arr(config) && json_next(&it);) {
        if (str_is(json_str(json_get(it.val, "category")), category) &&
            read_option(&o, it.val, id_key))
            return o;
    }
    return (struct acp_option){ 0 };
}

static bool is_group(yyjson_val *v)
{
    return json_is_arr(json_get(v, "options"));
}

bool acp_option_offers(const struct acp_option *o, const char *value)
{
    if (o->boolean)
        return acp_value_is_on(value) || acp_value_is_off(value);
    for (struct json_iter it = json_iter(o->options); json_next(&it);) {
        if (is_group(it.val) ? acp_list_has(json_get(it.val, "options"), "value", value)
                             : str_is(json_str(json_get(it.val, "value")), value))
            return true;
    }
    return false;
}

bool acp_option_is(const struct acp_option *o, const char *value)
{
    if (!o->boolean)
        return o->id.n && str_is(o->current, value);
    return o->on ? acp_value_is_on(value) : acp_value_is_off(value);
}

static void put_value(struct buf *b, struct str value)
{
    buf_addz(b, "'");
    utf8_put_clean(b, utf8_cut(value, VALUE_SHOWN));
    buf_addz(b, value.n > VALUE_SHOWN ? "...'" : "'");
}

void acp_option_put_current(struct buf *b, const struct acp_option *o)
{
    put_value(b, o->boolean ? str_of(o->on ? "true" : "false") : o->current);
}

/* One more of a list of which `*shown` are there. False: enough. */
static bool put_next(struct buf *b, struct str value, int *shown)
{
    if (!value.n)
        return true;
    buf_addz(b, *shown ? ", " : "");
    if (*shown == ACP_VALUES_SHOWN) {
        buf_addz(b, "...");
        return false;
    }
    put_value(b, value);
    ++*shown;
    return true;
}

static bool put_list(struct buf *b, yyjson_val *list, const char *key, int *shown)
{
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        if (!put_next(b, json_str(json_get(it.val, key)), shown))
            return false;
    }
    return true;
}

void acp_option_put_values(struct buf *b, const struct acp_option *o)
{
    int shown = 0;

    if (o->boolean) {
        buf_addz(b, "'true', 'false'");
        return;
    }
    for (struct json_iter it = json_iter(o->options); json_next(&it);) {
        if (!(is_group(it.val) ? put_list(b, json_get(it.val, "options"), "value", &shown)
                               : put_next(b, json_str(json_get(it.val, "value")), &shown)))
            return;
    }
}

bool acp_list_has(yyjson_val *list, const char *id_key, const char *id)
{
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        yyjson_val *v = json_get(it.val, id_key);

        if (json_is_str(v) && str_is(json_str(v), id))
            return true;
    }
    return false;
}

void acp_list_put(struct buf *b, yyjson_val *list, const char *id_key)
{
    int shown = 0;

    put_list(b, list, id_key, &shown);
}
