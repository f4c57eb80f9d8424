/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/skill_copy.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tree.h"
#include "plugins/skill_search.h"

#define BLOCK      ((size_t)64 << 10)
#define PERMISSION 0777 /* set-user-id and its like are nothing a skill needs */

/* ---- listing ---- */

struct reader {
    struct skill_tree *t;
    struct arena *a;
    int root;
    uint64_t bytes;
};

static bool is_ours(const char *rel)
{
    return !strcmp(rel, SKILL_MARKER) || !strcmp(rel, SKILL_IGNORE_FILE);
}

/* What it leads to is there, and inside. */
static bool read_link(struct reader *r, struct skill_entry *k, struct error *e)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(r->root, k->rel, text, sizeof text);
    auto_close int fd =
        n > 0 && n < (ssize_t)sizeof text ? open_beneath(r->root, k->rel, O_PATH) : -1;

    if (fd < 0)
        return error_set(e, ERR_INVALID, "the link '%s' leads %s", k->rel,
                         errno == ENOENT ? "nowhere" : "out of the skill's directory");
    k->target = arena_z(r->a, (struct str){ text, (size_t)n });
    return true;
}

static bool add_entry(struct reader *r, int dir, const char *name, const char *rel,
                      struct error *e)
{
    struct skill_entry k = { .rel = rel };
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return error_set(e, ERR_SYS, "read '%s'", rel);
    if (r->t->n == SKILL_COPY_MAX_FILES)
        return error_set(e, ERR_LIMIT, "it has more than %d files", SKILL_COPY_MAX_FILES);
    k.mode = st.st_mode & (S_IFMT | PERMISSION);
    if (S_ISLNK(st.st_mode)) {
        k.mode = S_IFLNK;
        if (!read_link(r, &k, e))
            return false;
    } else if (S_ISDIR(st.st_mode)) {
        k.mode |= S_IRWXU;
    } else if (S_ISREG(st.st_mode)) {
        k.size = st.st_size;
        k.mtime = st.st_mtim;
        r->bytes += (uint64_t)st.st_size;
    } else {
        return error_set(e, ERR_INVALID, "'%s' is neither file, directory nor link", rel);
    }
    if (r->bytes > SKILL_COPY_MAX_BYTES)
        return error_set(e, ERR_LIMIT, "it has more than %llu MiB",
                         (unsigned long long)(SKILL_COPY_MAX_BYTES >> 20));
    ARENA_PUSH(r->a, r->t) = k;
    return true;
}

static bool read_dir(struct reader *r, const char *rel, unsigned depth, struct error *e)
{
    int fd = open_beneath(r->root, rel, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    bool ok = true;

    if (!d) {
        error_set(e, ERR_SYS, "read the directory '%s'", *rel ? rel : ".");
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (ok && (entry = readdir(d)) != NULL) {
        const char *name = entry->d_name, *path;

        if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git") ||
            (!*rel && is_ours(name)))
            continue;
        path = *rel ? path_join(r->a, rel, name) : arena_z(r->a, str_of(name));
        ok = add_entry(r, fd, name, path, e);
        if (!ok || !S_ISDIR(r->t->v[r->t->n - 1].mode))
            continue;
        ok = depth < SKILL_COPY_MAX_DEPTH ? read_dir(r, path, depth + 1, e)
                                          : error_set(e, ERR_LIMIT, "'%s' is deeper than %d",
                                                      path, SKILL_COPY_MAX_DEPTH);
    }
    closedir(d);
    return ok;
}

static int by_rel(const void *a, const void *b)
{
    return strcmp(((const struct skill_entry *)a)->rel, ((const struct skill_entry *)b)->rel);
}

bool skill_tree_read(struct skill_tree *ret, struct arena *a, int dir, struct error *e)
{
    struct reader r = { .t = ret, .a = a, .root = dir };

    *ret = (struct skill_tree){ 0 };
    if (!read_dir(&r, "", 0, e))
        return false;
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_rel);
    return true;
}

/* ---- comparing ---- */

static bool same_content(int a_dir, int b_dir, const char *rel)
{
    auto_close int a = open_beneath(a_dir, rel, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    auto_close int b = open_beneath(b_dir, rel, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    auto_free char *in_a = mem_alloc(BLOCK), *in_b = mem_alloc(BLOCK);
    ssize_t n, m;

    if (a < 0 || b < 0)
        return false;
    do {
        n = read(a, in_a, BLOCK);
        m = read(b, in_b, BLOCK);
    } while (n > 0 && n == m && memcmp(in_a, in_b, (size_t)n) == 0);
    return n == 0 && m == 0;
}

bool skill_tree_same(const struct skill_tree *a, int a_dir, const struct skill_tree *b,
                     int b_dir)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct skill_entry *x = &a->v[i], *y = &b->v[i];

        if (strcmp(x->rel, y->rel) != 0 || x->mode != y->mode || x->size != y->size ||
            (x->target && strcmp(x->target, y->target) != 0))
            return false;
    }
    for (size_t i = 0; i < a->n; i++)
        if (S_ISREG(a->v[i].mode) && !same_content(a_dir, b_dir, a->v[i].rel))
            return false;
    return true;
}

/* ---- copying ---- */

static bool changed(struct error *e, const struct skill_entry *k)
{
    return error_set(e, ERR_CLOSED, "'%s' changed while it was copied", k->rel);
}

