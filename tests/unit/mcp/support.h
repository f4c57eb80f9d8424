/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of this folder share. Include first: cmocka wants its own order of headers. */
#ifndef SYM_TEST_MCP_SUPPORT_H
#define SYM_TEST_MCP_SUPPORT_H

#include "../loop_check.h"

#include "text/json.h"

static inline void parse(struct json *ret, struct str text)
{
    struct error e;

    if (!json_parse(ret, text, &e))
        fail_msg("%s in: %.*s", e.msg, STR_F(str_upto(text, 300)));
}

static inline bool same_scalar(yyjson_val *a, yyjson_val *b)
{
    auto_buf x = BUF(1 << 20), y = BUF(1 << 20);

    json_put_val(&x, a);
    json_put_val(&y, b);
    return str_eq(buf_str(&x), buf_str(&y));
}

/*
 * `want` is a pattern of `got`: each of its members must be there and match; "<absent>" must
 * not be there, "<any>" may be anything. Arrays match element by element, with the same length.
 */
static inline bool matches(yyjson_val *got, yyjson_val *want)
{
    size_t i = 0;

    if (str_is(json_str(want), "<absent>"))
        return !got;
    if (!got || str_is(json_str(want), "<any>"))
        return got != NULL;
    if (!json_is_obj(want) && !json_is_arr(want))
        return same_scalar(got, want);
    if (json_is_obj(got) != json_is_obj(want) || json_is_arr(got) != json_is_arr(want) ||
        (json_is_arr(want) && json_len(got) != json_len(want)))
        return false;
    for (struct json_iter it = json_iter(want); json_next(&it); i++)
        if (!matches(json_is_obj(want) ? json_get_s(got, it.key) : json_at(got, i), it.val))
            return false;
    return true;
}

static inline void assert_matches(struct str got, const char *want, const char *where)
{
    auto_json g = { 0 }, w = { 0 };

    parse(&g, got);
    parse(&w, str_of(want));
    if (!matches(g.root, w.root))
        fail_msg("%s\n  got:  %.*s\n  want: %s", where, STR_F(str_upto(got, 2000)), want);
}

#endif
