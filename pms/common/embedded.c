/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The disk's side of layers.h: which files a package's directory embeds. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "common/layers.h"

static const char *const names[] = { "SYMPOSIUM.toml", "Symposium.toml", "symposium.toml" };

/* A regular file that really lies in the directory: a package must not make us read what is
 * elsewhere. */
static bool is_file_of(struct arena *a, const char *dir, const char *path)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return false;
    if (S_ISREG(st.st_mode))
        return true;
    if (S_ISLNK(st.st_mode) && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        const char *home = path_real(a, dir, NULL), *real = path_real(a, path, NULL);

        if (home && real && path_beneath(home, real))
            return true;
    }
    log_warn("'%s' left out: no regular file of its package", path);
    return false;
}

const char *manifest_file(struct arena *a, const char *dir)
{
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *path = path_join(a, dir, names[i]);

        if (!is_file_of(a, dir, path))
            continue;
        if (found)
            log_warn("'%s' left out: '%s' is taken", path, found);
        else
            found = path;
    }
    return found;
}

/* ---- skills ---- */

struct hunt {
    struct arena arena;
    int left; /* entries that may still be looked at */
};

static bool look(struct hunt *h, const char *dir, int depth);

static bool look_below(struct hunt *h, const char *dir, DIR *stream, int depth)
{
    struct dirent *d;

    while (h->left > 0 && (d = readdir(stream))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        h->left--;
        if (depth < SKILLS_MAX_DEPTH && file_entry_is_dir(stream, d) &&
            look(h, path_join(&h->arena, dir, d->d_name), depth + 1))
            return true;
    }
    return false;
}

static bool look(struct hunt *h, const char *dir, int depth)
{
    const char *skill = path_join(&h->arena, dir, "SKILL.md");
    struct stat st;
    bool found;
    DIR *stream;

    if (file_exists(path_join(&h->arena, dir, ".symposium")))
        return false;
    if (lstat(skill, &st) == 0 && S_ISREG(st.st_mode))
        return true;
    stream = opendir(dir);
    if (!stream)
        return false;
    found = look_below(h, dir, stream, depth);
    closedir(stream);
    return found;
}

bool skills_exist(const char *dir)
{
    struct hunt h = { .left = SKILLS_MAX_ENTRIES };
    const char *top = path_join(&h.arena, dir, "skills");
    struct stat st;
    bool found = lstat(top, &st) == 0 && S_ISDIR(st.st_mode) && look(&h, top, 1);

    arena_free(&h.arena);
    return found;
}
