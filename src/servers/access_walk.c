/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/access_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

/* All that 40 links of PATH_MAX can put before what remains. */
#define TODO_MAX ((size_t)PATH_MAX * (ACCESS_LINKS_MAX + 2))
/* A link "a/../a/../..." makes the way down from the root be taken again and again. */
#define STEPS_MAX 20000

#define PROC_MAGIC    0x9fa0
#define PROC_ROOT_INO 1

/*
 * The position is text, `pos`, and a descriptor. Inside a root pos is the way from it, made
 * only of real directories that were opened one below the other ("" is the root). Outside,
 * where a link has led, nothing is opened at all: pos is an absolute path ("" is "/") and goes
 * on as text until it reaches a root or the end.
 */
struct walk {
    const struct access *x;
    const struct access_at *at;
    enum walk_goal goal;
    const struct access_root *root; /* NULL: outside */
    struct buf pos;
    int dir;         /* of pos; -1: the root's, or to be opened again */
    struct buf todo; /* what remains begins at `next` */
    size_t next;
    unsigned links, steps;
    bool last; /* the link followed latest was the last component */
    bool by_link;
};

static bool walk_done(const struct walk *w)
{
    return w->next == w->todo.n;
}

bool access_failed(const struct access_at *at, struct error *e)
{
    return error_set(e, ERR_SYS, "Failed to access %s", at->path);
}

static bool failed_with(const struct walk *w, int sys, struct error *e)
{
    errno = sys;
    return access_failed(w->at, e);
}

static bool missing(const struct walk *w, struct error *e)
{
    if (walk_done(w))
        return failed_with(w, ENOENT, e);
    return error_set(e, ERR_NOT_FOUND, "Parent directory does not exist: %s", w->at->path);
}

/* here() failed: what was a directory a moment ago is none now, if it is nothing worse. */
static bool way_lost(const struct walk *w, struct error *e)
{
    bool moved = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;

    return failed_with(w, moved && w->steps <= STEPS_MAX ? EAGAIN : errno, e);
}

static const char *outside_path(const struct walk *w)
{
    return w->pos.n ? buf_z(&w->pos) : "/";
}

/* The path ended outside. What is there is not opened, only asked whether it is there. */
static bool denied(const struct walk *w, struct error *e)
{
    const char *real = outside_path(w);
    auto_arena a = ARENA;
    struct stat st;
    bool whole = w->last || fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) == 0;

    return error_set(
        e, ERR_DENIED, "Access denied - %s outside allowed directories: %s not in %s",
        whole ? "symlink target" : "parent directory", real, access_names(w->x, &a));
}

static void set_dir(struct walk *w, int fd)
{
    if (w->dir >= 0)
        close(w->dir);
    w->dir = fd;
}

/* Outside, where pos is the path of a root: inside again. */
static void maybe_enter(struct walk *w)
{
    const char *path = outside_path(w);

    for (size_t i = 0; i < w->x->n && !w->root; i++)
        if (strcmp(path, w->x->v[i].real) == 0 || strcmp(path, w->x->v[i].given) == 0)
            w->root = &w->x->v[i];
    if (w->root)
        buf_clear(&w->pos);
}

/* To an absolute path, as text. */
static void go_outside(struct walk *w, const char *path)
{
    set_dir(w, -1);
    w->root = NULL;
    buf_clear(&w->pos);
    if (strcmp(path, "/") != 0)
        buf_addz(&w->pos, path);
    maybe_enter(w);
}

static void push(struct walk *w, struct str name)
{
    if (!w->root || w->pos.n)
        buf_addc(&w->pos, '/');
    buf_add(&w->pos, name);
}

static void drop_name(struct buf *pos)
{
    const char *slash = pos->n ? memrchr(pos->p, '/', pos->n) : NULL;

    buf_truncate(pos, slash ? (size_t)(slash - pos->p) : 0);
}

static void go_up(struct walk *w)
{
    if (w->root && w->pos.n == 0) {
        if (strcmp(w->root->real, "/") == 0)
            return;
        buf_addz(&w->pos, w->root->real);
        w->root = NULL;
    }
    set_dir(w, -1);
    drop_name(&w->pos);
    if (!w->root)
        maybe_enter(w);
}

