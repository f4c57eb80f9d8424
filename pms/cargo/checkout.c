/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "checkout.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "common/expand.h"
#include "manifest.h"

#define COMMIT_MIN 7 /* bytes of a commit that a directory's name holds at least */

struct package {
    struct str name, version;
    bool version_known;
    const char *dir;
    struct package *next; /* of the same checkout, from the top down */
};

struct checkout {
    struct package *first, **last;
};

struct checkouts {
    char *home;
    struct arena arena;
    struct map read; /* struct checkout by directory */
};

/* ---- what a checkout holds ---- */

static void take(struct checkouts *c, struct checkout *to, const char *dir)
{
    auto_arena scratch = ARENA;
    struct inputs in = { .arena = &scratch };
    struct manifest *m = manifest_read(&in, dir, NULL, NULL);
    struct package *p;

    if (!m || !m->is_package || m->name.n == 0)
        return;
    p = ARENA_NEW(&c->arena, struct package);
    p->name = arena_str(&c->arena, m->name);
    p->version = arena_str(&c->arena, m->version);
    p->version_known = m->version_known;
    p->dir = dir;
    *to->last = p;
    to->last = &p->next;
}

static bool is_skipped(const char *name)
{
    return name[0] == '.' || strcmp(name, "target") == 0;
}

static void walk(struct checkouts *c, struct checkout *to, const char *top)
{
    struct dir_list level = { 0 }, below = { 0 };
    size_t left = CHECKOUT_MAX_DIRS;

    ARENA_PUSH(&c->arena, &level) = top;
    for (int depth = 0; depth <= CHECKOUT_MAX_DEPTH && level.n; depth++) {
        below = (struct dir_list){ 0 };
        for (size_t i = 0; i < level.n; i++) {
            struct inputs in = { .arena = &c->arena };
            struct dir_names names;

            take(c, to, level.v[i]);
            input_list(&in, level.v[i], false, &names);
            for (size_t k = 0; k < names.n && left; k++) {
                if (is_skipped(names.v[k]))
                    continue;
                ARENA_PUSH(&c->arena, &below) = path_join(&c->arena, level.v[i], names.v[k]);
                left--;
            }
        }
        level = below;
    }
}

static struct checkout *checkout_read(struct checkouts *c, const char *dir)
{
    struct checkout *found = map_get(&c->read, str_of(dir));

    if (!found) {
        found = ARENA_NEW(&c->arena, struct checkout);
        found->last = &found->first;
        walk(c, found, arena_z(&c->arena, str_of(dir)));
        map_put(&c->read, str_of(dir), found);
    }
    return found;
}

/* ---- which one ---- */

/* The last component of "git+https://host/owner/name.git?branch=x", as cargo names its
 * directories: "name". */
static struct str repository_name(struct str source)
{
    struct str name = source, head, tail;

    if (str_cut(name, '?', &head, &tail))
        name = head;
    while (name.n && name.p[name.n - 1] == '/')
        name.n--;
    while (str_cut(name, '/', &head, &tail))
        name = tail;
    if (str_ends(name, STR(".git")))
        name.n -= 4;
    return name;
}

/* "<name>-<hash>" */
static bool is_of_repository(struct str dir, struct str name)
{
    struct str hash = str_from(dir, name.n + 1);

    if (dir.n < name.n + 2 || dir.p[name.n] != '-' ||
        !str_icase_eq(str_upto(dir, name.n), name))
        return false;
    for (size_t i = 0; i < hash.n; i++)
        if (!memchr("0123456789abcdef", hash.p[i], 16))
            return false;
    return true;
}

static bool is_of_commit(struct str dir, struct str commit)
{
    return dir.n >= COMMIT_MIN && str_starts(commit, dir);
}

static const char *package_dir(const struct checkout *checkout, const struct known *k)
{
    const struct package *best = NULL;

    for (const struct package *p = checkout->first; p; p = p->next) {
        if (!str_eq(p->name, k->name))
            continue;
        if (p->version_known && str_eq(p->version, k->version))
            return p->dir;
        if (!best)
            best = p;
    }
    return best ? best->dir : NULL;
}

/* In the checkouts of one repository. */
static const char *find_commit(struct checkouts *c, const char *repository,
                               const struct known *k)
{
    auto_arena scratch = ARENA;
    struct inputs in = { .arena = &scratch };
    struct dir_names names;

    input_list(&in, repository, false, &names);
    for (size_t i = 0; i < names.n; i++) {
        const char *dir;

        if (!is_of_commit(str_of(names.v[i]), k->commit))
            continue;
        dir = package_dir(checkout_read(c, path_join(&scratch, repository, names.v[i])), k);
        if (dir)
            return dir;
    }
    return NULL;
}

const char *checkouts_find(struct checkouts *c, const struct known *k)
{
    auto_arena scratch = ARENA;
    struct inputs in = { .arena = &scratch };
    struct str name = repository_name(k->source);
    struct dir_names names;
    const char *top, *found = NULL;

    if (!c->home || k->commit.n < COMMIT_MIN || name.n == 0)
        return NULL;
    top = path_join(&scratch, c->home, "git/checkouts");
    input_list(&in, top, false, &names);
    for (size_t i = 0; i < names.n && !found; i++)
        if (is_of_repository(str_of(names.v[i]), name))
            found = find_commit(c, path_join(&scratch, top, names.v[i]), k);
    return found;
}

struct checkouts *checkouts_new(const char *home)
{
    struct checkouts *c = NEW(struct checkouts);

    c->home = mem_strdup(home);
    return c;
}

void checkouts_free(struct checkouts *c)
{
    if (!c)
        return;
    map_free(&c->read);
    arena_free(&c->arena);
    free(c->home);
    free(c);
}
