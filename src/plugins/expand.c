/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "plugins/server.h"

#define MAX_EXPANDED ((size_t)1 << 20)

static bool is_name(struct str s)
{
    if (s.n == 0 || ascii_digit(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_alnum(s.p[i]) && s.p[i] != '_')
            return false;
    return true;
}

/* The text between "${" and "}"; false: no reference, the bytes stay as they are. */
static bool split_reference(struct str inner, struct str *name, struct str *fallback, bool *has)
{
    size_t at = str_find(inner, STR(":-"));

    *has = at != SIZE_MAX;
    *name = *has ? str_upto(inner, at) : inner;
    *fallback = *has ? str_from(inner, at + 2) : (struct str){ 0 };
    return is_name(*name);
}

/* As a shell does it: the default also stands for an empty value. */
static bool add_value(struct arena *a, struct buf *out, struct str inner, struct error *e)
{
    struct str name, fallback;
    const char *value;
    bool has_fallback;

    if (!split_reference(inner, &name, &fallback, &has_fallback)) {
        buf_addf(out, "${%.*s}", STR_F(inner));
        return true;
    }
    value = getenv(arena_z(a, name));
    if (!value && !has_fallback)
        return error_set(e, ERR_NOT_FOUND, "environment variable '%.*s' is not set",
                         STR_F(name));
    if (has_fallback && (!value || !*value))
        buf_add(out, fallback);
    else
        buf_addz(out, value);
    return true;
}

bool server_expand(struct arena *a, struct str text, struct str *ret, struct error *e)
{
    auto_buf out = BUF(MAX_EXPANDED);
    struct str rest = text;

    for (;;) {
        size_t open = str_find(rest, STR("${"));
        size_t close = open == SIZE_MAX ? SIZE_MAX : str_find_char(str_from(rest, open), '}');

        if (close == SIZE_MAX)
            break;
        buf_add(&out, str_upto(rest, open));
        if (!add_value(a, &out, str_upto(str_from(rest, open + 2), close - 2), e))
            return false;
        rest = str_from(rest, open + close + 1);
    }
    if (rest.n == text.n) {
        *ret = text;
        return true;
    }
    buf_add(&out, rest);
    if (!buf_ok(&out, e))
        return false;
    *ret = arena_str(a, buf_str(&out));
    return true;
}
