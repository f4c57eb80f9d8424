/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * move_file (FS-16). It acts on directory entries: a symbolic link is moved, not what it points
 * to. Nothing is ever replaced, also across file systems, where the copy gets its name last.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "servers/fs/fs_impl.h"
#include "servers/replace.h"

#define COPY_BLOCK ((size_t)1 << 20)

struct move {
    struct fs_call *c;
    struct access_entry from, to;
    struct stat st; /* of the source itself */
};

/* Why not: one of these, the words of an errno, or our own. */
static const char destination_exists[] = "the destination exists";

static bool refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return false;
}

static bool failed(const char **ret_why)
{
    return refuse(ret_why, errno == EEXIST ? destination_exists : strerror(errno));
}

/* For a file system that cannot rename without replacing. */
static bool rename_checked(const struct move *m)
{
    struct stat st;

    if (!S_ISDIR(m->st.st_mode))
        return linkat(m->from.dir, m->from.name, m->to.dir, m->to.name, 0) == 0 &&
               unlinkat(m->from.dir, m->from.name, 0) == 0;
    if (fstatat(m->to.dir, m->to.name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(m->from.dir, m->from.name, m->to.dir, m->to.name) == 0;
}

static bool rename_fresh(int from_dir, const char *from, int to_dir, const char *to)
{
    return renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0;
}

/* False with errno. */
static bool rename_entry(const struct move *m)
{
    if (rename_fresh(m->from.dir, m->from.name, m->to.dir, m->to.name))
        return true;
    return (errno == EINVAL || errno == ENOSYS) && rename_checked(m);
}

/* ---- across file systems ---- */

static bool copy_bytes(const struct move *m, int from, int to)
{
    auto_free char *block = mem_alloc(COPY_BLOCK);

    for (;;) {
        ssize_t n = read(from, block, COPY_BLOCK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (!file_write_all(to, (struct str){ block, (size_t)n }, NULL))
            return false;
        fs_advance(m->c, (uint64_t)n);
        if (fs_cancelled(m->c)) {
            errno = ECANCELED;
            return false;
        }
    }
}

/* Owner, mode and access list as far as they can be kept, time of the last change. */
static bool dress(int fd, int like, const struct stat *st)
{
    struct timespec times[2] = { st->st_atim, st->st_mtim };

    return replace_dress(fd, like, st, 07777) && futimens(fd, times) == 0;
}

/* The open source is still what its name leads to. */
static bool is_same(const struct move *m, int fd)
{
    struct stat open, named;

    return fstat(fd, &open) == 0 &&
           fstatat(m->from.dir, m->from.name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* The source could not be removed (errno): nothing was moved, so what was made goes again, if
 * the name still leads to it. */
static bool undo(const struct move *m, const struct stat *made, const char **ret_why)
{
    const char *why = strerror(errno);
    struct stat there;
    bool gone = fstatat(m->to.dir, m->to.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                there.st_dev == made->st_dev && there.st_ino == made->st_ino &&
                unlinkat(m->to.dir, m->to.name, 0) == 0;

    return refuse(ret_why, arena_printf(m->c->arena, "the source cannot be removed: %s%s", why,
                                        gone ? "" : " (there is a copy now)"));
}

/* Copies into the temp file and gives it the name. False with errno, without the temp file. */
static bool copy_to(const struct move *m, int from, int to, const char *temp)
{
    int sys;

    if (copy_bytes(m, from, to) && dress(to, from, &m->st) && fsync(to) == 0) {
        if (rename_fresh(m->to.dir, temp, m->to.dir, m->to.name))
            return true;
        if ((errno == EINVAL || errno == ENOSYS) &&
            linkat(m->to.dir, temp, m->to.dir, m->to.name, 0) == 0) {
            unlinkat(m->to.dir, temp, 0);
            return true;
        }
    }
    sys = errno;
    unlinkat(m->to.dir, temp, 0);
    errno = sys;
    return false;
}

static bool copy_file(const struct move *m, const char **ret_why)
{
    char temp[REPLACE_TEMP_NAME];
    struct stat made;
    auto_close int from =
        openat(m->from.dir, m->from.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (from < 0)
        return failed(ret_why);
    if (!is_same(m, from))
        return refuse(ret_why, "the source was replaced meanwhile");
    auto_close int to = replace_make_temp(m->to.dir, temp, 0600);
    if (to < 0 || !copy_to(m, from, to, temp))
        return failed(ret_why);
    auto_close int dir = openat(m->to.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0)
        fsync(dir);
    if (!is_same(m, from))
        return refuse(ret_why,
                      "it was copied, but the source was replaced meanwhile and stays");
    if (fstat(to, &made) != 0 || unlinkat(m->from.dir, m->from.name, 0) != 0)
        return undo(m, &made, ret_why);
    return true;
}

static bool copy_link(const struct move *m, const char **ret_why)
{
    char target[PATH_MAX];
    struct stat made = { 0 };
    ssize_t n = readlinkat(m->from.dir, m->from.name, target, sizeof target - 1);

    if (n < 0)
        return failed(ret_why);
    target[n] = '\0';
    if (symlinkat(target, m->to.dir, m->to.name) != 0)
        return failed(ret_why);
    if (fstatat(m->to.dir, m->to.name, &made, AT_SYMLINK_NOFOLLOW) != 0 ||
        unlinkat(m->from.dir, m->from.name, 0) != 0)
        return undo(m, &made, ret_why);
    return true;
}

static bool move_across(const struct move *m, const char **ret_why)
{
    if (S_ISREG(m->st.st_mode))
        return copy_file(m, ret_why);
    if (S_ISLNK(m->st.st_mode))
        return copy_link(m, ret_why);
    if (S_ISDIR(m->st.st_mode))
        return refuse(ret_why, "cannot move a directory across file systems");
    return refuse(ret_why, "cannot move such a file across file systems");
}

/* ---- the tool ---- */

static bool move_entry(struct move *m, const char **ret_why)
{
    if (fstatat(m->from.dir, m->from.name, &m->st, AT_SYMLINK_NOFOLLOW) != 0)
        return failed(ret_why);
    if (S_ISDIR(m->st.st_mode)) {
        auto_close int dir =
            openat(m->from.dir, m->from.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (dir < 0)
            return failed(ret_why);
        if (access_holds_root(m->c->x, dir))
            return refuse(ret_why, "it holds an allowed directory");
    }
    if (rename_entry(m))
        return true;
    if (errno == EXDEV)
        return move_across(m, ret_why);
    return failed(ret_why);
}

static void answer_move(struct move *m, const char *source, const char *destination)
{
    struct answer *out = m->c->out;
    const char *why = NULL;

    if (move_entry(m, &why))
        buf_addf(&out->text, "Successfully moved %s to %s", source, destination);
    else if (why == destination_exists)
        answer_error(out, "Destination already exists: %s", destination);
    else
        answer_error(out, "Failed to move %s to %s: %s", source, destination, why);
}

void fs_move(struct fs_call *c)
{
    struct move m = { .c = c };
    struct access_at from, to;
    struct error e;

    if (!access_locate(c->x, c->arena, c->in.source, &from, &e) ||
        !access_locate(c->x, c->arena, c->in.destination, &to, &e) ||
        !access_entry(c->x, c->arena, &from, false, &m.from, &e)) {
        answer_error(c->out, "%s", e.msg);
        return;
    }
    if (access_entry(c->x, c->arena, &to, false, &m.to, &e)) {
        answer_move(&m, from.asked, to.asked);
        close(m.to.dir);
    } else {
        answer_error(c->out, "%s", e.msg);
    }
    close(m.from.dir);
}
