/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SHA-256 of files, kept by what identifies a version of one: device, inode, size and both
 * times. Any thread may ask.
 */
#ifndef SYM_SERVERS_SKILLS_DIGEST_H
#define SYM_SERVERS_SKILLS_DIGEST_H

#include <sys/stat.h>

#include "base/error.h"
#include "base/sha256.h"

#define DIGEST_MAX_FILE ((size_t)16 << 20)
#define DIGEST_MAX_KEPT 20000 /* then all are forgotten */

struct digests;

struct digests *digests_new(void);
void digests_free(struct digests *d);

/* Of the open file, read from its start, whose fstat() gave `st`. ERR_LIMIT when it is larger
 * than DIGEST_MAX_FILE or than `st` says. */
bool digests_get(struct digests *d, int fd, const struct stat *st,
                 char ret_hex[SHA256_HEX_SIZE], struct error *e);

#endif
