/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Changing one file of a user's configuration that other programs write too (security.md 3.6):
 * read, edit as text, exchange, and look whether what came out is what was read. Another
 * program's newer version is put back and the edit made again on it, so neither its change nor
 * ours is lost. A reader, a crash or SIGKILL sees the old or the new file, never else; what a
 * killed one leaves behind, the next one cleans up.
 *
 *   lock -> read -> edit -> back up -> temp file -> exchange -> compare -> remove the old one
 *              ^                                                  |
 *              +------------- put back, when it is another's -----+
 */
#ifndef SYM_SYNC_REWRITE_H
#define SYM_SYNC_REWRITE_H

#include <sys/types.h>

#include "base/buf.h"
#include "plugins/dirs.h"

#define REWRITE_MAX_BYTES   ((size_t)64 << 20)
#define REWRITE_TRIES       5
#define REWRITE_BACKUPS     10    /* kept of each file, in <state>/backups/<sha256 of path> */
#define REWRITE_LOCK_MS     10000 /* waiting for our own processes, and for a `lock_dir` */
#define REWRITE_NEW_MODE    0644
#define REWRITE_SECRET_MODE 0600

/* Gives the new text, or the same bytes when there is nothing to do; called again when the file
 * changed meanwhile. False: *e says what is wrong with the text, and nothing is written. */
typedef bool (*rewrite_fn)(void *ctx, struct str text, struct buf *out, struct error *e);

struct rewrite {
    const struct dirs *dirs;
    const char *path; /* a link is followed: its target is replaced, the link kept */
    mode_t mode;      /* of a new file */
    bool lock_dir;    /* also hold <path>.lock, a directory, as Claude Code does */
    bool dry_run;     /* write nothing, only say what would be */
    rewrite_fn edit;
    void *ctx;
};

enum rewrite_end {
    REWRITE_SAME, /* not touched: same bytes, same mtime */
    REWRITE_DONE, /* or would be, in a dry run */
};

/*
 * `old` and `new` (may be NULL) get both texts. An absent file is an empty text, and is made,
 * with its missing directories, unless the edit leaves it empty. ERR_INVALID: the edit's, with
 * the path in front, or something that is no directory in the place of a `lock_dir`;
 * ERR_DENIED: read-only file or directory (never changed); ERR_TIMEOUT: a lock; ERR_SYS.
 */
bool rewrite_file(const struct rewrite *r, enum rewrite_end *ret, struct buf *old,
                  struct buf *new, struct error *e);

/* What killed ones have left, beside whatever file: as the next rewrite_file() of it would do
 * it. One that is being written at the moment is left alone. */
void rewrite_recover(const struct dirs *dirs);

#endif
