/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <limits.h>
#include <unistd.h>

#include "base/utf8.h"
#include "servers/fs/fs_impl.h"

bool fs_cancelled(const struct fs_call *c)
{
    return c->job && job_cancelled(c->job);
}

void fs_advance(const struct fs_call *c, uint64_t by)
{
    if (c->job)
        job_advance((struct job *)c->job, by);
}

int fs_open(struct fs_call *c, struct str path, int flags, struct access_at *ret_at)
{
    struct error e;
    int fd = -1;

    if (access_locate(c->x, c->arena, path, ret_at, &e))
        fd = access_open(c->x, ret_at, flags, &e);
    if (fd < 0)
        answer_error(c->out, "%s", e.msg);
    return fd;
}

const char *fs_real_path(struct arena *a, int fd, const char *fallback)
{
    char link[32], path[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path);
    if (n <= 0 || (size_t)n == sizeof path || path[0] != '/')
        return fallback;
    return arena_z(a, (struct str){ path, (size_t)n });
}

/* Bytes at the front that are shown as they are. */
static size_t plain_length(struct str name)
{
    size_t i = 0;

    while (i < name.n && name.p[i] >= 0x20 && name.p[i] != 0x7f)
        i++;
    return i;
}

static void put_char(struct buf *b, uint32_t c)
{
    if (c == '\n')
        buf_add(b, STR("\\n"));
    else if (c == '\t')
        buf_add(b, STR("\\t"));
    else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        buf_addf(b, "\\x%02x", c);
    else
        utf8_put(b, c);
}

void fs_put_name(struct buf *b, struct str name)
{
    size_t plain = plain_length(name);

    buf_add(b, str_upto(name, plain));
    for (name = str_from(name, plain); name.n;) {
        uint32_t c;
        size_t n = utf8_decode(name, &c);

        if (n == 0) {
            c = 0xfffd;
            n = 1;
        }
        put_char(b, c);
        name = str_from(name, n);
    }
}

size_t fs_cost(struct str s)
{
    static const unsigned char cost[256] = {
        [0 ... 7] = 6,   [8 ... 10] = 2, [11] = 6,        [12 ... 13] = 2, [14 ... 31] = 6,
        [32 ... 33] = 1, ['"'] = 2,      [35 ... 91] = 1, ['\\'] = 2,      [93 ... 255] = 1,
    };
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += cost[(unsigned char)s.p[i]];
    return 2 * n;
}

void fs_put_size(struct buf *b, uint64_t bytes)
{
    static const char *const names[] = { "KB", "MB", "GB", "TB" };
    unsigned unit = 0;
    unsigned __int128 hundredths;

    if (bytes < 1024) {
        buf_addf(b, "%u B", (unsigned)bytes);
        return;
    }
    while (unit < 3 && bytes >> (10 * (unit + 2)))
        unit++;
    /* Rounded half up, exactly. */
    hundredths = ((unsigned __int128)bytes * 200 + (UINT64_C(1) << 10 * (unit + 1))) >>
                 (10 * (unit + 1) + 1);
    buf_addf(b, "%llu.%02u %s", (unsigned long long)(hundredths / 100),
             (unsigned)(hundredths % 100), names[unit]);
}
