/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/members.h"

#include <string.h>

#include "base/path.h"
#include "plugins/member_glob.h"
#include "text/glob.h"
#include "text/json.h"
#include "text/pattern_set.h"
#include "text/toml.h"
#include "text/yaml.h"

bool members_step(struct member_search *s)
{
    if (s->steps_left == 0)
        return false;
    s->steps_left--;
    return true;
}

/* The text of a manifest; the path is recorded also when there is none. */
static bool read_manifest(struct member_search *s, const char *path, struct buf *out)
{
    if (s->bytes_left < out->max)
        out->max = s->bytes_left;
    if (!watch_add(s->watch, s->keep, path).exists || !file_read(path, out, NULL))
        return false;
    s->bytes_left -= out->n;
    return true;
}

/* Takes the directory when it holds `manifest` and really lies beneath the root. */
static bool add_member(struct member_search *s, const char *root, const char *dir,
                       const char *manifest, struct strs *out)
{
    char *real;

    if (out->n >= WORKSPACE_MAX_MEMBERS || !members_step(s) ||
        !watch_add(s->watch, s->keep, path_join(s->a, dir, manifest)).exists)
        return false;
    real = path_real(s->a, dir, NULL);
    if (!real || strcmp(real, root) == 0 || !path_beneath(root, real) ||
        strs_has(out, str_of(real)))
        return false;
    ARENA_PUSH(s->a, out) = str_of(real);
    return true;
}

/* Keeps a pattern of directories that are no members. */
static void add_exclude(struct member_search *s, struct strs *ret, struct str pattern)
{
    if (pattern.n && pattern.n <= GLOB_PATTERN_MAX && ret->n < WORKSPACE_MAX_EXCLUDES)
        ARENA_PUSH(s->a, ret) = str_of(path_clean(s->a, arena_z(s->a, pattern)));
}

/* ---- Cargo ---- */

struct cargo_root {
    struct member_search *s;
    const char *root;
    struct strs exclude;           /* cleaned patterns below root */
    const struct toml_val *shared; /* [workspace.dependencies] */
    struct strs *out;
};

static struct toml_val *read_cargo(struct member_search *s, struct arena *a, const char *dir)
{
    auto_buf text = BUF(WORKSPACE_MAX_MANIFEST);

    if (!read_manifest(s, path_join(s->a, dir, "Cargo.toml"), &text))
        return NULL;
    return toml_parse(a, buf_str(&text), NULL);
}

/* A pattern of `exclude` takes away what it names and everything below. */
static bool excluded(const struct cargo_root *c, const char *dir)
{
    struct str rel = str_from(str_of(dir), strlen(c->root) + 1);

    for (size_t i = 0; i < c->exclude.n; i++)
        for (size_t end = 0; end <= rel.n; end++)
            if ((end == rel.n || rel.p[end] == '/') &&
                glob_path(c->exclude.v[i], str_upto(rel, end)))
                return true;
    return false;
}

static void add_crate(struct cargo_root *c, const char *dir)
{
    const char *clean = path_clean(c->s->a, dir);

    if (path_beneath(c->root, clean) && strcmp(clean, c->root) != 0 && !excluded(c, clean))
        add_member(c->s, c->root, clean, "Cargo.toml", c->out);
}

static void add_path_deps(struct cargo_root *c, const char *dir, const struct toml_val *table)
{
    static const char *const kinds[] = { "dependencies", "dev-dependencies",
                                         "build-dependencies" };

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct toml_val *deps = toml_get(table, kinds[k]);

        for (size_t i = 0; i < toml_len(deps); i++) {
            const struct toml_val *dep = toml_at(deps, i);
            const struct toml_val *inherited = toml_get(dep, "workspace");
            const char *from = dir;

            if (toml_is(inherited, TOML_BOOL) && inherited->b) {
                dep = toml_get_s(c->shared, dep->key);
                from = c->root;
            }
            if (toml_str(toml_get(dep, "path")).n)
                add_crate(c, path_join(c->s->a, from,
                                       arena_z(c->s->a, toml_str(toml_get(dep, "path")))));
        }
    }
}

