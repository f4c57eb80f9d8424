/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Text out of an open regular file of any size (FS-2, FS-3). Lines end at '\n'; a '\r' before
 * it is dropped, and so is the break of the last line. Memory is what is appended to `out`,
 * which has the ceiling, and a block.
 *
 * All return false with ERR_SYS (bare errno text), or ERR_LIMIT when `out` cannot hold it, and
 * with `c` cancelled.
 */
#ifndef SYM_SERVERS_FS_CONTENT_H
#define SYM_SERVERS_FS_CONTENT_H

#include "servers/fs/fs_impl.h"

/* The whole file as it is; ERR_LIMIT names its size. */
bool content_whole(const struct fs_call *c, int fd, struct buf *out, struct error *e);

/* Its first lines; reads no more than those. */
bool content_head(const struct fs_call *c, int fd, uint64_t lines, struct buf *out,
                  struct error *e);

/* Its last lines; reads no more than those, from the end backwards. */
bool content_tail(const struct fs_call *c, int fd, uint64_t lines, struct buf *out,
                  struct error *e);

/* Opened for reading (FS-2's "Failed to read"); -1 with the answer made an error. */
int content_open(struct fs_call *c, struct str path, const char **ret_real);

#endif
