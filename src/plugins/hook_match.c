/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/hook_match.h"

#include <string.h>

#include "text/regex.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool is_list_of_names(struct str matcher)
{
    for (size_t i = 0; i < matcher.n; i++)
        if (!memchr(NAME_CHARS "|", matcher.p[i], sizeof NAME_CHARS))
            return false;
    return true;
}

static bool is_in_list(struct str names, struct str tool)
{
    struct str one;

    while (str_cut(names, '|', &one, &names))
        if (str_eq(one, tool))
            return true;
    return str_eq(names, tool);
}

bool hook_matches(struct str matcher, struct str tool, struct error *e)
{
    struct regex *re;
    bool found;

    if (matcher.n == 0 || str_is(matcher, "*"))
        return true;
    if (matcher.n > HOOK_MATCHER_MAX)
        return error_set(e, ERR_INVALID, "matcher of more than %d bytes", HOOK_MATCHER_MAX);
    if (is_list_of_names(matcher))
        return is_in_list(matcher, tool);
    re = regex_new(matcher, e);
    if (!re)
        return error_wrap(e, "matcher '%.*s'", STR_F(matcher));
    found = tool.n <= HOOK_TOOL_NAME_MAX && regex_finds(re, tool);
    regex_free(re);
    return found;
}
