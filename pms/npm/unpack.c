/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "tar.h"

#define CHUNK ((size_t)64 << 10)

struct unpacking {
    struct tar tar;
    int root;
    unsigned dirs; /* made so far */
};

/* "bin/a.js" of "package/bin/a.js"; empty for "package" itself. */
static struct str inside(struct str path)
{
    struct str first, rest = { 0 };

    str_cut(path, '/', &first, &rest);
    return rest;
}

/* No link is ever made in there, so a component is what it seems. */
static bool enter(struct unpacking *u, int *dir, const char *name, struct error *e)
{
    int below;

    if (mkdirat(*dir, name, 0755) == 0)
        u->dirs++;
    else if (errno != EEXIST)
        return error_set(e, ERR_SYS, "directory '%s'", name);
    if (u->dirs > UNPACK_MAX_DIRS)
        return error_set(e, ERR_INVALID,
                         "the archive is damaged or hostile: more than %d directories",
                         UNPACK_MAX_DIRS);
    below = openat(*dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return error_set(e, errno == ENOTDIR || errno == ELOOP ? ERR_INVALID : ERR_SYS,
                         "the archive is damaged or hostile: '%s' is a file and a directory",
                         name);
    close(*dir);
    *dir = below;
    return true;
}

/* Opens the directory of the path, made when it is missing. *ret_name: the last component. */
static bool open_parent(struct unpacking *u, struct str path, int *ret_dir,
                        struct str *ret_name, struct error *e)
{
    auto_arena names = ARENA;
    auto_close int dir = fcntl(u->root, F_DUPFD_CLOEXEC, 3);
    struct str part;

    if (dir < 0)
        return error_set(e, ERR_SYS, "unpack");
    while (str_cut(path, '/', &part, &path))
        if (!enter(u, &dir, arena_z(&names, part), e))
            return false;
    *ret_name = path;
    *ret_dir = take_fd(&dir);
    return true;
}

static bool copy_data(struct tar *t, int file, struct error *e)
{
    auto_free char *chunk = mem_alloc(CHUNK);
    size_t n;

    do {
        if (!tar_data(t, chunk, CHUNK, &n, e) ||
            !file_write_all(file, (struct str){ chunk, n }, e))
            return false;
    } while (n);
    return true;
}

/* Of a name given twice the last one counts, as for npm. */
static bool write_file(struct tar *t, int dir, const char *name, const struct tar_entry *entry,
                       struct error *e)
{
    mode_t mode = entry->executable ? 0755 : 0644;
    auto_close int file = -1;

    if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
        return error_set(e, ERR_INVALID,
                         "the archive is damaged or hostile: '%s' is a file and a directory",
                         name);
    file = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0)
        return error_set(e, ERR_SYS, "file '%s'", name);
    return copy_data(t, file, e);
}

static bool write_entry(struct unpacking *u, const struct tar_entry *entry, struct error *e)
{
    auto_arena names = ARENA;
    auto_close int dir = -1;
    struct str path = inside(entry->path), name = { 0 };

    if (path.n == 0 && !entry->is_dir)
        return error_set(e, ERR_INVALID,
                         "the archive is damaged or hostile: a file beside the package");
    if (path.n == 0)
        return true;
    if (!open_parent(u, path, &dir, &name, e))
        return false;
    if (entry->is_dir)
        return enter(u, &dir, arena_z(&names, name), e);
    return write_file(&u->tar, dir, arena_z(&names, name), entry, e);
}

bool unpack(FILE *in, const char *dir, struct error *e)
{
    auto_close int root = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct unpacking u = { .root = root };
    struct tar_entry entry;
    bool ok = true;

    if (root < 0)
        return error_set(e, ERR_SYS, "directory '%s'", dir);
    tar_open(&u.tar, in);
    while (ok && tar_next(&u.tar, &entry, e))
        ok = write_entry(&u, &entry, e);
    tar_close(&u.tar);
    return ok && e->kind == ERR_NONE;
}