static void add_all_path_deps(struct cargo_root *c, const char *dir,
                              const struct toml_val *manifest)
{
    const struct toml_val *targets = toml_get(manifest, "target");

    add_path_deps(c, dir, manifest);
    for (size_t i = 0; i < toml_len(targets); i++)
        add_path_deps(c, dir, toml_at(targets, i));
}

void members_cargo(struct member_search *s, const char *root, struct strs *out)
{
    struct toml_val *manifest = read_cargo(s, s->a, root);
    const struct toml_val *ws = toml_get(manifest, "workspace");
    const struct toml_val *exclude = toml_get(ws, "exclude"),
                          *members = toml_get(ws, "members");
    struct cargo_root c = { .s = s, .root = root, .out = out };
    size_t done = out->n;

    if (!toml_is(ws, TOML_TABLE))
        return;
    c.shared = toml_get(ws, "dependencies");
    for (size_t i = 0; toml_is(exclude, TOML_ARRAY) && i < toml_len(exclude); i++)
        add_exclude(s, &c.exclude, toml_str(toml_at(exclude, i)));
    for (size_t i = 0; toml_is(members, TOML_ARRAY) && i < toml_len(members); i++) {
        struct strs dirs = { 0 };

        member_glob_expand(s, root, toml_str(toml_at(members, i)), &dirs);
        for (size_t d = 0; d < dirs.n; d++)
            add_crate(&c, dirs.v[d].p);
    }
    add_all_path_deps(&c, root, manifest);
    for (; done < out->n; done++) { /* path dependencies of path dependencies too */
        auto_arena tree = ARENA;

        add_all_path_deps(&c, out->v[done].p, read_cargo(s, &tree, out->v[done].p));
    }
}

/* ---- npm ---- */

static void add_patterns(struct member_search *s, yyjson_val *patterns, struct pattern_set *set)
{
    for (struct json_iter it = json_iter(patterns); json_next(&it);)
        if (!pattern_set_add(set, s->a, json_str(it.val)))
            break;
}

static void add_pnpm_patterns(struct member_search *s, const char *root,
                              struct pattern_set *set)
{
    auto_buf text = BUF(YAML_MAX_BYTES);
    const struct yaml *list;
    struct error why;

    if (!read_manifest(s, path_join(s->a, root, "pnpm-workspace.yaml"), &text))
        return;
    list = yaml_get(yaml_parse(s->a, buf_str(&text), &why), "packages");
    for (const struct yaml *item = yaml_is(list, YAML_LIST) ? list->first : NULL; item;
         item = item->next)
        if (!pattern_set_add(set, s->a, yaml_str(item)))
            break;
}

static void add_packages(struct member_search *s, const char *root, struct pattern_set *set,
                         struct strs *out)
{
    struct strs dirs = { 0 };

    for (size_t i = 0; i < set->yes.n; i++)
        member_glob_expand(s, root, set->yes.v[i], &dirs);
    for (size_t i = 0; i < dirs.n; i++)
        if (!pattern_set_deny(set, str_from(dirs.v[i], strlen(root) + 1)))
            add_member(s, root, dirs.v[i].p, "package.json", out);
}

void members_npm(struct member_search *s, const char *root, struct strs *out)
{
    auto_buf text = BUF(WORKSPACE_MAX_MANIFEST);
    struct pattern_set set = { 0 };
    auto_json doc = { 0 };
    yyjson_val *patterns;

    if (!read_manifest(s, path_join(s->a, root, "package.json"), &text) ||
        !json_parse(&doc, buf_str(&text), NULL))
        return;
    patterns = json_get(doc.root, "workspaces");
    add_patterns(s, json_is_obj(patterns) ? json_get(patterns, "packages") : patterns, &set);
    add_pnpm_patterns(s, root, &set);
    add_packages(s, root, &set, out);
}
