/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Any bytes as the SKILL.md of the skills server. What is accepted keeps the rules of SK-2 to
 * SK-4: a body that is the end of the file, a name of the form, a description that is not
 * blank, front matter that is valid JSON within its depth. What is refused names a line.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "servers/skills/document.h"
#include "text/frontmatter.h"
#include "text/yaml_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_front(const struct yaml *front)
{
    auto_buf out = BUF(16 << 20);
    auto_json j = { 0 };
    struct jw w = jw_to(&out);
    struct error e;

    yaml_put_json(&w, front);
    must(!out.over && json_parse(&j, buf_str(&out), &e) && json_is_obj(j.root));
    for (const struct yaml *v = front->first; v; v = v->next)
        must(yaml_is_null(v) == json_is_null(json_get_s(j.root, v->key)));
}

static void check_name(struct str name)
{
    must(name.n >= 1 && name.n <= SKILL_NAME_MAX);
    must(name.p[0] != '-' && name.p[name.n - 1] != '-');
    for (size_t i = 0; i < name.n; i++)
        must(name.p[i] && strchr("abcdefghijklmnopqrstuvwxyz0123456789-", name.p[i]) &&
             (i == 0 || name.p[i] != '-' || name.p[i - 1] != '-'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    struct str text = { (const char *)data, size };
    struct frontmatter parts;
    struct error e = { 0 };
    struct document d;

    if (!document_parse(&a, text, &d, &e)) {
        must(e.kind != ERR_NONE && (str_starts(str_of(e.msg), STR("line ")) ||
                                    e.kind == ERR_LIMIT || e.kind == ERR_SYS));
        return 0;
    }
    must(utf8_valid(text) && frontmatter_split(text, &parts, NULL));
    must(d.body.n == 0 || d.body.p + d.body.n == text.p + text.n);
    must(parts.yaml.n + d.body.n < size && parts.yaml.p[0] == '\n');
    check_name(d.name);
    must(str_trim(d.description).n == d.description.n && d.description.n > 0);
    must(d.description_line >= 2);
    check_front(d.front);
    return 0;
}
