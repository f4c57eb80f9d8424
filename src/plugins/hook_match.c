/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/hook_match.h"

#include <regex.h>
#include <string.h>

#include "base/arena.h"

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

/* Outside a class "{" counts; a backslash makes what follows plain, but for a digit. */
static bool is_quick(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        if (pattern.p[i] == '\\' && ++i < pattern.n) {
            if (pattern.p[i] >= '0' && pattern.p[i] <= '9')
                return false;
        } else if (i < pattern.n && pattern.p[i] == '{') {
            return false;
        }
    }
    return true;
}

static bool is_found(struct str pattern, struct str tool, struct error *e)
{
    auto_arena a = ARENA;
    regex_t re;
    char why[128];
    int code = regcomp(&re, arena_z(&a, pattern), REG_EXTENDED | REG_NOSUB);
    bool found;

    if (code != 0) {
        regerror(code, &re, why, sizeof why);
        return error_set(e, ERR_INVALID, "matcher '%.*s': %s", STR_F(pattern), why);
    }
    found = regexec(&re, arena_z(&a, tool), 0, NULL, 0) == 0;
    regfree(&re);
    return found;
}

bool hook_matches(struct str matcher, struct str tool, struct error *e)
{
    if (matcher.n == 0 || str_is(matcher, "*"))
        return true;
    if (matcher.n > HOOK_MATCHER_MAX)
        return error_set(e, ERR_INVALID, "matcher of more than %d bytes", HOOK_MATCHER_MAX);
    if (is_list_of_names(matcher))
        return is_in_list(matcher, tool);
    if (!is_quick(matcher) || memchr(matcher.p, '\0', matcher.n))
        return error_set(e, ERR_INVALID, "matcher '%.*s': no '{' and no '\\1' is known",
                         STR_F(matcher));
    if (tool.n > HOOK_TOOL_NAME_MAX || (tool.n && memchr(tool.p, '\0', tool.n)))
        return false;
    return is_found(matcher, tool, e);
}
