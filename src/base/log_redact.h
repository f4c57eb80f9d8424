/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What log.c does to a message before it is written (security.md 3.8). Used by log.c and its
 * tests only. Everything is linear in the message for a given set of secrets.
 */
#ifndef SYM_BASE_LOG_REDACT_H
#define SYM_BASE_LOG_REDACT_H

#include "base/buf.h"

#define LOG_SECRET_MIN    8   /* shorter values would blank out ordinary words */
#define LOG_REDACT_GROWTH 16u /* most bytes a redacted message has per byte of the original */

/*
 * Registers a value; each line of a value of several lines counts by itself (a key file is
 * echoed line by line), and so does the value as it looks inside a JSON string. Copied, kept
 * until the process ends.
 */
void log_redact_add(struct str value);

/*
 * Appends the message with "[redacted]" for every registered value, also one cut off by the end
 * of the message; for the value behind a telling key name (`token=x`, `"apiKey": "x"`,
 * `--secret x`, `Authorization: Bearer x`); and for userinfo, query and fragment of URLs.
 */
void log_redact(struct buf *out, struct str message);

/* Appends on one line: control bytes as \xNN (C1 controls by their two bytes), invalid UTF-8 as
 * U+FFFD. What does not fit is cut on a code point border and "..." marks it; one byte is left
 * for the line break. */
void log_put_escaped(struct buf *line, struct str message);

#endif
