/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole files and what identifies a version of one. */
#ifndef SYM_BASE_FILE_H
#define SYM_BASE_FILE_H

#include <dirent.h>
#include <sys/types.h>

#include "base/buf.h"

/* Appends the file's bytes. ERR_NOT_FOUND when absent, ERR_LIMIT past out->max, ERR_INVALID
 * when it is not a regular file (a FIFO never blocks us). */
bool file_read(const char *path, struct buf *out, struct error *e);

/* Makes the directory and its missing parents, mode 0700. */
bool file_mkdirs(const char *dir, struct error *e);

/* Replaces or creates the file through a temp file in the same directory: write, fsync, rename,
 * fsync of the directory. Readers see the old or the new content, never a mix. */
bool file_write_atomic(const char *path, struct str content, mode_t mode, struct error *e);

/* The same, mode 0600, without waiting for the disk (an fsync may take as long as a script):
 * for what can be made anew and is checked when it is read, since a power cut may leave it
 * empty. */
bool file_write_cache(const char *path, struct str content, struct error *e);

#define FILE_TEMP_OLD_SECS 3600 /* no write takes as long: whoever made it was killed */

/* Removes from the directory what killed writers of the two above left there: old temp files of
 * this user. */
void file_sweep_temps(const char *dir);

/* Identity of a file's version; `exists` false is a version too. Compare with file_stamp_eq. */
struct file_stamp {
    bool exists;
    int64_t mtime_ns;
    int64_t size;
    uint64_t ino;
};

struct file_stamp file_stamp(const char *path); /* follows links */
bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

bool file_is_dir(const char *path);
bool file_exists(const char *path);

/* An entry just read from `d` is a directory, and no link to one. */
bool file_entry_is_dir(DIR *d, const struct dirent *entry);

/* Writes all bytes to a blocking descriptor, whatever signals and short writes come between. */
bool file_write_all(int fd, struct str bytes, struct error *e);

#endif
