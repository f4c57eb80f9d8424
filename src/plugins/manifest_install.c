/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Installations and what names them: PL-11, PL-12, and the runnable rule of PL-13. */
#include "base/mem.h"
#include "plugins/manifest_impl.h"

#define MAX_KEYS 16

static const char *const install_keys[] = {
    "source",           "crate",      "version", "git", "url", "global",
    "install_commands", "executable", "script",  "args"
};

static bool known_with(const struct toml_val *t, const char *const *owner_keys, struct error *e)
{
    const char *known[ARRAY_LEN(install_keys) + MAX_KEYS + 1] = { 0 };
    size_t n = 0;

    for (; n < ARRAY_LEN(install_keys); n++)
        known[n] = install_keys[n];
    for (size_t i = 0; owner_keys && owner_keys[i] && i < MAX_KEYS; i++)
        known[n++] = owner_keys[i];
    return toml_known_only(t, known, e);
}

static bool read_source(const struct toml_val *t, struct installation *in, struct error *e)
{
    struct str text = { 0 };

    if (!toml_opt_str(t, "source", &text, e))
        return false;
    if (str_is(text, "cargo"))
        in->source = INSTALL_CARGO;
    else if (str_is(text, "github"))
        in->source = INSTALL_GITHUB;
    else if (toml_get(t, "source"))
        return toml_fail(e, toml_get(t, "source"), "must be \"cargo\" or \"github\"");
    return true;
}

/* A key that its source does not use is a mistake that would otherwise go unseen. */
static bool check_source_keys(const struct toml_val *t, enum install_source source,
                              struct error *e)
{
    static const struct {
        const char *key;
        unsigned sources;
    } rows[] = {
        { "crate", 1u << INSTALL_CARGO },
        { "version", 1u << INSTALL_CARGO },
        { "global", 1u << INSTALL_CARGO },
        { "git", 1u << INSTALL_CARGO | 1u << INSTALL_GITHUB },
        { "url", 1u << INSTALL_GITHUB },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (toml_get(t, rows[i].key) && !(rows[i].sources & 1u << source))
            return toml_fail(e, toml_get(t, rows[i].key), "does not go with this 'source'");
    return true;
}

static bool check_installation(const struct toml_val *t, struct installation *in,
                               struct error *e)
{
    if (in->executable.n && in->script.n)
        return toml_fail(e, t, "has both 'executable' and 'script'");
    switch (in->source) {
    case INSTALL_NONE:
        return true;
    case INSTALL_CARGO:
        if (!in->crate.n)
            return toml_fail(e, t, "needs a 'crate'");
        if ((in->git.n || in->global) && !in->executable.n)
            return toml_fail(e, t, "needs an 'executable', because 'git' or 'global' is given");
        return true;
    case INSTALL_GITHUB:
        if (in->url.n && in->git.n)
            return toml_fail(e, t, "has both 'url' and 'git', which mean the same here");
        if (!in->url.n)
            in->url = in->git;
        in->git = (struct str){ 0 };
        return in->url.n || toml_fail(e, t, "needs a 'url'");
    }
    return false;
}

bool manifest_installation(struct arena *a, const struct toml_val *t,
                           const char *const *owner_keys, struct installation *ret,
                           struct error *e)
{
    struct manifest_reader r = { .a = a, .e = e };

    return known_with(t, owner_keys, e) && read_source(t, ret, e) &&
           check_source_keys(t, ret->source, e) && toml_opt_str(t, "crate", &ret->crate, e) &&
           toml_opt_str(t, "version", &ret->version, e) &&
           toml_opt_str(t, "git", &ret->git, e) && toml_opt_str(t, "url", &ret->url, e) &&
           toml_opt_bool(t, "global", &ret->global, e) &&
           toml_opt_str(t, "executable", &ret->executable, e) &&
           toml_opt_str(t, "script", &ret->script, e) &&
           table_strings(&r, t, "args", &ret->args) &&
           table_strings(&r, t, "install_commands", &ret->install_commands) &&
           check_installation(t, ret, e);
}

const struct installation *find_installation(const struct plugin *p, struct str name)
{
    for (size_t i = 0; i < p->installations.n; i++)
        if (str_eq(p->installations.v[i].name, name))
            return &p->installations.v[i];
    return NULL;
}

static bool add_installation(struct manifest_reader *r, const struct toml_val *t,
                             const char *const *owner_keys, struct installation *in)
{
    if (!manifest_installation(r->a, t, owner_keys, in, r->e) ||
        !table_requirements(r, t, in->name, &in->requirements))
        return false;
    if (find_installation(r->p, in->name))
        return toml_fail(r->e, t, "clashes with another installation named '%.*s'",
                         STR_F(in->name));
    if (r->p->installations.n >= MANIFEST_MAX_ITEMS)
        return toml_fail(r->e, t, "is one installation too many: at most %d",
                         MANIFEST_MAX_ITEMS);
    ARENA_PUSH(r->a, &r->p->installations) = *in;
    return true;
}

bool read_installation(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const owner_keys[] = { "name", "requirements", NULL };
    struct installation in = { 0 };

    return table_required(r, t, "name", &in.name) && add_installation(r, t, owner_keys, &in);
}

bool table_installation_ref(struct manifest_reader *r, const struct toml_val *v,
                            struct str inline_name, struct str *ret)
{
    static const char *const owner_keys[] = { "requirements", NULL };
    struct installation in = { .name = inline_name };

