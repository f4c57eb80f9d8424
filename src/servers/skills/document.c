/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/document.h"

#include "base/utf8.h"
#include "text/frontmatter.h"
#include "text/yaml_json.h"

/* ^[a-z0-9]+(-[a-z0-9]+)*$ */
static bool is_name(struct str s)
{
    bool after_hyphen = true; /* or at the start */

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (!word && (c != '-' || after_hyphen))
            return false;
        after_hyphen = !word;
    }
    return s.n > 0 && s.n <= SKILL_NAME_MAX && !after_hyphen;
}

/* A number is a fine name, so any scalar but null is taken. */
static const struct yaml *get_text(const struct yaml *map, const char *key, struct error *e)
{
    const struct yaml *v = yaml_get(map, key);

    if (v && yaml_is(v, YAML_SCALAR) && str_trim(yaml_str(v)).n && !yaml_is_null(v))
        return v;
    if (v)
        error_set(e, ERR_INVALID, "line %u: '%s' must be a text that is not blank", v->line,
                  key);
    else
        error_set(e, ERR_INVALID, "line 1: '%s' is missing", key);
    return NULL;
}

/* The line of the first byte that is not UTF-8. */
static bool check_utf8(struct str text, struct error *e)
{
    unsigned line = 1;
    uint32_t cp;

    if (utf8_valid(text))
        return true;
    for (size_t i = 0, n; i < text.n; i += n) {
        n = utf8_decode(str_from(text, i), &cp);
        if (n == 0)
            break;
        line += text.p[i] == '\n';
    }
    return error_set(e, ERR_INVALID, "line %u: the file is not UTF-8", line);
}

bool document_parse(struct arena *a, struct str text, struct document *ret, struct error *e)
{
    const struct yaml *name, *description;
    struct frontmatter parts;

    if (text.n > SKILL_FILE_MAX)
        return error_set(e, ERR_LIMIT, "line 1: the file has more than %zu bytes",
                         SKILL_FILE_MAX);
    if (!check_utf8(text, e) || !frontmatter_split(text, &parts, e))
        return false;
    ret->front = yaml_parse(a, parts.yaml, e);
    if (!ret->front)
        return false;
    if (!yaml_is(ret->front, YAML_MAP))
        return error_set(e, ERR_INVALID, "line 2: the front matter must be a mapping");
    name = get_text(ret->front, "name", e);
    description = name ? get_text(ret->front, "description", e) : NULL;
    if (!name || !description)
        return false;
    ret->name = yaml_str(name);
    if (!is_name(ret->name))
        return error_set(e, ERR_INVALID,
                         "line %u: 'name' must be 1 to %d lower-case letters, digits and "
                         "single hyphens between them",
                         name->line, SKILL_NAME_MAX);
    ret->description = str_trim(yaml_str(description));
    ret->description_line = description->line;
    ret->body = parts.body;
    return true;
}
