/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Ends the text at a code point border no later than `max` bytes. Returns its length. */
static size_t cut_at(char *msg, size_t max)
{
    size_t n = utf8_cut((struct str){ msg, strlen(msg) }, max).n;

    msg[n] = '\0';
    return n;
}

/* Formats into out[ERROR_MSG_MAX], cut on a code point border. Returns the length. */
__attribute__((format(printf, 2, 0))) static size_t format_text(char *out, const char *fmt,
                                                                va_list ap)
{
    char text[ERROR_MSG_MAX + 3]; /* a cut needs to see the rest of the code point it splits */
    size_t n;

    if (vsnprintf(text, sizeof text, fmt, ap) < 0)
        text[0] = '\0';
    n = cut_at(text, ERROR_MSG_MAX - 1);
    memcpy(out, text, n + 1);
    return n;
}

/* "text: meaning of errno"; the text gives way when both do not fit. */
static void append_errno(char *msg, int sys)
{
    const char *meaning = strerrordesc_np(sys);
    char number[32];
    size_t n, tail;

    if (!meaning) {
        snprintf(number, sizeof number, "error %d", sys);
        meaning = number;
    }
    tail = strlen(meaning) + 2;
    n = cut_at(msg, ERROR_MSG_MAX - 1 - tail);
    snprintf(msg + n, ERROR_MSG_MAX - n, ": %s", meaning);
}

bool error_set(struct error *e, enum err_kind kind, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    if (!e)
        return false;
    e->kind = kind;
    e->sys = kind == ERR_SYS ? saved : 0;
    va_start(ap, fmt);
    format_text(e->msg, fmt, ap);
    va_end(ap);
    if (kind == ERR_SYS)
        append_errno(e->msg, saved);
    errno = saved;
    return false;
}

bool error_wrap(struct error *e, const char *fmt, ...)
{
    char text[ERROR_MSG_MAX], old[ERROR_MSG_MAX];
    size_t n, room;
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    n = format_text(text, fmt, ap);
    va_end(ap);

    memcpy(old, e->msg, sizeof old);
    n = utf8_cut((struct str){ text, n }, ERROR_MSG_MAX - 3).n;
    room = ERROR_MSG_MAX - 1 - n - 2;
    cut_at(old, room);
    snprintf(e->msg, sizeof e->msg, "%.*s: %.*s", (int)n, text, (int)room, old);
    return false;
}
