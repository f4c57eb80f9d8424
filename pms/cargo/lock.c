/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lock.h"

/* A git source is locked as "git+url?branch=x#commit"; references leave the commit out, old
 * formats put it in. */
static struct str without_commit(struct str source, struct str *ret_commit)
{
    struct str head, tail;

    if (!str_cut(source, '#', &head, &tail))
        return source;
    if (ret_commit)
        *ret_commit = tail;
    return head;
}

static void add_package(struct lock *l, struct arena *a, const struct toml_val *v)
{
    struct lock_package *p = ARENA_NEW(a, struct lock_package);

    p->name = toml_str(toml_get(v, "name"));
    p->version = toml_str(toml_get(v, "version"));
    p->source = without_commit(toml_str(toml_get(v, "source")), &p->commit);
    p->dependencies = toml_get(v, "dependencies");
    if (p->name.n == 0 || p->version.n == 0)
        return;
    p->same_name = map_put(&l->by_name, p->name, p);
}

bool lock_parse(struct lock *ret, struct arena *a, struct str text, struct error *e)
{
    const struct toml_val *doc = toml_parse(a, text, e), *packages = toml_get(doc, "package");

    *ret = (struct lock){ 0 };
    if (!doc)
        return false;
    for (size_t i = toml_len(packages); i > 0;
         i--) /* backwards: each goes in front of its namesakes */
        add_package(ret, a, toml_at(packages, i - 1));
    add_package(ret, a, toml_get(doc, "root"));
    return true;
}

void lock_free(struct lock *l)
{
    map_free(&l->by_name);
}

struct lock_ref lock_ref_parse(struct str s)
{
    struct lock_ref r = { .name = s };
    struct str rest;

    if (!str_cut(s, ' ', &r.name, &rest))
        return r;
    r.version = rest;
    if (!str_cut(rest, ' ', &r.version, &rest))
        return r;
    if (str_starts(rest, STR("(")) && str_ends(rest, STR(")")))
        r.source = without_commit((struct str){ rest.p + 1, rest.n - 2 }, NULL);
    return r;
}

bool lock_is_default(struct str source)
{
    struct str name = source, head, tail;

    while (str_cut(name, '/', &head, &tail))
        name = tail;
    return str_starts(source, STR("registry+")) && str_starts(name, STR("crates")) &&
           str_ends(name, STR("-index"));
}

static bool fits(const struct lock_package *p, const struct lock_ref *ref)
{
    return (ref->version.n == 0 || str_eq(p->version, ref->version)) &&
           (ref->source.n == 0 || str_eq(p->source, ref->source));
}

static struct lock_package *first_fit(struct lock_package *p, const struct lock_ref *ref)
{
    while (p && !fits(p, ref))
        p = p->same_name;
    return p;
}

static struct lock_package *path_fit(struct lock_package *p, const struct lock_ref *ref)
{
    for (; p; p = p->same_name)
        if (p->source.n == 0 && fits(p, ref))
            return p;
    return NULL;
}

struct lock_package *lock_next(const struct lock *l, const struct lock_ref *ref,
                               const struct lock_package *after)
{
    struct lock_package *p = map_get(&l->by_name, ref->name);

    if (after)
        return after->source.n ? first_fit(after->same_name, ref) : NULL;
    if (ref->source.n == 0) {
        struct lock_package *path = path_fit(p, ref);

        if (path)
            return path;
    }
    return first_fit(p, ref);
}
