/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/workspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "plugins/dirs.h"
#include "plugins/members.h"

/* PM-22: how far manifests are looked for below a root that has none of its ecosystem. */
#define BELOW_MAX_DEPTH 2
#define BELOW_MAX_DIRS  200

struct markers {
    bool cargo, npm, other, git;
};

struct finder {
    struct member_search s;
    const char *start;      /* canonical */
    const char *home;       /* canonical, or NULL */
    const char *members_of; /* whose members are in `members` */
    struct strs members;
};

static bool any(struct markers m)
{
    return m.cargo || m.npm || m.other || m.git;
}

static bool exists_in(struct finder *f, const char *dir, const char *name)
{
    return watch_add(f->s.watch, f->s.keep, path_join(f->s.a, dir, name)).exists;
}

static struct markers look(struct finder *f, const char *dir)
{
    struct markers m = {
        .cargo = exists_in(f, dir, "Cargo.toml"),
        .npm = exists_in(f, dir, "package.json"),
        .git = watch_existence(f->s.watch, f->s.keep, path_join(f->s.a, dir, ".git")).exists,
    };
    bool python = exists_in(f, dir, "pyproject.toml"), go = exists_in(f, dir, "go.mod");

    m.other = python || go;
    return m;
}

static bool is_root_dir(const char *dir)
{
    return strcmp(dir, "/") == 0;
}

/* $HOME and / are full of things that belong to no project. */
static bool is_common_ground(const struct finder *f, const char *dir)
{
    return is_root_dir(dir) || (f->home && strcmp(dir, f->home) == 0);
}

static bool counts(const struct finder *f, const char *dir)
{
    return strcmp(dir, f->start) == 0 || !is_common_ground(f, dir);
}

static const char *nearest_marked(struct finder *f, struct markers *ret)
{
    for (const char *dir = f->start;; dir = path_dir(f->s.a, dir)) {
        struct markers m = look(f, dir);

        if (any(m) && counts(f, dir)) {
            *ret = m;
            return dir;
        }
        if (m.git || is_root_dir(dir))
            return NULL;
    }
}

static void load_members(struct finder *f, const char *root, struct markers m)
{
    if (f->members_of && strcmp(f->members_of, root) == 0)
        return;
    f->members_of = root;
    f->members = (struct strs){ 0 };
    if (m.cargo)
        members_cargo(&f->s, root, &f->members);
    if (m.npm)
        members_npm(&f->s, root, &f->members);
}

/* The nearest workspace further up that declares `dir` as its member, or NULL. */
static const char *declared_by(struct finder *f, const char *dir, struct markers m,
                               struct markers *ret)
{
    const char *up = dir;

    while (!m.git && !is_root_dir(up)) {
        up = path_dir(f->s.a, up);
        m = look(f, up);
        if (!(m.cargo || m.npm) || !counts(f, up))
            continue;
        load_members(f, up, m);
        if (strs_has(&f->members, str_of(dir))) {
            *ret = m;
            return up;
        }
    }
    return NULL;
}

static bool skipped_below(const char *name)
{
    static const char *const names[] = { "node_modules", "target", "vendor" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.';
}

struct below {
    struct finder *f;
    unsigned dirs_left;
    bool cargo, npm;
};

static void look_below(struct below *b, const char *dir, unsigned depth)
{
    DIR *d;

    watch_add(b->f->s.watch, b->f->s.keep, dir);
    d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d)) && b->dirs_left && !(b->cargo && b->npm);) {
        const char *path;

        if (skipped_below(entry->d_name) || !file_entry_is_dir(d, entry))
            continue;
        b->dirs_left--;
        path = path_join(b->f->s.a, dir, entry->d_name);
        b->cargo |= exists_in(b->f, path, "Cargo.toml");
        b->npm |= exists_in(b->f, path, "package.json");
        if (depth < BELOW_MAX_DEPTH)
            look_below(b, path, depth + 1);
    }
    closedir(d);
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool canonical_start(struct finder *f, const char *start, struct error *e)
{
    const char *home = dirs_home(f->s.a);

    f->start = path_real(f->s.a, start, e);
    if (!f->start)
        return false;
    if (!file_is_dir(f->start))
        return error_set(e, ERR_NOT_FOUND, "'%s' is not a directory", start);
    f->home = home ? path_real(f->s.a, home, NULL) : NULL;
    return true;
}

bool workspace_find(struct workspace *ret, const char *start, struct arena *a,
                    struct watch_list *watch, struct error *e)
{
    auto_arena scratch = ARENA;
    struct finder f = { .s = { .a = &scratch,
                               .keep = a,
                               .watch = watch,
                               .dirs_left = WORKSPACE_MAX_DIRS,
                               .steps_left = WORKSPACE_MAX_STEPS,
                               .bytes_left = WORKSPACE_MAX_BYTES } };
    struct markers m = { 0 }, up_m;
    struct below below = { .f = &f, .dirs_left = BELOW_MAX_DIRS };
    const char *root, *up;

    if (!canonical_start(&f, start, e))
        return false;
    root = nearest_marked(&f, &m);
    while (root && (m.cargo || m.npm) && (up = declared_by(&f, root, m, &up_m))) {
        root = up;
        m = up_m;
    }
    *ret = (struct workspace){ .found = root != NULL };
    if (!root)
        root = f.start;
    load_members(&f, root, m);
    if (f.members.n)
        qsort(f.members.v, f.members.n, sizeof *f.members.v, by_bytes);
    below.cargo = m.cargo;
    below.npm = m.npm;
    if (!is_common_ground(&f, root) && !(m.cargo && m.npm))
        look_below(&below, root, 1);
    ret->root = arena_str(a, str_of(root));
    ret->cargo = below.cargo;
    ret->npm = below.npm;
    for (size_t i = 0; i < f.members.n; i++)
        ARENA_PUSH(a, &ret->members) = arena_str(a, f.members.v[i]);
    return true;
}
