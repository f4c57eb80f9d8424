/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/content.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define BLOCK       ((size_t)64 << 10)
#define UNSIZED_MAX ((size_t)32 << 20) /* of a file that does not say its size, for its end */

static bool sys_failed(struct error *e)
{
    return error_set(e, ERR_SYS, "read");
}

static bool was_cancelled(struct error *e)
{
    return error_set(e, ERR_CLOSED, "cancelled");
}

/* Up to n bytes from `at`; fewer only at the end of the file. -1 with errno. */
static ssize_t read_at(int fd, char *to, size_t n, off_t at)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = pread(fd, to + got, n - got, at + (off_t)got);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

static bool too_large(uint64_t size, size_t max, struct error *e)
{
    return error_set(e, ERR_LIMIT, "it has %llu bytes, more than %zu", (unsigned long long)size,
                     max);
}

bool content_whole(const struct fs_call *c, int fd, struct buf *out, struct error *e)
{
    struct stat st;
    off_t at = 0;

    if (fstat(fd, &st) != 0)
        return sys_failed(e);
    if ((uint64_t)st.st_size > out->max - out->n)
        return too_large((uint64_t)st.st_size, out->max - out->n, e);
    /* In one read and one that finds the end, if the size says the truth; in /proc it is 0. */
    for (size_t want = (size_t)st.st_size + 1;; want = BLOCK) {
        size_t room = out->max - out->n < want ? out->max - out->n : want;
        char *to = room ? buf_room(out, room) : NULL;
        char probe;
        ssize_t n = read_at(fd, to ? to : &probe, to ? room : 1, at);

        if (n < 0)
            return sys_failed(e);
        if (!to && n > 0)
            return error_set(e, ERR_LIMIT, "it has more than %zu bytes", out->max);
        out->n += to ? (size_t)n : 0;
        at += n;
        if (!to || (size_t)n < room)
            return true;
        if (fs_cancelled(c))
            return was_cancelled(e);
    }
}

/* Appends text whose lines end in '\n', the "\r\n" among them made '\n'. *cr: a '\r' at the end
 * of what came before is still to be decided on. */
static void put_lf(struct buf *out, struct str s, bool *cr)
{
    const char *at;

    if (*cr && s.n) {
        if (s.p[0] != '\n')
            buf_addc(out, '\r');
        *cr = false;
    }
    while (s.n && (at = memchr(s.p, '\r', s.n))) {
        size_t n = (size_t)(at - s.p);

        buf_add(out, str_upto(s, n));
        s = str_from(s, n + 1);
        if (s.n == 0)
            *cr = true;
        else if (s.p[0] != '\n')
            buf_addc(out, '\r');
    }
    buf_add(out, s);
}

/* Closes what put_lf() wrote from `start`: the last line keeps its '\r' but not its break. */
static bool end_lines(struct buf *out, size_t start, bool cr, struct error *e)
{
    if (cr)
        buf_addc(out, '\r');
    if (out->n > start && out->p[out->n - 1] == '\n')
        buf_truncate(out, out->n - 1);
    if (out->over)
        return error_set(e, ERR_LIMIT, "these lines have more than %zu bytes", out->max);
    return true;
}

/* Bytes of s up to the end of its n-th line; *n is lowered by the lines that end in s. */
static size_t lines_length(struct str s, uint64_t *n)
{
    const char *p = s.p, *end = s.p + s.n;

    while (*n && p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        --*n;
    }
    return *n ? s.n : (size_t)(p - s.p);
}

bool content_head(const struct fs_call *c, int fd, uint64_t lines, struct buf *out,
                  struct error *e)
{
    auto_free char *block = mem_alloc(BLOCK);
    size_t start = out->n;
    bool cr = false;

    for (off_t at = 0; lines && !out->over;) {
        ssize_t n = read_at(fd, block, BLOCK, at);

        if (n < 0)
            return sys_failed(e);
        if (n == 0)
            break;
        at += n;
        put_lf(out,
               (struct str){ block, lines_length((struct str){ block, (size_t)n }, &lines) },
               &cr);
        if (fs_cancelled(c))
            return was_cancelled(e);
    }
    return end_lines(out, start, cr, e);
}

