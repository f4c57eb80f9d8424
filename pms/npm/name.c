/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "name.h"

#include <string.h>

#include "base/mem.h"
#include "text/semver.h"

static bool is_name_char(char c)
{
    return ascii_alnum(c) || (c && strchr("-_.~!'()*", c));
}

static bool is_part(struct str s)
{
    if (s.n == 0 || s.p[0] == '.' || str_is(s, "node_modules"))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_name_char(s.p[i]))
            return false;
    return true;
}

bool npm_name_ok(struct str name)
{
    struct str scope, rest;

    if (name.n > NPM_NAME_MAX)
        return false;
    if (!str_starts(name, STR("@")))
        return is_part(name);
    return str_cut(str_from(name, 1), '/', &scope, &rest) && is_part(scope) && is_part(rest);
}

bool npm_version_ok(struct str version)
{
    struct semver v;

    return version.n <= SEMVER_TEXT_MAX && semver_parse(&v, version, NULL);
}

/* The name in front of the '@' of a version; a scope's '@' is the first character. */
static struct str name_of_alias(struct str text)
{
    size_t at = text.n > 1 ? str_find_char(str_from(text, 1), '@') : SIZE_MAX;
    struct str name = at == SIZE_MAX ? text : str_upto(text, at + 1);

    return npm_name_ok(name) ? name : (struct str){ 0 };
}

static bool is_bare_path(struct str s)
{
    static const char *const starts[] = { "./", "../", "/", "~/" };

    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (str_starts(s, str_of(starts[i])))
            return true;
    return str_is(s, ".") || str_is(s, "..");
}

struct npm_spec npm_spec_read(struct str text)
{
    static const char *const paths[] = { "file:", "link:", "portal:" };
    struct npm_spec ret = { 0 };

    text = str_trim(text);
    ret.workspace = str_starts(text, STR("workspace:"));
    if (str_starts(text, STR("npm:")))
        ret.real = name_of_alias(str_from(text, 4));
    else if (is_bare_path(text))
        ret.path = text;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (str_starts(text, str_of(paths[i])))
            ret.path = str_from(text, strlen(paths[i]));
    return ret;
}