/* No more than the size listed, so that a file that grows does not fill the disk. */
static bool copy_bytes(int from, int to, const struct skill_entry *k, struct error *e)
{
    auto_free char *block = mem_alloc(BLOCK);
    off_t done = 0;
    ssize_t n;

    while ((n = read(from, block, BLOCK)) > 0) {
        done += n;
        if (done > k->size)
            return changed(e, k);
        if (!file_write_all(to, (struct str){ block, (size_t)n }, e))
            return error_wrap(e, "write '%s'", k->rel);
    }
    if (n < 0)
        return error_set(e, ERR_DENIED, "'%s' cannot be read: %s", k->rel, strerror(errno));
    return done == k->size || changed(e, k);
}

static bool copy_file(const struct skill_entry *k, int from, int to_dir, struct error *e)
{
    const struct timespec times[] = { k->mtime, k->mtime };
    auto_close int in = open_beneath(from, k->rel, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    auto_close int out = -1;
    struct stat st;

    if (in < 0 && errno != ENOENT && errno != ELOOP && errno != EXDEV && errno != ENOTDIR)
        return error_set(e, ERR_DENIED, "'%s' cannot be read: %s", k->rel, strerror(errno));
    if (in < 0 || fstat(in, &st) != 0 || !S_ISREG(st.st_mode))
        return changed(e, k);
    out = openat(to_dir, path_base(k->rel),
                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0)
        return error_set(e, ERR_SYS, "make '%s'", k->rel);
    if (!copy_bytes(in, out, k, e))
        return false;
    return (fchmod(out, k->mode & PERMISSION) == 0 && futimens(out, times) == 0) ||
           error_set(e, ERR_SYS, "set the mode of '%s'", k->rel);
}

static bool copy_entry(const struct skill_entry *k, int from, int to, struct error *e)
{
    auto_arena a = ARENA;
    const char *dir = strchr(k->rel, '/') ? path_dir(&a, k->rel) : "";
    auto_close int at = open_beneath(to, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const char *name = path_base(k->rel);

    if (at < 0)
        return error_set(e, ERR_SYS, "make '%s'", k->rel);
    if (S_ISREG(k->mode))
        return copy_file(k, from, at, e);
    if (S_ISLNK(k->mode))
        return symlinkat(k->target, at, name) == 0 ||
               error_set(e, ERR_SYS, "make the link '%s'", k->rel);
    return (mkdirat(at, name, S_IRWXU) == 0 &&
            fchmodat(at, name, k->mode & PERMISSION, 0) == 0) ||
           error_set(e, ERR_SYS, "make the directory '%s'", k->rel);
}

/* The list was checked on the source, which may be another's; what counts is the copy. */
static bool links_stay(const struct skill_tree *t, int dir, struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        auto_close int fd = S_ISLNK(t->v[i].mode) ? open_beneath(dir, t->v[i].rel, O_PATH) : -1;

        if (S_ISLNK(t->v[i].mode) && fd < 0)
            return changed(e, &t->v[i]);
    }
    return true;
}

bool skill_tree_copy(const struct skill_tree *t, int from, int to, struct error *e)
{
    const struct skill_entry *last = NULL;

    for (size_t i = 0; i < t->n; i++) {
        if (!strcmp(t->v[i].rel, SKILL_FILE_NAME))
            last = &t->v[i];
        else if (!copy_entry(&t->v[i], from, to, e))
            return false;
    }
    return (!last || copy_entry(last, from, to, e)) && links_stay(t, to, e);
}

/* ---- marked directories ---- */

bool skill_is_marked(int parent, const char *name)
{
    auto_close int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    return fd >= 0 && fstatat(fd, SKILL_MARKER, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && st.st_size == 0; /* one with content is somebody else's */
}

static bool put_file(int dir, const char *name, struct str text, struct error *e)
{
    auto_close int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

    return fd >= 0 ? file_write_all(fd, text, e) : error_set(e, ERR_SYS, "make '%s'", name);
}

int skill_make_marked(int parent, const char *name, struct error *e)
{
    auto_close int fd = -1;

    if (mkdirat(parent, name, 0755) == 0)
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        error_set(e, ERR_SYS, "make a directory");
        return -1;
    }
    if (put_file(fd, SKILL_MARKER, STR(""), e) &&
        put_file(fd, SKILL_IGNORE_FILE, STR("*\n"), e))
        return take_fd(&fd);
    skill_remove_marked(parent, name);
    return -1;
}

static void remove_content(int fd)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *entry;

    unlinkat(fd, SKILL_FILE_NAME, 0);
    while (d && (entry = readdir(d)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !is_ours(entry->d_name) && unlinkat(fd, entry->d_name, 0) != 0)
            tree_remove(fd, entry->d_name);
    if (d)
        closedir(d);
    else if (own >= 0)
        close(own);
}

/* Nothing but the marker is left in it. */
static bool is_bare(int fd)
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct dirent *entry;
    bool bare = d != NULL;

    while (d && (entry = readdir(d)) != NULL)
        bare &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
                !strcmp(entry->d_name, SKILL_MARKER);
    if (d)
        closedir(d);
    else if (own >= 0)
        close(own);
    return bare;
}

bool skill_remove_marked(int parent, const char *name)
{
    auto_close int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return false;
    remove_content(fd);
    unlinkat(fd, SKILL_IGNORE_FILE, 0);
    if (is_bare(fd))
        unlinkat(fd, SKILL_MARKER, 0);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}
