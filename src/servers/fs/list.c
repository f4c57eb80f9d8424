/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* list_directory, list_directory_with_sizes, list_allowed_directories (FS-12 to FS-14, FS-19).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "servers/fs/walk.h"

#define NAME_COLUMNS 30
#define SIZE_COLUMNS 10

struct listed {
    struct str shown; /* "[DIR] name" */
    const char *name; /* points into it, behind the prefix */
    uint64_t size;
    bool dir;
};

struct listing {
    struct listed *v;
    size_t n, cap;
};

/* ---- reading ---- */

/* A link is followed where it stays in the roots, as any path is. */
static uint64_t size_through_link(struct fs_call *c, const char *path)
{
    auto_arena a = ARENA;
    struct access_at at;
    struct stat st;
    auto_close int fd = access_locate(c->x, &a, str_of(path), &at, NULL)
                            ? access_open(c->x, &at, O_PATH, NULL)
                            : -1;

    return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static uint64_t size_of(struct fs_call *c, struct walk *w, const char *dir)
{
    auto_arena a = ARENA;
    struct stat st;

    if (fstatat(walk_fd(w), w->name.p, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (S_ISLNK(st.st_mode))
        return size_through_link(c, path_join(&a, dir, w->name.p));
    return st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static struct str show(struct fs_call *c, struct str name, bool dir)
{
    auto_buf b = BUF(4096);

    buf_add(&b, dir ? STR("[DIR] ") : STR("[FILE] "));
    fs_put_name(&b, name);
    return arena_str(c->arena, buf_str(&b));
}

/* False with the answer made an error. */
static bool read_listing(struct fs_call *c, bool sizes, struct listing *ret)
{
    struct access_at at;
    struct walk w;
    int fd = fs_open(c, c->in.path, O_RDONLY | O_DIRECTORY, &at);
    bool whole;

    if (fd < 0)
        return false;
    walk_begin(&w, c, fd, WALK_AS_READ);
    whole = !w.cut;
    while (whole && walk_next(&w)) {
        struct listed one = { .dir = walk_is_dir(&w) };

        one.shown = show(c, w.name, one.dir);
        one.name = one.shown.p + (one.dir ? 6 : 7);
        if (sizes && !one.dir)
            one.size = size_of(c, &w, at.path);
        VEC_PUSH(ret) = one;
    }
    walk_end(&w);
    return whole || answer_error(c->out, "%s has more than %d entries: use search_files",
                                 at.path, FS_ENTRIES_MAX);
}

/* ---- order ---- */

static int by_line(const void *a, const void *b)
{
    return str_cmp(((const struct listed *)a)->shown, ((const struct listed *)b)->shown);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

static int by_size(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return by_name(a, b);
}

static void sort(struct listing *l, int (*compare)(const void *, const void *))
{
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, compare);
}

/* ---- tools ---- */

void fs_list(struct fs_call *c)
{
    struct listing l = { 0 };

    if (read_listing(c, false, &l)) {
        sort(&l, by_line);
        for (size_t i = 0; i < l.n; i++) {
            if (i)
                buf_addc(&c->out->text, '\n');
            buf_add(&c->out->text, l.v[i].shown);
        }
    }
    free(l.v);
}

static size_t count_chars(const char *z)
{
    size_t n = 0;

    for (; *z; z++)
        n += (*z & 0xc0) != 0x80;
    return n;
}

static void put_with_size(struct buf *out, const struct listed *one)
{
    size_t width = count_chars(one->name);
    auto_buf size = BUF(64);

    buf_add(out, one->shown);
    if (one->dir)
        return;
    fs_put_size(&size, one->size);
    if (width < NAME_COLUMNS)
        buf_fill(out, ' ', NAME_COLUMNS - width);
    buf_addf(out, " %*s", SIZE_COLUMNS, buf_z(&size));
}

static void put_sizes(struct buf *out, const struct listing *l)
{
    uint64_t total = 0;
    size_t dirs = 0;

    for (size_t i = 0; i < l->n; i++) {
        put_with_size(out, &l->v[i]);
        buf_addc(out, '\n');
        dirs += l->v[i].dir;
        total = total + l->v[i].size < total ? UINT64_MAX : total + l->v[i].size;
    }
    buf_addf(out, "\nTotal: %zu files, %zu directories\nCombined size: ", l->n - dirs, dirs);
    fs_put_size(out, total);
}

void fs_list_sizes(struct fs_call *c)
{
    bool by_sizes = str_is(c->in.sort_by, "size");
    struct listing l = { 0 };

    if (!by_sizes && !str_is(c->in.sort_by, "name")) {
        answer_error(c->out, "Invalid sortBy value \"%.*s\": expected 'name' or 'size'",
                     STR_F(str_upto(c->in.sort_by, 100)));
        return;
    }
    if (read_listing(c, true, &l)) {
        sort(&l, by_sizes ? by_size : by_name);
        put_sizes(&c->out->text, &l);
    }
    free(l.v);
}

void fs_allowed(struct fs_call *c)
{
    struct buf *out = &c->out->text;

    buf_add(out, STR("Allowed directories:"));
    for (size_t i = 0; i < c->x->n; i++) {
        const struct access_root *root = &c->x->v[i];

        buf_addf(out, "\n%s", root->given);
        if (root->given != root->real)
            buf_addf(out, "\n%s", root->real);
    }
}
