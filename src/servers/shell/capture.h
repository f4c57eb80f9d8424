/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What one output stream of a command leaves behind (SH-5): its first CAPTURE_HEAD and its last
 * CAPTURE_TAIL bytes, however much comes. Memory grows with what came, up to their sum.
 */
#ifndef SYM_SERVERS_SHELL_CAPTURE_H
#define SYM_SERVERS_SHELL_CAPTURE_H

#include "base/buf.h"

#define CAPTURE_HEAD ((size_t)256 << 10)
#define CAPTURE_TAIL ((size_t)768 << 10)
/* Most bytes that capture_put() appends: each byte may be invalid, and U+FFFD has three. */
#define CAPTURE_TEXT_MAX (3 * (CAPTURE_HEAD + CAPTURE_TAIL) + 64)

struct capture {
    struct buf head;
    struct buf tail; /* a ring once it holds CAPTURE_TAIL bytes */
    size_t oldest;   /* where the ring begins */
    uint64_t total;  /* bytes that came */
};

#define CAPTURE ((struct capture){ .head = BUF(CAPTURE_HEAD), .tail = BUF(CAPTURE_TAIL) })

void capture_add(struct capture *c, struct str bytes);
bool capture_truncated(const struct capture *c); /* more came than is kept */

/* Appends it as UTF-8, invalid bytes as U+FFFD; when truncated, both pieces are cut between
 * characters and "\n[... N bytes left out ...]\n" stands between them. */
void capture_put(const struct capture *c, struct buf *out);
void capture_free(struct capture *c);

#endif