    if (toml_is(v, TOML_STRING) && toml_str(v).n) {
        *ret = toml_str(v);
        return true;
    }
    if (!toml_is(v, TOML_TABLE))
        return toml_fail(r->e, v, "must be the name of an installation or an inline one");
    *ret = inline_name;
    return add_installation(r, v, owner_keys, &in);
}

bool table_requirements(struct manifest_reader *r, const struct toml_val *t, struct str owner,
                        struct strs *ret)
{
    const struct toml_val *list = toml_get(t, "requirements");

    if (list && !toml_is(list, TOML_ARRAY))
        return toml_fail(r->e, list, "must be an array, not %s", toml_kind_name(list));
    for (size_t i = 0; i < toml_len(list); i++) {
        const char *name = arena_printf(r->a, "%.*s__req_%zu", STR_F(owner), i);
        struct str ref;

        if (!table_installation_ref(r, toml_at(list, i), str_of(name), &ref))
            return false;
        ARENA_PUSH(r->a, ret) = ref;
    }
    return true;
}

/* ---- references ---- */

static bool check_known(struct manifest_reader *r, const struct toml_val *at, struct str name)
{
    return find_installation(r->p, name) ||
           toml_fail(r->e, at, "references unknown installation '%.*s'", STR_F(name));
}

static bool check_all_known(struct manifest_reader *r, const struct toml_val *at,
                            const struct strs *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (!check_known(r, at, names->v[i]))
            return false;
    return true;
}

/* What a hook runs comes from itself or from its installation, never from both. */
static bool check_runnable(struct manifest_reader *r, const struct toml_val *at,
                           const struct hook *hook)
{
    const struct installation *in = find_installation(r->p, hook->command);
    bool own = hook->executable.n || hook->script.n, other = in->executable.n || in->script.n;

    if (own && other)
        return toml_fail(r->e, at, "and its installation '%.*s' both name what to run",
                         STR_F(in->name));
    if (!own && !other && in->source != INSTALL_CARGO)
        return toml_fail(r->e, at, "has nothing to run: no 'executable' and no 'script'");
    if (hook->args.n && in->args.n)
        return toml_fail(r->e, at, "and its installation '%.*s' both give 'args'",
                         STR_F(in->name));
    return true;
}

bool check_references(struct manifest_reader *r, const struct toml_val *root)
{
    const struct plugin *p = r->p;

    for (size_t i = 0; i < p->installations.n; i++)
        if (!check_all_known(r, toml_get(root, "installations"),
                             &p->installations.v[i].requirements))
            return false;
    for (size_t i = 0; i < p->hooks.n; i++) {
        const struct toml_val *at = toml_at(toml_get(root, "hooks"), i);

        if (!check_known(r, at, p->hooks.v[i].command) ||
            !check_all_known(r, at, &p->hooks.v[i].requirements) ||
            !check_runnable(r, at, &p->hooks.v[i]))
            return false;
    }
    for (size_t i = 0; i < p->predicates.n; i++)
        if (!check_known(r, toml_at(toml_get(root, "predicate"), i),
                         p->predicates.v[i].command))
            return false;
    for (size_t i = 0; i < p->subcommands.n; i++)
        if (!check_known(r, toml_at(toml_get(root, "subcommand"), i),
                         p->subcommands.v[i].command))
            return false;
    return true;
}
