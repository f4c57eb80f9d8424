/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "manifest.h"

#include "base/path.h"

/* Cargo takes both spellings of the compound names. */
static const char *const dep_tables[] = {
    "dependencies",     "dev-dependencies",   "build-dependencies",
    "dev_dependencies", "build_dependencies",
};

struct reading {
    struct arena *arena;
    struct manifest *m;
    const struct manifest *root; /* where inherited values come from; may be m itself */
};

static const char *clean_join(struct arena *a, const char *dir, struct str rel)
{
    return path_clean(a, path_join(a, dir, arena_z(a, rel)));
}

static bool is_inherited(const struct toml_val *v)
{
    const struct toml_val *flag = toml_get(v, "workspace");

    return toml_is(flag, TOML_BOOL) && flag->b;
}

/* `local` is the key; `dir` is what a relative path starts from. */
static struct manifest_dep read_dep(struct arena *a, const char *dir, const struct toml_val *v)
{
    struct str path = toml_str(toml_get(v, "path")), name = toml_str(toml_get(v, "package"));

    return (struct manifest_dep){
        .name = name.n ? name : v->key,
        .path = path.n ? clean_join(a, dir, path) : NULL,
    };
}

static void add_deps(const struct reading *r, const struct toml_val *table)
{
    const struct toml_val *shared = toml_get(r->root->workspace, "dependencies");

    for (size_t i = 0; i < toml_len(table); i++) {
        const struct toml_val *v = toml_at(table, i), *from = v;
        const char *dir = r->m->dir;

        if (is_inherited(v)) {
            from = toml_get_s(shared, v->key);
            dir = r->root->dir;
            if (!from)
                continue; /* cargo refuses such a manifest; there is nothing to name */
        }
        ARENA_PUSH(r->arena, &r->m->deps) = read_dep(r->arena, dir, from);
    }
}

static void add_dep_tables(const struct reading *r, const struct toml_val *owner)
{
    for (size_t i = 0; i < sizeof dep_tables / sizeof dep_tables[0]; i++) {
        const struct toml_val *table = toml_get(owner, dep_tables[i]);

        if (toml_is(table, TOML_TABLE))
            add_deps(r, table);
    }
}

static void read_package(const struct reading *r, const struct toml_val *package)
{
    const struct toml_val *version = toml_get(package, "version");
    struct str workspace = toml_str(toml_get(package, "workspace"));
    struct manifest *m = r->m;

    if (is_inherited(version))
        version = toml_get(toml_get(r->root->workspace, "package"), "version");
    m->is_package = true;
    m->name = toml_str(toml_get(package, "name"));
    m->version_known = toml_is(version, TOML_STRING);
    m->version = m->version_known ? toml_str(version) : STR("0.0.0");
    m->metadata = toml_get(toml_get(package, "metadata"), "symposium");
    if (workspace.n)
        m->workspace_dir = clean_join(r->arena, m->dir, workspace);
}

/* A [replace] key is "name:version". */
static struct str without_version(struct str name)
{
    struct str head, tail;

    return str_cut(name, ':', &head, &tail) ? head : name;
}

static void add_patches(const struct reading *r, const struct toml_val *table)
{
    for (size_t i = 0; i < toml_len(table); i++) {
        struct manifest_dep d = read_dep(r->arena, r->m->dir, toml_at(table, i));

        d.name = without_version(d.name);
        if (d.path)
            ARENA_PUSH(r->arena, &r->m->patches) = d;
    }
}

static void read_all(const struct reading *r, const struct toml_val *doc)
{
    const struct toml_val *package = toml_get(doc, "package"), *patch = toml_get(doc, "patch"),
                          *target = toml_get(doc, "target");

    if (!package)
        package = toml_get(doc, "project"); /* the name before 2016, still read by cargo */
    if (toml_is(package, TOML_TABLE)) {
        read_package(r, package);
        add_dep_tables(r, doc);
        for (size_t i = 0; i < toml_len(target); i++)
            add_dep_tables(r, toml_at(target, i));
    }
    for (size_t i = 0; i < toml_len(patch); i++)
        add_patches(r, toml_at(patch, i));
    add_patches(r, toml_get(doc, "replace"));
}

struct manifest *manifest_read(struct inputs *in, const char *dir, const struct manifest *root,
                               struct error *e)
{
    const char *path = path_join(in->arena, dir, "Cargo.toml");
    struct manifest *m = ARENA_NEW(in->arena, struct manifest);
    const struct toml_val *doc;
    struct str text;

    if (!input_read(in, path, &text, e))
        return NULL;
    doc = toml_parse(in->arena, text, e);
    if (!doc) {
        error_wrap(e, "'%s'", path);
        return NULL;
    }
    m->dir = arena_z(in->arena, str_of(dir));
    m->workspace = toml_get(doc, "workspace");
    m->is_workspace = toml_is(m->workspace, TOML_TABLE);
    read_all(&(struct reading){ in->arena, m, root ? root : m }, doc);
    return m;
}