static int open_step(struct walk *w, int dir, struct str name, int flags)
{
    char z[NAME_MAX + 1];

    if (name.n > NAME_MAX || w->steps++ >= STEPS_MAX) {
        errno = name.n > NAME_MAX ? ENAMETOOLONG : ELOOP;
        return -1;
    }
    memcpy(z, name.p, name.n);
    z[name.n] = '\0';
    return openat(dir, z, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
}

/* The descriptor of pos, which stays the walk's; -1 when pos has changed since. */
static int here(struct walk *w)
{
    struct str rest = buf_str(&w->pos), name;

    if (w->pos.n == 0)
        return w->root->fd;
    if (w->dir >= 0)
        return w->dir;
    while (str_next(&rest, '/', &name)) {
        set_dir(w, open_step(w, w->dir >= 0 ? w->dir : w->root->fd, name, O_DIRECTORY));
        if (w->dir < 0)
            return -1;
    }
    return w->dir;
}

/*
 * /proc/self/fd/3, /proc/1/root, ...: a link whose text is not where it leads. In procfs all
 * links are of that kind but those of its first level (self, mounts), which have text only.
 */
static bool is_magic(int link, int dir)
{
    struct statfs fs;
    struct stat st;

    return fstatfs(link, &fs) != 0 ||
           (fs.f_type == PROC_MAGIC && (fstat(dir, &st) != 0 || st.st_ino != PROC_ROOT_INO));
}

/* Puts the link's text in front of what remains. `dir` is where the link is. */
static bool follow(struct walk *w, int link, int dir, struct error *e)
{
    char text[PATH_MAX];
    struct str rest = str_from(buf_str(&w->todo), w->next);
    struct buf todo = BUF(TODO_MAX);
    ssize_t n;

    if (++w->links > ACCESS_LINKS_MAX || is_magic(link, dir))
        return failed_with(w, ELOOP, e);
    n = readlinkat(link, "", text, sizeof text);
    if (n <= 0 || (size_t)n == sizeof text)
        return failed_with(w, n < 0 ? errno : n == 0 ? ENOENT : ENAMETOOLONG, e);
    w->last = rest.n == 0;
    w->by_link |= w->last;
    buf_add(&todo, (struct str){ text, (size_t)n });
    buf_add(&todo, rest); /* begins with its slash */
    buf_free(&w->todo);
    w->todo = todo;
    w->next = 0;
    if (text[0] == '/')
        go_outside(w, "/");
    return true;
}

/* The end of the way: `name` in the present directory; `fd` is taken. */
static bool arrive(struct walk *w, struct str name, int fd, struct walked *ret, struct error *e)
{
    ret->fd = fd;
    ret->dir = openat(here(w), ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (ret->dir < 0)
        return access_failed(w->at, e);
    memcpy(ret->name, name.p, name.n);
    ret->name[name.n] = '\0';
    push(w, name);
    return true;
}

static bool take_name(struct walk *w, struct str name, struct walked *ret, struct error *e)
{
    bool itself = w->goal == WALK_ITSELF || w->goal == WALK_ENTRY;
    bool may_miss = w->goal == WALK_ENTRY || w->goal == WALK_TARGET;
    int dir = here(w);
    struct stat st;

    if (dir < 0)
        return way_lost(w, e);
    auto_close int fd = open_step(w, dir, name, 0);

    if (fd < 0 && errno == ENOENT)
        return walk_done(w) && may_miss ? arrive(w, name, -1, ret, e) : missing(w, e);
    if (fd < 0 || fstat(fd, &st) != 0)
        return access_failed(w->at, e);
    if (S_ISLNK(st.st_mode) && !(walk_done(w) && itself))
        return follow(w, fd, dir, e);
    if (walk_done(w))
        return arrive(w, name, take_fd(&fd), ret, e);
    if (!S_ISDIR(st.st_mode))
        return failed_with(w, ENOTDIR, e);
    push(w, name);
    set_dir(w, take_fd(&fd));
    return true;
}

/* The way ended on the directory it had reached. */
static bool arrive_here(struct walk *w, struct walked *ret, struct error *e)
{
    int dir;

    if (!w->root)
        return denied(w, e);
    if (w->goal == WALK_ENTRY || w->goal == WALK_TARGET)
        return failed_with(w, EISDIR, e);
    dir = here(w);
    if (dir < 0)
        return way_lost(w, e);
    ret->fd = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ret->fd >= 0 || access_failed(w->at, e);
}

static bool walk_run(struct walk *w, struct walked *ret, struct error *e)
{
    while (ret->dir < 0 && !walk_done(w)) {
        struct str rest = str_from(buf_str(&w->todo), w->next), part = rest;
        size_t slash = str_find_char(rest, '/');

        if (slash == 0) {
            w->next++;
            continue;
        }
        part.n = slash == SIZE_MAX ? rest.n : slash;
        w->next += part.n;
        if (str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            go_up(w);
        } else if (!w->root) {
            push(w, part);
            maybe_enter(w);
        } else if (!take_name(w, part, ret, e)) {
            return false;
        }
    }
    return ret->dir >= 0 || arrive_here(w, ret, e);
}

bool access_walk(const struct access *x, const struct access_at *at, enum walk_goal goal,
                 struct walked *ret, struct error *e)
{
    struct walk w = { .x = x, .at = at, .goal = goal, .root = at->root, .dir = -1 };
    bool ok;

    w.pos = BUF(TODO_MAX);
    w.todo = BUF(TODO_MAX);
    buf_addz(&w.todo, at->rel);
    *ret = (struct walked){ .fd = -1, .dir = -1 };
    ok = walk_run(&w, ret, e);
    ret->root = w.root;
    ret->by_link = w.by_link;
    ret->rel = w.pos;
    set_dir(&w, -1);
    buf_free(&w.todo);
    return ok;
}

void walked_free(struct walked *w)
{
    if (w->fd >= 0)
        close(w->fd);
    if (w->dir >= 0)
        close(w->dir);
    buf_free(&w->rel);
    w->fd = w->dir = -1;
}
