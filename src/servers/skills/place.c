/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

/* A file may be replaced, by rename, between being opened and being asked for its name. */
#define NAME_TRIES 3

static void keep_quiet(const char *line)
{
    (void)line;
}

static bool moved(struct error *e)
{
    return error_set(e, ERR_DENIED, "registered SKILL.md changed location");
}

bool place_open(struct place *ret, const struct skill *skill, struct error *e)
{
    struct place p = { .skill = skill, .fd = -1 };

    p.access = access_new(&skill->dir, 1, true, keep_quiet, e);
    if (!p.access)
        return error_set(e, ERR_NOT_FOUND, "the directory of skill '%.*s' is gone",
                         STR_F(skill->name));
    p.fd = strcmp(p.access->v[0].real, skill->dir) == 0
               ? openat(p.access->v[0].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
               : -1;
    if (p.fd < 0) {
        place_close(&p);
        return moved(e);
    }
    *ret = p;
    return true;
}

void place_close(struct place *p)
{
    if (!p->access)
        return;
    if (p->fd >= 0)
        close(p->fd);
    access_unref(p->access);
    *p = (struct place){ .fd = -1 };
}

void place_cleanup(struct place *p)
{
    place_close(p);
}

static int open_beneath(const struct place *p, struct arena *a, struct str rel, int flags,
                        struct error *e)
{
    struct access_at at;
    struct str path;

    if (str_find_char(rel, '\0') != SIZE_MAX) {
        error_set(e, ERR_INVALID, "a NUL in a path");
        return -1;
    }
    /* Absolute: a relative path could begin with "~". */
    path = str_of(arena_printf(a, "%s/%.*s", p->skill->dir, STR_F(rel)));
    if (!access_locate(p->access, a, path, &at, e))
        return -1;
    return access_open(p->access, &at, flags, e);
}

int place_file(const struct place *p, struct arena *a, struct str rel, struct stat *ret,
               struct error *e)
{
    auto_close int fd = open_beneath(p, a, rel, O_RDONLY, e);

    if (fd < 0)
        return -1;
    if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode)) {
        error_set(e, ERR_INVALID, "'%.*s' is not a regular file", STR_F(rel));
        return -1;
    }
    return take_fd(&fd);
}

int place_dir(const struct place *p, struct arena *a, struct str rel, struct error *e)
{
    return open_beneath(p, a, rel, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, e);
}

bool place_read(int fd, struct buf *out, struct error *e)
{
    char block[64 << 10];
    ssize_t n;

    while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        buf_add(out, (struct str){ block, (size_t)n });
        if (out->over)
            return error_set(e, ERR_LIMIT, "the file has more than %zu bytes", out->max);
    }
    return n == 0 || error_set(e, ERR_SYS, "cannot read the file");
}

/* The canonical path of what is open; the kernel marks a file that was replaced meanwhile. */
static bool is_at(int fd, const char *path, bool *ret_replaced)
{
    char link[64], at[PATH_MAX + 16];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, at, sizeof at - 1);
    *ret_replaced = n > 0 && str_ends((struct str){ at, (size_t)n }, STR(" (deleted)"));
    return n > 0 && str_is((struct str){ at, (size_t)n }, path);
}

static int open_document(const struct place *p, struct arena *a, struct error *e)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        struct stat st;
        auto_close int fd = place_file(p, a, STR(SKILL_FILE), &st, e);
        bool replaced;

        if (fd < 0 && e->kind == ERR_DENIED)
            break;
        if (fd < 0)
            return -1;
        if (is_at(fd, p->skill->file, &replaced))
            return take_fd(&fd);
        if (!replaced)
            break;
    }
    moved(e);
    return -1;
}

bool place_document(const struct place *p, struct arena *a, struct document *ret,
                    struct error *e)
{
    auto_buf text = BUF(SKILL_FILE_MAX);
    auto_close int fd = open_document(p, a, e);

    if (fd < 0)
        return false;
    if (!place_read(fd, &text, e))
        return error_wrap(e, "%s", p->skill->file);
    if (!document_parse(a, arena_str(a, buf_str(&text)), ret, e))
        return error_wrap(e, "%s", p->skill->file);
    if (!str_eq(ret->name, p->skill->name))
        return error_set(e, ERR_INVALID, "registered SKILL.md name changed");
    return true;
}
