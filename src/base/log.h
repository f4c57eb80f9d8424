/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Log lines go to stderr or to a file, one each, never to stdout: stdout belongs to the
 * protocol. With a file, warnings and errors go to stderr as well: that is where people look. A
 * stderr that nobody reads loses lines and never blocks us.
 * Control bytes are escaped. Secrets are redacted twice: the value after a telling key name
 * (token, key, secret, password, authorization, cookie) and every value registered with
 * log_secret(). Library code logs at debug; what a person must act on is returned as an error
 * or a problem line and logged once, at the edge. URLs lose userinfo, query and fragment. State
 * is per process and unlocked: only the loop thread logs.
 */
#ifndef SYM_BASE_LOG_H
#define SYM_BASE_LOG_H

#include "base/error.h"
#include "base/str.h"

enum log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

void log_set_level(enum log_level level); /* default LOG_WARN */
enum log_level log_get_level(void);
bool log_level_parse(struct str name, enum log_level *ret); /* "trace".."error" */

/* Append to this file from now on: 0600, O_NOFOLLOW (SEC-86), rotated at 10 MiB, 10 kept. */
bool log_to_file(const char *path, struct error *e);

/* A value that must never appear in a log line; values under 8 bytes are ignored (SEC-85).
 * Copied. */
void log_secret(struct str value);

__attribute__((format(printf, 2, 3))) void log_write(enum log_level level, const char *fmt,
                                                     ...);

#define log_trace(...) log_write(LOG_TRACE, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
