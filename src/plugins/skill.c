/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/skill.h"

#include "base/file.h"
#include "base/path.h"
#include "base/sha256.h"
#include "plugins/predicate.h"
#include "text/frontmatter.h"
#include "text/yaml.h"

static bool read_text(const struct yaml *map, const char *key, struct str *ret, struct error *e)
{
    const struct yaml *v = yaml_get(map, key);
    struct str text = str_trim(yaml_str(v));

    if (!v)
        return true;
    if (text.n == 0)
        return error_set(e, ERR_INVALID, "line %u: '%s' must be a string that is not empty",
                         v->line, key);
    if (text.n > MANIFEST_MAX_DESCRIPTION)
        return error_set(e, ERR_LIMIT, "line %u: '%s' is longer than %d bytes", v->line, key,
                         MANIFEST_MAX_DESCRIPTION);
    *ret = text;
    return true;
}

/* A comma-separated string, or a list of strings. */
static bool read_list(struct arena *a, const struct yaml *map, const char *key,
                      struct strs *ret, struct error *e)
{
    const struct yaml *v = yaml_get(map, key);

    if (yaml_is(v, YAML_SCALAR)) {
        atom_list_split(a, yaml_str(v), ret);
        return true;
    }
    for (const struct yaml *item = v ? v->first : NULL; item; item = item->next) {
        if (!yaml_is(v, YAML_LIST) || !yaml_is(item, YAML_SCALAR))
            return error_set(e, ERR_INVALID,
                             "line %u: '%s' must be a string or a list of strings", v->line,
                             key);
        ARENA_PUSH(a, ret) = yaml_str(item);
    }
    return true;
}

static bool read_gate(struct arena *a, const struct yaml *map, struct gate *gate,
                      struct error *e)
{
    struct strs atoms = { 0 }, predicates = { 0 };

    if (yaml_get(map, "crates"))
        return error_set(e, ERR_INVALID, "line %u: 'crates' was renamed to 'depends-on'",
                         yaml_get(map, "crates")->line);
    if (!read_list(a, map, "depends-on", &atoms, e) ||
        !read_list(a, map, "predicates", &predicates, e))
        return false;
    if (!gate_add_atoms(a, gate, &atoms, e))
        return error_wrap(e, "line %u: 'depends-on'", yaml_get(map, "depends-on")->line);
    if (!gate_add_predicates(a, gate, &predicates, e))
        return error_wrap(e, "line %u: 'predicates'", yaml_get(map, "predicates")->line);
    return true;
}

bool skill_front_parse(struct arena *a, struct str text, struct skill_front *ret,
                       struct error *e)
{
    struct frontmatter front;
    struct yaml *map;

    *ret = (struct skill_front){ 0 };
    if (!frontmatter_split(text, &front, e))
        return false;
    map = yaml_parse(a, front.yaml, e);
    if (!map)
        return error_wrap(e, "front matter");
    if (!yaml_is(map, YAML_MAP))
        return error_set(e, ERR_INVALID, "the front matter must be a mapping");
    return read_text(map, "name", &ret->name, e) &&
           read_text(map, "description", &ret->description, e) &&
           read_gate(a, map, &ret->gate, e);
}

struct plugin *skill_plugin_load(struct arena *a, const char *path,
                                 const struct manifest_source *src, struct error *e)
{
    auto_buf text = BUF(SKILL_MAX_BYTES);
    char hex[SHA256_HEX_SIZE];
    struct skill_front front;
    struct plugin *p;

    if (!file_read(path, &text, e) || !skill_front_parse(a, buf_str(&text), &front, e))
        return NULL;
    if (!front.description.n) {
        error_set(e, ERR_INVALID, "the front matter needs a 'description'");
        return NULL;
    }
    sha256_hex(buf_str(&text), hex);
    p = manifest_defaults(a, src);
    p->name = front.name.n ? front.name : str_of(path_base(src->dir.p));
    p->manifest_path = arena_str(a, str_of(path));
    p->manifest_sha256 = arena_str(a, str_of(hex));
    p->gate = front.gate;
    p->standalone_skill = true;
    ARENA_PUSH(a, &p->skills) = (struct skill_group){ .path = STR(".") };
    p->mentions_dependency = plugin_mentions_dependency(p);
    return p;
}
