/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* get_file_info (FS-18). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "servers/fs/fs_impl.h"

static void put_time(struct buf *out, const char *what, const struct statx_timestamp *t)
{
    time_t seconds = t ? (time_t)t->tv_sec : 0;
    char text[64] = "unknown";
    struct tm tm;

    if (t && gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_addf(out, "%s: %s\n", what, text);
}

void fs_info(struct fs_call *c)
{
    struct buf *out = &c->out->text;
    struct access_at at;
    struct statx st;
    auto_close int fd = fs_open(c, c->in.path, O_PATH, &at);

    if (fd < 0)
        return;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) != 0) {
        answer_error(c->out, "Failed to access %s: %s", at.path, strerror(errno));
        return;
    }
    buf_addf(out, "size: %llu\n", (unsigned long long)st.stx_size);
    put_time(out, "created", st.stx_mask & STATX_BTIME ? &st.stx_btime : NULL);
    put_time(out, "modified", &st.stx_mtime);
    put_time(out, "accessed", &st.stx_atime);
    buf_addf(out, "isFile: %s\nisDirectory: %s\npermissions: %03o",
             S_ISREG(st.stx_mode) ? "true" : "false", S_ISDIR(st.stx_mode) ? "true" : "false",
             st.stx_mode & 0777u);
}
