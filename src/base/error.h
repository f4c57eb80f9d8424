/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The error value. It lives on the caller's stack, allocates nothing and is always the last
 * parameter; the function returns false (or NULL), so a failure is one line:
 *
 *     if (!buf_ok(&out, e))
 *         return false;
 *
 * Every function here accepts e == NULL and then only returns false. The text is for people:
 * what failed, on which name, what was expected, what happens next; lower case, no full stop,
 * names in single quotes. Only the edges (RPC dialects, command line) turn a kind into a code.
 */
#ifndef SYM_BASE_ERROR_H
#define SYM_BASE_ERROR_H

#include <stdbool.h>

enum err_kind {
    ERR_NONE,
    ERR_INVALID, /* the caller's or the file's data is wrong */
    ERR_NOT_FOUND,
    ERR_DENIED, /* policy or permission */
    ERR_LIMIT,  /* a named ceiling was reached; the text holds its number */
    ERR_TIMEOUT,
    ERR_CLOSED,   /* the other side went away */
    ERR_PROTOCOL, /* the other side broke the protocol */
    ERR_SYS, /* a system call failed; .sys is its errno and the text ends with its meaning */
};

/* Room for 4,096 bytes of another program's message (MS-50) and what we put before it. */
#define ERROR_MSG_MAX 4608

struct error {
    enum err_kind kind;
    int sys;
    char msg[ERROR_MSG_MAX];
};

/* Sets *e and returns false. With ERR_SYS, errno is recorded and its text appended. Over-long
 * text is cut on a UTF-8 border. */
__attribute__((format(printf, 3, 4))) bool error_set(struct error *e, enum err_kind kind,
                                                     const char *fmt, ...);

/* Puts "context: " in front of the text already in *e; returns false. */
__attribute__((format(printf, 2, 3))) bool error_wrap(struct error *e, const char *fmt, ...);

#endif
