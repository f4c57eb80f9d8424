/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log_redact.h"
#include "base/mem.h"

#define LOG_MESSAGE_MAX (1024u * 1024) /* a longer message is replaced by its size */
#define LOG_LINE_MAX    (8u * 1024)    /* a longer line is cut, after redaction */
#define LOG_FILE_MAX    (10 * 1024 * 1024)
#define LOG_FILES_KEPT  10
#define STDERR_LINE_MAX PIPE_BUF /* what a pipe that is ready takes without blocking */
#define STDERR_WAIT_MS  10 /* once; then lines are dropped until stderr takes some again */

static const char *const level_names[] = {
    [LOG_TRACE] = "trace", [LOG_DEBUG] = "debug", [LOG_INFO] = "info",
    [LOG_WARN] = "warn",   [LOG_ERROR] = "error", [LOG_OFF] = "off",
};

static struct {
    enum log_level level;
    char *path; /* NULL: stderr */
    int fd;
    off_t size;
} sink = { .level = LOG_WARN, .fd = -1 };

void log_set_level(enum log_level level)
{
    sink.level = level;
}

enum log_level log_get_level(void)
{
    return sink.level;
}

bool log_level_parse(struct str name, enum log_level *ret)
{
    for (size_t i = LOG_TRACE; i <= LOG_ERROR; i++) {
        if (str_is(name, level_names[i])) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

/* ---- the file ---- */

static int open_log(const char *path, off_t *ret_size, struct error *e)
{
    auto_close int fd = open(
        path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        0600);
    struct stat st;

    if (fd < 0 && errno == ELOOP) {
        error_set(e, ERR_DENIED, "log file '%s' is a symbolic link", path);
        return -1;
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        error_set(e, ERR_SYS, "open log file '%s'", path);
        return -1;
    }
    if (!S_ISREG(st.st_mode)) {
        error_set(e, ERR_INVALID, "log file '%s' is not a regular file", path);
        return -1;
    }
    if ((st.st_mode & 07777) != 0600 && fchmod(fd, 0600) < 0) {
        error_set(e, ERR_SYS, "make log file '%s' private", path);
        return -1;
    }
    *ret_size = st.st_size;
    return take_fd(&fd);
}

bool log_to_file(const char *path, struct error *e)
{
    off_t size;
    int fd = open_log(path, &size, e);

    if (fd < 0)
        return false;
    mem_cleanup_close(&sink.fd);
    mem_cleanup_free(&sink.path);
    sink.path = mem_strdup(path);
    sink.fd = fd;
    sink.size = size;
    return true;
}

/* Another process may share the file and have rotated it already. */
static bool still_ours(void)
{
    struct stat here, there;

    return fstat(sink.fd, &here) == 0 && lstat(sink.path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* path.9 -> path.10 ... path -> path.1; what was path.10 is gone. */
static void shift_files(void)
{
    for (int i = LOG_FILES_KEPT; i > 0; i--) {
        auto_free char *to = mem_printf("%s.%d", sink.path, i);
        auto_free char *from =
            i > 1 ? mem_printf("%s.%d", sink.path, i - 1) : mem_strdup(sink.path);

        /* A gap in the row is normal; any other failure leaves the file to grow, which loses
         * nothing. */
        if (rename(from, to) < 0 && errno != ENOENT)
            return;
    }
}

static void rotate(void)
{
    off_t size;
    int fd;

    if (still_ours())
        shift_files();
    fd = open_log(sink.path, &size, NULL);
    if (fd < 0)
        return; /* goes on in the old file */
    mem_cleanup_close(&sink.fd);
    sink.fd = fd;
    sink.size = size;
}

/* A log that cannot be written must not stop the work it reports on. */
static void emit(struct str line)
{
    if (sink.size > 0 && sink.size + (off_t)line.n > LOG_FILE_MAX)
        rotate();
    if (file_write_all(sink.fd, line, NULL))
        sink.size += (off_t)line.n;
}

/* ---- one line ---- */

/* For the file, which is read later and may be shared by processes. */
static void put_stamp(struct buf *out, enum log_level level)
{
    int64_t now_ms = clock_wall_ms();
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ [%d] %s: ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(now_ms % 1000),
             (int)getpid(), level_names[level]);
}

/* Format, redact, then cut: a secret is whole when it is looked for. */
__attribute__((format(printf, 2, 0))) static void put_message(struct buf *out, const char *fmt,
                                                              va_list ap)
{
    char *text = NULL;
    int n = vasprintf(&text, fmt, ap);
    auto_free char *owned = n < 0 ? NULL : text;

    if (n < 0)
        mem_exhausted();
    if ((unsigned)n > LOG_MESSAGE_MAX) {
        buf_addf(out, "(a message of %d bytes is left out)", n);
        return;
    }
    log_redact(out, (struct str){ owned, (size_t)n });
}

void log_secret(struct str value)
{
    log_redact_add(value);
}

static void end_line(struct buf *line, const struct buf *message)
{
    log_put_escaped(line, buf_str(message));
    buf_addc(line, '\n');
}

static void to_file(enum log_level level, const struct buf *message)
{
    auto_buf line = BUF(LOG_LINE_MAX);

    put_stamp(&line, level);
    end_line(&line, message);
    emit(buf_str(&line));
}

/* Whether a line of STDERR_LINE_MAX bytes goes through without blocking: a client that does not
 * read our stderr must not stop us. */
static bool stderr_has_room(int wait_ms)
{
    struct pollfd f = { .fd = STDERR_FILENO, .events = POLLOUT };

    return poll(&f, 1, wait_ms) > 0 && f.revents & POLLOUT;
}

/* People read this as it appears. */
static void to_stderr(enum log_level level, const struct buf *message)
{
    static unsigned dropped;
    auto_buf line = BUF(STDERR_LINE_MAX);

    if (!stderr_has_room(dropped ? 0 : STDERR_WAIT_MS)) {
        dropped++;
        return;
    }
    buf_addf(&line, "symposium: %s: ", level_names[level]);
    if (dropped)
        buf_addf(&line, "(%u lines dropped, stderr was full) ", dropped);
    dropped = 0;
    end_line(&line, message);
    file_write_all(STDERR_FILENO, buf_str(&line), NULL);
}

void log_write(enum log_level level, const char *fmt, ...)
{
    auto_buf message = BUF(LOG_REDACT_GROWTH * LOG_MESSAGE_MAX);
    int saved = errno;
    va_list ap;

    if (level < sink.level || level >= LOG_OFF)
        return;
    va_start(ap, fmt);
    put_message(&message, fmt, ap);
    va_end(ap);
    if (sink.fd >= 0)
        to_file(level, &message);
    if (sink.fd < 0 || level >= LOG_WARN)
        to_stderr(level, &message);
    errno = saved;
}
