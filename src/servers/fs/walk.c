/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The entries of all directories from the first to the current one lie in one array, one range
 * behind the other, and their names in one buffer: leaving a directory cuts both back.
 */
#include "servers/fs/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "servers/replace.h"

#define BLOCK ((size_t)64 << 10)

struct walk_entry {
    uint64_t first; /* eight bytes of the name, the first one highest: most comparisons */
    uint32_t name;  /* offset in `names` */
    uint16_t length;
    uint8_t type; /* DT_* */
};

struct walk_dir {
    int fd;
    size_t first, next, last; /* in `entries` */
    size_t names;             /* length of `names` before */
    dev_t dev;
    ino_t ino;
    bool cut;
};

static struct walk_dir *current(const struct walk *w)
{
    return &w->dirs[w->depth];
}

/* ---- reading a directory ---- */

static uint64_t first_bytes(const char *name, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, name, n < sizeof v ? n : sizeof v);
    return __builtin_bswap64(v);
}

static bool is_hidden(const char *name)
{
    if (name[0] != '.')
        return false;
    return name[1] == '\0' || (name[1] == '.' && name[2] == '\0') || replace_is_temp(name);
}

static void add_entry(struct walk *w, const struct dirent64 *d)
{
    size_t n = strlen(d->d_name);

    if (w->nentries == w->entries_cap)
        w->entries = mem_grow(w->entries, sizeof *w->entries, w->nentries + 1, &w->entries_cap);
    w->entries[w->nentries++] = (struct walk_entry){
        .first = first_bytes(d->d_name, n),
        .name = (uint32_t)w->names.n,
        .length = (uint16_t)n,
        .type = d->d_type,
    };
    buf_add(&w->names, (struct str){ d->d_name, n + 1 });
}

/* The entries of one block; false when the limit was reached. */
static bool add_block(struct walk *w, size_t n)
{
    for (size_t at = 0; at < n;) {
        const struct dirent64 *d = (const struct dirent64 *)(w->block + at);

        at += d->d_reclen;
        if (is_hidden(d->d_name))
            continue;
        if (w->total == FS_ENTRIES_MAX)
            return false;
        w->total++;
        add_entry(w, d);
    }
    return true;
}

static void read_entries(struct walk *w, struct walk_dir *dir)
{
    size_t before = w->total;
    ssize_t n;

    while ((n = getdents64(dir->fd, w->block, BLOCK)) > 0 && !fs_cancelled(w->c)) {
        if (!add_block(w, (size_t)n)) {
            dir->cut = true;
            break;
        }
    }
    fs_advance(w->c, w->total - before);
}

static int compare(const void *a, const void *b, void *names)
{
    const struct walk_entry *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return strcmp((const char *)names + x->name, (const char *)names + y->name);
}

/* A directory that holds itself: no file system should have one, but a damaged one may. */
static bool is_loop(const struct walk *w, const struct walk_dir *dir)
{
    for (const struct walk_dir *above = w->dirs; above < dir; above++) {
        if (above->dev == dir->dev && above->ino == dir->ino)
            return true;
    }
    return false;
}

/* Reads the directory that `fd` (-1: none) has open as the current one. */
static void open_dir(struct walk *w, int fd, bool cut)
{
    struct walk_dir *dir = current(w);
    struct stat st;

    *dir = (struct walk_dir){ .fd = fd, .first = w->nentries, .names = w->names.n, .cut = cut };
    if (fd >= 0 && fstat(fd, &st) == 0) {
        dir->dev = st.st_dev;
        dir->ino = st.st_ino;
        if (!is_loop(w, dir))
            read_entries(w, dir);
    }
    dir->next = dir->first;
    dir->last = w->nentries;
    if (w->order == WALK_SORTED && dir->last > dir->first)
        qsort_r(w->entries + dir->first, dir->last - dir->first, sizeof *w->entries, compare,
                w->names.p);
    w->cut = dir->cut;
    w->ever_cut |= dir->cut;
}

/* ---- walking ---- */

void walk_begin(struct walk *w, const struct fs_call *c, int fd, enum walk_order order)
{
    *w = (struct walk){
        .c = c,
        .order = order,
        .dirs = mem_alloc((FS_DEPTH_MAX + 1) * sizeof(struct walk_dir)),
        .names = BUF((size_t)FS_ENTRIES_MAX * (NAME_MAX + 1)),
        .block = mem_alloc(BLOCK),
    };
    open_dir(w, fd, false);
}

bool walk_next(struct walk *w)
{
    struct walk_dir *dir = current(w);
    const struct walk_entry *entry = &w->entries[dir->next];

    if (dir->next == dir->last || fs_cancelled(w->c))
        return false;
    dir->next++;
    w->name = (struct str){ w->names.p + entry->name, entry->length };
    return true;
}

bool walk_is_dir(struct walk *w)
{
    struct walk_dir *dir = current(w);
    const struct walk_entry *entry = &w->entries[dir->next - 1];
    struct stat st;

    if (entry->type != DT_UNKNOWN)
        return entry->type == DT_DIR;
    return fstatat(dir->fd, w->name.p, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

void walk_enter(struct walk *w)
{
    bool deep = w->depth + 1 == FS_DEPTH_MAX;
    int fd = -1;

    if (!deep)
        fd = openat(current(w)->fd, w->name.p,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    w->depth++;
    open_dir(w, fd, deep || (fd < 0 && (errno == EMFILE || errno == ENFILE)));
}

bool walk_leave(struct walk *w)
{
    struct walk_dir *dir = current(w);

    if (w->depth == 0)
        return false;
    w->nentries = dir->first;
    buf_truncate(&w->names, dir->names);
    mem_cleanup_close(&dir->fd);
    w->depth--;
    w->cut = current(w)->cut;
    return true;
}

int walk_fd(const struct walk *w)
{
    return current(w)->fd;
}

void walk_end(struct walk *w)
{
    while (walk_leave(w))
        ;
    mem_cleanup_close(&w->dirs[0].fd);
    free(w->dirs);
    free(w->entries);
    buf_free(&w->names);
    free(w->block);
}
