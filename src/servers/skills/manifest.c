/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"

struct walk {
    const struct place *place;
    struct arena *a;
    struct map files; /* canonical path -> struct str *, the first of its relative paths */
    size_t entries;
    bool (*stop)(const void *ctx);
    const void *ctx;
    struct error *e;
};

static unsigned components(struct str rel)
{
    unsigned n = 1;

    for (size_t i = 0; i < rel.n; i++)
        n += rel.p[i] == '/';
    return n;
}

static bool add(struct walk *w, struct str rel, struct str canonical)
{
    struct str *known = map_get(&w->files, canonical);

    if (components(rel) > MANIFEST_MAX_DEPTH)
        return error_set(w->e, ERR_LIMIT, "resource depth exceeds %d", MANIFEST_MAX_DEPTH);
    if (known) {
        if (str_cmp(rel, *known) < 0)
            *known = rel;
        return true;
    }
    if (map_count(&w->files) == MANIFEST_MAX_FILES)
        return error_set(w->e, ERR_LIMIT, "resource count exceeds %d", MANIFEST_MAX_FILES);
    known = ARENA_NEW(w->a, struct str);
    *known = rel;
    map_put(&w->files, canonical, known);
    return true;
}

/* Where a link leads decides: a file beneath the skill counts, a directory there does not. */
static bool add_link(struct walk *w, struct str rel)
{
    const char *dir = w->place->skill->dir;
    char real[PATH_MAX];
    struct stat st;

    if (!realpath(arena_printf(w->a, "%s/%.*s", dir, STR_F(rel)), real))
        return error_set(w->e, ERR_SYS, "resource target cannot be resolved: %.*s", STR_F(rel));
    if (!path_beneath(dir, real))
        return error_set(w->e, ERR_DENIED, "resource target escapes skill directory: %.*s",
                         STR_F(rel));
    if (lstat(real, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    return add(w, rel, str_of(real));
}

static bool walk_dir(struct walk *w, int fd, struct str prefix, unsigned depth);

static bool descend(struct walk *w, int parent, const char *name, struct str rel,
                    unsigned depth)
{
    int fd;

    if (depth >= MANIFEST_MAX_DEPTH)
        return error_set(w->e, ERR_LIMIT, "resource directory depth exceeds %d",
                         MANIFEST_MAX_DEPTH);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_set(w->e, ERR_SYS, "cannot read directory '%.*s'", STR_F(rel));
    return walk_dir(w, fd, rel, depth + 1);
}

static bool visit(struct walk *w, int parent, const char *name, struct str prefix,
                  unsigned depth)
{
    struct str rel = str_of(arena_printf(w->a, "%.*s%s", STR_F(prefix), name));
    struct stat st;

    if (w->entries++ == MANIFEST_MAX_ENTRIES)
        return error_set(w->e, ERR_LIMIT, "more than %d directory entries",
                         MANIFEST_MAX_ENTRIES);
    if (w->entries % 64 == 0 && w->stop && w->stop(w->ctx))
        return error_set(w->e, ERR_CLOSED, "cancelled");
    if (str_is(rel, SKILL_FILE) || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true; /* its own file, or gone since it was listed */
    if (S_ISLNK(st.st_mode))
        return add_link(w, rel);
    if (S_ISDIR(st.st_mode))
        return descend(w, parent, name, rel, depth);
    if (S_ISREG(st.st_mode))
        return add(w, rel,
                   str_of(arena_printf(w->a, "%s/%.*s", w->place->skill->dir, STR_F(rel))));
    return true;
}

/* Takes fd. `depth` is that of the directories in it. */
static bool walk_dir(struct walk *w, int fd, struct str prefix, unsigned depth)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;
    bool ok = true;

    if (!d) {
        close(fd);
        return error_set(w->e, ERR_SYS, "cannot read directory '%.*s'", STR_F(prefix));
    }
    if (prefix.n)
        prefix = str_of(arena_printf(w->a, "%.*s/", STR_F(prefix)));
    while (ok && (errno = 0, entry = readdir(d)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = visit(w, dirfd(d), entry->d_name, prefix, depth);
    if (ok && errno)
        ok = error_set(w->e, ERR_SYS, "cannot read directory '%.*s'", STR_F(prefix));
    closedir(d);
    return ok;
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool manifest_read(const struct place *p, struct arena *a, bool (*stop)(const void *ctx),
                   const void *ctx, struct manifest *ret, struct error *e)
{
    struct walk w = { .place = p, .a = a, .files = MAP, .stop = stop, .ctx = ctx, .e = e };
    int fd = openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    void *rel;
    bool ok;

    if (fd < 0)
        return error_set(e, ERR_SYS, "cannot read directory '%s'", p->skill->dir);
    ok = walk_dir(&w, fd, (struct str){ 0 }, 0);
    ret->n = 0;
    ret->v = ARENA_ARRAY(a, struct str, map_count(&w.files));
    for (size_t i = 0; ok && map_next(&w.files, &i, NULL, &rel);)
        ret->v[ret->n++] = *(struct str *)rel;
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_path);
    map_free(&w.files);
    return ok;
}
