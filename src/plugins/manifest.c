/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/manifest.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "plugins/manifest_impl.h"

static const char *const manifest_names[] = { MANIFEST_NAMES };

void manifest_name_see(struct manifest_name *m, const char *entry)
{
    for (unsigned i = 0; i < ARRAY_LEN(manifest_names); i++) {
        if (strcmp(entry, manifest_names[i]) != 0)
            continue;
        m->found++;
        if (!m->name || i < m->rank) {
            m->name = manifest_names[i];
            m->rank = i;
        }
    }
}

/* ---- helpers of all tables ---- */

bool table_known(struct manifest_reader *r, const struct toml_val *t, const char *const *known)
{
    const struct toml_val *crates = toml_get(t, "crates");

    if (crates)
        return toml_fail(r->e, crates, "was renamed to 'depends-on'");
    return toml_known_only(t, known, r->e);
}

bool table_strings(struct manifest_reader *r, const struct toml_val *t, const char *key,
                   struct strs *ret)
{
    struct toml_val *list = NULL;

    if (!toml_opt_array(t, key, TOML_STRING, &list, r->e))
        return false;
    for (size_t i = 0; i < toml_len(list); i++)
        ARENA_PUSH(r->a, ret) = toml_str(toml_at(list, i));
    return true;
}

bool table_required(struct manifest_reader *r, const struct toml_val *t, const char *key,
                    struct str *ret)
{
    if (!toml_opt_str(t, key, ret, r->e))
        return false;
    if (ret->n)
        return true;
    if (toml_get(t, key))
        return toml_fail(r->e, toml_get(t, key), "must not be empty");
    return toml_fail(r->e, t, "needs a '%s'", key);
}

static bool read_atoms(struct manifest_reader *r, const struct toml_val *t, struct gate *gate)
{
    const struct toml_val *v = toml_get(t, "depends-on");
    struct strs atoms = { 0 };
    struct error why;

    if (toml_is(v, TOML_STRING))
        ARENA_PUSH(r->a, &atoms) = toml_str(v);
    else if (!table_strings(r, t, "depends-on", &atoms))
        return false;
    return gate_add_atoms(r->a, gate, &atoms, &why) ||
           toml_fail(r->e, v, "is wrong: %s", why.msg);
}

bool table_gate(struct manifest_reader *r, const struct toml_val *t, struct gate *ret)
{
    struct toml_val *list = NULL;

    if (!read_atoms(r, t, ret) || !toml_opt_array(t, "predicates", TOML_STRING, &list, r->e))
        return false;
    for (size_t i = 0; i < toml_len(list); i++) {
        struct str text = toml_str(toml_at(list, i));
        struct strs one = { .v = &text, .n = 1 };
        struct error why;

        if (!gate_add_predicates(r->a, ret, &one, &why))
            return toml_fail(r->e, toml_at(list, i), "is wrong: %s", why.msg);
    }
    return true;
}

bool table_list(struct manifest_reader *r, const struct toml_val *t, const char *key,
                struct toml_val **ret)
{
    if (!toml_opt_array(t, key, TOML_TABLE, ret, r->e))
        return false;
    if (toml_len(*ret) > MANIFEST_MAX_ITEMS) {
        error_set(r->e, ERR_LIMIT, "line %u: '%s' holds more than %d entries", (*ret)->line,
                  key, MANIFEST_MAX_ITEMS);
        return false;
    }
    return true;
}

/* ---- the document ---- */

static const struct part {
    const char *key;
    bool (*read)(struct manifest_reader *r, const struct toml_val *t);
} parts[] = {
    { "installations", read_installation }, /* first: inline ones must not clash with them */
    { "skills", read_skill_group },
    { "hooks", read_hook },
    { "mcp_servers", read_server },
    { "predicate", read_predicate },
    { "plugins", read_edge },
};

static bool read_lists(struct manifest_reader *r, const struct toml_val *root)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct toml_val *list = NULL;

        if (!table_list(r, root, parts[i].key, &list))
            return false;
        for (size_t k = 0; k < toml_len(list); k++)
            if (!parts[i].read(r, toml_at(list, k)))
                return false;
    }
    return true;
}

static bool read_subcommands(struct manifest_reader *r, const struct toml_val *root)
{
    struct toml_val *table = NULL;

    if (!toml_opt_table(root, "subcommand", &table, r->e))
        return false;
    for (size_t i = 0; i < toml_len(table); i++)
        if (!read_subcommand(r, toml_at(table, i)))
            return false;
    return true;
}

static bool read_defaults(struct manifest_reader *r, const struct toml_val *root)
{
    static const char *const known[] = { "skills", NULL };
    struct toml_val *t = NULL;

    if (!toml_opt_table(root, "defaults", &t, r->e) || !t)
        return !toml_get(root, "defaults");
    if (r->p->origin == ORIGIN_REGISTRY)
        return toml_fail(r->e, t,
                         "is for plugins of a workspace or a package; a registry's plugin "
                         "has no default groups");
    return toml_known_only(t, known, r->e) &&
           toml_opt_bool(t, "skills", &r->p->default_skills, r->e);
}

