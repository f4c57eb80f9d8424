/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replacing a file so that a reader, a crash or a full disk sees the old or the new content,
 * never else (SV-27). */
#ifndef SYM_SERVERS_REPLACE_H
#define SYM_SERVERS_REPLACE_H

#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"

#define REPLACE_STALE_SECS 60 /* see below */

/*
 * Writes `content` to a temp file beside `name` in `dir`, gives it the mode, owner, group and
 * access control list of the regular file that stands there (setuid and setgid stripped;
 * `fresh_mode & ~umask` when none does), syncs, renames, syncs the directory. Other hard links
 * keep the old content. ERR_SYS "write '<name>': <errno>": the old file is then intact and no
 * temp file left. EACCES also for a file that we may not write, EISDIR for a directory, ELOOP
 * for a symbolic link (access_entry() follows them), EINVAL for another thing that is no
 * regular file.
 *
 * First it removes temp files of writers that died: a living one holds a lock (flock) on its
 * own. On a file system without locks those older than REPLACE_STALE_SECS go.
 */
bool replace_file(int dir, const char *name, struct str content, mode_t fresh_mode,
                  struct error *e);

/*
 * Its parts, for who copies a file instead of writing what is in memory.
 *
 * A new temp file in `dir`, open for writing, known to be ours and locked until it is closed;
 * its name goes to `name`. Who made it renames or unlinks it. -1 with errno.
 */
#define REPLACE_TEMP_NAME 32
int replace_make_temp(int dir, char name[REPLACE_TEMP_NAME], mode_t mode);

/*
 * Gives it owner and group, where permitted, mode and access control list of another file: `st`
 * is that one's, `like` the file itself, open for reading; -1: it cannot be opened. Of the mode
 * the bits in `keep` are taken over; setuid and setgid never without the owner. False with
 * errno.
 */
bool replace_dress(int fd, int like, const struct stat *st, mode_t keep);

/* A name that replace_file() may have left behind: listings and searches hide it. */
bool replace_is_temp(const char *name);

#endif
