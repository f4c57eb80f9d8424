/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "shelf.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "manifest.h"
#include "name.h"
#include "text/semver.h"
#include "vendor.h"

struct shelf {
    char *home;
    bool read;
    struct arena arena;
    struct inputs inputs;
    struct map by_key; /* struct ends */
};

/* Of one name, in order. */
struct ends {
    struct shelved *first, *last;
};

static void add(struct shelf *s, struct shelved entry)
{
    struct shelved *kept = ARENA_NEW(&s->arena, struct shelved);
    struct str key = name_key(&s->arena, entry.name);
    struct ends *ends = map_get(&s->by_key, key);

    *kept = entry;
    if (ends) {
        ends->last->same_name = kept;
        ends->last = kept;
        return;
    }
    ends = ARENA_NEW(&s->arena, struct ends);
    *ends = (struct ends){ kept, kept };
    map_put(&s->by_key, key, ends);
}

/* "name-version": both may hold '-', but only a name may hold one before a digit and go on with
 * what is no version. */
static bool split_name(struct str dir, struct str *ret_name, struct str *ret_version)
{
    struct semver v;

    for (size_t i = 1; i + 1 < dir.n; i++) {
        if (dir.p[i] != '-' || dir.p[i + 1] < '0' || dir.p[i + 1] > '9' ||
            !semver_parse(&v, str_from(dir, i + 1), NULL))
            continue;
        *ret_name = str_upto(dir, i);
        *ret_version = str_from(dir, i + 1);
        return true;
    }
    return false;
}

static void read_registry(struct shelf *s, const char *dir, const char *registry)
{
    struct dir_names names;

    input_list(&s->inputs, dir, false, &names);
    for (size_t i = 0; i < names.n; i++) {
        struct shelved entry = { .dir = path_join(&s->arena, dir, names.v[i]),
                                 .registry = str_of(registry) };

        if (split_name(str_of(names.v[i]), &entry.name, &entry.version))
            add(s, entry);
    }
}

static void read_registries(struct shelf *s)
{
    const char *top = path_join(&s->arena, s->home, "registry/src");
    struct dir_names names;

    input_list(&s->inputs, top, false, &names);
    for (size_t i = 0; i < names.n; i++)
        read_registry(s, path_join(&s->arena, top, names.v[i]), names.v[i]);
}

/* Vendored directories may have any name: only the manifest tells. */
static void read_vendored(struct shelf *s, const char *dir)
{
    struct dir_names names;

    input_list(&s->inputs, dir, false, &names);
    for (size_t i = 0; i < names.n; i++) {
        const char *package = path_join(&s->arena, dir, names.v[i]);
        auto_arena scratch = ARENA;
        struct inputs unnoted = { .arena = &scratch };
        struct manifest *m = manifest_read(&unnoted, package, NULL, NULL);

        if (m && m->is_package && m->name.n)
            add(s, (struct shelved){ .name = arena_str(&s->arena, m->name),
                                     .version = arena_str(&s->arena, m->version),
                                     .dir = package });
    }
}

static void forget(struct shelf *s)
{
    s->read = false;
    map_free(&s->by_key);
    s->by_key = MAP;
    arena_free(&s->arena);
    s->inputs = (struct inputs){ .arena = &s->arena };
}

void shelf_refresh(struct shelf *s, const struct dir_list *roots, bool anew)
{
    struct dir_list vendored = { 0 };

    if (s->read && !anew && !inputs_changed(&s->inputs))
        return;
    forget(s);
    if (s->home)
        read_registries(s);
    for (size_t i = 0; i < roots->n; i++)
        vendor_dirs(&s->inputs, roots->v[i], s->home, &vendored);
    if (roots->n == 0)
        vendor_dirs(&s->inputs, NULL, s->home, &vendored);
    for (size_t i = 0; i < vendored.n; i++)
        read_vendored(s, vendored.v[i]);
    s->read = true;
}

const struct shelved *shelf_find(const struct shelf *s, struct str name)
{
    auto_arena scratch = ARENA;
    const struct ends *ends = map_get(&s->by_key, name_key(&scratch, name));

    return ends ? ends->first : NULL;
}

struct shelf *shelf_new(const char *home)
{
    struct shelf *s = NEW(struct shelf);

    s->home = mem_strdup(home);
    return s;
}

void shelf_free(struct shelf *s)
{
    if (!s)
        return;
    forget(s);
    free(s->home);
    free(s);
}