static bool read_name(struct manifest_reader *r, const struct toml_val *root,
                      const struct manifest_source *src)
{
    const struct toml_val *v = toml_get(root, "name");

    r->p->name = src->fallback_name;
    if (v || src->origin == ORIGIN_REGISTRY) {
        r->p->name = (struct str){ 0 };
        if (!table_required(r, root, "name", &r->p->name))
            return false;
    }
    return !str_has_control(r->p->name) ||
           toml_fail(r->e, v, "must not hold control characters");
}

/* Strings reach exec() and system calls, where a NUL would cut them short. */
static bool no_nul(struct manifest_reader *r, const struct toml_val *v)
{
    if ((v->key.n && memchr(v->key.p, '\0', v->key.n)) ||
        (v->kind == TOML_STRING && v->s.n && memchr(v->s.p, '\0', v->s.n)))
        return toml_fail(r->e, v, "must not hold a NUL character");
    for (size_t i = 0; i < toml_len(v); i++)
        if (!no_nul(r, toml_at(v, i)))
            return false;
    return true;
}

static void add_group(struct manifest_reader *r, const char *path, const char *predicate)
{
    struct skill_group group = { .path = str_of(path) };

    if (predicate) {
        struct str text = str_of(predicate);
        struct strs one = { .v = &text, .n = 1 };

        gate_add_predicates(r->a, &group.gate, &one, NULL);
    }
    ARENA_PUSH(r->a, &r->p->skills) = group;
}

/* A package manager may have put it at the end of the manifest already (PL-29). */
static bool has_group(const struct plugin *p, const char *path)
{
    for (size_t i = 0; i < p->skills.n; i++)
        if (str_is(p->skills.v[i].path, path) && !p->skills.v[i].gate.n)
            return true;
    return false;
}

static void add_default_groups(struct manifest_reader *r, const struct manifest_source *src)
{
    if (src->origin == ORIGIN_REGISTRY || !r->p->default_skills)
        return;
    if (!has_group(r->p, "skills"))
        add_group(r, "skills", NULL);
    if (src->origin == ORIGIN_WORKSPACE && src->agents_syncing)
        add_group(r, ".agents/skills", "workspace-member()");
}

static struct plugin *new_plugin(struct arena *a, const struct manifest_source *src)
{
    struct plugin *p = ARENA_NEW(a, struct plugin);

    *p = (struct plugin){ .name = src->fallback_name,
                          .origin = src->origin,
                          .registry = src->registry,
                          .subpath = src->subpath,
                          .dir = src->dir,
                          .default_skills = src->origin != ORIGIN_REGISTRY };
    return p;
}

#define KEYS                                                                            \
    "name", "depends-on", "predicates", "defaults", "installations", "skills", "hooks", \
        "mcp_servers", "subcommand", "predicate", "plugins"
#define CLAIMS "trust", "trusted", "enable", "enabled", "auto-enable", "use"

/* What a package manager says of trust is no error, it only has no effect (PM-4, SEC-51). */
static bool claims_trust(const struct toml_val *root, const struct manifest_source *src)
{
    static const char *const claims[] = { CLAIMS };
    bool found = false;

    for (size_t i = 0; src->origin == ORIGIN_PACKAGE && i < ARRAY_LEN(claims); i++)
        found |= toml_get(root, claims[i]) != NULL;
    return found;
}

static struct plugin *read_document(struct arena *a, const struct toml_val *root,
                                    const struct manifest_source *src, struct error *e)
{
    static const char *const known[] = { KEYS, NULL };
    static const char *const with_claims[] = { KEYS, CLAIMS, NULL };
    struct manifest_reader r = { .a = a, .p = new_plugin(a, src), .e = e };

    if (!no_nul(&r, root) ||
        !table_known(&r, root, claims_trust(root, src) ? with_claims : known) ||
        !read_name(&r, root, src) || !table_gate(&r, root, &r.p->gate) ||
        !read_defaults(&r, root) || !read_lists(&r, root) || !read_subcommands(&r, root) ||
        !check_references(&r, root))
        return NULL;
    add_default_groups(&r, src);
    r.p->mentions_dependency = plugin_mentions_dependency(r.p);
    return r.p;
}

struct plugin *manifest_parse(struct arena *a, struct str text,
                              const struct manifest_source *src, struct error *e)
{
    struct toml_val *root = toml_parse(a, text, e);

    return root ? read_document(a, root, src, e) : NULL;
}

struct plugin *manifest_load(struct arena *a, const char *path,
                             const struct manifest_source *src, struct error *e)
{
    auto_buf text = BUF(MANIFEST_MAX_BYTES);
    char hex[SHA256_HEX_SIZE];
    struct plugin *p;

    if (!file_read(path, &text, e))
        return NULL;
    p = manifest_parse(a, buf_str(&text), src, e);
    if (!p)
        return NULL;
    sha256_hex(buf_str(&text), hex);
    p->manifest_sha256 = arena_str(a, str_of(hex));
    p->manifest_path = arena_str(a, str_of(path));
    return p;
}

struct plugin *manifest_from_json(struct arena *a, yyjson_val *v,
                                  const struct manifest_source *src, struct error *e)
{
    struct toml_val *root = toml_from_json(a, v, e);

    return root ? read_document(a, root, src, e) : NULL;
}

struct plugin *manifest_defaults(struct arena *a, const struct manifest_source *src)
{
    struct manifest_reader r = { .a = a, .p = new_plugin(a, src) };

    add_default_groups(&r, src);
    r.p->mentions_dependency = plugin_mentions_dependency(r.p);
    return r.p;
}