/*
 * Where the last `lines` lines begin. Gives up (false, ERR_LIMIT) when that is more than `max`
 * bytes before the end.
 */
static bool find_tail(const struct fs_call *c, int fd, uint64_t lines, off_t size, size_t max,
                      off_t *ret, struct error *e)
{
    auto_free char *block = mem_alloc(BLOCK);
    uint64_t breaks = 0;
    off_t at = size;

    while (at > 0) {
        size_t want = at < (off_t)BLOCK ? (size_t)at : BLOCK;
        ssize_t n = read_at(fd, block, want, at - (off_t)want);

        if (n < 0)
            return sys_failed(e);
        for (size_t left = (size_t)n; left > 0;) {
            const char *p = memrchr(block, '\n', left);

            if (!p)
                break;
            left = (size_t)(p - block);
            /* The break at the very end closes the last line and begins none. */
            *ret = at - (off_t)want + (off_t)left + 1;
            if (*ret < size && ++breaks == lines)
                return true;
        }
        at -= (off_t)want;
        if (size - at > (off_t)max)
            return error_set(e, ERR_LIMIT, "these lines have more than %zu bytes", max);
        if (fs_cancelled(c))
            return was_cancelled(e);
    }
    *ret = 0;
    return true;
}

/* Files that the kernel makes when they are read have size 0 (/proc) or one that is too large
 * (/sys). */
static bool has_its_size(int fd, off_t size)
{
    char last;

    return size > 0 && read_at(fd, &last, 1, size - 1) != 0;
}

/* Where the end is only reading tells. */
static bool tail_of_unsized(const struct fs_call *c, int fd, uint64_t lines, struct buf *out,
                            struct error *e)
{
    auto_buf whole = BUF(UNSIZED_MAX);
    size_t start = out->n, left;
    const char *p, *from;
    bool cr = false;

    if (!content_whole(c, fd, &whole, e))
        return false;
    from = whole.p;
    left = whole.n && whole.p[whole.n - 1] == '\n' ? whole.n - 1 : whole.n;
    while (left && (p = memrchr(whole.p, '\n', left))) {
        if (--lines == 0) {
            from = p + 1;
            break;
        }
        left = (size_t)(p - whole.p);
    }
    put_lf(out, str_from(buf_str(&whole), (size_t)(from - whole.p)), &cr);
    return end_lines(out, start, cr, e);
}

bool content_tail(const struct fs_call *c, int fd, uint64_t lines, struct buf *out,
                  struct error *e)
{
    auto_free char *block = mem_alloc(BLOCK);
    size_t start = out->n;
    struct stat st;
    bool cr = false;
    off_t at = 0;

    if (fstat(fd, &st) != 0)
        return sys_failed(e);
    if (lines == 0)
        return true;
    if (!has_its_size(fd, st.st_size))
        return tail_of_unsized(c, fd, lines, out, e);
    if (!find_tail(c, fd, lines, st.st_size, out->max - out->n, &at, e))
        return false;
    while (at < st.st_size && !out->over) {
        size_t want = st.st_size - at < (off_t)BLOCK ? (size_t)(st.st_size - at) : BLOCK;
        ssize_t n = read_at(fd, block, want, at);

        if (n < 0)
            return sys_failed(e);
        if (n == 0)
            break;
        put_lf(out, (struct str){ block, (size_t)n }, &cr);
        at += n;
    }
    return end_lines(out, start, cr, e);
}

int content_open(struct fs_call *c, struct str path, const char **ret_real)
{
    struct access_at at;
    auto_close int fd = fs_open(c, path, O_RDONLY, &at);
    struct stat st;

    if (fd < 0)
        return -1;
    *ret_real = fs_real_path(c->arena, fd, at.path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return take_fd(&fd);
    answer_error(c->out, "Failed to read %s: %s", *ret_real, strerror(EISDIR));
    return -1;
}
