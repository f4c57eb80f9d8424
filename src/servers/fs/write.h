/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A file's content replaced (SV-27), for write_file and edit_file. */
#ifndef SYM_SERVERS_FS_WRITE_H
#define SYM_SERVERS_FS_WRITE_H

#include "servers/fs/fs_impl.h"

/* From before a file is read until its new content is in place: edits and writes of one file,
 * by this process, come one after the other and none is lost. `real` is write_target()'s. */
void write_lock(const char *real);
void write_unlock(const char *real);

/* The canonical path of the entry that a write to `path` replaces; NULL with the answer made an
 * error. */
const char *write_target(struct fs_call *c, struct str path);

/* False with the answer made an error, and the file as it was. */
bool write_content(struct fs_call *c, struct str path, struct str content);

#endif
